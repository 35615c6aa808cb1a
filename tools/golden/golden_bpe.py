"""Makes tests/golden/bpe_vocab.json, bpe_merges.txt and bpe.txt.

usage: python tools/golden/golden_bpe.py OUTDIR

Trains a small byte-level BPE with the package tokenizers (0.23), in GPT-2's files; gives the same
merges to tiktoken (0.14) with GPT-2's pattern; and writes, as hashes, the ids that tiktoken makes
of random Unicode strings and the texts that it makes of random ids. The package tokenizers encodes
every string too, and must agree. tests/data/test_bpe.c makes the same strings.
"""
import json
import os
import random
import sys

import tiktoken
import tokenizers
from tiktoken_ext.openai_public import r50k_pat_str

END = "<|endoftext|>"
STRINGS, LONG, DECODED, CHUNK = 12000, 12, 2000, 100
MASK = 2**64 - 1

RANGES = [(97, 122), (97, 122), (65, 90), (48, 57), (32, 32), (33, 47), (9, 13), (0, 0x7F),
          (0x80, 0xFF), (0x370, 0x52F), (0x5D0, 0x6FF), (0x900, 0xDFF), (0x2000, 0x206F),
          (0x2070, 0x218F), (0x3000, 0x30FF), (0x4E00, 0x4FFF), (0xAC00, 0xAFFF),
          (0x1F300, 0x1F6FF), (0, 0xFFFF), (0, 0x10FFFF)]
LITERALS = [" ", "  ", "\n", "\r\n", "\t\t", "'s", "'re", "'ll", "'S", " '", "the", " the", "ing",
            END, "<|endof", "\u00A0", "\u3000 ", " 1st"]


class SplitMix:
    """Steele, Lea and Flood 2014: splitmix64"""

    def __init__(self, seed):
        self.state = seed

    def below(self, n):
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        return (z ^ (z >> 31)) % n


def piece(r):
    k = r.below(len(RANGES) + 3)
    if k >= len(RANGES):
        return LITERALS[r.below(len(LITERALS))]
    low, high = RANGES[k]
    text = ""
    for _ in range(1 + r.below(6)):
        code = low + r.below(high - low + 1)
        text += chr(code ^ 0x2000 if 0xD800 <= code < 0xE000 else code)  # no surrogates
    return text


def string(number):
    r = SplitMix(number)
    return "".join(piece(r) for _ in range(r.below(16)))


def long_string(number):
    r = SplitMix(10**6 + number)
    if number % 3 == 2:
        return "".join(piece(r) for _ in range(3000))
    part = "".join(piece(r) for _ in range(1 + number % 3))
    return part * (20000 // max(1, len(part)))


def corpus():
    """Words of a small language by Zipf's law, numbers, code, and strings of the test's kind."""
    r = random.Random(1)
    syllables = ["ka", "to", "the", "ing", "er", "an", "mi", "s", "re", "on", "в", "но", "ст", "가", "나",
                 "中", "文", "é", "ß", "α"]
    words = ["".join(r.choices(syllables, k=r.randint(1, 4))) for _ in range(400)]
    weights = [1 / (i + 1) for i in range(len(words))]
    for i in range(4000):
        line = " ".join(r.choices(words, weights, k=10))
        if i % 4 == 0:
            line += f" it's we're they'll {r.randint(0, 2000)}\n    return x[{i % 50}];\n\n"
        yield line
    for i in range(2000):
        yield string(2 * 10**6 + i)


def fnv(values):
    """FNV-1a over the values as little-endian int64, as an int64"""
    h = 0xCBF29CE484222325
    for byte in b"".join(v.to_bytes(8, "little") for v in values):
        h = ((h ^ byte) * 0x100000001B3) & MASK
    return h - 2**64 if h >= 2**63 else h


def train(folder):
    """vocab.json with GPT-2's escapes and <|endoftext|> last; merges.txt; the merges"""
    bpe = tokenizers.ByteLevelBPETokenizer()
    bpe.train_from_iterator(corpus(), vocab_size=1200, min_frequency=2, special_tokens=[],
                            show_progress=False)
    bpe.save_model(folder, "bpe")
    path = os.path.join(folder, "bpe-vocab.json")
    with open(path, encoding="utf-8") as f:
        vocab = json.load(f)
    os.remove(path)
    vocab = dict(sorted(vocab.items(), key=lambda item: item[1]))
    vocab[END] = len(vocab)
    with open(os.path.join(folder, "bpe_vocab.json"), "w", encoding="ascii") as f:
        json.dump(vocab, f)
    os.replace(os.path.join(folder, "bpe-merges.txt"), os.path.join(folder, "bpe_merges.txt"))
    return bpe, vocab


def tiktoken_of(vocab):
    """The tokens as bytes, ranked as in the vocabulary: bytes first, then the merges in order."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [b for b in range(256) if b not in printable]
    byte_of = {chr(b): b for b in printable} | {chr(256 + i): b for i, b in enumerate(others)}
    ranks = {bytes(byte_of[c] for c in token): i for token, i in vocab.items() if token != END}
    return tiktoken.Encoding("test", pat_str=r50k_pat_str, mergeable_ranks=ranks,
                             special_tokens={END: vocab[END]})


def main(folder):
    bpe, vocab = train(folder)
    encoding = tiktoken_of(vocab)
    lines = [f"# tiktoken {tiktoken.__version__}, tokenizers {tokenizers.__version__}",
             "# python tools/golden/golden_bpe.py tests/golden"]

    def ints(field, values):
        lines.append(f"bpe/{field} i64 ({len(values)}) " + " ".join(map(str, values)))

    strings = [string(i) for i in range(STRINGS)] + [long_string(i) for i in range(LONG)]
    ordinary = [encoding.encode_ordinary(s) for s in strings]
    differ = [s for s, ids in zip(strings, ordinary) if bpe.encode(s).ids != ids]
    print(len(strings), "strings,", len(differ), "encoded otherwise by tokenizers", file=sys.stderr)
    assert not differ, differ[:3]
    assert all(encoding.decode(ids) == s for s, ids in zip(strings, ordinary))
    ints("size", [len(vocab)])
    ints("allowed", [fnv(encoding.encode(s, allowed_special="all")) for s in strings])
    ints("ordinary", [fnv(sum(ordinary[i:i + CHUNK], [])) for i in range(0, len(strings), CHUNK)])

    decoded = []
    for i in range(DECODED):
        r = SplitMix(3 * 10**6 + i)
        ids = [r.below(256 if r.below(2) else len(vocab)) for _ in range(r.below(13))]
        decoded.append(fnv([*encoding.decode(ids, errors="replace").encode()]))
    ints("decoded", decoded)
    with open(os.path.join(folder, "bpe.txt"), "w", encoding="ascii") as f:
        f.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
