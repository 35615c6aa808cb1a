"""Shows heed's objects in gdb and lldb: tensors, lists, dictionaries, modules, nodes of the graph, scopes.

    (gdb) print queries
    $1 = tensor (2, 3) float32, strides (3, 1)
      [[0.43, 0.15, 0.89],
       [0.55, 0.87, 0.66]]

The printer reads memory and calls no function of the program, so it works on a core file, too. gdb
loads it by itself once heed is installed; until then: (gdb) source tools/gdb/heed.py
In lldb it is: (lldb) command script import tools/gdb/heed.py

gdb also gets the commands heed-loop, heed-backward, heed-graph and heed-skip, which step through a
debug build of heed ("help user-defined" lists them). They do nothing until they are called.
"""
import glob
import os
import re
import struct

try:
    import gdb
except ImportError:  # lldb reads this file
    gdb = None

# dtype: its name, bytes, struct's letter. The values of hd_dtype are permanent.
DTYPES = {0: ("float32", 4, "f"), 1: ("float64", 8, "d"), 2: ("int64", 8, "q"), 3: ("bool", 1, "?"),
          4: ("bfloat16", 2, "H")}
MAX_DIMS = 8
EDGE = 3  # values shown at each end of a dimension, once a tensor has more than LIMIT
LIMIT = 200
FEW = 6  # a tensor in a list shows its values if it has at most this number
ITEMS = 50  # the most lines for the items of a list, a dictionary or a scope
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
    """An object that was freed, and the text that is shown for it."""


# ---------------------------------------------------------------- memory

class Gdb:
    """The functions of a debugger that the printer needs."""

    def order(self):
        return ">" if "big" in gdb.execute("show endian", to_string=True) else "<"

    def memory(self, address, size):
        try:
            return bytes(gdb.selected_inferior().read_memory(address, size))
        except (gdb.MemoryError, OverflowError):
            raise Unreadable("unreadable memory")

    def pointer_bytes(self):
        return gdb.lookup_type("char").pointer().sizeof

    def symbol(self, name):
        try:
            return int(gdb.parse_and_eval("(unsigned long)&" + name))
        except gdb.error:
            raise KeyError(name)


class Lldb:
    """The same of lldb, for the program of `target`."""

    def __init__(self, target):
        import lldb
        self.lldb, self.target = lldb, target

    def order(self):
        return ">" if self.target.GetByteOrder() == self.lldb.eByteOrderBig else "<"

    def memory(self, address, size):
        error = self.lldb.SBError()
        memory = self.target.process.ReadMemory(address, size, error) if size else b""
        if error.Fail() or len(memory or b"") != size:
            raise Unreadable("unreadable memory")
        return memory

    def pointer_bytes(self):
        return self.target.GetAddressByteSize()

    def symbol(self, name):
        for found in self.target.FindSymbols(name):
            address = found.symbol.addr.GetLoadAddress(self.target)
            if address != self.lldb.LLDB_INVALID_ADDRESS:
                return address
        raise KeyError(name)


debugger = Gdb()


def read(address, letter, count=1):
    """count numbers at the address, in the program's byte order."""
    form = debugger.order() + str(count) + letter
    return struct.unpack(form, debugger.memory(address, struct.calcsize(form)))


def pointer_bytes():
    return debugger.pointer_bytes()


def read_pointer(address):
    return read(address, "Q" if pointer_bytes() == 8 else "I")[0]


def read_text(address, most=200):
    """The text at the address, of at most `most` bytes; "" for NULL."""
    text = b""
    while address and len(text) < most:
        byte = bytes(read(address + len(text), "c")[0])
        if byte == b"\0":
            break
        text += byte
    return text.decode("utf-8", "replace")


def symbol(name):
    return debugger.symbol(name)


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
        """True if every element is inside the storage."""
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
        except (Unreadable, KeyError):
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

    def item(self):
        """One line for a tensor inside something else, with its values if there are few."""
        if self.freed:
            return self.freed
        values = " " + self.values(0, self.offset, " ") if self.numel <= FEW else ""
        return f"tensor {self.shape()}{values}"

    def first_values(self):
        """One line with the first EDGE values, in the order of the last dimension."""
        if self.freed:
            return self.freed
        shown = []
        for i in range(min(self.numel, EDGE)):
            index = self.offset
            for size, stride in zip(reversed(self.sizes), reversed(self.strides)):
                i, at = divmod(i, size)
                index += at * stride
            shown.append(self.value(index))
        more = ["..."] if self.numel > EDGE else []
        return f"tensor {self.shape()} [{', '.join(shown + more)}]"


