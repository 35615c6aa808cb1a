/* cells.h - runs the cells of a notebook in C, where each cell is a function.
 *
 * Cells run in their order and share file-level variables, as the cells of a notebook share its
 * globals. All cells run in the root scope, so their tensors live until the program ends. A cell
 * prints with print() and show(). With --cell N the cells before N run only to set the variables,
 * and print() and show() print nothing in them. */
#ifndef HEED_EXAMPLES_CELLS_H
#define HEED_EXAMPLES_CELLS_H

#include "heed/heed.h"

typedef struct cell {
    int number;          /* the N of --cell N */
    const char *heading; /* the cell is In [heading] of the notebook */
    const char *title;   /* the line of Python that says what the cell does */
    void (*run)(void);
} cell;

/* Makes the row of cell n in the table of cells. Its heading is In [n], and its function cell_n. */
#define CELL(n, title)                                                                             \
    {                                                                                              \
        n, #n, title, cell_##n                                                                     \
    }

/* Prints as printf does, with a newline at the end, like Python's print. */
void print(const char *format, ...)
#if defined(__GNUC__) || defined(__clang__)
    __attribute__((format(printf, 1, 2)))
#endif
    ;

/* Prints x as a notebook shows the value of a cell's last line: print("%s", hd_repr(x)). */
void show(const hd_tensor *x);

/* Runs the n cells as the arguments say, and then finish, which frees the modules of the notebook
 * (NULL: there are none). Returns the exit status of main: 0, or 1 if a cell failed or the output
 * could not be written, or 2 if an argument is wrong. Messages go to stderr. */
int run_notebook(int argc, char **argv, const cell *cells, int n, void (*finish)(void));

#endif
