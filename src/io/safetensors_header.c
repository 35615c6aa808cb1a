/* safetensors_header.c - reads and checks the header of a safetensors file.
 *
 * A file begins with 8 bytes that hold the header's length n. The header is n bytes of JSON: an
 * object that maps each tensor's name to its dtype, shape and data_offsets [begin, end). The data
 * follows the header. Each byte of the data must belong to exactly one tensor
 * (github.com/huggingface/safetensors, README, "Format"). */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "io/safetensors_parser.h"

enum { LENGTH_BYTES = 8 };

/* ---------------------------------------------------------------- the parser */

bool hd__safetensors_parser_unexpected(const hd__safetensors_parser *p, const char *expected)
{
    char where[200];
    snprintf(where, sizeof where, "'%.*s': %s", HD__CUT(p->f->path), p->part);
    return hd__json_fail(&p->json, where, expected);
}

bool hd__safetensors_parser_expect(hd__safetensors_parser *p, hd__json_kind kind)
{
    return hd__json_next(&p->json) == kind ||
           hd__safetensors_parser_unexpected(p, hd__json_kind_name(kind));
}

bool hd__safetensors_parser_next(hd__safetensors_parser *p)
{
    hd__json_kind kind = hd__json_next(&p->json);
    return kind == HD__JSON_NAME ||
           (kind != HD__JSON_OBJECT_END && hd__safetensors_parser_unexpected(p, "a name"));
}

bool hd__safetensors_parser_text(hd__safetensors_parser *p, hd__text *t, const char *what)
{
    hd__text_cut(t, 0);
    hd__text_add(t, p->json.s, p->json.len);
    return !t->failed &&
           (strlen(t->s) == t->len ||
            bad(p, what, t->s, "U+0000 at byte %zu: expected none in a text", strlen(t->s)));
}

bool hd__safetensors_parser_new_name(hd__safetensors_parser *p, const char *what, const hd_dict *d)
{
    if (!hd__safetensors_parser_text(p, &p->name, what)) {
        return false;
    }
    if (p->name.len == 0) {
        return bad(p, what, "", "%s", "an empty name: expected some text");
    }
    return hd_dict_kind_of(d, p->name.s) == HD_DICT_MISSING ||
           bad(p, what, p->name.s, "%s", "comes twice: expected each name once");
}

bool hd__safetensors_parser_run(hd__safetensors_parser *p, char *text, size_t n,
                                bool (*parse)(hd__safetensors_parser *p))
{
    hd__json_init(&p->json, text, n);
    bool ok = parse(p);
    hd__json_free(&p->json);
    hd_dict_free(p->shards);
    hd_free(p->name.s);
    hd_free(p->text.s);
    hd_free(text);
    return ok;
}

/* ---------------------------------------------------------------- metadata */

static bool parse_metadata(hd__safetensors_parser *p)
{
    if (p->f->metadata) {
        return bad(p, "header", "__metadata__", "%s", "comes twice: expected it once");
    }
    p->f->metadata = hd_dict_new();
    if (!p->f->metadata || !hd__safetensors_parser_expect(p, HD__JSON_OBJECT)) {
        return false;
    }
    while (hd__safetensors_parser_next(p)) {
        if (!hd__safetensors_parser_new_name(p, "metadata", p->f->metadata) ||
            !hd__safetensors_parser_expect(p, HD__JSON_STRING) ||
            !hd__safetensors_parser_text(p, &p->text, "metadata") ||
            !hd_dict_set_string(p->f->metadata, p->name.s, p->text.s)) {
            return false;
        }
    }
    return at_end(p);
}

/* ---------------------------------------------------------------- a tensor's entry */

static bool parse_dtype(hd__safetensors_parser *p, hd__io_entry *e)
{
    if (!hd__safetensors_parser_expect(p, HD__JSON_STRING) ||
        !hd__safetensors_parser_text(p, &p->text, "tensor")) {
        return false;
    }
    for (int i = 0; i < hd__io_elements_len; i++) {
        if ((i != HD_BFLOAT16 || p->f->o.keep_bfloat16) &&
            strcmp(hd__io_elements[i].safetensors, p->text.s) == 0) {
            e->type = &hd__io_elements[i];
            return true;
        }
    }
    return hd_fail(HD_DTYPE,
                   "'%.*s': tensor '%.*s': dtype '%.*s': expected BOOL, U8, I8, U16, I16, "
                   "F16, BF16, U32, I32, F32, U64, I64 or F64",
                   HD__CUT(p->f->path), HD__CUT(e->name), HD__CUT(p->text.s));
}

/* Reads an array of at most `most` integers, none of which is negative, into values[], and sets *n
 * to their number. Returns false with an error if the next value is not such an array. */
