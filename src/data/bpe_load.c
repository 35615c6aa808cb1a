/* bpe_load.c - reads GPT-2's vocab.json and merges.txt.
 *
 * vocab.json maps every token, spelled as bpe_read.h says, to its id. Each line of merges.txt names
 * the two tokens of a merge; an earlier line has a lower rank. */
#include "data/bpe_read.h"

#include <inttypes.h>

#define END_OF_TEXT "<|endoftext|>"

enum { BYTES = 256 };

typedef struct reader {
    hd__alphabet a;
    hd__source vocab, merges;
    int64_t special; /* the id of END_OF_TEXT, which no word is encoded as; -1: none */
    hd__bpe *b;
} reader;

static bool fail_token(const reader *r, const hd__source *f, int64_t line, const char *token,
                       int64_t n, const char *expected)
{
    return hd__token_fail(f, &r->a, line, token, n, expected);
}

/* ---------------------------------------------------------------- vocab.json */

/* Adds the token that j has read. */
static bool read_token(reader *r, hd__json *j, hd__entries *e)
{
    int64_t id;
    size_t begin = e->bytes.len;
    if (!hd__unspell(&r->a, j->s, (int64_t)j->len, &e->bytes)) {
        return hd__source_fail(&r->vocab, 0, j->s, (int64_t)j->len, "GPT-2's characters for bytes");
    }
    if (hd__json_next(j) != HD__JSON_NUMBER || !hd__json_int(j, &id)) {
        return hd__json_fail(j, hd__call, r->vocab.where, "an integer");
    }
    bool special = e->bytes.len - begin == strlen(END_OF_TEXT) && !e->bytes.failed &&
                   memcmp(e->bytes.s + begin, END_OF_TEXT, strlen(END_OF_TEXT)) == 0;
    if (special && r->special >= 0) {
        return fail_token(r, &r->vocab, 0, END_OF_TEXT, (int64_t)strlen(END_OF_TEXT),
                          "each token once");
    }
    r->special = special ? id : r->special;
    return hd__entries_add(e, id, begin, special);
}

/* Reads an object that maps names to integers. */
static bool read_object(reader *r, hd__json *j, hd__entries *e)
{
    if (hd__json_next(j) != HD__JSON_OBJECT) {
        return hd__json_fail(j, hd__call, r->vocab.where, "an object");
    }
    while (hd__json_next(j) == HD__JSON_NAME) {
        if (!read_token(r, j, e)) {
            return false;
        }
    }
    return (j->kind == HD__JSON_OBJECT_END && hd__json_next(j) == HD__JSON_END) ||
           hd__json_fail(j, hd__call, r->vocab.where, "a name");
}

static bool read_entries(reader *r, hd__entries *e)
{
    hd__json j;
    hd__text_puts(&e->bytes, "");
    hd__json_init(&j, r->vocab.s, (size_t)r->vocab.n);
    bool ok = read_object(r, &j, e);
    hd__json_free(&j);
    return ok;
}

/* The special token is the only added one. */
static bool add_special(reader *r)
{
    static const char text[] = END_OF_TEXT;
    hd__bpe *b = r->b;
    if (r->special < 0) {
        return true;
    }
    b->added = hd__alloc_items(1, sizeof *b->added);
    if (b->added) {
        const int64_t n = sizeof text - 1;
        b->added[b->n_added++] =
            (hd__added){text, text, n, n, (int32_t)r->special, .special = true};
        b->begins[false][(unsigned char)text[0]] = true;
        b->base.kinds[r->special] = HD__SPECIAL_TOKEN;
    }
    return b->added;
}

static bool make_encoder(reader *r, hd__entries *e)
{
    r->b = hd__bpe_new(&hd__bpe_type, &r->vocab, &r->a, e);
    if (!r->b) {
        return false;
    }
    r->b->form.words = &hd__words_gpt2;
    r->b->ignore_merges = true;
    r->b->ranks = hd__alloc_items(e->n, sizeof *r->b->ranks);
    if (r->b->ranks) {
        memset(r->b->ranks, -1, (size_t)e->n * sizeof *r->b->ranks);
    }
    return r->b->ranks && add_special(r);
}

static bool read_vocab(reader *r)
{
    hd__entries e = {0};
    bool ok = read_entries(r, &e);
    if (ok && (e.n < BYTES || e.n > INT32_MAX / 4)) {
        ok = hd__fail(HD_FORMAT, "%s: %" PRId64 " tokens: expected %d to %d", r->vocab.where, e.n,
                      BYTES, INT32_MAX / 4);
    }
    ok = ok && make_encoder(r, &e);
    for (int i = 0; i < BYTES && ok; i++) {
        const char byte = (char)i;
        ok = hd__bpe_find(r->b, &byte, 1) >= 0 ||
             fail_token(r, &r->vocab, 0, &byte, 1, "a token for each byte");
    }
    hd__entries_free(&e);
    return ok;
}

