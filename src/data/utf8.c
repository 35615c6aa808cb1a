/* utf8.c - texts that must be UTF-8, and the classes of characters. */
#include "data/data_internal.h"

bool hd__utf8_check(const char *s, int64_t n)
{
    size_t good = hd__utf8_good(s, (size_t)n);
    return good == (size_t)n ||
           hd__fail(HD_FORMAT, "byte 0x%02x at %zu: expected UTF-8", (unsigned char)s[good], good);
}

int hd__run_at(const uint32_t *runs, int n, uint32_t most)
{
    int low = 0, high = n; /* the run is in [low, high) */
    while (high - low > 1) {
        int middle = (low + high) / 2;
        if (runs[middle] <= most) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

int hd__run_value(const uint32_t *runs, int n, uint32_t code)
{
    return (int)(runs[hd__run_at(runs, n, code << 8 | 0xFF)] & 0xFF);
}

int hd__char_class(uint32_t code)
{
    return hd__run_value(hd__char_classes, hd__char_classes_len, code) & HD__CLASSES;
}

bool hd__char_in_word(uint32_t code)
{
    return hd__run_value(hd__char_classes, hd__char_classes_len, code) & HD__IN_WORD;
}
