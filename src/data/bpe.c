/* bpe.c - encodes a text by byte pair encoding: finds special tokens, cuts words, merges pairs.
 *
 * A word that is not a token is a list of parts; at first each part is one byte. A heap holds every
 * two neighbours that make a token, sorted by rank and place. A pair that is taken from the heap is
 * skipped if one of its parts has merged with another meanwhile. So a word of n bytes costs
 * n log n. */
#include "data/bpe.h"

#include <inttypes.h>

/* ---------------------------------------------------------------- tokens by their bytes */

/* The slot that holds the token with these bytes, or a free one. */
static int32_t *slot_of(const hd__bpe *b, const char *s, int64_t n)
{
    uint64_t hash = hd__hash(s, (size_t)n);
    for (uint32_t at = (uint32_t)(hash ^ hash >> 32);; at++) {
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

static int64_t bpe_find(const hd_tokenizer *t, const char *token, int64_t n)
{
    const hd__bpe *b = (const hd__bpe *)t;
    return hd__bpe_is_special(token, n) ? b->special : hd__bpe_find(b, token, n);
}

/* ---------------------------------------------------------------- one word */

/* parts[i] is the part that begins at byte i. */
typedef struct part {
    int32_t end;    /* where the next part begins; 0: no part begins here */
    int32_t before; /* where the part before begins */
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

/* If the part at `at` and the next one make a token, adds them to the heap. */
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

static void merge_pair(word *w, pair p)
{
    int32_t at = (int32_t)(p.key & UINT32_MAX), middle = w->parts[at].end;
    if (middle == 0 || middle == w->n || w->parts[middle].end != p.end) {
        return; /* one of the two has merged with another part */
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

/* Makes each byte a part. The heap needs room for 3 n pairs: there are fewer than n at first, and
 * each of fewer than n merges adds at most two. */
static bool start_word(word *w, const char *s, int32_t n)
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
        hd__ids_add(ids, whole);
        return true;
    }
    if (!start_word(w, s, n)) {
        return false;
    }
    while (w->pairs > 0) {
        merge_pair(w, heap_take(w));
    }
    for (int32_t i = 0; i < n; i = w->parts[i].end) {
        hd__ids_add(ids, w->parts[i].id);
    }
    return true;
}

/* ---------------------------------------------------------------- a text */

/* Where the special token begins in s; n if it is not there. */
static int64_t find_special(const char *s, int64_t n)
{
    const int64_t length = (int64_t)strlen(HD__END_OF_TEXT);
    for (int64_t at = 0; at + length <= n; at++) {
        if (memcmp(s + at, HD__END_OF_TEXT, (size_t)length) == 0) {
            return at;
        }
    }
    return n;
}

/* Between special tokens, each part is cut into words by itself, so white space before a special
 * token is white space at the end of a text. */
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
            hd__ids_add(ids, w->b->special);
        }
    }
    return true;
}

static bool bpe_encode(const hd_tokenizer *t, const char *text, int64_t n, hd_special special,
                       hd__ids *ids)
{
    const hd__bpe *b = (const hd__bpe *)t;
    if (n > INT32_MAX) {
        return hd__fail(HD_VALUE, "%" PRId64 " bytes: expected at most %d at once", n, INT32_MAX);
    }
    if (!hd__utf8_check(text, n)) {
        return false;
    }
    int64_t at = b->special >= 0 ? find_special(text, n) : n;
    if (at < n && special == HD_SPECIAL_REFUSE) {
        return hd__fail(HD_VALUE,
                        "" HD__END_OF_TEXT " at byte %" PRId64
                        ": expected a text without it, HD_SPECIAL_ALLOW or HD_SPECIAL_TEXT",
                        at);
    }
    word w = {.b = b};
    bool ok = encode_parts(&w, text, n, at < n && special == HD_SPECIAL_ALLOW, ids);
    hd_free(w.parts);
    hd_free(w.heap);
    return ok;
}

/* ---------------------------------------------------------------- the type */

static bool bpe_save(const hd_tokenizer *t, hd_dict *d, const char *prefix)
{
    const hd__bpe *b = (const hd__bpe *)t;
    return hd_dict_set_string(d, hd__field(prefix, "vocab"), b->vocab_json) &&
           hd_dict_set_string(d, hd__field(prefix, "merges"), b->merges_text);
}

static void bpe_free(hd_tokenizer *t)
{
    hd__bpe *b = (hd__bpe *)t;
    hd_free(b->ranks);
    hd_free(b->slots);
    hd_free(b->vocab_json);
    hd_free(b->merges_text);
}

const hd__tokenizer_type hd__bpe_type = {"bpe",    bpe_encode,   bpe_find,
                                         bpe_save, hd__bpe_load, bpe_free};
