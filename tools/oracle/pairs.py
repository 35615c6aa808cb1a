"""Code that the sections without a table share: a pair of a heed object and PyTorch's, and comparisons that raise a
Disagreement. A case describes itself in `said`, which is printed with a finding.
"""
import ctypes
import random

import torch

import compare
import values
from binding import int64s, pointers
from machine import Disagreement, attempt

class Done(Exception):
    """Both sides refused: the case ends here, because PyTorch may have done half of it."""


class Pair:
    """One case: the library, the case's random numbers, and its description."""

    def __init__(self, hd, seed):
        self.hd, self.r = hd, random.Random(seed)
        self.said, self.kept = [], []
        self.scope = hd.hd_scope_open()

    def close(self):
        self.hd.hd_set_grad_mode(True)
        torch.set_grad_enabled(True)
        for free in reversed(self.kept):
            free()
        self.hd.hd_scope_close(self.scope)
        self.hd.hd_error_clear()

    def say(self, text):
        self.said.append(text)

    def owned(self, handle, free):
        """An object of heed, which is freed with the case."""
        self.ok(handle, "a constructor")
        self.kept.append(lambda: getattr(self.hd, free)(handle))
        return handle

    # ---- chances

    def pick(self, things):
        return things[int(self.r.random() * len(things))]

    def chance(self, p):
        return self.r.random() < p

    def drawn(self, shape, dtype=torch.float32, kind="normal"):
        return values.drawn(kind, dtype, list(shape), self.r.randrange(values.POOL))

    def seed(self, n=None):
        """Both default generators begin at the same place."""
        n = self.r.randrange(1 << 40) if n is None else n
        self.hd.hd_manual_seed(n)
        torch.manual_seed(n)

    # ---- tensors

    def tensor(self, t, grad=False):
        """heed's copy of a tensor of PyTorch (row-major)."""
        c = t.detach().contiguous()
        h = self.hd.hd_from_data_n(values.NUMBER[t.dtype], c.data_ptr() or 16, c.dim(), int64s(c.shape))
        if grad:
            self.hd.hd_requires_grad_(h, True)
        return self.ok(h, "hd_from_data_n")

    def read(self, h):
        """A copy of heed's tensor for PyTorch."""
        return compare.aliased(compare.facts(self.hd, h)).clone()

    def list(self, handles):
        return self.hd.hd_list_n(len(handles), pointers(handles))

    def fail(self, what, kind, text):
        raise Disagreement(kind, text, what)

    def ok(self, result, what):
        if self.hd.hd_error_code():
            self.fail(what, "error", "heed fails (%s)" % self.hd.error())
        return result

    def same(self, what, h, t, tolerance=0, scale=None, graph=False, strides=True, zeros=True):
        """heed's tensor is PyTorch's."""
        self.ok(h, what)
        if h == self.hd.none or t is None:
            if (h == self.hd.none) != (t is None):
                self.fail(what, "none", "%s: heed %s, PyTorch %s" % (
                    what, "none" if h == self.hd.none else "a tensor", "none" if t is None else "one"))
            return
        if scale is None:
            scale = float(t.detach().double().abs().nan_to_num(0, 0, 0).max()) if t.numel() else 0.0
        text, _ = compare.differs(self.hd, h, t, tolerance, scale, graph, strides, zeros)
        if text:
            self.fail(what, text.split(":")[0].split(" at")[0], "%s: %s" % (what, text))

    def equal(self, what, mine, theirs):
        self.ok(mine, what)
        if mine != theirs and not (mine != mine and theirs != theirs):
            self.fail(what, "result", "%s: heed %r, PyTorch %r" % (what, mine, theirs))

    def near(self, what, mine, theirs, tolerance):
        self.ok(mine, what)
        if not abs(mine - theirs) <= tolerance * max(1.0, abs(theirs)):
            self.equal(what, mine, theirs)

    def agree(self, what, mine, theirs):
        """Calls both; an error must be one on both sides, and ends the case. Returns (heed's, PyTorch's)."""
        expected, message = attempt(theirs)
        got = mine()
        error = self.hd.error()
        if bool(error) != (message is not None):
            self.fail(what, "error" if error else "no error", "%s: heed %s, PyTorch %s" % (
                what, "fails (%s)" % error if error else "does not fail",
                "fails (%s)" % message if message else "does not"))
        if error:
            raise Done
        return got, expected

    def draws(self, what):
        """Both default generators are at the same place."""
        mine = self.hd.hd_generator_random(self.hd.hd_generator_current()) % (1 << 24)
        theirs = int(torch.randint(0, 1 << 24, ()))
        if mine != theirs:
            self.fail(what, "draws", "%s: another number of draws was taken" % what)

    # ---- dictionaries

    def dict(self, handle=None):
        """A new hd_dict, or the one that is given; it is freed with the case."""
        d = handle or self.hd.hd_dict_new()
        self.kept.append(lambda: self.hd.hd_dict_free(d))
        return d

    def entries(self, d):
        """[(name, kind, value)] of an hd_dict; a tensor as its handle."""
        hd, found = self.hd, []
        for i in range(hd.hd_dict_len(d)):
            name = hd.hd_dict_name(d, i)
            kind = hd.hd_dict_kind_of(d, name)
            if kind == 1:
                value = hd.hd_dict_get(d, name)
            elif kind == 2:
                value = hd.hd_dict_get_string(d, name)
            elif kind == 3:
                box = ctypes.c_int64()
                hd.hd_dict_get_int(d, name, ctypes.addressof(box))
                value = box.value
            else:
                box = ctypes.c_double()
                hd.hd_dict_get_double(d, name, ctypes.addressof(box))
                value = box.value
            found.append((name.decode(), kind, value))
        return found

    def tensors(self, d):
        return {n: v for n, k, v in self.entries(d) if k == 1}

    def same_dict(self, what, d, theirs, **more):
        """The dict has the tensors of PyTorch's, in its order."""
        mine = self.entries(self.ok(d, what))
        self.equal(what + " names", [n for n, _, _ in mine], list(theirs))
        for name, _, h in mine:
            self.same("%s[%s]" % (what, name), h, theirs[name], **more)


def run(case, hd, seed):
    """Runs a case. Returns (its description, Disagreement or None)."""
    p = Pair(hd, seed)
    try:
        case(p)
        return p.said, None
    except Done:
        return p.said, None
    except Disagreement as e:
        return p.said, e
    finally:
        p.close()
