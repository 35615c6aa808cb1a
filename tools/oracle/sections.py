"""The sections of a run, how large they are, and how the cases of one are run and reported."""
import collections

import torch

import binding
import known
import ops
import programs
import shrink
import table
import write
from machine import ROUGH

# Cases in the short form and in the long form, in the order of running.
SIZES = {"ops": (20000, 1000000), "programs": (5000, 200000)}
SHOWN = 40      # so many kinds of disagreement of one section are shrunk


class Run:
    """One process: the library, the table, and the sections."""

    def __init__(self, options, progress):
        torch.set_num_threads(1)
        self.options, self.progress = options, progress
        self.hd = binding.Library(options.library)
        self.hd.hd_set_num_threads(1)
        self.hd.hd_generator_set_bernoulli(self.hd.hd_default_generator(),
                                           self.hd.values["HD_BERNOULLI_NATIVE"])
        self.rows = table.rows_of(self.hd)
        self.words = ops.words_of(self.rows)

    def whole(self):
        """What is wrong with the tool's own tables, as lines."""
        return ["known difference " + line for line in known.stale(self.hd, self.rows)]

    def seed(self, case):
        return self.options.seed * 1000000007 + case

    def one(self, section, case):
        """(steps, Disagreement or None, was it an error on both sides?)."""
        if section == "ops":
            return ops.case(self.hd, self.rows, self.words, self.seed(case))
        return programs.program(self.hd, self.rows, self.seed(case))

    def section(self, section, first, n):
        """Runs cases [first, first + n)."""
        tolerance = ROUGH if section == "programs" else None
        count, example, covered = collections.Counter(), {}, collections.Counter()
        errors = 0
        for case in range(first, first + n):
            if self.progress:
                self.progress.set(case)
            steps, e, failed = self.one(section, case)
            errors += failed
            if e is None:
                continue
            entry = known.which(e)
            if entry:
                covered[entry.name] += 1
                continue
            count[e.key()] += 1
            example.setdefault(e.key(), (case, e, steps))
        findings = [self.finding(k, count[k], *example[k], tolerance, i < SHOWN)
                    for i, k in enumerate(example)]
        return {"cases": n, "errors": errors, "known": covered, "findings": findings}

    def finding(self, key, count, case, e, steps, tolerance, show):
        text, code = e.text, ""
        topic = key[0] if tolerance is None else None
        if show:
            steps = shrink.Shrinker(self.hd, self.rows, steps, key, tolerance, topic).run()
            again = shrink.replay(self.hd, self.rows, steps, tolerance, topic)
            text = again.text if again else text + "\n(alone, the program does not show it)"
            code = write.both(steps, self.rows)
        return {"what": key[0], "kind": key[1], "case": case, "count": count, "text": text, "code": code}

    def show(self, section, case):
        """Runs one case and prints it."""
        steps, e, _ = self.one(section, case)
        print(write.both(steps, self.rows))
        print("no disagreement" if e is None else "%s: %s: %s" % (e.what, e.kind, e.text))
        return 0 if e is None else 1
