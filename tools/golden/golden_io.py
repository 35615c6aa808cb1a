"""Makes tests/golden/io: valid and invalid files, with the results of safetensors and NumPy for each.

usage: python tools/golden/golden_io.py tests/golden/io

Needs PyTorch, NumPy and the package safetensors. tests/golden/io/README.md describes the format.
"""
import io
import json
import os
import re
import struct
import sys
import tempfile
import warnings

import numpy as np
import safetensors
import safetensors.torch
import torch
from safetensors import safe_open

# What heed makes of a dtype.
TO_HEED = {
    "float32": "float32", "float64": "float64", "int64": "int64", "bool": "bool",
    "float16": "float32", "bfloat16": "float32", "uint8": "int64", "int8": "int64",
    "uint16": "int64", "int16": "int64", "uint32": "int64", "int32": "int64", "uint64": "int64",
}


# ---------------------------------------------------------------- safetensors files

def file(header, data=b"", length=None):
    """the bytes of a file: parts, each bytes or (bytes, count)"""
    if isinstance(header, dict):
        header = json.dumps(header)
    parts = header if isinstance(header, list) else [header]
    parts = [p.encode() if isinstance(p, str) else p for p in parts]
    size = sum(len(p[0]) * p[1] if isinstance(p, tuple) else len(p) for p in parts)
    return [struct.pack("<Q", size if length is None else length)] + parts + [data]


def entry(dtype="F32", shape="[1]", offsets="[0,4]"):
    return f'{{"dtype":"{dtype}","shape":{shape},"data_offsets":{offsets}}}'


def one(dtype="F32", shape="[1]", offsets="[0,4]", data=b"\0\0\x80\x3f", name="w"):
    return file(f'{{"{name}":{entry(dtype, shape, offsets)}}}', data)


def two(a, b, data=b"\0\0\x80\x3f\0\0\0\x40"):
    return file(f'{{"a":{a},"b":{b}}}', data)


def chain(n):
    """n tensors of 2^60 bytes, one after the other, and none of their data"""
    entries = (entry("U8", f"[{2**60}]", f"[{i * 2**60},{(i + 1) * 2**60}]") for i in range(n))
    return file("{" + ",".join(f'"{i}":{e}' for i, e in enumerate(entries)) + "}")


def of_dtype(name, pattern, *values):
    data = struct.pack(f"<{len(values)}{pattern}", *values)
    return one(name, f"[{len(values)}]", f"[0,{len(data)}]", data)


def saved(tensors):
    with tempfile.TemporaryDirectory() as d:
        path = os.path.join(d, "x")
        safetensors.torch.save_file(tensors, path)
        with open(path, "rb") as f:
            return [f.read()]


HALVES = (0, 0x8000, 1, 0x3FF, 0x400, 0x3C00, 0xC000, 0x7BFF, 0xFC00, 0x7E00)
BRAINS = (0, 0x8000, 1, 0x3F80, 0xC000, 0x7F7F, 0xFF80, 0x7FC0)
SMALL = b"\0\0\x80\x3f"

