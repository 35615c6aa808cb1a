"""Makes layout.txt: the memory layout of an elementwise op's result, and the native draws of dropout and rand_like
there, for operands of any order of dims, some of them broadcast.
"""
import torch

from golden_format import plain


class Draws:
    """Small numbers of a fixed generator, the same in every version: those of arange.txt."""

    def __init__(self):
        self.state = 1

    def below(self, n):
        self.state = self.state * 6364136223846793005 + 1442695040888963407 & (1 << 64) - 1
        return (self.state >> 33) % n


def strides(w, name, y):
    """0 for a dim of size 1, whose stride means nothing."""
    w.ints(f"{name}.strides", [s if n != 1 else 0 for s, n in zip(y.stride(), y.shape)])


def operand(fields, name):
    memory = plain(fields[f"{name}.memory"])
    x = torch.arange(1.0, torch.Size(memory).numel() + 1).reshape(memory)
    return x.permute(plain(fields[f"{name}.permute"])).expand(plain(fields["sizes"]))


def write(w):
    for k, fields in enumerate(w.again(r".*\.strides|rand.*|dropout.*")):
        a, b = operand(fields, "a"), operand(fields, "b")
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
