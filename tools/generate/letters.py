"""Writes tables of numbers as C texts: each number is a few letters in a row, and each letter holds six bits, the
lowest six of its code. src/tokenizers/chars.h says how they are read.
"""

WIDTH = 100
PAGE = 1024  # characters


def number(value, letters):
    """The letters of a number, the higher bits first."""
    assert 0 <= value < 64**letters
    return "".join(chr(64 + bits) if bits < 63 else "?"
                   for i in reversed(range(letters)) for bits in [value >> 6 * i & 63])


def rows(text):
    """The text as literals of C, one a line."""
    found, row = [], ""
    for c in text.replace("\\", "\0"):
        c = "\\\\" if c == "\0" else c
        if len(row) + len(c) > WIDTH - 6:
            found.append(row)
            row = ""
        row += c
    assert len(text) <= 4095  # more is no standard C
    return "\n".join(f'    "{row}"' for row in [*found, row])


def numbers(values, letters):
    return rows("".join(number(v, letters) for v in values))


def char_table(name, values, bits, letters):
    """An hd__tokenizer_char_table of the values of all characters."""
    changes = [c for c in range(len(values)) if c == 0 or values[c] != values[c - 1]]
    pages = range(0, changes[-1] + PAGE + PAGE, PAGE)
    assert values[-1] == 0 and max(values) < 2**bits
    before = numbers([sum(c < page for c in changes) for page in pages], 2)
    coded = numbers([c % PAGE << bits | values[c] for c in changes], letters)
    return f"const hd__tokenizer_char_table {name} = {{\n{before},\n{coded},\n    {letters}, {bits}, {len(pages) - 1},\n}};\n"
