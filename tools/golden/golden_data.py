"""Makes data.txt: the batches of torch.utils.data.DataLoader, those that DistributedSampler deals to ranks, and the
parts of random_split, with the states of the generators afterwards; the windows of the book's GPTDatasetV1; and the
batches of its custom_collate_fn.
"""
import itertools

import torch
from torch.utils.data import DataLoader, Dataset, DistributedSampler, TensorDataset, random_split

from golden_format import plain

EPOCHS = 3
DEALT_EPOCHS = (0, 1, 1000)     # with several ranks
FLAGS = ("shuffle", "drop_last")


def upcoming(generator):
    """the low 63 bits of the generator's next random64, which stays in it"""
    copy = torch.Generator()
    copy.set_state(generator.get_state())
    return int(torch.empty((), dtype=torch.int64).random_(generator=copy))


def loader_case(w, o):
    torch.manual_seed(123)
    generator = torch.Generator().manual_seed(456) if o["own"] else None
    loader = DataLoader(TensorDataset(torch.arange(o["n"])), batch_size=o["batch_size"], shuffle=o["shuffle"],
                        drop_last=o["drop_last"], generator=generator)
    w.ints("len", len(loader))
    for epoch in range(EPOCHS):
        items, counts, defaults, owns = [], [], [], []
        for (batch,) in itertools.chain(iter(loader), [(torch.empty(0, dtype=torch.int64),)]):
            items += batch.tolist()
            counts.append(len(batch))  # 0 at last: the end was found
            defaults.append(upcoming(torch.default_generator))
            owns.append(upcoming(generator) if generator else 0)
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


def replicas_case(w, o):
    ranks = [rank_epochs(o, rank) for rank in range(o["num_replicas"])]
    _, counts, defaults = ranks[0]
    for rank in ranks:
        assert rank[1:] == (counts, defaults) and rank[1] == [counts[0]] * len(DEALT_EPOCHS)
    w.ints("counts", counts[0])
    w.ints("default", defaults)
    w.ints("items", [rank[0] for rank in ranks])


def split_case(w, o):
    torch.manual_seed(123)
    generator = torch.Generator().manual_seed(456) if o["own"] else torch.default_generator
    parts = random_split(range(o["n"]), o["lengths"], generator=generator)
    w.ints("items", [i for part in parts for i in part.indices])
    w.ints("next", upcoming(generator))


class GPTDatasetV1(Dataset):
    """listing 2.5 of Raschka, Build a Large Language Model (From Scratch)"""

    def __init__(self, ids, max_length, stride):
        self.pairs = [(ids[i:i + max_length], ids[i + 1:i + max_length + 1])
                      for i in range(0, len(ids) - max_length, stride)]

    def __len__(self):
        return len(self.pairs)

    def __getitem__(self, i):
        return self.pairs[i]


def windows_case(w, o):
    windows = GPTDatasetV1(o["tokens"], o["max_length"], o["stride"])
    w.ints("len", len(windows))
    w.ints("inputs", sum((x for x, _ in windows.pairs), []))
    w.ints("targets", sum((y for _, y in windows.pairs), []))


def learnt_targets(text, longest, prompt, marks, end):
    """Which targets are learnt. After a prompt the end token is learnt once. Marks say it for each token, and the
    end token that is added is learnt if the last token is, and is not an end token itself."""
    padded = text + [end] * (longest - len(text))
    if marks is None:
        learnt = [k >= prompt for k in range(longest)]
        ends = [k for k in range(1, longest) if learnt[k] and padded[k] == end]
        return [learnt[k] and k not in ends[1:] for k in range(1, longest)]
    added = len(text) > 0 and marks[-1] and text[-1] != end
    return (list(marks) + [added] + [False] * longest)[1:longest]


def collate(texts, prompts, marks, pad_token_id, ignore_index, allowed_max_length):
    """custom_collate_fn of listing 7.5, and of exercise 7.2, of the same book, which also learns the end of an answer
    whose prompt has an end token; 0: no prompt, any length"""
    longest = max(len(text) for text in texts) + 1
    rows = []
    for text, prompt, own in zip(texts, prompts, marks):
        padded = torch.tensor(text + [pad_token_id] * (longest - len(text)))
        learnt = torch.tensor(learnt_targets(text, longest, prompt, own, pad_token_id), dtype=torch.bool)
        rows.append((padded[:-1], padded[1:].where(learnt, ignore_index)))
    cut = allowed_max_length or longest
    return [torch.stack(column)[:, :cut] for column in zip(*rows)]


def pad_case(w, o):
    ids, learnt, texts, marks = iter(o["tokens"]), iter(o.get("learnt", [])), [], []
    for n in o["lengths"]:
        texts.append(list(itertools.islice(ids, n)))
        marks.append(list(itertools.islice(learnt, n)) if "learnt" in o else None)
    inputs, targets = collate(texts, o["prompts"], marks, o["pad_token_id"], o["ignore_index"],
                              o["allowed_max_length"])
    w.ints("shape", list(inputs.shape))
    w.ints("inputs", inputs.flatten().tolist())
    w.ints("targets", targets.flatten().tolist())


def write(w):
    for case, start, results in ((loader_case, "loader_", r"len|(items|counts|default|own)\d"),
                                 (replicas_case, "replicas_", "counts|default|items"),
                                 (split_case, "split_", "items|next"),
                                 (windows_case, "windows_", "len|inputs|targets"),
                                 (pad_case, "pad_", "shape|inputs|targets")):
        for fields in w.again(results, start):
            case(w, {field: bool(x) if field in FLAGS else plain(x) for field, x in fields.items()})
