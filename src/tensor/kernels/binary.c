/* binary.c - the elementwise loops of two and three inputs. The build makes them from the table of
 * operations in elementwise.h, except gt and ge. */
#include "tensor/kernels/elementwise.h"
#include "tensor/kernels/functions.h"

#include "tensor/kernels/binary_made.h"

/* Defines `name`, which is f with its two inputs swapped. */
#define SWAPPED(name, f)                                                                           \
    static void name(char *const *data, const int64_t *strides, int64_t n, const void *params)     \
    {                                                                                              \
        f((char *[]){data[0], data[2], data[1]},                                                   \
          (const int64_t[]){strides[0], strides[2], strides[1]}, n, params);                       \
    }
SWAPPED(gt_f32, lt_f32)
SWAPPED(gt_f64, lt_f64)
SWAPPED(gt_i64, lt_i64)
HDK_IF_WIDE(SWAPPED(gt_b8, lt_b8))
SWAPPED(ge_f32, le_f32)
SWAPPED(ge_f64, le_f64)
SWAPPED(ge_i64, le_i64)
HDK_IF_WIDE(SWAPPED(ge_b8, le_b8))

const struct hdk_binary HDK_TABLE(hdk_binary) = {
    .of = {HDK_BINARY_LOOPS},
};
