/* json.c - the strict JSON reader.
 *
 * `state` says what may come next, and `open` has the opening bracket of each object and array that
 * is not complete yet. A string without escapes is returned as it is in the text. Any other string
 * is decoded into a buffer of the same length, which is enough, because every escape is longer than
 * its character. */
#include "base/text/json.h"

#include "base/system/shared.h"
#include "base/text/utf8.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    VALUE,
    FIRST_VALUE, /* after [: a value or ] */
    FIRST_NAME,  /* after {: a name or } */
    AFTER        /* after a value: a comma or the closing bracket; at depth 0 the end */
};

static const char *const memory_ran_out = NULL;

/* Ends the reading with BAD, because the byte at `at` is wrong, and returns BAD. A bool function
 * may return the result, because HD__JSON_BAD is 0. */
static hd__json_kind bad_json(hd__json *j, size_t at, const char *expected)
{
    j->at = at;
    j->expected = expected;
    return j->kind = HD__JSON_BAD;
}

static hd__json_kind event(hd__json *j, hd__json_kind kind, int state)
{
    j->state = state;
    return j->kind = kind;
}

static bool in_object(const hd__json *j)
{
    return j->open[j->depth] == '{';
}

/* Returns the byte at i, or -1 at the end. */
static int byte_at(const hd__json *j, size_t i)
{
    return i < j->n ? (unsigned char)j->text[i] : -1;
}

/* ---------------------------------------------------------------- strings */

