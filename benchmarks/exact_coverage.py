"""Compute how often intervals of hit rates miss, exactly: every number of hits, with its
probability.

The hits of U users are binomial. So `evaluate` of a hit rate misses its truth p with the
probability of those numbers of hits whose interval excludes p, a function of p alone. The same
holds for `published` if all other candidates are negatives. The function jumps at the ends of the
intervals, so it is computed on both sides of each end, and on a grid.

Two recommenders with equal hit rates differ for some users, by a hit of one or of the other, with
the same probability q / 2. So `compare` gives a false verdict with a probability that is a function
of q alone. docs/coverage.md has the largest values.

    python benchmarks/exact_coverage.py --users 10 25 100 500
"""

import argparse
from collections.abc import Callable, Iterator

import numpy as np
from scipy.stats import binom

import sampled_metrics as sm
from sampled_metrics.core.inference.means import mean_interval

GRID = 2001  # values of a parameter, beside the ends of the intervals
BESIDE = 1e-9  # distance from an end at which the miss rate is computed, on either side
AT_ONCE = 2_000_000  # probabilities that are computed at a time
Rate = Callable[[np.ndarray], np.ndarray]  # (parameters,) miss rates of (parameters,) parameters


def ends_of_hit_rates(users: int, alpha: float) -> np.ndarray:
    """Return the (hits + 1, 2) ends of the intervals of 0 to `users` hits."""
    values = np.array([0.0, 1.0])
    return np.array(
        [
            mean_interval(values, np.array([users - hits, hits]), (0.0, 1.0), alpha)
            for hits in range(users + 1)
        ]
    )


def largest_miss_of_a_hit_rate(users: int, alpha: float = 0.05) -> tuple[float, float]:
    """Return the largest miss rate of `evaluate` over all hit rates, and the hit rate."""
    return _largest_miss(ends_of_hit_rates(users, alpha))


def largest_miss_of_a_published_rate(users: int, alpha: float = 0.05) -> tuple[float, float]:
    """Return the largest miss rate of `published` if the negatives are all other candidates.

    The published value is the hit rate of the users, rounded to four decimals.
    """
    ends = []
    for hits in range(users + 1):
        result = sm.published(
            {"A": {"recall@1": f"{hits / users:.4f}"}},
            users=users,
            negatives=3,
            candidates=4,
            estimators="free",
            confidence_level=1 - alpha,
        )
        [row] = result.itertuples()
        ends.append((row.low, row.high))
    return _largest_miss(np.array(ends))


def largest_false_verdict_of_two(users: int, alpha: float = 0.05) -> tuple[float, float]:
    """Return the largest rate of false verdicts of `compare` on two equal hit rates.

    The second number is the share of users for whom the recommenders differ.
    """
    values = np.array([-1.0, 0.0, 1.0])
    wrong = np.zeros(users + 1)  # by the number of users for whom the recommenders differ
    for differing in range(1, users + 1):
        # from a lead of 0 on, a larger lead excludes 0 as soon as a smaller one does
        for losses in range((differing - 1) // 2, -1, -1):
            counts = np.array([losses, users - differing, differing - losses])
            low, _ = mean_interval(values, counts, (-1.0, 1.0), alpha)
            if low > 0:
                wrong[differing] = 2 * binom.cdf(losses, differing, 0.5)
                break

    def rate(shares: np.ndarray) -> np.ndarray:
        return binom.pmf(np.arange(users + 1), users, shares[:, np.newaxis]) @ wrong

    return _largest(rate, np.empty(0), users)


def _largest_miss(ends: np.ndarray) -> tuple[float, float]:
    """Return the largest miss rate of the (hits + 1, 2) ends of intervals, and its hit rate."""
    users = len(ends) - 1

    def rate(hit_rates: np.ndarray) -> np.ndarray:
        p = hit_rates[:, np.newaxis]
        misses = (p < ends[:, 0]) | (p > ends[:, 1])
        return (binom.pmf(np.arange(users + 1), users, p) * misses).sum(axis=1)

    return _largest(rate, ends.ravel(), users)


def _largest(rate: Rate, ends: np.ndarray, users: int) -> tuple[float, float]:
    """Return the largest rate over a grid and both sides of the ends, and its parameter."""
    parameters = np.concatenate([np.linspace(0, 1, GRID), ends, ends - BESIDE, ends + BESIDE])
    parameters = np.unique(parameters[(parameters > 0) & (parameters < 1)])
    parts = np.array_split(parameters, 1 + len(parameters) * users // AT_ONCE)
    rates = np.concatenate([rate(part) for part in parts])
    return float(rates.max()), float(parameters[rates.argmax()])


COLUMNS = {
    "`evaluate`, hit rate": (largest_miss_of_a_hit_rate, 10_000),
    "`compare` of two, hit rates": (largest_false_verdict_of_two, 500),
    "`published`, all negatives": (largest_miss_of_a_published_rate, 30),
}
"""What is computed, and the largest number of users for which it takes seconds."""


def rows(users: list[int], alpha: float) -> Iterator[str]:
    """Yield the rows of a table in Markdown."""
    yield f"| users | {' | '.join(COLUMNS)} |"
    yield "|---" * (1 + len(COLUMNS)) + "|"
    for number in users:
        cells = [str(number)]
        for largest, most_users in COLUMNS.values():
            if number > most_users:
                cells.append("")
                continue
            rate, parameter = largest(number, alpha)
            cells.append(f"{100 * rate:.2f} % at {parameter:.3f}")
        yield f"| {' | '.join(cells)} |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--users", type=int, nargs="+", default=[10, 20, 25, 30, 60, 100, 500])
    parser.add_argument("--alpha", type=float, default=0.05, help="the error rate")
    options = parser.parse_args()
    for row in rows(options.users, options.alpha):
        print(row, flush=True)


if __name__ == "__main__":
    main()
