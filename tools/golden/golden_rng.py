"""rng.txt and rng_mcg31.txt: the random streams, bit for bit."""
import math

import torch

from golden_format import DTYPES

F32, F64 = "f32", "f64"
SIZES = [0, 1, 5, 15, 16, 17, 31, 32, 33, 100, 4096, 100003]
VIEWS = [
    # (base sizes, view)
    ((4, 5), "transpose 0 1"),
    ((3, 7, 5), "transpose 0 2"),
    ((3, 4, 5), "permute 1 2 0"),
    ((40,), "slice 0 0 40 2"),
    ((41,), "slice 0 3 40 3"),
    ((6, 8), "slice 1 1 7 2"),
    ((6, 8), "slice 0 0 6 2; transpose 0 1"),
    ((5, 6, 4), "select 1 2; transpose 0 1"),
    ((8, 9), "slice 0 2 7 1"),
    ((8, 9), "slice 1 2 7 1"),
    ((2, 3), "transpose 0 1"),
]


def apply_view(t, view):
    for step in filter(None, view.split("; ")):
        name, *numbers = step.split()
        n = [int(x) for x in numbers]
        if name == "slice":
            index = [slice(None)] * t.dim()
            index[n[0]] = slice(n[1], n[2], n[3])
            t = t[tuple(index)]
        elif name == "permute":
            t = t.permute(*n)
        else:
            t = getattr(t, name)(*n)
    return t


def call(op, dtype, sizes, view, args, source):
    if op in ("rand", "randn"):
        return getattr(torch, op)(sizes, dtype=dtype)
    if op == "randint":
        return torch.randint(args[0], args[1], sizes, dtype=dtype)
    if op == "randperm":
        return torch.randperm(int(args[0]))
    if source is None:
        base = torch.zeros(sizes, dtype=dtype)
        getattr(apply_view(base, view), op)(*args)
        return base
    x = apply_view(source, view)
    if op == "multinomial":
        return torch.multinomial(x, int(args[0]), bool(args[1]))
    if op == "dropout":
        return torch.nn.functional.dropout(x, args[0], training=True)
    return torch.bernoulli(x)


class Cases:
    def __init__(self, writer):
        self.w = writer
        self.count = 0

    def add(self, op, dtype=F32, sizes=(), args=(), seed=None, view="", source=None):
        if seed is not None:
            torch.manual_seed(seed)
        out = call(op, DTYPES[dtype], sizes, view, args, source)
        number, self.count = self.count, self.count + 1
        shape = "x".join(str(n) for n in sizes) or "0d"
        self.w.case(f"{number:03}_{op}_{dtype}_{shape}")
        if seed is not None:
            self.w.ints("seed", seed)
        self.w.text("op", op)
        self.w.text("dtype", dtype)
        if source is None and op != "randperm":
            self.w.ints("sizes", list(sizes))
        if op == "randint":
            self.w.ints("lo", args[0])
            self.w.ints("hi", args[1])
        elif args:
            self.w.floats("args", [float(a) for a in args])
        if view:
            self.w.text("view" if source is None else "in.view", view)
        if source is not None:
            self.w.tensor("in", source)
        self.w.stream("out", out)
        self.w.ints("next", torch.empty((), dtype=torch.int64).random_().item())


def uniforms(cases):
    for dtype in (F32, F64):
        for n in SIZES:
            cases.add("rand", dtype, (n,), seed=123)
        cases.add("rand", dtype, (), seed=7)
        cases.add("rand", dtype, (3, 2))
        cases.add("rand", dtype, (2, 0, 3))
        for seed in (0, -1, 2**32 + 5, 2**63 - 1, -(2**63)):
            cases.add("rand", dtype, (4,), seed=seed)
        linear = [
            3**0.5 * ((2 / (1 + 5)) ** 0.5 / 3**0.5),
            1 / 3**0.5,
            3**0.5 * ((2 / 6) ** 0.5 / 768**0.5),
            1 / 768**0.5,
        ]
        bounds = [(-0.1, 0.1), (0, 1e-3), (1e8, 1e8 + 1), (1e8, 1e8 + 24), (-3, 5), (2, 2)]
        for a, b in bounds + [(-x, x) for x in linear]:
            cases.add("uniform_", dtype, (40,), (a, b), seed=42)
        cases.add("uniform_", dtype, (4096,), (1e8, 1e8 + 24), seed=42)
        cases.add("uniform_", dtype, (3, 33), (-0.25, 0.75))
        for base, view in VIEWS:
            cases.add("uniform_", dtype, base, (-1, 1), seed=5, view=view)


