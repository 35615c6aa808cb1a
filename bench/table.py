"""The goals of the rows, the file of results, and the tables that compare.py prints."""
import fnmatch
import json
import pathlib
import re
from dataclasses import dataclass


@dataclass
class Goal:
    """The goals of the rows that match: how many times as fast as the best PyTorch (ratio), which
    share of this machine's peak (of_peak on all threads, of_peak_1 on one thread), and which share
    of PyTorch's peak memory. A row of bfloat16 has the ratio to itself in float32, of whose memory it
    is to take a share, and perhaps one to llama.cpp."""

    rows: str
    ratio: float = 0
    of_peak: float = 0
    of_peak_1: float = 0
    memory: float = 0
    llama: float = 0


# The first goal that matches a row is used: that of the CPU's maker and level, if there is one, and
# else one of GOALS.
INTEL = [
    Goal("matmul/2048x*", ratio=1.0, of_peak=0.90, of_peak_1=0.93),
    Goal("matmul/1024x*", ratio=1.0, of_peak=0.85, of_peak_1=0.91),
    Goal("matmul/256x*", ratio=1.0, of_peak=0.75, of_peak_1=0.88),
    Goal("gpt/124m/dropout0", ratio=1.15, memory=0.8),
    Goal("gpt/124m/dropout0.1", ratio=1.4, memory=0.8),
    Goal("attention/*/dropout0", ratio=1.15),
    Goal("attention/*/dropout0.1", ratio=1.4),
    Goal("gpt/*/dropout0", ratio=1.15),
    Goal("gpt/*/dropout0.1", ratio=1.4),
]
AVX2 = [
    Goal("matmul/256x*", ratio=0.97, of_peak_1=0.82),
    Goal("matmul/*", ratio=0.97, of_peak_1=0.92),
    Goal("attention/*", ratio=1.1),
    Goal("gpt/*", ratio=1.1),
    Goal("*/in", ratio=1.05),
    Goal("*/out", ratio=1.05),
]
GOALS = [
    Goal("matmul/64x64x64/*", ratio=1.5),
    Goal("matmul/2048x*", ratio=1.05, of_peak=0.90, of_peak_1=0.93),
    Goal("matmul/1024x*", ratio=1.05, of_peak=0.85, of_peak_1=0.91),
    Goal("matmul/256x*", ratio=1.05, of_peak=0.75, of_peak_1=0.88),
    Goal("tiny/matmul", ratio=10),
    Goal("tiny/add", ratio=25),
    Goal("tiny/step", ratio=60),
    Goal("attention/1024/dropout0", ratio=1.25),
    Goal("attention/1024/dropout0.1", ratio=2),
    Goal("attention/256/dropout0", ratio=1.2),
    Goal("attention/256/dropout0.1", ratio=1.4),
    Goal("gpt/small/dropout0", ratio=1.25),
    Goal("gpt/small/dropout0.1", ratio=1.45),
    Goal("gpt/124m/dropout0", ratio=1.2, memory=0.8),
    Goal("gpt/124m/dropout0.1", ratio=1.25, memory=0.8),
    Goal("prefill/*", ratio=1.15),
    Goal("decode/124m/batch1", ratio=1.15, of_peak=0.88),
    Goal("decode/124m/batch8", ratio=2, of_peak=0.75),
    Goal("hf/tokens/float32", ratio=2),
    Goal("hf/tokens/bfloat16", ratio=1.6, llama=0.95, of_peak=0.8),
    Goal("hf/prompt/float32", ratio=1.3),
    Goal("hf/step/float32", ratio=1.5),
    Goal("hf/lora*/float32", ratio=1.3, memory=0.65),
    Goal("hf/lora*/bfloat16", ratio=0.95, memory=0.6),
    Goal("hf/load", ratio=5),
    Goal("adamw/*", ratio=1.0, of_peak=0.8),
    Goal("*/out", ratio=1.5, of_peak=0.8),
    Goal("*/in", ratio=1.5),
]

