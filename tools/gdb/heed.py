"""Shows heed's objects in gdb: tensors, lists, dictionaries, modules, nodes of the graph, scopes.

    (gdb) print queries
    $1 = tensor (2, 3) float32, strides (3, 1)
      [[0.43, 0.15, 0.89],
       [0.55, 0.87, 0.66]]

The printer reads memory and calls no function of the program, so it works on a core file, too. gdb
loads it by itself once heed is installed; until then: (gdb) source tools/gdb/heed.py
"""
import struct

import gdb

# dtype: its name, bytes, struct's letter. The values of hd_dtype are permanent.
DTYPES = {0: ("float32", 4, "f"), 1: ("float64", 8, "d"), 2: ("int64", 8, "q"), 3: ("bool", 1, "?"),
          4: ("bfloat16", 2, "H")}
MAX_DIMS = 8
EDGE = 3  # values shown at each end of a dimension, once a tensor has more than LIMIT
LIMIT = 200
FEW = 6  # a tensor in a list shows its values if it has at most so many
ITEMS = 50  # the most lines for what a list, a dictionary or a scope holds
DEPTH = 16  # the most modules inside each other

# The fields of the library's tables of offsets, in their order (tensor.h, autograd.h, nn.h).
TABLES = {
    "hd_debug_layout":
        "dtype ndim sizes strides offset storage storage_data storage_nbytes refs refs_freed "
        "freed_by made_by attachment next scope_first scope_count scope_file scope_line list_len "
        "list_items dict_len dict_entries entry_kind entry_value entry_name",
    "hd_debug_node_layout":
        "op op_name params user_name requires_grad grad n_in n_out edges edge_size edge_node outs "
        "out_size out_ndim out_sizes",
    "hd_debug_module_layout":
        "type type_name priv training n entries entry_size entry_name entry_kind entry_tensor "
        "entry_child entry_own",
}


class Unreadable(Exception):
    """Memory that cannot be read, or that does not hold what it should."""


class Gone(Exception):
    """An object that was freed, and what is shown of it."""


# ---------------------------------------------------------------- memory

def read(address, letter, count=1):
    """count numbers at the address, in the program's byte order."""
    order = ">" if "big" in gdb.execute("show endian", to_string=True) else "<"
    form = order + str(count) + letter
    try:
        memory = gdb.selected_inferior().read_memory(address, struct.calcsize(form))
    except (gdb.MemoryError, OverflowError):
        raise Unreadable("unreadable memory")
    return struct.unpack(form, bytes(memory))


def pointer_bytes():
    return gdb.lookup_type("char").pointer().sizeof


def read_pointer(address):
    return read(address, "Q" if pointer_bytes() == 8 else "I")[0]


def read_text(address, most=200):
    """The text at the address, of at most so many bytes; "" for NULL."""
    text = b""
    while address and len(text) < most:
        byte = bytes(read(address + len(text), "c")[0])
        if byte == b"\0":
            break
        text += byte
    return text.decode("utf-8", "replace")


def symbol(name):
    return int(gdb.parse_and_eval("(unsigned long)&" + name))


