"""sdpa.txt and sdpa_mcg31.txt: scaled_dot_product_attention, its result and gradients."""
import torch
from torch.nn.functional import scaled_dot_product_attention

from golden_attention import TOLERANCE, pattern

SIZES = {"few": (5, 9, 4, 6), "tiles": (70, 140, 8, 8), "wide": (130, 75, 40, 33)}
EVERY = 41  # of the flattened tensors, one element in so many is recorded


def masks(l, s):
    """by name: keys that take part, or what is added; row 2 sees nothing"""
    seen = pattern((l, s), 3) > -0.25
    seen[2] = False
    added = pattern((l, s), 4)
    added[2] = -torch.inf
    return {"bool": seen, "float": added, "row": pattern((1, s), 5) > 0}


def run(inputs, dy, seed, mask, dtype, options):
    x = [t.to(dtype, copy=True).requires_grad_() for t in inputs]
    if mask is not None and mask.is_floating_point():
        mask = mask.to(dtype)
    torch.manual_seed(seed)
    y = scaled_dot_product_attention(*x, attn_mask=mask, **options)
    y.backward(dy.to(dtype))
    return [y.detach(), *(t.grad for t in x)]


def case(w, size, name, seed, mask=None, **options):
    l, s, d, dv = SIZES[size]
    inputs = [pattern((2, 2, n, e), k) for k, (n, e) in enumerate(((l, d), (s, d), (s, dv)))]
    dy = pattern((2, 2, l, dv), 6)
    w.case(f"{size}_{name}")
    w.ints("sizes", [l, s, d, dv])
    w.ints("seed", seed)
    w.ints("is_causal", int(options.get("is_causal", False)))
    w.floats("dropout_p", options.get("dropout_p", 0.0))
    if "scale" in options:
        w.floats("scale", options["scale"])
    if mask:
        w.text("mask", mask)
    mask = masks(l, s)[mask] if mask else None
    both = (torch.float32, torch.float64)
    single, double = (run(inputs, dy, seed, mask, t, options) for t in both)
    for field, a, b in zip(("out", "dq", "dk", "dv"), single, double):
        if (a - b).abs().max() > TOLERANCE * b.abs().max():
            raise SystemExit(f"{size}_{name}/{field}: float32 is too far from float64")
        w.tensor(field, a.flatten()[::EVERY])


def dropped(w, size):
    case(w, size, "dropout", 7, dropout_p=0.25)
    case(w, size, "dropout_causal", 8, dropout_p=0.5, is_causal=True)


def native(w):
    for size in SIZES:
        case(w, size, "plain", 1)
        case(w, size, "causal", 2, is_causal=True)
        case(w, size, "scale", 3, scale=-0.7)
        dropped(w, size)
    for size in ("few", "tiles"):
        case(w, size, "bool", 4, mask="bool")
        case(w, size, "float", 5, mask="float")
        case(w, size, "row", 6, mask="row")
        case(w, size, "float_dropout", 9, mask="float", dropout_p=0.25)


def mcg31(w):
    for size in SIZES:
        dropped(w, size)
