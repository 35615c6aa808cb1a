"""The intended differences between heed and PyTorch, each with its reason. Each entry names its row of
docs/differences.md, has an example, and selects the disagreements that it covers (known() in difference.py). The
example must still disagree in this way: an entry that no longer differs fails the run, and so does one whose row is
missing.
"""
import ctypes
import re

import torch

import train
import values
from binding import scalar
from compare import UNIT, surely_leaf
from difference import (BOOL, F32, F64, I64, INF, U, V, W, X, Y, Z, among, backward, grad,
                        gradient_of, has_infinity, known, leaf, mode, moving, of_zeros, place, row_major, without_gaps)
from machine import Index, Var, same_storage, storage

ATTENTION = ("hd_scaled_dot_product_attention", "hd_scaled_dot_product_attention_with")
FLOATS_ONLY = ("hd_normal_", "hd_uniform_", "hd_bernoulli", "hd_softmax", "hd_log_softmax")
SPLIT = [leaf(X, [2]), (Y, "hd_chunk", [X, 2, 0]), leaf(Z, [2]), grad(Z), (X, "hd_mul_", [X, Z])]
MANY = [3, 8, 8, 8]
COPIES = ("hd_clone", "hd_contiguous", "hd_to", "hd_rand_like", "hd_randn_like")

# ---- heed refuses what PyTorch takes

known("fill_, zero_ and masked_fill_ of an expanded tensor, and copy_ of itself",
      [leaf(X, [1]), (Y, "hd_expand_n", [X, [3]]), (Y, "hd_zero_", [Y])],
      kind="error", says="is expanded",
      where=lambda e: e.what in ("hd_fill_", "hd_zero_", "hd_masked_fill_") or
          e.what in ("hd_copy_", "hd_setitem_n") and same_storage(*e.theirs[:2]))
known("repeat of a dim of size 0 by a negative number", [leaf(X, [0], []), (Y, "hd_repeat_n", [X, [-1]])],
      what="hd_repeat_n", kind="error", where=lambda e: e.theirs[0].numel() == 0)
known("index_add to an empty tensor by an index that is out of range",
      [leaf(X, [0, 1], []), leaf(Y, [1], [1], I64), leaf(Z, [0, 1], []), (W, "hd_index_add", [X, 1, Y, Z])],
      what="hd_index_add", kind="error", where=lambda e: e.theirs[0].numel() == 0)
known("tensors of more than 8 dims", [leaf(X, [1]), (Y, "hd_view_n", [X, [1] * 9])],
      kind="error", says="expected 0 to 8")
known("expand to a negative size other than -1, or to -1 in a new dim",
      [leaf(X, [1, 1]), (Y, "hd_expand_n", [X, [0, -2, -1]])],
      what="hd_expand_n", kind="error", where=lambda e: min(e.args[1]) < 0 and 0 in e.args[1])
known("randn, normal_, uniform_, bernoulli, softmax and log_softmax of an empty tensor of bool or int64",
      [leaf(X, [0], [], BOOL), (Y, "hd_normal_", [X, 0.0, 1.0])],
      what=FLOATS_ONLY, kind="error", says="expected float32 or float64", where=lambda e: e.theirs[0].numel() == 0)
known("a product over nothing of two dtypes",
      [leaf(X, [1, 1, 0], [], F64), leaf(Y, [1, 0, 1], []), (Z, "hd_matmul", [X, Y])],
      what="hd_matmul", kind="error", says="expected the same dtype",
      where=lambda e: e.theirs[0].numel() == 0 or e.theirs[1].numel() == 0)
known("linear of a matrix, a weight (in,) and a bias",
      [leaf(X, [2, 1]), leaf(Y, [1]), leaf(Z, []), (W, "hd_linear", [X, Y, Z])],
      what="hd_linear", kind="no error", says="mat2 must be a matrix")
known("linear with a bias of other sizes than (out,), or than () beside a weight (in,), or of another dtype",
      [leaf(X, [2, 1]), leaf(Y, [2, 1]), leaf(Z, [1]), (W, "hd_linear", [X, Y, Z])],
      what="hd_linear", kind="error", says=" bias ")
known("hd_scalar_tensor of a number that float32 cannot hold", [(X, "hd_scalar_tensor", [F32, 1e39])],
      what="hd_scalar_tensor", kind="error", says="expected one that float32 can hold")
known("attention whose v has other rows than k",
      [leaf(X, [1, 1, 2, 1]), leaf(Y, [1, 1, 2, 1]), leaf(Z, [1, 1, 1, 1]),
       (W, "hd_scaled_dot_product_attention", [X, Y, Z, None, 0.0, False])],
      what=ATTENTION, kind="error", says="expected (..., l, d)")
known("attention with a mask and is_causal",
      [leaf(X, [1, 1, 2, 1]), leaf(M := Var("m"), [2, 2]),
       (W, "hd_scaled_dot_product_attention", [X, X, X, M, 0.0, True])],
      what=ATTENTION, kind="error", says="expected at most one of them")
known("hd_grad_node of a view taken while grad mode was off",
      [leaf(X, [1]), grad(X), mode(False), (Y, "hd_view_n", [X, [1, 1]]), mode(True), (Z, "node", [Y])],
      what="hd_grad_node", kind="error", says="taken while grad mode was off")


