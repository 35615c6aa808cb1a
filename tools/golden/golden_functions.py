"""The operations of ops.txt, grads.txt, signs.txt and functions.txt: names and arguments are heed's without hd_, and
the table of functions gives each in PyTorch.
"""
import os
import sys

import torch
import torch.nn.functional as F

from golden_format import DTYPES

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from functions import calls, table  # noqa: E402

ALL = -(2**63)      # HD_ALL: `:` as an index
REDUCTIONS = ("mean", "sum", "none")
REFUSALS = (RuntimeError, IndexError, ValueError, TypeError, NotImplementedError)


def set_item(x, value, index):
    x[index] = value
    return x


def sliced(x, dim, start, stop, step=1):
    index = [slice(None)] * x.dim()
    index[dim] = slice(start, stop, step)
    return x[tuple(index)]


def topk_in_order(x, k, dim, largest):
    """torch.topk, of equal values the one with the lower index first (docs/differences.md)"""
    values, indices = x.topk(k, dim, bool(largest))
    if x.dim():
        values, indices = (t.narrow(dim, 0, k) for t in x.sort(dim=dim, descending=bool(largest), stable=True))
    return values, indices


# The options of a loss are not among its parameters, and a slice of Python tells what is wrong in other words.
OWN = {
    "slice": sliced, "slice_step": sliced, "topk": topk_in_order,
    "mse_loss": lambda x, target, reduction=0: F.mse_loss(x, target, reduction=REDUCTIONS[reduction]),
    "cross_entropy": lambda x, target, ignore_index=-100, reduction=0: F.cross_entropy(
        x, target, ignore_index=ignore_index, reduction=REDUCTIONS[reduction]),
}
ROWS = {row.short: row for row in table.read().values() if row.python}
PARAMETERS = calls.Functions().parameters


def argument(parameter, ins, s, args):
    """The argument that PyTorch gets for a parameter: by its name, or the next tensor or number, or its default."""
    name, kind = parameter.name, parameter.kind
    if kind == "tensors":
        return [ins.pop(0) for _ in list(ins)]
    if kind == "tensor":
        return ins.pop(0) if ins else None
    if kind == "dtype":
        return DTYPES[args["dtype"]]
    name = "sizes" if kind == "ints" and name not in args else name
    value = args[name] if name in args else s.pop(0) if s else -2**63 if name == "padding_idx" else 0
    if parameter.c_type == "bool":
        return bool(value)
    if name == "index" and kind == "ints":
        return tuple(slice(None) if i == ALL else i for i in value)
    return value


def call(op, *ins, s=(), **args):
    """The operation in PyTorch. One in place gets a copy."""
    if op in OWN:
        return OWN[op](*ins, *s, **args)
    row = ROWS[op + "_as" if op == "arange" and "dtype" in args else op]
    ins, s = list(ins), list(s)
    if row.inplace:
        ins[0] = ins[0].clone()
    given = [argument(p, ins, s, args) for p in PARAMETERS[row.name] if p.kind != "out"]
    names = [f"_{i}" for i in range(len(given))]
    result = eval(row.python.format(*names), {"torch": torch, "F": F, "set_item": set_item},
                  dict(zip(names, given)))
    return torch.tensor(result) if isinstance(result, bool) else result


def answer(w, op, ins, s, args, gy=None, constant=()):
    """Writes what PyTorch gives: the results, or the error. With gy, the gradient of the first result, the
    gradients of the inputs follow."""
    leaves = [x.detach().clone() for x in ins]
    for k, x in enumerate(leaves):
        x.requires_grad_(gy is not None and x.is_floating_point() and k not in constant)
    try:
        result = call(op, *leaves, s=s, **args)
    except REFUSALS as e:
        w.text("error", str(e).split("\n")[0].strip())
        return
    outs = result if isinstance(result, (list, tuple)) else [result]
    if gy is None:
        for k, out in enumerate(outs):
            w.tensor("out" if outs is not result else f"out{k}", out)
        return
    outs[0].backward(gy)
    w.tensor("out", outs[0])
    w.tensor("gy", gy)
    for k, x in enumerate(leaves):
        if x.requires_grad:
            w.tensor(f"grad{k}", x.grad)
