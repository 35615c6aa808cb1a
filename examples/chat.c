/* chat.c - a conversation with the model of a folder of Hugging Face. */
#include <locale.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef HEED_HAVE_EDIT
#include <editline/readline.h>
#endif

#include "pretrained.h"
#include "train_text.h"

/* ---------------------------------------------------------------- the form of a chat */

typedef struct {
    const char *tokens[3]; /* which the vocabulary has; the last ends an answer */
    const char *begin, *before, *after, *end; /* of all, of a role, and of a message */
} chat_form;

/* ChatML, and the form of Llama 3 */
static const chat_form forms[] = {
    {{"<|im_start|>", "<|im_start|>", "<|im_end|>"}, "", "<|im_start|>", "\n", "<|im_end|>\n"},
    {{"<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"},
     "<|begin_of_text|>",
     "<|start_header_id|>",
     "<|end_header_id|>\n\n",
     "<|eot_id|>"},
};

static const chat_form *form_of(const hd_tokenizer *tokenizer, const char *folder)
{
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        bool has = true;
        for (int j = 0; j < 3; j++) {
            has = has && hd_tokenizer_id(tokenizer, forms[i].tokens[j], -1) >= 0;
        }
        if (has) {
            return &forms[i];
        }
    }
    return hd_error_set(HD_VALUE,
                        "%s/tokenizer.json has no form of a chat: expected the tokens "
                        "<|im_start|> and <|im_end|> (ChatML), or <|start_header_id|>, "
                        "<|end_header_id|> and <|eot_id|> (Llama 3)",
                        folder);
}

/* The system line that ChatML's template in the text of a file has for chats without one, such as
 * '<|im_start|>system\nYou are a helpful assistant.<|im_end|>\n'. In a JSON file its newline may be
 * "\\n". The caller frees it; NULL: there is none. */
static char *system_line(const char *text)
{
    static const char begin[] = "<|im_start|>system";
    for (const char *at = strstr(text, begin); at; at = strstr(at, begin)) {
        at += sizeof begin - 1;
        at += strspn(at, "\\");
        at += *at == 'n' || *at == '\n';
        size_t n = strcspn(at, "'\"\\{}<");
        if (n > 0 && strncmp(at + n, "<|im_end|>", 10) == 0) {
            return strndup(at, n);
        }
    }
    return NULL;
}

/* Gets this line from the files of a folder that may have a template. *line NULL: there is none. */
static bool system_of(const char *folder, char **line)
{
    static const char *const names[] = {"chat_template.jinja", "tokenizer_config.json"};
    *line = NULL;
    for (size_t i = 0; !*line && i < sizeof names / sizeof names[0]; i++) {
        char path[4096];
        size_t n;
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        if (access(path, F_OK) == 0) {
            char *text = read_text(path, &n);
            if (!text) {
                return false;
            }
            *line = system_line(text);
            free(text);
        }
    }
    return true;
}

/* ---------------------------------------------------------------- lines */

static void stop(int signal)
{
    (void)signal;
    pretrained_stop = 1;
}

/* Ctrl-C stops an answer; what reads a line goes on. */
static void begin_terminal(void)
{
    struct sigaction on_interrupt = {.sa_handler = stop, .sa_flags = SA_RESTART};
    sigemptyset(&on_interrupt.sa_mask);
    sigaction(SIGINT, &on_interrupt, NULL);
#ifdef HEED_HAVE_EDIT
    setlocale(LC_CTYPE, "");
    rl_catch_signals = 0;
#endif
    fprintf(stderr, "Ctrl-C stops an answer, Ctrl-D ends, /new begins a new conversation.\n");
}

#ifdef HEED_HAVE_EDIT
/* Has a whole line, or a Ctrl-D, come while an answer was written? libedit would take that Ctrl-D
 * for a character of the line. */
static bool typed_ahead(void)
{
    struct pollfd input = {STDIN_FILENO, POLLIN, 0};
    return poll(&input, 1, 0) > 0;
}
#endif

/* The next line without its newline, which the caller frees; NULL: there is none. */
static char *next_line(bool terminal)
{
#ifdef HEED_HAVE_EDIT
    if (terminal && !typed_ahead()) {
        char *edited = readline("> ");
        if (edited && *edited) {
            add_history(edited);
        }
        return edited;
    }
#endif
    if (terminal) {
        fputs("> ", stdout);
        fflush(stdout);
    }
    char *line = NULL;
    size_t room = 0;
    ssize_t n = getline(&line, &room, stdin);
    if (n <= 0) {
        free(line);
        return NULL;
    }
    line[line[n - 1] == '\n' ? n - 1 : n] = '\0';
    return line;
}