def a_hook_of_an_earlier_value(e):
    name, version = e.machine.hooked[e.args[0]]
    return e.what == "hd_remove_hook" and "is not the id of a hook of" in e.text and e.env[name][1]._version > version


known("hd_remove_hook of a tensor that was changed in place after hd_register_hook",
      [leaf(X, [1]), grad(X), (Y, "hd_mul_scalar", [X, 2.0]), (Z, "hook", [Y, "nothing"]),
       (Y, "hd_mul_scalar_", [Y, 2.0]), (W, "remove_hook", [0])],
      where=a_hook_of_an_earlier_value)
known("a second hook on an output of split whose base was changed in place",
      SPLIT + [(W, "hook", [Var("y_0"), "nothing"]), (V, "hook", [Var("y_0"), "nothing"])],
      what="hd_register_hook", kind="error", says="is an output of split",
      where=lambda e: among(e, e.args[0], [x for x, _ in e.machine.hooked]))
known("hd_register_hook, for the second time, of a view taken while grad mode was off whose base was "
      "changed in place",
      [leaf(X, [1]), grad(X), mode(False), (Y, "hd_view_n", [X, [1]]), (Y, "hd_zero_", [Y]),
       (Z, "hook", [Y, "nothing"]), (W, "hook", [Y, "nothing"])],
      what="hd_register_hook", kind="error", says="taken while grad mode was off",
      where=lambda e: e.env[e.args[0]][1]._backward_hooks is not None)
known("a product whose operand was changed in place, where PyTorch folds the batch into the rows",
      [leaf(X, [2]), grad(X), leaf(Y, [1, 2, 2, 2]), (Z, "hd_matmul", [X, Y]),
       (Y, "hd_add_scalar_", [Y, 1.0]), leaf(W, [1, 2, 2]), backward(Z, W)],
      kind="error",
      where=lambda e: re.search(
          r"(UnsafeView|Transpose|Squeeze|Clone)\w*: its saved tensor \d of \S.* was changed in place", e.text))


def an_alias_of_x(e):
    x, b = e.theirs[:2]
    if e.what == "hd_setitem_n":
        x = x[e.theirs[2]]
        b = b.expand_as(x)
    return e.kind == "no error" and "refer to a single memory location" in e.text and same_storage(x, b) and \
        x.shape == b.shape and moving(x.stride(), x.shape) == moving(b.stride(), b.shape)


known("x op= an alias of x with other strides of dims of size 1",
      [leaf(X, [1]), (Y, "hd_select", [X, 0, 0]), (Z, "hd_expand_n", [Y, [1]]), (X, "hd_mul_", [X, Z])],
      where=an_alias_of_x)
known("unbind of nothing, out of a view taken while grad mode was off",
      [leaf(X, [1, 1]), grad(X), mode(False), (Y, "hd_narrow", [X, 0, 0, 0]), (Y, "hd_zero_", [Y]),
       mode(True), (Z, "hd_unbind", [Y, 0])],
      what="hd_unbind", kind="no error", says="A view was created in no_grad mode",
      where=lambda e: e.theirs[0].shape[e.args[1]] == 0)


# ---- gradients and hooks

def a_gradient_of_a_graph(p):
    x, a = torch.ones(1, requires_grad=True), torch.ones(1, requires_grad=True)
    h, b = p.tensor(x, True), p.tensor(a, True)
    x.grad = a * 2.0
    p.hd.hd_set_grad(h, p.hd.hd_mul_scalar(b, scalar(2.0)))
    p.same("gradient that was set", p.hd.hd_grad(h), x.grad.detach())
    p.equal("requires_grad of a gradient", p.hd.hd_requires_grad(p.hd.hd_grad(h)), x.grad.requires_grad)


known("`x.grad = g` where g is part of a graph", a_gradient_of_a_graph,
      what="requires_grad of a gradient")
known("backward to a leaf that stopped requiring grad, and was then changed in place by a tensor that requires it",
      [leaf(X, [1]), grad(X), (Y, "hd_mul_scalar", [X, 2.0]), grad(X, False), (X, "hd_mul_", [X, Y]),
       backward(X)],
      kind="no error", says="leaf variable has been moved into the graph interior")

known("autograd.grad and tensors with retain_grad",
      [leaf(X, [1]), grad(X), (Y, "hd_mul_scalar", [X, 2.0]), (Y, "retain_grad", [Y]), leaf(Z, [1]),
       (W, "grad_of", [[Y], [Y, X], [Z], True, True]), backward(Y, Z)],
      where=lambda e: e.machine.plain and e.env[gradient_of(e)][1].retains_grad)
known("a hook on an output of split that nothing uses",
      [leaf(X, [2]), grad(X), (Y, "hd_mul_scalar", [X, 2.0]), (Z, "hd_chunk", [Y, 2, 0]),
       (W, "hook", [Var("z_0"), "nothing"]), leaf(V, [1]), backward(Var("z_1"), V)],
      kind="hooks", where=lambda e: e.machine.plain and e.word == "backward" and
          len(e.machine.logs[0]) < len(e.machine.logs[1]))
