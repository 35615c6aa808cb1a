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
import golden_rotary
import golden_sdpa
import golden_steps
import golden_table

FILES = {
    "rng": golden_rng, "data": golden_data, "repr": golden_repr, "ops": golden_calls, "grads": golden_calls,
    "attention": golden_attention, "sdpa": golden_sdpa, "rotary": golden_rotary, "modules": golden_modules, "optim": golden_steps,
    "steps": golden_steps, "init": golden_init, "layout": golden_layout, "gpt": golden_gpt,
    "arange": golden_arange, "signs": golden_calls, "names": golden_names, "functions": golden_table,
}
STREAMS = {"native": list(FILES), "mcg31": ["rng", "attention", "sdpa", "gpt"]}


def main(args):
    stream = "native"
    if args[:1] == ["--stream"]:
        stream, args = args[1], args[2:]
    if not args or stream not in STREAMS:
        sys.exit(__doc__)
    if golden_format.bernoulli_stream() != stream:
        sys.exit(f"torch {torch.__version__} does not draw the {stream} Bernoulli stream")
    torch.set_num_threads(1)
    out, names = args[0], args[1:] or STREAMS[stream]
    suffix, option = ("", "") if stream == "native" else ("_mcg31", "--stream mcg31 ")
    for name in names:
        command = f"python tools/golden/golden.py {option}tests/golden {name}"
        writer = golden_format.Writer(out, name + suffix + ".txt", command)
        FILES[name].write(writer)
        writer.close()


if __name__ == "__main__":
    main(sys.argv[1:])
