"""modules.txt: what constructors draw, how modules print, state_dict keys, grad_fn names."""
import torch
import torch.nn.functional as F
from torch import nn

from golden_attention import (
    NOTEBOOK,
    CausalAttention,
    MultiHeadAttention,
    MultiHeadAttentionWrapper,
    SelfAttention_v1,
    SelfAttention_v2,
)


def inits(w):
    def add(case, seed, make, **args):
        w.case("init_" + case)
        w.ints("seed", seed)
        torch.manual_seed(seed)
        model = make(**args)
        w.text("class", type(model).__name__)
        for name, value in args.items():
            w.ints(name, value)
        for name, t in model.state_dict().items():
            w.stream("init/" + name, t)
        w.ints("next", torch.empty((), dtype=torch.int64).random_().item())

    for i, o in ((3, 2), (1, 1), (2, 8), (5, 7), (768, 3), (64, 100), (17, 33)):
        for bias in (True, False):
            label = f"linear_{i}_{o}" + ("" if bias else "_no_bias")
            add(label, 123, nn.Linear, in_features=i, out_features=o, bias=bias)
    for n, d, padding in ((9, 4, None), (3, 2, None), (1, 1, None), (5, 3, 2), (50, 16, -1)):
        extra = {} if padding is None else {"padding_idx": padding}
        label = f"embedding_{n}_{d}" + ("_padding" if extra else "")
        add(label, 123, nn.Embedding, num_embeddings=n, embedding_dim=d, **extra)
    add("layer_norm_4", 123, nn.LayerNorm, normalized_shape=4)
    for E, H in ((4, 2), (6, 3)):
        add(f"packed_{E}_{H}", 7, nn.MultiheadAttention, embed_dim=E, num_heads=H)
    args = dict(embed_dim=4, num_heads=2, kdim=3, vdim=6, add_bias_kv=1)
    add("packed_kdim_vdim_bias_kv", 7, nn.MultiheadAttention, **args)


class Block(nn.Module):
    """modules in modules, for print and for keys"""

    def __init__(self):
        super().__init__()
        self.norm1 = nn.LayerNorm(4)
        self.attention = MultiHeadAttention(4, 4, 6, 0.1, 2)
        self.norm2 = nn.LayerNorm(4)
        self.layers = nn.Sequential(nn.Linear(4, 16), nn.GELU(), nn.Linear(16, 4), nn.Dropout(0.1))


class Empty(nn.Module):
    pass


MODELS = """
nn.Linear(2, 3)
nn.Linear(2, 3, bias=False)
nn.Dropout(0.1)
nn.Dropout(0.5)
nn.Dropout(0.0)
nn.Dropout(0)
nn.Dropout(1)
nn.Dropout(1 / 3)
nn.Dropout(1e-5)
nn.Embedding(9, 4)
nn.Embedding(9, 4, padding_idx=8)
nn.Embedding(9, 4, padding_idx=-1)
nn.LayerNorm(4)
nn.LayerNorm((2, 4))
nn.LayerNorm(4, eps=1e-6)
nn.LayerNorm(4, elementwise_affine=False)
nn.LayerNorm(4, bias=False)
nn.ReLU()
nn.GELU()
nn.GELU(approximate='tanh')
nn.Sequential()
nn.Sequential(nn.Linear(2, 3))
nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
nn.Sequential(nn.Sequential(nn.Linear(1, 1), nn.GELU()), nn.ReLU())
nn.ModuleList()
nn.ModuleList([nn.ReLU()])
nn.ModuleList([nn.Linear(2, 2), nn.Linear(2, 2), nn.Linear(2, 2)])
nn.ModuleList([nn.ReLU(), nn.ReLU(), nn.GELU(), nn.ReLU(), nn.ReLU()])
nn.ModuleList([nn.Sequential(nn.Linear(2, 2), nn.ReLU()) for _ in range(2)])
nn.MultiheadAttention(4, 2)
nn.MultiheadAttention(4, 2, bias=False, kdim=3, vdim=5, add_bias_kv=True)
SelfAttention_v1(3, 2)
SelfAttention_v2(3, 2)
SelfAttention_v2(3, 2, True)
CausalAttention(3, 2, 6, 0.0)
CausalAttention(3, 2, 6, 0.1, True)
MultiHeadAttentionWrapper(3, 2, 6, 0.0, 2)
MultiHeadAttentionWrapper(3, 2, 6, 0.5, 1, True)
MultiHeadAttention(3, 2, 6, 0.0, 2)
MultiHeadAttention(3, 4, 6, 0.5, 2, True)
Block()
nn.ModuleList([Block(), Block()])
Empty()
nn.RMSNorm(4, eps=1e-5)
"""

