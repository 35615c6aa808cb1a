"""attention.txt and attention_mcg31.txt: the attention classes from a seed to ten optimizer steps.

Every float32 run is repeated in float64 from the same weights. A case whose trained values depend
on rounding by more than TOLERANCE cannot be golden data, and stops the script."""
import math

import torch
from torch import nn

TOLERANCE = 3e-6  # of each tensor's largest absolute value

NOTEBOOK = [
    [0.43, 0.15, 0.89],
    [0.55, 0.87, 0.66],
    [0.57, 0.85, 0.64],
    [0.22, 0.58, 0.33],
    [0.77, 0.25, 0.10],
    [0.05, 0.80, 0.55],
]


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

    def forward(self, x):
        b, num_tokens, _ = x.shape
        heads = (b, num_tokens, self.num_heads, -1)
        layers = (self.W_query, self.W_key, self.W_value)
        q, k, v = (layer(x).view(heads).transpose(1, 2) for layer in layers)
        y = attend(q, k, v, self.mask, self.dropout).transpose(1, 2)
        return self.out_proj(y.contiguous().view(b, num_tokens, -1))


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


def write_model(w, case, make, seed, target, inputs, call):
    """Steps 1 to 5 of README's attention.txt. call(model, inputs) gives the output."""
    w.ints("seed", seed)
    for name, t in inputs.items():
        w.tensor(name, t)
    w.tensor("target", target)
    torch.manual_seed(seed)
    model = make()
    state = {name: t.clone() for name, t in model.state_dict().items()}
    w.text("keys", "\n".join(state))
    for name, t in state.items():
        w.tensor("init/" + name, t)

    def run(dtype):
        cast = {n: t.to(dtype) if t.is_floating_point() else t for n, t in inputs.items()}
        return trajectory(
            make, state, lambda m: call(m, cast), target.to(dtype), seed + 1, dtype
        )

    found = run(torch.float32)
    check(case, found, run(torch.float64))
    for field, t in found.items():
        w.tensor(field, t)


CLASSES = {
    "v1": SelfAttention_v1,
    "v2": SelfAttention_v2,
    "causal": CausalAttention,
    "wrapper": MultiHeadAttentionWrapper,
    "mha": MultiHeadAttention,
}
ARGUMENTS = ("d_in", "d_out", "context_length", "dropout", "num_heads", "qkv_bias")


def notebook_case(w, case, kind, seed, x, **args):
    w.case(case)
    w.text("class", CLASSES[kind].__name__)
    for name in ARGUMENTS:
        if name in args:
            (w.floats if name == "dropout" else w.ints)(name, args[name])
    d_out = args["d_out"] * (args["num_heads"] if kind == "wrapper" else 1)
    target = pattern((*x.shape[:-1], d_out), seed)
    make = lambda: CLASSES[kind](**args)
    write_model(w, case, make, seed, target, {"x": x}, lambda m, inputs: m(inputs["x"]))


def notebook_cases(w, rates):
    x = torch.tensor(NOTEBOOK)
    batch = torch.stack((x, x))
    other = torch.stack((x, x.flip(0)))
    if 0.0 in rates:
        notebook_case(w, "v1", "v1", 123, x, d_in=3, d_out=2)
        notebook_case(w, "v1_wide", "v1", 5, pattern((7, 5), 1), d_in=5, d_out=4)
        for bias in (False, True):
            suffix = "_bias" if bias else ""
            notebook_case(w, "v2" + suffix, "v2", 789, x, d_in=3, d_out=2, qkv_bias=bias)
    for p in rates:
        for bias in (False, True):
            suffix = f"_p{p}" + ("_bias" if bias else "")
            args = dict(d_in=3, d_out=2, context_length=6, dropout=p, qkv_bias=bias)
            notebook_case(w, "causal" + suffix, "causal", 123, batch, **args)
            short = other[:, :4]
            notebook_case(w, "causal_short" + suffix, "causal", 126, short, **args)
            args["num_heads"] = 2
            notebook_case(w, "wrapper" + suffix, "wrapper", 6, other, **args)
            notebook_case(w, "mha" + suffix, "mha", 123, batch, **args)
            args.update(d_in=5, d_out=6, context_length=8, num_heads=3)
            wide = pattern((3, 7, 5), 2)
            notebook_case(w, "mha_wide" + suffix, "mha", 321, wide, **args)


def packed_case(w, case, seed, q, k, v, model, masks=None, **options):
    """nn.MultiheadAttention. model: the constructor's arguments; options: those of the call"""
    w.case(case)
    w.text("class", "MultiheadAttention")
    for name, value in model.items():
        (w.floats if name == "dropout" else w.ints)(name, value)
    for name, value in options.items():
        w.ints(name, value)
    inputs = dict(query=q, key=k, value=v, **(masks or {}))
    batch_first = model.get("batch_first", False)
    target = pattern((*q.shape[:-1], model["embed_dim"]), seed)

    def call(m, i):
        masks = {n: i[n] for n in ("attn_mask", "key_padding_mask") if n in i}
        return m(i["query"], i["key"], i["value"], **masks, **options)[0]

    def weights(m):
        masks = {n: inputs[n] for n in ("attn_mask", "key_padding_mask") if n in inputs}
        return m(q, k, v, **masks, **options)[1]

    make = lambda: nn.MultiheadAttention(**model)
    write_model(w, case, make, seed, target, inputs, call)
    torch.manual_seed(seed)
    fresh = make()
    torch.manual_seed(seed + 1)
    found = weights(fresh)
    if found is not None:
        w.tensor("weights", found)


