"""Tests files: a small reader in this file, written from the format's specification, reads the files that heed saves,
and heed reads its files; a checkpoint of a whole run goes on with the same bits.
"""
import ctypes
import json
import os
import shutil
import struct
import tempfile

import torch

import values
from binding import pointers

NAMES = {torch.float32: "F32", torch.float64: "F64", torch.int64: "I64", torch.bool: "BOOL"}
OTHERS = {"F16": torch.float16, "BF16": torch.bfloat16, "I32": torch.int32, "I16": torch.int16,
          "I8": torch.int8, "U8": torch.uint8}


def case(p):
    folder = tempfile.mkdtemp(prefix="oracle-")
    p.kept.append(lambda: shutil.rmtree(folder, ignore_errors=True))
    p.pick((saved, saved, loaded, npy, checkpoint))(p, folder)


def raw(t):
    c = t.detach().contiguous()
    n = c.numel() * c.element_size()
    return ctypes.string_at(c.data_ptr(), n) if n else b""


def read_safetensors(path):
    """({name: (type, shape, bytes)}, metadata): the whole file, checked for gaps."""
    with open(path, "rb") as f:
        data = f.read()
    n = struct.unpack("<Q", data[:8])[0]
    header, body = json.loads(data[8:8 + n]), data[8 + n:]
    metadata = header.pop("__metadata__", {})
    found, end = {}, 0
    for name, entry in sorted(header.items(), key=lambda e: e[1]["data_offsets"]):
        a, b = entry["data_offsets"]
        assert a == end, "a gap before %s" % name
        end = b
        found[name] = entry["dtype"], entry["shape"], body[a:b]
    assert end == len(body), "bytes after the last tensor"
    return found, metadata


def write_safetensors(path, tensors):
    header, body = {}, b""
    for name, (kind, t) in tensors.items():
        b = raw(t)
        header[name] = {"dtype": kind, "shape": list(t.shape), "data_offsets": [len(body), len(body) + len(b)]}
        body += b
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text + body)


def some_tensors(p, n=None):
    """{name: (heed's, PyTorch's)}, some of them views."""
    found = {}
    for i in range(p.r.randrange(0, 5) if n is None else n):
        shape = [p.pick((0, 1, 2, 3, 5)) for _ in range(p.pick((0, 1, 2, 3)))]
        t = p.drawn(shape, p.pick(values.DTYPES), "special")
        h = p.tensor(t)
        if len(shape) > 1 and p.chance(0.4):
            h, t = p.hd.hd_transpose(h, 0, 1), t.transpose(0, 1)
        found[p.pick(("w", "layer.weight", "é", "with space", "q\"uote")) + str(i)] = h, t
    return found


def new_dict(p, tensors=None):
    d = p.dict()
    for name, (h, _) in (tensors or {}).items():
        p.hd.hd_dict_set(d, name.encode(), h)
    return d


def saved(p, folder):
    hd, path = p.hd, os.path.join(folder, "x.safetensors")
    tensors = some_tensors(p)
    p.say("safetensors of %s" % {n: (list(t.shape), str(t.dtype)) for n, (_, t) in tensors.items()})
    d = new_dict(p, tensors)
    texts = {p.pick("abc"): p.pick(("", "text", "é\n\"")) for _ in range(p.r.randrange(0, 3))}
    for name, text in texts.items():
        hd.hd_dict_set_string(d, name.encode(), text.encode())
    p.equal("hd_save_safetensors", hd.hd_save_safetensors(path.encode(), d), True)
    found, metadata = read_safetensors(path)
    p.equal("metadata", metadata, texts)
    p.equal("names in the file", sorted(found), sorted(tensors))
    for name, (kind, shape, data) in found.items():
        t = tensors[name][1]
        p.equal("type, shape and bytes of " + name, (kind, shape, data), (NAMES[t.dtype], list(t.shape), raw(t)))
    again = load(p, path, p.chance(0.5))
    for name, h in p.tensors(again).items():
        p.same("loaded " + name, h, tensors[name][1], 0, None, False, False)
    p.equal("names after load", sorted(p.tensors(again)), sorted(tensors))


