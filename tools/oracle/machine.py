"""Runs a program step by step on both sides, and compares after each step.

A program is a list of steps (dest, what, args). `what` is a function of heed with a row in the table of functions, or
one of the words in DIRECT below. A Var in args is the name of an earlier result. A program is data: it can be run
again, cut, and written as C or as Python (write.py).
"""
import ctypes

import torch

import compare
import values
from binding import int64s, pointers, scalar
from compare import surely_leaf

HOOK = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
GRADIENT_TOLERANCE = 2e-5
ROUGH = 1e-3  # where a gradient went through a whole program


class Var(str):
    """The name of a tensor of the program."""
    __slots__ = ()


class Index(list):
    """The index of x[i, :, j]; values.ALL stands for `:`."""

    def py(self):
        return ", ".join(":" if i == values.ALL else repr(i) for i in self) or "()"

    def torch(self):
        """x[:] and x[(slice(None),)] are not the same to PyTorch: the second is an alias."""
        found = tuple(slice(None) if i == values.ALL else i for i in self)
        return found[0] if len(found) == 1 else found


class Disagreement(Exception):
    """heed and PyTorch differ. kind groups what is the same finding; step: the step's number."""

    def __init__(self, kind, text, what):
        super().__init__(text)
        self.kind, self.text, self.what, self.step = kind, text, what, -1
        self.word, self.args, self.theirs = "", [], []  # the step that differs; theirs: PyTorch's arguments
        self.expected, self.strides = None, None        # PyTorch's tensor, the strides of heed's

    def key(self):
        return self.what, self.kind


def attempt(call):
    """(its result, None), or (None, the exception that it raises)."""
    try:
        return call(), None
    except Exception as e:  # PyTorch raises many kinds
        return None, "%s: %s" % (type(e).__name__, str(e).split("\n")[0])


def set_item(x, value, index):
    """x[index] = value, as a call."""
    x[index] = value
    return x


class Row:
    """A function of heed and its counterpart, of a row of the table of functions. make(g): arguments for it.
    tolerance: 0 for equal bits, else in units of float32 (compare.values_differ). scale: what an absolute
    part of the tolerance is measured in, from PyTorch's arguments. random: it draws, so both sides are
    seeded before. weight: how often it is called beside the others. gradient and gradient_zeros: the
    tolerance of gradients, and whether the signs of their zeros count."""

    def __init__(self, hd, row, make, scale=None):
        self.name, self.python, self.make, self.scale = row.name, row.python, make, scale or largest
        name, python, o = row.name, row.python, row.oracle
        self.inplace, self.random, self.weight = row.inplace, o["random"], o["weight"]
        self.tolerance, self.same_graph, self.compare_indices = o["tolerance"], o["graph"], o["indices"]
        self.gradient_tolerance = o["gradient"] or GRADIENT_TOLERANCE
        self.gradient_zeros = o["gradient_zeros"]
        self.parameters = hd.parameters[name]
        self.inputs = [p for p in self.parameters if p.kind != "out"]
        self.result = hd.decls[name].result
        self.call = getattr(hd, name)
        names = ["_%d" % i for i in range(len(self.inputs))]
        self.torch = eval("lambda %s: %s" % (", ".join(names), python.format(*map(Word, names))),
                          {"torch": torch, "F": torch.nn.functional, "set_item": set_item})


class Word(str):
    """A name in a format: {2[scale]} becomes _2['scale']."""

    def __getitem__(self, key):
        return Word("%s[%r]" % (str(self), key))


def largest(args):
    """The largest finite size among the float tensors of PyTorch's arguments."""
    found = 0.0
    for a in args:
        for t in a if isinstance(a, (list, tuple)) else (a,):
            if isinstance(t, torch.Tensor) and t.dtype.is_floating_point and t.numel():
                x = t.detach().double().abs()
                x = x[x.isfinite()]
                if x.numel():
                    found = max(found, x.max().item())
    return found


def storage(t):
    """What is the same for all views of one tensor."""
    return t.untyped_storage()._cdata


def same_storage(a, b):
    return storage(a) == storage(b)


