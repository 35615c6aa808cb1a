"""Makes arange.txt: thousands of ranges of floats by their hashes, and edge cases: no elements, signs of zero, numbers
beyond a dtype, steps that are cut to integers, errors.
"""
import torch

from golden_calls import RESULTS, answer_again
from golden_format import fnv1a, signed
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


def words(t):
    """The bits of the elements."""
    bits = t.view(torch.int32 if t.dtype == torch.float32 else torch.int64)
    return [word & ((1 << 8 * t.element_size()) - 1) for word in bits.tolist()]


def random_ranges(w):
    draws = Draws()
    for group in range(GROUPS):
        w.case(f"ranges_{group:02}")
        hashes = {torch.float32: fnv1a([]), torch.float64: fnv1a([])}
        lengths = 0
        for k in range(RANGES):
            start, end, step = a_range(draws, k)
            for dtype in hashes:
                t = torch.arange(start, end, step, dtype=dtype)
                hashes[dtype] = fnv1a(words(t), hashes[dtype])
                lengths += t.numel()
        w.ints("elements", lengths)
        w.ints("f32.hash", signed(hashes[torch.float32]))
        w.ints("f64.hash", signed(hashes[torch.float64]))


def write(w):
    random_ranges(w)
    for fields in w.again(RESULTS, "arange_"):
        answer_again(w, fields)
