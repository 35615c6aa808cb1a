/* layers.h - functions of layers.c for modules that contain layers: one makes a Linear whose values
 * are drawn later, and one returns the probability that a Dropout uses now. */
#ifndef HEED_NN_LAYERS_H
#define HEED_NN_LAYERS_H

#include "nn/module.h"

extern const hd_module_type hd__nn_linear_type;
/* The type of a Linear with the class name that PyTorch gives the out_proj of
 * nn.MultiheadAttention. */
extern const hd_module_type hd__nn_packed_out_proj_type;
hd_module *hd__nn_linear_blank(const hd_module_type *type, int64_t in_features,
                               int64_t out_features, bool bias);

/* Returns the probability that m uses now: a Dropout's p in training, and 0 in evaluation mode or
 * if m is NULL. Returns -1 without an error if m is not a Dropout. */
double hd__nn_dropout_now(const hd_module *m);

#endif
