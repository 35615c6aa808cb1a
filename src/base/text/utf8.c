/* utf8.c - reads and writes the characters of UTF-8 texts. */
#include "base/text/utf8.h"

/* Returns the length of the first character. If the bytes are not UTF-8, returns minus the number
 * of bytes that one U+FFFD replaces: the longest run of bytes with which a character can begin, or
 * 1 if the first byte begins no character. The Unicode Standard recommends this (chapter 3.9,
 * "maximal subparts"), and Python does it. */
int hd__utf8_next(const char *s, int64_t n, uint32_t *code)
{
    const unsigned char *p = (const unsigned char *)s;
    unsigned char first = p[0];
    /* The second byte's range: not overlong, no surrogates, and nothing beyond U+10FFFF. */
    unsigned char low = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
    unsigned char high = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
    int length = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    if (length == 1) {
        *code = first;
        return 1;
    }
    if (first < 0xC2 || first > 0xF4) {
        return -1;
    }
    uint32_t c = first & (0x7Fu >> length);
    for (int i = 1; i < length; i++) {
        if (i >= n || p[i] < low || p[i] > high) {
            return -i;
        }
        c = c << 6 | (p[i] & 0x3Fu);
        low = 0x80;
        high = 0xBF;
    }
    *code = c;
    return length;
}

int hd__utf8_put(uint32_t code, char s[4])
{
    int length = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (int i = length - 1; i > 0; i--) {
        s[i] = (char)(0x80 | (code & 0x3F));
        code >>= 6;
    }
    static const unsigned char start[] = {0, 0, 0xC0, 0xE0, 0xF0};
    s[0] = (char)(start[length] | code);
    return length;
}

size_t hd__utf8_good(const char *s, size_t n)
{
    size_t at = 0;
    uint32_t code;
    while (at < n) {
        int length = hd__utf8_next(s + at, (int64_t)(n - at), &code);
        if (length < 0) {
            break;
        }
        at += (size_t)length;
    }
    return at;
}
