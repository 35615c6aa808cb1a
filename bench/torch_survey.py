"""PyTorch's side of the survey: the operations of survey_ops.h on the same inputs.

usage: torch_survey.py THREADS     (survey.py starts it and talks to it over pipes)

Each line on stdin is a row of heed-survey --list, which is set up, or "turn", which measures it. The
program answers each line with a line of JSON on stdout, as heed-survey does.
"""
import json
import sys
import time
import warnings

import torch
from torch.nn import functional as F

TURN_NS = 4e6
WARM_NS = 10e6  # untimed runs before a turn, as in survey.c
DTYPES = {"float32": torch.float32, "float64": torch.float64, "int64": torch.int64,
          "bool": torch.bool}
MATRICES = "xypquem"


def in_part(x, y):
    x[1].copy_(y)
    return x[1]


def setitem(x, value):
    x[1] = value
    return x


# Each takes as many inputs as the operation has.
OPS = {
    "add": torch.add, "sub": torch.sub, "mul": torch.mul, "div": torch.div, "pow": torch.pow,
    "maximum": torch.maximum, "minimum": torch.minimum, "mul_by_mask": torch.mul,
    "add_scalar": lambda x: x + 2, "sub_scalar": lambda x: x - 2, "mul_scalar": lambda x: x * 2,
    "div_scalar": lambda x: x / 3, "rsub_scalar": lambda x: 2 - x, "rdiv_scalar": lambda x: 2 / x,
    "pow_scalar_2": lambda x: x ** 2, "pow_scalar_3": lambda x: x ** 3,
    "pow_scalar_half": lambda x: x ** 0.5, "pow_scalar_2_5": lambda x: x ** 2.5,
    "square": torch.square, "neg": torch.neg,
    "exp": torch.exp, "log": torch.log, "sqrt": torch.sqrt, "rsqrt": torch.rsqrt,
    "tanh": torch.tanh, "erf": torch.erf, "sigmoid": torch.sigmoid, "sin": torch.sin,
    "cos": torch.cos, "log1p": torch.log1p, "relu": torch.relu, "gelu": F.gelu,
    "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"), "silu": F.silu, "abs": torch.abs,
    "softplus": F.softplus, "clamp": lambda x: torch.clamp(x, -1, 1),
    "clamp_min": lambda x: torch.clamp(x, min=-1), "clamp_max": lambda x: torch.clamp(x, max=1),
    "where": lambda x, y, m: torch.where(m, x, y),
    "masked_fill": lambda x, m: x.masked_fill(m, -1),
    "eq": torch.eq, "ne": torch.ne, "lt": torch.lt, "le": torch.le, "gt": torch.gt, "ge": torch.ge,
    "eq_scalar": lambda x: x == 1, "ne_scalar": lambda x: x != 1, "lt_scalar": lambda x: x < 1,
    "le_scalar": lambda x: x <= 1, "gt_scalar": lambda x: x > 1, "ge_scalar": lambda x: x >= 1,
    "logical_and": torch.logical_and, "logical_or": torch.logical_or,
    "logical_xor": torch.logical_xor, "logical_not": torch.logical_not,
    "equal": lambda x, y: torch.tensor(float(torch.equal(x, y))),
    "allclose": lambda x, y: torch.tensor(float(torch.allclose(x, y))),
    "add_": lambda x, y: x.add_(y), "sub_": lambda x, y: x.sub_(y), "mul_": lambda x, y: x.mul_(y),
    "div_": lambda x, y: x.div_(y), "add_scalar_": lambda x: x.add_(2),
    "sub_scalar_": lambda x: x.sub_(2), "mul_scalar_": lambda x: x.mul_(-1),
    "div_scalar_": lambda x: x.div_(-1), "fill_": lambda x: x.fill_(1), "zero_": lambda x: x.zero_(),
    "copy_": lambda x, y: x.copy_(y), "copy_to_part": in_part,
    "masked_fill_": lambda x, m: x.masked_fill_(m, -1), "uniform_": lambda x: x.uniform_(-1, 1),
    "normal_": lambda x: x.normal_(0, 1), "bernoulli_": lambda x: x.bernoulli_(0.5),
    "exponential_": lambda x: x.exponential_(1), "setitem": setitem,
    "setitem_scalar": lambda x: setitem(x, 1),
    "sum": torch.sum, "sum_dim_0": lambda x: x.sum(0), "sum_dim_1": lambda x: x.sum(1),
    "sum_dims": lambda x: x.sum((0, 1)),
    "mean": torch.mean, "mean_dim_0": lambda x: x.mean(0), "mean_dim_1": lambda x: x.mean(1),
    "mean_dims": lambda x: x.mean((0, 1)),
    "var": torch.var, "var_dim_0": lambda x: x.var(0), "var_dim_1": lambda x: x.var(1),
    "var_dims": lambda x: x.var((0, 1)),
    "logsumexp_dim_0": lambda x: x.logsumexp(0), "logsumexp_dim_1": lambda x: x.logsumexp(1),
    "logsumexp_dims": lambda x: x.logsumexp((0, 1)),
    "max": torch.max, "min": torch.min,
    "max_dim_0": lambda x: x.max(0)[0], "max_dim_1": lambda x: x.max(1)[0],
    "min_dim_0": lambda x: x.min(0)[0], "min_dim_1": lambda x: x.min(1)[0],
    "argmax": torch.argmax, "argmin": torch.argmin,
    "argmax_dim_0": lambda x: x.argmax(0), "argmax_dim_1": lambda x: x.argmax(1),
    "argmin_dim_0": lambda x: x.argmin(0), "argmin_dim_1": lambda x: x.argmin(1),
    "any": torch.any, "all": torch.all, "any_dim_0": lambda x: x.any(0),
    "any_dim_1": lambda x: x.any(1), "all_dim_0": lambda x: x.all(0),
    "all_dim_1": lambda x: x.all(1),
    "softmax_dim_0": lambda x: torch.softmax(x, 0), "softmax_dim_1": lambda x: torch.softmax(x, 1),
    "log_softmax_dim_0": lambda x: torch.log_softmax(x, 0),
    "log_softmax_dim_1": lambda x: torch.log_softmax(x, 1),
    "cumsum_dim_0": lambda x: x.cumsum(0), "cumsum_dim_1": lambda x: x.cumsum(1),
    "view": lambda x: x.view(-1), "reshape": lambda x: x.reshape(-1),
    "transpose": lambda x: x.transpose(0, 1), "t": torch.t, "permute": lambda x: x.permute(1, 0),
    "expand": lambda x: x.expand(32, -1), "flatten": lambda x: x.flatten(0, 1),
    "squeeze": lambda x: x.squeeze(0), "squeeze_all": torch.squeeze,
    "unsqueeze": lambda x: x.unsqueeze(0), "select_dim_0": lambda x: x.select(0, 1),
    "select_dim_1": lambda x: x.select(1, 1), "detach": torch.detach,
    "slice_dim_0": lambda x: x[1:17], "slice_dim_1": lambda x: x[:, 1:17],
    "slice_step": lambda x: x[:, ::2], "narrow": lambda x: x.narrow(0, 1, 16),
    "split": lambda x: torch.cat(x.split(16, 1), 1),
    "split_sizes": lambda x: x.split([16, x.shape[0] - 16], 0)[0],
    "chunk": lambda x: torch.cat(x.chunk(3, 1), 1), "unbind": lambda x: x.unbind(0)[1],
    "getitem": lambda x: x[1],
    "contiguous": lambda x: x.contiguous(), "clone": torch.clone,
    "to_float32": lambda x: x.to(torch.float32), "to_float64": lambda x: x.to(torch.float64),
    "to_int64": lambda x: x.to(torch.int64), "to_bool": lambda x: x.to(torch.bool),
    "tril": torch.tril, "triu": lambda x: torch.triu(x, 1),
    "cat_dim_0": lambda x, y: torch.cat((x, y), 0), "cat_dim_1": lambda x, y: torch.cat((x, y), 1),
    "stack_dim_0": lambda x, y: torch.stack((x, y), 0),
    "stack_dim_2": lambda x, y: torch.stack((x, y), 2),
    "index_select_dim_0": lambda x, i: x.index_select(0, i),
    "index_select_dim_1": lambda x, i: x.index_select(1, i),
    "gather_dim_0": lambda x, i: x.gather(0, i), "gather_dim_1": lambda x, i: x.gather(1, i),
    "embedding": lambda x, i: F.embedding(i, x),
    "topk_1": lambda x: x.topk(1, 1)[0], "topk_10": lambda x: x.topk(10, 1)[0],
    "topk_10_dim_0": lambda x: x.topk(10, 0)[0],
    "one_hot": lambda x, i: F.one_hot(i, x.shape[1]),
    "bernoulli": torch.bernoulli, "dropout": lambda x: F.dropout(x, 0.1, True),
    "multinomial": lambda p: p.multinomial(10, False),
    "multinomial_replaced": lambda p: p.multinomial(10, True),
    "rand": lambda x: torch.rand(x.shape, dtype=x.dtype),
    "randn": lambda x: torch.randn(x.shape, dtype=x.dtype),
    "randint": lambda x: torch.randint(0, 1000, x.shape, dtype=x.dtype),
    "rand_like": torch.rand_like, "randn_like": torch.randn_like,
    "randperm": lambda x: torch.randperm(x.numel()),
    "zeros": lambda x: torch.zeros(x.shape, dtype=x.dtype),
    "ones": lambda x: torch.ones(x.shape, dtype=x.dtype),
    "full": lambda x: torch.full(x.shape, 1, dtype=x.dtype),
    "zeros_like": torch.zeros_like, "full_like": lambda x: torch.full_like(x, 2),
    "eye": lambda x: torch.eye(*x.shape, dtype=x.dtype),
    "arange": lambda x: torch.arange(0, x.numel(), 1, dtype=x.dtype),
    "linspace": lambda x: torch.linspace(0, 1, x.numel(), dtype=x.dtype),
    "layer_norm": lambda x, w, b: F.layer_norm(x, (x.shape[1],), w, b),
    "mse_loss": F.mse_loss, "mse_loss_none": lambda x, y: F.mse_loss(x, y, reduction="none"),
    "cross_entropy": F.cross_entropy, "dot": lambda x, y: torch.dot(x.view(-1), y.view(-1)),
}


