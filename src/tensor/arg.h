/* arg.h - the check of an argument that is a tensor.
 *
 * The libraries in libs/ may include it (base/sibling.h). */
#ifndef HEED_TENSOR_ARG_H
#define HEED_TENSOR_ARG_H

#include "base/sibling.h"
#include "heed/tensor.h"

/* Is x a tensor, or HD_NONE if that is taken? Fails as hd__arg does (tensor_args.h). */
HD__SIBLING bool hd__tensor_arg(const char *arg, const hd_tensor *x, bool none_ok);

#endif