static bool parse_integers(hd__safetensors_parser *p, const hd__io_entry *e, const char *field,
                           int most, int64_t *values, int *n)
{
    hd__json *j = &p->json;
    if (!hd__safetensors_parser_expect(p, HD__JSON_ARRAY)) {
        return false;
    }
    for (*n = 0; hd__json_next(j) == HD__JSON_NUMBER; ++*n) {
        int64_t v;
        if (j->s[0] == '-' || !hd__json_int(j, &v)) {
            return bad(p, "tensor", e->name, "%s has %.*s: expected integers from 0 to %" PRId64,
                       field, j->len < 40 ? (int)j->len : 40, j->s, INT64_MAX);
        }
        if (*n == most) {
            return bad(p, "tensor", e->name, "%s has more than %d numbers: expected at most %d",
                       field, most, most);
        }
        values[*n] = v;
    }
    return j->kind == HD__JSON_ARRAY_END || hd__safetensors_parser_unexpected(p, "an integer");
}

static bool parse_shape(hd__safetensors_parser *p, hd__io_entry *e)
{
    return parse_integers(p, e, "shape", HD_MAX_DIMS, e->sizes, &e->ndim);
}

static bool parse_offsets(hd__safetensors_parser *p, hd__io_entry *e)
{
    int64_t offsets[2];
    int n;
    if (!parse_integers(p, e, "data_offsets", 2, offsets, &n)) {
        return false;
    }
    if (n != 2) {
        return bad(p, "tensor", e->name, "data_offsets has %d numbers: expected 2", n);
    }
    e->begin = offsets[0];
    e->end = offsets[1];
    return e->begin <= e->end ||
           bad(p, "tensor", e->name,
               "data_offsets [%" PRId64 ", %" PRId64 "]: expected begin <= end", e->begin, e->end);
}

static const struct {
    const char *name;
    bool (*parse)(hd__safetensors_parser *p, hd__io_entry *e);
} header_fields[] = {
    {"dtype", parse_dtype},
    {"shape", parse_shape},
    {"data_offsets", parse_offsets},
};

enum { HEADER_FIELDS = sizeof header_fields / sizeof *header_fields };

/* Returns the index in header_fields of the name that was read last, or -1 if header_fields lacks
 * it. */
static int field_of(const hd__safetensors_parser *p)
{
    for (int i = 0; i < HEADER_FIELDS; i++) {
        if (is_name(p, header_fields[i].name)) {
            return i;
        }
    }
    return -1;
}

static bool parse_fields(hd__safetensors_parser *p, hd__io_entry *e)
{
    bool seen[HEADER_FIELDS] = {false};
    if (!hd__safetensors_parser_expect(p, HD__JSON_OBJECT)) {
        return false;
    }
    while (hd__safetensors_parser_next(p)) {
        int i = field_of(p);
        if (i < 0) {
            return hd__safetensors_parser_text(p, &p->text, "tensor") &&
                   bad(p, "tensor", e->name,
                       "unknown field '%.*s': expected dtype, shape and data_offsets only",
                       HD__CUT(p->text.s));
        }
        if (seen[i]) {
            return bad(p, "tensor", e->name, "%s comes twice: expected it once",
                       header_fields[i].name);
        }
        seen[i] = true;
        if (!header_fields[i].parse(p, e)) {
            return false;
        }
    }
    for (int i = 0; i < HEADER_FIELDS; i++) {
        if (at_end(p) && !seen[i]) {
            return bad(p, "tensor", e->name, "%s is missing", header_fields[i].name);
        }
    }
    return at_end(p);
}

/* Returns false with an error unless the offsets span as many bytes as shape and dtype need. */
static bool check_offsets(hd__safetensors_parser *p, const hd__io_entry *e)
{
    int64_t wanted = hd__io_element_bytes(e->type, e->ndim, e->sizes);
    if (wanted < 0) {
        return bad(p, "tensor", e->name, "shape %s of %s: the size overflows",
                   HD__SIZES(e->ndim, e->sizes), e->type->safetensors);
    }
    return e->end - e->begin == wanted ||
           bad(p, "tensor", e->name,
               "data_offsets [%" PRId64 ", %" PRId64 "] for shape %s of %s: expected %" PRId64
               " bytes",
               e->begin, e->end, HD__SIZES(e->ndim, e->sizes), e->type->safetensors, wanted);
}

static bool parse_entry(hd__safetensors_parser *p)
{
    hd_safetensors *f = p->f;
    if (!hd__safetensors_parser_new_name(p, "tensor", f->names) ||
        !hd__text_grow(&f->entries, &f->room, f->n + 1, sizeof *f->entries) ||
        !hd_dict_set_int(f->names, p->name.s, f->n)) {
        return false;
    }
    hd__io_entry *e = &f->entries[f->n];
    e->name = hd_dict_name(f->names, f->n++);
    e->file = f;
    return parse_fields(p, e) && check_offsets(p, e);
}

/* ---------------------------------------------------------------- the layout of the data */

static int by_offsets(const void *a, const void *b)
{
    const hd__io_entry *x = *(hd__io_entry *const *)a, *y = *(hd__io_entry *const *)b;
    if (x->begin != y->begin) {
        return x->begin < y->begin ? -1 : 1;
    }
    return (x->end > y->end) - (x->end < y->end);
}

