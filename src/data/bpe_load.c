/* bpe_load.c - reads GPT-2's vocab.json and merges.txt.
 *
 * Both files spell bytes as characters: a printable byte of Latin-1 stands for itself, and the
 * other 68 are U+0100, U+0101 ... in their order. vocab.json maps every token to its id. Each line
 * of merges.txt names the two tokens of a merge; an earlier line has a lower rank. */
#include "data/bpe.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/text/json.h"
#include "base/text/whole.h"

enum { BYTES = 256, CODES = 256 + 68 };

typedef struct alphabet {
    int16_t byte[CODES];  /* the byte that a code point spells; -1: none */
    uint32_t code[BYTES]; /* the code point that spells a byte */
} alphabet;

typedef struct file {
    char where[128]; /* its path, or the entry of a dictionary, in quotes */
    char *s;         /* from hd_alloc; ends with a zero */
    int64_t n;
} file;

typedef struct entry {
    int64_t id, begin, n; /* its bytes are entries.bytes[begin .. begin + n) */
    int64_t by_id;        /* where the entry is whose id is this one's place; -1: not found yet */
} entry;

/* The vocabulary in the file's order. */
typedef struct entries {
    hd__text bytes; /* of all tokens, one after the other */
    entry *v;
    int64_t n, room;
} entries;

typedef struct reader {
    alphabet a;
    file vocab, merges;
    hd__bpe *b;
} reader;

/* ---------------------------------------------------------------- bytes as characters */

static void alphabet_init(alphabet *a)
{
    uint32_t next = BYTES;
    memset(a->byte, -1, sizeof a->byte);
    for (int b = 0; b < BYTES; b++) {
        bool printable = (b > 32 && b < 127) || (b > 160 && b != 173);
        a->code[b] = printable ? (uint32_t)b : next++;
        a->byte[a->code[b]] = (int16_t)b;
    }
}

/* Adds the bytes that s spells. False, without an error, if a character in it spells no byte. */
static bool unspell(const alphabet *a, const char *s, int64_t n, hd__text *bytes)
{
    uint32_t code;
    for (int64_t i = 0; i < n;) {
        int length = hd__utf8_next(s + i, n - i, &code);
        int byte = length > 0 && code < CODES ? a->byte[code] : -1;
        if (byte < 0) {
            return false;
        }
        hd__text_add(bytes, (const char[]){(char)byte}, 1);
        i += length;
    }
    return true;
}

/* ---------------------------------------------------------------- messages */

/* HD_FORMAT: "hd_fn: 'file': line 3: 'text': expected ...". Line 0 is left out. Returns false. */
static bool fail_text(const file *f, int64_t line, const char *s, int64_t n, const char *expected)
{
    char place[40] = "";
    if (line > 0) {
        snprintf(place, sizeof place, "line %" PRId64 ": ", line);
    }
    return hd__fail(HD_FORMAT, "%s: %s'%.*s': expected %s", f->where, place, HD__CLIP(s, n),
                    expected);
}

/* The same for a token, which the message spells as the files do. */
static bool fail_token(const reader *r, const file *f, int64_t line, const char *token, int64_t n,
                       const char *expected)
{
    hd__text s = {0};
    char c[4];
    hd__text_puts(&s, "");
    for (int64_t i = 0; i < n; i++) {
        hd__text_add(&s, c, (size_t)hd__utf8_put(r->a.code[(unsigned char)token[i]], c));
    }
    if (!s.failed) {
        fail_text(f, line, s.s, (int64_t)s.len, expected);
    }
    hd_free(s.s);
    return false;
}

/* ---------------------------------------------------------------- vocab.json */

