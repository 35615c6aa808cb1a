/* tensor_internal.h - the tensor, its arguments and messages, making and copying it. Nothing here
 * is recorded in the graph. Computing on tensors is in headers by topic: dims.h (walks),
 * elementwise.h, lanes.h, reduce_dims.h, product.h, attention_run.h, random_fill.h.
 *
 * Invariants of a tensor: refs >= 1, refs >= retained; sizes are never negative; numel is their
 * product; every index that sizes and strides reach from offset lies inside the storage; sizes
 * and strides from ndim on are undefined. */
#ifndef HEED_TENSOR_INTERNAL_H
#define HEED_TENSOR_INTERNAL_H

#include <string.h>

#include "tensor/above.h"
#include "tensor/kernels/kernels.h"

typedef struct hd__storage {
    atomic_int refs;
    atomic_uint version; /* in-place changes so far */
    void *data;          /* after this header and the tensor, or the caller's (hd_wrap) */
    size_t nbytes;
    void (*release)(void *data, void *user); /* NULL if data goes with the storage's block */
    void *user;
    uint8_t spoiled; /* with HEED_DEBUG=1: each byte of the data after they were freed */
    bool foreign;    /* release is the program's own code */
    /* In debug mode: the function that changed it last, and the module that ran then. They are
     * known only where release is not NULL. */
    const char *changed_by, *changed_in;
} hd__storage;

/* What a layer above attaches to a tensor. The tensor layer knows only these functions. */
typedef struct hd__attachment_ops {
    void (*release)(void *attachment);
    /* writes the suffix of the repr, such as `grad_fn=<MulBackward0>`, into text, or "" */
    void (*describe)(const hd_tensor *t, char *text, size_t n);
    hd__grad_use *(*grad_use)(void *attachment, int64_t *version); /* hd__grad_use_of */
    bool (*in_run)(void); /* does the thread compute gradients? */
    void (*taken_over)(hd_tensor *x,
                       hd_tensor *grad); /* hd__take_over: the leaf x has another dtype */
} hd__attachment_ops;

/* May a function of the tensor layer write to x? The layer above decides, also for a tensor without
 * an attachment, and so it is one function and not in that table. A constructor of autograd sets it
 * (history.c) before any tensor is made: it refuses leaves that require grad, in grad mode, and
 * gradients that are lent. NULL, as in a program that links tensor alone: everything may be
 * written. */
extern bool (*hd__write_check)(const char *arg, hd_tensor *x);

static inline bool hd__write_ok(const char *arg, hd_tensor *x)
{
    return !hd__write_check || hd__write_check(arg, x);
}

struct hd_tensor {
    atomic_int refs; /* or HD__REFS_NONE, HD__REFS_FREED */
    uint8_t ndim, dtype;
    uint8_t mark;        /* HD__TENSOR, or 0 of HD_NONE and of a freed tensor */
    uint8_t flags;       /* HD__F_... */
    uint32_t output;     /* which output of the attached node this is */
    atomic_int retained; /* how many of refs are from hd_retain */
    hd__storage *storage;
    int64_t offset; /* of the first element in the storage, in elements */
    int64_t numel;
    void *attachment; /* the autograd node, or NULL */
    const hd__attachment_ops *attachment_ops;
    hd_tensor *base;          /* the tensor this is a differentiable view of, retained; or NULL */
    atomic_uint view_version; /* the storage's version that `attachment` of a view belongs to */
    bool returned;   /* by hd_scope_return in a scope inside of its own, where that moves nothing */
    hd_scope *scope; /* the owner, or NULL */
    union {
        hd_tensor *prev;      /* in the scope's list */
        const char *freed_by; /* of a freed tensor: a function, hd__scope_end or NULL */
    };
    union {
        hd_tensor *next;
        uintptr_t seal; /* of a freed tensor: nothing was written over it yet (tensor_args.c) */
    };
    const char *made_by; /* the public function that made it: a text of the library itself */
    int64_t sizes[HD_MAX_DIMS];
    int64_t strides[HD_MAX_DIMS];
    /* With HD__F_LISTED (live_tensors.c): the neighbours in the list, and the module that made it. */
    hd_tensor *live_prev, *live_next;
    const char *made_in;
};

