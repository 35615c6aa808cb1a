/* chat.c - hd_chat: a conversation. The chat template in a model's folder turns it into a text. */
#include <inttypes.h>
#include <stdio.h>

#include "hf/hf_internal.h"
#include "hf/template.h"

enum { LARGEST_TEMPLATE = 1 << 22 }; /* the size of the largest template, in bytes */

/* A run of the template may take MOST_STEPS steps and MOST_BYTES bytes of memory, and for each byte
 * of its input STEPS_A_BYTE more steps and BYTES_A_BYTE more bytes. */
enum { MOST_STEPS = 1 << 20, MOST_BYTES = 1 << 20, STEPS_A_BYTE = 256, BYTES_A_BYTE = 64 };

typedef struct message {
    char *role, *text;
} message;

struct hd_chat {
    char *template; /* n bytes, with "\n" at the end of each line */
    size_t n;
    const hd__template_token *tokens;
    hd__template_table variables;
    hd__template_arena arena; /* the memory of tokens and variables */
    hd__text name;            /* the template's path */
    message *messages;
    int64_t len, room, now;
    char *text; /* the last result of hd_chat_text */
};

hd_chat_options hd_chat_defaults(void)
{
    return (hd_chat_options){.size = sizeof(hd_chat_options)};
}

/* ---------------------------------------------------------------- the template */

/* Replaces "\r\n" and "\r" in c->template by "\n", and drops a final "\n", as jinja2 does. */
static void chat_normalize(hd_chat *c)
{
    char *text = c->template;
    size_t n = 0;
    for (size_t i = 0; i < c->n; i++) {
        if (text[i] != '\r') {
            text[n++] = text[i];
        } else if (i + 1 == c->n || text[i + 1] != '\n') {
            text[n++] = '\n';
        }
    }
    c->n = n - (n > 0 && text[n - 1] == '\n');
}

/* Returns the template in the file at path, which the caller frees, and sets c->n and c->name.
 * Returns NULL with an error if the file cannot be read. */
static char *chat_read_file(hd_chat *c, const char *path)
{
    c->name.len = 0;
    hd__text_puts(&c->name, path);
    return c->name.failed ? NULL : hd__file_whole_read(path, LARGEST_TEMPLATE, &c->n);
}

/* Returns the chat template in d, the values of tokenizer_config.json. It is the text chat_template
 * or, if that is a list, the template named "default" in it. Returns NULL if there is none. */
static const char *chat_template_of(const hd_dict *d)
{
    char name[64], of[64];
    const char *text = hd__hf_json_text(d, "chat_template"), *named;
    for (int i = 0; !text; i++) {
        snprintf(name, sizeof name, "chat_template.%d.name", i);
        snprintf(of, sizeof of, "chat_template.%d.template", i);
        named = hd__hf_json_text(d, name);
        if (!named || !hd__hf_json_text(d, of)) {
            return NULL;
        }
        text = strcmp(named, "default") == 0 ? hd__hf_json_text(d, of) : NULL;
    }
    return text;
}

/* Returns the folder's template, which the caller frees, and sets c->n and c->name. Reads the same
 * files as transformers. d has the values of tokenizer_config.json, or is NULL. Returns NULL with
 * an error on failure. */
static char *chat_read_folder(hd_chat *c, const char *folder, const hd_dict *d)
{
    int found = hd__hf_look_for(folder, "chat_template.jinja", &c->name);
    const char *text = found == 0 && d ? chat_template_of(d) : NULL;
    if (found > 0) {
        return hd__file_whole_read(c->name.s, LARGEST_TEMPLATE, &c->n);
    }
    if (found == 0 && !text) {
        hd_fail(HD_VALUE,
                "'%.*s' has no chat template: expected chat_template.jinja, or "
                "chat_template in tokenizer_config.json. Give a file with one (template_file "
                "in hd_chat_options), or write the prompt without one",
                HD__CUT(folder));
    }
    char *copy = text && hd__hf_path_of(folder, "tokenizer_config.json", &c->name)
                     ? hd_alloc(strlen(text) + 1)
                     : NULL;
    c->n = copy ? strlen(text) : 0;
    return copy ? memcpy(copy, text, c->n + 1) : NULL;
}

