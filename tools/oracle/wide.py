"""Tests large tensors: every result and gradient has the same bits with 1, 2 and 4 threads, and PyTorch's values. Also
tests several threads of the program that compute at the same time.
"""
import ctypes
import re
import threading

import torch
import torch.nn.functional as F

import compare
import ops
import programs
from binding import int64s, pointers, scalar
from machine import Disagreement

THREADS = (1, 2, 4)
LARGE = 3e-5


def works(p):
    """(name, shapes of the inputs, heed's call, PyTorch's): each large enough to be split."""
    hd, n = p.hd, p.pick((65537, 100003, 262144))
    r, c = p.pick(((513, 129), (64, 2049), (1031, 65)))
    m, k, q = p.pick(((129, 257, 130), (65, 1000, 33), (300, 64, 301)))
    h, l, d = p.pick(((8, 70, 16), (3, 200, 32)))
    at = [h, l, d]
    return (
        ("mul, add, exp", [[n], [n]], lambda a, b: hd.hd_exp(hd.hd_sub(hd.hd_mul(a, b), hd.hd_abs(a))),
         lambda a, b: torch.exp(a * b - a.abs())),
        ("sum", [[n]], hd.hd_sum, lambda a: a.sum()),
        ("mean over dim 0", [[r, c]], lambda a: hd.hd_mean_dim(a, 0, False), lambda a: a.mean(0)),
        ("var over dim 1", [[r, c]], lambda a: hd.hd_var_dim(a, 1, 1, False), lambda a: a.var(1)),
        ("softmax", [[r, c]], lambda a: hd.hd_softmax(a, 1), lambda a: torch.softmax(a, 1)),
        ("log_softmax over dim 0", [[r, c]], lambda a: hd.hd_log_softmax(a, 0),
         lambda a: torch.log_softmax(a, 0)),
        ("layer_norm", [[r, c], [c], [c]], lambda a, w, b: hd.hd_layer_norm_n(a, 1, int64s([c]), w, b, 1e-5),
         lambda a, w, b: F.layer_norm(a, (c,), w, b)),
        ("matmul", [[m, k], [k, q]], hd.hd_matmul, lambda a, b: a @ b),
        ("matmul transposed", [[k, m], [q, k]],
         lambda a, b: hd.hd_matmul(hd.hd_transpose(a, 0, 1), hd.hd_transpose(b, 0, 1)), lambda a, b: a.T @ b.T),
        ("linear", [[m, k], [q, k], [q]], hd.hd_linear, F.linear),
        ("batched matmul", [[9, 40, 50], [9, 50, 30]], hd.hd_matmul, lambda a, b: a @ b),
        ("attention", [at, at, at], lambda a, b, v: hd.hd_scaled_dot_product_attention(
            a, b, v, hd.none, 0.0, False), lambda a, b, v: F.scaled_dot_product_attention(a, b, v)),
        ("causal attention", [at, at, at], lambda a, b, v: hd.hd_scaled_dot_product_attention(
            a, b, v, hd.none, 0.0, True), lambda a, b, v: F.scaled_dot_product_attention(a, b, v, is_causal=True)),
        ("cumsum", [[r, c]], lambda a: hd.hd_cumsum(a, 1), lambda a: a.cumsum(1)),
        ("gelu, transposed copy", [[r, c]], lambda a: hd.hd_contiguous(hd.hd_gelu(hd.hd_transpose(a, 0, 1))),
         lambda a: F.gelu(a.T).contiguous()),
        ("broadcast", [[r, c], [c], [r, 1]], lambda a, b, e: hd.hd_add(hd.hd_mul(a, b), e),
         lambda a, b, e: a * b + e),
        ("max over dim", [[r, c]], lambda a: hd.hd_max_dim(a, 1, False, None), lambda a: a.max(1)[0]),
        ("cat, clamp", [[r, c], [r, c]], lambda a, b: hd.hd_clamp(
            hd.hd_cat_n(2, pointers([a, b]), 0), scalar(-0.5), scalar(0.5)),
         lambda a, b: torch.cat([a, b]).clamp(-0.5, 0.5)),
        ("dropout", [[n]], lambda a: hd.hd_dropout(a, 0.3, True), lambda a: F.dropout(a, 0.3)),
        ("cross_entropy", [[r, c]], lambda a: hd.hd_cross_entropy(a, p.tensor(p.target)),
         lambda a: F.cross_entropy(a, p.target)),
    )


