/* npy.c - reads and writes .npy files, NumPy's format for one array.
 *
 * A file consists of "\x93NUMPY", the version, the header's length in 2 bytes (version 1) or 4
 * bytes, the header, and the data. The header is a Python dictionary, written as a literal, with
 * the keys descr, fortran_order and shape (numpy.org, "numpy.lib.format"). In Fortran order,
 * elements that are neighbours in the first dim are neighbours in the file. */
#include <inttypes.h>

#include "io/file_elements.h"
#include "tensor/copy.h"
#include "tensor/tensor_args.h"

enum { MAGIC_BYTES = 8, HEADER_MOST = 10000 }; /* HEADER_MOST: numpy.load's default limit */

typedef struct header {
    const hd__io_in *in;
    char *text;
    size_t n, at;
    int64_t data; /* the offset of the data in the file */

    const hd__io_element *type;
    bool swap, fortran;
    int ndim;
    int64_t sizes[HD_MAX_DIMS];
} header;

#define bad_npy(h, format, ...)                                                                    \
    hd_fail(HD_FORMAT, "'%.*s': " format, HD__CUT((h)->in->path), __VA_ARGS__)

/* ---------------------------------------------------------------- the header's text */

/* Moves h->at past white space. Returns the byte there, or 0 at the end of the header. */
static char peek(header *h)
{
    while (h->at < h->n && (h->text[h->at] == ' ' || h->text[h->at] == '\n')) {
        h->at++;
    }
    return h->at < h->n ? h->text[h->at] : '\0';
}

static bool expected(header *h, const char *what)
{
    return bad_npy(h, "header: byte %zu: expected %s", h->at, what);
}

static bool npy_take(header *h, char c)
{
    bool there = peek(h) == c;
    h->at += there;
    return there;
}

static bool need(header *h, char c)
{
    return npy_take(h, c) || expected(h, (char[]){'\'', c, '\'', '\0'});
}

/* Reads a text in quotes into `text`, which has `size` bytes. A longer text is cut. Returns false
 * with an error if there is no such text, or if it has a control character or an escape. */
static bool quoted(header *h, char *text, size_t size)
{
    char quote = peek(h);
    if (quote != '\'' && quote != '"') {
        return expected(h, "a text in quotes");
    }
    size_t len = 0;
    for (h->at++; h->at < h->n && h->text[h->at] != quote; h->at++) {
        char c = h->text[h->at];
        if (c < ' ' || c == '\\') {
            return expected(h, "plain characters");
        }
        text[len] = c;
        len += len + 1 < size;
    }
    text[len] = '\0';
    return need(h, quote);
}

static bool integer(header *h, int64_t *v)
{
    char first = peek(h);
    size_t begin = h->at;
    *v = 0;
    for (; h->at < h->n && hd__text_is_digit(h->text[h->at]); h->at++) {
        if (__builtin_mul_overflow(*v, 10, v) ||
            __builtin_add_overflow(*v, h->text[h->at] - '0', v)) {
            return expected(h, "a size that fits int64");
        }
    }
    if (h->at == begin || (first == '0' && h->at > begin + 1)) {
        h->at = begin;
        return expected(h, "a size of 0 or more");
    }
    return true;
}

/* ---------------------------------------------------------------- the header's three fields */

static bool parse_descr(header *h)
{
    char descr[32];
    if (peek(h) == '[') {
        return hd_fail(HD_DTYPE, "'%.*s': an array of records: expected numbers",
                       HD__CUT(h->in->path));
    }
    if (!quoted(h, descr, sizeof descr)) {
        return false;
    }
    bool ordered = descr[0] == '<' || descr[0] == '>' || descr[0] == '=' || descr[0] == '|';
    for (int i = 0; ordered && i < hd__io_elements_len; i++) {
        const hd__io_element *e = &hd__io_elements[i];
        if (*e->npy && strcmp(e->npy, descr + 1) == 0 && (descr[0] != '|' || e->bytes == 1)) {
            h->type = e;
            h->swap = e->bytes > 1 && descr[0] == (hd__io_big_endian ? '<' : '>');
            return true;
        }
    }
    return hd_fail(
        HD_DTYPE,
        "'%.*s': descr '%s': expected one of < > = |, followed by b1, i1 to i8, u1 to u8 or "
        "f2 to f8",
        HD__CUT(h->in->path), descr);
}

