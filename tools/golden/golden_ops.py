"""ops.txt: values of every operation on small inputs, with the corners."""
import torch

from golden_functions import INF, NAN, PAIRS, UNARY, Cases, ramp, tensor

SAMPLES = {
    "f32": [1.5, -2.0, 0.25],
    "f64": [0.1, 3.0, -1.0],
    "i64": [2, -3, 1],
    "bool": [1, 0, 1],
}


def promotion(c):
    for op in ("add", "sub", "mul", "div", "pow", "maximum", "minimum", "eq", "lt", "ge"):
        for a in SAMPLES:
            for b in SAMPLES:
                c.add(op, tensor(SAMPLES[a], a), tensor(SAMPLES[b], b))
    condition = tensor([1, 0, 1], "bool")
    for a in SAMPLES:
        for b in SAMPLES:
            x, y, y0 = tensor(SAMPLES[a], a), tensor(SAMPLES[b], b), tensor(SAMPLES[b][1], b)
            c.add("where", condition, x, y)
            c.add("add", x, y0)
            c.add("add", y0, x)
            c.add("pow", x, y0)
            c.add("mul", tensor(SAMPLES[a][0], a), y0)
            c.add("maximum", x, y0)
            c.add("logical_and", x, y)
            for op in ("add_", "sub_", "mul_", "div_", "copy_"):
                c.add(op, x, y)
    c.add("where", tensor(SAMPLES["i64"], "i64"), tensor([1.0]), tensor([2.0]))
    c.add("where", condition, tensor([1.0, 2.0, 3.0]), tensor(9, "i64"))
    c.add("where", condition, tensor(9.0, "f64"), tensor([1.0, 2.0, 3.0]))
    c.add("where", condition, tensor(NAN), tensor(2.0))
    c.add("where", tensor([[1], [0]], "bool"), ramp((2, 3)), ramp((3,), start=-5))


def scalars(c):
    for op in ("add", "sub", "mul", "div", "pow", "rsub", "rdiv"):
        for dtype, values in SAMPLES.items():
            for s in (2, 2.5):
                c.add(op + "_scalar", tensor(values, dtype), s=(s,))
    for op in ("eq", "ne", "lt", "le", "gt", "ge"):
        for dtype in SAMPLES:
            c.add(op + "_scalar", tensor([0, 1, 3], dtype), s=(1,))
            c.add(op + "_scalar", tensor([0, 1, 3], dtype), s=(0.5,))
    for op in ("add", "sub", "mul", "div"):
        for dtype in SAMPLES:
            c.add(op + "_scalar_", tensor([1, 0, 1], dtype), s=(2,))
            c.add(op + "_scalar_", tensor([1, 0, 1], dtype), s=(2.5,))
    c.add("eq_scalar", tensor([0.1, 0.5]), s=(0.1,))
    c.add("eq_scalar", tensor([NAN, INF]), s=(NAN,))
    c.add("lt_scalar", tensor([2**53 + 1, 2], "i64"), s=(2**53,))
    c.add("add_scalar", tensor([1.0]), s=(1e40,))
    c.add("mul_scalar", tensor([0.0, INF]), s=(0,))
    c.add("add_scalar", tensor([2**63 - 1], "i64"), s=(1,))
    c.add("add_scalar", tensor([16777216.0]), s=(1,))
    c.add("add_scalar", tensor(3, "i64"), s=(0.5,))
    c.add("add_scalar", ramp((2, 0)), s=(1,))
    powers = (0, 1, 2, 3, -1, -2, 0.5, -0.5, 2.5, 0.0, INF, NAN)
    for s in powers:
        c.add("pow_scalar", tensor([0.0, -0.0, 1.0, 2.0, -2.0, INF, -INF, NAN]), s=(s,))
    for s in (0, 1, 2, 63, 64, -1, 0.5, -1.0):
        c.add("pow_scalar", tensor([0, 1, 2, -3, -1], "i64"), s=(s,))
    for s in (0, 2, -1, 0.5):
        c.add("pow_scalar", tensor([1, 0], "bool"), s=(s,))
    for dtype in SAMPLES:
        for s in (7, -1, 2.75, NAN, INF):
            c.add("fill_", tensor([1, 0], dtype), s=(s,))
            c.add("full", s=(s,), sizes=[2], dtype=dtype)
    c.add("fill_", tensor([1.0]), s=(1e40,))


