"""Makes random strings for the tokenizers of tests/golden, a small language to train them with, and the hash of ids.
tests/tokenizers/strings.c makes the same strings.
"""
import random

END = "<|endoftext|>"
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
