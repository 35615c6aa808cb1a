"""Reads C by its layout (.clang-format) and its tokens: what figures and check_style share."""
import bisect
import os
import re
from collections import namedtuple

TOKEN = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|[A-Za-z_]\w*|\.?\d[\w.]*'
                   r'|->|\+\+|--|<<|>>|[<>=!+\-*/%&|^]=|&&|\|\||\S')
COMMENT = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.M)
DEFINE = re.compile(r"[ \t]*#[ \t]*define[ \t]+(\w+)(\([^)]*\))?")
# A function's braces stand at the start of a line; its parameters end in a parenthesis before.
BODY = re.compile(r"\)[ \t]*\n\{\n.*?^\}", re.M | re.S)

Token = namedtuple("Token", "text line")
Macro = namedtuple("Macro", "name has_arguments body")  # body: a list of Token
Function = namedtuple("Function", "name first last text static")  # first and last: lines


def sources(folders, endings=(".c", ".h")):
    """The paths of the files below the folders whose names end so, in order."""
    for top in folders:
        for folder, below, names in os.walk(top):
            below.sort()
            for name in sorted(names):
                if name.endswith(endings):
                    yield os.path.join(folder, name)


def blank(text):
    """As many spaces as the text has characters, on as many lines."""
    return re.sub(r"[^\n]", " ", text)


def without_comments(text):
    """The text with its comments as spaces."""
    return COMMENT.sub(lambda m: blank(m.group(0)) if m.group(0)[0] == "/" else m.group(0), text)


def without_directives(code):
    """The code with its lines for the preprocessor as spaces."""
    return DIRECTIVE.sub(lambda m: blank(m.group(0)), code)


def tokens(code, first=1):
    """The tokens of code without comments; `first` is the number of its first line."""
    newlines = [m.start() for m in re.finditer("\n", code)]
    return [Token(m.group(0), first + bisect.bisect(newlines, m.start()))
            for m in TOKEN.finditer(code)]


def macros(code):
    """The macros that code without comments defines."""
    for m in DIRECTIVE.finditer(code):
        define = DEFINE.match(m.group(0))
        if define:
            body = re.sub(r"\\\n", " \n", m.group(0)[define.end():])
            first = code.count("\n", 0, m.start() + define.end()) + 1
            yield Macro(define.group(1), define.group(2) is not None, tokens(body, first))


def opening(code, end):
    """Where the parenthesis opens that closes at `end`."""
    depth = 0
    for i in range(end, -1, -1):
        depth += (code[i] == ")") - (code[i] == "(")
        if depth == 0:
            return i
    return 0


def signature(code, end):
    """(start, name) of the function whose parameters close at `end`, or None.

    The name in name(int x), (name)(int x), and in F(name)(int x), where F adds what a template
    wants at the name's end.
    """
    at = opening(code, end)
    base = max(0, code.rfind("}", 0, at), code.rfind(";", 0, at))  # what stands before ends there
    head = code[base:at]
    m = re.search(r"(?:\b(\w+)|\(\s*(\w+)\s*\))\s*$", head)
    if not m:
        return None
    start = m.start()
    before = re.search(r"\b\w+$", head[:start])  # F of F(name)
    if m.group(2) and before:
        start = before.start()
    # Its type and the words before that belong to it.
    words = re.search(r"(?:\b(?:__attribute__\s*\(\(.*?\)\)|\w+)[\s*]+)*$", head[:start])
    return base + (words.start() if words else start), m.group(1) or m.group(2)


def functions(code):
    """The functions that code without comments defines; one that a macro makes is not seen."""
    plain = without_directives(code)
    for m in BODY.finditer(plain):
        found = signature(plain, m.start())
        if found:
            start, name = found
            first = plain.count("\n", 0, start) + 1
            last = plain.count("\n", 0, m.end()) + 1
            static = re.search(r"\b(static|HDK_INLINE)\b", plain[start:m.start()]) is not None
            yield Function(name, first, last, plain[start:m.end()], static)