static bool parse_order(header *h)
{
    static const char *const words[] = {"False", "True"};
    peek(h);
    for (int i = 0; i < 2; i++) {
        size_t len = strlen(words[i]);
        if (h->n - h->at >= len && memcmp(h->text + h->at, words[i], len) == 0) {
            h->at += len;
            h->fortran = i;
            return true;
        }
    }
    return expected(h, "True or False");
}

/* Reads the tuple of sizes into h->ndim and h->sizes. In Python a tuple of one element has a comma:
 * (3,). Returns false with an error if there is no such tuple, or if it has too many sizes. */
static bool npy_parse_shape(header *h)
{
    if (!need(h, '(')) {
        return false;
    }
    bool comma = true;
    for (h->ndim = 0; !npy_take(h, ')'); h->ndim++) {
        if (!comma) {
            return expected(h, "',' or ')'");
        }
        if (h->ndim == HD_MAX_DIMS) {
            return bad_npy(h, "more than %d dimensions: expected at most %d", HD_MAX_DIMS,
                           HD_MAX_DIMS);
        }
        if (!integer(h, &h->sizes[h->ndim])) {
            return false;
        }
        comma = npy_take(h, ',');
    }
    return h->ndim != 1 || comma || expected(h, "a comma after the only size");
}

static const struct {
    const char *name;
    bool (*parse)(header *h);
} npy_fields[] = {
    {"descr", parse_descr},
    {"fortran_order", parse_order},
    {"shape", npy_parse_shape},
};

enum { NPY_FIELDS = sizeof npy_fields / sizeof *npy_fields };

static bool parse_field(header *h, bool seen[NPY_FIELDS])
{
    char name[16];
    if (!quoted(h, name, sizeof name) || !need(h, ':')) {
        return false;
    }
    for (int i = 0; i < NPY_FIELDS; i++) {
        if (strcmp(npy_fields[i].name, name) == 0) {
            if (seen[i]) {
                return bad_npy(h, "header: '%s' comes twice: expected it once", name);
            }
            seen[i] = true;
            return npy_fields[i].parse(h);
        }
    }
    return bad_npy(h, "header: unknown field '%s': expected descr, fortran_order and shape only",
                   name);
}

static bool npy_parse(header *h)
{
    bool seen[NPY_FIELDS] = {false}, comma = true;
    if (!need(h, '{')) {
        return false;
    }
    while (!npy_take(h, '}')) {
        if (!comma) {
            return expected(h, "',' or '}'");
        }
        if (!parse_field(h, seen)) {
            return false;
        }
        comma = npy_take(h, ',');
    }
    for (int i = 0; i < NPY_FIELDS; i++) {
        if (!seen[i]) {
            return bad_npy(h, "header: %s is missing", npy_fields[i].name);
        }
    }
    return (peek(h) == '\0' && h->at == h->n) || expected(h, "the end");
}

/* ---------------------------------------------------------------- reading */

/* Reads and parses the header, and sets h->data to the offset of the data. Returns false with an
 * error if the file is not a valid .npy file. */
static bool read_header(header *h)
{
    unsigned char start[MAGIC_BYTES + 4];
    bool short_file = h->in->size < MAGIC_BYTES + 2;
    if (!short_file && !hd__io_in_read(h->in, 0, start, MAGIC_BYTES)) {
        return false;
    }
    if (short_file || memcmp(start, "\x93NUMPY", 6) != 0) {
        return bad_npy(h, "not an .npy file: expected %s at its start", "\\x93NUMPY and a version");
    }
    if (start[6] < 1 || start[6] > 3 || start[7] != 0) {
        return bad_npy(h, "version %d.%d: expected 1.0, 2.0 or 3.0", start[6], start[7]);
    }
    size_t width = start[6] == 1 ? 2 : 4;
    h->data = MAGIC_BYTES + (int64_t)width;
    if (h->in->size < h->data) {
        return bad_npy(h, "ends at byte %" PRId64 ": expected a header", h->in->size);
    }
    if (!hd__io_in_read(h->in, MAGIC_BYTES, start, width)) {
        return false;
    }
    for (size_t i = width; i-- > 0;) {
        h->n = h->n << 8 | start[i];
    }
    int64_t most = h->in->size - h->data < HEADER_MOST ? h->in->size - h->data : HEADER_MOST;
    if ((int64_t)h->n > most) {
        return bad_npy(h, "the header has %zu bytes: expected at most %" PRId64, h->n, most);
    }
    h->text = hd_alloc(h->n);
    bool read = h->text && hd__io_in_read(h->in, h->data, h->text, h->n);
    h->data += (int64_t)h->n;
    return read && npy_parse(h);
}

