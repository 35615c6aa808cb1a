/* tensor_struct.h - the structs of a tensor and its storage, and inline functions that read them.
 *
 * Invariants of a tensor: refs >= 1, and refs >= retained. No size is negative, and numel is the
 * product of the sizes. Every index of the tensor reaches an element inside the storage. Elements
 * of sizes[] and strides[] from ndim on are undefined. */
#ifndef HEED_TENSOR_TENSOR_STRUCT_H
#define HEED_TENSOR_TENSOR_STRUCT_H

#include <string.h>

#include "tensor/for_nn_and_optim.h"

typedef struct hd__tensor_storage {
    atomic_int refs;
    atomic_uint version; /* number of in-place changes so far */
    /* the elements: in this struct's block, in a block of their own, or in hd_wrap's array */
    void *data;
    size_t nbytes;
    /* frees data; NULL if data is in this struct's block and HEED_DEBUG, HEED_TRACE and
     * HEED_PROFILE are off */
    void (*release)(void *data, void *user);
    void *user;
    uint8_t spoiled; /* with HEED_DEBUG=1: the byte that overwrites freed data */
    bool foreign;    /* true if release is the program's own function */
    /* In debug mode: the function that changed the data last, and the module whose forward ran at
     * that time. They are set only if release is not NULL; otherwise they are NULL. */
    const char *changed_by, *changed_in;
} hd__tensor_storage;

/* The attachment of a tensor is its node in autograd's graph. The tensor layer uses it only through
 * these functions. */
typedef struct hd__tensor_attachment_ops {
    void (*release)(void *attachment);
    /* writes the suffix of the repr, such as `grad_fn=<MulBackward0>`, to text, or "" if there is
     * none */
    void (*describe)(const hd_tensor *t, char *text, size_t n);
    /* does the work of hd__tensor_grad_use_of (for_nn_and_optim.h) */
    hd__tensor_grad_use *(*grad_use)(void *attachment, int64_t *version);
    /* returns true if a backward runs on this thread */
    bool (*in_run)(void);
    /* called after hd__tensor_take_over has changed the dtype of leaf x; grad is x's new .grad, or
     * HD_NONE if x has no .grad any more */
    void (*taken_over)(hd_tensor *x, hd_tensor *grad);
} hd__tensor_attachment_ops;

/* Returns true if a function of the tensor layer may write to x; otherwise sets an error and
 * returns false. In grad mode it refuses a leaf that requires grad. It always refuses a gradient
 * that was passed to the user's code, such as a hook.
 *
 * The pointer is not in the table above, because the function also checks tensors without an
 * attachment. A constructor in autograd's history.c sets it. In a program that links tensor alone
 * it is NULL, and every tensor may be written. */
extern bool (*hd__tensor_write_check)(const char *arg, hd_tensor *x);

static inline bool hd__tensor_write_ok(const char *arg, hd_tensor *x)
{
    return !hd__tensor_write_check || hd__tensor_write_check(arg, x);
}

struct hd_tensor {
    /* number of references (lifecycle.c); HD__REFS_NONE in HD_NONE, HD__REFS_FREED if freed */
    atomic_int refs;
    uint8_t ndim, dtype;
    uint8_t mark;        /* HD__TENSOR; 0 in HD_NONE and in a freed tensor */
    uint8_t flags;       /* HD__F_... */
    uint32_t output;     /* the tensor's index among the outputs of its node */
    atomic_int retained; /* number of references that are from hd_retain */
    hd__tensor_storage *storage;
    int64_t offset; /* distance of the first element from the storage's beginning, in elements */
    int64_t numel;
    void *attachment; /* the tensor's autograd node; NULL if it has none */
    const hd__tensor_attachment_ops *attachment_ops;
    /* in a differentiable view: its base, to which the view holds a reference; else NULL */
    hd_tensor *base;
    atomic_uint view_version; /* in a view: the storage's version for which `attachment` is valid */
    /* true if hd_scope_return was called for the tensor in a scope directly inside the tensor's own
     * scope; such a call does not move the tensor */
    bool returned;
    hd_scope *scope; /* the scope that owns the tensor; NULL if none does */
    union {
        hd_tensor *prev; /* the tensor before it in the scope's list */
        /* In a freed tensor: the name of the function that freed it, or a text which says that its
         * scope closed. NULL if heed does not know what freed the tensor. */
        const char *freed_by;
    };
    union {
        hd_tensor *next;
        uintptr_t seal; /* in a freed tensor: a checksum of some fields (tensor_args.c) */
    };
    const char *made_by; /* name of the public function that made the tensor; never freed */
    int64_t sizes[HD_MAX_DIMS];
    int64_t strides[HD_MAX_DIMS];
    /* Set only with HD__F_LISTED: the neighbours in the list of live tensors, and the module that
     * made the tensor (live_tensors.c). */
    hd_tensor *live_prev, *live_next;
    const char *made_in;
};

