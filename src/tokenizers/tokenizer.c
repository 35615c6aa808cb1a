/* tokenizer.c - the parts that all tokenizers share: a table with the bytes of each token, decoding
 * with this table, and the public functions, which call the functions of the tokenizer's type. The
 * simplest type is here, too: its tokens are the 256 bytes. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/text/utf8.h"
#include "tensor/copy.h"
#include "tensor/dict.h"
#include "tensor/tensor_args.h"
#include "tokenizers/tokenizer.h"

/* ---------------------------------------------------------------- life */

hd_tokenizer *hd__tokenizer_new(const hd__tokenizer_type *type, size_t struct_size, int64_t size,
                                int64_t bytes)
{
    hd_tokenizer *t = hd__object_new(HD__TOKENIZER, struct_size);
    if (!t) {
        return NULL;
    }
    t->type = type;
    t->size = size;
    t->bytes = hd_alloc((size_t)bytes);
    t->starts = hd__arg_alloc_items(size + 1, sizeof *t->starts);
    if (!t->bytes || !t->starts) {
        hd_tokenizer_free(t);
        return NULL;
    }
    memset(t->starts, 0, ((size_t)size + 1) * sizeof *t->starts);
    return t;
}

void hd_tokenizer_free(hd_tokenizer *t)
{
    HD__CALL("hd_tokenizer_free");
    if (hd__object_may_free("t", t, HD_NONE)) {
        if (t->type->free) {
            t->type->free(t);
        }
        hd_free(t->bytes);
        hd_free(t->starts);
        hd_free(t->kinds);
        hd__mem_retire_object(t, hd__call_kept());
    }
}

int64_t hd_tokenizer_size(const hd_tokenizer *t)
{
    HD__CALL("hd_tokenizer_size");
    return hd__object("t", t) ? t->size : -1;
}

/* ---------------------------------------------------------------- encoding */

void hd__tokenizer_ids_add(hd__tokenizer_ids *ids, int64_t id)
{
    if (HD__UNLIKELY(ids->n == ids->room)) {
        ids->failed =
            ids->failed || !hd__text_grow(&ids->v, &ids->room, ids->n + 1, sizeof *ids->v);
    }
    if (!ids->failed) {
        ids->v[ids->n++] = id;
    }
}

int64_t hd_tokenizer_id(const hd_tokenizer *t, const char *token, int64_t n)
{
    HD__CALL("hd_tokenizer_id");
    bool ok = hd__object("t", t) && hd__arg_given("token", token);
    return ok ? t->type->find(t, token, n < 0 ? (int64_t)strlen(token) : n) : -1;
}

static hd_tensor *encode(const hd_tokenizer *t, const char *text, int64_t n,
                         const hd_encode_options *o)
{
    if (!hd__object("t", t) || !hd__arg_given("text", text) ||
        !HD__SIZE_OK(o, "hd_encode_defaults()")) {
        return NULL;
    }
    if ((int)o->special < HD_SPECIAL_REFUSE || o->special > HD_SPECIAL_TEXT) {
        return hd_fail(HD_VALUE,
                       "special %d: expected HD_SPECIAL_REFUSE, "
                       "HD_SPECIAL_ALLOW or HD_SPECIAL_TEXT",
                       (int)o->special);
    }
    hd__tokenizer_ids ids = {0};
    hd_tensor *x = NULL; /* (ids.n,) */
    n = n < 0 ? (int64_t)strlen(text) : n;
    if (t->type->encode(t, text, n, o, &ids) && !ids.failed) {
        x = hd_from_data_n(HD_INT64, ids.n ? ids.v : &ids.n, 1, &ids.n);
    }
    hd_free(ids.v);
    return x;
}

hd_tensor *hd_tokenizer_encode(const hd_tokenizer *t, const char *text, int64_t n,
                               hd_special special)
{
    HD__CALL("hd_tokenizer_encode");
    return encode(t, text, n, &(hd_encode_options){sizeof(hd_encode_options), special, false});
}

hd_encode_options hd_encode_defaults(void)
{
    return (hd_encode_options){sizeof(hd_encode_options), HD_SPECIAL_ALLOW, true};
}

