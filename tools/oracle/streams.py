"""Compares random streams: generators, their seeds and saved states, and torch.nn.init. Every draw and the generator's
position after it must agree in all bits.
"""
import torch
from torch import nn

import values
from binding import int64s

INIT = 2e-6     # orthogonal_ alone is compared to this


def case(p):
    p.pick((init, init, generator, mixture))(p)


def generator(p):
    """A generator of its own: raw draws, then a saved state that goes on."""
    hd, seed = p.hd, p.pick((0, 1, -1, 123, 1 << 40, -(1 << 62), p.r.randrange(-(1 << 63), 1 << 63)))
    p.say("generator %d" % seed)
    g = p.owned(hd.hd_generator_new(seed), "hd_generator_free")
    hd.hd_generator_set_bernoulli(g, hd.values["HD_BERNOULLI_NATIVE"])
    t = torch.Generator().manual_seed(seed)
    for _ in range(p.pick((1, 5, 40, 630))):
        hd.hd_generator_random(g)
        torch.randint(0, 9, (), generator=t)
    p.equal("random", hd.hd_generator_random(g) % (1 << 20), int(torch.randint(0, 1 << 20, (), generator=t)))
    if p.chance(0.3):
        again = p.r.randrange(1 << 40)
        p.equal("hd_generator_seed", hd.hd_generator_seed(g, again), True)
        t.manual_seed(again)
    wide = hd.hd_generator_random64(g)
    p.equal("random64", wide % (1 << 63), int(torch.empty((), dtype=torch.int64).random_(generator=t)))
    p.equal("hd_generator_bernoulli", hd.hd_generator_bernoulli(g), hd.values["HD_BERNOULLI_NATIVE"])
    hd.hd_generator_use(g)
    p.kept.append(lambda: hd.hd_generator_use(None))
    n = p.pick((1, 2, 15, 16, 17, 40))
    p.same("randn", hd.hd_randn_n(0, 1, int64s([n])), torch.randn(n, generator=t))
    saved_goes_on(p, g, t)


def saved_goes_on(p, g, t):
    """A state that is saved and loaded into another generator draws the same numbers."""
    hd = p.hd
    d = p.dict()
    p.equal("hd_generator_save", hd.hd_generator_save(g, d, b"g"), True)
    other = p.owned(hd.hd_generator_new(7), "hd_generator_free")
    p.equal("hd_generator_load", hd.hd_generator_load(other, d, b"g"), True)
    hd.hd_generator_use(other)
    p.same("normal_ after load", hd.hd_randn_n(1, 1, int64s([3])),
           torch.randn(3, generator=t, dtype=torch.float64))
    p.same("randperm after load", hd.hd_randperm(11), torch.randperm(11, generator=t))
    hd.hd_generator_use(None)


def mixture(p):
    """Several kinds of draws one after the other from the default generator: the spare normal stays."""
    hd = p.hd
    p.seed()
    for _ in range(p.r.randrange(2, 9)):
        n, d = p.pick((1, 3, 15, 16, 33)), p.pick(values.FLOATS)
        kind = p.pick(("rand", "randn", "randint", "randperm", "bernoulli", "normal", "exponential", "dropout"))
        p.say("%s(%d) %s" % (kind, n, d))
        code, size = values.NUMBER[d], int64s([n])
        x = p.drawn([n], d) if kind == "dropout" else torch.zeros(n, dtype=d)
        h = p.tensor(x)
        mine, theirs = {
            "rand": (lambda: hd.hd_rand_n(code, 1, size), lambda: torch.rand(n, dtype=d)),
            "randn": (lambda: hd.hd_randn_n(code, 1, size), lambda: torch.randn(n, dtype=d)),
            "randint": (lambda: hd.hd_randint_n(2, -5, 1000, 1, size), lambda: torch.randint(-5, 1000, (n,))),
            "randperm": (lambda: hd.hd_randperm(n), lambda: torch.randperm(n)),
            "dropout": (lambda: hd.hd_dropout(h, 0.3, True), lambda: nn.functional.dropout(x, 0.3)),
            "bernoulli": (lambda: hd.hd_bernoulli_(h, 0.4), lambda: x.bernoulli_(0.4)),
            "normal": (lambda: hd.hd_normal_(h, 1.5, 0.5), lambda: x.normal_(1.5, 0.5)),
            "exponential": (lambda: hd.hd_exponential_(h, 2.0), lambda: x.exponential_(2.0)),
        }[kind]
        p.same(kind, mine(), theirs(), INIT if kind == "exponential" else 0)
    p.draws("mixture")


