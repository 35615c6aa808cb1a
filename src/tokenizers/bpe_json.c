/* bpe_json.c - reads the model and the added tokens of a Hugging Face tokenizer.json, or of GPT-2's
 * two files.
 *
 * A tokenizer.json is one object, with its keys in any order. The reader remembers the place of
 * each value, and reads the value when it needs it. GPT-2's vocab.json is only the vocabulary, and
 * each line of its merges.txt is a merge. */
#include <inttypes.h>

#include "base/text/utf8.h"
#include "tensor/dict.h"
#include "tokenizers/bpe_json.h"

/* ---------------------------------------------------------------- the model */

enum {
    MODEL_TYPE,
    DROPOUT,
    PREFIX,
    SUFFIX,
    UNKNOWN,
    FUSE,
    FALLBACK,
    IGNORE,
    VOCAB,
    MERGES,
    BPE_MODEL
};
static const char *const model_keys[] = {"type",
                                         "dropout",
                                         "continuing_subword_prefix",
                                         "end_of_word_suffix",
                                         "unk_token",
                                         "fuse_unk",
                                         "byte_fallback",
                                         "ignore_merges",
                                         "vocab",
                                         "merges",
                                         NULL};

/* Sets r->bytes to the bytes that s spells. Returns the id of their token; -1 if there is none. */
static int32_t find_token(hd__bpe_reader *r, const char *s, int64_t n)
{
    hd__text_cut(&r->bytes, 0);
    hd__text_puts(&r->bytes, "");
    bool spelled = hd__bpe_unspell(r->alphabet, s, n, &r->bytes);
    r->failed = r->failed || r->bytes.failed;
    return spelled && !r->failed ? hd__bpe_find(r->b, r->bytes.s, (int64_t)r->bytes.len) : -1;
}

/* Sets `pair` to "a b", read from the merge v, which is the text "a b" or the array ["a", "b"]. */
static void read_pair(hd__bpe_reader *r, hd__bpe_value v, hd__text *pair)
{
    hd__bpe_each w;
    hd__text_cut(pair, 0);
    hd__text_puts(pair, "");
    if (v.kind == HD__JSON_STRING) {
        hd__bpe_add_text_of(r, v, pair);
    }
    for (hd__bpe_each_begin(r, &w, v); hd__bpe_each_next(r, &w);) {
        hd__text_puts(pair, pair->len ? " " : "");
        if (w.item.kind == HD__JSON_STRING) {
            hd__bpe_add_text_of(r, w.item, pair);
        }
    }
    r->failed = r->failed || pair->failed;
}

static void merge_fail(hd__bpe_reader *r, const char *s, int64_t n, const char *expected)
{
    const bool lines = r->merges.s;
    r->failed =
        !hd_fail(HD_FORMAT, "%s: %s %d: '%.*s': expected %s", lines ? r->merges.where : r->f.where,
                 lines ? "line" : "model.merges at", r->first + r->rank, HD__CLIP(s, n), expected);
}

/* Adds the merge s, "left right", to r->b. Sets r->failed, with an error, if these are not two
 * tokens that form a third one, or if an earlier line of merges.txt makes the third one already. */
static void add_merge(hd__bpe_reader *r, const char *s, int64_t n)
{
    hd__bpe *b = r->b;
    const char *space = memchr(s, ' ', (size_t)n);
    const int64_t left = space ? space - s : 0, right = n - left - 1;
    hd__text_cut(&r->bytes, 0);
    bool two = left > 0 && right > 0 && !memchr(space + 1, ' ', (size_t)right) &&
               hd__bpe_unspell(r->alphabet, s, left, &r->bytes);
    const int64_t middle = (int64_t)r->bytes.len;
    two = two && hd__bpe_unspell(r->alphabet, space + 1, right, &r->bytes);
    if (r->failed || r->bytes.failed) {
        r->failed = true;
        return;
    }
    const char *bytes = r->bytes.s;
    const int64_t len = (int64_t)r->bytes.len;
    hd__bpe_merge *m = &b->merges[r->rank];
    if (two) {
        m->left = hd__bpe_find(b, bytes, middle);
        m->right = hd__bpe_find(b, bytes + middle, len - middle);
        m->id = hd__bpe_find(b, bytes, len);
    }
    if (!two || m->left < 0 || m->right < 0 || m->id < 0) {
        merge_fail(r, s, n, "two tokens of the vocabulary that form a third one");
    } else if (r->merges.s && (b->base.kinds[m->id] & HD__MADE_TOKEN)) {
        merge_fail(r, s, n, "a token that no earlier line makes");
    } else {
        b->base.kinds[m->id] |= HD__MADE_TOKEN;
        hd__bpe_enter_merge(b, r->rank++);
    }
}

