"""repr.txt: how tensors print. A case is a tensor, the options, flags and the text."""
import math

import torch

from golden_format import DTYPES
from golden_rng import apply_view

INF, NAN = math.inf, math.nan
OPTIONS = ("precision", "threshold", "edgeitems", "linewidth", "sci_mode")


class Cases:
    def __init__(self, writer):
        self.w = writer

    def add(self, case, values=None, dtype="f32", ramp=None, sizes=None, view="", **options):
        """values: nested lists; or ramp (start, step) over sizes. flags: see README"""
        self.w.case(case)
        if ramp is not None:
            n = torch.arange(math.prod(sizes), dtype=torch.float64)
            t = (ramp[0] + ramp[1] * n).to(DTYPES[dtype]).reshape(sizes)
            self.w.text("dtype", dtype)
            self.w.ints("sizes", list(sizes))
            self.w.floats("ramp", [float(x) for x in ramp])
        else:
            t = torch.tensor(values, dtype=DTYPES[dtype])
            t = t if sizes is None else t.reshape(sizes)
            self.w.tensor("values", t)
        t = apply_view(t, view)
        if view:
            self.w.text("view", view)
        self.show(t, **options)

    def show(self, t, flags="", profile="", **options):
        if flags:
            self.w.text("flags", flags)
            t = self.flagged(t, flags)
        if profile:
            self.w.text("profile", profile)
        for name, value in options.items():
            assert name in OPTIONS
            self.w.ints(name, int(value))
        torch.set_printoptions(profile=profile or "default", sci_mode=None)
        torch.set_printoptions(**options)
        self.w.text("repr", repr(t))
        torch.set_printoptions(profile="default", sci_mode=None)

    def flagged(self, t, flags):
        if flags == "parameter":
            return torch.nn.Parameter(t, requires_grad=t.is_floating_point())
        if flags == "parameter no grad":
            return torch.nn.Parameter(t, requires_grad=False)
        t = t.clone().requires_grad_()
        return t * 1 if flags == "mul1" else t


def scalars(c):
    for k, v in enumerate([1e-4, 0.0, -0.0, 1.0, -2.5, 1e-5, 1e8, 1e9, 0.1, NAN, INF, -INF, 1e-45]):
        c.add(f"scalar_f32_{k}", v)
    for k, v in enumerate([1e-4, 0.1, math.pi, 1e-308, 1e308, 100000001.0]):
        c.add(f"scalar_f64_{k}", v, "f64")
    c.add("scalar_i64", -7, "i64")
    c.add("scalar_i64_min", -(2**63), "i64")
    c.add("scalar_bool", True, "bool")
    c.add("scalar_grad", 2.0, flags="requires_grad")
    c.add("scalar_grad_fn", 2.0, flags="mul1")
    c.add("scalar_grad_fn_f64", 0.3, "f64", flags="mul1")
    c.add("scalar_parameter", 2.0, flags="parameter")


def empties(c):
    for dtype in DTYPES:
        for sizes in ((0,), (2, 0), (0, 3), (1, 0, 4), (0, 0, 0)):
            name = "x".join(map(str, sizes))
            c.add(f"empty_{dtype}_{name}", dtype=dtype, ramp=(0, 1), sizes=sizes)
    c.add("empty_grad", ramp=(0, 1), sizes=(0, 3), flags="requires_grad")
    c.add("empty_f64_grad_fn", dtype="f64", ramp=(0, 1), sizes=(0, 3), flags="mul1")
    c.add("empty_parameter", ramp=(0, 1), sizes=(0,), flags="parameter")
    c.add("empty_edgeitems_0", ramp=(0, 1), sizes=(0, 2), edgeitems=0)


