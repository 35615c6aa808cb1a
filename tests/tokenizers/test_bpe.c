/* test_bpe.c - compares byte pair encoding with tiktoken, on the strings of strings.c; also special
 * tokens, saving, and malformed vocab.json and merges.txt. */
#include <fcntl.h>
#include <unistd.h>

#include "suites.h"

static golden_file *golden;
static hd_tokenizer *small; /* the one of tests/golden */

static void setup(void)
{
    golden = golden_read(GOLDEN_DIR "/bpe.txt");
    small = hd_tokenizer_bpe(GOLDEN_DIR "/bpe_vocab.json", GOLDEN_DIR "/bpe_merges.txt");
    ck_assert_msg(golden && small, "%s", hd_error_message());
}

static void teardown(void)
{
    golden_free(golden);
    hd_tokenizer_free(small);
}

static const golden_record *record(const char *field)
{
    const golden_record *r = golden_get(golden_find(golden, "bpe"), "%s", field);
    ck_assert_ptr_nonnull(r);
    return r;
}

enum { STRINGS = 12000, LONG = 12, CHUNK = 100 };

/* ---------------------------------------------------------------- against tiktoken */

static hd_tensor *encode(const hd__text *s, hd_special special)
{
    return hd_tokenizer_encode(small, s->s, (int64_t)s->len, special);
}

static int64_t fnv(const hd_tensor *ids)
{
    return golden_fnv(hd_data(ids), (uint64_t)hd_numel(ids) * sizeof(int64_t), sizeof(int64_t));
}

START_TEST(ids_with_special_tokens)
{
    const golden_record *want = record("allowed");
    ck_assert_int_eq(hd_tokenizer_size(small), record("size")->i[0]);
    ck_assert_int_eq(want->numel, STRINGS + LONG);
    for (int k = 0; k < STRINGS + LONG; k++) {
        HD_SCOPE;
        hd__text s = random_string(k < STRINGS ? k : 1000000 + k - STRINGS);
        hd_tensor *ids = encode(&s, HD_SPECIAL_ALLOW);
        ck_assert_msg(ids && fnv(ids) == want->i[k], "string %d: %s", k, s.s);
        hd_free(s.s);
    }
}
END_TEST

START_TEST(ids_without_special_tokens_and_back)
{
    const golden_record *want = record("ordinary");
    int64_t *all = hd_alloc(16 << 20), n = 0, length;
    for (int k = 0; k < STRINGS + LONG; k++) {
        HD_SCOPE;
        hd__text s = random_string(k < STRINGS ? k : 1000000 + k - STRINGS);
        hd_tensor *ids = encode(&s, HD_SPECIAL_TEXT);
        ck_assert_ptr_nonnull(ids);
        const char *text = hd_tokenizer_decode(small, ids, &length);
        ck_assert_int_eq(length, (int64_t)s.len);
        ck_assert_msg(memcmp(text, s.s, s.len + 1) == 0, "string %d: %s", k, s.s);
        hd_free(s.s);
        memcpy(all + n, hd_data(ids), (size_t)hd_numel(ids) * sizeof *all);
        n += hd_numel(ids);
        if (k % CHUNK == CHUNK - 1 || k == STRINGS + LONG - 1) {
            ck_assert_msg(golden_fnv(all, (uint64_t)n * sizeof *all, sizeof *all) ==
                              want->i[k / CHUNK],
                          "the strings up to %d", k);
            n = 0;
        }
    }
    hd_free(all);
}
END_TEST

START_TEST(texts_of_random_ids)
{
    const golden_record *want = record("decoded");
    ck_decodes("small", small, 256, want);
    ck_assert_int_eq(want->numel, 2000);
}
END_TEST

/* ---------------------------------------------------------------- special tokens and places */