# ------------------------------------------------------------------------- inputs


def numbers(letter, dtype, rows, columns):
    positive = letter in "pq"
    if letter == "u":
        return torch.ones(rows, columns, dtype=dtype)
    if letter == "m" or dtype == torch.bool:
        return torch.randint(0, 2, (rows, columns)).bool()
    if dtype == torch.int64:
        return torch.randint(-100 if letter == "x" else 1, 5 if positive else 100, (rows, columns))
    return torch.rand(rows, columns, dtype=dtype) + 0.5 if positive else \
        torch.randn(rows, columns, dtype=dtype)


def matrix(letter, layout, dtype, rows, columns):
    if layout == "t":
        return numbers(letter, dtype, columns, rows).t()
    if layout == "s":
        return numbers(letter, dtype, rows, 2 * columns)[:, ::2]
    return numbers(letter, dtype, *{"k": (rows, 1), "o": (1, columns)}.get(layout, (rows, columns)))


def other_input(letter, dtype, rows, columns):
    if letter == "P":
        return torch.rand(rows, columns, dtype=dtype)
    if letter == "w":
        return torch.randn(columns, dtype=dtype)
    end, shape = {"r": (rows, (rows,)), "c": (columns, (columns,)), "R": (rows, (rows, columns)),
                  "C": (columns, (rows, columns)), "T": (columns, (rows,))}[letter]
    return torch.randint(0, end, shape)


