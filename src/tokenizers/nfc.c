/* nfc.c - Unicode's normalization form C (Unicode Standard Annex 15): decomposes characters, sorts
 * the marks after a character by their combining classes, and composes characters again.
 * nfc_tables.c has the tables; Hangul syllables are computed. */
#include "tokenizers/nfc.h"

/* A list of characters. Each number in v holds a character: its code point in the low bits, and its
 * combining class in the bits from 24 on. */
typedef struct chars {
    uint32_t *v;
    int64_t n, room;
    bool failed;
} chars;

enum {
    CODE = 0x1FFFFF,
    FIRST_IN_PARTS = 0xC0, /* no character below this one decomposes */
    /* no character below this one has a combining class, or composes with the character before
     * it */
    MARKS = 0x300,
    L = 0x1100, /* the first leading consonant of Hangul */
    V = 0x1161, /* the first vowel of Hangul */
    T = 0x11A7, /* the character before Hangul's first trailing consonant */
    LS = 19,
    VS = 21,
    TS = 28,
    SYLLABLE = 0xAC00,
    SYLLABLES = LS * VS * TS
};

static int combining(uint32_t c)
{
    return (int)(c >> 24);
}

static void add(chars *c, uint32_t code)
{
    c->failed = c->failed || !hd__text_grow(&c->v, &c->room, c->n + 1, sizeof *c->v);
    if (!c->failed) {
        uint32_t class = code < MARKS ? 0 : (uint32_t)hd__chars_value(&hd__nfc_classes, code);
        c->v[c->n++] = class << 24 | code;
    }
}

/* ---------------------------------------------------------------- decomposition */

/* Returns the index of the character `code` among those of the table t, or -1 if it is not
 * there. */
static int entry_of(const hd__nfc_table *t, uint32_t code)
{
    const int i = code < FIRST_IN_PARTS ? -1 : hd__chars_last_number(t->codes, 3, 0, t->n, code);
    if (i < 0) {
        return -1;
    }
    const uint32_t begin = hd__chars_number_at(t->numbers, 2, i),
                   end = hd__chars_number_at(t->numbers, 2, i + 1);
    const uint32_t at = code - hd__chars_number_at(t->codes, 3, i);
    return at < end - begin ? (int)(begin + at) : -1;
}

/* Returns the second character of the decomposition that has index e in hd__nfc_pairs. */
static uint32_t second_of(int e)
{
    return hd__chars_number_at(hd__nfc_seconds, 3, hd__nfc_second[e] - HD__NFC_LETTER);
}

static void decompose(chars *c, uint32_t code)
{
    uint32_t seconds[4], syllable = code - SYLLABLE;
    int n = 0;
    if (syllable < SYLLABLES) {
        add(c, L + syllable / (VS * TS));
        add(c, V + syllable / TS % VS);
        code = T + syllable % TS;
        if (code == T) {
            return;
        }
    }
    int e = entry_of(&hd__nfc_singles, code);
    code = e < 0 ? code : hd__chars_number_at(hd__nfc_singles.firsts, 3, e);
    while ((e = entry_of(&hd__nfc_pairs, code)) >= 0) {
        seconds[n++] = second_of(e);
        code = hd__chars_number_at(hd__nfc_pairs.firsts, 3, e);
    }
    add(c, code);
    while (n > 0) {
        add(c, seconds[--n]);
    }
}

/* ---------------------------------------------------------------- order */

/* Sorts the n characters v by their combining classes, and keeps the order within a class. `sorted`
 * is scratch memory for n characters. */
static void sort_marks(uint32_t *v, int64_t n, uint32_t *sorted)
{
    int64_t start[256 + 1] = {0};
    for (int64_t i = 0; i < n; i++) {
        start[combining(v[i]) + 1]++;
    }
    for (int i = 0; i < 256; i++) {
        start[i + 1] += start[i];
    }
    for (int64_t i = 0; i < n; i++) {
        sorted[start[combining(v[i])]++] = v[i];
    }
    memcpy(v, sorted, (size_t)n * sizeof *v);
}