START_TEST(special_tokens)
{
    int64_t end = hd_tokenizer_id(small, "<|endoftext|>", -1);
    const char *text = "a<|endoftext|>a";
    ck_assert_int_eq(end, hd_tokenizer_size(small) - 1);
    hd_tensor *x = hd_tokenizer_encode(small, text, -1, HD_SPECIAL_ALLOW); /* (3,) */
    ck_elements(x, 64, 1200, 64);
    ck_assert_str_eq(hd_tokenizer_decode(small, x, NULL), text);
    x = hd_tokenizer_encode(small, text, -1, HD_SPECIAL_TEXT);
    ck_assert_int_gt(hd_numel(x), 3);
    ck_assert_str_eq(hd_tokenizer_decode(small, x, NULL), text);
    ck_assert_ptr_null(hd_tokenizer_encode(small, text, -1, HD_SPECIAL_REFUSE));
    ck_error(HD_VALUE, "hd_tokenizer_encode: <|endoftext|> at byte 1 is a special token. Pass "
                       "HD_SPECIAL_ALLOW to encode it, or HD_SPECIAL_TEXT to encode it as text");
    ck_assert_ptr_nonnull(hd_tokenizer_encode(small, "a<|endoftext|", -1, HD_SPECIAL_REFUSE));
    ck_assert_int_eq(hd_tokenizer_id(small, "the", -1),
                     hd_item_int(hd_tokenizer_encode(small, "the", -1, HD_SPECIAL_REFUSE)));
    ck_assert_int_eq(hd_tokenizer_id(small, "no such token", -1), -1);
    ck_assert_ptr_null(hd_tokenizer_encode(small, "ab\xE2\x82", -1, HD_SPECIAL_REFUSE));
    ck_error(HD_FORMAT, "hd_tokenizer_encode: byte 0xe2 at 2: expected UTF-8");
}
END_TEST

START_TEST(saved_and_loaded)
{
    hd_dict *d = hd_dict_new();
    const char *text = "the king's 51 <|endoftext|> \xEA\xB0\x80";
    ck_assert(hd_tokenizer_save(small, d, "tok"));
    hd_tokenizer *t = hd_tokenizer_load(d, "tok");
    hd_tensor *x = hd_tokenizer_encode(small, text, -1, HD_SPECIAL_ALLOW);
    hd_tensor *y = hd_tokenizer_encode(t, text, -1, HD_SPECIAL_ALLOW);
    ck_assert_str_eq(hd_repr(x), hd_repr(y));
    hd_tokenizer_free(t);
    hd_dict_set_string(d, "tok.vocab", "[]");
    ck_assert_ptr_null(hd_tokenizer_load(d, "tok"));
    ck_error(
        HD_FORMAT,
        "hd_tokenizer_load: 'tok.vocab': line 1, column 1: found an array: expected an object");
    hd_dict_remove(d, "tok.merges");
    ck_assert_ptr_null(hd_tokenizer_load(d, "tok"));
    ck_error(HD_VALUE, "hd_tokenizer_load: 'tok.merges' is missing: expected a string");
    hd_dict_free(d);
}
END_TEST

/* ---------------------------------------------------------------- malformed files */

/* A vocab.json of the 256 bytes, with ids from `first` on, then `more`; merges.txt is `merges`. */
static hd_tokenizer *from_numbered(uint32_t first, const char *more, const char *merges)
{
    hd__text v = {0};
    char c[4];
    uint32_t next = 256;
    hd__text_puts(&v, "{\n");
    for (uint32_t b = 0; b < 256; b++) {
        bool printable = (b > 32 && b < 127) || (b > 160 && b != 173);
        int length = hd__utf8_put(printable ? b : next++, c);
        hd__text_format(&v, "%s\"%s%.*s\": %u", b ? ", " : "", b == '"' || b == '\\' ? "\\" : "",
                        length, c, (unsigned)(b + first));
    }
    hd__text_puts(&v, more);
    const char *vocab = file_of("vocab.json", v.s, v.len);
    hd_free(v.s);
    return hd_tokenizer_bpe(vocab, file_of("merges.txt", merges, strlen(merges)));
}

static hd_tokenizer *from_texts(const char *more, const char *merges)
{
    return from_numbered(0, more, merges);
}

