/* layers.h - a Linear without values, and what a Dropout does now (layers.c). */
#ifndef HEED_NN_LAYERS_H
#define HEED_NN_LAYERS_H

#include "nn/module.h"

extern const hd_module_type hd__linear_type;
/* A Linear with another class name: the out_proj of nn.MultiheadAttention. */
extern const hd_module_type hd__packed_out_proj_type;
hd_module *hd__linear_blank(const hd_module_type *type, int64_t in_features, int64_t out_features,
                            bool bias);

/* A Dropout's p; 0 in evaluation mode, and for NULL; -1: m is another module. */
double hd__dropout_now(const hd_module *m);

#endif
