"""data.txt: the batches of torch.utils.data.DataLoader, those that DistributedSampler deals to ranks,
and the parts of random_split, with what is left in the generators; and the windows of the book's GPTDatasetV1, spelled out here."""
import itertools

import torch
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset, random_split

SIZES = (1, 2, 7, 12, 100)
BATCHES = (1, 3, 4, 12, 150)
EPOCHS = 3

# with several ranks
DEALT_SIZES = (0, 1, 3, 7, 10, 16, 25)
DEALT_RANKS = (1, 2, 3, 4, 8)
DEALT_BATCHES = (2, 3)
DEALT_SEEDS = (0, -1, 2**63 - 1)
DEALT_EPOCHS = (0, 1, 1000)


def upcoming(generator):
    """the low 63 bits of the generator's next random64, which stays in it"""
    copy = torch.Generator()
    copy.set_state(generator.get_state())
    return int(torch.empty((), dtype=torch.int64).random_(generator=copy))


def loader_case(w, name, n, batch_size, shuffle, drop_last, own):
    torch.manual_seed(123)
    generator = torch.Generator().manual_seed(456) if own else None
    loader = DataLoader(TensorDataset(torch.arange(n)), batch_size=batch_size, shuffle=shuffle,
                        drop_last=drop_last, generator=generator)
    w.case(name)
    w.ints("n", n)
    w.ints("batch_size", batch_size)
    w.ints("shuffle", shuffle)
    w.ints("drop_last", drop_last)
    w.ints("own", own)
    w.ints("len", len(loader))
    for epoch in range(EPOCHS):
        items, counts, defaults, owns = [], [], [], []
        iterator = iter(loader)
        for (batch,) in itertools.chain(iterator, [(torch.empty(0, dtype=torch.int64),)]):
            items += batch.tolist()
            counts.append(len(batch))  # 0 at last: the end was found
            defaults.append(upcoming(torch.default_generator))
            owns.append(upcoming(generator) if own else 0)
        w.ints(f"items{epoch}", items)
        w.ints(f"counts{epoch}", counts)
        w.ints(f"default{epoch}", defaults)
        w.ints(f"own{epoch}", owns)


def rank_epochs(o, rank):
    """For one rank: its items in all epochs, the sizes of the batches of each, and the default
    generator's next random64 in each, which must be the same after every call."""
    torch.manual_seed(123)
    data = TensorDataset(torch.arange(o["n"]))
    sampler = DistributedSampler(data, o["num_replicas"], rank, shuffle=o["shuffle"],
                                 seed=o["seed"], drop_last=o["drop_last"])
    loader = DataLoader(data, batch_size=o["batch_size"], sampler=sampler,
                        drop_last=o["drop_last"])
    items, counts, defaults = [], [], []
    for epoch in DEALT_EPOCHS:
        sampler.set_epoch(epoch)
        iterator, sizes, after = iter(loader), [], set()
        for (batch,) in itertools.chain(iterator, [(torch.empty(0, dtype=torch.int64),)]):
            items += batch.tolist()
            sizes.append(len(batch))
            after.add(upcoming(torch.default_generator))
        counts.append(sizes)
        defaults += after
        assert len(after) == 1 and len(loader) == len(sizes) - 1
    return items, counts, defaults


def replicas_case(w, name, o):
    ranks = [rank_epochs(o, rank) for rank in range(o["num_replicas"])]
    _, counts, defaults = ranks[0]
    for rank in ranks:
        assert rank[1:] == (counts, defaults) and rank[1] == [counts[0]] * len(DEALT_EPOCHS)
    w.case(name)
    for option in o:
        w.ints(option, o[option])
    w.ints("counts", counts[0])
    w.ints("default", defaults)
    w.ints("items", [rank[0] for rank in ranks])


def split_case(w, name, n, lengths, own):
    torch.manual_seed(123)
    generator = torch.Generator().manual_seed(456) if own else torch.default_generator
    parts = random_split(range(n), lengths, generator=generator)
    w.case(name)
    w.ints("n", n)
    w.ints("own", own)
    w.ints("lengths", lengths)
    w.ints("items", [i for part in parts for i in part.indices])
    w.ints("next", upcoming(generator))


def windows_case(w, name, count, max_length, stride):
    """listing 2.5 of Raschka, Build a Large Language Model (From Scratch)"""
    token_ids = [i * 31 % 1009 for i in range(count)]
    inputs, targets = [], []
    for i in range(0, len(token_ids) - max_length, stride):
        inputs.append(token_ids[i:i + max_length])
        targets.append(token_ids[i + 1:i + max_length + 1])
    w.case(name)
    w.ints("tokens", token_ids)
    w.ints("max_length", max_length)
    w.ints("stride", stride)
    w.ints("len", len(inputs))
    w.ints("inputs", sum(inputs, []))
    w.ints("targets", sum(targets, []))


def write(w):
    flags = (False, True)
    for n, batch_size, shuffle, drop_last, own in itertools.product(
            SIZES, BATCHES, flags, flags, flags):
        if n == 100 and batch_size not in (4, 12, 150) or n < 100 < batch_size:
            continue
        name = f"loader_{n}_{batch_size}_{shuffle:d}{drop_last:d}{own:d}"
        loader_case(w, name, n, batch_size, shuffle, drop_last, own)
    names = ("n", "num_replicas", "batch_size", "shuffle", "drop_last")
    for i, values in enumerate(itertools.product(
            DEALT_SIZES, DEALT_RANKS, DEALT_BATCHES, flags, flags)):
        o = dict(zip(names, values), seed=DEALT_SEEDS[i % len(DEALT_SEEDS)])
        replicas_case(w, "replicas_{}_{}_{}_{:d}{:d}".format(*values), o)
    for n, lengths in ((1, [1]), (10, [3, 7]), (10, [0, 10, 0]), (100, [90, 5, 5])):
        for own in flags:
            split_case(w, f"split_{n}_{len(lengths)}_{own:d}", n, lengths, own)
    for count, max_length, stride in itertools.product(
            (0, 1, 4, 5, 6, 9, 33), (1, 4), (1, 3, 4, 7)):
        windows_case(w, f"windows_{count}_{max_length}_{stride}", count, max_length, stride)
