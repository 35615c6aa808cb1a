/* bpe_read.c - functions that the readers of tokenizers share: bytes spelled as characters,
 * messages, files, and the tables of an encoder's tokens. */
#include "base/memory/alloc.h"
#include "base/text/utf8.h"
#include "tokenizers/bpe_json.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/files/whole_file.h"

/* ---------------------------------------------------------------- bytes as characters */

void hd__bpe_alphabet_init(hd__bpe_alphabet *a)
{
    uint32_t next = HD__BYTES_SPELLED;
    memset(a->byte, -1, sizeof a->byte);
    for (int b = 0; b < HD__BYTES_SPELLED; b++) {
        bool printable = (b > 32 && b < 127) || (b > 160 && b != 173);
        a->code[b] = printable ? (uint32_t)b : next++;
        a->byte[a->code[b]] = (int16_t)b;
    }
}

bool hd__bpe_unspell(const hd__bpe_alphabet *a, const char *s, int64_t n, hd__text *bytes)
{
    uint32_t code;
    if (!a) {
        hd__text_add(bytes, s, (size_t)n);
        return true;
    }
    for (int64_t i = 0; i < n;) {
        int length = hd__utf8_next(s + i, n - i, &code);
        int byte = length > 0 && code < HD__CODES_SPELLED ? a->byte[code] : -1;
        if (byte < 0) {
            return false;
        }
        hd__text_add(bytes, (const char[]){(char)byte}, 1);
        i += length;
    }
    return true;
}

/* ---------------------------------------------------------------- messages */

void hd__bpe_source_fail(hd__bpe_reader *r, const hd__bpe_source *f, const char *s, int64_t n,
                         const char *expected)
{
    r->failed =
        !hd_fail(HD_FORMAT, "%s: token '%.*s': expected %s", f->where, HD__CLIP(s, n), expected);
}

void hd__bpe_token_fail(hd__bpe_reader *r, const hd__bpe_source *f, const char *token, int64_t n,
                        const char *expected)
{
    const hd__bpe_alphabet *a = r->alphabet;
    hd__text s = {0};
    char c[4];
    hd__text_puts(&s, "");
    for (int64_t i = 0; i < n; i++) {
        int length = a ? hd__utf8_put(a->code[(unsigned char)token[i]], c) : 1;
        hd__text_add(&s, a ? c : token + i, (size_t)length);
    }
    r->failed = true;
    if (!s.failed) {
        hd__bpe_source_fail(r, f, s.s, (int64_t)s.len, expected);
    }
    hd_free(s.s);
}

/* ---------------------------------------------------------------- files */

/* Sets f to the text s, which comes from hd_alloc and ends in a zero byte; f owns it. `name` is for
 * messages. If s is NULL, because the caller could not read it, returns false and changes
 * nothing. */
static bool source_init(hd__bpe_source *f, const char *name, char *s, size_t n)
{
    if (s) {
        snprintf(f->where, sizeof f->where, "'%.*s'", HD__CUT(name));
        f->s = s;
        f->n = (int64_t)n;
    }
    return s;
}

bool hd__bpe_source_read(hd__bpe_source *f, const char *path)
{
    size_t n;
    char *s = hd__file_whole_read(path, INT32_MAX, &n);
    return source_init(f, path, s, n);
}

bool hd__bpe_source_get(hd__bpe_source *f, const hd_dict *d, const char *name)
{
    const char *text = hd_dict_get_string(d, name);
    size_t n = text ? strlen(text) : 0;
    char *copy = text ? hd_alloc(n + 1) : NULL;
    return source_init(f, name, copy ? memcpy(copy, text, n + 1) : NULL, n);
}

/* ---------------------------------------------------------------- tokens */

/* Gives the id to the entry that is added to r->entries next. Sets r->failed, with an error, if
 * another entry has this id, or if memory runs out. */
static void id_take(hd__bpe_reader *r, int64_t id)
{
    hd__bpe_entries *e = &r->entries;
    if (!hd__text_grow(&e->by_id, &e->ids_room, id + 1, sizeof *e->by_id)) {
        r->failed = true;
        return;
    }
    for (; e->ids <= id; e->ids++) {
        e->by_id[e->ids] = 0;
    }
    if (e->by_id[id]) {
        r->failed = !hd_fail(HD_FORMAT, "%s: id %" PRId64 " is used twice: expected each id once",
                             r->f.where, id);
    }
    e->by_id[id] = (int32_t)e->n + 1;
}