def tensor_item(address, shown=Tensor.item):
    if address == 0:
        return "NULL"
    if address == symbol("hd_none"):
        return "HD_NONE"
    try:
        return shown(Tensor(address))
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
        tensor = tensor_item(read_pointer(read_pointer(entry + at["entry_tensor"])),
                             Tensor.first_values)
        return name, [tensor + ("" if kind == self.PARAMETER else ", buffer")]

    def lines(self):
        """The class, and indented below it what is registered in the module, in that order.
        Children in a row that look the same but for their values share a line, as in PyTorch's
        summary; the values are those of the first of them."""
        lines, rows = [self.name], []
        if self.depth >= DEPTH:
            return lines + ["  ..."]
        for i in range(self.n):
            name, text = self.entry(i)
            shape = [re.sub(r" \[.*\]", "", line) for line in text]
            if rows and rows[-1][2] == shape and name.isdigit() and rows[-1][1].isdigit():
                rows[-1][1] = name
                rows[-1][4] += 1
            else:
                rows.append([name, name, shape, text, 1])
        for first, last, shape, text, count in rows:
            label = f"{first}: " if count == 1 else f"{first}-{last}: {count} x "
            of = f", values of {first}" if count > 1 and text != shape else ""
            lines += ["  " + label + text[0] + of] + ["  " + line for line in text[1:]]
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

    def inputs(self):
        """The nodes of the inputs; 0 for one that needs no gradient."""
        edges, size = read_pointer(self.address + self.at["edges"]), self.at["edge_size"]
        return [read_pointer(edges + i * size + self.at["edge_node"]) for i in range(min(self.n_in, ITEMS))]

    def text(self, numbers=None):
        """numbers: those that heed-graph gives to the nodes."""
        def told(node):
            made = Node(node)
            return f"$node{numbers[node]}" if numbers and node in numbers else f"{made.name} {made.shapes()}"

        if self.is_leaf():
            grad = read_pointer(self.address + self.at["grad"])
            return f"{self.header()}, grad: {tensor_item(grad) if grad else 'None'}"
        inputs = [told(node) if node else "no gradient" for node in self.inputs()]
        return f"{self.header()} <- {', '.join(inputs)}"


# ---------------------------------------------------------------- the entry points of gdb and lldb

KINDS = {"hd_tensor": Tensor, "hd_list": List, "hd_dict": Dict, "hd_scope": Scope,
         "hd_module": Module, "hd_ctx": Node}


def described(kind, address, short=False):
    """The text for an object, whatever its memory holds."""
    if address == 0:
        return "NULL"
    try:
        if kind == "hd_tensor" and address == symbol("hd_none"):
            return "HD_NONE"
        shown = KINDS[kind](address)
        return shown.header() if short else shown.text()
    except Gone as what:
        return str(what)
    except Unreadable as why:
        return f"({kind} *) {address:#x}: {why}"
    except KeyError:  # no heed is loaded, or an older one
        return f"({kind} *) {address:#x}"


class Printer:
    def __init__(self, kind, address):
        self.kind, self.address = kind, address

    def to_string(self):
        options = getattr(gdb, "print_options", dict)()  # of a backtrace: summary
        return described(self.kind, self.address, options.get("summary", False))


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


def lldb_summary(value, _):
    """The text that lldb shows after the address of an object."""
    global debugger
    debugger = Lldb(value.GetTarget())
    pointer = value.GetType().IsPointerType()
    kind = value.GetType().GetPointeeType() if pointer else value.GetType()
    name = kind.GetCanonicalType().GetUnqualifiedType().GetName().replace("struct ", "")
    return described(name, value.GetValueAsUnsigned() if pointer else value.GetLoadAddress())


