/* nfc.c - Unicode's normalization form C: characters are decomposed, the marks that follow a
 * character are sorted by their combining class, and what composes is composed (Unicode Standard
 * Annex 15). nfc_tables.c has the tables; Hangul syllables are arithmetic. */
#include "data/nfc.h"

/* Each is a code point, with its combining class above bit 24. */
typedef struct chars {
    uint32_t *v;
    int64_t n, room;
    bool failed;
} chars;

enum {
    CODE = 0x1FFFFF,
    L = 0x1100, /* the first leading consonant and vowel, and one before the first trailing one */
    V = 0x1161,
    T = 0x11A7,
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
    c->failed = c->failed || !hd__grow(&c->v, &c->room, c->n + 1, sizeof *c->v);
    if (!c->failed) {
        uint32_t class = (uint32_t)hd__range_value(hd__nfc_classes, hd__nfc_classes_len, code);
        c->v[c->n++] = class << 24 | code;
    }
}

/* ---------------------------------------------------------------- decomposition */

/* The number of the entry of a character that decomposes, or -1. */
static int entry_of(uint32_t code)
{
    int i = hd__range_at(hd__nfc_ranges, hd__nfc_ranges_len, code);
    return i < 0 ? -1 : (int)((hd__nfc_ranges[i] & 0xFFF) + code - (hd__nfc_ranges[i] >> 32));
}

static int second_of(int e)
{
    return hd__nfc_second[e] - HD__NFC_LETTER;
}

/* The first character of entry e, which the character `code` has. */
static uint32_t first_of(int e, uint32_t code)
{
    const int second = second_of(e);
    const uint32_t plane = second == HD__NFC_PLANE_2 ? 0x20000 : second ? code & 0x10000 : 0;
    return plane | hd__nfc_first[e];
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
    for (int e; (e = entry_of(code)) >= 0; code = first_of(e, code)) {
        if (second_of(e) > HD__NFC_PLANE_2) {
            seconds[n++] = hd__nfc_seconds[second_of(e)];
        }
    }
    add(c, code);
    while (n > 0) {
        add(c, seconds[--n]);
    }
}

/* ---------------------------------------------------------------- order */

/* Sorts n marks by their classes; equal ones keep their order. */
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
            c->failed = !hd__grow(&scratch, &room, end - i, sizeof *scratch);
        }
        if (!sorted && !c->failed) {
            sort_marks(c->v + i, end - i, scratch);
        }
    }
    hd_free(scratch);
}

/* ---------------------------------------------------------------- composition */

/* The character whose entry is number e. */
static uint32_t code_of(int e)
{
    int i = hd__nfc_ranges_len - 1;
    while ((int)(hd__nfc_ranges[i] & 0xFFF) > e) {
        i--;
    }
    return (uint32_t)((hd__nfc_ranges[i] >> 32) + (uint64_t)e - (hd__nfc_ranges[i] & 0xFFF));
}

/* What the two compose to; 0: they do not compose. */
static uint32_t compose(uint32_t a, uint32_t b)
{
    if (a - L < LS && b - V < VS) {
        return SYLLABLE + ((a - L) * VS + b - V) * TS;
    }
    if (a - SYLLABLE < SYLLABLES && (a - SYLLABLE) % TS == 0 && b - T - 1 < TS - 1) {
        return a + b - T;
    }
    int second = hd__nfc_seconds_len - 1;
    while (second > HD__NFC_PLANE_2 && hd__nfc_seconds[second] != b) {
        second--;
    }
    const int letter = HD__NFC_LETTER + second;
    for (int e = 0; second > HD__NFC_PLANE_2 && e < hd__nfc_len; e++) {
        const char *at = memchr(hd__nfc_second + e, letter, (size_t)(hd__nfc_len - e));
        if (!at) {
            break;
        }
        e = (int)(at - hd__nfc_second);
        uint32_t code = hd__nfc_first[e] == (a & 0xFFFF) ? code_of(e) : 0;
        if (code && first_of(e, code) == a &&
            hd__range_at(hd__nfc_excluded, hd__nfc_excluded_len, code) < 0) {
            return code;
        }
    }
    return 0;
}

/* A character composes with the last one of class 0 before it, unless one between them has a class
 * that is not lower than its own. */
static void compose_all(chars *c)
{
    int64_t n = 0, starter = -1;
    for (int64_t i = 0; i < c->n; i++) {
        uint32_t code = c->v[i] & CODE, both = 0;
        int class = combining(c->v[i]);
        if (starter >= 0 && (n == starter + 1 || combining(c->v[n - 1]) < class)) {
            both = compose(c->v[starter], code);
        }
        if (both) {
            c->v[starter] = both; /* of class 0 */
            continue;
        }
        starter = class ? starter : n;
        c->v[n++] = c->v[i];
    }
    c->n = n;
}

/* ---------------------------------------------------------------- a text */

/* Are all characters below U+0300? Then nothing composes. */
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
    for (int64_t i = 0; i < n; i += hd__utf8_next(s + i, n - i, &code)) {
        hd__utf8_next(s + i, n - i, &code);
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
