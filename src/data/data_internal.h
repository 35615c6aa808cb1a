/* data_internal.h - what the files of the data layer offer to each other. */
#ifndef HEED_DATA_INTERNAL_H
#define HEED_DATA_INTERNAL_H

#include <stdatomic.h>

#include "heed/data.h"

struct hd_tokens {
    atomic_int refs;
    atomic_bool freed; /* the user has called hd_tokens_free */
    int width;         /* bytes an id */
    int64_t len;
    unsigned char *bytes;
    hd_tokens *owner; /* the row that owns the bytes, held; NULL: this one owns them */
    bool allocated;   /* an owner's bytes come from hd_alloc */
    size_t mapped;    /* an owner's bytes are a mapping of this size; 0: they are not mapped */
};

/* For public functions: is t given, and not freed by the user? Whoever else holds t may go on using
 * it. hd__dataset_given is the same. */
bool hd__tokens_given(const hd_tokens *t);
hd_tokens *hd__tokens_hold(const hd_tokens *t);
void hd__tokens_drop(hd_tokens *t); /* takes NULL */
/* Copies n ids from `at` on. The caller has checked that they exist. */
void hd__tokens_copy(const hd_tokens *t, int64_t at, int64_t n, int64_t *ids);

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

bool hd__dataset_given(const hd_dataset *s);
hd_dataset *hd__dataset_hold(const hd_dataset *s);
void hd__dataset_drop(hd_dataset *s); /* takes NULL */

/* Input and target of n windows, (n, max_length) each, without values; ndim 1: (max_length,) of one
 * window. Each row is then filled with an item, which cannot fail. */
hd_list *hd__windows_empty(const hd_dataset *s, int ndim, int64_t n);
void hd__windows_fill(const hd_list *b, int64_t row, const hd_dataset *s, int64_t item);

/* The tensors of an item, in the innermost scope, which the caller has opened. */
hd_list *hd__dataset_item(const hd_dataset *s, int64_t item);
/* Has l two tensors? If not, fails: "hd_loader_next: a batch of 3 tensors: expected 2 ..." */
bool hd__is_pair(const char *what, const hd_list *l);
/* Writes them to where the caller wants them, in the enclosing scope; NULL: not wanted. */
void hd__pair_give(const hd_list *l, hd_tensor **input, hd_tensor **target);

/* A batch of the n items: each of an item's tensors stacked along a new first dim. */
hd_list *hd__stack_items(hd_list *const *items, int64_t n);

/* The program's own code, which shall give a list, runs between these two:
 *   hd__visit v = hd__visit_begin();
 *   return hd__visit_gave(&v, "collate", call_collate(...));
 * The caller has opened a scope. Gives NULL unless the code ended well, with a list of tensors. */
typedef struct hd__visit {
    const hd_scope *scope;
    uint64_t serial, failures;
} hd__visit;

hd__visit hd__visit_begin(void);
hd_list *hd__visit_gave(const hd__visit *v, const char *who, hd_list *l);

#endif
