/* test_model_files.c - compares tokenizer.json of five forms with the package tokenizers, by the
 * records of tools/golden/golden_tokenizers.py; also files that heed refuses. */
#include "suites.h"
#include "tokenizers/nfc.h"

#define FOLDER GOLDEN_DIR "/tokenizers"

enum { STRINGS = 3000, CHUNK = 100 };

static golden_file *golden;

static void setup(void)
{
    golden = golden_read(FOLDER "/cases.txt");
    ck_assert_ptr_nonnull(golden);
}

static void teardown(void)
{
    golden_free(golden);
}

/* ---------------------------------------------------------------- files with changes */

/* The text with the first `old` replaced; the text is freed. */
static char *with(char *text, const char *old, const char *new)
{
    char *at = strstr(text, old);
    ck_assert_msg(at != NULL, "no %s", old);
    size_t before = (size_t)(at - text), n = strlen(text) + strlen(new) + 1;
    char *changed = malloc(n);
    ck_assert_ptr_nonnull(changed);
    snprintf(changed, n, "%.*s%s%s", (int)before, text, new, at + strlen(old));
    free(text);
    return changed;
}

static char *text_of(const char *name)
{
    char path[400];
    size_t n;
    snprintf(path, sizeof path, "%s/%s.json", FOLDER, name);
    char *text = read_file(path, &n);
    ck_assert_ptr_nonnull(text);
    return text;
}

/* Of the text, which is freed. */
static hd_tokenizer *from_text(char *text)
{
    hd_tokenizer *t = hd_tokenizer_json(file_of("tokenizer.json", text, strlen(text)));
    free(text);
    return t;
}

#define SPACES                                                                                     \
    "\"normalizer\":{\"type\":\"Sequence\",\"normalizers\":[{\"type\":\"Prepend\",\"prepend\":"    \
    "\"\xE2\x96\x81\"},{\"type\":\"Replace\",\"pattern\":{\"String\":\" \"},\"content\":"          \
    "\"\xE2\x96\x81\"}]},\"pre_tokenizer\":null"
#define METASPACE                                                                                  \
    "\"normalizer\":null,\"pre_tokenizer\":{\"type\":\"Metaspace\",\"replacement\":"               \
    "\"\xE2\x96\x81\",\"prepend_scheme\":\"first\",\"split\":false}"

static hd_tokenizer *tokenizer_of(const char *name)
{
    bool metaspace = strcmp(name, "metaspace") == 0;
    char *text = text_of(metaspace ? "llama2" : name);
    return from_text(metaspace ? with(text, SPACES, METASPACE) : text);
}

/* ---------------------------------------------------------------- against tokenizers */

static const char *const names[] = {"gpt2", "smollm", "llama3", "qwen2", "llama2", "metaspace"};

static void same_ids(const hd_tensor *ids, const golden_record *want, const char *text)
{
    ck_assert_msg(ids && hd_numel(ids) == want->numel, "'%s': %s, %s", text, hd_repr(ids),
                  hd_error_message());
    ck_assert_msg(memcmp(hd_data(ids), want->i, (size_t)want->numel * sizeof(int64_t)) == 0,
                  "'%s': %s", text, hd_repr(ids));
}