# name: expression over the tensors of `variables`
GRAD_FN = {
    "mm": "a @ b",
    "mv": "a @ v4",
    "dot": "v4 @ v4",
    "dot_call": "torch.dot(v4, v4)",
    "vec_mat": "v3 @ a",
    "matmul_3d_2d": "x @ b",
    "matmul_3d_3d": "x @ x.transpose(1, 2)",
    "matmul_4d_4d": "h @ h.transpose(2, 3)",
    "matmul_2d_3d": "a @ x.transpose(1, 2)",
    "matmul_3d_1d": "x @ v4",
    "matmul_1d_3d": "v5 @ x",
    "linear_1d": "F.linear(v4, w)",
    "linear_1d_bias": "F.linear(v4, w, bias)",
    "linear_2d": "F.linear(a, w)",
    "linear_2d_bias": "F.linear(a, w, bias)",
    "linear_3d": "F.linear(x, w)",
    "linear_3d_bias": "F.linear(x, w, bias)",
    "linear_4d": "F.linear(h, w2)",
    "linear_4d_bias": "F.linear(h, w2, bias)",
    "view": "a.view(4, 3)",
    "reshape": "a.reshape(12)",
    "reshape_copy": "a.t().reshape(12)",
    "flatten": "x.flatten(0, 1)",
    "flatten_copy": "x.transpose(0, 1).flatten()",
    "flatten_1d": "v4.flatten()",
    "transpose": "a.transpose(0, 1)",
    "t": "a.T",
    "permute": "x.permute(2, 0, 1)",
    "expand": "v4.expand(3, 4)",
    "squeeze": "x[:1].squeeze(0)",
    "squeeze_all": "x[:1].squeeze()",
    "unsqueeze": "a.unsqueeze(0)",
    "select": "a[0]",
    "slice": "a[0:2]",
    "slice_step": "a[0:3:2]",
    "narrow": "a.narrow(0, 0, 2)",
    "select_dim": "a.select(1, 0)",
    "split": "a.split(2)[0]",
    "split_sizes": "a.split([1, 2])[0]",
    "chunk": "a.chunk(2)[0]",
    "unbind": "a.unbind()[0]",
    "contiguous": "a.t().contiguous()",
    "clone": "a.clone()",
    "double": "a.double()",
    "cat": "torch.cat([a, a])",
    "stack": "torch.stack([a, a])",
    "tril": "a.tril()",
    "triu": "a.triu(1)",
    "add": "a + a",
    "sub": "a - a",
    "mul": "a * a",
    "div": "a / a",
    "pow": "a ** a",
    "add_scalar": "a + 1",
    "sub_scalar": "a - 1",
    "rsub_scalar": "1 - a",
    "mul_scalar": "a * 2",
    "div_scalar": "a / 2",
    "rdiv_scalar": "1 / a",
    "rdiv_scalar_2": "2 / a",
    "pow_scalar": "a ** 2",
    "neg": "-a",
    "exp": "a.exp()",
    "log": "a.log()",
    "sqrt": "a.sqrt()",
    "rsqrt": "a.rsqrt()",
    "tanh": "a.tanh()",
    "erf": "a.erf()",
    "sigmoid": "a.sigmoid()",
    "relu": "a.relu()",
    "gelu": "F.gelu(a)",
    "gelu_tanh": "F.gelu(a, approximate='tanh')",
    "abs": "a.abs()",
    "clamp": "a.clamp(0, 1)",
    "clamp_min": "a.clamp(min=0)",
    "clamp_max": "a.clamp(max=1)",
    "maximum": "torch.maximum(a, a)",
    "minimum": "torch.minimum(a, a)",
    "where": "torch.where(a > 0, a, a * 2)",
    "masked_fill": "a.masked_fill(a > 0, 1.0)",
    "sum": "a.sum()",
    "sum_dim": "a.sum(0)",
    "sum_dims": "a.sum((0, 1))",
    "mean": "a.mean()",
    "mean_dim": "a.mean(0)",
    "var": "a.var()",
    "var_dim": "a.var(0)",
    "logsumexp": "a.logsumexp(0)",
    "max": "a.max()",
    "min": "a.min()",
    "max_dim": "a.max(0).values",
    "min_dim": "a.min(0).values",
    "softmax": "a.softmax(-1)",
    "log_softmax": "a.log_softmax(-1)",
    "cumsum": "a.cumsum(0)",
    "index_select": "a.index_select(0, i)",
    "gather": "a.gather(0, i.view(1, 2))",
    "embedding": "F.embedding(i, a)",
    "topk": "a.topk(2).values",
    "dropout": "F.dropout(a, 0.5)",
    "dropout_p1": "F.dropout(a, 1.0)",
    "layer_norm": "F.layer_norm(a, (4,))",
    "layer_norm_affine": "F.layer_norm(a, (4,), v4, v4)",
    "mse_loss": "F.mse_loss(a, a.detach())",
    "mse_loss_sum": "F.mse_loss(a, a.detach(), reduction='sum')",
    "mse_loss_none": "F.mse_loss(a, a.detach(), reduction='none')",
    "cross_entropy": "F.cross_entropy(a, i3)",
    "cross_entropy_1d": "F.cross_entropy(v4, i[0])",
    "cross_entropy_3d": "F.cross_entropy(x, i25)",
    "cross_entropy_none": "F.cross_entropy(a, i3, reduction='none')",
    "add_": "a.clone().add_(a)",
    "mul_": "a.clone().mul_(2)",
    "div_": "a.clone().div_(2)",
    "sub_": "a.clone().sub_(a)",
    "fill_": "a.clone().fill_(2)",
    "zero_": "a.clone().zero_()",
    "copy_": "torch.zeros(3, 4).copy_(a)",
    "masked_fill_": "a.clone().masked_fill_(a > 0, 1.0)",
    "setitem": "setitem(a.clone(), 0, 5.0)",
    "setitem_tensor": "setitem(torch.zeros(3, 4), 0, v4)",
    "sa_v1": "SelfAttention_v1(3, 2)(inputs)",
    "sa_v2": "SelfAttention_v2(3, 2)(inputs)",
    "sa_v2_bias": "SelfAttention_v2(3, 2, True)(inputs)",
    "causal": "CausalAttention(3, 2, 6, 0.0)(batch)",
    "wrapper": "MultiHeadAttentionWrapper(3, 2, 6, 0.0, 2)(batch)",
    "mha": "MultiHeadAttention(3, 2, 6, 0.0, 2)(batch)",
    "packed": "nn.MultiheadAttention(4, 2)(x, x, x)[0]",
    "packed_weights": "nn.MultiheadAttention(4, 2)(x, x, x)[1]",
    "packed_batch_first": "nn.MultiheadAttention(4, 2, batch_first=True)(x, x, x)[0]",
    "packed_unbatched": "nn.MultiheadAttention(4, 2)(a, a, a)[0]",
    "packed_no_weights": "nn.MultiheadAttention(4, 2)(x, x, x, need_weights=False)[0]",
}


