"""names.txt: the name of a result's node and where the result lies in memory, for operands that are
permuted, sliced, expanded, empty or of several dtypes."""
import warnings

import torch
import torch.nn.functional as F

from golden_format import DTYPES
from golden_layout import Draws, shuffled, strides

ALL = -1 << 63  # HD_ALL: the index `:`
LIST = (torch.float32, torch.float64, torch.int64, torch.bool)
NAMES = {dtype: name for name, dtype in DTYPES.items()}


class Operand:
    """Ones of the sizes `memory`, then permuted, sliced and expanded, each if it is given."""

    def __init__(self, memory, dtype="f32", grad=True, permute=None, slice=None, expand=None):
        self.memory, self.dtype, self.grad = list(memory), dtype, grad and dtype in ("f32", "f64")
        self.permute, self.slice, self.expand = permute, slice, expand

    def write(self, w, field):
        w.ints(field + ".memory", self.memory)
        w.text(field + ".dtype", self.dtype)
        w.ints(field + ".grad", int(self.grad))
        for name in ("permute", "slice", "expand"):
            if getattr(self, name) is not None:
                w.ints(field + "." + name, list(getattr(self, name)))

    def make(self):
        x = torch.ones(self.memory, dtype=DTYPES[self.dtype], requires_grad=self.grad)
        if self.permute is not None:
            x = x.permute(self.permute)
        if self.slice is not None:
            dim, start, stop, step = self.slice
            x = torch.ops.aten.slice(x, dim, start, stop, step)
        return x if self.expand is None else x.expand(self.expand)


def subscript(index):
    """As Python writes it: x[:] is not x[(slice(None),)]."""
    parts = tuple(slice(None) if i == ALL else i for i in index)
    return parts[0] if len(parts) == 1 else parts


def setitem(x, index, v):
    x[subscript(index)] = v
    return x


def change_product(a, b):
    """A product that a view of it changed."""
    y = a @ b
    y.view(-1).mul_(2)
    return y


OPS = {
    "getitem": lambda a, index: a[subscript(index)],
    "setitem": lambda a, v, index: setitem(a.clone(), index, v),
    "setitem_scalar": lambda a, index: setitem(a.clone(), index, 0.25),
    "fill_": lambda a: a.clone().fill_(0.25),
    "zero_": lambda a: a.clone().zero_(),
    "linear": F.linear,
    "attention": F.scaled_dot_product_attention,
    "mse_loss_none": lambda a, b: F.mse_loss(a, b, reduction="none"),
    "add": torch.add,
    "div": torch.div,
    "mul": torch.mul,
    "gt": torch.gt,
    "maximum": torch.maximum,
    "logical_xor": torch.logical_xor,
    "where": torch.where,
    "clone": torch.clone,
    "double": torch.Tensor.double,
    "rand_like": lambda a: torch.rand_like(a, dtype=torch.float32),
    "change_product": change_product,
}


class Cases:
    def __init__(self, w):
        self.w, self.draws, self.count = w, Draws(), {}

    def add(self, op, *operands, index=None):
        self.count[op] = self.count.get(op, 0) + 1
        w = self.w
        w.case(f"{op}_{self.count[op]:03d}")
        w.text("op", op)
        for i, x in enumerate(operands):
            x.write(w, f"in{i}")
        more = {}
        if index is not None:
            w.ints("index", index)
            more["index"] = index
        y = OPS[op](*[x.make() for x in operands], **more)
        w.text("name", type(y.grad_fn).__name__ if y.grad_fn is not None else "")
        strides(w, "out", y)

    def below(self, n):
        return self.draws.below(n)

    def chance(self, n):
        return self.below(n) == 0

    def operand(self, sizes, dtype="f32", grad=True, expands=True):
        """Of these sizes, in a layout that is drawn."""
        sizes, n = list(sizes), len(sizes)
        shown, cut, expand = list(sizes), None, None
        if expands and n and self.chance(3):
            shown[self.below(n)] = 1
            expand = sizes
        elif n and self.chance(3):
            dim = self.below(n)
            cut = [dim, 0, 2 * shown[dim], 2]
            shown[dim] *= 2
        order = shuffled(self.draws, n) if self.chance(2) else list(range(n))
        permute = None if order == sorted(order) else [order.index(d) for d in range(n)]
        return Operand([shown[d] for d in order], dtype, grad, permute, cut, expand)

    def sizes(self, low, high, most=4):
        return [1 + self.below(most) for _ in range(low + self.below(high - low + 1))]


def subscripts(c):
    for index in ([], [ALL], [0], [ALL, ALL], [ALL, 0], [1, 2]):
        c.add("getitem", Operand((3, 4)), index=index)
        c.add("setitem_scalar", Operand((3, 4)), index=index)
        for v in ((), (1,)):
            c.add("setitem", Operand((3, 4)), Operand(v), index=index)
            c.add("setitem", Operand((3, 4), grad=False), Operand(v), index=index)
    c.add("getitem", Operand(()), index=[])
    c.add("setitem", Operand((3, 4)), Operand((4,)), index=[ALL])
    c.add("setitem", Operand((3, 4)), Operand((4,)), index=[2])
    c.add("setitem", Operand((3, 4)), Operand((3, 1), "f64"), index=[ALL])
    c.add("setitem", Operand((3, 4)), Operand((), "f64"), index=[ALL])
    c.add("setitem", Operand((3, 4)), Operand((4, 3), permute=[1, 0]), index=[])
    for op in ("fill_", "zero_"):
        c.add(op, Operand((3, 4)))
        c.add(op, Operand((3, 4), permute=[1, 0]))


