/* lifecycle.c - makes and frees tensors and storages. Scopes are in scope.c.
 *
 * refs counts the references to a tensor. Its scope has one, hd_retain adds one for the program,
 * and hd__tensor_hold adds one for heed itself. `retained` counts only the references of hd_retain,
 * so that hd_release can tell them from the scope's reference.
 *
 * A freed tensor is marked in its refs, and its block goes into quarantine. quarantine.c in
 * src/base explains why. */
#include "base/memory/count.h"
#include "base/memory/refs.h"
#include "tensor/lifecycle.h"
#include "tensor/scope.h"
#include "tensor/strides.h"
#include "tensor/tensor_args.h"

struct hd_tensor hd_none = {.refs = HD__REFS_NONE};

bool (*hd__tensor_write_check)(const char *arg, hd_tensor *x);

/* ---------------------------------------------------------------- references */

/* A new tensor and its storage lie in one block: first the storage's struct, then the tensor, then
 * the data, which have the block's alignment. If a view uses the storage, the block outlives the
 * tensor. Data that are too large for the quarantine get a block of their own. */
enum { DATA_AT = HD__TENSOR_AT + 256 };

_Static_assert(sizeof(hd__tensor_storage) <= HD__TENSOR_AT &&
                   sizeof(hd_tensor) <= DATA_AT - HD__TENSOR_AT,
               "header and tensor fit into their places");

static inline hd_tensor *tensor_in(hd__tensor_storage *s)
{
    return (hd_tensor *)((char *)s + HD__TENSOR_AT);
}

/* The release function of data that have a block of their own and, in debug mode, of all data. With
 * HEED_DEBUG=1, overwrites the data, so that an old pointer from hd_data shows NaN or -1. Then
 * frees the data if they have a block of their own. */
static void give_data(void *data, void *user)
{
    hd__tensor_storage *s = user;
    if (hd__debug_on()) {
        memset(data, s->spoiled, s->nbytes);
    }
    if (data != (char *)s + DATA_AT) {
        hd_free(data);
    }
}

static void storage_release(hd__tensor_storage *s)
{
    if (!hd__refs_down(&s->refs)) {
        return;
    }
    if (s->foreign) {
        HD__CALLS_BACK; /* messages in the program's `release` name the functions that it calls */
        s->release(s->data, s->user);
    } else if (s->release) {
        s->release(s->data, s->user);
    }
    hd__mem_retire(s);
}

/* If t is in the list of live tensors, reports its end. If t took over another storage, releases
 * that storage and gives t its old one back. t lies in the old storage's block, which destroy then
 * releases. */
HD__RARE static void prepare_end(hd_tensor *t)
{
    if (t->flags & HD__F_LISTED) {
        hd__events->freed(t);
    }
    if (t->flags & HD__F_MOVED) {
        storage_release(t->storage);
        t->storage = (hd__tensor_storage *)((char *)t - HD__TENSOR_AT);
    }
}

__attribute__((noinline)) static void destroy(hd_tensor *t)
{
    hd_tensor *base = t->base;
    hd__assert(!t->scope && atomic_load(&t->retained) == 0);
    if (HD__UNLIKELY(t->flags & (HD__F_LISTED | HD__F_MOVED))) {
        prepare_end(t);
    }
    bool apart = !hd__tensor_in_storage(t);
    if (t->attachment) {
        t->attachment_ops->release(t->attachment);
    }
    hd__tensor_bury(t);
    storage_release(t->storage);
    if (apart) {
        hd__mem_retire(t);
    }
    hd__count(HD__TENSORS, -1);
    hd__tensor_drop(base); /* recurses only once, because a base has no base */
}

hd_tensor *hd__tensor_hold(hd_tensor *t)
{
    if (t && !hd__tensor_is_none(t)) {
        hd__assert(hd__tensor_refs_of(t) > HD__REFS_NONE);
        hd__refs_up(&t->refs);
    }
    return t;
}

void hd__tensor_drop(hd_tensor *t)
{
    if (!t || hd__tensor_is_none(t)) {
        return;
    }
    if (hd__refs_down(&t->refs)) {
        destroy(t);
    }
}

bool hd__tensor_held_once(const hd_tensor *t)
{
    return atomic_load_explicit(&t->refs, memory_order_acquire) == 1 && !t->scope &&
           atomic_load_explicit(&t->storage->refs, memory_order_acquire) == 1 &&
           (!t->storage->release || t->storage->release == give_data) && hd__tensor_contig(t);
}