enum {
    HD__F_PARAMETER = 1,    /* prints as a Parameter */
    HD__F_MULTI_VIEW = 2,   /* an output of split, chunk or unbind: no in-place changes */
    HD__F_CONTIGUOUS = 4,   /* row-major without gaps; set by whoever sets sizes and strides */
    HD__F_NO_GRAD_VIEW = 8, /* a view taken under no_grad: no in-place changes in grad mode */
    HD__F_LISTED = 16,      /* made in debug mode: in the list of live tensors */
    HD__F_LENT = 32,        /* a gradient that a hook was given, or an alias: only for reading */
    HD__F_LEAF = 64,        /* its first node was that of a leaf */
    HD__F_MOVED = 128       /* it lies in the block of a storage that is its own no more */
};

enum { HD__REFS_NONE = 0, HD__REFS_FREED = -0x6f3e2d1c };

_Static_assert(offsetof(hd_tensor, mark) == HD__MARK_AT, "where hd__object_text looks for it");

struct hd_list {
    int64_t len, room; /* len: -1 after the list's scope closed */
    hd_tensor **items; /* held */
    hd_tensor *holder; /* what it lies in */
};

/* Moves l and its tensors to the enclosing scope, as hd_scope_return does. Takes NULL. */
hd_list *hd__list_return(hd_list *l);

/* ---------------------------------------------------------------- arguments and messages */

/* x's sizes as hd__sizes_text writes them: "(2, 3)". */
const char *hd__shape_text(const hd_tensor *x, char text[HD__SHAPE_TEXT]);

/* In a message: hd_error_set(HD_SHAPE, "hd_mm: %s and %s: ...", HD__SHAPE(a), HD__SHAPE(b)) */
#define HD__SHAPE(x) hd__shape_text((x), (char[HD__SHAPE_TEXT]){0})

/* The index of x's element `flat`, counted in row-major order: "(0, 2)". */
const char *hd__index_text(const hd_tensor *x, int64_t flat, char text[HD__SHAPE_TEXT]);
#define HD__INDEX(x, flat) hd__index_text((x), (flat), (char[HD__SHAPE_TEXT]){0})

static inline int hd__refs_of(const hd_tensor *x)
{
    return atomic_load_explicit((atomic_int *)(uintptr_t)&x->refs, memory_order_relaxed);
}

/* Is x, which is an address, a tensor, and neither HD_NONE nor freed nor another object? */
static inline bool hd__is_tensor(const hd_tensor *x)
{
    return x->mark == HD__TENSOR;
}

/* The same of a dtype that heed computes with, in one comparison: the mark is the sign bit. */
static inline bool hd__is_computed(const hd_tensor *x)
{
    return (int16_t)(x->mark << 8 | x->dtype) < INT16_MIN + (int)HD_BFLOAT16;
}

/* Is x neither NULL nor a small number, as of hd_mul(x, 2)? It costs what a look for NULL does. */
static inline bool hd__is_address(const hd_tensor *x)
{
    return (uintptr_t)x >= 4096;
}

static inline bool hd__is_none(const hd_tensor *x)
{
    return x == &hd_none;
}

/* Fails for x, which is NULL, a number, HD_NONE or freed, or of a dtype for storing; none_ok: not
 * for HD_NONE. */
bool hd__arg_fail(const char *arg, const hd_tensor *x, bool none_ok);

/* Is x a tensor, of a dtype that heed computes with? HD_NONE sets HD_NULL_ARG, and so does NULL,
 * but there an error that stands already stays (hd__null_arg). A freed tensor sets HD_STATE, with
 * how it was freed and what made it, as long as it is found to be freed (base's quarantine.c).
 * bfloat16 sets HD_DTYPE: "hd_add: b is bfloat16, which is for storing only: ...". */
static inline bool hd__arg(const char *arg, const hd_tensor *x)
{
    return (hd__is_address(x) && hd__is_computed(x)) || hd__arg_fail(arg, x, false);
}

