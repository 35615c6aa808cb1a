"""The values of random tensors, and their form in C and in Python."""
import math

import torch

DTYPES = (torch.float32, torch.float64, torch.int64, torch.bool)
FLOATS = (torch.float32, torch.float64)
NUMBER = {torch.float32: 0, torch.float64: 1, torch.int64: 2, torch.bool: 3}
DTYPE_OF = {v: k for k, v in NUMBER.items()}
C_NAME = {torch.float32: "HD_FLOAT32", torch.float64: "HD_FLOAT64", torch.int64: "HD_INT64",
          torch.bool: "HD_BOOL"}
C_ELEMENT = {torch.float32: "float", torch.float64: "double", torch.int64: "int64_t",
             torch.bool: "bool"}
SIZE = {torch.float32: 4, torch.float64: 8, torch.int64: 8, torch.bool: 1}
POOL = 8192
ALL = -(1 << 63)        # HD_ALL: `:` as an index
END = (1 << 63) - 1     # HD_END: the stop of a slice

SPECIAL = [math.nan, math.inf, -math.inf, 0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 1e-40, -1e-40, 1e-8, 1e4,
           88.0, -88.0, -103.9, 104.0, 1e10, -1e10, 1.5, 2.5, -2.5, 3.0]


def _make_pools():
    g = torch.Generator().manual_seed(20130)
    normal = torch.randn(POOL, generator=g, dtype=torch.float64)
    small = torch.randint(-3, 4, (POOL,), generator=g).double() / 2
    pick = torch.randint(0, len(SPECIAL), (POOL,), generator=g)
    chosen = torch.tensor(SPECIAL, dtype=torch.float64)[pick]
    plain = torch.randint(0, 2, (POOL,), generator=g) == 0
    unit = torch.rand(POOL, generator=g, dtype=torch.float64) * 0.98 + 0.01
    floats = {
        "normal": normal, "small": small, "special": torch.where(plain, normal, chosen),
        "unit": unit, "positive": normal.abs() + 0.1,
        "distinct": (torch.randperm(POOL, generator=g).double() - POOL // 2) / 512 + 1 / 1024,
    }
    pools = {}
    for kind, x in floats.items():
        pools[kind, torch.float32] = x.float()
        pools[kind, torch.float64] = x
        integers = torch.randint(-4, 5, (POOL,), generator=g)
        if kind == "distinct":
            integers = torch.randperm(POOL, generator=g) - POOL // 2
        elif kind in ("unit", "positive"):
            integers = integers.abs() + 1
        elif kind == "special":
            big = torch.tensor([0, 1, -1, 1 << 24, (1 << 24) + 1, -(1 << 31), 1 << 53, (1 << 62) + 1])
            integers = big[torch.randint(0, len(big), (POOL,), generator=g)]
        pools[kind, torch.int64] = integers
        pools[kind, torch.bool] = torch.randint(0, 2, (POOL,), generator=g).bool()
    return pools


POOLS = _make_pools()


def numel(shape):
    n = 1
    for s in shape:
        n *= s
    return n


def drawn(kind, dtype, shape, at):
    """A new tensor of values of that kind; `at` chooses which."""
    n = numel(shape)
    if n <= POOL // 2:
        at %= POOL - n
        return POOLS[kind, dtype][at:at + n].view(shape).clone()
    pool = POOLS[kind, dtype]
    return pool[(torch.arange(n) * 7919 + at) % POOL].view(shape).clone()  # no view of another tensor


def text(value):
    """A number as Python writes it, with float('nan') and its kin."""
    if isinstance(value, float) and not math.isfinite(value):
        return "float('%s')" % ("nan" if value != value else "inf" if value > 0 else "-inf")
    return repr(value)


def c_number(value, element="double"):
    """A number as C writes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        if value == ALL:
            return "HD_ALL"
        if value == END:
            return "HD_END"
        return str(value) if abs(value) < 1 << 31 else "%dLL" % value
    if value != value:
        return "NAN"
    if math.isinf(value):
        return "INFINITY" if value > 0 else "-INFINITY"
    return repr(value) + ("f" if element == "float" else "")
