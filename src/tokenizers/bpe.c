/* bpe.c - encodes a text by byte pair encoding: finds added tokens, normalizes the text, splits it
 * into words, and merges pairs.
 *
 * A word is a list of parts; at first each part is one byte, or one character. A heap has all pairs
 * of neighbours that can merge, the lowest rank first, and of equal ranks the leftmost. A pair from
 * the heap is skipped if one of its parts has merged with another part meanwhile. So a word of n
 * bytes takes time of the order n log n. */
#include "tensor/dict.h"
#include "tokenizers/bpe.h"
#include "tokenizers/nfc.h"

#include <inttypes.h>

/* ---------------------------------------------------------------- tokens by their bytes */

/* Returns the slot in b->slots of the token with these bytes. If there is no such token, returns
 * the free slot in which it would be. */
static int32_t *slot_of(const hd__bpe *b, const char *s, int64_t n)
{
    uint64_t hash = hd__text_hash(s, (size_t)n);
    for (uint32_t at = (uint32_t)(hash ^ hash >> 32);; at++) {
        int32_t *slot = &b->slots[at & b->mask];
        if (*slot == 0) {
            return slot;
        }
        int64_t m;
        const char *token = hd__tokenizer_token(&b->base, *slot - 1, &m);
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
    const char *token = hd__tokenizer_token(&b->base, id, &n);
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
    const hd__bpe_added *a = hd__bpe_added_find(b, token, n);
    return a ? a->id : hd__bpe_find(b, token, n);
}

/* Returns the slot in b->merge_slots of the merge of these two tokens. If they have no merge,
 * returns the free slot in which it would be. */
static int32_t *merge_slot_of(const hd__bpe *b, int32_t left, int32_t right)
{
    uint64_t hash = ((uint64_t)left << 32 | (uint32_t)right) * UINT64_C(0x9E3779B97F4A7C15);
    for (uint32_t at = (uint32_t)(hash >> 32);; at++) {
        int32_t *slot = &b->merge_slots[at & b->merge_mask];
        const hd__bpe_merge *m = &b->merges[*slot - (*slot > 0)];
        if (*slot == 0 || (m->left == left && m->right == right)) {
            return slot;
        }
    }
}

void hd__bpe_enter_merge(hd__bpe *b, int32_t rank)
{
    *merge_slot_of(b, b->merges[rank].left, b->merges[rank].right) = rank + 1;
}

/* ---------------------------------------------------------------- one word */

/* A part of a word. parts[i] is the part that begins at byte i. */
typedef struct bpe_part {
    int32_t end;    /* the byte at which the next part begins; 0: no part begins here */
    int32_t before; /* the byte at which the previous part begins */
    int32_t id;
} bpe_part;

typedef struct pair {
    uint64_t key; /* the pair's rank << 32 | the byte at which its left part begins */
    int32_t end;  /* the byte after the pair's right part */
    int32_t id;   /* the token into which the two parts merge */
} pair;

typedef struct bpe_word {
    const hd__bpe *b;
    hd__tokenizer_ids *ids;
    const char *s;
    int32_t n;
    bpe_part *parts;
    pair *heap;
    int64_t parts_room, heap_room, pairs;
} bpe_word;

static void heap_add(bpe_word *w, pair p)
{
    int64_t at = w->pairs++;
    while (at > 0 && w->heap[(at - 1) / 2].key > p.key) {
        w->heap[at] = w->heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    w->heap[at] = p;
}

static pair heap_take(bpe_word *w)
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

/* If the part that begins at byte `at` can merge with the next part, adds the pair to the heap. */
static void consider(bpe_word *w, int32_t at)
{
    int32_t middle = w->parts[at].end;
    if (middle == w->n) {
        return;
    }
    const int32_t rank = *merge_slot_of(w->b, w->parts[at].id, w->parts[middle].id) - 1;
    if (rank >= 0) {
        uint64_t key = (uint64_t)rank << 32 | (uint32_t)at;
        heap_add(w, (pair){key, w->parts[middle].end, w->b->merges[rank].id});
    }
}

static void merge_pair(bpe_word *w, pair p)
{
    int32_t at = (int32_t)(p.key & UINT32_MAX), middle = w->parts[at].end;
    if (middle == 0 || middle == w->n || w->parts[middle].end != p.end) {
        return; /* one of the pair's parts has merged with another part meanwhile */
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

/* Sets w->parts to the first parts of a word, one for each byte or character. With byte_fallback, a
 * character without a token becomes its bytes. Otherwise it becomes the unknown token; with
 * fuse_unknown, several unknown characters in a row become one part. Stops at the first byte for
 * which there is none of these tokens. Returns the number of bytes before it, or w->n if all have
 * tokens. */
static int32_t first_parts(bpe_word *w)
{
    const hd__bpe *b = w->b;
    /* true if the previous part is unknown, and a next unknown character joins it */
    bool fuses = false;
    for (int32_t i = 0, before = -1, end; i < w->n; i = end) {
        uint32_t code;
        int length = b->form.words ? 1 : hd__utf8_next(w->s + i, w->n - i, &code);
        int32_t id = length > 0 ? hd__bpe_find(b, w->s + i, length) : -1;
        bool missing = id < 0;
        /* A fallback part is one byte, so the next i may be inside a character. */
        if (missing && b->byte_fallback) {
            length = 1;
            id = b->fallback[(unsigned char)w->s[i]];
            missing = false;
        }
        end = i + length;
        if (missing && fuses) {
            w->parts[before].end = end;
            continue;
        }
        id = missing ? b->unknown : id;
        if (id < 0) {
            return i;
        }
        w->parts[i] = (bpe_part){end, before, id};
        before = i;
        fuses = missing && b->fuse_unknown;
    }
    return w->n;
}

/* Splits the word s into its first parts, and sets *good to the result of first_parts. If this is
 * n, adds the pairs of neighbours to the heap. The heap can hold 3 * n pairs: there are fewer than
 * n at first, and each of fewer than n merges adds at most two. Returns false with an error if
 * memory runs out. */
static bool start_word(bpe_word *w, const char *s, int32_t n, int32_t *good)
{
    if (!hd__text_grow(&w->parts, &w->parts_room, n, sizeof *w->parts) ||
        !hd__text_grow(&w->heap, &w->heap_room, 3 * (int64_t)n, sizeof *w->heap)) {
        return false;
    }
    w->s = s;
    w->n = n;
    w->pairs = 0;
    memset(w->parts, 0, (size_t)n * sizeof *w->parts);
    *good = first_parts(w);
    for (int32_t i = 0; i < *good && *good == n; i = w->parts[i].end) {
        consider(w, i);
    }
    return true;
}

/* ---------------------------------------------------------------- a text */

/* The encoding of a text. First the text is split at added tokens with `normalized` false. Each
 * piece is normalized, and split at added tokens with `normalized` true. Each of these pieces is
 * split into words. So white space before an added token counts as white space at the end of a
 * text. */
typedef struct encoding {
    bpe_word w;
    hd_special special;
    const char *from; /* the text that is encoded now: the caller's text, or normal.s */
    int64_t place;    /* the byte of the caller's text at which `from` begins */
    hd__text normal, spaced;
} encoding;

static bool encode_word(encoding *e, const char *s, int64_t n, int64_t place)
{
    bpe_word *w = &e->w;
    int32_t whole = w->b->ignore_merges ? hd__bpe_find(w->b, s, n) : -1, good;
    if (whole >= 0) {
        hd__tokenizer_ids_add(w->ids, whole);
        return true;
    }
    if (!start_word(w, s, (int32_t)n, &good)) {
        return false;
    }
    if (good < n) {
        return hd_fail(HD_VALUE,
                       "byte 0x%02x at %" PRId64
                       "%s: the vocabulary has neither a token for it nor an unknown token",
                       (unsigned char)s[good], place + good,
                       e->from == e->normal.s ? " after normalization" : "");
    }
    while (w->pairs > 0) {
        merge_pair(w, heap_take(w));
    }
    for (int32_t i = 0; i < n; i = w->parts[i].end) {
        hd__tokenizer_ids_add(w->ids, w->parts[i].id);
    }
    return !w->ids->failed;
}

/* Appends s to `to`, with U+2581 in place of spaces. If memory runs out, sets to->failed. */
static void add_spaced(hd__text *to, const char *s, int64_t n)
{
    for (const char *end = s + n; s < end; s++) {
        hd__text_add(to, *s == ' ' ? HD__METASPACE : s, *s == ' ' ? strlen(HD__METASPACE) : 1);
    }
}

void hd__bpe_normalize(hd__bpe_normalizer how, const char *s, int64_t n, hd__text *to)
{
    switch (how) {
    case HD__AS_IS: hd__text_add(to, s, (size_t)n); return;
    case HD__NFC: hd__nfc(s, n, to); return;
    case HD__PREPEND: hd__text_puts(to, HD__METASPACE); /* falls through */
    case HD__SPACES: add_spaced(to, s, n);
    }
}

static bool encode_metaspace(encoding *e, const char *s, int64_t n, int64_t place)
{
    const hd__bpe_prepend how = e->w.b->form.metaspace;
    const bool there = *s == ' ' || (n >= 3 && memcmp(s, HD__METASPACE, 3) == 0);
    const bool wanted = how == HD__ALWAYS || (how == HD__FIRST && place == 0);
    hd__text_cut(&e->spaced, 0);
    hd__bpe_normalize(wanted && !there ? HD__PREPEND : HD__SPACES, s, n, &e->spaced);
    return !e->spaced.failed && encode_word(e, e->spaced.s, (int64_t)e->spaced.len, place);
}

/* Splits s, a piece of the text without an added token, into words, and adds their ids to e->w.ids.
 * Returns false with an error if a word cannot be encoded. */
static bool encode_words(encoding *e, const char *s, int64_t n)
{
    const hd__bpe *b = e->w.b;
    const int64_t place = e->place + (s - e->from);
    if (!b->form.words) {
        return b->form.metaspace ? encode_metaspace(e, s, n, place) : encode_word(e, s, n, place);
    }
    for (int64_t at = 0, end, length; at < n;) {
        for (end = at + (b->form.digits ? hd__words_before_digit(s + at, n - at) : n); at < end;
             at += length) {
            length = hd__words_next(b->form.words, s + at, end - at);
            if (!encode_word(e, s + at, length, place + at)) {
                return false;
            }
        }
    }
    return true;
}

/* character_at returns the character of s (n bytes) that begins at byte `at`. character_before
 * returns the character that ends before byte `at`. *length gets its number of bytes. If there is
 * no such character, both return 0 and set *length to 0. */
static uint32_t character_at(const char *s, int64_t at, int64_t n, int *length)
{
    uint32_t code = 0;
    *length = at < n ? hd__utf8_next(s + at, n - at, &code) : 0;
    return code;
}

static uint32_t character_before(const char *s, int64_t at, int *length)
{
    int64_t begin = at - 1;
    while (begin > 0 && ((unsigned char)s[begin] & 0xC0) == 0x80) {
        begin--;
    }
    *length = 0;
    return at > 0 ? character_at(s, begin, at, length) : 0;
}

/* Extends the added token at [*begin, *end) over white space, within [least, n): with a->lstrip to
 * the left, with a->rstrip to the right. An added token may itself be white space that the previous
 * token has already covered. Then *begin >= *end afterwards, and the caller leaves the token
 * out. */
static void strip(const hd__bpe_added *a, const char *s, int64_t least, int64_t n, int64_t *begin,
                  int64_t *end)
{
    int length;
    while (a->lstrip && *begin > least &&
           hd__chars_class(character_before(s, *begin, &length)) == HD__SPACE) {
        *begin -= length;
    }
    *begin = a->lstrip && *begin < least ? least : *begin;
    while (a->rstrip && hd__chars_class(character_at(s, *end, n, &length)) == HD__SPACE) {
        *end += length;
    }
}

static bool encode_normalized(encoding *e, const char *s, int64_t n);

static bool encode_piece(encoding *e, bool normalized, const char *s, int64_t n)
{
    return n == 0 || (normalized ? encode_words(e, s, n) : encode_normalized(e, s, n));
}

/* Splits s at the added tokens whose field `normalized` equals the argument, encodes the pieces,
 * and adds all ids to e->w.ids. Returns false with an error if a piece cannot be encoded, or if s
 * has a special token that e->special refuses. */
static bool encode_around(encoding *e, bool normalized, const char *s, int64_t n)
{
    const hd__bpe *b = e->w.b;
    int64_t done = 0;
    for (int64_t at = 0, end; at < n; at = end) {
        const int32_t found = hd__bpe_needles_longest(&b->patterns[normalized], s + at, n - at);
        const hd__bpe_added *a = found < 0 ? NULL : &b->added[found];
        int64_t begin = at, stop = at + (a ? a->pattern_n : 1);
        end = stop;
        if (!a || (a->special && e->special == HD_SPECIAL_TEXT)) {
            continue;
        }
        if (a->special && e->special == HD_SPECIAL_REFUSE) {
            return hd_fail(HD_VALUE,
                           "%.*s at byte %" PRId64
                           "%s is a special token. Pass HD_SPECIAL_ALLOW to encode it, or "
                           "HD_SPECIAL_TEXT to encode it as text",
                           HD__CLIP(a->s, a->n), e->place + (s - e->from) + at,
                           e->from == e->normal.s ? " after normalization" : "");
        }
        strip(a, s, done, n, &begin, &stop);
        if (begin > done && !encode_piece(e, normalized, s + done, begin - done)) {
            return false;
        }
        if (begin < stop) {
            hd__tokenizer_ids_add(e->w.ids, a->id);
        }
        done = stop;
    }
    return encode_piece(e, normalized, s + done, n - done);
}

static bool encode_normalized(encoding *e, const char *s, int64_t n)
{
    if (e->w.b->form.normalizer == HD__AS_IS) {
        return encode_around(e, true, s, n);
    }
    const char *from = e->from;
    const int64_t place = e->place;
    hd__text_cut(&e->normal, 0);
    hd__bpe_normalize(e->w.b->form.normalizer, s, n, &e->normal);
    if (e->normal.failed) {
        return false;
    }
    e->place = place + (s - from);
    e->from = e->normal.s;
    bool ok = encode_around(e, true, e->normal.s, (int64_t)e->normal.len);
    e->place = place;
    e->from = from;
    return ok;
}

/* Appends all of `ids` to `to` if wanted is true. If memory runs out, sets to->failed. */
static void add_all(hd__tokenizer_ids *to, bool wanted, const hd__tokenizer_ids *ids)
{
    for (int64_t i = 0; wanted && i < ids->n; i++) {
        hd__tokenizer_ids_add(to, ids->v[i]);
    }
}

static bool bpe_encode(const hd_tokenizer *t, const char *text, int64_t n,
                       const hd_encode_options *o, hd__tokenizer_ids *ids)
{
    const hd__bpe *b = (const hd__bpe *)t;
    /* normalizing turns one byte into at most three, and adds at most one U+2581 */
    const int most = b->form.normalizer || b->form.metaspace ? INT32_MAX / 4 : INT32_MAX;
    if (n > most) {
        return hd_fail(HD_VALUE, "the text has %" PRId64 " bytes: expected at most %d", n, most);
    }
    if (!hd__chars_utf8_check(text, n)) {
        return false;
    }
    encoding e = {.w = {.b = b, .ids = ids}, .special = o->special, .from = text};
    add_all(ids, o->add_special_tokens, &b->before);
    bool ok = encode_around(&e, false, text, n);
    add_all(ids, o->add_special_tokens, &b->after);
    hd_free(e.w.parts);
    hd_free(e.w.heap);
    hd_free(e.normal.s);
    hd_free(e.spaced.s);
    return ok;
}

/* ---------------------------------------------------------------- the types */

static bool bpe_save(const hd_tokenizer *t, hd_dict *d, const char *prefix)
{
    char *const *files = ((const hd__bpe *)t)->files;
    return hd_dict_set_string(d, hd__dict_field(prefix, files[1] ? "vocab" : "json"), files[0]) &&
           (!files[1] || hd_dict_set_string(d, hd__dict_field(prefix, "merges"), files[1]));
}

static void bpe_free(hd_tokenizer *t)
{
    hd__bpe *b = (hd__bpe *)t;
    hd_free(b->slots);
    hd_free(b->merges);
    hd_free(b->merge_slots);
    hd_free(b->added);
    hd_free(b->added_text);
    hd_free(b->names.v);
    hd_free(b->patterns[0].v);
    hd_free(b->patterns[1].v);
    hd_free(b->before.v);
    hd_free(b->after.v);
    hd_free(b->files[0]);
    hd_free(b->files[1]);
}

const hd__tokenizer_type hd__bpe_type = {"bpe",    bpe_encode,   bpe_find,
                                         bpe_save, hd__bpe_load, bpe_free};
const hd__tokenizer_type hd__bpe_json_type = {"json",   bpe_encode,        bpe_find,
                                              bpe_save, hd__bpe_json_load, bpe_free};
