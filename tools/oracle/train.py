"""Compares optimizers, schedules and clipping: several steps from the same gradients on both sides. The parameters,
the lr of every group and the saved state must agree; a second optimizer and schedule load the saved state and go on.
"""
import ctypes
import math
import os
import sys

import torch
from torch.optim import lr_scheduler

from binding import ROOT

sys.path.insert(0, os.path.join(ROOT, "tools", "golden"))
sys.path.insert(0, os.path.join(ROOT, "tools"))
from functions import optimizers  # noqa: E402
from golden_steps import cosine_with_warmup, optimizer_class  # noqa: E402

STEP = 2e-6     # one step's rounding, of the largest element
ROWS = {row.kind: row for row in optimizers.ROWS}


def options_of(p, name):
    """(heed's fields, PyTorch's arguments): a value of the table for each option."""
    mine = {field: p.pick(option.values) for field, option in ROWS[name].options.items()}
    theirs = {field: v for field, v in mine.items() if not field.startswith("beta")}
    if "beta1" in mine:
        theirs["betas"] = (mine["beta1"], mine["beta2"])
    return mine, theirs


def parameters(p, n):
    """[(heed's parameter, PyTorch's)]."""
    hd, made = p.hd, []
    for _ in range(n):
        shape = [p.pick((1, 2, 3, 8, 17)) for _ in range(p.pick((0, 1, 1, 2)))]
        t = p.drawn(shape, p.dtype)
        made.append((hd.hd_parameter(p.tensor(t), True), torch.nn.Parameter(t.clone())))
    return made


def new_optim(p, name, fields, pairs):
    hd = p.hd
    o = hd.options("hd_%s_options" % name, fields)
    p.kept.append(lambda: o)
    return getattr(hd, "hd_%s_new" % name)(p.list([h for h, _ in pairs]), ctypes.addressof(o))


def new_torch(name, parameters, options):
    return optimizer_class(ROWS[name].name)(parameters, foreach=False, **options)


def case(p):
    hd, name = p.hd, p.pick(list(ROWS))
    p.dtype = p.pick((torch.float32, torch.float32, torch.float64))
    fields, theirs = options_of(p, name)
    pairs = parameters(p, p.pick((1, 1, 2, 3)))
    p.say("%s(%r), parameters %r" % (name, theirs, [list(t.shape) for _, t in pairs]))
    mine, optim = p.agree("hd_%s_new" % name, lambda: new_optim(p, name, fields, pairs),
                          lambda: new_torch(name, [t for _, t in pairs], theirs))
    o = p.owned(mine, "hd_optim_free")
    groups = [pairs]
    if p.chance(0.3):
        groups.append(second_group(p, name, o, optim))
    schedules = [a_schedule(p, o, optim, i == 0) for i in range(p.pick((0, 0, 1, 1, 1, 2)))]
    joins = p.r.randrange(6) if schedules and len(groups) == 1 and p.chance(0.2) else None
    run(p, o, optim, [q for g in groups for q in g], schedules, name, joins)
    if p.chance(0.4) and len(groups) == 1 and joins is None and "momentum" not in str(p.said):
        goes_on(p, name, fields, o, optim, pairs)


def second_group(p, name, o, optim):
    hd, more = p.hd, parameters(p, 1)
    fields, theirs = options_of(p, name)
    if theirs.get("nesterov") and (not theirs["momentum"] or theirs["dampening"]):
        fields["nesterov"] = theirs["nesterov"] = False  # PyTorch looks at this in the constructor only
    if name == "adagrad":  # PyTorch takes the first group's
        first = optim.defaults["initial_accumulator_value"]
        fields["initial_accumulator_value"] = theirs["initial_accumulator_value"] = first
    p.say("a second group (%r)" % theirs)
    struct = hd.options("hd_%s_options" % name, fields)
    p.agree("hd_optim_add_group", lambda: hd.hd_optim_add_group(
        o, p.list([h for h, _ in more]), ctypes.addressof(struct)),
        lambda: optim.add_param_group(dict(theirs, params=[t for _, t in more])))
    p.equal("hd_optim_group_count", hd.hd_optim_group_count(o), len(optim.param_groups))
    return more if len(optim.param_groups) == 2 else []


