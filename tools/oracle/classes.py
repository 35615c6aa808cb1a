"""Compares modules beyond the layers with PyTorch: a user's own class through callbacks, walking and naming modules,
kept attention weights, the cache of keys and values, and gradients that are saved.
"""
import ctypes

import torch
from torch import nn

import modules

FORWARD = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
VISIT = ctypes.CFUNCTYPE(ctypes.c_bool, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)


def case(p):
    p.pick((own_class, walked, cache, any_cache, weights, grads, plain_attention, getters))(p)


# ---- a class of the user

class Own(nn.Module):
    """y = l(x a + b), with a parameter, a buffer and a child."""

    def __init__(self, a, b, persistent, i, o):
        super().__init__()
        self.a = nn.Parameter(a)
        self.register_buffer("b", b, persistent=persistent)
        self.l = nn.Linear(i, o)

    def forward(self, x):
        return self.l(x * self.a + self.b)


class Instance(ctypes.Structure):
    _fields_ = [("type", ctypes.c_void_p), ("priv", ctypes.c_void_p), ("a", ctypes.c_void_p),
                ("b", ctypes.c_void_p), ("l", ctypes.c_void_p)]


def own_type(p):
    hd = p.hd

    def forward(m, x):
        self = Instance.from_address(m)
        if not hd.hd_forward_begin(m):
            return None
        y = hd.hd_forward(self.l, hd.hd_add(hd.hd_mul(x, self.a), self.b))
        return hd.hd_forward_end(m, y)

    t, call = hd.structs["hd_module_type"](), FORWARD(forward)
    t.size, t.name, t.instance_size = ctypes.sizeof(t), b"Own", ctypes.sizeof(Instance)
    t.forward = ctypes.cast(call, ctypes.c_void_p)
    p.kept.append(lambda: (t, call))
    return t


def own_class(p):
    hd = p.hd
    i, o, persistent = p.pick((1, 3, 8)), p.pick((1, 4)), p.chance(0.6)
    a, b = p.drawn([i]), p.drawn([i])
    p.say("a user's class with a parameter (%d,), a buffer (persistent %s) and Linear(%d, %d)"
          % (i, persistent, i, o))
    t = own_type(p)

    def mine():
        m = hd.hd_module_new(ctypes.addressof(t))
        hd.hd_register_parameter(m, b"a", m + Instance.a.offset, hd.hd_parameter(p.tensor(a), True))
        hd.hd_register_buffer(m, b"b", m + Instance.b.offset, p.tensor(b), persistent)
        hd.hd_register_module(m, b"l", m + Instance.l.offset, hd.hd_linear_new(i, o, True))
        return hd.hd_module_ready(m)

    m, q = modules.build(p, mine, lambda: Own(a.clone(), b.clone(), persistent, i, o))
    modules.forward(p, m, q, [p.pick((1, 5)), i])


# ---- walking and naming

def some_module(p):
    return modules.build(p, *p.pick((modules.heads, modules.block, modules.sequential))(p)[:2])


def walked(p):
    hd = p.hd
    m, t = some_module(p)
    names, stop = [], p.pick((None, None, 2))
    visit = VISIT(lambda child, name, user: names.append(name.decode()) or len(names) != stop)
    result = hd.hd_module_visit(m, ctypes.cast(visit, ctypes.c_void_p), None)
    expected = [n for n, _ in t.named_modules()][:stop]
    p.equal("names that hd_module_visit gives", names, expected)
    p.equal("hd_module_visit", result, len(names) != stop)


def getters(p):
    hd = p.hd
    m, t = some_module(p)
    for name, child in t.named_modules():
        if not name:
            continue
        got = p.ok(hd.hd_module_get(m, name.encode()), "hd_module_get")
        p.equal("summary of " + name, hd.hd_module_summary(got).decode(), str(child))
        p.equal("training of " + name, hd.hd_module_training(got), child.training)
        if isinstance(child, nn.Sequential):
            for i in range(-len(child), len(child)):
                p.equal("hd_module_list_get", hd.hd_module_summary(hd.hd_module_list_get(got, i)).decode(),
                        str(child[i]))
    for name, b in t.named_buffers():
        p.same("hd_module_get_buffer", hd.hd_module_get_buffer(m, name.encode()), b)
    p.agree("a name that no parameter has", lambda: hd.hd_module_get_parameter(m, b"no.such"),
            lambda: t.get_parameter("no.such"))


# ---- attention's weights and cache

def attention(p, rate=0.0):
    hd, h = p.hd, p.pick((1, 2))
    i, width, n = p.pick((2, 4)), h * p.pick((1, 2, 4)), p.pick((3, 6))
    p.say("MultiHeadAttention(%d, %d, %d, %g, %d)" % (i, width, n, rate, h))
    m, t = modules.build(p, lambda: hd.hd_multi_head_attention_new(i, width, n, rate, h, False),
                         lambda: modules.MultiHeadAttention(i, width, n, rate, h))
    hd.hd_module_eval(m)
    t.eval()
    return m, t, i, n


