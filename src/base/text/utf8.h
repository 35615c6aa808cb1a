/* utf8.h - reads and writes the characters of UTF-8 texts (utf8.c).
 *
 * The libraries in libs/ may include this header (base/sibling.h). */
#ifndef HEED_BASE_UTF8_H
#define HEED_BASE_UTF8_H

#include "base/sibling.h"

/* Returns the length of the first character of s[0 .. n), n > 0, and sets *code to its code point.
 * If these bytes are not UTF-8, it returns minus the number of bytes that one U+FFFD replaces, and
 * leaves *code as it is. It never reads beyond a zero byte, so n may be larger than the length of a
 * text that ends in a zero byte. */
HD__SIBLING int hd__utf8_next(const char *s, int64_t n, uint32_t *code);
/* Writes the character `code` to s, and returns its length. */
int hd__utf8_put(uint32_t code, char s[4]);
/* Returns the number of bytes at the start of s that are valid UTF-8: n if all are. */
HD__SIBLING size_t hd__utf8_good(const char *s, size_t n);

#endif
