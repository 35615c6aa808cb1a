"""Shows hd_tensor and hd_tensor * in gdb: shape, dtype, strides and values.

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
DTYPES = {0: ("float32", 4, "f"), 1: ("float64", 8, "d"), 2: ("int64", 8, "q"), 3: ("bool", 1, "?")}
MAX_DIMS = 8
EDGE = 3  # values shown at each end of a dimension, once a tensor has more than LIMIT
LIMIT = 200


class NotATensor(Exception):
    pass


def read(address, letter, count=1):
    """count numbers at the address, in the program's byte order."""
    order = ">" if "big" in gdb.execute("show endian", to_string=True) else "<"
    form = order + str(count) + letter
    try:
        memory = gdb.selected_inferior().read_memory(address, struct.calcsize(form))
    except gdb.MemoryError:
        raise NotATensor("unreadable memory")
    return struct.unpack(form, bytes(memory))


def read_pointer(address):
    wide = gdb.lookup_type("char").pointer().sizeof == 8
    return read(address, "Q" if wide else "I")[0]


def symbol(name):
    return int(gdb.parse_and_eval("(unsigned long)&" + name))


class Tensor:
    """An hd_tensor in the program's memory, found by the library's table of offsets."""

    def __init__(self, address):
        table = symbol("hd_debug_layout")
        _, dtype, ndim, sizes, strides, offset, storage, data, nbytes = read(table, "I", 9)
        self.ndim = read(address + ndim, "B")[0]
        number = read(address + dtype, "B")[0]
        if self.ndim > MAX_DIMS or number not in DTYPES:
            raise NotATensor("not a tensor")
        self.dtype, self.bytes, self.letter = DTYPES[number]
        self.sizes = read(address + sizes, "q", self.ndim)
        self.strides = read(address + strides, "q", self.ndim)
        self.offset = read(address + offset, "q")[0]
        holder = read_pointer(address + storage)
        self.data, self.nbytes = read_pointer(holder + data), read_pointer(holder + nbytes)
        self.numel = 1
        for size in self.sizes:
            self.numel *= size
        if self.numel < 0 or not self.fits():
            raise NotATensor("not a tensor")

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
        return f"{v:.6g}" if isinstance(v, float) else str(v)

    def values(self, dim, index, indent):
        """The nested list of dimension dim and those after it, beginning at the element index."""
        if dim == self.ndim:
            return self.value(index)
        size, stride = self.sizes[dim], self.strides[dim]
        shown = list(range(size))
        if self.numel > LIMIT and size > 2 * EDGE:
            shown[EDGE:-EDGE] = [None]
        items = ["..." if i is None else self.values(dim + 1, index + i * stride, indent + " ")
                 for i in shown]
        last = dim == self.ndim - 1
        return "[" + (", " if last else ",\n " + indent).join(items) + "]"

    def header(self):
        return f"tensor {python_tuple(self.sizes)} {self.dtype}, strides {python_tuple(self.strides)}"

    def text(self):
        separator, indent = (" ", "") if self.ndim <= 1 else ("\n  ", "  ")
        return self.header() + separator + self.values(0, self.offset, indent)


def python_tuple(numbers):
    return "(" + ", ".join(map(str, numbers)) + ("," if len(numbers) == 1 else "") + ")"


def in_a_backtrace():
    options = getattr(gdb, "print_options", dict)()
    return options.get("summary", False)


class TensorPrinter:
    def __init__(self, address):
        self.address = address

    def to_string(self):
        if self.address == 0:
            return "NULL"
        try:
            if self.address == symbol("hd_none"):
                return "HD_NONE"
            tensor = Tensor(self.address)
            return tensor.header() if in_a_backtrace() else tensor.text()
        except NotATensor as why:
            return f"(hd_tensor *) {self.address:#x}: {why}"
        except gdb.error:  # the program has not loaded heed yet
            return f"(hd_tensor *) {self.address:#x}"


def find_printer(value):
    kind = value.type.strip_typedefs()
    pointer = kind.code == gdb.TYPE_CODE_PTR
    target = (kind.target() if pointer else kind).strip_typedefs().unqualified()
    if target.code != gdb.TYPE_CODE_STRUCT or target.tag != "hd_tensor":
        return None
    address = value if pointer else value.address
    return None if address is None else TensorPrinter(int(address))


find_printer.name = "heed"


def register():
    objfile = gdb.current_objfile()
    printers = gdb.pretty_printers if objfile is None else objfile.pretty_printers
    printers[:] = [p for p in printers if getattr(p, "name", "") != "heed"]
    printers.insert(0, find_printer)


register()