# The rows of README.md's table.
SHORT = {
    "matmul/2048x2048x2048/nn": "matmul, 2048 x 2048 x 2048",
    "tiny/step": "training step of the notebook's MultiHeadAttention",
    "gpt/124m/dropout0.1": "training step of the book's GPT of GPT-2's size, dropout 0.1",
    "decode/124m/batch1": "64 tokens that this GPT writes, one by one, with a cache",
    "start": "from a process's start to its first result",
}

SCALING = 1.85        # the least ratio of the time on one thread to that on two
SCALING_FROM = 5e6    # only rows that take at least this many nanoseconds on one thread
START = 5e6           # nanoseconds from a process's start to its first result
CHECK_SIZE = pathlib.Path(__file__).resolve().parents[1] / "tests/checks/check_size"
SIZE = int(re.search(r"^limit=(\d+)", CHECK_SIZE.read_text(), re.MULTILINE)[1])    # bytes of the library
GROWTH = 2.2          # the most memory at twice the tokens, as a multiple: growth is linear


def goal_of(result, machine):
    name, level = result["name"], heed_of(result).get("level")
    special = AVX2 if level == "avx2" else INTEL if "Intel" in machine["cpu"] else []
    return next((g for g in special + GOALS if fnmatch.fnmatch(name, g.rows)), Goal(name))


def wants_one_thread(row):
    """True if the row is also measured on one thread."""
    return row["kind"] == "matmul" and row["m"] > 64 or \
        row["name"].startswith(("attention/", "gpt/small"))


# ------------------------------------------------------------------------- numbers as text


def time_text(ns):
    for unit, size in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if ns >= size:
            return f"{ns / size:.3g} {unit}" if ns / size < 1000 else f"{ns / size:.0f} {unit}"
    return f"{ns:.0f} ns"


def bytes_text(n):
    return f"{n / 1e9:.2f} GB" if n >= 1e9 else f"{n / 1e6:.1f} MB" if n >= 1e6 else f"{n:,} B"


def heed_of(result):
    return result["entries"][f"heed@{result['threads']}"]


def rivals(result):
    """The variants of PyTorch; for a row of bfloat16, itself in float32."""
    return [v for v in result["ratios"] if v != "llama.cpp"]


def best_of(result):
    """(ratio, variant) of the fastest PyTorch."""
    return min(((result["ratios"][v], v) for v in rivals(result)), default=(0, ""))


def sure_ratios(result, variants=None):
    """The two ratios that must meet a goal, to the PyTorch that is best by each: the median of the
    ratios within a round, which a change of the machine's speed does not touch, and that of the
    minima, which other work does not touch. A file of an earlier compare.py has neither: there the
    first is that of the medians."""
    variants = variants or rivals(result)
    minima = {v: result["entries"][v]["min"] / heed_of(result)["min"] for v in variants}
    return [min(result.get("paired", result["ratios"])[v] for v in variants),
            min(result.get("minima", minima)[v] for v in variants)]


def line_of(result):
    """The result of one row as a line of text."""
    heed, (ratio, best) = heed_of(result), best_of(result)
    text = f"{result['name']:28} heed {time_text(heed['median']):>8}"
    for variant in result["ratios"]:
        text += f"  {variant} {time_text(result['entries'][variant]['median'])}"
    text += f"  ratio {ratio:.2f} ({best})" if best else ""
    text += f"  {heed['of_peak']:.0%} of peak" if "of_peak" in heed else ""
    return text + ("  unsteady" if is_unsteady(result) else "")


def is_unsteady(result):
    """Did other work disturb the row? Then half of a worker's turns took at least a quarter longer
    than its fastest one."""
    return any(e["median"] > 1.25 * e["min"] for e in result["entries"].values())


# ------------------------------------------------------------------------- the file of results


