"""Writes tests/expected: the output of every notebook cell.

usage: python tools/golden/golden_cells.py NOTEBOOK OUTDIR

NOTEBOOK holds ko/NN.py, ko/NN.out, ru/NN.py and ru/NN.out. All cells are run here, in one process, in the notebook's
order. A PyTorch that draws the MCG31 Bernoulli stream (2.5.1 with MKL) writes OUTDIR/ko and OUTDIR/ru: copies of the
32 .out files, each compared with the cell's output; ru/02 and ru/05, which the source cuts off after 1,000 characters,
get the rest from the cell's output. A PyTorch that draws the native stream (2.7 and later) writes OUTDIR/native: the
cells whose output differs because of the stream, and only those, and OUTDIR/edited: cells of notebooks whose numbers
are changed (EDITS), as the options of the programs notebook_ko and notebook_ru change them.
"""
import ast
import contextlib
import io
import os
import sys

import torch

from golden_format import bernoulli_stream

CUT = {("ru", "02"), ("ru", "05")}
NATIVE = {("ko", "28"), ("ko", "29"), ("ru", "06")}
# --seed 5 --d-out 4 --dropout 0.25 --embeddings 0.9,0.15,0.3, and the five other tokens as they are
EDITS = [("manual_seed(123)", "manual_seed(5)"), ("d_out = 2", "d_out = 4"), ("d_out = 3", "d_out = 4"),
         ("Dropout(0.5)", "Dropout(0.25)"), ("0.43, 0.15, 0.89", "0.9, 0.15, 0.3")]
EDITED = [("ko", "03"), ("ko", "19"), ("ko", "20"), ("ko", "25"), ("ko", "28"), ("ko", "29"), ("ko", "38"),
          ("ru", "03"), ("ru", "05"), ("ru", "06")]


def run_cell(source, variables):
    """The cell's output as a notebook shows it: what it prints, then its last expression."""
    tree = ast.parse(source)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(tree, "cell", "exec"), variables)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), "cell", "eval"), variables)
            if value is not None:
                print(repr(value))
    return out.getvalue()


def read(path):
    with open(path, encoding="utf-8", newline="") as f:
        return f.read()


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8", newline="") as f:
        f.write(text)


def printed_by(notebook, language, edits=()):
    """(cell, printed) of every cell of one notebook"""
    folder = os.path.join(notebook, language)
    variables = {}
    for name in sorted(f[:-3] for f in os.listdir(folder) if f.endswith(".py")):
        source = read(os.path.join(folder, name + ".py"))
        for old, new in edits:
            source = source.replace(old, new)
        yield name, run_cell(source, variables)


def outputs(notebook, language):
    """(cell, printed, expected) of every cell of one notebook that has an expected output"""
    folder = os.path.join(notebook, language)
    for name, printed in printed_by(notebook, language):
        expected = os.path.join(folder, name + ".out")
        if os.path.exists(expected):
            yield name, printed, read(expected)
        elif printed:
            sys.exit(f"{language}/{name} prints {printed!r} and has no expected output")


def main(notebook, out):
    native = bernoulli_stream() == "native"
    count = 0
    for language in ("ko", "ru"):
        for name, printed, expected in outputs(notebook, language):
            cell = (language, name)
            agrees = printed.startswith(expected) if cell in CUT else printed == expected
            if agrees == (native and cell in NATIVE):
                sys.exit(f"{language}/{name} printed\n{printed}\nexpected\n{expected}")
            if native and cell in NATIVE:
                write(os.path.join(out, "native", language, name + ".out"), printed)
            elif not native:
                write(os.path.join(out, language, name + ".out"), printed)
            count += 1
        for name, printed in printed_by(notebook, language, EDITS):
            if native and (language, name) in EDITED:
                write(os.path.join(out, "edited", language, name + ".out"), printed)
    print(f"torch {torch.__version__}, bernoulli {bernoulli_stream()}: {count} outputs")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2])
