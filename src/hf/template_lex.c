/* template_lex.c - cuts a template into tokens, with the white space that transformers' environment
 * drops (trim_blocks and lstrip_blocks): the line break after a statement or a comment, the blanks
 * before one that begins a line, and all white space at a tag's side that has a "-". */
#include "hf/template_lex.h"
#include "base/text/json.h"

void hd__lex_fail(hd__lexer *l, const char *expected)
{
    hd__node here = {.at = l->at, .end = l->end};
    l->r->node = &here;
    hd__template_fail(l->r, HD_FORMAT, "expected %s", expected);
    l->r->node = NULL;
    l->token = HD__TOKEN_END;
}

bool hd__lex_is(const hd__lexer *l, const char *text)
{
    return (l->token == HD__TOKEN_NAME || l->token == HD__TOKEN_SIGN) && hd__is_text(l->value, text);
}

/* The byte at a place, or 0 after the end */
static char lex_byte(const hd__lexer *l, size_t at)
{
    return at < l->n ? l->text[at] : '\0';
}

/* ---------------------------------------------------------------- outside of tags */

/* Where the next tag or comment begins, or the text ends */
static size_t lex_tag_at(const hd__lexer *l, size_t at)
{
    while (at < l->n && !(l->text[at] == '{' && at + 1 < l->n && memchr("{%#", l->text[at + 1], 3))) {
        at++;
    }
    return at;
}

/* The end of the text from `at` to a tag, without the white space that the tag drops */
static size_t lex_text_end(const hd__lexer *l, size_t at, size_t tag)
{
    char sign = lex_byte(l, tag + 2);
    if (tag == l->n || sign == '+' || (sign != '-' && l->text[tag + 1] == '{')) {
        return tag;
    }
    if (sign == '-') {
        return at + hd__strip_right(l->text + at, tag - at, NULL);
    }
    size_t line = tag;
    while (line > at && l->text[line - 1] != '\n') {
        line--;
    }
    bool begins = line == 0 || l->text[line - 1] == '\n';
    size_t blanks = hd__strip_left(l->text + line, tag - line, NULL);
    return begins && blanks == tag - line ? line : tag;
}

/* After a tag or comment, whose last byte before its end is `sign` */
static void lex_after_tag(hd__lexer *l, char sign, bool output)
{
    if (sign == '-') {
        l->end += hd__strip_left(l->text + l->end, l->n - l->end, NULL);
    } else if (!output && sign != '+' && lex_byte(l, l->end) == '\n') {
        l->end++;
    }
}

static void lex_comment(hd__lexer *l)
{
    size_t begin = l->at + 2, at = begin;
    begin += lex_byte(l, begin) == '-' || lex_byte(l, begin) == '+';
    for (at = begin; at + 1 < l->n && memcmp(l->text + at, "#}", 2) != 0;) {
        at++;
    }
    if (at + 1 >= l->n) {
        l->end = l->n;
        hd__lex_fail(l, "#} at the end of the comment");
        return;
    }
    l->end = at + 2;
    lex_after_tag(l, at > begin ? l->text[at - 1] : '\0', false);
}

/* Is the current token one, and no comment? */
static bool lex_outside(hd__lexer *l)
{
    size_t tag = lex_tag_at(l, l->at), end = lex_text_end(l, l->at, tag);
    l->end = tag;
    if (end > l->at) {
        l->token = HD__TOKEN_TEXT;
        l->value = HD__TEXT(l->text + l->at, end - l->at);
        return true;
    }
    l->at = tag;
    if (lex_byte(l, tag + 1) == '#') {
        lex_comment(l);
        return l->r->failed;
    }
    l->token = HD__TOKEN_END;
    if (tag < l->n) {
        char sign = lex_byte(l, tag + 2);
        l->closes = l->text[tag + 1] == '{' ? '}' : '%';
        l->token = l->closes == '}' ? HD__TOKEN_OUTPUT : HD__TOKEN_STATEMENT;
        l->end = tag + 2 + (sign == '-' || sign == '+');
    }
    return true;
}

/* ---------------------------------------------------------------- in tags */

/* Does the tag end here? */
static bool lex_close(hd__lexer *l)
{
    char sign = lex_byte(l, l->at);
    size_t at = l->at + (sign == '-' || (sign == '+' && l->closes == '%'));
    if (l->brackets || lex_byte(l, at) != l->closes || lex_byte(l, at + 1) != '}') {
        return false;
    }
    l->token = HD__TOKEN_CLOSE;
    l->end = at + 2;
    lex_after_tag(l, sign, l->closes == '}');
    l->closes = '\0';
    return true;
}

static bool lex_is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static size_t lex_digits(const hd__lexer *l, size_t at)
{
    while (hd__is_digit(lex_byte(l, at))) {
        at++;
    }
    return at;
}

