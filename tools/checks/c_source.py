"""Finds the files of the tree, and reads C by its layout (.clang-format) and its tokens. The checks share these
functions.

usage: c_source.py FOLDER...      prints the paths of the C files in the folders, a line each
"""
import bisect
import os
import re
import subprocess
import sys
from collections import namedtuple

TOKEN = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|[A-Za-z_]\w*|\.?\d[\w.]*'
                   r'|->|\+\+|--|<<|>>|[<>=!+\-*/%&|^]=|&&|\|\||\S')
COMMENT = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.M)
DEFINE = re.compile(r"[ \t]*#[ \t]*define[ \t]+(\w+)(\([^)]*\))?")
# A function's braces stand at the start of a line; its parameters end in a parenthesis before.
BODY = re.compile(r"\)[ \t]*\n\{\n.*?^\}", re.M | re.S)

C = (".c", ".h", ".cc")
# The folders of the tree, and "." for the files beside them. A user may have others beside them.
WHOLE = [".", ".ci", "bench", "docs", "examples", "include", "libs", "packaging", "src", "tests", "tools"]

# How the build compiles kernels at each CPU level (src/tensor/kernels/meson.build). Not every compiler knows all.
LEVELS = {
    "plain": "-DHDK_LEVEL=plain",
    "baseline": "-DHDK_LEVEL=baseline",
    "avx2": "-DHDK_LEVEL=avx2 -mavx2 -mfma",
    "avx512": "-DHDK_LEVEL=avx512 -mavx2 -mfma -mavx512f -mavx512bw -mavx512dq -mavx512vl",
}

Token = namedtuple("Token", "text line")
Macro = namedtuple("Macro", "name has_arguments body")  # body: a list of Token
Function = namedtuple("Function", "name first last text static")  # first and last: lines


def listed(root):
    """The paths of all files below root, from there: those that git has or would add, if root is a work
    tree of git's. Elsewhere, as in a release, all but those of builds and of hidden folders."""
    if os.path.exists(os.path.join(root, ".git")):
        git = ["git", "-C", root, "ls-files", "-z", "-co", "--exclude-standard"]
        try:
            return os.fsdecode(subprocess.run(git, check=True, capture_output=True).stdout).split("\0")
        except (OSError, subprocess.CalledProcessError):
            pass  # There is no git here, or it does not trust the folder's owner.
    found = []
    for folder, below, names in os.walk(root):
        below[:] = [name for name in below if name == ".ci" or
                    not name.startswith(".") and name != "__pycache__" and
                    not (folder == root and name.startswith("build"))]
        found += [os.path.relpath(os.path.join(folder, name), root) for name in names]
    return found


def write_loops(folder):
    """Writes the loops of the elementwise operations into a folder, as tensor/kernels/unary_made.h and binary_made.h,
    if the tree has their rows."""
    rows, made = "src/tensor/kernels/elementwise.h", os.path.join(folder, "tensor", "kernels")
    os.makedirs(made)
    if os.path.exists(rows):
        subprocess.run(["tools/functions/loops", rows, os.path.join(made, "unary_made.h"),
                        os.path.join(made, "binary_made.h")], check=True)


def is_text(path):
    """True if path is a file in UTF-8. A compiled program is not; nor is a removed file, which git still lists."""
    if not os.path.isfile(path):
        return False
    try:
        with open(path, encoding="utf-8") as f:
            f.read()
    except UnicodeDecodeError:
        return False
    return True


def sources(folders, endings=(".c", ".h"), root="."):
    """The paths, from root, of the texts of the tree whose names end so, in order: those that lie in the
    folders or below them. "." means the files of root itself, without those below it."""
    return [path for path in sorted(set(listed(root)))
            if path.endswith(endings) and
            any(path.startswith(folder + "/") or (folder == "." and "/" not in path) for folder in folders) and
            is_text(os.path.join(root, path))]


def blank(text):
    """The text with every character but line ends replaced by a space."""
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


def closing(code, at):
    """Where the parenthesis closes that opens at `at`."""
    depth = 0
    for i in range(at, len(code)):
        depth += (code[i] == "(") - (code[i] == ")")
        if depth == 0:
            return i
    return len(code) - 1


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

    The name is that in name(int x), in (name)(int x), and in F(name)(int x), where F adds a template's ending to the
    name.
    """
    at = opening(code, end)
    base = max(0, code.rfind("}", 0, at), code.rfind(";", 0, at))  # the text before ends there
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


if __name__ == "__main__":
    print("\n".join(sources(sys.argv[1:], C)))
