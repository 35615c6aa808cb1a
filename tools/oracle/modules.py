"""Compares modules of the same class and seed on both sides: initial weights and all names, the summary, the output,
all gradients, the state_dict, and tied parameters.
"""
import ctypes
import os
import sys

import torch
from torch import nn

import values
from binding import ROOT, int64s, pointers

sys.path.insert(0, os.path.join(ROOT, "tools", "golden"))
sys.path.insert(0, os.path.join(ROOT, "tools"))
from functions import modules  # noqa: E402
from golden_attention import (CausalAttention, FeedForward, MultiHeadAttention,  # noqa: E402
                              MultiHeadAttentionWrapper, SelfAttention_v1, SelfAttention_v2, TransformerBlock)

OUTPUT, GRADIENT = 2e-5, 1e-3   # tolerances of float32: of the largest element, of the largest gradient


def tanh_gelu():
    return nn.GELU(approximate="tanh")


# ---- makers: each returns (heed's module, PyTorch's, the shape or the indices of an input), or the shapes of several
# and the function that is called with them

def of_row(row):
    """The maker of a row of the table of modules."""
    def maker(p):
        args = [p.pick(values) for values in row.arguments]
        python = row.python.format(*args)
        p.say(python)
        lead = [p.pick((1, 2, 3, 5)) for _ in range(p.pick((0, 1, 1, 2)))]
        return (lambda: getattr(p.hd, row.name)(*args), lambda: eval(python, {"nn": nn}),
                [lead + sizes for sizes in row.inputs(*args)], getattr(p.hd, row.call))
    return maker


def embedding(p):
    n, d = p.pick((1, 3, 7)), p.pick((1, 2, 5, 8, 17))
    padding = p.pick((None, None, 0, n - 1, -1))
    p.say("Embedding(%d, %d, padding_idx=%s)" % (n, d, padding))
    index = torch.tensor([p.r.randrange(n) for _ in range(6)]).reshape(p.pick(([6], [2, 3], [1, 6])))
    mine = -(1 << 63) if padding is None else padding
    return lambda: p.hd.hd_embedding_new(n, d, mine), lambda: nn.Embedding(n, d, padding), index


def layer_norm(p):
    shape = [p.pick((1, 2, 5, 8, 33)) for _ in range(p.pick((1, 1, 2)))]
    eps, affine, bias = p.pick((1e-5, 1e-3)), p.chance(0.8), p.chance(0.8)
    p.say("LayerNorm(%r, %g, %s, %s)" % (shape, eps, affine, bias))
    return (lambda: p.hd.hd_layer_norm_new_n(len(shape), int64s(shape), eps, affine, bias),
            lambda: nn.LayerNorm(shape, eps, affine, bias), [3] + shape)


def layer(hd, which, width, rate):
    """Makers of a layer that keeps the width."""
    return {"linear": (lambda: hd.hd_linear_new(width, width, True), lambda: nn.Linear(width, width)),
            "norm": (lambda: hd.hd_layer_norm_new(width), lambda: nn.LayerNorm(width)),
            "relu": (lambda: hd.hd_relu_new(False), nn.ReLU),
            "silu": (lambda: hd.hd_silu_new(False), nn.SiLU),
            "gelu": (lambda: hd.hd_gelu_new(b"none"), nn.GELU),
            "gelu tanh": (lambda: hd.hd_gelu_new(b"tanh"), tanh_gelu),
            "dropout": (lambda: hd.hd_dropout_new(rate, False), lambda: nn.Dropout(rate))}[which]


def activation(p):
    which = p.pick(("relu", "silu", "gelu", "gelu tanh", "dropout"))
    rate = p.pick((0.0, 0.1, 0.5, 0.9, 1.0))
    p.say("%s %g" % (which, rate))
    return *layer(p.hd, which, 0, rate), [p.pick((1, 4, 17)), p.pick((1, 3, 40))]


def kept_width(p, width):
    which = p.pick(("linear", "relu", "silu", "gelu", "norm", "dropout"))
    p.say("  %s" % which)
    return layer(p.hd, which, width, 0.25)


def sequential(p):
    width = p.pick((1, 3, 8))
    p.say("Sequential of width %d:" % width)
    layers = [kept_width(p, width) for _ in range(p.r.randrange(0, 5))]

    def mine():
        modules = [m() for m, _ in layers]
        return p.hd.hd_sequential_n(len(modules), pointers(modules))

    return mine, lambda: nn.Sequential(*[t() for _, t in layers]), [4, width]