/* ---------------------------------------------------------------- the template's variables */

static void chat_set(hd__template_run *r, hd__template_table *t, const char *name,
                     hd__template_value v)
{
    hd__template_table_put(r, t, hd__template_value_copy(r, name, strlen(name)), v);
}

/* Sets a variable in t for each special token in d, such as eos_token. In d, a token is a text, or
 * an object whose member `content` is the text. */
static void chat_tokens(hd__template_run *r, hd__template_table *t, const hd_dict *d)
{
    static const char *const names[] = {"bos_token", "eos_token", "unk_token", "sep_token",
                                        "pad_token", "cls_token", "mask_token"};
    for (size_t i = 0; d && i < sizeof names / sizeof names[0]; i++) {
        char content[32];
        snprintf(content, sizeof content, "%s.content", names[i]);
        const char *token = hd__hf_json_text(d, names[i]);
        token = token ? token : hd__hf_json_text(d, content);
        if (token) {
            chat_set(r, t, names[i], hd__template_value_copy(r, token, strlen(token)));
        }
    }
}

/* True if d, the values of tokenizer_config.json, has added_tokens_decoder. Then transformers does
 * not read special_tokens_map.json. */
static bool chat_is_complete(const hd_dict *d)
{
    static const char decoder[] = "added_tokens_decoder.";
    for (int64_t i = 0; d && i < hd_dict_len(d); i++) {
        if (strncmp(hd_dict_name(d, i), decoder, sizeof decoder - 1) == 0) {
            return true;
        }
    }
    return false;
}

static bool chat_variables(hd__template_run *r, hd_chat *c, const char *given)
{
    hd__template_value v = hd__template_value_of_json(r, "o->variables", given, strlen(given));
    if (!r->failed && v.kind != HD__DICT_VALUE) {
        r->failed = true;
        return hd_fail(HD_VALUE, "o->variables is %s: expected a JSON object",
                       hd__template_kind_names[v.kind]);
    }
    for (int64_t i = 0; !r->failed && i < v.table->n; i += 2) {
        hd__template_table_put(r, &c->variables, v.table->items[i], v.table->items[i + 1]);
    }
    return !r->failed;
}

/* Sets *d to the values of the file, or to NULL if there is no such file. Returns false with an
 * error if the file cannot be read. */
static bool chat_values(const char *folder, const char *name, hd_dict **d)
{
    hd__text path = {0};
    int found = hd__hf_look_for(folder, name, &path);
    *d = found > 0 ? hd__hf_json_values(path.s) : NULL;
    hd_free(path.s);
    return found == 0 || *d;
}

/* ---------------------------------------------------------------- the conversation */

/* Reads c's template and its variables. d has the values of tokenizer_config.json, and old those of
 * special_tokens_map.json. Either may be NULL. Returns false with an error on failure. */
static bool chat_read(hd__template_run *r, hd_chat *c, const hd_dict *d, const hd_dict *old,
                      const hd_chat_options *o)
{
    size_t good = hd__utf8_good(c->template, c->n);
    if (good < c->n) {
        return hd_fail(HD_FORMAT, "'%.*s' has byte 0x%02x at %zu: expected UTF-8",
                       HD__CUT(c->name.s), (unsigned char)c->template[good], good);
    }
    chat_normalize(c);
    chat_set(r, &c->variables, "tools", HD__OF(HD__NONE_VALUE, 0));
    chat_set(r, &c->variables, "documents", HD__OF(HD__NONE_VALUE, 0));
    chat_tokens(r, &c->variables, d);
    chat_tokens(r, &c->variables, old);
    r->text = c->template;
    r->n = c->n;
    r->name = c->name.s;
    c->tokens = r->failed ? NULL : hd__template_tokens(r);
    if (c->tokens) {
        hd__template_walk(r, c->tokens, false);
    }
    return !r->failed && (!o->variables || chat_variables(r, c, o->variables));
}

