"""Makes random arguments for each function of the table of functions (tools/functions/rows.py). A row describes its
arguments in words, or names a function of this file if they depend on each other.
"""
import os
import re
import sys

import torch

from machine import Row
from values import ALL, DTYPES, END, FLOATS

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from functions import table  # noqa: E402

NUMBERS = (torch.float32, torch.float64, torch.int64)


def no_scale(args):
    return 0.0


def sum_scale(args):
    t = args[0].detach()
    t = t[t.isfinite()].double().abs()
    return t.sum().item() if t.numel() else 0.0


def product_scale(args):
    """The largest product of one element each, times the inner size."""
    a, b = (t.detach().double().abs().nan_to_num(0, 0, 0) for t in args[:2])
    if not a.numel() or not b.numel():
        return 0.0
    k = a.shape[-1] if a.dim() else 1
    return a.max().item() * b.max().item() * k + 1e-3


def any_float(g):
    """Mostly floats; sometimes what a function of floats refuses or converts."""
    return DTYPES if g.chance(0.25) else FLOATS


def binary(g):
    a = g.tensor()
    dtype = DTYPES if g.chance(0.3) else (g.torch(a).dtype,)
    b = g.tensor(dtype, g.broadcast(a))
    return [b, a] if g.chance(0.3) else [a, b]


def inplace_binary(g):
    x = g.target(g.tensor())
    dtype = DTYPES if g.chance(0.2) else (g.torch(x).dtype,)
    return [x, g.tensor(dtype, g.broadcast(x))]


# ---- views

def splits(n, g):
    """n as a list of factors."""
    parts = []
    while n > 1 and len(parts) < 4:
        f = g.pick([d for d in range(1, n + 1) if n % d == 0] if n < 300 else [1, n])
        parts.append(f)
        n //= f
    return parts + ([n] if n > 1 or not parts else [])


def new_shape(g):
    x = g.tensor()
    n = g.torch(x).numel()
    sizes = splits(n, g) if n else g.pick(([0], [0, 3], [2, 0], [-1, 0], [0, -1], [-1]))
    sizes = list(sizes)
    if sizes and n and g.chance(0.3):
        sizes[g.r.randrange(len(sizes))] = -1
    if g.wrong() and sizes:
        sizes[g.r.randrange(len(sizes))] += g.pick((1, -1))
    if g.chance(0.1) and n == 1:
        sizes = []
    return [x, sizes]


def same_or_new_shape(g):
    """Views that keep strides: pieces of dims."""
    x, sizes = new_shape(g)
    if g.chance(0.5):
        sizes = []
        for s in g.torch(x).shape:
            sizes += splits(s, g) if s > 1 and g.chance(0.5) else [s]
    return [x, sizes]


def permutation(g):
    x = g.tensor()
    dims = list(range(g.torch(x).dim()))
    g.r.shuffle(dims)
    dims = [d - len(dims) if g.chance(0.2) else d for d in dims]
    if g.wrong():
        dims = dims[1:] if g.chance(0.5) else dims + [0]
    return [x, dims]


def expansion(g):
    x = g.tensor()
    sizes = [g.pick((1, 2, 3)) if s == 1 else (-1 if g.chance(0.3) else s) for s in g.torch(x).shape]
    for _ in range(g.pick((0, 0, 1, 2)) if sizes else g.pick((1, 2, 3))):
        sizes = [g.pick((1, 2, 4, 0))] + sizes
    if g.wrong() and sizes:
        sizes[g.r.randrange(len(sizes))] = g.pick((-1, 6, -2))
    return [x, sizes]


def slice_of(g):
    x = g.tensor()
    d = g.dim(x)
    size = g.size(x, d, 1)
    ends = [g.r.randrange(-size - 2, size + 3) for _ in range(2)]
    if g.chance(0.2):
        ends[1] = END
    return [x, d] + ends


def narrowing(g):
    x = g.tensor()
    d = g.dim(x)
    size = g.size(x, d, 1)
    start = g.r.randrange(-size, size + 1)
    length = g.r.randrange(0, size - start % max(1, size) + 1) + (1 if g.wrong() else 0)
    return [x, d, start, length]


def in_sizes(g):
    x = g.tensor(low=1)
    d = g.dim(x)
    left, sizes = g.size(x, d, 3), []
    while left:
        sizes.append(g.r.randrange(0 if g.chance(0.1) else 1, left + 1))
        left -= sizes[-1]
    if g.wrong():
        sizes.append(g.pick((1, -1)))
    return [x, sizes or [0], d]


