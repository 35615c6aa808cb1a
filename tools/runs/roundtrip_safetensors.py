#!/usr/bin/env python3
"""Checks that heed -> PyTorch -> heed, through safetensors files, keeps every byte.

usage: tools/runs/roundtrip_safetensors.py BUILDDIR [FILE]

It needs PyTorch and the package safetensors. The script keeps PyTorch's file as FILE; the committed one is
tests/golden/io/roundtrip.safetensors, with which `meson test` repeats the last step.
"""
import os
import shutil
import subprocess
import sys
import tempfile

import safetensors.torch
import torch


def same(a, b):
    with open(a, "rb") as x, open(b, "rb") as y:
        return x.read() == y.read()


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    program = os.path.join(sys.argv[1], "tests", "test_io")
    with tempfile.TemporaryDirectory() as d:
        first, second, third = (os.path.join(d, name) for name in ("heed", "torch", "again"))
        subprocess.run([program, "make", first], check=True)
        tensors = safetensors.torch.load_file(first)
        safetensors.torch.save_file(tensors, second)
        subprocess.run([program, "copy", second, third], check=True)
        dtypes = sorted({str(x.dtype) for x in tensors.values()})
        equal = same(first, second) and same(second, third)
        print(f"{len(tensors)} tensors of {', '.join(dtypes)}; {os.path.getsize(first)} bytes; "
              f"torch {torch.__version__}: {'the same bytes' if equal else 'OTHER BYTES'}")
        if equal and len(sys.argv) == 3:
            shutil.copyfile(second, sys.argv[2])
    return 0 if equal else 1


sys.exit(main())