hd_tensor *hd_tokenizer_encode_with(const hd_tokenizer *t, const char *text, int64_t n,
                                    const hd_encode_options *options)
{
    HD__CALL("hd_tokenizer_encode_with");
    const hd_encode_options o = options ? *options : hd_encode_defaults();
    return encode(t, text, n, &o);
}

/* ---------------------------------------------------------------- decoding */

typedef struct decoding {
    bool skip;    /* true: leaves out special tokens */
    bool replace; /* true: U+FFFD replaces bytes that are not UTF-8 */
    hd__text text;
    size_t run; /* the offset in text.s of the sequence of byte tokens with which the text ends */
} decoding;

/* Ends the sequence of byte tokens that begins at d->run: sets d->run to the end of the text. If
 * d->replace is true and the sequence is not UTF-8, first replaces each of its bytes by U+FFFD. */
static void end_run(decoding *d)
{
    size_t n = d->text.len - d->run;
    if (d->replace && n > 0 && !d->text.failed && hd__utf8_good(d->text.s + d->run, n) < n) {
        hd__text_cut(&d->text, d->run);
        for (size_t i = 0; i < n; i++) {
            hd__text_puts(&d->text, "\xEF\xBF\xBD");
        }
    }
    d->run = d->text.len;
}

/* Appends the token s to `to`, with spaces in place of U+2581. */
static void add_unspaced(hd__text *to, const char *s, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        bool space = n - i >= 3 && memcmp(s + i, "\xE2\x96\x81", 3) == 0;
        hd__text_add(to, space ? " " : s + i, 1);
        i += space ? 2 : 0;
    }
}

static void add_token(decoding *d, const hd_tokenizer *t, int64_t id)
{
    int64_t n;
    const char *token = hd__tokenizer_token(t, id, &n);
    int kind = t->kinds ? t->kinds[id] : 0;
    if ((d->skip && (kind & HD__SPECIAL_TOKEN)) || (kind & HD__NO_TOKEN)) {
        return;
    }
    if (kind & HD__BYTE_TOKEN) {
        hd__text_add(&d->text, (const char[]){(char)strtol(token + 3, NULL, 16)}, 1);
        return;
    }
    if (t->metaspaces) {
        end_run(d);
        hd__text_puts(&d->text, kind & HD__SPACED_TOKEN ? " " : "");
        add_unspaced(&d->text, token, n);
        d->run = d->text.len;
    } else {
        hd__text_add(&d->text, token, (size_t)n);
    }
}

/* Appends the text of all ids to d->text. Returns false with an error if an id is outside the
 * vocabulary, or if memory runs out. */
static bool add_tokens(decoding *d, const hd_tokenizer *t, const hd_tensor *ids)
{
    HD__SCOPE_OR(false);
    hd_tensor *x = hd__tensor_contiguous((hd_tensor *)ids); /* has the shape of ids */
    const int64_t *v = x ? hd__tensor_ptr(x) : NULL;
    for (int64_t i = 0; x && i < x->numel; i++) {
        if (v[i] < 0 || v[i] >= t->size) {
            return hd_fail(HD_INDEX,
                           "id %" PRId64 " at position %" PRId64 ": expected 0 to %" PRId64, v[i],
                           i, t->size - 1);
        }
        add_token(d, t, v[i]);
    }
    if (t->metaspaces) {
        end_run(d);
    }
    return x && !d->text.failed;
}

/* Appends s to `to`, with U+FFFD for bytes that are not UTF-8. */
static void add_replaced(hd__text *to, const char *s, int64_t n)
{
    uint32_t code;
    for (int64_t i = 0; i < n;) {
        int length = hd__utf8_next(s + i, n - i, &code);
        if (length > 0) {
            hd__text_add(to, s + i, (size_t)length);
        } else {
            hd__text_puts(to, "\xEF\xBF\xBD");
            length = -length;
        }
        i += length;
    }
}

/* Returns the text of ids, which the innermost scope owns, and sets *n to its length, unless n is
 * NULL. skip and replace are those of struct decoding. Returns NULL with an error if ids is wrong
 * or memory runs out. */
