/* tensor.h - tensors without gradients: types, lifetime, creation, access, printing, dictionaries.
 *
 * A tensor is a typed, strided view of a reference-counted storage, with up to 8 dimensions. heed.h
 * states the rules of ownership and errors. Every function of this file that makes a tensor, a list
 * or a text puts it into the calling thread's innermost scope. */
#ifndef HEED_TENSOR_H
#define HEED_TENSOR_H

#include <stdio.h>

#include "heed/base.h"
#include "heed/c11.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------- types */

enum { HD_MAX_DIMS = 8 }; /* the most dimensions that a tensor has */

/* The type of a tensor's elements. The values never change; a later dtype, such as float16, gets a
 * new value.
 *
 * HD_BFLOAT16 is for storage only. It is the upper half of a float32 and takes half the memory.
 * hd_to converts to it, rounding to the nearest value, ties to even (NaN stays NaN); converting
 * from it is exact. A bfloat16 tensor can be made, read, written, copied, filled, viewed, printed
 * and saved. It can be a parameter that does not require grad, and the weight of hd_linear and
 * hd_embedding. Every other function refuses it with HD_DTYPE: convert it with hd_to(x, HD_FLOAT32)
 * first.
 *
 * A number is not taken as a dtype: hd_ones(2, 3) does not compile. A dtype in an int variable i
 * needs the cast (hd_dtype)i. In C an unsigned variable needs no cast, because compilers give the
 * enum this type. */
typedef enum hd_dtype {
    HD_FLOAT32 = 0, /* float in C */
    HD_FLOAT64 = 1, /* double */
    HD_INT64 = 2,   /* int64_t */
    HD_BOOL = 3,    /* bool, a byte */
    HD_BFLOAT16 = 4 /* uint16_t, the upper half of a float */
} hd_dtype;

#ifndef __cplusplus /* an enumerator of C is an int; these macros cast it to hd_dtype (c11.h) */
#define HD_FLOAT32 ((hd_dtype)HD_FLOAT32)
#define HD_FLOAT64 ((hd_dtype)HD_FLOAT64)
#define HD_INT64 ((hd_dtype)HD_INT64)
#define HD_BOOL ((hd_dtype)HD_BOOL)
#define HD_BFLOAT16 ((hd_dtype)HD_BFLOAT16)
#endif

typedef struct hd_tensor hd_tensor; /* a typed, strided view of a storage */
typedef struct hd_scope hd_scope;   /* owns the tensors that are made in it */
typedef struct hd_list hd_list;     /* a list of tensors, like Python's; lives in a scope */
typedef struct hd_dict hd_dict;     /* a map from names to tensors, strings and numbers */

/* HD_NONE is Python's None. It stands for an optional tensor that is left out, for no gradient and
 * for no bias. A function that requires a tensor fails with HD_NULL_ARG if it gets HD_NONE. */
HD_API extern hd_tensor hd_none;
#define HD_NONE (&hd_none)

#define HD_ALL INT64_MIN /* as an index: the whole dimension, like Python's `:` */
#define HD_END INT64_MAX /* as the stop of a slice: the end of the dimension */

HD_API const char *hd_dtype_name(hd_dtype d); /* d's name, as "float32"; "?" if d is no dtype */
HD_API int64_t hd_dtype_size(hd_dtype d);     /* bytes per element; -1 if d is no dtype */

/* ---------------------------------------------------------------- numbers */

/* A number that the caller passes: int64 or double, like Python's int and float. hd_scalar_of(v)
 * makes an hd_scalar from a C number v: an int64 if v is an integer or a bool, a double if v is a
 * floating-point number. */
typedef struct hd_scalar {
    bool is_int; /* true: the number is v.i; false: v.d */
    union {
        int64_t i;
        double d;
    } v;
} hd_scalar;

/* Makes an hd_scalar of the integer i. */
static inline hd_scalar hd_scalar_int(int64_t i)
{
    hd_scalar s;
    s.is_int = true;
    s.v.i = i;
    return s;
}

/* Makes an hd_scalar of the number d. */
static inline hd_scalar hd_scalar_double(double d)
{
    hd_scalar s;
    s.is_int = false;
    s.v.d = d;
    return s;
}

/* Returns s. hd_scalar_of calls it for an argument that is an hd_scalar already. */
static inline hd_scalar hd_scalar_self(hd_scalar s)
{
    return s;
}

