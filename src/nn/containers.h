/* containers.h - how other files of nn look into a Sequential or ModuleList (containers.c). */
#ifndef HEED_NN_CONTAINERS_H
#define HEED_NN_CONTAINERS_H

#include "nn/module.h"

/* Returns child i of a Sequential or ModuleList, counted from 0; NULL if i is too large. */
hd_module *hd__nn_list_child(const hd_module *list, int64_t i);

/* True if m is a ModuleList, whose summary shows equal children on one line. */
bool hd__nn_is_module_list(const hd_module *m);

#endif
