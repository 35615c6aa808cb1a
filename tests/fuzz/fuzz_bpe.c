/* fuzz_bpe.c - fuzzes the BPE files of GPT-2. The bytes are vocab.json, merges.txt and a text:
 * VOCAB 1E MERGES 1E TEXT. A byte 1 in vocab.json stands for the entries of the 256 bytes
 * (tokens.h). A tokenizer that loads must encode the text and decode it to the same text, and be
 * the same after a save and a load. */
#include "tokens.h"

enum { MARK = 0x1E };

/* Four times the entries of all bytes, beside what the file itself and its ids need. */
static int64_t bound(size_t size)
{
    return 64 * ((int64_t)size + 16384) + IDS_MOST;
}

void fuzz_setup(void)
{
    fuzz_bound = bound;
}

void fuzz_one(const uint8_t *data, size_t size)
{
    fuzz_input in = {data, data + size};
    size_t n_vocab, n_merges, n_text;
    const uint8_t *part = fuzz_part(&in, MARK, &n_vocab);
    char *vocab = spelled_out(part, n_vocab, &n_vocab);
    const uint8_t *merges = fuzz_part(&in, MARK, &n_merges);
    const uint8_t *text = fuzz_part(&in, MARK, &n_text);
    hd_tokenizer *t =
        hd_tokenizer_bpe(fuzz_file(0, vocab, n_vocab), fuzz_file(1, merges, n_merges));
    if (fuzz_verdict(t, "hd_tokenizer_bpe")) {
        check_encoding(t, (const char *)text, n_text);
        check_saving(t, (const char *)text, n_text);
    }
    hd_tokenizer_free(t);
    free(vocab);
}
