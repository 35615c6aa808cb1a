/* module_args.h - the checks of arguments that all of nn makes (module_args.c). */
#ifndef HEED_NN_MODULE_ARGS_H
#define HEED_NN_MODULE_ARGS_H

#include "nn/module.h"

/* Is x a tensor? NULL and HD_NONE fail with HD_NULL_ARG, a freed tensor with HD_STATE. */
bool hd__tensor_given(const char *arg, const hd_tensor *x);
/* Is value at least `least`? "hd_linear_new: in_features -1: expected 0 or more" */
bool hd__size_arg(const char *arg, int64_t value, int64_t least);
/* Is p a number from 0 to 1? "hd_dropout_new: p 1.5: expected a number from 0 to 1" */
bool hd__probability_arg(const char *arg, double p);
/* Can the width be dealt to so many heads? */
bool hd__heads_arg(const char *arg, int64_t width, int64_t num_heads);
/* Is m a module of that type? "hd_kv_cache_new: Linear: expected a MultiHeadAttention" */
bool hd__type_arg(const char *arg, const hd_module *m, const hd_module_type *type);

bool hd__sizes_are(const hd_tensor *x, int n, const int64_t *sizes);

#endif
