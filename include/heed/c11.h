/* c11.h - the macros of heed's headers for programs in C: they make lists of integers and find the
 * C type of an array's elements. They are plain C11, except for HD__ROOM and HD__ARRAY_ROOM, which
 * use builtins of GCC and Clang. cxx.h is the counterpart for C++; users call the same macros in
 * both languages. tensor.h includes both headers. */
#ifndef HEED_C11_H
#define HEED_C11_H

#include <limits.h>

#include "heed/base.h"

/* The C types that dtype d accepts, as a set of bits: bit c stands for the hd_c_type c. A dtype
 * accepts its own C type; HD_BOOL accepts any type of one byte, and HD_BFLOAT16 accepts uint16_t,
 * which holds its bits. Every dtype accepts a type that heed does not know (HD_C_OTHER, bit 0). For
 * a number that is no dtype, all bits are set, because the called function reports this mistake. */
#define HD__C_TAKEN(d)                                                                             \
    ((d) == HD_FLOAT32    ? 0x3                                                                    \
     : (d) == HD_FLOAT64  ? 0x5                                                                    \
     : (d) == HD_INT64    ? 0x9                                                                    \
     : (d) == HD_BOOL     ? 0xf1                                                                   \
     : (d) == HD_BFLOAT16 ? 0x201                                                                  \
                          : 0x1ffff)

#ifndef __cplusplus
/* In a wrong program, a _Generic expression has the type of one of these structs. So the program
 * does not compile, and the compiler's error shows the name of the struct. The objects are declared
 * but never defined. */
struct hd_sizes_indices_and_dims_are_integers {
    int unused;
};
struct hd_array_of_another_type_than_the_dtype {
    int unused;
};
struct hd_tensor_of_takes_float_double_bool_or_integers_that_int64_t_holds {
    int unused;
};
struct hd_dtype_comes_first_such_as_HD_FLOAT32 {
    int unused;
};
struct hd_dtype_comes_second_such_as_HD_FLOAT32 {
    int unused;
};
extern const struct hd_sizes_indices_and_dims_are_integers hd__no_integers;
extern const struct hd_array_of_another_type_than_the_dtype hd__other_type;
extern const struct hd_tensor_of_takes_float_double_bool_or_integers_that_int64_t_holds
    hd__no_dtype;
extern const struct hd_dtype_comes_first_such_as_HD_FLOAT32 hd__first_is_no_dtype;
extern const struct hd_dtype_comes_second_such_as_HD_FLOAT32 hd__second_is_no_dtype;

/* ---------------------------------------------------------------- dtypes */

/* Check that the first or second argument of a function, d, has the type hd_dtype. Without this
 * check, C would accept any number. An enumerator of C has the type int, so tensor.h defines a
 * macro with the name of each enumerator, which casts it to hd_dtype. A macro is not expanded
 * inside itself; there the name means the enumerator. */
#define HD__DTYPE_FIRST(d) _Generic((d), hd_dtype : (d), default : hd__first_is_no_dtype)
#define HD__DTYPE_SECOND(d) _Generic((d), hd_dtype : (d), default : hd__second_is_no_dtype)

/* ---------------------------------------------------------------- lists */

/* Expands to two arguments of a call: the number of items, and an array of them. Each item is
 * evaluated once, in the array. */
#define HD__ITEMS(type, ...)                                                                       \
    (int)(sizeof((type[]){__VA_ARGS__}) / sizeof(type)), (type[])                                  \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }

/* Does the same as HD__ITEMS for integers. A floating-point number among the first 16 items does
 * not compile; without this check, C would convert it to an integer. The check looks at the type of
 * a sum of the items: it is a floating-point type if one item has such a type. Zeros fill up a list
 * of fewer than 16 items. */
#define HD__LIST(...)                                                                              \
    _Generic(HD__SUM_OF(__VA_ARGS__), float                                                        \
             : hd__no_integers, double                                                             \
             : hd__no_integers, long double                                                        \
             : hd__no_integers, default : 0) +                                                     \
        HD__ITEMS(const int64_t, __VA_ARGS__)