static void sort_runs(chars *c)
{
    uint32_t *scratch = NULL;
    int64_t room = 0;
    for (int64_t i = 0, end; i < c->n && !c->failed; i = end) {
        bool sorted = true;
        end = i + 1;
        while (combining(c->v[i]) && end < c->n && combining(c->v[end])) {
            sorted = sorted && combining(c->v[end - 1]) <= combining(c->v[end]);
            end++;
        }
        if (!sorted) {
            c->failed = !hd__text_grow(&scratch, &room, end - i, sizeof *scratch);
        }
        if (!sorted && !c->failed) {
            sort_marks(c->v + i, end - i, scratch);
        }
    }
    hd_free(scratch);
}

/* ---------------------------------------------------------------- composition */

/* Returns the character whose decomposition has index e in hd__nfc_pairs. */
static uint32_t code_of(int e)
{
    const hd__nfc_table *t = &hd__nfc_pairs;
    const int i = hd__chars_last_number(t->numbers, 2, 0, t->n, (uint32_t)e);
    return hd__chars_number_at(t->codes, 3, i) + (uint32_t)e -
           hd__chars_number_at(t->numbers, 2, i);
}

/* Returns the character into which a and b compose, or 0 if they do not compose. */
static uint32_t compose(uint32_t a, uint32_t b)
{
    if (a - L < LS && b - V < VS) {
        return SYLLABLE + ((a - L) * VS + b - V) * TS;
    }
    if (a - SYLLABLE < SYLLABLES && (a - SYLLABLE) % TS == 0 && b - T - 1 < TS - 1) {
        return a + b - T;
    }
    const int second = hd__chars_last_number(hd__nfc_seconds, 3, 0, hd__nfc_composing, b);
    if (second < 0 || hd__chars_number_at(hd__nfc_seconds, 3, second) != b) {
        return 0;
    }
    const char *at = hd__nfc_second - 1;
    while ((at = strchr(at + 1, HD__NFC_LETTER + second))) {
        const int e = (int)(at - hd__nfc_second);
        if (hd__chars_number_at(hd__nfc_pairs.firsts, 3, e) == a) {
            return code_of(e);
        }
    }
    return 0;
}

/* Composes characters in place. Character i composes with the last character of class 0 before it
 * if `compose` finds a character for these two, and every character between them has a lower class
 * than character i. */
static void compose_all(chars *c)
{
    int64_t n = 0, starter = -1;
    for (int64_t i = 0; i < c->n; i++) {
        uint32_t code = c->v[i] & CODE, both = 0;
        int class = combining(c->v[i]);
        if (starter >= 0 && code >= MARKS && (n == starter + 1 || combining(c->v[n - 1]) < class)) {
            both = compose(c->v[starter], code);
        }
        if (both) {
            c->v[starter] = both; /* its class is 0 */
            continue;
        }
        starter = class ? starter : n;
        c->v[n++] = c->v[i];
    }
    c->n = n;
}

/* ---------------------------------------------------------------- a text */

/* Returns true if all characters are below U+0300. Nothing composes in such a text, so it is in
 * form C already. */
static bool is_plain(const char *s, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        if ((unsigned char)s[i] >= 0xCC) {
            return false;
        }
    }
    return true;
}

void hd__nfc(const char *s, int64_t n, hd__text *to)
{
    if (is_plain(s, n)) {
        hd__text_add(to, s, (size_t)n);
        return;
    }
    chars c = {0};
    uint32_t code;
    for (int64_t i = 0; i < n;) {
        i += hd__utf8_next(s + i, n - i, &code);
        decompose(&c, code);
    }
    sort_runs(&c);
    compose_all(&c);
    to->failed = to->failed || c.failed;
    for (int64_t i = 0; i < c.n; i++) {
        char bytes[4];
        hd__text_add(to, bytes, (size_t)hd__utf8_put(c.v[i] & CODE, bytes));
    }
    hd_free(c.v);
}
