/* test_tokenizers.c - tests of UTF-8, classes of characters, words, and the byte and the character
 * tokenizer. */
#include "suites.h"
#include "tokenizers/words.h"

/* ---------------------------------------------------------------- UTF-8 */

/* What Python's bytes.decode(errors="replace") makes of these bytes; R stands for U+FFFD. */
#define R "\xEF\xBF\xBD"
static const struct {
    const char *bytes, *text;
} replaced[] = {
    {"a\xFF"
     "b",
     "a" R "b"},
    {"\x80\xBF", R R},
    {"\xC0\xAF", R R},             /* overlong */
    {"\xE0\x80\xAF", R R R},       /* overlong */
    {"\xED\xA0\x80", R R R},       /* a surrogate */
    {"\xF4\x90\x80\x80", R R R R}, /* beyond U+10FFFF */
    {"\xF5\x80", R R},
    {"\xE2\x82", R}, /* the beginning of a character becomes one R */
    {"\xE2\x82(", R "("},
    {"\xF0\x9F\x98", R},
    {"\xF0\x9F\x98\x80", "\xF0\x9F\x98\x80"},
    {"\xF1\x80\x80\xE1\x80\xC2"
     "b",
     R R R "b"}, /* the Unicode Standard's table 3-8, in part */
};

START_TEST(decodes_as_python_replaces)
{
    hd_tokenizer *t = hd_tokenizer_bytes();
    const char *bytes = replaced[_i].bytes;
    int64_t n = -1;
    hd_tensor *ids = hd_tokenizer_encode(t, bytes, -1, HD_SPECIAL_REFUSE);
    ck_assert_int_eq(hd_numel(ids), (int64_t)strlen(bytes));
    ck_assert_str_eq(hd_tokenizer_decode(t, ids, &n), replaced[_i].text);
    ck_assert_int_eq(n, (int64_t)strlen(replaced[_i].text));
    ck_assert_str_eq(hd_tokenizer_decode_bytes(t, ids, NULL), bytes);
    hd_tokenizer_free(t);
}
END_TEST

START_TEST(classes)
{
    static const struct {
        uint32_t code;
        int class;
    } rows[] = {
        {'a', HD__LETTER},      {'Z', HD__LETTER},    {'0', HD__NUMERAL},    {'_', HD__OTHER},
        {0, HD__OTHER},         {' ', HD__SPACE},     {'\n', HD__SPACE},     {0x0B, HD__SPACE},
        {0x1C, HD__OTHER},      {0x85, HD__SPACE},    {0xA0, HD__SPACE},     {0xAA, HD__LETTER},
        {0xB2, HD__NUMERAL},    {0xBD, HD__NUMERAL},  {0xD7, HD__OTHER},     {0x300, HD__OTHER},
        {0x180E, HD__OTHER},    {0x200A, HD__SPACE},  {0x200B, HD__OTHER},   {0x2028, HD__SPACE},
        {0x2160, HD__NUMERAL},  {0x3000, HD__SPACE},  {0x3007, HD__NUMERAL}, {0x4E00, HD__LETTER},
        {0xAC00, HD__LETTER},   {0xD800, HD__OTHER},  {0xFEFF, HD__OTHER},   {0x1F600, HD__OTHER},
        {0x10D40, HD__NUMERAL}, /* Unicode 16 */
        {0x105C0, HD__LETTER},  /* Unicode 16 */
        {0x323AF, HD__LETTER},  {0x323B0, HD__OTHER}, {0x10FFFF, HD__OTHER},
    };
    int64_t count[4] = {0};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ck_assert_msg(hd__chars_class(rows[i].code) == rows[i].class, "U+%04X", rows[i].code);
    }
    for (uint32_t c = 0; c < 0x110000; c++) {
        count[hd__chars_class(c)]++;
    }
    ck_assert_int_eq(count[HD__LETTER],
                     141028); /* as tiktoken counts them: gen_unicode.py --check */
    ck_assert_int_eq(count[HD__NUMERAL], 1911);
    ck_assert_int_eq(count[HD__SPACE], 25);
}
END_TEST

