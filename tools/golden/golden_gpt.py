"""Makes gpt.txt and gpt_mcg31.txt: the book's GPT, trained for 50 steps from a seed; and the 124M one's initial
weights and logits. The classes are those of "Build a Large Language Model (From Scratch)", written again with its
names, so that seeds, dropout and state_dicts mean the same.
"""
import os

import numpy
import torch
from torch import nn
from torch.utils.data import DataLoader

from golden_attention import FeedForward, MultiHeadAttention, TransformerBlock
from golden_data import GPTDatasetV1

TEXT = os.path.join(os.path.dirname(__file__), "..", "..", "tests", "golden", "gpt_text.txt")

SMALL = dict(vocab_size=65, context_length=32, emb_dim=64, n_heads=4, n_layers=2, drop_rate=0.1,
             qkv_bias=False)
GPT2 = dict(vocab_size=50257, context_length=1024, emb_dim=768, n_heads=12, n_layers=12,
            drop_rate=0.1, qkv_bias=False)


class LayerNorm(nn.Module):
    def __init__(self, emb_dim):
        super().__init__()
        self.eps = 1e-5
        self.scale = nn.Parameter(torch.ones(emb_dim))
        self.shift = nn.Parameter(torch.zeros(emb_dim))

    def forward(self, x):
        mean = x.mean(dim=-1, keepdim=True)
        var = x.var(dim=-1, keepdim=True, unbiased=False)
        return self.scale * ((x - mean) / torch.sqrt(var + self.eps)) + self.shift


class GELU(nn.Module):
    def forward(self, x):
        inner = torch.sqrt(torch.tensor(2.0 / torch.pi)) * (x + 0.044715 * torch.pow(x, 3))
        return 0.5 * x * (1 + torch.tanh(inner))


class KeysFirst(MultiHeadAttention):
    """The book's order of layers, on which the rounding of gradients depends."""

    def forward(self, x):
        k, q, v = (self.heads(layer, x) for layer in (self.W_key, self.W_query, self.W_value))
        return self.joined(q, k, v)


def block(cfg):
    d, rate = cfg["emb_dim"], cfg["drop_rate"]
    att = KeysFirst(d, d, cfg["context_length"], rate, cfg["n_heads"], cfg["qkv_bias"])
    return TransformerBlock(att, FeedForward(d, 4 * d, GELU()), LayerNorm(d), LayerNorm(d), rate)


class GPTModel(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        d = cfg["emb_dim"]
        self.tok_emb = nn.Embedding(cfg["vocab_size"], d)
        self.pos_emb = nn.Embedding(cfg["context_length"], d)
        self.drop_emb = nn.Dropout(cfg["drop_rate"])
        self.trf_blocks = nn.Sequential(*[block(cfg) for _ in range(cfg["n_layers"])])
        self.final_norm = LayerNorm(d)
        self.out_head = nn.Linear(d, cfg["vocab_size"], bias=False)

    def forward(self, in_idx):
        n = in_idx.shape[1]
        x = self.drop_emb(self.tok_emb(in_idx) + self.pos_emb(torch.arange(n)))
        return self.out_head(self.final_norm(self.trf_blocks(x)))


def token_ids(vocab_size):
    with open(TEXT, encoding="utf-8") as f:
        text = f.read()
    chars = sorted(set(text))
    assert len(chars) <= vocab_size, len(chars)
    return [chars.index(c) for c in text]


def train(w):
    """50 steps: batch 4, windows of 32 with stride 16, shuffled, AdamW lr 4e-4, weight decay 0.1"""
    ids = token_ids(SMALL["vocab_size"])
    torch.manual_seed(123)
    model = GPTModel(SMALL)
    optim = torch.optim.AdamW(model.parameters(), lr=4e-4, weight_decay=0.1)
    loader = DataLoader(GPTDatasetV1(torch.tensor(ids), 32, 16), batch_size=4, shuffle=True, drop_last=True)
    losses = []
    model.train()
    while len(losses) < 50:
        for x, y in loader:
            optim.zero_grad()
            loss = nn.functional.cross_entropy(model(x).flatten(0, 1), y.flatten())
            loss.backward()
            optim.step()
            losses.append(loss.item())
            if len(losses) == 50:
                break
    w.case("train")
    w.ints("windows", len(loader.dataset))
    w.ints("tokens", len(ids))
    w.floats("losses", losses)
    w.text("names", " ".join(model.state_dict()))


def checksum(t):
    """sum over the 32-bit words of word i times (2 i + 1), modulo 2^64, as int64"""
    words = t.detach().contiguous().numpy().view(numpy.uint32).ravel().astype(numpy.uint64)
    odd = numpy.arange(words.size, dtype=numpy.uint64) * numpy.uint64(2) + numpy.uint64(1)
    with numpy.errstate(over="ignore"):
        return int((words * odd).sum(dtype=numpy.uint64).astype(numpy.int64))


def gpt2(w):
    torch.manual_seed(123)
    model = GPTModel(GPT2)
    model.eval()
    w.case("gpt2")
    for name, p in model.named_parameters():
        w.ints("sum." + name, checksum(p))
    tokens = torch.tensor([[6109, 3626, 6100, 345], [6109, 1110, 6622, 257]])
    with torch.no_grad():
        logits = model(tokens)
    w.tensor("tokens", tokens)
    w.tensor("logits", logits[:, -1, ::997].contiguous())


def write(w):
    train(w)
    if w.name == "gpt.txt":     # and not for the other stream
        gpt2(w)
