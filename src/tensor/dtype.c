/* dtype.c - dtypes: their names and sizes, the checks of arguments, and PyTorch's rules of
 * promotion. */
#include "tensor/dtype.h"

const char *hd_dtype_name(hd_dtype d)
{
    static const char *const names[] = {"float32", "float64", "int64", "bool", "bfloat16"};
    return (unsigned)d <= HD_BFLOAT16 ? names[d] : "?";
}

int64_t hd_dtype_size(hd_dtype d)
{
    return (unsigned)d <= HD_BFLOAT16 ? hd__tensor_bytes_of(d) : -1;
}

bool hd__tensor_dtype_fail(int d)
{
    return hd_fail(
        HD_DTYPE, "dtype %d: expected HD_FLOAT32, HD_FLOAT64, HD_INT64, HD_BOOL or HD_BFLOAT16", d);
}

bool hd__tensor_float_dtype(int d)
{
    return hd__tensor_dtype_arg(d) &&
           (hd__tensor_is_float(d) ||
            hd_fail(HD_DTYPE, "dtype %s: expected float32 or float64", hd_dtype_name((hd_dtype)d)));
}

bool hd__tensor_dtype_is(const char *arg, const hd_tensor *x, hd_dtype d)
{
    return x->dtype == d || hd_fail(HD_DTYPE, "%s of %s: expected %s", arg, hd_dtype_name(x->dtype),
                                    hd_dtype_name(d));
}

bool hd__tensor_one_dtype(const char *a_name, const hd_tensor *a, const char *b_name,
                          const hd_tensor *b)
{
    return a->dtype == b->dtype ||
           hd_fail(HD_DTYPE,
                   "%s of %s and %s of %s: expected the same dtype. hd_to converts one of them",
                   a_name, hd_dtype_name(a->dtype), b_name, hd_dtype_name(b->dtype));
}

bool hd__tensor_number_dtype(int d)
{
    return hd__tensor_dtype_arg(d) &&
           (d < (int)HD_BOOL || hd_fail(HD_DTYPE, "dtype %s: expected float32, float64 or int64",
                                        hd_dtype_name((hd_dtype)d)));
}

/* Returns the rank of a dtype in promotion: bool < int64 < float32 < float64. */
static int rank_of(int dtype)
{
    static const int8_t ranks[] = {2, 3, 1, 0};
    return ranks[dtype];
}

hd_dtype hd__tensor_promote(const hd_tensor *a, const hd_tensor *b)
{
    int da = a->dtype, db = b->dtype;
    if (da == db) {
        return da;
    }
    /* No category is higher than float, so the 0-d tensor does not count. */
    if ((a->ndim == 0) != (b->ndim == 0) && hd__tensor_is_float(a->ndim ? da : db)) {
        return a->ndim ? da : db;
    }
    return rank_of(da) > rank_of(db) ? da : db;
}

hd_dtype hd__tensor_promote_scalar(const hd_tensor *a, hd_scalar s)
{
    bool stays = s.is_int ? a->dtype != HD_BOOL : hd__tensor_is_float(a->dtype);
    return stays ? a->dtype : s.is_int ? HD_INT64 : HD_FLOAT32;
}
