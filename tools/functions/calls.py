"""Calls of the table of functions: the parameters in the headers, the default call of a row, and the Python form of a
call in C.
"""
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tools", "docs"))
import headers  # noqa: E402

from functions import modules, optimizers, table  # noqa: E402


class Parameter:
    """One argument. kind: tensor, tensors, list, ints, out, options, dtype, scalar, text, number or pointer."""

    def __init__(self, kind, name, c_type, struct=None):
        self.kind, self.name, self.c_type, self.struct = kind, name, c_type, struct


KINDS = (("tensor", r"(const )?hd_tensor \*$"), ("list", r"const hd_list \*$"), ("out", r"hd_tensor \*\*$"),
         ("options", r"const (hd_\w+_options|hd_multihead_attention_args) \*$"), ("dtype", "hd_dtype$"),
         ("scalar", "hd_scalar$"), ("text", r"const char \*$"), ("pointer", r".*\*"), ("number", ""))


def parameters_of(decl):
    """The arguments of a function; a count and the array after it are one argument."""
    found, counted = [], False
    for c_type, name in decl.params:
        if counted and re.match(r"const int64_t \*$|hd_tensor \*const \*$", c_type):
            count = found.pop()
            found.append(Parameter("ints", name, "int") if "int64" in c_type else
                         Parameter("tensors", name, count.c_type))
        else:
            kind = next(k for k, pattern in KINDS if re.match(pattern, c_type))
            found.append(Parameter(kind, name, c_type, c_type.split()[1] if kind == "options" else None))
        counted = c_type in ("int", "int64_t") and name in ("n", "ndim")
    return found


class Functions:
    """The functions of the headers: parameters[name], results[name], in the order of the headers."""

    def __init__(self, names=("base.h", "tensor.h", "autograd.h", "nn.h", "optim.h"),
                 folder=os.path.join(ROOT, "include", "heed")):
        self.parameters, self.results, self.structs = {}, {}, {}
        for header in headers.read_headers(folder):
            for decl in [d for t in header.topics for d in t.decls() if header.name in names]:
                if decl.kind == "function":
                    self.parameters[decl.name] = parameters_of(decl)
                    self.results[decl.name] = decl.result
                elif decl.kind in ("struct", "type"):
                    self.structs[decl.name] = decl

    def fields(self, struct):
        """The names of a struct's fields, without size; a typedef of another struct has that one's."""
        decl = self.structs[struct]
        other = re.match(r"typedef (hd_\w+) hd_\w+;", decl.code)
        return self.fields(other.group(1)) if other else {name for m in decl.members for name in m.names} - {"size"}

    def plain_call(self, row, operands, n=4):
        """The call of a row that does not say it, of at most n tensors. operands: {kind: names in turn}"""
        left, given = {kind: list(names) for kind, names in operands.items()}, []
        left["tensor"] = left["tensor"][:n]
        for p in self.parameters[row.name]:
            kind = p.c_type if p.c_type in left else p.kind
            assert left.get(kind), f"{row.name}: its row has to say the call, for {p.name}"
            given.append(left[kind].pop(0))
        name = f"({row.name})" if "scalar" in [p.kind for p in self.parameters[row.name]] else row.name
        return f"{name}({', '.join(given)})"

    def pytorch_names(self, topics):
        """(topic, PyTorch's call, heed's) of each row whose function has no topic yet, by the names of its
        parameters. topics: {function: topic}; a function's own is that of the row before it."""
        topic = ""
        for row in table.read().values():
            heed = "hd_" + row.short
            topic = topics.get(heed, topics.get(row.name, topic))
            if row.python and row.name in self.parameters and not {heed, row.name} & set(topics):
                given = [(p.name, p.kind == "ints") for p in self.parameters[row.name]]
                torch = row.python.format(*("(0, 1)" if ints else name for name, ints in given))
                yield topic, torch, f"{heed}({', '.join('0, 1' if ints else name for name, ints in given)})"
        for row in modules.ROWS:
            if row.name not in topics and row.name in self.parameters:
                given = [p.name for p in self.parameters[row.name]]
                heed = f"{row.name}({', '.join(given)})"
                if row.call != "hd_forward":
                    heed += f", {row.call}({', '.join(p.name for p in self.parameters[row.call])})"
                yield "Modules", row.python.format(*given), heed
        for row in optimizers.ROWS:
            heed = f"hd_{row.kind}_new"
            if heed not in topics and heed in self.parameters:
                yield "Optimizers", f"optim.{row.name}(ps)" if row.of_pytorch else "", f"{heed}(ps, &o)"

    def survey_calls(self):
        """(Survey, its name, its call) of all operations of the survey"""
        for row in table.read().values():
            for s in row.surveys:
                call = s.call or self.plain_call(row, {"tensor": "xyzw"}, len(s.inputs))
                yield s, s.name or row.short, call.replace(f"({row.name})", row.name)


# ---- C as Python

WORDS = {"true": "True", "false": "False", "NULL": "None", "HD_NONE": "None", "HD_END": str(2**63 - 1), "HD_NO_PADDING": str(-2**63),
         "HD_FLOAT32": "torch.float32", "HD_FLOAT64": "torch.float64", "HD_INT64": "torch.int64",
         "HD_BOOL": "torch.bool", "HD_MEAN": "0", "HD_SUM": "1", "HD_REDUCE_NONE": "2"}
READERS = {"hd_size": "{0}.shape[{1}]", "hd_numel": "{0}.numel()", "hd_dtype_of": "{0}.dtype",
           "hd_list_get": "{0}[{1}]"}


def split(text):
    """The arguments of a call, cut at their own commas."""
    return [part for part in headers.split_commas(text) if part]


class Translator:
    def __init__(self, functions):
        self.functions, self.rows = functions, table.read()

    def python(self, c):
        """An expression of C as one of Python."""
        c = re.sub(r"^\((?:int|hd_\w+)\)", "", c.strip())
        array = re.fullmatch(r"\((?:int64_t|hd_tensor \*)\[\]\)\{(.*)\}", c)
        if array:
            return "[" + ", ".join(map(self.python, split(array.group(1)))) + "]"
        difference = re.fullmatch(r"(\w+\(.*\)) - (\w+)", c)
        if difference:
            return " - ".join(map(self.python, difference.groups()))
        call = re.fullmatch(r"\(?(hd_\w+)\)?\((.*)\)", c)
        return self.call(call.group(1), split(call.group(2))) if call else WORDS.get(c, c)

    def call(self, name, args):
        if name in READERS:
            return READERS[name].format(*map(self.python, args))
        is_macro = name not in self.functions.parameters    # hd_view(x, 2, 3) over hd_view_n
        row = self.rows[name + "_n" if is_macro else name]
        kinds = [p.kind for p in self.functions.parameters[row.name]]
        args, given, outs = list(args), [], 0
        single = sum(kind not in ("ints", "tensors") for kind in kinds)
        rest = args[single:] if is_macro else []
        for kind in kinds:
            if kind in ("ints", "tensors") and is_macro:
                given.append("[" + ", ".join(map(self.python, rest)) + "]")
                continue
            if kind in ("ints", "tensors"):
                args.pop(0)     # the count
            a = args.pop(0)
            if kind == "out":
                outs += 1
            else:
                given.append(self.python(a))
        return row.python.format(*given) + ("[0]" if outs else "")