static bool chat_open(hd__template_run *r, hd_chat *c, const char *folder, const hd_chat_options *o)
{
    hd_dict *d, *old = NULL;
    if (!chat_values(folder, "tokenizer_config.json", &d)) {
        return false;
    }
    c->template =
        o->template_file ? chat_read_file(c, o->template_file) : chat_read_folder(c, folder, d);
    bool ok = c->template &&
              (chat_is_complete(d) || chat_values(folder, "special_tokens_map.json", &old)) &&
              chat_read(r, c, d, old, o);
    hd_dict_free(d);
    hd_dict_free(old);
    return ok;
}

hd_chat *hd_chat_new(const char *folder, const hd_chat_options *options)
{
    HD__CALL("hd_chat_new");
    hd_chat_options defaults = hd_chat_defaults();
    const hd_chat_options *o = options ? options : &defaults;
    if (!HD__SIBLING_OK() || !hd__arg_given("folder", folder) ||
        !HD__SIZE_OK(o, "hd_chat_defaults()")) {
        return NULL;
    }
    hd_chat *c = hd_alloc(sizeof *c);
    if (!c) {
        return NULL;
    }
    *c = (hd_chat){.now = o->now};
    hd__template_run r = {.arena = &c->arena, .steps = SIZE_MAX, .bytes = SIZE_MAX};
    if (!chat_open(&r, c, folder, o)) {
        hd_chat_free(c);
        return NULL;
    }
    return c;
}

static void chat_cut(hd_chat *c, int64_t n)
{
    while (c->len > n) {
        message m = c->messages[--c->len];
        hd_free(m.role);
        hd_free(m.text);
    }
}

void hd_chat_free(hd_chat *c)
{
    HD__CALL("hd_chat_free");
    if (!c) {
        return;
    }
    chat_cut(c, 0);
    hd__template_arena_free(&c->arena);
    hd_free(c->messages);
    hd_free(c->template);
    hd_free((void *)c->tokens);
    hd_free(c->name.s);
    hd_free(c->text);
    hd_free(c);
}

/* Returns a copy of text, the argument called `name`, or NULL with an error if it is not UTF-8. */
static char *chat_copy(const char *name, const char *text)
{
    size_t n = strlen(text), good = hd__utf8_good(text, n);
    if (good < n) {
        return hd_fail(HD_FORMAT, "%s has byte 0x%02x at %zu: expected UTF-8", name,
                       (unsigned char)text[good], good);
    }
    char *copy = hd_alloc(n + 1);
    return copy ? memcpy(copy, text, n + 1) : NULL;
}

bool hd_chat_add(hd_chat *c, const char *role, const char *text)
{
    HD__CALL("hd_chat_add");
    if (!hd__arg_given("c", c) || !hd__arg_given("role", role) || !hd__arg_given("text", text) ||
        !hd__text_grow(&c->messages, &c->room, c->len + 1, sizeof *c->messages)) {
        return false;
    }
    message m = {chat_copy("role", role), NULL};
    m.text = m.role ? chat_copy("text", text) : NULL;
    if (!m.text) {
        hd_free(m.role);
        return false;
    }
    c->messages[c->len++] = m;
    return true;
}

int64_t hd_chat_len(const hd_chat *c)
{
    HD__CALL("hd_chat_len");
    return hd__arg_given("c", c) ? c->len : -1;
}

bool hd_chat_cut(hd_chat *c, int64_t n)
{
    HD__CALL("hd_chat_cut");
    if (!hd__arg_given("c", c)) {
        return false;
    }
    if (n < 0 || n > c->len) {
        return hd_fail(HD_INDEX, "n %" PRId64 ": expected 0 to %" PRId64, n, c->len);
    }
    chat_cut(c, n);
    return true;
}

/* ---------------------------------------------------------------- the conversation's text */

static hd__template_value chat_messages(hd__template_run *r, const hd_chat *c)
{
    hd__template_table list = {0};
    for (int64_t i = 0; i < c->len; i++) {
        const message *m = &c->messages[i];
        hd__template_table t = {0};
        hd__template_table_put(r, &t, HD__LITERAL("role"), HD__TEXT(m->role, strlen(m->role)));
        hd__template_table_put(r, &t, HD__LITERAL("content"), HD__TEXT(m->text, strlen(m->text)));
        hd__template_push(r, &list, hd__template_dict_of(r, HD__DICT_VALUE, t));
    }
    return hd__template_list_of(HD__LIST, list);
}

