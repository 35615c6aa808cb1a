#!/usr/bin/env python3
"""Times heed and PyTorch on the same work, in turn, and prints a table of the times beside their goals.

usage: python3 bench/compare.py BUILD_DIR [ROUNDS] [--rows GLOB ...] [--quick] [--threads N]
                                [--level avx2] [--variants LIST] [--model FOLDER] [--json FILE]
       python3 bench/compare.py --survey BUILD_DIR [ROUNDS] [--rows GLOB ...] [--quick] [--tsv FILE]
       python3 bench/compare.py --from FILE ... [--short]

For each row of `heed-bench --list` it starts heed-bench and a process for each variant of PyTorch (torch_work.py; this
Python must have torch). Then each process runs one turn, round by round, so that a change of the machine's speed
affects all of them. The first runs have the same seed and must give the same numbers.

ROUNDS      the number of rounds (20); half for a row whose runs take over a second
--rows      measures the rows that match; without it, all rows except growth/*
--quick     measures 5 rounds, for a first look
--survey    measures every operation (survey.py) in 5 rounds; --quick: those of up to 1024 x 1024
            elements in 2 rounds; --tsv keeps the table, the slowest row first
--level     limits both sides to AVX2, as on a machine without AVX-512
--variants  measures only these of stock,tuned,fused
--model     measures rows hf/*, too, with the folder that tools/models/smollm2 makes; this Python must
            have transformers and peft, and llama-cpp-python and gguf for hf/tokens/bfloat16
--from      prints the results that --json wrote and measures nothing; rows of later files replace earlier ones
--short     prints the table of README.md
"""
import argparse
import datetime
import fnmatch
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import survey
import table

HERE = os.path.dirname(os.path.abspath(__file__))
PAUSE = 0.015  # seconds between turns: PyTorch's threads spin for 10 ms after their work

# What "malloc tuned" means: freed memory is kept and used again, and never given back.
TUNED = {"MALLOC_MMAP_THRESHOLD_": str(1 << 40), "MALLOC_TRIM_THRESHOLD_": str(1 << 40),
         "MALLOC_TOP_PAD_": str(1 << 28)}

# The environment in which both sides use a CPU level.
LEVELS = {"": {}, "avx2": {"HEED_CPU": "avx2", "ATEN_CPU_CAPABILITY": "avx2",
                           "ONEDNN_MAX_CPU_ISA": "AVX2", "MKL_ENABLE_INSTRUCTIONS": "AVX2"}}

VARIANTS = {"tiny_step": "stock fused", "add": "stock", "attention": "stock tuned fused",
            "gpt": "stock tuned fused", "adamw": "fused", "prefill": "tuned fused",
            "decode": "tuned fused", "hf_generate": "stock fused", "hf_step": "stock tuned fused",
            "hf_load": "stock"}

# The rows with which rows of bfloat16 are compared, instead of PyTorch.
BESIDE = {"hf/tokens/bfloat16": ["float32", "llama.cpp"], "hf/prompt/bfloat16": ["float32"],
          "hf/lora/bfloat16": ["float32"], "hf/lora-48/bfloat16": ["float32"]}


