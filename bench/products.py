#!/usr/bin/env python3
"""Times products of float32 matrices by heed, MKL, OpenBLAS and oneDNN, in turn, and prints a table.

usage: VENV/bin/python bench/products.py BUILD [--old BUILD2] [--threads 1 2] [--rounds N] [--level avx2]
                                         [--shapes GLOB ...] [--priority] [--tsv FILE]
       python3 bench/products.py --from FILE

The other libraries are in a virtual environment:

    python3 -m venv VENV && VENV/bin/pip install mkl scipy-openblas32 onednn-cpu-gomp

BUILD/bench/heed-products (products.c) runs once for each library and number of threads, with the same loop for all. For
each shape the processes make the same matrices and compare elements of their products with sums in float64. Then each
process runs one turn, round by round.

--old       also times the libheed of BUILD2, in the heed-products of BUILD
--threads   the numbers of threads (1 2)
--rounds    the number of rounds (15)
--level     limits all libraries to AVX2
--shapes    measures the shapes that match, as '2048x* *' or '* nt'
--priority  runs the processes under `chrt -f 40`, before all usual work of the machine; needs the right to do so
--tsv       keeps the results in FILE
--from      prints the table of such a FILE and measures nothing
"""
import argparse
import fnmatch
import glob
import importlib.metadata
import math
import os
import statistics
import subprocess
import sys
import time

from compare import LEVELS, PAUSE, Worker, place

# m x n x k, and nn, or nt if b is stored as (n, k)
SHAPES = ["2048x2048x2048 nn", "2048x2048x2048 nt", "1024x3072x768 nn", "1024x3072x768 nt", "256x768x768 nn",
          "256x768x768 nt", "512x512x512 nn", "512x512x512 nt", "384x384x384 nn", "256x256x256 nn", "192x192x192 nn",
          "192x192x192 nt", "128x768x768 nn", "64x768x768 nn", "64x768x768 nt", "32x768x768 nn", "16x768x768 nn",
          "8x768x768 nn", "1x3072x768 nn", "128x128x128 nn", "64x64x64 nn", "16x16x16 nn", "6x2x3 nn"]

# name: package of PyPI, file in the virtual environment, function
OTHERS = {"MKL": ("mkl", "lib/libmkl_rt.so.*", "cblas_sgemm"),
          "OpenBLAS": ("scipy-openblas32", "lib/python*/site-packages/scipy_openblas32/lib/libscipy_openblas.so",
                       "scipy_cblas_sgemm"),
          "oneDNN": ("onednn-cpu-gomp", "lib/libdnnl.so", "dnnl_sgemm")}

# The threads of MKL and OpenBLAS spin for 200 and 25 ms after their work. Here they stop before the pause ends, as
# oneDNN's do.
SPIN = {"MKL_DYNAMIC": "FALSE", "KMP_BLOCKTIME": "10", "OPENBLAS_THREAD_TIMEOUT": "24"}
LEVELS["avx2"]["OPENBLAS_CORETYPE"] = "Haswell"

ERROR = 1e-4  # the most that an element may differ, as a share of the largest one
COLUMNS = ["shape", "threads", "library", "median_ns", "min_ns", "gflops", "of_peak", "ghz"]


# ------------------------------------------------------------------------- processes


def found_libraries():
    """{name: (file, function)} of the libraries in the virtual environment"""
    found = {}
    for name, (package, pattern, function) in OTHERS.items():
        files = glob.glob(os.path.join(sys.prefix, pattern))
        if files:
            found[name] = files[0], function
        else:
            print(f"products.py: {name} is left out; it is installed by: {sys.executable} -m pip install {package}",
                  file=sys.stderr)
    return found


