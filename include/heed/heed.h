/* heed.h - everything that libheed offers: include this one (viz.h and config.h belong to libraries
 * of their own). The contract of the whole API stands here, once.
 *
 * 1. Ownership: scopes over reference counts.
 *    A tensor is owned by the scope that was innermost on its thread when it was created; the scope
 *    releases it when it closes. HD_SCOPE; opens a scope that lasts to the end of the block; under
 *    all lies the thread's root scope. hd_retain keeps a tensor longer, hd_release gives that up;
 *    modules, optimizers and the graph keep what they need by themselves. A function that returns
 *    its own argument (in-place ops, contiguous of a contiguous tensor) adds no holder.
 *    hd_scope_return(y) moves y to the scope around; hd_forward does so with its result.
 *    Texts (const char *) and lists live in scopes too. Whatever else a function makes is the
 *    caller's, until its _free (an open safetensors file: _close; a char *: hd_free).
 *
 * 2. Errors: nothing aborts, prints or exits.
 *    A call that fails returns NULL (false, -1 for sizes, NaN for hd_item) and sets the thread's
 *    error: hd_error_code() and hd_error_message(), which names the function, the values and what
 *    was expected. A call that is given NULL returns NULL and leaves the first error standing, so
 *    that a chain of calls is checked once, at its end. The first error stands until
 *    hd_error_clear(); while it does, hd_optim_step and saving change nothing. HD_NONE stands for
 *    what is left out, never for failure. For options, out-parameters and user data NULL means
 *    default or not wanted.
 *
 * 3. Threads.
 *    Any number of threads may read one tensor, and run one module in evaluation mode, at once.
 *    Writing is the caller's to serialise. A tensor that crosses threads is retained first. Scopes,
 *    errors and grad mode are per thread.
 *
 * 4. Determinism.
 *    Same seed, same build and same CPU level give the same bits, whatever the number of threads.
 *
 * Calls: sizes and indices are lists, hd_view(x, 2, 6, -1); the function behind each such macro
 * ends in _n and takes a count and an array. Numbers may be of any C type where a function's name
 * ends in _scalar or takes a value. Negative dims and indices count from the end. */
#ifndef HEED_H
#define HEED_H

#include "heed/autograd.h"
#include "heed/base.h"
#include "heed/data.h"
#include "heed/io.h"
#include "heed/nn.h"
#include "heed/optim.h"
#include "heed/tensor.h"

#endif
