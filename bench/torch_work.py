"""The work of heed-bench in PyTorch: same kinds, same sizes, same seed, same order of draws.

usage: torch_work.py VARIANT THREADS     (compare.py starts it and talks to it over pipes)

VARIANT is `stock`, `tuned`, `fused` or `llama.cpp` (llama_work.py). The first two run the classes of the notebook and
the book; for `tuned`, compare.py raises the thresholds of malloc. `fused` uses scaled_dot_product_attention,
nn.LayerNorm, nn.GELU and AdamW(fused=True). The first line on stdin is a row of heed-bench --list, and each further
line asks for a turn. The program answers each line with a line of JSON on stdout.
"""
import json
import math
import sys
import time

import torch
from torch import nn
from torch.nn import functional as F

TURN_NS = 20e6
WARM_NS = 10e6  # untimed runs of short work before its turn


# ------------------------------------------------------------------------- classes of the notebook and the book


class MultiHeadAttention(nn.Module):
    """The notebook's class. fused: it calls scaled_dot_product_attention."""

    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False, fused=False):
        super().__init__()
        self.d_out, self.num_heads, self.head_dim = d_out, num_heads, d_out // num_heads
        self.fused = fused
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.out_proj = nn.Linear(d_out, d_out)
        self.dropout = nn.Dropout(dropout)
        mask = torch.triu(torch.ones(context_length, context_length), diagonal=1)
        self.register_buffer("mask", mask)

    def attend(self, queries, keys, values):
        if self.fused:
            return F.scaled_dot_product_attention(queries, keys, values, is_causal=True,
                                                  dropout_p=self.dropout.p)
        n = queries.shape[2]
        scores = queries @ keys.transpose(2, 3)
        scores.masked_fill_(self.mask.bool()[:n, :n], -torch.inf)
        weights = self.dropout(torch.softmax(scores / keys.shape[-1] ** 0.5, dim=-1))
        return weights @ values

    def forward(self, x):
        b, n, _ = x.shape

        def heads(t):
            return t.view(b, n, self.num_heads, self.head_dim).transpose(1, 2)

        keys, queries, values = heads(self.W_key(x)), heads(self.W_query(x)), heads(self.W_value(x))
        context = self.attend(queries, keys, values).transpose(1, 2)
        return self.out_proj(context.contiguous().view(b, n, self.d_out))


class LayerNorm(nn.Module):
    """The book's."""

    def __init__(self, emb_dim):
        super().__init__()
        self.eps = 1e-5
        self.scale = nn.Parameter(torch.ones(emb_dim))
        self.shift = nn.Parameter(torch.zeros(emb_dim))

    def forward(self, x):
        mean = x.mean(dim=-1, keepdim=True)
        var = x.var(dim=-1, keepdim=True, unbiased=False)
        return self.scale * ((x - mean) / torch.sqrt(var + self.eps)) + self.shift


class GELU(nn.Module):
    """The book's."""

    def forward(self, x):
        inner = torch.sqrt(torch.tensor(2.0 / torch.pi)) * (x + 0.044715 * torch.pow(x, 3))
        return 0.5 * x * (1 + torch.tanh(inner))


class TransformerBlock(nn.Module):
    def __init__(self, d, context, heads, dropout, fused):
        super().__init__()
        norm = nn.LayerNorm if fused else LayerNorm
        gelu = nn.GELU(approximate="tanh") if fused else GELU()
        self.att = MultiHeadAttention(d, d, context, dropout, heads, fused=fused)
        self.ff = nn.Sequential(nn.Linear(d, 4 * d), gelu, nn.Linear(4 * d, d))
        self.norm1, self.norm2 = norm(d), norm(d)
        self.drop_shortcut = nn.Dropout(dropout)

    def forward(self, x):
        x = self.drop_shortcut(self.att(self.norm1(x))) + x
        return self.drop_shortcut(self.ff(self.norm2(x))) + x


class GPTModel(nn.Module):
    def __init__(self, row, fused):
        super().__init__()
        d, context, dropout = row["width"], row["context"], row["dropout"]
        self.tok_emb = nn.Embedding(row["vocab"], d)
        self.pos_emb = nn.Embedding(context, d)
        self.drop_emb = nn.Dropout(dropout)
        self.trf_blocks = nn.Sequential(*[TransformerBlock(d, context, row["heads"], dropout, fused)
                                          for _ in range(row["layers"])])
        self.final_norm = (nn.LayerNorm if fused else LayerNorm)(d)
        self.out_head = nn.Linear(d, row["vocab"], bias=False)

    def forward(self, in_idx):
        x = self.tok_emb(in_idx) + self.pos_emb(torch.arange(in_idx.shape[1]))
        return self.out_head(self.final_norm(self.trf_blocks(self.drop_emb(x))))


