"""Reads the notebooks in examples for the tools that show their cells: tools/jupyter and tools/pages."""
import re


def cells(source):
    """The rows of the table at the end of a notebook: number, heading, line of Python."""
    rows = re.findall(r'(?:CELL\((\d+), |\{(\d+), "(\w+)", )"((?:\\.|[^"\\])*)"', source)
    return [(int(plain or other), heading or plain, re.sub(r"\\(.)", r"\1", line)) for plain, other, heading, line in rows]


def classes(source):
    """The sections of notebook_classes.c: where the notebooks have the class, such as "ko In [20]", and the class in C."""
    parts = re.split(r"^/\* -{64} (.*) \*/\n", source, flags=re.M)
    return [(places.split(", "), code.strip()) for places, code in zip(parts[1::2], parts[2::2])]
