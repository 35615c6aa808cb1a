/* fuzz_tokenizer_json.c - fuzzes tokenizer.json. The bytes are the file and a text: FILE 1E TEXT 1E
 * IDS. A byte 1 in the file stands for the entries of the 256 bytes (tokens.h). A tokenizer that
 * loads must encode the text and decode the ids, each of which is one byte, and be the same after a
 * save and a load. */
#include "tokens.h"

enum { MARK = 0x1E, IDS = 64 };

/* A text in which each space becomes three bytes is one word, whose pairs stand in a heap. */
static int64_t bound(size_t size)
{
    return 1024 * ((int64_t)size + 16384) + IDS_MOST;
}

void fuzz_setup(void)
{
    fuzz_bound = bound;
}

static void check_ids(const hd_tokenizer *t, const hd_tensor *ids)
{
    int64_t bytes = -1, length = -1;
    const char *text = hd_tokenizer_decode_bytes(t, ids, &bytes);
    if (!fuzz_verdict(text, "hd_tokenizer_decode_bytes")) {
        return;
    }
    fuzz_check(text[bytes] == '\0', "a text without an end");
    text = hd_tokenizer_decode_with(t, ids, false, &length);
    fuzz_check(text && text[length] == '\0', "only one of both decodes");
    int64_t shorter = length;
    fuzz_check(hd_tokenizer_decode_with(t, ids, true, &shorter),
               "special tokens cannot be skipped");
    fuzz_check(shorter <= length + 2 * hd_numel(ids), "a text grows as special tokens are skipped");
}

static void check_text(const hd_tokenizer *t, const char *text, size_t n)
{
    hd_encode_options o = hd_encode_defaults();
    for (int way = 0; way < 3; way++) {
        o.special = (hd_special)way;
        hd_tensor *ids = hd_tokenizer_encode_with(t, text, (int64_t)n, &o); /* (count,) */
        if (!fuzz_verdict(ids, "hd_tokenizer_encode_with")) {
            continue;
        }
        const int64_t *id = hd_data(ids);
        for (int64_t i = 0; i < hd_numel(ids); i++) {
            fuzz_check(id[i] >= 0 && id[i] < hd_tokenizer_size(t), "id %lld", (long long)id[i]);
        }
        check_ids(t, ids);
    }
}

void fuzz_one(const uint8_t *data, size_t size)
{
    fuzz_input in = {data, data + size};
    size_t n_file, n_text;
    const uint8_t *part = fuzz_part(&in, MARK, &n_file);
    char *file = spelled_out(part, n_file, &n_file);
    const uint8_t *text = fuzz_part(&in, MARK, &n_text);
    hd_tokenizer *t = hd_tokenizer_json(fuzz_file(0, file, n_file));
    if (fuzz_verdict(t, "hd_tokenizer_json")) {
        int64_t ids[IDS], n = 0;
        while (fuzz_more(&in) && n < IDS) {
            ids[n++] = fuzz_byte(&in);
        }
        check_text(t, (const char *)text, n_text);
        check_ids(t, hd_from_data_n(HD_INT64, ids, 1, &n));
        check_saving(t, (const char *)text, n_text);
    }
    hd_tokenizer_free(t);
    free(file);
}
