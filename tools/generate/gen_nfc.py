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
PLANE_0, PLANE_2, EXCLUDED = 0, 1, 0x80


def agrees(text):
    return normalizers.NFD().normalize_str(text) == unicodedata.normalize("NFD", text)


def class_of(code):
    """The combining class, unless tokenizers does not sort the character beside those of class 1 and 240."""
    value = unicodedata.combining(chr(code))
    return value if value and agrees(chr(code) + "\u0334") and agrees("\u0345" + chr(code)) else 0


def classes():
    """Every run of characters of one combining class: (first, class)."""
    before = None
    for code in range(CODES):
        value = class_of(code)
        if value != before:
            yield code, value
        before = value


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


def main():
    if unicodedata.unidata_version != VERSION:
        sys.exit(f"Unicode {unicodedata.unidata_version}, expected {VERSION}")
    entries = list(decompositions())
    seconds = [0, 0, *sorted({b for _, _, b in entries if b is not None})]
    assert len(seconds) <= EXCLUDED and len(entries) < 4096
    runs, first, second = [], [], []
    for number, (code, a, b) in enumerate(entries):
        if number == 0 or code != entries[number - 1][0] + 1:
            runs.append(code << 12 | number)
        first.append(a & 0xFFFF)
        if b is None:
            assert a >> 16 in (0, 2)
            second.append(PLANE_2 if a >> 16 else PLANE_0)
        else:
            assert a >> 16 == code >> 16 <= 1
            composes = unicodedata.normalize("NFC", chr(code)) == chr(code)
            second.append(seconds.index(b) + (0 if composes else EXCLUDED))
    runs.append(0xFFFFF000 | len(entries))
    print(f"/* nfc_tables.c - printed by tools/generate/gen_nfc.py, as tokenizers has Unicode 9.0. */")
    print('#include "data/nfc.h"\n')
    print("/* clang-format off */")
    print(table("uint32_t", "classes", [first << 8 | value for first, value in classes()]))
    print(table("uint32_t", "runs", runs))
    print(table("uint16_t", "first", first))
    print(table("uint8_t", "second", second))
    print(table("uint32_t", "seconds", seconds) + "/* clang-format on */\n")
    print("const int hd__nfc_classes_len = sizeof hd__nfc_classes / sizeof hd__nfc_classes[0];")
    print("const int hd__nfc_runs_len = sizeof hd__nfc_runs / sizeof hd__nfc_runs[0] - 1;")
    print("const int hd__nfc_len = sizeof hd__nfc_second;")
    print("const int hd__nfc_seconds_len = sizeof hd__nfc_seconds / sizeof hd__nfc_seconds[0];")


main()
