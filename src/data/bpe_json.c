/* bpe_json.c - reads a tokenizer.json of Hugging Face: the model and the added tokens.
 *
 * The file is one object, whose keys may stand in any order. A value is remembered by its place
 * and read when it is needed. */
#include <inttypes.h>
#include <stdio.h>

#include "data/bpe_json.h"

/* ---------------------------------------------------------------- the model */

enum { TYPE, DROPOUT, PREFIX, SUFFIX, UNKNOWN, FUSE, FALLBACK, IGNORE, VOCAB, MERGES, MODEL };
static const char *const model_keys[] = {
    "type",
    "dropout",
    "continuing_subword_prefix",
    "end_of_word_suffix",
    "unk_token",
    "fuse_unk",
    "byte_fallback",
    "ignore_merges",
    "vocab",
    "merges",
    NULL,
};

/* Adds the bytes of a token, which the text spells in words of bytes. A text that spells none is
 * taken as it is, and *spelled is false: no word is encoded as it. */
static void add_token_bytes(const hd__reader *r, const char *s, int64_t n, hd__text *to,
                            bool *spelled)
{
    const size_t before = to->len;
    *spelled = !r->words || hd__unspell(&r->a, s, n, to);
    if (!r->words || !*spelled) {
        hd__text_cut(to, before);
        hd__text_add(to, s, (size_t)n);
    }
}

static void add_entry(hd__reader *r, const char *s, int64_t n, int64_t id, bool hidden)
{
    hd__entries *e = &r->entries;
    size_t begin = e->bytes.len;
    bool spelled;
    add_token_bytes(r, s, n, &e->bytes, &spelled);
    r->failed = !hd__entries_add(e, id, begin, hidden || !spelled) || r->failed;
}

static void read_model_vocab(hd__reader *r, hd__value vocab)
{
    hd__each w;
    hd__text_puts(&r->entries.bytes, "");
    if (vocab.kind != HD__JSON_OBJECT) {
        hd__value_fail(r, "model.vocab", vocab, "an object");
    }
    for (hd__each_begin(r, &w, vocab); hd__each_next(r, &w);) {
        int64_t id = hd__integer_of(r, "an id of model.vocab", w.item);
        add_entry(r, w.name.s, (int64_t)w.name.len, id, false);
    }
    r->n_vocab = r->entries.n;
}

/* Reads the bytes of a token into r->bytes. False if they are not spelled, or after an error. */
static bool read_bytes(hd__reader *r, const char *s, int64_t n)
{
    bool spelled;
    hd__text_cut(&r->bytes, 0);
    hd__text_puts(&r->bytes, "");
    add_token_bytes(r, s, n, &r->bytes, &spelled);
    r->failed = r->failed || r->bytes.failed;
    return spelled && !r->failed;
}

static int32_t find_token(hd__reader *r, const char *s, int64_t n)
{
    return read_bytes(r, s, n) ? hd__bpe_find(r->b, r->bytes.s, (int64_t)r->bytes.len) : -1;
}

/* Adds the merge of a left token, which ends at `middle` of the text, and a right one. */
static void add_merge(hd__reader *r, int32_t rank, const hd__text *both, int64_t middle)
{
    const int64_t n = (int64_t)both->len;
    hd__merge m = {find_token(r, both->s, middle), find_token(r, both->s + middle, n - middle),
                   find_token(r, both->s, n)};
    if (!r->failed && (m.left < 0 || m.right < 0 || m.id < 0)) {
        hd__fail(HD_FORMAT,
                 "%s: model.merges has '%.*s' and '%.*s' at %d: expected two tokens of the "
                 "vocabulary, which are a third one together",
                 r->f.where, HD__CLIP(both->s, middle), HD__CLIP(both->s + middle, n - middle),
                 (int)rank);
        r->failed = true;
    }
    if (!r->failed) {
        r->b->merges[rank] = m;
        hd__bpe_enter_merge(r->b, rank);
    }
}

/* The two tokens of a merge, which is "a b" or ["a", "b"]: both in a row. Returns where the first
 * one ends, or -1. */
static int64_t merge_of(hd__reader *r, hd__value v, hd__text *both)
{
    int64_t middle = -1;
    hd__text_cut(both, 0);
    if (v.kind == HD__JSON_STRING) {
        const hd__text *t = hd__text_of(r, v);
        const char *space = t->failed ? NULL : memchr(t->s, ' ', t->len);
        if (space) {
            middle = space - t->s;
            hd__text_add(both, t->s, (size_t)middle);
            hd__text_add(both, space + 1, t->len - (size_t)middle - 1);
            middle = memchr(space + 1, ' ', t->len - (size_t)middle - 1) ? -1 : middle;
        }
        return middle;
    }
    hd__each w;
    int count = 0;
    for (hd__each_begin(r, &w, v); hd__each_next(r, &w); count++) {
        middle = count == 1 ? (int64_t)both->len : middle;
        const hd__text *t = hd__text_of(r, w.item);
        hd__text_add(both, t->s, t->failed || w.item.kind != HD__JSON_STRING ? 0 : t->len);
    }
    return count == 2 ? middle : -1;
}