/* ---------------------------------------------------------------- words */

/* A text, and the words that GPT-2's pattern finds in it, with | between them. */
static const struct {
    const char *text, *words;
} cut[] = {
    {"Hello, world!", "Hello|,| world|!"},
    {"it's we'll I'd they've you're I'm can't",
     "it|'s| we|'ll| I|'d| they|'ve| you|'re| I|'m| can|'t"},
    {"IT'S 'sir 'lx ''s", "IT|'|S| '|sir| '|lx| ''|s"},
    {"'re'd'", "'re|'d|'"},
    {"a  b", "a| | b"},
    {"a   b", "a|  | b"},
    {"a \n b", "a| \n| b"},
    {"a\nb", "a|\n|b"},
    {"a\n\nb", "a|\n|\n|b"},
    {"a \nb", "a| |\n|b"},
    {"a  ", "a|  "},
    {"  ", "  "},
    {" ", " "},
    {"\t1", "\t|1"},
    {" 12ab 3", " 12|ab| 3"},
    {" \xC3\xA9t\xC3\xA9\xE2\x82\xAC", " \xC3\xA9t\xC3\xA9|\xE2\x82\xAC"},
    {"x\xC2\xA0y", "x|\xC2\xA0|y"}, /* NBSP is white space, but no space */
    {"x \xC2\xA0y", "x| |\xC2\xA0|y"},
    {"e\xCC\x81", "e|\xCC\x81"}, /* a combining mark is no letter */
    {"for(i=0;i<10;i++)", "for|(|i|=|0|;|i|<|10|;|i|++)"},
};

static void ck_words(const hd__tokenizer_words *w, const char *s, const char *want)
{
    hd__text got = {0};
    int64_t n = (int64_t)strlen(s);
    for (int64_t at = 0; at < n;) {
        int64_t length = hd__words_next(w, s + at, n - at);
        ck_assert_int_gt(length, 0);
        hd__text_puts(&got, at ? "|" : "");
        hd__text_add(&got, s + at, (size_t)length);
        at += length;
    }
    ck_assert_str_eq(got.s, want);
    hd_free(got.s);
}

START_TEST(words)
{
    ck_words(&hd__words_gpt2, cut[_i].text, cut[_i].words);
}
END_TEST

/* The same for the patterns of Llama 3 and Qwen 2. */
static const struct {
    const char *text, *llama3, *qwen2;
} cut_later[] = {
    {"it's WE'LL x'Re 'sir", "it|'s| WE|'LL| x|'Re| '|sir", "it|'s| WE|'LL| x|'Re| '|sir"},
    {"a'\xC5\xBF", "a|'\xC5\xBF", "a|'\xC5\xBF"},
    {"!a !!a (x)", "!a| !!|a| (|x|)", "!a| !!|a| (|x|)"},
    {"12345 67", "123|45| |67", "1|2|3|4|5| |6|7"},
    {"a  \n\n  b", "a|  \n\n| | b", "a|  \n\n| | b"},
    {"x;\r\n\ny", "x|;\r\n\n|y", "x|;\r\n\n|y"},
    {"\ta \n", "\ta| \n", "\ta| \n"},
    {"\na", "\n|a", "\n|a"},
    {"e\xCC\x81", "e|\xCC\x81", "e|\xCC\x81"},
    {"a\xCC\x81"
     "b",
     "a|\xCC\x81"
     "b",
     "a|\xCC\x81"
     "b"},
};

START_TEST(words_of_later_models)
{
    ck_words(&hd__words_llama3, cut_later[_i].text, cut_later[_i].llama3);
    ck_words(&hd__words_qwen2, cut_later[_i].text, cut_later[_i].qwen2);
}
END_TEST

