"""Chooses tensors and arguments at random, step by step, with the shapes that PyTorch gives."""
import math
import random

import torch

import values
from compare import surely_leaf
from machine import Index, Machine, Var
from values import FLOATS

SIZES = (1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33)
SMALL = (1, 2, 3, 4, 5)
DTYPE_WEIGHTS = ((torch.float32, 50), (torch.float64, 22), (torch.int64, 18), (torch.bool, 10))
WRONG = 0.06    # how often an argument is wrong on purpose


class Maker:
    """One program in the making: every step that it adds is run at once."""

    def __init__(self, hd, rows, seed, reuse=0.0):
        self.r = random.Random(seed)
        self.machine = Machine(hd, rows)
        self.steps, self.count = [], 0
        self.reuse = reuse          # how often an earlier tensor is taken
        self.grad = 0.6             # how often a float leaf requires grad

    # ---- steps

    def name(self):
        self.count += 1
        return Var("x%d" % self.count)

    def add(self, what, *args, dest=None):
        """Adds a step and runs it. Returns its name."""
        dest = dest or self.name()
        step = (dest, what, list(args))
        self.steps.append(step)
        self.machine.run(step)
        return dest

    def torch(self, v):
        return self.machine.env[v][1]

    # ---- chances

    def chance(self, p):
        return self.r.random() < p

    def pick(self, things):
        return things[int(self.r.random() * len(things))]

    def wrong(self):
        return self.r.random() < WRONG

    def dtype(self, dtypes=values.DTYPES):
        total = sum(w for d, w in DTYPE_WEIGHTS if d in dtypes)
        at = self.r.random() * total
        for d, w in DTYPE_WEIGHTS:
            if d in dtypes:
                at -= w
                if at < 0:
                    return d
        return dtypes[0]

    def shape(self, low=0, high=4):
        roll = self.r.random()
        ndim = low if roll < 0.05 else min(high, max(low, self.pick((1, 1, 2, 2, 2, 3, 3, 4))))
        if ndim == 1 and roll > 0.8:
            return [self.r.randrange(0, 140)]
        shape, room = [], 400
        for _ in range(ndim):
            s = self.pick(SMALL if room < 40 else SIZES)
            s = 0 if self.r.random() < 0.02 else min(s, max(1, room))
            room //= max(1, s)
            shape.append(s)
        return shape

    # ---- tensors

    def leaf(self, dtype, shape, kind=None):
        if kind is None:
            kind = self.pick(("normal", "normal", "small", "special"))
        x = self.add("leaf", dtype, list(shape), kind, self.r.randrange(values.POOL))
        if dtype.is_floating_point and self.chance(self.grad):
            self.add("requires_grad", x, True, dest=x)
        return x

    def tensor(self, dtypes=values.DTYPES, shape=None, kind=None, low=0, high=4, plain=False):
        """A tensor of one of the dtypes: an earlier one, or a new leaf in some layout."""
        if self.reuse and self.chance(self.reuse):
            fits = [n for n, (h, t) in self.machine.env.items() if t.dtype in dtypes and
                    low <= t.dim() <= high and (shape is None or list(t.shape) == list(shape))]
            if fits:
                return self.pick(fits)
        dtype = self.dtype(dtypes)
        shape = self.shape(low, high) if shape is None else list(shape)
        roll = self.r.random()
        if plain or roll < 0.6 or not shape:
            return self.leaf(dtype, shape, kind)
        return self.laid_out(dtype, shape, kind, roll)

    def laid_out(self, dtype, shape, kind, roll):
        """A tensor of that shape that is a view of a leaf."""
        n, dim = len(shape), self.r.randrange(len(shape))
        if roll < 0.75 and n > 1:
            order = list(range(n))
            self.r.shuffle(order)
            inner = [0] * n     # dim i of the result is dim order[i] of the leaf
            for i, o in enumerate(order):
                inner[o] = shape[i]
            return self.add("hd_permute_n", self.leaf(dtype, inner, kind), order)
        if roll < 0.85:
            bigger = list(shape)
            bigger[dim] = shape[dim] + self.r.randrange(1, 4)
            base = self.leaf(dtype, bigger, kind)
            return self.add("hd_narrow", base, dim, bigger[dim] - shape[dim], shape[dim])
        if roll < 0.93:
            step = self.r.randrange(2, 4)
            bigger = list(shape)
            bigger[dim] = shape[dim] * step
            base = self.leaf(dtype, bigger, kind)
            return self.add("hd_slice_step", base, dim, self.r.randrange(step), values.END, step)
        one = list(shape)
        one[dim] = 1
        return self.add("hd_expand_n", self.leaf(dtype, one, kind), list(shape))

    def broadcast(self, x):
        """A shape that broadcasts with x's (mostly)."""
        shape = list(self.torch(x).shape)
        roll = self.r.random()
        if roll < 0.45:
            pass
        elif roll < 0.75:
            shape = [1 if self.chance(0.4) else s for s in shape]
        elif roll < 0.88:
            shape = shape[self.r.randrange(0, len(shape) + 1):]
        elif roll < 0.94 and len(shape) < 5:
            shape = [self.pick((1, 2, 3))] + shape
        elif shape and self.wrong():
            shape[self.r.randrange(len(shape))] += 1
        return shape

    # ---- numbers

    def dim(self, x):
        n = self.torch(x).dim()
        if self.wrong():
            return self.pick((n, -n - 1, n + 3))
        return self.r.randrange(-n, n) if n else self.pick((0, -1))

    def size(self, x, dim, otherwise):
        """The size of a dim, which x may not have."""
        shape = self.torch(x).shape
        return shape[dim] if -len(shape) <= dim < len(shape) else otherwise

    def new_dim(self, x):
        n = self.torch(x).dim() + 1
        return self.r.randrange(-n, n) if not self.wrong() else self.pick((n, -n - 1))

    def dims(self, x):
        n = self.torch(x).dim()
        dims = [d for d in range(n) if self.chance(0.5)]
        self.r.shuffle(dims)
        dims = [d - n if self.chance(0.3) else d for d in dims]
        if self.wrong():
            dims.append(self.pick((n, dims[0] if dims else -n - 1)))
        return dims

    def flag(self):
        return self.r.random() < 0.5

    def number(self):
        """A number for a function that takes an hd_scalar."""
        roll = self.r.random()
        if roll < 0.4:
            return self.pick((0, 1, 2, -1, 3, -2, 5))
        if roll < 0.85:
            return self.pick((0.5, 1.0, 2.0, -1.0, 0.1, -2.5, 1.5, 3.7, 1e-3, -0.0, 0.0))
        if roll < 0.97:
            return round(self.r.gauss(0, 2), 3)
        return self.pick((math.inf, -math.inf, math.nan, 1 << 40, 1e39, -1e300))

    def some_index(self, size):
        if self.wrong() or size == 0:
            return self.pick((size, -size - 1))
        return self.r.randrange(-size, size)

    def index(self, x):
        """The index of x[...]."""
        shape = self.torch(x).shape
        n = self.r.randrange(1, len(shape) + 1) if shape else 1
        found = [values.ALL if self.chance(0.35) else self.some_index(s) for s in shape[:n]]
        if self.wrong():
            found += [0] * (len(shape) - n + 1)
        return Index(found)

    def indices(self, shape, size, wrong=True):
        """An int64 tensor of indices below size."""
        n = values.numel(shape)
        given = [self.r.randrange(size) if size else 0 for _ in range(n)]
        if wrong and given and self.wrong():
            given[self.r.randrange(n)] = self.pick((size, -1, size + 5))
        return self.add("leaf", torch.int64, list(shape), given)

    def target(self, x):
        """Something that may be changed in place: usually no leaf that requires grad."""
        t = self.torch(x)
        if t.requires_grad and surely_leaf(t) and not self.chance(0.08):
            return self.add("hd_mul_scalar", x, 1.0)
        return x


def finish(maker, made):
    """Ends a case of one function: a backward through what it made, with all gradients compared."""
    m = maker.machine
    for name in made:
        t = m.env[name][1] if name in m.env else None
        if t is None or not t.requires_grad or t.dtype not in FLOATS:
            continue
        if t.dim() == 0 and maker.chance(0.7):
            maker.add("backward", name, None, False)
        else:
            grad = maker.add("leaf", t.dtype, list(t.shape), maker.pick(("normal", "small")),
                             maker.r.randrange(values.POOL))
            maker.add("backward", name, grad, False)
        return