def linears(c):
    """With a bias of each layout and without one."""
    biases = (None, Operand((2,)), Operand((4,), slice=[0, 0, 4, 2]), Operand((1,), expand=[2]))
    for bias in biases:
        bias = [bias] if bias else []
        for sizes in ((4,), (3, 4), (2, 3, 4), (2, 1, 3, 4), (1, 4), (1, 1, 4), (0, 4), (2, 0, 4)):
            c.add("linear", Operand(sizes), Operand((2, 4)), *bias)
        c.add("linear", Operand((8,), slice=[0, 0, 8, 2]), Operand((2, 4)), *bias)
        c.add("linear", Operand((1,), expand=[4]), Operand((2, 4)), *bias)
        c.add("linear", Operand((2, 4, 3), permute=[0, 2, 1]), Operand((2, 4)), *bias)
        c.add("linear", Operand((3, 2, 4), permute=[1, 0, 2]), Operand((2, 4)), *bias)
        c.add("linear", Operand((4, 3), permute=[1, 0]), Operand((4, 2), permute=[1, 0]), *bias)


def attentions(c):
    """The fused kernel takes 4 dims, dense in the last one, and masks of 2 and of 4 dims. The layout of
    the result is left out where another kernel than heed's lays it out: see docs/differences.md."""
    q, k, v = Operand((2, 2, 3, 4)), Operand((2, 2, 5, 4)), Operand((2, 2, 5, 4))
    for mask in ([], [(3, 5)], [(3, 1)], [(1, 3, 5)], [(2, 3, 5)], [(1, 1, 3, 5)], [(2, 2, 3, 5)]):
        for dtype in ("bool", "f32"):
            c.add("attention", q, k, v, *[Operand(m, dtype, grad=False) for m in mask])
    for layout in ({"permute": [0, 2, 1, 3]}, {"permute": [1, 0, 2, 3]}):
        memory = {3: [0] * 4, 5: [0] * 4}
        for rows in memory:
            for d, at in enumerate(layout["permute"]):
                memory[rows][at] = (2, 2, rows, 4)[d]
        moved = {rows: Operand(sizes, **layout) for rows, sizes in memory.items()}
        c.add("attention", moved[3], moved[5], moved[5])
        c.add("attention", q, moved[5], moved[5])
        c.add("attention", moved[3], k, v)
    gap = {3: Operand((2, 2, 3, 8), slice=[3, 0, 8, 2]), 5: Operand((2, 2, 5, 8), slice=[3, 0, 8, 2])}
    c.add("attention", q, gap[5], v)
    c.add("attention", q, k, gap[5])
    c.add("attention", Operand((2, 2, 4, 3), permute=[0, 1, 3, 2]), k, v)
    one = Operand((2, 2, 5, 2), slice=[3, 0, 2, 2])     # one element, but its stride is 2
    c.add("attention", Operand((2, 2, 3, 1)), one, Operand((2, 2, 5, 1)))
    c.add("attention", Operand((2, 2, 3, 1)), Operand((2, 2, 5, 1)), one)
    c.add("attention", Operand((2, 3, 4)), Operand((2, 5, 4)), Operand((2, 5, 4)))
    c.add("attention", Operand((3, 4)), Operand((5, 4)), Operand((5, 4)))
    c.add("attention", q, k, Operand((2, 2, 5, 3)))
    c.add("attention", q, Operand((2, 2, 0, 4)), Operand((2, 2, 0, 4)))
    c.add("attention", Operand((2, 2, 0, 4)), k, v)
    c.add("attention", Operand((2, 2, 3, 0)), Operand((2, 2, 5, 0)), v)


def elementwise(c):
    """Of one dtype and of several: an operand that is cast is laid out by the cast."""
    for op in ("add", "div", "mul", "gt", "maximum", "logical_xor", "mse_loss_none"):
        for k in range(24):
            sizes = c.sizes(2, 4)
            one = op == "mse_loss_none" or k % 2
            dtypes = ["f32"] * 2 if one else [NAMES[LIST[c.below(4)]] for _ in range(2)]
            c.add(op, *[c.operand(sizes, d) for d in dtypes])
    for k in range(24):
        sizes = c.sizes(2, 3)
        other = [1 if c.chance(3) else n for n in sizes][c.below(2):]
        pair = [c.operand(sizes), c.operand(other)]
        c.add("mse_loss_none", *(pair if k % 2 else pair[::-1]))
    for k in range(16):
        sizes = c.sizes(2, 4)
        of = NAMES[LIST[c.below(4)]] if k % 2 else "f32"
        c.add("where", c.operand(sizes, "bool"), c.operand(sizes), c.operand(sizes, of))


def copies(c):
    """Also of empty tensors; an empty tensor that is expanded is in docs/differences.md."""
    for op in ("clone", "double", "rand_like"):
        for k in range(16):
            sizes = c.sizes(1, 4)
            if k % 2:
                sizes[c.below(len(sizes))] = 0
            c.add(op, c.operand(sizes, expands=not k % 2))


def products(c):
    for a, b in (((3, 4), (4, 2)), ((3, 4), (4,)), ((4,), (4, 2)), ((2, 3, 4), (4, 2)), ((2, 3, 4), (2, 4, 5)),
                 ((2, 3, 4), (4,)), ((4,), (2, 4, 3)), ((2, 2, 3, 4), (2, 2, 4, 5))):
        c.add("change_product", Operand(a), Operand(b))


def write(w):
    warnings.simplefilter("ignore")     # mse_loss warns of shapes that differ
    c = Cases(w)
    for part in (subscripts, linears, attentions, elementwise, copies, products):
        part(c)
