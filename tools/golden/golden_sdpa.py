"""Makes sdpa.txt and sdpa_mcg31.txt: scaled_dot_product_attention, its result and gradients."""
import torch
from torch.nn.functional import scaled_dot_product_attention

from golden_attention import TOLERANCE, pattern
from golden_format import plain

EVERY = 41  # of the flattened tensors, one element in so many is recorded


def masks(l, s, heads):
    """by name: keys that take part, or what is added; row 2 sees nothing"""
    seen = pattern((l, s), 3) > -0.25
    seen[2:3] = False
    added = pattern((l, s), 4)
    added[2:3] = -torch.inf
    return {"heads": pattern((heads, l, s), 7) > -0.5, "bool": seen, "float": added, "row": pattern((1, s), 5) > 0}


def run(inputs, dy, seed, mask, dtype, options):
    x = [t.to(dtype, copy=True).requires_grad_() for t in inputs]
    if mask is not None and mask.is_floating_point():
        mask = mask.to(dtype)
    torch.manual_seed(seed)
    y = scaled_dot_product_attention(*x, attn_mask=mask, **options)
    y.backward(dy.to(dtype))
    return [y.detach(), *(t.grad for t in x)]


def write(w):
    for fields in w.again("out|d[qkv]"):
        l, s, d, dv = plain(fields["sizes"])
        heads = plain(fields.get("heads", torch.tensor(2)))   # of q: another number than 2 means enable_gqa
        inputs = [pattern((2, h, n, e), k)
                  for k, (h, n, e) in enumerate(((heads, l, d), (2, s, d), (2, s, dv)))]
        dy, mask = pattern((2, heads, l, dv), 6), fields.get("mask")
        mask = masks(l, s, heads)[mask] if mask else None
        options = {name: plain(fields[name]) for name in ("dropout_p", "scale") if name in fields}
        options.update(is_causal=bool(fields["is_causal"]), enable_gqa=heads != 2)
        single, double = (run(inputs, dy, plain(fields["seed"]), mask, dtype, options)
                          for dtype in (torch.float32, torch.float64))
        for field, a, b in zip(("out", "dq", "dk", "dv"), single, double):
            if (a - b).abs().max() > TOLERANCE * b.abs().max():
                raise SystemExit(f"{w.prefix}/{field}: float32 is too far from float64")
            w.tensor(field, a.flatten()[::EVERY])