def integers(c):
    extremes = tensor([2**63 - 1, -(2**63), 0, -1], "i64")
    for op in ("add", "sub", "mul", "div", "maximum"):
        c.add(op, extremes, tensor([1, -1, 0, 2], "i64"))
        c.add(op, extremes, extremes)
    c.add("div", tensor([7, -7, 7, 0, 1, -1], "i64"), tensor([2, 2, -2, 0, 0, 0], "i64"))
    c.add("div", tensor([16777217, 2**53 + 1], "i64"), tensor([1, 1], "i64"))
    c.add("pow", tensor([2, 0, 1, -1, -1, 5], "i64"), tensor([-1, 0, -5, -3, -4, 3], "i64"))
    c.add("pow", tensor([0], "i64"), tensor([-1], "i64"))
    c.add("pow", tensor([3, -3], "i64"), tensor([40, 41], "i64"))
    for op in ("neg", "abs", "relu"):
        c.add(op, extremes)
    c.add("sum", extremes)
    c.add("cumsum", extremes, dim=0)
    for a in SAMPLES:
        for b in SAMPLES:
            c.add("to", tensor([1, 0, 3], a), dtype=b)
    c.add("to", tensor([2.9, -2.9, 0.5, -0.0, 1e15]), dtype="i64")
    c.add("to", tensor([NAN, INF, 1e-45, -0.0]), dtype="bool")
    c.add("to", tensor([1e40, 1e-46, 0.1, NAN], "f64"), dtype="f32")
    c.add("to", tensor([2**24 + 1, 2**53 + 1], "i64"), dtype="f32")
    c.add("to", tensor([2**24 + 1, 2**53 + 1], "i64"), dtype="f64")


SPECIAL = [NAN, INF, -INF, 0.0, -0.0, 1.0, -1.5, 0.3, 88.0, 89.0, -104.0, 1e-40, 20.0]


def elementwise(c):
    for op in UNARY + ["gelu", "gelu_tanh", "silu"]:
        # PyTorch's gelu(inf) is inf or NaN; that depends on the library and on the number of dims.
        special = [x for x in SPECIAL if x != INF or not op.startswith("gelu")]
        c.add(op, tensor(special))
        c.add(op, tensor(special + [710.0, -745.0, 1e-310], "f64"))
        c.add(op, tensor([-2, 0, 3], "i64"))
        c.add(op, tensor([1, 0], "bool"))
        c.add(op, tensor(2.0))
        c.add(op, ramp((2, 0, 3)))
    a = tensor([NAN, 1.0, INF, -INF, 0.0, -0.0, 2.0, INF])
    b = tensor([1.0, NAN, -INF, -INF, -0.0, 0.0, 2.0, 0.0])
    for op in PAIRS:
        c.add(op, a, b)
        c.add(op, ramp((2, 1, 3)), ramp((4, 1), start=-1))
        c.add(op, ramp((2, 3)), ramp((2,)))
        c.add(op, ramp((2, 0)), ramp((1, 1)))
    c.add("add", ramp((0,)), ramp((3,)))
    c.add("add", ramp((0,)), ramp((1,)))
    c.add("add", ramp((2, 3)).t(), ramp((3, 1)))
    for lo, hi in ((-1, 1), (-0.5, 2.5), (2, 1), (NAN, 1.0), (-INF, INF), (0, 1.5)):
        c.add("clamp", tensor([NAN, INF, -INF, -0.0, 0.5, 3.0]), s=(lo, hi))
        c.add("clamp", tensor([-3, 0, 1, 5], "i64"), s=(lo, hi))
    for op in ("clamp_min", "clamp_max"):
        c.add(op, tensor([NAN, INF, -INF, -0.0, 0.5]), s=(0,))
        c.add(op, tensor([-3, 0, 5], "i64"), s=(1,))
        c.add(op, tensor([-3, 0, 5], "i64"), s=(1.5,))
        c.add(op, tensor([1, 0], "bool"), s=(1,))
        c.add(op, tensor([1.0, 2.0]), s=(NAN,))


