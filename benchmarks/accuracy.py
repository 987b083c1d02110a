"""Measure how many digits the weights of BV γ keep, against a reference in long doubles.

The reference shares nothing with the library. P(x | r) is a running product of the ratios of neighbouring
probabilities, from the side where they do not underflow, divided by its sum: some 17 digits. The equations of BV γ (eq.
25) are solved by Cholesky in double precision, and their residual, computed in long doubles, is solved for again until
nothing changes. With --check it is first compared with exact arithmetic on a smaller case.

    python benchmarks/accuracy.py --candidates 100000 --negatives 1000
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import comb
from pathlib import Path

import mpmath
import numpy as np
from scipy.linalg import cho_factor, cho_solve

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

from sampled_metrics.estimators.bias_variance import BiasVariance
from sampled_metrics.metrics.held_out import metric
from sampled_metrics.sampling.design import SamplingDesign

Wide = np.longdouble
GAMMAS = [f"1e-{digits}" for digits in range(1, 9)]
METRICS = ["recall@10", "ndcg@10", "ap", "auc"]


def wide_enough() -> bool:
    """Return whether long doubles have more digits than doubles here."""
    return bool(np.finfo(Wide).eps < 2e-19)


def values(label: str, ranks: np.ndarray, n: int) -> np.ndarray:
    """Return a metric at (ranks,), in long doubles: eqs 7-13 once more."""
    name, _, k = label.partition("@")
    r = ranks.astype(Wide)
    value = {
        "recall": lambda: np.ones_like(r),
        "ndcg": lambda: np.log(Wide(2)) / np.log1p(r),
        "ap": lambda: 1 / r,
        "auc": lambda: (n - r) / (n - 1),
    }[name]()
    return np.where(ranks <= int(k), value, Wide(0)) if k else value


def probabilities(better: np.ndarray, pool: int, m: int, replacement: bool) -> np.ndarray:
    """P(x | r), (ranks, m + 1) long doubles, for ranks with `better` candidates above them."""
    flipped = 2 * better > pool  # counted from the other side: P(x | better) = P(m - x | pool - better)
    fewer = np.where(flipped, pool - better, better).astype(Wide)[:, np.newaxis]
    x = np.arange(m, dtype=Wide)
    if replacement:
        ratio = (m - x) / (x + 1) * (fewer / (pool - fewer))
    else:
        ratio = np.maximum(fewer - x, 0) * (m - x) / ((x + 1) * (pool - fewer - m + x + 1))
    if not replacement and m > pool // 2:
        raise SystemExit("without replacement at most half of the candidates may be drawn here")
    chances = np.ones((len(better), m + 1), dtype=Wide)
    np.cumprod(ratio, axis=1, out=chances[:, 1:])
    chances /= chances.sum(axis=1, keepdims=True)
    chances[flipped] = chances[flipped, ::-1]
    return chances


def blocks(n: int, m: int, replacement: bool) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield ranks and their P(x | r), some 50 MB at a time."""
    step = max(1, 3_000_000 // (m + 1))
    for first in range(0, n, step):
        better = np.arange(first, min(first + step, n))
        yield better + 1, probabilities(better, n - 1, m, replacement)


def reference(
    n: int, m: int, gammas: Sequence[str], labels: Sequence[str], replacement: bool, steps: int = 12
) -> tuple[np.ndarray, float]:
    """Solve eq. 25 by iterative refinement.

    Returns:
        (gammas, labels, m + 1) weights, and the last change relative to the largest weight of each.
    """
    gram, marginal = np.zeros((m + 1, m + 1)), np.zeros(m + 1, dtype=Wide)
    joint = np.zeros((m + 1, len(labels)), dtype=Wide)
    for ranks, chances in blocks(n, m, replacement):
        narrow = chances.astype(np.float64)
        gram += narrow.T @ narrow / n
        marginal += chances.sum(axis=0) / n
        joint += chances.T @ np.stack([values(label, ranks, n) for label in labels], axis=1) / n
    price = [Wide(gamma) for gamma in gammas]
    scale = 1 / np.sqrt(marginal.astype(np.float64))
    scaled = gram * np.outer(scale, scale)
    factors = [cho_factor((1 - float(gamma)) * scaled + float(gamma) * np.eye(m + 1)) for gamma in price]
    weights = np.zeros((len(price), m + 1, len(labels)), dtype=Wide)
    change = np.inf
    for step in range(steps):
        # the residual as (1-γ) AᵀD(f - A w) + γ (AᵀD f - c w): small numbers are summed, so that few digits are lost
        bias = np.broadcast_to(joint, weights.shape).copy()
        if step:  # for all gammas and metrics at once
            flat = np.ascontiguousarray(np.moveaxis(weights, 0, 1).reshape(m + 1, -1))
            total = np.zeros_like(flat)
            for ranks, chances in blocks(n, m, replacement):
                f = np.tile(np.stack([values(label, ranks, n) for label in labels], axis=1), len(price))
                total += chances.T @ (f - chances @ flat) / n
            bias = np.moveaxis(total.reshape(m + 1, len(price), len(labels)), 1, 0)
        last, change = change, 0.0
        for at, gamma in enumerate(price):
            residual = (1 - gamma) * bias[at] + gamma * (joint - marginal[:, np.newaxis] * weights[at])
            solved = cho_solve(factors[at], (scale[:, np.newaxis] * residual).astype(np.float64))
            correction = scale[:, np.newaxis] * solved
            weights[at] += correction
            change = max(change, float((np.abs(correction).max(axis=0) / np.abs(weights[at]).max(axis=0)).max()))
        if change < 1e-17 or (step > 2 and change > last / 2):
            break
    return np.moveaxis(weights, 1, 2), change


def exactly(
    n: int, m: int, gammas: Sequence[str], labels: Sequence[str], replacement: bool, digits: int = 60
) -> np.ndarray:
    """Solve eq. 25 with every sum exact and the equations in mpmath; (gammas, labels, m + 1) long doubles."""
    if replacement:
        whole = (n - 1) ** m
        rows = [[comb(m, x) * b**x * (n - 1 - b) ** (m - x) for x in range(m + 1)] for b in range(n)]
    else:
        whole = comb(n - 1, m)
        rows = [[comb(b, x) * comb(n - 1 - b, m - x) for x in range(m + 1)] for b in range(n)]
    A = np.array(rows, dtype=object)
    gram, marginal = A.T @ A, A.sum(axis=0)
    found = np.zeros((len(gammas), len(labels), m + 1), dtype=Wide)
    with mpmath.workdps(digits):
        right = mpmath.matrix(m + 1, len(labels))
        for column, label in enumerate(labels):
            f = [_exact_value(label, r, n) for r in range(1, n + 1)]
            for x in range(m + 1):
                right[x, column] = mpmath.fdot(A[:, x], f) / whole
        for at, gamma in enumerate(map(Fraction, gammas)):
            matrix = mpmath.matrix(m + 1, m + 1)
            for x in range(m + 1):
                for y in range(m + 1):
                    cell = (1 - gamma) * gram[x, y] + (gamma * marginal[x] * whole if x == y else 0)
                    matrix[x, y] = mpmath.mpf(cell.numerator) / cell.denominator / whole**2
            for column in range(len(labels)):
                solved = mpmath.lu_solve(matrix, right[:, column])
                found[at, column] = [Wide(mpmath.nstr(weight, 25)) for weight in solved]
    return found


def _exact_value(label: str, r: int, n: int) -> mpmath.mpf:
    name, _, k = label.partition("@")
    if k and r > int(k):
        return mpmath.mpf(0)
    return {
        "recall": lambda: mpmath.mpf(1),
        "ndcg": lambda: 1 / mpmath.log(r + 1, 2),
        "ap": lambda: mpmath.mpf(1) / r,
        "auc": lambda: mpmath.mpf(n - r) / (n - 1),
    }[name]()


def digits_kept(weights: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Return -log₁₀ of the largest error of a weight, relative to the largest weight; over the last axis."""
    off = np.abs(weights - wanted).max(axis=-1) / np.abs(wanted).max(axis=-1)
    return -np.log10(np.maximum(off.astype(np.float64), 1e-19))


def library(n: int, m: int, gammas: Sequence[str], labels: Sequence[str], replacement: bool) -> np.ndarray:
    """Return the weights of the library, (gammas, labels, m + 1)."""
    metrics = tuple(metric(label) for label in labels)
    return np.stack(
        [
            BiasVariance(float(gamma), None).weights(SamplingDesign(m, replacement), np.array([n]), metrics)[0]
            for gamma in gammas
        ]
    )


def table(name: str, gammas: Sequence[str], labels: Sequence[str], digits: np.ndarray) -> str:
    """Lay out digits by gamma and metric, as Markdown."""
    lines = [f"| {name} | {' | '.join(labels)} |", "|:---|" + "---:|" * len(labels)]
    for gamma, row in zip(gammas, digits, strict=True):
        lines.append(f"| {gamma} | {' | '.join(f'{each:.1f}' for each in row)} |")
    return "\n".join(lines)


def main() -> None:
    """Print the digits kept, by γ and metric."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--candidates", type=int, default=100_000, help="n (default %(default)s)")
    parser.add_argument("--negatives", type=int, default=1000, help="m (default %(default)s)")
    parser.add_argument("--gammas", nargs="+", default=GAMMAS, help="default: 1e-1 to 1e-8")
    parser.add_argument("--metrics", nargs="+", default=METRICS, help=f"default: {' '.join(METRICS)}")
    parser.add_argument("--replacement", action="store_true", help="negatives are drawn with replacement")
    parser.add_argument("--check", action="store_true", help="first the reference itself, at n = 600 and m = 40")
    given = parser.parse_args()
    if not wide_enough():
        sys.exit("error: long doubles have no more digits than doubles on this machine; run it on x86-64 Linux")
    problem = (given.gammas, given.metrics, given.replacement)
    if given.check:
        wide, exact = reference(600, 40, *problem)[0], exactly(600, 40, *problem)
        print(table("digits of the reference, n = 600, m = 40", *problem[:2], digits_kept(wide, exact)))
        ours = library(600, 40, *problem)
        print("\n" + table("digits of the library, n = 600, m = 40", *problem[:2], digits_kept(ours, exact)) + "\n")
    n, m = given.candidates, given.negatives
    wanted, change = reference(n, m, *problem)
    ours = library(n, m, *problem)
    print(table(f"digits of the library, n = {n}, m = {m}", *problem[:2], digits_kept(ours, wanted)))
    print(f"\nlast change of the reference: {change:.0e} of the largest weight")


if __name__ == "__main__":
    main()
