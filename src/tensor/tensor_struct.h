/* tensor_struct.h - the tensor, and what is read of it without a call: all of tensor and autograd
 * need both, so they stand in one header, which declares no function of a file.
 *
 * Invariants of a tensor: refs >= 1, refs >= retained; sizes are never negative; numel is their
 * product; every index that sizes and strides reach from offset lies inside the storage; sizes
 * and strides from ndim on are undefined. */
#ifndef HEED_TENSOR_TENSOR_STRUCT_H
#define HEED_TENSOR_TENSOR_STRUCT_H

#include <string.h>

#include "tensor/for_nn_and_optim.h"

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
    /* With HD__F_LISTED (live_tensors.c): the neighbours in the list, and the module that made
     * it. */
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

/* ---------------------------------------------------------------- fields */

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

/* All dims as a bit mask; a 0-d tensor has dim 0. */
static inline uint32_t hd__all_dims(const hd_tensor *x)
{
    return x->ndim ? (1u << x->ndim) - 1 : 1;
}

#endif