def softplus(c):
    x = [NAN, INF, -INF, 0.0, -0.0, 0.5, 1.0, -1.5, 19.0, 20.0, 21.0, 100.0, -100.0, 1e-40]
    pairs = [(1, 20), (2.0, 1.0), (1, 0), (1, -1), (0.1, 20), (-1, 20), (0, 20)]
    pairs += [(1, INF), (1, -INF), (1, NAN), (INF, 20), (NAN, 20)]
    pairs += [(1e-40, 20), (1e300, 1), (1, 1e300)]
    for dtype in ("f32", "f64"):
        for s in pairs:
            c.add("softplus", tensor(x, dtype), s=s)
    c.add("softplus", tensor([-2, 0, 3], "i64"), s=(1, 20))
    c.add("softplus", tensor([1, 0], "bool"), s=(1, 20))
    c.add("softplus", tensor(2.0), s=(1, 20))
    c.add("softplus", ramp((2, 0, 3)), s=(1, 20))
    c.add("softplus", ramp((2, 3)).t(), s=(1, 20))


def masks(c):
    mask = tensor([[1, 0, 0], [0, 0, 1]], "bool")
    for op in ("masked_fill", "masked_fill_"):
        for dtype in SAMPLES:
            for s in (7, -INF, 2.5):
                c.add(op, tensor([[1, 2, 3], [0, 1, 0]], dtype), mask, s=(s,))
        c.add(op, ramp((2, 2, 3)), mask, s=(0,))
        c.add(op, ramp((3,)), mask, s=(0,))
        c.add(op, ramp((2, 3)), mask[:1], s=(0,))
        c.add(op, ramp((2, 3)), mask.t(), s=(0,))
        c.add(op, ramp((2, 3)), mask.long(), s=(0,))
        c.add(op, ramp((2, 3)), mask.float(), s=(0,))
        c.add(op, ramp((0, 3)), mask[:1], s=(0,))
    c.add("add_", ramp((3,)), ramp((2, 3)))
    c.add("add_", ramp((2, 3)), ramp((3,)))
    c.add("copy_", ramp((2, 3)), ramp((3, 1)))
    c.add("copy_", ramp((2, 3)), ramp((2, 1)))
    c.add("zero_", tensor([NAN, INF]))


def reduce_all(c, op, x, **args):
    """one op over everything and over each dim"""
    c.add(op, x, **args)
    for dim in range(-1, x.dim()):
        c.add(op + "_dim", x, dim=dim, **args)