static int hex_digit(int c)
{
    return hd__text_is_digit(c)   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* Returns the value of the four hexadecimal digits at i, after \u; -1 if they are not four such
 * digits. */
static int32_t hex4(const hd__json *j, size_t i)
{
    int32_t v = 0;
    for (size_t k = 0; k < 4; k++) {
        int digit = hex_digit(byte_at(j, i + k));
        if (digit < 0) {
            return -1;
        }
        v = v << 4 | digit;
    }
    return v;
}

/* Returns the length of the character at i, and sets *c to its code point. Returns 0 if the bytes
 * there are not UTF-8. */
static size_t character(const hd__json *j, size_t i, uint32_t *c)
{
    int length = hd__utf8_next(j->text + i, (int64_t)(j->n - i), c);
    return length > 0 ? (size_t)length : 0;
}

static bool is_low_surrogate(int32_t c)
{
    return c >= 0xDC00 && c <= 0xDFFF;
}

/* Returns the length of the escape whose backslash is at i, and sets *c to its character. Returns 0
 * if it is not a valid escape. */
static size_t escape(const hd__json *j, size_t i, uint32_t *c)
{
    static const char letters[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    int letter = byte_at(j, i + 1);
    if (letter != 'u') {
        const char *at = letter > 0 ? strchr(letters, letter) : NULL;
        *c = at ? (unsigned char)meant[at - letters] : 0;
        return at ? 2 : 0;
    }
    int32_t high = hex4(j, i + 2), low = -1;
    *c = (uint32_t)high;
    if (high < 0xD800 || high > 0xDFFF) {
        return high < 0 ? 0 : 6;
    }
    if (!is_low_surrogate(high) && byte_at(j, i + 6) == '\\' && byte_at(j, i + 7) == 'u') {
        low = hex4(j, i + 8);
    }
    *c = 0x10000 + ((*c & 0x3FF) << 10) + ((uint32_t)low & 0x3FF);
    return is_low_surrogate(low) ? 12 : 0;
}

/* Finds the closing quote of the string whose opening quote is at j->at, and moves j->next past it.
 * Unless `to` is NULL, decodes the string into it and adds the decoded length to j->len. Sets
 * *escaped if the string has an escape. Returns false with the event BAD if the string is wrong. */
static bool scan_string(hd__json *j, char *to, bool *escaped)
{
    size_t i = j->at + 1, length;
    uint32_t c;
    for (int first; (first = byte_at(j, i)) != '"'; i += length) {
        if (first < 0x20) {
            return bad_json(j, i,
                            first < 0 ? "a closing quote" : "no control character in a string");
        }
        length = first == '\\' ? escape(j, i, &c) : character(j, i, &c);
        if (length == 0) {
            return bad_json(j, i,
                            first == '\\' ? "a JSON escape, with surrogates in pairs" : "UTF-8");
        }
        *escaped |= first == '\\';
        j->len += to ? (size_t)hd__utf8_put(c, to + j->len) : 0;
    }
    j->next = i + 1;
    return true;
}

/* Reads the string at j->at into j->s and j->len, and moves j->next past it. Returns false with the
 * event BAD if the string is wrong or memory runs out. */
static bool string(hd__json *j)
{
    bool escaped = false;
    if (!scan_string(j, NULL, &escaped)) {
        return false;
    }
    size_t bytes = j->next - j->at; /* the string's bytes with both quotes */
    if (!escaped) {
        j->s = j->text + j->at + 1;
        j->len = bytes - 2;
        return true;
    }
    if (!hd__text_grow(&j->decoded, &j->room, (int64_t)bytes, 1)) {
        return bad_json(j, j->at, memory_ran_out);
    }
    j->s = j->decoded;
    return scan_string(j, j->decoded, &escaped);
}

/* ---------------------------------------------------------------- numbers */

bool hd__json_double(const hd__json *j, double *v)
{
    char *copy = hd_alloc(j->len + 1);
    void *before = copy ? hd__sys_locale_enter() : NULL;
    if (before) {
        memcpy(copy, j->s, j->len);
        copy[j->len] = '\0';
        *v = strtod(copy, NULL);
        hd__sys_locale_leave(before);
    } else if (copy) {
        hd_fail(HD_MEMORY, "no memory for a locale");
    }
    hd_free(copy);
    return before;
}

bool hd__json_int(const hd__json *j, int64_t *v)
{
    bool negative = j->s[0] == '-';
    int64_t x = 0;
    for (size_t i = negative; i < j->len; i++) {
        int digit = j->s[i] - '0'; /* x holds minus the value, because -INT64_MIN does not fit */
        if (!hd__text_is_digit(j->s[i]) || __builtin_mul_overflow(x, 10, &x) ||
            __builtin_sub_overflow(x, digit, &x)) {
            return false;
        }
    }
    if (!negative && x == INT64_MIN) {
        return false;
    }
    *v = negative ? x : -x;
    return true;
}

static bool digits(hd__json *j, size_t *i)
{
    if (!hd__text_is_digit(byte_at(j, *i))) {
        return bad_json(j, *i, "a digit");
    }
    while (hd__text_is_digit(byte_at(j, *i))) {
        ++*i;
    }
    return true;
}

/* Returns the event NUMBER for the number in j->s, or BAD if a double cannot hold it or memory runs
 * out. Only a long number, or one with an exponent, can be too large. */
static hd__json_kind number_in_range(hd__json *j, bool exponent)
{
    double v = 0;
    if ((exponent || j->len > 300) && !hd__json_double(j, &v)) {
        return bad_json(j, j->at, memory_ran_out);
    }
    return isinf(v) ? bad_json(j, j->at, "a number that a double can hold")
                    : event(j, HD__JSON_NUMBER, AFTER);
}

static hd__json_kind number(hd__json *j)
{
    size_t i = j->at + (byte_at(j, j->at) == '-');
    bool exponent = false;
    if (byte_at(j, i) == '0') {
        i++; /* a digit after this 0 is refused later, in the state AFTER */
    } else if (!digits(j, &i)) {
        return HD__JSON_BAD;
    }
    if (byte_at(j, i) == '.' && (i++, !digits(j, &i))) {
        return HD__JSON_BAD;
    }
    if (byte_at(j, i) == 'e' || byte_at(j, i) == 'E') {
        exponent = true;
        i++;
        i += byte_at(j, i) == '+' || byte_at(j, i) == '-';
        if (!digits(j, &i)) {
            return HD__JSON_BAD;
        }
    }
    j->s = j->text + j->at;
    j->len = i - j->at;
    j->next = i;
    return number_in_range(j, exponent);
}

/* ---------------------------------------------------------------- structure */

static hd__json_kind open_bracket(hd__json *j, char bracket)
{
    if (j->depth == HD__JSON_DEPTH) {
        return bad_json(j, j->at, "at most 127 levels of nesting");
    }
    j->open[++j->depth] = bracket;
    j->next++;
    return in_object(j) ? event(j, HD__JSON_OBJECT, FIRST_NAME)
                        : event(j, HD__JSON_ARRAY, FIRST_VALUE);
}

static hd__json_kind close_bracket(hd__json *j)
{
    hd__json_kind kind = in_object(j) ? HD__JSON_OBJECT_END : HD__JSON_ARRAY_END;
    j->depth--;
    j->next++;
    return event(j, kind, AFTER);
}

static hd__json_kind json_word(hd__json *j, const char *w, hd__json_kind kind)
{
    size_t length = strlen(w);
    if (j->n - j->at < length || memcmp(j->text + j->at, w, length) != 0) {
        return bad_json(j, j->at, "a value");
    }
    j->next += length;
    return event(j, kind, AFTER);
}

static hd__json_kind value(hd__json *j)
{
    int c = byte_at(j, j->at);
    switch (c) {
    case '{':
    case '[': return open_bracket(j, (char)c);
    case '"': return string(j) ? event(j, HD__JSON_STRING, AFTER) : HD__JSON_BAD;
    case 't': return json_word(j, "true", HD__JSON_TRUE);
    case 'f': return json_word(j, "false", HD__JSON_FALSE);
    case 'n': return json_word(j, "null", HD__JSON_NULL);
    case '-': return number(j);
    default: return hd__text_is_digit(c) ? number(j) : bad_json(j, j->at, "a value");
    }
}

/* Moves j->next past white space, and returns the byte there, or -1 at the end. */
static int skip_space(hd__json *j)
{
    int c;
    while ((c = byte_at(j, j->next)) == ' ' || c == '\t' || c == '\n' || c == '\r') {
        j->next++;
    }
    return c;
}

static hd__json_kind name(hd__json *j)
{
    if (byte_at(j, j->at) != '"') {
        return bad_json(j, j->at, "a name in quotes");
    }
    if (!string(j)) {
        return HD__JSON_BAD;
    }
    if (skip_space(j) != ':') {
        return bad_json(j, j->next, "':'");
    }
    j->next++;
    return event(j, HD__JSON_NAME, VALUE);
}

/* Reads c, the byte after a value in brackets: the closing bracket, or a comma and what follows it.
 * Returns the event. */
static hd__json_kind json_after(hd__json *j, int c)
{
    bool object = in_object(j);
    if (c == (object ? '}' : ']')) {
        return close_bracket(j);
    }
    if (c != ',') {
        return bad_json(j, j->at, object ? "',' or '}'" : "',' or ']'");
    }
    j->next++;
    skip_space(j);
    j->at = j->next;
    return object ? name(j) : value(j);
}

void hd__json_init(hd__json *j, const char *text, size_t n)
{
    *j = (hd__json){.kind = HD__JSON_END, .text = text, .n = n, .state = VALUE};
}

hd__json_kind hd__json_next(hd__json *j)
{
    if (j->kind == HD__JSON_BAD) {
        return HD__JSON_BAD;
    }
    j->s = NULL;
    j->len = 0;
    int c = skip_space(j);
    j->at = j->next;
    switch (j->state) {
    case FIRST_VALUE: return c == ']' ? close_bracket(j) : value(j);
    case FIRST_NAME: return c == '}' ? close_bracket(j) : name(j);
    case VALUE: return value(j);
    default: break;
    }
    return j->depth > 0 ? json_after(j, c)
           : c < 0      ? event(j, HD__JSON_END, AFTER)
                        : bad_json(j, j->at, "the end");
}

void hd__json_free(hd__json *j)
{
    hd_free(j->decoded);
}

/* ---------------------------------------------------------------- messages */

static const char *const kind_names[] = {
    "nothing",   "the end",
    "an object", "the end of an object",
    "an array",  "the end of an array",
    "a name",    "a string",
    "a number",  "true",
    "false",     "null",
};

const char *hd__json_kind_name(hd__json_kind kind)
{
    return kind_names[kind];
}

void *hd__json_fail(const hd__json *j, const char *where, const char *expected)
{
    char shown[16];
    const char *found = hd__json_kind_name(j->kind);
    if (j->kind == HD__JSON_BAD && !j->expected) {
        return NULL; /* HD_MEMORY is set already */
    }
    if (j->kind == HD__JSON_BAD) {
        int c = byte_at(j, j->at);
        snprintf(shown, sizeof shown, c > ' ' && c < 0x7F ? "'%c'" : "byte 0x%02x", c);
        found = c < 0 ? hd__json_kind_name(HD__JSON_END) : shown;
        expected = j->expected;
    }
    long long line = 1, column = 1;
    for (size_t i = 0; i < j->at; i++) {
        bool end = j->text[i] == '\n';
        line += end;
        column = end ? 1 : column + 1;
    }
    return hd_fail(HD_FORMAT, "%s: line %lld, column %lld: found %s: expected %s", where, line,
                   column, found, expected);
}