void hd__bpe_entry_add(hd__bpe_reader *r, const char *s, int64_t n, int64_t id, bool hidden)
{
    hd__bpe_entries *e = &r->entries;
    const size_t begin = e->bytes.len;
    if (!hd__bpe_unspell(r->alphabet, s, n, &e->bytes)) {
        hidden = true;
        hd__text_cut(&e->bytes, begin);
        hd__text_add(&e->bytes, s, (size_t)n);
        if (r->merges.s) {
            hd__bpe_source_fail(r, &r->f, s, n, "GPT-2's characters for bytes");
        }
    }
    r->failed =
        r->failed || e->bytes.failed || !hd__text_grow(&e->v, &e->room, e->n + 1, sizeof *e->v);
    if (!r->failed) {
        id_take(r, id);
    }
    if (!r->failed) {
        e->v[e->n++] = (hd__bpe_entry){(int64_t)begin, (int64_t)(e->bytes.len - begin), hidden};
    }
}

bool hd__bpe_id_in_vocab(const hd__bpe_reader *r, int64_t id)
{
    const hd__bpe_entries *e = &r->entries;
    return id < e->ids && e->by_id[id] > 0 && e->by_id[id] <= r->n_vocab;
}

int32_t *hd__bpe_slots(int64_t n, uint32_t *mask)
{
    uint32_t slots = 2;
    while (slots < 2 * n) {
        slots *= 2;
    }
    *mask = slots - 1;
    return hd__mem_alloc_zeroed(slots * sizeof(int32_t));
}

/* Copies the tokens of r->entries to b in the order of their ids, and adds those that are not
 * hidden to b->slots. An id without a token gets no bytes. Returns false with an error if two
 * tokens in b->slots would have the same bytes. */
static bool enter_tokens(hd__bpe_reader *r, hd__bpe *b)
{
    const hd__bpe_entries *e = &r->entries;
    for (int64_t id = 0, end = 0; id < e->ids; id++) {
        const hd__bpe_entry *of = e->by_id[id] ? &e->v[e->by_id[id] - 1] : NULL;
        if (of) {
            memcpy(b->base.bytes + end, e->bytes.s + of->begin, (size_t)of->n);
            end += of->n;
        } else {
            b->base.kinds[id] = HD__NO_TOKEN;
        }
        b->base.starts[id + 1] = end;
        if (of && !of->hidden && !hd__bpe_enter(b, (int32_t)id)) {
            hd__bpe_token_fail(r, &r->f, e->bytes.s + of->begin, of->n, "each token once");
            return false;
        }
    }
    return true;
}

hd__bpe *hd__bpe_new(hd__bpe_reader *r)
{
    const hd__bpe_entries *e = &r->entries;
    const hd__tokenizer_type *type = r->merges.s ? &hd__bpe_type : &hd__bpe_json_type;
    hd__bpe *b = (hd__bpe *)hd__tokenizer_new(type, sizeof *b, e->ids, (int64_t)e->bytes.len);
    if (!b) {
        return NULL;
    }
    b->unknown = -1;
    b->slots = hd__bpe_slots(e->n, &b->mask);
    b->base.kinds = hd__mem_alloc_zeroed((size_t)e->ids + 1);
    if (!b->slots || !b->base.kinds || !enter_tokens(r, b)) {
        hd_tokenizer_free(&b->base);
        return NULL;
    }
    return b;
}

void hd__bpe_bytes_find(hd__bpe_reader *r, const char *expected)
{
    hd__bpe *b = r->b;
    for (int i = 0; i < 256 && !r->failed; i++) {
        char name[8] = {(char)i};
        int n = b->form.words ? 1 : snprintf(name, sizeof name, "<0x%02X>", (unsigned)i);
        b->fallback[i] = hd__bpe_find(b, name, n);
        if (b->fallback[i] < 0) {
            hd__bpe_token_fail(r, &r->f, name, n, expected);
        }
    }
}

void hd__bpe_bytes_mark(hd__bpe *b)
{
    for (int64_t id = 0, n; id < b->base.size; id++) {
        const char *s = hd__tokenizer_token(&b->base, id, &n);
        if (n == 6 && memcmp(s, "<0x", 3) == 0 && (isxdigit((unsigned char)s[3]) || s[3] == '+') &&
            isxdigit((unsigned char)s[4]) && s[5] == '>' &&
            !(b->base.kinds[id] & HD__SPACED_TOKEN)) {
            b->base.kinds[id] |= HD__BYTE_TOKEN;
        }
    }
}