def reductions(c):
    simple_ops = ("sum", "mean", "max", "min", "argmax", "argmin", "any", "all")
    for op in simple_ops:
        for dtype in SAMPLES:
            reduce_all(c, op, tensor([[1, 0, 3], [-2, 5, 0]], dtype))
        reduce_all(c, op, tensor([[NAN, 1.0], [2.0, NAN]]))
        reduce_all(c, op, tensor([[-INF, 1.0], [INF, 1.0]]))
        reduce_all(c, op, tensor([[2.0, 7.0, 7.0], [7.0, 2.0, 2.0]]))
        reduce_all(c, op, tensor(3.0))
        reduce_all(c, op, ramp((0,)))
        c.add(op + "_dim", ramp((2, 0)), dim=0)
        c.add(op + "_dim", ramp((2, 0)), dim=1)
        c.add(op + "_dim", ramp((0, 2)), dim=0)
        c.add(op + "_dim", ramp((2, 3)), dim=1, keepdim=1)
        c.add(op + "_dim", ramp((2, 3)), dim=2)
        c.add(op + "_dim", ramp((2, 3)), dim=-3)
        c.add(op, ramp((2, 3, 4)).transpose(0, 2))
    c.add("sum", ramp((0,), "i64"))
    c.add("any", ramp((0,), "bool"))
    c.add("all", ramp((0,), "bool"))
    for dim in (0, 1, 2):
        c.add("max_dim", ramp((2, 3, 2), start=3, step=-0.5).transpose(0, 2), dim=dim)
    for op in ("sum", "mean", "logsumexp"):
        for dims in ([0], [0, 2], [-1, 0], [1, 2, 0], [], [0, 0], [3]):
            for keepdim in (0, 1):
                if op != "logsumexp" or dims:
                    c.add(op + "_dims", ramp((2, 3, 2)), dims=dims, keepdim=keepdim)
        c.add(op + "_dims", ramp((2, 0, 2)), dims=[1, 2])
    variances(c)
    for values in ([[-INF, -INF], [1.0, -INF]], [[INF, 1.0], [NAN, 1.0]], [[1000.0, 1001.0]]):
        for op in ("logsumexp_dim", "softmax", "log_softmax"):
            c.add(op, tensor(values), dim=-1)
            c.add(op, tensor(values), dim=0)


def variances(c):
    for correction in (0, 1):
        for x in (ramp((2, 3)), ramp((2, 3), "f64"), tensor([5.0]), tensor(5.0), ramp((0,))):
            c.add("var", x, correction=correction)
        c.add("var", tensor([1.0, NAN]), correction=correction)
        c.add("var", tensor([1e8, 1e8 + 8, 1e8 + 16]), correction=correction)
        c.add("var", ramp((3,), "i64"), correction=correction)
        for dim in (0, 1, -1):
            c.add("var_dim", ramp((2, 3)), dim=dim, correction=correction, keepdim=int(dim == 1))
        c.add("var_dim", ramp((2, 1)), dim=1, correction=correction)
        c.add("var_dim", ramp((2, 0)), dim=1, correction=correction)
        c.add("var_dims", ramp((2, 3, 2)), dims=[0, 2], correction=correction, keepdim=1)
        c.add("var_dims", ramp((2, 3, 2)), dims=[], correction=correction)


def rows(c):
    for op in ("softmax", "log_softmax", "logsumexp_dim", "cumsum"):
        for dtype in SAMPLES:
            c.add(op, tensor([[1, 0, 3], [0, 5, 0]], dtype), dim=1)
        c.add(op, tensor([[1, 0, 3], [0, 5, 0]], "f64"), dim=0)
        c.add(op, ramp((2, 3, 2), step=0.25), dim=1)
        c.add(op, ramp((2, 17), step=0.125), dim=1)
        c.add(op, ramp((3, 4), step=0.25).t(), dim=0)
        c.add(op, tensor(2.0), dim=0)
        c.add(op, ramp((2, 0)), dim=1)
        c.add(op, ramp((0, 2)), dim=1)
        c.add(op, ramp((2, 3)), dim=2)
        c.add(op, tensor([1.0, NAN, 2.0]), dim=0)