/* The same for a function that takes every dtype, as it does not compute. none_ok: it takes
 * HD_NONE, too. */
static inline bool hd__any_arg(const char *arg, const hd_tensor *x, bool none_ok)
{
    return (hd__is_address(x) && (hd__is_tensor(x) || (none_ok && hd__is_none(x)))) ||
           hd__arg_fail(arg, x, none_ok);
}

/* The same in a public function that only reads a field of x: it needs its name if x is wrong. */
bool hd__read_fail(const char *call, const hd_tensor *x);
static inline bool hd__read_arg(const char *call, const hd_tensor *x)
{
    return (hd__is_address(x) && hd__is_tensor(x)) || hd__read_fail(call, x);
}

/* hd__arg where HD_NONE is taken, too. */
static inline bool hd__arg_or_none(const char *arg, const hd_tensor *x)
{
    return (hd__is_address(x) && (hd__is_computed(x) || hd__is_none(x))) ||
           hd__arg_fail(arg, x, true);
}

/* Are all of them tensors? any: HD_NONE and every dtype are taken. The message calls them name[0],
 * name[1] ... */
bool hd__args(const char *name, int64_t n, hd_tensor *const *xs, bool any);

/* Is d a dtype? Otherwise sets HD_DTYPE with the function and the value. */
bool hd__dtype_fail(int d);
static inline bool hd__dtype_arg(int d)
{
    return (unsigned)d <= HD_BFLOAT16 || hd__dtype_fail(d);
}
/* Is d a float dtype, or one of numbers? Otherwise sets HD_DTYPE: "hd_log_: int64: expected float32
 * or float64". */
bool hd__float_dtype(int d);
bool hd__number_dtype(int d);
/* Are a and b, whose names the message has, of one dtype? "hd_linear: x of float64 and weight of
 * float32: expected one dtype; hd_to converts one of them" */
bool hd__one_dtype(const char *a_name, const hd_tensor *a, const char *b_name, const hd_tensor *b);
/* Is x of dtype d? "hd_where: condition of int64: expected bool" */
bool hd__dtype_is(const char *arg, const hd_tensor *x, hd_dtype d);
static inline bool hd__float_arg(const hd_tensor *x)
{
    return hd__is_float(x->dtype) || hd__float_dtype(x->dtype);
}

/* Are the arguments a and b tensors? Is x one, of a float dtype? */
static inline bool hd__two_args(const hd_tensor *a, const hd_tensor *b)
{
    return hd__arg("a", a) && hd__arg("b", b);
}
static inline bool hd__float_x(const hd_tensor *x)
{
    return hd__arg("x", x) && hd__float_arg(x);
}

/* Can a tensor have n dims, and are their sizes given? Otherwise sets HD_SHAPE or HD_NULL_ARG. */
static inline bool hd__sizes_arg(int n, const int64_t *sizes)
{
    if (n < 0 || n > HD_MAX_DIMS) {
        return hd__fail(HD_SHAPE, "%d dimensions: expected 0 to %d", n, HD_MAX_DIMS);
    }
    return n == 0 || sizes || hd__null_arg("sizes");
}

/* dim, which counts from the end if it is negative, as a number in [0, n), n = max(ndim, 1).
 * Outside [-n, n) returns -1 and sets HD_INDEX: "hd_size: dim 3 of (2, 6, 3): expected -3 to 2". */
int hd__dim(const hd_tensor *x, int64_t dim);

/* The place of index, which counts from the end if it is negative, along dim d of x. Out of range
 * returns -1 with HD_INDEX: "hd_get: index 5 at dim 0 of (2, 3): expected -2 to 1". */
int64_t hd__index_at(const hd_tensor *x, int d, int64_t index);

/* All dims as a bit mask; a 0-d tensor has dim 0. */
static inline uint32_t hd__all_dims(const hd_tensor *x)
{
    return x->ndim ? (1u << x->ndim) - 1 : 1;
}

