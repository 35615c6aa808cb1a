/* fuzz_template.c - fuzzes chat templates. The bytes are a template, the variables in JSON, and a
 * message: TEMPLATE 1E VARIABLES 1E TEXT. The text of the chat is computed with and without the
 * start of a reply, and must be the same a second time. */
#include "fuzz.h"

#include "heed/hf.h"

enum { MARK = 0x1E, NOW = 1722003323 };

static char folder[128];

/* A run may take a MiB and 64 bytes for each byte; the tokens of a template come before it. */
static int64_t bound(size_t size)
{
    return 320 * ((int64_t)size + 1024) + ((int64_t)4 << 20);
}

void fuzz_setup(void)
{
    snprintf(folder, sizeof folder, "%s", fuzz_path("m"));
    fuzz_bound = bound;
}

/* A part of the input as a text */
static char *text_of(fuzz_input *in)
{
    size_t n;
    const uint8_t *part = fuzz_part(in, MARK, &n);
    char *text = malloc(n + 1);
    fuzz_check(text, "no memory");
    memcpy(text, part, n);
    text[n] = '\0';
    return text;
}

static void check_text(hd_chat *c, bool for_reply)
{
    const char *text = hd_chat_text(c, for_reply);
    if (fuzz_verdict(text, "hd_chat_text")) {
        char *first = strdup(text);
        const char *again = hd_chat_text(c, for_reply);
        fuzz_check(first && again && strcmp(first, again) == 0, "the text is another one");
        free(first);
    }
}

void fuzz_one(const uint8_t *data, size_t size)
{
    fuzz_input in = {data, data + size};
    size_t n;
    hd_chat_options o = hd_chat_defaults();
    const uint8_t *template = fuzz_part(&in, MARK, &n);
    char *variables = text_of(&in), *text = text_of(&in);
    o.template_file = fuzz_file(0, template, n);
    o.variables = *variables ? variables : NULL;
    o.now = NOW;
    hd_chat *c = hd_chat_new(folder, &o);
    if (fuzz_verdict(c, "hd_chat_new")) {
        hd_chat_add(c, "system", "Be short.");
        if (fuzz_verdict(hd_chat_add(c, "user", text), "hd_chat_add")) {
            check_text(c, true);
            check_text(c, false);
        }
    }
    hd_chat_free(c);
    free(variables);
    free(text);
}
