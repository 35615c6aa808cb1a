/* cells.h - runs the cells of a notebook that is written as C functions, one a cell.
 *
 * Cells run in their order and share file-level variables, as a notebook's share its globals. All
 * run in the root scope, so what one computes lives until the program ends. What a cell prints goes
 * through print() and show(), which say nothing while a cell is run only for the variables that it
 * leaves behind. */
#ifndef HEED_EXAMPLES_CELLS_H
#define HEED_EXAMPLES_CELLS_H

#include "heed/heed.h"

typedef struct cell {
    int number;          /* what --cell takes */
    const char *heading; /* In [heading] */
    const char *title;   /* the line of Python that says what the cell does */
    void (*run)(void);
} cell;

/* A row of the table of cells: number n, headed In [n], run by cell_n. */
#define CELL(n, title)                                                                             \
    {                                                                                              \
        n, #n, title, cell_##n                                                                     \
    }

/* Python's print: printf, and a newline. */
void print(const char *format, ...)
#if defined(__GNUC__) || defined(__clang__)
    __attribute__((format(printf, 1, 2)))
#endif
    ;

/* What a notebook shows of a cell's last line: print("%s", hd_repr(x)). */
void show(const hd_tensor *x);

/* main of a notebook of n cells; finish (NULL: nothing) frees its modules. Returns the exit status:
 * 0, 1 when a cell failed (its error goes to stderr), 2 for arguments that it does not know. */
int run_notebook(int argc, char **argv, const cell *cells, int n, void (*finish)(void));

#endif