enum {
    HD__F_PARAMETER = 1,    /* it prints as a Parameter */
    HD__F_MULTI_VIEW = 2,   /* an output of split, chunk or unbind; may not change in place */
    HD__F_CONTIGUOUS = 4,   /* row-major without gaps; code that sets sizes or strides updates it */
    HD__F_NO_GRAD_VIEW = 8, /* a view taken under no_grad; may not change in place in grad mode */
    HD__F_LISTED = 16,      /* it is in debug mode's list of live tensors */
    HD__F_LENT = 32,  /* a read-only gradient that was passed to the user's code, or its alias */
    HD__F_LEAF = 64,  /* the tensor's first autograd node was a leaf's (AccumulateGrad) */
    HD__F_MOVED = 128 /* it took over another storage; its struct lies in the old one's block */
};

enum { HD__REFS_NONE = 0, HD__REFS_FREED = -0x6f3e2d1c };

_Static_assert(offsetof(hd_tensor, mark) == HD__MARK_AT, "where hd__object_text looks for it");

/* ---------------------------------------------------------------- fields */

static inline int hd__tensor_refs_of(const hd_tensor *x)
{
    return atomic_load_explicit((atomic_int *)(uintptr_t)&x->refs, memory_order_relaxed);
}

/* True if the object at address x is a tensor: not HD_NONE, a freed tensor or another object. */
static inline bool hd__tensor_is_tensor(const hd_tensor *x)
{
    return x->mark == HD__TENSOR;
}

/* True if the object at x is a tensor of any dtype but bfloat16, which heed stores but does not
 * compute with. One comparison tests mark and dtype, because HD__TENSOR is the sign bit of the
 * 16-bit number that they form. */
static inline bool hd__tensor_is_computed(const hd_tensor *x)
{
    return (int16_t)(x->mark << 8 | x->dtype) < INT16_MIN + (int)HD_BFLOAT16;
}

/* Returns false if x is NULL or a small number, such as the 2 of hd_mul(x, 2), and true otherwise.
 * The test costs no more than a comparison with NULL. */
static inline bool hd__tensor_is_address(const hd_tensor *x)
{
    return (uintptr_t)x >= 4096;
}

static inline bool hd__tensor_is_none(const hd_tensor *x)
{
    return x == &hd_none;
}

/* Counts an in-place change of x's storage. */
static inline void hd__tensor_bump(hd_tensor *x)
{
    atomic_fetch_add_explicit(&x->storage->version, 1, memory_order_relaxed);
}

static inline uint32_t hd__tensor_storage_version(const hd_tensor *x)
{
    return atomic_load_explicit(&x->storage->version, memory_order_relaxed);
}

static inline int64_t hd__tensor_bytes_of(hd_dtype d)
{
    static const uint8_t bytes[] = {4, 8, 8, 1, 2};
    return bytes[d];
}

/* A new tensor lies in the block of its storage, HD__TENSOR_AT bytes after the beginning of the
 * storage's struct. A view has a block of its own (lifecycle.c). */
enum { HD__TENSOR_AT = 64 };
static inline bool hd__tensor_in_storage(const hd_tensor *x)
{
    return (const char *)x == (const char *)x->storage + HD__TENSOR_AT;
}

static inline void *hd__tensor_ptr(const hd_tensor *x)
{
    return (char *)x->storage->data + x->offset * hd__tensor_bytes_of(x->dtype);
}

/* Returns the address of x's first element, or NULL if x is HD_NONE. */
static inline void *hd__tensor_ptr_or_null(const hd_tensor *x)
{
    return hd__tensor_is_none(x) ? NULL : hd__tensor_ptr(x);
}

static inline bool hd__tensor_contig(const hd_tensor *x)
{
    return x->flags & HD__F_CONTIGUOUS;
}

static inline bool hd__tensor_has_sizes(const hd_tensor *x, int ndim, const int64_t *sizes)
{
    bool same = x->ndim == ndim;
    for (int d = 0; same && d < ndim; d++) {
        same = x->sizes[d] == sizes[d];
    }
    return same;
}

static inline bool hd__tensor_same_shape(const hd_tensor *a, const hd_tensor *b)
{
    return hd__tensor_has_sizes(a, b->ndim, b->sizes);
}

/* Returns the product of n sizes. */
static inline int64_t hd__tensor_count_of(int n, const int64_t *sizes)
{
    int64_t count = 1;
    for (int d = 0; d < n; d++) {
        count *= sizes[d];
    }
    return count;
}

/* True if each element of a lies at the same address as b's element of the same index. */
static inline bool hd__tensor_same_memory(const hd_tensor *a, const hd_tensor *b)
{
    return a->storage == b->storage && a->offset == b->offset && hd__tensor_same_shape(a, b) &&
           (a->flags & b->flags & HD__F_CONTIGUOUS ||
            memcmp(a->strides, b->strides, (size_t)a->ndim * sizeof *a->strides) == 0);
}

/* Returns the bit mask of all dims of x. A 0-d tensor counts as having dim 0. */
static inline uint32_t hd__tensor_all_dims(const hd_tensor *x)
{
    return x->ndim ? (1u << x->ndim) - 1 : 1;
}

#endif
