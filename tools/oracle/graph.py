"""Compares explicit work on the graph with PyTorch: users' ops beside torch.autograd.Function, gradcheck, walking
nodes, setting gradients, the caller's memory, lists and dictionaries.
"""
import ctypes

import torch

import compare
import programs
import values
from binding import int64s, pointers, scalar
from machine import Disagreement

FORWARD = ctypes.CFUNCTYPE(ctypes.c_bool, ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p),
                           ctypes.POINTER(ctypes.c_void_p))
BACKWARD = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p),
                            ctypes.POINTER(ctypes.c_void_p))
FREE = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
CHECKED = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p), ctypes.c_int, ctypes.c_void_p)
RELEASE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)
ROWS = {}


def case(p):
    p.pick((user_op, user_op, gradcheck, nodes, nodes, set_grads, wrapped, written, access, lists,
            dictionary))(p)


def rows_of(p):
    if not ROWS:
        import arguments
        ROWS.update(arguments.rows_of(p.hd))
    return ROWS


def address(callback):
    return ctypes.cast(callback, ctypes.c_void_p)


# ---- users' ops

class Twice(torch.autograd.Function):
    """y0 = a x0 x1, and y1 = x0 + c with two outputs; factor 1 makes the gradients right."""

    @staticmethod
    def forward(ctx, x0, x1, spec):
        ctx.save_for_backward(x0, x1)
        ctx.spec = spec
        y = x0 * x1 * spec["a"]
        return (y, x0 + spec["c"]) if spec["outputs"] == 2 else y

    @staticmethod
    def backward(ctx, *gy):
        x0, x1 = ctx.saved_tensors
        spec = ctx.spec
        spec["needs"].append(tuple(ctx.needs_input_grad[:2]))
        g0 = gy[0] * x1 * spec["a"] * spec["factor"]
        if spec["outputs"] == 2:
            g0 = g0 + gy[1]
        return g0, None if spec["nothing"] else gy[0] * x0 * spec["a"], None


def heed_op(p, spec, name=b"Twice"):
    """The hd_op that computes the same with heed's functions."""
    hd = p.hd
    seen, freed = [], []

    def forward(ctx, x, y):
        hd.hd_save(ctx, x[0])
        hd.hd_save(ctx, x[1])
        y[0] = hd.hd_mul_scalar(hd.hd_mul(x[0], x[1]), scalar(spec["a"]))
        if spec["outputs"] == 2:
            y[1] = hd.hd_add_scalar(x[0], scalar(spec["c"]))
        return True

    def backward(ctx, gy, gx):
        x0, x1 = hd.hd_saved(ctx, 0), hd.hd_saved(ctx, 1)
        seen.append((hd.hd_needs_grad(ctx, 0), hd.hd_needs_grad(ctx, 1)))
        g0 = hd.hd_mul_scalar(hd.hd_mul_scalar(hd.hd_mul(gy[0], x1), scalar(spec["a"])),
                              scalar(spec["factor"]))
        gx[0] = hd.hd_add(g0, gy[1]) if spec["outputs"] == 2 else g0
        if not spec["nothing"]:
            gx[1] = hd.hd_mul_scalar(hd.hd_mul(gy[0], x0), scalar(spec["a"]))

    op = hd.structs["hd_op"]()
    calls = (FORWARD(forward), BACKWARD(backward), FREE(lambda ctx: freed.append(1)))
    op.size, op.name = ctypes.sizeof(op), name
    op.forward, op.backward, op.free = (address(c) for c in calls)
    p.kept.append(lambda: (op, calls))
    return op, seen, freed


