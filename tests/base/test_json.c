/* test_json.c - tests of the JSON reader: events, texts, numbers, and the place and message of each
 * refusal. */
#include "suites.h"
#include "base/error/call.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/json.h"
#include "base/text/utf8.h"

/* The events of a text on one line, with an error at its end if there is one. The caller frees
 * it. */
static char *events_of(const char *text, size_t n)
{
    static const char *const marks[] = {"", "", "{", "}", "[", "]", "N:", "S:", "#", "T", "F", "0"};
    char *line = calloc(1, 8 * n + 100), *at = line;
    char *exact = malloc(n ? n : 1); /* so that a sanitizer sees a read beyond the end */
    memcpy(exact, text, n);
    hd__json j;
    hd__json_init(&j, exact, n);
    while (hd__json_next(&j) > HD__JSON_END) {
        at += sprintf(at, "%s%s%.*s", at == line ? "" : " ", marks[j.kind], (int)j.len,
                      j.s ? j.s : "");
    }
    if (j.kind == HD__JSON_BAD) {
        ck_assert_int_eq(hd__json_next(&j), HD__JSON_BAD);
        HD__CALL("f");
        hd__json_fail(&j, "'x'", NULL);
        sprintf(at, "%s!%s", at == line ? "" : " ", hd_error_message());
        hd_error_clear();
    } else {
        ck_assert_int_eq(hd__json_next(&j), HD__JSON_END);
        ck_assert_int_eq(j.depth, 0);
    }
    hd__json_free(&j);
    free(exact);
    return line;
}

static void check_events(const char *text, size_t n, const char *want)
{
    char *line = events_of(text, n);
    ck_assert_str_eq(line, want);
    free(line);
}

#define EVENTS(text, want) check_events((text), sizeof(text) - 1, (want))
/* refused at this column of line 1 */
#define REFUSED(text, before, column, found, expected)                                             \
    EVENTS(text, before "!f: 'x': line 1, column " #column ": found " found ": "                   \
                        "expected " expected)

START_TEST(events)
{
    EVENTS("{}", "{ }");
    EVENTS("[]", "[ ]");
    EVENTS(" \t\r\n null \n", "0");
    EVENTS("[1,-2.5e+3,\"a\",true,false,null,{\"k\":[[]],\"l\":{}}]",
           "[ #1 #-2.5e+3 S:a T F 0 { N:k [ [ ] ] N:l { } } ]");
    EVENTS("{\"a\":1,\"a\":2}", "{ N:a #1 N:a #2 }"); /* twice: the caller must notice */
    EVENTS("\"\"", "S:");
    EVENTS("0", "#0");
    EVENTS("-0", "#-0");
    EVENTS("1e-999", "#1e-999"); /* rounds to 0 */
}
END_TEST

START_TEST(escapes)
{
    EVENTS("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "S:\"\\/\b\f\n\r\t");
    EVENTS("\"\\u0041\\u00e9\\u20AC\\ud83d\\uDE00x\"", "S:A\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80x");
    EVENTS("\"\\uffff\\ud7ff\\ue000\\udbff\\udfff\"",
           "S:\xef\xbf\xbf\xed\x9f\xbf\xee\x80\x80\xf4\x8f\xbf\xbf");
    EVENTS("{\"\\u006b\":1}", "{ N:k #1 }");
    hd__json j;
    hd__json_init(&j, "\"a\\u0000b\"", 10);
    ck_assert_int_eq(hd__json_next(&j), HD__JSON_STRING);
    ck_assert_uint_eq(j.len, 3);
    ck_assert_mem_eq(j.s, "a\0b", 3);
    hd__json_free(&j);
}
END_TEST

