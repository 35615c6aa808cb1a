#!/usr/bin/env python3
"""Compares heed with the Python package tokenizers (0.23.3) on tokenizer.json files.

usage: python tools/oracle/tokenizers_json.py --library build/src/libheed.so [--strings N] [--seed N] FILE...

Each file encodes N random strings (100,000) and every code point, alone and between two letters, and decodes
what it gave, and N random lists of ids. Ids and texts must be equal. A text with a byte that has no token, which
tokenizers leaves out, must be an error in heed. Prints a line for each file; the status is 1 if anything differs.
"""
import argparse
import ctypes
import json
import os
import random
import sys
import time

from tokenizers import Tokenizer

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "golden"))
from golden_strings import LITERALS, RANGES  # noqa: E402

CODES = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000]
INT64, TEXT = 2, 2  # of hd_dtype and hd_special


class Options(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("special", ctypes.c_int), ("add_special_tokens", ctypes.c_bool)]


class Heed:
    def __init__(self, library):
        self.lib = ctypes.CDLL(library)
        p, i64 = ctypes.c_void_p, ctypes.c_int64
        for name, result, *args in (
                ("hd_tokenizer_json", p, ctypes.c_char_p), ("hd_tokenizer_free", None, p),
                ("hd_tokenizer_size", i64, p),
                ("hd_tokenizer_encode_with", p, p, ctypes.c_char_p, i64, ctypes.POINTER(Options)),
                ("hd_tokenizer_decode_with", p, p, p, ctypes.c_bool, ctypes.POINTER(i64)),
                ("hd_from_data_n", p, ctypes.c_int, p, ctypes.c_int, ctypes.POINTER(i64)),
                ("hd_data", p, p), ("hd_numel", i64, p),
                ("hd_error_message", ctypes.c_char_p),
                ("hd_error_clear", None), ("hd_encode_defaults", Options),
                ("hd_scope_open", p), ("hd_scope_close", None, p)):
            f = getattr(self.lib, name)
            f.restype, f.argtypes = result, args

    def load(self, path):
        self.t = self.lib.hd_tokenizer_json(path.encode())
        if not self.t:
            sys.exit(self.lib.hd_error_message().decode())

    def encode(self, text, ordinary):
        """The ids, or the error's message."""
        o = self.lib.hd_encode_defaults()
        o.special, o.add_special_tokens = (TEXT, False) if ordinary else (o.special, True)
        data = text.encode()
        x = self.lib.hd_tokenizer_encode_with(self.t, data, len(data), ctypes.byref(o))
        if not x:
            message = self.lib.hd_error_message().decode()
            self.lib.hd_error_clear()
            return message
        n = self.lib.hd_numel(x)
        return list((ctypes.c_int64 * n).from_address(self.lib.hd_data(x))) if n else []

    def decode(self, ids, skip):
        n, data = ctypes.c_int64(len(ids)), (ctypes.c_int64 * max(1, len(ids)))(*ids)
        x = self.lib.hd_from_data_n(INT64, data, 1, ctypes.byref(n))
        s = self.lib.hd_tokenizer_decode_with(self.t, x, skip, ctypes.byref(n))
        return ctypes.string_at(s, n.value).decode() if s else self.lib.hd_error_message().decode()

    def within_scope(self, f, *args):
        scope = self.lib.hd_scope_open()
        result = f(*args)
        self.lib.hd_scope_close(scope)
        return result


def random_text(r, literals):
    pieces = []
    for _ in range(r.randrange(16)):
        k = r.randrange(len(RANGES) + 5)
        if k >= len(RANGES):
            pieces.append(r.choice(literals))
            continue
        low, high = RANGES[k]
        for _ in range(r.randint(1, 6)):
            code = r.randint(low, high)
            pieces.append(chr(code ^ 0x2000 if 0xD800 <= code < 0xE000 else code))
    return "".join(pieces)


def literals_of(file):
    """What the texts have more often: the added tokens, marks that compose, spaces of all kinds."""
    added = [a["content"] for a in file["added_tokens"]][:40]
    return [*LITERALS, *added, *(" " + a for a in added[:10]), "\u2581", "\u0301", "\u0323\u0302", "e\u0301",
            "\u1112\u1161\u11AB", "'\u017F", "'RE", "\r\n", " \n ", "0", "123", "4567", "<0x41>", "\u00B2", "\u2167"]


def without_token(file):
    """The bytes that have no token, where words are of bytes."""
    model = file["model"]
    if json.dumps(file["pre_tokenizer"]).find("ByteLevel") < 0 or model.get("unk_token"):
        return set()
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    spelled = {b: chr(b) for b in printable}
    spelled |= {b: chr(256 + i) for i, b in enumerate(b for b in range(256) if b not in printable)}
    return {b for b in range(256) if spelled[b] not in model["vocab"]}


class Comparison:
    def __init__(self, heed, theirs, gone):
        self.heed, self.theirs, self.gone = heed, theirs, gone
        self.different, self.refused = 0, 0

    def tell(self, what, *values):
        self.different += 1
        if self.different <= 5:
            print("DIFFERENT", what, *map(ascii, values), sep="\n    ")

    def text(self, text, ways=(False, True)):
        for ordinary in ways:
            self.theirs.encode_special_tokens = ordinary
            want = self.theirs.encode(text, add_special_tokens=not ordinary).ids
            have = self.heed.within_scope(self.heed.encode, text, ordinary)
            if isinstance(have, str) and self.gone & set(text.encode()) and "expected one that has a token" in have:
                self.refused += 1
            elif have != want:
                self.tell(text, have, want)
            else:
                self.ids(want, ways)
        self.theirs.encode_special_tokens = False

    def ids(self, ids, ways=(False, True)):
        for skip in ways:
            want = self.theirs.decode(ids, skip_special_tokens=skip)
            have = self.heed.within_scope(self.heed.decode, ids, skip)
            if have != want:
                self.tell(ids, have, want)


def compare(heed, path, strings, seed):
    start = time.time()
    with open(path, encoding="utf-8") as f:
        file = json.load(f)
    heed.load(path)
    c = Comparison(heed, Tokenizer.from_file(path), without_token(file))
    r, literals = random.Random(seed), literals_of(file)
    size = heed.lib.hd_tokenizer_size(heed.t)
    if size != c.theirs.get_vocab_size():
        c.tell("size", size, c.theirs.get_vocab_size())
    for _ in range(strings):
        c.text(random_text(r, literals))
    for code in CODES:
        c.text(chr(code), [False])
        c.text(f"a{chr(code)}b", [False])
    for _ in range(strings):
        c.ids([r.randrange(min(size, 300) if r.randrange(2) else size) for _ in range(r.randrange(13))])
    heed.lib.hd_tokenizer_free(heed.t)
    print(f"{os.path.basename(path)}: {strings} strings, {2 * len(CODES)} with each code point, {strings} lists of "
          f"ids: {c.different} differ; {c.refused} texts refused for a byte without a token; "
          f"{time.time() - start:.0f} s", flush=True)
    return c.different


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--library", required=True)
    parser.add_argument("--strings", type=int, default=100000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("files", nargs="+")
    a = parser.parse_args()
    heed = Heed(a.library)
    sys.exit(sum(compare(heed, path, a.strings, a.seed) for path in a.files) > 0)


main()