static int64_t number_of_items(hd__reader *r, hd__value v)
{
    hd__each w;
    int64_t n = 0;
    for (hd__each_begin(r, &w, v); hd__each_next(r, &w);) {
        n++;
    }
    return n;
}

static void read_model_merges(hd__reader *r, hd__value merges)
{
    hd__each w;
    hd__bpe *b = r->b;
    hd__text both = {0};
    int64_t n = number_of_items(r, merges), middle;
    if (merges.kind != HD__JSON_ARRAY || n > INT32_MAX / 4) {
        hd__value_fail(r, "model.merges", merges, "an array");
        return;
    }
    b->merges = hd__alloc_items(n + 1, sizeof *b->merges);
    b->merge_slots = hd__bpe_slots(n, &b->merge_mask);
    r->failed = r->failed || !b->merges || !b->merge_slots;
    int32_t rank = 0;
    hd__text_puts(&both, "");
    for (hd__each_begin(r, &w, merges); hd__each_next(r, &w); rank++) {
        middle = merge_of(r, w.item, &both);
        r->failed = r->failed || both.failed;
        if (middle < 0 && !r->failed) {
            hd__value_fail(r, "a merge of model.merges", w.item, "two tokens");
        }
        if (!r->failed) {
            add_merge(r, rank, &both, middle);
        }
    }
    hd_free(both.s);
}

/* Does the token name a byte, as <0x0A> does? */
static bool is_byte(const char *s, int64_t n)
{
    static const char hex[] = "0123456789ABCDEFabcdef";
    return n == 6 && memcmp(s, "<0x", 3) == 0 && s[5] == '>' && s[3] && strchr(hex, s[3]) && s[4] &&
           strchr(hex, s[4]);
}

/* The tokens that name bytes, of which encoding needs all 256. */
static void find_bytes(hd__reader *r)
{
    hd__bpe *b = r->b;
    for (int64_t id = 0, n; id < b->base.size; id++) {
        const char *token = hd__token(&b->base, id, &n);
        b->base.kinds[id] |= is_byte(token, n) ? HD__BYTE_TOKEN : 0;
    }
    for (int i = 0; i < 256 && b->byte_fallback && !r->failed; i++) {
        char name[8];
        snprintf(name, sizeof name, "<0x%02X>", (unsigned)i);
        b->fallback[i] = hd__bpe_find(b, name, 6);
        if (b->fallback[i] < 0) {
            r->failed = !hd__source_fail(&r->f, 0, name, 6,
                                         "a token for each byte, because of byte_fallback");
        }
    }
}

static void check_empty(hd__reader *r, const char *key, hd__value v)
{
    if (v.kind != HD__JSON_NULL && !(v.kind == HD__JSON_STRING && v.end - v.begin == 2)) {
        hd__value_fail(r, key, v, "null");
    }
}

/* What must have one value in the model. */
static void check_model_keys(hd__reader *r, hd__value model, const hd__value *v)
{
    hd__each w;
    if (model.kind != HD__JSON_OBJECT) {
        hd__value_fail(r, "model", model, "an object");
    }
    if (v[TYPE].kind != HD__JSON_NULL && !hd__is_text(hd__text_of(r, v[TYPE]), "BPE")) {
        hd__value_fail(r, "model.type", v[TYPE], "BPE");
    }
    check_empty(r, "model.dropout", v[DROPOUT]);
    check_empty(r, "model.continuing_subword_prefix", v[PREFIX]);
    check_empty(r, "model.end_of_word_suffix", v[SUFFIX]);
    for (hd__each_begin(r, &w, model); hd__each_next(r, &w);) {
        if (hd__which(&w.name, model_keys) < 0) {
            r->failed = !hd__source_fail(&r->f, 0, w.name.s, (int64_t)w.name.len,
                                         "no other key in the model");
        }
    }
}

/* ---------------------------------------------------------------- added tokens */

enum { ID, CONTENT, SPECIAL, NORMALIZED, SINGLE_WORD, LSTRIP, RSTRIP, ADDED };
static const char *const added_keys[] = {"id",          "content", "special", "normalized",
                                         "single_word", "lstrip",  "rstrip",  NULL};

