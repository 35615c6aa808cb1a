"""Makes functions.txt: the cases that rows of the table of functions list, with gradients. A tuple is the numbers of
an elementwise function, which is called with special values; a dict has the arguments by name, and may have the
`shapes` of the inputs.
"""
import collections
import math

import torch

from golden_format import DTYPES
from golden_functions import REFUSALS, ROWS, answer, call

INF, NAN = math.inf, math.nan
# PyTorch's vectors have 32 of these in one turn, and what is left over may be computed in another way.
SPECIAL = [NAN, INF, -INF, 0.0, -0.0, 0.5, 1.0, -1.5, 20.0, -20.0, 100.0, -100.0, 1e-40, -1e-30, -1e-5, -0.25]
SPECIAL += [-x for x in SPECIAL]


def tensor(values, dtype="f32"):
    return torch.tensor(values, dtype=DTYPES[dtype])


def ramp(sizes, start=1.0, step=0.5):
    n = torch.arange(math.prod(sizes), dtype=torch.float64)
    return (start + step * n).float().reshape(sizes)


class Cases:
    def __init__(self, writer):
        self.w, self.counts = writer, collections.Counter()

    def add(self, op, *ins, s=(), **args):
        """With gradients, if PyTorch takes the arguments: gy is 1, 2, 3, ..."""
        w, gy = self.w, None
        w.case(f"{op}_{self.counts[op]:02}")
        self.counts[op] += 1
        w.text("op", op)
        for k, x in enumerate(ins):
            w.tensor(f"in{k}", x)
        for name, value in [*((f"s{k}", v) for k, v in enumerate(s)), *args.items()]:
            (w.floats if isinstance(value, float) else w.ints)(name, value)
        try:
            y = call(op, *ins, s=s, **args)
            if not ROWS[op].constant and any(x.is_floating_point() for x in ins):
                gy = ramp(y.shape, step=1.0).to(y.dtype)
        except REFUSALS:
            pass    # the answer is the error
        answer(w, op, ins, s, args, gy)


def elementwise(c, op, numbers):
    for dtype in ("f32", "f64"):
        c.add(op, tensor(SPECIAL, dtype), s=numbers)
    for x in (tensor([-2, 0, 3], "i64"), tensor([1, 0], "bool"), tensor(-2.0), ramp((2, 0, 3)),
              ramp((2, 3), start=-2).t()):
        if numbers == ROWS[op].cases[0]:
            c.add(op, x, s=numbers)


def write(w):
    c = Cases(w)
    for op, row in ROWS.items():
        for args in row.cases:
            if isinstance(args, dict):
                named = dict(args)
                ins = [ramp(s, start=-2) for s in named.pop("shapes", [(2, 3, 4)])]
                c.add(op, *ins, **named)
                c.add(op, *[x.double() for x in ins], **named)
            else:
                elementwise(c, op, args)
