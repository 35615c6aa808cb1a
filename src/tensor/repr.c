/* repr.c - writes tensors as text, character for character as PyTorch prints them.
 *
 * Three passes visit the elements that are shown. The first chooses the style of the numbers, the
 * second finds the width of a cell, and the third writes the text. No other element is ever read.
 * Floats are compared as doubles. */
#include <inttypes.h>
#include <math.h>

#include "base/start.h"
#include "base/text/number.h"
#include "tensor/access.h"
#include "tensor/list.h"
#include "tensor/repr_text.h"
#include "tensor/tensor_args.h"

enum { INDENT = 7 }; /* indent of all lines except the first: the length of "tensor(" */

typedef struct printer {
    const hd_tensor *x;
    hd_print_options o;
    hd__text *out;
    bool summarise;
    bool integral, sci;
    double hi, lo; /* the largest and smallest absolute value of shown finite floats except 0 */
    int width;     /* width of a cell, the place of one number, in characters */
} printer;

/* ---------------------------------------------------------------- options */

/* The options of the process, protected by hd__start_print_lock. While the defaults apply, the
 * field `size` is 0. */
static hd_print_options process_options;

hd_print_options hd_print_defaults(void)
{
    return (hd_print_options){sizeof(hd_print_options), 4, 1000, 3, 80, -1};
}

hd_print_options hd_print_short(void)
{
    hd_print_options o = hd_print_defaults();
    o.precision = 2;
    o.edgeitems = 2;
    return o;
}

hd_print_options hd_print_full(void)
{
    hd_print_options o = hd_print_defaults();
    o.threshold = INT64_MAX;
    return o;
}

static bool check_options(const hd_print_options *o)
{
    if (!HD__SIZE_OK(o, "hd_print_defaults()")) {
        return false;
    }
    const struct {
        const char *name;
        int64_t value, lo, hi;
    } fields[] = {
        {"precision", o->precision, 0, HD__PRECISION_MAX},
        {"threshold", o->threshold, 0, INT64_MAX},
        {"edgeitems", o->edgeitems, 0, INT64_MAX},
        {"linewidth", o->linewidth, 1, INT64_MAX},
        {"sci_mode", o->sci_mode, -1, 1},
    };
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        if (fields[i].value < fields[i].lo || fields[i].value > fields[i].hi) {
            char most[32] = "or more";
            if (fields[i].hi != INT64_MAX) {
                snprintf(most, sizeof most, "to %" PRId64, fields[i].hi);
            }
            return hd_fail(HD_VALUE, "%s %" PRId64 ": expected %" PRId64 " %s", fields[i].name,
                           fields[i].value, fields[i].lo, most);
        }
    }
    return true;
}

bool hd_set_print_options(const hd_print_options *o)
{
    HD__CALL("hd_set_print_options");
    if (o && !check_options(o)) {
        return false;
    }
    HD__LOCKED(hd__start_print_lock);
    process_options = o ? *o : (hd_print_options){0};
    return true;
}

static hd_print_options options_in_force(void)
{
    HD__LOCKED(hd__start_print_lock);
    return process_options.size ? process_options : hd_print_defaults();
}

/* ---------------------------------------------------------------- the shown elements */

/* True if dim is shown whole, without dots between its edges. The comparison cannot overflow. */
static bool is_whole(const printer *p, int dim)
{
    return !p->summarise || p->o.edgeitems >= (p->x->sizes[dim] + 1) / 2;
}

/* Returns the number of parts between dim's brackets. A part is a shown element, or the dots. */
static int64_t parts_of(const printer *p, int dim)
{
    return is_whole(p, dim) ? p->x->sizes[dim] : 2 * p->o.edgeitems + 1;
}

static bool is_dots(const printer *p, int dim, int64_t part)
{
    return part == p->o.edgeitems && !is_whole(p, dim);
}

/* Returns the distance of the shown element number `part` (see parts_of) from dim's first element,
 * in elements of the storage. */
static int64_t offset_of(const printer *p, int dim, int64_t part)
{
    int64_t from_end = parts_of(p, dim) - part;
    return (part < p->o.edgeitems ? part : p->x->sizes[dim] - from_end) * p->x->strides[dim];
}

static void visit_shown(printer *p, int dim, int64_t at, void (*visit)(printer *p, int64_t at))
{
    if (dim == p->x->ndim) {
        visit(p, at);
        return;
    }
    for (int64_t i = 0, parts = parts_of(p, dim); i < parts; i++) {
        if (!is_dots(p, dim, i)) {
            visit_shown(p, dim + 1, at + offset_of(p, dim, i), visit);
        }
    }
}

/* ---------------------------------------------------------------- style */

static bool counts(double v)
{
    return isfinite(v) && v != 0;
}

