"""The public functions of heed's headers, for the checks of tables and lists that name them all."""
import functools
import glob
import os
import re
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "docs"))
from headers import Reader, split_commas as parameters  # noqa: E402, F401

OF_HEED = "base.h,tensor.h,autograd.h,nn.h,optim.h,io.h,data.h"   # the headers of libheed itself


def is_tensor(parameter):
    return re.match(r"(const )?hd_tensor \*\w+$", parameter) is not None


def is_count(parameter):
    return re.match(r"int(64_t)? (n|ndim)$", parameter) is not None


def is_numbers(parameter):
    """True for an array after its count."""
    return re.match(r"const int64_t \*\w+$", parameter) is not None


def is_optimizer(function, params):
    """hd_adam_new(parameters, o)"""
    return function.endswith("_new") and params[:1] == ["const hd_list *parameters"]


def pointer(parameter):
    """The name of a parameter that is a pointer or a function, None for a number."""
    function = re.search(r"\(\*(\w+)\)\s*\(", parameter)
    if function:
        return function.group(1)
    if "*" in parameter or re.match(r"(hd_hook|hd_gradcheck_fn|hd_(error|warning)_handler)\b", parameter):
        return re.search(r"(\w+)\s*(?:\[.*\])?\s*$", parameter).group(1)
    return None


@functools.cache
def header_at(path):
    return Reader(path).read()


def exported(include, headers):
    """The declarations of these headers (base.h,tensor.h) that the library exports."""
    for name in headers.split(","):
        header = header_at(os.path.join(include, "heed", name))
        for decl in header.strays + [d for topic in header.topics for d in topic.decls()]:
            if "HD_API" in decl.code:
                yield decl


def siblings(source):
    """The functions that libheed exports for the libraries in libs alone; source: the folder src."""
    found = set()
    for path in glob.glob(os.path.join(source, "**/*.h"), recursive=True):
        with open(path, encoding="utf-8") as f:
            found.update(re.findall(r"^HD__SIBLING [^;(]*?\b(hd__\w+)\(", f.read(), re.M))
    return found


def declared(include, headers):
    """(function, its parameters) of every public function"""
    for decl in exported(include, headers):
        if decl.kind == "function":
            yield decl.name, [kind if f"(*{name})" in kind else f"{kind} {name}".replace("* ", "*")
                              for kind, name in decl.params]
