/* dtype.h - dtypes and numbers: which an argument may have, and which they promote to (dtype.c). */
#ifndef HEED_TENSOR_DTYPE_H
#define HEED_TENSOR_DTYPE_H

#include "base/error/call.h"
#include "tensor/tensor_struct.h"

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

#endif
