/* containers.h - the children of a Sequential or ModuleList (containers.c). */
#ifndef HEED_NN_CONTAINERS_H
#define HEED_NN_CONTAINERS_H

#include "nn/module.h"

/* The i-th child of a Sequential or ModuleList; NULL if it has fewer. */
hd_module *hd__list_child(const hd_module *list, int64_t i);

bool hd__is_module_list(const hd_module *m); /* its summary shows equal children on one line */

#endif
