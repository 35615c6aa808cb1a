#!/usr/bin/env python3
"""Compares heed with PyTorch 2.13 on random input: functions, programs, modules and the rest.

    python tools/oracle/oracle.py --library build/src/libheed.so ops 20000 programs 5000

SECTION N pairs choose what runs and how many cases; without any, the short form of all sections runs
(--long: the long form). --seed moves all cases, --jobs uses several processes, --case runs one case
of one section and prints it. What differs is shrunk to its fewest lines and printed as C and as
Python. Differences on purpose stand in known.py. The status is 1 when anything else differs.
"""
import argparse
import collections
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
WANTED = "2.13."
CHUNK = 2000    # cases that one process runs before it is asked for the next


def sections():
    """{name: (cases in the short form, in the long form)}, in the order of running."""
    import sections as all_of_them
    return all_of_them.SIZES


class Progress:
    """The number of the case that runs, in a file, so that a crash tells which case it was."""

    def __init__(self, path):
        import mmap
        with open(path, "wb") as f:
            f.write(b"\0" * 8)
        self.file = open(path, "r+b")
        self.map = mmap.mmap(self.file.fileno(), 8)

    def set(self, case):
        self.map[:8] = case.to_bytes(8, "little")


def worker(options):
    """Runs cases [first, first + n) of one section and prints what it found as one line of JSON."""
    import sections as all_of_them
    section, first, n = options.worker
    run = all_of_them.Run(options, Progress(options.progress) if options.progress else None)
    print(json.dumps(run.section(section, int(first), int(n))))
    return 0


class Total:
    """What the sections found so far."""

    def __init__(self):
        self.cases = collections.Counter()
        self.seconds = collections.Counter()
        self.errors = collections.Counter()     # cases that were an error on both sides
        self.known = collections.Counter()
        self.findings = {}
        self.notes = []

    def add(self, section, answer, seconds):
        self.cases[section] += answer["cases"]
        self.errors[section] += answer.get("errors", 0)
        self.seconds[section] += seconds
        self.known.update(answer.get("known", {}))
        self.notes += [n for n in answer.get("notes", []) if n not in self.notes]
        for f in answer["findings"]:
            self.finding(section, f)

    def finding(self, section, f):
        key = (section, f["what"], f["kind"])
        if key in self.findings:
            self.findings[key]["count"] += f["count"]
            return
        self.findings[key] = f
        print("\n%s, case %d: %s, %s\n%s" % (section, f["case"], f["what"], f["kind"], f["text"]))
        if f.get("code"):
            print(f["code"])
        sys.stdout.flush()


def start(options, section, first, n, folder):
    progress = os.path.join(folder, "%s-%d" % (section, first))
    command = [sys.executable, os.path.abspath(__file__), "--library", options.library, "--seed",
               str(options.seed), "--progress", progress, "--worker", section, str(first), str(n)]
    if options.torch251:
        command += ["--torch251", options.torch251]
    if options.plant:
        command += ["--plant", options.plant]
    env = dict(os.environ, OMP_NUM_THREADS="1", MKL_NUM_THREADS="1")
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env), progress


def run_all(options, wanted):
    """Runs the sections in at most options.jobs processes."""
    total, left, running = Total(), [], []
    for section, n in wanted:
        size = CHUNK * 25 if section == "ops" else CHUNK * 5 if section == "programs" else n
        size = min(size, max(1, -(-n // options.jobs))) if section in ("ops", "programs") else n
        left += [(section, at, min(size, n - at)) for at in range(0, n, size)]
    with tempfile.TemporaryDirectory() as folder:
        while left or running:
            while left and len(running) < options.jobs:
                section, at, n = left.pop(0)
                running.append((section, at, n, time.time(), start(options, section, at, n, folder)))
            section, at, n, began, (process, progress) = running.pop(0)
            output = process.communicate()[0]
            finished(total, section, at, n, time.time() - began, process, progress, output)
    return total


def finished(total, section, at, n, seconds, process, progress, output):
    try:
        answer = json.loads(output.strip().split("\n")[-1])
        if process.returncode == 0:
            total.add(section, answer, seconds)
            return
    except ValueError:
        pass
    with open(progress, "rb") as f:
        case = int.from_bytes(f.read(8), "little")
    total.cases[section] += max(0, case - at)
    total.seconds[section] += seconds
    total.finding(section, {"what": "the process", "kind": "crash %d" % process.returncode, "case": case,
                            "count": 1, "text": "it ended with status %d" % process.returncode})


def report(total, missing):
    print()
    for line in missing:
        print("oracle: %s" % line)
    for note in total.notes:
        print("oracle: %s" % note)
    for name, count in sorted(total.known.items()):
        print("oracle: known difference %s: %d" % (name, count))
    for section, n in total.cases.items():
        seconds = max(total.seconds[section], 1e-9)
        print("oracle: %s: %d cases, %d of them errors on both sides, %.0f s, %.0f a second"
              % (section, n, total.errors[section], seconds, n / seconds))
    wrong = sum(f["count"] for f in total.findings.values())
    print("oracle: %d cases, %d kinds of disagreement in %d cases" % (
        sum(total.cases.values()), len(total.findings), wrong))
    return 1 if total.findings or missing else 0


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("what", nargs="*", metavar="SECTION N")
    parser.add_argument("--library", default="build/src/libheed.so")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--long", action="store_true", help="the long form of every section")
    parser.add_argument("--torch251", help="a Python whose torch is 2.5.1, for the MCG31 stream")
    parser.add_argument("--case", type=int, help="run this case only, and print it")
    parser.add_argument("--plant", help="one of the faults of faults.py (a test of the tool)")
    parser.add_argument("--worker", nargs=3, help=argparse.SUPPRESS)
    parser.add_argument("--progress", help=argparse.SUPPRESS)
    return parser.parse_args()


def main():
    options = arguments()
    warnings.filterwarnings("ignore")
    try:
        import torch
    except ImportError:
        print("oracle: skipped: this Python has no torch")
        return 0
    if not torch.__version__.startswith(WANTED):
        print("oracle: skipped: torch is %s, not %sx" % (torch.__version__, WANTED))
        return 0
    if options.worker:
        return worker(options)
    sizes = sections()
    wanted = [(s, sizes[s][1 if options.long else 0]) for s in sizes]
    if options.what:
        wanted = [(s, int(n)) for s, n in zip(options.what[::2], options.what[1::2])]
    unknown = [s for s, _ in wanted if s not in sizes]
    if unknown or len(options.what) % 2:
        print("oracle: expected SECTION N pairs; sections: %s" % ", ".join(sizes))
        return 2
    import sections as all_of_them
    run = all_of_them.Run(options, None)
    if options.case is not None:
        return run.show(wanted[0][0], options.case)
    missing = run.whole()
    return report(run_all(options, wanted), missing)


if __name__ == "__main__":
    sys.exit(main())
