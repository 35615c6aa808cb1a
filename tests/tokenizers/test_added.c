/* test_added.c - tests of added tokens: the choice if several match, their ids, gaps in the ids,
 * and names of bytes. The package tokenizers 0.23 gave the expected ids and texts. */
#include "suites.h"
#include "support/warnings.h"

/* A tokenizer.json of Llama 2's form or, without a normalizer, of GPT-2's. */
static hd_tokenizer *tokenizer(bool characters, const char *vocab, const char *added)
{
    static const char bytes[] =
        "\"decoder\":{\"type\":\"ByteLevel\"},"
        "\"pre_tokenizer\":{\"type\":\"ByteLevel\",\"add_prefix_space\":false}";
    static const char spaces[] =
        "\"decoder\":{\"type\":\"Sequence\",\"decoders\":[{\"type\":\"Replace\",\"pattern\":"
        "{\"String\":\"\xE2\x96\x81\"},\"content\":\" \"},{\"type\":\"ByteFallback\"},"
        "{\"type\":\"Fuse\"}]},\"normalizer\":{\"type\":\"Sequence\",\"normalizers\":["
        "{\"type\":\"Prepend\",\"prepend\":\"\xE2\x96\x81\"},{\"type\":\"Replace\",\"pattern\":"
        "{\"String\":\" \"},\"content\":\"\xE2\x96\x81\"}]}";
    hd__text t = {0};
    hd__text_format(&t, "{\"model\":{\"vocab\":{%s},\"merges\":[%s]},\"added_tokens\":[%s],%s}",
                    vocab, characters ? "" : "\"a b\"", added, characters ? spaces : bytes);
    const char *path = file_of("tokenizer.json", t.s, t.len);
    hd_free(t.s);
    return hd_tokenizer_json(path);
}

#define VOCAB "\"a\":0,\"b\":1,\"ab\":2,\"?\":3"
#define TOKEN(id, content) "{\"id\":" #id ",\"content\":\"" content "\"}"

START_TEST(the_longest_one)
{
    hd_tokenizer *t = tokenizer(false, VOCAB,
                                TOKEN(4, "<") "," TOKEN(5, "<a") "," TOKEN(6, "<a<a?") "," TOKEN(
                                    7, "<a<") "," TOKEN(8, "b?") "," TOKEN(9, "ab?<"));
    ck_assert_msg(t != NULL, "%s", hd_error_message());
    ck_elements(hd_tokenizer_encode_with(t, "<a<a<a<a?ab?<ab?", -1, NULL), 7, 0, 6, 9, 0, 8);
    ck_elements(hd_tokenizer_encode_with(t, "<<a<", -1, NULL), 4, 7);
    ck_elements(hd_tokenizer_encode_with(t, "ab?<a<a?", -1, NULL), 9, 0, 5, 3);
    ck_elements(hd_tokenizer_encode_with(t, "b?b", -1, NULL), 8, 1);
    ck_assert_int_eq(hd_tokenizer_id(t, "<a<", -1), 7);
    ck_assert_int_eq(hd_tokenizer_id(t, "<a<a", -1), -1);
    ck_assert_int_eq(hd_tokenizer_id(t, "ab", -1), 2);
    ck_assert_int_eq(hd_tokenizer_id(t, "", 0), -1);
    hd_tokenizer_free(t);
}
END_TEST

/* 30,000 tokens, each of which begins with others, against a search of all */
START_TEST(one_of_many)
{
    enum { N = 30000 };
    hd__text added = {0};
    for (int i = 0; i < N; i++) {
        hd__text_format(&added, "%s{\"id\":%d,\"content\":\"<%o\"}", i ? "," : "", 4 + i, i);
    }
    hd_tokenizer *t = tokenizer(false, VOCAB, added.s);
    hd_free(added.s);
    ck_assert_msg(t != NULL, "%s", hd_error_message());
    for (int i = 0; i < N; i += 7) {
        HD_SCOPE;
        char text[32];
        snprintf(text, sizeof text, "a<%oab", i);
        ck_elements(hd_tokenizer_encode_with(t, text, -1, NULL), 0, 4 + i, 2);
        snprintf(text, sizeof text, "<%o", i);
        ck_assert_int_eq(hd_tokenizer_id(t, text, -1), 4 + i);
    }
    hd_tokenizer_free(t);
}
END_TEST

/* The text of one id */
static const char *text_of_id(const hd_tokenizer *t, int64_t id)
{
    return hd_tokenizer_decode(t, hd_full(HD_INT64, (double)id, 1), NULL);
}

static hd_tensor *ids_of(int64_t a, int64_t b, int64_t c)
{
    return hd_from_data(HD_INT64, ((int64_t[]){a, b, c}), c < 0 ? 2 : 3);
}