def module_list(p):
    p.say("ModuleList:")
    layers = [kept_width(p, p.pick((1, 2))) for _ in range(p.r.randrange(0, 5))]
    later = kept_width(p, 2)

    def mine():
        modules = [m() for m, _ in layers]
        l = p.hd.hd_module_list_n(len(modules), pointers(modules))
        p.hd.hd_module_list_append(l, later[0]())
        p.equal("hd_module_list_len", p.hd.hd_module_list_len(l), len(layers) + 1)
        return l

    return mine, lambda: nn.ModuleList([t() for _, t in layers]).append(later[1]()), None


def self_attention(p):
    i, o, bias, first = p.pick((2, 3, 6)), p.pick((1, 2, 5)), p.chance(0.5), p.chance(0.5)
    p.say("SelfAttention_v%d(%d, %d, %s)" % (1 if first else 2, i, o, bias))
    if first:
        return lambda: p.hd.hd_self_attention_v1_new(i, o), lambda: SelfAttention_v1(i, o), [p.pick((1, 6, 9)), i]
    return (lambda: p.hd.hd_self_attention_v2_new(i, o, bias),
            lambda: SelfAttention_v2(i, o, bias), [p.pick((1, 6, 9)), i])


def heads(p):
    i, h = p.pick((2, 3, 6)), p.pick((1, 2, 3))
    width, n = p.pick((1, 2, 4)), p.pick((1, 4, 7))
    rate, bias = p.pick((0.0, 0.0, 0.1, 0.5)), p.chance(0.5)
    which = p.pick(("causal", "wrapper", "multi", "multi"))
    p.say("%s: d_in %d, %d heads of %d, context %d, dropout %g, bias %s" % (which, i, h, width, n, rate, bias))
    shape = [p.pick((1, 2)), p.r.randrange(1, n + 1), i]
    if which == "causal":
        return (lambda: p.hd.hd_causal_attention_new(i, width, n, rate, bias),
                lambda: CausalAttention(i, width, n, rate, bias), shape)
    if which == "wrapper":
        return (lambda: p.hd.hd_multi_head_attention_wrapper_new(i, width, n, rate, h, bias),
                lambda: MultiHeadAttentionWrapper(i, width, n, rate, h, bias), shape)
    return (lambda: p.hd.hd_multi_head_attention_new(i, width * h, n, rate, h, bias),
            lambda: MultiHeadAttention(i, width * h, n, rate, h, bias), shape)


def feed_forward(p):
    d, hidden = p.pick((1, 3, 8)), p.pick((2, 12, 32))
    p.say("FeedForward(%d, %d)" % (d, hidden))
    return lambda: p.hd.hd_feed_forward_new(d, hidden), lambda: FeedForward(d, hidden, tanh_gelu()), [2, 3, d]


def block(p):
    h, rate = p.pick((1, 2)), p.pick((0.0, 0.1, 0.5))
    d, n = h * p.pick((2, 4)), p.pick((2, 5))
    p.say("TransformerBlock: width %d, %d heads, context %d, dropout %g" % (d, h, n, rate))

    def mine():
        att = p.hd.hd_multi_head_attention_new(d, d, n, rate, h, False)
        ff = p.hd.hd_feed_forward_new(d, 4 * d)
        return p.hd.hd_transformer_block_new(att, ff, p.hd.hd_layer_norm_new(d), p.hd.hd_layer_norm_new(d),
                                             rate)

    return mine, lambda: TransformerBlock(MultiHeadAttention(d, d, n, rate, h), FeedForward(d, 4 * d, tanh_gelu()),
                                          nn.LayerNorm(d), nn.LayerNorm(d), rate), [2, n, d]


MAKERS = [of_row(row) for row in modules.ROWS if row.arguments] + [
    embedding, layer_norm, activation, sequential, module_list, self_attention, heads, heads, heads, feed_forward, block]


# ---- the case

