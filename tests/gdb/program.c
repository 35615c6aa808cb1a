/* program.c - tensors of every kind that the gdb printer must show, and a place to stop.
 *
 * tests/checks/check_gdb stops in `stop`, goes up one frame and prints the variables. They must
 * look as in expected.txt. */
#include <math.h>

#include "heed/heed.h"

static void stop(void)
{
    __asm__ volatile("" ::: "memory");
}

int main(void)
{
    const float data[] = {0.43f, -INFINITY, 0.89f, 1e10f, 2, NAN};
    hd_tensor *matrix = hd_from_data(HD_FLOAT32, data, 2, 3);
    hd_tensor *transposed = hd_transpose(matrix, 0, 1);                      /* (3, 2) */
    hd_tensor *vector = hd_slice(hd_arange(0, 10, 1), 0, 2, 5);              /* (3,) */
    hd_tensor *batch = hd_full(HD_FLOAT64, 0.1, 2, 1, 2);                    /* (2, 1, 2) */
    hd_tensor *scalar = hd_scalar_tensor(HD_BOOL, true);                     /* () */
    hd_tensor *empty = hd_zeros(HD_FLOAT32, 2, 0);                           /* (2, 0) */
    hd_tensor *large = hd_view(hd_arange_as(HD_FLOAT32, 0, 600, 1), 20, 30); /* (20, 30) */
    hd_tensor *none = HD_NONE, *nothing = NULL;
    hd_tensor *wild = (hd_tensor *)16;
    stop();
    return hd_error_code() != HD_OK || !matrix || !transposed || !vector || !batch || !scalar ||
           !empty || !large || none != HD_NONE || nothing || !wild;
}