def styles(c):
    lists = {
        "int_1000": [1.0, 1000.0],
        "int_ratio_1001": [1.0, 1001.0],
        "1e8": [1e8],
        "100000008": [100000008.0],
        "round_up_width": [9.99996, 1.0],
        "ties_to_even": [0.03125, 0.09375, 0.00015],
        "int_with_inf": [100.0, INF, -INF],
        "not_finite": [0.5, NAN, INF, -INF, -0.0],
        "sci_not_finite": [1e-5, NAN, 0.0, -INF],
        "only_zeros": [0.0, -0.0],
        "only_not_finite": [NAN, INF, -INF],
        "zero_and_nan": [0.0, NAN, -0.0],
        "narrow_ints_wide_inf": [1.0, -INF, NAN, -0.0],
        "negative": [-1.5, 2.25, -300.125],
        "ratio_1000": [0.5, 500.0],
        "ratio_above_1000": [0.5, 500.25],
        "lo_1e-4": [1e-4, 2e-4],
        "lo_f32_1e-4_below": [0.00009999, 2e-4],
        "large": [3e38, -1e38],
        "subnormal": [1e-40, 2e-40],
        "sci_negative_zero": [1e-6, -0.0],
        "ints_negative": [-1.0, -10.0, 5.0],
        "mixed_half": [0.5, 1.0, 2.0],
        "one": [7.0],
    }
    for name, values in lists.items():
        c.add("f32_" + name, values)
        c.add("f64_" + name, values, "f64")
    c.add("f64_exponent_3_digits", [1e-100, 1e100], "f64")
    c.add("i64_widths", [1, -200, 30], "i64")
    c.add("i64_extremes", [-(2**63), 2**63 - 1, 0], "i64")
    c.add("bool_list", [True, False], "bool")
    c.add("bool_matrix", [[True, True], [True, True]], "bool")


def ranks(c):
    c.add("f32_2x3", dtype="f32", ramp=(-1, 0.5), sizes=(2, 3))
    c.add("f32_2x2x3", ramp=(0, 0.37), sizes=(2, 2, 3))
    c.add("f32_2x1x2x2", ramp=(0, 1), sizes=(2, 1, 2, 2))
    c.add("f32_1x1x1x1x1", ramp=(3, 1), sizes=(1, 1, 1, 1, 1))
    c.add("f64_2x2x1x2x2", dtype="f64", ramp=(-3, 0.25), sizes=(2, 2, 1, 2, 2))
    c.add("i64_3x4", dtype="i64", ramp=(-5, 3), sizes=(3, 4))
    c.add("bool_2x2x2", dtype="bool", ramp=(-3, 1), sizes=(2, 2, 2))
    c.add("i64_rank_8", dtype="i64", ramp=(0, 1), sizes=(1, 2, 1, 1, 2, 1, 1, 2))
    c.add("transposed", ramp=(0, 1), sizes=(3, 4), view="transpose 0 1")
    c.add("stepped", ramp=(0, 0.5), sizes=(4, 6), view="slice 1 0 6 2; slice 0 1 4 1")
    c.add("permuted", dtype="i64", ramp=(0, 1), sizes=(2, 3, 4), view="permute 2 0 1")


def wrapped(c):
    c.add("wrap_f32_12", ramp=(0.5, 1.25), sizes=(12,))
    c.add("wrap_f32_2x20", ramp=(-3, 0.31), sizes=(2, 20))
    c.add("wrap_i64_100", dtype="i64", ramp=(0, 7), sizes=(100,))
    c.add("wrap_bool_30", dtype="bool", ramp=(-4, 1), sizes=(30,))
    c.add("wrap_sci_3x8", dtype="f64", ramp=(1e-6, 1), sizes=(3, 8))
    c.add("wrap_2x3x15", ramp=(0, 0.125), sizes=(2, 3, 15))
    c.add("wrap_sticks_out", [1.0, -INF] * 20)
    c.add("linewidth_40", ramp=(0, 0.125), sizes=(3, 9), linewidth=40)
    c.add("linewidth_120", ramp=(0, 0.125), sizes=(2, 40), linewidth=120)
    c.add("linewidth_10", ramp=(0, 0.125), sizes=(5,), linewidth=10)
    c.add("linewidth_1_i64", dtype="i64", ramp=(0, 1), sizes=(3,), linewidth=1)
    c.add("linewidth_40_grad_fn", ramp=(0, 0.125), sizes=(3, 3), linewidth=40, flags="mul1")


