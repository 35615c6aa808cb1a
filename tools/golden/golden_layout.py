"""layout.txt: where an elementwise op's result lies in memory, and what the native dropout and
rand_like draw there, for operands of any order of dims, some of them broadcast."""
import torch


class Draws:
    """Small numbers of a fixed generator, the same in every version."""

    def __init__(self):
        self.state = 1

    def below(self, n):
        self.state = self.state * 6364136223846793005 + 1442695040888963407 & (1 << 64) - 1
        return (self.state >> 33) % n


def shuffled(draws, n):
    order = list(range(n))
    for i in range(n - 1, 0, -1):
        k = draws.below(i + 1)
        order[i], order[k] = order[k], order[i]
    return order


def operand(w, draws, name, sizes):
    """Of these sizes: a dense tensor, its dims permuted, then some of them expanded."""
    order = shuffled(draws, len(sizes)) if draws.below(4) else list(range(len(sizes)))
    shown = [1 if draws.below(5) == 0 else n for n in sizes]
    memory = [shown[d] for d in order]
    permute = [order.index(d) for d in range(len(sizes))]
    w.ints(f"{name}.memory", memory)
    w.ints(f"{name}.permute", permute)
    x = torch.arange(1.0, torch.Size(memory).numel() + 1).reshape(memory)
    return x.permute(permute).expand(sizes)


def strides(w, name, y):
    """0 for a dim of size 1, whose stride means nothing."""
    w.ints(f"{name}.strides", [s if n != 1 else 0 for s, n in zip(y.stride(), y.shape)])


def write(w):
    draws = Draws()
    for k in range(120):
        w.case(f"layout_{k}")
        sizes = [1 + draws.below(4) for _ in range(2 + draws.below(3))]
        w.ints("sizes", sizes)
        a, b = operand(w, draws, "a", sizes), operand(w, draws, "b", sizes)
        strides(w, "exp", a.exp())
        strides(w, "add", a + b)
        strides(w, "gt", b > a)
        strides(w, "where", torch.where(a > b, b, a))
        torch.manual_seed(k)
        strides(w, "rand_like", torch.rand_like(a))
        w.tensor("rand_like", torch.rand_like(a))
        w.tensor("randn_like", torch.randn_like(a))
        torch.manual_seed(k)
        w.tensor("dropout", torch.nn.functional.dropout(a, 0.5))
        w.tensor("dropout_add", torch.nn.functional.dropout(a + b, 0.5))
