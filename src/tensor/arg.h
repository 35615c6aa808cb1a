/* arg.h - the check of an argument that is a tensor.
 *
 * The libraries in libs/ may include it (base/sibling.h). */
#ifndef HEED_TENSOR_ARG_H
#define HEED_TENSOR_ARG_H

#include "base/sibling.h"
#include "heed/tensor.h"

/* Returns true if x is a tensor, or if x is HD_NONE and none_ok is true. Otherwise returns false
 * with an error, whose message names x by the text `arg`. See hd__tensor_arg in tensor_args.h for
 * the errors. */
HD__SIBLING bool hd__tensor_given(const char *arg, const hd_tensor *x, bool none_ok);

#endif
