"""Compares the MCG31 stream of Bernoulli draws and dropout (PyTorch up to 2.6 with MKL): heed's draws with the
published recurrence, and with torch 2.5.1 itself if --torch251 names a Python that has it.
"""
import json
import subprocess

import torch

MODULUS, FACTOR = 2 ** 31 - 1, 1132489760
DRAWS = """
import json, sys, torch
out = []
for seed, n, p, d in json.load(sys.stdin):
    torch.manual_seed(seed)
    t = torch.zeros(n, dtype=getattr(torch, d)).bernoulli_(p)
    y = torch.nn.functional.dropout(torch.ones(n), 1 - p)
    out.append(([int(v) for v in t.tolist()], [int(v != 0) for v in y.tolist()],
                int(torch.randint(0, 1 << 20, ()))))
print(json.dumps(out))
"""


def recurrence(p, n, chance):
    """The n draws after one output of the twister."""
    s = p.hd.hd_generator_random(p.twin)
    x, found = s % MODULUS or 1, []
    for _ in range(n):
        found.append(int(x / MODULUS < chance))
        x = FACTOR * x % MODULUS
    return found


def drawn(p, seed, n, chance, dtype):
    """heed's draws: bernoulli_, dropout's mask, one integer after them."""
    hd = p.hd
    hd.hd_manual_seed(seed)
    h = p.tensor(torch.zeros(n, dtype=dtype))
    first = [int(v) for v in p.read(p.ok(hd.hd_bernoulli_(h, chance), "hd_bernoulli_")).tolist()]
    y = p.ok(hd.hd_dropout(p.tensor(torch.ones(n)), 1 - chance, True), "hd_dropout")
    second = [int(v != 0) for v in p.read(y).tolist()]
    return first, second, hd.hd_generator_random(hd.hd_default_generator()) % (1 << 20)


def use_stream(p):
    """The default generator draws the MCG31 stream, for this case."""
    hd, g = p.hd, p.hd.hd_default_generator()
    hd.hd_generator_set_bernoulli(g, hd.values["HD_BERNOULLI_MCG31"])
    p.kept.append(lambda: hd.hd_generator_set_bernoulli(g, hd.values["HD_BERNOULLI_NATIVE"]))


def case(p):
    hd = p.hd
    seed, n = p.r.randrange(1 << 31), p.pick((1, 2, 7, 64, 65, 1000))
    chance, dtype = p.pick((0.1, 0.5, 0.9)), p.pick((torch.float32, torch.float64, torch.int64))
    p.say("seed %d, %d draws, p %g, %s" % (seed, n, chance, dtype))
    use_stream(p)
    p.twin = p.owned(hd.hd_generator_new(seed), "hd_generator_free")
    first, second, after = drawn(p, seed, n, chance, dtype)
    p.equal("bernoulli_ of the MCG31 stream", first, recurrence(p, n, chance))
    p.equal("dropout of the MCG31 stream", second, recurrence(p, n, chance))
    p.equal("the twister after them", after, hd.hd_generator_random(p.twin) % (1 << 20))


def beside_251(p, python, n):
    """The draws of n seeds from torch 2.5.1 itself."""
    cases = [(p.r.randrange(1 << 31), p.pick((1, 7, 64, 1000)), p.pick((0.1, 0.5, 0.9)),
              p.pick(("float32", "float64", "int64"))) for _ in range(n)]
    answer = subprocess.run([python, "-c", DRAWS], input=json.dumps(cases), capture_output=True,
                            text=True, check=True).stdout
    use_stream(p)
    for (seed, count, chance, d), theirs in zip(cases, json.loads(answer)):
        p.say("seed %d, %d draws, p %g, %s" % (seed, count, chance, d))
        p.equal("torch 2.5.1's draws", list(drawn(p, seed, count, chance, getattr(torch, d))), theirs)
        p.said.pop()