/* Reads a token into a; its text goes into r->text. */
static void read_added(hd__reader *r, hd__value v, hd__added *a)
{
    hd__value m[ADDED];
    hd__members(r, v, added_keys, m);
    int64_t id = hd__integer_of(r, "added_tokens.id", m[ID]);
    if (!r->failed && (id < 0 || id > INT32_MAX / 4)) {
        hd__value_fail(r, "added_tokens.id", m[ID], "an id");
    }
    bool flags[ADDED] = {0};
    for (int i = SPECIAL; i < ADDED; i++) {
        flags[i] = hd__flag_of(r, added_keys[i], m[i]);
    }
    const hd__text *t = hd__text_of(r, m[CONTENT]);
    if (m[CONTENT].kind != HD__JSON_STRING || t->len == 0) {
        hd__value_fail(r, "added_tokens.content", m[CONTENT], "a text");
    }
    *a = (hd__added){.id = (int32_t)id,
                     .n = (int64_t)t->len,
                     .special = flags[SPECIAL],
                     .normalized = flags[NORMALIZED],
                     .single_word = flags[SINGLE_WORD],
                     .lstrip = flags[LSTRIP],
                     .rstrip = flags[RSTRIP]};
}

/* Adds what is looked for in a text. */
static void add_pattern(const hd__reader *r, const hd__added *a, hd__text *to)
{
    hd__bpe_normalize(a->normalized ? r->normalizer : HD__AS_IS, r->text.s, a->n, to);
}

/* Those that the vocabulary has not become entries of their own. The package tokenizers decodes
 * what it has normalized. */
static void enter_added(hd__reader *r, hd__value list)
{
    hd__each w;
    hd__added a;
    for (hd__each_begin(r, &w, list); hd__each_next(r, &w);) {
        hd__text form = {0};
        read_added(r, w.item, &a);
        if (!r->failed && a.id >= r->n_vocab) {
            add_pattern(r, &a, &form);
            r->failed = form.failed;
        }
        if (!r->failed && a.id >= r->n_vocab) {
            add_entry(r, form.s, (int64_t)form.len, a.id, true);
        }
        hd_free(form.s);
    }
}

/* A token that is in the vocabulary must have its id there. */
static void check_added(hd__reader *r, const hd__added *a)
{
    int64_t n;
    const char *token = hd__token(&r->b->base, a->id, &n), *s = r->text.s;
    bool spelled = read_bytes(r, s, a->n);
    bool same =
        !r->failed && (size_t)n == r->bytes.len && memcmp(token, r->bytes.s, (size_t)n) == 0;
    bool elsewhere = spelled && hd__bpe_find(r->b, r->bytes.s, (int64_t)r->bytes.len) >= 0;
    if (!r->failed && (a->id < r->n_vocab ? !same : elsewhere)) {
        hd__fail(HD_FORMAT,
                 "%s: added_tokens has '%.*s' with id %d: expected the id that the "
                 "vocabulary gives it, or a new one",
                 r->f.where, HD__CLIP(s, a->n), (int)a->id);
        r->failed = true;
    }
}

/* Fills b->added; the texts are in `all` until its memory no longer moves. */
static void fill_added(hd__reader *r, hd__value list, hd__text *all)
{
    hd__each w;
    hd__bpe *b = r->b;
    for (hd__each_begin(r, &w, list); hd__each_next(r, &w);) {
        hd__added *a = &b->added[b->n_added];
        read_added(r, w.item, a);
        if (r->failed) {
            continue;
        }
        check_added(r, a);
        hd__text_add(all, r->text.s, (size_t)a->n);
        const size_t pattern = all->len;
        add_pattern(r, a, all);
        r->failed = r->failed || all->failed;
        a->pattern_n = (int64_t)(all->len - pattern);
        b->n_added++;
    }
}

/* What decoding knows of it. The package tokenizers skips only what normalizing has not changed. */
static uint8_t kind_of(const hd__reader *r, const hd__added *a)
{
    bool same = a->n == a->pattern_n && memcmp(a->s, a->pattern, (size_t)a->n) == 0;
    bool spaced = a->normalized && r->normalizer == HD__PREPEND && a->id < r->n_vocab;
    return (uint8_t)((a->special && same ? HD__SPECIAL_TOKEN : 0) |
                     (spaced ? HD__SPACED_TOKEN : 0));
}

