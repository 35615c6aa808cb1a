/* heed.h - everything that libheed offers. Include this header; viz.h, hf.h, config.h and mpi.h
 * belong to libraries of their own. The contract of the whole API is stated here, once.
 *
 * 1. Ownership: scopes over reference counts.
 *    A tensor is owned by the scope that was innermost on its thread when it was created. The scope
 *    releases the tensor when it closes. HD_SCOPE; opens a scope that lasts to the end of the
 *    block. The outermost scope is the thread's root scope. hd_retain keeps a tensor longer, and
 *    hd_release gives that up. Modules, optimizers and the graph keep what they need by themselves.
 *    A function that returns its own argument (in-place ops, contiguous of a contiguous tensor)
 *    adds no holder. hd_scope_return(y) moves y to the enclosing scope; hd_forward does so with its
 *    result. Texts (const char *) and lists live in scopes too. The caller owns every other object
 *    that a function makes, and frees it with the _free function of its type (an open safetensors
 *    file: hd_safetensors_close; a char *: hd_free).
 *    A function that is given a freed tensor or object, or a list whose scope closed, fails with
 *    HD_STATE, and the message tells how it was freed. heed knows the last 64 things that each
 *    thread freed, and usually more; with HEED_DEBUG=1 in the environment, the last 65,536. After
 *    that, using one is undefined. The same holds for freeing one a second time. A text, and what
 *    hd_data gave, must not be used after their scope closed.
 *
 * 2. Errors: no function aborts or exits, and nothing prints unless the environment asks for it.
 *    (HEED_DEBUG=1 prints errors and warnings to stderr where the program has set no handler;
 *    HEED_TRACE and HEED_PROFILE print what the program does.)
 *    A call that fails returns NULL (false, -1 for sizes, NaN for hd_item) and sets the thread's
 *    error: hd_error_code() and hd_error_message(). The message names the function that the
 *    program called, the values and what was expected. In a module's forward it names the module's
 *    class first, and then the function that the forward called. A call that is given NULL returns
 *    NULL and leaves the first error standing, so that a chain of calls is checked once, at its
 *    end. The first error stands until hd_error_clear(). A call that fails
 *    has changed nothing, unless its comment says otherwise: no argument, no other object and no
 *    file. It has drawn nothing from a generator, and neither has a forward, a hook or a backward
 *    of the program that it ran. Whatever else these did stays done. Draws are not taken back from
 *    a second generator, nor from one that another thread drew from in the meantime. A save that
 *    fails leaves the old file or the new one, whole: the new one only if the last step fails, the
 *    sync of the directory. While an error stands, hd_optim_step and the functions that save
 *    change nothing. HD_NONE means that something is left out; it never means failure, and it
 *    prints as None. For options, out-parameters and user data, NULL means "default" or "not
 *    wanted". When hd_repr, hd_repr_with, hd_list_repr, hd_shape_repr or hd_module_summary fails,
 *    it returns the text "NULL", because printf does not take a NULL; the error is set as by any
 *    other call. A call that is probably a mistake calls the handler that hd_on_warning sets; the
 *    default is silence. heed warns where PyTorch warns, and of a few more things. base.h lists
 *    all warnings.
 *
 * 3. Threads.
 *    Any number of threads may read one tensor, and run one module in evaluation mode, at the same
 *    time. Reading writes nothing, with one exception, which a lock guards: a view whose base was
 *    changed in place gets its new place in the graph when it is next used. The caller must make
 *    sure that only one thread writes at a time. hd_backward writes to its graph and to the leaves
 *    that require grad. hd_grad_of writes to no leaf: several threads may compute gradients of the
 *    weights of one model at the same time, each with a graph of its own. A tensor that another
 *    thread will use must be retained first. Scopes, errors and grad mode are per thread.
 *
 * 4. Determinism.
 *    The same seed, build and CPU level give the same bits, for any number of threads.
 *
 * Calls: sizes and indices are written as lists, hd_view(x, 2, 6, -1). Each such macro calls a
 * function whose name ends in _n and which takes a count and an array. Where a function's name ends
 * in _scalar, or where it takes a value, the number may have any C type. Negative dims and indices
 * count from the end.
 *
 * Order: the arguments stand in PyTorch's order, but for three reasons. A list ends a call of C, so
 * what follows the list in PyTorch comes before it. What PyTorch leaves out by default is written
 * in C, so a dtype comes first, as a type does in C; a number in its place does not compile. A path
 * comes before what is saved there.
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
