#!/usr/bin/env python3
"""Times heed and PyTorch on the same work, in turn, and prints medians and their ratio.

usage: python3 bench/compare.py BUILD_DIR [ROUNDS]     (a Python that has torch)

Each round runs heed-bench once and then PyTorch once, so that a machine whose speed drifts slows
both. One thread each: the work is too small to split.
"""
import json
import os
import statistics
import subprocess
import sys
import time

import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    """The notebook's class."""

    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        self.d_out, self.num_heads, self.head_dim = d_out, num_heads, d_out // num_heads
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.out_proj = nn.Linear(d_out, d_out)
        self.dropout = nn.Dropout(dropout)
        mask = torch.triu(torch.ones(context_length, context_length), diagonal=1)
        self.register_buffer("mask", mask)

    def forward(self, x):
        b, n, _ = x.shape

        def heads(t):
            return t.view(b, n, self.num_heads, self.head_dim).transpose(1, 2)

        keys, queries, values = (heads(w(x)) for w in (self.W_key, self.W_query, self.W_value))
        scores = queries @ keys.transpose(2, 3)
        scores.masked_fill_(self.mask.bool()[:n, :n], -torch.inf)
        weights = self.dropout(torch.softmax(scores / keys.shape[-1] ** 0.5, dim=-1))
        context = (weights @ values).transpose(1, 2).contiguous().view(b, n, self.d_out)
        return self.out_proj(context)


def torch_rows():
    torch.manual_seed(123)
    a = torch.rand(6, 3, requires_grad=True)
    b = torch.rand(6, 3, requires_grad=True)
    x, target = torch.rand(2, 6, 3), torch.rand(2, 6, 2)
    model = MultiHeadAttention(3, 2, 6, 0.0, 2)
    optim = torch.optim.SGD(model.parameters(), lr=0.01)
    loss_fn = nn.MSELoss()

    def step():
        loss = loss_fn(model(x), target)
        optim.zero_grad()
        loss.backward()
        optim.step()

    return {"add with grad": (lambda: a + b, 20000), "training step": (step, 300)}


def time_torch(f, calls):
    for _ in range(calls // 10):
        f()
    begin = time.perf_counter_ns()
    for _ in range(calls):
        f()
    return (time.perf_counter_ns() - begin) / calls


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    program = os.path.join(sys.argv[1], "bench", "heed-bench")
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    torch.set_num_threads(1)
    rows = torch_rows()
    ours, theirs = {n: [] for n in rows}, {n: [] for n in rows}
    environment = dict(os.environ, HEED_THREADS="1")
    level = "?"
    for _ in range(rounds):
        out = subprocess.run([program, "1"], capture_output=True, text=True, check=True,
                             env=environment)
        for line in out.stdout.splitlines():
            entry = json.loads(line)
            ours[entry["name"]].append(entry["ns"])
            level = entry["level"]
        for name, (f, calls) in rows.items():
            theirs[name].append(time_torch(f, calls))
    print(f"medians of {rounds} rounds; heed at level {level}, torch {torch.__version__}, "
          "1 thread each")
    print(f"{'work':16} {'heed ns':>12} {'PyTorch ns':>12} {'ratio':>8} {'of pairs: min':>14} {'max':>7}")
    for name in rows:
        pairs = [t / h for h, t in zip(ours[name], theirs[name])]
        print(f"{name:16} {statistics.median(ours[name]):12.1f} "
              f"{statistics.median(theirs[name]):12.1f} {statistics.median(pairs):8.1f} "
              f"{min(pairs):14.1f} {max(pairs):7.1f}")


main()
