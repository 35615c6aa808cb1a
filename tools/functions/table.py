"""The table of functions (rows.py), and the words in which its rows are written.

    section("unary")
    row("hd_exp", "torch.exp({0})", "float", grad("mn | bmn", -2, 2), survey("x fd cts B"), fuzz(16),
        loop("exp(x)", 2), golden=CLOSE, **EACH)

row(name, python, arguments, ...)
    name: the function as the header declares it. python: the same call in PyTorch, of the arguments {0}, {1}
    and so on; a count and its array are one argument. arguments: how tools/oracle/arguments.py makes random
    ones. Then follow any number of the words below, and
    tolerance, scale, gradient, gradient_zeros, graph, indices, random, weight: the oracle's
        rules of comparison (tools/oracle/machine.py); without a tolerance every bit must be the same
    golden: EXACT or CLOSE, how close the values of tests/golden/ops.txt, grads.txt and signs.txt must be
    cases: the calls of the golden scripts: of an elementwise function, tuples of its numbers; of any other function,
        dicts of its arguments by name, which may have the `shapes` of the inputs (golden_table.py)
    node: the name of the result's node, as PyTorch has it
    optional: the names of tensors that may be HD_NONE
    memory: a call for tests/faults_memory, of its world w, where one of tensors of (3, 3) would not do
    inplace: it changes its first argument, as those do whose name ends in _
    constant: its result has no gradient, so that there is no grad()
grad(shapes, lo, hi, call, note=, flags=)
    A gradcheck row (tests/ops/gradcheck_rows.h). The inputs x, y, z and w have these shapes: a letter is a
    size, () is 0-d. Further shapes follow after |. Values lie between lo and hi.
survey(inputs and so on, call, name=, python=)
    An operation of the survey: inputs, dtypes, layouts and way, in the letters of bench/survey.c. python: the
    code of a PyTorch user, if it differs from the call above.
fuzz(number, call, name=)
    A call of the programs that the fuzzer invents, of the operands in tests/fuzz/fuzz_ops.c. Its number stays
    for ever, because inputs are made of numbers. A new call takes the next number, which tools/functions/make
    names if a number is used twice or left out.
loop(exact, ulps, params=)
    The loop of float32 is compared with the C expression `exact` of a double x; it may be off by `ulps`
    units in the last place.
double(exact, ulps, room)
    As loop, for float64 and a long double x, for inputs up to `room`.
refuses(call, code, message)
    A call that fails with this HD_ code and message, of x (float32), i (int64) and b (bool), all (2, 3).

Without `call` the call is of x, y, z in the order of the parameters (calls.py). A call may use the C helpers of
tests/ops/gradcheck_calls.h, tests/fuzz/fuzz_ops.c or bench/survey.c: a function with unusual arguments has its helper
there.
"""
import collections
from math import inf as INF, nan as NAN     # noqa: F401

EXACT, CLOSE = True, False
ULPS = 1e-6     # about 8 units in the last place of float32
SUMS = 4e-6     # a sum in another order
EACH = {"tolerance": ULPS, "scale": "no_scale"}     # of each element, however small

Grad = collections.namedtuple("Grad", "shapes lo hi call note flags")
Survey = collections.namedtuple("Survey", "inputs dtypes layouts way call name python")
Fuzz = collections.namedtuple("Fuzz", "number call name")
Loop = collections.namedtuple("Loop", "exact ulps params")
Double = collections.namedtuple("Double", "exact ulps room")
Refuses = collections.namedtuple("Refuses", "call code message")
ORACLE = {"tolerance": 0, "scale": None, "gradient": None, "gradient_zeros": True, "graph": True,
          "indices": True, "random": False, "weight": 1}


def grad(shapes, lo, hi, call=None, note="", flags=""):
    return Grad([[s.strip("()") for s in one.split()] for one in shapes.split("|")], lo, hi, call, note,
                flags)


def survey(what, call=None, name=None, python=None):
    return Survey(*what.split(), call, name, python)


def fuzz(number, call=None, name=None):
    return Fuzz(number, call, name)


def loop(exact, ulps, params=()):
    return Loop(exact, ulps, params)


def double(exact, ulps, room):
    return Double(exact, ulps, room)


def refuses(call, code, message):
    return Refuses(call, code, message)


class Row:
    def __init__(self, name, python, arguments, words, more):
        self.part, self.name, self.python, self.arguments = more.pop("part"), name, python, arguments
        self.oracle = {k: more.pop(k, default) for k, default in ORACLE.items()}
        self.golden, self.cases = more.pop("golden", None), more.pop("cases", ())
        self.node, self.optional, self.memory = (more.pop(k, None) for k in ("node", "optional", "memory"))
        self.inplace, self.constant = more.pop("inplace", name.endswith("_")), more.pop("constant", False)
        assert not more, f"{name}: {more}"
        kinds = (self.grads, self.surveys, self.fuzzes, self.loops, self.doubles, self.refusals) = [
            [w for w in words if isinstance(w, kind)] for kind in (Grad, Survey, Fuzz, Loop, Double, Refuses)]
        assert len(words) == sum(map(len, kinds)), name

    @property
    def short(self):
        """exp of hd_exp, view of hd_view_n"""
        return self.name[3:-2] if self.name.endswith("_n") else self.name[3:]


ROWS = {}
current = {}


def section(name, **more):
    """Begins a section of rows; more: settings of all its rows."""
    current.clear()
    current.update(more, part=name)


def row(name, python=None, arguments=None, *words, **more):
    assert name not in ROWS, name
    ROWS[name] = Row(name, python, arguments, words, {**current, **more})


def read():
    """{name: Row} in the order of rows.py"""
    from functions import rows  # noqa: F401
    return ROWS