# ------------------------------------------------------------------------- kinds of work
#
# Each function makes what the work needs and returns (run, result). run() does the work once and
# returns what it made. result(run()) is the tensor whose mean size is reported as `check`.


def itself(y):
    return y


def gradient(x):
    return x.grad


def matmul(row, fused):
    m, k, n = row["m"], row["k"], row["n"]
    torch.set_grad_enabled(False)
    a = torch.rand(k, m).T if row["transpose_a"] else torch.rand(m, k)
    b = torch.rand(n, k).T if row["transpose_b"] else torch.rand(k, n)
    return lambda: a @ b, itself


def add(row, fused):
    a = torch.rand(row["rows"], row["columns"], requires_grad=True)
    b = torch.rand(row["rows"], row["columns"], requires_grad=True)
    return lambda: a + b, itself


def forward_of(f):
    """f(row) makes the function that the row applies to its input."""
    def make(row, fused):
        g, _ = f(row)
        x = torch.randn(row["rows"], row["columns"], requires_grad=True)
        return lambda: g(x), itself
    return make


def backward_of(f):
    def make(row, fused):
        g, parameters = f(row)
        x = torch.randn(row["rows"], row["columns"], requires_grad=True)
        y = g(x)
        dy = torch.randn_like(y)

        def run():
            x.grad = None
            for p in parameters:
                p.grad = None
            y.backward(dy, retain_graph=True)
            return x
        return run, gradient
    return make


def softmax(row):
    return lambda x: torch.softmax(x, -1), []


def gelu(row):
    return lambda x: F.gelu(x, approximate="tanh" if row["tanh"] else "none"), []


def dropout(row):
    return lambda x: F.dropout(x, row["p"], True), []


def layer_norm(row):
    weight = torch.ones(row["columns"], requires_grad=True)
    bias = torch.zeros(row["columns"], requires_grad=True)
    return lambda x: F.layer_norm(x, (row["columns"],), weight, bias, 1e-5), [weight, bias]


def cross_entropy(row):
    target = torch.randint(0, row["columns"], (row["rows"],))
    return lambda x: F.cross_entropy(x, target), []


def training_step(model, optim, loss_of):
    def run():
        loss = loss_of(model)
        optim.zero_grad()
        loss.backward()
        optim.step()
        return loss
    return run, itself


def tiny_step(row, fused):
    model = MultiHeadAttention(3, 2, 6, 0.0, 2)
    x, target = torch.rand(2, 6, 3), torch.rand(2, 6, 2)
    loss_fn = nn.MSELoss()
    return training_step(model, torch.optim.SGD(model.parameters(), lr=0.01),
                         lambda m: loss_fn(m(x), target))


def attention(row, fused):
    b, t, d = row["batch"], row["tokens"], row["width"]
    model = MultiHeadAttention(d, d, t, row["dropout"], row["heads"], fused=fused)
    x = torch.randn(b, t, d, requires_grad=True)
    dy = torch.randn(b, t, d)

    def run():
        y = model(x)
        model.zero_grad()
        x.grad = None
        y.backward(dy)
        return x
    return run, gradient


def gpt(row, fused):
    model = GPTModel(row, fused)
    x = torch.randint(0, row["vocab"], (row["batch"], row["context"]))
    target = torch.randint(0, row["vocab"], (row["batch"], row["context"]))
    options = {"fused": True} if fused else {}
    optim = torch.optim.AdamW(model.parameters(), lr=1e-4, **options)
    return training_step(model, optim,
                         lambda m: F.cross_entropy(m(x).flatten(0, 1), target.flatten()))


