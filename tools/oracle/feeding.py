"""Compares data: windows, random_split and the loader with torch.utils.data, and the byte and character tokenizers
with their definitions.
"""
import ctypes
import os
import sys

import torch
from torch.utils.data import DataLoader, DistributedSampler, random_split

from binding import ROOT

sys.path.insert(0, os.path.join(ROOT, "tools", "golden"))
from golden_data import GPTDatasetV1  # noqa: E402

def case(p):
    p.pick((loader, loader, loader, rank, split, tokenizer))(p)


def windows(p):
    hd = p.hd
    ids = p.drawn([p.pick((1, 5, 12, 40))], torch.int64, "positive")
    length, stride = p.pick((1, 2, 4)), p.pick((1, 2, 5))
    tokens = p.owned(hd.hd_tokens_from(p.tensor(ids)), "hd_tokens_free")
    p.equal("hd_tokens_len", hd.hd_tokens_len(tokens), len(ids))
    mine = p.owned(hd.hd_windows_new(tokens, length, stride), "hd_dataset_free")
    theirs = GPTDatasetV1(ids, length, stride)
    p.say("windows of %d ids: length %d, stride %d" % (len(ids), length, stride))
    p.equal("hd_dataset_len", hd.hd_dataset_len(mine), len(theirs))
    return mine, theirs


def two(p, call):
    """call(input, target) with out-parameters: (result, input, target)."""
    x, y = ctypes.c_void_p(), ctypes.c_void_p()
    result = call(ctypes.addressof(x), ctypes.addressof(y))
    return result, x.value, y.value


def epochs(p, l, q, begin):
    """Some epochs of heed's loader l beside PyTorch's q; begin(epoch) is called before each."""
    hd = p.hd
    p.seed()
    for epoch in range(p.pick((1, 2, 3))):
        begin(epoch)
        for batch, (x, y) in enumerate(q):
            ok, a, b = two(p, lambda i, j: hd.hd_loader_next(l, i, j))
            p.equal("hd_loader_next", ok, True)
            p.same("input of batch %d" % batch, a, x)
            p.same("target of batch %d" % batch, b, y)
            p.equal("hd_loader_batch", hd.hd_loader_batch(l), batch + 1)
        p.equal("end of epoch", two(p, lambda i, j: hd.hd_loader_next(l, i, j))[0], False)
        p.ok(None, "hd_loader_next")
        p.equal("hd_loader_epoch", hd.hd_loader_epoch(l), epoch + 1)


def loader(p):
    hd = p.hd
    mine, theirs = windows(p)
    o = {"batch_size": p.pick((1, 2, 3, 7)), "shuffle": p.chance(0.6), "drop_last": p.chance(0.4)}
    p.say(repr(o))
    g = t = None
    if p.chance(0.5):
        seed = p.r.randrange(1 << 32)
        g, t = p.owned(hd.hd_generator_new(seed), "hd_generator_free"), torch.Generator().manual_seed(seed)
        p.say("a generator of its own")
    s = hd.options("hd_loader_options", dict(o, generator=g) if g else o)
    h, q = p.agree("hd_loader_new", lambda: hd.hd_loader_new(mine, ctypes.addressof(s)),
                   lambda: DataLoader(theirs, generator=t, **o))
    l = p.owned(h, "hd_loader_free")
    p.equal("hd_loader_len", hd.hd_loader_len(l), len(q))
    epochs(p, l, q, lambda epoch: None)
    p.draws("loader")
    if p.chance(0.5) and len(q) > 1:
        restarted(p, l, q)
    resumed(p, l, mine, s)


def rank(p):
    """One of several ranks, in epochs from the first on."""
    hd = p.hd
    mine, theirs = windows(p)
    o = {"batch_size": p.pick((1, 2, 3)), "drop_last": p.chance(0.4)}
    dealt = {"num_replicas": p.pick((1, 2, 3, 4, 50)), "shuffle": p.chance(0.6),
             "seed": p.r.randrange(-1 << 63, 1 << 63)}
    dealt["rank"] = p.r.randrange(dealt["num_replicas"])
    p.say(repr(dict(o, **dealt)))
    sampler = DistributedSampler(theirs, drop_last=o["drop_last"], **dealt)
    q = DataLoader(theirs, sampler=sampler, **o)
    s = hd.options("hd_loader_options", dict(o, **dealt))
    l = p.owned(hd.hd_loader_new(mine, ctypes.addressof(s)), "hd_loader_free")
    p.equal("hd_loader_len", hd.hd_loader_len(l), len(q))
    epochs(p, l, q, sampler.set_epoch)
    p.draws("loader of a rank")
    resumed(p, l, mine, s)