def load(p, path, mapped):
    o = p.hd.options("hd_safetensors_options", {"map": mapped})
    return p.dict(p.ok(p.hd.hd_load_safetensors(path.encode(), ctypes.addressof(o)), "hd_load_safetensors"))


def loaded(p, folder):
    """A file that this page writes, with types that heed converts."""
    hd, path = p.hd, os.path.join(folder, "y.safetensors")
    tensors = {}
    for i in range(p.r.randrange(1, 5)):
        shape = [p.pick((0, 1, 3)) for _ in range(p.pick((0, 1, 2)))]
        if p.chance(0.5):
            d = p.pick(values.DTYPES)
            tensors["t%d" % i] = NAMES[d], p.drawn(shape, d, "special")
        else:
            kind = p.pick(list(OTHERS))
            tensors["t%d" % i] = kind, p.drawn(shape, torch.float32, "small").to(OTHERS[kind])
    p.say("a file of %s" % {n: (k, list(t.shape)) for n, (k, t) in tensors.items()})
    write_safetensors(path, tensors)
    f = p.owned(hd.hd_safetensors_open(path.encode(), None), "hd_safetensors_close")
    p.equal("hd_safetensors_len", hd.hd_safetensors_len(f), len(tensors))
    p.equal("hd_safetensors_metadata", hd.hd_dict_len(hd.hd_safetensors_metadata(f)), 0)
    d = p.tensors(load(p, path, p.chance(0.5)))
    for name, (kind, t) in tensors.items():
        i = hd.hd_safetensors_find(f, name.encode())
        p.equal("hd_safetensors_type", hd.hd_safetensors_type(f, i).decode(), kind)
        p.equal("hd_safetensors_name", hd.hd_safetensors_name(f, i).decode(), name)
        n = hd.hd_safetensors_ndim(f, i)
        sizes = (ctypes.c_int64 * n).from_address(hd.hd_safetensors_sizes(f, i)) if n else ()
        p.equal("hd_safetensors_sizes", list(sizes), list(t.shape))
        p.equal("hd_safetensors_bytes", hd.hd_safetensors_bytes(f, i), len(raw(t)))
        if kind in OTHERS:
            t = t.to(torch.float32 if "F" in kind else torch.int64)
        p.same("read " + name, hd.hd_safetensors_read(f, i), t, 0, None, False, False)
        p.same("loaded " + name, d[name], t, 0, None, False, False)


def npy(p, folder):
    """The bytes of numpy.save, by its own page: magic, version 1.0, a dict, padded to 64."""
    hd, path = p.hd, os.path.join(folder, "x.npy")
    shape = [p.pick((0, 1, 2, 5)) for _ in range(p.pick((0, 1, 2, 3)))]
    t = p.drawn(shape, p.pick(values.DTYPES), "special")
    h = p.tensor(t)
    if len(shape) > 1 and p.chance(0.3):
        h, t = hd.hd_transpose(h, 0, 1), t.transpose(0, 1)
    p.say("npy of %r %s" % (list(t.shape), t.dtype))
    p.equal("hd_save_npy", hd.hd_save_npy(path.encode(), h), True)
    kind = {torch.float32: "<f4", torch.float64: "<f8", torch.int64: "<i8", torch.bool: "|b1"}[t.dtype]
    shown = "(%s)" % (", ".join(map(str, t.shape)) + ("," if t.dim() == 1 else ""))
    header = "{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % (kind, shown)
    # NumPy leaves room for the first dim to grow, so the header has at least 21 - len(str(dim)) spaces.
    grow = 21 - len(str(t.shape[0])) if t.dim() else 0
    header += " " * grow
    header += " " * (-(len(header) + 11) % 64) + "\n"
    with open(path, "rb") as f:
        p.equal("bytes of the file", f.read(), b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) +
                header.encode() + raw(t))
    p.same("hd_load_npy", hd.hd_load_npy(path.encode()), t, 0, None, False, False)