#ifndef __cplusplus
/* Makes an hd_scalar of a number of any type. The macros below call it. So where a function takes
 * an hd_scalar, the caller may pass 2, 0.5 or an hd_scalar. */
#define hd_scalar_of(x)                                                                            \
    _Generic((x), float                                                                            \
             : hd_scalar_double, double                                                            \
             : hd_scalar_double, long double                                                       \
             : hd_scalar_double, hd_scalar                                                         \
             : hd_scalar_self, default                                                             \
             : hd_scalar_int)(x)
#endif

/* ---------------------------------------------------------------- lifetime */

/* Adds a reference to t and returns t. Accepts NULL and HD_NONE. */
HD_API hd_tensor *hd_retain(hd_tensor *t);
/* Removes one reference that hd_retain added. If there is none, removes the reference of the scope
 * that owns t. HD_STATE: no scope owns t either. Accepts NULL and HD_NONE. */
HD_API void hd_release(hd_tensor *t);

/* Sets *slot to t, retains t, and releases the tensor that was in *slot before. If *slot already is
 * t, but owns no reference to it because only a scope holds t, the call retains t for the slot and
 * releases nothing. Before the call *slot must be NULL, HD_NONE or a tensor. If t is NULL, the call
 * fails and leaves *slot as it is. */
HD_API bool hd_assign(hd_tensor **slot, hd_tensor *t);

/* Opens a scope, which becomes the calling thread's innermost one. If memory runs out, returns
 * NULL, and the innermost scope stays the same. */
HD_API hd_scope *hd_scope_open(void);
/* Opens a scope at a place in a program's source. hd_scope_report and the warning of a loop without
 * HD_SCOPE name this place, and so does every message in debug mode. If HEED_DEBUG=1 is in the
 * environment and a tensor is used after its scope was closed, the error names the place of that
 * scope. HD_SCOPE calls this function with __FILE__ and __LINE__. file may be NULL if the place is
 * not known; otherwise the text must outlive the scope. */
HD_API hd_scope *hd_scope_open_at(const char *file, int line);
HD_API void hd_scope_close(hd_scope *s); /* closes s and the scopes opened inside it; takes NULL */

/* Moves t from the innermost scope to the enclosing one, and returns t. If another scope owns t, t
 * stays there.
 *   return hd_scope_return(y); */
HD_API hd_tensor *hd_scope_return(hd_tensor *t);

/* Writes to f a table of the tensors that the calling thread's scopes own. It helps to find out why
 * memory grows. The root scope comes first. For each scope the table lists the functions that made
 * its tensors, with the number of tensors and their bytes, the most bytes first. Memory that
 * several tensors share is counted once, at the first of them. HD_IO: the write failed.
 *
 * The bytes are those of the elements. hd_bytes_live returns more: it also counts the shape and the
 * other fields of each tensor, the tensors that the graph keeps for backward, and the memory of
 * modules, optimizers and other objects. Neither number contains freed memory that heed keeps for
 * reuse. */
HD_API bool hd_scope_report(FILE *f);

/* In debug mode (hd_set_debug), warns of the tensors of all threads that are live now. One warning
 * counts the tensors that one function made in the forward of one module. The warning with the most
 * bytes comes first. Memory that several tensors share is counted once. hd_shutdown gives the same
 * warnings if tensors are live after it has closed the scopes. Returns the number of live tensors,
 * or -1 if memory runs out. */
HD_API int64_t hd_tensor_report(void);

/* Writes to f how the program has spent its time so far. HEED_PROFILE=1 must have been in the
 * environment when the program started; otherwise the call fails with HD_STATE. The end of the
 * program writes the same to stderr. There is one table by module and one by op, over all threads,
 * the longest time first. Their columns:
 *   calls    the number of times that the op, or the forward of the module, has run. For a
 *            function that is made of several ops, each of them is counted.
 *   time     of an op: the time of its forward and backward, from the first tensor that its call
 *            makes until its result is ready. Of a module: the time of the ops of its own forward,
 *            and of their backward, without those of the modules inside it.
 *   share    time, divided by the whole time, which is that of all threads, each from its first
 *            tensor on. The last row has the rest: the program's own code, and heed's work
 *            between ops.
 *   forward  the part of the time that forward took
 *   backward the part of the time that backward took
 *   bytes    the bytes of the results in forward; a view, or a change in place, has none
 *   FLOP     the floating-point operations of products and of attention, forward and backward.
 *            The product of (m, k) and (k, n) counts 2 * m * n * k. Attention counts
 *            2 * w * (d + dv), and its backward 2 * w * (3 * d + 2 * dv), where w is the number
 *            of weights that is_causal does not mask, d is the number of elements of a key, and
 *            dv that of a value.
 *   FLOP/s   FLOP, divided by time
 * Profiling changes no result, and makes no call fail. A table has at most 8192 rows; calls for
 * which it has no row or no memory are counted together in one more row. */
