"""Where heed and PyTorch differ on purpose. Each entry says which disagreements it covers, why, and
has an example that must still disagree: an entry that no longer differs fails the run.

The page of differences in docs has them for readers; `row` is a part of a line there.
"""
import math

import torch

import shrink
from machine import Index, Var

KNOWN = []


class Known:
    """covers(e): is this Disagreement the difference? example: steps that show it."""

    def __init__(self, name, row, covers, example, reason):
        self.name, self.row, self.covers, self.example = name, row, covers, example
        self.reason = reason


def known(name, row, reason, example):
    def add(covers):
        KNOWN.append(Known(name, row, covers, example, reason))
        return covers
    return add


X, Y, Z, W = Var("x"), Var("y"), Var("z"), Var("w")
F32, F64, I64, BOOL = torch.float32, torch.float64, torch.int64, torch.bool


def leaf(name, shape, source, dtype=F32):
    return (name, "leaf", [dtype, list(shape), source])


def grad(name):
    return (name, "requires_grad", [name])


def which(e):
    """The entry that covers a disagreement, or None."""
    for k in KNOWN:
        try:
            if k.covers(e):
                return k
        except (AttributeError, IndexError, TypeError, KeyError):  # made for other arguments
            pass
    return None


def stale(hd, rows):
    """The entries whose example no longer differs as they say, with the reason."""
    found = []
    for k in KNOWN:
        e = shrink.replay(hd, rows, k.example)
        if e is None:
            found.append("%s: its example no longer differs; take the entry out" % k.name)
        elif which(e) is not k:
            found.append("%s: its example differs in another way: %s: %s" % (k.name, e.what, e.text))
    return found


@known("expanded", "fill_, zero_ and masked_fill_ of an expanded tensor",
       "several elements share memory, so the result would depend on the order of writing; heed refuses",
       [leaf(X, [1], [1.0]), (Y, "hd_expand_n", [X, [3]]), (Y, "hd_zero_", [Y])])
def expanded(e):
    return e.kind == "error" and "is expanded" in e.text


@known("logsumexp of no dims", "logsumexp over no dims",
       "PyTorch fails inside its own kernel (dims=[] with more than 0 dims); heed takes all dims",
       [leaf(X, [2, 2], [1.0] * 4), (Y, "hd_logsumexp_dims_n", [X, False, []])])
def logsumexp_nothing(e):
    return e.what == "hd_logsumexp_dims_n" and e.args[2] == []


__all__ = ["Index", "KNOWN", "math", "stale", "which"]
