/* utf8.c - texts that must be UTF-8, and the classes of characters. */
#include "data/data_internal.h"

bool hd__utf8_check(const char *s, int64_t n)
{
    size_t good = hd__utf8_good(s, (size_t)n);
    return good == (size_t)n ||
           hd__fail(HD_FORMAT, "byte 0x%02x at %zu: expected UTF-8", (unsigned char)s[good], good);
}

int hd__char_class(uint32_t code)
{
    int low = 0, high = hd__char_classes_len; /* the range of code is in [low, high), if any is */
    while (high - low > 1) {
        int middle = (low + high) / 2;
        if (hd__char_classes[middle] >> 24 <= code) {
            low = middle;
        } else {
            high = middle;
        }
    }
    uint64_t range = hd__char_classes[low];
    return range >> 24 <= code && code <= (range >> 4 & 0xFFFFF) ? range & 15 : HD__OTHER;
}
