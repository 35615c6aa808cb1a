"""Writes a random program as C and as Python, so that a finding can be tried by hand."""
import re

import values
from machine import Index, Var, variables
from values import c_number

MANY = 300  # the values of a larger leaf are not written out
HOOKS = {"twice": ("g * 2", "g * 2"), "nothing": ("None", "HD_NONE")}
# The steps that are no function with a row, in Python and in C: {d} is the result's name.
DIRECT = {
    "requires_grad": ("{0}.requires_grad_({1})", "hd_requires_grad_({0}, {1});"),
    "grad_mode": ("torch.set_grad_enabled({0})", "hd_set_grad_mode({0});"),
    "retain_grad": ("{0}.retain_grad()", "hd_retain_grad({0});"),
    "print": ("print({0})", "hd_print({0});"),
    "node": ("print({0}.grad_fn)", "hd_grad_node({0});"),
    "hook": ("{d} = {0}.register_hook(lambda g: {hook[0]})",
             "int64_t {d} = hd_register_hook({0}, {1}, NULL);  /* a hook that gives {hook[1]} */"),
    "remove_hook": ("# the hook with number {0} is removed", "/* the hook with number {0} is removed */"),
    "backward": ("torch.autograd.backward({0}, {1}, retain_graph={2})", "hd_backward_with({0}, {1}, {2});"),
    "grad_of": ("print(torch.autograd.grad({0}, {1}, {2}, retain_graph={3}, allow_unused={4}))", None),
}


def py(a):
    """An argument in Python."""
    if isinstance(a, Var):
        return str(a)
    if isinstance(a, Index):
        return a.py()
    if isinstance(a, (list, tuple)):
        return "[%s]" % ", ".join(py(x) for x in a)
    if isinstance(a, dict):
        return "{%s}" % ", ".join("%r: %s" % (k, py(v)) for k, v in a.items())
    if isinstance(a, float):
        return values.text(a)
    return str(a)


class Said:
    """An argument for a row's format: {2[scale]} takes a field out of a dict."""

    def __init__(self, a):
        self.a = a

    def __format__(self, spec):
        return py(self.a)

    def __getitem__(self, key):
        return Said(self.a[key])


def elements(step):
    """The values of a leaf, flat."""
    dtype, shape, source = step[2][:3]
    if isinstance(source, str):
        return values.drawn(source, dtype, shape, step[2][3]).flatten().tolist()
    return list(source)


# ---- Python

def python(steps, rows):
    lines = ["import torch", "import torch.nn.functional as F"]
    for step in steps:
        lines += python_step(step, rows)
    return "\n".join(lines)


def python_leaf(step):
    dest, _, args = step
    items = elements(step)
    if len(set(map(str, items))) == 1 and len(items) > 8:
        return "%s = torch.full(%s, %s, dtype=%s)" % (dest, args[1], py(items[0]), args[0])
    if len(items) > MANY:
        return "%s = torch.empty(%s, dtype=%s)  # %d values: %s" % (
            dest, args[1], args[0], len(items), "values.drawn(%r, %s, %s, %d)" % (
                args[2], args[0], args[1], (args + [0])[3]) if isinstance(args[2], str) else
            "%s, ..." % py(items[:8])[1:-1])
    return "%s = torch.tensor(%s, dtype=%s).reshape(%s)" % (dest, py(items), args[0], args[1])


def python_step(step, rows):
    dest, what, args = step
    if what == "leaf":
        return [python_leaf(step)]
    if what in DIRECT:
        given = list(map(py, args))
        if what == "backward" and args[1]:
            given[1] += ".clone()"      # PyTorch may keep it as .grad
        return [DIRECT[what][0].format(*given, d=dest, hook=HOOKS.get(args[-1]))]
    row = rows[what]
    if what.startswith("hd_setitem"):
        return ["%s[%s] = %s" % (args[0], args[2].py(), py(args[1])), "%s = %s" % (dest, args[0])]
    seed = ["torch.manual_seed(1234)"] if row.random else []
    return seed + ["%s = %s" % (dest, row.python.format(*map(Said, args)))]


# ---- C

def c_list(items, kind="int64_t"):
    return "(%s[]){%s}" % (kind, ", ".join(map(str, items))) if items else "NULL"


def c_tensor(a):
    return "HD_NONE" if a is None else str(a)


def c(steps, rows):
    """The body of a function; all tensors live in the scope around it."""
    lines = []
    for step in steps:
        lines += c_step(step, rows)
    return "\n".join(lines)


