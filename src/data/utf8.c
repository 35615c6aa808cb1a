/* utf8.c - UTF-8, character by character, and the classes of characters.
 *
 * What is not UTF-8 is cut as the Unicode Standard recommends and Python does (chapter 3.9,
 * "maximal subparts"): one U+FFFD for the longest start of a character, else for one byte. */
#include "base/json.h"
#include "data/data_internal.h"

int hd__utf8_next(const char *s, int64_t n, uint32_t *code)
{
    const unsigned char *p = (const unsigned char *)s;
    unsigned char first = p[0], low = 0x80, high = 0xBF; /* the second byte's range */
    int length = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    if (length == 1) {
        *code = first;
        return 1;
    }
    if (first < 0xC2 || first > 0xF4) {
        return -1;
    }
    if (first == 0xE0) {
        low = 0xA0; /* below: overlong */
    } else if (first == 0xED) {
        high = 0x9F; /* above: surrogates */
    } else if (first == 0xF0) {
        low = 0x90;
    } else if (first == 0xF4) {
        high = 0x8F; /* above: beyond U+10FFFF */
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

bool hd__utf8_check(const char *function, const char *s, int64_t n)
{
    size_t good = hd__json_utf8(s, (size_t)n);
    return good == (size_t)n || hd_error_set(HD_FORMAT, "%s: byte 0x%02x at %zu: expected UTF-8",
                                             function, (unsigned char)s[good], good);
}

int hd__utf8_clip(const char *s, int64_t n)
{
    int end = n < 120 ? (int)n : 120;
    while (end > 0 && end < n && ((unsigned char)s[end] & 0xC0) == 0x80) {
        end--;
    }
    return end;
}

int hd__char_class(uint32_t code)
{
    int low = 0, high = hd__char_classes_len; /* the class begins in [low, high) */
    while (high - low > 1) {
        int middle = (low + high) / 2;
        if (hd__char_classes[middle] >> 2 <= code) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return hd__char_classes[low] & 3;
}