known("the gradient of h, which has a hook, by autograd.grad",
      [leaf(X, [1]), grad(X), (Y, "hd_mul_scalar", [X, 2.0]), (Z, "hook", [Y, "twice"]), leaf(W, [1]),
       (V, "grad_of", [[Y], [X, Y], [W], False, True])],
      where=lambda e: e.word == "grad_of" and e.kind in ("gradient value", "gradient strides") and
          among(e, gradient_of(e), [x for x, _ in e.machine.hooked]))
known("hooks by autograd.grad where no input is reached",
      [leaf(X, [1]), grad(X), (Y, "hook", [X, "nothing"]), leaf(Z, [1]), grad(Z), leaf(W, [1]),
       (V, "grad_of", [[X], [Z], [W], False, True])],
      kind="hooks", where=lambda e: e.word == "grad_of" and all(t is None for t in e.expected))


def the_order_of_hooks_of_leaves(e):
    mine, theirs = e.machine.logs
    leaves = {n for n, (x, _) in enumerate(e.machine.hooked) if surely_leaf(e.env[x][1])}
    return e.kind == "hooks" and sorted(mine) == sorted(theirs) and \
        [n for n in mine if n not in leaves] == [n for n in theirs if n not in leaves]


known("the order in which hooks of leaves run",
      [leaf(X, [1]), grad(X), leaf(Y, [1]), grad(Y), (Z, "hook", [Y, "nothing"]), (W, "hook", [X, "nothing"]),
       (V, "hd_mul", [X, Y]), leaf(U, [1]), backward(V, U)],
      where=the_order_of_hooks_of_leaves)


def an_op_whose_gradient_reaches_no_leaf(e):
    changed = "modified by an inplace operation" in e.text or "A view was created in no_grad mode" in e.text
    return e.word in ("backward", "grad_of") and e.machine.unrecorded and (
        e.kind == "no error" and (changed or "a second time" in e.text) or
        e.kind == "error" and "its graph was freed by an earlier backward" in e.text)


known("an op whose gradient reaches no leaf, as of a view taken while grad mode was off",
      [leaf(X, [1, 1]), grad(X), mode(False), (Y, "hd_transpose", [X, 0, 1]), mode(True),
       (Z, "hd_tanh", [Y]), (Z, "hd_mul_scalar_", [Z, 2.0]), leaf(W, [1, 1]), backward(Z, W)],
      where=an_op_whose_gradient_reaches_no_leaf)
known("a product with a view taken while grad mode was off, whose other operand was changed in place",
      [leaf(X, [1, 1]), grad(X), (Y, "hd_mul_scalar", [X, 2.0]), mode(False), (Z, "hd_transpose", [X, 0, 1]),
       mode(True), (W, "hd_mul", [Z, Y]), (Y, "hd_add_", [Y, W]), leaf(V, [1, 1]), backward(Y, V)],
      kind="error", where=lambda e: e.word in ("backward", "grad_of") and e.machine.unrecorded and
          "was changed in place" in e.text)


# ---- names and versions

known("attention of up to 64 keys, where plain ops are faster",
      [leaf(X, MANY), grad(X), (Y, "hd_scaled_dot_product_attention", [X, X, X, None, 0.0, False])],
      what=ATTENTION, kind="grad_fn", where=lambda e: e.theirs[1].shape[-2] <= 64 and
          e.text.endswith("heed UnsafeViewBackward0, PyTorch ScaledDotProductFlashAttentionForCpuBackward0"))
known("attention of a permuted q of up to 64 keys, where plain ops are faster",
      [leaf(X, MANY), (X, "hd_transpose", [X, 1, 2]),
       (Y, "hd_scaled_dot_product_attention", [X, X, X, None, 0.0, False])],
      what=ATTENTION, kind="strides", where=lambda e: e.theirs[1].shape[-2] <= 64 and
          row_major(e.strides, e.expected.shape) and not e.theirs[0].is_contiguous())
known("hd_setitem of a bool or int64 tensor with a value that requires grad",
      [leaf(X, [1], [1], I64), leaf(Y, []), grad(Y), (X, "hd_setitem_n", [X, Y, Index([values.ALL])])],
      what="hd_setitem_n", says="requires_grad: heed none, PyTorch True",
      where=lambda e: not e.theirs[0].dtype.is_floating_point)


def a_change_of_a_view(e, makers):
    name = e.kind in ("grad_fn", "other grad_fn") and e.text.endswith("PyTorch AsStridedBackward0")
    refused = e.kind == "no error" and "A view was created in no_grad mode" in e.text
    return (name or refused) and e.machine.made_by[storage(e.theirs[0])][0] in makers


known("a change in place of a product that is a view in PyTorch, as of (1, 1) and (1, 1, 1)",
      [leaf(X, [1, 1]), grad(X), leaf(Y, [1, 1, 1]), (Z, "hd_matmul", [X, Y]), (Z, "hd_mul_scalar_", [Z, 2.0])],
      where=lambda e: a_change_of_a_view(e, ("hd_matmul", *ATTENTION)))
known("x[i] = v of a 0-d v in the memory of x",
      [leaf(X, [1]), grad(X), (Y, "hd_mul_scalar", [X, 1.0]), (Z, "hd_select", [Y, 0, 0]),
       (Y, "hd_setitem_n", [Y, Z, Index([values.ALL])])],
      what="hd_setitem_n", where=lambda e: e.text.endswith("heed CopyBackwards, PyTorch FillBackward3") and
          same_storage(e.theirs[0], e.theirs[1]))