HD_API bool hd_profile(FILE *f);

HD_API int64_t hd_scope_count(void);  /* the number of tensors in this thread's scopes */
HD_API int64_t hd_tensor_count(void); /* the number of tensors of all threads */

/* HD_SCOPE; opens a scope that closes at the end of the enclosing block, even if break, goto or
 * return leaves it. Write it as the first line of a loop's body. Without it, the tensors of every
 * iteration stay in the scope around the loop. If the loop calls hd_backward, heed warns when there
 * are many of them (base.h lists the warnings). HD_SCOPE needs GCC, Clang or TinyCC. With another
 * compiler, call hd_scope_open and hd_scope_close. */
#define HD_SCOPE                                                                                   \
    HD__AT_END(hd_scope *HD__JOIN(hd_scope_at_, __LINE__), hd_scope_cleanup,                       \
               hd_scope_open_at(__FILE__, __LINE__), "HD_SCOPE",                                   \
               "hd_scope_open and hd_scope_close")

/* Closes *s. The end of HD_SCOPE's block calls this function. */
static inline void hd_scope_cleanup(hd_scope **s)
{
    hd_scope_close(*s);
}

/* ---------------------------------------------------------------- creation */

/* These functions make a tensor of the given sizes. `sizes` has ndim entries; it may be NULL if
 * ndim is 0. The macros below take the sizes as a list:
 *   hd_zeros(HD_FLOAT32, 2, 3) is hd_zeros_n(HD_FLOAT32, 2, (int64_t[]){2, 3})
 * HD_SHAPE: a size is negative, or ndim is above 8. HD_MEMORY: memory runs out, or the number of
 * bytes overflows. */
/* a tensor whose elements are undefined */
HD_API hd_tensor *(hd_empty_n)(hd_dtype d, int ndim, const int64_t *sizes);
HD_API hd_tensor *(hd_zeros_n)(hd_dtype d, int ndim, const int64_t *sizes); /* a tensor of zeros */
HD_API hd_tensor *(hd_ones_n)(hd_dtype d, int ndim, const int64_t *sizes);  /* a tensor of ones */
/* a tensor whose every element is value */
HD_API hd_tensor *(hd_full_n)(hd_dtype d, hd_scalar value, int ndim, const int64_t *sizes);
/* a 0-d tensor that holds value */
HD_API hd_tensor *(hd_scalar_tensor)(hd_dtype d, hd_scalar value);

/* Returns the numbers start, start + step, start + 2 * step, ... before end; these are ceil((end -
 * start) / step) elements. The dtype is int64 if all three numbers are integers, else float32;
 * hd_arange_as takes a dtype. HD_VALUE: step is 0 or leads away from end. */
HD_API hd_tensor *(hd_arange)(hd_scalar start, hd_scalar end, hd_scalar step);
HD_API hd_tensor *(hd_arange_as)(hd_dtype d, hd_scalar start, hd_scalar end, hd_scalar step);
/* returns `steps` numbers at equal distances from start to end, both included */
HD_API hd_tensor *(hd_linspace)(hd_dtype d, double start, double end, int64_t steps);
/* an (n, m) matrix: 1 on the main diagonal, 0 elsewhere */
HD_API hd_tensor *(hd_eye)(hd_dtype d, int64_t n, int64_t m);

/* These functions make a tensor with the shape of x and dtype d, which is usually hd_dtype_of(x).
 * The result is row-major, whatever the strides of x are. The two random functions are an
 * exception: they keep the order of x's dims in memory, because PyTorch draws in that order. */
HD_API hd_tensor *(hd_empty_like)(const hd_tensor *x, hd_dtype d);
HD_API hd_tensor *(hd_zeros_like)(const hd_tensor *x, hd_dtype d);
HD_API hd_tensor *(hd_ones_like)(const hd_tensor *x, hd_dtype d);
HD_API hd_tensor *(hd_full_like)(const hd_tensor *x, hd_dtype d, hd_scalar value);
HD_API hd_tensor *(hd_rand_like)(const hd_tensor *x, hd_dtype d);
HD_API hd_tensor *(hd_randn_like)(const hd_tensor *x, hd_dtype d);