def write(path, out):
    """Writes the results as JSON, a row on each line."""
    head = json.dumps({name: value for name, value in out.items() if name != "rows"})
    rows = ",\n".join(json.dumps(row) for row in out["rows"])
    with open(path, "w", encoding="utf-8") as f:
        f.write(f'{head[:-1]}, "rows": [\n{rows}\n]}}\n')


# ------------------------------------------------------------------------- tables


def claims(result, machine):
    """(what, measured, goal, met) for each goal of a row."""
    goal, heed, (_, best) = goal_of(result, machine), heed_of(result), best_of(result)
    one = result["entries"].get("heed@1", {})
    found = []
    if goal.ratio and best:
        least = min(sure_ratios(result))
        found.append(("ratio", f"{least:.2f}", f"{goal.ratio:g}", least >= goal.ratio))
    if goal.llama and "llama.cpp" in result["ratios"]:
        least = min(sure_ratios(result, ["llama.cpp"]))
        found.append(("llama.cpp", f"{least:.2f}", f"{goal.llama:g}", least >= goal.llama))
    for asked, entry, what in ((goal.of_peak, heed, "of peak"), (goal.of_peak_1, one, "on one")):
        if asked and "of_peak" in entry:
            share = entry["of_peak"]
            found.append((what, f"{share:.0%}", f"{asked:.0%}", share >= asked))
    if goal.memory and best:
        share = heed["peak_rss"] / min(result["entries"][v]["peak_rss"] for v in rivals(result))
        found.append(("memory", f"{share:.2f}", f"{goal.memory:g}", share <= goal.memory))
    return found


def row_text(result, machine):
    heed, (ratio, best) = heed_of(result), best_of(result)
    times = [time_text(result["entries"][v]["median"]) if v in result["ratios"] else ""
             for v in ("stock", "tuned", "fused")]
    asked = claims(result, machine)
    share = f"{heed['of_peak']:.0%}" if "of_peak" in heed else ""
    if "of_peak" in result["entries"].get("heed@1", {}) and result["threads"] > 1:
        share += f" ({result['entries']['heed@1']['of_peak']:.0%})"
    goals = ", ".join(("" if what == "ratio" else what + " ") + goal for what, _, goal, _ in asked)
    met = "" if not asked else "yes" if all(a[3] for a in asked) else \
        "no: " + ", ".join(what for what, _, _, ok in asked if not ok)
    ratios = " / ".join(f"{x:.2f}" for x in (ratio, *sure_ratios(result))) if best else ""
    ratios += " to float32" if best == "float32" else ""
    ratios += f"; {min(sure_ratios(result, ['llama.cpp'])):.2f} to llama.cpp" \
        if "llama.cpp" in result["ratios"] else ""
    cells = [result["name"], time_text(heed["median"]), *times, ratios, share, goals, met]
    return "| " + " | ".join(cells) + " |"


def main_table(results, machine):
    lines = ["| work | heed | stock | tuned | fused | ratio by medians / in a round / by minima | of peak "
             "(1 thread) | goal | met |", "|---|---|---|---|---|---|---|---|---|"]
    return lines + [row_text(r, machine) for r in results if r["name"] != "start"]


def scaling_table(results):
    lines = []
    for r in results:
        one, two = r["entries"].get("heed@1"), r["entries"].get("heed@2")
        if one and two and one["median"] > SCALING_FROM:
            gain = one["min"] / two["min"]
            lines.append(f"| {r['name']} | {time_text(one['min'])} | {time_text(two['min'])} | "
                         f"{gain:.2f} | {'yes' if gain >= SCALING else 'no'} |")
    return ["", f"| 1 -> 2 threads, minima (goal {SCALING}) | 1 | 2 | gain | met |", "|---|---|---|---|---|",
            *lines] if lines else []