START_TEST(refused_texts)
{
    REFUSED("", "", 1, "the end", "a value");
    REFUSED(" ", "", 2, "the end", "a value");
    REFUSED("{", "{ ", 2, "the end", "a name in quotes");
    REFUSED("[", "[ ", 2, "the end", "a value");
    REFUSED("[1", "[ #1 ", 3, "the end", "',' or ']'");
    REFUSED("[1,]", "[ #1 ", 4, "']'", "a value");
    REFUSED("[,1]", "[ ", 2, "','", "a value");
    REFUSED("[1 2]", "[ #1 ", 4, "'2'", "',' or ']'");
    REFUSED("[1}", "[ #1 ", 3, "'}'", "',' or ']'");
    REFUSED("{\"a\":1]", "{ N:a #1 ", 7, "']'", "',' or '}'");
    REFUSED("{\"a\":1,}", "{ N:a #1 ", 8, "'}'", "a name in quotes");
    REFUSED("{\"a\" 1}", "{ ", 6, "'1'", "':'");
    REFUSED("{\"a\":}", "{ N:a ", 6, "'}'", "a value");
    REFUSED("{a:1}", "{ ", 2, "'a'", "a name in quotes");
    REFUSED("{1:1}", "{ ", 2, "'1'", "a name in quotes");
    REFUSED("]", "", 1, "']'", "a value");
    REFUSED("1 2", "#1 ", 3, "'2'", "the end");
    REFUSED("{}x", "{ } ", 3, "'x'", "the end");
    REFUSED("{}\0", "{ } ", 3, "byte 0x00", "the end");
    REFUSED("nul", "", 1, "'n'", "a value");
    REFUSED("True", "", 1, "'T'", "a value");
    REFUSED("NaN", "", 1, "'N'", "a value");
    REFUSED("Infinity", "", 1, "'I'", "a value");
    REFUSED("truee", "T ", 5, "'e'", "the end");
    REFUSED("'a'", "", 1, "'''", "a value");
    REFUSED("// a\n1", "", 1, "'/'", "a value");
    REFUSED("\xEF\xBB\xBF{}", "", 1, "byte 0xef", "a value");
    REFUSED("\v1", "", 1, "byte 0x0b", "a value");
    EVENTS("{\n \"a\": 1,\n  x}",
           "{ N:a #1 !f: 'x': line 3, column 3: found 'x': expected a name in "
           "quotes");
}
END_TEST

START_TEST(refused_strings)
{
    REFUSED("\"", "", 2, "the end", "a closing quote");
    REFUSED("\"a", "", 3, "the end", "a closing quote");
    REFUSED("\"a\nb\"", "", 3, "byte 0x0a", "no control character in a string");
    REFUSED("\"a\0b\"", "", 3, "byte 0x00", "no control character in a string");
#define ESCAPE "a JSON escape, with surrogates in pairs"
    REFUSED("\"\\", "", 2, "'\\'", ESCAPE);
    REFUSED("\"\\a\"", "", 2, "'\\'", ESCAPE);
    REFUSED("\"\\u12\"", "", 2, "'\\'", ESCAPE);
    REFUSED("\"\\u12g4\"", "", 2, "'\\'", ESCAPE);
    REFUSED("\"\\u\"", "", 2, "'\\'", ESCAPE);
    REFUSED("\"x\\ud800\"", "", 3, "'\\'", ESCAPE);
    REFUSED("\"\\udc00\"", "", 2, "'\\'", ESCAPE);
    REFUSED("\"\\udfff\"", "", 2, "'\\'", ESCAPE);
    REFUSED("\"\\udbff\"", "", 2, "'\\'", ESCAPE);
    REFUSED("\"\\ud800\\ud800\"", "", 2, "'\\'", ESCAPE);
    REFUSED("\"\\ud800\\u0041\"", "", 2, "'\\'", ESCAPE);
    REFUSED("\"\\udc00\\ud800\"", "", 2, "'\\'", ESCAPE);
    REFUSED("\"\\ud800 \\udc00\"", "", 2, "'\\'", ESCAPE);
    REFUSED("\"\\ud800\\udc0\"", "", 2, "'\\'", ESCAPE);
    REFUSED("\"\\\0\"", "", 2, "'\\'", ESCAPE);
}
END_TEST