/* ---------------------------------------------------------------- random tensors */

/* These functions draw from the thread's generator (hd_generator_current), with PyTorch's streams.
 * C may evaluate the arguments of a call in any order. So at most one argument of a call should
 * itself draw random numbers. */
HD_API hd_tensor *(hd_rand_n)(hd_dtype d, int ndim, const int64_t *sizes);  /* uniform in [0, 1) */
HD_API hd_tensor *(hd_randn_n)(hd_dtype d, int ndim, const int64_t *sizes); /* normal(0, 1) */
/* random integers in [lo, hi), where hi > lo; d is any dtype except bool. float32 cannot hold all
 * integers beyond 2^24, nor float64 beyond 2^53. */
HD_API hd_tensor *(hd_randint_n)(hd_dtype d, int64_t lo, int64_t hi, int ndim,
                                 const int64_t *sizes);
HD_API hd_tensor *hd_randperm(int64_t n); /* int64 (n,): 0 to n - 1 in random order */

#define hd_empty(d, ...) hd_empty_n(d, HD__LIST(__VA_ARGS__))
#define hd_zeros(d, ...) hd_zeros_n(d, HD__LIST(__VA_ARGS__))
#define hd_ones(d, ...) hd_ones_n(d, HD__LIST(__VA_ARGS__))
#define hd_full_n(d, value, ...) (hd_full_n)(HD__DTYPE_FIRST(d), hd_scalar_of(value), __VA_ARGS__)
#define hd_full(d, value, ...) hd_full_n(d, value, HD__LIST(__VA_ARGS__))
#define hd_scalar_tensor(d, value) (hd_scalar_tensor)(HD__DTYPE_FIRST(d), hd_scalar_of(value))
#define hd_arange(start, end, step)                                                                \
    (hd_arange)(hd_scalar_of(start), hd_scalar_of(end), hd_scalar_of(step))
#define hd_arange_as(d, start, end, step)                                                          \
    (hd_arange_as)(HD__DTYPE_FIRST(d), hd_scalar_of(start), hd_scalar_of(end), hd_scalar_of(step))
#define hd_full_like(x, d, value) (hd_full_like)(x, HD__DTYPE_SECOND(d), hd_scalar_of(value))
#define hd_rand(d, ...) hd_rand_n(d, HD__LIST(__VA_ARGS__))
#define hd_randn(d, ...) hd_randn_n(d, HD__LIST(__VA_ARGS__))
#define hd_randint(d, lo, hi, ...) hd_randint_n(d, lo, hi, HD__LIST(__VA_ARGS__))

#ifndef __cplusplus
#define hd_empty_n(d, ...) (hd_empty_n)(HD__DTYPE_FIRST(d), __VA_ARGS__)
#define hd_zeros_n(d, ...) (hd_zeros_n)(HD__DTYPE_FIRST(d), __VA_ARGS__)
#define hd_ones_n(d, ...) (hd_ones_n)(HD__DTYPE_FIRST(d), __VA_ARGS__)
#define hd_linspace(d, start, end, steps) (hd_linspace)(HD__DTYPE_FIRST(d), start, end, steps)
#define hd_eye(d, n, m) (hd_eye)(HD__DTYPE_FIRST(d), n, m)
#define hd_empty_like(x, d) (hd_empty_like)(x, HD__DTYPE_SECOND(d))
#define hd_zeros_like(x, d) (hd_zeros_like)(x, HD__DTYPE_SECOND(d))
#define hd_ones_like(x, d) (hd_ones_like)(x, HD__DTYPE_SECOND(d))
#define hd_rand_like(x, d) (hd_rand_like)(x, HD__DTYPE_SECOND(d))
#define hd_randn_like(x, d) (hd_randn_like)(x, HD__DTYPE_SECOND(d))
#define hd_rand_n(d, ...) (hd_rand_n)(HD__DTYPE_FIRST(d), __VA_ARGS__)
#define hd_randn_n(d, ...) (hd_randn_n)(HD__DTYPE_FIRST(d), __VA_ARGS__)
#define hd_randint_n(d, ...) (hd_randint_n)(HD__DTYPE_FIRST(d), __VA_ARGS__)
#define hd_from_data_n(d, ...) (hd_from_data_n)(HD__DTYPE_FIRST(d), __VA_ARGS__)
#define hd_wrap_n(d, ...) (hd_wrap_n)(HD__DTYPE_FIRST(d), __VA_ARGS__)
#endif

