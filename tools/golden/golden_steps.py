"""steps.txt: a hundred optimizer steps, alone, in groups and under schedules; clipped gradients."""
import math

import torch
from torch.nn.utils import clip_grad_norm_, clip_grad_value_
from torch.optim import lr_scheduler

from golden_format import DTYPES

STEPS = 100
OPTIMIZERS = {
    "sgd": (torch.optim.SGD, dict(lr=0.05)),
    "sgd_momentum": (torch.optim.SGD, dict(lr=0.05, momentum=0.9, weight_decay=0.02)),
    "sgd_nesterov": (torch.optim.SGD, dict(lr=0.05, momentum=0.9, nesterov=True)),
    "sgd_dampening": (torch.optim.SGD, dict(lr=0.05, momentum=0.8, dampening=0.4, maximize=True)),
    "adam": (torch.optim.Adam, dict()),
    "adam_lr": (torch.optim.Adam, dict(lr=0.05)),
    "adam_betas": (torch.optim.Adam, dict(lr=0.05, betas=(0.4, 0.9), eps=1e-3)),
    "adam_weight_decay": (torch.optim.Adam, dict(lr=0.05, weight_decay=0.1)),
    "adam_amsgrad": (torch.optim.Adam, dict(lr=0.05, amsgrad=True)),
    "adam_maximize": (torch.optim.Adam, dict(lr=0.05, maximize=True, weight_decay=0.01)),
    "adamw": (torch.optim.AdamW, dict(lr=0.05)),
    "adamw_all": (
        torch.optim.AdamW,
        dict(lr=0.02, betas=(0.8, 0.95), eps=1e-4, weight_decay=0.1, amsgrad=True, maximize=True),
    ),
    "rmsprop": (torch.optim.RMSprop, dict()),
    "rmsprop_alpha": (torch.optim.RMSprop, dict(lr=0.02, alpha=0.3, eps=1e-4)),
    "rmsprop_momentum": (torch.optim.RMSprop, dict(momentum=0.9, weight_decay=0.05)),
    "rmsprop_centered": (torch.optim.RMSprop, dict(centered=True)),
    "rmsprop_all": (
        torch.optim.RMSprop,
        dict(lr=0.02, alpha=0.9, momentum=0.5, weight_decay=0.1, centered=True, maximize=True),
    ),
    "adagrad": (torch.optim.Adagrad, dict()),
    "adagrad_decay": (torch.optim.Adagrad, dict(lr=0.1, lr_decay=0.05, weight_decay=0.1)),
    "adagrad_start": (torch.optim.Adagrad, dict(lr=0.1, initial_accumulator_value=0.5)),
    "adagrad_all": (
        torch.optim.Adagrad,
        dict(lr=0.1, lr_decay=0.01, eps=1e-3, initial_accumulator_value=0.1, maximize=True),
    ),
}


def gradient(step, dtype):
    """multiples of 1/64, without order; never 0, so that nothing divides by eps alone"""
    i = torch.arange(6)
    g = (i * 29 + step * 37 + i * step * 5) % 64 - 32
    return ((2 * g + 1) / 64).to(dtype).reshape(2, 3)


def start(dtype):
    return (torch.arange(6) - 2.5).to(dtype).reshape(2, 3) / 4


def write_options(w, options, prefix=""):
    for key, value in options.items():
        if isinstance(value, (bool, int)):
            w.ints(prefix + key, int(value))
        elif isinstance(value, str):
            w.text(prefix + key, value)
        else:
            w.floats(prefix + key, list(value) if isinstance(value, tuple) else float(value))


def make(w, cls, options):
    w.text("class", cls.__name__)
    write_options(w, options)
    return cls


def run(w, case, cls, options, name):
    w.case(f"{case}_{name}")
    make(w, cls, options)
    dtype = DTYPES[name]
    p = torch.nn.Parameter(start(dtype))
    optimizer = cls([p], foreach=False, **options)
    rows = []
    for k in range(STEPS):
        p.grad = gradient(k, dtype)
        optimizer.step()
        if k % 10 == 9:
            rows.append(p.detach().clone())
    w.tensor("out", torch.stack(rows))


def cosine_with_warmup(optimizer, warmup_steps, total_steps, initial_lr=0.0, min_lr=0.0):
    """appendix D of "Build a Large Language Model (From Scratch)": the lr of step t"""
    base = [group["lr"] for group in optimizer.param_groups]

    class Schedule:
        t = -1

        def step(self):
            self.t += 1
            for peak, group in zip(base, optimizer.param_groups):
                if self.t < warmup_steps:
                    group["lr"] = initial_lr + self.t * (peak - initial_lr) / warmup_steps
                else:
                    share = min(1, (self.t - warmup_steps) / (total_steps - warmup_steps))
                    group["lr"] = min_lr + (peak - min_lr) * 0.5 * (1 + math.cos(math.pi * share))

    schedule = Schedule()
    schedule.step()
    return schedule


def one_cycle(optimizer, max_lr=None, **options):
    return lr_scheduler.OneCycleLR(
        optimizer, max_lr=max_lr or [g["lr"] for g in optimizer.param_groups], **options
    )


