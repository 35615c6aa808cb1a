#!/usr/bin/env python3
"""Compares heed with PyTorch 2.13 on random input: functions, programs, modules and the rest.

    python tools/oracle/oracle.py --library build/src/libheed.so ops 20000 programs 5000

SECTION N pairs choose what runs and how many cases; without any, the short form of all sections runs (--long: the long
form). --seed moves all cases, --jobs uses several processes, --case runs one case of one section and prints it. A
difference is shrunk to the fewest lines and printed as C and as Python. known.py lists the intended differences. The
status is 1 if there is any other.
"""
import argparse
import collections
import json
import mmap
import os
import subprocess
import sys
import tempfile
import time
import warnings

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
WANTED = "2.13."
try:
    import torch
    VERSION = torch.__version__
except ImportError:
    VERSION = ""
if VERSION.startswith(WANTED):
    import sections
CHUNK = 50000   # cases of one task, after which its findings are printed
BATCH = 24      # tasks of one process


class Progress:
    """Writes the running task and case to a file, so that a crash can be traced to its case."""

    def __init__(self, path):
        with open(path, "wb") as f:
            f.write(b"\0" * 16)
        self.file = open(path, "r+b")
        self.map = mmap.mmap(self.file.fileno(), 16)

    def task(self, number):
        self.map[:8] = number.to_bytes(8, "little")

    def set(self, case):
        self.map[8:] = case.to_bytes(8, "little")


def worker(options):
    """Runs tasks (section, first case, cases), and prints the findings of each as a line of JSON."""
    progress = Progress(options.progress)
    run = sections.Run(options, progress)
    for number, (section, first, n) in enumerate(json.loads(options.worker)):
        progress.task(number)
        progress.set(first)
        began = time.time()
        answer = run.section(section, first, n)
        print(json.dumps(dict(answer, seconds=time.time() - began)), flush=True)
    return 0


class Total:
    """The findings of the sections so far."""

    def __init__(self):
        self.cases = collections.Counter()
        self.seconds = collections.Counter()
        self.errors = collections.Counter()     # cases that were an error on both sides
        self.known = collections.Counter()
        self.findings = {}
        self.notes = []
        self.began = time.time()

    def add(self, section, answer):
        self.cases[section] += answer["cases"]
        self.errors[section] += answer.get("errors", 0)
        self.seconds[section] += answer["seconds"]
        self.known.update(answer.get("known", {}))
        self.notes += [n for n in answer.get("notes", []) if n not in self.notes]
        for f in answer["findings"]:
            self.finding(section, f)
        print("oracle: %s: %d cases so far, after %.0f s" % (
            section, self.cases[section], time.time() - self.began), file=sys.stderr, flush=True)

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


def start(options, tasks, folder, number):
    progress = os.path.join(folder, str(number))
    command = [sys.executable, os.path.abspath(__file__), "--library", options.library, "--seed",
               str(options.seed), "--progress", progress, "--worker", json.dumps(tasks)]
    for name in ("torch251", "plant"):
        if getattr(options, name):
            command += ["--" + name, getattr(options, name)]
    env = sections.environment(tasks[0][0])
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env), progress


def batches(wanted, jobs):
    """The tasks of each process. A level of the CPU has a process of its own."""
    tasks, alone = [], []
    for section, n in wanted:
        if section in sections.LEVELS:
            alone.append([(section, 0, n)])
            continue
        size = min(n, CHUNK, max(1, -(-n // jobs))) if section in sections.STEPS else n
        tasks += [(section, at, min(size, n - at)) for at in range(0, n, size)]
    share = max(1, -(-len(tasks) // max(jobs, -(-len(tasks) // BATCH))))
    return [tasks[at::-(-len(tasks) // share)] for at in range(-(-len(tasks) // share))] + alone


def run_all(options, wanted):
    """Runs the sections in at most options.jobs processes at a time."""
    total, left, running, number = Total(), batches(wanted, options.jobs), [], 0
    with tempfile.TemporaryDirectory() as folder:
        while left or running:
            while left and len(running) < options.jobs:
                tasks, number = left.pop(0), number + 1
                running.append((tasks, start(options, tasks, folder, number)))
            tasks, (process, progress) = running.pop(0)
            rest = finished(total, tasks, process, progress)
            if rest:
                left.insert(0, rest)
    return total


def finished(total, tasks, process, progress):
    """Takes a process's answers, as they come. Returns the tasks that are left after a crash."""
    done = 0
    for line in process.stdout:
        total.add(tasks[done][0], json.loads(line))
        done += 1
    if process.wait() == 0:
        return []
    if not os.path.exists(progress):
        raise SystemExit("oracle: a process ended with status %d before its first case" % process.returncode)
    with open(progress, "rb") as f:
        f.read(8)
        case = int.from_bytes(f.read(8), "little")
    section, first, n = tasks[done]
    total.finding(section, {"what": "the process", "kind": "crash %d" % process.returncode, "case": case,
                            "count": 1, "text": "it ended with status %d" % process.returncode})
    if process.returncode > 0:      # an exception of the tool itself
        return []
    more = [(section, case + 1, first + n - case - 1)] if case + 1 < first + n else []
    return more + tasks[done + 1:]


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
    print("oracle: %d cases, %d kinds of disagreement in %d cases, %d faults in the list of functions" % (
        sum(total.cases.values()), len(total.findings), wrong, len(missing)))
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
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    parser.add_argument("--progress", help=argparse.SUPPRESS)
    return parser.parse_args()


def main():
    options = arguments()
    warnings.filterwarnings("ignore")
    if not VERSION.startswith(WANTED):
        found = "torch is " + VERSION if VERSION else "this Python has no torch"
        print("oracle: %s: expected %sx, as in docs/testing.md" % (found, WANTED))
        return 2
    if options.worker:
        return worker(options)
    sizes = sections.SIZES      # in the order of running
    wanted = [(s, sizes[s][1 if options.long else 0]) for s in sizes]
    if options.what:
        wanted = [(s, int(n)) for s, n in zip(options.what[::2], options.what[1::2])]
    unknown = [s for s, _ in wanted if s not in sizes]
    if unknown or len(options.what) % 2:
        print("oracle: expected SECTION N pairs; sections: %s" % ", ".join(sizes))
        return 2
    run = sections.Run(options, None)
    if options.case is not None:
        return run.show(wanted[0][0], options.case)
    missing = run.whole()
    return report(run_all(options, wanted), missing)


if __name__ == "__main__":
    sys.exit(main())