/* ---------------------------------------------------------------- from arrays of C */

/* hd_from_data(d, data, sizes...) makes a tensor of dtype d and copies its elements from data, an
 * array in row-major order.
 *
 * The C type of the elements must be the dtype's: float for HD_FLOAT32, double for HD_FLOAT64,
 * int64_t (also as long or long long) for HD_INT64, bool or any type of one byte for HD_BOOL,
 * uint16_t for HD_BFLOAT16. If the type is another one and d is a constant, a C program does not
 * compile. If d is a variable, and in C++, the call fails (HD_DTYPE). data is a pointer or an array
 * of up to 3 dims, and may be const. The type is not checked if data is a void * or a pointer to a
 * struct.
 *
 * If the compiler knows that the array has fewer elements than the tensor, the call fails
 * (HD_VALUE). A C compiler knows the length of a declared array, and of more arrays when it
 * optimises. In C++ the length is known if data has an array type. Put an array that is written in
 * the call in parentheses, because its commas would separate macro arguments. hd_from_data_n and
 * hd_wrap_n check neither the type nor the length. */
HD_API hd_tensor *(hd_from_data_n)(hd_dtype d, const void *data, int ndim, const int64_t *sizes);

/* hd_wrap(d, data, release, user, sizes...) makes a row-major tensor that uses the caller's memory
 * without copying it. When the tensor and its last view are freed, heed calls release(data, user),
 * unless release is NULL. If hd_wrap fails, it does not call release. The C type and the length are
 * checked as in hd_from_data. */
HD_API hd_tensor *(hd_wrap_n)(hd_dtype d, void *data, void (*release)(void *data, void *user),
                              void *user, int ndim, const int64_t *sizes);

/* The type of the elements of a C array. */
typedef enum hd_c_type {
    HD_C_OTHER = 0,    /* void, a struct, or an unknown type */
    HD_C_FLOAT = 1,    /* float */
    HD_C_DOUBLE = 2,   /* double */
    HD_C_INT64 = 3,    /* long or long long, whichever has 64 bits */
    HD_C_BOOL = 4,     /* bool */
    HD_C_CHAR = 5,     /* char */
    HD_C_SCHAR = 6,    /* signed char */
    HD_C_UCHAR = 7,    /* unsigned char */
    HD_C_SHORT = 8,    /* short */
    HD_C_USHORT = 9,   /* unsigned short */
    HD_C_INT = 10,     /* int */
    HD_C_UINT = 11,    /* unsigned int */
    HD_C_LONG = 12,    /* long where it has 32 bits */
    HD_C_ULONG = 13,   /* unsigned long */
    HD_C_ULLONG = 14,  /* unsigned long long */
    HD_C_LDOUBLE = 15, /* long double */
    HD_C_POINTER = 16  /* pointers to numbers, as in float *rows[3] */
} hd_c_type;

/* The functions behind the macros hd_tensor_of, hd_from_data and hd_wrap. type is the C type of the
 * elements. room is the number of bytes of the array, or SIZE_MAX if it is not known. HD_DTYPE:
 * type does not match the dtype. HD_VALUE: the array is too short. Other errors are those of
 * hd_zeros_n. */
HD_API hd_tensor *hd_tensor_of_checked(const void *array, hd_c_type type, size_t room, int ndim,
                                       const int64_t *sizes);
HD_API hd_tensor *hd_from_data_checked(hd_dtype d, const void *data, hd_c_type type, size_t room,
                                       int ndim, const int64_t *sizes);
HD_API hd_tensor *hd_wrap_checked(hd_dtype d, void *data, hd_c_type type, size_t room,
                                  void (*release)(void *data, void *user), void *user, int ndim,
                                  const int64_t *sizes);

/* hd_tensor_of(array, sizes...) is hd_from_data with the dtype of the array's elements: float,
 * double, int64_t (also as long or long long) or bool. Shorter integers become int64: int, short,
 * and those of <stdint.h> from int8_t and uint8_t to int32_t and uint32_t. Other types, such as
 * char, do not compile.
 *   hd_tensor_of(((float[]){0.43f, 0.15f, 0.89f}), 3)
 *   hd_tensor_of(((int[]){5, 0, 4}), 3)
 * hd_tensor_of checks the length of an array, but not that of the memory behind a pointer. If a
 * struct ends in an array x that is longer than its declaration says, write &s->x[0].
 * hd_tensor_of_n takes ndim and an array of sizes. */
