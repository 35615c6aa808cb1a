/* cxx.h - what the macros of heed's headers need in C++, which has no _Generic and no compound
 * literals. The macros themselves are the same as in C. It needs C++11; tensor.h includes it. */
#ifndef HEED_CXX_H
#define HEED_CXX_H

#include "heed/tensor.h"

#ifdef __cplusplus
extern "C++" {

/* A count, which evaluates nothing, and an array that lives to the end of the full expression. */
#define HD__ITEMS(type, ...)                                                                       \
    static_cast<int>(sizeof(hd__cxx_count(__VA_ARGS__))), hd__cxx_items<type>(__VA_ARGS__).at

template <class... V> char (&hd__cxx_count(const V &...values))[sizeof...(V)];

template <class T, int n> struct hd__cxx_array {
    T at[n];
};

template <class T, class... V> inline hd__cxx_array<T, sizeof...(V)> hd__cxx_items(V... values)
{
    return {{static_cast<T>(values)...}};
}

inline hd_scalar hd_scalar_of(hd_scalar s)
{
    return s;
}

/* Each type has its overload. With only int64_t and double, a call with an int is ambiguous. */
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
