"""grads.txt: gradients where PyTorch has to define them: kinks, ties, bounds, NaN, masks, size 0.
Ops and arguments are those of ops.txt."""
import torch

from golden_functions import INF, NAN, Cases, call, ramp, tensor


class GradCases(Cases):
    """in0 ... require grad if they are floats; gy, the output's gradient, is 1, 2, 3, ..."""

    def gradient(self, y):
        return ramp(y.shape, "f64", step=1.0).to(y.dtype)

    def add(self, op, *ins, s=(), constant=(), **args):
        number = self.counts.get(op, 0)
        self.counts[op] = number + 1
        self.w.case(f"{op}_{number:02}")
        self.w.text("op", op)
        self.arguments(ins, s, args)
        leaves = [x.detach().clone() for x in ins]
        for k, x in enumerate(leaves):
            x.requires_grad_(x.is_floating_point() and k not in constant)
        y = call(op, *leaves, s=s, **args)
        y = y[0] if isinstance(y, (list, tuple)) else y
        gy = self.gradient(y)
        y.backward(gy)
        self.w.tensor("out", y)
        self.w.tensor("gy", gy)
        for k, x in enumerate(leaves):
            if x.requires_grad:
                self.w.tensor(f"grad{k}", x.grad)


SPECIAL = [0.0, -0.0, 1.0, -2.0, NAN, INF, -INF]


def kinks(c):
    x = tensor(SPECIAL)
    for op in "relu abs sqrt rsqrt log exp tanh sigmoid neg gelu gelu_tanh".split():
        c.add(op, x[:5] if op.startswith("gelu") else x)
        c.add(op, tensor([0.5, -0.5, 3.0], "f64"))
    for op in "sin cos log1p square silu".split():
        c.add(op, tensor(SPECIAL + [20.0, -20.0, 100.0, -100.0, -1.0, 1e-30]))
        c.add(op, tensor([0.5, -0.5, 3.0], "f64"))
    for s in ((1, 20), (2.0, 1.0), (1, 0), (0, 20), (-1, 20), (1, INF), (INF, 20)):
        c.add("softplus", tensor(SPECIAL + [0.5, 20.0, 21.0, -20.0, 100.0, -100.0]), s=s)
        c.add("softplus", tensor([0.5, -0.5, 0.75, 30.0], "f64"), s=s)
    for lo, hi in ((-1.0, 1.0), (0, 1), (2.0, 1.0), (1.0, 1.0)):
        c.add("clamp", tensor([-1.0, 1.0, 0.0, 0.5, -3.0, 2.0, NAN]), s=(lo, hi))
    c.add("clamp_min", tensor([0.0, -1.0, 2.0, NAN]), s=(0,))
    c.add("clamp_max", tensor([0.0, -1.0, 2.0, NAN]), s=(0,))
    for s in (0, 1, 2, 3, -1, 0.5, 1.5, 0.0, -0.5):
        c.add("pow_scalar", x, s=(s,))
    bases = tensor([0.0, 0.0, 0.0, 2.0, -2.0, -2.0, 1.0, INF, 0.0])
    powers = tensor([0.0, 1.0, 2.0, 0.0, 2.0, 0.5, NAN, 0.0, -1.0])
    c.add("pow", bases, powers)
    c.add("pow", tensor([0.0, 2.0, 3.0]), tensor([0, 2, -1], "i64"))
    c.add("rdiv_scalar", tensor([0.0, 2.0, -4.0]), s=(1,))
    c.add("rsub_scalar", tensor([0.0, 2.0]), s=(1,))
    c.add("div", tensor([1.0, 0.0, 2.0, 1.0]), tensor([0.0, 0.0, 4.0, INF]))