def repeats(g):
    x = g.tensor()
    n = len(g.torch(x).shape) + g.pick((0, 0, 1, 2)) - (1 if g.wrong() else 0)
    return [x, [g.pick((1, 1, 2, 3, 0)) if not g.wrong() else -1 for _ in range(max(0, n))]]


# ---- copies

def diagonal(g):
    return [g.tensor(low=g.pick((0, 2, 2, 2, 2, 2, 2, 2)) if g.wrong() else 2), g.r.randrange(-4, 5)]


def together(g):
    x = g.tensor(low=1)
    d = g.dim(x)
    shape = list(g.torch(x).shape)
    parts = [x]
    for _ in range(g.r.randrange(0, 4)):
        other = list(shape)
        if -len(shape) <= d < len(shape):
            other[d] = g.r.randrange(0, 5)
        if g.wrong():
            other[g.r.randrange(len(other))] += 1
        if g.chance(0.05):
            other = [0]
        dtype = DTYPES if g.chance(0.15) else (g.torch(x).dtype,)
        parts.append(g.tensor(dtype, other))
    return [parts, d]


def stacked(g):
    x = g.tensor()
    parts = [x]
    for _ in range(g.r.randrange(0, 4)):
        dtype = DTYPES if g.chance(0.15) else (g.torch(x).dtype,)
        shape = list(g.torch(x).shape)
        if g.wrong():
            shape.append(2)
        parts.append(g.tensor(dtype, shape))
    return [parts, g.r.randrange(-len(g.torch(x).shape) - 1, len(g.torch(x).shape) + 1)]


# ---- x[index] = value

def set_item(g):
    x = g.target(g.tensor(low=1))
    index = g.index(x)
    try:
        shape = list(g.torch(x)[index.torch()].shape)
    except (IndexError, TypeError, RuntimeError):   # also a view that PyTorch refuses to look at
        shape = []
    shape = [1 if g.chance(0.2) else s for s in shape][g.r.randrange(len(shape) + 1) if g.chance(0.2) else 0:]
    return [x, g.tensor((g.torch(x).dtype,) if g.chance(0.8) else DTYPES, shape), index]


# ---- choices, products, picking

def choice(g):
    x = g.tensor()
    dtype = DTYPES if g.chance(0.2) else (g.torch(x).dtype,)
    return [g.tensor((torch.bool,) if not g.wrong() else DTYPES, g.broadcast(x)), x,
            g.tensor(dtype, g.broadcast(x))]


def dot(g):
    a = g.tensor(NUMBERS if g.chance(0.2) else FLOATS, low=1, high=1)
    n = g.torch(a).shape[0] if g.torch(a).dim() else 1
    return [a, g.tensor((g.torch(a).dtype,), [n + (1 if g.wrong() else 0)])]


def vectors(g):
    a = g.tensor(low=1, high=1)
    dtype = DTYPES if g.chance(0.2) else (g.torch(a).dtype,)
    return [a, g.tensor(dtype, [g.r.randrange(0, 9)] if not g.wrong() else [2, 1])]


def size(g):
    return g.pick((1, 2, 3, 4, 5, 7, 8, 9, 16, 17)) if not g.chance(0.03) else 0


def matmul(g):
    m, k, n = size(g), size(g), size(g)
    form = g.pick(("22", "22", "22", "12", "21", "11", "batch", "batch", "b2", "2b", "1b", "b1", "0"))
    batch = [g.pick((1, 2, 3)) for _ in range(g.r.randrange(1, 3))]
    other = [1 if g.chance(0.3) else s for s in batch][g.r.randrange(0, len(batch)) if g.chance(0.2) else 0:]
    a, b = {"22": ([m, k], [k, n]), "12": ([k], [k, n]), "21": ([m, k], [k]), "11": ([k], [k]),
            "batch": (batch + [m, k], other + [k, n]), "b2": (batch + [m, k], [k, n]),
            "2b": ([m, k], batch + [k, n]), "1b": ([k], batch + [k, n]), "b1": (batch + [m, k], [k]),
            "0": ([], [k])}[form]
    if g.wrong():
        b = list(b)
        b[g.r.randrange(len(b))] += 1
    x = g.tensor(NUMBERS if g.chance(0.1) else FLOATS, a)
    y = g.tensor((g.torch(x).dtype,) if not g.wrong() else DTYPES, b)
    return [x, y]


