"""Faults for tests/checks/check_oracle_faults: each changes the behaviour of one function of heed in the binding, and
the oracle must find and shrink it.
"""
import ctypes

import compare
import difference
import known  # noqa: F401 (its entries)
from binding import scalar


def wrong_gradient(hd):
    """hd_mul forgets the second factor's gradient: its value comes from a detached copy."""
    right = hd.hd_mul
    hd.hd_mul = lambda a, b: right(a, hd.hd_detach(b))


def wrong_zero(hd):
    """hd_neg of 0 is 0 and not -0."""
    right = hd.hd_neg
    hd.hd_neg = lambda x: hd.hd_add_scalar(right(x), scalar(0))


def wrong_stride(hd):
    """hd_transpose copies: its result is row-major."""
    right = hd.hd_transpose
    hd.hd_transpose = lambda x, a, b: hd.hd_contiguous(right(x, a, b))


def missing_error(hd):
    """hd_narrow cuts a range that does not lie in x, as hd_slice does."""
    right = hd.hd_narrow

    def narrow(x, dim, start, length):
        y = right(x, dim, start, length)
        if hd.hd_error_code() in (hd.values["HD_INDEX"], hd.values["HD_SHAPE"], hd.values["HD_VALUE"]):
            hd.hd_error_clear()
            return hd.hd_slice(x, dim, start, start + length)
        return y

    hd.hd_narrow = narrow


def wrong_value(hd):
    """hd_exp is off in the 9th element."""
    right = hd.hd_exp

    def exp(x):
        y = right(x)
        if y and hd.hd_numel(y) >= 9 and hd.hd_is_contiguous(y):
            f = compare.facts(hd, y)
            if f.dtype.is_floating_point:
                compare.aliased(f).view(-1)[8] *= 1.001
        return y

    hd.hd_exp = exp


def wrong_name(hd):
    """hd_sigmoid is composed of other functions, so its grad_fn is another."""
    hd.hd_sigmoid = lambda x: hd.hd_rdiv_scalar(
        hd.hd_add_scalar(hd.hd_exp(hd.hd_neg(x)), scalar(1)), scalar(1))


def lost_change(hd):
    """hd_mul_ of a view changes a copy of the base."""
    right = hd.hd_mul_

    def mul_(x, b):
        sizes = (ctypes.c_int64 * hd.hd_ndim(x)).from_address(hd.hd_sizes(x)) if hd.hd_ndim(x) else ()
        return hd.hd_copy_(x, hd.hd_detach(hd.hd_mul(x, b))) if len(sizes) else right(x, b)

    hd.hd_mul_ = mul_


def wrong_draws(hd):
    """hd_bernoulli_ takes one draw more."""
    right = hd.hd_bernoulli_

    def bernoulli_(x, p):
        y = right(x, p)
        hd.hd_generator_random(hd.hd_generator_current())
        return y

    hd.hd_bernoulli_ = bernoulli_


def wrong_step(hd):
    """hd_optim_step makes the step with a larger lr."""
    right = hd.hd_optim_step

    def step(o):
        lr = hd.hd_optim_lr(o)
        hd.hd_optim_set_lr(o, lr * 1.01)
        done = right(o)
        hd.hd_optim_set_lr(o, lr)
        return done

    hd.hd_optim_step = step


def wrong_repr(hd):
    """hd_repr has a blank after the opening bracket."""
    right = hd.hd_repr_with
    hd.hd_repr_with = lambda x, o: right(x, o).replace(b"tensor([", b"tensor([ ", 1)


def lost_row(hd):
    """A known difference names a row that docs/differences.md does not have."""
    difference.KNOWN[0].row += " and more"


def stale_entry(hd):
    """The example of a known difference does not differ."""
    difference.KNOWN[0].example = difference.KNOWN[0].example[:1]


FAULTS = {f.__name__: f for f in (wrong_gradient, wrong_zero, wrong_stride, missing_error, wrong_value,
                                  wrong_name, lost_change, wrong_draws, wrong_step, wrong_repr, lost_row,
                                  stale_entry)}
# Where each is found: section, cases, and words of the finding's name and kind.
FOUND = {
    "wrong_gradient": ("ops", 4000, ("hd_mul", "gradient")),
    "wrong_zero": ("ops", 4000, ("hd_neg", "value")),
    "wrong_stride": ("ops", 4000, ("hd_transpose", "strides")),
    "missing_error": ("ops", 8000, ("hd_narrow", "no error")),
    "wrong_value": ("ops", 4000, ("hd_exp", "value")),
    "wrong_name": ("ops", 4000, ("hd_sigmoid", "grad_fn")),
    "lost_change": ("programs", 600, ("hd_", "")),
    "wrong_draws": ("ops", 4000, ("hd_bernoulli_", "draws")),
    "wrong_step": ("train", 60, ("parameter after step", "value")),
    "wrong_repr": ("printing", 60, ("hd_repr_with", "result")),
}
# The tool's messages about its own table of known differences.
SAID = {"lost_row": "docs/differences.md has no row", "stale_entry": "its example no longer differs"}


def plant(hd, name):
    FAULTS[name](hd)
