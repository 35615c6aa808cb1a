"""Finds the places of a C source where a small mistake can be planted, and plants it.

It relies on the layout of .clang-format: a binary operator has a space on both sides, and the star of a pointer on one
side only.
"""
import re
import sys
from collections import namedtuple
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "checks"))
from c_source import blank, closing, sources, without_comments  # noqa: E402,F401

# text[start:end] becomes `new`. `line` is the number of its line, from 1.
Place = namedtuple("Place", "path line kind start end new")

SWAPS = {
    "compare": {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="},
    "logic": {"&&": "||", "||": "&&"},
    "arithmetic": {"+": "-", "-": "+", "*": "+", "/": "*", "%": "/", "<<": ">>", ">>": "<<",
                   "|": "&", "&": "|", "+=": "-=", "-=": "+=", "*=": "+=", "|=": "&="},
}
BINARY = re.compile(r"(?<=[\w)\]] )(&&|\|\||<<|>>|[<>=!+\-*|]=|[<>+\-*/%&|])(?=\s)")
STEP = re.compile(r"\+\+|--")
NOT = re.compile(r"!(?=[\w(*])")
NUMBER = re.compile(r"(?<![\w.\"'])(\d+)(?![\w.\"'])")
TRUTH = re.compile(r"\b(true|false)\b")
IF = re.compile(r"\b(?:if|while) \(")
# A call, an assignment or a step that is a whole statement. A declaration has a space in its middle.
STATEMENT = re.compile(
    r"^( +)(?!return\b|else\b|case\b|goto\b|break\b|continue\b|default\b)"
    r"(\**[A-Za-z_][\w.\[\]>-]*(?:\(| [-+*/|&^%]?= |\+\+;|--;)[^;{}]*;)[ ]*$", re.M)

STRING = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'')
INCLUDE = re.compile(r"^[ \t]*#[ \t]*(?!define)[^\n]*", re.M)
ENUM = re.compile(r"\benum\b[^{;]*\{[^}]*\}", re.S)
# Code that only checks: assertions, and functions that only they call.
CHECKS = re.compile(r"^#ifdef HD__ASSERT$.*?^#endif$", re.S | re.M)
ASSERT = re.compile(r"\b(?:_Static_assert|hd__assert)\s*\([^;]*;", re.S)
# Code that only tunes speed: prefetches, sizes of blocks, the least work of a task.
ASKED = re.compile(r"\b(?:__builtin_prefetch|hdk_prefetch\w*)\(")
TUNED = re.compile(r"\b(?:\w*(?<!HD__)GRAIN|grain|AHEAD)\b|^\s*#\s*define (?:HDK_TILE_ROWS|WIDTH|DEPTH)\b")


def readable(text):
    """The text with all that is no code of a function or macro as spaces, at the same positions."""
    code = without_comments(text)
    for pattern in (STRING, CHECKS, INCLUDE, ASSERT):
        code = pattern.sub(lambda m: blank(m.group(0)), code)
    return code


def found(code):
    """(kind, start, end, new) of each place of the code."""
    for m in BINARY.finditer(code):
        for kind, swaps in SWAPS.items():
            if m.group(1) in swaps:
                yield kind, m.start(1), m.end(1), swaps[m.group(1)]
    for m in STEP.finditer(code):
        yield "arithmetic", m.start(), m.end(), "--" if m.group(0) == "++" else "++"
    for m in NOT.finditer(code):
        yield "logic", m.start(), m.end(), ""
    for m in TRUTH.finditer(code):
        yield "constant", m.start(), m.end(), "false" if m.group(1) == "true" else "true"
    for m in NUMBER.finditer(code):
        yield "constant", m.start(), m.end(), str(int(m.group(1)) + 1)
    for m in IF.finditer(code):
        end = closing(code, m.end() - 1)
        yield "condition", m.end(), end, "0"
        if code.startswith("if", m.start()):
            yield "condition", m.end(), end, "1"
    for m in STATEMENT.finditer(code):
        yield "statement", m.start(2), m.end(2), ";"


def asked(lines):
    """The numbers of the lines that ask for memory early, and of loops and conditions around only these."""
    found = {n for n, line in enumerate(lines, 1) if ASKED.search(line)}
    for n in range(len(lines), 0, -1):
        inside = n + 1
        while lines[n - 1].endswith("{") and inside in found:
            inside += 1
        if inside > n + 1 and lines[inside - 1].strip() == "}":
            found.update((n, inside))
    return found


def places(path, text):
    """The places of the file, in order, without those that only tune speed."""
    code = readable(text)
    lines = code.split("\n")
    early = asked(lines)
    enums = [m.span() for m in ENUM.finditer(code)]
    newlines = [m.start() for m in re.finditer("\n", text)]
    line, at = 1, 0
    for kind, start, end, new in sorted(found(code), key=lambda f: (f[1], f[0], f[3])):
        if any(a <= start < b for a, b in enums):
            continue
        while at < len(newlines) and newlines[at] < start:
            at, line = at + 1, line + 1
        if line in early or (kind != "statement" and TUNED.search(lines[line - 1])):
            continue
        yield Place(path, line, kind, start, end, new)


def mutated(text, place):
    """The text with the place's mistake."""
    return text[:place.start] + place.new + text[place.end:]


def key(text, place):
    """What names the place as long as its line stays the same: the line before and after."""
    first = text.rfind("\n", 0, place.start) + 1
    last = text.find("\n", place.end)
    after = text[first:place.start] + place.new + text[place.end:last]
    before = text[first:last]
    return " ".join(before.split()), " ".join(after.split())
