/* file_elements.c - the types of numbers in files, and the dtypes that they become.
 *
 * Each type is a row of the table hd__io_elements. Elements that need no conversion are read
 * straight into the tensor; all others are read into a small buffer and converted from there. */
#include <inttypes.h>

#include "io/file_elements.h"
#include "tensor/copy.h"

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
const bool hd__io_big_endian = true;
#else
const bool hd__io_big_endian = false;
#endif

/* ---------------------------------------------------------------- conversions */

/* Defines a function that converts n elements. y is the expression that converts an element v of
 * the file. */
#define CONVERSION(name, from_type, to_type, y)                                                    \
    static int64_t name(const unsigned char *from, void *to, int64_t n)                            \
    {                                                                                              \
        for (int64_t i = 0; i < n; i++) {                                                          \
            from_type v;                                                                           \
            memcpy(&v, from + i * (int64_t)sizeof v, sizeof v);                                    \
            ((to_type *)to)[i] = y;                                                                \
        }                                                                                          \
        return n;                                                                                  \
    }

/* Returns the bits of the float32 that equals the float16 with the bits h. A float16 has 1 sign
 * bit, 5 bits of exponent (bias 15) and 10 bits of fraction. */
static uint32_t half_bits(uint32_t h)
{
    uint32_t sign = (h & 0x8000) << 16, exponent = h >> 10 & 31, fraction = h & 0x3FF;
    if (exponent == 31) { /* infinity, NaN */
        return sign | 0x7F800000 | fraction << 13;
    }
    if (exponent == 0) { /* a subnormal number: fraction times 2^-24, which is exact in float32 */
        float v = (float)fraction * 0x1p-24f;
        uint32_t bits;
        memcpy(&bits, &v, sizeof bits);
        return sign | bits;
    }
    return sign | (exponent + 127 - 15) << 23 | fraction << 13;
}

CONVERSION(from_bool, uint8_t, uint8_t, v != 0)
CONVERSION(from_u8, uint8_t, int64_t, v)
CONVERSION(from_i8, int8_t, int64_t, v)
CONVERSION(from_u16, uint16_t, int64_t, v)
CONVERSION(from_i16, int16_t, int64_t, v)
CONVERSION(from_u32, uint32_t, int64_t, v)
CONVERSION(from_i32, int32_t, int64_t, v)
CONVERSION(from_f16, uint16_t, uint32_t, half_bits(v))
CONVERSION(from_bf16, uint16_t, uint32_t, (uint32_t)v << 16)

static int64_t from_u64(const unsigned char *from, void *to, int64_t n)
{
    int64_t *y = to;
    memcpy(y, from, (size_t)n * sizeof *y);
    for (int64_t i = 0; i < n; i++) {
        if (y[i] < 0) {
            return i;
        }
    }
    return n;
}

const hd__io_element hd__io_elements[] = {
    {"F32", "f4", 4, HD_FLOAT32, NULL},     {"F64", "f8", 8, HD_FLOAT64, NULL},
    {"I64", "i8", 8, HD_INT64, NULL},       {"BOOL", "b1", 1, HD_BOOL, from_bool},
    {"BF16", "", 2, HD_BFLOAT16, NULL},     {"BF16", "", 2, HD_FLOAT32, from_bf16},
    {"F16", "f2", 2, HD_FLOAT32, from_f16}, {"U8", "u1", 1, HD_INT64, from_u8},
    {"I8", "i1", 1, HD_INT64, from_i8},     {"U16", "u2", 2, HD_INT64, from_u16},
    {"I16", "i2", 2, HD_INT64, from_i16},   {"U32", "u4", 4, HD_INT64, from_u32},
    {"I32", "i4", 4, HD_INT64, from_i32},   {"U64", "u8", 8, HD_INT64, from_u64},
};
const int hd__io_elements_len = sizeof hd__io_elements / sizeof *hd__io_elements;

int64_t hd__io_element_bytes(const hd__io_element *e, int ndim, const int64_t *sizes)
{
    int64_t reach = e->bytes, bytes = e->bytes, of_tensor = hd_dtype_size(e->dtype);
    bool fits = true;
    for (int i = 0; i < ndim; i++) {
        const int64_t size = sizes[i] ? sizes[i] : 1;
        if (__builtin_mul_overflow(reach, size, &reach)) {
            return -1;
        }
        fits = fits && !__builtin_mul_overflow(of_tensor, size, &of_tensor) &&
               of_tensor <= INT64_MAX / 2;
        bytes *= sizes[i];
    }
    /* If bytes > 0 and the tensor's size overflows, bytes is larger than any file. The caller
     * reports that the data in the file are shorter. */
    return bytes == 0 && !fits ? -1 : bytes;
}

/* ---------------------------------------------------------------- reading */

static void swap_bytes(void *elements, int width, int64_t n)
{
    unsigned char *bytes = elements;
    for (int64_t i = 0; i < n; i++, bytes += width) {
        for (int k = 0; k < width / 2; k++) {
            unsigned char c = bytes[k];
            bytes[k] = bytes[width - 1 - k];
            bytes[width - 1 - k] = c;
        }
    }
}

static bool out_of_range(const hd__io_in *in, const char *what, int64_t at,
                         const unsigned char *element)
{
    uint64_t v;
    memcpy(&v, element, sizeof v);
    return hd_fail(HD_VALUE,
                   "'%.*s': %s: element %" PRId64 " is %" PRIu64 ": expected at most %" PRId64,
                   HD__CUT(in->path), what, at, v, INT64_MAX);
}

bool hd__io_in_elements(const hd__io_in *in, const char *what, int64_t at, const hd__io_element *e,
                        bool swap, hd_tensor *x)
{
    char *to = hd__tensor_ptr(x);
    if (!e->convert) {
        bool ok = hd__io_in_read(in, at, to, (size_t)x->numel * e->bytes);
        if (ok && swap) {
            swap_bytes(to, e->bytes, x->numel);
        }
        return ok;
    }
    _Alignas(8) unsigned char buffer[1 << 14];
    int64_t step = (int64_t)sizeof buffer / e->bytes;
    for (int64_t i = 0; i < x->numel; i += step) {
        int64_t n = x->numel - i < step ? x->numel - i : step;
        if (!hd__io_in_read(in, at + i * e->bytes, buffer, (size_t)n * e->bytes)) {
            return false;
        }
        if (swap) {
            swap_bytes(buffer, e->bytes, n);
        }
        int64_t fit = e->convert(buffer, to + i * hd_dtype_size(e->dtype), n);
        if (fit < n) {
            return out_of_range(in, what, i + fit, buffer + fit * e->bytes);
        }
    }
    return true;
}

/* ---------------------------------------------------------------- writing */

bool hd__io_write_elements(hd__file_whole *file, bool swap, hd_tensor *x)
{
    HD__SCOPE_OR(false);
    /* y is contiguous. If swap is true, y is a copy, so swap_bytes leaves x unchanged. */
    hd_tensor *y = swap ? hd__tensor_clone(x) : hd__tensor_contiguous(x);
    if (y && swap) {
        swap_bytes(hd__tensor_ptr(y), (int)hd_dtype_size(y->dtype), y->numel);
    }
    if (y) {
        hd__file_whole_add(file, hd__tensor_ptr(y), (size_t)(y->numel * hd_dtype_size(y->dtype)));
    }
    return y && !file->failed;
}
