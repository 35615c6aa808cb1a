"""Reads the public functions from heed's headers, for the checks of tables that name them all."""
import re
import subprocess

MARK = '__attribute__((visibility("default")))'


def parameters(text):
    """The parameters of a declaration, split at its own commas."""
    depth, part, parts = 0, "", []
    for c in text:
        depth += (c == "(") - (c == ")")
        if c == "," and depth == 0:
            parts.append(part)
            part = ""
        else:
            part += c
    return parts + [part]


def split(declaration):
    """(function, its parameters)"""
    m = (re.search(r"\((\w+)\)\s*\((.*)\)\s*$", declaration, re.S)
         or re.search(r"(\w+)\s*\((.*)\)\s*$", declaration, re.S))
    return (m.group(1), [p.strip() for p in parameters(m.group(2))]) if m else (None, [])


def pointer(parameter):
    """The name of a parameter that is a pointer or a function, None for a number."""
    function = re.search(r"\(\*(\w+)\)\s*\(", parameter)
    if function:
        return function.group(1)
    if "*" in parameter or re.match(r"(hd_hook|hd_gradcheck_fn|hd_(error|warning)_handler)\b", parameter):
        return re.search(r"(\w+)\s*(?:\[.*\])?\s*$", parameter).group(1)
    return None


def own_text(include, header, cc):
    """What the header itself says, without what it includes."""
    text = subprocess.run([*cc, "-E", "-I", include, "-x", "c", "-"], check=True, text=True,
                          input=f"#include <heed/{header}>\n", stdout=subprocess.PIPE).stdout
    own, lines = False, []
    for line in text.splitlines():
        marker = re.match(r'# \d+ "(.*?)"', line)
        if marker:
            own = marker.group(1).endswith(f"heed/{header}")
        elif own:
            lines.append(line)
    return "\n".join(lines)


def declared(include, headers, cc):
    """(function, its parameters) of every public function"""
    for header in headers.split(","):
        for declaration in own_text(include, header, cc).split(MARK)[1:]:
            declaration = re.split(r"[;{]", declaration, maxsplit=1)[0].split("__attribute__")[0]
            yield split(declaration.strip())
