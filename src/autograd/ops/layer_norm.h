/* layer_norm.h - the descriptor of layer_norm, for the table in loss.c. */
#ifndef HEED_OPS_LAYER_NORM_H
#define HEED_OPS_LAYER_NORM_H

#include "autograd/autograd_internal.h"

extern const hd__op hd__layer_norm_op;

#endif
