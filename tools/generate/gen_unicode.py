#!/usr/bin/env python3
"""Prints src/tokenizers/char_classes.c: the ranges of Unicode's letters, numbers and white space.

    python tools/generate/gen_unicode.py > src/tokenizers/char_classes.c
    python tools/generate/gen_unicode.py --check      # compares with tiktoken, character by character

The tables are those of Unicode 16.0, as in tiktoken's regular expressions. The script needs Python
3.14, or the package unicodedata2 16.0.0.
"""
import sys

sys.dont_write_bytecode = True
from letters import char_table  # noqa: E402

try:
    import unicodedata2 as unicodedata
except ImportError:
    import unicodedata

VERSION = "16.0.0"
OTHER, LETTER, NUMBER, SPACE = range(4)
CODES = 0x110000
# White_Space (PropList.txt) beyond the separators, which are all white space.
SPACES = set(range(9, 14)) | {0x85}


def class_of(code):
    category = unicodedata.category(chr(code))
    if code in SPACES or category[0] == "Z":
        return SPACE
    return {"L": LETTER, "N": NUMBER}.get(category[0], OTHER)


def check():
    import tiktoken
    text = "".join(chr(c) for c in range(CODES) if not 0xD800 <= c < 0xE000)
    for pattern, number in ((r"\p{L}", LETTER), (r"\p{N}", NUMBER), (r"\s", SPACE)):
        bytes_only = tiktoken.Encoding("classes", pat_str=pattern, special_tokens={},
                                       mergeable_ranks={bytes([i]): i for i in range(256)})
        have = set(bytes(bytes_only.encode_ordinary(text)).decode())
        want = {c for c in text if class_of(ord(c)) == number}
        print(pattern, len(want), "characters,", len(have ^ want), "differ")
        if have != want:
            return 1
    return 0


def main():
    if unicodedata.unidata_version != VERSION:
        sys.exit(f"Unicode {unicodedata.unidata_version}, expected {VERSION}")
    if sys.argv[1:] == ["--check"]:
        return check()
    print(f"/* char_classes.c - the classes of characters, as tools/generate/gen_unicode.py has printed them\n * from Unicode {VERSION}. */")
    print('#include "tokenizers/chars.h"\n')
    print("/* clang-format off */")
    print(char_table("hd__chars_classes", [class_of(code) for code in range(CODES)], bits=2, letters=2), end="")
    return 0


sys.exit(main())
