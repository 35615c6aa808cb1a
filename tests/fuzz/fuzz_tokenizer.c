/* fuzz_tokenizer.c - fuzzes tokenizers that are made from a text or loaded from a dictionary: they
 * encode any text and decode any ids.
 *
 *   b                        hd_tokenizer_bytes
 *   g                        GPT-2's files of tests/golden
 *   c CHARS                  hd_tokenizer_chars
 *   d KIND 1E CHARS 1E VOCAB 1E MERGES      hd_tokenizer_load
 *
 * Then 1E TEXT 1E IDS follow. Each byte of IDS is an id, and the byte FF begins one of 8 bytes. */
#include "tokens.h"

enum { MARK = 0x1E, IDS = 64 };

static hd_tokenizer *gpt2;

/* A table up to the largest code point marks the characters of a text. A vocabulary may have large
 * ids. */
static int64_t bound(size_t size)
{
    return 0x110000 + 64 * ((int64_t)size + 16384) + IDS_MOST;
}

void fuzz_setup(void)
{
    fuzz_bound = bound;
    gpt2 = hd_tokenizer_bpe(GOLDEN_DIR "/bpe_vocab.json", GOLDEN_DIR "/bpe_merges.txt");
}

/* The next part as an entry of d, unless it is empty. */
static void set_part(hd_dict *d, const char *name, fuzz_input *in)
{
    size_t n;
    const uint8_t *part = fuzz_part(in, MARK, &n);
    char *text = spelled_out(part, n, &n);
    if (n > 0) {
        fuzz_check(hd_dict_set_string(d, name, text), "'%s' cannot be set", name);
    }
    free(text);
}

static hd_tokenizer *load(fuzz_input *in)
{
    hd_dict *d = hd_dict_new();
    set_part(d, "t.kind", in);
    set_part(d, "t.chars", in);
    set_part(d, "t.vocab", in);
    set_part(d, "t.merges", in);
    hd_tokenizer *t = hd_tokenizer_load(d, "t");
    hd_dict_free(d);
    return t;
}

static hd_tokenizer *from_chars(fuzz_input *in)
{
    size_t n;
    const uint8_t *part = fuzz_part(in, MARK, &n);
    return hd_tokenizer_chars((const char *)part, (int64_t)n);
}

static hd_tokenizer *make(fuzz_input *in)
{
    size_t n;
    switch (fuzz_byte(in)) {
    case 'g': fuzz_part(in, MARK, &n); return gpt2;
    case 'c': return from_chars(in);
    case 'd': return load(in);
    default: fuzz_part(in, MARK, &n); return hd_tokenizer_bytes();
    }
}

static void check_decoding(const hd_tokenizer *t, fuzz_input *in)
{
    int64_t ids[IDS], n = 0, length = -1;
    while (fuzz_more(in) && n < IDS) {
        ids[n] = fuzz_byte(in);
        if (ids[n] == 0xFF) {
            uint64_t wide = 0;
            for (int i = 0; i < 8; i++) {
                wide = wide << 8 | fuzz_byte(in);
            }
            ids[n] = (int64_t)wide;
        }
        n++;
    }
    hd_tensor *x = hd_from_data_n(HD_INT64, ids, 1, &n);
    const char *bytes = hd_tokenizer_decode_bytes(t, x, &length);
    if (!fuzz_verdict(bytes, "hd_tokenizer_decode_bytes")) {
        fuzz_check(!hd_tokenizer_decode(t, x, NULL), "only one of both decodes");
        hd_error_clear();
        return;
    }
    fuzz_check(bytes[length] == '\0', "a text without an end");
    const char *text = hd_tokenizer_decode(t, x, &length);
    fuzz_check(text && text[length] == '\0', "only one of both decodes");
    check_encoding(t, text, (size_t)length); /* a token may be a part of a character */
}

void fuzz_one(const uint8_t *data, size_t size)
{
    fuzz_input in = {data, data + size};
    size_t n;
    hd_tokenizer *t = make(&in);
    if (fuzz_verdict(t, "a tokenizer")) {
        const char *text = (const char *)fuzz_part(&in, MARK, &n);
        check_encoding(t, text, n);
        check_decoding(t, &in);
        if (t != gpt2) {
            check_saving(t, text, n);
        }
        fuzz_check(hd_tokenizer_id(t, text, (int64_t)n) < hd_tokenizer_size(t), "an id too large");
    }
    if (t != gpt2) {
        hd_tokenizer_free(t);
    }
}