def products(c):
    shapes = {1: [(3,)], 2: [(2, 3), (3, 2)], 3: [(2, 2, 3), (2, 3, 2)]}
    shapes[4] = [(2, 1, 2, 3), (1, 2, 3, 2)]
    for a in range(1, 5):
        for b in range(1, 5):
            c.add("matmul", ramp(shapes[a][0]), ramp(shapes[b][-1], start=-2))
    c.add("matmul", ramp((1, 2, 3)), ramp((4, 3, 2)))
    c.add("matmul", ramp((3, 1, 2, 3)), ramp((2, 3, 1)))
    empty = [((2, 0), (0, 3)), ((0,), (0,)), ((0, 2), (2, 3)), ((2, 3), (3, 0)), ((2, 0), (0,))]
    empty += [((0, 2, 3), (3, 2)), ((2, 2, 0), (2, 0, 2)), ((2, 3), (0, 3, 2)), ((2, 0, 3), (3,))]
    wrong = [((2, 3), (2, 3)), ((3,), (2,)), ((), (3,)), ((2, 2, 3), (3, 3, 2)), ((3,), (2, 3))]
    for a, b in empty + wrong:
        c.add("matmul", ramp(a), ramp(b))
    for dtype in SAMPLES:
        c.add("matmul", tensor([[1, 2], [0, 1]], dtype), tensor([[1, 0], [1, 3]], dtype))
        c.add("matmul", ramp((2, 2)), tensor([[1, 0], [1, 3]], dtype))
    c.add("matmul", ramp((3, 2)).t(), ramp((2, 3)).t())
    c.add("matmul", ramp((2, 3, 2)).transpose(1, 2), ramp((2, 3, 2)))
    c.add("matmul", tensor([[NAN, 0.0]]), tensor([[0.0], [1.0]]))
    c.add("matmul", tensor([[INF, 1.0]]), tensor([[0.0], [1.0]]))
    c.add("dot", ramp((4,)), ramp((4,), start=-1))
    c.add("dot", ramp((0,)), ramp((0,)))
    c.add("dot", ramp((2,)), ramp((3,)))
    c.add("dot", ramp((2, 2)), ramp((2, 2)))
    c.add("dot", ramp((2,), "i64"), ramp((2,), "i64"))
    for sizes in ((3,), (2, 3), (2, 2, 3), (1, 2, 2, 3), (0, 3)):
        c.add("linear", ramp(sizes), ramp((2, 3), start=-1))
        c.add("linear", ramp(sizes), ramp((2, 3), start=-1), ramp((2,)))
    c.add("linear", ramp((2, 4)), ramp((2, 3)))
    c.add("linear", ramp((2, 3)), ramp((2, 3)), ramp((3,)))
    c.add("linear", ramp((2, 0)), ramp((3, 0)), ramp((3,)))


def picking(c):
    x = ramp((3, 4))
    c.add("index_select", x, tensor([2, 0, 2], "i64"), dim=0)
    c.add("index_select", x, tensor([3], "i64"), dim=-1)
    for index in ([], [3], [-1]):
        c.add("index_select", x, tensor(index, "i64"), dim=0)
    c.add("index_select", x, tensor([[0]], "i64"), dim=0)
    c.add("index_select", x, tensor([0.0]), dim=0)
    c.add("index_select", x, tensor([0], "i64"), dim=2)
    c.add("gather", x, tensor([[0, 3], [1, 1]], "i64"), dim=1)
    c.add("gather", x, tensor([[2, 1, 0, 2]], "i64"), dim=0)
    c.add("gather", x, ramp((0, 4), "i64"), dim=0)
    for index in ([[4]], [[-1]]):
        c.add("gather", x, tensor(index, "i64"), dim=1)
    c.add("gather", x, tensor([0, 1], "i64"), dim=0)
    c.add("gather", x, tensor([[0], [0], [0], [0]], "i64"), dim=1)
    for index in ([0, 2], [[1, 1], [0, 2]], 2, [], [3], [-1]):
        c.add("embedding", tensor(index, "i64"), x)
    c.add("embedding", tensor([0.0]), x)
    for index in ([0, 2, 1], [[1], [0]], 2, [], [-1]):
        c.add("one_hot", tensor(index, "i64"), s=(-1,))
        c.add("one_hot", tensor(index, "i64"), s=(4,))
    c.add("one_hot", tensor([0, 2], "i64"), s=(2,))
    c.add("one_hot", tensor([0.0]), s=(2,))
    tops(c)