START_TEST(gaps)
{
    hd_tokenizer *t = tokenizer(false, "\"a\":0,\"b\":7,\"ab\":2,\"?\":3", TOKEN(4, "<x>"));
    static const char *const texts[] = {"a", "", "ab", "?", "<x>", "", "", "b"};
    ck_assert_msg(t != NULL, "%s", hd_error_message());
    ck_assert_int_eq(hd_tokenizer_size(t), 8);
    ck_elements(hd_tokenizer_encode_with(t, "ab<x>b", -1, NULL), 2, 4, 7);
    for (int64_t id = 0; id < 8; id++) {
        ck_assert_str_eq(text_of_id(t, id), texts[id]);
    }
    ck_assert_ptr_null(text_of_id(t, 8));
    ck_error(HD_INDEX, "hd_tokenizer_decode: id 8 at position 0: expected 0 to 7");
    hd_tokenizer_free(t);
    const int64_t live = hd_bytes_live();
    hd_bytes_peak_reset();
    t = tokenizer(false, "\"a\":0,\"b\":1048575,\"ab\":2,\"?\":3", "");
    ck_assert_int_eq(hd_tokenizer_size(t), 1048576);
    ck_elements(hd_tokenizer_encode_with(t, "b", -1, NULL), 1048575);
    ck_assert_int_lt(hd_bytes_peak() - live, 32 << 20);
    hd_tokenizer_free(t);
    /* the bytes of a character go on behind it */
    t = tokenizer(true, "\"a\":0,\"\xE2\x96\x81\":1,\"<0xC3>\":5,\"<0xA9>\":3", "");
    ck_assert_str_eq(hd_tokenizer_decode(t, ids_of(5, 4, 3), NULL), "\xC3\xA9");
    hd_tokenizer_free(t);
}
END_TEST

START_TEST(ids_that_do_not_follow)
{
    hd_tokenizer *t = NULL;
    char want[400];
    snprintf(want, sizeof want,
             "hd_tokenizer_json: '%s': added_tokens has '<x>' with id 9, but it gets id 4, as in "
             "the Python package tokenizers. The ids of new tokens must follow those of the "
             "vocabulary, in order and without a gap",
             temporary("tokenizer.json"));
    ck_warning(t = tokenizer(false, VOCAB, TOKEN(9, "<x>") "," TOKEN(4, "<y>")), want);
    ck_elements(hd_tokenizer_encode_with(t, "<x><y>", -1, NULL), 4, 5);
    ck_assert_int_eq(hd_tokenizer_size(t), 6);
    hd_tokenizer_free(t);
    ck_assert_ptr_null(tokenizer(false, VOCAB, TOKEN(4, "<x>") "," TOKEN(5, "<x>")));
    ck_error(HD_FORMAT, sized("hd_tokenizer_json: '%s': added_tokens has '<x>' twice: expected "
                              "each once",
                              temporary("tokenizer.json")));
    warnings_expected();
    ck_assert_ptr_null(tokenizer(false, "\"a\":0,\"b\":1,\"ab\":2,\"?\":4", TOKEN(9, "<x>")));
    ck_error(HD_FORMAT, sized("hd_tokenizer_json: '%s': added_tokens has '<x>' with id 4: expected "
                              "its id in the vocabulary, or a new id for a new token",
                              temporary("tokenizer.json")));
}
END_TEST

START_TEST(names_of_bytes)
{
    hd_tokenizer *t = tokenizer(
        true, "\"a\":0,\"\xE2\x96\x81\":1,\"<0x41>\":2",
        TOKEN(3, "<0x0A>") "," TOKEN(4, "<0xc3>") "," TOKEN(5, "<0xA9>") "," TOKEN(6, "<0xG1>"));
    ck_assert_msg(t != NULL, "%s", hd_error_message());
    ck_assert_str_eq(hd_tokenizer_decode(t, ids_of(0, 3, 0), NULL), "a\na");
    ck_assert_str_eq(hd_tokenizer_decode(t, ids_of(4, 5, -1), NULL), "\xC3\xA9");
    ck_assert_str_eq(hd_tokenizer_decode(t, ids_of(4, 0, 5), NULL), "\xEF\xBF\xBD"
                                                                    "a\xEF\xBF\xBD");
    ck_assert_str_eq(hd_tokenizer_decode(t, ids_of(2, 6, -1), NULL), "A<0xG1>");
    hd_tokenizer_free(t);
}
END_TEST

Suite *suite_added(void)
{
    const TTest *const tests[] = {the_longest_one, one_of_many, gaps, ids_that_do_not_follow,
                                  names_of_bytes};
    return SUITE_OF("added", tests);
}