SGD, ADAM, RMS = torch.optim.SGD, torch.optim.Adam, torch.optim.RMSprop
MOMENTUM = dict(lr=0.1, momentum=0.9)
SCHEDULES = {
    "constant": (SGD, MOMENTUM, lr_scheduler.ConstantLR, dict(factor=1 / 3, total_iters=5)),
    "constant_1": (ADAM, dict(lr=0.1), lr_scheduler.ConstantLR, dict(factor=1.0, total_iters=1)),
    "step": (SGD, MOMENTUM, lr_scheduler.StepLR, dict(step_size=30, gamma=0.1)),
    "step_1": (ADAM, dict(lr=0.1), lr_scheduler.StepLR, dict(step_size=1, gamma=0.97)),
    "linear": (
        ADAM,
        dict(lr=0.1),
        lr_scheduler.LinearLR,
        dict(start_factor=1 / 3, end_factor=1.0, total_iters=5),
    ),
    "linear_down": (
        SGD,
        MOMENTUM,
        lr_scheduler.LinearLR,
        dict(start_factor=1.0, end_factor=0.05, total_iters=80),
    ),
    "cosine": (ADAM, dict(lr=0.1), cosine_with_warmup, dict(warmup_steps=10, total_steps=100)),
    "cosine_min": (
        SGD,
        MOMENTUM,
        cosine_with_warmup,
        dict(warmup_steps=20, total_steps=90, initial_lr=3e-5, min_lr=1e-3),
    ),
    "cosine_cold": (ADAM, dict(lr=0.1), cosine_with_warmup, dict(warmup_steps=0, total_steps=101)),
    "cycle": (ADAM, dict(lr=0.1), one_cycle, dict(total_steps=100)),
    "cycle_sgd": (SGD, MOMENTUM, one_cycle, dict(total_steps=100, pct_start=0.25)),
    "cycle_late": (SGD, dict(lr=0.1), one_cycle, dict(total_steps=120, max_lr=0.2)),
    "cycle_linear": (
        RMS,
        dict(lr=0.01),
        one_cycle,
        dict(total_steps=110, anneal_strategy="linear", base_momentum=0.7, max_momentum=0.9),
    ),
    "cycle_three": (
        SGD,
        MOMENTUM,
        one_cycle,
        dict(total_steps=100, three_phase=True, div_factor=10.0, final_div_factor=100.0),
    ),
    "cycle_three_wide": (
        ADAM,
        dict(lr=0.1),
        one_cycle,
        dict(total_steps=100, three_phase=True, pct_start=0.4, cycle_momentum=False),
    ),
}
SECOND = dict(lr=0.02, weight_decay=0.05)


def schedule(w, case, cls, options, make_schedule, arguments):
    """two groups, the second with SECOND; float64"""
    w.case("schedule_" + case)
    make(w, cls, options)
    write_options(w, SECOND, "second/")
    w.text("schedule", make_schedule.__name__)
    write_options(w, arguments, "schedule/")
    ps = [torch.nn.Parameter(start(torch.float64)) for _ in range(2)]
    optimizer = cls([ps[0]], foreach=False, **options)
    optimizer.add_param_group(dict(params=[ps[1]], **SECOND))
    s = make_schedule(optimizer, **arguments)
    lrs, rows = [], []
    for k in range(STEPS + 1):
        lrs.append([group["lr"] for group in optimizer.param_groups])
        if k == STEPS:
            break
        for p in ps:
            p.grad = gradient(k, torch.float64)
        optimizer.step()
        s.step()
        if k % 10 == 9:
            rows.append(torch.stack([p.detach().clone() for p in ps]))
    w.floats("lrs", lrs)
    w.tensor("out", torch.stack(rows))


NORMS = (2.0, 1.0, 3.0, 0.5, 0.0, -1.0, math.inf, -math.inf)


def clip(w, name, norm_type, max_norm):
    dtype = DTYPES[name]
    w.case(f"clip_norm_{norm_type}_{max_norm}_{name}")
    sizes = ((2, 3), (5,), (), (4,), (0, 2))
    ps = [torch.nn.Parameter(torch.zeros(n, dtype=dtype)) for n in sizes]
    for k, p in enumerate(ps):
        if k != 3:  # which has no gradient
            p.grad = (torch.arange(p.numel(), dtype=dtype).reshape(p.shape) - 1.5) * (k + 1) / 3
    w.floats("norm_type", norm_type)
    w.floats("max_norm", max_norm)
    for k in (0, 1, 2):
        w.tensor(f"in{k}", ps[k].grad.clone())
    if max_norm < 0:  # a value to clip to
        clip_grad_value_(ps, -max_norm)
    else:
        some = ps[:4] if norm_type < 0 or math.isinf(norm_type) else ps  # these norms need elements
        w.floats("norm", float(clip_grad_norm_(some, max_norm, norm_type)))
    for k in (0, 1, 2):
        w.tensor(f"out{k}", ps[k].grad)


def write(w):
    for name in ("f32", "f64"):
        w.case("gradients_" + name)
        w.tensor("start", start(DTYPES[name]))
        w.tensor("grads", torch.stack([gradient(k, DTYPES[name]) for k in range(STEPS)]))
        for case, (cls, options) in OPTIMIZERS.items():
            run(w, case, cls, options, name)
        for norm_type in NORMS:
            for max_norm in (0.75, 1e6):
                clip(w, name, norm_type, max_norm)
        clip(w, name, 2.0, -0.6)
    for case, row in SCHEDULES.items():
        schedule(w, case, *row)
