#!/usr/bin/env python3
"""Follows docs/guides/pytorch.md: runs its Python, and the programs whose output it shows, in order.

usage: tools/runs/pytorch_guide.py BUILDDIR [FILE]

It needs PyTorch, NumPy and the package safetensors. The printed output must be the output in the chapter. Then heed
samples from the GPT weights that PyTorch wrote, and trains them further, as the chapter says. The script keeps the
first file of PyTorch as FILE; the committed one is tests/golden/guide/back.safetensors, with which `meson test`
repeats the step after it.
"""
import contextlib
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
CHAPTER = os.path.join(ROOT, "docs", "guides", "pytorch.md")
BLOCK = re.compile(r"^(?:<!-- (.*?) -->\n)?```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BACK = "back.safetensors"

sys.path.insert(0, os.path.join(ROOT, "tools", "golden"))
sys.dont_write_bytecode = True
from golden_gpt import GPTModel  # noqa: E402


def printed_by(program, *arguments):
    done = subprocess.run([program, *arguments], capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else f"{done.stdout}{done.stderr}"


def follow(programs, keep):
    """Runs the blocks of the chapter in the current folder; returns how many differ, and of how many."""
    with open(CHAPTER, encoding="utf-8") as f:
        blocks = BLOCK.findall(f.read())
    names, printed, wrong, compared = {"GPTModel": GPTModel}, "", 0, 0
    for what, language, text in blocks:
        if language == "python":
            with contextlib.redirect_stdout(io.StringIO()) as out:
                exec(compile(text, CHAPTER, "exec"), names)  # the chapter is part of this repository
            printed = out.getvalue()
            if keep and os.path.exists(BACK):
                shutil.copyfile(BACK, keep)
                keep = None
            continue
        if what.startswith("output of "):
            program, *arguments = what.removeprefix("output of ").split()
            printed = printed_by(os.path.join(programs, program), *arguments)
        elif what != "printed by Python":
            continue
        compared += 1
        if printed != text:
            wrong += 1
            print(f"the chapter shows\n{text}instead of\n{printed}")
    return wrong, compared


def gpt(programs, *arguments):
    subprocess.run([os.path.join(programs, arguments[0]), *arguments[1:]], check=True,
                   stdout=subprocess.DEVNULL)


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    programs = os.path.abspath(os.path.join(sys.argv[1], "examples"))
    keep = os.path.abspath(sys.argv[2]) if len(sys.argv) == 3 else None
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        gpt(programs, "train_gpt", "--set", "out=mine", "--set", "train.steps=10", "--set",
            "train.schedule=constant", "--set", "sample.length=10")
        wrong, compared = follow(programs, keep)
        shutil.copyfile(BACK, "mine/best/model.safetensors")
        gpt(programs, "sample_gpt", "mine/best", "static", "--length", "10")
        shutil.copyfile(BACK, "mine/last/model.safetensors")
        gpt(programs, "train_gpt", "--resume", "mine", "--set", "train.steps=12")
        os.chdir(ROOT)
    print(f"{compared} outputs compared, {wrong} differ; the GPT was sampled and trained on")
    return 1 if wrong or not compared else 0


sys.exit(main())