def ties(c):
    a, b = tensor([1.0, 2.0, 0.0, NAN, 1.0]), tensor([1.0, 1.0, -0.0, 1.0, NAN])
    for op in ("maximum", "minimum"):
        c.add(op, a, b)
        c.add(op, a, a.clone(), constant=(1,))
        c.add(op, ramp((2, 1)), ramp((3,)))
    for values in ([3.0, 1.0, 3.0, 3.0], [1.0, NAN, NAN], [1.0], [-INF, -INF]):
        for op in ("max", "min"):
            c.add(op, tensor(values))
            c.add(op + "_dim", tensor(values), dim=0)
    for dim in (0, 1):
        c.add("max_dim", tensor([[1.0, 1.0], [1.0, 2.0]]), dim=dim, keepdim=1)
        c.add("min_dim", tensor([[1.0, 1.0], [1.0, 0.0]]), dim=dim)
    c.add("max", tensor(2.0))
    c.add("topk", tensor([5.0, 1.0, 7.0, 3.0]), k=2, dim=0, largest=1)
    c.add("topk", tensor([[5.0, 1.0], [7.0, 3.0]]), k=1, dim=1, largest=0)


def masks(c):
    mask = tensor([1, 0, 1], "bool")
    c.add("where", mask, tensor([1.0, NAN, 2.0]), tensor([NAN, 3.0, INF]))
    c.add("where", mask, tensor(2.0), tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]))
    c.add("masked_fill", tensor([[NAN, 1.0, INF], [2.0, 3.0, 4.0]]), mask, s=(0.0,))
    c.add("masked_fill", tensor([1.0, 2.0, 3.0]), mask, s=(-INF,))
    c.add("masked_fill_", tensor([1.0, 2.0, 3.0]), mask, s=(-INF,))
    for op in ("tril", "triu"):
        c.add(op, torch.full((3, 3), -INF), diagonal=0)
        c.add(op, ramp((2, 2, 3)), diagonal=1)
    for op in ("softmax", "log_softmax", "logsumexp_dim"):
        c.add(op, tensor([[-INF, -INF], [1.0, -INF], [2.0, 0.5]]), dim=1)
        c.add(op, tensor([[NAN, 1.0], [INF, 1.0], [1000.0, 1001.0]]), dim=1)
        c.add(op, ramp((2, 3), "f64", step=0.25), dim=0)
        c.add(op, tensor(1.0), dim=0)
        c.add(op, ramp((2, 0)), dim=1)
    c.add("setitem", ramp((2, 3)), tensor([7.0]), index=[0])
    c.add("setitem", ramp((2, 3)), ramp((3,)), index=[None])
    c.add("setitem", ramp((2, 3)), tensor(7.0), index=[1, 2])


def reductions(c):
    for op in ("sum", "mean"):
        c.add(op, ramp((2, 3)))
        c.add(op, ramp((0,)))
        c.add(op + "_dim", ramp((2, 3)), dim=1)
        c.add(op + "_dim", ramp((2, 0)), dim=1)
        c.add(op + "_dims", ramp((2, 3, 2)), dims=[0, 2], keepdim=1)
    for correction in (0, 1):
        c.add("var", ramp((2, 3)), correction=correction)
        c.add("var", tensor([2.0, 2.0]), correction=correction)
        c.add("var", tensor([5.0]), correction=correction)
        c.add("var_dim", ramp((2, 3)), dim=0, correction=correction)
        c.add("var_dim", ramp((2, 1)), dim=1, correction=correction)
    c.add("cumsum", ramp((2, 3)), dim=1)
    c.add("cumsum", tensor([1.0, NAN, 2.0]), dim=0)
    c.add("layer_norm", tensor([[2.0, 2.0], [1.0, 3.0]]), sizes=[2], eps=1e-5)
    affine = ramp((3,), "f64")
    c.add("layer_norm", ramp((2, 3), "f64"), affine, affine, sizes=[3], eps=1e-5)
    c.add("layer_norm", ramp((0, 2)), ramp((2,)), ramp((2,)), sizes=[2], eps=1e-5)
    c.add("layer_norm", ramp((2, 1)), ramp((1,)), ramp((1,)), sizes=[1], eps=1e-5)


