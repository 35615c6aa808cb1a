/* dtype.h - checks and promotion of dtypes, and conversion of numbers (dtype.c). A check that fails
 * sets HD_DTYPE. */
#ifndef HEED_TENSOR_DTYPE_H
#define HEED_TENSOR_DTYPE_H

#include "base/error/call.h"
#include "tensor/tensor_struct.h"

bool hd__tensor_dtype_fail(int d);
static inline bool hd__tensor_dtype_arg(int d)
{
    return (unsigned)d <= HD_BFLOAT16 || hd__tensor_dtype_fail(d);
}
/* True for float32 and float64: "hd_log_: int64: expected float32 or float64". */
bool hd__tensor_float_dtype(int d);
/* True for float32, float64 and int64. */
bool hd__tensor_number_dtype(int d);
/* True if a and b are of the same dtype: "hd_linear: x of float64 and weight of float32: expected
 * the same dtype. hd_to converts one of them". */
bool hd__tensor_one_dtype(const char *a_name, const hd_tensor *a, const char *b_name,
                          const hd_tensor *b);
/* True if x is of dtype d: "hd_where: condition of int64: expected bool". */
bool hd__tensor_dtype_is(const char *arg, const hd_tensor *x, hd_dtype d);
static inline bool hd__tensor_float_arg(const hd_tensor *x)
{
    return hd__tensor_is_float(x->dtype) || hd__tensor_float_dtype(x->dtype);
}

/* The dtype that a and b promote to. As in PyTorch, a 0-d tensor decides only if its category is
 * higher: bool < integer < float. */
hd_dtype hd__tensor_promote(const hd_tensor *a, const hd_tensor *b);
/* The dtype that a and the number s promote to. */
hd_dtype hd__tensor_promote_scalar(const hd_tensor *a, hd_scalar s);

static inline double hd__tensor_scalar_double(hd_scalar s)
{
    return s.is_int ? (double)s.v.i : s.v.d;
}

/* s as int64, cut towards zero; INT64_MIN if it does not fit. */
static inline int64_t hd__tensor_scalar_int(hd_scalar s)
{
    return s.is_int ? s.v.i : s.v.d >= -0x1p63 && s.v.d < 0x1p63 ? (int64_t)s.v.d : INT64_MIN;
}

/* The bytes of value in dtype d, converted as PyTorch's fill_ does. */
void hd__tensor_scalar_bytes(hd_dtype d, hd_scalar value, void *bytes);
/* True if d can hold the value. Fails with HD_VALUE for NaN as int64, or 1e40 as float32. */
bool hd__tensor_scalar_fits(hd_dtype d, hd_scalar value);

#endif