#define hd_tensor_of(array, ...) hd_tensor_of_n(array, HD__LIST(__VA_ARGS__))
#define hd_tensor_of_n(array, ...)                                                                 \
    hd_tensor_of_checked(array, HD__C_TYPE_OF(array), HD__ARRAY_ROOM(array), __VA_ARGS__)

#define hd_from_data(d, data, ...)                                                                 \
    hd_from_data_checked(HD__DTYPE_FIRST(d), data, HD__C_TYPE_FOR(d, data), HD__ROOM(data),        \
                         HD__LIST(__VA_ARGS__))
#define hd_wrap(d, data, release, user, ...)                                                       \
    hd_wrap_checked(HD__DTYPE_FIRST(d), data, HD__C_TYPE_FOR(d, data), HD__ROOM(data), release,    \
                    user, HD__LIST(__VA_ARGS__))

/* ---------------------------------------------------------------- access */

HD_API int hd_ndim(const hd_tensor *x);              /* the number of dims; -1 on error */
HD_API int64_t hd_size(const hd_tensor *x, int dim); /* the size of dim; -1 on error */
/* the distance, in elements, from one index of dim to the next one; INT64_MIN on error */
HD_API int64_t hd_stride(const hd_tensor *x, int dim);
HD_API const int64_t *hd_sizes(const hd_tensor *x); /* one size for each dim, valid as long as x */
/* one stride for each dim, valid as long as x */
HD_API const int64_t *hd_strides(const hd_tensor *x);
HD_API int64_t hd_numel(const hd_tensor *x); /* the number of elements; -1 on error */
/* the index of x's first element in its storage; -1 on error */
HD_API int64_t hd_storage_offset(const hd_tensor *x);
/* the dtype of the elements; HD_FLOAT32 on error */
HD_API hd_dtype hd_dtype_of(const hd_tensor *x);
HD_API bool hd_is_contiguous(const hd_tensor *x); /* true if x is row-major without gaps */
/* true if a and b share one storage */
HD_API bool hd_shares_storage(const hd_tensor *a, const hd_tensor *b);
/* the number of in-place changes of x's storage so far; -1 on error */
HD_API int64_t hd_version_of(const hd_tensor *x);

/* Return a pointer to x's first element; hd_strides says where the other elements lie. The pointer
 * of hd_data_mut is for writing, and the call counts as an in-place change. hd_data_mut fails with
 * HD_GRAD if grad mode is on and x is a leaf that requires grad. */
HD_API const void *hd_data(const hd_tensor *x);
HD_API void *hd_data_mut(hd_tensor *x);

HD_API double hd_item(const hd_tensor *x); /* the number in a tensor of one element; NaN on error */
/* the number in a tensor of one element, rounded towards 0; INT64_MIN on error */
HD_API int64_t hd_item_int(const hd_tensor *x);

/* These functions read or write one element. There is one index for each dim; negative indices
 * count from the end. */
/* reads x[index...]; NaN on error */
HD_API double hd_get_n(const hd_tensor *x, int n, const int64_t *index);
/* reads x[index...], rounded towards 0; INT64_MIN on error */
HD_API int64_t hd_get_int_n(const hd_tensor *x, int n, const int64_t *index);
/* sets x[index...] to value; counts as an in-place change that the graph does not record */
HD_API bool(hd_set_n)(hd_tensor *x, hd_scalar value, int n, const int64_t *index);

/* hd_copy_to copies all elements of x, in row-major order, to an array of x's dtype; hd_copy_from
 * copies all elements from an array to x. bytes is the size of the array, and must be exactly the
 * size of x's elements (HD_VALUE). hd_copy_from counts as an in-place change, with the errors of
 * hd_data_mut. */
HD_API bool hd_copy_to(const hd_tensor *x, void *array, size_t bytes);
HD_API bool hd_copy_from(hd_tensor *x, const void *array, size_t bytes);

