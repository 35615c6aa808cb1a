#!/usr/bin/env python3
"""Draws a picture of the time and memory of attention over tokens and width.

usage: python3 bench/growth.py RESULTS.json ... > bench/growth.svg

compare.py measures the rows:
    python3 bench/compare.py build --rows 'growth/*' --variants tuned,fused --json RESULTS.json
"""
import math
import sys

import compare
import table

WIDTH, HEIGHT = 1000, 640
SERIES = [("tuned", "PyTorch, as the notebook writes it", "#8a8a8a"),
          ("fused", "PyTorch, scaled_dot_product_attention", "#c8560b"),
          ("heed", "heed", "#0a5fa5")]
DROPOUTS = [("dropout0", "dropout 0"), ("dropout0.1", "dropout 0.1")]


class Panel:
    """One pair of logarithmic axes. points maps the name of a series to its (x, y)."""

    def __init__(self, title, unit, points):
        self.title, self.unit, self.points = title, unit, points
        values = [p for series in points.values() for p in series] or [(1, 1)]
        self.xs = sorted({x for x, _ in values})
        ys = [y for _, y in values]
        self.low, self.high = math.log10(min(ys)) - 0.08, math.log10(max(ys)) + 0.12

    def place(self, left, top, width, height):
        self.left, self.top, self.width, self.height = left, top, width, height
        return self

    def x(self, value):
        span = math.log2(self.xs[-1] / self.xs[0]) or 1  # a single size lies on the left
        return self.left + (math.log2(value) - math.log2(self.xs[0])) / span * self.width

    def y(self, value):
        return self.top + self.height * (self.high - math.log10(value)) / (self.high - self.low)

    def ticks(self):
        """1, and where there is room also 2 and 5, times each power of ten on the axis."""
        steps = (1, 2, 5) if self.high - self.low < 1.7 else (1,)
        for power in range(math.floor(self.low), math.ceil(self.high) + 1):
            for step in steps:
                if self.low <= math.log10(step * 10 ** power) <= self.high:
                    yield step * 10 ** power

    def draw(self):
        yield text(self.left, self.top - 12, self.title, "title")
        for tick in self.ticks():
            y = self.y(tick)
            yield f'<path class="grid" d="M{self.left:.1f} {y:.1f}h{self.width:.1f}"/>'
            yield text(self.left - 6, y + 4, f"{tick:g} {self.unit}", "end")
        bottom = self.top + self.height
        yield f'<path class="axis" d="M{self.left:.1f} {bottom:.1f}h{self.width:.1f}"/>'
        for x in self.xs:
            yield text(self.x(x), bottom + 16, str(x), "middle")
        for name, _, colour in SERIES:
            yield from self.line(self.points.get(name, []), colour)

    def line(self, points, colour):
        if points:
            places = " ".join(f"{self.x(x):.1f},{self.y(y):.1f}" for x, y in sorted(points))
            yield f'<polyline points="{places}" stroke="{colour}"/>'
        for x, y in points:
            yield f'<circle cx="{self.x(x):.1f}" cy="{self.y(y):.1f}" r="3" fill="{colour}"/>'


def text(x, y, words, kind):
    return f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}">{words}</text>'


# ------------------------------------------------------------------------- the picture


def points_of(results, rows, size, value):
    """{series: [(size, value of its entry)]} of the rows that match."""
    points = {name: [] for name, _, _ in SERIES}
    for r in results:
        if not (r["name"].startswith(rows[0]) and r["name"].endswith("/" + rows[1])):
            continue
        for name, entry in [("heed", table.heed_of(r))] + list(r["entries"].items()):
            if name in points:
                points[name].append((r["row"][size], value(entry)))
    return {name: p for name, p in points.items() if p}


def panels_of(results, dropout, words):
    def milliseconds(entry):
        return entry["median"] / 1e6

    def megabytes(entry):
        return entry["peak_rss"] / 1e6

    tokens, width = ("growth/tokens/", dropout), ("growth/width/", dropout)
    return [Panel(f"time by tokens, {words}", "ms",
                  points_of(results, tokens, "tokens", milliseconds)),
            Panel(f"peak memory by tokens, {words}", "MB",
                  points_of(results, tokens, "tokens", megabytes)),
            Panel(f"time by width, {words}", "ms",
                  points_of(results, width, "width", milliseconds))]


def legend():
    x = 60
    for _, words, colour in reversed(SERIES):
        yield f'<path d="M{x} 22h22" stroke="{colour}" stroke-width="3"/>'
        yield text(x + 29, 26, words, "label")
        x += 29 + 7 * len(words) + 25


def svg(results):
    yield (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
           f'width="{WIDTH}" height="{HEIGHT}" role="img" font-family="sans-serif" font-size="12">')
    yield "<title>Attention, forward and backward: time and memory by tokens and by width</title>"
    yield ("<style>text{fill:#333}.title{font-weight:bold;font-size:13px}.end{text-anchor:end}"
           ".middle{text-anchor:middle}.label{font-size:13px}.grid{stroke:#e4e4e4}.axis{stroke:#888}"
           "polyline{fill:none;stroke-width:2}</style>")
    yield f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>'
    yield from legend()
    for line, (dropout, words) in enumerate(DROPOUTS):
        for column, panel in enumerate(panels_of(results, dropout, words)):
            if panel.xs:
                yield from panel.place(72 + column * 330, 80 + line * 275, 250, 200).draw()
    yield text(72, HEIGHT - 30, "MultiHeadAttention, forward and backward, 2 threads; both axes are "
               "logarithmic.", "note")
    yield text(72, HEIGHT - 12, "By tokens: width 768, 12 heads, batch 1. By width: heads of 64, 256 "
               "tokens, batch 2. PyTorch 2.13; malloc tuned for the notebook's class.", "note")
    yield "</svg>"


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    results = compare.read_results(sys.argv[1:])["rows"]
    print("\n".join(svg([r for r in results if r["name"].startswith("growth/")])))


main()
