/* words.h - splits a text into words (words.c). */
#ifndef HEED_TOKENIZERS_WORDS_H
#define HEED_TOKENIZERS_WORDS_H

#include "heed/data.h"

/* A pattern that splits a text into words, and the properties in which the patterns differ. */
typedef struct hd__tokenizer_words {
    const char *pattern;
    bool any_case; /* true if 's, 're and so on also match in capitals, and with U+017F for s */
    /* true if a word of letters may begin with one other character, which is no newline and no
     * digit */
    bool any_before_letters;
    /* true if a word of other characters, such as punctuation, takes the newlines after it, and if
     * a word of white space ends at its last newline */
    bool newlines;
    int64_t digits;           /* the largest number of digits in a word */
    bool space_before_digits; /* true if a space may begin a word of digits */
} hd__tokenizer_words;

extern const hd__tokenizer_words hd__words_gpt2, hd__words_llama3, hd__words_qwen2;

/* Returns the number of bytes of the first word of s, which is n > 0 bytes of UTF-8. */
int64_t hd__words_next(const hd__tokenizer_words *w, const char *s, int64_t n);
/* Returns the number of bytes of s before its first digit. If s begins with a digit, returns the
 * number of bytes of this digit. If there is no digit, returns n. s is n > 0 bytes of UTF-8. */
int64_t hd__words_before_digit(const char *s, int64_t n);

#endif
