/* test_text.c - tests of growing arrays and texts, JSON strings, UTF-8, and the texts of
 * messages. */
#include <math.h>
#include <string.h>

#include "suites.h"
#include "base/error/call.h"
#include "base/text/number.h"
#include "base/text/text.h"
#include "base/text/utf8.h"

START_TEST(an_array_grows)
{
    int64_t *v = NULL, room = 0, least = 0;
    for (int64_t n = 1; n <= 1000; n++) {
        ck_assert(hd__text_grow(&v, &room, n, sizeof *v));
        ck_assert_int_ge(room, n);
        v[n - 1] = n;
    }
    for (int64_t i = 0; i < 1000; i++) {
        least += v[i] == i + 1;
    }
    ck_assert_int_eq(least, 1000);
    hd_free(v);
}
END_TEST

START_TEST(a_text_grows)
{
    hd__text t = {0};
    hd__text_format(&t, "%s", "");
    ck_assert_str_eq(t.s, ""); /* a zero is there, also after an empty addition */
    hd__text_format(&t, "%d and %s", 12, "a");
    hd__text_add(&t, "bcd", 2);
    hd__text_repeat(&t, '.', 3);
    hd__text_repeat(&t, '.', 0);
    hd__text_puts(&t, "!");
    ck_assert_str_eq(t.s, "12 and abc...!");
    ck_assert_uint_eq(t.len, 14);
    hd__text_cut(&t, 6);
    ck_assert_str_eq(t.s, "12 and");
    char *s = hd__text_take(&t);
    ck_assert_str_eq(s, "12 and");
    ck_assert(!t.s && t.len == 0);
    hd_free(s);
}
END_TEST

START_TEST(a_text_when_memory_runs_out)
{
    hd__text t = {0};
    hd__text_puts(&t, "kept");
    hd__text_repeat(&t, ' ', INT64_MAX / 2);
    if (SIZE_MAX >= INT64_MAX) {
        ck_error(HD_MEMORY, "hd_alloc: 4611686018427387908 bytes: out of memory");
    } else {
        ck_error(HD_MEMORY, "hd_alloc: 4611686018427387908 times 1 bytes: the size overflows");
    }
    hd__text_puts(&t, "more");
    ck_assert(t.failed);
    ck_assert_str_eq(t.s, "kept");
    ck_assert_ptr_null(hd__text_take(&t));
    ck_assert(!t.s && !t.failed);
}
END_TEST

/* Longer than any number of bytes */
START_TEST(a_text_whose_length_overflows)
{
    hd__text t = {0};
    hd__text_puts(&t, "kept");
    hd__text_repeat(&t, ' ', INT64_MAX);
    ck_assert_int_eq(hd_error_code(), HD_MEMORY);
    hd_error_clear();
    ck_assert(t.failed);
    ck_assert_str_eq(t.s, "kept");
    ck_assert_ptr_null(hd__text_take(&t));
}
END_TEST

START_TEST(json_strings)
{
    static const char s[] = "a\"\\/\b\f\n\r\t\x01\x1f\x7f\xc3\xa9\0z";
    hd__text t = {0};
    hd__text_json(&t, s, sizeof s - 1, true);
    ck_assert_str_eq(t.s, "\"a\\\"\\\\/\\b\\f\\n\\r\\t\\u0001\\u001f\x7f\xc3\xa9\\u0000z\"");
    hd__text_cut(&t, 0);
    hd__text_json(&t, s, sizeof s - 1, false);
    ck_assert_str_eq(t.s,
                     "\"a\\\"\\\\/\\u0008\\u000c\\u000a\\u000d\\u0009\\u0001\\u001f\x7f\xc3\xa9"
                     "\\u0000z\"");
    hd_free(t.s);
}
END_TEST

/* Every code point is encoded and decoded again, and has the right number of bytes. */
START_TEST(utf8_there_and_back)
{
    char s[4];
    uint32_t code;
    int wrong = 0;
    for (uint32_t c = 0; c < 0x110000; c++) {
        int length = hd__utf8_put(c, s), want = c >= 0xD800 && c < 0xE000 ? -1 : length;
        wrong += hd__utf8_next(s, length, &code) != want || (want > 0 && code != c);
        for (int n = 1; n < length && want > 0; n++) {
            wrong += hd__utf8_next(s, n, &code) != -n; /* cut short */
        }
    }
    ck_assert_int_eq(wrong, 0);
}
END_TEST

START_TEST(clipped_texts)
{
    char text[200];
    memset(text, 'x', sizeof text);
    ck_assert_int_eq(hd__text_clip("abc", 3), 3);
    ck_assert_int_eq(hd__text_clip(text, 120), 120);
    ck_assert_int_eq(hd__text_clip(text, 121), 120);
    memcpy(text + 118, "\xf0\x9f\x98\x80", 4);
    ck_assert_int_eq(hd__text_clip(text, 122), 118); /* no character is cut in two */
    memset(text, 0x80, sizeof text);
    ck_assert_int_eq(hd__text_clip(text, 122), 0); /* no character begins */
}
END_TEST

START_TEST(short_texts_of_numbers)
{
    static const struct {
        double v;
        const char *text;
    } cases[] = {
        {0, "0"},
        {-0.0, "-0"},
        {96, "96"},
        {0.1, "0.1"},
        {-2.5, "-2.5"},
        {9e15, "9e+15"},
        {1e-5, "1e-05"},
        {0.1 + 0.2, "0.30000000000000004"},
        {NAN, "nan"},
        {-INFINITY, "-inf"},
        {9007199254740991, "9007199254740991"},
        {5e-324, "4.94065645841247e-324"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ck_assert_str_eq(HD__SHORT(cases[i].v), cases[i].text);
    }
}
END_TEST

START_TEST(indices)
{
    HD__CALL("hd_f");
    ck_assert_int_eq(hd__arg_index(0, 3, "things"), 0);
    ck_assert_int_eq(hd__arg_index(-3, 3, "things"), 0);
    ck_assert_int_eq(hd__arg_index(-1, 3, "things"), 2);
    ck_assert_int_eq(hd__arg_index(3, 3, "things"), -1);
    ck_error(HD_INDEX, "hd_f: index 3 of 3 things: expected -3 to 2");
    ck_assert_int_eq(hd__arg_index(INT64_MIN, 3, "things"), -1);
    ck_error(HD_INDEX, "hd_f: index -9223372036854775808 of 3 things: expected -3 to 2");
}
END_TEST

Suite *suite_text(void)
{
    const TTest *const tests[] = {
        an_array_grows,
        a_text_grows,
        a_text_when_memory_runs_out,
        a_text_whose_length_overflows,
        json_strings,
        utf8_there_and_back,
        clipped_texts,
        short_texts_of_numbers,
        indices,
    };
    return SUITE_OF("text", tests);
}