SAFETENSORS = {
    # the length of the header
    "empty file": [b""],
    "seven bytes": [b"\2\0\0\0\0\0\0"],
    "length zero": file(""),
    "length beyond the file": file("{}", length=3),
    "length over the limit": file("{}", length=100_000_001),
    "length that wraps": file("{}", length=2**64 - 8),
    "length all ones": file("{}", length=2**64 - 1),
    # the header as JSON
    "not UTF-8": file(b'{"\xff":' + entry().encode() + b"}", SMALL),
    "overlong UTF-8": file(b'{"\xc0\xaf":' + entry().encode() + b"}", SMALL),
    "surrogate in UTF-8": file(b'{"\xed\xa0\x80":' + entry().encode() + b"}", SMALL),
    "byte order mark": file(b"\xef\xbb\xbf{}"),
    "not JSON": file("tensor"),
    "an array": file("[]"),
    "a string": file('"a"'),
    "null": file("null"),
    "truncated": file('{"w":{"dtype":"F32"'),
    "truncated in a name": file('{"w'),
    "no closing bracket": file('{"w":' + entry(), SMALL),
    "trailing comma": file('{"w":' + entry() + ",}", SMALL),
    "single quotes": file("{'w':1}"),
    "comment": file("{/**/}"),
    "two values": file("{}{}"),
    "NUL padding": file(b"{}\0\0\0\0\0\0"),
    "form feed as white space": file(b"\x0c{}"),
    "nested 10000 deep": file(['{"w":', (b"[", 10000), (b"]", 10000), "}"]),
    "nested 10000 deep, open": file(['{"w":', (b"[", 10000)]),
    "number beyond a double": file('{"w":1e999}'),
    # names
    "name twice": file(f'{{"w":{entry()},"w":{entry(offsets="[4,8]")}}}', SMALL * 2),
    "name twice, equal offsets": file(f'{{"w":{entry()},"w":{entry()}}}', SMALL),
    "name twice, one escaped": file(f'{{"w":{entry()},"\\u0077":{entry()}}}', SMALL),
    "name empty": one(name=""),
    "name with escapes": one(name='\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9'),
    "name with a pair": one(name="\\ud83d\\ude00"),
    "name with half a pair": one(name="\\ud83d"),
    "name with the other half": one(name="\\ude00"),
    "name with two first halves": one(name="\\ud83d\\ud83d"),
    "name with NUL": one(name="a\\u0000b"),
    "name with a control character": one(name="a\nb"),
    "name with DEL": one(name="a\x7fb"),
    "name with a bad escape": one(name="\\x41"),
    "name with a short escape": one(name="\\u12"),
    "name of a megabyte": file(['{"', (b"n", 1_000_000), '":', entry(), "}"], SMALL),
    "name of a megabyte, bad dtype": file(['{"', (b"n", 1_000_000), '":', entry("X"), "}"], SMALL),
    # entries
    "dtype unknown": one("F31"),
    "dtype in small letters": one("f32"),
    "dtype a number": file('{"w":{"dtype":32,"shape":[1],"data_offsets":[0,4]}}', SMALL),
    "dtype missing": file('{"w":{"shape":[1],"data_offsets":[0,4]}}', SMALL),
    "shape missing": file('{"w":{"dtype":"F32","data_offsets":[0,4]}}', SMALL),
    "offsets missing": file('{"w":{"dtype":"F32","shape":[1]}}', SMALL),
    "entry empty": file('{"w":{}}', SMALL),
    "entry an array": file('{"w":["F32",[1],[0,4]]}', SMALL),
    "entry a string": file('{"w":"F32"}', SMALL),
    "entry null": file('{"w":null}', SMALL),
    "field extra": file('{"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4],"x":1}}', SMALL),
    "field twice": one(shape='[1],"shape":[1]'),
    "shape null": one(shape="null"),
    "shape a number": one(shape="1"),
    "shape with text": one(shape='["1"]'),
    "shape with an array": one(shape="[[1]]"),
    "shape negative": one(shape="[-1]"),
    "shape fractional": one(shape="[1.0]"),
    "shape with an exponent": one(shape="[1e0]"),
    "shape with a leading zero": one(shape="[01]"),
    "shape beyond int64": one(shape="[18446744073709551616]"),
    "offsets null": one(offsets="null"),
    "offsets one": one(offsets="[4]"),
    "offsets three": one(offsets="[0,4,4]"),
    "offsets text": one(offsets='["0","4"]'),
    "offsets negative": one(offsets="[-4,0]"),
    "offsets minus zero": one(offsets="[-0,4]"),
    "offsets fractional": one(offsets="[0,4.0]"),
    "offsets with an exponent": one(offsets="[0,4e0]"),
    "offsets with a leading zero": one(offsets="[0,04]"),
    "offsets with a plus": one(offsets="[0,+4]"),
    "offsets beyond int64": one(offsets="[0,18446744073709551616]"),
    "begin above end": one(offsets="[4,0]"),
    # the layout of the data
    "hole at the start": one(offsets="[4,8]", data=SMALL * 2),
    "hole between": two(entry(), entry(offsets="[8,12]"), SMALL * 3),
    "overlap": two(entry(), entry(offsets="[2,6]"), SMALL + b"\0\0"),
    "the same bytes twice": two(entry(), entry(), SMALL),
    "trailing byte": one(data=SMALL + b"\0"),
    "last byte missing": one(data=SMALL[:3]),
    "no data": one(data=b""),
    "trailing byte behind nothing": file("{}", b"\0"),
    "too few bytes for the shape": one(shape="[2]"),
    "too many bytes for the shape": one(shape="[]", offsets="[0,8]", data=SMALL * 2),
    "bytes for another dtype": one("F64"),
    "shape product overflows": one(shape="[4294967296,4294967296]"),
    "shape product overflows with the dtype": one(shape="[4611686018427387904]"),
    "shape product wraps to the size": one(shape="[4294967296,4294967297,1]"),
    "total overflows": chain(9),
    "total beyond the file": chain(7),
    "huge and absent": one("U8", "[9223372036854775807]", "[0,9223372036854775807]"),
    "zero beside a huge size": one(shape="[9223372036854775807,0]", offsets="[0,0]", data=b""),
    "zero before a huge size": one(shape="[0,9223372036854775807]", offsets="[0,0]", data=b""),
    "zero beside a large size": one(shape="[4294967296,0]", offsets="[0,0]", data=b""),
    "rank 8": one(shape="[1,1,1,1,1,1,1,1]"),
    "rank 9": one(shape="[1,1,1,1,1,1,1,1,1]"),
    # metadata
    "metadata null": file('{"__metadata__":null}'),
    "metadata a string": file('{"__metadata__":"a"}'),
    "metadata an array": file('{"__metadata__":["a"]}'),
    "metadata with a number": file('{"__metadata__":{"a":1}}'),
    "metadata with an object": file('{"__metadata__":{"a":{}}}'),
    "metadata with null": file('{"__metadata__":{"a":null}}'),
    "metadata twice": file('{"__metadata__":{"a":"1"},"__metadata__":{"b":"1"}}'),
    "metadata key twice": file('{"__metadata__":{"a":"1","a":"2"}}'),
    "metadata key empty": file('{"__metadata__":{"":"1"}}'),
    "metadata key with NUL": file('{"__metadata__":{"a\\u0000":"1"}}'),
    "metadata with NUL": file('{"__metadata__":{"a":"1\\u00002"}}'),
    "metadata an entry": file(f'{{"__metadata__":{entry()}}}', SMALL),
    "metadata under a tensor's name": file(f'{{"__metadata__":{{"w":"1"}},"w":{entry()}}}', SMALL),
    # what loads
    "nothing": file("{}"),
    "metadata only": file('{"__metadata__":{"format":"pt","two":"b\\u00e9"}}'),
    "metadata empty": file('{"__metadata__":{}}'),
    "metadata last": file(f'{{"w":{entry()},"__metadata__":{{"a":"1"}}}}', SMALL),
    "scalar": one(shape="[]"),
    "size 0": one(shape="[2,0]", offsets="[0,0]", data=b""),
    "size 0 among others": file(f'{{"a":{entry()},"b":{entry(shape="[0]", offsets="[4,4]")},'
                                f'"c":{entry(offsets="[4,8]")}}}', SMALL * 2),
    "white space": file(f' \t\n\r{{ "w" : {entry(shape=" [ 1 ] ")} }} \n\t\r ', SMALL),
    "fields in another order": file(
        '{"w":{"data_offsets":[0,4],"shape":[1],"dtype":"F32"}}', SMALL),
    "tensors in another order": two(entry(offsets="[4,8]"), entry(offsets="[0,4]")),
    "header longer by 1": file(f'{{"w":{entry()}}} ', SMALL),
    "header longer by 2": file(f'{{"w":{entry()}}}  ', SMALL),
    "unaligned data": two(entry("U8", "[1]", "[0,1]"), entry("F64", "[1]", "[1,9]"),
                          b"\7" + struct.pack("<d", 0.1)),
    "unaligned data of every type": file(
        '{"o":' + entry("BOOL", "[1]", "[0,1]") + ',"f":' + entry("F32", "[2]", "[1,9]") +
        ',"d":' + entry("F64", "[1]", "[9,17]") + ',"i":' + entry("I64", "[1]", "[17,25]") + "}",
        b"\1" + struct.pack("<2fdq", 1.5, -2.0, 0.1, -3)),
    # every dtype
    "BOOL": of_dtype("BOOL", "B", 0, 1),
    "BOOL of another byte": of_dtype("BOOL", "B", 0, 1, 2, 255),
    "U8": of_dtype("U8", "B", 0, 1, 255),
    "I8": of_dtype("I8", "b", 0, -1, 127, -128),
    "U16": of_dtype("U16", "H", 0, 65535),
    "I16": of_dtype("I16", "h", 0, -1, 32767, -32768),
    "U32": of_dtype("U32", "I", 0, 2**32 - 1),
    "I32": of_dtype("I32", "i", 0, -1, 2**31 - 1, -2**31),
    "U64": of_dtype("U64", "Q", 0, 2**63 - 1),
    "U64 beyond int64": of_dtype("U64", "Q", 5, 2**63),
    "I64": of_dtype("I64", "q", 0, -1, 2**63 - 1, -2**63),
    "F16": of_dtype("F16", "H", *HALVES),
    "BF16": of_dtype("BF16", "H", *BRAINS),
    "F32": of_dtype("F32", "I", 0, 0x80000000, 1, 0x3F800000, 0x7F800000, 0x7FC00000),
    "F64": of_dtype("F64", "Q", 0, 1 << 63, 1, 0x3FF << 52, 0x7FF << 52, 0x7FF8 << 48),
    "F8_E4M3": of_dtype("F8_E4M3", "B", 0x38),
    "F8_E5M2": of_dtype("F8_E5M2", "B", 0x3C),
    "C64": of_dtype("C64", "Q", 0),
    # what Python writes, and heed must write again
    "saved, nothing": saved({}),
    "saved": saved({
        "b": torch.arange(6, dtype=torch.float32).reshape(2, 3), "a": torch.tensor(2.5),
        "z": torch.tensor([True, False]), "i": torch.tensor([[-1], [2]]),
        "d": torch.tensor([0.1], dtype=torch.float64), "e": torch.zeros(0, 3),
        "quote\" back\\ tab\t bell\7 del\x7f \u00e9 \U0001f600": torch.tensor([7]),
    }),
}