def linear(g):
    k, n = size(g), size(g)
    lead = [size(g) for _ in range(g.r.randrange(0, 4))] if not g.chance(0.3) else [size(g)]
    x = g.tensor(FLOATS, lead[-3:] + [k])
    d = (g.torch(x).dtype,)
    out = [] if g.chance(0.15) else [n]     # the sizes of the bias; a weight (in,) gives one output
    w = g.tensor(d, out + [k + (1 if g.wrong() else 0)])
    return [x, w, None if g.flag() else g.tensor(d, out if not g.wrong() else [1] * g.pick((0, 1, 2)))]


def bilinear(g):
    in1, in2, out = size(g), size(g), size(g)
    lead = [size(g) for _ in range(g.pick((0, 1, 1, 2)))]
    x = g.tensor(FLOATS, lead + [in1])
    d = (g.torch(x).dtype,)
    y = g.tensor(d, [n + (1 if g.wrong() else 0) for n in lead] + [in2])
    w = g.tensor(d, [out, in1, in2 + (1 if g.wrong() else 0)])
    return [x, y, w, None if g.flag() else g.tensor(d, [out])]


def index_select(g):
    x = g.tensor(low=1)
    d = g.dim(x)
    n = g.size(x, d, 2)
    return [x, d, g.indices([g.r.randrange(0, 6)] if n else [0], n)]


def gather(g):
    x = g.tensor(low=1)
    d = g.dim(x)
    shape, n = g.torch(x).shape, g.size(x, d, 2)
    index = [g.r.randrange(0, s + 1) for s in shape]
    if -len(shape) <= d < len(shape):
        index[d] = g.r.randrange(0, 5) if n else 0
    if g.wrong():
        index.append(1)
    return [x, d, g.indices(index, n)]


def index_add(g):
    x = g.tensor()
    d = g.dim(x)
    shape, n = list(g.torch(x).shape), g.size(x, d, 1)
    index = g.indices([g.r.randrange(0, 6) if shape else 1] if n else [0], n)
    if -len(shape) <= d < len(shape):
        shape[d] = g.torch(index).numel()
    if g.wrong():
        shape.append(1)
    return [x, d, index, g.tensor((g.torch(x).dtype,) if not g.wrong() else DTYPES, shape)]


def scatter(g):
    """Indices of a line differ, because PyTorch does not say which of equal ones counts."""
    x = g.tensor()
    d = g.dim(x)
    shape = list(g.torch(x).shape)
    random = torch.Generator().manual_seed(g.r.randrange(2**31))
    index = torch.zeros([], dtype=torch.int64)
    if shape and -len(shape) <= d < len(shape):
        index = torch.rand(shape, generator=random).argsort(d)
        for k, s in enumerate(shape):
            index = index.narrow(k, 0, g.r.randrange(0 if g.chance(0.1) else min(1, s), s + 1))
    given = index.flatten().tolist()
    if given and g.wrong():
        given[0] = g.pick((-1, 99))
    dtype = (g.torch(x).dtype,) if not g.wrong() else DTYPES
    source = [n + (1 if g.wrong() else 0) for n in index.shape]
    return [x, d, g.add("leaf", torch.int64, list(index.shape), given), g.tensor(dtype, source)]


def counted(g):
    n = g.pick((1, 3, 17))
    return [g.indices([g.r.randrange(0, 9)] if not g.wrong() else [2, 2], n), g.pick((0, 0, n, 20)) if not g.wrong() else -1]


def embedding(g):
    n, width = g.pick((1, 2, 5, 9)), g.pick((1, 3, 4, 8, 9))
    w = g.tensor(FLOATS, [n, width])
    index = g.indices(g.pick(([], [3], [2, 3], [0], [1, 2, 2])), n)
    return [index, w, g.pick((ALL, ALL, 0, n - 1, -1, -n)) if not g.wrong() else g.pick((n, -n - 1))]


def topk(g):
    x = g.tensor(NUMBERS, kind="distinct", plain=True)
    d = g.dim(x)
    return [x, g.r.randrange(0, g.size(x, d, 1) + 1) + (1 if g.wrong() else 0), d, g.flag()]


def one_hot(g):
    n = g.pick((1, 3, 5))
    return [g.indices(g.pick(([], [4], [2, 3])), n), g.pick((-1, n, n + 2)) if not g.wrong() else 0]


# ---- normalisation, attention, losses