def causal_mask(n, m, dtype):
    mask = torch.triu(torch.ones(n, m), diagonal=1).bool()
    return mask if dtype is torch.bool else torch.zeros(n, m).masked_fill(mask, -torch.inf)


def packed_cases(w, p, only=None):
    E, H, B, L, S = 4, 2, 2, 5, 3
    base = dict(embed_dim=E, num_heads=H, dropout=p, batch_first=True)
    name = f"packed_p{p}_"
    x = pattern((B, L, E), 3)
    k, v = pattern((B, S, E), 4), pattern((B, S, E), 5)
    seq = lambda t: t.transpose(0, 1).contiguous()
    seq_first = dict(base, batch_first=False)
    causal = causal_mask(L, L, torch.bool)
    soft = pattern((L, S), 6)
    per_head = pattern((B * H, L, S), 7)
    padding = torch.tensor([[False, False, True], [False, False, False]])
    wide = dict(base, kdim=3, vdim=6)
    k3, v6 = pattern((B, S, 3), 8), pattern((B, S, 6), 9)

    def add(label, seed, q, key, value, model, masks=None, **options):
        if only is None or label in only:
            packed_case(w, name + label, seed, q, key, value, model, masks, **options)

    add("self", 1, x, x, x, base)
    add("self_no_weights", 1, x, x, x, base, need_weights=False)
    add("self_head_weights", 1, x, x, x, base, average_attn_weights=False)
    add("self_causal", 2, x, x, x, base, {"attn_mask": causal})
    add("self_causal_float", 2, x, x, x, base, {"attn_mask": causal_mask(L, L, None)})
    add("cross", 3, x, k, v, base)
    add("cross_seq_first", 3, seq(x), seq(k), seq(v), seq_first)
    add("cross_float_mask", 4, x, k, v, base, {"attn_mask": soft})
    add("cross_head_mask", 4, x, k, v, base, {"attn_mask": per_head})
    add("cross_padding", 5, x, k, v, base, {"key_padding_mask": padding})
    both = {"attn_mask": causal_mask(L, S, torch.bool), "key_padding_mask": padding.clone()}
    add("cross_both_masks", 5, x, k, v, base, both)
    both = {"attn_mask": soft, "key_padding_mask": pattern((B, S), 10)}
    add("cross_both_float", 5, x, k, v, base, both, need_weights=False)
    add("kdim_vdim", 6, x, k3, v6, wide)
    add("no_bias", 7, x, k, v, dict(base, bias=False))
    add("bias_kv", 8, x, k, v, dict(base, add_bias_kv=True))
    add("zero_attn", 29, x, k, v, dict(base, add_zero_attn=True))
    extra = dict(base, add_bias_kv=True, add_zero_attn=True)
    masks = {"attn_mask": soft, "key_padding_mask": pattern((B, S), 10)}
    add("bias_kv_zero_attn_masks", 10, x, k, v, extra, masks)
    extra = dict(wide, add_bias_kv=True, bias=False)
    add("kdim_vdim_bias_kv", 11, x, k3, v6, extra, average_attn_weights=False)
    add("unbatched", 12, x[0], k[0], v[0], seq_first)
    masks = {"attn_mask": soft, "key_padding_mask": padding[0]}
    masks["attn_mask"] = causal_mask(L, S, torch.bool)
    add("unbatched_masks", 12, x[0], k[0], v[0], base, masks)
    add("one_head", 13, x, k, v, dict(base, num_heads=1), average_attn_weights=False)


# With dropout these show where the mask is drawn and what it multiplies.
DROPPED = ("self", "self_causal", "self_no_weights", "cross", "bias_kv", "unbatched")


def masked_out(w):
    """a row whose keys are all masked: NaN, forward only"""
    w.case("packed_all_masked")
    torch.manual_seed(1)
    m = nn.MultiheadAttention(4, 2, batch_first=True)
    x = pattern((2, 3, 4), 3)
    padding = torch.tensor([[False, True, False], [True, True, True]])
    w.text("class", "MultiheadAttention")
    w.ints("seed", 1)
    w.ints("embed_dim", 4)
    w.ints("num_heads", 2)
    w.ints("batch_first", 1)
    for name in ("query", "key", "value"):
        w.tensor(name, x)
    w.tensor("key_padding_mask", padding)
    y, weights = m(x, x, x, key_padding_mask=padding)
    w.tensor("out", y)
    w.tensor("weights", weights)


def native(w):
    notebook_cases(w, (0.0, 0.5))
    packed_cases(w, 0.0)
    packed_cases(w, 0.5, DROPPED + ("cross_both_masks", "kdim_vdim", "self_head_weights"))
    masked_out(w)


def mcg31(w):
    notebook_cases(w, (0.5,))
    packed_cases(w, 0.5, DROPPED)