def restarted(p, l, q):
    """An epoch that is broken off after its first batch; the next one begins with PyTorch's draws."""
    p.seed()
    for _ in range(2):
        x, y = next(iter(q))
        ok, a, b = two(p, lambda i, j: p.hd.hd_loader_next(l, i, j))
        p.same("input after hd_loader_restart", a, x)
        p.equal("hd_loader_restart", p.hd.hd_loader_restart(l), True)


def resumed(p, l, mine, s):
    """A loader that loads the place of another goes on with the same batches."""
    hd = p.hd
    if hd.hd_dataset_len(mine) < 2:
        return
    two(p, lambda i, j: hd.hd_loader_next(l, i, j))
    d = p.dict()
    p.equal("hd_loader_save", hd.hd_loader_save(l, d, b"l"), True)
    other = p.owned(hd.hd_loader_new(mine, ctypes.addressof(s)), "hd_loader_free")
    p.equal("hd_loader_load", hd.hd_loader_load(other, d, b"l"), True)
    while True:
        ok, x, y = two(p, lambda i, j: hd.hd_loader_next(l, i, j))
        also, a, b = two(p, lambda i, j: hd.hd_loader_next(other, i, j))
        p.equal("hd_loader_next after load", also, ok)
        if not ok:
            return
        p.same("input after load", a, p.read(x))
        p.same("target after load", b, p.read(y))


def split(p):
    hd = p.hd
    mine, theirs = windows(p)
    n = len(theirs)
    a = p.r.randrange(n + 1)
    lengths = [a, n - a] if p.chance(0.9) else [a, n]
    p.say("random_split %r" % lengths)
    parts = (ctypes.c_void_p * 2)()
    p.seed()
    array = (ctypes.c_int64 * 2)(*lengths)
    _, q = p.agree("hd_random_split", lambda: hd.hd_random_split(mine, 2, ctypes.addressof(array), None,
                                                                 ctypes.addressof(parts)),
                   lambda: random_split(theirs, lengths))
    for part, subset in zip(parts, q):
        p.kept.append(lambda part=part: hd.hd_dataset_free(part))
        p.equal("length of a part", hd.hd_dataset_len(part), len(subset))
        for i in range(len(subset)):
            ok, x, y = two(p, lambda u, v: hd.hd_dataset_get(part, i, u, v))
            p.same("input of an item", x, subset[i][0], 0, None, False, False)
            p.same("target of an item", y, subset[i][1], 0, None, False, False)
    p.draws("random_split")


LETTERS = "ab cdeXYZ\n.,é☃字😀\t0"


def tokenizer(p):
    hd = p.hd
    text = "".join(p.pick(LETTERS) for _ in range(p.r.randrange(1, 40)))
    data = text.encode()
    p.say("tokenizer of %r" % text)
    if p.chance(0.5):
        t = p.owned(hd.hd_tokenizer_bytes(), "hd_tokenizer_free")
        expected, size = list(data), 256
    else:
        t = p.owned(hd.hd_tokenizer_chars(data, -1), "hd_tokenizer_free")
        chars = sorted(set(text))
        expected, size = [chars.index(c) for c in text], len(chars)
    p.equal("hd_tokenizer_size", hd.hd_tokenizer_size(t), size)
    ids = p.ok(hd.hd_tokenizer_encode(t, data, -1, 2), "hd_tokenizer_encode")
    p.same("ids", ids, torch.tensor(expected))
    p.equal("hd_tokenizer_decode", hd.hd_tokenizer_decode(t, ids, None).decode(), text)
    some = torch.tensor(expected)[p.r.randrange(len(expected)):]
    if size == 256:
        p.equal("part", hd.hd_tokenizer_decode(t, p.tensor(some), None).decode(),
                bytes(some.tolist()).decode(errors="replace"))
    d = p.dict()
    p.equal("hd_tokenizer_save", hd.hd_tokenizer_save(t, d, b"t"), True)
    again = p.owned(hd.hd_tokenizer_load(d, b"t"), "hd_tokenizer_free")
    p.same("ids after load", hd.hd_tokenizer_encode(again, data, -1, 2), torch.tensor(expected))
