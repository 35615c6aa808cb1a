#!/usr/bin/env python3
"""Predicts the speed of data-parallel training on up to 1,024 ranks, by a formula and by a simulation.

usage: python3 bench/scaling_model.py            prints the tables of docs/guides/scaling.md
       python3 bench/scaling_model.py --check    compares the formula with the simulation (a test)
       python3 bench/scaling_model.py --svg      prints the picture of that page

The page has the derivation. One rank is one machine here. Two cores have the measured speed of heed on an AMD EPYC of
family 25 (Zen 4); 64 cores are assumed to be 32 times as fast.
"""
import functools
import heapq
import math
import random
import statistics
import sys

# The training step of gpt/124m, 2 x 256 tokens, 2 threads: bench/results/amd-zen4.json. A third of
# the products' FLOP are forward's; AdamW has a row of its own.
MEASURED_STEP, MEASURED_TOKENS, MEASURED_ADAMW = 2.21, 512, 0.064
MEASURED_PARAMETERS = 163e6

# name: bytes a second, seconds from the start of a message to its arrival, seconds that each
# message keeps the sender busy
LINKS = {"10 Gb/s": (1.25e9, 25e-6, 3e-6), "100 Gb/s": (12.5e9, 5e-6, 1e-6)}

# layers, width, context, vocabulary
MODELS = {"124M": (12, 768, 1024, 50257), "1558M": (48, 1600, 1024, 50257)}

RANKS = [2 ** k for k in range(11)]
BUCKET, FIRST = 25 << 20, 1 << 20
MB = 1 << 20


# ------------------------------------------------------------------------- what a rank computes


def parameters(layers, width, context, vocabulary):
    """(elements, FLOP per token in forward) of each parameter, in the order of heed's GPT."""
    d = width
    yield vocabulary * d, 0  # tok_emb
    yield context * d, 0     # pos_emb
    for _ in range(layers):
        for _ in range(3):
            yield d * d, 2 * d * d
        yield d * d, 2 * d * d + 2 * context * d  # out_proj, with the products of attention
        yield d, 0
        for n in (4 * d * d, 4 * d, 4 * d * d, d):
            yield n, 2 * n if n > 4 * d else 0
        for _ in range(4):  # scales and shifts of two normalisations
            yield d, 0
    yield d, 0
    yield d, 0
    yield vocabulary * d, 2 * vocabulary * d  # out_head


def buckets(sizes, most, first):
    """Lists of parameters, as libs/mpi/bucket.c makes them: the last parameter first."""
    out, room = [], first
    current, held = [], 0
    for i in reversed(range(len(sizes))):
        current.append(i)
        held += 4 * sizes[i]
        if held >= room:
            out.append(current)
            current, held, room = [], 0, most
    return out + ([current] if current else [])


def pieces_of(size, most):
    """The bytes of the pieces of a bucket."""
    n = max(1, math.ceil(size / most))
    return [size / n] * n


class Work:
    """One rank's step: when forward ends, and when each piece of the gradients is complete."""

    def __init__(self, model, tokens, cores=2, bucket=BUCKET):
        all_of = list(parameters(*MODELS[model]))
        sizes, flops = [n for n, _ in all_of], [f for _, f in all_of]
        small = [f for _, f in parameters(*MODELS["124M"])]
        faster = cores / 2
        rate = (MEASURED_STEP - MEASURED_ADAMW) / (3 * sum(small) * MEASURED_TOKENS) / faster
        self.forward = rate * sum(flops) * tokens
        self.adamw = MEASURED_ADAMW * sum(sizes) / MEASURED_PARAMETERS / faster
        self.parameters = sum(sizes)
        self.pieces = []  # (complete this long after forward, bytes)
        at = 0.0
        for group in buckets(sizes, bucket, min(FIRST, bucket)):
            at += 2 * rate * tokens * sum(flops[i] for i in group)
            size = 4 * sum(sizes[i] for i in group)
            self.pieces += [(at, b) for b in pieces_of(size, bucket)]
        self.backward = at
        self.alone = self.forward + self.backward + self.adamw


# ------------------------------------------------------------------------- the formula


def half(size, ranks, link):
    """How long one half of a piece's exchange keeps a rank's link busy."""
    bandwidth, _, message = link
    return (ranks - 1) * message + size * (ranks - 1) / ranks / bandwidth