def setitem(t, index, value):
    t[index] = value
    return t


def variables():
    def leaf(*sizes):
        return (torch.arange(torch.Size(sizes).numel()) + 1.0).reshape(sizes).requires_grad_()

    inputs = torch.tensor(NOTEBOOK)
    found = dict(a=leaf(3, 4), b=leaf(4, 2), x=leaf(2, 5, 4), h=leaf(2, 2, 5, 3))
    found.update(v3=leaf(3), v4=leaf(4), v5=leaf(5), w=leaf(2, 4), w2=leaf(2, 3), bias=leaf(2))
    found.update(i=torch.tensor([0, 1]), i3=torch.tensor([0, 1, 2]))
    found.update(i25=torch.zeros(2, 4, dtype=torch.int64))
    found.update(inputs=inputs, batch=torch.stack((inputs, inputs)))
    return found


def write(w):
    inits(w)
    scope = dict(globals())
    for k, line in enumerate(MODELS.strip().splitlines()):
        w.case(f"model_{k:02}")
        model = eval(line, scope)
        w.text("python", line)
        w.text("print", str(model))
        w.text("keys", "\n".join(model.state_dict()))
    scope.update(variables())
    for name, expression in GRAD_FN.items():
        w.case("grad_fn_" + name)
        torch.manual_seed(0)
        y = eval(expression, scope)
        w.text("python", expression)
        w.text("name", y.grad_fn.name().rsplit("::", 1)[-1] if y.grad_fn else "")
