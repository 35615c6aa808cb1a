"""signs.txt: the signs of zeros, in results and in gradients, of numbers that are mostly 0, -0, 1
and -1. Ops and arguments are those of ops.txt, and the fields those of grads.txt."""
import math

from golden_functions import INF, Cases, tensor
from golden_grads import GradCases
from golden_layout import Draws

VALUES = ([0.0, -0.0], [-0.0], [0.0, -0.0, 1.0, -1.0], [1.0], [0.0, -0.0, 0.5, -1.0, 2.0])
DTYPES = ("f32", "f64")


class SignCases(GradCases):
    """gy, the gradient of the result, is drawn, too."""

    def __init__(self, writer):
        super().__init__(writer)
        self.draws = Draws()

    def choose(self, values):
        return values[self.draws.below(len(values))]

    def tensor(self, sizes, dtype, values=None):
        values = values or self.choose(VALUES)
        drawn = [self.choose(values) for _ in range(math.prod(sizes))]
        return tensor(drawn, dtype).reshape(sizes)

    def forward(self, op, *ins, **args):
        """without gradients"""
        Cases.add(self, op, *ins, **args)

    def gradient(self, y):
        dtype = "f32" if str(y.dtype) == "torch.float32" else "f64"
        return self.tensor(tuple(y.shape), dtype, [0.0, -0.0, 1.0, -1.0, 2.0])


def elements(c):
    for op in "neg exp tanh sigmoid relu gelu gelu_tanh abs sin cos log1p square silu".split():
        for n in (1, 16, 21):
            for dtype in DTYPES:
                c.add(op, c.tensor((n,), dtype))
    for values in (VALUES[0], VALUES[2]):
        for op in "add sub mul div".split():
            for dtype in DTYPES:
                c.add(op, c.tensor((21,), dtype, values), c.tensor((21,), dtype, values))
        for op in "add_scalar sub_scalar mul_scalar div_scalar rsub_scalar rdiv_scalar".split():
            for s in (0, 1, -1, 0.0, -0.0, 0.5):
                c.add(op, c.tensor((19,), c.choose(DTYPES), values), s=(s,))
    for lo, hi in ((0.0, 0.0), (-0.0, 0.0), (0.0, 1.0), (-1.0, -0.0), (-0.0, -0.0)):
        for dtype in DTYPES:
            c.add("clamp", c.tensor((21,), dtype), s=(lo, hi))
            c.add("clamp_min", c.tensor((21,), dtype), s=(lo,))
            c.add("clamp_max", c.tensor((21,), dtype), s=(hi,))


def reductions(c):
    for sizes in ((1,), (5,), (17,), (1, 1), (3, 1), (1, 4), (2, 9), (2, 1, 3)):
        for dtype in DTYPES:
            for op in ("sum", "mean"):
                c.add(op, c.tensor(sizes, dtype))
            for dim in range(len(sizes)):
                for op in ("sum_dim", "mean_dim", "softmax", "log_softmax", "cumsum"):
                    c.add(op, c.tensor(sizes, dtype), dim=dim)
                c.add("var_dim", c.tensor(sizes, dtype), dim=dim, correction=0)
                c.add("topk", c.tensor(sizes, dtype), k=1, dim=dim, largest=1)
    for dtype in DTYPES:
        for op in ("softmax", "log_softmax", "cumsum"):
            for values in ([-0.0], [0.0]):
                c.add(op, c.tensor((), dtype, values), dim=0)


def products(c):
    sizes = ((1, 1, 1), (1, 1, 4), (5, 1, 1), (3, 1, 2), (8, 1, 9), (2, 2, 2), (3, 5, 1), (1, 9, 3))
    for m, k, n in sizes:
        for dtype in DTYPES:
            for values in VALUES[:3:2] if m < 8 else VALUES[:1]:
                of = lambda *s: c.tensor(s, dtype, values)
                c.add("dot", of(k), of(k))
                c.add("matmul", of(m, k), of(k))
                c.add("matmul", of(k), of(k, n))
                c.add("matmul", of(m, k), of(k, n))
                c.add("matmul", of(2, m, k), of(2, k, n))
                c.add("matmul", of(2, m, k), of(k, n))
                for rows in ((), (m,), (2, m)):
                    c.add("linear", of(*rows, k), of(n, k))
                    if k == 1:
                        c.add("linear", of(*rows, k), of(n, k), of(n))


def losses(c):
    for sizes in ((1,), (5,), (2, 17), (1, 1)):
        for dtype in DTYPES:
            for reduction in (0, 1, 2):
                c.add("mse_loss", c.tensor(sizes, dtype), c.tensor(sizes, dtype), reduction=reduction)
    for sizes in ((1,), (4,), (1, 1), (3, 1), (2, 5), (2, 17), (2, 1, 3), (2, 4, 1)):
        rows = sizes[:1] + sizes[2:] if len(sizes) > 1 else ()
        for dtype in DTYPES:
            for reduction in (0, 1, 2):
                classes = sizes[1] if len(sizes) > 1 else sizes[0]
                target = [c.draws.below(classes) for _ in range(math.prod(rows))]
                target = tensor(target, "i64").reshape(rows)
                c.add("cross_entropy", c.tensor(sizes, dtype), target, reduction=reduction)


def norms(c):
    """Rows of equal numbers. In the gradient, the sign of a zero is not always PyTorch's."""
    for n in (1, 9, 20):
        for dtype in DTYPES:
            for value in (0.0, -0.0, 1.0, -2.0):
                x, w, b = c.tensor((2, n), dtype, [value]), c.tensor((n,), dtype), c.tensor((n,), dtype)
                c.forward("layer_norm", x, w, b, sizes=[n], eps=1e-5)
                c.forward("layer_norm", x, w, sizes=[n], eps=1e-5)
                c.forward("layer_norm", x, sizes=[n], eps=1e-5)


def infinite(c):
    values = [0.0, -0.0, 1.0, INF, -INF]
    for dtype in DTYPES:
        for op in "relu abs neg exp sigmoid tanh silu square".split():
            c.add(op, c.tensor((21,), dtype, values))
        for op in "add sub mul div".split():
            c.add(op, c.tensor((21,), dtype, values), c.tensor((21,), dtype, values))
        for op in "softmax log_softmax cumsum sum_dim".split():
            for dim in (0, 1):
                c.add(op, c.tensor((3, 9), dtype, values), dim=dim)


def write(w):
    c = SignCases(w)
    for part in (elements, reductions, products, losses, norms, infinite):
        part(c)
