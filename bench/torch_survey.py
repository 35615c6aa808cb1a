"""PyTorch's side of the survey: the same operations on the same inputs.

usage: torch_survey.py THREADS     (survey.py starts it and talks to it over pipes)

Each line on stdin is a row of heed-survey --list, which is set up, or "turn", which measures it. The
program answers each line with a line of JSON on stdout, as heed-survey does.
"""
import json
import os
import re
import sys
import time
import warnings

import torch
from torch.nn import functional as F  # noqa: F401

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools"))
from functions import calls  # noqa: E402

TURN_NS = 4e6
WARM_NS = 10e6  # untimed runs before a turn, as in survey.c
DTYPES = {"float32": torch.float32, "float64": torch.float64, "int64": torch.int64,
          "bool": torch.bool}
MATRICES = "xypquem"


def set_item(x, value, index):
    x[index] = value
    return x


def operation(inputs, python):
    """The function of as many inputs as there are letters; PyTorch's own if it is called with just these."""
    names = ", ".join("xyz"[:len(inputs)])
    own = re.fullmatch(r"([\w.]+)\(" + names + r"\)", python)
    return eval(own.group(1) if own else f"lambda {names}: {python}")


def operations():
    """{name: function} of the survey's operations, which are calls in C (tools/functions/rows.py)."""
    functions = calls.Functions()
    translator = calls.Translator(functions)
    return {name: operation(s.inputs, s.python or translator.python(call))
            for s, name, call in functions.survey_calls()}


OPS = operations()


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
        return numbers(letter, dtype, 1, columns)[0]
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