def normals(cases):
    for dtype in (F32, F64):
        for n in (0, 1, 2, 3, 5, 15, 16, 17, 20, 31, 32, 33, 100, 1000, 4099):
            cases.add("normal_", dtype, (n,), (0, 1), seed=123)
        for mean, std in ((0, 0.02), (3, 2), (-1e-3, 1e3), (0, 0), (1e8, 0.1)):
            cases.add("normal_", dtype, (5,), (mean, std), seed=9)
            cases.add("normal_", dtype, (36,), (mean, std), seed=9)
        cases.add("randn", dtype, (), seed=1)
        cases.add("randn", dtype, (2, 3))
        cases.add("randn", dtype, (5, 7))
        for base, view in VIEWS:
            cases.add("normal_", dtype, base, (0.5, 2), seed=5, view=view)


def spares(cases):
    """the spare normal belongs to the generator: only the next small draw takes it"""
    cases.add("normal_", F32, (3,), (0, 1), seed=11)
    cases.add("normal_", F32, (2,), (0, 1))
    cases.add("normal_", F64, (1,), (2, 3))
    cases.add("normal_", F32, (16,), (0, 1))
    cases.add("normal_", F64, (2,), (0, 1))
    cases.add("normal_", F32, (1,), (0, 1))
    cases.add("normal_", F32, (1,), (0, 1), seed=11)
    cases.add("rand", F32, (5,))
    cases.add("randint", "i64", (3,), (0, 10))
    cases.add("randperm", "i64", (), (6,))
    cases.add("bernoulli_", F32, (6,), (0.5,))
    cases.add("exponential_", F32, (3,), (1,))
    cases.add("normal_", F64, (33,), (0, 1))
    cases.add("normal_", F64, (1,), (-5, 0.5))
    cases.add("normal_", F32, (1,), (0, 1))
    cases.add("normal_", F32, (0,), (0, 1))
    cases.add("normal_", F32, (4, 6), (1, 2), view="transpose 0 1")
    cases.add("normal_", F32, (3, 3), (1, 2), view="transpose 0 1")
    cases.add("normal_", F32, (1,), (0, 1))
    cases.add("normal_", F32, (1,), (0, 1), seed=11)
    cases.add("normal_", F32, (1,), (0, 1), seed=12)
    cases.add("normal_", F32, (0,), (0, 1))
    cases.add("rand", F32, (0,))
    cases.add("normal_", F32, (2,), (0, 1))


def integers(cases):
    ranges = [(0, 2), (0, 10), (-5, 5), (0, 1), (-128, 127), (0, 2**28 - 1), (0, 2**28)]
    ranges += [(0, 2**32), (-(2**40), 2**41), (0, 2**63 - 1), (5, 6), (100, 2**20)]
    for lo, hi in ranges:
        cases.add("randint", "i64", (9,), (lo, hi), seed=2024)
    for dtype, lo, hi in ((F32, 0, 10), (F64, -3, 2**30), (F32, 0, 2**24)):
        cases.add("randint", dtype, (9,), (lo, hi), seed=2024)
    cases.add("randint", "i64", (), (0, 50257))
    cases.add("randint", "i64", (2, 0), (0, 9))
    cases.add("randint", "i64", (3, 4), (0, 9))
    cases.add("randint", "i64", (5000,), (0, 50257))
    for n in (0, 1, 2, 3, 10, 100, 1000):
        cases.add("randperm", "i64", (), (n,), seed=99)
    cases.add("randperm", "i64", (), (10,))


def coarse_integers(cases):
    """ranges whose bounds the dtype cannot hold"""
    bounds = [(0, 2**24 + 1), (0, 2**24 + 2), (0, 2**25), (-(2**24) - 1, 1), (-(2**25) - 3, 2**25)]
    bounds += [(2**24 + 1, 2**24 + 2), (2**40, 2**40 + 5), (0, 2**53 + 1), (0, 2**62 - 1)]
    bounds += [(-(2**62) - 1, 2**62 + 1), (2**31 - 3, 2**33 - 5), (-(2**33) + 5, -(2**31) + 3)]
    for lo, hi in bounds + [(-(2**63), 2**63 - 1), (0, 2**63 - 1), (-(2**63) + 1, -(2**40))]:
        for dtype in (F32, F64):
            cases.add("randint", dtype, (9,), (lo, hi), seed=2024)


def exponentials(cases):
    for dtype in (F32, F64):
        for rate, sizes in ((1, (0,)), (1, (1,)), (1, (17,)), (2.5, (20,)), (0.01, (3, 5))):
            cases.add("exponential_", dtype, sizes, (rate,), seed=31)
        cases.add("exponential_", dtype, (1000,), (1,), seed=31)
        for base, view in VIEWS[:6]:
            cases.add("exponential_", dtype, base, (1,), seed=31, view=view)


