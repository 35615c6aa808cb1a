"""Writes the golden files' text format; see tests/golden/README.md. It does not depend on the locale, on numpy or on
the printing of tensors.
"""
import math
import os
import re
import sys

import torch

TYPES = {torch.float32: "f32", torch.float64: "f64", torch.int64: "i64", torch.bool: "bool",
         torch.bfloat16: "bf16"}
DTYPES = {name: dtype for dtype, name in TYPES.items()}
FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tests", "golden")


def bernoulli_stream():
    """Finds the stream by a draw: 2.7 and later compare one uniform64 for each element with p."""
    torch.manual_seed(0)
    u = torch.rand(64, dtype=torch.float64)
    torch.manual_seed(0)
    b = torch.empty(64).bernoulli_(0.5)
    return "native" if torch.equal(b, (u < 0.5).float()) else "mcg31"


def hex_float(x):
    """the shortest C hex float of a double: 0x1.8p+1, -0x0p+0, nan, inf, -inf"""
    if math.isnan(x):
        return "nan"
    if math.isinf(x):
        return "inf" if x > 0 else "-inf"
    mantissa, exponent = x.hex().split("p")
    if "." in mantissa:
        mantissa = mantissa.rstrip("0").rstrip(".")
    if mantissa in ("0x", "-0x"):
        mantissa += "0"
    return mantissa + "p" + exponent


def fnv1a(letters, h=0xCBF29CE484222325):
    """The hash of bytes, or of larger letters; h: that of what stands before them."""
    for letter in letters:
        h = ((h ^ letter) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return h


def signed(h):
    return h - (1 << 64) if h >= 1 << 63 else h


def tensor_bytes(t):
    return bytes(t.detach().contiguous().flatten().view(torch.uint8).tolist())


def value_of(dtype, rest):
    """A record's text or tensor. A float may also be written as a decimal number."""
    if dtype == "text":
        return re.sub(r"\\(.)", lambda m: "\n" if m.group(1) == "n" else m.group(1), rest)
    sizes, *words = rest.split(" ")
    values = [float.fromhex(v) if "0x" in v else float(v) if "f" in dtype else int(v) for v in words]
    return torch.tensor(values, dtype=DTYPES[dtype]).reshape([int(n) for n in sizes[1:-1].split(",") if n])


def plain(value):
    """A text, a number or a list of numbers."""
    return value if isinstance(value, str) else value.tolist()


class Writer:
    """One golden file. Records belong to the case that `case` opened last."""

    def __init__(self, folder, name, command):
        self.name, self.path = name, os.path.join(folder, name)
        self.lines = [
            f"# torch {torch.__version__.split('+')[0]}, bernoulli {bernoulli_stream()}",
            f"# {command}",
        ]
        self.prefix = None
        self.names = set()

    def case(self, name):
        assert "/" not in name and " " not in name, name
        assert name not in self.names, "a case twice: " + name
        self.names.add(name)
        self.prefix = name
        self.fields = set()

    def again(self, results, start=""):
        """Opens each case that tests/golden has, with the records that are not results, and gives all its fields:
        {field: text or tensor}. results: a pattern of names, of what the caller computes again; start: one of how
        the names of these cases begin."""
        cases = {}
        with open(os.path.join(FOLDER, self.name), encoding="utf-8") as f:
            for line in f.read().split("\n")[2:-1]:
                name, field, dtype, rest = re.fullmatch(r"([^/]*)/(\S*) (\S*) ?(.*)", line).groups()
                if re.match(start, name):
                    cases.setdefault(name, {})[field] = value_of(dtype, rest)
        for name, fields in cases.items():
            self.case(name)
            for field, value in fields.items():
                if not re.fullmatch(results, field):
                    (self.text if isinstance(value, str) else self.tensor)(field, value)
            yield fields
            for field in fields.keys() - self.fields:
                print(f"{self.name}: {name}/{field} is gone", file=sys.stderr)

    def record(self, field, dtype, rest):
        assert " " not in field, field
        assert field not in self.fields, f"{self.prefix}: a field twice: {field}"
        self.fields.add(field)
        self.lines.append(f"{self.prefix}/{field} {dtype} {rest}".rstrip(" "))

    def tensor(self, field, t):
        t = t.detach()
        values = t.contiguous().flatten().tolist()
        show = hex_float if t.is_floating_point() else lambda v: str(int(v))
        sizes = "(" + ",".join(str(n) for n in t.shape) + ")"
        self.record(field, TYPES[t.dtype], " ".join([sizes] + [show(v) for v in values]))

    def ints(self, field, values):
        self.tensor(field, torch.tensor(values, dtype=torch.int64))

    def floats(self, field, values):
        self.tensor(field, torch.tensor(values, dtype=torch.float64))

    def text(self, field, text):
        text = text.replace("\\", "\\\\").replace("\n", "\\n")
        assert text == text.strip(" ") and "\r" not in text, repr(text)
        self.record(field, "text", text)

    def stream(self, field, t, limit=50):
        """all values, or of a long tensor the first 8 and the hash of all bytes"""
        if t.numel() <= limit:
            self.tensor(field, t)
            return
        self.tensor(field + ".first", t.flatten()[:8])
        self.ints(field + ".sizes", list(t.shape))
        self.ints(field + ".fnv", signed(fnv1a(tensor_bytes(t))))

    def close(self):
        with open(self.path, "w", encoding="utf-8", newline="\n") as f:
            f.write("\n".join(self.lines) + "\n")
        print(self.path, len(self.names), "cases", len(self.lines), "lines", file=sys.stderr)
