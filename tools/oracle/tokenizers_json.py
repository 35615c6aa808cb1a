#!/usr/bin/env python3
"""Compares heed with the Python package tokenizers (0.23.3) on tokenizer.json files.

usage: python tools/oracle/tokenizers_json.py --library build/src/libheed.so [--strings N] [--seed N] [--added N]
       [--kinds] [--speed TEXT] FILE...

Each file encodes N random strings (100,000) and every code point, alone and between two letters, and decodes the
result, and N random lists of ids. Ids and texts must be equal. A text with a byte that has no token, which tokenizers
leaves out, must be an error in heed. Prints a line for each file; the status is 1 if anything differs.

--added N makes N files of each one, with up to 2,000 random added tokens, gaps in the ids and ids out of order, and
compares 100 strings and 100 lists of ids of each. --kinds replaces each value of the file by values of all kinds: heed
must refuse a file that tokenizers refuses, except for keys that heed does not read. --speed TEXT encodes a text with
no added tokens, 10,000 and 100,000. Each of the three options runs its part alone.
"""
import argparse
import copy
import ctypes
import json
import os
import random
import sys
import tempfile
import time
import unicodedata

from tokenizers import Tokenizer

import binding

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "golden"))
from golden_strings import LITERALS, RANGES  # noqa: E402

CODES = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000]
INT64, TEXT = 2, 2  # of hd_dtype and hd_special


class Heed:
    def __init__(self, library):
        self.lib = binding.Library(library)
        self.lib.hd_tokenizer_decode_with.restype = ctypes.c_void_p # a text may have a zero byte

    def load(self, path):
        self.t = self.lib.hd_tokenizer_json(path.encode())
        if not self.t:
            sys.exit(self.lib.hd_error_message().decode())

    def refuses(self, path):
        self.t = self.lib.hd_tokenizer_json(path.encode())
        self.lib.hd_tokenizer_free(self.t)
        self.lib.hd_error_clear()
        return not self.t

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
            if isinstance(have, str) and self.gone & set(text.encode()) and "neither a token for it nor an unknown token" in have:
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
    c = same(heed, path, file, strings, random.Random(seed))
    for code in CODES:
        c.text(chr(code), [False])
        c.text(f"a{chr(code)}b", [False])
    heed.lib.hd_tokenizer_free(heed.t)
    print(f"{os.path.basename(path)}: {strings} strings, {2 * len(CODES)} with each code point, {strings} lists of "
          f"ids: {c.different} differ; {c.refused} texts refused for a byte without a token; "
          f"{time.time() - start:.0f} s", flush=True)
    return c.different


def same(heed, path, file, strings, r):
    heed.load(path)
    c = Comparison(heed, Tokenizer.from_file(path), without_token(file))
    literals = literals_of(file)
    size = heed.lib.hd_tokenizer_size(heed.t)
    ids = c.theirs.get_vocab(with_added_tokens=True).values()
    if size != max(ids) + 1:
        c.tell("size", size, max(ids) + 1)
    for _ in range(strings):
        c.text(random_text(r, literals))
    for _ in range(strings):
        c.ids([r.randrange(min(size, 300) if r.randrange(2) else size) for _ in range(r.randrange(13))])
    return c


# ---------------------------------------------------------------- random added tokens

PIECES = ["a", "b", "ab", "abc", "<", ">", "<|", "|>", "x", " ", "\n", "\u2581", "é", "e\u0301", "\u4E2D", "0", "12", "!"]


def random_name(r):
    if r.randrange(20) == 0:
        return f"<0x{r.choice(['0A', '0a', 'C3', 'A9', '4', 'G0', '+A'])}>"
    return "".join(r.choice(PIECES) for _ in range(r.randint(1, 6)))


def random_flags(r, strips):
    return {"single_word": False, "special": r.randrange(4) == 0, "normalized": r.randrange(4) == 0,
            "lstrip": strips and r.randrange(4) == 0, "rstrip": strips and r.randrange(4) == 0}


def with_added(file, r):
    """The file with other added tokens: their names begin with each other, and some are in the vocabulary. tokenizers
    panics where one token strips the white space that another one is, so a file has strips or such names. Of two names
    with one normal form, it finds either."""
    file = copy.deepcopy(file)
    vocab, strips = file["model"]["vocab"], r.randrange(2) == 0
    added = [a for a in file["added_tokens"] if a["content"] in vocab]
    names = {random_name(r) for _ in range(r.choice([3, 30, 300, 2000]))} - set(vocab)
    names = {unicodedata.normalize("NFC", name).replace(" ", "\u2581"): name for name in sorted(names)}.values()
    names = [name for name in names if not strips or not name[0].isspace()]
    r.shuffle(names)
    for id, name in enumerate(names, len(vocab)):
        written = id + r.choice([0, 0, 0, 0, 0, 0, 1, 7])
        added.append({"id": written, "content": name, **random_flags(r, strips)})
    if r.randrange(2):
        there = {a["content"] for a in added}
        added += [{"id": vocab[name], "content": name, **random_flags(r, strips)}
                  for name in r.sample(sorted(vocab), 3) if name not in there]
    return file | {"added_tokens": added}


def with_gap(file, r):
    """A token of the vocabulary that no merge needs gets an id beyond all others, so that its own is free."""
    vocab = file["model"]["vocab"]
    parts = {part for merge in file["model"]["merges"] for part in (merge.split(" ") if isinstance(merge, str) else merge)}
    needed = parts | {a["content"] for a in file["added_tokens"]}
    name = r.choice(sorted(set(vocab) - needed))
    vocab[name] = len(vocab) + 3000 + r.randrange(5)