class Worker:
    """A process that has set up one row and answers each line with the time of a turn."""

    def __init__(self, name, command, environment, first_line=""):
        self.name = name
        self.ns, self.peaks = [], []
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True, env=dict(os.environ, **environment))
        self.first_line = first_line

    def write(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def read(self):
        line = self.process.stdout.readline()
        if not line:
            sys.exit(f"{os.path.basename(sys.argv[0])}: {self.name} ended: see its message above")
        return json.loads(line)

    def ready(self):
        """Sets up the row. Workers do this one after the other: otherwise their spinning threads
        disturb each other."""
        if self.first_line:
            self.write(self.first_line)
        self.about = self.read()
        return self

    def turn(self):
        time.sleep(PAUSE)
        self.write("turn")
        answer = self.read()
        self.ns.append(answer["ns"])
        self.peaks.append(answer.get("peak", 0))

    def end(self):
        self.process.stdin.close()
        self.about.update(json.loads(self.process.stdout.readline()))
        self.process.wait()


def heed_worker(program, row, threads):
    model = ["--model", row["model"]] if "model" in row else []
    return Worker(f"heed@{threads}",
                  [program, "--worker", "--threads", str(threads), *model, row["name"]], {})


def torch_worker(variant, row, threads):
    environment = {"OMP_NUM_THREADS": str(threads), "MKL_NUM_THREADS": str(threads)}
    if variant == "tuned":
        environment.update(TUNED)
    command = [sys.executable, os.path.join(HERE, "torch_work.py"), variant, str(threads)]
    return Worker(variant, command, environment, json.dumps(row))


def other_worker(program, variant, row, threads):
    """A process of PyTorch or llama.cpp, or of heed with the same row in float32."""
    if variant != "float32":
        return torch_worker(variant, row, threads)
    worker = heed_worker(program, dict(row, name=row["name"].replace("bfloat16", "float32")), threads)
    worker.name = variant
    return worker


# ------------------------------------------------------------------------- one row


def entry_of(worker):
    entry = {"median": statistics.median(worker.ns), "min": min(worker.ns), "runs": len(worker.ns)}
    for key in ("check", "peak_rss", "peak_bytes", "system_allocs", "level"):
        if key in worker.about:
            entry[key] = worker.about[key]
    amount = worker.about.get("amount", 0)
    if amount and statistics.median(worker.peaks):
        entry["of_peak"] = round(statistics.median(
            amount / ns / best for ns, best in zip(worker.ns, worker.peaks)), 6)
    return entry


def run_together(workers, rounds):
    """Measures `rounds` turns of each worker, in turn. Returns the workers' entries by name."""
    slowest = max(w.about["ns"] for w in workers)
    for _ in range((rounds + 1) // 2 if slowest > 1e9 else rounds):
        for worker in workers:
            worker.turn()
    for worker in workers:
        worker.end()
    return {worker.name: entry_of(worker) for worker in workers}


def is_large(row):
    """True if each process of the row takes gigabytes. Such processes do not all run at the same time."""
    return row.get("vocab", 0) > 50000 and row["kind"] in ("gpt", "prefill", "decode") or \
        row.get("tokens", 0) > 2000 or row["kind"] == "adamw" or "model" in row


def run_row(program, row, variants, threads, rounds):
    """The entries of the row, and for each variant how many times as fast heed is: by the medians, by
    the minima, and by the median over the rounds of the ratio within a round (paired)."""
    variants = BESIDE.get(row["name"]) or \
        [v for v in VARIANTS.get(row["kind"], "stock tuned").split() if v in variants]
    groups = [[v] for v in variants] if is_large(row) else [variants]
    counts = [threads] + ([1] if table.wants_one_thread(row) and threads > 1 else [])
    result = {"name": row["name"], "row": row, "ratios": {}, "minima": {}, "paired": {},
              "entries": {}}
    for group in groups:
        workers = [heed_worker(program, row, n).ready() for n in counts]
        others = [other_worker(program, v, row, threads) for v in group]
        everyone = workers + [w.ready() for w in others]
        entries = run_together(everyone, rounds)
        turns = {w.name: w.ns for w in everyone}
        heed_name = f"heed@{threads}"
        heed = entries[heed_name]
        for variant in group:
            result["ratios"][variant] = round(entries[variant]["median"] / heed["median"], 6)
            result["minima"][variant] = round(entries[variant]["min"] / heed["min"], 6)
            result["paired"][variant] = round(statistics.median(
                theirs / ours for theirs, ours in zip(turns[variant], turns[heed_name])), 6)
            check(row, heed["check"], entries[variant]["check"], variant)
        result["entries"].update(entries)
        counts = [threads]
    result["threads"] = threads
    return result


def check(row, ours, theirs, variant):
    """Checks that both did the same work: from the same seed, weights and inputs are the same, and so
    is the mean size of the result. With dropout the draws differ, and in bfloat16 the weights do: there
    the mean is only near."""
    allowed = 0.05 if row.get("dropout", row.get("p", row.get("bfloat16", 0))) else 2e-4
    if not abs(ours - theirs) <= allowed * abs(theirs):
        sys.exit(f"compare.py: {row['name']}: heed gave {ours}, PyTorch ({variant}) {theirs}")


# ------------------------------------------------------------------------- start and size


def run_start(program, row, rounds):
    """Times a whole process, which computes a first result and ends."""
    heed = heed_worker(program, row, 1).ready()
    source = "import torch; print((torch.rand(6, 3) @ torch.rand(3, 2)).sum().item())"
    ns = []
    for _ in range(rounds):
        heed.turn()
    for _ in range(min(rounds, 5)):
        begin = time.perf_counter_ns()
        subprocess.run([sys.executable, "-c", source], stdout=subprocess.DEVNULL, check=True)
        ns.append(time.perf_counter_ns() - begin)
    heed.end()
    theirs = {"median": statistics.median(ns), "min": min(ns), "runs": len(ns)}
    ours = entry_of(heed)
    return {"name": row["name"], "row": row, "threads": 1, "entries": {"heed@1": ours, "stock": theirs},
            "ratios": {"stock": round(theirs["median"] / ours["median"], 6)}}


def library_sizes(build):
    """The bytes of heed's shared library without symbols, and of PyTorch's libraries."""
    import torch
    sizes = {}
    with tempfile.TemporaryDirectory() as folder:
        copy = os.path.join(folder, "libheed.so")
        shutil.copyfile(os.path.realpath(os.path.join(build, "src", "libheed.so")), copy)
        if shutil.which("strip") and subprocess.run(["strip", copy], check=False).returncode == 0:
            sizes["heed"] = os.path.getsize(copy)
    libraries = os.path.join(os.path.dirname(torch.__file__), "lib")
    sizes["torch"] = sum(os.path.getsize(os.path.join(libraries, f)) for f in os.listdir(libraries)
                         if ".so" in f)
    return sizes


# ------------------------------------------------------------------------- command line


def place(args):
    """The machine, the day and the commit."""
    about = {"model name": "?", "cpu family": "?", "model": "?"}  # of the last core
    with open("/proc/cpuinfo", encoding="utf-8") as f:
        for line in f:
            name, _, value = line.partition(":")
            if name.strip() in about:
                about[name.strip()] = value.strip()
    model = f"{about['model name']} (family {about['cpu family']}, model {about['model']})"
    try:
        commit = subprocess.run(["git", "-C", HERE, "describe", "--always", "--dirty"], text=True,
                                capture_output=True, check=False).stdout.strip()
    except OSError:  # there is no git
        commit = ""
    return {"cpu": model, "cores": len(os.sched_getaffinity(0)), "date": datetime.date.today().isoformat(),
            "commit": commit, "level": args.level}


def machine(args):
    import torch
    return {**place(args), "torch": torch.__version__}


def measure(args):
    program = os.path.join(args.build, "bench", "heed-bench")
    model = {"model": os.path.abspath(args.model)} if args.model else {}
    options = [word for name, value in model.items() for word in ("--" + name, value)]
    listed = subprocess.run([program, "--list", *options, *(args.rows or [])], capture_output=True,
                            text=True, check=True)
    rows = [json.loads(line) for line in listed.stdout.splitlines()]
    rows = [{**row, **model} if row["name"].startswith("hf/") else row for row in rows]
    if not rows:
        sys.exit(f"compare.py: no row is called {' or '.join(args.rows)}")
    os.environ.update(LEVELS[args.level])
    variants = args.variants.split(",")
    out = {"machine": machine(args), "sizes": library_sizes(args.build), "rows": []}
    for row in rows:
        begin = time.monotonic()
        if row["kind"] == "start":
            result = run_start(program, row, args.rounds)
        else:
            result = run_row(program, row, variants, args.threads, args.rounds)
        out["rows"].append(result)
        print(f"{table.line_of(result)}  ({time.monotonic() - begin:.0f} s)", file=sys.stderr,
              flush=True)
        if args.json:
            table.write(args.json, out)
    return out


def measure_survey(args):
    """Every operation, in one process a side."""
    program = os.path.join(args.build, "bench", "heed-survey")
    listed = subprocess.run([program, "--list"], capture_output=True, text=True, check=True).stdout
    rows = [json.loads(line) for line in listed.splitlines()]
    if args.rows:
        rows = [r for r in rows if any(fnmatch.fnmatch(r["name"], glob) for glob in args.rows)]
    if args.quick:
        rows = [r for r in rows if r["rows"] <= 1024]
    if not rows:
        sys.exit(f"compare.py: the survey has no row {' or '.join(args.rows)}")
    os.environ.update(LEVELS[args.level])
    threads = str(args.threads)
    heed = Worker("heed-survey", [program, "--threads", threads], {})
    torch = Worker("torch_survey.py", [sys.executable, os.path.join(HERE, "torch_survey.py"), threads],
                   {"OMP_NUM_THREADS": threads, "MKL_NUM_THREADS": threads, **TUNED})
    m = machine(args)
    level = args.level or "the best"
    about = (f"{m['cpu']}, {m['cores']} cores, {threads} threads, {level} level, PyTorch {m['torch']}, "
             f"{m['date']}, commit {m['commit']}; {args.rounds} rounds")
    results = survey.measure(rows, heed, torch, args.rounds,
                             lambda r: args.tsv and survey.write(args.tsv, about, r))
    return survey.markdown(about, results)


def read_results(paths):
    """Rows of later files replace those of the same name in earlier ones. All are of one machine."""
    out, rows = {}, {}
    for path in paths:
        with open(path, encoding="utf-8") as f:
            part = json.load(f)
        if out and part["machine"]["cpu"] != out["machine"]["cpu"]:
            sys.exit(f"compare.py: {path} is of another CPU than {paths[0]}: print them one by one")
        rows.update({r["name"]: r for r in part["rows"]})
        out.update(part)
    out["rows"] = list(rows.values())
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", nargs="?")
    parser.add_argument("rounds", nargs="?", type=int)
    parser.add_argument("--survey", action="store_true")
    parser.add_argument("--tsv", metavar="FILE")
    parser.add_argument("--rows", nargs="+", metavar="GLOB")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--level", default="", choices=list(LEVELS))
    parser.add_argument("--variants", default="stock,tuned,fused")
    parser.add_argument("--model", metavar="FOLDER")
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--from", dest="results", nargs="+", metavar="FILE")
    parser.add_argument("--short", action="store_true")
    args = parser.parse_args()
    if args.results and args.results[0].endswith(".tsv"):
        print(survey.markdown(*survey.read(args.results[0])))
        return
    if args.results:
        results = read_results(args.results)
        print(table.short_table(results) if args.short else table.markdown(results))
        return
    if not args.build:
        parser.error("the build folder is missing")
    default, quick = (5, 2) if args.survey else (20, 5)
    args.rounds = args.rounds or default
    if args.quick:
        args.rounds = min(args.rounds, quick)
    if args.survey:
        print(measure_survey(args))
        return
    print(table.markdown(measure(args)))


if __name__ == "__main__":
    main()