class Machine:
    """Both sides of one program. env: {name: (heed's handle, PyTorch's tensor)}. Three differences would
    end many programs, so they are forgiven where they begin and the program goes on, unless `plain` is
    set, as for the examples of known.py."""

    def __init__(self, hd, rows, plain=False):
        self.hd, self.rows, self.plain = hd, rows, plain
        self.env = {}
        self.hooks, self.logs, self.kept = {}, ([], []), []
        self.hooked = []        # (name, PyTorch's version then) of each hook so far, also of those refused
        self.made_by = {}       # PyTorch's storage: (the function that made it, its version then)
        self.unrecorded = set()     # views of tensors that require grad, taken while grad mode was off
        self.scope = hd.hd_scope_open()
        self.called = set()     # the functions so far
        self.failed = False     # the last step was an error on both sides

    def close(self):
        self.hd.hd_set_grad_mode(True)
        torch.set_grad_enabled(True)
        self.hd.hd_scope_close(self.scope)
        self.env = {}

    # ---- arguments

    def handle(self, v):
        return self.hd.none if v is None else self.env[v][0]

    def heed_args(self, row, args):
        hd, given, outs, it = self.hd, [], [], iter(args)
        for p in row.parameters:
            if p.kind == "out":
                outs.append(ctypes.c_void_p())
                given.append(ctypes.addressof(outs[-1]))
                continue
            a, kind = next(it), p.kind
            if kind == "tensor":
                given.append(hd.none if a is None else self.env[a][0])
            elif kind == "ints":
                given.append(len(a))
                given.append(int64s(a))
            elif kind == "tensors":
                given.append(len(a))
                given.append(pointers([self.handle(v) for v in a]))
            elif kind == "list":
                given.append(hd.hd_list_n(len(a), pointers([self.handle(v) for v in a])))
            elif kind == "scalar":
                given.append(scalar(a))
            elif kind == "dtype":
                given.append(values.NUMBER[a])
            elif kind == "options":
                fields = {k: self.handle(v) if v is None or isinstance(v, Var) else v
                          for k, v in a.items()}
                self.kept.append(hd.options(p.struct, fields))
                given.append(ctypes.addressof(self.kept[-1]))
            else:
                given.append(a)
        return given, outs

    def torch_arg(self, a):
        if isinstance(a, Var):
            return self.env[a][1]
        if isinstance(a, Index):
            return a.torch()
        if isinstance(a, list):
            return [self.torch_arg(x) for x in a]
        if isinstance(a, dict):
            return {k: self.torch_arg(v) for k, v in a.items()}
        return a

    # ---- steps

    def ready(self, step):
        """True if all names of the step are known."""
        return all(v in self.env for v in variables(step))

    def run(self, step):
        """Runs one step on both sides; raises Disagreement."""
        self.failed = False
        dest, what, args = step
        direct = DIRECT.get(what)
        try:
            if direct:
                direct(self, dest, *args)
            else:
                self.run_row(dest, self.rows[what], args)
        except Disagreement as e:
            e.word, e.args, e.theirs = what, args, [self.torch_arg(a) for a in args]
            e.machine, e.env = self, dict(self.env)
            raise

    def run_row(self, dest, row, args):
        hd, self.last = self.hd, (row.name, args)
        self.called.add(row.name)
        given, outs = self.heed_args(row, args)
        theirs = [self.torch_arg(a) for a in args]
        if row.random:
            hd.hd_manual_seed(1234)
            torch.manual_seed(1234)
        expected, message = attempt(lambda: row.torch(*theirs))
        result = row.call(*given)
        error = hd.error() if hd.hd_error_code() else ""
        if message is not None or error:
            self.errors_agree(row.name, message, error)
            return
        self.results_agree(dest, row, theirs, args, result, outs, expected)

    def errors_agree(self, what, message, error):
        if message is None:
            raise Disagreement("error", "heed fails (%s), PyTorch does not" % error, what)
        if not error:
            raise Disagreement("no error", "PyTorch fails (%s), heed does not" % message, what)
        self.failed = True

    def results_agree(self, dest, row, theirs, args, result, outs, expected):
        kind = row.result
        if kind == "hd_tensor *":
            if outs:
                got = [(dest, result, expected[0])]
                if row.compare_indices:
                    got.append((Var(dest + "_1"), outs[0].value, expected[1]))
            else:
                got = [(dest, result, expected)]
        elif kind == "hd_list *":
            n = self.hd.hd_list_len(result)
            if n != len(expected):
                raise Disagreement("count", "heed gives %d tensors, PyTorch %d" % (n, len(expected)),
                                   row.name)
            got = [(Var("%s_%d" % (dest, i)), self.hd.hd_list_get(result, i), expected[i])
                   for i in range(n)]
        else:
            if result != expected and not (result != result and expected != expected):
                raise Disagreement("result", "heed gives %r, PyTorch %r" % (result, expected), row.name)
            return
        itself = bool(got and theirs) and got[0][2] is theirs[0]
        mine = bool(got and args) and isinstance(args[0], Var) and got[0][1] == self.env[args[0]][0]
        if itself != mine:
            raise Disagreement("itself", "PyTorch %s its argument, heed does not agree"
                               % ("returns" if itself else "does not return"), row.name)
        for name, h, t in got:
            self.tensor_agrees(row, name, h, t, args, theirs)
            self.origin(row, name, t, theirs)
            self.version_agrees(row, h, t)
        if row.inplace:
            for name, (h, t) in self.env.items():
                text, _ = compare.differs(self.hd, h, t, row.tolerance, row.scale([t]))
                if text:
                    raise Disagreement("other " + text.split(":")[0].split(" at")[0],
                                       "%s after the change: %s" % (name, text), row.name)
        if row.random:
            self.generators_agree(row.name)

    def view_differs(self, h, t, args, theirs):
        """A view of a tensor whose strides are all equal has equal strides, even of dims of size 1."""
        for a, x in zip(args, theirs):
            if isinstance(a, Var) and same_storage(x, t) and \
                    compare.facts(self.hd, self.env[a][0]).stride == x.stride():
                mine = compare.facts(self.hd, h).stride
                return "" if mine == t.stride() else "strides: heed %r, PyTorch %r" % (mine, t.stride())
        return ""

    def tensor_agrees(self, row, name, h, t, args, theirs):
        text, exact = compare.differs(self.hd, h, t, graph=row.same_graph)
        text = text or self.view_differs(h, t, args, theirs)
        if text and row.tolerance and text.startswith("value"):
            text, _ = compare.differs(self.hd, h, t, row.tolerance, row.scale(theirs), row.same_graph)
        if text:
            e = Disagreement(text.split(":")[0].split(" at")[0], "%s: %s" % (name, text), row.name)
            e.expected, e.strides = t, compare.facts(self.hd, h).stride
            raise e
        if not exact:
            compare.take_over(self.hd, h, t)
        if name:
            self.env[name] = (h, t)

    def origin(self, row, name, t, theirs):
        """Notes where a tensor comes from."""
        base = next((x for x in theirs if isinstance(x, torch.Tensor) and same_storage(x, t)), None)
        if base is not None:
            if base.requires_grad and not torch.is_grad_enabled() and not row.inplace:
                self.unrecorded.add(name)
            return
        self.made_by[storage(t)] = row.name, 0 if self.plain else t._version

    def version_agrees(self, row, h, t):
        mine, theirs = self.hd.hd_version_of(h), t._version - self.made_by.get(storage(t), ("", 0))[1]
        if mine != theirs:
            raise Disagreement("version", "version: heed %d, PyTorch %d" % (mine, theirs), row.name)

    def generators_agree(self, what):
        g = self.hd.hd_generator_current()
        mine = self.hd.hd_generator_random(g) % (1 << 20)
        theirs = int(torch.randint(0, 1 << 20, ()))
        if mine != theirs:
            raise Disagreement("draws", "another number of draws was taken", what)

    # ---- the steps that are no row

    def leaf(self, dest, dtype, shape, source, at=0):
        if isinstance(source, str):
            t = values.drawn(source, dtype, shape, at)
        else:
            t = torch.tensor(source, dtype=dtype).reshape(shape).clone()
        h = self.hd.hd_from_data_n(values.NUMBER[dtype], t.data_ptr() or 16, len(shape), int64s(shape))
        self.env[dest] = (h, t)

    def requires_grad(self, dest, x, on=True):
        self.both("hd_requires_grad_", lambda h: self.hd.hd_requires_grad_(h, on),
                  lambda t: t.requires_grad_(on), x)

    def grad_mode(self, dest, on):
        torch.set_grad_enabled(on)
        self.hd.hd_set_grad_mode(on)

    def retain_grad(self, dest, x):
        self.both("hd_retain_grad", lambda h: self.hd.hd_retain_grad(h), lambda t: t.retain_grad(), x)

    def both(self, what, mine, theirs, x):
        h, t = self.env[x]
        _, message = attempt(lambda: theirs(t))
        mine(h)
        error = self.hd.error()
        if message is not None or error:
            self.errors_agree(what, message, error)

    def show(self, dest, x):
        h, t = self.env[x]
        mine, theirs = self.hd.hd_repr(h).decode(), repr(t)
        if mine != theirs:
            raise Disagreement("repr", "heed prints\n%s\nPyTorch prints\n%s" % (mine, theirs), "hd_repr")

    def hook(self, dest, x, kind):
        hd, log, number = self.hd, self.logs, len(self.hooked)

        def mine(grad, user):
            log[0].append(number)
            return hd.hd_mul_scalar(grad, scalar(2.0)) if kind == "twice" else hd.none

        def theirs(grad):
            if grad is None and not self.plain:
                return None     # PyTorch calls the hook of an output that got no gradient
            log[1].append(number)
            return grad * 2.0 if kind == "twice" and grad is not None else None

        pointer = HOOK(mine)
        self.kept.append(pointer)
        found = {}

        def register(h):
            found["id"] = hd.hd_register_hook(h, ctypes.cast(pointer, ctypes.c_void_p), None)

        def register_theirs(t):
            found["handle"] = t.register_hook(theirs)

        self.both("hd_register_hook", register, register_theirs, x)
        self.hooks[number] = (x, found.get("id"), found.get("handle"))
        self.hooked.append((x, self.env[x][1]._version))

    def remove_hook(self, dest, number):
        if number in self.hooks and self.hooks[number][2]:
            x, i, handle = self.hooks.pop(number)
            handle.remove()
            if not self.hd.hd_remove_hook(self.env[x][0], i):
                raise Disagreement("error", "heed fails (%s), PyTorch does not" % self.hd.error(),
                                   "hd_remove_hook")

    def node(self, dest, x):
        """hd_grad_node gives the node of whatever requires grad."""
        h, t = self.env[x]
        self.hd.hd_grad_node(h)
        error = self.hd.error()
        if error or not t.requires_grad:
            self.errors_agree("hd_grad_node", None if t.requires_grad else "no node", error)

    def backward(self, dest, y, grad, retain):
        # PyTorch may keep the gradient that it is given as .grad, and add to it later.
        t, g = self.env[y][1], None if grad is None else self.env[grad][1].clone()
        _, message = attempt(lambda: torch.autograd.backward(t, g, retain_graph=retain))
        self.hd.hd_backward_with(self.handle(y), self.handle(grad), retain)
        error = self.hd.error()
        if message is not None or error:
            self.errors_agree(self.topic or "hd_backward_with", message, error)
            self.spoilt = True
            return
        self.gradients_agree()

    def gradients_agree(self):
        hd = self.hd
        if self.logs[0] != self.logs[1]:
            raise Disagreement("hooks", "hooks ran as %r, in PyTorch as %r" % self.logs, "hd_register_hook")
        found, largest_of_all = [], 1.0
        for name, (h, t) in self.env.items():
            if not t.requires_grad or not (surely_leaf(t) or t.retains_grad):
                continue
            g = hd.hd_grad(h)
            if (t.grad is None) != (g == hd.none):
                raise Disagreement("gradient", "gradient of %s: heed %s, PyTorch %s" % (
                    name, "none" if g == hd.none else "one", "none" if t.grad is None else "one"),
                    self.topic or "hd_backward_with")
            if t.grad is not None:
                found.append((name, g, t.grad))
        self.gradient_list_agrees(found)

    def gradient_list_agrees(self, found, what="hd_backward_with"):
        scale = 0.0
        for name, h, t in found:
            text, exact = compare.differs(self.hd, h, t, graph=False, strides=t.numel() > 0)
            if not exact and text.startswith("value"):
                scale = scale or max(1.0, largest([t for _, _, t in found]),
                                     largest([t for _, t in self.env.values()]))
                text, _ = compare.differs(self.hd, h, t, self.tolerance_of(t), scale, False,
                                          zeros=self.gradient_zeros)
            if text:
                kind = "gradient " + text.split(":")[0].split(" at")[0]
                e = Disagreement(kind, "gradient of %s: %s" % (name, text), self.topic or what)
                e.expected, e.strides = t, compare.facts(self.hd, h).stride
                raise e

    def tolerance_of(self, t):
        """A float64 gradient that came through float32 has float32's precision."""
        mixed = t.dtype == torch.float64 and any(x.dtype == torch.float32 for _, x in self.env.values())
        return self.gradient_tolerance * (2.0 ** 29 if mixed else 1)

    gradient_tolerance = GRADIENT_TOLERANCE
    gradient_zeros = True   # does the sign of a zero count in gradients?
    spoilt = False  # a backward failed, so that PyTorch may have half of the gradients
    last = (None, [])   # the last function that was called, and its arguments
    topic = None    # the function that a finding about a wrong gradient names: that of the case

    def grad_of(self, dest, outputs, inputs, grads, retain, allow_unused):
        hd = self.hd
        kept = [(t, t.grad) for _, t in self.env.values() if t.requires_grad and t.retains_grad]
        expected, message = attempt(lambda: torch.autograd.grad(
            [self.env[v][1] for v in outputs], [self.env[v][1] for v in inputs],
            None if grads is None else [None if v is None else self.env[v][1].clone() for v in grads],
            retain_graph=retain, allow_unused=allow_unused))
        for t, g in kept if not self.plain else ():     # autograd.grad writes .grad where it is retained
            t.grad = g
        lists = [hd.hd_list_n(len(vs), pointers([self.handle(v) for v in vs]))
                 for vs in (outputs, inputs)]
        last = None if grads is None else hd.hd_list_n(len(grads), pointers(
            [self.handle(v) for v in grads]))
        o = hd.options("hd_grad_options", {"retain_graph": retain, "allow_unused": allow_unused})
        result = hd.hd_grad_of(lists[0], lists[1], last, ctypes.addressof(o))
        error = hd.error()
        if message is not None or error:
            self.errors_agree("hd_grad_of", message, error)
            self.spoilt = True
            return
        if self.logs[0] != self.logs[1]:
            e = Disagreement("hooks", "hooks ran as %r, in PyTorch as %r" % self.logs, "hd_grad_of")
            e.expected = expected
            raise e
        found = []
        for i, t in enumerate(expected):
            g = hd.hd_list_get(result, i)
            if (t is None) != (g == hd.none):
                raise Disagreement("gradient", "gradient %d: heed %s, PyTorch %s" % (
                    i, "none" if g == hd.none else "one", "none" if t is None else "one"), "hd_grad_of")
            if t is not None:
                found.append((inputs[i], g, t))
        self.gradient_list_agrees(found, "hd_grad_of")


DIRECT = {
    "leaf": Machine.leaf, "requires_grad": Machine.requires_grad, "grad_mode": Machine.grad_mode,
    "retain_grad": Machine.retain_grad, "print": Machine.show, "hook": Machine.hook,
    "remove_hook": Machine.remove_hook, "node": Machine.node,
    "backward": Machine.backward, "grad_of": Machine.grad_of,
}


def variables(step):
    """The names that a step uses."""
    found = []

    def look(a):
        if isinstance(a, Var):
            found.append(a)
        elif isinstance(a, (list, tuple)):
            for x in a:
                look(x)
        elif isinstance(a, dict):
            for x in a.values():
                look(x)

    look(step[2])
    return found
