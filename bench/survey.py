"""The survey of compare.py: times every operation of heed and of PyTorch, and writes the table of results."""
import fnmatch
import json
import math
import os
import statistics
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
GOAL = 1.0        # how many times as fast as PyTorch each row is at least
GOAL_MEMORY = 0.9  # the same where both sides take nearly all of the memory's bandwidth
NEARLY = 0.9
NEAR = 0.9        # a row that misses its goal by less than a tenth needs no reason
DISTURBED = 0.7   # the least ratio of a row that other work disturbed
MEAN = 2.5        # the geometric mean of all rows

PAUSE = 0.015     # seconds after PyTorch's turn: its threads spin for 10 ms, which takes a core

COLUMNS = ("operation/way, then for each row: type/layout/size, ratio within a round, ratio of the minima, "
           "heed's least ns, PyTorch's, their shares of the memory's bandwidth")


def agrees(row, ours, theirs):
    """Is the mean size of both results the same, up to rounding? PyTorch draws some bits in another
    order, and then the means are only near."""
    allowed = 0.2 if row["op"] in ("bernoulli", "bernoulli_", "dropout") else 1e-3
    return abs(ours - theirs) <= allowed * max(abs(theirs), 1e-2) or (ours != ours and theirs != theirs)


def run_row(row, heed, torch, rounds):
    """One row: each side draws its inputs and warms up, and then they take turns."""
    heed.write(str(row["id"]))
    about = heed.read()
    torch.write(json.dumps(row))
    other = torch.read()
    if not agrees(row, about["check"], other["check"]):
        print(f"compare.py: {row['name']}: heed gave {about['check']}, PyTorch {other['check']}",
              file=sys.stderr)
    ours, theirs, peaks = [], [], []
    for _ in range(rounds):
        for worker, ns in ((heed, ours), (torch, theirs)):
            time.sleep(PAUSE if worker is heed else 0.001)
            worker.write("turn")
            answer = worker.read()
            ns.append(answer["ns"])
            peaks.append(answer.get("peak", 0))
    paired = statistics.median(b / a for a, b in zip(ours, theirs))
    minima = min(theirs) / min(ours)
    share = about["bytes"] / max(peaks) if max(peaks) else 0
    return [min(paired, minima), paired, minima, min(ours), min(theirs), share / min(ours),
            share / min(theirs), row["name"]]


def measure(rows, heed, torch, rounds, save):
    """Measures the rows; save(results) is called from time to time."""
    results, begin = [], time.monotonic()
    for i, row in enumerate(rows):
        results.append(run_row(row, heed, torch, rounds))
        if i % 100 == 99 or i + 1 == len(rows):
            print(f"{i + 1} of {len(rows)} rows, {time.monotonic() - begin:.0f} s", file=sys.stderr)
            save(results)
    return results


def meets(r):
    """True if the row meets its goal."""
    bound = min(r[5], r[6]) >= NEARLY
    return r[0] >= (GOAL_MEMORY if bound else GOAL)


def mean(results):
    return math.exp(statistics.fmean(math.log(max(r[0], 0.001)) for r in results)) if results else 0


def write(path, about, results):
    """The table as text: a line for each operation and way, with a tab before each of its rows."""
    lines = {}
    for r in sorted(results, key=lambda r: r[7]):
        op, *row, way = r[7].split("/")
        cells = ["/".join(row)] + [f"{x:.3g}" for x in r[1:3]] + [f"{x:.0f}" for x in r[3:5]]
        cells += [f"{x:.2f}" for x in r[5:7]] if any(r[5:7]) else []
        lines.setdefault(f"{op}/{way}", []).append(" ".join(cells))
    with open(path, "w", encoding="utf-8") as f:
        f.write(f"# {about}\n# {summary(results)}\n# {COLUMNS}\n")
        f.writelines("\t".join([name, *rows]) + "\n" for name, rows in lines.items())


def read(path):
    """(what the survey was, its rows, the slowest first)"""
    with open(path, encoding="utf-8") as f:
        lines = f.read().splitlines()
    results = []
    for line in lines[3:]:
        name, *rows = line.split("\t")
        op, way = name.split("/")
        for row, *cells in (text.split(" ") for text in rows):
            paired, minima, ours, theirs, *shares = (float(x) for x in cells)
            results.append([min(paired, minima), paired, minima, ours, theirs, *(shares or (0, 0)),
                            f"{op}/{row}/{way}"])
    return lines[0][2:], sorted(results)


def summary(results):
    under = sum(not meets(r) for r in results)
    return (f"{len(results)} rows, {under} of them under their goal; geometric mean {mean(results):.2f} "
            f"(goal {MEAN})")


def by_operation(results):
    """A line for each operation that has rows under the goal: how many, and the worst."""
    worst, counts = {}, {}
    for r in sorted(results):
        op = r[7].split("/")[0]
        total, under = counts.get(op, (0, 0))
        counts[op] = total + 1, under + (not meets(r))
        if not meets(r):
            worst.setdefault(op, r)
    lines = ["| operation | rows under the goal | the worst | its ratio |", "|---|---|---|---|"]
    for op, r in worst.items():
        where = r[7].split("/", 1)[1].replace("/", ", ")
        lines.append(f"| {op} | {counts[op][1]} of {counts[op][0]} | {where} | {r[0]:.2f} |")
    return lines


def read_reasons():
    """[(pattern of names, the least ratio, the least share of the bandwidth, reason)] of reasons.tsv"""
    with open(os.path.join(HERE, "reasons.tsv"), encoding="utf-8") as f:
        cells = [line.rstrip("\n").split("\t") for line in f if not line.startswith("#")]
    return [(pattern, float(ratio), float(share), why) for pattern, ratio, share, why in cells]


def reason_of(r, reasons):
    """(why the row is under its goal, the reason's number); (None, None): nobody has said it."""
    if r[0] >= NEAR:
        return "Within a tenth of the goal", None
    if max(r[1], r[2]) >= GOAL and r[0] >= DISTURBED:
        return "Disturbed", None
    for i, (pattern, ratio, share, why) in enumerate(reasons):
        if fnmatch.fnmatchcase(r[7], pattern) and r[0] >= ratio and r[5] >= share:
            return why, i
    return None, None


def by_reason(results, reasons):
    """A line for each reason that rows are under their goal: how many, and the worst."""
    found = {}
    for r in sorted(results):
        if not meets(r):
            found.setdefault(reason_of(r, reasons)[0], []).append(r)
    lines = ["| why | rows under the goal | the worst | its ratio |", "|---|---|---|---|"]
    for why, rows in found.items():
        where = rows[0][7].replace("/", ", ")
        lines.append(f"| {why or 'not explained'} | {len(rows)} | {where} | {rows[0][0]:.2f} |")
    return lines


def markdown(about, results):
    groups = {}
    for r in results:
        _, dtype, _, size, way = r[7].split("/")
        for name in (f"{size}", dtype, way):
            groups.setdefault(name, []).append(r)
    lines = [about, "", summary(results) + ".", "",
             "| rows | number | geometric mean | under the goal |", "|---|---|---|---|"]
    for name, rows in groups.items():
        lines.append(f"| {name} | {len(rows)} | {mean(rows):.2f} | {sum(not meets(r) for r in rows)} |")
    return "\n".join(lines + [""] + by_operation(results) + [""] + by_reason(results, read_reasons()))
