/* cxx.h - the macros of heed's headers for programs in C++, which has no _Generic and no compound
 * literals. Users call the same macros as in C (c11.h). This header needs C++11; tensor.h includes
 * it. */
#ifndef HEED_CXX_H
#define HEED_CXX_H

#include "heed/tensor.h"

#ifdef __cplusplus
extern "C++" { /* a program may include heed inside extern "C" */
#include <type_traits>

/* C++ does not convert a number to an hd_dtype, so nothing is checked here. */
#define HD__DTYPE_FIRST(d) d
#define HD__DTYPE_SECOND(d) d

/* Expand to two arguments of a call: the number of items, and an array of the items, which lives
 * until the end of the full expression. Only the array evaluates the items, from left to right
 * because of the braces around them. */
#define HD__COUNT_OF(...) sizeof(hd__cxx_count(__VA_ARGS__))
#define HD__ITEMS(type, ...)                                                                       \
    static_cast<int>(HD__COUNT_OF(__VA_ARGS__)),                                                   \
        hd__cxx_items<type, HD__COUNT_OF(__VA_ARGS__)>{__VA_ARGS__}.at
#define HD__LIST(...)                                                                              \
    static_cast<int>(HD__COUNT_OF(__VA_ARGS__)),                                                   \
        hd__cxx_integers<HD__COUNT_OF(__VA_ARGS__)>{__VA_ARGS__}.at

template <class... V> char (&hd__cxx_count(const V &...values))[sizeof...(V)];

template <class T, size_t n> struct hd__cxx_items {
    T at[n];
    template <class... V> hd__cxx_items(V... values) : at{static_cast<T>(values)...}
    {
    }
};

/* True if one of the types is a floating-point type. */
template <class... V> struct hd__cxx_any_real : std::false_type {
};
template <class V, class... Rest>
struct hd__cxx_any_real<V, Rest...>
    : std::integral_constant<bool,
                             std::is_floating_point<V>::value || hd__cxx_any_real<Rest...>::value> {
};

template <size_t n> struct hd__cxx_integers {
    int64_t at[n];
    template <class... V> hd__cxx_integers(V... values) : at{static_cast<int64_t>(values)...}
    {
        static_assert(!hd__cxx_any_real<V...>::value, "sizes, indices and dims are integers");
    }
};

/* The hd_c_type of the C type T. */
template <class T> struct hd__cxx_c_type : std::integral_constant<hd_c_type, HD_C_OTHER> {
};
template <class T>
struct hd__cxx_c_type<T *>
    : std::integral_constant<hd_c_type,
                             hd__cxx_c_type<typename std::remove_cv<T>::type>::value == HD_C_OTHER
                                 ? HD_C_OTHER
                                 : HD_C_POINTER> {
};
#define HD__C_TYPE(type, c)                                                                        \
    template <> struct hd__cxx_c_type<type> : std::integral_constant<hd_c_type, c> {               \
    };
HD__C_TYPE(float, HD_C_FLOAT)
HD__C_TYPE(double, HD_C_DOUBLE)
HD__C_TYPE(bool, HD_C_BOOL)
HD__C_TYPE(char, HD_C_CHAR)
HD__C_TYPE(signed char, HD_C_SCHAR)
HD__C_TYPE(unsigned char, HD_C_UCHAR)
HD__C_TYPE(short, HD_C_SHORT)
HD__C_TYPE(unsigned short, HD_C_USHORT)
HD__C_TYPE(int, HD_C_INT)
HD__C_TYPE(unsigned, HD_C_UINT)
HD__C_TYPE(long, sizeof(long) == 8 ? HD_C_INT64 : HD_C_LONG)
HD__C_TYPE(unsigned long, HD_C_ULONG)
HD__C_TYPE(long long, HD_C_INT64)
HD__C_TYPE(unsigned long long, HD_C_ULLONG)
HD__C_TYPE(long double, HD_C_LDOUBLE)
#undef HD__C_TYPE

/* The hd_c_type of the elements of an expression `data` of type D, which is a pointer or an
 * array. */
template <class D>
struct hd__cxx_c_type_of
    : hd__cxx_c_type<typename std::remove_cv<typename std::remove_all_extents<
          typename std::remove_pointer<typename std::decay<D>::type>::type>::type>::type> {
};
#define HD__C_TYPE_FOR(d, data) (hd__cxx_c_type_of<decltype((data))>::value)
#define HD__C_TYPE_OF(array) (hd__cxx_dtype_of<decltype((array))>::value)
#define HD__ROOM(data) (hd__cxx_bytes_of<decltype((data))>::value)
#define HD__ARRAY_ROOM(array) HD__ROOM(array)

template <class D> struct hd__cxx_dtype_of : hd__cxx_c_type_of<D> {
    static_assert((0x1fde >> hd__cxx_c_type_of<D>::value & 1) != 0,
                  "hd_tensor_of takes an array of float, double, bool or integers that int64_t "
                  "holds");
};

/* The number of bytes of an array of type D; SIZE_MAX for a pointer, and for an array of one
 * element, because this may be the last field of a struct that is longer than its declaration
 * says. */
template <class D> struct hd__cxx_bytes_of : std::integral_constant<size_t, SIZE_MAX> {
};
template <class T, size_t n>
struct hd__cxx_bytes_of<T (&)[n]>
    : std::integral_constant<size_t, n == 1 ? SIZE_MAX : n * sizeof(T)> {
};

inline hd_scalar hd_scalar_of(hd_scalar s)
{
    return s;
}

/* hd_scalar_of has an overload for each type. With overloads for int64_t and double alone, a call
 * with an int would be ambiguous. */
#define HD__SCALAR_OF(type, make, as)                                                              \
    inline hd_scalar hd_scalar_of(type v)                                                          \
    {                                                                                              \
        return make(static_cast<as>(v));                                                           \
    }
HD__SCALAR_OF(float, hd_scalar_double, double)
HD__SCALAR_OF(double, hd_scalar_double, double)
HD__SCALAR_OF(long double, hd_scalar_double, double)
HD__SCALAR_OF(bool, hd_scalar_int, int64_t)
HD__SCALAR_OF(char, hd_scalar_int, int64_t)
HD__SCALAR_OF(signed char, hd_scalar_int, int64_t)
HD__SCALAR_OF(unsigned char, hd_scalar_int, int64_t)
HD__SCALAR_OF(short, hd_scalar_int, int64_t)
HD__SCALAR_OF(unsigned short, hd_scalar_int, int64_t)
HD__SCALAR_OF(int, hd_scalar_int, int64_t)
HD__SCALAR_OF(unsigned, hd_scalar_int, int64_t)
HD__SCALAR_OF(long, hd_scalar_int, int64_t)
HD__SCALAR_OF(unsigned long, hd_scalar_int, int64_t)
HD__SCALAR_OF(long long, hd_scalar_int, int64_t)
HD__SCALAR_OF(unsigned long long, hd_scalar_int, int64_t)
#undef HD__SCALAR_OF
}
#endif
#endif