/* Reads an object that maps names to integers. */
static bool read_object(const reader *r, hd__json *j, entries *e)
{
    int64_t id;
    if (hd__json_next(j) != HD__JSON_OBJECT) {
        return hd__json_fail(j, hd__call, r->vocab.where, "an object");
    }
    while (hd__json_next(j) == HD__JSON_NAME) {
        int64_t begin = (int64_t)e->bytes.len;
        if (!unspell(&r->a, j->s, (int64_t)j->len, &e->bytes)) {
            return fail_text(&r->vocab, 0, j->s, (int64_t)j->len, "GPT-2's characters for bytes");
        }
        if (hd__json_next(j) != HD__JSON_NUMBER || !hd__json_int(j, &id)) {
            return hd__json_fail(j, hd__call, r->vocab.where, "an integer");
        }
        if (e->bytes.failed || !hd__grow(&e->v, &e->room, e->n + 1, sizeof *e->v)) {
            return false;
        }
        e->v[e->n++] = (entry){id, begin, (int64_t)e->bytes.len - begin, -1};
    }
    return (j->kind == HD__JSON_OBJECT_END && hd__json_next(j) == HD__JSON_END) ||
           hd__json_fail(j, hd__call, r->vocab.where, "a name");
}

static bool read_entries(const reader *r, entries *e)
{
    hd__json j;
    hd__text_puts(&e->bytes, "");
    hd__json_init(&j, r->vocab.s, (size_t)r->vocab.n);
    bool ok = read_object(r, &j, e);
    hd__json_free(&j);
    return ok;
}

/* Sets by_id; each id of 0 .. n - 1 must come once. */
static bool place_ids(const reader *r, entries *e)
{
    for (int64_t i = 0; i < e->n; i++) {
        int64_t id = e->v[i].id;
        bool inside = id >= 0 && id < e->n;
        if (!inside || e->v[id].by_id >= 0) {
            return hd__fail(HD_FORMAT,
                            "%s: id %" PRId64 "%s: expected each of 0 to %" PRId64 " once",
                            r->vocab.where, id, inside ? " again" : "", e->n - 1);
        }
        e->v[id].by_id = i;
    }
    return true;
}

/* ---------------------------------------------------------------- the encoder's tables */

static bool make_tables(reader *r, int64_t n, int64_t bytes)
{
    hd__bpe *b = (hd__bpe *)hd__tokenizer_new(&hd__bpe_type, sizeof *b, n, bytes);
    uint32_t slots = 2;
    r->b = b;
    if (!b) {
        return false;
    }
    while (slots < 2 * n) {
        slots *= 2;
    }
    b->special = -1;
    b->mask = slots - 1;
    b->slots = hd__alloc_zeroed(slots * sizeof *b->slots);
    b->ranks = hd__alloc_items(n, sizeof *b->ranks);
    if (b->ranks) {
        memset(b->ranks, -1, (size_t)n * sizeof *b->ranks);
    }
    return b->slots && b->ranks;
}

/* Enters the tokens in the order of their ids. */
static bool enter_tokens(reader *r, const entries *e)
{
    hd__bpe *b = r->b;
    for (int64_t id = 0, end = 0; id < e->n; id++) {
        const entry *of = &e->v[e->v[id].by_id];
        const char *token = e->bytes.s + of->begin;
        const int64_t n = of->n;
        memcpy(b->base.bytes + end, token, (size_t)n);
        end += n;
        b->base.starts[id + 1] = end;
        bool special = hd__bpe_is_special(token, n), first = b->special < 0;
        if (special) {
            b->special = id;
        }
        if (special ? !first : !hd__bpe_enter(b, (int32_t)id)) {
            return fail_token(r, &r->vocab, 0, token, n, "each token once");
        }
    }
    return true;
}

static bool read_vocab(reader *r)
{
    entries e = {0};
    bool ok = read_entries(r, &e);
    if (ok && (e.n < BYTES || e.n > INT32_MAX / 4)) {
        ok = hd__fail(HD_FORMAT, "%s: %" PRId64 " tokens: expected %d to %d", r->vocab.where, e.n,
                      BYTES, INT32_MAX / 4);
    }
    ok = ok && place_ids(r, &e) && make_tables(r, e.n, (int64_t)e.bytes.len) && enter_tokens(r, &e);
    for (int i = 0; i < BYTES && ok; i++) {
        const char byte = (char)i;
        ok = hd__bpe_find(r->b, &byte, 1) >= 0 ||
             fail_token(r, &r->vocab, 0, &byte, 1, "a token for each byte");
    }
    hd_free(e.bytes.s);
    hd_free(e.v);
    return ok;
}

