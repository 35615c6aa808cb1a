/* arg.h - the check of an argument that is a tensor.
 *
 * The libraries in libs/ may include it (base/sibling.h). */
#ifndef HEED_TENSOR_ARG_H
#define HEED_TENSOR_ARG_H

#include "base/sibling.h"
#include "heed/tensor.h"

/* True if x is a tensor or, with none_ok, HD_NONE. Otherwise sets an error, whose message calls x
 * `arg`. See hd__tensor_arg in tensor_args.h for the errors. */
HD__SIBLING bool hd__tensor_given(const char *arg, const hd_tensor *x, bool none_ok);

#endif