class Inputs:
    """Draws inputs as survey.c does, and keeps them as long as the rows have the
    same size, dtype and layout."""

    def __init__(self):
        self.kept, self.like = {}, None

    def get(self, row, i):
        like = row["rows"], row["dtype"], row["layout"]
        if self.like != like:
            self.kept, self.like = {}, like
        letters = row["inputs"]
        last = letters[i] in MATRICES and not any(c in MATRICES for c in letters[i + 1:])
        layout = row["layout"] if letters[i] in MATRICES and (last or row["layout"] == "s") else "c"
        key = letters[i], layout
        if key not in self.kept:
            drawn_as = "x" if letters[i] == "e" else letters[i]
            torch.manual_seed(123 + ord(drawn_as))
            args = DTYPES[row["dtype"]], row["rows"], row["columns"]
            self.kept[key] = matrix(drawn_as, layout, *args) if drawn_as in MATRICES else \
                other_input(drawn_as, *args)
        return self.kept[key]

    def drop(self, letter):
        self.kept = {k: t for k, t in self.kept.items() if k[0] != letter}


# ------------------------------------------------------------------------- one row


class Work:
    def __init__(self, inputs, row):
        self.row, self.f = row, OPS[row["op"]]
        self.x = [inputs.get(row, i) for i in range(len(row["inputs"]))]
        if row["grad"]:
            self.x = [x.detach().requires_grad_() if x.is_floating_point() else x for x in self.x]
        if row["backward"]:
            torch.manual_seed(122)
            self.y = self.f(*self.x)
            torch.manual_seed(121)
            self.dy = torch.randn(self.y.shape, dtype=self.y.dtype)
            self.leaves = [x for x in self.x if x.requires_grad]

    def forward(self):
        return self.f(*self.x)

    def run(self):
        return self.backward() if self.row["backward"] else self.forward()

    def backward(self):
        for x in self.leaves:
            x.grad = None
        self.y.backward(self.dy, retain_graph=True)
        return self.x[0].grad

    def warm_up(self):
        torch.manual_seed(123)
        y = self.run()
        check = y.detach().double().abs().mean().item()
        del y
        ns, begin = self.time(1), time.perf_counter_ns()
        for _ in range(10):
            if time.perf_counter_ns() - begin > TURN_NS:
                break
            ns = min(ns, self.time(1))
        self.calls = int(max(1, min(100000, TURN_NS / (ns + 1))))
        return {"check": check, "ns": ns}

    def time(self, calls):
        run, numbers_ = self.backward if self.row["backward"] else self.forward, range(calls)
        begin = time.perf_counter_ns()
        for _ in numbers_:
            run()
        return (time.perf_counter_ns() - begin) / calls

    def turn(self):
        end = time.perf_counter_ns() + WARM_NS
        while time.perf_counter_ns() < end:
            self.time(1)
        return {"ns": self.time(self.calls)}


def main():
    torch.set_num_threads(int(sys.argv[1]))
    warnings.simplefilter("ignore")  # mse_loss warns of shapes that broadcast
    inputs, work = Inputs(), None
    for line in sys.stdin:
        if line == "turn\n":
            answer = work.turn()
        else:
            if work and work.row["in_place"]:
                inputs.drop("x")
            work = None
            work = Work(inputs, json.loads(line))
            answer = work.warm_up()
        print(json.dumps(answer), flush=True)


main()
