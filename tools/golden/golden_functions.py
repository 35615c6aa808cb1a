"""The operations of ops.txt and grads.txt: FUNCTIONS says what each is in PyTorch. Names and
arguments are heed's without hd_. Cases writes one call: inputs, arguments, result or error."""
import math

import torch
import torch.nn.functional as F

from golden_format import DTYPES

INF, NAN = math.inf, math.nan
REDUCTIONS = ("mean", "sum", "none")


def both(result):
    """values, then indices"""
    return [result.values, result.indices]


def simple(name):
    return lambda x: getattr(x, name)()


def along(name):
    return lambda x, dim, keepdim=0: getattr(x, name)(dim, keepdim=bool(keepdim))


def several(name):
    return lambda x, dims, keepdim=0: getattr(x, name)(tuple(dims), keepdim=bool(keepdim))


def getitem(x, index):
    """None for HD_ALL"""
    return x[tuple(slice(None) if i is None else i for i in index)]


def setitem(x, value, index):
    y = x.clone()
    y[tuple(slice(None) if i is None else i for i in index)] = value
    return y


def sliced(x, dim, start, stop, step=1):
    index = [slice(None)] * x.dim()
    index[dim] = slice(start, stop, step)
    return x[tuple(index)]


def arange(*s, dtype=None):
    return torch.arange(*s, dtype=DTYPES.get(dtype))


def inplace(name):
    return lambda x, *rest: getattr(x.clone(), name)(*rest)


PAIRS = "add sub mul div pow maximum minimum eq ne lt le gt ge".split()
PAIRS += "logical_and logical_or logical_xor".split()
UNARY = "neg exp log sqrt rsqrt tanh sigmoid relu abs logical_not sin cos log1p square".split()
FUNCTIONS = {name: getattr(torch, name) for name in PAIRS + UNARY}
FUNCTIONS.update({name: simple(name) for name in "sum mean max min argmax argmin any all".split()})
FUNCTIONS.update({n + "_dim": along(n) for n in "sum mean logsumexp argmax argmin any all".split()})
FUNCTIONS.update({n + "_dims": several(n) for n in "sum mean logsumexp".split()})
FUNCTIONS.update({n: inplace(n) for n in "add_ sub_ mul_ div_ zero_ copy_ masked_fill_".split()})
FUNCTIONS.update({n + "_scalar_": inplace(n + "_") for n in "add sub mul div".split()})
FUNCTIONS.update(
    add_scalar=lambda x, s: x + s,
    sub_scalar=lambda x, s: x - s,
    mul_scalar=lambda x, s: x * s,
    div_scalar=lambda x, s: x / s,
    pow_scalar=lambda x, s: x**s,
    rsub_scalar=lambda x, s: s - x,
    rdiv_scalar=lambda x, s: s / x,
    eq_scalar=lambda x, s: x == s,
    ne_scalar=lambda x, s: x != s,
    lt_scalar=lambda x, s: x < s,
    le_scalar=lambda x, s: x <= s,
    gt_scalar=lambda x, s: x > s,
    ge_scalar=lambda x, s: x >= s,
    fill_=inplace("fill_"),
    gelu=F.gelu,
    gelu_tanh=lambda x: F.gelu(x, approximate="tanh"),
    silu=F.silu,
    softplus=F.softplus,
    clamp=torch.clamp,
    clamp_min=torch.clamp_min,
    clamp_max=torch.clamp_max,
    where=torch.where,
    masked_fill=torch.masked_fill,
    to=lambda x, dtype: x.to(DTYPES[dtype]),
    var=lambda x, correction: x.var(correction=correction),
    var_dim=lambda x, dim, correction, keepdim=0: x.var(
        dim, correction=correction, keepdim=bool(keepdim)
    ),
    var_dims=lambda x, dims, correction, keepdim=0: x.var(
        tuple(dims), correction=correction, keepdim=bool(keepdim)
    ),
    max_dim=lambda x, dim, keepdim=0: both(x.max(dim, keepdim=bool(keepdim))),
    min_dim=lambda x, dim, keepdim=0: both(x.min(dim, keepdim=bool(keepdim))),
    softmax=torch.softmax,
    log_softmax=torch.log_softmax,
    cumsum=torch.cumsum,
    dot=torch.dot,
    matmul=torch.matmul,
    linear=F.linear,
    index_select=lambda x, index, dim: x.index_select(dim, index),
    gather=lambda x, index, dim: x.gather(dim, index),
    embedding=lambda index, weight, padding_idx=None: F.embedding(index, weight, padding_idx),
    topk=lambda x, k, dim, largest: both(x.topk(k, dim, bool(largest))),
    one_hot=F.one_hot,
    cat=lambda *xs, dim: torch.cat(xs, dim),
    stack=lambda *xs, dim: torch.stack(xs, dim),
    tril=torch.tril,
    triu=torch.triu,
    arange=arange,
    linspace=lambda start, end, steps, dtype: torch.linspace(
        start, end, steps, dtype=DTYPES[dtype]
    ),
    eye=lambda n, m, dtype: torch.eye(n, m, dtype=DTYPES[dtype]),
    full=lambda s, sizes, dtype: torch.full(sizes, s, dtype=DTYPES[dtype]),
    view=lambda x, sizes: x.view(sizes),
    reshape=lambda x, sizes: x.reshape(sizes),
    transpose=lambda x, dim0, dim1: x.transpose(dim0, dim1),
    permute=lambda x, dims: x.permute(dims),
    expand=lambda x, sizes: x.expand(sizes),
    flatten=lambda x, start_dim, end_dim: x.flatten(start_dim, end_dim),
    squeeze=lambda x, dim: x.squeeze(dim),
    squeeze_all=lambda x: x.squeeze(),
    unsqueeze=lambda x, dim: x.unsqueeze(dim),
    select=lambda x, dim, index: x.select(dim, index),
    slice=sliced,
    slice_step=sliced,
    narrow=lambda x, dim, start, length: x.narrow(dim, start, length),
    unbind=lambda x, dim: x.unbind(dim),
    split=lambda x, size, dim: x.split(size, dim),
    split_sizes=lambda x, sizes, dim: x.split(sizes, dim),
    chunk=lambda x, chunks, dim: x.chunk(chunks, dim),
    getitem=getitem,
    setitem=setitem,
    equal=lambda a, b: torch.tensor(torch.equal(a, b)),
    allclose=lambda a, b, rtol, atol, equal_nan: torch.tensor(
        torch.allclose(a, b, rtol, atol, bool(equal_nan))
    ),
    layer_norm=lambda x, *rest, sizes, eps: F.layer_norm(x, sizes, *rest, eps=eps),
    mse_loss=lambda x, target, reduction=0: F.mse_loss(x, target, reduction=REDUCTIONS[reduction]),
    cross_entropy=lambda x, target, ignore_index=-100, reduction=0: F.cross_entropy(
        x, target, ignore_index=ignore_index, reduction=REDUCTIONS[reduction]
    ),
)