START_TEST(recorded_texts)
{
    const golden_case *c = golden_find(golden, names[_i]);
    hd_tokenizer *t = tokenizer_of(names[_i]);
    ck_assert_msg(c && t, "%s", hd_error_message());
    ck_assert_int_eq(hd_tokenizer_size(t), golden_int(c, "size", -1));
    hd_encode_options ordinary = hd_encode_defaults();
    ordinary.special = HD_SPECIAL_TEXT;
    ordinary.add_special_tokens = false;
    int64_t texts = golden_int(c, "texts", 0);
    ck_assert_int_gt(texts, 20);
    for (int k = 0; k < texts; k++) {
        HD_SCOPE;
        const char *text = golden_get(c, "text%d", k)->text;
        hd_tensor *ids = hd_tokenizer_encode_with(t, text, -1, NULL); /* (count,) */
        same_ids(ids, golden_get(c, "ids%d", k), text);
        same_ids(hd_tokenizer_encode_with(t, text, -1, &ordinary), golden_get(c, "ordinary%d", k),
                 text);
        ck_assert_str_eq(hd_tokenizer_decode_with(t, ids, false, NULL),
                         golden_get(c, "decoded%d", k)->text);
        ck_assert_str_eq(hd_tokenizer_decode(t, ids, NULL), golden_get(c, "decoded%d", k)->text);
        ck_assert_str_eq(hd_tokenizer_decode_with(t, ids, true, NULL),
                         golden_get(c, "skipped%d", k)->text);
    }
    hd_tokenizer_free(t);
}
END_TEST

/* A byte that smollm has no token for makes the string one without ids, as it was recorded. */
START_TEST(random_strings)
{
    const golden_record *want = golden_get(golden_find(golden, names[_i]), "strings");
    hd_tokenizer *t = tokenizer_of(names[_i]);
    int64_t *all = hd_alloc(4 << 20), n = 0;
    for (int k = 0; k < STRINGS; k++) {
        HD_SCOPE;
        hd__text s = random_string(k);
        hd_tensor *ids = hd_tokenizer_encode(t, s.s, (int64_t)s.len, HD_SPECIAL_ALLOW);
        if (!ids && strcmp(names[_i], "smollm") == 0 && hd_error_code() == HD_VALUE) {
            hd_error_clear();
            ids = hd_empty(HD_INT64, 0);
        }
        ck_assert_msg(ids != NULL, "'%s': %s", s.s, hd_error_message());
        hd_free(s.s);
        if (hd_numel(ids)) {
            memcpy(all + n, hd_data(ids), (size_t)hd_numel(ids) * sizeof *all);
        }
        n += hd_numel(ids);
        if (k % CHUNK == CHUNK - 1) {
            ck_assert_msg(golden_fnv(all, (uint64_t)n * sizeof *all, sizeof *all) ==
                              want->i[k / CHUNK],
                          "%s: the strings up to %d", names[_i], k);
            n = 0;
        }
    }
    hd_free(all);
    hd_tokenizer_free(t);
}
END_TEST

START_TEST(texts_of_random_ids)
{
    const golden_record *want = golden_get(golden_find(golden, names[_i]), "random");
    hd_tokenizer *t = tokenizer_of(names[_i]);
    ck_decodes(names[_i], t, 300, want);
    hd_tokenizer_free(t);
}
END_TEST

START_TEST(saved_and_loaded)
{
    hd_dict *d = hd_dict_new();
    hd_tokenizer *t = tokenizer_of(names[_i]);
    ck_assert(hd_tokenizer_save(t, d, "tok"));
    hd_tokenizer *again = hd_tokenizer_load(d, "tok");
    const char *text = "the king's 51 e\xCC\x81 \xEA\xB0\x80 <s> [L]";
    hd_tensor *x = hd_tokenizer_encode_with(t, text, -1, NULL); /* (count,) */
    hd_tensor *y = hd_tokenizer_encode_with(again, text, -1, NULL);
    ck_assert_str_eq(hd_repr(x), hd_repr(y));
    hd_tokenizer_free(t);
    hd_tokenizer_free(again);
    hd_dict_free(d);
}
END_TEST

/* ---------------------------------------------------------------- what differs by design */

