#!/usr/bin/env python3
"""Prints src/tokenizers/nfc_tables.c: the tables of characters for Unicode's normalization form C.

    python tools/generate/gen_nfc.py > src/tokenizers/nfc_tables.c

The tables are those of the package tokenizers 0.23.3, whose texts heed's must equal. They are of Unicode 9.0: the
script takes from Unicode 16.0 (the package unicodedata2) only the characters that the package tokenizers knows.
"""
import sys

sys.dont_write_bytecode = True
from letters import char_table, numbers, rows  # noqa: E402

import unicodedata2 as unicodedata
from tokenizers import normalizers

VERSION = "16.0.0"
CODES = 0x110000
HANGUL = range(0xAC00, 0xAC00 + 11172)
LETTERS = "".join(chr(c) for c in range(35, 127))  # the letter of each second character
NO_LETTERS = "?\\"  # would be a trigraph, or an escape


def agrees(text):
    return normalizers.NFD().normalize_str(text) == unicodedata.normalize("NFD", text)


def class_of(code):
    """The combining class, unless tokenizers does not sort the character beside those of class 1 and 240."""
    value = unicodedata.combining(chr(code))
    return value if value and agrees(chr(code) + "\u0334") and agrees("\u0345" + chr(code)) else 0


def decompositions():
    """Every character that decomposes: (code, first, second or None)."""
    for code in range(CODES):
        parts = unicodedata.decomposition(chr(code))
        if parts and parts[0] != "<" and code not in HANGUL and agrees(chr(code)):
            yield code, *[int(p, 16) for p in parts.split()], *[None] * (1 - parts.count(" "))


def table(name, entries):
    """An hd__nfc_table of the characters and what they begin with, in the characters' order."""
    begins = [i for i, (code, *_) in enumerate(entries) if i == 0 or entries[i - 1][0] != code - 1]
    return (f"const hd__nfc_table hd__nfc_{name} = {{\n"
            f"{numbers([entries[i][0] for i in begins], 3)},\n{numbers([*begins, len(entries)], 2)},\n"
            f"{numbers([first for _, first, _ in entries], 3)},\n    {len(begins)},\n}};\n")


def second_of(code, b):
    """The second character, and whether the two do not compose again."""
    return unicodedata.normalize("NFC", chr(code)) != chr(code), b


def main():
    if unicodedata.unidata_version != VERSION:
        sys.exit(f"Unicode {unicodedata.unidata_version}, expected {VERSION}")
    entries = list(decompositions())
    pairs = [e for e in entries if e[2] is not None]
    singles = [e for e in entries if e[2] is None]
    assert not {code for code, _, _ in singles} & {first for _, first, _ in entries}
    wanted = sorted({second_of(code, b) for code, _, b in pairs}, reverse=True)
    composing = sum(not excluded for excluded, _ in wanted)
    seconds, letters = [], {}
    for letter in LETTERS[:len(wanted) + len(NO_LETTERS)]:
        seconds.append(wanted[-1][1])
        if letter in NO_LETTERS:
            composing += not wanted[-1][0]
        else:
            letters[wanted.pop()] = letter
    print("/* nfc_tables.c - the tables of nfc.h for Unicode 9.0, printed by tools/generate/gen_nfc.py. */")
    print('#include "tokenizers/nfc.h"\n')
    print("/* clang-format off */")
    print(char_table("hd__nfc_classes", [class_of(code) for code in range(CODES)], bits=8, letters=3))
    print(table("pairs", pairs))
    print(table("singles", singles))
    print("const char hd__nfc_second[] =\n"
          f"{rows(''.join(letters[second_of(code, b)] for code, _, b in pairs))};\n")
    print(f"const char hd__nfc_seconds[] =\n{numbers(seconds, 3)};\n")
    print(f"const int hd__nfc_composing = {composing};")


main()
