"""Makes rng.txt and rng_mcg31.txt: the random streams, bit for bit."""
import torch

from golden_format import DTYPES, plain

RESULTS = r"out.*|next"


def apply_view(t, view):
    for step in filter(None, view.split("; ")):
        name, *numbers = step.split()
        n = [int(x) for x in numbers]
        if name == "slice":
            index = [slice(None)] * t.dim()
            index[n[0]] = slice(n[1], n[2], n[3])
            t = t[tuple(index)]
        elif name == "permute":
            t = t.permute(*n)
        else:
            t = getattr(t, name)(*n)
    return t


def next_draw(w):
    """The generator's next output, without the top bit."""
    w.ints("next", torch.empty((), dtype=torch.int64).random_().item())


def call(op, fields):
    args, dtype = plain(fields["args"]) if "args" in fields else (), DTYPES[fields["dtype"]]
    sizes = plain(fields["sizes"]) if "sizes" in fields else ()
    if op in ("rand", "randn"):
        return getattr(torch, op)(sizes, dtype=dtype)
    if op == "randint":
        return torch.randint(plain(fields["lo"]), plain(fields["hi"]), sizes, dtype=dtype)
    if op == "randperm":
        return torch.randperm(int(args[0]))
    if "in" not in fields:
        base = torch.zeros(sizes, dtype=dtype)
        getattr(apply_view(base, fields.get("view", "")), op)(*args)
        return base
    x = apply_view(fields["in"], fields.get("in.view", ""))
    if op == "multinomial":
        return torch.multinomial(x, int(args[0]), bool(args[1]))
    if op == "dropout":
        return torch.nn.functional.dropout(x, args[0], training=True)
    return torch.bernoulli(x)


def write(w):
    for fields in w.again(RESULTS):
        if "seed" in fields:
            torch.manual_seed(plain(fields["seed"]))
        w.stream("out", call(fields["op"], fields))
        next_draw(w)
