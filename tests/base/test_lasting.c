/* test_lasting.c - tests of texts that are kept until the program ends: equal texts share one copy,
 * and a lookup among many is fast. */
#include <stdlib.h>

#include "base/error/lasting.h"
#include "suites.h"

/* How many texts there are. tests/checks/check_linear counts the instructions of two sizes. */
static int many(void)
{
    const char *told = getenv("HEED_TEST_WIDE");
    return told ? atoi(told) : 1000;
}

/* One half of the texts differ at their end, and the other half at their beginning. */
static const char *numbered(int i, char room[32])
{
    snprintf(room, 32, i % 2 ? "%d is the number" : "the number is %d", i);
    return room;
}

START_TEST(equal_texts_share_a_copy)
{
    const int n = many();
    const char **texts = calloc((size_t)n, sizeof *texts);
    char room[32];
    for (int i = 0; i < n; i++) {
        texts[i] = hd__lasting_text(numbered(i, room));
        ck_assert_ptr_ne(texts[i], room);
    }
    for (int i = 0; i < n; i++) {
        ck_assert_str_eq(texts[i], numbered(i, room));
        ck_assert_ptr_eq(texts[i], hd__lasting_text(room));
    }
    for (int i = 0; i < n; i += 1 + n / 5) {
        ck_assert_ptr_eq(hd__lasting_of_code(hd__lasting_code(texts[i])), texts[i]);
    }
    free(texts);
}
END_TEST

START_TEST(texts_of_all_kinds)
{
    char text[300] = "";
    const char *empty = hd__lasting_text(text);
    ck_assert_str_eq(empty, "");
    for (size_t i = 0; i < sizeof text - 1; i++) { /* each begins as the one before */
        text[i] = (char)(i + 200);
        text[i] = text[i] ? text[i] : 'a';
        const char *kept = hd__lasting_text(text);
        ck_assert_str_eq(kept, text);
        ck_assert_ptr_eq(kept, hd__lasting_text(text));
    }
    ck_assert_ptr_eq(empty, hd__lasting_text(""));
}
END_TEST

Suite *suite_lasting(void)
{
    const TTest *const tests[] = {equal_texts_share_a_copy, texts_of_all_kinds};
    return SUITE_OF("lasting", tests);
}
