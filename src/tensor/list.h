/* list.h - a list of tensors (list.c). */
#ifndef HEED_TENSOR_LIST_H
#define HEED_TENSOR_LIST_H

#include "tensor/tensor_struct.h"

struct hd_list {
    int64_t len, room; /* len is -1 after the list's scope has closed */
    hd_tensor **items; /* held */
    hd_tensor *holder; /* the tensor whose data the list lies in */
};

/* Moves l and its tensors to the enclosing scope, as hd_scope_return does. Takes NULL. */
hd_list *hd__tensor_list_return(hd_list *l);

#endif
