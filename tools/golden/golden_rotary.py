"""Makes rotary.txt: the tables of rotary positions, by the formulas of transformers (modeling_rope_utils.py, and
LlamaRotaryEmbedding).
"""
import math

import torch

from golden_format import plain


def inverse_frequencies(theta, head_dim):
    return 1.0 / (theta ** (torch.arange(0, head_dim, 2, dtype=torch.int64).float() / head_dim))


def llama3(f, factor, low_freq_factor, high_freq_factor, original_max_position_embeddings):
    low, high = (original_max_position_embeddings / x for x in (low_freq_factor, high_freq_factor))
    wave = 2 * math.pi / f
    stretched = torch.where(wave > low, f / factor, f)
    smooth = (original_max_position_embeddings / wave - low_freq_factor) / (high_freq_factor - low_freq_factor)
    mixed = (1 - smooth) * stretched / factor + smooth * stretched
    return torch.where(~(wave < high) & ~(wave > low), mixed, stretched)


def write(w):
    for fields in w.again("cos|sin"):
        given = {name: plain(value) for name, value in fields.items()}
        head_dim, rows = given.pop("head_dim"), fields["rows"]
        f = inverse_frequencies(given.pop("theta"), head_dim)
        options = {name: given[name] for name in given if name not in ("length", "rows", "cos", "sin")}
        f = llama3(f, **options) if options else f
        angles = (f[None, :, None] @ rows.float()[None, None, :]).transpose(1, 2)[0]
        w.tensor("cos", angles.cos())
        w.tensor("sin", angles.sin())