def user_op(p):
    hd = p.hd
    spec = {"a": p.pick((1.0, -2.0, 0.5)), "c": 1.5, "outputs": p.pick((1, 1, 2)), "factor": 1.0,
            "nothing": p.chance(0.2), "needs": []}
    grads = (p.chance(0.8), p.chance(0.7))
    shape, dtype = [p.pick((1, 3, 8)) for _ in range(p.pick((0, 1, 2)))], p.pick(values.FLOATS)
    p.say("user op %r on %r, requires_grad %r" % (spec, shape, grads))
    ts = [p.drawn(shape, dtype) for _ in range(2)]
    hs = [p.tensor(t, g) for t, g in zip(ts, grads)]
    ts = [t.clone().requires_grad_(g) for t, g in zip(ts, grads)]
    op, seen, freed = heed_op(p, spec)
    zs = Twice.apply(ts[0], ts[1], spec)
    zs = zs if isinstance(zs, tuple) else (zs,)
    if spec["outputs"] == 1:
        ys = [p.ok(hd.hd_apply_n(ctypes.addressof(op), None, 2, pointers(hs)), "hd_apply_n")]
    else:
        l = p.ok(hd.hd_apply_multi_n(ctypes.addressof(op), None, 2, 2, pointers(hs)), "hd_apply_multi_n")
        ys = [hd.hd_list_get(l, i) for i in range(2)]
    for y, z in zip(ys, zs):
        p.same("output of a user op", y, z.detach())
        p.equal("requires_grad of a user op", hd.hd_requires_grad(y), z.requires_grad)
        if z.requires_grad:
            p.equal("grad_fn of a user op", hd.hd_grad_fn(y).decode(), type(z.grad_fn).__name__)
    if zs[0].requires_grad:
        user_backward(p, ys, zs, hs, ts, seen, spec)


def user_backward(p, ys, zs, hs, ts, seen, spec):
    hd, which = p.hd, p.r.randrange(len(ys))
    if p.chance(0.15) and not ts[0].requires_grad:
        p.say("x0 is changed before backward")
        hd.hd_mul_scalar_(hs[0], scalar(2.0))
        ts[0].mul_(2.0)
    g = p.drawn(zs[which].shape, zs[which].dtype)
    p.agree("backward through a user op", lambda: hd.hd_backward_with(ys[which], p.tensor(g), False),
            lambda: zs[which].backward(g))
    p.equal("hd_needs_grad", seen, spec["needs"])
    for i, (h, t) in enumerate(zip(hs, ts)):
        p.same("gradient of input %d" % i, hd.hd_grad(h), t.grad, 1e-6, 1.0, False)


def gradcheck(p):
    """hd_gradcheck_n and torch.autograd.gradcheck say the same of a right and of a wrong backward."""
    hd = p.hd
    spec = {"a": p.pick((1.0, -2.0)), "c": 0.5, "outputs": 1, "needs": [], "nothing": False,
            "factor": p.pick((1.0, 1.0, 1.1, -1.0, 0.0))}
    p.say("gradcheck of %r" % spec)
    ts = [p.drawn([2, 3], torch.float64, "distinct") for _ in range(2)]
    hs = [p.tensor(t, True) for t in ts]
    op, _, _ = heed_op(p, spec)
    f = CHECKED(lambda x, n, user: hd.hd_apply_n(ctypes.addressof(op), None, 2, ctypes.cast(
        x, ctypes.c_void_p)))
    p.kept.append(lambda: f)
    mine = hd.hd_gradcheck_n(address(f), None, 2, pointers(hs), None)
    hd.hd_error_clear()
    theirs = torch.autograd.gradcheck(lambda a, b: Twice.apply(a, b, spec),
                                      [t.clone().requires_grad_() for t in ts], raise_exception=False)
    p.equal("hd_gradcheck_n", mine, theirs)


# ---- walking the graph

def nodes(p):
    """A program's graph has PyTorch's nodes: names, inputs and their outputs, from each result down."""
    g = programs.Programmer(p.hd, rows_of(p), p.r.randrange(1 << 40))
    g.seen = set()
    try:
        programs.forward(g, g.r.randrange(2, 8))
        p.say("a program of %d steps: %s" % (len(g.steps), [w for _, w, _ in g.steps]))
        for name, (h, t) in list(g.machine.env.items()):
            if t.requires_grad:
                t.grad_fn       # PyTorch refuses to make the node of some views
                n = p.ok(p.hd.hd_grad_node(h), "hd_grad_node")
                shapes(p, name, n, h, t)
                walk(p, name, n, node_of(t))
    except Disagreement as e:
        if e.what not in ("hd_grad_node", "hd_node_name", "hd_node_input", "hd_node_outputs"):
            return      # the programs look for these
        raise
    except RuntimeError:
        return
    finally:
        g.machine.close()
        p.hd.hd_error_clear()