/* Allocates the tables of r->b for n merges. If memory runs out, sets r->failed. */
static void begin_merges(hd__bpe_reader *r, int64_t n)
{
    r->b->merges = hd__arg_alloc_items(n + 1, sizeof *r->b->merges);
    r->b->merge_slots = hd__bpe_slots(n, &r->b->merge_mask);
    r->failed = r->failed || !r->b->merges || !r->b->merge_slots;
}

/* Adds the merges of merges.txt to r->b. The file's first line may be a comment that begins with
 * "#version". The comment must be UTF-8, too, because hd_tokenizer_save saves the whole file. */
static void read_lines(hd__bpe_reader *r)
{
    static const char version[] = "#version";
    const hd__bpe_source *f = &r->merges;
    begin_merges(r, r->b->base.size);
    r->first = 1;
    for (int64_t at = 0; at < f->n && !r->failed;) {
        const char *s = f->s + at, *end = memchr(s, '\n', (size_t)(f->n - at));
        const int64_t n = end ? end - s : f->n - at;
        if (at > 0 || strncmp(s, version, strlen(version)) != 0) {
            add_merge(r, s, n);
        } else if (memchr(s, 0, (size_t)n) || hd__utf8_good(s, (size_t)n) < (size_t)n) {
            merge_fail(r, s, n, "UTF-8 without a zero");
        } else {
            r->first = 2;
        }
        at += n + 1;
    }
}

static int64_t number_of_items(hd__bpe_reader *r, hd__bpe_value v)
{
    hd__bpe_each w;
    int64_t n = 0;
    for (hd__bpe_each_begin(r, &w, v); hd__bpe_each_next(r, &w);) {
        n++;
    }
    return n;
}

static void read_model_merges(hd__bpe_reader *r, hd__bpe_value merges)
{
    hd__bpe_each w;
    hd__text pair = {0};
    int64_t n = number_of_items(r, merges);
    if (merges.kind != HD__JSON_ARRAY || n > INT32_MAX / 4) {
        hd__bpe_value_fail(r, "model.merges", merges, "an array");
        return;
    }
    begin_merges(r, n);
    for (hd__bpe_each_begin(r, &w, merges); hd__bpe_each_next(r, &w);) {
        read_pair(r, w.item, &pair);
        if (!r->failed) {
            add_merge(r, pair.s, (int64_t)pair.len);
        }
    }
    hd_free(pair.s);
}

static void check_empty(hd__bpe_reader *r, const char *key, hd__bpe_value v)
{
    if (v.kind != HD__JSON_NULL && !(v.kind == HD__JSON_STRING && v.end - v.begin == 2)) {
        hd__bpe_value_fail(r, key, v, "null");
    }
}

/* Sets r->failed, with an error, if heed does not support a value of the model. */
static void check_model_values(hd__bpe_reader *r, const hd__bpe_value *v)
{
    if (v[MODEL_TYPE].end && !hd__bpe_is_text(hd__bpe_text_of(r, v[MODEL_TYPE]), "BPE")) {
        hd__bpe_value_fail(r, "model.type", v[MODEL_TYPE], "BPE");
    }
    if (v[UNKNOWN].kind != HD__JSON_NULL) {
        hd__bpe_expect_kind(r, "model.unk_token", v[UNKNOWN], HD__JSON_STRING, "a text or null");
    }
    hd__bpe_expect_kind(r, "model.dropout", v[DROPOUT], HD__JSON_NULL, "null");
    check_empty(r, "model.continuing_subword_prefix", v[PREFIX]);
    check_empty(r, "model.end_of_word_suffix", v[SUFFIX]);
}

/* ---------------------------------------------------------------- added tokens */

enum { ID, CONTENT, SPECIAL, IS_NORMALIZED, LSTRIP, RSTRIP, SINGLE_WORD, ADDED };
#define OF_ADDED "added_tokens."
static const char *const added_names[] = {
    OF_ADDED "id",     OF_ADDED "content", OF_ADDED "special",     OF_ADDED "normalized",
    OF_ADDED "lstrip", OF_ADDED "rstrip",  OF_ADDED "single_word",
};

