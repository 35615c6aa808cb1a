"""Compares random programs of 3 to 15 steps: views, changes in place, hooks, no_grad, several leaves, then backward or
hd_grad_of, once or twice.
"""
import torch

import values
from compare import surely_leaf
from generate import Maker
from machine import ROUGH, Disagreement, Var
from values import FLOATS

# How often each function is taken.
STEPS = {
    "hd_add": 4, "hd_sub": 3, "hd_mul": 6, "hd_div": 1, "hd_maximum": 1, "hd_add_scalar": 2,
    "hd_mul_scalar": 3, "hd_div_scalar": 1, "hd_rsub_scalar": 1, "hd_square": 2, "hd_neg": 1,
    "hd_exp": 1, "hd_tanh": 2, "hd_sigmoid": 2, "hd_relu": 2, "hd_sin": 2, "hd_gelu": 1, "hd_silu": 1,
    "hd_abs": 1, "hd_clamp": 1, "hd_where": 1, "hd_masked_fill": 1, "hd_view_n": 3, "hd_reshape_n": 3,
    "hd_transpose": 3, "hd_t": 1, "hd_permute_n": 2, "hd_expand_n": 2, "hd_flatten": 1,
    "hd_squeeze": 1, "hd_squeeze_all": 1, "hd_unsqueeze": 2, "hd_select": 3, "hd_detach": 1,
    "hd_slice": 3, "hd_slice_step": 2, "hd_narrow": 2, "hd_split": 2, "hd_split_sizes_n": 1,
    "hd_chunk": 1, "hd_unbind": 1, "hd_getitem_n": 3, "hd_contiguous": 1, "hd_clone": 2, "hd_to": 1,
    "hd_tril": 1, "hd_cat_n": 2, "hd_stack_n": 1, "hd_add_": 3, "hd_sub_": 2, "hd_mul_": 4,
    "hd_div_": 1, "hd_add_scalar_": 2, "hd_mul_scalar_": 3, "hd_fill_": 2, "hd_zero_": 2,
    "hd_copy_": 3, "hd_masked_fill_": 1, "hd_setitem_n": 3, "hd_setitem_scalar_n": 2, "hd_sum": 2,
    "hd_sum_dim": 2, "hd_mean": 1, "hd_mean_dim": 1, "hd_max_dim": 1, "hd_softmax": 2,
    "hd_log_softmax": 1, "hd_cumsum": 1, "hd_logsumexp_dim": 1, "hd_var_dim": 1, "hd_matmul": 3,
    "hd_index_select": 1, "hd_gather": 1, "hd_mse_loss": 1, "hd_pow_scalar": 1,
}
WORDS = [n for n, w in STEPS.items() for _ in range(w)]
TOO_LARGE = 1e4     # a tensor with larger values is not used again: it would hide everything else


class Programmer(Maker):
    """A Maker that takes earlier tensors most of the time."""

    def __init__(self, hd, rows, seed):
        super().__init__(hd, rows, seed, 0.85)
        self.machine.gradient_tolerance, self.machine.gradient_zeros = ROUGH, False
        self.wild = set()
        self.main = torch.float64 if self.chance(0.6) else torch.float32

    def dtype(self, dtypes=values.DTYPES):
        return self.main if self.main in dtypes and self.chance(0.93) else super().dtype(dtypes)

    def leaf(self, dtype, shape, kind=None):
        return super().leaf(dtype, shape, "normal" if self.chance(0.5) else "small")

    def shape(self, low=0, high=4):
        n = max(low, min(high, self.pick((0, 1, 1, 2, 2, 2, 3))))
        return [self.pick((1, 2, 2, 3, 3, 4)) for _ in range(n)]

    def wrong(self):
        return self.r.random() < 0.02

    def number(self):
        return self.pick((2, 3, -1, 0.5, -0.5, 1.5, 2.0, 0.1))

    def target(self, x):
        """What is changed in place: any tensor, though mostly one that may be."""
        t = self.torch(x)
        if t.requires_grad and surely_leaf(t) and torch.is_grad_enabled() and self.chance(0.8):
            return self.add("hd_mul_scalar", x, 2.0)
        return x

    def look(self):
        """Takes tensors with large or undefined values out of use."""
        env = self.machine.env
        for name in [n for n in env if n not in self.seen]:
            self.seen.add(name)
            t = env[name][1].detach()
            if t.is_floating_point() and t.numel() and not float(t.abs().amax()) < TOO_LARGE:
                self.wild.add(name)

    seen = frozenset()

    def tensor(self, dtypes=values.DTYPES, shape=None, kind=None, low=0, high=4, plain=False):
        env = self.machine.env
        if not self.chance(self.reuse):
            return self.leaf(self.dtype(dtypes), self.shape(low, high) if shape is None else shape)
        fits = [n for n, (h, t) in env.items() if n not in self.wild and t.dtype in dtypes and
                low <= t.dim() <= high and (shape is None or list(t.shape) == list(shape))]
        floats = [n for n in fits if env[n][1].dtype in FLOATS]
        if floats and self.chance(0.9):
            fits = floats
        if not fits:
            return self.leaf(self.dtype(dtypes), self.shape(low, high) if shape is None else shape)
        return fits[-1] if self.chance(0.3) else self.pick(fits)


