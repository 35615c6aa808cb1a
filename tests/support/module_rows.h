/* module_rows.h - makes the models of the table of modules (tools/functions/modules.py) by
 * number. */
#ifndef HEED_TESTS_MODULE_ROWS_H
#define HEED_TESTS_MODULE_ROWS_H

#include "heed/nn.h"
#include "modules_made.h"

#define MODULE_ROWS_TEXT(text, constructor, call) text,
static const char *const module_row_texts[] = {MODULES(MODULE_ROWS_TEXT)};
enum { MODULE_ROWS = sizeof module_row_texts / sizeof *module_row_texts };

static inline hd_module *module_row_new(int row)
{
    int i = 0;
#define MODULE_ROWS_NEW(text, constructor, call)                                                   \
    if (i++ == row) {                                                                              \
        return constructor;                                                                        \
    }
    MODULES(MODULE_ROWS_NEW)
    return NULL;
}

/* What m of this row makes of its inputs, of which y may be NULL where it takes only x. */
static inline hd_tensor *module_row_call(int row, hd_module *m, hd_tensor *x, hd_tensor *y)
{
    (void)y;
    int i = 0;
#define MODULE_ROWS_CALL(text, constructor, call)                                                  \
    if (i++ == row) {                                                                              \
        return call;                                                                               \
    }
    MODULES(MODULE_ROWS_CALL)
    return NULL;
}

#endif
