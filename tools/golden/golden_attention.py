"""Makes attention.txt and attention_mcg31.txt: the attention classes from a seed to ten optimizer steps.

Every float32 run is repeated in float64 from the same weights. A case whose trained values depend
on rounding by more than TOLERANCE cannot be golden data, and stops the script.
"""
import math
import re

import torch
from torch import nn

from golden_format import plain

TOLERANCE = 3e-6  # of each tensor's largest absolute value


def attend(queries, keys, values, mask=None, dropout=None):
    scores = queries @ keys.transpose(-2, -1)
    if mask is not None:
        n = scores.shape[-1]
        scores.masked_fill_(mask.bool()[:n, :n], -torch.inf)
    weights = torch.softmax(scores / keys.shape[-1] ** 0.5, dim=-1)
    return (dropout(weights) if dropout else weights) @ values


class SelfAttention_v1(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        for name in ("W_query", "W_key", "W_value"):
            setattr(self, name, nn.Parameter(torch.rand(d_in, d_out)))

    def forward(self, x):
        return attend(x @ self.W_query, x @ self.W_key, x @ self.W_value)


class SelfAttention_v2(nn.Module):
    def __init__(self, d_in, d_out, qkv_bias=False):
        super().__init__()
        for name in ("W_query", "W_key", "W_value"):
            setattr(self, name, nn.Linear(d_in, d_out, bias=qkv_bias))

    def forward(self, x):
        return attend(self.W_query(x), self.W_key(x), self.W_value(x))


class CausalAttention(SelfAttention_v2):
    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__(d_in, d_out, qkv_bias)
        self.dropout = nn.Dropout(dropout)
        ones = torch.ones(context_length, context_length)
        self.register_buffer("mask", torch.triu(ones, diagonal=1))

    def forward(self, x):
        queries, keys, values = self.W_query(x), self.W_key(x), self.W_value(x)
        return attend(queries, keys, values, self.mask, self.dropout)


class MultiHeadAttentionWrapper(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        args = (d_in, d_out, context_length, dropout, qkv_bias)
        self.heads = nn.ModuleList([CausalAttention(*args) for _ in range(num_heads)])

    def forward(self, x):
        return torch.cat([head(x) for head in self.heads], dim=-1)


class MultiHeadAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        self.num_heads = num_heads
        for name in ("W_query", "W_key", "W_value"):
            setattr(self, name, nn.Linear(d_in, d_out, bias=qkv_bias))
        self.out_proj = nn.Linear(d_out, d_out)
        self.dropout = nn.Dropout(dropout)
        ones = torch.ones(context_length, context_length)
        self.register_buffer("mask", torch.triu(ones, diagonal=1))

    def heads(self, layer, x):
        return layer(x).view(*x.shape[:2], self.num_heads, -1).transpose(1, 2)

    def joined(self, q, k, v):
        y = attend(q, k, v, self.mask, self.dropout).transpose(1, 2)
        return self.out_proj(y.contiguous().flatten(2))

    def forward(self, x):
        return self.joined(*(self.heads(layer, x) for layer in (self.W_query, self.W_key, self.W_value)))


class FeedForward(nn.Module):
    def __init__(self, width, hidden, gelu):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(width, hidden), gelu, nn.Linear(hidden, width))

    def forward(self, x):
        return self.layers(x)


class TransformerBlock(nn.Module):
    def __init__(self, att, ff, norm1, norm2, rate):
        super().__init__()
        self.att, self.ff, self.norm1, self.norm2 = att, ff, norm1, norm2
        self.drop_shortcut = nn.Dropout(rate)

    def forward(self, x):
        x = self.drop_shortcut(self.att(self.norm1(x))) + x
        return self.drop_shortcut(self.ff(self.norm2(x))) + x


def pattern(sizes, k):
    """multiples of 1/32 in [-1, 1), which are exact, in no order"""
    i = torch.arange(math.prod(sizes))
    return (((i * 37 + k * 11) % 64 - 32) / 32).to(torch.float32).reshape(sizes)


def train(model, run, target, seed, optimizer):
    """the losses of ten steps; the generator is seeded once, before the first"""
    torch.manual_seed(seed)
    losses = []
    for _ in range(10):
        loss = nn.functional.mse_loss(run(model), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return torch.stack(losses)


def sgd(parameters):
    return torch.optim.SGD(parameters, lr=0.1, momentum=0.9, nesterov=True, weight_decay=0.01)


def adamw(parameters):
    return torch.optim.AdamW(parameters, lr=0.01)


def trajectory(make, state, run, target, seed, dtype):
    """every tensor that the file records, in dtype, by its field"""
    found = {}
    cast = {name: t.to(dtype) if t.is_floating_point() else t for name, t in state.items()}
    for name, optimizer in (("", None), ("sgd/", sgd), ("adamw/", adamw)):
        model = make().to(dtype)
        model.load_state_dict(cast)
        if optimizer:
            found[name + "loss"] = train(model, run, target, seed, optimizer(model.parameters()))
            found.update((name + n, p.detach()) for n, p in model.named_parameters())
        else:
            torch.manual_seed(seed)
            y = run(model)
            loss = nn.functional.mse_loss(y, target)
            loss.backward()
            found.update(out=y.detach(), loss=loss.detach())
            found.update(("grad/" + n, p.grad) for n, p in model.named_parameters())
    return found


def without_key_bias(field, t, f32):
    """The key bias's true gradient is zero; its value is rounding, which AdamW amplifies. It
    is not zero where some keys are made without the bias (add_bias_kv, add_zero_attn)."""
    if field.endswith("in_proj_bias") and f32["grad/in_proj_bias"].chunk(3)[1].abs().max() > 1e-6:
        return t
    if field.endswith("W_key.bias"):
        return t[:0]
    if field.endswith("in_proj_bias"):
        e = t.numel() // 3
        return torch.cat([t[:e], t[2 * e :]])
    return t


def check(case, f32, f64):
    for field, t in f64.items():
        a, b = (without_key_bias(field, x, f32).double() for x in (f32[field], t))
        if b.numel() and (a - b).abs().max() > TOLERANCE * b.abs().max():
            rel = ((a - b).abs().max() / b.abs().max()).item()
            raise SystemExit(f"{case}/{field}: float32 is {rel:.1e} from float64")


CLASSES = {c.__name__: c for c in (SelfAttention_v1, SelfAttention_v2, CausalAttention, MultiHeadAttentionWrapper,
                                   MultiHeadAttention, nn.MultiheadAttention)}
RESULTS = r"keys|(init|grad|sgd|adamw)/.*|out|loss|weights"
INPUTS = ("x", "query", "key", "value", "attn_mask", "key_padding_mask")
OPTIONS = ("need_weights", "average_attn_weights")


def one_tensor(inputs):
    """Self-attention has one tensor as query, key and value, and PyTorch then computes otherwise."""
    first = inputs["query"]
    return {n: first if n in ("key", "value") and torch.equal(t, first) else t for n, t in inputs.items()}


def called(model, inputs, options):
    """The output, and the packed class's weights or None."""
    return (model(inputs["x"]), None) if "x" in inputs else model(**one_tensor(inputs), **options)


def trained(w, make, fields, state, inputs, options):
    """Steps 2 to 4 of README's attention.txt."""
    def run(dtype):
        cast = {n: t.to(dtype) if t.is_floating_point() else t for n, t in inputs.items()}
        return trajectory(make, state, lambda m: called(m, cast, options)[0], fields["target"].to(dtype),
                          plain(fields["seed"]) + 1, dtype)

    found = run(torch.float32)
    check(w.prefix, found, run(torch.float64))
    for field, t in found.items():
        w.tensor(field, t)


def write(w):
    for fields in w.again(RESULTS):
        inputs = {name: fields[name] for name in INPUTS if name in fields}
        if w.prefix.startswith("causal_short"):     # whose x is a view of a longer tensor: rounding depends on it
            inputs["x"] = torch.cat([inputs["x"], inputs["x"]], 1)[:, :inputs["x"].shape[1]]
        options = {name: bool(fields[name]) for name in OPTIONS if name in fields}
        args = {name: plain(x) for name, x in fields.items() if name not in INPUTS + OPTIONS and
                not re.fullmatch(RESULTS + "|class|seed|target", name)}
        make = lambda: CLASSES[fields["class"]](**args)
        torch.manual_seed(plain(fields["seed"]))
        model = make()
        if "target" in fields:
            state = {name: t.clone() for name, t in model.state_dict().items()}
            w.text("keys", "\n".join(state))
            for name, t in state.items():
                w.tensor("init/" + name, t)
            trained(w, make, fields, state, inputs, options)
            torch.manual_seed(plain(fields["seed"]) + 1)
        y, weights = called(model, inputs, options)
        if "target" not in fields:      # forward only
            w.tensor("out", y)
        if weights is not None:
            w.tensor("weights", weights)
