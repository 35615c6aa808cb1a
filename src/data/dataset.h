/* dataset.h - datasets and their items, which the program's own code may make (dataset.c). */
#ifndef HEED_DATA_DATASET_H
#define HEED_DATA_DATASET_H

#include <stdatomic.h>

#include "heed/data.h"

struct hd_dataset {
    atomic_int refs;
    atomic_bool freed; /* the user has called hd_dataset_free */
    hd_dataset *whole; /* held: the dataset of which this is a part; NULL: it is no part */
    int64_t len;
    int64_t *order; /* order[k] is the number of item k in `whole`; NULL: it is no part */

    hd_list *(*get)(int64_t i, void *user); /* NULL: the items are windows */
    void *user;
    void (*release)(void *user); /* may be NULL */
    hd_tokens *tokens;           /* windows only; held */
    int64_t max_length, stride;
};

/* For public functions: true if s is given and not freed by the user. */
bool hd__data_dataset_given(const hd_dataset *s);
hd_dataset *hd__data_dataset_hold(const hd_dataset *s);
void hd__data_dataset_drop(hd_dataset *s); /* s may be NULL */

/* A list of input and target for n windows, (n, max_length) each; with ndim 1, (max_length,) for
 * one window. The elements are undefined. */
hd_list *hd__data_windows_empty(const hd_dataset *s, int ndim, int64_t n);
/* Writes an item to a row of both tensors of b. Cannot fail. */
void hd__data_windows_fill(const hd_list *b, int64_t row, const hd_dataset *s, int64_t item);

/* The tensors of an item, in the innermost scope, which the caller has opened. */
hd_list *hd__data_dataset_item(const hd_dataset *s, int64_t item);
/* True if l has two tensors; otherwise fails: "a batch of 3 tensors: expected 2, ..." */
bool hd__data_is_pair(const char *what, const hd_list *l);
/* Gives the two tensors of l to the caller, in the enclosing scope. NULL: not wanted. */
void hd__data_pair_give(const hd_list *l, hd_tensor **input, hd_tensor **target);

/* Guards the program's own code that returns a list:
 *   hd__data_visit v = hd__data_visit_begin();
 *   return hd__data_visit_gave(&v, "collate", call_collate(...));
 * The caller has opened a scope. The result is NULL unless the code succeeded and returned a list
 * of tensors. */
typedef struct hd__data_visit {
    const hd_scope *scope;
    uint64_t serial, failures;
} hd__data_visit;

hd__data_visit hd__data_visit_begin(void);
hd_list *hd__data_visit_gave(const hd__data_visit *v, const char *who, hd_list *l);

/* A batch of n items: their tensors number k are stacked along a new first dim, for each k
 * (collate.c). */
hd_list *hd__data_stack_items(hd_list *const *items, int64_t n);

#endif