#define TWO "two tokens of the vocabulary that form a third one"

/* %s: the path of the file that is wrong */
#define ID "expected an id, an integer from 0 to 1048575"

static const struct {
    const char *more, *merges, *message;
} bad[] = {
    {"", "", "vocab.json': line 2, column 2613: found the end: expected ',' or '}'"},
    {"} x", "", "vocab.json': line 2, column 2615: found 'x': expected the end"},
    {", \"ab\": 1e2}", "a b", "vocab.json': an id of the vocabulary is '1e2': " ID},
    {", \"ab\": \"256\"}", "a b", "vocab.json': an id of the vocabulary is '256': " ID},
    {", \"ab\": [256]}", "a b", "vocab.json': an id of the vocabulary is an array: " ID},
    {", \"ab\": 1048576}", "a b", "vocab.json': an id of the vocabulary is '1048576': " ID},
    {", \"ab\": -1}", "a b", "vocab.json': an id of the vocabulary is '-1': " ID},
    {", \"ab\": 65}", "a b", "vocab.json': id 65 is used twice: expected each id once"},
    {", \"a\": 256}", "", "vocab.json': token 'a': expected each token once"},
    {", \"<|endoftext|>\": 256, \"<|endoftext|>\": 257}", "",
     "vocab.json': token '<|endoftext|>': expected each token once"},
    {", \"a b\": 256}", "", "vocab.json': token 'a b': expected GPT-2's characters for bytes"},
    {", \"a\\u0000\": 256}", "", "vocab.json': token 'a': expected GPT-2's characters for bytes"},
    {", \"\\u4e2d\": 256}", "",
     "vocab.json': token '\xE4\xB8\xAD': expected GPT-2's characters for bytes"},
    {", \"ab\": 256}", "", "merges.txt': token 'ab': expected a line that makes this token"},
    {", \"\": 256}", "", "merges.txt': token '': expected a line that makes this token"},
    {"}", "a b", "merges.txt': line 1: 'a b': expected " TWO},
    {", \"ab\": 256}", "a b\nab c", "merges.txt': line 2: 'ab c': expected " TWO},
    {", \"\xC4\xA0"
     "a\": 256}",
     "#version: 0.2\n\xC4\xA0 a\nx \xC4\xA0y\n",
     "merges.txt': line 3: 'x \xC4\xA0y': expected " TWO},
    {", \"ab\": 256}", "a b\na b",
     "merges.txt': line 2: 'a b': expected a token that no earlier line makes"},
    {", \"ab\": 256}", "ab", "merges.txt': line 1: 'ab': expected " TWO},
    {", \"ab\": 256}", "a b c", "merges.txt': line 1: 'a b c': expected " TWO},
    {", \"ab\": 256}", "a  b", "merges.txt': line 1: 'a  b': expected " TWO},
    {", \"ab\": 256}", " b", "merges.txt': line 1: ' b': expected " TWO},
    {", \"ab\": 256}", "a ", "merges.txt': line 1: 'a ': expected " TWO},
    {", \"ab\": 256}", "a b\n\n", "merges.txt': line 2: '': expected " TWO},
    {", \"ab\": 256}", "a b\r\n", "merges.txt': line 1: 'a b\r': expected " TWO},
    {", \"ab\": 256}", "a \xE4\xB8\xAD", "merges.txt': line 1: 'a \xE4\xB8\xAD': expected " TWO},
    {", \"ab\": 256}", "a \xFF", "merges.txt': line 1: 'a \xFF': expected " TWO},
    {", \"ab\": 256}", "#version: 0.2\n#version: 0.2\na b",
     "merges.txt': line 2: '#version: 0.2': expected " TWO},
};

START_TEST(malformed_files)
{
    char want[600];
    int64_t before = hd_bytes_live();
    ck_assert_ptr_null(from_texts(bad[_i].more, bad[_i].merges));
    snprintf(want, sizeof want, "hd_tokenizer_bpe: '%s%s", temporary(""), bad[_i].message);
    ck_error(HD_FORMAT, want);
    ck_assert_int_eq(hd_bytes_live(), before);
}
END_TEST

