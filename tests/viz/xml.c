/* xml.c - reads the part of XML that SVG files need, and accepts nothing that is not XML. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "suites.h"

enum { DEEP = 16, NAME = 32 };

/* ---------------------------------------------------------------- well-formed? */

static size_t entity(const char *s)
{
    static const char *const known[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&apos;"};
    for (int i = 0; i < 5; i++) {
        if (strncmp(s, known[i], strlen(known[i])) == 0) {
            return strlen(known[i]);
        }
    }
    return 0;
}

/* Reads characters up to one of `end`. They may be escaped, and must be UTF-8 that XML 1.0
 * allows. */
static const char *characters(const char *s, const char *end)
{
    while (*s && !strchr(end, *s)) {
        unsigned char c = (unsigned char)*s;
        size_t n = c == '&' ? entity(s) : c < 0x80 ? 1 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : 4;
        ck_assert_msg(n > 0, "an entity: %.20s", s);
        ck_assert_msg(c >= ' ' || c == '\n' || c == '\t' || c == '\r', "byte %d", c);
        ck_assert_msg(c != '<' && c != '>', "not escaped: %.20s", s);
        for (size_t i = 1; i < n && c >= 0x80; i++) {
            ck_assert_msg((s[i] & 0xC0) == 0x80, "no UTF-8: %.20s", s);
        }
        ck_assert_msg(c < 0x80 || c >= 0xC2, "no UTF-8: %.20s", s);
        s += n;
    }
    return s;
}

static const char *name_at(const char *s, char name[NAME])
{
    size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ:-_0123456789");
    ck_assert_msg(n > 0 && n < NAME && isalpha((unsigned char)*s), "a name: %.20s", s);
    memcpy(name, s, n);
    name[n] = '\0';
    return s + n;
}

/* Reads what follows the tag's name, up to its > or />. */
static const char *attributes(const char *s)
{
    char names[DEEP][NAME];
    int n = 0;
    while (*s == ' ') {
        ck_assert_int_lt(n, DEEP);
        s = name_at(s + 1, names[n]);
        for (int i = 0; i < n; i++) {
            ck_assert_str_ne(names[i], names[n]);
        }
        n++;
        ck_assert_msg(s[0] == '=' && s[1] == '"', "an attribute: %.20s", s);
        s = characters(s + 2, "\"") + 1;
    }
    return s;
}

void check_xml(const char *text)
{
    char open[DEEP][NAME], name[NAME];
    int depth = 0, roots = 0;
    static const char head[] = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
    ck_assert_int_eq(strncmp(text, head, strlen(head)), 0);
    for (const char *s = text + strlen(head); *s;) {
        if (*s != '<') {
            ck_assert_msg(depth > 0 || *s == '\n', "outside: %.20s", s);
            s = characters(s, "<");
        } else if (s[1] == '/') {
            s = name_at(s + 2, name);
            ck_assert_msg(depth > 0 && *s == '>', "an end: %.20s", s);
            ck_assert_str_eq(open[--depth], name);
            s++;
        } else {
            s = attributes(name_at(s + 1, name));
            roots += depth == 0;
            bool empty = *s == '/';
            if (!empty) {
                memcpy(open[depth++], name, NAME);
                ck_assert_int_lt(depth, DEEP);
            }
            s += empty;
            ck_assert_msg(*s == '>', "a tag's end: %.20s", s);
            s++;
        }
    }
    ck_assert_int_eq(depth, 0);
    ck_assert_int_eq(roots, 1);
}

/* ---------------------------------------------------------------- looking around */

const char *element(const char *text, const char *name, int i)
{
    char tag[NAME + 2];
    snprintf(tag, sizeof tag, "<%s ", name);
    const char *at = strstr(text, tag);
    for (; at && i > 0; i--) {
        at = strstr(at + 1, tag);
    }
    return at;
}

int count_elements(const char *text, const char *name)
{
    int n = 0;
    while (element(text, name, n)) {
        n++;
    }
    return n;
}

const char *attribute(const char *tag, const char *name, char out[4096])
{
    char key[NAME + 4];
    snprintf(key, sizeof key, " %s=\"", name);
    const char *end = strchr(tag, '>'), *at = strstr(tag, key);
    out[0] = '\0';
    if (at && at < end) {
        at += strlen(key);
        size_t n = strcspn(at, "\"");
        ck_assert_uint_lt(n, 4096);
        memcpy(out, at, n);
        out[n] = '\0';
    }
    return out;
}

double number_of(const char *tag, const char *name)
{
    char text[4096], *end;
    attribute(tag, name, text);
    double v = strtod(text, &end);
    ck_assert_msg(*text && !*end, "%s=\"%s\"", name, text);
    return v;
}

const char *content(const char *tag, char out[4096])
{
    static const char letters[] = "&<>\"'";
    static const char *const known[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&apos;"};
    size_t n = 0;
    for (const char *s = strchr(tag, '>') + 1; *s != '<'; n++) {
        size_t length = *s == '&' ? entity(s) : 1;
        out[n] = *s;
        for (int i = 0; i < 5 && *s == '&'; i++) {
            out[n] = strncmp(s, known[i], length) == 0 ? letters[i] : out[n];
        }
        ck_assert_uint_lt(n, 4095);
        s += length;
    }
    out[n] = '\0';
    return out;
}

const char *text_element(const char *text, const char *wanted)
{
    char is[4096];
    for (int i = 0; element(text, "text", i); i++) {
        if (strcmp(content(element(text, "text", i), is), wanted) == 0) {
            return element(text, "text", i);
        }
    }
    return NULL;
}