def compare_added(heed, path, files, seed):
    r, different, tokens = random.Random(seed), 0, 0
    with open(path, encoding="utf-8") as f:
        file = json.load(f)
    with tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8") as f:
        for _ in range(files):
            changed = with_added(file, r)
            if r.randrange(2):
                with_gap(changed, r)
            f.seek(0)
            f.truncate()
            json.dump(changed, f)
            f.flush()
            c = same(heed, f.name, changed, 100, r)
            heed.lib.hd_tokenizer_free(heed.t)
            different += c.different
            tokens += len(changed["added_tokens"])
    print(f"{os.path.basename(path)}: {files} files with {tokens} random added tokens: {different} differ", flush=True)
    return different


# ---------------------------------------------------------------- values of other kinds

VALUES = [None, True, "true", 7, -1, 1.5, "1", "x", "", [], [7], [None], ["a", "b"], {}, {"a": 1}, {"a": "b"}]
# Keys that heed does not read, because they do not change the ids of one text, or their text.
UNREAD = {"version", "truncation", "padding", "pair", "type_id", "trim_offsets", "tokens"}


def places(v, path=()):
    """The paths of all values; of the vocabulary and the merges the first one."""
    yield path
    some = 1 if path[-1:] in (("vocab",), ("merges",)) else 3
    for k in list(v)[:None if isinstance(v, dict) and some == 3 else some] if isinstance(v, dict) else \
            range(min(len(v), some)) if isinstance(v, list) else ():
        if k not in UNREAD:
            yield from places(v[k], path + (k,))


def is_unread(path):
    """Keys of a ByteLevel that decodes, and the name of a special token of the template."""
    return path[0] in ("decoder", "post_processor") and path[-1] in ("use_regex", "add_prefix_space") or \
        (path[-3:-2] == ("special_tokens",) and path[-1] == "id")


def tokenizers_refuses(path):
    """In a process of its own, which a panic of tokenizers may end."""
    pid = os.fork()
    if pid == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        try:
            Tokenizer.from_file(path)
        except BaseException:
            os._exit(1)
        os._exit(0)
    return os.waitpid(pid, 0)[1] != 0


def compare_kinds(heed, path):
    with open(path, encoding="utf-8") as f:
        file = json.load(f)
    tried, refused, different = 0, 0, 0
    with tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8") as f:
        for place in places(file):
            for value in VALUES if place and not is_unread(place) else ():
                changed = copy.deepcopy(file)
                at = changed
                for k in place[:-1]:
                    at = at[k]
                at[place[-1]] = value
                f.seek(0)
                f.truncate()
                json.dump(changed, f)
                f.flush()
                tried += 1
                if heed.refuses(f.name):
                    refused += 1
                elif tokenizers_refuses(f.name):
                    different += 1
                    print("TAKEN", ".".join(map(str, place)), json.dumps(value))
    print(f"{os.path.basename(path)}: {tried} values of other kinds: heed refuses {refused}, and takes {different} "
          "that tokenizers refuses", flush=True)
    return different


# ---------------------------------------------------------------- speed

def seconds(f):
    times = []
    for _ in range(3):
        start = time.perf_counter()
        f()
        times.append(time.perf_counter() - start)
    return min(times)


def measure(heed, path, text):
    """Names of random letters, and names that all begin with <|."""
    r = random.Random(1)
    with open(path, encoding="utf-8") as f:
        file = json.load(f)
    vocab, tokens = file["model"]["vocab"], [a for a in file["added_tokens"] if a["content"] in file["model"]["vocab"]]
    for n, form in ((0, "letters"), (10000, "letters"), (100000, "letters"), (100000, "marks")):
        names = {f"<|{i}|>" if form == "marks" else "".join(r.choices("abcdefghijklmnopqrstuvwxyz ", k=r.randint(6, 14)))
                 for i in range(n)} - set(vocab)
        added = [{"id": id, "content": name, **random_flags(r, False)} for id, name in enumerate(sorted(names), len(vocab))]
        with tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8") as f:
            json.dump(file | {"added_tokens": tokens + added}, f)
            f.flush()
            theirs = Tokenizer.from_file(f.name)
            heed.load(f.name)
        mine = seconds(lambda: heed.within_scope(heed.encode, text, False))
        print(f"{os.path.basename(path)}: {len(text.encode())} bytes with {len(added)} added tokens ({form}): "
              f"{mine:.4f} s, tokenizers {seconds(lambda: theirs.encode(text)):.4f} s", flush=True)
        heed.lib.hd_tokenizer_free(heed.t)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--library", required=True)
    parser.add_argument("--strings", type=int, default=100000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--added", type=int, default=0)
    parser.add_argument("--kinds", action="store_true")
    parser.add_argument("--speed", metavar="TEXT")
    parser.add_argument("files", nargs="+")
    a = parser.parse_args()
    heed, different = Heed(a.library), 0
    for path in a.files:
        if a.kinds:
            different += compare_kinds(heed, path)
        if a.added:
            different += compare_added(heed, path, a.added, a.seed)
        if a.speed:
            with open(a.speed, encoding="utf-8") as f:
                measure(heed, path, f.read())
        if not a.kinds and not a.added and not a.speed:
            different += compare(heed, path, a.strings, a.seed)
    sys.exit(different > 0)


main()