static const char *decode(const hd_tokenizer *t, const hd_tensor *ids, bool skip, bool replace,
                          int64_t *n)
{
    if (!hd__object("t", t) || !hd__tensor_arg("ids", ids) ||
        !hd__tensor_dtype_is("ids", ids, HD_INT64)) {
        return NULL;
    }
    decoding d = {.skip = skip, .replace = replace};
    bool ok = add_tokens(&d, t, ids);
    hd__text text = d.text;
    text.failed = !ok;
    if (ok && t->strip_space && text.len > 0 && text.s[0] == ' ') {
        memmove(text.s, text.s + 1, text.len);
        hd__text_cut(&text, text.len - 1);
    }
    if (replace) {
        hd__text bytes = text;
        text = (hd__text){.failed = bytes.failed};
        add_replaced(&text, bytes.s, (int64_t)bytes.len);
        hd_free(bytes.s);
    }
    int64_t len = (int64_t)text.len;
    const char *s = hd__tensor_text_give(&text);
    if (s && n) {
        *n = len;
    }
    return s;
}

const char *hd_tokenizer_decode_bytes(const hd_tokenizer *t, const hd_tensor *ids, int64_t *n)
{
    HD__CALL("hd_tokenizer_decode_bytes");
    return decode(t, ids, false, false, n);
}

const char *hd_tokenizer_decode(const hd_tokenizer *t, const hd_tensor *ids, int64_t *n)
{
    HD__CALL("hd_tokenizer_decode");
    return decode(t, ids, false, true, n);
}

const char *hd_tokenizer_decode_with(const hd_tokenizer *t, const hd_tensor *ids,
                                     bool skip_special_tokens, int64_t *n)
{
    HD__CALL("hd_tokenizer_decode_with");
    return decode(t, ids, skip_special_tokens, true, n);
}

/* ---------------------------------------------------------------- dictionaries */

static const hd__tokenizer_type *const types[] = {
    &hd__tokenizer_byte_type, &hd__tokenizer_char_type, &hd__bpe_type, &hd__bpe_json_type};

static bool tokenizer_write(const void *object, hd_dict *d, const char *prefix)
{
    const hd_tokenizer *t = object;
    return hd_dict_set_string(d, hd__dict_field(prefix, "kind"), t->type->kind) &&
           (!t->type->save || t->type->save(t, d, prefix));
}

bool hd_tokenizer_save(const hd_tokenizer *t, hd_dict *d, const char *prefix)
{
    HD__CALL("hd_tokenizer_save");
    return hd__tensor_state_save("t", t, d, prefix, tokenizer_write);
}

hd_tokenizer *hd_tokenizer_load(const hd_dict *d, const char *prefix)
{
    HD__CALL("hd_tokenizer_load");
    HD__SCOPE_OR(NULL);
    if (!hd__object("d", d) || !hd__arg_given("prefix", prefix)) {
        return NULL;
    }
    const char *name = hd__dict_field(prefix, "kind"), *kind = hd_dict_get_string(d, name);
    if (!kind) {
        return NULL;
    }
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (strcmp(kind, types[i]->kind) == 0) {
            return types[i]->load(d, prefix);
        }
    }
    return hd_fail(HD_VALUE, "'%s' is '%.*s': expected byte, char, bpe or json", name,
                   HD__CUT(kind));
}

/* ---------------------------------------------------------------- bytes */

hd_tokenizer *hd_tokenizer_bytes(void)
{
    HD__CALL("hd_tokenizer_bytes");
    hd_tokenizer *t = hd__tokenizer_new(&hd__tokenizer_byte_type, sizeof *t, 256, 256);
    for (int i = 0; t && i < 256; i++) {
        t->bytes[i] = (char)i;
        t->starts[i + 1] = i + 1;
    }
    return t;
}

static bool byte_encode(const hd_tokenizer *t, const char *text, int64_t n,
                        const hd_encode_options *o, hd__tokenizer_ids *ids)
{
    (void)t, (void)o;
    for (int64_t i = 0; i < n; i++) {
        hd__tokenizer_ids_add(ids, (unsigned char)text[i]);
    }
    return true;
}

static int64_t byte_find(const hd_tokenizer *t, const char *token, int64_t n)
{
    (void)t;
    return n == 1 ? (unsigned char)token[0] : -1;
}

static hd_tokenizer *byte_load(const hd_dict *d, const char *prefix)
{
    (void)d, (void)prefix;
    return hd_tokenizer_bytes();
}

const hd__tokenizer_type hd__tokenizer_byte_type = {"byte", byte_encode, byte_find,
                                                    NULL,   byte_load,   NULL};