@functools.lru_cache(maxsize=None)
def largest_of(ranks):
    """The mean of the largest of `ranks` standard normal numbers, by its distribution."""
    if ranks == 1:
        return 0.0
    step, x, mean = 0.001, -8.0, 0.0
    while x < 8:
        before = 0.5 * (1 + math.erf(x / math.sqrt(2)))
        after = 0.5 * (1 + math.erf((x + step) / math.sqrt(2)))
        mean += (x + step / 2) * (after ** ranks - before ** ranks)
        x += step
    return mean


def step_time(work, ranks, link, jitter=0.0):
    """The slowest rank completes piece k at t_k; from then on the link is busy with the pieces from
    k on. The step ends with the k for which that takes longest."""
    slow = 1 + jitter * largest_of(ranks)
    rest = 0.0
    end = slow * work.backward
    if ranks > 1:
        for at, size in reversed(work.pieces):
            rest += 2 * half(size, ranks, link)
            end = max(end, slow * at + rest + 2 * link[1])
    return slow * work.forward + end + work.adamw


def efficiency(work, ranks, link):
    return work.alone / step_time(work, ranks, link)


# ------------------------------------------------------------------------- the simulation


def simulate(work, ranks, link, jitter, rng):
    """One step of all ranks, event by event: a rank's link serves one half of one piece at a time,
    in the order in which they become possible. The second half of a piece is possible when the first
    halves of all ranks have arrived."""
    speeds = [1 + jitter * rng.gauss(0, 1) for _ in range(ranks)]
    forward = [s * work.forward for s in speeds]
    if ranks == 1:
        return forward[0] + speeds[0] * work.backward + work.adamw
    events = [(forward[r] + speeds[r] * at, 0, k, r)
              for r in range(ranks) for k, (at, _) in enumerate(work.pieces)]
    heapq.heapify(events)
    free = [0.0] * ranks
    arrived = [0] * len(work.pieces)
    latest = [0.0] * len(work.pieces)
    end = max(forward[r] + speeds[r] * work.backward for r in range(ranks))
    while events:
        possible, part, k, r = heapq.heappop(events)
        free[r] = max(possible, free[r]) + half(work.pieces[k][1], ranks, link)
        done = free[r] + link[1]
        if part == 1:
            end = max(end, done)
            continue
        arrived[k] += 1
        latest[k] = max(latest[k], done)
        if arrived[k] == ranks:
            for other in range(ranks):
                heapq.heappush(events, (latest[k], 1, k, other))
    return end + work.adamw


def compare(model, tokens, cores, ranks, link, jitter, rng, steps):
    work = Work(model, tokens, cores)
    simulated = statistics.mean(simulate(work, ranks, LINKS[link], jitter, rng)
                                for _ in range(steps))
    return simulated, step_time(work, ranks, LINKS[link], jitter)


TOLERANCE = 0.03


def check():
    """True if both agree within TOLERANCE, with and without jitter."""
    rng = random.Random(1)
    worst, rows = 0.0, 0
    for model in MODELS:
        for link in LINKS:
            for tokens, cores in ((512, 2), (4096, 64)):
                for ranks in (1, 2, 16, 128):
                    for jitter in (0.0, 0.02):
                        a, b = compare(model, tokens, cores, ranks, link, jitter, rng,
                                       1 if jitter == 0 else 6 if ranks < 100 else 3)
                        worst = max(worst, abs(a / b - 1))
                        rows += 1
                        if abs(a / b - 1) > TOLERANCE:
                            print(f"{model}, {tokens} tokens, {cores} cores, {ranks} ranks, {link}, jitter "
                                  f"{jitter}: {a:.3f} s simulated, {b:.3f} s by the formula")
    print(f"{rows} settings, off by at most {100 * worst:.1f}%, expected {100 * TOLERANCE:.0f}%")
    return worst <= TOLERANCE


# ------------------------------------------------------------------------- tables and picture

SETTINGS = [(2, 512), (64, 4096), (64, 32768)]  # cores of a machine, tokens in its batch


