/* chars.c - checks that a text is UTF-8, and reads tables of characters, such as that of their
 * classes. */
#include "tokenizers/chars.h"

bool hd__chars_utf8_check(const char *s, int64_t n)
{
    size_t good = hd__utf8_good(s, (size_t)n);
    return good == (size_t)n ||
           hd_fail(HD_FORMAT, "byte 0x%02x at %zu: expected UTF-8", (unsigned char)s[good], good);
}

uint32_t hd__chars_number_at(const char *table, int letters, int i)
{
    uint32_t number = 0;
    table += i * letters;
    while (letters-- > 0) {
        number = number << 6 | (*table++ & 63);
    }
    return number;
}

int hd__chars_last_number(const char *table, int letters, int low, int high, uint32_t most)
{
    while (low < high) {
        int middle = (low + high) / 2;
        if (hd__chars_number_at(table, letters, middle) <= most) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low - 1;
}

int hd__chars_value(const hd__tokenizer_char_table *t, uint32_t code)
{
    const uint32_t page = code >> 10, values = (1u << t->bits) - 1;
    if (page >= t->n) {
        return 0;
    }
    const int low = (int)hd__chars_number_at(t->before, 2, (int)page);
    const int high = (int)hd__chars_number_at(t->before, 2, (int)page + 1);
    const uint32_t most = (code & 1023) << t->bits | values;
    const int i = hd__chars_last_number(t->changes, t->letters, low, high, most);
    return (int)(hd__chars_number_at(t->changes, t->letters, i) & values);
}

int hd__chars_class(uint32_t code)
{
    if ((code | 32) - 'a' < 26) { /* fast path: most characters of most texts */
        return HD__LETTER;
    }
    return hd__chars_value(&hd__chars_classes, code);
}
