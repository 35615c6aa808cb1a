/* heed.h - everything that libheed offers. Include this header. viz.h, hf.h, config.h and mpi.h
 * belong to separate libraries, so include them yourself. Four rules hold for the whole API;
 * docs/contract.md has the details and the exceptions.
 *
 * 1. Ownership: scopes on top of reference counts.
 *    A new tensor belongs to the innermost scope of its thread, which releases it when it closes.
 *    HD_SCOPE; opens a scope that closes at the end of the block. The outermost scope is the
 *    thread's root scope. hd_retain keeps a tensor alive longer, until hd_release.
 *    hd_scope_return(y) moves y to the enclosing scope; hd_forward does so with its result. A
 *    function that returns its own argument (an in-place op, or hd_contiguous of a contiguous
 *    tensor) adds no reference. Modules, optimizers and the graph keep the tensors that they need.
 *
 *    Texts (const char *) and lists belong to scopes, too. The caller owns every other new object
 *    and frees it with the _free function of its type. Two types have another function:
 *    hd_safetensors_close for an open safetensors file, and hd_free for a char *.
 *
 *    A function that is given a freed tensor or object, or a list whose scope closed, fails with
 *    HD_STATE, and so does a second free. heed remembers the last 64 things that each thread freed,
 *    and with HEED_DEBUG=1 in the environment the last 65,536. The use of a thing that was freed
 *    before these is undefined.
 *
 * 2. Errors: no function aborts or exits, and nothing prints unless the environment asks for it.
 *    A call that fails returns NULL (or false, -1 for a size, NaN from hd_item) and sets the
 *    thread's error: hd_error_code() and hd_error_message(). The message names the function that
 *    the program called, the values that it got, and the values that it expects. The first error
 *    stays set until hd_error_clear(). A call that is given NULL returns NULL and keeps the first
 *    error, so the program can check a chain of calls once, at its end.
 *
 *    A call that fails has changed nothing, unless its comment says otherwise: no argument, no
 *    other object, no file and no generator. While an error is set, hd_optim_step and the functions
 *    that save change nothing.
 *
 *    HD_NONE stands for an optional tensor that the caller leaves out; it never means failure. For
 *    options, out-parameters and user data, NULL means "default" or "not wanted".
 *
 *    If a call is probably a mistake, heed gives a warning: it calls the handler that hd_on_warning
 *    sets. By default there is no handler. base.h lists the warnings of libheed.
 *
 * 3. Threads.
 *    Any number of threads may read one tensor, and run one module in evaluation mode, at the same
 *    time. The caller makes sure that no thread uses a tensor or module while another thread writes
 *    to it. hd_backward writes to its graph and to the leaves that require grad. hd_grad_of writes
 *    to no leaf. Before another thread uses a tensor, retain it, because its own scope may close at
 *    any time. Scopes, errors and grad mode are per thread.
 *
 * 4. Determinism.
 *    The same seed, build and CPU level give the same bits, for any number of threads.
 *
 * Lists: sizes and indices are written as lists, as in hd_view(x, 2, 6, -1). Each such call is a
 * macro over a function whose name ends in _n. That function takes a count and an array. Negative
 * dims and indices count from the end.
 *
 * Numbers: an argument of type hd_scalar takes a number of any C type, as in hd_full(HD_INT64, 7,
 * 2, 3) and hd_add_scalar(x, 0.5).
 *
 * Options: a function such as hd_adamw_defaults returns a struct of options with their defaults.
 * The comment of each field begins with its default. "default 0: ..." says what 0 stands for, and
 * "default 0; ..." says what the field is.
 *
 * Order: arguments have PyTorch's order, with three exceptions. First, a list can only be the end
 * of a call, so an argument that follows the list in PyTorch comes before it. Second, a dtype is
 * required, and comes first, or right after the tensor in hd_to and the _like functions. A call
 * with a number in place of the dtype does not compile. Third, a path comes before the object that
 * is saved there.
 *   torch.full((2, 3), 1.5)             hd_full(HD_FLOAT32, 1.5, 2, 3)
 *   torch.zeros(2, 3, dtype=d)          hd_zeros(d, 2, 3); likewise empty, ones, rand, randn
 *   torch.randint(0, 9, (2, 3))         hd_randint(HD_INT64, 0, 9, 2, 3)
 *   torch.arange(0, 6, 2, dtype=d)      hd_arange_as(d, 0, 6, 2); likewise linspace and eye
 *   torch.full_like(x, 1.5, dtype=d)    hd_full_like(x, d, 1.5)
 *   torch.cat((a, b), 1)                hd_cat(1, a, b); likewise stack
 *   x.sum((0, 1), True)                 hd_sum_dims(x, true, 0, 1); likewise mean, logsumexp
 *   x.var((0, 1), correction=0)         hd_var_dims(x, 0, false, 0, 1)
 *   x[0, 1] = v                         hd_setitem(x, v, 0, 1); likewise hd_set
 *   torch.save(d, path)                 hd_save_safetensors(path, d) */
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