/* ---------------------------------------------------------------- merges.txt */

static int32_t known_token(const reader *r, int64_t line, const char *token, size_t n)
{
    int32_t id = hd__bpe_find(r->b, token, (int64_t)n);
    if (id < 0) {
        fail_token(r, &r->merges, line, token, (int64_t)n, "a token of the vocabulary");
    }
    return id;
}

/* Reads a line "left right". Both, and the two together, must be tokens; the rank belongs to the
 * two together. */
static bool read_merge(reader *r, int64_t line, int32_t rank, const char *s, int64_t n,
                       hd__text *bytes)
{
    const char *space = memchr(s, ' ', (size_t)n);
    int64_t left = space ? space - s : 0, right = n - left - 1;
    hd__text_cut(bytes, 0);
    bool two = left > 0 && right > 0 && unspell(&r->a, s, left, bytes);
    size_t middle = bytes->len;
    if (!two || !unspell(&r->a, space + 1, right, bytes)) {
        return fail_text(&r->merges, line, s, n,
                         "two tokens in GPT-2's characters for bytes, with a space between them");
    }
    if (bytes->failed || known_token(r, line, bytes->s, middle) < 0 ||
        known_token(r, line, bytes->s + middle, bytes->len - middle) < 0) {
        return false;
    }
    int32_t id = known_token(r, line, bytes->s, bytes->len);
    if (id >= 0 && r->b->ranks[id] >= 0) {
        return fail_text(&r->merges, line, s, n, "a token that no earlier line makes");
    }
    if (id >= 0) {
        r->b->ranks[id] = rank;
    }
    return id >= 0;
}

/* The first line may be free text, which is kept, because hd_tokenizer_save writes both files. */
static bool check_version(const reader *r, const char *s, int64_t n)
{
    bool ok = !memchr(s, 0, (size_t)n) && hd__utf8_good(s, (size_t)n) == (size_t)n;
    return ok || fail_text(&r->merges, 1, s, n, "UTF-8 without a zero");
}

static bool read_merges(reader *r)
{
    static const char version[] = "#version";
    const file *f = &r->merges;
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
        if (n != 1 && id != r->b->special && r->b->ranks[id] < 0) {
            return fail_token(r, &r->merges, 0, token, n, "a line that makes this token");
        }
    }
    return true;
}

/* ---------------------------------------------------------------- both files */

/* Hands s, which comes from hd_alloc and ends with a zero, to f. False if s is NULL. */
static bool file_init(file *f, const char *name, char *s, size_t n)
{
    if (s) {
        snprintf(f->where, sizeof f->where, "'%.*s'", HD__CUT(name));
        f->s = s;
        f->n = (int64_t)n;
    }
    return s;
}

static bool file_read(file *f, const char *path)
{
    size_t n;
    char *s = hd__whole_read(hd__call, path, INT32_MAX, &n);
    return file_init(f, path, s, n);
}

/* Copies an entry of a dictionary to f. */
static bool file_get(file *f, const hd_dict *d, const char *name)
{
    const char *text = hd_dict_get_string(d, name);
    size_t n = text ? strlen(text) : 0;
    char *copy = text ? hd_alloc(n + 1) : NULL;
    return file_init(f, name, copy ? memcpy(copy, text, n + 1) : NULL, n);
}

/* Makes the encoder from both texts, which then belong to it. ok: could the texts be read? */
static hd_tokenizer *bpe_from_texts(reader *r, bool ok)
{
    alphabet_init(&r->a);
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
                file_read(&r.vocab, vocab_path) && file_read(&r.merges, merges_path));
}

hd_tokenizer *hd__bpe_load(const hd_dict *d, const char *prefix)
{
    reader r = {0};
    return bpe_from_texts(&r, file_get(&r.vocab, d, hd__field(prefix, "vocab")) &&
                                  file_get(&r.merges, d, hd__field(prefix, "merges")));
}