/* Adds a token to r->added, and its text s and its pattern (hd__bpe_added) to r->added_text. */
static void keep_added(hd__bpe_reader *r, const char *s, size_t n, int64_t id, const bool *flags)
{
    r->failed =
        r->failed || !hd__text_grow(&r->added, &r->added_room, r->n_added + 1, sizeof *r->added);
    if (r->failed) {
        return;
    }
    hd__text_add(&r->added_text, s, n);
    const size_t begin = r->added_text.len;
    hd__bpe_normalize(flags[IS_NORMALIZED] ? r->form.normalizer : HD__AS_IS, s, (int64_t)n,
                      &r->added_text);
    r->failed = r->added_text.failed;
    r->added[r->n_added++] = (hd__bpe_added){.id = (int32_t)id,
                                             .n = (int64_t)n,
                                             .pattern_n = (int64_t)(r->added_text.len - begin),
                                             .special = flags[SPECIAL],
                                             .normalized = flags[IS_NORMALIZED],
                                             .lstrip = flags[LSTRIP],
                                             .rstrip = flags[RSTRIP]};
}

/* Returns the id of an added token. `written` is the id that the file states. If the vocabulary
 * does not have this id, the token gets the next free one, as in the Python package tokenizers. */
static int64_t added_id(hd__bpe_reader *r, int64_t written, const hd__text *name)
{
    const int64_t id = hd__bpe_id_in_vocab(r, written) ? written : r->entries.n;
    if (id != written && !r->failed && !r->warned) {
        hd_warn("%s: added_tokens has '%.*s' with id %" PRId64 ", but it gets id %" PRId64
                ", as in the Python package tokenizers. The ids of new tokens must follow those of "
                "the vocabulary, in order and without a gap",
                r->f.where, HD__CLIP(name->s, name->len), written, id);
        r->warned = true;
    }
    return id;
}

/* Adds the token v of added_tokens to r->added. If the vocabulary lacks the token, also adds an
 * entry for it. The entry's text is the token's pattern, because the Python package "tokenizers"
 * decodes the token to its pattern. On failure, sets r->failed and an error. */
static void read_added(hd__bpe_reader *r, hd__bpe_value v)
{
    hd__bpe_value m[ADDED];
    bool flags[ADDED];
    const char *keys[ADDED + 1] = {NULL};
    for (int i = 0; i < ADDED; i++) {
        keys[i] = added_names[i] + strlen(OF_ADDED);
    }
    hd__bpe_members(r, v, keys, m, NULL);
    const int64_t written = hd__bpe_id_of(r, added_names[ID], m[ID]);
    for (int i = SPECIAL; i < ADDED; i++) {
        flags[i] = hd__bpe_flag_of(r, added_names[i], m[i], false);
    }
    if (flags[SINGLE_WORD]) {
        hd__bpe_value_fail(r, added_names[SINGLE_WORD], m[SINGLE_WORD], "false");
    }
    const hd__text *t = hd__bpe_text_of(r, m[CONTENT]);
    if (m[CONTENT].kind != HD__JSON_STRING || t->len == 0) {
        hd__bpe_value_fail(r, added_names[CONTENT], m[CONTENT], "a text");
    }
    const int64_t id = added_id(r, written, t);
    keep_added(r, t->s, t->len, id, flags);
    if (!r->failed && !hd__bpe_id_in_vocab(r, id)) {
        const int64_t n = r->added[r->n_added - 1].pattern_n;
        hd__bpe_entry_add(r, r->added_text.s + r->added_text.len - n, n, id, true);
    }
}

/* Sets r->failed, with an error, if `a` occurs twice, or its text or id is another token's. */
static void check_added(hd__bpe_reader *r, const hd__bpe_added *a)
{
    int64_t n;
    if (hd__bpe_added_find(r->b, a->s, a->n) != a) {
        r->failed = !hd_fail(HD_FORMAT, "%s: added_tokens has '%.*s' twice: expected each once",
                             r->f.where, HD__CLIP(a->s, a->n));
        return;
    }
    const char *token = hd__tokenizer_token(&r->b->base, a->id, &n);
    bool elsewhere = find_token(r, a->s, a->n) >= 0;
    bool same =
        !r->failed && (size_t)n == r->bytes.len && memcmp(token, r->bytes.s, (size_t)n) == 0;
    if (!r->failed && (hd__bpe_id_in_vocab(r, a->id) ? !same : elsewhere)) {
        r->failed = !hd_fail(HD_FORMAT,
                             "%s: added_tokens has '%.*s' with id %d: expected its id in the "
                             "vocabulary, or a new id for a new token",
                             r->f.where, HD__CLIP(a->s, a->n), (int)a->id);
    }
}

