/* cells.h - runs the cells of a notebook in C, where each cell is a function.
 *
 * Cells run in their order and share file-level variables, as the cells of a notebook share its
 * globals. All cells run in the root scope, so their tensors live until the program ends. A cell
 * prints with print() and show(). With --cell N these print nothing in the earlier cells, which run
 * only to set the variables.
 *
 * Options change the struct notebook_numbers. With numbers in their ranges every cell still has a
 * meaning: no sum of scores is 0, and no weight is so small that a masked row has only zeros. */
#ifndef HEED_EXAMPLES_CELLS_H
#define HEED_EXAMPLES_CELLS_H

#include "heed/heed.h"

typedef struct cell {
    int number;          /* the N of --cell N */
    const char *heading; /* In [heading] */
    const char *title;   /* the line of Python that says what the cell does */
    void (*run)(void);
} cell;

/* The numbers of a notebook that a reader may change. The notebook's own ones are the defaults. */
typedef struct notebook_numbers {
    int64_t seed;           /* --seed: 0 to 4294967295 */
    int64_t d_out;          /* --d-out: 1 to 16 */
    double dropout;         /* --dropout: 0 to 1 */
    float embeddings[6][3]; /* --embeddings: 18 numbers from 0.01 to 1 */
} notebook_numbers;

/* A row of the table of cells: number n, heading In [n], function cell_n. */
#define CELL(n, title)                                                                             \
    {                                                                                              \
        n, #n, title, cell_##n                                                                     \
    }

/* Python's print: printf with a newline at the end. */
void print(const char *format, ...)
#if defined(__GNUC__) || defined(__clang__)
    __attribute__((format(printf, 1, 2)))
#endif
    ;

/* Prints x as a notebook shows the value of a cell's last line: print("%s", hd_repr(x)). */
void show(const hd_tensor *x);

/* The main function of a notebook of n cells. The arguments change the numbers; finish frees the
 * notebook's modules. Returns the exit status: 0; 1 if a cell failed (its error goes to stderr); 2
 * for a wrong argument. */
int run_notebook(int argc, char **argv, const cell *cells, int n, notebook_numbers *numbers,
                 void (*finish)(void));

#endif
