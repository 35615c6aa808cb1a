/* gradcheck_rows.h - a gradcheck row is one case of a differentiable function, generated from
 * grad() in tools/functions/rows.py. The harness, gradcheck_table.c, makes every variant of it:
 * contiguous, transposed views, broadcast, sizes 0 and 1, each input constant in turn, and float32
 * against float64 at every CPU level with sizes around vector edges.
 *
 * A shape is a text with a character for each dim ("bmk"). A letter is a size that the harness
 * chooses for each variant, and equal letters are equal sizes. A digit is the size itself. "" is
 * 0-d. */
#ifndef HEED_GRADCHECK_ROWS_H
#define HEED_GRADCHECK_ROWS_H

#include "heed/autograd.h"

enum { ROW_INPUTS = 4, ROW_BROADCASTS = 3 };

enum {
    ROW_NO_ZERO = 1,  /* an empty input is an error here */
    ROW_NO_ONE = 2,   /* size 1 is an error here (a divisor would be 0) */
    ROW_DISTINCT = 4, /* values must be well apart from each other (max, topk) */
    ROW_INPLACE = 8,  /* f gets clones: a leaf must not be written */
    ROW_NO_F32 = 16   /* no float32 comparison: f itself needs float64 */
};

typedef struct gradcheck_row {
    const char *function; /* "hd_mul" */
    const char *note;     /* which case: "", "2-d", "keepdim" */
    hd_tensor *(*f)(hd_tensor *const *x, int n, void *user);
    int n;                                             /* inputs */
    const char *shapes[ROW_INPUTS];                    /* the plain case */
    const char *broadcast[ROW_BROADCASTS][ROW_INPUTS]; /* further shapes; unused: NULL */
    double lo, hi; /* inputs are uniform in [lo, hi]; none is at a kink of f */
    unsigned flags;
    const char *node; /* the name of the result's node; NULL: any */
} gradcheck_row;

typedef struct gradcheck_rows {
    int n;
    const gradcheck_row *rows;
} gradcheck_rows; /* of a section of the table */

#endif
