"""Shrinks a program that shows a disagreement: fewer steps, smaller sizes, simpler values. The disagreement must keep
its key (the function and the kind).
"""
import torch

import values
from machine import Disagreement, Index, Machine, Var


def replay(hd, rows, steps, tolerance=None, topic=None, plain=False):
    """The Disagreement that the steps show, or None. A step whose names are unknown is left out. plain:
    see Machine."""
    machine = Machine(hd, rows, plain)
    machine.topic = topic
    if tolerance:
        machine.gradient_tolerance, machine.gradient_zeros = tolerance, False
    elif topic in rows:
        row = rows[topic]
        machine.gradient_tolerance, machine.gradient_zeros = row.gradient_tolerance, row.gradient_zeros
    try:
        for i, step in enumerate(steps):
            if machine.ready(step):
                machine.run(step)
    except Disagreement as e:
        e.step = i
        return e
    finally:
        machine.close()
        hd.hd_error_clear()
    return None


class Shrinker:
    """Tries changes of the steps, and keeps each under which the disagreement stays."""

    def __init__(self, hd, rows, steps, key, tolerance=None, topic=None, tries=600, covered=None):
        self.hd, self.rows, self.key, self.tries = hd, rows, key, tries
        self.covered = covered      # says of a Disagreement whether it is a known difference
        self.tolerance, self.topic = tolerance, topic
        self.steps = [(d, w, list(a)) for d, w, a in steps]

    def holds(self, steps):
        if self.tries <= 0:
            return False
        self.tries -= 1
        try:
            found = replay(self.hd, self.rows, steps, self.tolerance, self.topic)
        except Exception:  # arguments that no longer fit together
            self.hd.hd_error_clear()
            return False
        return found is not None and found.key() == self.key and not (self.covered and self.covered(found))

    def keep(self, steps):
        if self.holds(steps):
            self.steps = steps
            return True
        return False

    def run(self):
        found = replay(self.hd, self.rows, self.steps, self.tolerance, self.topic)
        if found is None or found.key() != self.key:
            return self.steps
        self.keep(self.steps[:found.step + 1])
        changed = True
        while changed and self.tries > 0:
            changed = self.fewer_steps() | self.fewer_views() | self.smaller() | self.simpler()
        return self.steps

    def fewer_steps(self):
        changed, i = False, len(self.steps) - 1
        while i >= 0:
            if self.keep(self.steps[:i] + self.steps[i + 1:]):
                changed = True
            i -= 1
        return changed

    def fewer_views(self):
        """A step's result is replaced by its first tensor."""
        changed = False
        for i in range(len(self.steps) - 1, -1, -1):
            dest, what, args = self.steps[i]
            if what == "leaf" or not args or not isinstance(args[0], Var) or dest == args[0]:
                continue
            rest = [(d, w, renamed(a, dest, args[0])) for d, w, a in self.steps[i + 1:]]
            changed |= self.keep(self.steps[:i] + rest)
        return changed

    def smaller(self):
        """One size becomes smaller everywhere: in leaves and in lists of sizes."""
        changed = False
        sizes = sorted({s for d, w, a in self.steps if w == "leaf" for s in a[1]}, reverse=True)
        for size in sizes:
            for new in (1, 2, size // 2, size - 1):
                if 0 < new < size and self.keep([resized(s, size, new) for s in self.steps]):
                    changed = True
                    break
        return changed

    def simpler(self):
        """The values of a leaf: all 1, all 0, small whole numbers, or one of them 0."""
        changed = False
        for i, (dest, what, args) in enumerate(self.steps):
            if what != "leaf" or args[0] == torch.bool:
                continue
            n = values.numel(args[1])
            old = values_of(args)
            tries = [[1] * n, [0] * n, [k + 1 for k in range(n)]]
            if n <= 8:
                rounded = [float(round(v)) if v == v and abs(v) < 1e9 else v for v in old]
                tries += [rounded, [float("%.2g" % v) if v == v else v for v in old]]
                tries += [old[:k] + [0.0] + old[k + 1:] for k in range(n) if old[k] != 0]
            if 8 < n <= 512:
                tries += [old[:k] + [0] * len(old[k:k + n // 4 + 1]) + old[k + n // 4 + 1:]
                          for k in range(0, n, n // 4 + 1) if any(old[k:k + n // 4 + 1])]
            for new in tries:
                if args[0].is_floating_point:
                    new = [float(v) for v in new]
                else:
                    new = [int(v) for v in new]
                if repr(new) == repr(old):
                    break
                step = (dest, what, [args[0], args[1], new])
                if self.keep(self.steps[:i] + [step] + self.steps[i + 1:]):
                    changed = True
                    break
        return changed


def values_of(args):
    if isinstance(args[2], str):
        return values.drawn(args[2], args[0], args[1], args[3]).flatten().tolist()
    return list(args[2])


def renamed(a, old, new):
    if isinstance(a, Var):
        return Var(new) if a == old else a
    if isinstance(a, Index):
        return a
    if isinstance(a, list):
        return [renamed(x, old, new) for x in a]
    if isinstance(a, dict):
        return {k: renamed(x, old, new) for k, x in a.items()}
    return a


def resized(step, old, new):
    dest, what, args = step
    if what == "leaf":
        shape = [new if s == old else s for s in args[1]]
        n = values.numel(shape)
        source = args[2] if isinstance(args[2], str) else (values_of(args) + [0] * n)[:n]
        return dest, what, [args[0], shape, source] + args[3:]
    changed = [[new if s == old and isinstance(s, int) and not isinstance(s, bool) else s for s in a]
               if isinstance(a, list) and not isinstance(a, Index) else a for a in args]
    return dest, what, changed