known("a change in place of the result of linear with a bias, of 1 or of 3 and more dims",
      [leaf(X, [2, 1, 1]), grad(X), leaf(Y, [1, 1]), leaf(Z, [1]), (W, "hd_linear", [X, Y, Z]),
       (W, "hd_add_scalar_", [W, 1.0])],
      where=lambda e: a_change_of_a_view(e, ("hd_linear",)))
known("hd_version_of a new tensor",
      [leaf(X, [1]), leaf(Y, [1, 1]), (Z, "hd_matmul", [X, Y])],
      kind="version", where=lambda e: e.machine.plain and e.text == "version: heed 0, PyTorch 1")


# ---- PyTorch's own faults

known("logsumexp over no dims", [leaf(X, [2, 2]), (Y, "hd_logsumexp_dims_n", [X, False, []])],
      what="hd_logsumexp_dims_n", kind="no error", where=lambda e: e.args[2] == [])
known("var and std over no dims (dim=[]): the gradient",
      [leaf(X, [2], [1.0, 2.0]), grad(X), (Y, "hd_var_dims_n", [X, 1, False, []]), backward(Y)],
      kind="gradient value", where=lambda e: e.machine.last[0] in ("hd_var_dims_n", "hd_std_dims_n") and
          e.machine.last[1][3] == [])
known("backward of scatter whose source is larger than the index",
      [leaf(X, [2]), leaf(Y, [1], [1], I64), leaf(Z, [2]), grad(Z), (W, "hd_scatter", [X, 0, Y, Z]),
       backward(W, X)],
      kind="no error", says="Function ScatterBackward0 returned an invalid gradient")
known("backward of nll_loss of a permuted x with 4 or more dims",
      [leaf(X, [2, 2, 2, 2]), grad(X), (Y, "hd_permute_n", [X, [3, 1, 0, 2]]), leaf(Z, [2, 2, 2], [1] * 8, I64),
       (W, "hd_nll_loss", [Y, Z]), backward(W)],
      kind="no error", says="grad_input must be contiguous")


def cross_entropy_of_one_row_and_a_target_of_one(e):
    x, target = (e.env[a][1] for a in e.machine.last[1][:2])
    return e.kind == "no error" and "size mismatch" in e.text and x.dim() == 1 and tuple(target.shape) == (1,)


known("cross_entropy of x (2,) and a target (1,)",
      [leaf(X, [2]), grad(X), leaf(Y, [1], [1], I64), (Z, "hd_cross_entropy", [X, Y]), backward(Z)],
      where=cross_entropy_of_one_row_and_a_target_of_one)
known("cross_entropy of x (1,) and a target (1,)",
      [leaf(X, [1]), leaf(Y, [1], [0], I64), (Z, "hd_cross_entropy", [X, Y])],
      kind="no error", says="class probabilities", where=lambda e: e.theirs[0].shape == e.theirs[1].shape)
known("the order of equal values in topk", [leaf(X, [40]), (Y, "hd_topk", [X, 5, 0, True])],
      what="hd_topk", kind="value")


def a_product_without_bounds(e):
    """Of infinities or NaN, or of numbers whose parts overflow"""
    name, args = e.machine.last
    x = e.env[args[0]][1].detach()
    return name in ("hd_prod", "hd_prod_dim") and e.kind in ("value", "gradient value") and \
        not x[x != 0].abs().clamp(min=1).prod().isfinite()


known("the product of many numbers whose parts overflow, as prod of 1e30, 1e30, 0.",
      [leaf(X, [3], [1e30, 1e30, 0.0]), (Y, "hd_prod", [X])], kind="value", where=a_product_without_bounds)


def a_product_whose_parts_underflow(e):
    """Is the product of the elements below 1, without zeros, no normal number?"""
    x = e.theirs[0].detach().abs()
    small = e.machine.rows[e.what].torch(torch.where(x == 0, 1, x).clamp(max=1), *e.theirs[1:])
    return bool(small[place(e)] < torch.finfo(x.dtype).smallest_normal)


known("the product of many numbers whose parts are below 1e-38, as prod of 1e-30, 1e-30, 1e30",
      [leaf(X, [3], [1e-30, 1e-30, 1e30]), (Y, "hd_prod", [X])],
      what=("hd_prod", "hd_prod_dim"), kind="value", where=a_product_whose_parts_underflow)
known("the gradient of prod beside NaN, infinities or an overflow",
      [leaf(X, [2], [2.0, float("nan")]), grad(X), (Y, "hd_prod", [X]), backward(Y)], kind="gradient value",
      where=a_product_without_bounds)
known("kl_div whose target requires grad: its gradient where the target is 0",
      [leaf(X, [2]), leaf(Y, [2], [0.0, 1.0]), grad(Y), (Z, "hd_kl_div", [X, Y]), backward(Z)],
      kind="gradient value", where=lambda e: e.machine.last[0] in ("hd_kl_div", "hd_kl_div_with") and
          (e.env[e.machine.last[1][1]][1] == 0).any() and "PyTorch nan" in e.text)
known("gelu(inf) in float32", [leaf(X, [16], [INF] * 16), (Y, "hd_gelu", [X])],
      what="hd_gelu", kind="value", cpu="AVX512", where=lambda e: e.text.endswith("heed inf, PyTorch nan") and
          e.theirs[0].dtype == F32)
