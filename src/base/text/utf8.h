/* utf8.h - the characters of texts (utf8.c).
 *
 * The libraries in libs/ may include it (base/sibling.h). */
#ifndef HEED_BASE_UTF8_H
#define HEED_BASE_UTF8_H

#include "base/sibling.h"

/* The length of the first character of s[0 .. n), n > 0, and its code point. For bytes that are not
 * UTF-8 it returns minus the number of bytes that one U+FFFD replaces. It reads the next byte only
 * when the character goes on, so n may be larger than a text that ends with a zero. */
HD__SIBLING int hd__utf8_next(const char *s, int64_t n, uint32_t *code);
/* Writes the character and returns its length. */
int hd__utf8_put(uint32_t code, char s[4]);
/* How many bytes at the start of s are UTF-8: n if all of them are. */
HD__SIBLING size_t hd__utf8_good(const char *s, size_t n);

#endif
