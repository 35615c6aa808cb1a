/* cell.h - what every cell of C includes: heed, the usual headers of C, and HEED_SHOW, which shows
 * the value of the cell's last line. The kernel's host (host.c) runs the cells. */
#ifndef HEED_CELL_H
#define HEED_CELL_H

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <heed/heed.h>
#ifdef HEED_HAVE_VIZ
#include <heed/viz.h>
#else
typedef struct hd_picture hd_picture; /* heed is without pictures, so no value has this type */
char *hd_picture_svg(const hd_picture *p);
#endif

/* The line that a cell has come to. Its memory is shared, so that the line of a crash is known. */
extern volatile int *heed_line;

/* Shows a text, whose kind is text/plain or image/svg+xml. */
void heed_show(const char *kind, const char *text);

/* The texts of values that heed itself does not print. */
const char *heed_bool(bool v);
const char *heed_integer(intmax_t v);
const char *heed_unsigned(uintmax_t v);
const char *heed_text(const char *v);
const char *heed_pointer(const volatile void *v);

#define HEED_KIND(x) _Generic((x), hd_picture * : "image/svg+xml", default : "text/plain")
#define HEED_TEXT(x)                                                                               \
    _Generic((x),                                                                                  \
        hd_tensor *: hd_repr,                                                                      \
        const hd_tensor *: hd_repr,                                                                \
        hd_list *: hd_list_repr,                                                                   \
        const hd_list *: hd_list_repr,                                                             \
        hd_module *: hd_module_summary,                                                            \
        const hd_module *: hd_module_summary,                                                      \
        hd_picture *: hd_picture_svg,                                                              \
        float: hd_float_repr,                                                                      \
        double: hd_float_repr,                                                                     \
        bool: heed_bool,                                                                           \
        char: heed_integer,                                                                        \
        signed char: heed_integer,                                                                 \
        short: heed_integer,                                                                       \
        int: heed_integer,                                                                         \
        long: heed_integer,                                                                        \
        long long: heed_integer,                                                                   \
        unsigned char: heed_unsigned,                                                              \
        unsigned short: heed_unsigned,                                                             \
        unsigned int: heed_unsigned,                                                               \
        unsigned long: heed_unsigned,                                                              \
        unsigned long long: heed_unsigned,                                                         \
        char *: heed_text,                                                                         \
        const char *: heed_text,                                                                   \
        default: heed_pointer)(x)

/* A call that gives no value, such as free(p), is run and shows nothing. */
#define HEED_IS_VOID(x) __builtin_types_compatible_p(__typeof__(x), void)
#define HEED_VALUE(x) __builtin_choose_expr(HEED_IS_VOID(x), 0, (x))
#define HEED_SHOW(x)                                                                               \
    __builtin_choose_expr(HEED_IS_VOID(x), (x),                                                    \
                          heed_show(HEED_KIND(HEED_VALUE(x)), HEED_TEXT(HEED_VALUE(x))))

#endif
