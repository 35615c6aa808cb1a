/* assert.h - assertions of heed's invariants, and marks for rare code. */
#ifndef HEED_BASE_ASSERT_H
#define HEED_BASE_ASSERT_H

#define HD__UNLIKELY(x) __builtin_expect(!!(x), 0)
/* Marks a function that handles the rare case of a short function. The compiler does not inline the
 * rare case, so the common case saves no registers for it. */
#define HD__RARE __attribute__((noinline, cold))

/* Asserts x, which only a bug in heed can make false, never a wrong argument. With -Dassert=true, a
 * false x prints its place and aborts the program. Otherwise x is compiled, but not evaluated. A
 * function that only assertions call stands between #ifdef HD__ASSERT and #endif. */
#ifdef HD__ASSERT
#define hd__assert(x) ((x) ? (void)0 : hd__assert_failed(__FILE__, __LINE__, __func__, #x))
_Noreturn HD__RARE void hd__assert_failed(const char *file, int line, const char *function,
                                          const char *x);
#else
#define hd__assert(x) ((void)sizeof(!(x)))
#endif

#endif