/* 7, 7.5, 7e5: JSON's reader takes the text of such a number, too. */
static void lex_number(hd__lexer *l)
{
    l->end = lex_digits(l, l->at);
    if (lex_byte(l, l->end) == '.' && hd__is_digit(lex_byte(l, l->end + 1))) {
        l->end = lex_digits(l, l->end + 1);
    }
    char e = lex_byte(l, l->end), sign = lex_byte(l, l->end + 1);
    size_t digits = l->end + 1 + (sign == '-' || sign == '+');
    if ((e == 'e' || e == 'E') && hd__is_digit(lex_byte(l, digits))) {
        l->end = lex_digits(l, digits);
    }
    l->token = HD__TOKEN_CONSTANT;
    l->value = hd__value_of_json(l->r, NULL, l->text + l->at, l->end - l->at);
}

/* \x41, \u00e4, \U0001f600: the character, from its digits; after them lies *at. */
static bool lex_code(hd__lexer *l, size_t *at, int digits, uint32_t *code)
{
    for (*code = 0; digits > 0; digits--, ++*at) {
        static const char hex[] = "0123456789abcdef0123456789ABCDEF";
        const char *c = *at < l->end ? memchr(hex, l->text[*at], sizeof hex - 1) : NULL;
        if (!c) {
            return false;
        }
        *code = *code * 16 + (uint32_t)((c - hex) % 16);
    }
    return *code < 0xd800 || (*code > 0xdfff && *code <= 0x10ffff);
}

/* The text between the quotes, in which Python's escapes stand */
static void lex_unescape(hd__lexer *l, char *to)
{
    static const char letters[] = "\n\\'\"abfnrtv", means[] = "\0\\'\"\a\b\f\n\r\t\v";
    size_t at = l->at + 1, n = 0;
    while (at < l->end - 1) {
        char c = l->text[at++], after = l->text[at];
        const char *letter = c == '\\' ? memchr(letters, after, sizeof letters - 1) : NULL;
        int digits = c != '\\' ? 0 : after == 'x' ? 2 : after == 'u' ? 4 : after == 'U' ? 8 : 0;
        uint32_t code;
        if (letter) {
            to[n] = means[letter - letters];
            n += after != '\n';
            at++;
        } else if (digits && (at++, lex_code(l, &at, digits, &code))) {
            n += (size_t)hd__utf8_put(code, to + n);
        } else if (digits || (c == '\\' && (after == 'N' || hd__is_digit(after)))) {
            hd__lex_fail(l, "one of the escapes \\n, \\t, \\\\, \\', \\\", \\xhh, \\uhhhh and others "
                            "of one letter");
            return;
        } else {
            to[n++] = c;
        }
    }
    l->value = HD__TEXT(to, n);
}

static void lex_string(hd__lexer *l)
{
    char quote = l->text[l->at];
    for (l->end = l->at + 1; l->end < l->n && l->text[l->end] != quote; l->end++) {
        l->end += l->text[l->end] == '\\';
    }
    if (l->end >= l->n) {
        l->end = l->n;
        hd__lex_fail(l, "a quote at the end of the string");
        return;
    }
    l->end++;
    l->token = HD__TOKEN_CONSTANT;
    char *to = hd__take(l->r, l->end - l->at);
    if (to) {
        lex_unescape(l, to);
    }
}

static void lex_sign(hd__lexer *l)
{
    static const char *const twice[] = {"==", "!=", "<=", ">=", "//", "**"};
    l->end = l->at + 1;
    for (size_t i = 0; i < sizeof twice / sizeof twice[0]; i++) {
        l->end += l->n - l->at > 1 && memcmp(l->text + l->at, twice[i], 2) == 0;
    }
    l->token = HD__TOKEN_SIGN;
    l->value = HD__TEXT(l->text + l->at, l->end - l->at);
    char c = l->text[l->at];
    l->brackets += c == '(' || c == '[' || c == '{';
    l->brackets -= l->brackets > 0 && (c == ')' || c == ']' || c == '}');
}

static void lex_inside(hd__lexer *l)
{
    l->at += hd__strip_left(l->text + l->at, l->n - l->at, NULL);
    l->end = l->at;
    char c = lex_byte(l, l->at);
    if (l->at == l->n) {
        hd__lex_fail(l, l->closes == '}' ? "}}" : "%}");
    } else if (lex_close(l)) {
        return;
    } else if (lex_is_letter(c)) {
        while (lex_is_letter(lex_byte(l, l->end)) || hd__is_digit(lex_byte(l, l->end))) {
            l->end++;
        }
        l->token = HD__TOKEN_NAME;
        l->value = HD__TEXT(l->text + l->at, l->end - l->at);
    } else if (hd__is_digit(c)) {
        lex_number(l);
    } else if (c == '"' || c == '\'') {
        lex_string(l);
    } else {
        lex_sign(l);
    }
}

void hd__lex(hd__lexer *l)
{
    l->last = l->end;
    l->at = l->end;
    if (l->r->failed) {
        l->token = HD__TOKEN_END;
    } else if (l->closes) {
        lex_inside(l);
    } else {
        while (!lex_outside(l)) {
            l->at = l->end;
        }
    }
}
