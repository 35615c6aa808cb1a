/* from_c.c - makes tensors from C arrays. The macros of tensor.h pass the array's element type and
 * length, so that these functions refuse a wrong dtype, and more elements than the array has. */
#include "tensor/lifecycle.h"

/* The names of the C types, in the order of hd_c_type. */
static const char *const type_names[] = {
    "another type", "float",        "double",          "int64_t",       "bool",
    "char",         "signed char",  "unsigned char",   "short",         "unsigned short",
    "int",          "unsigned int", "long of 32 bits", "unsigned long", "unsigned long long",
    "long double",  "pointers",
};

static bool is_c_type(hd_c_type type)
{
    return (unsigned)type <= HD_C_POINTER ||
           hd_fail(HD_VALUE, "hd_c_type %d: expected 0 to %d", (int)type, (int)HD_C_POINTER);
}

/* True if an array of this type can be read as dtype d; otherwise sets an error. An invalid d
 * passes, because hd__tensor_measure refuses it later. */
static bool type_fits(hd_dtype d, hd_c_type type)
{
    static const struct {
        const char *name;
        hd_c_type own;
    } dtypes[] = {{"HD_FLOAT32", HD_C_FLOAT},
                  {"HD_FLOAT64", HD_C_DOUBLE},
                  {"HD_INT64", HD_C_INT64},
                  {"HD_BOOL", HD_C_BOOL},
                  {"HD_BFLOAT16", HD_C_USHORT}};
    return is_c_type(type) &&
           (HD__C_TAKEN((int)d) >> type & 1 ||
            hd_fail(HD_DTYPE, "%s and an array of %s: expected an array of %s", dtypes[d].name,
                    type_names[type], type_names[dtypes[d].own]));
}

static bool room_fail(const char *type, size_t bytes, size_t room, int ndim, const int64_t *sizes)
{
    return hd_fail(HD_VALUE, "%s of %s needs %zu bytes: the array has %zu bytes",
                   HD__SIZES(ndim, sizes), type, bytes, room);
}

/* Returns true if the elements of a tensor of these sizes fit into `room` bytes. Otherwise returns
 * false with HD_VALUE, or with the error of hd__tensor_measure if d or a size is wrong. */
static bool room_fits(hd_dtype d, size_t room, int ndim, const int64_t *sizes)
{
    int64_t numel;
    size_t bytes;
    return hd__tensor_measure(d, ndim, sizes, &numel, &bytes) &&
           (bytes <= room || room_fail(hd_dtype_name(d), bytes, room, ndim, sizes));
}

static hd_tensor *from_c_copy(hd_dtype d, const void *data, size_t room, int ndim,
                              const int64_t *sizes)
{
    hd_tensor *y = room_fits(d, room, ndim, sizes) ? hd__tensor_empty(d, ndim, sizes) : NULL;
    if (!y) {
        return NULL;
    }
    memcpy(hd__tensor_ptr(y), data, y->storage->nbytes);
    if (d == HD_BOOL) { /* any byte but 0 counts as true */
        uint8_t *bytes = hd__tensor_ptr(y);
        for (int64_t i = 0; i < y->numel; i++) {
            bytes[i] = bytes[i] != 0;
        }
    }
    return y;
}

hd_tensor *hd_from_data_checked(hd_dtype d, const void *data, hd_c_type type, size_t room, int ndim,
                                const int64_t *sizes)
{
    HD__CALL("hd_from_data");
    bool ok = hd__arg_given("data", data) && type_fits(d, type);
    return ok ? from_c_copy(d, data, room, ndim, sizes) : NULL;
}

hd_tensor *(hd_from_data_n)(hd_dtype d, const void *data, int ndim, const int64_t *sizes)
{
    HD__CALL("hd_from_data");
    return hd_from_data_checked(d, data, HD_C_OTHER, SIZE_MAX, ndim, sizes);
}

/* ---------------------------------------------------------------- C integers */

/* Returns the bytes of a C integer type whose arrays become int64 tensors, or 0 for any other
 * type. */
static size_t integer_bytes(hd_c_type type)
{
    switch (type) {
    case HD_C_SCHAR:
    case HD_C_UCHAR: return 1;
    case HD_C_SHORT:
    case HD_C_USHORT: return sizeof(short);
    case HD_C_INT:
    case HD_C_UINT: return sizeof(int);
    case HD_C_LONG: return sizeof(long);
    default: return 0;
    }
}

static int64_t c_integer_at(const void *array, hd_c_type type, int64_t i)
{
    switch (type) {
    case HD_C_SCHAR: return ((const signed char *)array)[i];
    case HD_C_UCHAR: return ((const unsigned char *)array)[i];
    case HD_C_SHORT: return ((const short *)array)[i];
    case HD_C_USHORT: return ((const unsigned short *)array)[i];
    case HD_C_UINT: return ((const unsigned *)array)[i];
    case HD_C_LONG: return ((const long *)array)[i];
    default: return ((const int *)array)[i];
    }
}

static hd_tensor *from_integers(const void *array, hd_c_type type, size_t room, int ndim,
                                const int64_t *sizes)
{
    int64_t numel;
    size_t own; /* the result's size in bytes, at least that of the C array */
    if (!hd__tensor_measure(HD_INT64, ndim, sizes, &numel, &own)) {
        return NULL;
    }
    const size_t bytes = (size_t)numel * integer_bytes(type);
    if (bytes > room && !room_fail(type_names[type], bytes, room, ndim, sizes)) {
        return NULL;
    }
    hd_tensor *y = hd__tensor_empty(HD_INT64, ndim, sizes);
    int64_t *to = y ? hd__tensor_ptr(y) : NULL;
    for (int64_t i = 0; y && i < numel; i++) {
        to[i] = c_integer_at(array, type, i);
    }
    return y;
}

hd_tensor *hd_tensor_of_checked(const void *array, hd_c_type type, size_t room, int ndim,
                                const int64_t *sizes)
{
    HD__CALL("hd_tensor_of");
    if (!hd__arg_given("array", array) || !is_c_type(type)) {
        return NULL;
    }
    if (integer_bytes(type)) {
        return from_integers(array, type, room, ndim, sizes);
    }
    if (type < HD_C_FLOAT || type > HD_C_BOOL) {
        return hd_fail(HD_DTYPE,
                       "an array of %s: expected float, double, bool or integers that int64_t "
                       "holds",
                       type_names[type]);
    }
    return from_c_copy((hd_dtype)(type - HD_C_FLOAT), array, room, ndim, sizes);
}

hd_tensor *hd_wrap_checked(hd_dtype d, void *data, hd_c_type type, size_t room,
                           void (*release)(void *data, void *user), void *user, int ndim,
                           const int64_t *sizes)
{
    HD__CALL("hd_wrap");
    bool ok = !data || (type_fits(d, type) && room_fits(d, room, ndim, sizes));
    return ok ? hd_wrap_n(d, data, release, user, ndim, sizes) : NULL;
}
