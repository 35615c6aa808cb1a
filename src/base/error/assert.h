/* assert.h - assertions of what is always true, and how a rare way is marked. */
#ifndef HEED_BASE_ASSERT_H
#define HEED_BASE_ASSERT_H

#define HD__UNLIKELY(x) __builtin_expect(!!(x), 0)
/* A rare way out of a short function: kept out of line, it costs the common way no registers. */
#define HD__RARE __attribute__((noinline, cold))

/* x can only be false by a fault of heed's own, never by what a user does. With -Dassert=true the
 * program then tells the place and aborts. Otherwise x is compiled, and not computed; a function
 * that only assertions call is left out by #ifdef HD__ASSERT. */
#ifdef HD__ASSERT
#define hd__assert(x) ((x) ? (void)0 : hd__assert_failed(__FILE__, __LINE__, __func__, #x))
_Noreturn HD__RARE void hd__assert_failed(const char *file, int line, const char *function,
                                          const char *x);
#else
#define hd__assert(x) ((void)sizeof(!(x)))
#endif

#endif
