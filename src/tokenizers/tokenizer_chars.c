/* tokenizer_chars.c - the tokenizer of characters. Its tokens are the code points that occur in a
 * text, in ascending order, as in Python's sorted(set(text)). */
#include <inttypes.h>

#include "base/memory/alloc.h"
#include "tensor/dict.h"
#include "tokenizers/chars.h"
#include "tokenizers/tokenizer.h"

/* Returns the id of a token, or -1, without an error, if there is none. Uses binary search, and
 * compares bytes: in UTF-8, bytes sort like code points, and the bytes of a character never begin
 * with those of another one. */
static int64_t chars_find(const hd_tokenizer *t, const char *token, int64_t n)
{
    int64_t low = 0, high = t->size;
    while (low < high) {
        int64_t middle = low + (high - low) / 2, m;
        const char *c = hd__tokenizer_token(t, middle, &m);
        int order = memcmp(token, c, (size_t)(n < m ? n : m));
        if (order == 0) {
            return n == m ? middle : -1;
        }
        if (order < 0) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return -1;
}

static bool chars_encode(const hd_tokenizer *t, const char *text, int64_t n,
                         const hd_encode_options *o, hd__tokenizer_ids *ids)
{
    (void)o;
    if (!hd__chars_utf8_check(text, n)) {
        return false;
    }
    uint32_t code;
    for (int64_t i = 0, count = 0; i < n; count++) {
        int length = hd__utf8_next(text + i, n - i, &code);
        int64_t id = chars_find(t, text + i, length);
        if (id < 0) {
            return hd_fail(HD_VALUE,
                           "'%.*s' (U+%04X) at character %" PRId64 ", byte %" PRId64
                           ": expected one of the %" PRId64 " characters of the vocabulary",
                           length, text + i, (unsigned)code, count, i, t->size);
        }
        hd__tokenizer_ids_add(ids, id);
        i += length;
    }
    return true;
}

/* ---------------------------------------------------------------- making */

/* Returns the largest code point of the text, or 0 if the text is empty. */
static uint32_t largest_character(const char *text, int64_t n)
{
    uint32_t largest = 0, code = 0;
    for (int64_t i = 0; i < n;) {
        i += hd__utf8_next(text + i, n - i, &code);
        largest = code > largest ? code : largest;
    }
    return largest;
}

/* Sets seen[code] to 1 for each code point of the text that is not marked yet, and adds their
 * number to *size. Returns the number of bytes that these code points have in UTF-8. Returns -1
 * with an error if the text contains U+0000. */
static int64_t mark_characters(const char *text, int64_t n, unsigned char *seen, int64_t *size)
{
    int64_t bytes = 0, count = 0;
    uint32_t code = 0;
    for (int64_t i = 0; i < n; count++) {
        int length = hd__utf8_next(text + i, n - i, &code);
        if (code == 0) {
            hd_fail(HD_VALUE,
                    "U+0000 at character %" PRId64 ", byte %" PRId64 ": expected a text without it",
                    count, i);
            return -1;
        }
        if (!seen[code]) {
            seen[code] = 1;
            bytes += length;
            ++*size;
        }
        i += length;
    }
    return bytes;
}

static void list_marked(hd_tokenizer *t, const unsigned char *seen)
{
    int64_t at = 0;
    for (uint32_t code = 0, id = 0; id < t->size; code++) {
        if (seen[code]) {
            at += hd__utf8_put(code, t->bytes + at);
            t->starts[++id] = at;
        }
    }
}

static hd_tokenizer *from_text(const char *text, int64_t n)
{
    n = n < 0 ? (int64_t)strlen(text) : n;
    if (!hd__chars_utf8_check(text, n)) {
        return NULL;
    }
    unsigned char *seen = hd__mem_alloc_zeroed(largest_character(text, n) + 1);
    int64_t size = 0, bytes = seen ? mark_characters(text, n, seen, &size) : -1;
    hd_tokenizer *t =
        bytes < 0 ? NULL : hd__tokenizer_new(&hd__tokenizer_char_type, sizeof *t, size, bytes + 1);
    if (t) {
        list_marked(t, seen);
        t->bytes[bytes] = '\0'; /* so that chars_save can save all bytes as one string */
    }
    hd_free(seen);
    return t;
}

hd_tokenizer *hd_tokenizer_chars(const char *text, int64_t n)
{
    HD__CALL("hd_tokenizer_chars");
    return hd__arg_given("text", text) ? from_text(text, n) : NULL;
}

/* ---------------------------------------------------------------- dictionaries */

static bool chars_save(const hd_tokenizer *t, hd_dict *d, const char *prefix)
{
    return hd_dict_set_string(d, hd__dict_field(prefix, "chars"), t->bytes);
}

static hd_tokenizer *chars_load(const hd_dict *d, const char *prefix)
{
    const char *chars = hd_dict_get_string(d, hd__dict_field(prefix, "chars"));
    return chars ? from_text(chars, -1) : NULL;
}

const hd__tokenizer_type hd__tokenizer_char_type = {"char",     chars_encode, chars_find,
                                                    chars_save, chars_load,   NULL};