/* The same, after the check that the argument x is a tensor; and that dim as a bit mask, or 0. */
int hd__dim_of(const hd_tensor *x, int64_t dim);
uint32_t hd__dim_mask(const hd_tensor *x, int64_t dim);
/* A list of dims as a bit mask; n == 0 means all. Returns 0 if x is no tensor, and with HD_INDEX if
 * a dim is out of range or repeated. */
uint32_t hd__dims_mask(const hd_tensor *x, int n, const int64_t *dims);
/* The same of an x that is checked. */
uint32_t hd__dims_listed(const hd_tensor *x, int n, const int64_t *dims);

/* NumPy's rule: sizes, of *ndim dims, become the shape that they and n others broadcast to; there
 * is room for n. Returns 0. If they do not broadcast, the result is the first dim at fault, counted
 * from the end (1 is the last), where sizes is as it was. */
int hd__broadcast_with(int *ndim, int64_t *sizes, int n, const int64_t *others);

/* Do sizes broadcast to those of a shape of to_n dims, without changing that? */
bool hd__spreads_to(int n, const int64_t *sizes, int to_n, const int64_t *to);

/* The shape that n tensors broadcast to; HD_NONE is skipped. Otherwise sets HD_SHAPE:
 * "hd_add: (2, 3) and (4,): sizes 3 and 4 at dim -1 do not broadcast". */
bool hd__broadcast(int n, hd_tensor *const *xs, int *ndim, int64_t *sizes);

/* The dtype that a and b promote to, or a tensor and a number. As in PyTorch, a 0-d tensor only
 * decides if its category is higher than that of a tensor with dims. */
hd_dtype hd__promote(const hd_tensor *a, const hd_tensor *b);
hd_dtype hd__promote_scalar(const hd_tensor *a, hd_scalar s);

static inline double hd__scalar_double(hd_scalar s)
{
    return s.is_int ? (double)s.v.i : s.v.d;
}

/* A number that int64 does not hold becomes INT64_MIN. */
static inline int64_t hd__scalar_int(hd_scalar s)
{
    return s.is_int ? s.v.i : s.v.d >= -0x1p63 && s.v.d < 0x1p63 ? (int64_t)s.v.d : INT64_MIN;
}

/* The bytes of value in dtype d, converted as PyTorch's fill_ does. */
void hd__scalar_bytes(hd_dtype d, hd_scalar value, void *bytes);
/* Can d hold the value? NaN and infinity as int64, or 1e40 as float32, set HD_VALUE. */
bool hd__scalar_fits(hd_dtype d, hd_scalar value);

/* ---------------------------------------------------------------- making tensors */

/* The number of elements of these sizes, and their bytes in dtype d; the arguments are checked. */
bool hd__measure(hd_dtype d, int ndim, const int64_t *sizes, int64_t *numel, size_t *bytes);
/* A fresh contiguous tensor in the innermost scope, with undefined values. Sizes are checked. */
hd_tensor *hd__empty(hd_dtype d, int ndim, const int64_t *sizes);

/* The same with x's shape. */
hd_tensor *hd__empty_as(hd_dtype d, const hd_tensor *x);
/* The same with another size at dim. ndim: x's, or one more if dim is a dim that x lacks. */
hd_tensor *hd__empty_with(hd_dtype d, const hd_tensor *x, int ndim, int dim, int64_t size);
/* Do x's elements, in some order of its dims, lie side by side? x has elements. */
bool hd__dense(const hd_tensor *x);
/* Lays y, which is fresh or NULL, out with its dims in the order of x's in memory, if x has as
 * many. Returns y. */
hd_tensor *hd__laid_out_as(hd_tensor *y, const hd_tensor *x);

/* A tensor over x's storage with a geometry of its own (offset in elements), in the innermost
 * scope, without attachment and base. The caller promises that the geometry lies inside the
 * storage. */
hd_tensor *hd__alias(const hd_tensor *x, int ndim, const int64_t *sizes, const int64_t *strides,
                     int64_t offset);
/* An alias with x's geometry. */
hd_tensor *hd__alias_of(const hd_tensor *x);
/* An alias with x's geometry in no scope: the caller holds it, until hd__drop. */
hd_tensor *hd__alias_held(const hd_tensor *x);