void hd__tensor_leave_base(hd_tensor *t)
{
    hd_tensor *base = t->base;
    if (base && base->numel == t->numel && !base->scope && !t->scope &&
        atomic_load_explicit(&t->refs, memory_order_acquire) == 1 &&
        atomic_load_explicit(&base->refs, memory_order_acquire) == 1) {
        t->base = NULL;
        hd__tensor_drop(base);
    }
}

hd_tensor *hd_retain(hd_tensor *t)
{
    HD__CALL("hd_retain");
    if (!t || !hd__tensor_any_arg("t", t, true)) {
        return NULL;
    }
    if (!hd__tensor_is_none(t)) {
        hd__refs_up(&t->retained);
    }
    return hd__tensor_hold(t);
}

/* Drops one of the program's references to t: one of hd_retain or, if there is none, the scope's
 * reference. If t is also in no scope, sets HD_STATE and drops nothing. */
static void give_up_hold(hd_tensor *t)
{
    if (atomic_load_explicit(&t->retained, memory_order_relaxed) > 0) {
        atomic_fetch_sub_explicit(&t->retained, 1, memory_order_relaxed);
    } else if (t->scope) {
        hd__scope_unlink(t);
    } else {
        hd_fail(HD_STATE,
                "a tensor of %s: no hd_retain is left to undo, and no scope holds it. Call "
                "hd_release once for each hd_retain",
                HD__SHAPE(t));
        return;
    }
    hd__tensor_drop(t);
}

void hd_release(hd_tensor *t)
{
    HD__CALL("hd_release");
    if (t && hd__tensor_any_arg("t", t, true) && !hd__tensor_is_none(t)) {
        give_up_hold(t);
    }
}

bool hd_assign(hd_tensor **slot, hd_tensor *t)
{
    HD__CALL("hd_assign");
    if (!slot) {
        return hd__arg_null_arg("slot");
    }
    hd_tensor *before = *slot;
    if (!hd__tensor_any_arg("t", t, true) ||
        (before && !hd__tensor_any_arg("*slot", before, true))) {
        return false;
    }
    bool held = before != t || atomic_load_explicit(&t->retained, memory_order_relaxed) > 0;
    *slot = hd_retain(t);
    if (before && !hd__tensor_is_none(before) && held) {
        give_up_hold(before);
    }
    return true;
}

/* ---------------------------------------------------------------- making tensors */

static hd__tensor_storage *storage_new(size_t nbytes)
{
    bool apart = nbytes > HD__RETIRED_MOST - DATA_AT;
    hd__tensor_storage *s = hd__mem_alloc(apart ? DATA_AT : DATA_AT + nbytes);
    void *data = !s ? NULL : apart ? hd__mem_alloc(nbytes) : (char *)s + DATA_AT;
    if (!data) {
        hd_free(s);
        return hd__error_no_memory(nbytes);
    }
    *s = (hd__tensor_storage){.refs = 1, .data = data, .nbytes = nbytes, .spoiled = 0xff};
    if (HD__UNLIKELY(apart || hd__debug_any())) {
        s->release = give_data;
        s->user = s;
    }
    return s;
}

/* Sets up all fields of t except its sizes and strides, and returns t. t has one reference and no
 * scope, and takes over one of the references to s. */
static hd_tensor *begin(hd_tensor *t, hd_dtype d, hd__tensor_storage *s)
{
    hd__count(HD__TENSORS, 1);
    atomic_init(&t->refs, 1);
    atomic_init(&t->retained, 0);
    t->dtype = (uint8_t)d;
    t->mark = HD__TENSOR;
    t->flags = 0;
    t->output = 0;
    t->storage = s;
    t->offset = 0;
    t->attachment = NULL;
    t->attachment_ops = NULL;
    t->base = NULL;
    atomic_init(&t->view_version, 0);
    t->returned = false;
    t->scope = NULL;
    t->prev = t->next = NULL;
    t->made_by = hd__call;
    return t;
}

static hd_tensor *adopt(hd_tensor *t)
{
    hd__scope_link(hd__scope_top, t);
    return t;
}

static void *size_overflows(hd_dtype d, int ndim, const int64_t *sizes)
{
    return hd_fail(HD_MEMORY, "%s of %s: the size overflows", HD__SIZES(ndim, sizes),
                   hd_dtype_name(d));
}

bool hd__tensor_bytes(const hd_tensor *x, size_t *bytes)
{
    return hd__arg_bytes(x->numel, (size_t)hd__tensor_bytes_of(x->dtype), bytes) ||
           size_overflows(x->dtype, x->ndim, x->sizes);
}