def shapes(p, name, n, h, t):
    """The node of a tensor has its sizes, under its output's number."""
    hd, box = p.hd, ctypes.c_int()
    if t.output_nr < p.ok(hd.hd_node_outputs(n), "hd_node_outputs"):
        at = hd.hd_node_sizes(n, t.output_nr, ctypes.addressof(box))
        sizes = tuple((ctypes.c_int64 * box.value).from_address(at)) if box.value else ()
        p.equal("hd_node_sizes of " + name, sizes, tuple(t.shape))
    else:
        p.fail("hd_node_outputs", "result", "%s is output %d of %d" % (
            name, t.output_nr, hd.hd_node_outputs(n)))
    p.equal("hd_grad_mode", hd.hd_grad_mode(), torch.is_grad_enabled())
    p.equal("hd_is_parameter", hd.hd_is_parameter(h), isinstance(t, torch.nn.Parameter))


def node_of(t):
    return t.grad_fn if t.grad_fn is not None else t.view_as(t).grad_fn.next_functions[0][0]


# A product of batches, or of a vector, is one node of heed; PyTorch folds it, multiplies and unfolds.
FOLDED = ("UnsafeViewBackward0", "SqueezeBackward4")


def walk(p, name, n, f):
    hd, todo, done = p.hd, [(n, f)], set()
    while todo:
        n, f = todo.pop()
        if n in done:
            continue
        done.add(n)
        p.equal("hd_node_name", hd.hd_node_name(n).decode(), type(f).__name__)
        p.equal("hd_node_is_leaf", hd.hd_node_is_leaf(n), type(f).__name__ == "AccumulateGrad")
        if type(f).__name__ in FOLDED or hd.hd_node_inputs(n) > len(f.next_functions):
            continue
        box, mine = ctypes.c_int(), []
        for i in range(hd.hd_node_inputs(n)):
            if hd.hd_needs_grad(n, i):
                inner = hd.hd_node_input(n, i, ctypes.addressof(box))
                mine.append((inner, hd.hd_node_name(inner).decode(), box.value))
        theirs = inputs_of(f, mine)
        if [m[1:] for m in mine] != [t[1:] for t in theirs]:
            p.fail("hd_node_input", "result", "inputs of %s under %s: heed %r, PyTorch %r" % (
                type(f).__name__, name, [m[1:] for m in mine], [t[1:] for t in theirs]))
        todo += [(m[0], t[0]) for m, t in zip(mine, theirs)]


BRINGING = ("CopyBackwards", "CopySlices", "MseLossBackward0")


def inputs_of(f, mine):
    """PyTorch's inputs of a node, as (node, name, output). x[i] = v brings v to the shape of x[i] in
    nodes of its own, and mse_loss its operands; heed does it inside these."""
    found = [(g, i) for g, i in f.next_functions if g is not None]
    for k, (g, i) in enumerate(found):
        while type(f).__name__ in BRINGING and k < len(mine) and \
                type(g).__name__ in ("ExpandBackward0", "ViewBackward0") and type(g).__name__ != mine[k][1]:
            g, i = g.next_functions[0]
        found[k] = g, i
    return [(g, type(g).__name__, i) for g, i in found]


# ---- gradients that are set by hand

def set_grads(p):
    hd = p.hd
    shapes = [[p.pick((1, 2, 3)) for _ in range(2)] for _ in range(p.pick((1, 2, 3)))]
    ts = [p.drawn(s) for s in shapes]
    hs = [p.tensor(t, True) for t in ts]
    ts = [t.clone().requires_grad_() for t in ts]
    gs = [None if p.chance(0.2) else p.drawn(s) for s in shapes]
    if p.chance(0.2):
        gs[-1] = p.drawn([7])
    p.say("hd_set_grads of %r to %r" % (shapes, [None if g is None else list(g.shape) for g in gs]))

    def theirs():
        for t, g in zip(ts, gs):
            t.grad = g

    given = [hd.none if g is None else p.tensor(g) for g in gs]
    if p.chance(0.3):   # of a graph, to which they do not belong any more (known.py)
        given = [g if g == hd.none else hd.hd_mul_scalar(hd.hd_requires_grad_(g, True), scalar(1.0)) for g in given]
    p.agree("hd_set_grads", lambda: hd.hd_set_grads(p.list(hs), p.list(given)), theirs)
    for h, t in zip(hs, ts):
        p.same("gradient that was set", hd.hd_grad(h), t.grad)
    # the next backward adds to them
    for h, t in zip(hs, ts):
        hd.hd_backward(hd.hd_sum(hd.hd_mul(h, h)))
        (t * t).sum().backward()
        p.same("gradient after backward", hd.hd_grad(h), t.grad, 1e-6, 1.0, False)