def run(p, o, optim, pairs, schedules, name, joins):
    """The second group joins before step `joins`."""
    hd = p.hd
    for step in range(p.r.randrange(2, 7)):
        if step == joins:
            pairs = pairs + second_group(p, name, o, optim)
        for h, t in pairs:
            if p.chance(0.15):
                hd.hd_set_grad(h, hd.none)
                t.grad = None
                continue
            g = p.drawn(t.shape, t.dtype, p.pick(("normal", "small")))
            p.ok(hd.hd_set_grad(h, p.tensor(g)), "hd_set_grad")
            t.grad = g
        if p.chance(0.3):
            clip(p, pairs)
        p.equal("hd_optim_step", hd.hd_optim_step(o), True)
        optim.step()
        for h, t in pairs:
            p.same("parameter after step %d" % (step + 1), h, t, STEP, 1.0, False)
            with torch.no_grad():   # rounding is compared step by step
                t.copy_(p.read(h))
        for mine, theirs in schedules:
            step_schedule(p, mine, theirs)
            p.equal("hd_schedule_steps", hd.hd_schedule_steps(mine), step + 1)
        if schedules and p.chance(0.2):
            load_schedules(p, o, schedules)
        if p.chance(0.2):
            new_lr(p, o, optim)
        p.near("hd_optim_lr", hd.hd_optim_lr(o), optim.param_groups[0]["lr"], 1e-14)
        for i, g in enumerate(optim.param_groups):
            p.near("lr of group %d" % i, hd.hd_optim_group_lr(o, i), g["lr"], 1e-14)
    hd.hd_optim_zero_grad(o)
    for h, t in pairs:
        p.equal("hd_optim_zero_grad", hd.hd_grad(h), hd.none)
    same_state(p, o, optim)


def new_lr(p, o, optim):
    """The lr of all groups, or of the last one, is set by hand."""
    lr, last = p.pick((0.05, 0.3)), len(optim.param_groups) - 1
    every = p.chance(0.5)
    p.equal("setting the lr", p.hd.hd_optim_set_lr(o, lr) if every else
            p.hd.hd_optim_group_set_lr(o, last, lr), True)
    for g in optim.param_groups if every else optim.param_groups[last:]:
        g["lr"] = lr


def same_state(p, o, optim):
    """state.N.exp_avg and its kin are PyTorch's."""
    d = p.dict()
    p.equal("hd_optim_save", p.hd.hd_optim_save(o, d, b""), True)
    mine = {n: (k, v) for n, k, v in p.entries(d)}
    for i, state in optim.state_dict()["state"].items():
        for name, value in state.items():
            if value is None:
                continue
            key = "state.%d.%s" % (i, name)
            if key not in mine and float(state["step"]) == 0:
                continue  # Adagrad: heed makes the state at the first step
            if key not in mine:
                p.fail("hd_optim_save", "missing", "there is no %s; names: %s" % (key, sorted(mine)))
            kind, got = mine[key]
            if kind == 1:  # without the sign of a zero, which is only ever added to
                p.same(key, p.tensor(p.read(got) + 0.0), value + 0.0, 1e-4, None, False, False)
            else:
                p.near(key, float(got), float(value), 1e-6)


def clip(p, pairs):
    hd = p.hd
    handles, ts = p.list([h for h, _ in pairs]), [t for _, t in pairs]
    if p.chance(0.3) and any(t.grad is not None for t in ts):  # without any, PyTorch itself fails
        value = p.pick((0.1, 1.0))
        p.say("clip_grad_value_(%g)" % value)
        p.equal("hd_clip_grad_value_", hd.hd_clip_grad_value_(handles, value), True)
        torch.nn.utils.clip_grad_value_(ts, value, foreach=False)
    else:
        most, kind = p.pick((0.1, 1.0, 100.0)), p.pick((2.0, 1.0, math.inf, 3.0))
        p.say("clip_grad_norm_(%g, %g)" % (most, kind))
        mine = hd.hd_clip_grad_norm_(handles, most, kind, False)
        p.near("hd_clip_grad_norm_", mine, float(torch.nn.utils.clip_grad_norm_(ts, most, kind, foreach=False)), 3e-6)
    for h, t in pairs:
        p.same("clipped gradient", hd.hd_grad(h), t.grad, 4e-6, None, False, False)
        if t.grad is not None:
            t.grad = p.read(hd.hd_grad(h))


# ---- schedules