static void read_all_added(hd__reader *r, hd__value list)
{
    hd__bpe *b = r->b;
    hd__text all = {0};
    b->added = hd__alloc_items(number_of_items(r, list) + 1, sizeof *b->added);
    r->failed = r->failed || !b->added;
    if (!r->failed) {
        fill_added(r, list, &all);
    }
    const char *at = b->added_text = all.s;
    for (int64_t i = 0; i < b->n_added && !r->failed; i++) {
        hd__added *a = &b->added[i];
        a->s = at;
        a->pattern = at + a->n;
        at = a->pattern + a->pattern_n;
        b->begins[a->normalized][(unsigned char)*a->pattern] = true;
        b->base.kinds[a->id] |= kind_of(r, a);
    }
}

/* ---------------------------------------------------------------- the file */

enum { ADDED_TOKENS, NORMALIZER, PRE_TOKENIZER, POST_PROCESSOR, DECODER, THE_MODEL, TOP };
static const char *const top_keys[] = {
    "added_tokens", "normalizer", "pre_tokenizer", "post_processor", "decoder", "model", NULL};

static void read_model(hd__reader *r, const hd__value *top)
{
    hd__value v[MODEL];
    hd__members(r, top[THE_MODEL], model_keys, v);
    check_model_keys(r, top[THE_MODEL], v);
    read_model_vocab(r, v[VOCAB]);
    enter_added(r, top[ADDED_TOKENS]);
    if (!r->failed && (r->entries.n == 0 || r->entries.n > INT32_MAX / 4)) {
        hd__value_fail(r, "model.vocab", v[VOCAB], "1 to 536870911 tokens");
    }
    if (r->failed ||
        !(r->b = hd__bpe_new(&hd__json_type, &r->f, r->words ? &r->a : NULL, &r->entries))) {
        r->failed = true;
        return;
    }
    hd__bpe *b = r->b;
    b->normalizer = r->normalizer;
    b->metaspace = r->metaspace;
    b->words = r->words;
    b->digits = r->digits;
    b->ignore_merges = hd__flag_of(r, "model.ignore_merges", v[IGNORE]);
    b->byte_fallback = hd__flag_of(r, "model.byte_fallback", v[FALLBACK]);
    b->fuse_unknown = hd__flag_of(r, "model.fuse_unk", v[FUSE]);
    b->base.metaspaces = !r->words;
    b->base.strip_space = r->strips;
    const hd__text *t = hd__text_of(r, v[UNKNOWN]);
    if (v[UNKNOWN].kind == HD__JSON_STRING && !t->failed) {
        b->unknown = find_token(r, t->s, (int64_t)t->len);
    }
    if (!r->words) {
        find_bytes(r);
    } else if (b->byte_fallback) {
        hd__value_fail(r, "model.byte_fallback", v[FALLBACK], "false, because words are of bytes");
    }
    read_model_merges(r, v[MERGES]);
    read_all_added(r, top[ADDED_TOKENS]);
}

static void read_file(hd__reader *r)
{
    hd__value top[TOP], file = {HD__JSON_OBJECT, 0, (size_t)r->f.n};
    hd__each w;
    hd__json_init(&w.j, r->f.s, file.end);
    if (hd__json_next(&w.j) != HD__JSON_OBJECT) {
        hd__json_fail(&w.j, hd__call, r->f.where, "an object");
        r->failed = true;
    }
    hd__json_free(&w.j);
    hd__members(r, file, top_keys, top);
    hd__parts_read(r, top[NORMALIZER], top[PRE_TOKENIZER], top[DECODER]);
    if (!r->failed) {
        read_model(r, top);
    }
    if (!r->failed) {
        hd__post_processor_read(r, top[POST_PROCESSOR]);
    }
}

/* Makes the encoder from the text, which then belongs to it. ok: could the text be read? */
static hd_tokenizer *from_source(hd__reader *r, bool ok)
{
    r->failed = !ok;
    hd__alphabet_init(&r->a);
    if (ok) {
        read_file(r);
    }
    hd__entries_free(&r->entries);
    hd_free(r->text.s);
    hd_free(r->bytes.s);
    if (!r->failed) {
        r->b->json = r->f.s;
        return &r->b->base;
    }
    hd_tokenizer_free((hd_tokenizer *)r->b);
    hd_free(r->f.s);
    return NULL;
}

hd_tokenizer *hd_tokenizer_json(const char *path)
{
    HD__CALL("hd_tokenizer_json");
    hd__reader r = {0};
    return from_source(&r, hd__given("path", path) && hd__source_read(&r.f, path));
}

hd_tokenizer *hd__json_load(const hd_dict *d, const char *prefix)
{
    hd__reader r = {0};
    return from_source(&r, hd__source_get(&r.f, d, hd__field(prefix, "json")));
}