def program(hd, rows, seed):
    """Makes and runs one program. Returns (steps, Disagreement or None, did a backward fail on both
    sides?)."""
    g = Programmer(hd, rows, seed)
    g.seen = set()
    found = None
    try:
        forward(g, g.r.randrange(3, 16))
        ending(g)
        if not g.machine.spoilt and g.chance(0.2):
            forward(g, g.r.randrange(1, 4))
            ending(g)
    except Disagreement as e:
        found = e
        found.step = len(g.steps) - 1
    finally:
        g.machine.close()
    return g.steps, found, g.machine.spoilt


def forward(g, n):
    for _ in range(g.pick((1, 2, 2, 3)) if not g.machine.env else 0):
        g.leaf(g.dtype(FLOATS), g.shape())
    off = 0
    for _ in range(n):
        if off:
            off -= 1
            if not off:
                g.add("grad_mode", True)
        elif g.chance(0.06):
            g.add("grad_mode", False)
            off = g.r.randrange(1, 4)
        some_step(g)
        g.look()
    if off:
        g.add("grad_mode", True)


def some_step(g):
    roll = g.r.random()
    floats = [n for n, (h, t) in g.machine.env.items() if t.requires_grad]
    if roll < 0.05 and floats:
        g.add("hook", g.pick(floats), g.pick(("twice", "nothing")))
    elif roll < 0.06 and g.machine.hooks:
        g.add("remove_hook", g.pick(list(g.machine.hooks)))
    elif roll < 0.09 and floats:
        g.add("retain_grad", g.pick(floats))
    elif roll < 0.10 and g.machine.env:
        g.add("print", g.pick(list(g.machine.env)))
    elif roll < 0.12 and floats:
        g.add("requires_grad", g.pick(floats), g.chance(0.3))
    else:
        word = g.pick(WORDS)
        g.add(word, *g.machine.rows[word].make(g))


def ending(g):
    """backward or hd_grad_of from one or two results."""
    env = g.machine.env
    outs = [n for n, (h, t) in env.items() if t.requires_grad and n not in g.wild and not surely_leaf(t)]
    if not outs:
        outs = [n for n, (h, t) in env.items() if t.requires_grad]
    if not outs:
        return
    y = outs[-1] if g.chance(0.7) else g.pick(outs)
    retain = g.chance(0.25)
    if g.chance(0.3):
        ins = [n for n, (h, t) in env.items() if t.requires_grad and (surely_leaf(t) or g.chance(0.2))]
        g.r.shuffle(ins)
        ys = [y] if g.chance(0.8) else [y, g.pick(outs)]
        grads = [grad_for(g, v) for v in ys]
        g.add("grad_of", [Var(v) for v in ys], [Var(v) for v in ins[:3]] or [y], grads, retain,
              g.chance(0.85))
    else:
        g.add("backward", y, grad_for(g, y), retain)
    if (retain or g.chance(0.05)) and not g.machine.spoilt:
        g.add("backward", y, grad_for(g, y), False)


def grad_for(g, y):
    t = g.torch(y)
    if t.numel() == 1 and g.chance(0.5) or g.wrong():
        return None
    return g.add("leaf", t.dtype, list(t.shape), "small", g.r.randrange(values.POOL))