/* Returns the flags of the added token a. As in the Python package tokenizers, a is special only if
 * its pattern equals the text of a special token. */
static uint8_t kind_of(const hd__bpe_reader *r, const hd__bpe_added *a)
{
    const hd__bpe_added *named = hd__bpe_added_find(r->b, a->pattern, a->pattern_n);
    bool spaced =
        a->normalized && r->form.normalizer == HD__PREPEND && hd__bpe_id_in_vocab(r, a->id);
    return (uint8_t)((named && named->special ? HD__SPECIAL_TOKEN : 0) |
                     (spaced ? HD__SPACED_TOKEN : 0));
}

/* Makes r->b's added tokens point into r->added_text, which must not grow any more. Then
 * indexes and checks the tokens, and sets their flags. On failure, sets r->failed and an error. */
static void enter_added(hd__bpe_reader *r)
{
    hd__bpe *b = r->b;
    const char *at = r->added_text.s;
    for (int64_t i = 0; i < b->n_added; i++) {
        hd__bpe_added *a = &b->added[i];
        a->s = at;
        a->pattern = at + a->n;
        at = a->pattern + a->pattern_n;
    }
    r->failed = r->failed || !hd__bpe_added_index(b);
    for (int64_t i = 0; i < b->n_added && !r->failed; i++) {
        check_added(r, &b->added[i]);
        b->base.kinds[b->added[i].id] |= kind_of(r, &b->added[i]);
    }
}

/* ---------------------------------------------------------------- the vocabulary */

/* Adds the tokens of `vocab`, an object that maps the spelling of each token to its id, to
 * r->entries. In GPT-2's vocabulary, <|endoftext|> is a special token. */
static void read_vocab(hd__bpe_reader *r, hd__bpe_value vocab)
{
    static const bool flags[ADDED] = {[SPECIAL] = true};
    hd__bpe_each w;
    hd__text_puts(&r->entries.bytes, "");
    for (hd__bpe_each_begin(r, &w, vocab); hd__bpe_each_next(r, &w);) {
        int64_t id = hd__bpe_id_of(r, "an id of the vocabulary", w.item);
        hd__bpe_entry_add(r, w.name.s, (int64_t)w.name.len, id, false);
        if (r->merges.s && hd__bpe_is_text(&w.name, "<|endoftext|>")) {
            keep_added(r, w.name.s, w.name.len, id, flags);
        }
    }
    r->n_vocab = r->entries.n;
}

/* ---------------------------------------------------------------- the file */

enum { ADDED_TOKENS, NORMALIZER, PRE_TOKENIZER, POST_PROCESSOR, DECODER, THE_MODEL, TOP };
static const char *const top_keys[] = {
    "added_tokens", "normalizer", "pre_tokenizer", "post_processor", "decoder", "model", NULL};