known("gelu of float32 above 1.7e38", [leaf(X, [16], [3e38] * 16), (Y, "hd_gelu", [X])],
      what="hd_gelu", kind="value", where=lambda e: e.text.endswith("PyTorch inf") and
          bool((e.theirs[0] > 1.7e38).any()), everywhere=False)
known("the gradient of gelu_tanh of float32 beyond 1e19",
      [leaf(X, [1], [1e20]), grad(X), (Y, "hd_gelu_tanh", [X]), backward(Y)], kind="gradient value",
      says="PyTorch nan", where=lambda e: e.machine.last[0] == "hd_gelu_tanh" and
          bool((e.env[e.machine.last[1][0]][1].abs() > 1e19).any()))
known("gelu of float32 far below 0, as gelu(-3.)", [leaf(X, [16], [-103.9] * 16), (Y, "hd_gelu", [X])],
      what="hd_gelu", kind="value", cpu="AVX2", where=lambda e: e.theirs[0].dtype == F32 and
          e.text.endswith("heed -0.0 (-0x0.0p+0), PyTorch 0.0 (0x0.0p+0)"))


def an_operand_that_is_overwritten(e):
    x, b = e.theirs[:2]
    return e.kind == "value" and e.machine.rows[e.what].inplace and same_storage(x, b) and \
        (x.shape, x.stride(), x.storage_offset()) != (b.shape, b.stride(), b.storage_offset())


known("an operand that lies partly in the memory of x in x op= operand",
      [leaf(X, [2, 1, 2], None, F64), (Y, "hd_narrow", [X, 2, 0, 1]), (X, "hd_add_", [X, Y])],
      where=an_operand_that_is_overwritten)


def transposed(p):
    x = torch.zeros(5, 3, 3)
    h = p.hd.hd_transpose(p.tensor(x), 0, 1)
    p.agree("orthogonal_", lambda: p.hd.hd_init_orthogonal_(h, 1.0),
            lambda: torch.nn.init.orthogonal_(x.transpose(0, 1), 1.0))


known("orthogonal_ of a transposed tensor of 3 or more dims", transposed,
      what="orthogonal_", kind="no error", says="view size is not compatible")


# ---- values, order and sign

def rounds(s):
    """True if the number is not a float32."""
    return torch.tensor(s, dtype=F32).double().item() != s


def an_exponent_that_is_rounded(e):
    name, (x, s) = e.machine.last
    return name == "hd_pow_scalar" and e.kind in ("value", "gradient value") and \
        e.env[x][1].dtype != F64 and (rounds(s) or rounds(s - 1))


known("pow of float32 by a number that is no float32",
      [leaf(X, [1], [1e10]), (Y, "hd_pow_scalar", [X, 3.331])],
      where=an_exponent_that_is_rounded)
known("maximum and minimum of 0. and -0.",
      [leaf(X, [1], [-0.0]), leaf(Y, [1], [0.0]), (Z, "hd_maximum", [X, Y])],
      what=("hd_maximum", "hd_minimum"), kind="value", where=of_zeros)
known("the sign of a zero of a batched product of one step, (3, 1) @ (2, 1, 4)",
      [leaf(X, [3, 1], [0.0] * 3), leaf(Y, [2, 1, 4], [-1.0] * 8), (Z, "hd_matmul", [X, Y])],
      what=("hd_matmul", "hd_linear"), kind="value", where=lambda e: of_zeros(e) and e.theirs[0].dim() > 0 and
          e.theirs[0].shape[-1] == 1)
known("linear with a bias of -0. where every product is -0.",
      [leaf(X, [1, 1, 0], []), leaf(Y, [2, 0], []), leaf(Z, [2, 2], [-0.0] * 4), (W, "hd_select", [Z, 1, 0]),
       (V, "hd_linear", [X, Y, W])],
      what="hd_linear", kind="value", where=lambda e: of_zeros(e) and e.theirs[0].shape[-1] == 0 and
          e.theirs[0].dim() != 2 and not e.theirs[2].is_contiguous())


def negative_zeros(t):
    return bool(((t == 0) & t.signbit()).all())


def a_bias_and_products_of_negative_zeros(e):
    x, weight, bias = (t.detach() for t in e.theirs)
    *row, out = place(e)
    return x.shape[-1] > 1 and negative_zeros(bias[out]) and negative_zeros(x[tuple(row)] * weight[out])


known("linear with a bias of -0. where every product is -0.",
      [leaf(X, [1, 2], [0.0] * 2), leaf(Y, [1, 2], [-1.0] * 2), leaf(Z, [1], [-0.0]), (W, "hd_linear", [X, Y, Z])],
      what="hd_linear", kind="value", says="heed 0.0 (", where=a_bias_and_products_of_negative_zeros,
      everywhere=False)


def subnormal(e):
    """Where the sums of the sizes of the products are not 0, and less than any normal number. The first two
    operands are taken times 2^500, so that float64 holds the products."""
    a, b = (x.detach().double().abs() * 2.0 ** 500 for x in e.theirs[:2])
    if e.what == "hd_bilinear":
        sums = torch.nn.functional.bilinear(a, b, e.theirs[2].detach().double().abs())
    else:
        sums = a @ (b.mT if e.what == "hd_linear" else b)
    return (sums > 0) & (sums < 2.0 ** (1000 - (1022 if e.theirs[0].dtype == F64 else 126)))


