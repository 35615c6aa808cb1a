/* module_args.h - checks of arguments that several files of nn make (module_args.c). Each check
 * returns false with an error that begins with the name `arg` if the argument is wrong. */
#ifndef HEED_NN_MODULE_ARGS_H
#define HEED_NN_MODULE_ARGS_H

#include "nn/module.h"

/* Checks that x is a tensor. NULL and HD_NONE fail with HD_NULL_ARG, a freed tensor with
 * HD_STATE. */
bool hd__nn_tensor_given(const char *arg, const hd_tensor *x);
/* Checks that value >= least. Otherwise returns false with an error such as "hd_linear_new:
 * in_features -1: expected 0 or more". */
bool hd__nn_size_arg(const char *arg, int64_t value, int64_t least);
/* Checks that p is a number from 0 to 1. Otherwise returns false with an error such as
 * "hd_dropout_new: p 1.5: expected a number from 0 to 1". */
bool hd__nn_probability_arg(const char *arg, double p);
/* Checks that width is divisible by num_heads. */
bool hd__nn_heads_arg(const char *arg, int64_t width, int64_t num_heads);
/* Checks that m is a module of class `type`. Otherwise returns false with an error such as
 * "hd_kv_cache_new: attention is a Linear: expected a MultiHeadAttention". */
bool hd__nn_type_arg(const char *arg, const hd_module *m, const hd_module_type *type);

/* True if x has exactly these n sizes. Sets no error. */
bool hd__nn_sizes_are(const hd_tensor *x, int n, const int64_t *sizes);

#endif