#define hd_get(x, ...) hd_get_n(x, HD__LIST(__VA_ARGS__))
#define hd_get_int(x, ...) hd_get_int_n(x, HD__LIST(__VA_ARGS__))
#define hd_set_n(x, value, ...) (hd_set_n)(x, hd_scalar_of(value), __VA_ARGS__)
#define hd_set(x, value, ...) (hd_set_n)(x, hd_scalar_of(value), HD__LIST(__VA_ARGS__))

/* ---------------------------------------------------------------- lists */

/* Makes a list of n tensors. The list retains them; the innermost scope owns the list. */
HD_API hd_list *hd_list_n(int64_t n, hd_tensor *const *tensors);
HD_API bool hd_list_append(hd_list *l, hd_tensor *t); /* appends t, as Python's append does */
HD_API int64_t hd_list_len(const hd_list *l);         /* the number of tensors; -1 on error */
/* element i; a negative i counts from the end */
HD_API hd_tensor *hd_list_get(const hd_list *l, int64_t i);
#define hd_list_of(...) hd_list_n(HD__ITEMS(hd_tensor *, __VA_ARGS__))

/* ---------------------------------------------------------------- printing */

/* The options of printing, as in PyTorch's set_printoptions. */
typedef struct hd_print_options {
    size_t size;
    int precision;     /* default 4; the digits after the point */
    int64_t threshold; /* default 1000; a tensor with more elements is summarised */
    int64_t edgeitems; /* default 3; the elements that a summary shows at each end of a dim */
    int linewidth;     /* default 80; the columns of a line */
    int sci_mode;      /* default -1: exponents only if needed; 1: always; 0: never */
} hd_print_options;

/* The profiles of PyTorch's set_printoptions. hd_set_print_options fails with HD_VALUE if precision
 * is outside 0 to 1000, threshold or edgeitems is negative, linewidth is below 1, or sci_mode is
 * not -1, 0 or 1. */
HD_API hd_print_options hd_print_defaults(void); /* the profile "default" */
HD_API hd_print_options hd_print_short(void);    /* the profile "short": precision 2, edgeitems 2 */
HD_API hd_print_options hd_print_full(void);     /* the profile "full": no threshold */
/* sets the options of the whole process; o NULL: the defaults */
HD_API bool hd_set_print_options(const hd_print_options *o);

/* Return the text that Python's print(x) shows for the same tensor, such as `tensor([1., 2.],
 * requires_grad=True)`. For HD_NONE it is `None`, even inside of a list. The innermost scope owns
 * the text. On failure it is "NULL", so that printf can print it. o NULL: the options of
 * hd_set_print_options. */
HD_API const char *hd_repr(const hd_tensor *x);
HD_API const char *hd_repr_with(const hd_tensor *x, const hd_print_options *o);
HD_API const char *hd_list_repr(const hd_list *l);    /* the list, as `[tensor(1.), tensor(2.)]` */
HD_API const char *hd_shape_repr(const hd_tensor *x); /* x's shape, as `torch.Size([2, 3])` */
/* Returns Python's repr of v, such as `0.1` or `1e-05`. The innermost scope owns the text. If
 * memory runs out, returns NULL. */
HD_API const char *hd_float_repr(double v);

HD_API bool hd_print(const hd_tensor *x); /* prints hd_repr(x) and a newline to stdout */
/* writes hd_repr(x) and a newline to f; HD_IO if the write fails */
HD_API bool hd_fprint(FILE *f, const hd_tensor *x);
HD_API bool hd_print_list(const hd_list *l); /* prints hd_list_repr(l) and a newline to stdout */
/* writes hd_list_repr(l) and a newline to f; HD_IO if the write fails */
HD_API bool hd_fprint_list(FILE *f, const hd_list *l);

/* ---------------------------------------------------------------- dictionaries */

/* A dictionary maps names to tensors, strings and numbers. It keeps the order of insertion; a name
 * that is set again keeps its place. A name is any text that is not empty. The dictionary retains
 * its tensors. No scope owns it: free it with hd_dict_free. */

/* The kind of an entry. */
typedef enum hd_dict_kind {
    HD_DICT_MISSING = 0, /* there is no entry with this name */
    HD_DICT_TENSOR = 1,  /* a tensor; hd_dict_get reads it */
    HD_DICT_STRING = 2,  /* a string; hd_dict_get_string reads it */
    HD_DICT_INT = 3,     /* an integer; hd_dict_get_int reads it */
    HD_DICT_DOUBLE = 4   /* a double; hd_dict_get_double reads it */
} hd_dict_kind;

