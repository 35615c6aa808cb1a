"""optim.txt: twenty optimizer steps on fixed gradients."""
import torch

from golden_format import DTYPES

SGD = {
    "plain": dict(lr=0.1),
    "momentum": dict(lr=0.1, momentum=0.9),
    "dampening": dict(lr=0.1, momentum=0.9, dampening=0.3),
    "nesterov": dict(lr=0.1, momentum=0.9, nesterov=True),
    "weight_decay": dict(lr=0.1, weight_decay=0.05),
    "maximize": dict(lr=0.1, maximize=True),
    "all": dict(lr=0.05, momentum=0.8, weight_decay=0.05, nesterov=True, maximize=True),
}
ADAMW = {
    "default": dict(),
    "lr": dict(lr=0.1),
    "betas": dict(lr=0.1, betas=(0.5, 0.9)),
    "eps": dict(lr=0.1, eps=0.01),
    "weight_decay": dict(lr=0.1, weight_decay=0.2),
    "no_weight_decay": dict(lr=0.1, weight_decay=0.0),
    "amsgrad": dict(lr=0.1, amsgrad=True),
    "maximize": dict(lr=0.1, maximize=True),
    "all": dict(
        lr=0.05, betas=(0.8, 0.95), eps=1e-4, weight_decay=0.1, amsgrad=True, maximize=True
    ),
}
STEPS = 20


def gradient(step, dtype):
    """multiples of 1/16 in [-2, 2), without order; element 4 is always 0"""
    i = torch.arange(6)
    g = ((i * 29 + step * 37 + i * step * 5) % 64 - 32) / 16
    g[4] = 0
    return g.to(dtype).reshape(2, 3)


def start(dtype):
    return (torch.arange(6) - 2.5).to(dtype).reshape(2, 3) / 4


def run(w, case, cls, options, name):
    w.case(f"{case}_{name}")
    dtype = DTYPES[name]
    w.text("class", cls.__name__)
    for key, value in options.items():
        if isinstance(value, bool):
            w.ints(key, int(value))
        else:
            w.floats(key, list(value) if isinstance(value, tuple) else float(value))
    p = torch.nn.Parameter(start(dtype))
    optimizer = cls([p], foreach=False, **options)
    rows = []
    for k in range(STEPS):
        p.grad = gradient(k, dtype)
        optimizer.step()
        rows.append(p.detach().clone())
    w.tensor("out", torch.stack(rows))


def write(w):
    for name in ("f32", "f64"):
        w.case("gradients_" + name)
        w.tensor("start", start(DTYPES[name]))
        grads = [gradient(k, DTYPES[name]) for k in range(STEPS)]
        w.tensor("grads", torch.stack(grads))
        for case, options in SGD.items():
            run(w, "sgd_" + case, torch.optim.SGD, options, name)
        for case, options in ADAMW.items():
            run(w, "adamw_" + case, torch.optim.AdamW, options, name)
