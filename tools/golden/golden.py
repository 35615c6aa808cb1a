"""Makes the golden data of tests/golden.

usage: python tools/golden/golden.py [--stream mcg31] OUTDIR [names...]

It needs PyTorch: 2.13 for the data itself, and 2.5.1 with MKL for the files of `--stream mcg31`,
the Bernoulli stream of the notebooks. tests/golden/README.md describes the format.
"""
import sys

import torch

import golden_arange
import golden_attention
import golden_calls
import golden_data
import golden_format
import golden_gpt
import golden_init
import golden_layout
import golden_modules
import golden_names
import golden_repr
import golden_rng
import golden_sdpa
import golden_steps
import golden_table

FILES = {
    "native": {
        "rng": golden_rng.write,
        "data": golden_data.write,
        "repr": golden_repr.write,
        "ops": golden_calls.write,
        "grads": golden_calls.write,
        "attention": golden_attention.write,
        "sdpa": golden_sdpa.native,
        "modules": golden_modules.write,
        "optim": golden_steps.write,
        "steps": golden_steps.write,
        "init": golden_init.write,
        "layout": golden_layout.write,
        "gpt": golden_gpt.native,
        "arange": golden_arange.write,
        "signs": golden_calls.write,
        "names": golden_names.write,
        "functions": golden_table.write,
    },
    "mcg31": {
        "rng": golden_rng.write,
        "attention": golden_attention.write,
        "sdpa": golden_sdpa.mcg31,
        "gpt": golden_gpt.mcg31,
    },
}


def main(args):
    stream = "native"
    if args[:1] == ["--stream"]:
        stream, args = args[1], args[2:]
    if not args or stream not in FILES:
        sys.exit(__doc__)
    if golden_format.bernoulli_stream() != stream:
        sys.exit(f"torch {torch.__version__} does not draw the {stream} Bernoulli stream")
    torch.set_num_threads(1)
    out, names = args[0], args[1:] or list(FILES[stream])
    suffix, option = ("", "") if stream == "native" else ("_mcg31", "--stream mcg31 ")
    for name in names:
        command = f"python tools/golden/golden.py {option}tests/golden {name}"
        writer = golden_format.Writer(out, name + suffix + ".txt", command)
        FILES[stream][name](writer)
        writer.close()


if __name__ == "__main__":
    main(sys.argv[1:])