def case(p):
    if p.chance(0.25):
        packed(p)
        return
    hd = p.hd
    make_mine, make_theirs, shapes, *call = p.pick(MAKERS)(p)
    m, t = build(p, make_mine, make_theirs)
    if p.chance(0.3):
        m_tied(p, m, t)
    if p.chance(0.2):
        hd.hd_module_to(m, values.NUMBER[torch.float64])
        t.to(torch.float64)
        p.say("to float64")
        state_agrees(p, m, t)
    training = p.chance(0.6)
    hd.hd_module_train(m, training)
    t.train(training)
    p.say("training" if training else "evaluation")
    if shapes is not None:
        forward(p, m, t, shapes, *call)
    if p.chance(0.3):
        loaded(p, m, t, make_mine)


def build(p, make_mine, make_theirs):
    p.seed()
    m = p.owned(make_mine(), "hd_module_free")
    t = make_theirs()
    p.draws("constructor")
    state_agrees(p, m, t)
    p.equal("summary", p.hd.hd_module_summary(m).decode(), str(t))
    return m, t


def state_agrees(p, m, t):
    hd = p.hd
    p.same_dict("state_dict", p.dict(hd.hd_module_state_dict(m)), t.state_dict())
    p.same_dict("named_parameters", p.dict(hd.hd_module_named_parameters(m)), dict(t.named_parameters()))
    p.same_dict("named_buffers", p.dict(hd.hd_module_named_buffers(m)), dict(t.named_buffers()))
    l = hd.hd_module_parameters(m)
    p.equal("parameters", hd.hd_list_len(l), len(list(t.parameters())))


def m_tied(p, m, t):
    """Two parameters of one shape become one."""
    names = [n for n, _ in t.named_parameters()]
    pairs = [(a, b) for a in names for b in names if a < b and
             t.get_parameter(a).shape == t.get_parameter(b).shape]
    if not pairs:
        return
    a, b = p.pick(pairs)
    p.say("%s is tied to %s" % (b, a))
    ok = p.hd.hd_module_set_parameter(m, b.encode(), p.hd.hd_module_get_parameter(m, a.encode()))
    p.equal("hd_module_set_parameter", ok, True)
    owner, _, last = b.rpartition(".")
    setattr(t.get_submodule(owner), last, t.get_parameter(a))
    state_agrees(p, m, t)


def forward(p, m, t, shapes, call=None):
    """shapes: of one input, or of each; or the indices that are the input"""
    hd, call = p.hd, call or p.hd.hd_forward
    dtype = torch.float64 if any(q.dtype == torch.float64 for q in t.state_dict().values()) else torch.float32
    if isinstance(shapes, torch.Tensor):
        xs, grad = [shapes], False
    else:
        shapes = shapes if shapes and isinstance(shapes[0], list) else [shapes]
        xs, grad = [p.drawn(shape, dtype) for shape in shapes], p.chance(0.7)
        p.say("inputs %r %s" % (shapes, dtype))
    hs = [p.tensor(x, grad) for x in xs]
    xs = [x.clone().requires_grad_(grad) for x in xs]
    p.seed()
    y, z = p.agree("forward", lambda: call(m, *hs), lambda: t(*xs))
    p.draws("forward")
    same_output(p, "output", y, z)
    if not z.requires_grad:
        return
    dz = p.drawn(z.shape, z.dtype, "small")
    z.backward(dz)
    p.ok(hd.hd_backward_with(y, p.tensor(dz), False), "hd_backward_with")
    gradients(p, m, t, list(zip("xy", hs, xs)) if grad else [])


def same_output(p, what, y, z):
    """Values, shape and requires_grad; classes that fuse have other grad_fn names than the lines. The signs of
    zeros are compared where the functions are called."""
    p.same(what, y, z, OUTPUT, None, False, False, zeros=False)
    p.equal(what + " requires_grad", p.hd.hd_requires_grad(y), z.requires_grad)


def gradients(p, m, t, more):
    pairs = [(n, p.hd.hd_module_get_parameter(m, n.encode()), q) for n, q in t.named_parameters()] + more
    scale = max([1.0] + [float(q.grad.detach().double().abs().nan_to_num(0, 0, 0).max())
                         for _, _, q in pairs if q.grad is not None and q.numel()])
    for name, h, q in pairs:
        p.same("gradient of " + name, p.hd.hd_grad(h), q.grad, GRADIENT, scale, False, zeros=False)


