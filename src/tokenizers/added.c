/* added.c - finds the longest added token that a text begins with, in logarithmic time.
 *
 * The tokens are sorted as texts. Binary search finds `last`, the last token that is not greater
 * than the text s. A token that is a prefix of s is a prefix of `last`, too, because all texts
 * between the token and s begin with it. So the tokens that are prefixes of s are `last` or
 * prefixes of `last`. Each token has the index of the longest other token that is its prefix, and
 * the search follows these indices. */
#include <stdlib.h>

#include "tokenizers/bpe.h"

/* Compares a (n bytes) with b (m bytes). Returns 0 if they are equal, a negative number if a is
 * less than b, and a positive number if a is greater. Bytes are compared as memcmp does; a prefix
 * is less than a longer text. */
static int compare_texts(const char *a, int64_t n, const char *b, int64_t m)
{
    int order = memcmp(a, b, (size_t)(n < m ? n : m));
    return order ? order : (n > m) - (n < m);
}

static int64_t common_prefix(const char *a, int64_t n, const char *b, int64_t m)
{
    int64_t i = 0;
    while (i < n && i < m && a[i] == b[i]) {
        i++;
    }
    return i;
}

/* Compares two needles, for qsort: by their texts. If the texts are equal, the needle with the
 * lowest rank comes last, because the search finds the last one. */
static int by_needle(const void *a, const void *b)
{
    const hd__bpe_needle *x = a, *y = b;
    int order = compare_texts(x->s, x->n, y->s, y->n);
    return order ? order : (x->rank < y->rank) - (x->rank > y->rank);
}

static bool begins_with(const hd__bpe_needle *whole, const hd__bpe_needle *part)
{
    return part->n <= whole->n && memcmp(whole->s, part->s, (size_t)part->n) == 0;
}

/* Sorts k->v, and sets the field `prefix` of each needle, and k->begins. */
static void needles_complete(hd__bpe_needles *k)
{
    qsort(k->v, (size_t)k->n, sizeof *k->v, by_needle);
    for (int32_t i = 0; i < k->n; i++) {
        int32_t before = i - 1;
        while (before >= 0 && !begins_with(&k->v[i], &k->v[before])) {
            before = k->v[before].prefix;
        }
        k->v[i].prefix = before;
        k->begins[(unsigned char)*k->v[i].s + 1] = i + 1;
    }
    for (int c = 0; c < 256; c++) {
        k->begins[c + 1] = k->begins[c + 1] ? k->begins[c + 1] : k->begins[c];
    }
}

int32_t hd__bpe_needles_longest(const hd__bpe_needles *k, const char *s, int64_t n)
{
    const int c = n > 0 ? (unsigned char)*s : 0;
    const int32_t first = k->begins[c];
    int32_t low = first, high = n > 0 ? k->begins[c + 1] : first;
    while (low < high) {
        const int32_t middle = low + (high - low) / 2;
        const hd__bpe_needle *each = &k->v[middle];
        if (compare_texts(each->s, each->n, s, n) <= 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    int32_t at = low > first ? low - 1 : -1;
    const int64_t common = at < 0 ? 0 : common_prefix(k->v[at].s, k->v[at].n, s, n);
    while (at >= 0 && k->v[at].n > common) {
        at = k->v[at].prefix;
    }
    return at < 0 ? -1 : k->v[at].index;
}

static void needles_add(hd__bpe_needles *k, const char *s, int64_t n, int32_t index, int32_t rank)
{
    k->v[k->n++] = (hd__bpe_needle){s, n, index, rank, -1};
}

bool hd__bpe_added_index(hd__bpe *b)
{
    hd__bpe_needles *const all[] = {&b->names, &b->patterns[0], &b->patterns[1]};
    for (int i = 0; i < 3; i++) {
        all[i]->v = hd__arg_alloc_items(b->n_added, sizeof *all[i]->v);
        if (!all[i]->v) {
            return false;
        }
    }
    for (int32_t i = 0; i < b->n_added; i++) {
        const hd__bpe_added *a = &b->added[i];
        const int32_t rank = a->special ? i : i + (int32_t)b->n_added;
        needles_add(&b->names, a->s, a->n, i, i);
        needles_add(&b->patterns[a->normalized], a->pattern, a->pattern_n, i, rank);
    }
    for (int i = 0; i < 3; i++) {
        needles_complete(all[i]);
    }
    return true;
}

const hd__bpe_added *hd__bpe_added_find(const hd__bpe *b, const char *s, int64_t n)
{
    const int32_t i = hd__bpe_needles_longest(&b->names, s, n);
    return i >= 0 && b->added[i].n == n ? &b->added[i] : NULL;
}