def cache(p):
    """Piece by piece with a cache: the outputs of the whole sequence at once."""
    hd = p.hd
    batch, as_block = p.pick((1, 2)), p.chance(0.4)
    if as_block:
        make, make_theirs, (_, n, i) = modules.block(p)
        m, t = modules.build(p, make, make_theirs)
        hd.hd_module_eval(m)
        t.eval()
    else:
        m, t, i, n = attention(p)
    x = p.drawn([batch, n, i])
    inner = hd.hd_module_get(m, b"att") if as_block else m
    c = p.owned(hd.hd_kv_cache_new(inner, batch), "hd_kv_cache_free")
    cached = hd.hd_transformer_block_cached if as_block else hd.hd_multi_head_attention_cached
    with torch.no_grad():
        expected = t(x)
    at = 0
    while at < n:
        step = p.r.randrange(1, n - at + 1)
        y = p.ok(cached(m, p.tensor(x[:, at:at + step]), c), "cached")
        p.same("tokens %d to %d" % (at, at + step - 1), y, expected[:, at:at + step], modules.OUTPUT, None,
               False, False)
        at += step
        p.equal("hd_kv_cache_len", hd.hd_kv_cache_len(c), at)
        if p.chance(0.2) and at > 1:
            at = p.r.randrange(at)
            p.equal("hd_kv_cache_truncate", hd.hd_kv_cache_truncate(c, at), True)


def any_cache(p):
    """Piece by piece through a cache for any attention: torch.cat of the pieces."""
    hd = p.hd
    batch, heads, length, width = p.pick((1, 2)), p.pick((1, 3)), p.pick((1, 4, 9)), p.pick((1, 2, 8))
    p.say("hd_kv_cache_new_for(%d, %d, %d, %d)" % (batch, heads, length, width))
    c = p.owned(hd.hd_kv_cache_new_for(0, batch, heads, length, width), "hd_kv_cache_free")
    x, y = p.drawn([batch, heads, length, width]), p.drawn([batch, heads, length, width])
    at = 0
    while at < length:
        step = p.r.randrange(1, length - at + 1)
        k, v = (ctypes.c_void_p(p.tensor(t[:, :, at:at + step])) for t in (x, y))
        at += step
        p.equal("hd_kv_cache_update", hd.hd_kv_cache_update(c, ctypes.byref(k), ctypes.byref(v)), True)
        p.same("keys", k.value, x[:, :, :at], 0, None, False, False)
        p.same("values", v.value, y[:, :, :at], 0, None, False, False)


def weights(p):
    hd = p.hd
    m, t, i, n = attention(p)
    p.equal("weights before the first forward", hd.hd_attention_weights(m), hd.none)
    hd.hd_attention_keep_weights(m, True)
    x = p.drawn([2, n, i])
    y = hd.hd_forward(m, p.tensor(x))
    heads = (2, n, t.num_heads, -1)
    with torch.no_grad():
        q, k = (l(x).view(heads).transpose(1, 2) for l in (t.W_query, t.W_key))
        scores = (q @ k.transpose(-2, -1)).masked_fill(t.mask.bool(), -torch.inf)
        expected = torch.softmax(scores / k.shape[-1] ** 0.5, -1)
        p.same("output", y, t(x), modules.OUTPUT, None, False, False)
    p.same("hd_attention_weights", hd.hd_attention_weights(m), expected, modules.OUTPUT, None, False, False)


def plain_attention(p):
    """With hd_set_fused_attention(false) the classes run the lines of PyTorch, with all its nodes."""
    hd = p.hd
    p.say("the fused attention is off")
    hd.hd_set_fused_attention(False)
    p.kept.append(lambda: hd.hd_set_fused_attention(True))
    p.equal("hd_fused_attention", hd.hd_fused_attention(), False)
    m, t = modules.build(p, *(made := modules.heads(p))[:2])
    modules.forward(p, m, t, made[2])


# ---- gradients that are saved

def grads(p):
    hd = p.hd
    m, t = modules.build(p, *(made := modules.heads(p))[:2])
    x = p.tensor(p.drawn(made[2]))
    hd.hd_module_eval(m)
    p.ok(hd.hd_backward(hd.hd_sum(hd.hd_square(hd.hd_forward(m, x)))), "hd_backward")
    d = p.dict()
    p.equal("hd_module_save_grads", hd.hd_module_save_grads(m, d, b"g"), True)
    p.equal("names of gradients", [n for n, _, _ in p.entries(d)],
            ["g." + n for n, q in t.named_parameters()])
    kept = {n: p.read(h) for n, h in p.tensors(d).items()}
    hd.hd_module_zero_grad(m)
    copies = p.dict()
    for n, g in kept.items():
        hd.hd_dict_set(copies, n.encode(), p.tensor(g))
    p.equal("hd_module_load_grads", hd.hd_module_load_grads(m, copies, b"g"), True)
    for n, q in t.named_parameters():
        h = hd.hd_grad(hd.hd_module_get_parameter(m, n.encode()))
        p.same("loaded gradient of " + n, h, kept["g." + n])
