/* tokens.c - a sequence of token ids: a mapped file, a copy in memory, or a part of either.
 *
 * A file contains only the ids, with two or four bytes each, the low byte first on every machine. A
 * part points into the bytes of its owner, the whole sequence, and holds a reference to it. */
#include <errno.h>
#include <inttypes.h>

#include "base/files/file.h"
#include "base/memory/refs.h"
#include "data/tokens.h"
#include "tensor/copy.h"
#include "tensor/tensor_args.h"

/* ---------------------------------------------------------------- life */

static hd_tokens *tokens_new(int width, int64_t len, unsigned char *bytes)
{
    hd_tokens *t = hd__object_new(HD__TOKENS, sizeof *t);
    if (t) {
        atomic_init(&t->refs, 1);
        t->width = width;
        t->len = len;
        t->bytes = bytes;
    }
    return t;
}

hd_tokens *hd__data_tokens_hold(const hd_tokens *t)
{
    hd_tokens *held = (hd_tokens *)t;
    hd__refs_up(&held->refs);
    return held;
}

void hd__data_tokens_drop(hd_tokens *t)
{
    while (t && hd__refs_down(&t->refs)) {
        hd_tokens *owner = t->owner;
        if (t->mapped > 0) {
            hd__sys_unmap(t->bytes, t->mapped);
        }
        if (t->allocated) {
            hd_free(t->bytes);
        }
        hd__mem_retire_object(t, "hd_tokens_free");
        t = owner;
    }
}

void hd_tokens_free(hd_tokens *t)
{
    HD__CALL("hd_tokens_free");
    if (hd__object_may_free("t", t, HD_NONE) && hd__object_given_up("t", &t->freed)) {
        hd__data_tokens_drop(t);
    }
}

/* ---------------------------------------------------------------- arguments */

bool hd__data_tokens_given(const hd_tokens *t)
{
    return hd__object("t", t) && hd__object_not_given_up("t", &t->freed, "hd_tokens_free");
}

static bool check_type(hd_token_type type)
{
    return type == HD_TOKEN_U16 || type == HD_TOKEN_U32 ||
           hd_fail(HD_VALUE, "type %d: expected HD_TOKEN_U16 or HD_TOKEN_U32", (int)type);
}

/* Returns ids as a contiguous tensor. Returns NULL with an error unless ids is int64 (n,) and its
 * values are from 0 to 2^(8 * width) - 1. */
static hd_tensor *checked_ids(const hd_tensor *ids, int width)
{
    if (!hd__tensor_arg("ids", ids)) {
        return NULL;
    }
    if (ids->dtype != HD_INT64 || ids->ndim != 1) {
        return hd_fail(HD_SHAPE, "ids %s %s: expected int64 (n,)", hd_dtype_name(ids->dtype),
                       HD__SHAPE(ids));
    }
    hd_tensor *x = hd__tensor_contiguous((hd_tensor *)ids); /* (n,) */
    int64_t max = ((int64_t)1 << 8 * width) - 1;
    const int64_t *v = x ? hd__tensor_ptr(x) : NULL;
    for (int64_t i = 0; x && i < x->numel; i++) {
        if (v[i] < 0 || v[i] > max) {
            return hd_fail(HD_VALUE,
                           "id %" PRId64 " at position %" PRId64 ": expected 0 to %" PRId64, v[i],
                           i, max);
        }
    }
    return x;
}

/* ---------------------------------------------------------------- bytes */

void hd__data_tokens_copy(const hd_tokens *t, int64_t at, int64_t n, int64_t *ids)
{
    const unsigned char *p = t->bytes + at * t->width;
    for (int64_t i = 0; i < n; i++, p += t->width) {
        ids[i] = p[0] | p[1] << 8;
        ids[i] |= t->width == 2 ? 0 : p[2] << 16 | (int64_t)p[3] << 24;
    }
}

/* ---------------------------------------------------------------- making */

/* Maps the file at path, and sets t->bytes, t->mapped and t->len. An empty file is valid, but not
 * mapped. Returns false with an error if the file is not regular, if its size is not a multiple of
 * t->width, or if it cannot be mapped. */