def summarised(c):
    c.add("sum_arange_1000", dtype="i64", ramp=(0, 1), sizes=(1000,))
    c.add("sum_arange_1001", dtype="i64", ramp=(0, 1), sizes=(1001,))
    c.add("sum_f32_5000", ramp=(-1, 0.001), sizes=(5000,))
    c.add("sum_f32_sci_hidden", ramp=(1, 1000), sizes=(1001,))
    c.add("sum_40x40", ramp=(0, 0.5), sizes=(40, 40))
    c.add("sum_2x600", ramp=(0, 0.5), sizes=(2, 600))
    c.add("sum_600x2", ramp=(0, 0.5), sizes=(600, 2))
    c.add("sum_7x150", dtype="f64", ramp=(0, 0.5), sizes=(7, 150))
    c.add("sum_11x10x10", dtype="i64", ramp=(0, 1), sizes=(11, 10, 10))
    c.add("sum_2x20x30", ramp=(0, 0.001), sizes=(2, 20, 30))
    c.add("sum_7x7x7x7", dtype="i64", ramp=(0, 1), sizes=(7, 7, 7, 7))
    c.add("sum_6x6x6x6", dtype="i64", ramp=(0, 1), sizes=(6, 6, 6, 6))
    c.add("sum_bool_1001", dtype="bool", ramp=(0, 1), sizes=(1001,))
    c.add("sum_1001_grad_fn", ramp=(0, 0.25), sizes=(1001,), flags="mul1")
    c.add("sum_transposed", ramp=(0, 1), sizes=(30, 50), view="transpose 0 1")
    c.add("threshold_5", ramp=(0, 1), sizes=(8,), threshold=5)
    c.add("threshold_5_not_above", ramp=(0, 1), sizes=(5,), threshold=5)
    c.add("threshold_5_edge_1", ramp=(0, 1), sizes=(4, 5), threshold=5, edgeitems=1)
    c.add("threshold_5_edge_20", ramp=(0, 1), sizes=(30,), threshold=5, edgeitems=20)
    c.add("threshold_0", ramp=(0, 1), sizes=(2, 3), threshold=0)
    c.add("threshold_0_scalar", 1.5, threshold=0)
    c.add("dots_start_a_row", ramp=(0.5, 1), sizes=(40,), threshold=5, linewidth=30)
    c.add("edge_9_dots", ramp=(0.5, 1), sizes=(40,), threshold=5, edgeitems=9)
    for dtype in ("i64", "f32"):
        none = dict(dtype=dtype, threshold=5, edgeitems=0)
        c.add(f"edge_0_1d_{dtype}", ramp=(0, 1), sizes=(8,), **none)
        c.add(f"edge_0_2d_{dtype}", ramp=(1, 0), sizes=(2, 5), **none)
    c.add("edge_0_whole", [1, 2], "i64", threshold=5, edgeitems=0)
    c.add("edge_0_whole_f64", [0.5, 2], "f64", threshold=5, edgeitems=0, flags="requires_grad")
    c.add("edge_0_scalar", 1.5, edgeitems=0)
    c.add("edge_0_3d", ramp=(1, 0), sizes=(2, 5, 2), threshold=5, edgeitems=0, flags="mul1")