static bool check_data_size(const header *h)
{
    int64_t bytes = h->in->size - h->data,
            wanted = hd__io_element_bytes(h->type, h->ndim, h->sizes);
    if (wanted < 0) {
        return bad_npy(h, "shape %s of %s: the size overflows", HD__SIZES(h->ndim, h->sizes),
                       h->type->npy);
    }
    return bytes == wanted ||
           bad_npy(h, "%" PRId64 " bytes of data for shape %s of %s: expected %" PRId64, bytes,
                   HD__SIZES(h->ndim, h->sizes), h->type->npy, wanted);
}

static hd_tensor *read_array(const header *h)
{
    hd_tensor *x = hd__tensor_empty(h->type->dtype, h->ndim, h->sizes);
    if (!x || !hd__io_in_elements(h->in, "data", h->data, h->type, h->swap, x)) {
        return NULL;
    }
    if (!h->fortran || h->ndim < 2) {
        return x;
    }
    int64_t strides[HD_MAX_DIMS], step = 1;
    for (int i = 0; i < h->ndim; i++) {
        strides[i] = step;
        step *= h->sizes[i];
    }
    /* x has the elements in the order of the file; y is a view of them in the order of the array */
    hd_tensor *y = hd__tensor_alias(x, h->ndim, h->sizes, strides, 0);
    return y ? hd__tensor_contiguous(y) : NULL;
}

hd_tensor *hd_load_npy(const char *path)
{
    HD__CALL("hd_load_npy");
    hd__io_in in;
    HD__SCOPE_OR(NULL);
    if (!hd__arg_given("path", path) || !hd__io_in_open(&in, path, -1)) {
        return NULL;
    }
    header h = {.in = &in};
    hd_tensor *x = read_header(&h) && check_data_size(&h) ? read_array(&h) : NULL;
    hd_free(h.text);
    hd__sys_drop(in.fd);
    return x ? hd_scope_return(x) : NULL;
}

/* ---------------------------------------------------------------- writing */

/* Appends to t the same header as numpy.save writes: spaces fill it up so that the data begins at a
 * multiple of 64. numpy also reserves space for a larger first size. With up to 8 sizes, this space
 * never changes the length of the header, so this function does not reserve it. If memory runs out,
 * sets t->failed. */
static void put_header(hd__text *t, const hd_tensor *x)
{
    enum { LENGTH_AT = MAGIC_BYTES, BEGIN = 10, ALIGNMENT = 64 };
    const hd__io_element *e = &hd__io_elements[x->dtype];
    hd__text_add(t, "\x93NUMPY\x01\0\0\0", BEGIN);
    hd__text_format(t, "{'descr': '%c%s', 'fortran_order': False, 'shape': %s, }",
                    e->bytes == 1 ? '|' : '<', e->npy, HD__SIZES(x->ndim, x->sizes));
    hd__text_repeat(t, ' ', ALIGNMENT - 1 - (int64_t)t->len % ALIGNMENT);
    hd__text_puts(t, "\n");
    if (!t->failed) {
        t->s[LENGTH_AT] = (char)((t->len - BEGIN) & 0xFF);
        t->s[LENGTH_AT + 1] = (char)((t->len - BEGIN) >> 8);
    }
}

static bool npy_save(const char *path, hd_tensor *x)
{
    hd__file_whole file;
    hd__text t = {0};
    put_header(&t, x);
    bool ok = !t.failed;
    if (ok) {
        hd__file_whole_begin(&file, path);
        hd__file_whole_add(&file, t.s, t.len);
        ok = hd__file_whole_end(&file, hd__io_write_elements(&file, hd__io_big_endian, x));
    }
    hd_free(t.s);
    return ok;
}

bool hd_save_npy(const char *path, const hd_tensor *x)
{
    HD__CALL("hd_save_npy");
    return hd__arg_given("path", path) && hd__tensor_arg("x", x) && hd__arg_may_save() &&
           npy_save(path, (hd_tensor *)x);
}
