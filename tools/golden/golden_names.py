"""Makes names.txt: the name of a result's node and the result's memory layout, for operands that are permuted, sliced,
expanded, empty or of several dtypes.
"""
import warnings

import torch
import torch.nn.functional as F

from golden_format import DTYPES, plain
from golden_functions import ALL, set_item
from golden_layout import strides


def operand(fields, name):
    """Ones of the sizes `memory`, then permuted, sliced and expanded, each if it is given."""
    given = {field: plain(fields[f"{name}.{field}"])
             for field in ("memory", "dtype", "grad", "permute", "slice", "expand") if f"{name}.{field}" in fields}
    x = torch.ones(given["memory"], dtype=DTYPES[given["dtype"]], requires_grad=bool(given["grad"]))
    if "permute" in given:
        x = x.permute(given["permute"])
    if "slice" in given:
        x = torch.ops.aten.slice(x, *given["slice"])
    return x.expand(given["expand"]) if "expand" in given else x


def subscript(index):
    """As Python writes it: x[:] is not x[(slice(None),)]."""
    parts = tuple(slice(None) if i == ALL else i for i in index)
    return parts[0] if len(parts) == 1 else parts


def change_product(a, b):
    """A product that a view of it changed."""
    y = a @ b
    y.view(-1).mul_(2)
    return y


OPS = {
    "getitem": lambda a, index: a[subscript(index)],
    "setitem": lambda a, v, index: set_item(a.clone(), v, subscript(index)),
    "setitem_scalar": lambda a, index: set_item(a.clone(), 0.25, subscript(index)),
    "fill_": lambda a: a.clone().fill_(0.25),
    "zero_": lambda a: a.clone().zero_(),
    "linear": F.linear,
    "attention": F.scaled_dot_product_attention,
    "mse_loss_none": lambda a, b: F.mse_loss(a, b, reduction="none"),
    "add": torch.add,
    "div": torch.div,
    "mul": torch.mul,
    "gt": torch.gt,
    "maximum": torch.maximum,
    "logical_xor": torch.logical_xor,
    "where": torch.where,
    "clone": torch.clone,
    "double": torch.Tensor.double,
    "rand_like": lambda a: torch.rand_like(a, dtype=torch.float32),
    "change_product": change_product,
}


def write(w):
    warnings.simplefilter("ignore")     # mse_loss warns of shapes that differ
    for fields in w.again(r"name|out\.strides"):
        operands = [operand(fields, f"in{k}") for k in range(4) if f"in{k}.memory" in fields]
        more = {"index": plain(fields["index"])} if "index" in fields else {}
        y = OPS[fields["op"]](*operands, **more)
        w.text("name", type(y.grad_fn).__name__ if y.grad_fn is not None else "")
        strides(w, "out", y)