/* Checks that each entry begins where the one before it ends, and that the last one ends where the
 * data ends, after `available` bytes. Otherwise returns false with an error. `order` lists the
 * entries in the order of their data. */
static bool check_cover(hd__safetensors_parser *p, hd__io_entry *const *order, int64_t available)
{
    const char *before = "";
    int64_t end = 0;
    for (int64_t i = 0; i < p->f->n; i++) {
        const hd__io_entry *e = order[i];
        if (e->begin < end) {
            return bad(p, "tensor", e->name,
                       "begins at %" PRId64 ", inside '%.*s', which ends at %" PRId64
                       ": expected no overlap",
                       e->begin, HD__CUT(before), end);
        }
        if (e->begin > end) {
            return bad(p, "tensor", e->name,
                       "begins at %" PRId64 ", and %" PRId64
                       " bytes before it belong to no tensor: expected no hole",
                       e->begin, e->begin - end);
        }
        end = e->end;
        before = e->name;
    }
    return end == available ||
           hd_fail(HD_FORMAT,
                   "'%.*s': %" PRId64 " bytes of data after the header: expected %" PRId64
                   ", where the last tensor ends",
                   HD__CUT(p->f->path), available, end);
}

static bool check_layout(hd__safetensors_parser *p)
{
    hd_safetensors *f = p->f;
    hd__io_entry **order = hd__arg_alloc_items(f->n, sizeof *order);
    if (!order) {
        return false;
    }
    for (int64_t i = 0; i < f->n; i++) {
        order[i] = &f->entries[i];
    }
    qsort(order, (size_t)f->n, sizeof *order, by_offsets);
    bool ok = check_cover(p, order, f->in.size - f->data);
    hd_free(order);
    return ok;
}

/* ---------------------------------------------------------------- the whole header */

static bool parse_header(hd__safetensors_parser *p)
{
    hd_safetensors *f = p->f;
    if (!hd__safetensors_parser_expect(p, HD__JSON_OBJECT)) {
        return false;
    }
    while (hd__safetensors_parser_next(p)) {
        if (!(is_name(p, "__metadata__") ? parse_metadata(p) : parse_entry(p))) {
            return false;
        }
    }
    if (!at_end(p) || !hd__safetensors_parser_expect(p, HD__JSON_END)) {
        return false;
    }
    f->metadata = f->metadata ? f->metadata : hd_dict_new();
    return f->metadata && check_layout(p);
}

/* Returns advice for a message if torch.save seems to have written the file: `start`, the file's
 * beginning, is that of a ZIP file or of a pickle of protocol 2. Otherwise returns "". */
static const char *hint_of(const unsigned char *start)
{
    bool is_torch = memcmp(start, "PK\3\4", 4) == 0 || memcmp(start, "\x80\2", 2) == 0;
    return is_torch ? ". It looks like a file of torch.save. Save it with "
                      "safetensors.torch.save_file"
                    : "";
}

/* Reads the header's length into *n. Returns false with an error if the header would be longer than
 * the file, or longer than the limit of Python's safetensors. */
static bool read_length(hd_safetensors *f, size_t *n)
{
    unsigned char bytes[LENGTH_BYTES];
    if (f->in.size < LENGTH_BYTES) {
        return hd_fail(HD_FORMAT, "'%.*s': the file has %" PRId64 " bytes: expected 8 or more",
                       HD__CUT(f->path), f->in.size);
    }
    if (!hd__io_in_read(&f->in, 0, bytes, sizeof bytes) ||
        !hd__file_lfs_ok(f->path, bytes, sizeof bytes)) {
        return false;
    }
    uint64_t length = 0;
    for (int i = LENGTH_BYTES - 1; i >= 0; i--) {
        length = length << 8 | bytes[i];
    }
    uint64_t rest = (uint64_t)f->in.size - LENGTH_BYTES,
             most = rest < HD__LONGEST_HEADER ? rest : HD__LONGEST_HEADER;
    if (length > most) {
        return hd_fail(HD_FORMAT,
                       "'%.*s': not a safetensors file: its first 8 bytes give a header of %" PRIu64
                       " bytes: expected at most %" PRIu64 "%s",
                       HD__CUT(f->path), length, most, hint_of(bytes));
    }
    *n = (size_t)length;
    return true;
}

bool hd__safetensors_header(hd_safetensors *f)
{
    size_t n = 0;
    char *text = read_length(f, &n) ? hd_alloc(n) : NULL;
    if (!text || !hd__io_in_read(&f->in, LENGTH_BYTES, text, n)) {
        hd_free(text);
        return false;
    }
    f->data = LENGTH_BYTES + (int64_t)n;
    return hd__safetensors_parser_run(&(hd__safetensors_parser){.f = f, .part = "header"}, text, n,
                                      parse_header);
}
