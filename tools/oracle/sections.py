"""The sections of a run and their sizes; runs the cases of a section and reports them."""
import collections
import os
import sys

import torch

import arguments
import binding
import difference
import faults
import feeding
import files
import graph
import classes
import known  # noqa: F401 (its entries)
import mcg31
import modules
import ops
import pairs
import printing
import programs
import reasons
import shrink
import streams
import train
import wide
import write
from machine import ROUGH

SHOWN = 40      # the most kinds of disagreement of one section that are shrunk

# Cases in the short form and in the long form, in the order of running. The sections of steps are
# shrunk; a case of the others describes itself.
SIZES = {
    "ops": (20000, 1000000), "programs": (5000, 200000), "baseline": (2000, 50000),
    "avx2": (2000, 50000), "modules": (400, 20000), "classes": (200, 10000), "train": (300, 20000),
    "streams": (300, 20000), "feeding": (300, 20000), "graph": (500, 50000), "files": (150, 5000),
    "printing": (1000, 100000), "mcg31": (50, 5000), "large": (40, 2000), "threads": (4, 100),
}
STEPS = ("ops", "programs", "baseline", "avx2")
LEVELS = ("baseline", "avx2")   # ops, in a process whose HEED_CPU is this
CASES = {
    "modules": modules.case, "classes": classes.case, "train": train.case, "streams": streams.case,
    "feeding": feeding.case, "graph": graph.case, "files": files.case, "printing": printing.case,
    "mcg31": mcg31.case, "large": wide.case, "threads": wide.threads_case,
}


def environment(section):
    """The variables that a process of this section has in its environment beside ours."""
    more = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    if section in LEVELS:
        more["HEED_CPU"] = section
    return dict(os.environ, **more)


class Run:
    """One process: the library, the table, and the sections."""

    def __init__(self, options, progress):
        torch.set_num_threads(1)
        self.options, self.progress = options, progress
        self.hd = binding.Library(options.library)
        self.hd.hd_set_num_threads(1)
        if options.plant:
            faults.plant(self.hd, options.plant)
        self.rows = arguments.rows_of(self.hd)
        self.words = ops.words_of(self.rows)

    def begin(self):
        g = self.hd.hd_default_generator()
        self.hd.hd_generator_set_bernoulli(g, self.hd.values["HD_BERNOULLI_NATIVE"])

    def whole(self):
        """The faults of the tool's own tables, as lines."""
        self.begin()
        return reasons.missing(self.hd, self.rows) + difference.stale(self.hd, self.rows)

    def seed(self, case):
        return self.options.seed * 1000000007 + case

    def one(self, section, case):
        """(its steps or its description; Disagreement or None; True if both sides gave an error)."""
        if section == "programs":
            return programs.program(self.hd, self.rows, self.seed(case))
        if section in STEPS:
            return ops.case(self.hd, self.rows, self.words, self.seed(case))
        return *pairs.run(CASES[section], self.hd, self.seed(case)), False

    def section(self, section, first, n):
        """Runs cases [first, first + n)."""
        self.begin()
        if section in LEVELS and not self.level_is(section):
            return {"cases": 0, "findings": [], "notes": ["this CPU has no level %s: skipped" % section]}
        count, example, covered = collections.Counter(), {}, collections.Counter()
        errors, notes = 0, []
        for case in range(first, first + n):
            if self.progress:
                self.progress.set(case)
            made, e, failed = self.one(section, case)
            errors += failed
            entry = difference.which(e) if e else None
            if entry:
                covered[entry.row] += 1
            elif e:
                key = e.key()
                count[key] += 1
                if key not in example or section not in STEPS and len(made) < len(example[key][2]):
                    example[key] = case, e, made
        findings = [self.finding(section, key, count[key], *example[key], i < SHOWN)
                    for i, key in enumerate(example)]
        if section == "mcg31":
            findings += self.beside_251(notes, n)
        return {"cases": n, "errors": errors, "known": covered, "findings": findings, "notes": notes}

    def level_is(self, section):
        level = self.hd.hd_cpu_level()
        self.hd.hd_error_clear()
        return level == section.encode()

    def finding(self, section, key, count, case, e, made, show):
        text, code = e.text, ""
        if section not in STEPS:
            code = "    " + "\n    ".join(made)
        elif show:
            tolerance, topic = (ROUGH, None) if section == "programs" else (None, key[0])
            steps = shrink.Shrinker(self.hd, self.rows, made, key, tolerance, topic,
                                    covered=difference.which).run()
            again = shrink.replay(self.hd, self.rows, steps, tolerance, topic)
            text = again.text if again else text + "\n(alone, the program does not show it)"
            code = write.both(steps, self.rows)
        return {"what": key[0], "kind": key[1], "case": case, "count": count, "text": text, "code": code}

    def beside_251(self, notes, n):
        if not self.options.torch251:
            notes.append("no --torch251: the MCG31 stream was compared with its recurrence only")
            return []
        said, e = pairs.run(lambda p: mcg31.beside_251(p, self.options.torch251, n), self.hd, self.seed(0))
        notes.append("mcg31: the draws of %d seeds were compared with torch 2.5.1" % n)
        return [] if e is None else [{"what": e.what, "kind": e.kind, "case": 0, "count": 1,
                                      "text": e.text, "code": "\n".join(said)}]

    def show(self, section, case):
        """Runs one case and prints it."""
        self.begin()
        made, e, _ = self.one(section, case)
        print(write.both(made, self.rows) if section in STEPS else "\n".join(made))
        print("no disagreement" if e is None else "%s: %s: %s" % (e.what, e.kind, e.text))
        sys.stdout.flush()
        return 0 if e is None else 1
