/* words.h - how a text is cut into words (words.c). */
#ifndef HEED_TOKENIZERS_WORDS_H
#define HEED_TOKENIZERS_WORDS_H

#include "heed/data.h"

/* How a pattern cuts a text into words. */
typedef struct hd__tokenizer_words {
    const char *pattern;
    bool any_case;            /* 's, 're ... also in capitals, and with U+017F */
    bool any_before_letters;  /* any character but a newline, not only a space, begins a word */
    bool newlines;            /* newlines end other characters, and white space ends with them */
    int64_t digits;           /* how many digits a word has at most */
    bool space_before_digits; /* a space begins a word of digits */
} hd__tokenizer_words;

extern const hd__tokenizer_words hd__words_gpt2, hd__words_llama3, hd__words_qwen2;

/* The length of the first word of s[0 .. n); n > 0, and s is UTF-8. */
int64_t hd__words_next(const hd__tokenizer_words *w, const char *s, int64_t n);
/* The length of what stands before the first digit; if s begins with one, the digit's. n > 0 */
int64_t hd__words_before_digit(const char *s, int64_t n);

#endif
