/* words.h - cuts a text into words (words.c). */
#ifndef HEED_TOKENIZERS_WORDS_H
#define HEED_TOKENIZERS_WORDS_H

#include "heed/data.h"

/* A pattern that cuts a text into words, and its properties. */
typedef struct hd__tokenizer_words {
    const char *pattern;
    bool any_case;           /* 's, 're ... match in capitals, too, and with U+017F */
    bool any_before_letters; /* a word of letters may begin with any character but a newline */
    /* Newlines belong to the word of other characters before them, and end white space. */
    bool newlines;
    int64_t digits;           /* the most digits of a word */
    bool space_before_digits; /* a space may begin a word of digits */
} hd__tokenizer_words;

extern const hd__tokenizer_words hd__words_gpt2, hd__words_llama3, hd__words_qwen2;

/* The length of the first word of s[0 .. n); n > 0, and s is UTF-8. */
int64_t hd__words_next(const hd__tokenizer_words *w, const char *s, int64_t n);
/* The length of s[0 .. n) up to its first digit; the digit's if s begins with one. n > 0. */
int64_t hd__words_before_digit(const char *s, int64_t n);

#endif
