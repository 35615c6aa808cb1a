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

/* Adds an entry. A text that spells no bytes is taken as it is, and no word is encoded as it. */
static void add_entry(hd__reader *r, const char *s, int64_t n, int64_t id, bool hidden)
{
    hd__entries *e = &r->entries;
    const size_t begin = e->bytes.len;
    if (!hd__unspell(r->alphabet, s, n, &e->bytes)) {
        hidden = true;
        hd__text_cut(&e->bytes, begin);
        hd__text_add(&e->bytes, s, (size_t)n);
    }
    r->failed = !hd__entries_add(e, id, begin, hidden) || r->failed;
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

/* The id of the token with this text, or -1; its bytes are in r->bytes. */
static int32_t find_token(hd__reader *r, const char *s, int64_t n)
{
    hd__text_cut(&r->bytes, 0);
    hd__text_puts(&r->bytes, "");
    bool spelled = hd__unspell(r->alphabet, s, n, &r->bytes);
    r->failed = r->failed || r->bytes.failed;
    return spelled && !r->failed ? hd__bpe_find(r->b, r->bytes.s, (int64_t)r->bytes.len) : -1;
}

/* Reads a merge, which is "a b" or ["a", "b"]: "a b". */
static void read_pair(hd__reader *r, hd__value v, hd__text *pair)
{
    hd__each w;
    hd__text_cut(pair, 0);
    hd__text_puts(pair, "");
    if (v.kind == HD__JSON_STRING) {
        hd__add_text_of(r, v, pair);
    }
    for (hd__each_begin(r, &w, v); hd__each_next(r, &w);) {
        hd__text_puts(pair, pair->len ? " " : "");
        if (w.item.kind == HD__JSON_STRING) {
            hd__add_text_of(r, w.item, pair);
        }
    }
    r->failed = r->failed || pair->failed;
}

static void add_merge(hd__reader *r, int32_t rank, const hd__text *pair)
{
    hd__merge *m = &r->b->merges[rank];
    bool two = hd__merge_read(r->b, r->alphabet, pair->s, (int64_t)pair->len, &r->bytes, m);
    r->failed = r->failed || r->bytes.failed;
    if (!r->failed && (!two || m->left < 0 || m->right < 0 || m->id < 0)) {
        hd__fail(HD_FORMAT,
                 "%s: model.merges has '%.*s' at %d: expected two tokens of the vocabulary, which "
                 "are a third one together",
                 r->f.where, HD__CLIP(pair->s, pair->len), (int)rank);
        r->failed = true;
    }
    if (!r->failed) {
        hd__bpe_enter_merge(r->b, rank);
    }
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
    hd__text pair = {0};
    int64_t n = number_of_items(r, merges);
    if (merges.kind != HD__JSON_ARRAY || n > INT32_MAX / 4) {
        hd__value_fail(r, "model.merges", merges, "an array");
        return;
    }
    b->merges = hd__alloc_items(n + 1, sizeof *b->merges);
    b->merge_slots = hd__bpe_slots(n, &b->merge_mask);
    r->failed = r->failed || !b->merges || !b->merge_slots;
    int32_t rank = 0;
    for (hd__each_begin(r, &w, merges); hd__each_next(r, &w); rank++) {
        read_pair(r, w.item, &pair);
        if (!r->failed) {
            add_merge(r, rank, &pair);
        }
    }
    hd_free(pair.s);
}

/* The tokens that name bytes, as <0x0A> does; encoding needs all 256. */
static void find_bytes(hd__reader *r)
{
    hd__bpe *b = r->b;
    for (int i = 0; i < 256 && !r->failed; i++) {
        char name[8];
        snprintf(name, sizeof name, "<0x%02X>", (unsigned)i);
        b->fallback[i] = hd__bpe_find(b, name, 6);
        if (b->fallback[i] >= 0) {
            b->base.kinds[b->fallback[i]] = HD__BYTE_TOKEN;
        } else if (b->byte_fallback) {
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
static void check_model_values(hd__reader *r, const hd__value *v)
{
    if (v[TYPE].kind != HD__JSON_NULL && !hd__is_text(hd__text_of(r, v[TYPE]), "BPE")) {
        hd__value_fail(r, "model.type", v[TYPE], "BPE");
    }
    check_empty(r, "model.dropout", v[DROPOUT]);
    check_empty(r, "model.continuing_subword_prefix", v[PREFIX]);
    check_empty(r, "model.end_of_word_suffix", v[SUFFIX]);
}

/* ---------------------------------------------------------------- added tokens */

enum { ID, CONTENT, SPECIAL, NORMALIZED, LSTRIP, RSTRIP, SINGLE_WORD, ADDED };
static const char *const added_keys[] = {"id",     "content", "special",     "normalized",
                                         "lstrip", "rstrip",  "single_word", NULL};

/* Reads a token into r->added, and its two texts into r->added_text. One that the vocabulary has
 * not becomes an entry of its own, of what is looked for, because the package tokenizers decodes it
 * so. */
static void read_added(hd__reader *r, hd__value v)
{
    hd__value m[ADDED];
    bool flags[ADDED];
    hd__members(r, v, added_keys, m, NULL);
    const int64_t id = hd__integer_of(r, "added_tokens.id", m[ID]);
    if (!r->failed && (id < 0 || id > INT32_MAX / 4)) {
        hd__value_fail(r, "added_tokens.id", m[ID], "an id");
    }
    for (int i = SPECIAL; i < ADDED; i++) {
        flags[i] = hd__flag_of(r, added_keys[i], m[i]);
    }
    if (flags[SINGLE_WORD]) {
        hd__value_fail(r, "added_tokens.single_word", m[SINGLE_WORD], "false");
    }
    const hd__text *t = hd__text_of(r, m[CONTENT]);
    if (m[CONTENT].kind != HD__JSON_STRING || t->len == 0) {
        hd__value_fail(r, "added_tokens.content", m[CONTENT], "a text");
    }
    r->failed = r->failed || !hd__grow(&r->added, &r->added_room, r->n_added + 1, sizeof *r->added);
    if (r->failed) {
        return;
    }
    hd__text_add(&r->added_text, t->s, t->len);
    const size_t begin = r->added_text.len;
    hd__bpe_normalize(flags[NORMALIZED] ? r->form.normalizer : HD__AS_IS, t->s, (int64_t)t->len,
                      &r->added_text);
    r->failed = r->added_text.failed;
    hd__added *a = &r->added[r->n_added++];
    *a = (hd__added){.id = (int32_t)id,
                     .n = (int64_t)t->len,
                     .pattern_n = (int64_t)(r->added_text.len - begin),
                     .special = flags[SPECIAL],
                     .normalized = flags[NORMALIZED],
                     .lstrip = flags[LSTRIP],
                     .rstrip = flags[RSTRIP]};
    if (!r->failed && id >= r->n_vocab) {
        add_entry(r, r->added_text.s + begin, a->pattern_n, id, true);
    }
}

/* A token that is in the vocabulary must have its id there. */
static void check_added(hd__reader *r, const hd__added *a)
{
    int64_t n;
    const char *token = hd__token(&r->b->base, a->id, &n);
    bool elsewhere = find_token(r, a->s, a->n) >= 0;
    bool same =
        !r->failed && (size_t)n == r->bytes.len && memcmp(token, r->bytes.s, (size_t)n) == 0;
    if (!r->failed && (a->id < r->n_vocab ? !same : elsewhere)) {
        hd__fail(HD_FORMAT,
                 "%s: added_tokens has '%.*s' with id %d: expected the id that the "
                 "vocabulary gives it, or a new one",
                 r->f.where, HD__CLIP(a->s, a->n), (int)a->id);
        r->failed = true;
    }
}

/* What decoding knows of it. The package tokenizers skips only what normalizing has not changed. */
static uint8_t kind_of(const hd__reader *r, const hd__added *a)
{
    bool same = a->n == a->pattern_n && memcmp(a->s, a->pattern, (size_t)a->n) == 0;
    bool spaced = a->normalized && r->form.normalizer == HD__PREPEND && a->id < r->n_vocab;
    return (uint8_t)((a->special && same ? HD__SPECIAL_TOKEN : 0) |
                     (spaced ? HD__SPACED_TOKEN : 0));
}

/* Completes the added tokens, whose texts no longer move. */
static void enter_added(hd__reader *r)
{
    hd__bpe *b = r->b;
    const char *at = r->added_text.s;
    for (int64_t i = 0; i < b->n_added && !r->failed; i++) {
        hd__added *a = &b->added[i];
        a->s = at;
        a->pattern = at + a->n;
        at = a->pattern + a->pattern_n;
        check_added(r, a);
        b->begins[a->normalized][(unsigned char)*a->pattern] = true;
        b->base.kinds[a->id] |= kind_of(r, a);
    }
}

/* ---------------------------------------------------------------- the file */

enum { ADDED_TOKENS, NORMALIZER, PRE_TOKENIZER, POST_PROCESSOR, DECODER, THE_MODEL, TOP };
static const char *const top_keys[] = {
    "added_tokens", "normalizer", "pre_tokenizer", "post_processor", "decoder", "model", NULL};

/* Makes the encoder of what was read, which then belongs to it. */
static void encoder_from(hd__reader *r)
{
    hd__bpe *b = r->failed ? NULL : hd__bpe_new(&hd__json_type, &r->f, r->alphabet, &r->entries);
    if (b) {
        b->form = r->form;
        b->base.metaspaces = !r->form.words;
        b->base.strip_space = r->form.strips;
        b->added = r->added;
        b->n_added = r->n_added;
        b->added_text = r->added_text.s;
    } else {
        hd_free(r->added);
        hd_free(r->added_text.s);
    }
    r->b = b;
    r->failed = !b;
}

static void read_model(hd__reader *r, const hd__value *top)
{
    hd__each w;
    hd__value v[MODEL];
    hd__members(r, top[THE_MODEL], model_keys, v, "model");
    check_model_values(r, v);
    read_model_vocab(r, v[VOCAB]);
    for (hd__each_begin(r, &w, top[ADDED_TOKENS]); hd__each_next(r, &w);) {
        read_added(r, w.item);
    }
    if (!r->failed && (r->entries.n == 0 || r->entries.n > INT32_MAX / 4)) {
        hd__value_fail(r, "model.vocab", v[VOCAB], "1 to 536870911 tokens");
    }
    encoder_from(r);
    hd__bpe *b = r->b;
    if (!b) {
        return;
    }
    b->ignore_merges = hd__flag_of(r, "model.ignore_merges", v[IGNORE]);
    b->byte_fallback = hd__flag_of(r, "model.byte_fallback", v[FALLBACK]);
    b->fuse_unknown = hd__flag_of(r, "model.fuse_unk", v[FUSE]);
    const hd__text *t = hd__text_of(r, v[UNKNOWN]);
    if (v[UNKNOWN].kind == HD__JSON_STRING && !t->failed) {
        b->unknown = find_token(r, t->s, (int64_t)t->len);
    }
    if (!r->form.words) {
        find_bytes(r);
    } else if (b->byte_fallback) {
        hd__value_fail(r, "model.byte_fallback", v[FALLBACK], "false, because words are of bytes");
    }
    read_model_merges(r, v[MERGES]);
    enter_added(r);
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
    hd__members(r, file, top_keys, top, NULL);
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
