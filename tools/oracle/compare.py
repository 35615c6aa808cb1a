"""Compares a tensor of heed with the tensor of PyTorch: dtype, shape, strides, graph, and values."""
import ctypes
import math

import torch

from values import DTYPE_OF, SIZE

TINY = {torch.float32: 2e-38, torch.float64: 5e-308}
UNIT = {torch.float32: 1.0, torch.float64: 2.0 ** -29}  # a tolerance is said for float32


class Facts:
    """What is asked of a tensor of heed, without its values."""
    __slots__ = ("dtype", "shape", "stride", "offset", "at")


def facts(hd, h):
    f = Facts()
    n = hd.hd_ndim(h)
    if n:
        f.shape = tuple((ctypes.c_int64 * n).from_address(hd.hd_sizes(h)))
        f.stride = tuple((ctypes.c_int64 * n).from_address(hd.hd_strides(h)))
    else:
        f.shape = f.stride = ()
    f.dtype = DTYPE_OF.get(hd.hd_dtype_of(h))
    f.offset = hd.hd_storage_offset(h)
    f.at = hd.hd_data(h) or 0
    return f


def extent(shape, stride):
    """How many elements lie from the first to the last of a tensor."""
    n = 1
    for s, d in zip(shape, stride):
        if s == 0:
            return 0
        n += (s - 1) * d
    return n


def aliased(f):
    """heed's memory as a tensor of PyTorch."""
    n = extent(f.shape, f.stride)
    if n == 0 or not f.at:
        return torch.empty(f.shape, dtype=f.dtype)
    memory = (ctypes.c_char * (n * SIZE[f.dtype])).from_address(f.at)
    return torch.frombuffer(memory, dtype=f.dtype, count=n).as_strided(f.shape, f.stride)


def same_bytes(f, t):
    """A quick look: equal strides, and equal bytes from the first element to the last."""
    if not same_strides(f.stride, t):
        return False
    n = extent(f.shape, f.stride) * SIZE[f.dtype]
    return n == 0 or ctypes.string_at(f.at, n) == ctypes.string_at(t.data_ptr(), n)


def values_differ(f, t, tolerance, scale, zeros=True):
    """"" if the values agree, else where they do not. tolerance 0: all bits; otherwise
    |a - b| <= tolerance (|b| + scale). The sign of a zero counts if zeros."""
    a, b = aliased(f), t.detach()
    if a.numel() == 0:
        return ""
    if not f.dtype.is_floating_point:
        wrong = a != b
    else:
        nan = b.isnan()
        equal = (a == b) | (nan & a.isnan())
        if zeros:
            equal &= nan | (a.signbit() == b.signbit())
        wrong = ~equal
        if tolerance and wrong.any():
            room = tolerance * UNIT[f.dtype]
            near = (a.double() - b.double()).abs() <= room * (b.double().abs() + scale) + TINY[f.dtype]
            wrong &= ~(near & ((a != 0) | (b != 0)) & b.isfinite())
    if not wrong.any():
        return ""
    at = tuple(wrong.nonzero()[0].tolist())
    return "value at %r: heed %s, PyTorch %s" % (at, number(a[at]), number(b[at]))


def number(x):
    value = x.item()
    if isinstance(value, float) and math.isfinite(value):
        return "%s (%s)" % (repr(value), value.hex())
    return repr(value)


def same_strides(mine, t):
    """True if the strides are equal, except those of dims of size 1, which have no effect."""
    theirs = t.stride()
    return mine == theirs or all(a == b or s == 1 for a, b, s in zip(mine, theirs, t.shape))


def name_of(t):
    return type(t.grad_fn).__name__ if t.grad_fn is not None else ""


def differs(hd, h, t, tolerance=0, scale=0.0, graph=True, strides=True, zeros=True):
    """("", exact) if heed's tensor h equals PyTorch's t, else (the difference, False)."""
    f = facts(hd, h)
    if f.dtype != t.dtype:
        return "dtype: heed %s, PyTorch %s" % (f.dtype, t.dtype), False
    if f.shape != tuple(t.shape):
        return "shape: heed %r, PyTorch %r" % (f.shape, tuple(t.shape)), False
    if strides and not same_strides(f.stride, t):
        return "strides: heed %r, PyTorch %r" % (f.stride, t.stride()), False
    if graph:
        text = graph_differs(hd, h, t)
        if text:
            return text, False
    if same_bytes(f, t):
        return "", True
    return values_differ(f, t, tolerance, scale, zeros), False


def graph_differs(hd, h, t):
    """requires_grad, the name of the node, is it a leaf? Each may be an error on both sides."""
    for what, mine, theirs in (("requires_grad", hd.hd_requires_grad, requires_grad),
                               ("grad_fn", lambda x: (hd.hd_grad_fn(x) or b"").decode(), name_of),
                               ("is_leaf", hd.hd_is_leaf, is_leaf)):
        expected, message = "", ""
        try:
            expected = theirs(t)
        except RuntimeError as e:
            message = str(e).split("\n")[0]
        got = mine(h)
        error = hd.error()
        if bool(error) != bool(message):
            return "%s: heed %s, PyTorch %s" % (what, error or repr(got), message or repr(expected))
        if error:
            return ""       # neither side says what the tensor is in the graph
        if got != expected:
            return "%s: heed %s, PyTorch %s" % (what, got or "none", expected or "none")
        if what == "requires_grad" and not expected:
            return ""
    return ""


def requires_grad(t):
    return t.requires_grad


def is_leaf(t):
    return t.is_leaf


def surely_leaf(t):
    """t.is_leaf, and False for a view whose node PyTorch refuses to make."""
    try:
        return t.is_leaf
    except RuntimeError:
        return False


def take_over(hd, h, t):
    """Writes PyTorch's values into heed's tensor, past heed, so that a difference by rounding does
    not grow in the steps that follow."""
    f = facts(hd, h)
    if f.at and t.numel() and 0 not in [d for d, s in zip(f.stride, f.shape) if s > 1]:
        aliased(f).copy_(t.detach())