START_TEST(special_tokens_and_places)
{
    hd_tokenizer *t = tokenizer_of("smollm");
    int64_t end = hd_tokenizer_id(t, "<|im_end|>", -1);
    ck_assert_int_eq(end, hd_tokenizer_size(t) - 1);
    ck_assert_int_eq(hd_tokenizer_id(t, "no such token", -1), -1);
    ck_assert_ptr_null(hd_tokenizer_encode(t, "ab<|im_end|>", -1, HD_SPECIAL_REFUSE));
    ck_error(HD_VALUE, "hd_tokenizer_encode: <|im_end|> at byte 2 is a special token. Pass "
                       "HD_SPECIAL_ALLOW to encode it, or HD_SPECIAL_TEXT to encode it as text");
    ck_assert_ptr_null(hd_tokenizer_encode_with(t, "the 12\x04x", -1, NULL));
    ck_error(HD_VALUE, "hd_tokenizer_encode_with: byte 0x04 at 6: the vocabulary has neither a "
                       "token for it nor an unknown token");
    hd_encode_options o = hd_encode_defaults();
    o.size = 8;
    ck_assert_ptr_null(hd_tokenizer_encode_with(t, "a", -1, &o));
    ck_error(HD_VALUE, sized("hd_tokenizer_encode_with: o->size 8: expected %zu, as "
                             "hd_encode_defaults() gives",
                             sizeof o));
    hd_tokenizer_free(t);
    t = tokenizer_of("llama2");
    ck_assert_int_eq(hd_tokenizer_id(t, "<0x0A>", -1), 3 + 10);
    ck_elements(hd_tokenizer_encode_with(t, "\xF0\x9F\xA7\xBF", -1, NULL), 1,
                hd_tokenizer_id(t, "\xE2\x96\x81", -1), 3 + 0xF0, 3 + 0x9F, 3 + 0xA7, 3 + 0xBF);
    hd_tensor *cut = hd_from_data(HD_INT64, ((int64_t[]){3 + 0xE2, 3 + 0x82}), 2);
    ck_assert_str_eq(hd_tokenizer_decode(t, cut, NULL), "\xEF\xBF\xBD\xEF\xBF\xBD");
    ck_assert_str_eq(hd_tokenizer_decode_bytes(t, cut, NULL), "\xE2\x82");
    hd_tokenizer_free(t);
}
END_TEST

/* A megabyte without a space is one word. */
START_TEST(a_long_word)
{
    enum { N = 1 << 20 };
    char *text = malloc(N);
    ck_assert_ptr_nonnull(text);
    for (int i = 0; i < N; i++) {
        text[i] = "tokatheming"[i % 11];
    }
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        HD_SCOPE;
        int64_t n;
        hd_tokenizer *t = tokenizer_of(names[i]);
        hd_tensor *ids = hd_tokenizer_encode(t, text, N, HD_SPECIAL_ALLOW);
        const char *again = hd_tokenizer_decode(t, ids, &n);
        ck_assert_msg(again && n == N && memcmp(again, text, N) == 0, "%s", hd_error_message());
        hd_tokenizer_free(t);
    }
    free(text);
}
END_TEST

/* ---------------------------------------------------------------- normalization */

static const struct {
    const char *text, *nfc;
} normalized[] = {
    {"e\xCC\x81", "\xC3\xA9"},
    {"a\xCC\xA3\xCC\x82", "\xE1\xBA\xAD"}, /* a, dot below, circumflex */
    {"a\xCC\x82\xCC\xA3", "\xE1\xBA\xAD"}, /* sorted first */
    {"\xE1\xBA\xA1\xCC\x82", "\xE1\xBA\xAD"},
    {"\xE1\x84\x92\xE1\x85\xA1\xE1\x86\xAB", "\xED\x95\x9C"}, /* Hangul */
    {"\xED\x95\x98\xE1\x86\xAB", "\xED\x95\x9C"},
    {"\xED\x95\x9C\xE1\x86\xAB", "\xED\x95\x9C\xE1\x86\xAB"},
    {"\xE2\x84\xAB", "\xC3\x85"},                             /* Angstrom sign */
    {"\xE0\xA5\x98", "\xE0\xA4\x95\xE0\xA4\xBC"},             /* excluded from composition */
    {"\xF0\xAF\xA0\x80", "\xE4\xB8\xBD"},                     /* U+2F800 */
    {"\xF0\xAF\xA0\x83", "\xF0\xA0\x84\xA2"},                 /* U+2F803: U+20122 */
    {"\xF0\x91\x82\x99\xF0\x91\x82\xBA", "\xF0\x91\x82\x9A"}, /* U+11099 U+110BA: U+1109A */
    {"\xF0\x9D\x85\x9E", "\xF0\x9D\x85\x97\xF0\x9D\x85\xA5"}, /* U+1D15E, excluded */
    {"\xCC\x81"
     "a",
     "\xCC\x81"
     "a"},
    {"e\xCC\xB1\xCC\x81", "\xC3\xA9\xCC\xB1"},  /* a mark between them with a lower class */
    {"e\xCC\x8A\xCC\x81", "e\xCC\x8A\xCC\x81"}, /* one of the same class blocks it */
    {"", ""},
};

