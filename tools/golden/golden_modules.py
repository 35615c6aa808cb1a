"""Makes modules.txt: the draws of constructors, the printed modules, state_dict keys, grad_fn names."""
import math
import os
import re
import sys

import torch
import torch.nn.functional as F  # noqa: F401 (for the expressions of the file)
from torch import nn

import golden_attention
from golden_attention import MultiHeadAttention
from golden_format import plain
from golden_rng import next_draw

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from functions import modules  # noqa: E402

RESULTS = r"init/.*|next|print|keys|name|in\d|out"
MODELS = {text: (row, given) for row in modules.ROWS for text, given in row.models.items()}
NOTEBOOK = [
    [0.43, 0.15, 0.89],
    [0.55, 0.87, 0.66],
    [0.57, 0.85, 0.64],
    [0.22, 0.58, 0.33],
    [0.77, 0.25, 0.10],
    [0.05, 0.80, 0.55],
]


class Block(nn.Module):
    """modules in modules, for print and for keys"""

    def __init__(self):
        super().__init__()
        self.norm1 = nn.LayerNorm(4)
        self.attention = MultiHeadAttention(4, 4, 6, 0.1, 2)
        self.norm2 = nn.LayerNorm(4)
        self.layers = nn.Sequential(nn.Linear(4, 16), nn.GELU(), nn.Linear(16, 4), nn.Dropout(0.1))


class Empty(nn.Module):
    pass


def setitem(t, index, value):
    t[index] = value
    return t


def variables():
    def leaf(*sizes):
        return (torch.arange(torch.Size(sizes).numel()) + 1.0).reshape(sizes).requires_grad_()

    inputs = torch.tensor(NOTEBOOK)
    found = dict(a=leaf(3, 4), b=leaf(4, 2), x=leaf(2, 5, 4), h=leaf(2, 2, 5, 3))
    found.update(v3=leaf(3), v4=leaf(4), v5=leaf(5), w=leaf(2, 4), w2=leaf(2, 3), bias=leaf(2))
    found.update(i=torch.tensor([0, 1]), i3=torch.tensor([0, 1, 2]))
    found.update(i25=torch.zeros(2, 4, dtype=torch.int64))
    found.update(inputs=inputs, batch=torch.stack((inputs, inputs)))
    return found


def drawn(w, fields):
    seed, name = plain(fields["seed"]), fields["class"]
    args = {field: plain(x) for field, x in fields.items() if not re.fullmatch(RESULTS + "|seed|class", field)}
    torch.manual_seed(seed)
    for key, t in getattr(nn, name)(**args).state_dict().items():
        w.stream("init/" + key, t)
    next_draw(w)


def of_row(w, m, row, given):
    """The draws of a row's model since seed 0, and its result."""
    for key, t in m.state_dict().items():
        w.stream("init/" + key, t)
    next_draw(w)
    if row.inputs:
        inputs = [(torch.arange(2.0 * math.prod(s)) - math.prod(s) + 0.25).reshape(2, *s) / 4
                  for s in row.inputs(*modules.values(given))]
        for i, x in enumerate(inputs):
            w.tensor(f"in{i}", x)
        w.tensor("out", m.eval()(*(x.clone() for x in inputs)))


def model(w, m, text):
    w.text("print", str(m))
    w.text("keys", "\n".join(m.state_dict()))
    if text in MODELS:
        of_row(w, m, *MODELS[text])


def write(w):
    scope, found = {**vars(golden_attention), **globals(), **variables()}, set()
    for fields in w.again(RESULTS):
        if "seed" in fields:
            drawn(w, fields)
            continue
        torch.manual_seed(0)
        value = eval(fields["python"], scope)
        found.add(fields["python"])
        if isinstance(value, nn.Module):
            model(w, value, fields["python"])
        else:
            w.text("name", value.grad_fn.name().rsplit("::", 1)[-1] if value.grad_fn else "")
    for text in [text for text in MODELS if text not in found]:
        w.case(f"row_{len(w.names)}")
        w.text("python", text)
        torch.manual_seed(0)
        model(w, eval(text, scope), text)
