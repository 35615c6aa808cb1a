/* words.c - cuts a text into words before byte pair encoding, as GPT-2 does it:
 *
 *   's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
 *
 * Radford et al. 2019, "Language Models are Unsupervised Multitask Learners" (its encoder.py). When
 * something follows a run of white space, the run's last character is not part of it: a space
 * begins the next word, and any other white space is a word of its own. */
#include "data/data_internal.h"

/* The length of the 's, 're ... that s begins with, or 0. */
static int64_t contraction(const char *s, int64_t n)
{
    static const char *const forms[] = {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"};
    if (s[0] != '\'') {
        return 0;
    }
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        size_t length = strlen(forms[i]);
        if ((int64_t)length <= n && memcmp(s, forms[i], length) == 0) {
            return (int64_t)length;
        }
    }
    return 0;
}

/* The length of the run of one class that s begins with; *last is the length of its last character.
 */
static int64_t class_run(const char *s, int64_t n, int class, int64_t *last)
{
    int64_t at = 0;
    uint32_t code;
    while (at < n) {
        int length = hd__utf8_next(s + at, n - at, &code);
        if (hd__char_class(code) != class) {
            break;
        }
        *last = length;
        at += length;
    }
    return at;
}

int64_t hd__next_word(const char *s, int64_t n)
{
    int64_t length = contraction(s, n), last = 0;
    if (length > 0) {
        return length;
    }
    int64_t space = s[0] == ' ' && n > 1;
    uint32_t code;
    hd__utf8_next(s + space, n - space, &code);
    int class = hd__char_class(code);
    if (class != HD__SPACE) {
        return space + class_run(s + space, n - space, class, &last);
    }
    length = class_run(s, n, HD__SPACE, &last);
    return length == n || length == last ? length : length - last;
}