# ---- the caller's memory

def wrapped(p):
    hd, freed = p.hd, []
    shape, dtype = [p.pick((1, 2, 5)), p.pick((1, 3))], p.pick(values.DTYPES)
    t = p.drawn(shape, dtype)
    p.say("hd_wrap_n of %r %s" % (shape, dtype))
    release = RELEASE(lambda data, user: freed.append(1))
    scope = hd.hd_scope_open()
    h = p.ok(hd.hd_wrap_n(values.NUMBER[dtype], t.data_ptr(), address(release), None, 2, int64s(shape)),
             "hd_wrap_n")
    p.same("wrapped memory", h, t)
    t.copy_(p.drawn(shape, dtype))
    p.same("wrapped memory after the caller wrote", h, t)
    hd.hd_fill_(h, scalar(1))
    p.equal("the caller's memory after hd_fill_", t.tolist(), torch.ones(shape, dtype=dtype).tolist())
    view = hd.hd_retain(hd.hd_transpose(h, 0, 1))
    hd.hd_scope_close(scope)
    p.equal("release while a view lives", len(freed), 0)
    p.same("the view", view, t.transpose(0, 1))
    hd.hd_release(view)
    p.equal("release after the last view", len(freed), 1)


def written(p):
    """hd_data_mut and hd_copy_from are changes in place: the version grows, and a saved tensor that
    they changed makes backward fail; on a leaf that requires grad they are errors."""
    hd, way = p.hd, p.pick(("hd_data_mut", "hd_copy_from", "hd_set_n"))
    t = p.drawn([3])
    new = p.drawn([3])
    h, b = p.tensor(t), p.tensor(t, True)
    x, c = t.clone(), t.clone().requires_grad_()
    y, z = hd.hd_mul(b, h), c * x
    leaf = p.chance(0.3)
    p.say("%s%s" % (way, " of a leaf that requires grad" if leaf else ""))

    def mine():
        target = b if leaf else h
        if way == "hd_data_mut":
            at = hd.hd_data_mut(target)
            if at:
                ctypes.memmove(at, new.data_ptr(), 12)
        elif way == "hd_copy_from":
            hd.hd_copy_from(target, new.data_ptr(), 12)
        else:
            hd.hd_set_n(target, scalar(2.5), 1, int64s([-1]))

    def theirs():
        target = c if leaf else x
        if way == "hd_set_n":
            target[-1] = 2.5
        else:
            target.copy_(new)

    p.agree(way, mine, theirs)
    p.same("after " + way, h, x)
    p.equal("hd_version_of after " + way, hd.hd_version_of(h), x._version)
    p.agree("backward after " + way, lambda: hd.hd_backward(hd.hd_sum(y)), lambda: z.sum().backward())


# ---- access

def access(p):
    hd = p.hd
    shape, dtype = [p.pick((1, 2, 4)) for _ in range(p.pick((1, 2, 3)))], p.pick(values.DTYPES)
    t = p.drawn(shape, dtype, "small")
    h = p.tensor(t)
    h, x = view_of_both(p, h, t)
    p.say("access to %r %s, strides %r" % (list(x.shape), dtype, x.stride()))
    f = compare.facts(hd, h)
    p.equal("hd_ndim", hd.hd_ndim(h), x.dim())
    p.equal("hd_numel", hd.hd_numel(h), x.numel())
    p.equal("hd_is_contiguous", hd.hd_is_contiguous(h), x.is_contiguous())
    p.equal("hd_storage_offset", f.offset, x.storage_offset())
    p.equal("hd_shares_storage", hd.hd_shares_storage(h, p.tensor(x)), False)
    p.equal("hd_shape_repr", hd.hd_shape_repr(h).decode(), str(x.shape))
    for dim in range(-x.dim() - 1, x.dim() + 1):
        one_dim(p, h, x, dim)
    if x.numel():
        index = [p.r.randrange(-s, s) for s in x.shape]
        value = x[tuple(index)].item()
        p.equal("hd_get_n", hd.hd_get_n(h, len(index), int64s(index)), float(value))
        p.equal("hd_get_int_n", hd.hd_get_int_n(h, len(index), int64s(index)), int(value))
        p.equal("hd_item", hd.hd_item(hd.hd_sum(h)), float(x.sum().item()))
        p.equal("hd_item_int", hd.hd_item_int(hd.hd_sum(h)), int(x.sum().item()))
    buffer = (ctypes.c_char * max(1, x.numel() * values.SIZE[dtype]))()
    p.equal("hd_copy_to", hd.hd_copy_to(h, ctypes.addressof(buffer), x.numel() * values.SIZE[dtype]), True)
    c = x.contiguous()
    p.equal("what hd_copy_to wrote", bytes(buffer)[:x.numel() * values.SIZE[dtype]],
            ctypes.string_at(c.data_ptr(), c.numel() * values.SIZE[dtype]) if c.numel() else b"")


