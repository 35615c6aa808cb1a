/* list.h - a list of tensors (list.c). */
#ifndef HEED_TENSOR_LIST_H
#define HEED_TENSOR_LIST_H

#include "tensor/tensor_struct.h"

struct hd_list {
    /* len: number of tensors in the list, or -1 after its scope has closed; room: number of tensors
     * that fit into items */
    int64_t len, room;
    hd_tensor **items; /* the list has a reference to each of them */
    hd_tensor *holder; /* the tensor whose data the list lies in */
};

/* Moves l and its tensors from the innermost scope to the one around it, as hd_scope_return does.
 * Returns l. If l is NULL, does nothing and returns NULL. */
hd_list *hd__tensor_list_return(hd_list *l);

#endif
