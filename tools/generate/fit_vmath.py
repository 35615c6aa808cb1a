"""Prints the polynomials of src/tensor/kernels/scalar_f32.h, functions.h and scalar_f64.h, lowest power first, the
ratios of polynomials of functions.h and scalar_f64.h, and the largest error of most.

usage: python tools/generate/fit_vmath.py      (needs NumPy and mpmath)

Each polynomial makes its largest weighted error as small as possible: least squares on Chebyshev
points, repeated with more weight on the points of large error (Lawson 1961). Coefficients are rounded
to float32. Those of scalar_f64.h go through Chebyshev points, in 60 digits.
"""
import math

import mpmath as mp
import numpy as np
from numpy.polynomial import Polynomial, chebyshev

POINTS, ROUNDS = 4000, 300


def fit(name, f, lo, hi, degree, weight):
    t = np.cos(np.pi * (np.arange(POINTS) + 0.5) / POINTS)
    x = (hi + lo) / 2 + (hi - lo) / 2 * t
    y, w, importance = f(x), weight(x), np.ones(POINTS) / POINTS
    basis = chebyshev.chebvander(t, degree)
    for _ in range(ROUNDS):
        scale = np.sqrt(importance) * w
        c = np.linalg.lstsq(basis * scale[:, None], y * scale, rcond=None)[0]
        error = np.abs((basis @ c - y) * w)
        importance *= error
        importance /= importance.sum()
    coefficients = chebyshev.Chebyshev(c, domain=[lo, hi]).convert(kind=Polynomial).coef
    print(name, [float(np.float32(v)) for v in coefficients], f"error {error.max():.1e}")


def fit_ratio(name, f, top, degrees):
    """x p(z) / q(z) with z = x^2 and q(0) = 1, as near to x f(z) as possible up to x = sqrt(top).

    Each round is linear, as it divides by the q of the round before (Sanathanan and Koerner 1963).
    """
    t = np.cos(np.pi * (np.arange(POINTS) + 0.5) / POINTS)
    z = top / 2 * (1 + t)
    y, x, importance, q = f(z), np.sqrt(z), np.ones(POINTS) / POINTS, np.ones(POINTS)
    over, under = (chebyshev.chebvander(t, d) for d in degrees)
    best = np.inf, None
    for _ in range(ROUNDS):
        scale = np.sqrt(importance) * x / np.abs(q)
        basis = np.hstack([over, -y[:, None] * under[:, 1:]])
        c = np.linalg.lstsq(basis * scale[:, None], y * scale, rcond=None)[0]
        c = np.split(np.insert(c, degrees[0] + 1, 1), [degrees[0] + 1])
        q = under @ c[1]
        error = np.abs(over @ c[0] / q - y) * x
        if error.max() < best[0] and q.min() > 0:
            best = error.max(), c
        importance *= error**0.7
        importance /= importance.sum()
    p, q = (chebyshev.Chebyshev(c, domain=[0, top]).convert(kind=Polynomial).coef for c in best[1])
    p, q = ([np.float32(v) for v in c / q[0]] for c in (p, q))
    ends = np.arange(np.float32(5).view(np.int32), np.float32(6).view(np.int32)).view(np.float32)
    end = ends[np.argmax(ends * (horner(p, ends * ends) / horner(q, ends * ends)) == 0.5)]
    print(name, [float(v) for v in p], [float(v) for v in q], f"error {best[0]:.1e}, first 0.5 at {end}")


def horner(c, z):
    """As fused multiply-adds in float32, of many z."""
    y = c[-1]
    for v in c[-2::-1]:
        y = (np.longdouble(y) * z.astype(np.longdouble) + np.longdouble(v)).astype(np.float32)
    return y


def log_rest(f):
    """(log(1 + f) - f + f^2 / 2) / f^3, by its series near 0."""
    series = sum((-1) ** k * f**k / (k + 3) for k in range(9))
    return np.where(np.abs(f) < 1e-2, series, (np.log1p(f) - f + f * f / 2) / np.where(f == 0, 1, f) ** 3)


def tanh_rest(z):
    """(tanh(x) / x - 1) / x^2 of z = x^2."""
    x = np.sqrt(z)
    series = -1 / 3 + 2 * z / 15 - 17 * z**2 / 315 + 62 * z**3 / 2835
    return np.where(z < 1e-4, series, (np.tanh(x) / x - 1) / z)


def exp2_rest(f):
    """(2^f - 1) / f, by its series near 0."""
    log2 = math.log(2)
    series = log2 + f * log2**2 / 2 + f * f * log2**3 / 6
    return np.where(np.abs(f) < 1e-4, series, (np.exp2(f) - 1) / np.where(f == 0, 1, f))


erf, erfc = np.vectorize(math.erf), np.vectorize(math.erfc)


def erf_rest(z):
    """erf(x) / x - 1 of z = x^2."""
    x = np.sqrt(z)
    return np.where(z < 1e-6, 2 / math.sqrt(math.pi) * (1 - z / 3 + z * z / 10) - 1, erf(x) / x - 1)


def half_normal(z):
    """(Phi(x) - 1/2) / x of z = x^2."""
    x = np.sqrt(z)
    return np.where(z < 1e-6, (1 - z / 6) / math.sqrt(2 * math.pi), erf(x / math.sqrt(2)) / (2 * x + (x == 0)))


