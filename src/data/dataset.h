/* dataset.h - datasets: their items, and the program's own code that gives some (dataset.c). */
#ifndef HEED_DATA_DATASET_H
#define HEED_DATA_DATASET_H

#include <stdatomic.h>

#include "heed/data.h"

struct hd_dataset {
    atomic_int refs;
    atomic_bool freed; /* the user has called hd_dataset_free */
    hd_dataset *whole; /* held: what it is a part of; NULL: it is whole */
    int64_t len;
    int64_t *order; /* which item of `whole` each item is; NULL: item k is number k */

    hd_list *(*get)(int64_t i, void *user); /* NULL: the items are windows */
    void *user;
    void (*release)(void *user); /* NULL: nothing */
    hd_tokens *tokens;           /* of windows; held */
    int64_t max_length, stride;
};

bool hd__data_dataset_given(const hd_dataset *s);
hd_dataset *hd__data_dataset_hold(const hd_dataset *s);
void hd__data_dataset_drop(hd_dataset *s); /* takes NULL */

/* Input and target of n windows, (n, max_length) each, without values; ndim 1: (max_length,) of one
 * window. Each row is then filled with an item, which cannot fail. */
hd_list *hd__data_windows_empty(const hd_dataset *s, int ndim, int64_t n);
void hd__data_windows_fill(const hd_list *b, int64_t row, const hd_dataset *s, int64_t item);

/* The tensors of an item, in the innermost scope, which the caller has opened. */
hd_list *hd__data_dataset_item(const hd_dataset *s, int64_t item);
/* Has l two tensors? If not, fails: "hd_loader_next: a batch of 3 tensors: expected 2 ..." */
bool hd__data_is_pair(const char *what, const hd_list *l);
/* Writes them to where the caller wants them, in the enclosing scope; NULL: not wanted. */
void hd__data_pair_give(const hd_list *l, hd_tensor **input, hd_tensor **target);

/* The program's own code, which shall give a list, runs between these two:
 *   hd__data_visit v = hd__data_visit_begin();
 *   return hd__data_visit_gave(&v, "collate", call_collate(...));
 * The caller has opened a scope. Gives NULL unless the code ended well, with a list of tensors. */
typedef struct hd__data_visit {
    const hd_scope *scope;
    uint64_t serial, failures;
} hd__data_visit;

hd__data_visit hd__data_visit_begin(void);
hd_list *hd__data_visit_gave(const hd__data_visit *v, const char *who, hd_list *l);

/* A batch of the n items: each of an item's tensors stacked along a new first dim
 * (collate.c). */
hd_list *hd__data_stack_items(hd_list *const *items, int64_t n);

#endif
