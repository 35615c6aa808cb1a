"""Compares printed texts: hd_repr of tensors of all shapes and values under random options, and of numbers."""
import ctypes

import torch

import values


def case(p):
    hd = p.hd
    if p.chance(0.2):
        v = p.pick((p.r.gauss(0, 1), p.r.gauss(0, 1) * 10.0 ** p.r.randrange(-300, 300), float(p.r.randrange(-9, 99)),
                    2.0 ** p.r.randrange(-1074, 1023), 1e16, 1e-5, 123456789012345680.0))
        p.equal("hd_float_repr", hd.hd_float_repr(v).decode(), repr(v))
        return
    o = options(p)
    t = tensor(p)
    p.say("%r %s %r" % (list(t.shape), t.dtype, o))
    grad = t.dtype.is_floating_point and p.chance(0.3)
    h, x = p.tensor(t, grad), t.clone().requires_grad_(grad)
    if x.dim() > 1 and p.chance(0.3):
        h, x = hd.hd_transpose(h, 0, -1), x.transpose(0, -1)
    elif grad and p.chance(0.3):
        h, x = hd.hd_mul(h, h), x * x
    if grad and x.is_leaf and p.chance(0.3):
        h, x = hd.hd_parameter(hd.hd_detach(h), True), torch.nn.Parameter(x.detach())
    struct = hd.options("hd_print_options", o)
    torch.set_printoptions(profile="default")
    theirs = dict(o, sci_mode=None if o["sci_mode"] < 0 else bool(o["sci_mode"]))
    torch.set_printoptions(**theirs)
    try:
        expected = repr(x)
    finally:
        torch.set_printoptions(profile="default")
    p.equal("hd_repr_with", hd.hd_repr_with(h, ctypes.addressof(struct)).decode(), expected)
    p.equal("hd_set_print_options", hd.hd_set_print_options(ctypes.addressof(struct)), True)
    mine = hd.hd_repr(h).decode()
    hd.hd_set_print_options(None)
    p.equal("hd_repr", mine, expected)


def options(p):
    if p.chance(0.3):
        return {"precision": 4, "threshold": 1000, "edgeitems": 3, "linewidth": 80, "sci_mode": -1}
    return {"precision": p.pick((0, 1, 2, 4, 6, 10)), "threshold": p.pick((0, 5, 20, 1000)),
            "edgeitems": p.pick((0, 1, 2, 3, 5)), "linewidth": p.pick((10, 40, 80, 120)),
            "sci_mode": p.pick((-1, -1, 0, 1))}


def tensor(p):
    shape = [p.pick((0, 1, 1, 2, 3, 4, 7, 12)) for _ in range(p.pick((0, 1, 1, 2, 2, 3, 4)))]
    if values.numel(shape) > 1500:
        shape = shape[:2]
    dtype = p.pick((torch.float32, torch.float32, torch.float64, torch.int64, torch.bool))
    t = p.drawn(shape, dtype, p.pick(("normal", "small", "special", "unit", "distinct")))
    if dtype.is_floating_point and p.chance(0.5):
        t = t * 10.0 ** p.r.randrange(-9, 9)
    return t