/* ---------------------------------------------------------------- bytes */

START_TEST(bytes)
{
    hd_tokenizer *t = hd_tokenizer_bytes();
    ck_assert_int_eq(hd_tokenizer_size(t), 256);
    hd_tensor *x = hd_tokenizer_encode(t, "a\0\xFF", 3, HD_SPECIAL_REFUSE); /* (3,) */
    ck_elements(x, 97, 0, 255);
    ck_assert_int_eq(hd_dtype_of(x), HD_INT64);
    int64_t n;
    ck_assert(memcmp(hd_tokenizer_decode_bytes(t, x, &n), "a\0\xFF", 4) == 0 && n == 3);
    ck_assert_int_eq(hd_numel(hd_tokenizer_encode(t, "", -1, HD_SPECIAL_REFUSE)), 0);
    ck_assert_str_eq(hd_tokenizer_decode(t, hd_empty(HD_INT64, 0), &n), "");
    ck_assert_int_eq(n, 0);
    ck_assert_int_eq(hd_tokenizer_id(t, "\xC8", -1), 200);
    ck_assert_int_eq(hd_tokenizer_id(t, "ab", -1), -1);
    ck_assert_int_eq(hd_tokenizer_id(t, "", 0), -1);
    hd_tokenizer_free(t);
    hd_tokenizer_free(NULL);
    ck_no_error();
}
END_TEST

START_TEST(refuses_ids)
{
    hd_tokenizer *t = hd_tokenizer_bytes();
    const int64_t ids[] = {5, 256, -1};
    ck_assert_ptr_null(hd_tokenizer_decode(t, hd_from_data(HD_INT64, ids, 3), NULL));
    ck_error(HD_INDEX, "hd_tokenizer_decode: id 256 at position 1: expected 0 to 255");
    ck_assert_ptr_null(hd_tokenizer_decode_bytes(t, hd_from_data(HD_INT64, ids + 2, 1), NULL));
    ck_error(HD_INDEX, "hd_tokenizer_decode_bytes: id -1 at position 0: expected 0 to 255");
    ck_assert_ptr_null(hd_tokenizer_decode(t, hd_zeros(HD_FLOAT32, 1), NULL));
    ck_error(HD_DTYPE, "hd_tokenizer_decode: ids of float32: expected int64");
    ck_assert_ptr_null(hd_tokenizer_decode(NULL, hd_zeros(HD_INT64, 1), NULL));
    ck_error(HD_NULL_ARG, "hd_tokenizer_decode: t is NULL");
    ck_assert_ptr_null(hd_tokenizer_encode(t, NULL, 0, HD_SPECIAL_REFUSE));
    ck_error(HD_NULL_ARG, "hd_tokenizer_encode: text is NULL");
    ck_assert_ptr_null(hd_tokenizer_encode(t, "a", 1, (hd_special)3));
    ck_error(HD_VALUE, "hd_tokenizer_encode: special 3: expected HD_SPECIAL_REFUSE, "
                       "HD_SPECIAL_ALLOW or HD_SPECIAL_TEXT");
    hd_tokenizer_free(t);
}
END_TEST

/* ---------------------------------------------------------------- characters */

START_TEST(chars_are_sorted_and_unique)
{
    hd_tokenizer *t = hd_tokenizer_chars("hello w\xC3\xB6rld \xF0\x9F\x98\x80\n", -1);
    /* sorted(set(text)): \n space d e h l o r w ö 😀 */
    ck_assert_int_eq(hd_tokenizer_size(t), 11);
    hd_tensor *x = hd_tokenizer_encode(t, "\n h\xC3\xB6ll\xF0\x9F\x98\x80", -1, HD_SPECIAL_REFUSE);
    ck_elements(x, 0, 1, 4, 9, 5, 5, 10);
    ck_assert_str_eq(hd_tokenizer_decode(t, x, NULL), "\n h\xC3\xB6ll\xF0\x9F\x98\x80");
    ck_assert_int_eq(hd_tokenizer_id(t, "\xC3\xB6", -1), 9);
    ck_assert_int_eq(hd_tokenizer_id(t, "x", -1), -1);
    ck_assert_int_eq(hd_tokenizer_id(t, "he", -1), -1);
    ck_assert_int_eq(hd_tokenizer_id(t, "", -1), -1);
    hd_tokenizer_free(t);
    ck_no_error();
}
END_TEST