def print_tables():
    rng = random.Random(1)
    print("| model | cores, tokens of a rank | link | 1 rank | 2 ranks | 8 | 64 | 1024 | under 90% |")
    print("|---|---|---|---|---|---|---|---|---|")
    for model in MODELS:
        for cores, tokens in SETTINGS:
            work = Work(model, tokens, cores)
            for name, link in LINKS.items():
                shares = [f"{100 * efficiency(work, n, link):.0f}%" for n in (2, 8, 64, 1024)]
                under = next((f"from {n} ranks" for n in RANKS if efficiency(work, n, link) < 0.9),
                             "never")
                print(f"| {model} | {cores}, {tokens} | {name} | {work.alone:.2f} s | "
                      + " | ".join(shares) + f" | {under} |")
    print()
    print("| 64 ranks of 64 cores, 4096 tokens | " + " | ".join(f"{b} MB" for b in BUCKETS)
          + " | best |")
    print("|---|" + "---|" * (len(BUCKETS) + 1))
    for model in MODELS:
        for name, link in LINKS.items():
            times = [step_time(Work(model, 4096, 64, b * MB), 64, link) for b in BUCKETS]
            best = BUCKETS[times.index(min(times))]
            print(f"| {model}, {name} | " + " | ".join(f"{t:.3f} s" for t in times)
                  + f" | {best} MB |")
    print()
    print("| 1024 ranks of 64 cores, 4096 tokens, jitter 2% | simulated | by the formula |")
    print("|---|---|---|")
    for model in MODELS:
        for link in LINKS:
            a, b = compare(model, 4096, 64, 1024, link, 0.02, rng, 1)
            print(f"| {model}, {link} | {a:.3f} s | {b:.3f} s |")


BUCKETS = (1, 5, 25, 100, 400)
COLOURS = {"124M": "#0a5fa5", "1558M": "#c8560b"}


def svg():
    width, height, left, top, right, bottom = 760, 420, 70, 60, 560, 350
    def x(n):
        return left + math.log2(n) / 10 * (right - left)
    def y(e):
        return bottom - e * (bottom - top)
    yield (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
           f'height="{height}" role="img" font-family="sans-serif" font-size="12">')
    yield "<title>Efficiency of data-parallel training by the number of ranks</title>"
    yield "<style>text{fill:#333}polyline{fill:none;stroke-width:2}.grid{stroke:#e4e4e4}</style>"
    yield f'<rect width="{width}" height="{height}" fill="#fff"/>'
    yield (f'<text x="{left}" y="30" font-weight="bold">Share of the time in which ranks compute: 64 cores, '
           "4,096 tokens a rank</text>")
    for e in (0, 0.25, 0.5, 0.75, 0.9, 1):
        yield f'<path class="grid" d="M{left} {y(e):.1f}H{right}"/>'
        yield f'<text x="{left - 8}" y="{y(e) + 4:.1f}" text-anchor="end">{100 * e:.0f}%</text>'
    for n in RANKS:
        yield f'<text x="{x(n):.1f}" y="{bottom + 18}" text-anchor="middle">{n}</text>'
    yield f'<text x="{(left + right) / 2}" y="{bottom + 40}" text-anchor="middle">ranks</text>'
    labels = []
    for model, colour in COLOURS.items():
        for name, link in LINKS.items():
            work = Work(model, 4096, 64)
            points = [(n, efficiency(work, n, link)) for n in RANKS]
            dash = ' stroke-dasharray="6 4"' if name == "10 Gb/s" else ""
            places = " ".join(f"{x(n):.1f},{y(e):.1f}" for n, e in points)
            yield f'<polyline points="{places}" stroke="{colour}"{dash}/>'
            labels.append([y(points[-1][1]) + 4, f"{model}, {name}", colour])
    labels.sort()
    for above, label in zip(labels, labels[1:]):
        label[0] = max(label[0], above[0] + 16)
    for at, words, colour in labels:
        yield f'<text x="{right + 10}" y="{at:.1f}" style="fill:{colour}">{words}</text>'
    yield "</svg>"


def main():
    if sys.argv[1:] == ["--check"]:
        sys.exit(0 if check() else 1)
    if sys.argv[1:] == ["--svg"]:
        print("\n".join(svg()))
    elif sys.argv[1:]:
        sys.exit(__doc__)
    else:
        print_tables()


if __name__ == "__main__":
    main()
