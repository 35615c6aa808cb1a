/* dtype.h - checks and promotion of dtypes, and conversion of numbers (dtype.c). If a check of a
 * dtype fails, it sets HD_DTYPE and returns false. */
#ifndef HEED_TENSOR_DTYPE_H
#define HEED_TENSOR_DTYPE_H

#include "base/error/call.h"
#include "tensor/tensor_struct.h"

bool hd__tensor_dtype_fail(int d);
static inline bool hd__tensor_dtype_arg(int d)
{
    return (unsigned)d <= HD_BFLOAT16 || hd__tensor_dtype_fail(d);
}
/* True if d is float32 or float64; otherwise false with HD_DTYPE: "hd_log_: dtype int64: expected
 * float32 or float64". */
bool hd__tensor_float_dtype(int d);
/* True if d is float32, float64 or int64; otherwise false with HD_DTYPE. */
bool hd__tensor_number_dtype(int d);
/* True if a and b have the same dtype; otherwise false with HD_DTYPE: "hd_linear: x of float64 and
 * weight of float32: expected the same dtype. hd_to converts one of them". */
bool hd__tensor_one_dtype(const char *a_name, const hd_tensor *a, const char *b_name,
                          const hd_tensor *b);
/* True if x has dtype d; otherwise false with HD_DTYPE: "hd_where: condition of int64: expected
 * bool". */
bool hd__tensor_dtype_is(const char *arg, const hd_tensor *x, hd_dtype d);
static inline bool hd__tensor_float_arg(const hd_tensor *x)
{
    return hd__tensor_is_float(x->dtype) || hd__tensor_float_dtype(x->dtype);
}

/* Returns the dtype that a and b promote to. As in PyTorch, if one of them is 0-d and the other is
 * not, the 0-d one counts only if its category is higher: bool < integer < float. */
hd_dtype hd__tensor_promote(const hd_tensor *a, const hd_tensor *b);
/* Returns the dtype that a and the number s promote to. */
hd_dtype hd__tensor_promote_scalar(const hd_tensor *a, hd_scalar s);

static inline double hd__tensor_scalar_double(hd_scalar s)
{
    return s.is_int ? (double)s.v.i : s.v.d;
}

/* Returns s as int64, truncated towards zero, or INT64_MIN if int64 cannot hold it. */
static inline int64_t hd__tensor_scalar_int(hd_scalar s)
{
    return s.is_int ? s.v.i : s.v.d >= -0x1p63 && s.v.d < 0x1p63 ? (int64_t)s.v.d : INT64_MIN;
}

/* Writes value to bytes, converted to dtype d as PyTorch's fill_ does. */
void hd__tensor_scalar_bytes(hd_dtype d, hd_scalar value, void *bytes);
/* True if dtype d can hold value; otherwise false with HD_VALUE. NaN does not fit into int64, and
 * 1e40 does not fit into float32. */
bool hd__tensor_scalar_fits(hd_dtype d, hd_scalar value);

#endif