START_TEST(chars_of_every_length)
{
    hd__text text = {0};
    char c[4];
    for (uint32_t code = 0x10FFFF; code > 17; code -= code % 17 + 1) {
        if (code < 0xD800 || code >= 0xE000) {
            hd__text_add(&text, c, (size_t)hd__utf8_put(code, c));
        }
    }
    hd_tokenizer *t = hd_tokenizer_chars(text.s, (int64_t)text.len);
    hd_tensor *x = hd_tokenizer_encode(t, text.s, (int64_t)text.len, HD_SPECIAL_REFUSE); /* (n,) */
    int64_t n = hd_numel(x), wrong = 0;
    ck_assert_int_eq(hd_tokenizer_size(t), n);
    for (int64_t i = 0; i < n; i++) { /* the characters descend, so the ids ascend */
        wrong += hd_get_int(x, i) != n - 1 - i;
    }
    ck_assert_int_eq(wrong, 0);
    ck_assert_str_eq(hd_tokenizer_decode(t, x, NULL), text.s);
    hd_tokenizer_free(t);
    hd_free(text.s);
}
END_TEST

/* The characters of a text are marked in a table that ends with the largest of them. */
START_TEST(chars_of_a_small_text_take_little_memory)
{
    hd_bytes_peak_reset();
    int64_t before = hd_bytes_live();
    hd_tokenizer *t = hd_tokenizer_chars("every character", -1);
    ck_assert_int_eq(hd_tokenizer_size(t), 9);
    ck_assert_int_lt(hd_bytes_peak() - before, 4096);
    hd_tokenizer_free(t);
}
END_TEST

START_TEST(chars_refused)
{
    hd_tokenizer *t = hd_tokenizer_chars("ab\xC3\xA9", -1);
    ck_assert_ptr_null(hd_tokenizer_encode(t, "a\xC3\xA9xb", -1, HD_SPECIAL_REFUSE));
    ck_error(HD_VALUE, "hd_tokenizer_encode: 'x' (U+0078) at character 2, byte 3: "
                       "expected one of the 3 characters of the vocabulary");
    ck_assert_ptr_null(hd_tokenizer_encode(t, "\xF0\x9F\x98\x80", -1, HD_SPECIAL_REFUSE));
    ck_error(HD_VALUE, "hd_tokenizer_encode: '\xF0\x9F\x98\x80' (U+1F600) at character 0, byte 0: "
                       "expected one of the 3 characters of the vocabulary");
    ck_assert_ptr_null(hd_tokenizer_encode(t, "ab\xC3", -1, HD_SPECIAL_REFUSE));
    ck_error(HD_FORMAT, "hd_tokenizer_encode: byte 0xc3 at 2: expected UTF-8");
    hd_tokenizer_free(t);
    ck_assert_ptr_null(hd_tokenizer_chars("a\xFF", -1));
    ck_error(HD_FORMAT, "hd_tokenizer_chars: byte 0xff at 1: expected UTF-8");
    ck_assert_ptr_null(hd_tokenizer_chars("\xC3\xA9\0", 3));
    ck_error(HD_VALUE,
             "hd_tokenizer_chars: U+0000 at character 1, byte 2: expected a text without it");
    ck_assert_ptr_null(hd_tokenizer_chars(NULL, 0));
    ck_error(HD_NULL_ARG, "hd_tokenizer_chars: text is NULL");
    t = hd_tokenizer_chars("", -1);
    ck_assert_int_eq(hd_tokenizer_size(t), 0);
    ck_assert_int_eq(hd_numel(hd_tokenizer_encode(t, "", -1, HD_SPECIAL_REFUSE)), 0);
    hd_tokenizer_free(t);
    ck_no_error();
}
END_TEST