/* The first line is free text, but it is saved with the rest: as a string, in a file of UTF-8. */
START_TEST(version_lines)
{
    static const struct {
        const char *line, *shown;
        size_t n;
    } refused[] = {
        {"#version: 0.2\0\na b", "#version: 0.2", 18},
        {"#version\0: 0.2", "#version", 14},
        {"#version: \xFF\na b", "#version: \xFF", 14},
        {"#version: \xE4\xB8\na b", "#version: \xE4\xB8", 15},
    };
    char want[600];
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        const char *path = file_of("merges.txt", refused[i].line, refused[i].n);
        ck_assert_ptr_null(hd_tokenizer_bpe(GOLDEN_DIR "/bpe_vocab.json", path));
        snprintf(want, sizeof want,
                 "hd_tokenizer_bpe: '%s': line 1: '%s': expected UTF-8 without a zero", path,
                 refused[i].shown);
        ck_error(HD_FORMAT, want);
    }
    hd_tokenizer *t = from_texts(", \"ab\": 256}", "#version: \xE4\xB8\xAD \x01\r\na b");
    hd_dict *d = hd_dict_new();
    ck_assert(hd_tokenizer_save(t, d, "tok"));
    hd_tokenizer *again = hd_tokenizer_load(d, "tok");
    ck_elements(hd_tokenizer_encode(again, "abc", -1, HD_SPECIAL_REFUSE), 256, 99);
    hd_tokenizer_free(t);
    hd_tokenizer_free(again);
    hd_dict_free(d);
    ck_no_error();
}
END_TEST

START_TEST(well_formed_files)
{
    hd_tokenizer *t = from_texts(", \"ab\": 256, \"abc\": 257, \"bc\": 258}", "b c\na b\na bc\n");
    hd_tensor *x = hd_tokenizer_encode(t, "abc abd", -1, HD_SPECIAL_REFUSE);
    ck_elements(x, 257, 32, 256, 100);
    ck_assert_int_eq(hd_tokenizer_id(t, "<|endoftext|>", -1), -1);
    ck_assert_ptr_nonnull(hd_tokenizer_encode(t, "<|endoftext|>", -1, HD_SPECIAL_REFUSE));
    hd_tokenizer_free(t);
    /* only the two tokens of a line merge, as in GPT-2's encoder.py: aab is a ab, but not aa b */
    t = from_texts(", \"ab\": 256, \"aa\": 257, \"aab\": 258}", "a a\na b\na ab");
    ck_elements(hd_tokenizer_encode(t, "aabb", -1, HD_SPECIAL_REFUSE), 257, 98, 98);
    ck_elements(hd_tokenizer_encode(t, "aaabb", -1, HD_SPECIAL_REFUSE), 257, 256, 98);
    hd_tokenizer_free(t);
    /* a word that is a token stays whole, as in tiktoken, though merges lead elsewhere: a bc d */
    t = from_texts(", \"bc\": 256, \"ab\": 257, \"cd\": 258, \"abcd\": 259}",
                   "b c\na b\nc d\nab cd");
    ck_elements(hd_tokenizer_encode(t, "abcd", -1, HD_SPECIAL_REFUSE), 259);
    ck_elements(hd_tokenizer_encode(t, "abcdx", -1, HD_SPECIAL_REFUSE), 97, 256, 100, 120);
    hd_tokenizer_free(t);
    /* A pair that waited for a part which has merged since says nothing of the parts that stand
     * there now: aa, a, bcc, and the last two merge. The ids are tiktoken's. */
    t = from_texts(", \"aa\": 256, \"cc\": 257, \"bcc\": 258, \"abcc\": 259}",
                   "a a\nc c\nb cc\na bcc");
    ck_elements(hd_tokenizer_encode(t, "aaabcc", -1, HD_SPECIAL_REFUSE), 256, 259);
    hd_tokenizer_free(t);
    /* a merged token has the first id */
    t = from_numbered(1, ", \"ab\": 0}", "a b\n");
    ck_elements(hd_tokenizer_encode(t, "abc", -1, HD_SPECIAL_REFUSE), 0, 100);
    hd_tokenizer_free(t);
    /* the byte 0, which is written as U+0100, has the first id and merges on either side */
    t = from_texts(", \"\xC4\x80!\": 256, \"!\xC4\x80\": 257}", "\xC4\x80 !\n! \xC4\x80\n");
    ck_elements(hd_tokenizer_encode(t, "\0!", 2, HD_SPECIAL_REFUSE), 256);
    ck_elements(hd_tokenizer_encode(t, "!\0", 2, HD_SPECIAL_REFUSE), 257);
    hd_tokenizer_free(t);
    t = from_texts("}", "");
    ck_elements(hd_tokenizer_encode(t, "a b", -1, HD_SPECIAL_REFUSE), 97, 32, 98);
    hd_tokenizer_free(t);
    ck_no_error();
}
END_TEST