bool hd__tensor_measure(hd_dtype d, int ndim, const int64_t *sizes, int64_t *numel, size_t *bytes)
{
    if (!hd__tensor_dtype_arg(d) || !hd__tensor_sizes_arg(ndim, sizes)) {
        return false;
    }
    /* reach: the bytes if a size of 0 counted as 1, as it does in the strides */
    int64_t n = 1, reach = hd__tensor_bytes_of(d);
    for (int i = 0; i < ndim; i++) {
        if (sizes[i] < 0) {
            return hd_fail(HD_SHAPE, "%s: expected sizes of 0 or more", HD__SIZES(ndim, sizes));
        }
        if (__builtin_mul_overflow(reach, sizes[i] > 0 ? sizes[i] : 1, &reach) ||
            reach > INT64_MAX / 2) {
            return size_overflows(d, ndim, sizes);
        }
        n *= sizes[i]; /* cannot overflow, because n is at most reach */
    }
    *numel = n;
    return hd__arg_bytes(n, (size_t)hd__tensor_bytes_of(d), bytes) ||
           size_overflows(d, ndim, sizes);
}

void hd__tensor_set_contiguous(hd_tensor *t, int64_t numel, int ndim, const int64_t *sizes)
{
    t->ndim = (uint8_t)ndim;
    t->numel = numel;
    t->flags |= HD__F_CONTIGUOUS;
    int64_t stride = 1;
    for (int i = ndim - 1; i >= 0; i--) {
        t->sizes[i] = sizes[i];
        t->strides[i] = stride;
        stride *= sizes[i] > 1 ? sizes[i] : 1;
    }
}

HD__RARE static void tell_made(hd_tensor *t)
{
    t->made_by = hd__call_kept();
    if (hd__event_listening()) {
        hd__events->made(t);
    }
}

/* Makes a contiguous tensor over s, in s's block, and returns it. Returns NULL if s is NULL. */
static inline hd_tensor *fresh_in(hd__tensor_storage *s, hd_dtype d, int64_t numel, int ndim,
                                  const int64_t *sizes)
{
    if (!s) {
        return NULL;
    }
    hd_tensor *t = begin(tensor_in(s), d, s);
    /* A storage made in debug mode has a release function. Testing this field first is cheaper. */
    if (HD__UNLIKELY(s->release) && hd__debug_any()) {
        tell_made(t);
    }
    hd__tensor_set_contiguous(t, numel, ndim, sizes);
    return adopt(t);
}

/* Returns a new contiguous tensor, or NULL with an error. If `owned` is false, the tensor gets no
 * memory for its data, and the caller sets storage->data. */
static hd_tensor *fresh(hd_dtype d, int ndim, const int64_t *sizes, bool owned)
{
    int64_t numel = 0;
    size_t bytes = 0;
    bool ok = hd__scope_ready() && hd__tensor_measure(d, ndim, sizes, &numel, &bytes);
    hd__tensor_storage *s = ok ? storage_new(owned ? bytes : 0) : NULL;
    if (s) {
        /* Set before fresh_in adds the tensor to debug mode's list, where other threads read it. */
        s->nbytes = bytes;
    }
    return fresh_in(s, d, numel, ndim, sizes);
}

hd_tensor *hd__tensor_empty(hd_dtype d, int ndim, const int64_t *sizes)
{
    return fresh(d, ndim, sizes, true);
}

hd_tensor *hd__tensor_empty_as(hd_dtype d, const hd_tensor *x)
{
    if (!hd__tensor_contig(x)) { /* an expanded x may be too large for any memory */
        return hd__tensor_empty(d, x->ndim, x->sizes);
    }
    size_t bytes;
    if (!hd__arg_bytes(x->numel, (size_t)hd__tensor_bytes_of(d), &bytes)) {
        return size_overflows(d, x->ndim, x->sizes);
    }
    hd__tensor_storage *s = hd__scope_ready() ? storage_new(bytes) : NULL;
    return fresh_in(s, d, x->numel, x->ndim, x->sizes);
}

hd_tensor *hd__tensor_empty_with(hd_dtype d, const hd_tensor *x, int ndim, int dim, int64_t size)
{
    int64_t sizes[HD_MAX_DIMS + 1];
    memcpy(sizes, x->sizes, sizeof x->sizes);
    sizes[dim] = size;
    return hd__tensor_empty(d, ndim, sizes);
}

static void leave(void *data, void *user)
{
    (void)data, (void)user;
}