START_TEST(nfc)
{
    hd__text t = {0};
    hd__text_puts(&t, "");
    hd__nfc(normalized[_i].text, (int64_t)strlen(normalized[_i].text), &t);
    ck_assert_str_eq(t.s, normalized[_i].nfc);
    hd_free(t.s);
}
END_TEST

/* ---------------------------------------------------------------- files that heed does not know */

#define ID "expected an id, an integer from 0 to 1048575"
#define TWO "expected two tokens of the vocabulary that form a third one"

/* In the file, `old` becomes `new`. */
static const struct {
    const char *file, *old, *new, *message;
} bad[] = {
    {"gpt2", "{\"version\"", "[\"version\"",
     "line 1, column 1: found an array: expected an object"},
    {"gpt2", "\"add_prefix_space\":false", "\"add_prefix_space\":true",
     "pre_tokenizer is 'ByteLevel add_prefix_space=true use_regex=true;': expected none, ByteLevel "
     "without a prefix space, alone or after Digits or the Split of Llama 3 or Qwen 2, or a "
     "Metaspace that does not split"},
    {"gpt2", "\"normalizer\":null", "\"normalizer\":{\"type\":\"Lowercase\"}",
     "normalizer is 'Lowercase;': expected none, NFC, or Replace of a space by U+2581, with or "
     "without Prepend of U+2581"},
    {"gpt2", "\"normalizer\":null", "\"normalizer\":{\"type\":\"NFC\",\"form\":1}",
     "normalizer has the unknown key 'form'"},
    {"llama3", "{1,3}", "{1,4}",
     "pre_tokenizer is 'Split behavior='Isolated' invert=false "
     "pattern='(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,4}| "
     "?[^\\s\\': "
     "expected"},
    {"llama2", "\"type\":\"Fuse\"", "\"type\":\"WordPiece\"",
     "decoder is 'Replace pattern='\xE2\x96\x81' content=' ';ByteFallback;WordPiece;Strip "
     "content=' ' start=1 stop=0;': expected ByteLevel, or Replace of U+2581, ByteFallback and "
     "Fuse, with or without Strip of one space"},
    {"llama2", SPACES, "\"normalizer\":null,\"pre_tokenizer\":null",
     "normalizer '', pre_tokenizer '' and decoder 'Replace pattern='\xE2\x96\x81' content=' "
     "';ByteFallback;Fuse;Strip content=' ' start=1 stop=0;': heed supports each of them, but not "
     "all three together"},
    {"gpt2", "\"type\":\"BPE\"", "\"type\":\"WordPiece\"",
     "model.type is 'WordPiece': expected BPE"},
    {"gpt2", "\"dropout\":null", "\"dropout\":0.1", "model.dropout is '0.1': expected null"},
    {"gpt2", "\"continuing_subword_prefix\":null", "\"continuing_subword_prefix\":\"##\"",
     "model.continuing_subword_prefix is '##': expected null"},
    {"gpt2", "\"end_of_word_suffix\":null", "\"end_of_word_suffix\":\"</w>\"",
     "model.end_of_word_suffix is '</w>': expected null"},
    {"gpt2", "\"fuse_unk\":false", "\"fuse_unk\":1",
     "model.fuse_unk is '1': expected true or false"},
    {"gpt2", "\"fuse_unk\":false", "\"fuze_unk\":1", "model has the unknown key 'fuze_unk'"},
    {"gpt2", "\"byte_fallback\":false", "\"byte_fallback\":true",
     "model.byte_fallback is true: expected false, because words consist of bytes"},
    {"llama2", "<0x41>", "<0x4G>",
     "token '<0x41>': expected a token for each byte, because of byte_fallback"},
    {"gpt2", "\"#\":", "\"!\":", "token '!': expected each token once"},
    {"gpt2", "\"!\":0", "\"!\":1e2", "an id of the vocabulary is '1e2': " ID},
    {"gpt2", "\"!\":0", "\"!\":1048576", "an id of the vocabulary is '1048576': " ID},
    {"gpt2", "\"!\":0", "\"!\":5", "id 5 is used twice: expected each id once"},
    {"gpt2", "\"merges\":[", "\"merges\":[\"ab\",", "model.merges at 0: 'ab': " TWO},
    {"gpt2", "\"merges\":[", "\"merges\":[\"a b c\",", "model.merges at 0: 'a b c': " TWO},
    {"gpt2", "\"merges\":[", "\"merges\":[[\"a\"],", "model.merges at 0: 'a': " TWO},
    {"gpt2", "\"merges\":[", "\"merges\":[[\"a\",1],", "model.merges at 0: 'a ': " TWO},
    {"gpt2", "\"merges\":[", "\"merges\":[12,", "model.merges at 0: '': " TWO},
    {"gpt2", "\"merges\":[", "\"merges\":[\"! !!\",", "model.merges at 0: '! !!': " TWO},
    {"gpt2", "\"content\":\"<|endoftext|>\"", "\"content\":\"\"",
     "added_tokens.content is '': expected a text"},
    {"gpt2", "\"id\":960", "\"id\":0",
     "added_tokens has '<|endoftext|>' with id 0: expected its id in the vocabulary, or a new id "
     "for a new token"},
    {"gpt2", "\"id\":960", "\"id\":-1", "added_tokens.id is '-1': " ID},
    {"llama3", "\"type\":\"TemplateProcessing\"", "\"type\":\"BertProcessing\"",
     "post_processor.type is 'BertProcessing': expected ByteLevel, one TemplateProcessing, or a "
     "Sequence of both"},
    {"llama2", "{\"SpecialToken\":{\"id\":\"<s>\"", "{\"SpecialToken\":{\"id\":\"<x>\"",
     "a SpecialToken of post_processor.single is '<x>': expected an entry of "
     "post_processor.special_tokens"},
    {"llama2", "\"single\":[", "\"single\":[{\"Sequence\":{}},",
     "post_processor.single is an array: expected special tokens and one Sequence with the id A"},
    /* values of other kinds, each of which tokenizers refuses */
    {"gpt2", "\"added_tokens\":[", "\"added_tokens\":7,\"x\":[",
     "added_tokens is '7': expected an array"},
    {"gpt2", "\"added_tokens\":[", "\"added_tokens\":null,\"x\":[",
     "added_tokens is null: expected an array"},
    {"gpt2", "\"special\":true", "\"special\":null",
     "added_tokens.special is null: expected true or false"},
    {"gpt2", "\"lstrip\":false", "\"lstrip\":\"no\"",
     "added_tokens.lstrip is 'no': expected true or false"},
    {"gpt2", "\"type\":\"BPE\"", "\"type\":null", "model.type is null: expected BPE"},
    {"gpt2", "\"dropout\":null", "\"dropout\":\"\"", "model.dropout is '': expected null"},
    {"gpt2", "\"unk_token\":null", "\"unk_token\":7",
     "model.unk_token is '7': expected a text or null"},
    {"gpt2", "\"normalizer\":null", "\"normalizer\":7",
     "normalizer is '7': expected an object or null"},
    {"gpt2", "\"normalizer\":null", "\"normalizer\":{\"type\":\"Sequence\",\"normalizers\":7}",
     "normalizers is '7': expected an array"},
    {"gpt2", "\"normalizer\":null", "\"normalizer\":{\"type\":\"Sequence\",\"normalizers\":[null]}",
     "normalizer is null: expected an object or null"},
    {"gpt2", "\"use_regex\":true", "\"use_regex\":\"true\"",
     "pre_tokenizer is 'ByteLevel add_prefix_space=false use_regex='true';': expected"},
    {"gpt2", "\"use_regex\":true", "\"use_regex\":{}",
     "pre_tokenizer is 'ByteLevel add_prefix_space=false use_regex=;': expected"},
    {"gpt2", "\"post_processor\":{", "\"post_processor\":7,\"x\":{",
     "post_processor is '7': expected an object or null"},
    {"llama3", "\"processors\":[", "\"processors\":{},\"x\":[",
     "post_processor.processors is an object: expected an array"},
    {"llama2", "{\"SpecialToken\":{\"id\":\"<s>\"", "{\"SpecialToken\":{\"id\":1",
     "a SpecialToken of post_processor.single is '1': expected a text"},
    {"llama2", "\"ids\":[1]", "\"ids\":1",
     "ids in post_processor.special_tokens is '1': expected an array"},
    {"llama2", "\"ids\":[1]", "\"ids\":[\"1\"]",
     "ids in post_processor.special_tokens is '1': " ID},
    {"llama2", "\"ids\":[1]", "\"ids\":[99999]",
     "ids in post_processor.special_tokens is '99999': expected an id of the vocabulary"},
    {"llama2", "{\"Sequence\":{\"id\":\"A\"", "{\"Sequence\":{\"id\":\"B\"",
     "post_processor.single is an array: expected special tokens and one Sequence with the id A"},
    {"qwen2", "\"single_word\":false", "\"single_word\":true",
     "added_tokens.single_word is true: expected false"},
};