HD_API hd_dict *hd_dict_new(void); /* makes an empty dictionary */
HD_API void hd_dict_free(hd_dict *d);
HD_API int64_t hd_dict_len(const hd_dict *d); /* the number of entries; -1 on error */
/* the name of entry i, counted from 0; d owns the text */
HD_API const char *hd_dict_name(const hd_dict *d, int64_t i);
/* the kind of the entry with this name; HD_DICT_MISSING, without an error, if there is none */
HD_API hd_dict_kind hd_dict_kind_of(const hd_dict *d, const char *name);
/* Set the entry with this name. If there is one already, of any kind, the new one replaces it. d
 * retains a tensor, and copies a string. */
HD_API bool hd_dict_set(hd_dict *d, const char *name, hd_tensor *t);
HD_API bool hd_dict_set_string(hd_dict *d, const char *name, const char *text);
HD_API bool hd_dict_set_int(hd_dict *d, const char *name, int64_t value);
HD_API bool hd_dict_set_double(hd_dict *d, const char *name, double value);
/* removes the entry with this name; HD_VALUE if there is none */
HD_API bool hd_dict_remove(hd_dict *d, const char *name);
/* Read the entry with this name: return its tensor or text, which d owns, or write its number to
 * *value. HD_VALUE: the name is missing, or its entry has another kind; the message names both
 * kinds. A tensor is freed together with d unless the program retains it (hd_retain,
 * hd_assign). */
HD_API hd_tensor *hd_dict_get(const hd_dict *d, const char *name);
HD_API const char *hd_dict_get_string(const hd_dict *d, const char *name);
HD_API bool hd_dict_get_int(const hd_dict *d, const char *name, int64_t *value);
/* Writes the number of an entry of the kind HD_DICT_DOUBLE or HD_DICT_INT to *value. HD_VALUE: the
 * name is missing, or its entry has another kind. */
HD_API bool hd_dict_get_double(const hd_dict *d, const char *name, double *value);

/* Save or load the whole state of a generator: the words of the Mersenne Twister, the position in
 * them, the spare normal number and the Bernoulli stream. The entries of d are prefix.state,
 * prefix.next and so on (with prefix "": state, next and so on). While an error is set,
 * hd_generator_save adds nothing. If a load fails, g does not change. */
HD_API bool hd_generator_save(hd_generator *g, hd_dict *d, const char *prefix);
HD_API bool hd_generator_load(hd_generator *g, const hd_dict *d, const char *prefix);

/* ---------------------------------------------------------------- debuggers */

/* A table for debuggers (tools/gdb/heed.py): the offsets, in bytes, of the fields of a tensor, a
 * storage, a scope, a list and a dictionary. The comments give the types of these fields. New
 * fields come at the end. autograd.h and nn.h have the tables of a node and of a module. */
typedef struct hd_debug_layout_table {
    uint32_t size;                         /* sizeof this table */
    uint32_t dtype, ndim;                  /* in a tensor: one byte each */
    uint32_t sizes, strides;               /* int64_t[8] each */
    uint32_t offset;                       /* int64_t, in elements */
    uint32_t storage;                      /* pointer to the storage */
    uint32_t storage_data, storage_nbytes; /* in the storage: pointer, size_t */
    uint32_t refs, refs_freed;             /* int; refs_freed is no offset, but the value of refs
                                            * in a freed tensor */
    /* offsets of a char *, which may be NULL; freed_by is valid only in a freed tensor */
    uint32_t freed_by, made_by;
    uint32_t attachment;               /* pointer to the node, or NULL */
    uint32_t next;                     /* pointer to the next tensor of the same scope, or NULL */
    uint32_t scope_first, scope_count; /* in a scope: pointer to a tensor, int64_t */
    uint32_t scope_file, scope_line;   /* in a scope: char *, or NULL; int */
    uint32_t list_len, list_items;     /* in a list: int64_t, -1 if freed; hd_tensor ** */
    uint32_t dict_len, dict_entries;   /* in a dictionary: int64_t; array of pointers to entries */
    uint32_t entry_kind, entry_value;  /* in an entry: hd_dict_kind; union of 8 bytes */
    uint32_t entry_name;               /* in an entry: the text itself */
} hd_debug_layout_table;

/* The table of this build of the library. */
HD_API extern const hd_debug_layout_table hd_debug_layout;

#ifdef __cplusplus
}
#include "heed/cxx.h"
#endif
#endif
