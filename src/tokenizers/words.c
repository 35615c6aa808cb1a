/* words.c - splits a text into words before byte pair encoding, as the patterns of GPT-2, Llama 3
 * and Qwen 2 do. GPT-2's pattern is from Radford et al. 2019, "Language Models are Unsupervised
 * Multitask Learners" (its encoder.py).
 *
 * heed does not interpret these regular expressions. It recognises their texts, and knows the
 * properties in which they differ (hd__tokenizer_words). Several white space characters in a row
 * are a word. If another character follows, the last white space character does not belong to this
 * word: a space begins the next word, and any other white space is a word of its own. */
#include <string.h>

#include "tokenizers/chars.h"
#include "tokenizers/words.h"

#define MODERN(digits)                                                                             \
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}" digits                     \
    "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"

const hd__tokenizer_words hd__words_gpt2 = {
    "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+",
    .digits = INT64_MAX,
    .space_before_digits = true,
};
const hd__tokenizer_words hd__words_llama3 = {MODERN("{1,3}"), true, true, true, 3, false};
const hd__tokenizer_words hd__words_qwen2 = {MODERN(""), true, true, true, 1, false};

/* Returns the number of bytes of the contraction ('s, 're ...) with which s begins, or 0 if there
 * is none. */
static int64_t contraction(const hd__tokenizer_words *w, const char *s, int64_t n)
{
    static const char *const forms[] = {"s", "t", "re", "ve", "m", "ll", "d"};
    char next[3] = "";
    if (s[0] != '\'') {
        return 0;
    }
    for (int64_t i = 0; i < 2 && i + 1 < n; i++) {
        char c = s[i + 1];
        next[i] = (char)(w->any_case && c >= 'A' && c <= 'Z' ? c + 'a' - 'A' : c);
    }
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        if (strncmp(next, forms[i], strlen(forms[i])) == 0) {
            return 1 + (int64_t)strlen(forms[i]);
        }
    }
    return w->any_case && strcmp(next, "\xC5\xBF") == 0 ? 3 : 0; /* U+017F, the long s */
}

typedef struct span {
    /* the number of bytes of the span, of its last character, and of the span up to its last
     * newline; `newline` is 0 if there is none */
    int64_t end, last, newline;
} span;

/* Returns the span at the beginning of s in which all characters have this class. It has at most
 * `most` characters, and may be empty. */
static span class_run(const char *s, int64_t n, int class, int64_t most)
{
    span r = {0, 0, 0};
    uint32_t code;
    for (int64_t count = 0; r.end < n && count < most; count++) {
        int length = hd__utf8_next(s + r.end, n - r.end, &code);
        if (hd__chars_class(code) != class) {
            break;
        }
        r.last = length;
        r.end += length;
        if (code == '\r' || code == '\n') {
            r.newline = r.end;
        }
    }
    return r;
}

/* Returns the number of bytes of the word of white space with which s begins. With w->newlines, a
 * word with newlines ends at the last of them. Any other word leaves out the last white space
 * character, unless this is the only one or the text ends there. */
static int64_t spaces(const hd__tokenizer_words *w, const char *s, int64_t n)
{
    span r = class_run(s, n, HD__SPACE, INT64_MAX);
    if (w->newlines && r.newline) {
        return r.newline;
    }
    return r.end == n || r.end == r.last ? r.end : r.end - r.last;
}

/* Returns true if the character `code` belongs to the word that follows it, whose first character
 * has class `next`. */
static bool begins_word(const hd__tokenizer_words *w, uint32_t code, int next)
{
    if (code == ' ') {
        return next != HD__SPACE && (next != HD__NUMERAL || w->space_before_digits);
    }
    int class = hd__chars_class(code);
    return w->any_before_letters && next == HD__LETTER && class != HD__LETTER &&
           class != HD__NUMERAL && code != '\r' && code != '\n';
}

int64_t hd__words_next(const hd__tokenizer_words *w, const char *s, int64_t n)
{
    int64_t length = contraction(w, s, n), before = 0;
    uint32_t first, code;
    if (length > 0) {
        return length;
    }
    length = hd__utf8_next(s, n, &first);
    if (length < n) {
        hd__utf8_next(s + length, n - length, &code);
        before = begins_word(w, first, hd__chars_class(code)) ? length : 0;
    }
    int class = hd__chars_class(before ? code : first);
    if (class == HD__SPACE) {
        return spaces(w, s, n);
    }
    length =
        before +
        class_run(s + before, n - before, class, class == HD__NUMERAL ? w->digits : INT64_MAX).end;
    while (w->newlines && class == HD__OTHER && length < n &&
           (s[length] == '\r' || s[length] == '\n')) {
        length++;
    }
    return length;
}

/* Returns true for the digits of Rust's char::is_numeric, which follows Unicode 17 and has more
 * digits than \p{N} of Unicode 16. */
static bool is_digit(uint32_t code)
{
    return hd__chars_class(code) == HD__NUMERAL || (code >= 0x11DE0 && code <= 0x11DE9) ||
           (code >= 0x16FF4 && code <= 0x16FF6);
}

int64_t hd__words_before_digit(const char *s, int64_t n)
{
    uint32_t code;
    for (int64_t at = 0, length; at < n; at += length) {
        length = hd__utf8_next(s + at, n - at, &code);
        if (is_digit(code)) {
            return at ? at : length;
        }
    }
    return n;
}