def tops(c):
    values = tensor([3.0, NAN, 7.0, -INF, INF, 1.0])
    for largest in (0, 1):
        for k in (0, 1, 3, 6):
            c.add("topk", values, k=k, dim=-1, largest=largest)
        c.add("topk", tensor([[4, 9, 1], [8, 2, 6]], "i64"), k=2, dim=0, largest=largest)
        c.add("topk", tensor([[4, 9, 1], [8, 2, 6]], "f64"), k=2, dim=1, largest=largest)
        c.add("topk", tensor([1, 0], "bool"), k=1, dim=0, largest=largest)
        c.add("topk", tensor(3.0), k=1, dim=0, largest=largest)
    for k in (7, -1):
        c.add("topk", values, k=k, dim=0, largest=1)
    c.add("topk", values, k=1, dim=1, largest=1)
    c.add("topk", ramp((2, 0)), k=0, dim=1, largest=1)


def joining(c):
    a, b = ramp((2, 3)), ramp((1, 3), start=-9)
    c.add("cat", a, b, dim=0)
    c.add("cat", a, a, dim=-1)
    c.add("cat", a, b, dim=1)
    c.add("cat", a, dim=0)
    c.add("cat", dim=0)
    c.add("cat", a, ramp((0,)), dim=0)
    c.add("cat", ramp((0,)), ramp((0,)), dim=0)
    c.add("cat", ramp((0, 3)), a, dim=0)
    c.add("cat", ramp((0, 2)), a, dim=0)
    c.add("cat", tensor(1.0), tensor(2.0), dim=0)
    c.add("cat", a, a, dim=2)
    for x in SAMPLES:
        for y in SAMPLES:
            c.add("cat", tensor([1, 0], x), tensor([1], y), dim=0)
    c.add("cat", ramp((0,), "f64"), tensor([1], "i64"), dim=0)
    for dim in (0, 1, 2, -1, -3, 3):
        c.add("stack", a, a + 10, dim=dim)
    c.add("stack", a, b, dim=0)
    c.add("stack", tensor(1.0), tensor(2, "i64"), dim=0)
    c.add("stack", dim=0)
    for x in (ramp((3, 4)), ramp((4, 3)), ramp((2, 3, 3), "i64"), ramp((0, 3)), ramp((3,))):
        for diagonal in (-2, 0, 1, 5):
            c.add("tril", x, diagonal=diagonal)
            c.add("triu", x, diagonal=diagonal)
    c.add("triu", torch.full((3, 3), -INF), diagonal=1)
    c.add("tril", torch.full((2, 2), NAN), diagonal=0)
    c.add("tril", ramp((3, 3), "bool"), diagonal=0)


def creation(c):
    for s in ((0, 5, 1), (5, 0, -2), (0, 1, 0.1), (1, 2, 0.3), (0, 0, 1), (0.0, 3, 1), (2, 7, 2)):
        c.add("arange", s=s)
        for dtype in ("f32", "f64", "i64"):
            c.add("arange", s=s, dtype=dtype)
    for s in ((0, 5, 0), (0, 5, -1), (5, 0, 1), (0, NAN, 1), (0, INF, 1), (0.5, 2.5, 1)):
        c.add("arange", s=s)
    c.add("arange", s=(2**53, 2**53 + 3, 1), dtype="i64")
    c.add("arange", s=(0, 3, 1), dtype="bool")
    points = [(0, 1, 5), (-1, 1, 4), (0, 10, 1), (0, 10, 0), (3, 3, 3), (1, 0, 7), (0.1, 0.9, 10)]
    for start, end, steps in points + [(0, 1, 33), (-3, 10, 6)]:
        for dtype in ("f32", "f64", "i64"):
            args = dict(start=float(start), end=float(end), steps=steps, dtype=dtype)
            c.add("linspace", **args)
    c.add("linspace", start=0.0, end=1.0, steps=-1, dtype="f32")
    for n, m in ((3, 3), (2, 4), (4, 2), (0, 3), (1, 1)):
        for dtype in ("f32", "bool"):
            c.add("eye", n=n, m=m, dtype=dtype)


