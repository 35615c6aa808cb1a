/* safetensors_save.c - writes a dictionary as a safetensors file.
 *
 * Tensors are written in the order of Python's safetensors: by dtype (I64 F64 F32 BF16 BOOL), then
 * by name, compared byte by byte. The header ends in spaces, so that the data begins at a multiple
 * of 8. So every tensor is aligned, and equal dictionaries give equal files. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/text/utf8.h"
#include "io/safetensors.h"
#include "tensor/lifecycle.h"

typedef struct item {
    const char *name;
    hd_tensor *x;
} item;

enum { LONGEST_HEADER = 100000000 };

/* ---------------------------------------------------------------- what is to be written */

static bool check_text(const char *what, const char *s)
{
    size_t n = strlen(s), good = hd__utf8_good(s, n);
    return good == n || hd_fail(HD_VALUE, "%s has byte 0x%02x at %zu: expected UTF-8", what,
                                (unsigned char)s[good], good);
}

static bool check_entry(const hd_dict *d, const char *name)
{
    hd_dict_kind kind = hd_dict_kind_of(d, name);
    if (kind != HD_DICT_TENSOR && kind != HD_DICT_STRING) {
        return hd_fail(HD_VALUE, "'%.*s' is a number: expected a tensor or a string",
                       HD__CUT(name));
    }
    if (kind == HD_DICT_TENSOR && strcmp(name, "__metadata__") == 0) {
        return hd_fail(HD_VALUE, "a tensor named '__metadata__': expected another name");
    }
    return check_text("a name", name) &&
           (kind == HD_DICT_TENSOR || check_text("a string", hd_dict_get_string(d, name)));
}

static int dtype_rank(const hd_tensor *x)
{
    static const int ranks[] = {
        [HD_INT64] = 0, [HD_FLOAT64] = 1, [HD_FLOAT32] = 2, [HD_BFLOAT16] = 3, [HD_BOOL] = 4};
    return ranks[x->dtype];
}

static int by_type_and_name(const void *a, const void *b)
{
    const item *x = a, *y = b;
    int ranks = dtype_rank(x->x) - dtype_rank(y->x);
    return ranks ? ranks : strcmp(x->name, y->name);
}

/* Returns an array of the tensors of d, in the order of the file, and sets *n to their number. The
 * caller frees the array with hd_free. Returns NULL with an error if d has an entry that cannot be
 * saved, or if memory runs out. */
static item *tensors_of(const hd_dict *d, int64_t *n)
{
    int64_t len = hd_dict_len(d);
    item *items = hd__arg_alloc_items(len, sizeof *items);
    *n = 0;
    for (int64_t i = 0; items && i < len; i++) {
        const char *name = hd_dict_name(d, i);
        if (!check_entry(d, name)) {
            hd_free(items);
            return NULL;
        }
        if (hd_dict_kind_of(d, name) == HD_DICT_TENSOR) {
            items[(*n)++] = (item){name, hd_dict_get(d, name)};
        }
    }
    if (items) {
        qsort(items, (size_t)*n, sizeof *items, by_type_and_name);
    }
    return items;
}

/* ---------------------------------------------------------------- the header */

static void put_metadata(hd__text *t, const hd_dict *d)
{
    int64_t found = 0;
    for (int64_t i = 0; i < hd_dict_len(d); i++) {
        const char *name = hd_dict_name(d, i);
        if (hd_dict_kind_of(d, name) == HD_DICT_STRING) {
            hd__text_puts(t, found++ ? "," : "\"__metadata__\":{");
            const char *value = hd_dict_get_string(d, name);
            hd__text_json(t, name, strlen(name), true);
            hd__text_puts(t, ":");
            hd__text_json(t, value, strlen(value), true);
        }
    }
    hd__text_puts(t, found ? "}" : "");
}

static void put_entry(hd__text *t, const item *each, int64_t begin, int64_t end)
{
    const hd_tensor *x = each->x;
    hd__text_puts(t, t->len > 1 ? "," : "");
    hd__text_json(t, each->name, strlen(each->name), true);
    hd__text_format(t, ":{\"dtype\":\"%s\",\"shape\":[", hd__io_elements[x->dtype].safetensors);
    for (int i = 0; i < x->ndim; i++) {
        hd__text_format(t, "%s%" PRId64, i ? "," : "", x->sizes[i]);
    }
    hd__text_format(t, "],\"data_offsets\":[%" PRId64 ",%" PRId64 "]}", begin, end);
}

static bool make_header(hd__text *t, const hd_dict *d, const item *items, int64_t n)
{
    int64_t at = 0;
    hd__text_puts(t, "{");
    put_metadata(t, d);
    for (int64_t i = 0; i < n; i++) {
        int64_t end;
        size_t bytes;
        if (!hd__tensor_bytes(items[i].x, &bytes)) {
            return false;
        }
        if (__builtin_add_overflow(at, bytes, &end)) {
            return hd_fail(HD_MEMORY, "the size of all tensors overflows");
        }
        put_entry(t, &items[i], at, end);
        at = end;
    }
    hd__text_puts(t, "}");
    hd__text_repeat(t, ' ', (int64_t)(-t->len % 8));
    return !t->failed &&
           (t->len <= LONGEST_HEADER ||
            hd_fail(HD_VALUE, "the names and texts need a header of %zu bytes: expected at most %d",
                    t->len, LONGEST_HEADER));
}

/* ---------------------------------------------------------------- the file */

static bool write_file(const char *path, const hd__text *header, const item *items, int64_t n)
{
    hd__file_whole file;
    unsigned char length[8];
    for (int i = 0; i < 8; i++) {
        length[i] = (unsigned char)((uint64_t)header->len >> 8 * i);
    }
    hd__file_whole_begin(&file, path);
    hd__file_whole_add(&file, length, sizeof length);
    hd__file_whole_add(&file, header->s, header->len);
    bool ok = !file.failed;
    for (int64_t i = 0; ok && i < n; i++) {
        ok = hd__io_write_elements(&file, hd__io_big_endian, items[i].x);
    }
    return hd__file_whole_end(&file, ok);
}

bool hd__safetensors_save(const char *path, const hd_dict *d)
{
    int64_t n;
    item *items = tensors_of(d, &n);
    hd__text header = {0};
    bool ok = items && make_header(&header, d, items, n) && write_file(path, &header, items, n);
    hd_free(header.s);
    hd_free(items);
    return ok;
}

bool hd_save_safetensors(const char *path, const hd_dict *d)
{
    HD__CALL("hd_save_safetensors");
    return hd__arg_given("path", path) && hd__object("d", d) && hd__arg_may_save() &&
           hd__safetensors_save(path, d);
}