def c_leaf(dest, step):
    dtype, shape = step[2][:2]
    items = elements(step)
    if len(items) > 8 and len(set(map(str, items))) == 1:
        return ["hd_tensor *%s = hd_full_n(%s, %s, %d, %s);" % (
            dest, values.C_NAME[dtype], c_number(items[0], values.C_ELEMENT[dtype]), len(shape), c_list(shape))]
    if not items or len(items) > MANY:
        return ["hd_tensor *%s = hd_zeros_n(%s, %d, %s);%s" % (
            dest, values.C_NAME[dtype], len(shape), c_list(shape),
            "  /* %d values, see the Python */" % len(items) if items else "")]
    element = values.C_ELEMENT[dtype]
    data = ", ".join(c_number(v, element) for v in items)
    return ["hd_tensor *%s = hd_from_data_n(%s, (%s[]){%s}, %d, %s);" % (
        dest, values.C_NAME[dtype], element, data, len(shape), c_list(shape))]


def c_step(step, rows):
    dest, what, args = step
    if what == "leaf":
        return c_leaf(dest, step)
    if what == "grad_of":
        return c_grad_of(dest, args)
    if what in DIRECT:
        given = [str(a).lower() if isinstance(a, bool) else c_tensor(a) for a in args]
        return [DIRECT[what][1].format(*given, d=dest, hook=HOOKS.get(args[-1]))]
    return c_row(dest, rows[what], args)


def c_grad_of(dest, args):
    outs, ins, grads, retain, unused = args
    lists = ["NULL" if vs is None else "hd_list_of(%s)" % ", ".join(map(c_tensor, vs))
             for vs in (outs, ins, grads)]
    return ["hd_grad_options o_%s = hd_grad_defaults();" % dest,
            "o_%s.retain_graph = %s;" % (dest, str(retain).lower()),
            "o_%s.allow_unused = %s;" % (dest, str(unused).lower()),
            "hd_print_list(hd_grad_of(%s, &o_%s));" % (", ".join(lists), dest)]


def c_row(dest, row, args):
    before, given, outs, it = [], [], [], iter(args)
    if row.random:
        before.append("hd_manual_seed(1234);")
    for p in row.parameters:
        if p.kind == "out":
            outs.append("%s_1" % dest)
            before.append("hd_tensor *%s_1;" % dest)
            given.append("&%s_1" % dest)
            continue
        a = next(it)
        if p.kind == "tensor":
            given.append(c_tensor(a))
        elif p.kind == "ints":
            given += [str(len(a)), c_list([c_number(x) for x in a])]
        elif p.kind == "tensors":
            given += [str(len(a)), c_list(a, "hd_tensor *")]
        elif p.kind == "list":
            given.append("hd_list_n(%d, %s)" % (len(a), c_list(a, "hd_tensor *")))
        elif p.kind == "dtype":
            given.append(values.C_NAME[a])
        elif p.kind == "options":
            o = "o_%s" % dest
            base = p.struct.replace("_options", "")
            before.append("%s %s = %s_defaults();" % (p.struct, o, base))
            before += ["%s.%s = %s;" % (o, k, c_tensor(v) if v is None or isinstance(v, Var)
                                        else c_number(v)) for k, v in a.items()]
            given.append("&" + o)
        else:
            given.append(c_number(a))
    call = "%s(%s)" % (row.name, ", ".join(given))
    if row.result == "hd_tensor *":
        return before + ["hd_tensor *%s = %s;" % (dest, call)]
    if row.result == "hd_list *":
        return before + ["hd_list *%s = %s;" % (dest, call)]
    return before + ["%s %s = %s;" % (row.result, dest, call)]


def parts(lines, steps, language):
    """In the lines, names of parts of a list (x3_0) become calls."""
    names = {v for step in steps for v in variables(step)} - {step[0] for step in steps}
    for v in names:
        m = re.match(r"(x\d+)_(\d+)$", v)
        lists = {s[0] for s in steps if "split" in s[1] or "chunk" in s[1] or "unbind" in s[1]}
        if m and m.group(1) in lists:
            new = ("hd_list_get(%s, %s)" if language == "c" else "%s[%s]") % m.groups()
        elif m and language != "c":
            new = "%s[1]" % m.group(1)
        else:
            continue
        lines = re.sub(r"\b%s\b" % v, new, lines)
    return lines


def both(steps, rows):
    """The text of a finding: C, then Python."""
    return "C:\n%s\nPython:\n%s" % (indent(parts(c(steps, rows), steps, "c")),
                                    indent(parts(python(steps, rows), steps, "python")))


def indent(text):
    return "\n".join("    " + line for line in text.split("\n"))