def loaded(p, m, t, make_mine):
    """A second module that loads the first one's state_dict is the first one."""
    hd = p.hd
    other = p.owned(make_mine(), "hd_module_free")
    if any(q.dtype == torch.float64 for q in t.state_dict().values()):
        hd.hd_module_to(other, values.NUMBER[torch.float64])
    d = p.dict(hd.hd_module_state_dict(m))
    p.equal("hd_module_load_state_dict", hd.hd_module_load_state_dict(other, d, True, None), True)
    p.same_dict("loaded", p.dict(hd.hd_module_state_dict(other)), t.state_dict())
    if p.chance(0.5):
        hd.hd_module_requires_grad_(m, False)
        t.requires_grad_(False)
        state_agrees(p, m, t)
    hd.hd_module_zero_grad(m)
    for n, _ in t.named_parameters():
        p.equal("zero_grad", hd.hd_grad(hd.hd_module_get_parameter(m, n.encode())), hd.none)


# ---- torch.nn.MultiheadAttention

def packed(p):
    hd = p.hd
    h = p.pick((1, 2, 3))
    e = h * p.pick((1, 2, 4))
    o = {"bias": p.chance(0.7), "add_bias_kv": p.chance(0.2), "add_zero_attn": p.chance(0.2),
         "batch_first": p.chance(0.5), "dropout": p.pick((0.0, 0.0, 0.3))}
    theirs = dict(o)
    if p.chance(0.3):
        o.update(kdim=p.pick((1, 3, e)), vdim=p.pick((2, 5, e)))
        theirs.update(kdim=o["kdim"], vdim=o["vdim"])
    p.say("MultiheadAttention(%d, %d, %r)" % (e, h, theirs))
    options = hd.options("hd_multihead_attention_options", o)
    m, t = build(p, lambda: hd.hd_multihead_attention_new(e, h, ctypes.addressof(options)),
                 lambda: nn.MultiheadAttention(e, h, **theirs))
    training = p.chance(0.5)
    hd.hd_module_train(m, training)
    t.train(training)
    packed_call(p, m, t, e, h, o)


def packed_call(p, m, t, e, h, o):
    hd, l, s, b = p.hd, p.pick((1, 2, 5)), p.pick((1, 3, 6)), p.pick((1, 2, 3))
    widths = (e, o.get("kdim", e), o.get("vdim", e))
    batched = p.chance(0.75)
    shapes = [[n, b, w] if batched else [n, w] for n, w in zip((l, s, s), widths)]
    if batched and o["batch_first"]:
        shapes = [[b, n, w] for n, _, w in shapes]
    xs = [p.drawn(shape) for shape in shapes]
    hs = [p.tensor(x, True) for x in xs]
    xs = [x.clone().requires_grad_() for x in xs]
    mine, theirs = masks(p, l, s, b, h, batched)
    p.say("call: l %d, s %d, b %d, batched %s, %s" % (l, s, b, batched, sorted(theirs)))
    args = hd.options("hd_multihead_attention_args", mine)
    weights = ctypes.c_void_p()
    p.seed()
    y, (z, w) = p.agree("hd_multihead_attention", lambda: hd.hd_multihead_attention(
        m, *hs, ctypes.addressof(args), ctypes.addressof(weights)), lambda: t(*xs, **theirs))
    p.draws("hd_multihead_attention")
    same_output(p, "output", y, z)
    p.same("weights", weights.value, None if w is None else w.detach(), OUTPUT, None, False, False)
    dz = p.drawn(z.shape, z.dtype, "small")
    z.backward(dz)
    p.ok(hd.hd_backward_with(y, p.tensor(dz), False), "hd_backward_with")
    gradients(p, m, t, list(zip("qkv", hs, xs)))


def masks(p, l, s, b, h, batched):
    """(heed's arguments, PyTorch's): masks and switches."""
    mine = {"need_weights": p.chance(0.5), "average_attn_weights": p.chance(0.6)}
    theirs = dict(mine)
    as_bool = p.chance(0.5)

    def mask(shape):
        return p.drawn(shape, kind="unit") > 0.8 if as_bool else p.drawn(shape)

    if p.chance(0.4):
        theirs["key_padding_mask"] = mask([b, s] if batched else [s])
    if p.chance(0.4):
        theirs["attn_mask"] = mask([l, s] if p.chance(0.6) or not batched else [b * h, l, s])
        if p.chance(0.1) and as_bool is False:
            mine["is_causal"] = theirs["is_causal"] = False
    for name in ("key_padding_mask", "attn_mask"):
        if name in theirs:
            mine[name] = p.tensor(theirs[name])
    return mine, theirs