START_TEST(files_that_heed_does_not_know)
{
    char want[700];
    int64_t before = hd_bytes_live();
    ck_assert_ptr_null(from_text(with(text_of(bad[_i].file), bad[_i].old, bad[_i].new)));
    snprintf(want, sizeof want, "hd_tokenizer_json: '%s': %s", temporary("tokenizer.json"),
             bad[_i].message);
    ck_assert_int_eq(hd_error_code(), HD_FORMAT);
    ck_assert_msg(strncmp(hd_error_message(), want, strlen(want)) == 0, "%s\nin place of\n%s",
                  hd_error_message(), want);
    hd_error_clear();
    ck_assert_int_eq(hd_bytes_live(), before);
}
END_TEST

/* A file of the tokens a, b, ab and ?, with more keys. */
static hd_tokenizer *small(const char *merges, const char *model, const char *top)
{
    hd__text t = {0};
    hd__text_format(&t,
                    "{\"model\": {\"vocab\": {\"a\": 0, \"b\": 1, \"ab\": 2, \"?\": 3}, "
                    "\"merges\": %s%s}, \"decoder\": {\"type\": \"ByteLevel\"}, "
                    "\"pre_tokenizer\": {\"type\": \"ByteLevel\", \"add_prefix_space\": "
                    "false}%s}",
                    merges, model, top);
    const char *path = file_of("tokenizer.json", t.s, t.len);
    hd_free(t.s);
    return hd_tokenizer_json(path);
}