def one_dim(p, h, x, dim):
    for what, mine, theirs in (("hd_size", p.hd.hd_size, x.size), ("hd_stride", p.hd.hd_stride, x.stride)):
        try:
            expected = theirs(dim)
        except IndexError:
            expected = None
        got = mine(h, dim)
        if p.hd.error():
            got = None
        p.equal(what, got, expected)


def view_of_both(p, h, t):
    way = p.pick(("itself", "transpose", "select", "slice", "expand"))
    if way == "transpose" and t.dim() > 1:
        return p.hd.hd_transpose(h, 0, 1), t.transpose(0, 1)
    if way == "select" and t.dim() > 1:
        i = p.r.randrange(t.shape[0])
        return p.hd.hd_select(h, 0, i), t.select(0, i)
    if way == "slice":
        return p.hd.hd_slice_step(h, -1, 1, 9, 2), t[..., 1:9:2]
    if way == "expand":
        sizes = [2] + list(t.shape)
        return p.hd.hd_expand_n(h, len(sizes), int64s(sizes)), t.expand(sizes)
    return h, t


# ---- lists and dictionaries

def lists(p):
    hd, ts = p.hd, [p.drawn([p.pick((1, 3))]) for _ in range(p.r.randrange(0, 4))]
    l = p.list([p.tensor(t) for t in ts])
    for _ in range(p.r.randrange(0, 3)):
        ts.append(p.drawn([2]))
        p.equal("hd_list_append", hd.hd_list_append(l, p.tensor(ts[-1])), True)
    p.say("a list of %d" % len(ts))
    p.equal("hd_list_len", hd.hd_list_len(l), len(ts))
    p.equal("hd_list_repr", hd.hd_list_repr(l).decode(), repr(ts))
    for i in range(-len(ts) - 1, len(ts) + 1):
        h = hd.hd_list_get(l, i)
        failed = bool(hd.error())
        p.equal("hd_list_get fails", failed, not -len(ts) <= i < len(ts))
        if not failed:
            p.same("hd_list_get", h, ts[i])


def dictionary(p):
    """A random sequence of changes, beside a dict of Python."""
    hd, d, theirs = p.hd, p.dict(), {}
    for _ in range(p.r.randrange(1, 12)):
        name, kind = p.pick(("a", "b", "w.x", "é", "z" * 60)), p.pick((1, 1, 2, 3, 4, "remove"))
        p.say("%s %s" % (kind, name))
        draw, put = {
            1: (lambda: p.drawn([2]), lambda key, v: hd.hd_dict_set(d, key, p.tensor(v))),
            2: (lambda: p.pick(("", "text", "é")), lambda key, v: hd.hd_dict_set_string(d, key, v.encode())),
            3: (lambda: p.r.randrange(-(1 << 62), 1 << 62), lambda key, v: hd.hd_dict_set_int(d, key, v)),
            4: (lambda: p.r.gauss(0, 1), lambda key, v: hd.hd_dict_set_double(d, key, v)),
        }.get(kind, (None, None))
        if put:
            theirs[name] = kind, draw()
            put(name.encode(), theirs[name][1])
        else:
            there = theirs.pop(name, None) is not None
            removed = hd.hd_dict_remove(d, name.encode())
            hd.hd_error_clear()     # a name that is missing is an error
            p.equal("hd_dict_remove", removed, there)
    mine = p.entries(d)
    p.equal("names", [n for n, _, _ in mine], list(theirs))
    for name, kind, value in mine:
        p.equal("kind of " + name, kind, theirs[name][0])
        if kind == 1:
            p.same("hd_dict_get", value, theirs[name][1])
        else:
            p.equal("value of " + name, value.decode() if kind == 2 else value, theirs[name][1])