#define HD__SUM(z, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, ...)                            \
    0 * HD__FIRST(a) + 0 * (b) + 0 * (c) + 0 * (d) + 0 * (e) + 0 * (f) + 0 * (g) + 0 * (h) +       \
        0 * (i) + 0 * (j) + 0 * (k) + 0 * (l) + 0 * (m) + 0 * (n) + 0 * (o) + 0 * (p)

/* ISO C has no empty list, but GCC and Clang accept one: hd_zeros(HD_FLOAT32). With GCC, the
 * argument a of HD__SUM is then empty. __builtin_classify_type accepts this, and returns 8 for a
 * floating-point type. With Clang, __VA_OPT__ leaves out the comma before the empty list. */
#if defined(__clang__) && __clang_major__ >= 12
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wpedantic"
#define HD__SUM_OF(...)                                                                            \
    HD__SUM(0 __VA_OPT__(, ) __VA_ARGS__, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
#pragma clang diagnostic pop
#else
#define HD__SUM_OF(...) HD__SUM(0, __VA_ARGS__, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
#endif
#if defined(__GNUC__) && !defined(__clang__)
#define HD__FIRST(a) __builtin_choose_expr(__builtin_classify_type(a) == 8, 0.0, 0)
#else
#define HD__FIRST(a) (a)
#endif

/* ---------------------------------------------------------------- arrays */

/* 1 << c, where c is the hd_c_type of the elements of data. data is an array of up to 3 dims or a
 * pointer. The type of *data decides. With one dim, *data is a number. With two dims, it is a row,
 * which _Generic treats as a pointer. With three dims, it is treated as a pointer to an array,
 * which matches the type of a pointer to an array without a length. A pointer to pointers would
 * look like an array of two dims, so HD__C_ROWS finds these types first. */
#define HD__C_BIT(data)                                                                            \
    (1 << _Generic((data),                                                                         \
                   HD__C_ROWS(float) HD__C_ROWS(double) HD__C_ROWS(long) HD__C_ROWS(long long)     \
                       HD__C_ROWS(_Bool) HD__C_ROWS(char) HD__C_ROWS(unsigned char) default        \
                   : _Generic(*HD__C_ADDRESS(data), HD__C_TYPES default : 0)))
#define HD__C_ADDRESS(data)                                                                        \
    _Generic((data), void * : &hd__no_dtype, const void * : &hd__no_dtype, default : (data))
#define HD__C_ROWS(type)                                                                           \
    type ** : 16, const type ** : 16, type *const * : 16, const type *const * : 16,
#define HD__C(type, c)                                                                             \
    type:                                                                                          \
    c, type * : c, const type * : c, type(*)[] : c, const type(*)[] : c,
#define HD__C_TYPES                                                                                \
    HD__C(float, 1)                                                                                \
    HD__C(double, 2)                                                                               \
    HD__C(_Bool, 4)                                                                                \
    HD__C(char, 5)                                                                                 \
    HD__C(signed char, 6)                                                                          \
    HD__C(unsigned char, 7)                                                                        \
    HD__C(short, 8)                                                                                \
    HD__C(unsigned short, 9)                                                                       \
    HD__C(int, 10)                                                                                 \
    HD__C(unsigned, 11)                                                                            \
    HD__C(long, HD__C_LONG)                                                                        \
    HD__C(unsigned long, 13)                                                                       \
    HD__C(long long, 3)                                                                            \
    HD__C(unsigned long long, 14)                                                                  \
    HD__C(long double, 15)
#if LONG_MAX == INT64_MAX
#define HD__C_LONG 3
#else
#define HD__C_LONG 12
#endif

/* The value is c if bit is 1 << c. If bit is 0, it is the struct `error`, so the program does not
 * compile. The macro uses `bit` only once, because its expansion is long. */
#define HD__C_TYPE_OR(error, bit)                                                                  \
    _Generic((char(*)[1 + (bit)])0,                                                                \
             HD__C_IS(0) HD__C_IS(1) HD__C_IS(2) HD__C_IS(3) HD__C_IS(4) HD__C_IS(5) HD__C_IS(6)   \
                 HD__C_IS(7) HD__C_IS(8) HD__C_IS(9) HD__C_IS(10) HD__C_IS(11) HD__C_IS(12)        \
                     HD__C_IS(13) HD__C_IS(14) HD__C_IS(15) HD__C_IS(16) char(*)[1]                \
             : (error))
#define HD__C_IS(c) char(*)[1 + (1 << c)] : c,

/* HD__C_TYPE_FOR is the hd_c_type of data. If d is a constant that does not accept this type, the
 * program does not compile. HD__C_MASK finds out whether d is a constant. For a constant d, the
 * pointer (void *)(0 * d) is a null pointer constant, and the conditional expression has the type
 * of its other operand, int *. For a variable d, the conditional expression has the type void *. */
#define HD__C_TYPE_FOR(d, data) HD__C_TYPE_OR(hd__other_type, HD__C_MASK(d) & HD__C_BIT(data))
#define HD__C_MASK(d)                                                                              \
    _Generic(1 ? (void *)(intptr_t)(0 * (int)(d)) : (int *)0, int *                                \
             : HD__C_TAKEN((int)(d)), void *                                                       \
             : 0x1ffff)

/* The number of bytes from data to the end of the object that data points into, or SIZE_MAX if the
 * compiler does not know it. The compiler knows the size of a declared array, and of more arrays
 * when it optimises. */
#if defined(__clang__)
/* For a static struct that ends in a flexible array member, Clang does not count this member in
 * mode 0, the largest size. In this case mode 3, the smallest size, gives 0, and HD__ROOM is
 * SIZE_MAX. */
#define HD__ROOM(data) (__builtin_object_size(data, 3) ? __builtin_object_size(data, 0) : SIZE_MAX)
#elif defined(__GNUC__)
#define HD__ROOM(data) __builtin_object_size(data, 0)
#else
#define HD__ROOM(data) SIZE_MAX
#endif

/* hd_tensor_of uses these macros. HD__C_TYPE_OF is the hd_c_type of the elements of an array of up
 * to 3 dims. If hd_tensor_of does not accept the type of the elements, HD__C_TYPE_OF is a struct,
 * so the program does not compile. HD__ARRAY_ROOM is the number of bytes of an array; for a pointer
 * it is HD__ROOM. HD__ARRAY_ROOM tells a pointer from an array by the type of `1 ? (array) : NULL`:
 * this expression converts an array to a pointer, but leaves the type of a pointer as it is. */
#define HD__C_TYPE_OF(array)                                                                       \
    _Generic((array), HD__C_MADE(HD__C_FLAT) default                                               \
             : _Generic(*HD__C_ADDRESS(array), HD__C_MADE(HD__C_DEEP) default                      \
                        : (hd__no_dtype)))
#define HD__C_FLAT(type, c) type * : c, const type * : c, type(*)[] : c, const type(*)[] : c,
#define HD__C_DEEP(type, c) type(*)[] : c, const type(*)[] : c,
#define HD__C_MADE(X)                                                                              \
    X(float, 1)                                                                                    \
    X(double, 2)                                                                                   \
    X(long, HD__C_LONG)                                                                            \
    X(long long, 3)                                                                                \
    X(_Bool, 4)                                                                                    \
    X(signed char, 6)                                                                              \
    X(unsigned char, 7)                                                                            \
    X(short, 8)                                                                                    \
    X(unsigned short, 9)                                                                           \
    X(int, 10)                                                                                     \
    X(unsigned, 11)
#if defined(__GNUC__)
#define HD__ARRAY_ROOM(array)                                                                      \
    (__builtin_types_compatible_p(__typeof__(array), __typeof__(1 ? (array) : (void *)0))          \
         ? HD__ROOM(array)                                                                         \
         : sizeof(__typeof__(array)))
#else
#define HD__ARRAY_ROOM(array) HD__ROOM(array)
#endif

#endif
#endif