def broadcasts(c):
    for op in ("add", "sub", "mul", "div", "pow"):
        c.add(op, ramp((2, 3)), ramp((3,)))
        c.add(op, ramp((2, 1, 2)), ramp((3, 1), "f64"))
        c.add(op, ramp((2, 3)), tensor(2.0, "f64"))
        c.add(op, ramp((2, 0)), ramp((1,)))
    c.add("mul", ramp((2,)), tensor([3, 4], "i64"))
    c.add("mul", ramp((2,)), tensor([1, 0], "bool"))
    c.add("expand", ramp((2, 1)), sizes=[3, 2, 4])
    shapes = [((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 2)), ((2, 3), (3, 2)), ((2, 2, 3), (3, 2))]
    shapes += [((2, 3), (2, 3, 2)), ((2, 1, 2, 3), (3, 3, 2)), ((3,), (2, 3, 2)), ((2, 2, 3), (3,))]
    shapes += [((2, 0), (0, 3)), ((0, 2), (2, 3)), ((2, 0, 3), (3, 2))]
    for a, b in shapes:
        c.add("matmul", ramp(a), ramp(b, start=-1))
    c.add("linear", ramp((2, 3)), ramp((2, 3)), ramp((2,)))
    c.add("linear", ramp((0, 3)), ramp((2, 3)), ramp((2,)))
    c.add("linear", ramp((2, 2, 3)), ramp((4, 3)))


def picking(c):
    c.add("index_select", ramp((3, 2)), tensor([2, 0, 2], "i64"), dim=0)
    c.add("gather", ramp((2, 3)), tensor([[0, 0], [2, 0]], "i64"), dim=1)
    c.add("embedding", tensor([[1, 0], [1, 1]], "i64"), ramp((3, 2)))
    c.add("embedding", tensor([[1, 0], [2, 1]], "i64"), ramp((3, 2)), padding_idx=1)
    c.add("embedding", tensor([0, 2], "i64"), ramp((3, 2)), padding_idx=1)
    c.add("cat", ramp((1, 2)), ramp((2, 2), "f64"), dim=0)
    c.add("cat", ramp((0,)), ramp((2, 2)), dim=0)
    c.add("stack", ramp((2,)), ramp((2,)), dim=1)
    c.add("slice_step", ramp((5,)), dim=0, start=1, stop=5, step=2)
    c.add("select", ramp((2, 3)), dim=1, index=-1)
    c.add("split", ramp((5,)), size=2, dim=0)
    c.add("unbind", ramp((2, 3)), dim=0)
    c.add("to", ramp((2,)), dtype="f64")
    c.add("copy_", ramp((2, 3)), ramp((3,), "f64"))


def losses(c):
    logits, target = ramp((3, 4), step=0.3), tensor([0, 3, 1], "i64")
    x = ramp((2, 3, 4), step=0.25)
    for r in (0, 1, 2):
        c.add("cross_entropy", logits, target, reduction=r)
        c.add("cross_entropy", logits, target, ignore_index=3, reduction=r)
        c.add("cross_entropy", logits, torch.full((3,), -100), reduction=r)
        c.add("cross_entropy", logits[0], tensor(2, "i64"), reduction=r)
        c.add("cross_entropy", x, tensor([[0, 1, 2, 0], [2, -100, 1, 0]], "i64"), reduction=r)
        infinite = tensor([[0.0, -INF], [INF, 1.0]])
        c.add("cross_entropy", infinite, tensor([1, 1], "i64"), reduction=r)
        c.add("cross_entropy", ramp((0, 4)), ramp((0,), "i64"), reduction=r)
        c.add("mse_loss", ramp((2, 3)), ramp((2, 3), start=-1), reduction=r)
        c.add("mse_loss", ramp((2, 3)), ramp((3,), start=-1), reduction=r)
        c.add("mse_loss", ramp((0,)), ramp((0,)), reduction=r)


def write(writer):
    c = GradCases(writer)
    for part in (kinks, ties, masks, reductions, broadcasts, picking, losses):
        part(c)
