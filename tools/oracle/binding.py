"""Binds heed's C library to Python: every function, struct and enum of the headers, through ctypes.

The signatures come from include/heed/*.h (tools/functions/calls.py reads them), so a changed or new function needs no
line here.
"""
import ctypes
import functools
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "tools"))
from functions.calls import headers as header_reader, parameters_of  # noqa: E402

LIBRARY_HEADERS = ("base.h", "tensor.h", "autograd.h", "nn.h", "optim.h", "io.h", "data.h")
PLAIN = {
    "void": None, "bool": ctypes.c_bool, "int": ctypes.c_int, "int64_t": ctypes.c_int64,
    "uint64_t": ctypes.c_uint64, "uint32_t": ctypes.c_uint32, "size_t": ctypes.c_size_t,
    "double": ctypes.c_double,
}


class ScalarValue(ctypes.Union):
    _fields_ = [("i", ctypes.c_int64), ("d", ctypes.c_double)]


class Scalar(ctypes.Structure):
    """hd_scalar: an int64 or a double."""
    _fields_ = [("is_int", ctypes.c_bool), ("v", ScalarValue)]


def scalar(value):
    """The hd_scalar of a Python number."""
    s = Scalar()
    s.is_int = isinstance(value, int)
    if s.is_int:
        s.v.i = value
    else:
        s.v.d = value
    return s


@functools.lru_cache(maxsize=65536)
def _int64s(values):
    return (ctypes.c_int64 * max(1, len(values)))(*values)


def int64s(values):
    """An int64_t array of these values; do not write to it, equal lists share one array."""
    return _int64s(tuple(values))


def pointers(handles):
    """An array of hd_tensor *."""
    return (ctypes.c_void_p * max(1, len(handles)))(*handles)


def fields_of(code):
    """(type, name) of each field of a struct's declaration."""
    body = header_reader.squeezed(code)
    body = body[body.index("{") + 1:body.rindex("}")]
    for piece in body.split(";"):
        piece = piece.strip()
        if not piece:
            continue
        array = re.match(r"(.*)\[(\w+)\]$", piece)
        if array:
            kind, name = header_reader.parameter(array.group(1))
            yield f"{kind}[{array.group(2)}]", name
            continue
        pointer = re.search(r"\(\*(\w+)\)", piece)
        if pointer:
            yield "void *", pointer.group(1)
            continue
        first, *others = [p.strip() for p in piece.split(",")]
        kind, name = header_reader.parameter(first)
        yield kind, name
        for other in others:
            yield (kind.rstrip(" *") + " *" if other.startswith("*") else kind), other.lstrip("* ")


class Library:
    """libheed.so: hd.hd_add and so on, hd.structs["hd_sgd_options"], hd.decls["hd_add"]. hf: the path of
    libheed-hf.so, whose functions are the object's, too."""

    def __init__(self, path, hf=None):
        self.path = path
        self.dll = ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL)
        self.dlls = dict.fromkeys(LIBRARY_HEADERS, self.dll)
        if hf:
            self.dlls["hf.h"] = ctypes.CDLL(hf)
        self.decls, self.structs, self.enums, self.values = {}, {"hd_scalar": Scalar}, set(), {}
        self.headers = {}
        aliases = {}
        for header in header_reader.read_headers(os.path.join(ROOT, "include", "heed")):
            if header.name not in self.dlls:
                continue
            for decl in [d for t in header.topics for d in t.decls()]:
                if decl.kind == "function":
                    self.decls[decl.name] = decl
                    self.headers[decl.name] = header.name
                elif decl.kind == "enum":
                    self.read_enum(decl)
                elif decl.kind == "struct" and decl.name not in self.structs:
                    self.structs[decl.name] = decl
                elif decl.kind == "type":
                    m = re.match(r"typedef (hd_\w+) (hd_\w+);", header_reader.squeezed(decl.code))
                    if m:
                        aliases[m.group(2)] = m.group(1)
        for name in list(self.structs):
            self.struct(name)
        for new, old in aliases.items():
            if old in self.structs:
                self.structs[new] = self.structs[old]
        self.parameters = {n: parameters_of(d) for n, d in self.decls.items()}
        self.missing = [n for n in self.decls if not self.bind(n)]
        self.none = ctypes.addressof(ctypes.c_char.in_dll(self.dll, "hd_none"))

    def read_enum(self, decl):
        self.enums.add(decl.name)
        code = header_reader.squeezed(decl.code)
        value = -1
        for piece in code[code.index("{") + 1:code.rindex("}")].split(","):
            m = re.match(r"\s*(\w+)\s*(?:=\s*(-?\d+))?", piece)
            if m:
                value = int(m.group(2)) if m.group(2) else value + 1
                self.values[m.group(1)] = value

    def struct(self, name):
        decl = self.structs[name]
        if isinstance(decl, type):
            return decl
        fields = [(n, self.c_type(k)) for k, n in fields_of(decl.code)]
        self.structs[name] = type(name, (ctypes.Structure,), {"_fields_": fields})
        return self.structs[name]

    def c_type(self, kind, result=False):
        """The ctypes type of a C type."""
        kind = kind.strip()
        if kind.endswith("]"):
            kind, n = kind[:-1].split("[")
            return self.c_type(kind) * int(self.values.get(n, n))
        if kind in PLAIN:
            return PLAIN[kind]
        if kind == "const char *":
            return ctypes.c_char_p
        if "*" in kind:
            return ctypes.c_void_p
        if kind in self.enums:
            return ctypes.c_int
        if kind in self.structs:
            return self.struct(kind)
        return ctypes.c_void_p  # a pointer to a function, by its typedef

    def bind(self, name):
        decl = self.decls[name]
        try:
            function = getattr(self.dlls[self.headers[name]], name)
        except AttributeError:
            return decl.code.lstrip().startswith("static")
        function.restype = self.c_type(decl.result, True)
        if "..." not in decl.code:
            function.argtypes = [self.c_type(k) for k, _ in decl.params]
        setattr(self, name, function)
        return True

    def defaults(self, struct):
        """A struct of options with its defaults."""
        base = struct.replace("_options", "")
        if struct == "hd_multihead_attention_args":
            return self.hd_multihead_attention_arg_defaults()
        if hasattr(self, base + "_defaults"):
            return getattr(self, base + "_defaults")()
        return self.hd_adamw_defaults()

    def options(self, struct, values):
        """A struct of options: the defaults, then these fields."""
        o = self.defaults(struct)
        for name, value in values.items():
            setattr(o, name, value)
        return o

    def error(self):
        """The standing error as text, and none stands afterwards; "" if none stood."""
        if not self.hd_error_code():
            return ""
        text = "%s: %s" % (self.hd_code_name(self.hd_error_code()).decode(),
                           self.hd_error_message().decode("utf-8", "replace"))
        self.hd_error_clear()
        return text


def of_build(build):
    """libheed and libheed-hf of a folder that Meson builds in."""
    return Library(os.path.join(build, "src", "libheed.so"), os.path.join(build, "libs", "hf", "libheed-hf.so"))