def case(p):
    hd = p.hd
    p.target = None
    name, shapes, mine, theirs = p.pick(works(p))
    dtype = p.pick((torch.float32, torch.float32, torch.float64))
    if name == "cross_entropy":
        p.target = torch.tensor([p.r.randrange(shapes[0][1]) for _ in range(shapes[0][0])])
    p.say("%s of %r %s" % (name, shapes, dtype))
    xs = [p.drawn(s, dtype) for s in shapes]
    seed, bits, found = p.r.randrange(1 << 30), None, None
    try:
        for threads in THREADS:
            hd.hd_set_num_threads(threads)
            hd.hd_manual_seed(seed)
            found = one(p, mine, xs)
            text = [compare_bytes(t) for t in found]
            if bits is not None and text != bits:
                p.fail(name, "threads", "other bits with %d threads than with 1" % threads)
            bits = text
    finally:
        hd.hd_set_num_threads(1)
    torch.manual_seed(seed)
    ts = [x.clone().requires_grad_() for x in xs]
    y = theirs(*ts)
    y.backward(dy_of(y))
    for what, mine_t, t in zip(["output"] + ["gradient %d" % i for i in range(len(ts))], found,
                               [y.detach()] + [t.grad for t in ts]):
        near(p, name + ", " + what, mine_t, t)


def dy_of(y):
    return ((torch.arange(y.numel()) % 7 - 3) / 4).to(y.dtype).reshape(y.shape)


def one(p, mine, xs):
    """[output, gradients...] of one run of heed, as copies."""
    hd = p.hd
    hs = [p.tensor(x, True) for x in xs]
    y = p.ok(mine(*hs), "a large call")
    out = p.read(y)
    p.ok(hd.hd_backward_with(y, p.tensor(dy_of(out)), False), "hd_backward_with")
    return [out] + [p.read(hd.hd_grad(h)) for h in hs]


def compare_bytes(t):
    c = t.contiguous()
    return ctypes.string_at(c.data_ptr(), c.numel() * c.element_size())


def near(p, what, mine, theirs):
    room = LARGE * compare.UNIT[theirs.dtype] * max(1.0, float(theirs.double().abs().max()))
    off = float((mine.double() - theirs.double()).abs().max())
    if not off <= room:
        p.fail(what, "value", "%s: off by %g, expected at most %g" % (what, off, room))


# ---- threads of the program

def four_times(run):
    """run(0) to run(3), at the same time."""
    threads = [threading.Thread(target=run, args=(k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()


def together(p):
    """Four threads run cases of ops and programs at the same time; each has what it has alone."""
    import graph
    rows = {n: r for n, r in graph.rows_of(p).items() if not r.random}
    words, wrong = ops.words_of(rows), []
    first = p.r.randrange(1 << 30)
    p.say("4 threads with 40 cases each from %d" % first)

    def run(number):
        for i in range(40):
            seed = first + number * 40 + i
            make = ops.case(p.hd, rows, words, seed) if i % 4 else programs.program(p.hd, rows, seed)
            if make[1] is not None:
                wrong.append((seed, i % 4, make))

    p.hd.hd_set_num_threads(2)
    four_times(run)
    p.hd.hd_set_num_threads(1)
    for seed, kind, (steps, e, _) in wrong:
        alone = ops.case(p.hd, rows, words, seed) if kind else programs.program(p.hd, rows, seed)
        if text_of(alone[1]) != text_of(e):
            raise Disagreement("threads", "alone: %s; beside others: %s: %s" % (
                text_of(alone[1]), e.what, e.text), "threads")


def text_of(e):
    """What differs, without a hook's number, which counts the hooks of all threads."""
    if e is None:
        return "nothing differs"
    return re.sub(r"\d+ is not the id of a hook", "N is not the id of a hook", e.text)


def readers(p):
    """Four threads run one module in evaluation mode; all get the bits of one thread."""
    hd = p.hd
    m = p.owned(hd.hd_multi_head_attention_new(8, 8, 20, 0.1, 2, True), "hd_module_free")
    hd.hd_module_eval(m)
    h = p.tensor(p.drawn([2, 20, 8]))
    expected, got = compare_bytes(p.read(hd.hd_forward(m, h))), []

    def run(number):
        scope = hd.hd_scope_open()
        for _ in range(5):
            got.append(compare_bytes(compare.aliased(compare.facts(hd, hd.hd_forward(m, h))).clone()))
        hd.hd_scope_close(scope)

    four_times(run)
    p.say("4 readers of a MultiHeadAttention")
    p.equal("outputs that differ", sum(g != expected for g in got), 0)


def threads_case(p):
    p.pick((together, together, readers))(p)