/* The first and the last of each range in Unicode's table 3-7, and their neighbours. */
START_TEST(utf8)
{
    static const char *const good[] = {
        "\x7f",
        "\xc2\x80",
        "\xdf\xbf",
        "\xe0\xa0\x80",
        "\xe0\xbf\xbf",
        "\xe1\x80\x80",
        "\xec\xbf\xbf",
        "\xed\x80\x80",
        "\xed\x9f\xbf",
        "\xee\x80\x80",
        "\xef\xbf\xbf",
        "\xf0\x90\x80\x80",
        "\xf1\x80\x80\x80",
        "\xf3\xbf\xbf\xbf",
        "\xf4\x8f\xbf\xbf",
    };
    static const char *const bad[] = {
        "\x80",
        "\xbf",
        "\xc0\x80",
        "\xc1\xbf",
        "\xc2",
        "\xc2\x7f",
        "\xc2\xc0",
        "\xe0\x9f\xbf",
        "\xe0\xa0",
        "\xed\xa0\x80",
        "\xed\xbf\xbf",
        "\xf0\x8f\xbf\xbf",
        "\xf4\x90\x80\x80",
        "\xf5\x80\x80\x80",
        "\xf0\x90\x80",
        "\xff",
        "\xfe",
        "\xe1\x80\xc0",
        "\xf1\x80\x80\x7f",
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        ck_assert_uint_eq(hd__utf8_good(good[i], strlen(good[i])), strlen(good[i]));
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char text[16], want[120];
        int n = sprintf(text, "\"a%s\"", bad[i]);
        sprintf(want, "!f: 'x': line 1, column 3: found byte 0x%02x: expected UTF-8",
                (unsigned char)bad[i][0]);
        check_events(text, (size_t)n, want);
        ck_assert_uint_eq(hd__utf8_good(bad[i], strlen(bad[i])), 0);
    }
    ck_assert_uint_eq(hd__utf8_good("ab\xc3\xa9\xff", 5), 4);
}
END_TEST

START_TEST(refused_numbers)
{
    REFUSED("01", "#0 ", 2, "'1'", "the end");
    REFUSED("-01", "#-0 ", 3, "'1'", "the end");
    REFUSED("-", "", 2, "the end", "a digit");
    REFUSED("-a", "", 2, "'a'", "a digit");
    REFUSED("+1", "", 1, "'+'", "a value");
    REFUSED("1.", "", 3, "the end", "a digit");
    REFUSED(".5", "", 1, "'.'", "a value");
    REFUSED("1.e5", "", 3, "'e'", "a digit");
    REFUSED("1e", "", 3, "the end", "a digit");
    REFUSED("1e+", "", 4, "the end", "a digit");
    REFUSED("1e1.5", "#1e1 ", 4, "'.'", "the end");
    REFUSED("0x10", "#0 ", 2, "'x'", "the end");
    REFUSED("1_000", "#1 ", 2, "'_'", "the end");
    REFUSED("[1e999]", "[ ", 2, "'1'", "a number that a double can hold");
    REFUSED("-1e309", "", 1, "'-'", "a number that a double can hold");
    EVENTS("1.7976931348623157e308", "#1.7976931348623157e308");
}
END_TEST

static hd__json number_of(const char *text)
{
    hd__json j;
    hd__json_init(&j, text, strlen(text));
    ck_assert_int_eq(hd__json_next(&j), HD__JSON_NUMBER);
    return j;
}

