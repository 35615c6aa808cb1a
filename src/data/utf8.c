/* utf8.c - texts that must be UTF-8, and the classes of characters. */
#include "data/data_internal.h"

bool hd__utf8_check(const char *s, int64_t n)
{
    size_t good = hd__utf8_good(s, (size_t)n);
    return good == (size_t)n ||
           hd__fail(HD_FORMAT, "byte 0x%02x at %zu: expected UTF-8", (unsigned char)s[good], good);
}

int hd__range_at(const uint64_t *ranges, int n, uint32_t code)
{
    int low = 0, high = n; /* the range is in [low, high), if there is one */
    while (high - low > 1) {
        int middle = (low + high) / 2;
        if (ranges[middle] >> 32 <= code) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return ranges[low] >> 32 <= code && code <= (ranges[low] >> 12 & 0xFFFFF) ? low : -1;
}

int hd__range_value(const uint64_t *ranges, int n, uint32_t code)
{
    int i = hd__range_at(ranges, n, code);
    return i < 0 ? 0 : (int)(ranges[i] & 0xFFF);
}

int hd__char_class(uint32_t code)
{
    return hd__range_value(hd__char_classes, hd__char_classes_len, code);
}
