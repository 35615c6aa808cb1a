"""Prints tests/base/rng_known.h: PyTorch's random draws, as hashes and values.

    python tools/golden/golden_base.py PYTHON > tests/base/rng_known.h

runs under PyTorch 2.13. PYTHON is an interpreter with PyTorch 2.5.1 (x86-64, built with MKL), which
draws the MCG31 stream.
"""
import math
import subprocess
import sys

import torch

from golden_format import bernoulli_stream, fnv1a, tensor_bytes

SEEDS = (0, 123, -5, 2**40 + 17)
BOUND = 1 / math.sqrt(3)


def next_bits():
    """the low 24 bits of the generator's next output"""
    return int(torch.empty((), dtype=torch.int64).random_(0, 2**24))


def filled(dtype, n, name, *args):
    return getattr(torch.empty(n, dtype=dtype), name)(*args)


# stream: how to draw it, with two arguments
DRAWS = {
    "UNIFORM_F32": lambda n, a, b: filled(torch.float32, n, "uniform_", a, b),
    "UNIFORM_F64": lambda n, a, b: filled(torch.float64, n, "uniform_", a, b),
    "NORMAL_F32": lambda n, a, b: filled(torch.float32, n, "normal_", a, b),
    "RANDINT": lambda n, a, b: torch.randint(int(a), int(b), (n,)),
    "RANDPERM": lambda n, a, b: torch.randperm(n),
    "BERNOULLI": lambda n, a, b: filled(torch.uint8, n, "bernoulli_", a),
}

ROWS = [
    ("UNIFORM_F32", (1, 1000, 100003), ((0, 1), (-BOUND, BOUND), (1, 1 + 2**-22))),
    ("UNIFORM_F64", (1, 1000, 100003), ((0, 1), (-BOUND, BOUND), (1, 1 + 2**-51))),
    ("NORMAL_F32", (16, 17, 31, 1000, 100003), ((0, 1), (-3, 0.02))),
    ("RANDINT", (1000,), ((0, 10), (-7, 2**28 - 8), (-7, 2**28 - 7), (-2**62, 2**62))),
    ("RANDPERM", (0, 1, 2, 1000, 100003), ((0, 0),)),
]
BERNOULLI_ROWS = [("BERNOULLI", (0, 1, 1000, 100003), ((0, 0), (0.5, 0), (0.9, 0), (1, 0)))]

# These go through libm's functions, so values are kept, which the test compares with a tolerance of
# a few units in the last place.
VALUES = {
    "normal_f64": lambda: filled(torch.float64, 21, "normal_", -3, 0.02),
    "normal_sample": lambda: filled(torch.float64, 7, "normal_", 0, 1),
    "exponential": lambda: filled(torch.float64, 8, "exponential_", 1.5),
}


def print_rows(rows, stream):
    for name, sizes, args in rows:
        for n in sizes:
            for a, b in args:
                for seed in SEEDS:
                    torch.manual_seed(seed)
                    data = tensor_bytes(DRAWS[name](n, a, b))
                    row = [name, stream, seed, n, float(a).hex(), float(b).hex(),
                           hex(fnv1a(data)), hex(next_bits())]
                    print("    {" + ", ".join(map(str, row)) + "},")


def print_values():
    for name, draw in VALUES.items():
        torch.manual_seed(123)
        values = draw().tolist()
        print(f"static const double known_{name}[] = {{")
        print("\n".join(f"    {x.hex()}," for x in values) + "\n};")
        print(f"static const uint32_t known_{name}_next = {next_bits():#x};\n")


def main():
    if sys.argv[1:] == ["--mcg31"]:
        assert bernoulli_stream() == "mcg31"
        print_rows(BERNOULLI_ROWS, "HD_BERNOULLI_MCG31")
        return
    assert bernoulli_stream() == "native" and len(sys.argv) == 2
    mcg31 = subprocess.run([sys.argv[1], __file__, "--mcg31"], check=True, text=True,
                           stdout=subprocess.PIPE).stdout
    print("/* rng_known.h - printed by tools/golden/golden_base.py; PyTorch "
          f"{torch.__version__.split('+')[0]} (MCG31: 2.5.1). */\n")
    print("/* clang-format off */")
    print("static const known_row known_rows[] = {")
    print_rows(ROWS + BERNOULLI_ROWS, "HD_BERNOULLI_NATIVE")
    print(mcg31 + "};\n")
    print_values()
    print("/* clang-format on */")


main()