def views(c):
    x = ramp((2, 3, 4), "i64")
    for sizes in ([6, 4], [2, -1], [-1], [24], [3, 2, 4], [5, -1], [-1, -1], [2, 3, 5], [2, -2]):
        c.add("view", x, sizes=sizes)
        c.add("reshape", x.transpose(0, 2), sizes=sizes)
    c.add("view", ramp((0, 3)), sizes=[-1, 3])
    c.add("view", ramp((0, 3)), sizes=[0, -1])
    c.add("view", ramp((0, 3)), sizes=[3, 0])
    c.add("view", tensor(1.0), sizes=[1, 1])
    c.add("view", tensor([1.0]), sizes=[])
    for dims in ((0, 1), (-1, 0), (1, 1), (0, 3), (-4, 0)):
        c.add("transpose", x, dim0=dims[0], dim1=dims[1])
    for dims in ([2, 0, 1], [-1, 0, 1], [0, 1], [0, 0, 1], [0, 1, 3]):
        c.add("permute", x, dims=dims)
    for sizes in ([2, 3], [4, 2, 3], [2, -1], [-1, 2, 3], [3, 3], [0, 2, 3]):
        c.add("expand", ramp((2, 1)), sizes=sizes)
    for a, b in ((0, -1), (1, 2), (0, 1), (1, 1), (2, 1), (0, 3)):
        c.add("flatten", x, start_dim=a, end_dim=b)
    c.add("flatten", tensor(1.0), start_dim=0, end_dim=-1)
    y = ramp((1, 2, 1))
    for dim in (0, 1, -1, 3):
        c.add("squeeze", y, dim=dim)
        c.add("unsqueeze", y, dim=dim)
    for dim in (-4, 4, -5):
        c.add("unsqueeze", y, dim=dim)
    c.add("squeeze_all", y)
    c.add("squeeze_all", ramp((1, 1)))
    slices(c, x)


def slices(c, x):
    for dim, index in ((0, 1), (1, -1), (2, 3), (0, 2), (0, -3), (3, 0)):
        c.add("select", x, dim=dim, index=index)
    for start, stop in ((1, 3), (0, 100), (-2, 4), (-100, 2), (3, 1), (4, 4), (9, 12)):
        c.add("slice", x, dim=2, start=start, stop=stop)
        c.add("slice_step", x, dim=2, start=start, stop=stop, step=2)
    c.add("slice_step", x, dim=1, start=0, stop=3, step=5)
    for step in (0, -1):
        c.add("slice_step", x, dim=1, start=0, stop=3, step=step)
    for start, length in ((0, 2), (-1, 1), (3, 0), (2, 2), (4, 0), (0, -1)):
        c.add("narrow", x, dim=1, start=start, length=length)
    for dim in (0, 1, -1, 3):
        c.add("unbind", x, dim=dim)
    for size in (1, 2, 3, 9, 0, -1):
        c.add("split", x, size=size, dim=1)
    c.add("split", ramp((0, 2)), size=2, dim=0)
    for sizes in ([1, 2], [3], [0, 3, 0], [1, 1], [4, -1]):
        c.add("split_sizes", x, sizes=sizes, dim=1)
    for chunks in (1, 2, 3, 5, 0):
        c.add("chunk", x, chunks=chunks, dim=2)
    c.add("chunk", ramp((7,)), chunks=4, dim=0)
    for index in ([0], [1, -1], [1, 2, 3], [None, 1], [None, None, 0], [2], [0, 3], [0, 0, 0, 0]):
        c.add("getitem", x, index=index)
        c.add("setitem", x.float(), tensor(-1.0), index=index)
    c.add("setitem", ramp((2, 3)), ramp((3,), start=-5), index=[None])
    c.add("setitem", ramp((2, 3)), ramp((2,), start=-5), index=[None, 1])
    c.add("setitem", ramp((2, 3)), ramp((1, 3), start=-5), index=[0])
    c.add("setitem", ramp((2, 3)), ramp((2, 3), start=-5), index=[0])
    c.add("setitem", ramp((2, 3), "i64"), ramp((3,), start=-5, step=0.7), index=[0])
    c.add("setitem", ramp((2, 3), "bool"), ramp((3,), start=-1), index=[0])


