/* pretrained.c - the model of a Hugging Face folder, and the texts that it writes. */
#include "pretrained.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "program.h"

volatile sig_atomic_t pretrained_stop;

/* ---------------------------------------------------------------- the folder */

/* Sets the options from the arguments, which replace the values from generation_config.json. */
static void set_options(hd_generate_options *o, const arguments *a)
{
    if (!isnan(a->length)) {
        o->max_new_tokens = (int64_t)a->length;
    } else if (o->max_new_tokens == hd_generate_defaults().max_new_tokens) {
        o->max_new_tokens = DEFAULT_LENGTH;
    }
    if (!isnan(a->temperature) || !isnan(a->top_k) || !isnan(a->top_p)) {
        o->do_sample = true;
    }
    o->temperature = or_else(a->temperature, o->temperature);
    o->top_k = (int64_t)or_else(a->top_k, (double)o->top_k);
    o->top_p = or_else(a->top_p, o->top_p);
    if (a->temperature < COLDEST) { /* false for NAN */
        o->do_sample = false;
        o->temperature = 1;
    }
}

/* Prints the text of a token, which is empty if the token only begins a character. Returns false to
 * stop. */
static bool show(int64_t row, int64_t id, const char *text, int64_t n, void *user)
{
    pretrained *p = user;
    (void)row;
    (void)id;
    p->first = p->tokens++ == 0 ? seconds_now() : p->first;
    bool ok = fwrite(text, 1, (size_t)n, stdout) == (size_t)n && fflush(stdout) == 0;
    if (!ok) {
        hd_error_set(HD_IO, "the text cannot be written: %s", strerror(errno));
    }
    return ok && !pretrained_stop;
}

bool pretrained_load(pretrained *p, const arguments *a)
{
    char path[4096];
    hd_pretrained_options o = hd_pretrained_defaults();
    o.dtype = a->bfloat16 ? HD_BFLOAT16 : HD_FLOAT32;
    *p = (pretrained){0};
    snprintf(path, sizeof path, "%s/tokenizer.json", a->from);
    bool ok = hd_generate_options_load(a->from, &p->how);
    p->tokenizer = ok ? hd_tokenizer_json(path) : NULL;
    p->model = p->tokenizer ? hd_from_pretrained(a->from, &o) : NULL;
    if (!p->model) {
        pretrained_free(p);
        return false;
    }
    set_options(&p->how, a);
    p->how.tokenizer = p->tokenizer;
    p->how.on_token = show;
    hd_manual_seed((int64_t)a->seed);
    return true;
}

void pretrained_free(pretrained *p)
{
    hd_module_free(p->model);
    hd_tokenizer_free(p->tokenizer);
    *p = (pretrained){0};
}

/* ---------------------------------------------------------------- a text */

hd_tensor *pretrained_write(pretrained *p, hd_tensor *ids)
{
    p->tokens = 0;
    p->how.user = p;
    pretrained_stop = 0;
    return hd_generate(p->model, ids, &p->how);
}

bool pretrained_text(const arguments *a, const char *prompt, writing_speed *speed)
{
    HD_SCOPE;
    pretrained p;
    if (!pretrained_load(&p, a)) {
        return false;
    }
    hd_tensor *ids = hd_tokenizer_encode_with(p.tokenizer, prompt, -1, NULL); /* (count,) */
    double start = seconds_now();
    bool ok = ids && fputs(prompt, stdout) >= 0 && pretrained_write(&p, hd_unsqueeze(ids, 0));
    if (ids) {
        putchar('\n');
    }
    p.first = p.tokens > 0 ? p.first : seconds_now();
    *speed = (writing_speed){hd_numel(ids), p.tokens, p.first - start, seconds_now() - p.first};
    pretrained_free(&p);
    return ok;
}