static void classify(printer *p, int64_t at)
{
    double v = hd__tensor_float_at(p->x, at);
    if (counts(v)) {
        double size = fabs(v);
        p->hi = fmax(p->hi, size);
        p->lo = fmin(p->lo, size);
        p->integral = p->integral && v == trunc(v);
    }
}

static int cell_text(const printer *p, int64_t at, char text[HD__NUMBER_TEXT])
{
    if (p->x->dtype == HD_INT64) {
        return snprintf(text, HD__NUMBER_TEXT, "%" PRId64, hd__tensor_int_at(p->x, at));
    }
    if (p->x->dtype == HD_BOOL) {
        return snprintf(text, HD__NUMBER_TEXT, hd__tensor_int_at(p->x, at) ? "True" : "False");
    }
    double v = hd__tensor_float_at(p->x, at);
    bool whole = p->integral && !p->sci;
    int n = hd__text_of_number(text, v, p->sci ? 'e' : 'f', whole ? 0 : p->o.precision);
    if (whole && isfinite(v)) {
        text[n++] = '.';
        text[n] = '\0';
    }
    return n;
}

/* Widens the cells so that the text of element number `at` of the storage fits. Does nothing for
 * floats that are 0, inf or nan. */
static void widen(printer *p, int64_t at)
{
    char text[HD__NUMBER_TEXT];
    if (!hd__tensor_holds_floats(p->x->dtype) || counts(hd__tensor_float_at(p->x, at))) {
        int n = cell_text(p, at, text);
        p->width = p->width > n ? p->width : n;
    }
}

static void choose_style(printer *p)
{
    p->integral = true;
    p->lo = INFINITY;
    p->width = 1;
    if (hd__tensor_holds_floats(p->x->dtype)) {
        visit_shown(p, 0, p->x->offset, classify);
    }
    if (p->hi > 0) {
        bool wide = p->hi / p->lo > 1000.0 || p->hi > 1e8 || p->lo < 1e-4;
        p->sci = p->o.sci_mode == -1 ? wide : p->o.sci_mode;
    }
    visit_shown(p, 0, p->x->offset, widen);
}

/* ---------------------------------------------------------------- layout */

static void write_cell(printer *p, int64_t at)
{
    char text[HD__NUMBER_TEXT];
    int n = cell_text(p, at, text);
    hd__text_repeat(p->out, ' ', p->width - n);
    hd__text_add(p->out, text, (size_t)n);
}

/* Writes the elements from number `at` of the storage on, along dim and the dims inside it, with
 * dim's bracket at `column`. Cells of the last dim share lines; each part of another dim begins a
 * new line. */
static void write_dim(printer *p, int dim, int column, int64_t at)
{
    int inside = p->x->ndim - dim - 1;
    if (inside < 0) {
        write_cell(p, at);
        return;
    }
    int64_t parts = parts_of(p, dim);
    int64_t per_line = inside ? 1 : (p->o.linewidth - column) / ((int64_t)p->width + 2);
    hd__text_puts(p->out, "[");
    for (int64_t i = 0; i < parts; i++) {
        if (i > 0 && (per_line <= 1 || i % per_line == 0)) {
            hd__text_puts(p->out, ",");
            hd__text_repeat(p->out, '\n', inside ? inside : 1);
            hd__text_repeat(p->out, ' ', column + 1);
        } else if (i > 0) {
            hd__text_puts(p->out, ", ");
        }
        if (is_dots(p, dim, i)) {
            hd__text_puts(p->out, inside || parts == 1 ? "..." : " ...");
        } else {
            write_dim(p, dim + 1, column + 1, at + offset_of(p, dim, i));
        }
    }
    hd__text_puts(p->out, "]");
}

static void write_body(printer *p)
{
    if (p->x->numel == 0) {
        hd__text_puts(p->out, "[]");
        return;
    }
    choose_style(p);
    write_dim(p, 0, INDENT, p->x->offset);
}

/* ---------------------------------------------------------------- suffixes */

/* Writes a comma and the suffix. The suffix begins a new line if the line would become too long.
 * *column is the length of the last line; the function updates it. */
static void write_suffix(printer *p, size_t *column, const char *suffix)
{
    size_t n = strlen(suffix);
    if (*column + n + 2 > (size_t)p->o.linewidth) {
        hd__text_puts(p->out, ",\n");
        hd__text_repeat(p->out, ' ', INDENT);
        *column = INDENT + n;
    } else {
        hd__text_puts(p->out, ", ");
        *column += n + 2;
    }
    hd__text_add(p->out, suffix, n);
}