# ---- a run that is saved in the middle

def parts(p):
    """A model, its optimizer, its schedule and a generator for its dropout."""
    hd = p.hd
    layers = [hd.hd_linear_new(3, 4, True), hd.hd_dropout_new(0.5, False), hd.hd_linear_new(4, 2, True)]
    m = p.owned(hd.hd_sequential_n(3, pointers(layers)), "hd_module_free")
    o = p.owned(hd.hd_adamw_new(hd.hd_module_parameters(m), None), "hd_optim_free")
    s = p.owned(hd.hd_step_lr_new(o, 2, 0.5), "hd_schedule_free")
    return m, o, s


def steps(p, m, o, s, x, n):
    hd = p.hd
    for _ in range(n):
        hd.hd_optim_zero_grad(o)
        hd.hd_backward(hd.hd_sum(hd.hd_square(hd.hd_forward(m, x))))
        hd.hd_optim_step(o)
        hd.hd_schedule_step(s)
    p.ok(None, "a training step")


def checkpoint(p, folder):
    """A few steps, a checkpoint, a few steps; the same last steps from the loaded checkpoint."""
    hd, path, replace = p.hd, os.path.join(folder, "run"), p.chance(0.5)
    x, n = p.tensor(p.drawn([5, 3])), p.r.randrange(0, 4)
    p.say("a checkpoint after %d steps%s" % (n, ", replaced" if replace else ""))
    g = p.owned(hd.hd_generator_new(p.r.randrange(1 << 30)), "hd_generator_free")
    hd.hd_generator_use(g)
    p.kept.append(lambda: hd.hd_generator_use(None))
    m, o, s = parts(p)
    steps(p, m, o, s, x, n)
    for again in range(2 if replace else 1):
        model = p.dict(hd.hd_module_state_dict(m))
        state = new_dict(p)
        hd.hd_optim_save(o, state, b"optim")
        hd.hd_schedule_save(s, state, b"schedule")
        hd.hd_generator_save(g, state, b"generator")
        hd.hd_dict_set_int(state, b"step", 1 << 60)
        save = hd.hd_checkpoint_replace if again else hd.hd_checkpoint_save
        p.equal("saving a checkpoint", save(path.encode(), model, state), True)
    found, _ = read_safetensors(os.path.join(path, "model.safetensors"))
    p.equal("names of the model's file", sorted(found), sorted(p.tensors(model)))
    steps(p, m, o, s, x, 2)
    resumed(p, path, g, m, x)
    p.equal("hd_checkpoint_remove", hd.hd_checkpoint_remove(path.encode()), True)
    p.equal("what is left", os.listdir(folder), [])


def resumed(p, path, g, first, x):
    hd = p.hd
    boxes = (ctypes.c_void_p * 2)()
    at = ctypes.addressof(boxes)
    p.equal("hd_checkpoint_load", hd.hd_checkpoint_load(path.encode(), at, at + 8), True)
    model, state = map(p.dict, boxes)
    box = ctypes.c_int64()
    hd.hd_dict_get_int(state, b"step", ctypes.addressof(box))
    p.equal("a number of the state", box.value, 1 << 60)
    m, o, s = parts(p)
    for what, ok in (("hd_module_load_state_dict", hd.hd_module_load_state_dict(m, model, True, None)),
                     ("hd_optim_load", hd.hd_optim_load(o, state, b"optim")),
                     ("hd_schedule_load", hd.hd_schedule_load(s, state, b"schedule")),
                     ("hd_generator_load", hd.hd_generator_load(g, state, b"generator"))):
        p.equal(what, ok, True)
    steps(p, m, o, s, x, 2)
    mine, theirs = (p.dict(hd.hd_module_state_dict(each)) for each in (m, first))
    for name, h in p.tensors(mine).items():
        p.same("%s of the run that went on" % name, h, p.read(p.tensors(theirs)[name]))
