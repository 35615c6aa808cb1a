/* strings.c - makes the random strings of tools/golden/golden_strings.py, and texts of random
 * ids. */
#include "suites.h"

static const uint32_t ranges[][2] = {
    {97, 122},        {97, 122},        {65, 90},           {48, 57},         {32, 32},
    {33, 47},         {9, 13},          {0, 0x7F},          {0x80, 0xFF},     {0x370, 0x52F},
    {0x5D0, 0x6FF},   {0x900, 0xDFF},   {0x2000, 0x206F},   {0x2070, 0x218F}, {0x3000, 0x30FF},
    {0x4E00, 0x4FFF}, {0xAC00, 0xAFFF}, {0x1F300, 0x1F6FF}, {0, 0xFFFF},      {0, 0x10FFFF},
};

static const char *const literals[] = {
    " ",  "  ",  "\n",   "\r\n", "\t\t",          "'s",      "'re",      "'ll",           "'S",
    " '", "the", " the", "ing",  "<|endoftext|>", "<|endof", "\xC2\xA0", "\xE3\x80\x80 ", " 1st",
};

enum { RANGES = sizeof ranges / sizeof ranges[0], LITERALS = sizeof literals / sizeof literals[0] };

/* Steele, Lea and Flood 2014: splitmix64 */
uint64_t random_below(uint64_t *state, uint64_t n)
{
    uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return (z ^ z >> 31) % n;
}

static void add_piece(hd__text *t, uint64_t *r)
{
    uint64_t k = random_below(r, RANGES + 3);
    if (k >= RANGES) {
        hd__text_puts(t, literals[random_below(r, LITERALS)]);
        return;
    }
    char c[4];
    for (uint64_t i = 1 + random_below(r, 6); i > 0; i--) {
        uint32_t code = ranges[k][0] + (uint32_t)random_below(r, ranges[k][1] - ranges[k][0] + 1);
        code = code >= 0xD800 && code < 0xE000 ? code ^ 0x2000 : code;
        hd__text_add(t, c, (size_t)hd__utf8_put(code, c));
    }
}

static void add_pieces(hd__text *t, uint64_t *r, uint64_t n)
{
    hd__text_puts(t, "");
    while (n-- > 0) {
        add_piece(t, r);
    }
}

static int64_t characters(const hd__text *t)
{
    int64_t n = 0;
    for (size_t i = 0; i < t->len; i++) {
        n += ((unsigned char)t->s[i] & 0xC0) != 0x80;
    }
    return n;
}

hd__text random_string(int number)
{
    enum { LONG = 1000000 };
    hd__text t = {0};
    uint64_t r = (uint64_t)number;
    if (number < LONG) {
        add_pieces(&t, &r, random_below(&r, 16));
        return t;
    }
    number -= LONG;
    if (number % 3 == 2) {
        add_pieces(&t, &r, 3000);
        return t;
    }
    add_pieces(&t, &r, 1 + (uint64_t)number % 3);
    int64_t length = characters(&t);
    size_t part = t.len;
    for (int64_t i = 1; i < 20000 / length; i++) {
        for (size_t k = 0; k < part; k++) { /* t.s moves as it grows */
            hd__text_add(&t, (const char[]){t.s[k]}, 1);
        }
    }
    return t;
}

void ck_decodes(const char *name, hd_tokenizer *t, uint64_t low, const golden_record *want)
{
    for (int64_t k = 0; k < want->numel; k++) {
        HD_SCOPE;
        int64_t ids[13], n, bytes[2048];
        uint64_t r = 3000000 + (uint64_t)k, count = random_below(&r, 13);
        for (uint64_t i = 0; i < count; i++) {
            uint64_t size = random_below(&r, 2) ? low : (uint64_t)hd_tokenizer_size(t);
            ids[i] = (int64_t)random_below(&r, size);
        }
        const char *s = hd_tokenizer_decode(t, hd_from_data(HD_INT64, ids, (int64_t)count), &n);
        ck_assert_int_lt(n, 2048);
        for (int64_t i = 0; i < n; i++) {
            bytes[i] = (unsigned char)s[i];
        }
        ck_assert_msg(golden_fnv(bytes, (uint64_t)n * sizeof *bytes, sizeof *bytes) == want->i[k],
                      "%s, text %d: %s", name, (int)k, s);
    }
}