/* Without a standard input, a file that is opened may have the number 0. */
START_TEST(files_without_a_standard_input)
{
    ck_assert_int_eq(close(STDIN_FILENO), 0);
    hd_tokenizer *t = hd_tokenizer_bpe(GOLDEN_DIR "/bpe_vocab.json", GOLDEN_DIR "/bpe_merges.txt");
    ck_assert_msg(t, "%s", hd_error_message());
    hd_tokenizer_free(t);
    ck_assert_int_eq(open("/dev/null", O_RDONLY), STDIN_FILENO); /* every file was closed */
}
END_TEST

START_TEST(files_that_cannot_be_read)
{
    char want[600];
    const char *vocab = GOLDEN_DIR "/bpe_vocab.json", *none = temporary("none.txt");
    ck_assert_ptr_null(hd_tokenizer_bpe(none, vocab));
    snprintf(want, sizeof want, "hd_tokenizer_bpe: '%s': cannot open: No such file or directory",
             none);
    ck_error(HD_IO, want);
    ck_assert_ptr_null(hd_tokenizer_bpe(vocab, none));
    ck_error(HD_IO, want);
    const char *empty = file_of("empty.json", "", 0);
    ck_assert_ptr_null(hd_tokenizer_bpe(empty, empty));
    snprintf(want, sizeof want,
             "hd_tokenizer_bpe: '%s': line 1, column 1: found the end: expected a value", empty);
    ck_error(HD_FORMAT, want);
    const char *few = file_of("few.json", "{}", 2);
    ck_assert_ptr_null(hd_tokenizer_bpe(few, empty));
    snprintf(want, sizeof want, "hd_tokenizer_bpe: '%s': no tokens: expected 1 or more", few);
    ck_error(HD_FORMAT, want);
    const char *one = file_of("one.json", "{\"a\": 0}", 8);
    ck_assert_ptr_null(hd_tokenizer_bpe(one, empty));
    snprintf(want, sizeof want,
             "hd_tokenizer_bpe: '%s': token '\xC4\x80': expected a token for each byte", one);
    ck_error(HD_FORMAT, want);
    ck_assert_ptr_null(hd_tokenizer_bpe(NULL, vocab));
    ck_error(HD_NULL_ARG, "hd_tokenizer_bpe: vocab_path is NULL");
}
END_TEST

Suite *suite_bpe(void)
{
    const TTest *const tiktoken[] = {
        ids_with_special_tokens, ids_without_special_tokens_and_back,
        texts_of_random_ids,     special_tokens,
        saved_and_loaded,
    };
    Suite *s = SUITE_BETWEEN("bpe", tiktoken, setup, teardown);
    suite_add_loop(s, malformed_files, sizeof bad / sizeof bad[0]);
    suite_add_loop(s, version_lines, 1);
    suite_add_loop(s, well_formed_files, 1);
    suite_add_loop(s, files_without_a_standard_input, 1);
    suite_add_loop(s, files_that_cannot_be_read, 1);
    return s;
}
