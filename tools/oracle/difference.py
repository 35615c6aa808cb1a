"""The parts of known.py: a difference between heed and PyTorch, the page with its reason, and the test whether it
covers a Disagreement.
"""
import os
import re

import torch

import pairs
import shrink
from machine import Var

PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "differences.md")
KNOWN = []


class Known:
    """row: the first cell of its row. example: steps that show it, or a case of pairs.py. covers: see known()."""

    def __init__(self, row, example, covers):
        self.row, self.example, self.covers = row, example, covers

    def shown(self, hd, rows):
        """The Disagreement of the example, or None."""
        if callable(self.example):
            return pairs.run(self.example, hd, 0)[1]
        return shrink.replay(hd, rows, self.example, plain=True)


def known(row, example, what=None, kind=None, says="", where=None, cpu=None,
          everywhere=True):
    """Makes an entry for the Disagreements of this function or one of these, of this kind, whose text has these
    words, and of which where(e) is true; with cpu, only where PyTorch computes at that level. everywhere=False: PyTorch's
    library of products chooses its loop by the maker of the CPU, so the example differs on some alone."""
    names = (what,) if isinstance(what, str) else what

    def covers(e):
        return (not names or e.what in names) and kind in (None, e.kind) and says in e.text and \
            (not where or where(e))

    if cpu in (None, torch.backends.cpu.get_cpu_capability()):
        KNOWN.append(Known(row, example, covers))
        KNOWN[-1].everywhere = everywhere


def which(e):
    """The entry that covers a disagreement, or None."""
    for k in KNOWN:
        try:
            if k.covers(e):
                return k
        except (AttributeError, IndexError, KeyError, RuntimeError, TypeError, ValueError):
            pass    # it is made for other arguments
    return None


def rows_of_page():
    """The first cells of the tables."""
    with open(PAGE, encoding="utf-8") as f:
        return {line.split(" | ")[0][2:] for line in f if line.startswith("| ")}


def stale(hd, rows):
    """The entries whose example no longer differs as they say, or whose row is gone, with the reason."""
    found, page = [], rows_of_page()
    for k in KNOWN:
        if k.row not in page:
            found.append("docs/differences.md has no row \"%s\"" % k.row)
        e = k.shown(hd, rows)
        if e is None and not k.everywhere:
            continue
        if e is None:
            found.append("%s: its example no longer differs; take the entry out" % k.row)
        elif which(e) is not k:
            found.append("%s: its example differs in another way: %s: %s: %s" % (
                k.row, e.what, e.kind, e.text))
    return found


# ---- what examples are made of

X, Y, Z, W, V, U = (Var(name) for name in "xyzwvu")
F32, F64, I64, BOOL = torch.float32, torch.float64, torch.int64, torch.bool
INF = float("inf")


def leaf(name, shape, source=None, dtype=F32):
    """Ones, if no elements are given."""
    n = torch.Size(shape).numel()
    return (name, "leaf", [dtype, list(shape), [1.0] * n if source is None else source])


def grad(name, on=True):
    return (name, "requires_grad", [name, on])


def mode(on):
    return (Var("mode"), "grad_mode", [on])


def backward(y, dy=None, retain=False):
    return (Var("done"), "backward", [y, dy, retain])


# ---- what entries ask

def of_zeros(e):
    """True if only the signs of zeros differ."""
    return re.search(r"heed -?0\.0 \(.*\), PyTorch -?0\.0 \(", e.text)


def among(e, name, names):
    """True if a tensor is one of these. x op= y gives x a second name."""
    return any(e.env[name][1] is e.env[other][1] for other in names)


def gradient_of(e):
    """The name of the tensor whose gradient differs."""
    return re.match(r"gradient of (\w+):", e.text).group(1)


def moving(strides, shape):
    """The (stride, size) of the dims of more than one index."""
    return [(s, n) for s, n in zip(strides, shape) if n > 1]


def row_major(strides, shape):
    found = [s for s, _ in moving(strides, shape)]
    return found == sorted(found, reverse=True) and 0 not in found


def without_gaps(strides, shape):
    """True if each element has its own place, with no free place between them."""
    step = 1
    for s, n in sorted(moving(strides, shape)):
        if s != step:
            return False
        step *= n
    return True


def has_infinity(e):
    """True if one of the last call's arguments is not finite."""
    args = [e.env[a][1] for a in e.machine.last[1] if isinstance(a, Var)]
    return any(not t.detach().isfinite().all() for t in args)