def layout(table):
    """The offsets of a table by name. The table of an older library has fewer."""
    address = symbol(table)
    fields = TABLES[table].split()
    numbers = read(address, "I", read(address, "I")[0] // 4)[1:]
    return dict(zip(fields, numbers))


def python_tuple(numbers):
    return "(" + ", ".join(map(str, numbers)) + ("," if len(numbers) == 1 else "") + ")"


def check_freed(address, what):
    """An object that was freed has a mark before it as long as heed keeps its memory."""
    wide = pointer_bytes() == 8
    if read(address - 16, "Q" if wide else "I")[0] == (1 << 64 if wide else 1 << 32) - 1:
        raise Gone(f"a {what} that was freed")


# ---------------------------------------------------------------- tensors

class Tensor:
    """An hd_tensor in the program's memory."""

    def __init__(self, address):
        at = layout("hd_debug_layout")
        self.address = address
        self.freed = self.how_freed(address, at)
        self.numel = 0
        if self.freed:
            return
        self.ndim = read(address + at["ndim"], "B")[0]
        number = read(address + at["dtype"], "B")[0]
        if self.ndim > MAX_DIMS or number not in DTYPES:
            raise Unreadable("not a tensor")
        self.dtype, self.bytes, self.letter = DTYPES[number]
        self.sizes = read(address + at["sizes"], "q", self.ndim)
        self.strides = read(address + at["strides"], "q", self.ndim)
        self.offset = read(address + at["offset"], "q")[0]
        holder = read_pointer(address + at["storage"])
        self.data = read_pointer(holder + at["storage_data"])
        self.nbytes = read_pointer(holder + at["storage_nbytes"])
        self.node = read_pointer(address + at["attachment"]) if "attachment" in at else 0
        self.numel = 1
        for size in self.sizes:
            self.numel *= size
        if self.numel < 0 or not self.fits():
            raise Unreadable("not a tensor")

    @staticmethod
    def how_freed(address, at):
        """How a tensor was freed, which it remembers for a while; "" for one that lives."""
        if "refs" not in at or read(address + at["refs"], "I")[0] != at["refs_freed"]:
            return ""
        try:
            by = read_text(read_pointer(address + at["freed_by"]))
            made_by = read_text(read_pointer(address + at["made_by"]))
        except Unreadable:
            return "a freed tensor"
        how = "" if not by else " " + by if by.startswith("when its scope") else " by " + by
        return f"a tensor that was freed{how}" + (f"; {made_by} made it" if made_by else "")

    def fits(self):
        """Is every element inside the storage?"""
        if self.numel == 0:
            return True
        reach = [(size - 1) * stride for size, stride in zip(self.sizes, self.strides)]
        first = self.offset + sum(r for r in reach if r < 0)
        last = self.offset + sum(r for r in reach if r > 0)
        return first >= 0 and (last + 1) * self.bytes <= self.nbytes

    def value(self, index):
        v = read(self.data + index * self.bytes, self.letter)[0]
        if self.dtype == "bfloat16":  # the upper half of a float32
            v = struct.unpack("=f", struct.pack("=I", v << 16))[0]
        return f"{v:.6g}" if isinstance(v, float) else str(v)

    def values(self, dim, index, newline):
        """The nested list of dimension dim and those after it, beginning at the element index.
        newline is what begins the next row, with the blanks before it."""
        if dim == self.ndim:
            return self.value(index)
        size, stride = self.sizes[dim], self.strides[dim]
        shown = list(range(size))
        if self.numel > LIMIT and size > 2 * EDGE:
            shown[EDGE:-EDGE] = [None]
        deeper = newline + " " if newline.startswith("\n") else newline
        items = ["..." if i is None else self.values(dim + 1, index + i * stride, deeper)
                 for i in shown]
        last = dim == self.ndim - 1
        return "[" + (", " if last else "," + deeper).join(items) + "]"

    def shape(self):
        return f"{python_tuple(self.sizes)} {self.dtype}"

    def graph(self):
        """How the tensor ends when it is printed: its node in the graph, if it has one."""
        try:
            return Node(self.node).suffix() if self.node else ""
        except (Unreadable, gdb.error):
            return ""

    def header(self):
        if self.freed:
            return self.freed
        return f"tensor {self.shape()}, strides {python_tuple(self.strides)}{self.graph()}"

    def text(self):
        if self.freed:
            return self.freed
        if self.ndim <= 1:
            return self.header() + " " + self.values(0, self.offset, " ")
        return self.header() + "\n  " + self.values(0, self.offset, "\n  ")

    def item(self, few=FEW):
        """One line for a tensor inside something else, with its values if there are few."""
        if self.freed:
            return self.freed
        values = " " + self.values(0, self.offset, " ") if few and self.numel <= few else ""
        return f"tensor {self.shape()}{values}"


def tensor_item(address, few=FEW):
    if address == 0:
        return "NULL"
    if address == symbol("hd_none"):
        return "HD_NONE"
    try:
        return Tensor(address).item(few)
    except Unreadable as why:
        return f"(hd_tensor *) {address:#x}: {why}"


def listed(header, lines, count):
    """A header and a line for each item, of which there may be more."""
    more = [f"... and {count - len(lines)} more"] if count > len(lines) else []
    return "\n  ".join([header] + lines + more)


def number_of(count, word, words):
    return f"{count} {word if count == 1 else words}"


# ---------------------------------------------------------------- what holds tensors

class List:
    def __init__(self, address):
        at = layout("hd_debug_layout")
        self.len = read(address + at["list_len"], "q")[0]
        if self.len == -1:
            raise Gone("a list whose scope has closed")
        if self.len < 0:
            raise Unreadable("not a list")
        self.items = read_pointer(address + at["list_items"])

    def header(self):
        return f"list of {number_of(self.len, 'tensor', 'tensors')}"

    def text(self):
        wide = pointer_bytes()
        lines = [f"[{i}] {tensor_item(read_pointer(self.items + i * wide))}"
                 for i in range(min(self.len, ITEMS))]
        return listed(self.header(), lines, self.len)


class Dict:
    def __init__(self, address):
        check_freed(address, "dictionary")
        self.at = layout("hd_debug_layout")
        self.len = read(address + self.at["dict_len"], "q")[0]
        self.entries = read_pointer(address + self.at["dict_entries"])
        if self.len < 0:
            raise Unreadable("not a dictionary")

    def header(self):
        return f"dictionary of {number_of(self.len, 'entry', 'entries')}"

    def value(self, entry):
        kind = read(entry + self.at["entry_kind"], "I")[0]
        value = entry + self.at["entry_value"]
        if kind == 1:
            return tensor_item(read_pointer(value))
        if kind == 2:
            return '"' + read_text(read_pointer(value)) + '"'
        if kind in (3, 4):
            number = read(value, "q" if kind == 3 else "d")[0]
            return repr(number)
        raise Unreadable("not a dictionary")

    def text(self):
        wide, lines = pointer_bytes(), []
        for i in range(min(self.len, ITEMS)):
            entry = read_pointer(self.entries + i * wide)
            lines.append(f"{read_text(entry + self.at['entry_name'])}: {self.value(entry)}")
        return listed(self.header(), lines, self.len)


class Scope:
    def __init__(self, address):
        self.at = layout("hd_debug_layout")
        self.count = read(address + self.at["scope_count"], "q")[0]
        self.first = read_pointer(address + self.at["scope_first"])
        file = read_text(read_pointer(address + self.at["scope_file"]))
        line = read(address + self.at["scope_line"], "i")[0]
        self.where = f", opened at {file}:{line}" if file else ""

    def header(self):
        return f"scope of {number_of(self.count, 'tensor', 'tensors')}{self.where}"

    def text(self):
        lines, tensor = [], self.first
        while tensor and len(lines) < ITEMS:  # the youngest first
            made_by = read_text(read_pointer(tensor + self.at["made_by"]))
            lines.append(tensor_item(tensor) + (f", made by {made_by}" if made_by else ""))
            tensor = read_pointer(tensor + self.at["next"])
        return listed(self.header(), lines, self.count)


# ---------------------------------------------------------------- modules

class Module:
    PARAMETER, BUFFER, TRANSIENT, CHILD = 1, 2, 4, 8

    def __init__(self, address, depth=0):
        check_freed(address, "module")
        self.at = layout("hd_debug_module_layout")
        self.depth = depth
        self.name = read_text(read_pointer(read_pointer(address + self.at["type"]) +
                                           self.at["type_name"]))
        self.priv = read_pointer(address + self.at["priv"])
        self.n = read(self.priv + self.at["n"], "q")[0]
        self.entries = read_pointer(self.priv + self.at["entries"])
        if not 0 <= self.n < 1 << 20:
            raise Unreadable("not a module")

    def header(self):
        training = read(self.priv + self.at["training"], "B")[0]
        return self.name + ("" if training else ", in evaluation mode")

    def entry(self, i):
        """The lines of a parameter, a buffer or a child, without its name, and the name."""
        at, entry = self.at, self.entries + i * self.at["entry_size"]
        name = read_text(read_pointer(entry + at["entry_name"]))
        kind = read(entry + at["entry_kind"], "I")[0]
        if kind == self.CHILD:
            field = read_pointer(entry + at["entry_child"])
            child = read_pointer(field) if field else read_pointer(entry + at["entry_own"])
            return name, Module(child, self.depth + 1).lines()
        tensor = tensor_item(read_pointer(read_pointer(entry + at["entry_tensor"])), few=0)
        return name, [tensor + ("" if kind == self.PARAMETER else ", buffer")]

    def lines(self):
        """The class, and indented below it what is registered in the module, in that order.
        Children in a row that look the same share a line, as in PyTorch's summary."""
        lines, rows = [self.name], []
        if self.depth >= DEPTH:
            return lines + ["  ..."]
        for i in range(self.n):
            name, text = self.entry(i)
            if rows and rows[-1][2] == text and name.isdigit() and rows[-1][1].isdigit():
                rows[-1] = (rows[-1][0], name, text, rows[-1][3] + 1)
            else:
                rows.append((name, name, text, 1))
        for first, last, text, count in rows:
            label = f"{first}: " if count == 1 else f"{first}-{last}: {count} x "
            lines += ["  " + label + text[0]] + ["  " + line for line in text[1:]]
        return lines

    def text(self):
        return "\n  ".join([self.header()] + [line[2:] for line in self.lines()[1:]])


# ---------------------------------------------------------------- the graph

class Node:
    """A node of the backward graph, hd_node, which in a user's op is hd_ctx."""

    def __init__(self, address):
        self.at = at = layout("hd_debug_node_layout")
        self.address = address
        op = read_pointer(address + at["op"])
        self.name = read_text(read_pointer(op + at["op_name"]))
        if self.name == "user":
            user = read_pointer(read_pointer(address + at["params"]))
            self.name = read_text(read_pointer(user + at["user_name"])) + "Backward"
        self.n_in, = read(address + at["n_in"], "i")
        self.n_out, = read(address + at["n_out"], "i")
        if not self.name.isprintable() or not 0 <= self.n_in < 1 << 20 or not self.n_out >= 0:
            raise Unreadable("not a node")

    def is_leaf(self):
        return self.name == "AccumulateGrad"

    def suffix(self):
        """How a tensor of this node ends when it is printed."""
        if not self.is_leaf():
            return f", grad_fn=<{self.name}>"
        wanted = read(self.address + self.at["requires_grad"], "B")[0]
        return ", requires_grad=True" if wanted else ""

    def shapes(self):
        outs, texts = read_pointer(self.address + self.at["outs"]), []
        for k in range(min(self.n_out, ITEMS)):
            out = outs + k * self.at["out_size"]
            ndim = read(out + self.at["out_ndim"], "B")[0]
            if ndim > MAX_DIMS:
                raise Unreadable("not a node")
            texts.append(python_tuple(read(out + self.at["out_sizes"], "q", ndim)))
        return ", ".join(texts)

    def header(self):
        return f"<{self.name} {self.shapes()}>"

    def input(self, i):
        edges = read_pointer(self.address + self.at["edges"])
        node = read_pointer(edges + i * self.at["edge_size"] + self.at["edge_node"])
        if node == 0:
            return "no gradient"
        made = Node(node)
        return f"{made.name} {made.shapes()}"

    def text(self):
        if self.is_leaf():
            grad = read_pointer(self.address + self.at["grad"])
            return f"{self.header()}, grad: {tensor_item(grad) if grad else 'None'}"
        inputs = [self.input(i) for i in range(min(self.n_in, ITEMS))]
        return f"{self.header()} <- {', '.join(inputs)}"


# ---------------------------------------------------------------- gdb

KINDS = {"hd_tensor": Tensor, "hd_list": List, "hd_dict": Dict, "hd_scope": Scope,
         "hd_module": Module, "hd_ctx": Node}


def in_a_backtrace():
    options = getattr(gdb, "print_options", dict)()
    return options.get("summary", False)


class Printer:
    def __init__(self, kind, address):
        self.kind, self.address = kind, address

    def to_string(self):
        if self.address == 0:
            return "NULL"
        try:
            if self.kind == "hd_tensor" and self.address == symbol("hd_none"):
                return "HD_NONE"
            shown = KINDS[self.kind](self.address)
            return shown.header() if in_a_backtrace() else shown.text()
        except Gone as what:
            return str(what)
        except Unreadable as why:
            return f"({self.kind} *) {self.address:#x}: {why}"
        except (gdb.error, KeyError):  # no heed is loaded, or an older one
            return f"({self.kind} *) {self.address:#x}"


def find_printer(value):
    kind = value.type.strip_typedefs()
    pointer = kind.code == gdb.TYPE_CODE_PTR
    target = (kind.target() if pointer else kind).strip_typedefs().unqualified()
    if target.code != gdb.TYPE_CODE_STRUCT or target.tag not in KINDS:
        return None
    address = value if pointer else value.address
    return None if address is None else Printer(target.tag, int(address))


find_printer.name = "heed"


def register():
    objfile = gdb.current_objfile()
    printers = gdb.pretty_printers if objfile is None else objfile.pretty_printers
    printers[:] = [p for p in printers if getattr(p, "name", "") != "heed"]
    printers.insert(0, find_printer)


register()
