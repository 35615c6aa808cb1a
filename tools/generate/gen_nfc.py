#!/usr/bin/env python3
"""Prints src/data/nfc_tables.c: what Unicode's normalization form C needs to know of characters.

    python tools/generate/gen_nfc.py > src/data/nfc_tables.c

The tables are those of the package tokenizers 0.23.3, whose texts heed's must equal. They are of Unicode
9.0: the script takes from Unicode 16.0 (the package unicodedata2) what the package tokenizers knows.
"""
import sys
import textwrap

import unicodedata2 as unicodedata
from tokenizers import normalizers

VERSION = "16.0.0"
CODES = 0x110000
HANGUL = range(0xAC00, 0xAC00 + 11172)
PLANE_0, PLANE_2 = 0, 1
LETTERS = "".join(chr(c) for c in range(35, 127))  # the letter of each second character
NO_LETTERS = "?\\"  # would be a trigraph, or an escape


def agrees(text):
    return normalizers.NFD().normalize_str(text) == unicodedata.normalize("NFD", text)


def class_of(code):
    """The combining class, unless tokenizers does not sort the character beside those of class 1 and 240."""
    value = unicodedata.combining(chr(code))
    return value if value and agrees(chr(code) + "\u0334") and agrees("\u0345" + chr(code)) else 0


def ranges(values):
    """The ranges of codes in a row, from (code, value, together) in the codes' order: (first, last, value). Only
    what has the same `together` is in one range, whose value is that of the first code."""
    found = []
    for code, value, together in values:
        if found and found[-1][1] == code - 1 and found[-1][3] == together:
            found[-1][1] = code
        else:
            found.append([code, code, value, together])
    return [first << 32 | last << 12 | value for first, last, value, _ in found]


def decompositions():
    """Every character that decomposes: (code, first, second or None)."""
    for code in range(CODES):
        parts = unicodedata.decomposition(chr(code))
        if parts and parts[0] != "<" and code not in HANGUL and agrees(chr(code)):
            yield code, *[int(p, 16) for p in parts.split()], *[None] * (1 - parts.count(" "))


def table(kind, name, values):
    rows = textwrap.fill(" ".join(f"0x{v:X}," for v in values), 100, initial_indent="    ",
                         subsequent_indent="    ")
    return f"const {kind} hd__nfc_{name}[] = {{\n{rows}\n}};\n"


def text(kind, name, prefix, characters):
    """An array that is written as a text."""
    rows, row = [], ""
    for c in characters:
        if len(row) + len(c) > 100 - 6 - len(prefix):
            rows.append(row)
            row = ""
        row += c
    lines = "\n".join(f'    {prefix}"{row}"' for row in [*rows, row])
    return f"const {kind} hd__nfc_{name}[] =\n{lines};\n"


def escaped(code):
    return chr(code) if code < 0x7F else f"\\u{code:04X}"


def main():
    if unicodedata.unidata_version != VERSION:
        sys.exit(f"Unicode {unicodedata.unidata_version}, expected {VERSION}")
    entries = list(decompositions())
    assert len(entries) < 4096
    wanted = sorted({b for _, _, b in entries if b is not None}, reverse=True)
    seconds = [0, 0]
    while wanted:
        seconds.append(0 if LETTERS[len(seconds)] in NO_LETTERS else wanted.pop())
    second, excluded = "", []
    for code, a, b in entries:
        if b is None:
            assert a >> 16 in (0, 2)
            second += LETTERS[PLANE_2 if a >> 16 else PLANE_0]
        else:
            assert a >> 16 == code >> 16 <= 1
            second += LETTERS[seconds.index(b)]
            if unicodedata.normalize("NFC", chr(code)) != chr(code):
                excluded.append((code, 0, 0))
    classes = [(code, value, value) for code in range(CODES) for value in [class_of(code)] if value]
    print("/* nfc_tables.c - printed by tools/generate/gen_nfc.py, as tokenizers has Unicode 9.0. */")
    print('#include "data/nfc.h"\n')
    print("/* clang-format off */")
    print(table("uint64_t", "classes", ranges(classes)))
    print(table("uint64_t", "ranges", ranges((code, i, 0) for i, (code, _, _) in enumerate(entries))))
    print(table("uint64_t", "excluded", ranges(excluded)))
    print(text("uint16_t", "first", "u", [escaped(a & 0xFFFF) for _, a, _ in entries]))
    print(text("char", "second", "", second))
    print(table("uint32_t", "seconds", seconds) + "/* clang-format on */\n")
    for name in ("classes", "ranges", "excluded", "seconds"):
        print(f"const int hd__nfc_{name}_len = sizeof hd__nfc_{name} / sizeof hd__nfc_{name}[0];")
    print("const int hd__nfc_len = sizeof hd__nfc_second - 1;")


main()
