/* bpe.c - byte pair encoding of a text: special tokens, words, merges.
 *
 * A word that is no token as a whole is a list of parts, at first its bytes. Every two neighbours
 * that make a token wait in a heap by (rank, place). An entry that is taken from it holds when its
 * two ends still are those of two neighbours; so a word of n bytes costs n log n. */
#include "data/bpe.h"

#include <inttypes.h>

/* ---------------------------------------------------------------- tokens by their bytes */

static uint32_t hash_of(const char *s, int64_t n)
{
    uint64_t h = 0xcbf29ce484222325u; /* FNV-1a */
    for (int64_t i = 0; i < n; i++) {
        h = (h ^ (unsigned char)s[i]) * 0x100000001b3u;
    }
    return (uint32_t)(h ^ h >> 32);
}

/* The slot that holds the token with these bytes, or a free one. */
static int32_t *slot_of(const hd__bpe *b, const char *s, int64_t n)
{
    for (uint32_t at = hash_of(s, n);; at++) {
        int32_t *slot = &b->slots[at & b->mask];
        if (*slot == 0) {
            return slot;
        }
        int64_t m;
        const char *token = hd__token(&b->base, *slot - 1, &m);
        if (m == n && memcmp(token, s, (size_t)n) == 0) {
            return slot;
        }
    }
}

int32_t hd__bpe_find(const hd__bpe *b, const char *s, int64_t n)
{
    return n > b->longest ? -1 : *slot_of(b, s, n) - 1;
}

bool hd__bpe_enter(hd__bpe *b, int32_t id)
{
    int64_t n;
    const char *token = hd__token(&b->base, id, &n);
    int32_t *slot = slot_of(b, token, n);
    if (*slot) {
        return false;
    }
    *slot = id + 1;
    b->longest = n > b->longest ? n : b->longest;
    return true;
}

static int64_t find(const hd_tokenizer *t, const char *token, int64_t n)
{
    const hd__bpe *b = (const hd__bpe *)t;
    return hd__bpe_is_special(token, n) ? b->special : hd__bpe_find(b, token, n);
}

/* ---------------------------------------------------------------- one word */

/* Parts are named by where they begin. */
typedef struct part {
    int32_t end; /* where the next one begins; 0: no part begins here */
    int32_t before;
    int32_t id;
} part;

typedef struct pair {
    uint64_t key; /* rank << 32 | where the left part begins */
    int32_t end;  /* of the right part */
    int32_t id;   /* of the token that they make */
} pair;

typedef struct word {
    const hd__bpe *b;
    const char *s;
    int32_t n;
    part *parts;
    pair *heap;
    int64_t parts_room, heap_room, pairs;
} word;