START_TEST(small_files)
{
    hd_tokenizer *t = small("[\"a b\"]", "", "");
    ck_assert_ptr_nonnull(t);
    ck_elements(hd_tokenizer_encode_with(t, "aab?", -1, NULL), 0, 2, 3);
    ck_assert_ptr_null(hd_tokenizer_encode(t, "abc", -1, HD_SPECIAL_TEXT));
    ck_error(HD_VALUE, "hd_tokenizer_encode: byte 0x63 at 2: the vocabulary has neither a token "
                       "for it nor an unknown token");
    hd_tokenizer_free(t);
    t = small("[[\"a\", \"b\"]]", ", \"unk_token\": \"?\"", "");
    ck_elements(hd_tokenizer_encode(t, "xxab", -1, HD_SPECIAL_TEXT), 3, 3, 2);
    hd_tokenizer_free(t);
    t = small("[]", ", \"unk_token\": \"?\", \"fuse_unk\": true", "");
    ck_elements(hd_tokenizer_encode(t, "xxab", -1, HD_SPECIAL_TEXT), 3, 0, 1);
    hd_tokenizer_free(t);
    t = small("[]", "",
              ", \"added_tokens\": [{\"id\": 4, \"content\": \" \", \"rstrip\": true}, {\"id\": 5, "
              "\"content\": \"\\n\", \"lstrip\": true, \"rstrip\": true}]");
    ck_elements(hd_tokenizer_encode(t, "a \n b", -1, HD_SPECIAL_TEXT), 0, 4, 4, 1);
    /* U+00A0 is white space of two bytes */
    ck_elements(hd_tokenizer_encode(t, "a\xC2\xA0\nb", -1, HD_SPECIAL_TEXT), 0, 5, 1);
    hd_tokenizer_free(t);
    ck_assert_ptr_null(small("{}", "", ""));
    ck_error(HD_FORMAT,
             sized("hd_tokenizer_json: '%s': model.merges is an object: expected an array",
                   temporary("tokenizer.json")));
    ck_assert_ptr_null(small("[]", "", ", \"post_processor\": {\"type\": \"TemplateProcessing\"}"));
    ck_error(HD_FORMAT, sized("hd_tokenizer_json: '%s': post_processor.single is null: expected "
                              "special tokens and one Sequence with the id A",
                              temporary("tokenizer.json")));
    ck_assert_ptr_null(small("[]", "", ", \"a\": [}"));
    ck_error(HD_FORMAT, sized("hd_tokenizer_json: '%s': line 1, column 178: found '}': expected a "
                              "value",
                              temporary("tokenizer.json")));
}
END_TEST