def start(args, name, threads, arguments=(), preload=""):
    environment = {**LEVELS[args.level], **SPIN, "LD_LIBRARY_PATH": os.path.join(sys.prefix, "lib"),
                   "LD_PRELOAD": preload}
    for variable in ("MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
        environment[variable] = str(threads)
    first = ["chrt", "-f", "40"] if args.priority else []
    program = os.path.join(args.build, "bench", "heed-products")
    return Worker(name, [*first, program, str(threads), *arguments], environment)


def start_all(args):
    """{(threads, name): process}"""
    libraries, workers = found_libraries(), {}
    old = os.path.abspath(os.path.join(args.old, "src", "libheed.so")) if args.old else ""
    if old and not os.path.exists(old):
        sys.exit(f"products.py: there is no {old}")
    for threads in args.threads:
        workers[threads, "heed"] = start(args, "heed", threads)
        if old:
            workers[threads, "old"] = start(args, "old", threads, preload=old)
        for name, arguments in libraries.items():
            workers[threads, name] = start(args, name, threads, arguments)
    return workers


def ask(worker, line):
    """The pause is at least a tenth of the work: Linux stops processes of a real-time priority that take over 95% of
    each second."""
    begin = time.monotonic()
    worker.write(line)
    answer = worker.read()
    time.sleep(max(PAUSE, 0.1 * (time.monotonic() - begin)))
    return answer


# ------------------------------------------------------------------------- measuring


def work_of(shape):
    """(the sizes m, n and k, the form nn or nt)"""
    sizes, form = shape.split(" ")
    return [int(size) for size in sizes.split("x")], form


def measure_shape(shape, workers, rounds):
    """The results of one shape, in the order of COLUMNS."""
    sizes, form = work_of(shape)
    flop = 2 * math.prod(sizes)
    turns = {key: [] for key in workers}
    for (threads, name), worker in workers.items():
        error = ask(worker, f"{' '.join(map(str, sizes))} {form}")["error"]
        if not error <= ERROR:
            sys.exit(f"products.py: {shape}: {name} on {threads} threads differs from the sums in float64 by "
                     f"{error} of the largest element")
    for _ in range(rounds):
        for key, worker in workers.items():
            turns[key].append(ask(worker, "turn"))
    results = []
    for (threads, name), answers in turns.items():
        peaks = [answer["peak"] for answer in turns[threads, "heed"]]
        ns = [answer["ns"] for answer in answers]
        share = statistics.median(flop / n / peak for n, peak in zip(ns, peaks))
        results.append([shape, threads, name, statistics.median(ns), min(ns), flop / statistics.median(ns), share,
                        statistics.median(answer["ghz"] for answer in answers)])
    return results


def measure(args):
    shapes = [shape for shape in SHAPES if any(fnmatch.fnmatch(shape, pattern) for pattern in args.shapes)]
    if not shapes:
        sys.exit(f"products.py: no shape matches {' or '.join(args.shapes)}")
    if args.priority and subprocess.run(["chrt", "-f", "40", "true"], check=False).returncode:
        sys.exit("products.py: --priority is not permitted here")
    workers = start_all(args)
    here = place(args)
    names = {name for _, name in workers}
    versions = [f"{package} {importlib.metadata.version(package)}" for name, (package, *_) in OTHERS.items()
                if name in names]
    about = ", ".join([here["cpu"], f"{here['cores']} cores", f"{args.level or 'the best'} level", *versions,
                       here["date"], f"commit {here['commit']}"]) + f"; {args.rounds} rounds"
    results = []
    for shape in shapes:
        begin = time.monotonic()
        results += measure_shape(shape, workers, args.rounds)
        print(f"{shape}  ({time.monotonic() - begin:.0f} s)", file=sys.stderr, flush=True)
    for worker in workers.values():
        worker.process.stdin.close()
        worker.process.wait()
    return about, results


# ------------------------------------------------------------------------- results


def write(path, about, results):
    with open(path, "w", encoding="utf-8") as f:
        f.write(f"# {about}\n# " + "\t".join(COLUMNS) + "\n")
        for shape, threads, name, median, least, gflops, share, ghz in results:
            f.write(f"{shape}\t{threads}\t{name}\t{median:.1f}\t{least:.1f}\t{gflops:.2f}\t{share:.3f}\t{ghz:.2f}\n")


def read(path):
    with open(path, encoding="utf-8") as f:
        about, _, *lines = f.read().splitlines()
    cells = [line.split("\t") for line in lines]
    return about[2:], [[shape, int(threads), name, *map(float, rest)] for shape, threads, name, *rest in cells]


def microseconds(ns):
    us = ns / 1000
    return f"{us:,.0f}" if us >= 100 else f"{us:.3g}"


def ratios_of(theirs, ours):
    """The ratios of the least median and of the least time to heed's"""
    return [min(column) / mine for column, mine in zip(zip(*theirs), ours)]


def row_of(shape, threads, names, of):
    """A line of the table, and the ratios of the best other library. of: {(shape, threads, name): its numbers}"""
    *ours, _, share, ghz = of[shape, threads, "heed"]
    times = {name: of[shape, threads, name][:2] for name in names}
    best = ratios_of([times[name] for name in names if name in OTHERS], ours)
    old = ratios_of([times["old"]], ours) if "old" in times else []
    ratios = [" / ".join(f"{ratio:.2f}" for ratio in pair) for pair in (best, old) if pair]
    gain = [f"{of[shape, 1, 'heed'][0] / ours[0]:.2f}"] if threads > 1 and (shape, 1, "heed") in of else []
    cells = [shape, *(microseconds(median) for median, _ in times.values()), *ratios, f"{share:.0%}"]
    return [*cells, f"{ghz:.2f}" if ghz else "", *gain], best


def markdown(about, results):
    of = {(shape, threads, name): rest for shape, threads, name, *rest in results}
    shapes, counts, names = (list(dict.fromkeys(column)) for column in list(zip(*results))[:3])
    lines = [about]
    for threads in counts:
        rows = [row_of(shape, threads, names, of) for shape in shapes]
        ratios = [best[0] for _, best in rows if best]
        head = ["m x n x k", *(f"{name}, us" for name in names), *(["best other / heed"] if ratios else []),
                *(["old / heed"] if "old" in names else []), "of peak", "GHz",
                *([f"gain of {threads} threads"] if threads > 1 and 1 in counts else [])]
        lines += ["", f"On {threads} thread{'s' if threads > 1 else ''}:", "", "| " + " | ".join(head) + " |",
                  "|---" * len(head) + "|", *("| " + " | ".join(cells) + " |" for cells, _ in rows)]
        if ratios:
            lines += ["", f"The geometric mean of best other / heed is {statistics.geometric_mean(ratios):.2f}; "
                      f"{sum(ratio >= 1 for ratio in ratios)} of {len(ratios)} ratios are at least 1."]
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", nargs="?")
    parser.add_argument("--old", metavar="BUILD2")
    parser.add_argument("--threads", nargs="+", type=int, default=[1, 2])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--level", default="", choices=list(LEVELS))
    parser.add_argument("--shapes", nargs="+", metavar="GLOB", default=["*"])
    parser.add_argument("--priority", action="store_true")
    parser.add_argument("--tsv", metavar="FILE")
    parser.add_argument("--from", dest="results", metavar="FILE")
    args = parser.parse_args()
    if args.results:
        print(markdown(*read(args.results)))
        return
    if not args.build:
        parser.error("the build folder is missing")
    about, results = measure(args)
    if args.tsv:
        write(args.tsv, about, results)
    print(markdown(about, results))


if __name__ == "__main__":
    main()
