"""Makes repr.txt: the text of printed tensors. A case is a tensor, the options, flags and the text."""
import math

import torch

from golden_format import DTYPES, plain
from golden_rng import apply_view

OPTIONS = ("precision", "threshold", "edgeitems", "linewidth", "sci_mode")
ROW = torch.tensor([1.5, 2.0])
MATRIX = torch.tensor([[1, 2], [3, 4]])
# What is no single tensor: the field `what` says how it is made.
OTHERS = {
    "list_of_rows": [ROW.sum(), ROW], "list_2d": [MATRIX, MATRIX], "list_empty": [],
    "list_iterated_grad": list(torch.tensor([[1.0, 2.0], [3.0, 4.5]], requires_grad=True)),
    "size_0": torch.Size([]), "size_1": torch.Size([3]), "size_3": torch.Size([2, 6, 3]),
    "size_zero": torch.Size([0, 1]),
}


def tensor(fields):
    if "values" in fields:
        return fields["values"]
    sizes, (start, step) = plain(fields["sizes"]), plain(fields["ramp"])
    n = torch.arange(math.prod(sizes), dtype=torch.float64)
    return (start + step * n).to(DTYPES[fields["dtype"]]).reshape(sizes)


def flagged(t, flags):
    if flags == "parameter":
        return torch.nn.Parameter(t, requires_grad=t.is_floating_point())
    if flags == "parameter no grad":
        return torch.nn.Parameter(t, requires_grad=False)
    t = t.clone().requires_grad_(bool(flags))
    return t * 1 if flags == "mul1" else t


def shown(case, fields):
    if "what" in fields:
        return repr(OTHERS[case])
    if "value" in fields:
        return repr(plain(fields["value"]))
    t = flagged(apply_view(tensor(fields), fields.get("view", "")), fields.get("flags"))
    torch.set_printoptions(profile=fields.get("profile", "default"), sci_mode=None)
    torch.set_printoptions(**{name: plain(fields[name]) for name in OPTIONS if name in fields})
    text = repr(t)
    torch.set_printoptions(profile="default", sci_mode=None)
    return text


def write(w):
    for fields in w.again("repr"):
        w.text("repr", shown(w.prefix, fields))
