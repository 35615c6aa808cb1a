/* ranks.h - declarations that the tests with several ranks share. */
#ifndef HEED_TESTS_MPI_RANKS_H
#define HEED_TESTS_MPI_RANKS_H

#include <stdbool.h>
#include <stdint.h>

#include "heed/heed.h"
#include "heed/mpi.h"

/* A case ends at the first check that fails on this rank, and says so on stderr. */
bool ranks_fail(const char *file, int line, const char *what);
#define CHECK(x)                                                                                   \
    do {                                                                                           \
        if (!(x)) {                                                                                \
            return ranks_fail(__FILE__, __LINE__, #x);                                             \
        }                                                                                          \
    } while (0)

/* Does an error of this code stand, whose message has both texts? Clears it. */
bool error_has(hd_code code, const char *text, const char *other);

/* A model of two layers with dropout 0: (b, 6) to (b, 3), or to two heads of which the second is
 * used on some ranks only. */
typedef struct {
    hd_module base;
    hd_module *first, *second, *spare;
    bool use_spare;
} small_model;

hd_module *small_new(void);

/* (rows, 6) and (rows, 3): rows first to first + rows - 1 of the same data on every rank. */
hd_tensor *rows_x(int64_t first, int64_t rows);
hd_tensor *rows_y(int64_t first, int64_t rows);
/* The mean squared error of the model on these rows. */
hd_tensor *rows_loss(hd_module *m, int64_t first, int64_t rows);

/* Are x and y equal to the bit? */
bool same_bits(hd_tensor *x, hd_tensor *y);
/* The parameters of m in one tensor (n,), and their gradients, zeros where there is none. */
hd_tensor *all_parameters(hd_module *m);
hd_tensor *all_grads(hd_module *m);
/* Is x the same on all ranks? */
bool same_everywhere(hd_tensor *x);

/* The block with this number, counted from 0 and from now on, is refused on this rank. -1: none. */
void refuse_block(int64_t number);
/* Was it refused on any rank? From now on none is. */
bool block_refused(void);

/* Waits for some milliseconds, on each rank for others. */
void stagger(int step);

/* The cases of each file: {name, function}, up to a name that is NULL. */
typedef struct {
    const char *name;
    bool (*run)(void);
} ranks_case;
extern const ranks_case agree_cases[], ddp_cases[], failure_cases[], shard_cases[];
extern const ranks_case parting_cases[]; /* one a process, by its name */

#endif