def multinomials(cases):
    p1 = [0.1, 0.0, 2.0, 0.7, 0.2, 0.0, 1.5, 0.01]
    p2 = [[0.2, 0.3, 0.5, 0.0], [1.0, 0.0, 0.0, 0.0], [5.0, 1.0, 1.0, 1.0]]
    for name in (F32, F64):
        one = torch.tensor(p1, dtype=DTYPES[name])
        two = torch.tensor(p2, dtype=DTYPES[name])
        uneven = torch.tensor([[0.5, 2.0, 0.25], [3.0, 0.125, 1.0]], dtype=DTYPES[name])
        for source, counts in ((one, (1, 2, 6)), (two, (1,)), (uneven, (1, 2, 3))):
            for k in counts:
                for replacement in (0, 1):
                    args = (k, replacement)
                    cases.add("multinomial", name, (), args, seed=77, source=source)
                    cases.add("multinomial", name, (), args, source=source)
        cases.add("multinomial", name, (), (40, 1), seed=77, source=one)
        cases.add("multinomial", name, (), (5, 1), seed=77, source=two)
        for k in (1, 2):
            for replacement in (0, 1):
                args = (k, replacement)
                view = "transpose 0 1"
                cases.add("multinomial", name, (), args, seed=77, view=view, source=uneven)
                view = "slice 0 0 8 2"
                cases.add("multinomial", name, (), args, seed=77, view=view, source=one)


def ramp(sizes, dtype):
    n = math.prod(sizes)
    return ((torch.arange(n, dtype=torch.float64) + 1) / 8).to(dtype).reshape(sizes)


def bernoullis(cases):
    for n in SIZES:
        cases.add("bernoulli_", F32, (n,), (0.5,), seed=123)
    for dtype in (F32, F64, "i64", "bool"):
        for p in (0.0, 0.1, 0.3, 0.999, 1.0):
            cases.add("bernoulli_", dtype, (50,), (p,), seed=321)
        cases.add("bernoulli_", dtype, (), (0.5,))
        cases.add("bernoulli_", dtype, (2, 9), (0.5,))
        cases.add("bernoulli_", dtype, (4096,), (0.7,))
        for base, view in VIEWS:
            cases.add("bernoulli_", dtype, base, (0.4,), seed=5, view=view)
    for seed in range(4):
        cases.add("bernoulli_", F32, (32,), (0.25,), seed=seed)
    for seed in (0, -1, 2**32 + 5):
        cases.add("bernoulli_", F32, (32,), (0.5,), seed=seed)
    for dtype in (F32, F64):
        p = (torch.arange(24, dtype=torch.float64) / 23).to(DTYPES[dtype])
        cases.add("bernoulli", dtype, (), seed=8, source=p)
        cases.add("bernoulli", dtype, (), source=p)
        for sizes, view in (((4, 6), "transpose 0 1"), ((24,), "slice 0 0 24 2")):
            cases.add("bernoulli", dtype, (), seed=8, view=view, source=p.reshape(sizes))
        cases.add("bernoulli", dtype, (), seed=8, source=torch.zeros(0, dtype=DTYPES[dtype]))


def dropouts(cases):
    for dtype in (F32, F64):
        for p in (0.0, 0.1, 0.5, 0.9, 1.0):
            source = ramp((6, 6), DTYPES[dtype])
            cases.add("dropout", dtype, (), (p,), seed=123, source=source)
        source[0, 0], source[0, 1] = float("inf"), float("nan")
        for p in (0.5, 1.0):
            cases.add("dropout", dtype, (), (p,), seed=123, source=source)
        cases.add("dropout", dtype, (), (0.5,), seed=1, source=ramp((), DTYPES[dtype]))
        cases.add("dropout", dtype, (), (0.5,), seed=1, source=ramp((2, 0), DTYPES[dtype]))
        for base, view in VIEWS:
            source = ramp(base, DTYPES[dtype])
            cases.add("dropout", dtype, (), (0.25,), seed=123, view=view, source=source)
        cases.add("dropout", dtype, (), (0.1,), source=ramp((2, 4, 6, 6), DTYPES[dtype]))
        view = "transpose 1 2"
        source = ramp((2, 4, 3, 5), DTYPES[dtype])
        cases.add("dropout", dtype, (), (0.1,), view=view, source=source)


def native(writer):
    cases = Cases(writer)
    for part in (uniforms, normals, spares, integers, exponentials, multinomials, bernoullis):
        part(cases)
    dropouts(cases)
    coarse_integers(cases)


def mcg31(writer):
    cases = Cases(writer)
    bernoullis(cases)
    dropouts(cases)