# ---------------------------------------------------------------- npy files

def npy(header, data=SMALL, version=(1, 0), length=None):
    header = header.encode("latin1") if isinstance(header, str) else header
    pattern = "<H" if version[0] == 1 else "<I"
    return [b"\x93NUMPY", bytes(version),
            struct.pack(pattern, len(header) if length is None else length), header, data]


def literal(descr="'<f4'", order="False", shape="(1,)"):
    return f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}\n"


def numpy_saved(x, version=None):
    f = io.BytesIO()
    np.lib.format.write_array(f, x, version=version)
    return [f.getvalue()]


NPY = {
    "empty file": [b""],
    "wrong magic": [b"\x93NUMPX\1\0" + npy(literal())[2] + literal().encode() + SMALL],
    "only magic": [b"\x93NUMPY\1\0"],
    "half a length": [b"\x93NUMPY\2\0\1\0"],
    "version 0": npy(literal(), version=(0, 0)),
    "version 4": npy(literal(), version=(4, 0)),
    "version 1.1": npy(literal(), version=(1, 1)),
    "header beyond the file": npy(literal(), b"", length=1000),
    "header over the limit": npy(literal()[:-1] + " " * 10000 + "\n"),
    "header empty": npy(""),
    "header not a dictionary": npy("('<f4', False, (1,))"),
    "header truncated": npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1,"),
    "header with NUL": npy(literal() + "\0"),
    "header with more": npy(literal() + "1"),
    "header with another byte": npy(literal()[:-1] + "\xff\n"),
    "key missing": npy("{'descr': '<f4', 'shape': (1,)}"),
    "key extra": npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'x': 1}"),
    "key twice": npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'shape': (1,)}"),
    "no comma": npy("{'descr': '<f4' 'fortran_order': False, 'shape': (1,)}"),
    "descr unknown": npy(literal("'<f3'")),
    "descr without order": npy(literal("'f4'")),
    "descr object": npy(literal("'|O'")),
    "descr text": npy(literal("'<U4'"), SMALL * 4),
    "descr bytes": npy(literal("'|S4'")),
    "descr complex": npy(literal("'<c8'"), SMALL * 2),
    "descr date": npy(literal("'<M8[s]'"), SMALL * 2),
    "descr record": npy(literal("[('a', '<f4')]")),
    "descr a number": npy(literal("4")),
    "order a number": npy(literal(order="0")),
    "shape a number": npy(literal(shape="1")),
    "shape in brackets": npy(literal(shape="(1)")),
    "shape a list": npy(literal(shape="[1]")),
    "shape negative": npy(literal(shape="(-1,)")),
    "shape fractional": npy(literal(shape="(1.0,)")),
    "shape with a leading zero": npy(literal(shape="(01,)")),
    "shape of Python 2": npy(literal(shape="(1L,)")),
    "shape with two commas": npy(literal(shape="(1,,)")),
    "shape overflows": npy(literal(shape="(4294967296, 4294967296)")),
    "shape beyond int64": npy(literal(shape="(18446744073709551616,)")),
    "rank 8": npy(literal(shape="(1, 1, 1, 1, 1, 1, 1, 1)")),
    "rank 9": npy(literal(shape="(1, 1, 1, 1, 1, 1, 1, 1, 1)")),
    "last byte missing": npy(literal(), SMALL[:3]),
    "no data": npy(literal(), b""),
    "trailing byte": npy(literal(), SMALL + b"\0"),
    # what loads
    "plain": npy(literal()),
    "version 2": npy(literal(), version=(2, 0)),
    "version 3": npy(literal(), version=(3, 0)),
    "unpadded": npy("{'descr':'<f4','fortran_order':False,'shape':(1,)}"),
    "other order and quotes": npy(
        '{ "shape" : ( 1 , ) , "fortran_order" : False , "descr" : "<f4" }'),
    "native order": npy(literal("'=f4'")),
    "Fortran order": npy(literal("'<f4'", "True", "(2, 3)"), struct.pack("<6f", *range(6))),
    "Fortran order, 3 dimensions": npy(literal("'<i2'", "True", "(2, 3, 2)"),
                                       struct.pack("<12h", *range(12))),
    "Fortran order, scalar": npy(literal("'<f4'", "True", "()")),
    "big-endian": npy(literal("'>f4'", shape="(2,)"), struct.pack(">2f", 1.5, -2)),
    "big-endian f8": npy(literal("'>f8'"), struct.pack(">d", 0.1)),
    "big-endian i2": npy(literal("'>i2'", shape="(2,)"), struct.pack(">2h", 1, -2)),
    "big-endian, Fortran order": npy(literal("'>i8'", "True", "(2, 2)"),
                                      struct.pack(">4q", *range(4))),
    "u8 beyond int64": npy(literal("'<u8'"), b"\xff" * 8),
    "bool of another byte": npy(literal("'|b1'", shape="(3,)"), b"\0\1\2"),
}
for kind in ("b1", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8"):
    values = np.array([0, 1, 100, 2, 3, 7]).astype(kind).reshape(2, 3)
    NPY["of " + kind] = numpy_saved(values)
for kind in ("b1", "i8", "f4", "f8"):
    values = np.array([0, 1, 100, 2, 3, 7]).astype(kind)
    for shape in ((6,), (3, 2), (1, 1, 1, 2, 3, 1, 1, 1)):
        NPY[f"saved {kind} {len(shape)}"] = numpy_saved(values.reshape(shape))
    NPY[f"saved {kind} 0"] = numpy_saved(values[2].reshape(()))
    NPY[f"saved {kind} of long sizes"] = numpy_saved(
        values[:0].reshape(0, 1000, 1000, 1000, 100, 100, 100, 100))
    NPY[f"saved {kind} of size 0"] = numpy_saved(values[:0].reshape(0, 12345))


# ---------------------------------------------------------------- verdicts

def read_safetensors(path):
    with safe_open(path, "pt") as f:
        return {name: f.get_tensor(name) for name in f.keys()}


def read_npy(path):
    x = np.load(path, allow_pickle=False)
    numbers = x.dtype.kind in "biuf"
    return {"x": torch.from_numpy(x.astype(x.dtype.newbyteorder("=")))} if numbers else {}


def heed_bytes(x):
    """dtype, and the elements' bytes, as heed must have them; None for what it does not take"""
    dtype = TO_HEED.get(str(x.dtype).split(".")[-1])
    if dtype is None or (x.dtype == torch.uint64 and bool((x.view(torch.int64) < 0).any())):
        return None
    if x.numel() == 0:
        return dtype, b""
    if x.dtype == torch.float16:  # PyTorch makes other NaNs of NaNs
        return dtype, x.numpy().astype("f4").tobytes()
    x = x.view(torch.uint8) if x.dtype == torch.bool else x
    x = (x != 0) if dtype == "bool" else x.to(getattr(torch, dtype))
    return dtype, x.contiguous().numpy().tobytes()


def part_text(part):
    return f"{part[0].hex()}*{part[1]}" if isinstance(part, tuple) else part.hex()


def write_case(out, name, parts, read):
    out.write(f"case {name}\n")
    with tempfile.TemporaryDirectory() as d:
        path = os.path.join(d, "x")
        with open(path, "wb") as f:
            for p in parts:
                f.write(p[0] * p[1] if isinstance(p, tuple) else p)
        try:
            tensors = read(path)
            out.write("python loads\n")
        except Exception as e:  # whatever it is, the file is refused
            tensors = {}
            message = " ".join(str(e).replace(path, "x").split())
            message = re.sub("for tensor `.*`", "for a tensor", message)  # any of two, at random
            out.write(f"python refuses: {type(e).__name__}: {message[:160]}\n")
    out.write("file " + " ".join(part_text(p) for p in parts if p) + "\n")
    for key, x in tensors.items():
        known = heed_bytes(x)
        if known and x.dim() <= 8 and len(key) < 1000:
            shape = ",".join(map(str, x.shape)) or "-"
            words = key.encode().hex(), known[0], shape, known[1].hex()
            out.write(" ".join(["tensor"] + [word or "-" for word in words]) + "\n")


def main():
    for name, cases, read, version in (
            ("safetensors", SAFETENSORS, read_safetensors, safetensors.__version__),
            ("npy", NPY, read_npy, np.__version__)):
        with open(os.path.join(sys.argv[1], name + ".txt"), "w", encoding="utf-8") as out:
            package = "numpy" if name == "npy" else "safetensors"
            out.write(f"# {package} {version}, torch {torch.__version__.split('+')[0]}; "
                      "python tools/golden/golden_io.py tests/golden/io\n")
            for case, parts in cases.items():
                write_case(out, case, parts, read)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    warnings.simplefilter("ignore")
    main()