def comparing(c):
    x = tensor([1.0, NAN, INF])
    c.add("equal", x, x.clone())
    c.add("equal", ramp((2, 3)), ramp((2, 3)))
    c.add("equal", ramp((2, 3)), ramp((3, 2)))
    c.add("equal", tensor([0.0]), tensor([-0.0]))
    c.add("equal", ramp((2,)), ramp((2,), "f64"))
    c.add("equal", ramp((0,)), ramp((0,)))
    for equal_nan in (0, 1):
        args = dict(rtol=1e-5, atol=1e-8, equal_nan=equal_nan)
        c.add("allclose", x, x.clone(), **args)
        c.add("allclose", tensor([1.0, 2.0]), tensor([1.000001, 2.0]), **args)
        c.add("allclose", tensor([1.0, 2.0]), tensor([1.0001, 2.0]), **args)
        c.add("allclose", tensor([INF]), tensor([-INF]), **args)
        c.add("allclose", ramp((2, 3)), ramp((3,)), **args)
        c.add("allclose", ramp((0,)), ramp((0,)), **args)
        c.add("allclose", tensor([1, 2], "i64"), tensor([1, 3], "i64"), **args)
        c.add("allclose", tensor([0.0]), tensor([1e-8]), **args)


def losses(c):
    x = ramp((2, 3, 4), step=0.25)
    for sizes in ([4], [3, 4], [2, 3, 4]):
        c.add("layer_norm", x, sizes=sizes, eps=1e-5)
        c.add("layer_norm", x, ramp(sizes, step=0.1), ramp(sizes, start=-1), sizes=sizes, eps=1e-5)
    c.add("layer_norm", tensor([[2.0, 2.0]]), sizes=[2], eps=1e-5)
    c.add("layer_norm", ramp((2, 1)), sizes=[1], eps=0.1)
    c.add("layer_norm", ramp((0, 2)), sizes=[2], eps=1e-5)
    c.add("layer_norm", x, sizes=[3], eps=1e-5)
    c.add("layer_norm", x.double(), sizes=[4], eps=1e-5)
    for r in (0, 1, 2):
        c.add("mse_loss", ramp((2, 3)), ramp((2, 3), start=-1), reduction=r)
        c.add("mse_loss", ramp((0,)), ramp((0,)), reduction=r)
        c.add("mse_loss", tensor([1, 2], "i64"), tensor([1, 4], "i64"), reduction=r)
        logits, target = ramp((3, 4), step=0.3), tensor([0, 3, 1], "i64")
        c.add("cross_entropy", logits, target, reduction=r)
        c.add("cross_entropy", logits, target, ignore_index=3, reduction=r)
        c.add("cross_entropy", logits, tensor([-100, 1, -100], "i64"), reduction=r)
        c.add("cross_entropy", logits, torch.full((3,), -100), reduction=r)
        c.add("cross_entropy", logits[0], tensor(2, "i64"), reduction=r)
        c.add("cross_entropy", x, tensor([[0, 1, 2, 0], [2, 2, 1, 0]], "i64"), reduction=r)
        infinite = tensor([[0.0, -INF], [INF, 1.0]])
        c.add("cross_entropy", infinite, tensor([1, 1], "i64"), reduction=r)
        c.add("cross_entropy", ramp((0, 4)), ramp((0,), "i64"), reduction=r)
    for target in ([4], [-1], [0, 1]):
        c.add("cross_entropy", ramp((1, 4)), tensor(target, "i64"))
    c.add("cross_entropy", ramp((2, 3)), tensor([0.0, 1.0]))
    c.add("mse_loss", ramp((2, 3)), ramp((4,)))


def write(writer):
    c = Cases(writer)
    parts = (promotion, scalars, integers, elementwise, softplus, masks, reductions, rows, products)
    parts += (picking, joining, creation, views, comparing, losses)
    for part in parts:
        part(c)