static bool tokens_map(hd_tokens *t, const char *path)
{
    static unsigned char none;
    int64_t n;
    int fd = hd__file_regular_open(path, &n);
    if (fd < 0) {
        return false;
    }
    bool ok =
        n % t->width == 0 ||
        hd_fail(HD_FORMAT, "'%.*s': the file has %" PRId64 " bytes: expected a multiple of %d",
                HD__CUT(path), n, t->width);
    if (ok) {
        t->bytes = n > 0 ? hd__sys_map(fd, n, false) : &none;
        ok = t->bytes || hd__file_fail(path, "map", errno);
    }
    hd__sys_drop(fd);
    if (ok) {
        t->mapped = (size_t)n;
        t->len = n / t->width;
    }
    return ok;
}

hd_tokens *hd_tokens_open(const char *path, hd_token_type type)
{
    HD__CALL("hd_tokens_open");
    hd_tokens *t =
        hd__arg_given("path", path) && check_type(type) ? tokens_new((int)type, 0, NULL) : NULL;
    if (t && !tokens_map(t, path)) {
        hd__data_tokens_drop(t);
        return NULL;
    }
    return t;
}

/* Makes a sequence that owns a copy of ids, with `width` bytes for each id. Returns NULL with an
 * error if checked_ids does, or if memory runs out. */
static hd_tokens *tokens_of(int width, const hd_tensor *ids)
{
    HD__SCOPE_OR(NULL);
    hd_tensor *x = checked_ids(ids, width); /* (n,) */
    unsigned char *bytes = x ? hd__arg_alloc_items(x->numel, (size_t)width) : NULL;
    hd_tokens *t = bytes ? tokens_new(width, x->numel, bytes) : NULL;
    if (!t) {
        hd_free(bytes);
        return NULL;
    }
    t->allocated = true;
    const int64_t *v = hd__tensor_ptr(x);
    for (int64_t i = 0; i < t->len; i++) {
        for (int b = 0; b < width; b++) {
            *bytes++ = (unsigned char)(v[i] >> 8 * b);
        }
    }
    return t;
}

hd_tokens *hd_tokens_from(const hd_tensor *ids)
{
    HD__CALL("hd_tokens_from");
    return tokens_of(HD_TOKEN_U32, ids);
}

bool hd_tokens_write(const char *path, hd_token_type type, const hd_tensor *ids)
{
    HD__CALL("hd_tokens_write");
    if (!hd__arg_may_save() || !hd__arg_given("path", path) || !check_type(type)) {
        return false;
    }
    hd_tokens *t = tokens_of((int)type, ids);
    bool ok = t && hd__file_whole_write(path, t->bytes, (size_t)(t->len * t->width));
    hd__data_tokens_drop(t);
    return ok;
}

/* ---------------------------------------------------------------- reading */

int64_t hd_tokens_len(const hd_tokens *t)
{
    HD__CALL("hd_tokens_len");
    return hd__data_tokens_given(t) ? t->len : -1;
}

hd_tensor *hd_tokens_read(const hd_tokens *t, int64_t at, int64_t n)
{
    HD__CALL("hd_tokens_read");
    if (!hd__data_tokens_given(t)) {
        return NULL;
    }
    if (at < 0 || n < 0 || at > t->len - n) {
        return hd_fail(HD_INDEX,
                       "at %" PRId64 ", n %" PRId64 ": expected a range within the %" PRId64
                       " tokens",
                       at, n, t->len);
    }
    hd_tensor *ids = hd__tensor_empty(HD_INT64, 1, &n); /* (n,) */
    if (ids) {
        hd__data_tokens_copy(t, at, n, hd__tensor_ptr(ids));
    }
    return ids;
}

static hd_tokens *tokens_part(const hd_tokens *t, int64_t at, int64_t len)
{
    hd_tokens *p = tokens_new(t->width, len, t->bytes + at * t->width);
    if (p) {
        p->owner = hd__data_tokens_hold(t);
    }
    return p;
}

bool hd_tokens_split(const hd_tokens *t, double fraction, hd_tokens **first, hd_tokens **rest)
{
    HD__CALL("hd_tokens_split");
    if (!hd__data_tokens_given(t) || !hd__arg_given("first", first) ||
        !hd__arg_given("rest", rest)) {
        return false;
    }
    *first = *rest = NULL;
    if (!(fraction >= 0 && fraction <= 1)) {
        return hd_fail(HD_VALUE, "fraction %g: expected 0 to 1", fraction);
    }
    int64_t cut = (int64_t)(fraction * (double)t->len);
    *first = tokens_part(t, 0, cut);
    *rest = *first ? tokens_part(t, cut, t->len - cut) : NULL;
    if (!*rest) {
        hd_tokens_free(*first);
        *first = NULL;
    }
    return *rest;
}