def memory_table(results):
    lines = []
    for r in results:
        if not r["name"].startswith(("gpt/124m", "hf/step", "hf/lora", "hf/load")) or not r["ratios"]:
            continue
        cells = [bytes_text(r["entries"][v]["peak_rss"]) if v in r["ratios"] else ""
                 for v in ("stock", "tuned", "fused")]
        lines.append(f"| {r['name']} | {bytes_text(heed_of(r)['peak_rss'])} | {' | '.join(cells)} |")
    return ["", "| peak memory of the process | heed | stock | tuned | fused |", "|---|---|---|---|---|",
            *lines] if lines else []


def growth_claim(results):
    """The memory that attention with dropout adds at 4096 tokens, compared with 2048 tokens."""
    peaks = {r["row"]["tokens"]: heed_of(r)["peak_bytes"] for r in results
             if fnmatch.fnmatch(r["name"], "growth/tokens/*/dropout0.1")}
    if 2048 not in peaks or 4096 not in peaks:
        return []
    ratio = peaks[4096] / peaks[2048]
    return [("memory of attention with dropout, 4096 tokens over 2048 (linear: 2)", f"{ratio:.2f}",
             f"<= {GROWTH}", ratio <= GROWTH)]


def other_claims(out):
    results = {r["name"]: r for r in out["rows"]}
    found = growth_claim(out["rows"])
    if "start" in results:
        ns = heed_of(results["start"])["median"]
        theirs = results["start"]["entries"]["stock"]["median"]
        found.append((f"process start to first result (PyTorch {time_text(theirs)})", time_text(ns),
                      f"< {time_text(START)}", ns < START))
    sizes = out.get("sizes", {})
    if "heed" in sizes:
        found.append((f"stripped library (PyTorch's {bytes_text(sizes['torch'])})",
                      bytes_text(sizes["heed"]), f"< {SIZE / 1e6:.3f} MB", sizes["heed"] < SIZE))
    steps = [r for r in out["rows"] if r["name"].startswith(("tiny/step", "attention/", "gpt/"))]
    if steps:
        allocs = max(heed_of(r)["system_allocs"] for r in steps)
        found.append(("blocks asked of the system from the third step on, the most of "
                      f"{len(steps)} rows", str(allocs), "0", allocs == 0))
    return found


def other_table(out):
    lines = [f"| {what} | {value} | {goal} | {'yes' if met else 'no'} |"
             for what, value, goal, met in other_claims(out)]
    return ["", "| beside the times | heed | goal | met |", "|---|---|---|---|", *lines]


def short_table(out):
    results = {r["name"]: r for r in out["rows"]}
    lines = ["| work | heed | PyTorch at its best | ratio |", "|---|---|---|---|"]
    for name, words in SHORT.items():
        if name in results:
            ratio, best = best_of(results[name])
            theirs = results[name]["entries"][best]["median"]
            lines.append(f"| {words} | {time_text(heed_of(results[name])['median'])} | "
                         f"{time_text(theirs)} | {ratio:.2f} |")
    return "\n".join(lines)


def markdown(out):
    results = out["rows"]
    m = out["machine"]
    levels = {heed_of(r).get("level", "?") for r in results}
    runs = sorted({heed_of(r)["runs"] for r in results})
    commit = f", commit {m['commit']}" if m.get("commit") else ""
    lines = [f"{m['cpu']}, {m['cores']} cores, level {'/'.join(sorted(levels))}, PyTorch {m['torch']}, "
             f"{m['date']}{commit}; {results[0]['threads']} threads; medians of {runs[0]} to {runs[-1]} "
             "runs.", ""]
    lines += main_table(results, m) + scaling_table(results) + memory_table(results) + other_table(out)
    asked = [c for r in results for c in claims(r, m)] + other_claims(out)
    unsteady = [r["name"] for r in results if is_unsteady(r)]
    if unsteady:
        lines += ["", "Disturbed by other work (a median over 1.25 times the least): "
                  + ", ".join(unsteady) + "."]
    lines += ["", f"{sum(c[3] for c in asked)} of {len(asked)} goals met."]
    return "\n".join(lines)
