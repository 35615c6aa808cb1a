/* chat.c - a conversation with a model from a Hugging Face folder. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef HEED_HAVE_EDIT
#include <editline/readline.h>
#include <locale.h>
#include <poll.h>
#endif

#include "pretrained.h"

/* ---------------------------------------------------------------- lines */

static void stop(int signal)
{
    (void)signal;
    pretrained_stop = 1;
}

/* Makes Ctrl-C stop an answer. Ctrl-C does not interrupt the reading of a line. */
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
/* True if the user typed a line, or Ctrl-D, during an answer. Such a line is read without libedit,
 * which would take that Ctrl-D for a character of the line. */
static bool typed_ahead(void)
{
    struct pollfd input = {STDIN_FILENO, POLLIN, 0};
    return poll(&input, 1, 0) > 0;
}
#endif

/* Returns the next line of stdin without its newline, or NULL if there is none. The caller frees
 * it. */
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
    hd_chat *chat;
    int64_t first; /* the number of messages with which each conversation begins */
} conversation;

/* Appends advice for the user to the message of the error. Returns false. */
static bool advise(const char *advice)
{
    char why[1024];
    hd_code code = hd_error_code();
    snprintf(why, sizeof why, "%s", hd_error_message());
    hd_error_clear();
    return hd_error_set(code, "%s. %s", why, advice);
}

/* Returns the ids (1, count) of the whole conversation and of the beginning of the answer, or NULL
 * with an error. */
static hd_tensor *ids_of(conversation *c)
{
    hd_tensor *ids = hd_chat_encode(c->chat, c->with.tokenizer, true); /* (count,) */
    if (!ids && (hd_error_code() == HD_VALUE || hd_error_code() == HD_FORMAT)) {
        advise("Give another template with --template FILE, or a PROMPT without --chat");
    }
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

/* Adds the model's answer to the conversation: the tokens of all (1, n) after the first `before`.
 * Prints a note if --length cut the answer, so that it has no end token. Returns false with an
 * error on failure. */
static bool keep(conversation *c, hd_tensor *all, int64_t before)
{
    bool ended = is_end(&c->with.how, hd_get_int(all, 0, -1));
    if (!ended && !pretrained_stop) {
        fprintf(stderr, "(cut after %lld tokens: --length N allows more)\n",
                (long long)c->with.tokens);
    }
    hd_tensor *said = hd_slice(all, 1, before, HD_END); /* (1, n) */
    const char *text = hd_tokenizer_decode_with(c->with.tokenizer, said, true, NULL);
    return text && hd_chat_add(c->chat, "assistant", text);
}

static bool answer(conversation *c, const char *question)
{
    HD_SCOPE;
    /* Encodes the question alone first, so that a message about bytes counts those of the
     * question. */
    bool ok = hd_tokenizer_encode(c->with.tokenizer, question, -1, HD_SPECIAL_ALLOW) &&
              hd_chat_add(c->chat, "user", question);
    hd_tensor *ids = ok ? ids_of(c) : NULL; /* (1, t) */
    if (!ids) {
        return false;
    }
    hd_tensor *all = pretrained_write(&c->with, ids); /* (1, t + n) */
    if (all || c->with.tokens > 0) {
        putchar('\n');
    }
    if (!all && hd_error_code() == HD_VALUE) {
        return advise(
            "Begin a new conversation with /new, or make answers shorter with --length N");
    }
    return all && keep(c, all, hd_size(ids, 1));
}

static bool talk(conversation *c)
{
    bool terminal = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO), ok = true;
    if (terminal) {
        begin_terminal();
    }
    for (char *line; ok && (line = next_line(terminal)); free(line)) {
        if (strcmp(line, "/new") == 0) {
            hd_chat_cut(c->chat, c->first);
            continue;
        }
        if (*line == '\0') { /* an empty line is no question */
            continue;
        }
        int64_t before = hd_chat_len(c->chat);
        ok = answer(c, line);
        if (!ok && terminal) {
            fprintf(stderr, "%s\n", hd_error_message());
            hd_error_clear();
            ok = hd_chat_cut(c->chat, before);
        }
    }
    if (terminal) {
        putchar('\n');
    }
    return ok && (!ferror(stdin) || hd_error_set(HD_IO, "stdin cannot be read"));
}

/* Makes the chat, adds the system message if there is one, and sets the tokens that end an answer.
 * Returns false with an error on failure. */
static bool begin(conversation *c, const arguments *a)
{
    hd_chat_options o = hd_chat_defaults();
    o.template_file = a->template_file;
    c->chat = hd_chat_new(a->from, &o);
    if (!c->chat) {
        return advise("Give a template with --template FILE, or a PROMPT without --chat");
    }
    bool system = a->system && *a->system;
    c->first = system;
    return hd_chat_ends(c->chat, c->with.tokenizer, &c->with.how) &&
           (!system || hd_chat_add(c->chat, "system", a->system));
}

bool chat(const arguments *a)
{
    HD_SCOPE;
    conversation c = {0};
    bool ok = pretrained_load(&c.with, a) && begin(&c, a) && talk(&c);
    hd_chat_free(c.chat);
    pretrained_free(&c.with);
    return ok;
}