/* Holds of heed's own, which hd_release never gives up. NULL and HD_NONE are left alone. */
hd_tensor *hd__hold(hd_tensor *t);
void hd__drop(hd_tensor *t);

/* May the holder of t write over it? It may if t is contiguous, has one holder and no scope, and no
 * other tensor uses its memory. A backward function may then write over dy[k]. */
bool hd__held_once(const hd_tensor *t);
/* A view of all of its base is a view no more, if the caller alone holds the view, and nothing else
 * its base. */
void hd__leave_base(hd_tensor *t);

/* x itself if it is contiguous, or of dtype d; otherwise a copy that is. */
hd_tensor *hd__contiguous(hd_tensor *x);
hd_tensor *hd__cast(hd_tensor *x, hd_dtype d);
hd_tensor *hd__clone(const hd_tensor *x); /* fresh and contiguous */
/* A copy of dtype d that is laid out as x (hd__laid_out_as). */
hd_tensor *hd__copied(const hd_tensor *x, hd_dtype d);
/* x expanded to sizes by strides of 0. The caller has checked that it broadcasts. */
hd_tensor *hd__expand(hd_tensor *x, int ndim, const int64_t *sizes);

/* dst = src, element by element, converted to dst's dtype. The caller has checked that src
 * broadcasts to dst. They are the same memory, or do not overlap. Changes no version. Returns dst;
 * if that is NULL, nothing is copied. */
hd_tensor *hd__copy(hd_tensor *dst, const hd_tensor *src);

/* A row-major tensor over an array of x's dtype and shape. It lives as long as the struct and is in
 * no scope. */
typedef struct hd__array {
    hd_tensor t;
    hd__storage storage;
} hd__array;

hd_tensor *hd__array_of(hd__array *a, const hd_tensor *x, const void *array);

/* Copies n >= 1 parts, which follow each other along dim, to a contiguous y, whose other sizes they
 * have. A part without elements may have any shape. */
void hd__join(hd_tensor *y, int dim, int64_t n, hd_tensor *const *parts);
/* Converts value as PyTorch's fill_ does. Changes no version. Returns x. */
hd_tensor *hd__fill(hd_tensor *x, hd_scalar value);

/* hd__call is about to change x in place. */
HD__RARE void hd__tell_change(hd_tensor *x);
static inline void hd__changes(hd_tensor *x)
{
    if (hd__listening()) {
        hd__tell_change(x);
    }
}

/* n floating-point operations are computed; n is asked for while hd__telling alone. */
#define HD__FLOP(n) (hd__telling() ? hd__events->computed(n) : (void)0)

/* Counts an in-place change of x's storage. */
static inline void hd__bump(hd_tensor *x)
{
    atomic_fetch_add_explicit(&x->storage->version, 1, memory_order_relaxed);
}

static inline uint32_t hd__storage_version(const hd_tensor *x)
{
    return atomic_load_explicit(&x->storage->version, memory_order_relaxed);
}

/* Bytes of an element. */
static inline int64_t hd__bytes_of(hd_dtype d)
{
    static const uint8_t bytes[] = {4, 8, 8, 1, 2};
    return bytes[d];
}

/* The bytes of x's elements, one after another. An expanded x may have more than any memory has:
 * then fails with HD_MEMORY. */
bool hd__tensor_bytes(const hd_tensor *x, size_t *bytes);

/* Does x lie in the block of its storage, because it was made with it (lifecycle.c)? */
enum { HD__TENSOR_AT = 64 };
static inline bool hd__in_storage(const hd_tensor *x)
{
    return (const char *)x == (const char *)x->storage + HD__TENSOR_AT;
}

static inline void *hd__ptr(const hd_tensor *x)
{
    return (char *)x->storage->data + x->offset * hd__bytes_of(x->dtype);
}