class Cached:
    """A GPTModel that keeps keys and values in tensors that have room for the whole context. One
    product gives queries, keys and values. Not fused: every Linear has its weight transposed in
    memory, which is faster for some numbers of rows."""

    def __init__(self, model, row, fused):
        self.model, self.heads, self.len = model, row["heads"], 0
        self.qkv = [torch.cat([b.att.W_query.weight, b.att.W_key.weight, b.att.W_value.weight])
                    for b in model.trf_blocks]
        if not fused:
            self.qkv = [w.t().contiguous().t() for w in self.qkv]
            for linear in (m for m in model.modules() if isinstance(m, nn.Linear)):
                linear.weight.data = linear.weight.t().contiguous().t()
        shape = (row["batch"], row["heads"], row["context"], row["width"] // row["heads"])
        self.kept = [(torch.zeros(shape), torch.zeros(shape)) for _ in model.trf_blocks]

    def __call__(self, ids):
        m, (b, n), begin = self.model, ids.shape, self.len
        end = begin + n
        x = m.tok_emb(ids) + m.pos_emb(torch.arange(begin, end))
        for block, qkv, (keys, values) in zip(m.trf_blocks, self.qkv, self.kept):
            y = F.linear(block.norm1(x), qkv).view(b, n, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
            keys[:, :, begin:end], values[:, :, begin:end] = y[1], y[2]
            y = F.scaled_dot_product_attention(y[0], keys[:, :, :end], values[:, :, :end],
                                               is_causal=n > 1)
            x = x + block.att.out_proj(y.transpose(1, 2).reshape(b, n, -1))
            x = x + block.ff(block.norm2(x))
        self.len = end
        return m.out_head(m.final_norm(x))


def writing(row, fused):
    torch.set_grad_enabled(False)
    model = GPTModel(dict(row, dropout=0), True).eval()
    ids = torch.randint(0, row["vocab"], (row["batch"], row["prompt"]))
    return Cached(model, row, fused), ids


def prefill(row, fused):
    gpt, ids = writing(row, fused)

    def run():
        gpt.len = 0
        with torch.inference_mode():
            return gpt(ids)
    return run, itself


def decode(row, fused):
    gpt, ids = writing(row, fused)
    tokens = torch.randint(0, row["vocab"], (row["batch"], row["tokens"]))
    gpt(ids)

    def run():
        gpt.len = row["prompt"]
        with torch.inference_mode():
            for i in range(row["tokens"]):
                logits = gpt(tokens[:, i:i + 1])
        return logits
    return run, itself


def adamw(row, fused):
    d = 768
    block = [(1, d), (1, d), (d, 3 * d), (1, 3 * d), (d, d), (1, d), (1, d), (1, d), (d, 4 * d),
             (1, 4 * d), (4 * d, d), (1, d)]
    parameters = []
    for shape in [(50257, d), (1024, d)] + 12 * block + [(1, d), (1, d)]:
        parameters.append(torch.full(shape, 0.5, requires_grad=True))
        parameters[-1].grad = torch.full(shape, 0.1)
    optim = torch.optim.AdamW(parameters, **({"fused": True} if fused else {}))

    def run():
        optim.step()
        return parameters[0]
    return run, itself


KINDS = {"matmul": matmul, "add": add, "tiny_step": tiny_step, "attention": attention, "gpt": gpt,
         "adamw": adamw, "prefill": prefill, "decode": decode}
for function in (softmax, gelu, dropout, layer_norm, cross_entropy):
    KINDS[function.__name__] = forward_of(function)
    KINDS[function.__name__ + "_backward"] = backward_of(function)


def work_of(row, variant, threads):
    """The work of a row. What a real model needs is imported for its rows alone."""
    if variant == "llama.cpp":
        import llama_work
        return llama_work.generate(row, threads)
    kinds = KINDS
    if row["kind"] not in kinds:
        import hf_work
        kinds = hf_work.KINDS
    return kinds[row["kind"]](row, variant == "fused")


# ------------------------------------------------------------------------- timing, as in timing.c


def one_run(run):
    begin = time.perf_counter_ns()
    run()
    return time.perf_counter_ns() - begin


def warm_up(run):
    """The time of the fastest of some runs, in nanoseconds."""
    begin = time.perf_counter_ns()
    first = one_run(run)
    for i in range(10):
        if i >= 1 and time.perf_counter_ns() - begin > 5e8:
            break
        first = min(first, one_run(run))
    return first


def turn(run, calls, first):
    end = time.perf_counter_ns() + WARM_NS
    while first < TURN_NS and time.perf_counter_ns() < end:
        run()
    numbers = range(calls)
    begin = time.perf_counter_ns()
    for _ in numbers:
        run()
    return (time.perf_counter_ns() - begin) / calls


def peak_rss():
    with open("/proc/self/status", encoding="utf-8") as f:
        for line in f:
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    return 0


def answer(**members):
    print(json.dumps(members), flush=True)


def main():
    variant, threads = sys.argv[1], int(sys.argv[2])
    torch.set_num_threads(threads)
    torch.manual_seed(123)
    row = json.loads(sys.stdin.readline())
    run, result = work_of(row, variant, threads)
    y = run()
    check = result(y).detach().double().abs().mean().item()
    del y
    first = warm_up(run)
    calls = max(1, min(1000000, math.floor(TURN_NS / (first + 1))))
    answer(ns=first, calls=calls)
    for _ in sys.stdin:
        answer(ns=turn(run, calls, first))
    answer(check=check, version=torch.__version__,
           peak_rss=peak_rss())


if __name__ == "__main__":
    main()
