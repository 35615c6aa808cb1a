"""arange.txt: thousands of ranges of floats by their hashes, and ranges at the edges: no elements,
signs of zero, numbers beyond a dtype, steps that are cut to integers, errors."""
import torch

from golden_functions import INF, NAN, Cases
from golden_layout import Draws

GROUPS, RANGES = 100, 40
DIVISORS = (1, 2, 3, 7, 10, 100, 1000, 1024, 1e6, 3e-5)


def a_range(draws, k):
    """Lengths are under 70, under 3,000 in every tenth range, and under 60,000 in the last."""
    most = 60000 if k == RANGES - 1 else 3000 if k % 10 == 9 else 70
    n = draws.below(most)
    start = (draws.below(20001) - 10000) / DIVISORS[draws.below(len(DIVISORS))]
    step = (1 + draws.below(1000)) / DIVISORS[draws.below(len(DIVISORS))]
    step = -step if draws.below(2) else step
    return start, start + step * (n + draws.below(4) / 4), step


def fold(h, t):
    """FNV-1a whose letters are the bits of the elements"""
    bits = t.view(torch.int32 if t.dtype == torch.float32 else torch.int64)
    mask = (1 << 32) - 1 if t.dtype == torch.float32 else (1 << 64) - 1
    for word in bits.tolist():
        h = ((h ^ (word & mask)) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return h


def signed(h):
    return h - (1 << 64) if h >= 1 << 63 else h


def random_ranges(w):
    draws = Draws()
    for group in range(GROUPS):
        w.case(f"ranges_{group:02}")
        hashes = {torch.float32: 0xCBF29CE484222325, torch.float64: 0xCBF29CE484222325}
        lengths = 0
        for k in range(RANGES):
            start, end, step = a_range(draws, k)
            for dtype in hashes:
                t = torch.arange(start, end, step, dtype=dtype)
                hashes[dtype] = fold(hashes[dtype], t)
                lengths += t.numel()
        w.ints("elements", lengths)
        w.ints("f32.hash", signed(hashes[torch.float32]))
        w.ints("f64.hash", signed(hashes[torch.float64]))


def edges(c):
    for s in ((-1, 1.0, 0.1), (0, 1, INF), (1, 0, -INF), (0, 0, 1), (0, 0, -1), (0.0, 0.0, 0.5),
              (-0.0, 1.0, 0.25), (-0.0, -1.0, -0.25), (-1.0, 1.0, 0.125), (1.0, -1.0, -0.125),
              (0, 1e18, 1e17), (1e19, 2e19, 1e18), (0, 1e39, 1e38), (-1e39, 1e39, 5e38),
              (0, 1e-310, 1e-311), (0, 20, 0.7), (2**53, 2**53 + 20, 1.0), (2**53 + 1, 2**53 + 3, 1.0),
              (0.0, 2**24 + 20.0, 2**20 + 1), (16777210, 16777230, 1.0)):
        for dtype in ("f32", "f64"):
            c.add("arange", s=s, dtype=dtype)
        c.add("arange", s=s)
    for s in ((2**53 + 1, 2**53 + 11, 1), (0, 2**62, 2**60), (2**62, 0, -(2**60)),
              (2**63 - 20, 2**63 - 1, 1)):
        for dtype in ("f32", "f64", "i64"):
            c.add("arange", s=s, dtype=dtype)
    for s in ((0.9, 3.9, 1.9), (-0.9, -3.9, -1.9), (0.5, 2.5, 1), (2**53 + 1, 2**53 + 3, 1.0)):
        c.add("arange", s=s, dtype="i64")
    for s in ((0, 1, -INF), (0, 1, NAN), (0, 0, 0), (0, 0, 0.0), (NAN, 1, 1), (-INF, 1, 1),
              (0, 1, 1e-320), (-1e308, 1e308, 1.0), (0, 5, -0.5), (5, 0, 0.5)):
        for dtype in ("f32", "f64", "i64"):
            c.add("arange", s=s, dtype=dtype)
    for s in ((0, 5, 0.5), (0, 1e300, 1e299), (0, 1, INF), (1e19, 2e19, 1e18)):
        c.add("arange", s=s, dtype="i64")


def write(w):
    random_ranges(w)
    edges(Cases(w))
