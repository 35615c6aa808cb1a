/* assert.h - assertions of heed's invariants, and marks for rare code. */
#ifndef HEED_BASE_ASSERT_H
#define HEED_BASE_ASSERT_H

#define HD__UNLIKELY(x) __builtin_expect(!!(x), 0)
/* Marks the rare path out of a short function: kept out of line, it costs the common path no
 * registers. */
#define HD__RARE __attribute__((noinline, cold))

/* x can only be false by a fault of heed's own, never by the user's. With -Dassert=true the program
 * then prints the place and aborts. Otherwise x is compiled but not computed. A function that only
 * assertions call stands between #ifdef HD__ASSERT and #endif. */
#ifdef HD__ASSERT
#define hd__assert(x) ((x) ? (void)0 : hd__assert_failed(__FILE__, __LINE__, __func__, #x))
_Noreturn HD__RARE void hd__assert_failed(const char *file, int line, const char *function,
                                          const char *x);
#else
#define hd__assert(x) ((void)sizeof(!(x)))
#endif

#endif