hd_tensor *(hd_wrap_n)(hd_dtype d, void *data, void (*release)(void *data, void *user), void *user,
                       int ndim, const int64_t *sizes)
{
    HD__CALL("hd_wrap");
    if (!data) {
        return hd__arg_null_arg("data");
    }
    if (hd__tensor_dtype_arg(d) && (uintptr_t)data % (uintptr_t)hd__tensor_bytes_of(d) != 0) {
        return hd_fail(HD_VALUE, "data %p: expected an address aligned for %s", data,
                       hd_dtype_name(d));
    }
    hd_tensor *t = fresh(d, ndim, sizes, false);
    if (t) {
        t->storage->data = data;
        t->storage->release = release ? release : leave;
        t->storage->foreign = release;
        t->storage->user = user;
    }
    return t;
}

static hd_tensor *share(const hd_tensor *x)
{
    hd_tensor *y = hd__scope_ready() ? hd_alloc(sizeof *y) : NULL;
    if (y) {
        hd__refs_up(&x->storage->refs);
        begin(y, x->dtype, x->storage);
    }
    return y;
}

hd_tensor *hd__tensor_alias(const hd_tensor *x, int ndim, const int64_t *sizes,
                            const int64_t *strides, int64_t offset)
{
    hd_tensor *y = share(x);
    if (!y) {
        return NULL;
    }
    if (HD__UNLIKELY(hd__debug_any())) {
        tell_made(y);
    }
    y->ndim = (uint8_t)ndim;
    y->flags |= x->flags & HD__F_LENT;
    y->offset = offset;
    /* Copies element by element, because a wide load would wait for the caller's narrow stores. */
    for (int i = 0; i < ndim; i++) {
        y->sizes[i] = sizes[i];
        y->strides[i] = strides[i];
    }
    hd__tensor_geometry_changed(y);
    return adopt(y);
}

hd_tensor *hd__tensor_alias_of(const hd_tensor *x)
{
    return hd__tensor_alias(x, x->ndim, x->sizes, x->strides, x->offset);
}

hd_tensor *hd__tensor_alias_held(const hd_tensor *x)
{
    hd_tensor *y = share(x);
    if (!y) {
        return NULL;
    }
    y->made_by = x->made_by;
    if (hd__event_watching()) {
        hd__events->saved(y, x);
    }
    y->ndim = x->ndim;
    y->offset = x->offset;
    y->numel = x->numel;
    y->flags |= x->flags & (HD__F_CONTIGUOUS | HD__F_LENT);
    memcpy(y->sizes, x->sizes, sizeof x->sizes);
    memcpy(y->strides, x->strides, sizeof x->strides);
    return y;
}

/* ---------------------------------------------------------------- another dtype */

atomic_uint hd__tensor_taken_over;

bool hd__tensor_may_take_over(const hd_tensor *t)
{
    return !t->attachment || !t->attachment_ops->in_run() ||
           hd_fail(HD_STATE,
                   "a backward runs on this thread. Call it before or after the backward");
}

/* Gives t the elements, dtype and strides of y. Meanwhile t is not in the list of live tensors,
 * because other threads read the storages of listed tensors. */
static void set_elements(hd_tensor *t, const hd_tensor *y)
{
    const uint8_t view = HD__F_CONTIGUOUS | HD__F_MULTI_VIEW | HD__F_NO_GRAD_VIEW;
    const bool listed = t->flags & HD__F_LISTED;
    if (listed) {
        hd__events->freed(t);
    }
    hd__refs_up(&y->storage->refs);
    t->storage = y->storage;
    t->dtype = y->dtype;
    t->offset = y->offset;
    t->flags = (uint8_t)((t->flags & ~view) | (y->flags & HD__F_CONTIGUOUS));
    memcpy(t->strides, y->strides, sizeof t->strides);
    if (listed) {
        hd__events->saved(t, t);
    }
}

void hd__tensor_take_over(hd_tensor *t, const hd_tensor *y, hd_tensor *g)
{
    hd__tensor_storage *before = t->storage;
    hd_tensor *base = t->base;
    hd__assert(hd__tensor_same_shape(t, y) && !y->base);
    const bool in_block = hd__tensor_in_storage(t);
    t->flags |= in_block ? HD__F_MOVED : 0;
    t->base = NULL;
    atomic_fetch_add(&hd__tensor_taken_over, 1);
    set_elements(t, y);
    if (t->attachment) {
        t->attachment_ops->taken_over(t, g);
    }
    if (!in_block) {
        storage_release(before);
    }
    hd__tensor_drop(base);
}