def tensor(values, dtype="f32"):
    return torch.tensor(values, dtype=DTYPES[dtype])


def ramp(sizes, dtype="f32", start=1.0, step=0.5):
    n = torch.arange(math.prod(sizes), dtype=torch.float64)
    return (start + step * n).to(DTYPES[dtype]).reshape(sizes)


class Cases:
    def __init__(self, writer):
        self.w = writer
        self.counts = {}

    def arguments(self, ins, scalars, args):
        for k, x in enumerate(ins):
            self.w.tensor(f"in{k}", x)
        for k, s in enumerate(scalars):
            self.argument(f"s{k}", s)
        for name, value in args.items():
            self.argument(name, value)

    def argument(self, name, value):
        if isinstance(value, str):
            self.w.text(name, value)
        elif isinstance(value, float):
            self.w.floats(name, value)
        elif isinstance(value, (list, tuple)):
            self.w.ints(name, [-(2**63) if v is None else v for v in value])
        else:
            self.w.ints(name, int(value))

    def add(self, op, *ins, s=(), **args):
        number = self.counts.get(op, 0)
        self.counts[op] = number + 1
        self.w.case(f"{op}_{number:02}")
        self.w.text("op", op)
        self.arguments(ins, s, args)
        try:
            result = FUNCTIONS[op](*ins, *s, **args)
        except (RuntimeError, IndexError, ValueError, TypeError, NotImplementedError) as e:
            self.w.text("error", str(e).split("\n")[0].strip())
            return
        outs = result if isinstance(result, (list, tuple)) else [result]
        for k, out in enumerate(outs):
            self.w.tensor("out" if outs is not result else f"out{k}", out)