/* Makes the encoder r->b, which then owns the added tokens; a failure frees them. */
static void encoder_from(hd__bpe_reader *r)
{
    if (!r->failed && r->entries.n == 0) {
        r->failed = !hd_fail(HD_FORMAT, "%s: no tokens: expected 1 or more", r->f.where);
    }
    hd__bpe *b = r->failed ? NULL : hd__bpe_new(r);
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

static void read_model(hd__bpe_reader *r, const hd__bpe_value *top)
{
    hd__bpe_each w;
    hd__bpe_value v[BPE_MODEL];
    hd__bpe_members(r, top[THE_MODEL], model_keys, v, "model");
    check_model_values(r, v);
    hd__bpe_expect_kind(r, "model.vocab", v[VOCAB], HD__JSON_OBJECT, "an object");
    read_vocab(r, v[VOCAB]);
    if (top[ADDED_TOKENS].end) {
        hd__bpe_expect_kind(r, "added_tokens", top[ADDED_TOKENS], HD__JSON_ARRAY, "an array");
    }
    for (hd__bpe_each_begin(r, &w, top[ADDED_TOKENS]); hd__bpe_each_next(r, &w);) {
        read_added(r, w.item);
    }
    encoder_from(r);
    hd__bpe *b = r->b;
    if (!b) {
        return;
    }
    b->ignore_merges = hd__bpe_flag_of(r, "model.ignore_merges", v[IGNORE], true);
    b->byte_fallback = hd__bpe_flag_of(r, "model.byte_fallback", v[FALLBACK], true);
    b->fuse_unknown = hd__bpe_flag_of(r, "model.fuse_unk", v[FUSE], true);
    const hd__text *t = hd__bpe_text_of(r, v[UNKNOWN]);
    if (v[UNKNOWN].kind == HD__JSON_STRING && !t->failed) {
        b->unknown = find_token(r, t->s, (int64_t)t->len);
    }
    if (b->byte_fallback && !r->form.words) {
        hd__bpe_bytes_find(r, "a token for each byte, because of byte_fallback");
    } else if (b->byte_fallback) {
        hd__bpe_value_fail(r, "model.byte_fallback", v[FALLBACK],
                           "false, because words consist of bytes");
    }
    read_model_merges(r, v[MERGES]);
    enter_added(r);
    if (!r->form.words) {
        hd__bpe_bytes_mark(b);
    }
}

static void read_json(hd__bpe_reader *r)
{
    hd__bpe_value top[TOP];
    hd__bpe_members(r, hd__bpe_whole(r), top_keys, top, NULL);
    hd__bpe_parts_read(r, top[NORMALIZER], top[PRE_TOKENIZER], top[DECODER]);
    if (!r->failed) {
        read_model(r, top);
    }
    if (!r->failed) {
        hd__bpe_post_processor_read(r, top[POST_PROCESSOR]);
    }
}

/* Sets r->failed, with an error, unless each token is a byte, or special, or made by a merge. */
static void check_made(hd__bpe_reader *r)
{
    const hd_tokenizer *t = &r->b->base;
    for (int64_t id = 0, n; id < t->size && !r->failed; id++) {
        const char *token = hd__tokenizer_token(t, id, &n);
        if (n != 1 && t->kinds[id] == 0) {
            hd__bpe_token_fail(r, &r->merges, token, n, "a line that makes this token");
        }
    }
}

static void read_gpt2(hd__bpe_reader *r)
{
    r->form.words = &hd__words_gpt2;
    r->alphabet = &r->a;
    read_vocab(r, hd__bpe_whole(r));
    encoder_from(r);
    if (r->b) {
        r->b->ignore_merges = true;
        hd__bpe_bytes_find(r, "a token for each byte");
        read_lines(r);
        enter_added(r);
        check_made(r);
    }
}

/* Makes a tokenizer from the texts r->f and r->merges, which the tokenizer then owns. Frees
 * everything else that r owns. ok is false if the texts could not be read. Then, or on failure,
 * frees the two texts as well and returns NULL with an error. */
static hd_tokenizer *from_sources(hd__bpe_reader *r, bool ok)
{
    r->failed = !ok;
    hd__bpe_alphabet_init(&r->a);
    if (ok && r->merges.s) {
        read_gpt2(r);
    } else if (ok) {
        read_json(r);
    }
    hd_free(r->entries.bytes.s);
    hd_free(r->entries.v);
    hd_free(r->entries.by_id);
    hd_free(r->text.s);
    hd_free(r->bytes.s);
    if (!r->failed) {
        r->b->files[0] = r->f.s;
        r->b->files[1] = r->merges.s;
        return &r->b->base;
    }
    hd_tokenizer_free((hd_tokenizer *)r->b);
    hd_free(r->f.s);
    hd_free(r->merges.s);
    return NULL;
}

hd_tokenizer *hd_tokenizer_json(const char *path)
{
    HD__CALL("hd_tokenizer_json");
    hd__bpe_reader r = {0};
    return from_sources(&r, hd__arg_given("path", path) && hd__bpe_source_read(&r.f, path));
}

hd_tokenizer *hd__bpe_json_load(const hd_dict *d, const char *prefix)
{
    hd__bpe_reader r = {0};
    return from_sources(&r, hd__bpe_source_get(&r.f, d, hd__dict_field(prefix, "json")));
}

hd_tokenizer *hd_tokenizer_bpe(const char *vocab_path, const char *merges_path)
{
    HD__CALL("hd_tokenizer_bpe");
    hd__bpe_reader r = {0};
    return from_sources(&r, hd__arg_given("vocab_path", vocab_path) &&
                                hd__arg_given("merges_path", merges_path) &&
                                hd__bpe_source_read(&r.f, vocab_path) &&
                                hd__bpe_source_read(&r.merges, merges_path));
}

hd_tokenizer *hd__bpe_load(const hd_dict *d, const char *prefix)
{
    hd__bpe_reader r = {0};
    return from_sources(&r, hd__bpe_source_get(&r.f, d, hd__dict_field(prefix, "vocab")) &&
                                hd__bpe_source_get(&r.merges, d, hd__dict_field(prefix, "merges")));
}