known("the sign of a zero that is a sum of products below 1e-38, as 1e-40 times -1e-8",
      [leaf(X, [5, 2], [0.0] * 9 + [-1e-40]), leaf(Y, [2, 2], [1e-40, 0.0, 1e-8, 1.0]),
       (Z, "hd_matmul", [X, Y])],
      what=("hd_dot", "hd_matmul", "hd_linear", "hd_bilinear"), kind="value",
      where=lambda e: of_zeros(e) and subnormal(e)[place(e)].item(), everywhere=False)


def an_infinity_times_a_sum_that_cancels(e):
    """Does a sum of x1 weight, which an infinity of x2 multiplies, lie within its rounding of 0?"""
    *row, out = place(e)
    x, y = (t[tuple(row)].detach().double() for t in e.theirs[:2])
    weight = e.theirs[2][out].detach().double()
    room = e.machine.rows[e.what].tolerance * UNIT[e.expected.dtype] * (x.abs() @ weight.abs())
    return bool(((room > 0) & ((x @ weight).abs() <= room) & y.isinf()).any())


known("bilinear where an infinity of x2 multiplies a sum that cancels",
      [leaf(X, [1, 2], [0.1] * 2), leaf(Y, [1, 1], [INF]), leaf(Z, [1, 2, 1], [3.0, -3.0]),
       (W, "hd_bilinear", [X, Y, Z, None])],
      what="hd_bilinear", kind="value", where=an_infinity_times_a_sum_that_cancels, everywhere=False)
known("the sign of a zero of attention",
      [leaf(X, [2, 1]), leaf(Y, [1, 1]), leaf(Z, [1, 2], [-1.0, 1.0]), leaf(M, [2, 1], [False, True], BOOL),
       (W, "hd_scaled_dot_product_attention", [X, Y, Z, M, 0.0, False])],
      what=ATTENTION, kind="value", where=of_zeros)
known("the gradient of var, with correction 1, of a single NaN",
      [leaf(X, [1], [float("nan")]), grad(X), (Y, "hd_var", [X, 1]), backward(Y)],
      kind="gradient value", where=lambda e: e.machine.last[0].startswith("hd_var") and
          e.text.endswith(("heed nan, PyTorch inf", "heed nan, PyTorch -inf")))


def a_gradient_whose_parts_overflow(e):
    """Of an expanded x: is the sum of the sizes of its gradient's parts too large for a number?"""
    name, args = e.machine.last
    x, *others = (e.env[a][1] if isinstance(a, Var) else a for a in args)
    wide = x.detach().double().requires_grad_()
    parts, = torch.autograd.grad(e.machine.rows[name].torch(wide, *others), wide, e.theirs[1].double())
    shared = [d for d, s in enumerate(x.stride()) if s == 0 and x.shape[d] > 1]
    sizes = parts.abs().nan_to_num(0, 0, 0).sum(shared)
    return shared and (sizes > torch.finfo(x.dtype).max).any() and re.search("inf|nan", e.text)


known("the gradient of an expanded tensor whose parts overflow",
      [leaf(X, [1], [88.0]), grad(X), (Y, "hd_expand_n", [X, [8]]), (Z, "hd_exp", [Y]),
       leaf(W, [8], [0.0, 0.0, 1.0, 1.0, 1.0, -1.0, -1.0, -1.0]), backward(Z, W)],
      kind="gradient value", everywhere=False, where=a_gradient_whose_parts_overflow)
known("the gradient of elu at a NaN",
      [leaf(X, [1], [float("nan")]), grad(X), (Y, "hd_elu", [X, 1.0]), backward(Y)],
      kind="gradient value", says="heed nan, PyTorch", where=lambda e: e.machine.last[0] == "hd_elu")
known("bilinear of inputs without elements in a row",
      [leaf(X, [2, 0]), leaf(Y, [2, 3]), leaf(Z, [1, 0, 3]), (W, "hd_bilinear", [X, Y, Z, None])],
      what="hd_bilinear", kind="no error", says="cannot reshape tensor of 0 elements")
known("the gradient of hardtanh at a NaN",
      [leaf(X, [1], [float("nan")]), grad(X), (Y, "hd_hardtanh", [X, -1.0, 1.0]), backward(Y)],
      kind="gradient value", says="heed 0.0 (", where=lambda e: e.machine.last[0] == "hd_hardtanh")
known("var, layer_norm and losses of rows of equal numbers",
      [leaf(X, [1], [1e10]), (Y, "hd_expand_n", [X, [17]]), (Z, "hd_var", [Y, 0])],
      kind="value", says="heed 0.0 (", where=lambda e: e.what.startswith(("hd_var", "hd_std")) and
          bool((e.theirs[0] == e.theirs[0].flatten()[0]).all()))


def a_std_of_equal_numbers(e):
    name, args = e.machine.last
    x = e.env[args[0]][1].detach()
    y = e.machine.rows[name].torch(x, *args[1:])
    return name.startswith("hd_std") and bool((y <= 1e-6 * x.abs().max()).any())


