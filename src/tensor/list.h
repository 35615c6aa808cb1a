/* list.h - a list of tensors (list.c). */
#ifndef HEED_TENSOR_LIST_H
#define HEED_TENSOR_LIST_H

#include "tensor/tensor_struct.h"

struct hd_list {
    int64_t len, room; /* len: -1 after the list's scope closed */
    hd_tensor **items; /* held */
    hd_tensor *holder; /* what it lies in */
};

/* Moves l and its tensors to the enclosing scope, as hd_scope_return does. Takes NULL. */
hd_list *hd__list_return(hd_list *l);

#endif