/* ---------------------------------------------------------------- merges.txt */

static bool known_token(const reader *r, int64_t line, int32_t id, const char *token, int64_t n)
{
    return id >= 0 || fail_token(r, &r->merges, line, token, n, "a token of the vocabulary");
}

/* Reads a line "left right". Both, and the two together, must be tokens; the rank belongs to the
 * two together. */
static bool read_merge(reader *r, int64_t line, int32_t rank, const char *s, int64_t n,
                       hd__text *bytes)
{
    hd__merge m;
    int64_t middle = hd__merge_read(r->b, &r->a, s, n, bytes, &m);
    if (middle == 0) {
        return hd__source_fail(
            &r->merges, line, s, n,
            "two tokens in GPT-2's characters for bytes, with a space between them");
    }
    const int64_t len = (int64_t)bytes->len;
    if (bytes->failed || !known_token(r, line, m.left, bytes->s, middle) ||
        !known_token(r, line, m.right, bytes->s + middle, len - middle) ||
        !known_token(r, line, m.id, bytes->s, len)) {
        return false;
    }
    if (r->b->ranks[m.id] >= 0) {
        return hd__source_fail(&r->merges, line, s, n, "a token that no earlier line makes");
    }
    r->b->ranks[m.id] = rank;
    return true;
}

/* The first line may be free text, which is kept, because hd_tokenizer_save writes both files. */
static bool check_version(const reader *r, const char *s, int64_t n)
{
    bool ok = !memchr(s, 0, (size_t)n) && hd__utf8_good(s, (size_t)n) == (size_t)n;
    return ok || hd__source_fail(&r->merges, 1, s, n, "UTF-8 without a zero");
}

static bool read_merges(reader *r)
{
    static const char version[] = "#version";
    const hd__source *f = &r->merges;
    hd__text bytes = {0};
    bool ok = true;
    int32_t rank = 0;
    for (int64_t at = 0, line = 1; at < f->n && ok; line++) {
        const char *s = f->s + at, *end = memchr(s, '\n', (size_t)(f->n - at));
        int64_t n = end ? end - s : f->n - at;
        bool is_head = line == 1 && strncmp(s, version, strlen(version)) == 0;
        ok = is_head ? check_version(r, s, n) : read_merge(r, line, rank++, s, n, &bytes);
        at += n + 1;
    }
    hd_free(bytes.s);
    return ok;
}

/* Is every token a byte, the special token, or made by a merge? */
static bool check_made(const reader *r)
{
    for (int64_t id = 0, n; id < r->b->base.size; id++) {
        const char *token = hd__token(&r->b->base, id, &n);
        if (n != 1 && id != r->special && r->b->ranks[id] < 0) {
            return fail_token(r, &r->merges, 0, token, n, "a line that makes this token");
        }
    }
    return true;
}

/* ---------------------------------------------------------------- both files */

/* Makes the encoder from both texts, which then belong to it. ok: could the texts be read? */
static hd_tokenizer *bpe_from_texts(reader *r, bool ok)
{
    r->special = -1;
    hd__alphabet_init(&r->a);
    ok = ok && read_vocab(r) && read_merges(r) && check_made(r);
    if (ok) {
        r->b->vocab_json = r->vocab.s;
        r->b->merges_text = r->merges.s;
        return &r->b->base;
    }
    hd_tokenizer_free((hd_tokenizer *)r->b);
    hd_free(r->vocab.s);
    hd_free(r->merges.s);
    return NULL;
}

hd_tokenizer *hd_tokenizer_bpe(const char *vocab_path, const char *merges_path)
{
    HD__CALL("hd_tokenizer_bpe");
    reader r = {0};
    return bpe_from_texts(
        &r, hd__given("vocab_path", vocab_path) && hd__given("merges_path", merges_path) &&
                hd__source_read(&r.vocab, vocab_path) && hd__source_read(&r.merges, merges_path));
}

hd_tokenizer *hd__bpe_load(const hd_dict *d, const char *prefix)
{
    reader r = {0};
    return bpe_from_texts(&r, hd__source_get(&r.vocab, d, hd__field(prefix, "vocab")) &&
                                  hd__source_get(&r.merges, d, hd__field(prefix, "merges")));
}