def layer_norm(g):
    shape = g.shape(1, 4)
    x = g.tensor(FLOATS, shape)
    shape = list(g.torch(x).shape) or [1]
    tail = shape[len(shape) - g.r.randrange(1, len(shape) + 1):]
    if g.wrong():
        tail[0] += 1
    d = (g.torch(x).dtype,)
    # An infinite weight times a difference that rounds to 0 or not is noise.
    w = None if g.chance(0.3) else g.tensor(d, tail, g.pick(("normal", "small")))
    b = None if g.chance(0.3) else g.tensor(d, tail)
    return [x, tail, w, b, g.pick((1e-5, 1e-3, 0.1))]


def rms_norm(g):
    x = g.tensor(FLOATS, g.shape(1, 4), g.pick(("normal", "small")))
    sizes = [n + (1 if g.wrong() else 0) for n in g.torch(x).shape[-1:]]
    return [x, None if g.chance(0.3) else g.tensor((g.torch(x).dtype,), sizes, "normal"),
            g.pick((1e-5, 1e-6, 0.1))]


def attention_tensors(g, group=1):
    lead = [g.pick((1, 2, 3)) for _ in range(g.pick((0, 1, 2, 2)))]
    all_heads = lead[:-1] + [n * group for n in lead[-1:]]
    n, s = g.pick((1, 2, 5, 9)), g.pick((1, 2, 3, 5, 8, 17))
    d, dv = g.pick((1, 2, 4, 8)), g.pick((1, 3, 4, 8))
    kind = "normal"
    leads = [all_heads, lead, lead]
    if group == 1 and g.chance(0.2):    # batches that broadcast
        leads = [[1 if g.chance(0.3) else b for b in lead[g.r.randrange(len(lead) + 1):]] for _ in range(3)]
    q = g.tensor(FLOATS, leads[0] + [n, d], kind)
    dt = (g.torch(q).dtype,)
    k = g.tensor(dt, leads[1] + [s, d + (1 if g.wrong() else 0)], kind)
    v = g.tensor(dt, leads[2] + [s + (1 if g.wrong() else 0), dv], kind)
    mask = None
    if g.chance(0.5):
        shape = g.pick(([n, s], [1, s], [n, 1], all_heads + [n, s]))
        mask = g.tensor((torch.bool,) if g.flag() else dt, shape, kind)
    return [q, k, v, mask]


def attention(g):
    return attention_tensors(g) + [0.0, g.chance(0.3)]


def attention_with(g):
    group = g.pick((1, 1, 2, 3))
    q, k, v, mask = attention_tensors(g, group)
    options = {"attn_mask": mask, "is_causal": g.chance(0.3)}
    if g.chance(0.4):
        options["scale"] = g.pick((1.0, 0.5, 0.1))
    if group > 1 or g.chance(0.1):
        options["enable_gqa"] = True
    return [q, k, v, options]


def rotary(g):
    t, d = g.pick((0, 1, 3, 8)), g.pick((2, 4, 6, 16, 40))
    x = g.tensor(FLOATS, [g.pick((1, 2, 3)) for _ in range(g.pick((0, 1, 2)))] + [t, d])
    dt = (g.torch(x).dtype,)
    lead = [g.pick((1, n)) for n in g.torch(x).shape[:-2]] if g.chance(0.3) else []
    return [x, g.tensor(dt, lead + [t, d]), g.tensor(dt, lead + [t, d + (2 if g.wrong() else 0)])]


def losses(g):
    x = g.tensor(FLOATS)
    return [x, g.tensor((g.torch(x).dtype,) if not g.wrong() else DTYPES,
                        list(g.torch(x).shape) if g.chance(0.8) else g.broadcast(x))]


def same_losses(g, kind=None):
    x = g.tensor(FLOATS, kind=kind)
    shape = list(g.torch(x).shape)
    return [x, g.tensor((g.torch(x).dtype,), shape if not g.wrong() else shape + [2], kind)]


def probabilities(g):
    return same_losses(g, "unit")


def divergence(g):
    x = g.tensor(any_float(g))
    return [x, g.tensor((g.torch(x).dtype,) if not g.wrong() else (torch.int64,),
                        list(g.torch(x).shape) if g.chance(0.8) else g.broadcast(x), "unit")]


def entropy(g):
    c = g.pick((1, 2, 3, 5, 9))
    lead, tail = g.pick((([], []), ([4], []), ([1], []), ([2], [3]), ([2], [2, 2]), ([0], [])))
    x = g.tensor(FLOATS, lead + [c] + tail, g.pick(("normal", "small")))
    target = g.indices(lead + tail + ([1] if g.wrong() else []), c)
    return [x, target]


