#!/usr/bin/env python3
"""Times rows of the survey in two builds of heed, in turn, to see whether a change made them slower.

usage: bench/pair.py OLD_BUILD NEW_BUILD PATTERN... [--rounds 5] [--starts 2] [--level L] [--threads 1] [--all]

It prints the rows whose least time in NEW_BUILD is above 1.03 times the least in OLD_BUILD (--all: every row): this
ratio; the noise, which is the ratio of OLD_BUILD to itself in a third process; and both times in ns. Rows above the
limit are timed again, longer and in new processes, because the addresses of a process's memory matter too. With one
thread it measures CPU time, so that other work on the machine hardly disturbs it.
"""
import argparse
import fnmatch
import json
import math
import os
import pathlib
import subprocess
import tempfile

CLOCK = """
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
int clock_gettime(clockid_t id, struct timespec *t)
{
    return (int)syscall(SYS_clock_gettime, id == CLOCK_MONOTONIC ? CLOCK_PROCESS_CPUTIME_ID : id, t);
}
"""


class Survey:
    """A heed-survey that is asked for one row after the other"""

    def __init__(self, build, options, environment):
        self.process = subprocess.Popen([build / "bench/heed-survey", *options], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True, env=environment)

    def ask(self, text):
        print(text, file=self.process.stdin, flush=True)
        return json.loads(self.process.stdout.readline())

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", type=pathlib.Path)
    parser.add_argument("new", type=pathlib.Path)
    parser.add_argument("patterns", nargs="+")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--starts", type=int, default=2)
    parser.add_argument("--level")
    parser.add_argument("--threads", default="1")
    parser.add_argument("--all", action="store_true")
    options = parser.parse_args()
    builds = [options.old.resolve(), options.new.resolve(), options.old.resolve()]

    listed = subprocess.run([builds[0] / "bench/heed-survey", "--list"], check=True, capture_output=True, text=True)
    rows = [row for row in map(json.loads, listed.stdout.splitlines())
            if any(fnmatch.fnmatch(row["name"], pattern) for pattern in options.patterns)]
    best = {row["name"]: [math.inf] * 3 for row in rows}
    environment = dict(os.environ, **{"HEED_CPU": options.level} if options.level else {})

    def measure(rows, rounds):
        surveys = [Survey(build, ["--threads", options.threads], environment) for build in builds]
        for row in rows:
            for survey in surveys:
                survey.ask(row["id"])
            for _ in range(rounds):
                for i, survey in enumerate(surveys):
                    best[row["name"]][i] = min(best[row["name"]][i], survey.ask("turn")["ns"])
        for survey in surveys:
            survey.close()

    def ratio(row):
        old, new, again = best[row["name"]]
        return new / min(old, again)

    with tempfile.TemporaryDirectory() as folder:
        if options.threads == "1":
            clock = pathlib.Path(folder, "clock.so")
            subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-x", "c", "-", "-o", clock], input=CLOCK, text=True,
                           check=True)
            environment["LD_PRELOAD"] = str(clock)
        measure(rows, options.rounds)
        for start in range(options.starts):
            measure([row for row in rows if ratio(row) > 1.03], options.rounds * 3)

    slower = [row for row in rows if ratio(row) > 1.03]
    for row in rows if options.all else slower:
        old, new, again = best[row["name"]]
        print(f"{ratio(row):.3f}  {max(old, again) / min(old, again):.3f}  {min(old, again):.0f}  {new:.0f}  {row['name']}")
    mean = math.exp(sum(math.log(ratio(row)) for row in rows) / max(1, len(rows)))
    print(f"{len(rows)} rows, geometric mean {mean:.3f}, {len(slower)} above 1.03")


if __name__ == "__main__":
    main()