def half_slope(z):
    """(Phi(x) + x phi(x) - 1/2) / x of z = x^2."""
    return half_normal(z) + np.exp(-z / 2) / math.sqrt(2 * math.pi)


fit("log", log_rest, math.sqrt(0.5) - 1, math.sqrt(2) - 1, 7, lambda f: f * f + 1e-9)
fit("tanh, small", tanh_rest, 1e-12, 0.625**2, 4, lambda z: z)
fit("erf, small", erf_rest, 1e-12, 0.9375**2, 6, np.ones_like)
fit("erf, large", lambda t: -np.log(erfc(t)) / t - 1, 0.9375, 4.0, 6, lambda t: t * erfc(t))
fit("2^f (functions.h)", exp2_rest, -0.5, 0.5, 5, lambda f: np.abs(f) + 1e-9)
fit_ratio("Phi - 1/2", half_normal, 5.4**2, (5, 5))
fit_ratio("gelu's slope - 1/2", half_slope, 5.8**2, (7, 6))


# ---------------------------------------------------------------- float64 (scalar_f64.h)


def chebyshev_points(n, lo, hi, power=1):
    """n points, nearer to lo the larger the power is."""
    return [lo + (hi - lo) * ((1 + mp.cos(mp.pi * (2 * i + 1) / (2 * n))) / 2) ** power for i in range(n)]


def interpolate(name, f, lo, hi, terms):
    """The polynomial through Chebyshev points, whose error is near the least possible."""
    x = chebyshev_points(terms, lo, hi)
    c = mp.lu_solve(mp.matrix([[v**k for k in range(terms)] for v in x]), mp.matrix([f(v) for v in x]))
    print_double(name, c)
    error = max(abs(mp.polyval(list(c)[::-1], v) - f(v)) for v in chebyshev_points(501, lo, hi))
    print(f"error {float(error):.1e}")


def interpolate_ratio(name, f, hi, degrees, power):
    """p / q with q(0) = 1 through points of [0, hi]"""
    x = chebyshev_points(sum(degrees) + 1, mp.mpf(0), mp.mpf(hi), power)
    rows = [[v**k for k in range(degrees[0] + 1)] + [-f(v) * v**k for k in range(1, degrees[1] + 1)] for v in x]
    c = mp.lu_solve(mp.matrix(rows), mp.matrix([f(v) for v in x]))
    print_double(name + ", p", c[: degrees[0] + 1])
    print_double(name + ", q", [mp.mpf(1)] + list(c[degrees[0] + 1 :]))


def print_double(name, c):
    print(name, [float(v) for v in c])


def parts(name, value, *bits):
    """value as a sum of numbers of so many bits, and a rest"""
    found = []
    for b in bits:
        scale = mp.mpf(2) ** (b - 1 - int(mp.floor(mp.log(value - sum(found), 2))))
        found.append(mp.floor((value - sum(found)) * scale) / scale)
    print(name, [float(v).hex() for v in found + [value - sum(found)]])


def erf_rate(a):
    """(-log(erfc(a)) / a - 2 / sqrt(pi)) / a"""
    return (-mp.log(mp.erfc(a)) / a - 2 / mp.sqrt(mp.pi)) / a


mp.mp.dps = 60
half_log2, tenth = mp.log(2) / 2, mp.mpf(1) / 10**15
interpolate("(e^s - 1 - s) / s^2", lambda s: (mp.expm1(s) - s) / s**2, -half_log2, half_log2 + tenth, 10)
top = ((mp.sqrt(2) - 1) / (mp.sqrt(2) + 1)) ** 2
interpolate("(log((1 + s) / (1 - s)) - 2 s) / s^3 of s^2",
            lambda z: (2 * mp.atanh(mp.sqrt(z)) / mp.sqrt(z) - 2) / z, tenth, top, 7)
top = (mp.pi / 4) ** 2 * mp.mpf("1.001")
interpolate("(sin r / r - 1) / r^2 of r^2", lambda z: (mp.sin(mp.sqrt(z)) / mp.sqrt(z) - 1) / z, tenth, top, 6)
interpolate("(cos r - 1 + r^2 / 2) / r^4 of r^2", lambda z: (mp.cos(mp.sqrt(z)) - 1 + z / 2) / z**2, tenth, top, 6)
interpolate_ratio("erf_rate", erf_rate, 6, (9, 8), 2.5)
parts("log 2", mp.log(2), 32)
parts("pi / 2", mp.pi / 2, 39, 39)
parts("2 / sqrt(pi)", 2 / mp.sqrt(mp.pi), 53)
interpolate("short (e^s - 1 - s) / s^2", lambda s: (mp.expm1(s) - s) / s**2, -half_log2, half_log2 + tenth, 6)
top = ((mp.sqrt(2) - 1) / (mp.sqrt(2) + 1)) ** 2
interpolate("short (log((1 + s) / (1 - s)) - 2 s) / s^3 of s^2",
            lambda z: (2 * mp.atanh(mp.sqrt(z)) / mp.sqrt(z) - 2) / z, tenth, top, 4)
top = (mp.pi / 2) ** 2 * mp.mpf("1.0001")
interpolate("short sin r / r of r^2", lambda z: mp.sin(mp.sqrt(z)) / mp.sqrt(z), tenth, top, 7)
parts("1 / pi", 1 / mp.pi, 29)
parts("pi", mp.pi, 39, 39)