def a_schedule(p, o, optim, first):
    hd = p.hd
    which = p.pick(("constant", "step", "linear", "annealing", "plateau", "cosine", "one_cycle"))
    if which == "constant":
        a = p.pick(((0.5, 2), (1 / 3, 5), (1.0, 3), (1.0, 0)))  # (0.5, 0): see known.py
        makers = (lambda: hd.hd_constant_lr_new(o, *a), lambda: lr_scheduler.ConstantLR(optim, *a))
    elif which == "step":
        a = (p.pick((1, 2, 3)), p.pick((0.1, 0.97)))
        makers = (lambda: hd.hd_step_lr_new(o, *a), lambda: lr_scheduler.StepLR(optim, *a))
    elif which == "linear":
        a = (p.pick((1 / 3, 1.0, 0.1)), p.pick((1.0, 0.05)), p.pick((1, 3, 5)))
        makers = (lambda: hd.hd_linear_lr_new(o, *a), lambda: lr_scheduler.LinearLR(optim, *a))
    elif which == "annealing":
        a = {"T_max": p.pick((1, 2, 3, 30)) if first else 30, "eta_min": p.pick((0.0, 1e-3))}
        s = hd.options("hd_cosine_annealing_options", a)
        makers = (lambda: hd.hd_cosine_annealing_new(o, ctypes.addressof(s)),
                  lambda: lr_scheduler.CosineAnnealingLR(optim, **a))
    elif which == "plateau":
        a, makers = plateau(p, o, optim)
    elif which == "cosine":
        a = {"warmup_steps": p.pick((0, 2)), "total_steps": p.pick((3, 5, 9)),
             "initial_lr": p.pick((0.0, 1e-4)), "min_lr": p.pick((0.0, 1e-5))}
        s = hd.options("hd_cosine_warmup_options", a)
        makers = (lambda: hd.hd_cosine_warmup_new(o, ctypes.addressof(s)), lambda: cosine_with_warmup(optim, **a))
    else:
        a, makers = one_cycle(p, o, optim)
    p.say("schedule %s %r" % (which, a))
    mine, theirs = p.agree("hd_%s_new" % which, *makers)
    return p.owned(mine, "hd_schedule_free"), theirs


def plateau(p, o, optim):
    hd = p.hd
    a = {"factor": p.pick((0.5, 0.0, 0.9)), "patience": p.pick((0, 0, 1, 2)), "threshold": p.pick((1e-4, 0.3, 0.0)),
         "cooldown": p.pick((0, 0, 1, 3)), "min_lr": p.pick((0.0, 0.0, 0.02)), "eps": p.pick((1e-8, 1e-2))}
    least, share = p.chance(0.5), p.chance(0.5)
    s = hd.options("hd_reduce_on_plateau_options", dict(a, mode=0 if least else 1, threshold_mode=0 if share else 1))
    return a, (lambda: hd.hd_reduce_on_plateau_new(o, ctypes.addressof(s)), lambda: lr_scheduler.ReduceLROnPlateau(
        optim, "min" if least else "max", threshold_mode="rel" if share else "abs", **a))


def step_schedule(p, mine, theirs):
    hd = p.hd
    if isinstance(theirs, lr_scheduler.ReduceLROnPlateau):
        metric = p.pick((1.0, 1.0, 0.8, 0.9999, -0.5, math.inf, math.nan, 1.2))
        p.agree("hd_schedule_step_metric", lambda: hd.hd_schedule_step_metric(mine, metric),
                lambda: theirs.step(metric))
    else:
        p.agree("hd_schedule_step", lambda: hd.hd_schedule_step(mine), theirs.step)


def load_schedules(p, o, schedules):
    """What was saved comes back, whatever the lr has become."""
    d = p.dict()
    for i, (mine, _) in enumerate(schedules):
        p.equal("hd_schedule_save", p.hd.hd_schedule_save(mine, d, b"s%d" % i), True)
    p.hd.hd_optim_set_lr(o, 7.0)
    for i, (mine, _) in enumerate(schedules):
        p.ok(p.hd.hd_schedule_load(mine, d, b"s%d" % i), "hd_schedule_load")


def one_cycle(p, o, optim):
    hd = p.hd
    a = {"total_steps": p.pick((2, 5, 12)), "pct_start": p.pick((0.3, 0.5)),
         "cycle_momentum": p.chance(0.5), "div_factor": p.pick((25.0, 4.0)),
         "final_div_factor": p.pick((1e4, 10.0)), "three_phase": p.chance(0.3)}
    most, cosine = p.pick((0.1, 1.0)), p.chance(0.5)
    s = hd.options("hd_one_cycle_options", dict(a, max_lr=most, anneal=0 if cosine else 1))
    return a, (lambda: hd.hd_one_cycle_new(o, ctypes.addressof(s)), lambda: lr_scheduler.OneCycleLR(
        optim, most, anneal_strategy="cos" if cosine else "linear", **a))


# ---- saving and going on

def goes_on(p, name, fields, o, optim, pairs):
    """An optimizer that loads the saved state steps as the first one, to the bit."""
    hd = p.hd
    d = p.dict()
    hd.hd_optim_save(o, d, b"optim")
    twins = [(hd.hd_parameter(hd.hd_clone(hd.hd_detach(h)), True), t) for h, t in pairs]
    other = p.owned(new_optim(p, name, fields, twins), "hd_optim_free")
    p.equal("hd_optim_load", hd.hd_optim_load(other, d, b"optim"), True)
    for (h, t), (twin, _) in zip(pairs, twins):
        g = p.drawn(t.shape, t.dtype)
        hd.hd_set_grad(h, p.tensor(g))
        hd.hd_set_grad(twin, p.tensor(g))
    hd.hd_optim_step(o)
    hd.hd_optim_step(other)
    for (h, t), (twin, _) in zip(pairs, twins):
        p.same("loaded optimizer's step", twin, p.read(h), 0, None, False)