def init(p):
    """One function of torch.nn.init on a tensor, sometimes a transposed one."""
    hd = p.hd
    shape = [p.pick((1, 2, 3, 5, 16, 17)) for _ in range(p.pick((1, 2, 2, 2, 3)))]
    d = p.pick((torch.float32, torch.float32, torch.float64))
    x = torch.zeros(shape, dtype=d)
    h = p.tensor(x)
    if len(shape) > 1 and p.chance(0.2):
        h, x = hd.hd_transpose(h, 0, 1), x.transpose(0, 1)
    name, mine, theirs = the_init(p, h, x)
    p.say("%s of %r %s" % (name, list(x.shape), d))
    p.seed()
    got = p.agree(name, mine, theirs)
    p.equal(name + " returns x", got[0], h)
    tolerance = 4e-5 if name.startswith("orthogonal") else 0
    p.same(name.split("(")[0], h, x, tolerance, 1.0)
    p.draws(name)


def the_init(p, h, x):
    hd, ni = p.hd, nn.init
    a, b = sorted((round(p.r.gauss(0, 1), 2), round(p.r.gauss(0, 1), 2)))
    gain, mode = p.pick((1.0, 0.5, 5 / 3)), p.pick((0, 1))
    text = p.pick(("relu", "leaky_relu", "linear", "tanh", "sigmoid", "selu", "conv2d", "no such"))
    slope = p.pick((0.0, 0.01, 0.2))
    fan = ("fan_in", "fan_out")[mode]
    std = p.pick((1.0, 0.02, 0.5))
    low, high = p.pick(((-2.0, 2.0), (-0.1, 0.3), (0.5, 3.0), (2.5, 4.0)))
    return p.pick((
        ("uniform_(%g, %g)" % (a, b), lambda: hd.hd_init_uniform_(h, a, b), lambda: ni.uniform_(x, a, b)),
        ("normal_(%g, %g)" % (a, std), lambda: hd.hd_init_normal_(h, a, std), lambda: ni.normal_(x, a, std)),
        ("constant_(%g)" % a, lambda: hd.hd_init_constant_(h, a), lambda: ni.constant_(x, a)),
        ("ones_", lambda: hd.hd_init_ones_(h), lambda: ni.ones_(x)),
        ("zeros_", lambda: hd.hd_init_zeros_(h), lambda: ni.zeros_(x)),
        ("trunc_normal_(%g, %g, %g, %g)" % (a, std, low, high),
         lambda: hd.hd_init_trunc_normal_(h, a, std, low, high),
         lambda: ni.trunc_normal_(x, a, std, low, high)),
        ("xavier_uniform_", lambda: hd.hd_init_xavier_uniform_(h, gain), lambda: ni.xavier_uniform_(x, gain)),
        ("xavier_normal_", lambda: hd.hd_init_xavier_normal_(h, gain), lambda: ni.xavier_normal_(x, gain)),
        ("kaiming_uniform_(%g, %s, %s)" % (slope, fan, text),
         lambda: hd.hd_init_kaiming_uniform_(h, slope, mode, text.encode()),
         lambda: ni.kaiming_uniform_(x, slope, fan, text)),
        ("kaiming_normal_(%g, %s, %s)" % (slope, fan, text),
         lambda: hd.hd_init_kaiming_normal_(h, slope, mode, text.encode()),
         lambda: ni.kaiming_normal_(x, slope, fan, text)),
        ("orthogonal_", lambda: hd.hd_init_orthogonal_(h, gain), lambda: ni.orthogonal_(x, gain)),
        ("calculate_gain(%s)" % text, lambda: gain_agrees(p, text, slope, h), lambda: gain_of(text, slope, x)),
    ))


def gain_agrees(p, text, slope, h):
    got = p.hd.hd_calculate_gain(text.encode(), slope)
    if got == got:
        p.equal("hd_calculate_gain", got, float(nn.init.calculate_gain(text, slope)))
    return h


def gain_of(text, slope, x):
    nn.init.calculate_gain(text, slope)
    return x