def __lldb_init_module(session, _):
    kinds = "|".join([*KINDS, "hd_node"])
    session.HandleCommand(f"type summary add -w heed -F {__name__}.lldb_summary "
                          f"-x '^(const )?(struct )?({kinds})( \\*)?( const)?$'")
    session.HandleCommand("type category enable heed")


# ---------------------------------------------------------------- stepping, in gdb

MARK = "/* heed-loop */"  # ends the lines of the kernels at which heed-loop stops
# The files of src/ that heed-skip skips: checks of arguments, memory, scopes, shapes.
SKIPPED = ["base/*.h", "base/*/*", "../include/heed/*", "tensor/*.h", "autograd/*.h", "autograd/grad.c",
           "diagnose/*"] + [f"tensor/{name}.c" for name in (
               "access", "dims", "freed", "lifecycle", "scope", "shape")]
SKIPPED_FUNCTIONS = r"^(_*mem(cpy|set|move).*|hdk_[a-z]+(_for|_common|_along)?|hd__product_matrix.*|hd__product_dtypes|batches)$"


Command = gdb.Command if gdb else object


def hd_matmul():
    """The symbol of a function of heed, which tells where the library and its source are."""
    found = gdb.lookup_global_symbol("hd_matmul")
    if not found:
        raise gdb.GdbError("no debug information of heed is here: start the program first, with a debug build of heed")
    return found


def source_folder(name):
    """heed's src/, from the name of the file of hd_matmul."""
    return name[:-len("autograd/ops/matmul.c")]


def newest_frame():
    if not gdb.selected_thread():
        raise gdb.GdbError("the program does not run: start it first")
    return gdb.newest_frame()


def place(frame):
    """The file of a frame, and the line."""
    sal = frame.find_sal()
    return (os.path.realpath(sal.symtab.fullname()) if sal.symtab else "", sal.line)


def silent_breakpoint(where):
    point = gdb.Breakpoint(where, internal=True)
    point.silent = True
    return point


def argument_node(text):
    """The address of the node of a tensor, or of a node, that a command is given."""
    try:
        printer = find_printer(gdb.parse_and_eval(text or "0"))
    except gdb.error as why:
        raise gdb.GdbError(str(why))
    if printer and printer.kind == "hd_ctx":
        return printer.address
    if not printer or printer.kind != "hd_tensor" or not printer.address:
        raise gdb.GdbError("give a tensor, or a node")
    if printer.address == symbol("hd_none"):
        raise gdb.GdbError(f"{text} is HD_NONE: give a tensor, or a node")
    try:
        tensor = Tensor(printer.address)
    except Unreadable as why:
        raise gdb.GdbError(f"{text}: {why}")
    if tensor.freed or not tensor.node:
        raise gdb.GdbError(f"{text} is {tensor.freed or 'no part of a graph'}")
    return tensor.node


class Loops:
    """The marked lines of the kernels, and breakpoints at them, which only heed-loop enables."""
    last = key = None

    def __init__(self, folder):
        self.lines, self.points = {}, []
        # The loops of elementwise.h lie where heed was built. In each turn they store one result.
        made = [os.path.realpath(gdb.decode_line(f"tensor/kernels/{name}_made.h:1")[1][0].symtab.fullname())
                for name in ("unary", "binary")]
        made = [path for path in made if os.path.exists(path)]
        self.ours = (folder, *made)
        for path in glob.glob(folder + "tensor/kernels/**/*.[ch]", recursive=True) + made:
            with open(path, encoding="utf-8") as f:
                self.lines.update({(path, number): line for number, line in enumerate(f, 1)
                                   if MARK in line or (path in made and "y[i] = " in line)})
        if not self.lines:
            raise gdb.GdbError(f"heed's source is not in {folder}")
        self.points = [silent_breakpoint(f"{path}:{number}") for path, number in self.lines]
        self.enable(False)

    @classmethod
    def of_program(cls):
        """Those of the library where it lies now."""
        symbol = hd_matmul()
        key = (symbol.symtab.fullname(), int(symbol.value().address))
        if cls.key != key:
            for point in cls.last.points if cls.last else []:
                point.delete()
            cls.last, cls.key = cls(source_folder(os.path.realpath(key[0]))), key
        return cls.last

    def enable(self, on):
        for point in self.points:
            point.enabled = on
            if on:
                point.thread = gdb.selected_thread().global_num