START_TEST(files_that_cannot_be_read)
{
    const char *none = temporary("no.json");
    ck_assert_ptr_null(hd_tokenizer_json(none));
    ck_error(HD_IO, sized("hd_tokenizer_json: '%s': cannot open: No such file or directory", none));
    ck_assert_ptr_null(hd_tokenizer_json(NULL));
    ck_error(HD_NULL_ARG, "hd_tokenizer_json: path is NULL");
}
END_TEST

Suite *suite_model_files(void)
{
    enum { NAMES = sizeof names / sizeof names[0] };
    const TTest *const tests[] = {special_tokens_and_places, a_long_word, small_files,
                                  files_that_cannot_be_read};
    Suite *s = SUITE_BETWEEN("model_files", tests, setup, teardown);
    TCase *c = tcase_create("recorded");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_loop_test(c, recorded_texts, 0, NAMES);
    tcase_add_loop_test(c, random_strings, 0, NAMES);
    tcase_add_loop_test(c, texts_of_random_ids, 0, NAMES);
    tcase_add_loop_test(c, saved_and_loaded, 0, NAMES);
    suite_add_tcase(s, c);
    suite_add_loop(s, nfc, sizeof normalized / sizeof normalized[0]);
    suite_add_loop(s, files_that_heed_does_not_know, sizeof bad / sizeof bad[0]);
    return s;
}