/* ---------------------------------------------------------------- the conversation */

typedef struct {
    pretrained with;
    const chat_form *form;
    const char *system; /* "": none */
    hd_tensor *said;    /* (1, t): all so far, without the end of the last answer; NULL: nothing */
} conversation;

static void put_message(FILE *f, const chat_form *form, const char *role, const char *text)
{
    fprintf(f, "%s%s%s%s%s", form->before, role, form->after, text, form->end);
}

/* What follows c->said, up to the answer: (1, count) */
static hd_tensor *ids_of(const conversation *c, const char *question)
{
    char *text = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&text, &n);
    bool ok = f;
    if (f) {
        fputs(c->said ? c->form->end : c->form->begin, f);
        if (!c->said && *c->system) {
            put_message(f, c->form, "system", c->system);
        }
        put_message(f, c->form, "user", question);
        fprintf(f, "%sassistant%s", c->form->before, c->form->after);
        ok = fclose(f) == 0;
    }
    hd_tensor *ids = ok ? hd_tokenizer_encode(c->with.tokenizer, text, -1, HD_SPECIAL_ALLOW)
                        : hd_error_set(HD_MEMORY, "chat: out of memory");
    free(text);
    return hd_unsqueeze(ids, 0);
}

static bool is_end(const hd_generate_options *o, int64_t id)
{
    for (int64_t i = 0; i < o->num_eos; i++) {
        if (o->eos_token_id[i] == id) {
            return true;
        }
    }
    return false;
}

/* The end of a message ends an answer, too. */
static void add_end(hd_generate_options *o, const hd_tokenizer *tokenizer, const chat_form *form)
{
    int64_t id = hd_tokenizer_id(tokenizer, form->tokens[2], -1);
    if (!is_end(o, id) && o->num_eos < HD_EOS_MOST) {
        o->eos_token_id[o->num_eos++] = id;
    }
}

/* The last token of an answer ends it, unless it was stopped or is too long. */
static bool keep(conversation *c, hd_tensor *all)
{
    bool ended = is_end(&c->with.how, hd_get_int(all, 0, -1));
    if (!ended && !pretrained_stop) {
        fprintf(stderr, "(cut after %lld tokens: --length N allows more)\n",
                (long long)c->with.tokens);
    }
    return hd_assign(&c->said, hd_slice(all, 1, 0, ended ? -1 : HD_END));
}

static bool answer(conversation *c, const char *question)
{
    HD_SCOPE;
    /* An error of the question itself counts its bytes from its own beginning. */
    hd_tensor *ids = hd_tokenizer_encode(c->with.tokenizer, question, -1, HD_SPECIAL_ALLOW);
    ids = ids ? ids_of(c, question) : NULL;
    ids = ids && c->said ? hd_cat(1, c->said, ids) : ids;
    if (!ids) {
        return false;
    }
    hd_tensor *all = pretrained_write(&c->with, ids);
    if (all || c->with.tokens > 0) {
        putchar('\n');
    }
    if (!all && hd_error_code() == HD_VALUE) {
        char why[512];
        snprintf(why, sizeof why, "%s", hd_error_message());
        hd_error_clear();
        return hd_error_set(HD_VALUE,
                            "%s; /new begins a new conversation, and --length N makes an answer "
                            "shorter",
                            why);
    }
    return all && keep(c, all);
}

static bool talk(conversation *c)
{
    bool terminal = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO), ok = true;
    if (terminal) {
        begin_terminal();
    }
    for (char *line; ok && (line = next_line(terminal)); free(line)) {
        if (strcmp(line, "/new") == 0) {
            hd_release(c->said);
            c->said = NULL;
            continue;
        }
        if (*line == '\0') { /* nothing is asked */
            continue;
        }
        ok = answer(c, line);
        if (!ok && terminal) {
            fprintf(stderr, "%s\n", hd_error_message());
            hd_error_clear();
            ok = true;
        }
    }
    if (terminal) {
        putchar('\n');
    }
    return ok && (!ferror(stdin) || hd_error_set(HD_IO, "stdin cannot be read"));
}

bool chat(const arguments *a)
{
    HD_SCOPE;
    conversation c = {0};
    if (!pretrained_load(&c.with, a)) {
        return false;
    }
    c.form = form_of(c.with.tokenizer, a->from);
    char *system = NULL;
    bool ok = c.form && (a->system || system_of(a->from, &system));
    c.system = a->system ? a->system : system ? system : "";
    if (ok) {
        add_end(&c.with.how, c.with.tokenizer, c.form);
        ok = talk(&c);
    }
    hd_release(c.said);
    pretrained_free(&c.with);
    free(system);
    return ok;
}