/* ---------------------------------------------------------------- dictionaries */

/* A long text in a message is cut between characters. */
START_TEST(long_texts_in_messages)
{
    char kind[200], cut[200], message[300];
    hd_dict *d = hd_dict_new();
    memset(kind, 'k', sizeof kind);
    memcpy(kind + 118, "\xE4\xB8\xAD", 4);
    memcpy(cut, kind, 118);
    cut[118] = '\0';
    ck_assert(hd_dict_set_string(d, "t.kind", kind));
    ck_assert_ptr_null(hd_tokenizer_load(d, "t"));
    snprintf(message, sizeof message,
             "hd_tokenizer_load: 't.kind' is '%s': expected byte, char, bpe or json", cut);
    ck_error(HD_VALUE, message);
    hd_dict_free(d);
}
END_TEST

START_TEST(saved_and_loaded)
{
    hd_dict *d = hd_dict_new();
    hd_tokenizer *chars = hd_tokenizer_chars("b\xC3\xA9"
                                             "a",
                                             -1),
                 *bytes = hd_tokenizer_bytes();
    ck_assert(hd_tokenizer_save(chars, d, "tok"));
    ck_assert(hd_tokenizer_save(bytes, d, ""));
    ck_assert_str_eq(hd_dict_get_string(d, "tok.kind"), "char");
    ck_assert_str_eq(hd_dict_get_string(d, "tok.chars"), "ab\xC3\xA9");
    ck_assert_str_eq(hd_dict_get_string(d, "kind"), "byte");
    hd_tokenizer *t = hd_tokenizer_load(d, "tok"), *u = hd_tokenizer_load(d, "");
    ck_assert_int_eq(hd_tokenizer_size(t), 3);
    ck_assert_int_eq(hd_tokenizer_id(t, "\xC3\xA9", -1), 2);
    ck_assert_int_eq(hd_tokenizer_size(u), 256);
    hd_tokenizer *const all[] = {chars, bytes, t, u};
    for (int i = 0; i < 4; i++) {
        hd_tokenizer_free(all[i]);
    }
    hd_dict_set_string(d, "kind", "words");
    ck_assert_ptr_null(hd_tokenizer_load(d, ""));
    ck_error(HD_VALUE, "hd_tokenizer_load: 'kind' is 'words': expected byte, char, bpe or json");
    hd_dict_set_string(d, "tok.chars", "a\xFF");
    ck_assert_ptr_null(hd_tokenizer_load(d, "tok"));
    ck_error(HD_FORMAT, "hd_tokenizer_load: byte 0xff at 1: expected UTF-8");
    ck_assert_ptr_null(hd_tokenizer_load(d, "none"));
    ck_error(HD_VALUE, "hd_tokenizer_load: 'none.kind' is missing: expected a string. The prefixes "
                       "in d are 'tok'");
    hd_dict_free(d);
    ck_assert_int_eq(hd_bytes_live(), 0);
}
END_TEST

Suite *suite_tokenizers(void)
{
    const TTest *const tests[] = {
        classes,
        bytes,
        refuses_ids,
        chars_are_sorted_and_unique,
        chars_of_every_length,
        chars_of_a_small_text_take_little_memory,
        chars_refused,
        long_texts_in_messages,
        saved_and_loaded,
    };
    Suite *s = SUITE_OF("tokenizers", tests);
    suite_add_loop(s, decodes_as_python_replaces, sizeof replaced / sizeof replaced[0]);
    suite_add_loop(s, words, sizeof cut / sizeof cut[0]);
    suite_add_loop(s, words_of_later_models, sizeof cut_later / sizeof cut_later[0]);
    return s;
}