static void write_suffixes(printer *p, size_t start)
{
    const hd_tensor *x = p->x;
    size_t line = p->out->len; /* where the last line starts */
    while (line > start && p->out->s[line - 1] != '\n') {
        line--;
    }
    size_t column = p->out->len - line + 2;
    char text[HD__SHAPE_TEXT + 64];

    if (x->numel == 0 ? x->ndim != 1 : p->o.edgeitems == 0) {
        snprintf(text, sizeof text, "size=%s", HD__SHAPE(x));
        write_suffix(p, &column, text);
    }
    bool implied =
        x->dtype == HD_FLOAT32 || (x->numel > 0 && (x->dtype == HD_INT64 || x->dtype == HD_BOOL));
    if (!implied) {
        snprintf(text, sizeof text, "dtype=torch.%s", hd_dtype_name(x->dtype));
        write_suffix(p, &column, text);
    }
    const hd_tensor *graph =
        x->attachment || !x->base
            ? x
            : x->base; /* a view whose base was changed in place may have no node yet */
    if (graph->attachment) {
        graph->attachment_ops->describe(x, text, sizeof text);
        if (*text) {
            write_suffix(p, &column, text);
        }
    }
}

/* Writes x's text to out. If o is NULL, uses the options of the process. */
static void write_tensor(hd__text *out, const hd_tensor *x, const hd_print_options *o)
{
    printer p = {.x = x, .o = o ? *o : options_in_force(), .out = out};
    p.summarise = x->numel > p.o.threshold;
    if (x->flags & HD__F_PARAMETER) {
        hd__text_puts(out, "Parameter containing:\n");
    }
    size_t start = out->len;
    hd__text_puts(out, "tensor(");
    write_body(&p);
    write_suffixes(&p, start);
    hd__text_puts(out, ")");
}

static void write_or_none(hd__text *out, const hd_tensor *x)
{
    if (hd__tensor_is_none(x)) {
        hd__text_puts(out, "None");
    } else {
        write_tensor(out, x, NULL);
    }
}

static void write_list(hd__text *out, const hd_list *l)
{
    hd__text_puts(out, "[");
    for (int64_t i = 0; i < l->len; i++) {
        hd__text_puts(out, i > 0 ? ", " : "");
        write_or_none(out, l->items[i]);
    }
    hd__text_puts(out, "]");
}

/* ---------------------------------------------------------------- public */

/* The result of a function that failed. It is not NULL, because users pass it to printf. */
static const char failed[] = "NULL";

static const char *give_printable(hd__text *t)
{
    const char *text = hd__tensor_text_give(t);
    return text ? text : failed;
}

const char *hd_repr(const hd_tensor *x)
{
    HD__CALL("hd_repr");
    return hd_repr_with(x, NULL);
}

const char *hd_repr_with(const hd_tensor *x, const hd_print_options *o)
{
    HD__CALL("hd_repr_with");
    if (!hd__tensor_any_arg("x", x, true) || (o && !check_options(o))) {
        return failed;
    }
    if (hd__tensor_is_none(x)) {
        return "None";
    }
    hd__text t = {0};
    write_tensor(&t, x, o);
    return give_printable(&t);
}

const char *hd_list_repr(const hd_list *l)
{
    HD__CALL("hd_list_repr");
    if (!hd__tensor_list_arg("l", l)) {
        return failed;
    }
    hd__text t = {0};
    write_list(&t, l);
    return give_printable(&t);
}

const char *hd_shape_repr(const hd_tensor *x)
{
    HD__CALL("hd_shape_repr");
    if (!hd__tensor_any_arg("x", x, false)) {
        return failed;
    }
    hd__text t = {0};
    hd__text_puts(&t, "torch.Size([");
    for (int i = 0; i < x->ndim; i++) {
        hd__text_format(&t, "%s%" PRId64, i > 0 ? ", " : "", x->sizes[i]);
    }
    hd__text_puts(&t, "])");
    return give_printable(&t);
}

/* Writes the text and a newline to f in one call, so that the lines of several threads do not mix.
 * Frees the text. Returns false with an error if f cannot be written or memory runs out. */
static bool put(FILE *f, hd__text *t)
{
    hd__text_puts(t, "\n");
    return hd__tensor_text_print(t, f, false);
}

bool hd_fprint(FILE *f, const hd_tensor *x)
{
    HD__CALL("hd_fprint");
    if (!hd__arg_given("f", f) || !hd__tensor_any_arg("x", x, true)) {
        return false;
    }
    hd__text t = {0};
    write_or_none(&t, x);
    return put(f, &t);
}

bool hd_fprint_list(FILE *f, const hd_list *l)
{
    HD__CALL("hd_fprint_list");
    if (!hd__arg_given("f", f) || !hd__tensor_list_arg("l", l)) {
        return false;
    }
    hd__text t = {0};
    write_list(&t, l);
    return put(f, &t);
}

bool hd_print(const hd_tensor *x)
{
    HD__CALL("hd_print");
    return hd_fprint(stdout, x);
}

bool hd_print_list(const hd_list *l)
{
    HD__CALL("hd_print_list");
    return hd_fprint_list(stdout, l);
}
