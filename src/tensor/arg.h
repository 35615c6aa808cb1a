/* arg.h - the check of an argument that is a tensor.
 *
 * The libraries in libs/ may include it (base/sibling.h). */
#ifndef HEED_TENSOR_ARG_H
#define HEED_TENSOR_ARG_H

#include "base/sibling.h"
#include "heed/tensor.h"

/* True if x is a tensor, or HD_NONE if none_ok. Otherwise fails as hd__tensor_arg does
 * (tensor_args.h). */
HD__SIBLING bool hd__tensor_given(const char *arg, const hd_tensor *x, bool none_ok);

#endif
