"""Prints the polynomials of src/tensor/kernels/vmath.h and gelu.h, lowest power first, and their largest error.

usage: python tools/fit_vmath.py      (needs NumPy)

Each is least in its largest weighted error: least squares on Chebyshev points, again and again, with
the points of large error weighing more (Lawson 1961). Coefficients are rounded to float32.
"""
import math

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


fit("log", log_rest, math.sqrt(0.5) - 1, math.sqrt(2) - 1, 7, lambda f: f * f + 1e-9)
fit("tanh, small", tanh_rest, 1e-12, 0.625**2, 4, lambda z: z)
fit("erf, small", erf_rest, 1e-12, 0.9375**2, 6, np.ones_like)
fit("erf, large", lambda t: -np.log(erfc(t)) / t - 1, 0.9375, 4.0, 6, lambda t: t * erfc(t))
fit("2^f (gelu.h)", exp2_rest, -0.5, 0.5, 5, lambda f: np.abs(f) + 1e-9)
