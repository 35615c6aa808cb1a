"""Compares random calls of single functions: the function, then a backward through its result."""
from generate import Maker, finish
from machine import Disagreement


def words_of(rows):
    return [name for name, row in rows.items() for _ in range(row.weight)]


def case(hd, rows, words, seed):
    """Makes and runs one case. Returns (steps, Disagreement or None, was it an error on both sides?)."""
    g = Maker(hd, rows, seed)
    name = words[seed % len(words)]
    row = rows[name]
    found, failed = None, False
    g.machine.gradient_tolerance, g.machine.topic = row.gradient_tolerance, name
    g.machine.gradient_zeros = row.gradient_zeros
    try:
        args = row.make(g)
        dest = g.add(name, *args)
        failed = g.machine.failed
        if g.chance(0.05):
            made = [v for v in g.machine.env if v.startswith(dest)]
            if made:
                g.add("print", g.pick(made))
        finish(g, [dest] if dest in g.machine.env else
               [v for v in g.machine.env if v.startswith(dest + "_")])
    except Disagreement as e:
        found = e
        found.step = len(g.steps) - 1
    finally:
        g.machine.close()
    return g.steps, found, failed
