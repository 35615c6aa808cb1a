/* template_lex.c - cuts a template into tokens. It drops this white space, as transformers'
 * environment does (trim_blocks and lstrip_blocks): the line break after a statement or a comment,
 * the blanks before a statement or a comment that begins a line, and all white space at a tag's
 * side that has a "-". */
#include "hf/template.h"

typedef struct lexer {
    hd__template_run *r;
    const char *text;
    size_t n, at; /* the length of text, and the offset where the next token begins */
    char closes;  /* '}' inside of {{ }}, '%' inside of {% %}, 0 outside of tags */
    int brackets; /* the number of brackets that are open in the tag */
    hd__template_token *tokens;
    int64_t count, room;
} lexer;

/* Returns the byte at offset `at`, or 0 after the end. */
static char lex_byte(const lexer *l, size_t at)
{
    return at < l->n ? l->text[at] : '\0';
}

/* Adds a token that begins at l->at and ends before offset `end`, and sets l->at to `end`.
 * If memory runs out, sets l->r->failed, with an error, and changes nothing else. */
static void lex_put(lexer *l, hd__template_token_kind kind, hd__template_value v, size_t end)
{
    if (!hd__text_grow(&l->tokens, &l->room, l->count + 1, sizeof *l->tokens)) {
        l->r->failed = true;
        return;
    }
    l->tokens[l->count++] = (hd__template_token){kind, v, l->at, end};
    l->at = end;
}

/* Adds a token whose value is the text from l->at to `end`. See lex_put. */
static void lex_put_text(lexer *l, hd__template_token_kind kind, size_t end)
{
    lex_put(l, kind, HD__TEXT(l->text + l->at, end - l->at), end);
}

static void lex_fail(lexer *l, const char *expected)
{
    size_t rest = l->n - l->at;
    const hd__template_token here = {
        .at = l->at, .end = l->at + hd__utf8_good(l->text + l->at, rest > 20 ? 20 : rest)};
    l->r->first = l->r->t = &here;
    hd__template_fail_at(l->r, HD_FORMAT, "expected %s", expected);
    l->r->first = l->r->t = NULL;
}

/* ---------------------------------------------------------------- outside of tags */

/* Returns the offset of the next tag or comment, or of the end of the text. */
static size_t lex_tag(const lexer *l)
{
    size_t at = l->at;
    while (at < l->n &&
           !(l->text[at] == '{' && at + 1 < l->n && memchr("{%#", l->text[at + 1], 3))) {
        at++;
    }
    return at;
}

/* Returns the offset of the end of the text before the tag at offset `tag`, without the white space
 * that the tag drops. */
static size_t lex_text_end(const lexer *l, size_t tag)
{
    char sign = lex_byte(l, tag + 2);
    size_t line = tag;
    if (sign == '-') {
        return l->at + hd__template_strip_right(l->text + l->at, tag - l->at, NULL);
    }
    while (line > l->at && l->text[line - 1] != '\n') {
        line--;
    }
    bool begins = line == 0 || l->text[line - 1] == '\n';
    bool blank = hd__template_strip_left(l->text + line, tag - line, NULL) == tag - line;
    return tag < l->n && sign != '+' && l->text[tag + 1] != '{' && begins && blank ? line : tag;
}

/* Returns the offset after the white space that is dropped behind a tag or a comment. `end` is the
 * offset after the tag. `sign` is '-' or '+' if the tag ends in this sign, and any other byte
 * otherwise. `output` is true for {{ }}. */
static size_t lex_after(const lexer *l, size_t end, char sign, bool output)
{
    return sign == '-' ? end + hd__template_strip_left(l->text + end, l->n - end, NULL)
                       : end + (!output && sign != '+' && lex_byte(l, end) == '\n');
}

static void lex_comment(lexer *l)
{
    char sign = lex_byte(l, l->at + 2);
    size_t begin = l->at + 2 + (sign == '-' || sign == '+'), end = begin;
    while (end + 1 < l->n && memcmp(l->text + end, "#}", 2) != 0) {
        end++;
    }
    if (end + 1 < l->n) {
        l->at = lex_after(l, end + 2, end > begin ? l->text[end - 1] : '\0', false);
    } else {
        lex_fail(l, "#} at the end of the comment");
    }
}

static void lex_outside(lexer *l)
{
    size_t tag = lex_tag(l), end = lex_text_end(l, tag);
    char kind = lex_byte(l, tag + 1), sign = lex_byte(l, tag + 2);
    if (end > l->at) {
        lex_put_text(l, HD__TOKEN_TEXT, end);
    }
    l->at = tag;
    if (kind == '#') {
        lex_comment(l);
    } else if (tag < l->n) {
        l->closes = kind == '{' ? '}' : '%';
        lex_put_text(l, kind == '{' ? HD__TOKEN_OUTPUT : HD__TOKEN_STATEMENT,
                     tag + 2 + (sign == '-' || sign == '+'));
    }
}