static bool chat_run(hd__template_run *r, const hd_chat *c, bool for_reply)
{
    hd__template_table frame = {0};
    for (int64_t i = 0; i < c->variables.n; i++) {
        hd__template_push(r, &frame, c->variables.items[i]);
    }
    chat_set(r, &frame, "messages", chat_messages(r, c));
    chat_set(r, &frame, "add_generation_prompt", HD__OF(HD__BOOL_VALUE, for_reply));
    r->frame = &frame;
    hd__text_puts(&r->out, "");
    hd__template_walk(r, c->tokens, true);
    if (!r->failed && strlen(r->out.s) < r->out.len) {
        hd__template_fail_at(r, HD_VALUE,
                             "the template writes a zero byte, which a C string cannot hold");
    }
    return !r->failed;
}

/* Runs the template, and sets c->text to its result. Returns the length of c->text in bytes; -1
 * with an error on failure. */
static int64_t chat_write(hd_chat *c, bool for_reply)
{
    hd__template_arena arena = {0};
    if (c->len == 0) {
        hd_fail(HD_VALUE, "there are no messages. Add one with hd_chat_add");
        return -1;
    }
    size_t bytes = c->n;
    for (int64_t i = 0; i < c->len; i++) {
        bytes +=
            strlen(c->messages[i].role) + strlen(c->messages[i].text) + sizeof(hd__template_value);
    }
    hd__template_run r = {.name = c->name.s,
                          .text = c->template,
                          .n = c->n,
                          .arena = &arena,
                          .steps = MOST_STEPS + STEPS_A_BYTE * bytes,
                          .bytes = MOST_BYTES + BYTES_A_BYTE * bytes,
                          .now = c->now};
    bool ok = chat_run(&r, c, for_reply);
    hd__template_arena_free(&arena);
    hd_free(c->text);
    c->text = ok ? r.out.s : NULL;
    if (!ok) {
        hd_free(r.out.s);
    }
    return ok ? (int64_t)r.out.len : -1;
}

const char *hd_chat_text(hd_chat *c, bool for_reply)
{
    HD__CALL("hd_chat_text");
    return hd__arg_given("c", c) && chat_write(c, for_reply) >= 0 ? c->text : NULL;
}

hd_tensor *hd_chat_encode(hd_chat *c, const hd_tokenizer *tokenizer, bool for_reply)
{
    HD__CALL("hd_chat_encode");
    if (!hd__arg_given("c", c) || !hd__arg_given("tokenizer", tokenizer)) {
        return NULL;
    }
    int64_t n = chat_write(c, for_reply);
    return n < 0 ? NULL : hd_tokenizer_encode(tokenizer, c->text, n, HD_SPECIAL_ALLOW);
}

bool hd_chat_ends(const hd_chat *c, const hd_tokenizer *tokenizer, hd_generate_options *o)
{
    HD__CALL("hd_chat_ends");
    if (!hd__arg_given("c", c) || !hd__arg_given("tokenizer", tokenizer) ||
        !hd__arg_given("o", o) || !HD__SIZE_OK(o, "hd_generate_defaults()")) {
        return false;
    }
    if (o->num_eos < 0 || o->num_eos > HD_EOS_MOST) {
        return hd_fail(HD_VALUE, "num_eos %" PRId64 ": expected 0 to %d", o->num_eos, HD_EOS_MOST);
    }
    hd__template_run r = {.steps = SIZE_MAX};
    const hd__template_value *eos =
        hd__template_table_find(&r, &c->variables, HD__LITERAL("eos_token"));
    int64_t id = eos && eos->kind == HD__STRING ? hd_tokenizer_id(tokenizer, eos->s, eos->n) : -1;
    int64_t i = 0;
    while (i < o->num_eos && o->eos_token_id[i] != id) {
        i++;
    }
    if (id < 0 || i < o->num_eos) {
        return true;
    }
    if (i == HD_EOS_MOST) {
        return hd_fail(
            HD_VALUE, "num_eos is %d, the largest number, so eos_token %" PRId64 " cannot be added",
            HD_EOS_MOST, id);
    }
    o->eos_token_id[o->num_eos++] = id;
    return true;
}