/* The element of x, whose dtype holds floats, that is number `at` of its storage. */
static inline double hd__float_at(const hd_tensor *x, int64_t at)
{
    const void *data = x->storage->data;
    return x->dtype == HD_FLOAT32   ? (double)((const float *)data)[at]
           : x->dtype == HD_FLOAT64 ? ((const double *)data)[at]
                                    : (double)hdk_from_bf16(((const uint16_t *)data)[at]);
}

/* The same where x is of int64 or bool. */
static inline int64_t hd__int_at(const hd_tensor *x, int64_t at)
{
    const void *data = x->storage->data;
    return x->dtype == HD_INT64 ? ((const int64_t *)data)[at] : ((const uint8_t *)data)[at];
}

/* NULL for HD_NONE. */
static inline void *hd__ptr_or_null(const hd_tensor *x)
{
    return hd__is_none(x) ? NULL : hd__ptr(x);
}

static inline bool hd__contig(const hd_tensor *x)
{
    return x->flags & HD__F_CONTIGUOUS;
}

static inline bool hd__has_sizes(const hd_tensor *x, int ndim, const int64_t *sizes)
{
    bool same = x->ndim == ndim;
    for (int d = 0; same && d < ndim; d++) {
        same = x->sizes[d] == sizes[d];
    }
    return same;
}

static inline bool hd__same_shape(const hd_tensor *a, const hd_tensor *b)
{
    return hd__has_sizes(a, b->ndim, b->sizes);
}

/* The product of n sizes. */
static inline int64_t hd__count_of(int n, const int64_t *sizes)
{
    int64_t count = 1;
    for (int d = 0; d < n; d++) {
        count *= sizes[d];
    }
    return count;
}

/* Are the elements of a and b the same memory, one by one? */
static inline bool hd__same_memory(const hd_tensor *a, const hd_tensor *b)
{
    return a->storage == b->storage && a->offset == b->offset && hd__same_shape(a, b) &&
           (a->flags & b->flags & HD__F_CONTIGUOUS ||
            memcmp(a->strides, b->strides, (size_t)a->ndim * sizeof *a->strides) == 0);
}

/* Gives t these sizes, of which numel is the product, and the strides of a row-major tensor. */
void hd__set_contiguous(hd_tensor *t, int64_t numel, int ndim, const int64_t *sizes);
/* The strides of a row-major tensor of these sizes. */
void hd__default_strides(int ndim, const int64_t *sizes, int64_t *strides);
/* Recomputes numel and HD__F_CONTIGUOUS after sizes or strides were written. */
void hd__geometry_changed(hd_tensor *x);
/* For assertions: does every index of x reach an element of its storage? */
bool hd__inside_storage(const hd_tensor *x);

/* The strides for viewing x as sizes without a copy; false if its layout does not allow that. */
bool hd__view_strides(const hd_tensor *x, int ndim, const int64_t *sizes, int64_t *strides);
/* out = sizes, of which one may be -1: it becomes what x's number of elements leaves for it. The
 * errors are those of PyTorch's view. */
bool hd__infer_sizes(const hd_tensor *x, int n, const int64_t *sizes, int64_t *out);

static inline uintptr_t hd__seal_of(const hd_tensor *t)
{
    return (uintptr_t)t ^ (uintptr_t)t->freed_by ^ (uintptr_t)t->made_by;
}

/* Writes over t, whose last holder is gone, what the message of hd__arg will tell (tensor_args.c).
 * From then on t is known as freed. */
static inline void hd__bury(hd_tensor *t)
{
    t->freed_by = hd__call;
    t->seal = hd__seal_of(t);
    t->mark = 0;
    atomic_store_explicit(&t->refs, HD__REFS_FREED, memory_order_relaxed);
}

/* Writes the text to f, which is flushed if `at_once`, and frees the text. Fails with HD_IO, or
 * where the text failed. */
bool hd__text_print(hd__text *t, FILE *f, bool at_once);

/* Memory that lives as long as the innermost scope. */
void *hd__scope_alloc(size_t bytes);

/* As hd__key of base, in the innermost scope: "prefix.field". Every hd_dict function takes NULL. */
const char *hd__field(const char *prefix, const char *field);

#endif
