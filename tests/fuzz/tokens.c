/* tokens.c - checks a tokenizer that was made from an input of the fuzzer. */
#include "tokens.h"

static size_t put_code(char *to, int code)
{
    if (code < 0x80) {
        to[0] = (char)code;
        return 1;
    }
    to[0] = (char)(0xC0 | code >> 6);
    to[1] = (char)(0x80 | (code & 0x3F));
    return 2;
}

/* The entries of all bytes, with a comma after each. */
static size_t put_bytes(char *to)
{
    int next = 256;
    size_t n = 0;
    for (int b = 0; b < 256; b++) {
        const bool printable = (b > 32 && b < 127) || (b > 160 && b != 173);
        to[n++] = '"';
        if (b == '"' || b == '\\') {
            to[n++] = '\\';
        }
        n += put_code(to + n, printable ? b : next++);
        n += (size_t)sprintf(to + n, "\":%d,", b);
    }
    return n;
}

char *spelled_out(const uint8_t *part, size_t n, size_t *length)
{
    static char all[12 * 256];
    static size_t all_n;
    size_t marks = 0;
    if (!all_n) {
        all_n = put_bytes(all);
    }
    for (size_t i = 0; i < n; i++) {
        marks += part[i] == 1;
    }
    marks = marks < 4 ? marks : 4;
    char *text = malloc(n + marks * all_n + 1), *to = text;
    fuzz_check(text, "memory ran out");
    for (size_t i = 0; i < n; i++) {
        if (part[i] == 1 && marks > 0) {
            memcpy(to, all, all_n);
            to += all_n;
            marks--;
        } else {
            *to++ = (char)part[i];
        }
    }
    *to = '\0';
    *length = (size_t)(to - text);
    return text;
}

void check_encoding(const hd_tokenizer *t, const char *text, size_t n)
{
    static const hd_special ways[] = {HD_SPECIAL_TEXT, HD_SPECIAL_ALLOW, HD_SPECIAL_REFUSE};
    for (int way = 0; way < 3; way++) {
        int64_t length = -1;
        hd_tensor *ids = hd_tokenizer_encode(t, text, (int64_t)n, ways[way]); /* (count,) */
        if (!fuzz_verdict(ids, "hd_tokenizer_encode")) {
            continue;
        }
        const int64_t *id = hd_data(ids);
        for (int64_t i = 0; i < hd_numel(ids); i++) {
            fuzz_check(id[i] >= 0 && id[i] < hd_tokenizer_size(t), "id %lld", (long long)id[i]);
        }
        const char *again = hd_tokenizer_decode_bytes(t, ids, &length);
        fuzz_check(again && length == (int64_t)n && memcmp(again, text, n) == 0,
                   "a text is not what its ids give");
        fuzz_check(hd_tokenizer_decode(t, ids, &length) && length >= 0, "ids have no text");
    }
}

void check_saving(const hd_tokenizer *t, const char *text, size_t n)
{
    hd_dict *d = hd_dict_new(), *e = hd_dict_new();
    fuzz_check(hd_tokenizer_save(t, d, "t"), "a tokenizer cannot be saved");
    hd_tokenizer *again = hd_tokenizer_load(d, "t");
    fuzz_check(again, "a saved tokenizer cannot be loaded");
    fuzz_check(hd_tokenizer_save(again, e, "t") && fuzz_same_dict(d, e), "it is saved otherwise");
    hd_tensor *a = hd_tokenizer_encode(t, text, (int64_t)n, HD_SPECIAL_TEXT);
    hd_error_clear();
    hd_tensor *b = hd_tokenizer_encode(again, text, (int64_t)n, HD_SPECIAL_TEXT);
    hd_error_clear();
    fuzz_check(!a == !b && (!a || fuzz_same_tensor(a, b)), "it encodes otherwise");
    hd_tokenizer_free(again);
    hd_dict_free(d);
    hd_dict_free(e);
}
