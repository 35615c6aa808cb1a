"""Where heed and PyTorch differ, and why it stays so. Each entry says which disagreements it covers, and
has an example that must still disagree in this way: an entry that no longer differs fails the run.
"""
import re

import torch

import shrink
from machine import Index, Var

KNOWN = []


class Known:
    """covers(e): is this Disagreement the difference? example: steps that show it."""

    def __init__(self, name, reason, covers, example):
        self.name, self.reason, self.covers, self.example = name, reason, covers, example


def known(name, reason, example):
    """Makes an entry of the function below. Without an example it is a fault that waits to be mended:
    it may vanish at any time."""
    def add(covers):
        KNOWN.append(Known(name, reason, covers, example))
        return covers
    return add


X, Y, Z, W = Var("x"), Var("y"), Var("z"), Var("w")
F32, F64, I64, BOOL = torch.float32, torch.float64, torch.int64, torch.bool


def leaf(name, shape, source, dtype=F32):
    return (name, "leaf", [dtype, list(shape), source])


def grad(name):
    return (name, "requires_grad", [name])


def which(e):
    """The entry that covers a disagreement, or None."""
    for k in KNOWN:
        try:
            if k.covers(e):
                return k
        except (AttributeError, IndexError, TypeError, KeyError):  # made for other arguments
            pass
    return None


def stale(hd, rows):
    """The entries whose example no longer differs as they say, with the reason."""
    found = []
    for k in [k for k in KNOWN if k.example]:
        e = shrink.replay(hd, rows, k.example)
        if e is None:
            found.append("%s: its example no longer differs; take the entry out" % k.name)
        elif which(e) is not k:
            found.append("%s: its example differs in another way: %s: %s" % (k.name, e.what, e.text))
    return found


# ---- heed refuses what PyTorch takes

@known("expanded", "in place on an expanded tensor: several elements share memory, so heed refuses",
       [leaf(X, [1], [1.0]), (Y, "hd_expand_n", [X, [3]]), (Y, "hd_zero_", [Y])])
def expanded(e):
    return e.kind == "error" and "is expanded" in e.text


@known("more than 8 dims", "a tensor of heed has at most HD_MAX_DIMS dims",
       [leaf(X, [1], [1.0]), (Y, "hd_view_n", [X, [1] * 9])])
def many_dims(e):
    return e.kind == "error" and "expected 0 to 8" in e.text


@known("draws into an empty bool tensor", "heed looks at the dtype whatever the size",
       [leaf(X, [0], [], BOOL), (Y, "hd_normal_", [X, 0.0, 1.0])])
def empty_draws(e):
    return e.kind == "error" and "expected float32 or float64" in e.text and e.theirs[0].numel() == 0


@known("a product over nothing of two dtypes", "PyTorch looks at the dtypes only where there is something "
       "to multiply",
       [leaf(X, [1, 1, 0], [], F64), leaf(Y, [1, 0, 1], []), (Z, "hd_matmul", [X, Y])])
def empty_product(e):
    return e.what == "hd_matmul" and e.kind == "error" and "expected one dtype" in e.text and \
        (e.theirs[0].numel() == 0 or e.theirs[1].numel() == 0)


@known("attention's arguments", "PyTorch's fused kernel does not look whether k and v fit, or whether a "
       "mask comes with is_causal; heed does, as PyTorch's other kernels do",
       [leaf(X, [1, 1, 2, 1], [1.0, 1.0]), leaf(Y, [1, 1, 2, 1], [1.0, 1.0]), leaf(Z, [1, 1, 1, 1], [1.0]),
        (W, "hd_scaled_dot_product_attention", [X, Y, Z, None, 0.0, False])])
def attention_arguments(e):
    return e.what.startswith("hd_scaled_dot") and e.kind == "error" and \
        ("expected (..., l, d)" in e.text or "expected one of them" in e.text)


# ---- gradients

@known("hd_grad_of and retain_grad", "hd_grad_of changes no .grad; torch.autograd.grad writes the .grad of "
       "a tensor that retains it",
       [leaf(X, [1], [1.0]), grad(X), (Y, "hd_mul_scalar", [X, 2.0]), (Y, "retain_grad", [Y]),
        leaf(Z, [1], [1.0]), (W, "grad_of", [[Y], [Y, X], [Z], True, True]),
        (Var("v"), "backward", [Y, Z, False])])
def retained(e):
    m = re.match(r"gradient of (\w+):", e.text)
    return e.machine.asked and m is not None and e.env[m.group(1)][1].retains_grad


@known("the node of a view taken without recording", "such a view says that it requires grad and has no "
       "node; hd_grad_node says so, grad_fn is None", None)
def no_node(e):
    return e.kind == "error" and e.what.startswith("hd_node") and "taken while grad mode was off" in e.text


# ---- PyTorch's own faults

@known("logsumexp of no dims", "PyTorch fails inside its own kernel; heed takes all dims",
       [leaf(X, [2, 2], [1.0] * 4), (Y, "hd_logsumexp_dims_n", [X, False, []])])
def logsumexp_nothing(e):
    return e.what == "hd_logsumexp_dims_n" and e.args[2] == []


@known("var of no dims", "PyTorch's backward divides by a size of 1 - correction; heed takes all dims",
       [leaf(X, [2], [1.0, 2.0]), grad(X), (Y, "hd_var_dims_n", [X, 1, False, []]),
        (Z, "backward", [Y, None, False])])