def options(c):
    values = [0.5, 1.23456789, -22.0]
    for p in (0, 1, 2, 8, 12):
        c.add(f"precision_{p}", values, precision=p)
        c.add(f"precision_{p}_sci", [1e-6, 1.5], precision=p)
        c.add(f"precision_{p}_int", [1.0, 250.0], precision=p)
    c.add("precision_0_half", [0.5, 1.5, 2.5], precision=0)
    for mode in (0, 1):
        c.add(f"sci_{mode}", values, sci_mode=mode)
        c.add(f"sci_{mode}_int", [1.0, 20.0], sci_mode=mode)
        c.add(f"sci_{mode}_zeros", [0.0, NAN], sci_mode=mode)
        c.add(f"sci_{mode}_small", [1e-9, 1.0], sci_mode=mode)
        c.add(f"sci_{mode}_big_int", [1e9, 1.0, INF], sci_mode=mode)
        c.add(f"sci_{mode}_i64", [1, 10**10], "i64", sci_mode=mode)
        c.add(f"sci_{mode}_f64", [1e20, 3.0], "f64", sci_mode=mode)
    for profile in ("default", "short", "full"):
        c.add(f"profile_{profile}", ramp=(0, 0.123), sizes=(1001,), profile=profile)
        c.add(f"profile_{profile}_2d", ramp=(0, 0.123), sizes=(3, 4), profile=profile)


def suffixes(c):
    for flags in ("requires_grad", "mul1", "parameter", "parameter no grad"):
        label = flags.replace(" ", "_")
        for n in (3, 6, 7, 8, 16):
            c.add(f"suffix_{label}_{n}", ramp=(0.125, 0), sizes=(n,), flags=flags)
        c.add(f"suffix_{label}_f64", dtype="f64", ramp=(0.125, 0), sizes=(6,), flags=flags)
        c.add(f"suffix_{label}_f64_2d", dtype="f64", ramp=(0.5, 1), sizes=(3, 2), flags=flags)
    c.add("suffix_parameter_i64", [1, 2], "i64", flags="parameter")
    for width in (49, 50, 51, 53, 54, 55, 78, 79, 80):
        c.add(f"suffix_f64_width_{width}", [0.125] * 3, "f64", flags="mul1", linewidth=width)
    for width in (58, 59, 60):
        c.add(f"suffix_width_{width}", [0.125] * 3, flags="mul1", linewidth=width)


def containers(w):
    """records beyond single tensors: the case name says what is printed"""
    x = torch.tensor([1.5, 2.0])
    y = torch.tensor([[1, 2], [3, 4]])
    g = torch.tensor([[1.0, 2.0], [3.0, 4.5]], requires_grad=True)
    rows = {
        "list_of_rows": ([x.sum(), x], "[x.sum(), x], x = [1.5, 2]"),
        "list_2d": ([y, y], "[y, y], y = [[1, 2], [3, 4]] int64"),
        "list_empty": ([], "[]"),
        "list_iterated_grad": (list(g), "list(g), g = [[1, 2], [3, 4.5]] requires grad"),
        "size_0": (torch.Size([]), "shape of a 0-d tensor"),
        "size_1": (torch.Size([3]), "shape (3,)"),
        "size_3": (torch.Size([2, 6, 3]), "shape (2, 6, 3)"),
        "size_zero": (torch.Size([0, 1]), "shape (0, 1)"),
    }
    for name, (value, what) in rows.items():
        w.case(name)
        w.text("what", what)
        w.text("repr", repr(value))


def float_texts(w):
    """Python's repr of a float: hd_float_repr"""
    values = [0.0, -0.0, 1.0, -1.0, 0.1, 0.5, 1e-5, 1e-4, 0.0001234, 1e15, 1e16, 1e17, 1.5e16]
    values += [123456789012345.6, 9007199254740993.0, 2.0**-24, 2.0**-1074, 2.0**1023, math.pi]
    values += [0.10000000149011612, 1e22, 1e23, 5e-324, 1.7976931348623157e308, 100.0, 1e-7, NAN]
    values += [INF, -INF, 1 / 3, 2 / 3, 0.3, 1e100, 2.0**-44, 2.0**70, 4.35, 299792458.0]
    for k, v in enumerate(values):
        w.case(f"float_{k:02}")
        w.floats("value", v)
        w.text("repr", repr(v))


def write(writer):
    c = Cases(writer)
    parts = (scalars, empties, styles, ranks, wrapped, summarised, options, suffixes)
    for part in parts:
        part(c)
    containers(writer)
    float_texts(writer)
