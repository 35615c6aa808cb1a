/* stored_rows.h - runs the rows that check_null_table --stored generates: each calls a function
 * with a tensor of bfloat16, which is for storing only. STORED: the call fails with HD_DTYPE and
 * names the function and the parameter. STORED_INSIDE: it fails. STORED_TAKEN: it does not fail
 * because of the dtype. */
#ifndef HEED_TESTS_STORED_ROWS_H
#define HEED_TESTS_STORED_ROWS_H

#include "heed/heed.h"
#include "null_rows.h"

static inline hd_tensor *stored_tensor(void)
{
    return hd_ones(HD_BFLOAT16, 2, 3);
}

static inline hd_list *stored_list(void)
{
    return hd_list_of(stored_tensor());
}

static inline hd_list *const *stored_lists(void)
{
    static hd_list *lists[1];
    lists[0] = stored_list();
    return lists;
}

static inline hd_tensor *const *stored_tensors(void)
{
    static hd_tensor *tensors[2];
    tensors[1] = hd_ones(HD_FLOAT32, 2, 3);
    tensors[0] = stored_tensor();
    return tensors;
}

/* Does the message call the function by its name, and the parameter or its first item? */
static inline bool tells_stored(const char *function, const char *parameter)
{
    char rest[120], item[120];
    snprintf(rest, sizeof rest, ": %s is bfloat16, which is for storing only", parameter);
    snprintf(item, sizeof item, ": %s[0] is bfloat16, which is for storing only", parameter);
    return hd_error_code() == HD_DTYPE &&
           (names(hd_error_message(), function, rest) || names(hd_error_message(), function, item));
}

#define STORED(function, parameter, call)                                                          \
    do {                                                                                           \
        (void)(call);                                                                              \
        if (!tells_stored(#function, #parameter)) {                                                \
            tell(#function, #parameter, "does not refuse bfloat16, but says:");                    \
            tell(#function, #parameter, hd_error_message());                                       \
        }                                                                                          \
        hd_error_clear();                                                                          \
    } while (0);
#define STORED_INSIDE(function, parameter, call)                                                   \
    do {                                                                                           \
        (void)(call);                                                                              \
        if (hd_error_code() == HD_OK) {                                                            \
            tell(#function, #parameter, "does not refuse bfloat16");                               \
        }                                                                                          \
        hd_error_clear();                                                                          \
    } while (0);
#define STORED_TAKEN(function, parameter, call)                                                    \
    do {                                                                                           \
        (void)(call);                                                                              \
        if (strstr(hd_error_message(), "bfloat16, which is for")) {                                \
            tell(#function, #parameter, hd_error_message());                                       \
        }                                                                                          \
        hd_error_clear();                                                                          \
    } while (0);

#endif