def var_nothing(e):
    name, args = e.machine.last
    return name == "hd_var_dims_n" and args[3] == [] and e.kind == "gradient value"


@known("cross_entropy of one row with a target of one element", "PyTorch's forward takes x (c,) with a "
       "target (1,), and its backward fails; heed takes both",
       [leaf(X, [2], [1.0, 1.0]), grad(X), leaf(Y, [1], [1], I64), (Z, "hd_cross_entropy", [X, Y]),
        (W, "backward", [Z, None, False])])
def entropy_target(e):
    return e.kind == "no error" and ("size mismatch" in e.text and "target" in e.text)


@known("cross_entropy with as many classes as targets", "a target of x's own shape means probabilities "
       "to PyTorch, which refuses integers; heed has class numbers only",
       [leaf(X, [1], [1.0]), leaf(Y, [1], [0], I64), (Z, "hd_cross_entropy", [X, Y])])
def entropy_shape(e):
    return e.kind == "no error" and "class probabilities" in e.text


@known("gelu of infinity", "PyTorch's vector code gives NaN for inf, its scalar code inf, as heed does",
       [leaf(X, [16], [float("inf")] * 16), (Y, "hd_gelu", [X])])
def gelu_infinity(e):
    return e.what == "hd_gelu" and e.kind == "value" and e.text.endswith("heed inf, PyTorch nan")


# ---- order and sign

@known("maximum of 0 and -0", "which zero PyTorch gives depends on the place in a vector",
       [leaf(X, [1], [-0.0]), leaf(Y, [1], [0.0]), (Z, "hd_maximum", [X, Y])])
def zero_of_maximum(e):
    return e.what in ("hd_maximum", "hd_minimum") and e.kind == "value" and \
        "0.0 (" in e.text and "-0.0 (" in e.text


@known("the sign of a zero of a batched product of one step", "PyTorch folds the batch or not by whether a "
       "gradient is needed, and a product that it does not fold is added to 0",
       [leaf(X, [3, 1], [0.0] * 3), leaf(Y, [2, 1, 4], [-1.0] * 8), (Z, "hd_matmul", [X, Y])])
def zero_of_batched_product(e):
    return e.what == "hd_matmul" and e.kind == "value" and "0.0 (" in e.text and "-0.0 (" in e.text and \
        e.theirs[0].dim() > 0 and e.theirs[0].shape[-1] == 1


@known("strides of a gradient", "a gradient that is equal along a dim has stride 0 there; PyTorch often "
       "writes it out. The values are the same",
       [leaf(X, [2, 2], [1.0] * 4), grad(X), (Y, "hd_mul_scalar", [X, 1.0]), (Z, "hd_mean_dim", [Y, 1, False]),
        leaf(W, [2], [1.0, 2.0]), (Var("v"), "grad_of", [[Z], [Y], [W], False, True])])
def gradient_strides(e):
    return e.kind == "gradient strides"


@known("layer_norm of infinities", "PyTorch's vector code has NaN in the gradient of such a row, where "
       "heed has an infinity",
       [leaf(X, [9], [float(k) for k in range(9)], F64), grad(X),
        leaf(Y, [9], [float("inf")] + [1.0] * 8, F64), (Z, "hd_layer_norm_n", [X, [9], Y, None, 1e-5]),
        leaf(W, [9], [1.0] * 9, F64), (Var("v"), "backward", [Z, W, False])])
def norm_of_infinities(e):
    return e.machine.last[0] == "hd_layer_norm_n" and e.kind == "gradient value" and \
        any(w in e.text for w in ("heed inf", "heed -inf", "heed nan")) and "PyTorch" in e.text


# ---- faults that wait to be mended

@known("waits: views made without recording", "a view of a leaf shows requires_grad", None)
def wait_views(e):
    return e.kind.endswith("requires_grad") and "heed none, PyTorch True" in e.text


@known("waits: versions of x op= x", "the version grows twice", None)
def wait_version(e):
    return e.kind == "version"


@known("waits: hooks of hd_grad_of", "hooks of its inputs and outputs", None)
def wait_hooks(e):
    return e.kind == "hooks" or e.what == "hd_grad_of" or (
        e.kind == "gradient value" and len(e.args) == 5 and bool(e.machine.hooks))


@known("waits: names", "grad_fn of x[:], of a fill, of attention and linear in some layouts", None)
def wait_names(e):
    return e.kind == "other grad_fn" or e.kind == "grad_fn" and e.what in (
        "hd_getitem_n", "hd_setitem_n", "hd_setitem_scalar_n", "hd_linear",
        "hd_scaled_dot_product_attention", "hd_scaled_dot_product_attention_with") or \
        e.kind == "grad_fn" and e.what.endswith("_")


@known("waits: strides", "of results of expanded, permuted and empty operands", None)
def wait_strides(e):
    return e.kind == "strides" and e.expected.numel() == 0 or e.kind == "strides" and not e.what.startswith((
        "hd_transpose", "hd_permute", "hd_view", "hd_expand", "hd_select", "hd_slice", "hd_narrow"))


@known("waits: x[()]", "an index of nothing", None)
def wait_index(e):
    return e.what == "hd_getitem_n" and e.kind == "error"


@known("waits: randint", "of float32 above 2^24", None)
def wait_randint(e):
    return e.what == "hd_randint_n"


@known("waits: pow of integers", "the gradient of a float64 exponent", None)
def wait_pow(e):
    return e.what == "hd_pow" and e.kind == "gradient value"


__all__ = ["Index", "KNOWN", "stale", "which"]
