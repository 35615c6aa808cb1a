"""Makes optim.txt and steps.txt: optimizer steps on fixed gradients, alone, in groups and under schedules; clipped
gradients.
"""
import math
import os
import re
import sys

import torch
from torch.nn.utils import clip_grad_norm_, clip_grad_value_
from torch.optim import lr_scheduler

from golden_format import plain

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from functions import optimizers  # noqa: E402

RESULTS = r"out\d?|lrs|norm"
EVERY = {"optim.txt": 1, "steps.txt": 10}   # so many steps are between two rows of `out`


def cosine_with_warmup(optimizer, warmup_steps, total_steps, initial_lr=0.0, min_lr=0.0):
    """appendix D of "Build a Large Language Model (From Scratch)": the lr of step t"""
    base = [group["lr"] for group in optimizer.param_groups]

    class Schedule:
        t = -1

        def step(self):
            self.t += 1
            for peak, group in zip(base, optimizer.param_groups, strict=True):
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


OWN = {"cosine_with_warmup": cosine_with_warmup, "one_cycle": one_cycle}


class Lion(torch.optim.Optimizer):
    """Chen et al. 2023, arXiv 2302.06675, algorithm 2"""

    def __init__(self, parameters, lr=1e-4, betas=(0.9, 0.99), weight_decay=0.0, maximize=False, foreach=False):
        super().__init__(parameters, {"lr": lr, "betas": betas, "weight_decay": weight_decay, "maximize": maximize})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            lr, (beta1, beta2) = group["lr"], group["betas"]
            for p in [p for p in group["params"] if p.grad is not None]:
                g = -p.grad if group["maximize"] else p.grad
                m = self.state[p].setdefault("exp_avg", torch.zeros_like(p))
                update = m.mul(beta1).add(g, alpha=1 - beta1).sign()
                p.mul_(1 - lr * group["weight_decay"]).add_(update, alpha=-lr)
                m.mul_(beta2).add_(g, alpha=1 - beta2)


OWN_OPTIMIZERS = {"Lion": Lion}


def optimizer_class(name):
    return OWN_OPTIMIZERS.get(name) or getattr(torch.optim, name)


def options(fields, start=""):
    """The arguments whose names begin so."""
    return {field[len(start):]: plain(x) for field, x in fields.items() if field.startswith(start)
            and "/" not in field[len(start):] and not re.fullmatch(RESULTS + "|class|schedule|metrics|joins", field)}


def run(w, fields, start, grads):
    """One parameter; or two groups under a schedule, the second with other options. It joins before step `joins`,
    and is there when the schedule is made if there is no such field."""
    ps = [torch.nn.Parameter(start.clone())]
    optimizer = optimizer_class(fields["class"])(ps, foreach=False, **options(fields))
    lrs, rows, schedule, joins = [], [], None, plain(fields.get("joins", torch.tensor(-1)))
    if "schedule" in fields:
        ps.append(torch.nn.Parameter(start.clone()))
        second = dict(params=[ps[1]], **options(fields, "second/"))
        if joins < 0:
            optimizer.add_param_group(second)
        name = fields["schedule"]
        schedule = OWN.get(name) or getattr(lr_scheduler, name)
        schedule = schedule(optimizer, **options(fields, "schedule/"))
    for k, grad in enumerate(grads):
        if k == joins:
            optimizer.add_param_group(second)
        lrs.append([group["lr"] for group in optimizer.param_groups] + [math.nan] * (k < joins))
        for p in ps:
            p.grad = grad.clone()
        optimizer.step()
        if schedule:
            schedule.step(*fields["metrics"][k:k + 1].tolist() if "metrics" in fields else [])
        if (k + 1) % EVERY[w.name] == 0:
            rows.append(torch.stack([p.detach() for p in ps]) if schedule else ps[0].detach().clone())
    if schedule:
        w.floats("lrs", lrs + [[group["lr"] for group in optimizer.param_groups]])
    w.tensor("out", torch.stack(rows))


def clip(w, fields):
    """Beside the gradients of the file, there is a parameter without one, and one of size 0."""
    norm_type, max_norm = plain(fields["norm_type"]), plain(fields["max_norm"])
    grads = [fields["in0"], fields["in1"], fields["in2"], None, torch.zeros(0, 2, dtype=fields["in0"].dtype)]
    ps = [torch.nn.Parameter(torch.zeros_like(grads[0] if g is None else g)) for g in grads]
    for p, g in zip(ps, grads):
        p.grad = None if g is None else g.clone()
    if max_norm < 0:  # a value to clip to
        clip_grad_value_(ps, -max_norm)
    else:
        some = ps[:4] if norm_type < 0 or math.isinf(norm_type) else ps  # these norms need elements
        w.floats("norm", float(clip_grad_norm_(some, max_norm, norm_type)))
    for k in (0, 1, 2):
        w.tensor(f"out{k}", ps[k].grad)


def of_rows(w, fixed):
    """The cases that the rows of the table of optimizers name."""
    for row in optimizers.ROWS:
        for i, given in enumerate(row.steps):
            for dtype in fixed:
                w.case(f"row_{row.kind}_{i}_{dtype}")
                w.text("class", row.name)
                for name, value in given.items():
                    (w.ints if isinstance(value, bool) else w.floats)(name, value)
                run(w, {"class": row.name, **{k: torch.tensor(v, dtype=torch.float64) for k, v in given.items()}},
                    *fixed[dtype])


def write(w):
    fixed = {}      # by dtype: where a parameter starts, and its gradients
    for fields in w.again(RESULTS, "(?!row_)"):
        if "grads" in fields:
            fixed[w.prefix[-3:]] = fields["start"], fields["grads"]
        elif "norm_type" in fields:
            clip(w, fields)
        else:
            run(w, fields, *fixed["f32" if w.prefix.endswith("f32") else "f64"])
    if w.name == "steps.txt":
        of_rows(w, fixed)