def entropy_with(g):
    o = {"reduction": g.pick((0, 1, 2)), "ignore_index": g.pick((-100, 0, 1, -1))}
    return entropy(g) + [o]


# ---- draws

def dropout(g):
    return [g.tensor(FLOATS), g.pick((0.0, 0.1, 0.5, 0.9, 1.0)) if not g.wrong() else 1.5, g.chance(0.8)]


def multinomial(g):
    x = g.tensor(FLOATS, kind="unit", low=1, high=2)
    n = g.torch(x).shape[-1] if g.torch(x).dim() else 1
    return [x, g.pick((1, 2, max(1, n))) if not g.wrong() else n + 1, g.flag()]


def bounds(g):
    a, b = sorted((round(g.r.gauss(0, 2), 2), round(g.r.gauss(0, 2), 2)))
    return [g.target(g.tensor(any_float(g))), a, b] if not g.wrong() else \
        [g.target(g.tensor(FLOATS)), b, a]


def normal_(g):
    return [g.target(g.tensor(any_float(g))), round(g.r.gauss(0, 2), 2),
            g.pick((1.0, 0.02, 0.0, 2.5)) if not g.wrong() else -1.0]


def ranges(g):
    if g.chance(0.4):
        return [g.r.randrange(-20, 20), g.r.randrange(-20, 20), g.pick((1, 2, 3, -1, -2, 5, 0))]
    return [g.pick((0.0, -1.0, -3.14, 0.5, 2)), g.pick((1.0, 3.14, 7.3, 10, -2.0)),
            g.pick((0.1, 0.25, 0.01, 1.0, -0.3, 0.7))]


# ---- the words of a row: each adds an argument to those before it

WORDS = {
    "x": lambda g, a: g.tensor(), "x_2d": lambda g, a: g.tensor(high=2),
    "calm": lambda g, a: g.tensor(kind=g.pick(("normal", "small"))),
    "probability": lambda g, a: g.tensor(any_float(g), kind="unit"),
    "mask": lambda g, a: g.tensor((torch.bool,) if not g.wrong() else DTYPES, g.broadcast(a[0])),
    "float": lambda g, a: g.tensor(any_float(g)), "numbers": lambda g, a: g.tensor(NUMBERS),
    "into": lambda g, a: g.target(g.tensor()), "into_floats": lambda g, a: g.target(g.tensor(FLOATS)),
    "into_dims": lambda g, a: g.target(g.tensor(low=1)),
    "number": lambda g, a: g.number(), "flag": lambda g, a: g.flag(),
    "dim": lambda g, a: g.dim(a[0]), "dims": lambda g, a: g.dims(a[0]), "new_dim": lambda g, a: g.new_dim(a[0]),
    "place": lambda g, a: g.some_index(g.size(a[0], a[1], 1)), "index": lambda g, a: g.index(a[0]),
    "parts": lambda g, a: g.pick((1, 2, 3, 5, 7)) if not g.wrong() else g.pick((0, -1)),
    "step": lambda g, a: g.pick((1, 2, 3, 7)) if not g.wrong() else g.pick((0, -1)),
    "sizes": lambda g, a: g.shape() if not g.wrong() else [2, -1],
    "dtype": lambda g, a: g.dtype(), "float_dtype": lambda g, a: g.dtype(FLOATS),
    "number_dtype": lambda g, a: g.dtype(NUMBERS if g.chance(0.9) else DTYPES),
}


def word(text):
    """The function (g, arguments so far) -> arguments of a word: 1|2|3 is one of these, 0..5 a whole number."""
    if text in WORDS:
        return lambda g, args: [WORDS[text](g, args)]
    ends = re.fullmatch(r"(-?\d+)\.\.(-?\d+)", text)
    if ends:
        low, high = map(int, ends.groups())
        return lambda g, args: [g.r.randrange(low, high + 1)]
    if text.isidentifier():
        return lambda g, args: globals()[text](g)
    values = [float(v) if "." in v or "e" in v else int(v) for v in text.split("|")]
    return lambda g, args: [g.pick(values)]


def maker(text):
    words = [word(w) for w in text.split()]

    def make(g):
        args = []
        for w in words:
            args += w(g, args)
        return args
    return make


def rows_of(hd):
    """{name: Row} of every function that PyTorch has, too."""
    return {name: Row(hd, row, maker(row.arguments), globals().get(row.oracle["scale"]))
            for name, row in table.read().items() if row.python}
