"""init.txt: torch.nn.init, bit for bit, except for orthogonal_."""
import math

import torch
from torch.nn import init

from golden_format import DTYPES
from golden_rng import apply_view

SIZES = ((3, 5), (1, 1), (16, 24), (2, 3, 4), (50, 40))
RELU = dict(nonlinearity="relu")
CALLS = [
    ("uniform_", dict(a=-0.3, b=0.9)),
    ("normal_", dict(mean=0.5, std=0.02)),
    ("trunc_normal_", dict()),
    ("trunc_normal_", dict(std=0.02, a=-0.04, b=0.05)),
    ("trunc_normal_", dict(mean=1.0, std=2.0, a=0.0, b=1.5)),  # by rejection from a uniform
    ("trunc_normal_", dict(mean=0.0, std=1.0, a=2.0, b=4.0)),
    ("trunc_normal_", dict(mean=0.0, std=1.0, a=-7.0, b=-5.0)),
    ("trunc_normal_", dict(mean=0.1, std=1.0, a=0.0, b=0.25)),
    ("xavier_uniform_", dict()),
    ("xavier_uniform_", dict(gain=5 / 3)),
    ("xavier_normal_", dict()),
    ("xavier_normal_", dict(gain=0.5)),
    ("kaiming_uniform_", dict()),
    ("kaiming_uniform_", dict(a=math.sqrt(5))),
    ("kaiming_uniform_", dict(mode="fan_out", **RELU)),
    ("kaiming_normal_", dict(a=0.2)),
    ("kaiming_normal_", dict(mode="fan_out", nonlinearity="tanh")),
    ("kaiming_normal_", RELU),
    ("constant_", dict(val=0.3)),
    ("ones_", dict()),
    ("zeros_", dict()),
]
VIEWS = (((4, 5), "transpose 0 1"), ((12, 20), "transpose 0 1"), ((3, 4, 5), "permute 1 2 0"))
GAINS = ("linear", "conv2d", "sigmoid", "tanh", "relu", "selu")


def add(w, op, args, name, sizes, view=""):
    case = f"{len(w.names):03}_{op}_{name}"
    w.case(case)
    w.ints("seed", 123)
    w.text("op", op)
    w.text("dtype", name)
    w.ints("sizes", list(sizes))
    if view:
        w.text("view", view)
    for key, value in args.items():
        if isinstance(value, str):
            w.text(key, value)
        else:
            w.floats(key, float(value))
    torch.manual_seed(123)
    base = torch.zeros(sizes, dtype=DTYPES[name])
    getattr(init, op)(apply_view(base, view), **args)
    if op == "orthogonal_":
        w.tensor("out", base)
    else:
        w.stream("out", base)
    w.ints("next", torch.empty((), dtype=torch.int64).random_().item())


def write(w):
    for name in ("f32", "f64"):
        for op, args in CALLS:
            for sizes in SIZES:
                add(w, op, args, name, sizes)
            for sizes, view in VIEWS:
                add(w, op, args, name, sizes, view)
        for sizes in SIZES[:-1] + ((5, 3), (1, 7), (7, 1), (20, 30), (30, 20)):
            add(w, "orthogonal_", dict(), name, sizes)
            add(w, "orthogonal_", dict(gain=math.sqrt(2)), name, sizes)
        add(w, "orthogonal_", dict(), name, (4, 5), "transpose 0 1")
    for name in ("f32", "f64"):
        add(w, "orthogonal_", dict(), name, (4, 4))
    for nonlinearity in GAINS:
        w.case("gain_" + nonlinearity)
        w.text("nonlinearity", nonlinearity)
        w.floats("gain", float(init.calculate_gain(nonlinearity)))
    for slope in (None, 0.0, 0.2, math.sqrt(5)):
        w.case(f"gain_leaky_relu_{slope}")
        w.text("nonlinearity", "leaky_relu")
        w.floats("param", math.nan if slope is None else slope)
        w.floats("gain", init.calculate_gain("leaky_relu", slope))