/* ---------------------------------------------------------------- in tags */

/* If the tag ends at l->at, adds the token of its end, goes past it and returns true. Otherwise
 * returns false. */
static bool lex_close(lexer *l)
{
    char sign = lex_byte(l, l->at);
    size_t at = l->at + (sign == '-' || (sign == '+' && l->closes == '%'));
    if (l->brackets || lex_byte(l, at) != l->closes || lex_byte(l, at + 1) != '}') {
        return false;
    }
    lex_put_text(l, HD__TOKEN_CLOSE, at + 2);
    l->at = lex_after(l, l->at, sign, l->closes == '}');
    l->closes = '\0';
    return true;
}

/* Returns the offset after the letters, digits and _ that begin at l->at. */
static size_t lex_word_end(const lexer *l)
{
    size_t at = l->at;
    for (char c = lex_byte(l, at);
         c == '_' || hd__text_is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');) {
        c = lex_byte(l, ++at);
    }
    return at;
}

static void lex_number(lexer *l)
{
    hd__template_value v = HD__OF(HD__TEMPLATE_INT, 0);
    size_t at = l->at;
    bool whole = true;
    for (char c = lex_byte(l, at); hd__text_is_digit(c); c = lex_byte(l, ++at)) {
        whole = whole && !__builtin_mul_overflow(v.n, 10, &v.n) &&
                !__builtin_add_overflow(v.n, c - '0', &v.n);
    }
    if (whole && !(lex_byte(l, at) == '.' && hd__text_is_digit(lex_byte(l, at + 1)))) {
        lex_put(l, HD__TOKEN_CONSTANT, v, at);
    } else {
        lex_fail(l, "a whole number of 64 bits");
    }
}

/* Adds the string that begins at l->at. Fails if it has an escape of several characters, such as
 * \x41, or no end. */
static void lex_string(lexer *l)
{
    static const char letters[] = "\n\\'\"abfnrtv", means[] = "\n\\'\"\a\b\f\n\r\t\v";
    size_t at = l->at + 1, n = 0;
    char *to = hd__template_take(l->r, l->n - l->at);
    for (; to && at < l->n && l->text[at] != l->text[l->at]; at++) {
        char c = l->text[at];
        const char *letter =
            c == '\\' ? memchr(letters, lex_byte(l, ++at), sizeof letters - 1) : NULL;
        if (c == '\\' && !letter) {
            lex_fail(l, "one of the escapes \\n \\t \\\\ \\' \\\" \\r \\a \\b \\f \\v");
            return;
        }
        to[n] = letter ? means[letter - letters] : c;
        n += !letter || *letter != '\n';
    }
    if (at < l->n) {
        lex_put(l, HD__TOKEN_CONSTANT, HD__TEXT(to, n), at + 1);
    } else if (to) {
        lex_fail(l, "a quote at the end of the string");
    }
}

/* Adds the sign that begins at l->at. Takes any other character for a sign, too: hd__template_walk
 * fails there. */
static void lex_sign(lexer *l)
{
    static const char *const twice[] = {"==", "!=", "<=", ">="};
    const char *s = l->text + l->at;
    uint32_t code;
    size_t end = l->at + (size_t)hd__utf8_next(s, (int64_t)(l->n - l->at), &code);
    for (size_t i = 0; i < sizeof twice / sizeof twice[0]; i++) {
        end += l->at + 1 < l->n && memcmp(s, twice[i], 2) == 0;
    }
    l->brackets += *s == '(' || *s == '[' || *s == '{';
    l->brackets -= l->brackets > 0 && (*s == ')' || *s == ']' || *s == '}');
    lex_put_text(l, HD__TOKEN_SIGN, end);
}

static void lex_inside(lexer *l)
{
    l->at += hd__template_strip_left(l->text + l->at, l->n - l->at, NULL);
    char c = lex_byte(l, l->at);
    if (l->at == l->n) {
        lex_fail(l, l->closes == '}' ? "}}" : "%}");
    } else if (lex_close(l)) {
        return;
    } else if (hd__text_is_digit(c)) {
        lex_number(l);
    } else if (c == '"' || c == '\'') {
        lex_string(l);
    } else if (lex_word_end(l) > l->at) {
        lex_put_text(l, HD__TOKEN_NAME, lex_word_end(l));
    } else {
        lex_sign(l);
    }
}

const hd__template_token *hd__template_tokens(hd__template_run *r)
{
    lexer l = {.r = r, .text = r->text, .n = r->n};
    while (!r->failed && (l.at < l.n || l.closes)) {
        if (l.closes) {
            lex_inside(&l);
        } else {
            lex_outside(&l);
        }
    }
    lex_put(&l, HD__TOKEN_END, HD__NOTHING, l.at);
    if (r->failed) {
        hd_free(l.tokens);
    }
    return r->failed ? NULL : l.tokens;
}