known("the gradient of std of equal numbers",
      [leaf(X, [1], [1.2079490513436704], F64), grad(X), (Y, "hd_expand_n", [X, [53]]), (Z, "hd_std", [Y, 0]),
       backward(Z)], kind="gradient value", where=a_std_of_equal_numbers)
known("the gradient of layer_norm of infinities",
      [leaf(X, [9], [float(k) for k in range(9)], F64), grad(X), leaf(Y, [9], [INF] + [1.0] * 8, F64),
       (Z, "hd_layer_norm_n", [X, [9], Y, None, 1e-5]), leaf(W, [9], None, F64), backward(Z, W)],
      kind="gradient value", where=lambda e: e.machine.last[0] == "hd_layer_norm_n" and has_infinity(e) and
          re.search(r"heed (-?inf|nan), PyTorch nan|heed nan, PyTorch", e.text))
known("roll of an empty tensor along a dim that it lacks",
      [leaf(X, [2, 0], []), (Y, "hd_roll", [X, 1, 2])],
      what="hd_roll", kind="error", says="expected -", where=lambda e: e.theirs[0].numel() == 0)


# ---- strides

known("an empty result of two operands, or of an op that is not a copy",
      [leaf(X, [2, 0, 1], []), (Y, "hd_mul_scalar", [X, 2])],
      kind="strides", where=lambda e: e.expected.numel() == 0 and e.what not in COPIES)
known("a gradient that is equal along a dim",
      [leaf(X, [2, 2]), grad(X), (Y, "hd_mul_scalar", [X, 1.0]), (Z, "hd_mean_dim", [Y, 1, False]),
       leaf(W, [2], [1.0, 2.0]), (V, "grad_of", [[Z], [Y], [W], False, True])],
      kind="gradient strides", where=lambda e: any(s == 0 and n > 1 for s, n in zip(e.strides, e.expected.shape)))
known("the order of a gradient's dims in memory",
      [leaf(X, [2, 2]), grad(X), (Y, "hd_t", [X]), (Z, "hd_relu", [Y]), leaf(W, [2, 2]),
       (V, "grad_of", [[Z], [X], [W], False, True])],
      kind="gradient strides",
      where=lambda e: moving(e.strides, e.expected.shape) != moving(e.expected.stride(), e.expected.shape) and
          without_gaps(e.strides, e.expected.shape) and without_gaps(e.expected.stride(), e.expected.shape))
known("attention of a permuted q that PyTorch's fused kernel does not take (3 dims, dropout, v of another "
      "width than k, k or v not dense in its last dim)",
      [leaf(X, [3, 2, 4]), (Y, "hd_transpose", [X, 0, 1]), leaf(Z, [2, 5, 4]),
       (W, "hd_scaled_dot_product_attention", [Y, Z, Z, None, 0.0, False])],
      what=ATTENTION, kind="strides", where=lambda e: e.expected.is_contiguous() and
          not e.theirs[0].is_contiguous())


# ---- what the sections leave out, so that their cases go on

known("hd_t of a tensor with more than 2 dims", [leaf(X, [1, 1, 1]), (Y, "hd_t", [X])],
      what="hd_t", kind="error")
known("attention with a mask of fewer than 2 dims",
      [leaf(X, [1, 2, 1]), leaf(M, [2]), (Y, "hd_scaled_dot_product_attention", [X, X, X, M, 0.0, False])],
      what=ATTENTION, kind="error", says="expected 2 dims or more")
known("randint of bool", [(X, "hd_randint_n", [BOOL, 0, 2, [1]])],
      what="hd_randint_n", kind="error", where=lambda e: e.args[0] == BOOL)
known("linspace of bool", [(X, "hd_linspace", [BOOL, 0.0, 1.0, 1])],
      what="hd_linspace", kind="error", where=lambda e: e.args[0] == BOOL)
known("attention whose q, k, mask or result was changed in place, where PyTorch computes plain ops",
      [leaf(X, [1, 1]), grad(X), (Y, "hd_scaled_dot_product_attention", [X, X, X, None, 0.0, False]),
       (Y, "hd_mul_scalar_", [Y, 2.0]), leaf(Z, [1, 1]), backward(Y, Z)],
      kind="error", where=lambda e: re.search(
          r"(UnsafeView|Mm)Backward0: its saved tensor [0136] of \S.* was changed", e.text))
known("cross_entropy after x was changed in place",
      [leaf(X, [1, 2]), grad(X), (Y, "hd_mul_scalar", [X, 2.0]), leaf(Z, [1], [0], I64),
       (W, "hd_cross_entropy", [Y, Z]), (Y, "hd_mul_scalar_", [Y, 2.0]), backward(W)],
      kind="error", says="NllLossBackward0: its saved tensor")
known("arange of int64 numbers that lie more than 2^63 apart",
      [(X, "hd_arange", [-(1 << 62) - 5, 1 << 62, 1 << 61])],
      what="hd_arange")
known("cat, stack and roll of tensors in channels-last order",
      [leaf(X, [2, 2, 2, 2]), (Y, "hd_permute_n", [X, [0, 3, 1, 2]]), (Z, "hd_cat_n", [[Y, Y], 0])],
      what=("hd_cat_n", "hd_cat_list", "hd_stack_n", "hd_stack_list", "hd_roll"), kind="strides",
      where=lambda e: row_major(e.strides, e.expected.shape))