START_TEST(values_of_numbers)
{
    static const struct {
        const char *text;
        bool fits;
        int64_t v;
    } ints[] = {
        {"0", true, 0},
        {"-0", true, 0},
        {"42", true, 42},
        {"9223372036854775807", true, INT64_MAX},
        {"-9223372036854775808", true, INT64_MIN},
        {"9223372036854775808", false, 0},
        {"-9223372036854775809", false, 0},
        {"100000000000000000000", false, 0},
        {"1.0", false, 0},
        {"1e3", false, 0},
    };
    for (size_t i = 0; i < sizeof ints / sizeof *ints; i++) {
        int64_t v = 7;
        hd__json j = number_of(ints[i].text);
        ck_assert_int_eq(hd__json_int(&j, &v), ints[i].fits);
        ck_assert_int_eq(v, ints[i].fits ? ints[i].v : 7);
    }
    static const double doubles[] = {0.1, -2.5e-3, 5e-324, 1.7976931348623157e308, 3};
    static const char *const comma[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "ru_RU.UTF-8"};
    for (int i = 0; i < 4 && !setlocale(LC_ALL, comma[i]); i++) {
    }
    static const char *const texts[] = {"0.1", "-2.5e-3", "5e-324", "1.7976931348623157e308", "3"};
    for (size_t i = 0; i < sizeof doubles / sizeof *doubles; i++) {
        double v = 7;
        hd__json j = number_of(texts[i]);
        ck_assert(hd__json_double(&j, &v));
        ck_assert(v == doubles[i]);
    }
    setlocale(LC_ALL, "C");
}
END_TEST

/* Long digits: the value is read from a copy in memory. It is beyond a double even without an
 * exponent. */
START_TEST(long_numbers)
{
    char text[402];
    memset(text, '9', 401);
    text[401] = '\0';
    check_events(text, 401,
                 "!f: 'x': line 1, column 1: found '9': expected a number that a double can hold");
    text[308] = '\0';
    hd__json j = number_of(text);
    double v = 0;
    ck_assert(hd__json_double(&j, &v) && v == 1e308);
}
END_TEST

static void nested(int depth, const char *open, const char *close, bool good)
{
    char *text = calloc(1, (size_t)depth * 12 + 1), *at = text;
    hd__json j;
    for (int i = 0; i < depth; i++) {
        at += sprintf(at, "%s", open);
    }
    for (int i = 0; i < depth; i++) {
        at += sprintf(at, "%s", close);
    }
    hd__json_init(&j, text, (size_t)(at - text));
    while (hd__json_next(&j) > HD__JSON_END) {
        ck_assert_int_le(j.depth, HD__JSON_DEPTH);
    }
    ck_assert_int_eq(j.kind, good ? HD__JSON_END : HD__JSON_BAD);
    if (!good) {
        ck_assert_uint_eq(j.at, 127 * strlen(open));
        ck_assert_str_eq(j.expected, "at most 127 levels of nesting");
    }
    free(text);
}

START_TEST(nesting)
{
    nested(127, "[", "]", true);
    nested(128, "[", "]", false);
    nested(10000, "[", "]", false);
    nested(128, "{\"a\":", "}", false);
    EVENTS("[{\"a\":[{}]},[]]", "[ { N:a [ { } ] } [ ] ]");
}
END_TEST

/* A longer text with escapes after a shorter one: the buffer grows, and memory may run out. */
static void *no_memory(size_t bytes, size_t alignment, void *user)
{
    (void)bytes, (void)alignment, (void)user;
    return NULL;
}

static void no_free(void *p, size_t bytes, void *user)
{
    (void)p, (void)bytes, (void)user;
}

START_TEST(memory)
{
    EVENTS("[\"\\n\",\"plain\",\"\\n\\n\\n\\n\",\"\\n\"]", "[ S:\n S:plain S:\n\n\n\n S:\n ]");
    hd_allocator a = {sizeof a, no_memory, no_free, NULL};
    ck_assert(hd_set_allocator(&a));
    char *line = events_of("[\"a\",\"\\n\"]", 10);
    ck_assert(hd_set_allocator(NULL));
    ck_assert_ptr_nonnull(strstr(line, "[ S:a !"));
    ck_assert_ptr_nonnull(strstr(line, "out of memory"));
    free(line);
}
END_TEST

Suite *suite_json(void)
{
    const TTest *const tests[] = {
        events,          escapes,           refused_texts, refused_strings, utf8,
        refused_numbers, values_of_numbers, long_numbers,  nesting,         memory,
    };
    return SUITE_OF("json", tests);
}