static void heap_add(word *w, pair p)
{
    int64_t at = w->pairs++;
    while (at > 0 && w->heap[(at - 1) / 2].key > p.key) {
        w->heap[at] = w->heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    w->heap[at] = p;
}

static pair heap_take(word *w)
{
    pair top = w->heap[0], last = w->heap[--w->pairs];
    int64_t at = 0;
    for (;;) {
        int64_t child = 2 * at + 1;
        if (child >= w->pairs) {
            break;
        }
        child += child + 1 < w->pairs && w->heap[child + 1].key < w->heap[child].key;
        if (last.key <= w->heap[child].key) {
            break;
        }
        w->heap[at] = w->heap[child];
        at = child;
    }
    w->heap[at] = last;
    return top;
}

/* The part at `at` and the one behind it wait for their merge, if they make a token. */
static void consider(word *w, int32_t at)
{
    int32_t middle = w->parts[at].end;
    if (middle == w->n) {
        return;
    }
    int32_t end = w->parts[middle].end, id = hd__bpe_find(w->b, w->s + at, end - at);
    if (id >= 0) {
        uint64_t rank = (uint64_t)w->b->ranks[id];
        heap_add(w, (pair){rank << 32 | (uint32_t)at, end, id});
    }
}

static void merge(word *w, pair p)
{
    int32_t at = (int32_t)(p.key & UINT32_MAX), middle = w->parts[at].end;
    if (middle == 0 || middle == w->n || w->parts[middle].end != p.end) {
        return; /* one of the two has merged with another */
    }
    w->parts[middle].end = 0;
    w->parts[at].end = p.end;
    w->parts[at].id = p.id;
    if (p.end < w->n) {
        w->parts[p.end].before = at;
    }
    consider(w, at);
    if (at > 0) {
        consider(w, w->parts[at].before);
    }
}

/* Every merge takes two parts and adds at most two pairs: 3 n entries of the heap are enough. */
static bool start(word *w, const char *s, int32_t n)
{
    if (!hd__grow(&w->parts, &w->parts_room, n, sizeof *w->parts) ||
        !hd__grow(&w->heap, &w->heap_room, 3 * (int64_t)n, sizeof *w->heap)) {
        return false;
    }
    w->s = s;
    w->n = n;
    w->pairs = 0;
    for (int32_t i = 0; i < n; i++) {
        w->parts[i] = (part){i + 1, i - 1, hd__bpe_find(w->b, s + i, 1)};
    }
    for (int32_t i = 0; i < n; i++) {
        consider(w, i);
    }
    return true;
}

static bool encode_word(word *w, const char *s, int32_t n, hd__ids *ids)
{
    int32_t whole = hd__bpe_find(w->b, s, n);
    if (whole >= 0) {
        return hd__ids_add(ids, whole);
    }
    if (!start(w, s, n)) {
        return false;
    }
    while (w->pairs > 0) {
        merge(w, heap_take(w));
    }
    for (int32_t i = 0; i < n; i = w->parts[i].end) {
        if (!hd__ids_add(ids, w->parts[i].id)) {
            return false;
        }
    }
    return true;
}

/* ---------------------------------------------------------------- a text */

/* Where the special token's name begins; n when it does not stand there. */
static int64_t find_special(const char *s, int64_t n)
{
    const int64_t length = (int64_t)strlen(HD__END_OF_TEXT);
    for (int64_t at = 0; at + length <= n; at++) {
        const char *c = memchr(s + at, '<', (size_t)(n - length - at + 1));
        if (!c) {
            return n;
        }
        at = c - s;
        if (memcmp(c, HD__END_OF_TEXT, (size_t)length) == 0) {
            return at;
        }
    }
    return n;
}

/* Each part between special tokens is a text of its own: white space before one ends a text. */
static bool encode_parts(word *w, const char *text, int64_t n, bool special, hd__ids *ids)
{
    for (int64_t at = 0; at < n;) {
        int64_t end = special ? at + find_special(text + at, n - at) : n;
        while (at < end) {
            int64_t length = hd__next_word(text + at, end - at);
            if (!encode_word(w, text + at, (int32_t)length, ids)) {
                return false;
            }
            at += length;
        }
        if (end < n) {
            at += (int64_t)strlen(HD__END_OF_TEXT);
            if (!hd__ids_add(ids, w->b->special)) {
                return false;
            }
        }
    }
    return true;
}

static bool encode(const hd_tokenizer *t, const char *text, int64_t n, hd_special special,
                   hd__ids *ids)
{
    const hd__bpe *b = (const hd__bpe *)t;
    if (n > INT32_MAX) {
        return hd_error_set(HD_VALUE,
                            "hd_tokenizer_encode: %" PRId64 " bytes: expected at most %d at once",
                            n, INT32_MAX);
    }
    if (!hd__utf8_check("hd_tokenizer_encode", text, n)) {
        return false;
    }
    int64_t at = b->special >= 0 ? find_special(text, n) : n;
    if (at < n && special == HD_SPECIAL_REFUSE) {
        return hd_error_set(HD_VALUE,
                            "hd_tokenizer_encode: " HD__END_OF_TEXT " at byte %" PRId64
                            ": expected text without it, HD_SPECIAL_ALLOW or HD_SPECIAL_TEXT",
                            at);
    }
    word w = {.b = b};
    bool ok = encode_parts(&w, text, n, at < n && special == HD_SPECIAL_ALLOW, ids);
    hd_free(w.parts);
    hd_free(w.heap);
    return ok;
}

/* ---------------------------------------------------------------- the type */

static bool save(const hd_tokenizer *t, hd_dict *d, const char *prefix)
{
    const hd__bpe *b = (const hd__bpe *)t;
    return hd_dict_set_string(d, hd__field(prefix, "vocab"), b->vocab_json) &&
           hd_dict_set_string(d, hd__field(prefix, "merges"), b->merges_text);
}

static void free_bpe(hd_tokenizer *t)
{
    hd__bpe *b = (hd__bpe *)t;
    hd_free(b->ranks);
    hd_free(b->slots);
    hd_free(b->vocab_json);
    hd_free(b->merges_text);
}

const hd__tokenizer_type hd__bpe_type = {"bpe", encode, find, save, hd__bpe_load, free_bpe};