known("sums of broadcast operands of which each order of dims is possible",
      [leaf(X, [2, 1, 2, 2]), (Y, "hd_permute_n", [X, [0, 3, 1, 2]]), (Z, "hd_rms_norm", [Y, None, 1e-6])],
      what=("hd_rms_norm", "hd_rotary"), kind="strides", where=lambda e: row_major(e.strides, e.expected.shape))
known("attention with enable_gqa, which heed computes on views",
      [leaf(X, [1, 2, 1, 1]), grad(X), leaf(Y, [1, 1, 1, 1]),
       (Z, "hd_scaled_dot_product_attention_with", [X, Y, Y, {"enable_gqa": True, "is_causal": False}])],
      what="hd_scaled_dot_product_attention_with", kind="grad_fn", where=lambda e: e.args[3].get("enable_gqa"))
known("attention with enable_gqa whose k and v have different numbers of heads",
      [leaf(X, [1, 2, 1, 1]), leaf(Y, [1, 1, 1, 1]),
       (Z, "hd_scaled_dot_product_attention_with", [X, X, Y, {"enable_gqa": True, "is_causal": False}])],
      what="hd_scaled_dot_product_attention_with", kind="error", says="as many heads in v as in k")


# ---- optimizers and schedules: the section train leaves these out

def optimizers(p, name, fields, n=1):
    """An optimizer of n parameters on both sides, and the parameters as [(heed's, PyTorch's)]."""
    p.dtype = F32
    made = train.parameters(p, n)
    o = p.owned(train.new_optim(p, name, fields, made), "hd_optim_free")
    return o, train.new_torch(name, [t for _, t in made], fields), made


def no_steps(p):
    o, optim, _ = optimizers(p, "sgd", {"lr": 0.1})
    p.owned(p.hd.hd_constant_lr_new(o, 0.5, 0), "hd_schedule_free")
    torch.optim.lr_scheduler.ConstantLR(optim, 0.5, 0)
    p.near("the lr of a schedule of no steps", p.hd.hd_optim_lr(o), optim.param_groups[0]["lr"], 1e-14)


known("constant_lr with total_iters 0", no_steps,
      what="the lr of a schedule of no steps")


def base_of_a_second(p):
    o, optim, _ = optimizers(p, "sgd", {"lr": 0.1})
    halves = p.owned(p.hd.hd_step_lr_new(o, 1, 0.5), "hd_schedule_free")
    theirs = torch.optim.lr_scheduler.StepLR(optim, 1, 0.5)
    p.hd.hd_schedule_step(halves)
    theirs.step()
    options = p.hd.options("hd_cosine_annealing_options", {"T_max": 1})
    rises = p.owned(p.hd.hd_cosine_annealing_new(o, ctypes.addressof(options)), "hd_schedule_free")
    theirs = torch.optim.lr_scheduler.CosineAnnealingLR(optim, 1)
    for _ in range(2):
        p.hd.hd_schedule_step(rises)
        theirs.step()
    p.near("the lr of a rise", p.hd.hd_optim_lr(o), optim.param_groups[0]["lr"], 1e-14)


known("base of a second schedule of an optimizer", base_of_a_second,
      what="the lr of a rise")


def no_gradient(p):
    o, optim, _ = optimizers(p, "adagrad", {"lr": 0.1})
    d = p.dict()
    p.equal("hd_optim_save", p.hd.hd_optim_save(o, d, b""), True)
    mine = sum(n.startswith("state.") for n, _, _ in p.entries(d))
    p.equal("the state before the first gradient", mine, len(optim.state_dict()["state"][0]))


known("Adagrad's saved state before a parameter's first gradient", no_gradient,
      what="the state before the first gradient")


def second_group(name, first, second):
    """A step of a group with other options than the first."""
    def case(p):
        o, optim, _ = optimizers(p, name, first)
        (h, t), = train.parameters(p, 1)
        struct = p.hd.options("hd_%s_options" % name, second)
        p.agree("another group of " + name, lambda: p.hd.hd_optim_add_group(
            o, p.list([h]), ctypes.addressof(struct)), lambda: optim.add_param_group(dict(second, params=[t])))
        t.grad = torch.ones_like(t)
        p.hd.hd_set_grad(h, p.tensor(t.grad))
        p.hd.hd_optim_step(o)
        optim.step()
        p.same("another group of " + name, h, t, train.STEP, 1.0)
    return case


known("Adagrad's second group with another initial_accumulator_value",
      second_group("adagrad", {"lr": 0.1}, {"lr": 0.1, "initial_accumulator_value": 0.5}),
      what="another group of adagrad", kind="value")
known("the second group of an optimizer with nesterov and no momentum",
      second_group("sgd", {"lr": 0.1}, {"lr": 0.1, "momentum": 0.0, "dampening": 0.0, "nesterov": True}),
      what="another group of sgd", kind="error")


def nothing_to_clip(p):
    _, _, made = optimizers(p, "sgd", {"lr": 0.1})
    p.agree("clipping no gradient", lambda: p.hd.hd_clip_grad_value_(p.list([h for h, _ in made]), 1.0),
            lambda: torch.nn.utils.clip_grad_value_([t for _, t in made], 1.0, foreach=False))


known("clip_grad_value_ of parameters that have no gradient", nothing_to_clip,
      what="clipping no gradient", kind="no error")