class LoopCommand(Command):
    """heed-loop: runs to the loop of the kernel that computes the current call, on this thread.

In a line of your program this is the next call that computes; inside heed it is the function in which you are.
Called again, it runs to the next turn of the loop, or to the next loop of the same call."""

    def invoke(self, argument, _):
        loops = Loops.of_program()

        def in_heed(frame):
            return frame is not None and place(frame)[0].startswith(loops.ours)

        call = newest_frame()
        while in_heed(call.older()) and not self.begins_call(call):
            call = call.older()
        call.select()
        loops.enable(True)
        try:
            gdb.execute("finish" if in_heed(call) else "next")
        finally:
            loops.enable(False)
        if gdb.selected_thread() and place(gdb.newest_frame()) in loops.lines:
            gdb.execute("frame")

    @staticmethod
    def begins_call(frame):
        """True for the name of a public function, or of an op's backward function."""
        name = frame.name() or ""
        ops = "/autograd/ops/" in place(frame)[0]
        return re.match("hd_[^_]", name) or (name.endswith("_backward") and ops)


class BackwardCommand(Command):
    """heed-backward T: runs until the node behind the tensor T computes its gradient; T may be a node, too.

It stops in the op's backward function. For a leaf it stops when its gradient is complete."""

    def invoke(self, argument, _):
        newest_frame()
        address = argument_node(argument)
        node = gdb.parse_and_eval(f"*(hd__node *){address:#x}")
        function = node["op"]["backward"]
        if Node(address).is_leaf():
            function = gdb.parse_and_eval("hd__run_finish_output")
        elif int(node["ended"]):
            raise gdb.GdbError("the backward of this node is over")
        elif node["op"]["name"].string() == "user":
            function = gdb.parse_and_eval(f"(*(const hd_op **){int(node['params']):#x})->backward")
        block = gdb.block_for_pc(int(function.dereference().address))
        name = next(s.name for s in block if s.is_argument and s.type.strip_typedefs().target().strip_typedefs()
                    .tag == "hd_ctx")
        point = silent_breakpoint(f"-source {block.function.symtab.fullname()} -function {block.function.name}")
        try:
            point.condition = f"{name} == (void *){address:#x} && {name}->seq == {int(node['seq'])}"
            gdb.execute("continue")
            hit = point.hit_count
        finally:
            point.delete()
        if hit:
            gdb.execute("frame")
        else:
            print("the backward of this node was not reached")


class GraphCommand(Command):
    """heed-graph T: shows the nodes behind the tensor T, in the order in which backward visits them.

$node1, $node2 and so on are these nodes, for print and heed-backward."""

    def invoke(self, argument, _):
        def seq(node):
            return int(gdb.parse_and_eval(f"((hd__node *){node:#x})->seq"))

        newest_frame()
        waiting, found = {argument_node(argument)}, {}
        while waiting and len(found) < LIMIT:
            node = max(waiting, key=seq)
            found[node] = len(found) + 1
            waiting.remove(node)
            waiting |= {n for n in Node(node).inputs() if n}
        kind = gdb.lookup_type("hd__node").pointer()
        for node, number in found.items():
            gdb.set_convenience_variable(f"node{number}", gdb.Value(node).cast(kind))
            print(f"$node{number} = {Node(node).text(found)}")
        if waiting:
            print("...")


class SkipCommand(Command):
    """heed-skip: lets `step` skip heed's checks of arguments, memory, scopes and shapes.

"info skip" lists what is skipped, and "skip delete" ends it."""

    def invoke(self, argument, _):
        folder = source_folder(hd_matmul().symtab.filename)
        for files in SKIPPED:
            gdb.execute(f"skip -gfi {folder}{files}", to_string=True)
        gdb.execute(f"skip -rfu {SKIPPED_FUNCTIONS}", to_string=True)


if gdb:
    register()
    LoopCommand("heed-loop", gdb.COMMAND_USER)
    BackwardCommand("heed-backward", gdb.COMMAND_USER, gdb.COMPLETE_EXPRESSION)
    GraphCommand("heed-graph", gdb.COMMAND_USER, gdb.COMPLETE_EXPRESSION)
    SkipCommand("heed-skip", gdb.COMMAND_USER)
