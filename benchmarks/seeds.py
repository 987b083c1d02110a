"""Search for the numbers of seeds and the laws where intervals of new runs miss, and print the
misses and the widths.

The means over seeds are drawn from a law, and their difference is 0. The means over users add a
normal part, whose deviation is .1 to 10 times that of the difference by the seeds. Four intervals
are compared: that of Behrens and Fisher, which the library had until 2026-11-26, Satterthwaite's,
half widths added in quadrature with Student's quantiles, and that of the library. The first one is
slow, and is simulated with a tenth of the draws. With `--collapse`, a model collapses in one run of
ten, and its mean over all runs is that of the other one. With `--families`, three recommenders or
more are compared, and the table has the share of simulations with any false verdict, and the width
relative to that of Tukey and Kramer. With `--dependent`, the seeds of recommenders are correlated.
The same seed gives the same table. docs/coverage.md has the
tables.

    python benchmarks/seeds.py --output seeds.csv
    python benchmarks/seeds.py --rates 0.00111 --ratios 1 3 --laws normal --simulations 1000000
    python benchmarks/seeds.py --collapse
    python benchmarks/seeds.py --families --simulations 5000
    python benchmarks/seeds.py --dependent --simulations 20000
"""

import argparse
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import combinations, product
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.special import chdtri, ndtr, ndtri, stdtrit
from scipy.stats import studentized_range

from sampled_metrics.core.inference.means import Intervals
from sampled_metrics.core.inference.seeds import SeedSpread, pooled, with_seeds

PAIRS = ((2, 2), (3, 3), (5, 5), (10, 10), (2, 10), (2, 20), (3, 10), (5, 10))
MORE = (
    (2, 3),
    (2, 4),
    (2, 5),
    (3, 4),
    (3, 5),
    (3, 20),
    (4, 4),
    (4, 5),
    (5, 20),
    (10, 20),
    (15, 20),
    (20, 20),
)
# numbers of seeds of the recommenders of a family
FAMILIES = (
    (3,) * 3,
    (3,) * 5,
    (5,) * 5,
    (3,) * 10,
    (2,) * 5,
    (3, 3, 3, 10),
    (2, 5, 10),
    (2, 20, 20),
)
ALONE = ((2, 0), (3, 0), (5, 0), (10, 0), (20, 0))  # of one recommender
# of the deviations of seeds of the first and the second recommender
RATIOS = (
    1 / 3,
    1 / 2,
    1.0,
    2.0,
    3.0,
)
# deviations of the users' part, relative to that of the difference by seeds
USERS = (
    0.1,
    0.3,
    1.0,
    3.0,
    10.0,
)
# all with the mean 0 and the variance 1
LAWS: dict[str, Callable[[np.random.Generator, tuple[int, int]], np.ndarray]] = {
    "normal": lambda rng, shape: rng.standard_normal(shape),
    "t3": lambda rng, shape: rng.standard_t(3, shape) / np.sqrt(3),
    "lognormal": lambda rng, shape: (
        (np.exp(rng.standard_normal(shape)) - np.exp(0.5)) / np.sqrt((np.e - 1) * np.e)
    ),
    "uniform": lambda rng, shape: rng.uniform(-np.sqrt(3), np.sqrt(3), shape),
}
SLOW = 10  # a tenth of the draws is used for the slow interval
WIDTHS = 100  # draws for the mean width of the slow interval
LOGS = np.linspace(-17, 17, 401)  # of the ratios for which the interval of the library is tabled


class Draws(NamedTuple):
    """Simulated differences, and the estimated variances of the means of both recommenders over
    seeds.
    """

    gap: np.ndarray
    variance_a: np.ndarray
    variance_b: np.ndarray
    variance_users: float  # of the users' part
    counts: tuple[int, int]  # numbers of seeds; 0 for no second recommender

    def beginning(self, size: int) -> "Draws":
        """Return so many of the draws."""
        return self._replace(
            gap=self.gap[:size],
            variance_a=self.variance_a[:size],
            variance_b=self.variance_b[:size],
        )


def drawn(
    counts: tuple[int, int], law: str, ratio: float, users: float, simulations: int, seed: int
) -> Draws:
    """Return simulated differences of 0."""
    rng = np.random.default_rng([seed, *counts, list(LAWS).index(law)])
    sides = [
        LAWS[law](rng, (simulations, count)) if count else np.zeros((simulations, 2))
        for count in counts
    ]
    sides[0] *= ratio
    variance_seeds = sum(
        deviation**2 / count for deviation, count in zip((ratio, 1.0), counts, strict=True) if count
    )
    users_part = users * np.sqrt(variance_seeds) * rng.standard_normal(simulations)
    gap = sides[0].mean(axis=1) - sides[1].mean(axis=1) + users_part
    variances = [side.var(axis=1, ddof=1) / side.shape[1] for side in sides]
    return Draws(gap, *variances, users**2 * variance_seeds, counts)


# --- intervals: each returns the half widths ----------------------------------------------------


def satterthwaite(draws: Draws, alpha: float) -> np.ndarray:
    """Student's quantile of the degrees of freedom of a sum of variances."""
    count_a, count_b = draws.counts
    variance = draws.variance_users + draws.variance_a + draws.variance_b
    part_a = draws.variance_a**2 / (count_a - 1)
    part_b = draws.variance_b**2 / (count_b - 1) if count_b else 0.0
    freedom = variance**2 / (part_a + part_b)
    return -stdtrit(freedom, alpha / 2) * np.sqrt(variance)


def quadrature(draws: Draws, alpha: float) -> np.ndarray:
    """Quantiles of each part added in quadrature, with a pooled variance for equal numbers of
    seeds.
    """
    count_a, count_b = draws.counts
    users_part = ndtri(alpha / 2) ** 2 * draws.variance_users
    if count_a == count_b:
        quantile = stdtrit(2 * count_a - 2, alpha / 2)
        return np.sqrt(users_part + quantile**2 * (draws.variance_a + draws.variance_b))
    part_a = stdtrit(count_a - 1, alpha / 2) ** 2 * draws.variance_a
    part_b = stdtrit(count_b - 1, alpha / 2) ** 2 * draws.variance_b if count_b else 0.0
    return np.sqrt(users_part + part_a + part_b)


@lru_cache
def _tabled(counts: tuple[int, int], alpha: float) -> np.ndarray:
    """Return the half widths of the library by seeds alone, relative to the standard error, for
    ratios of variances.
    """
    parts = 1 / (1 + np.exp(-LOGS)), 1 / (1 + np.exp(LOGS))
    none = np.zeros_like(LOGS)
    spreads = [SeedSpread(part, none, count - 1) for part, count in zip(parts, counts, strict=True)]
    limits = np.tile([-1e30, 1e30], (len(LOGS), 1))
    without_users = Intervals(none, none, none, none)
    return np.asarray(with_seeds(without_users, none, spreads, limits, alpha).high)


def library(draws: Draws, alpha: float) -> np.ndarray:
    """Of the library: the parts are added in quadrature, and that of the seeds is scaled from a
    table.
    """
    if not draws.counts[1]:
        return quadrature(draws, alpha)
    log_ratio = np.log(draws.variance_a / draws.variance_b)
    relative = np.interp(log_ratio, LOGS, _tabled(draws.counts, alpha))
    users_part = ndtri(alpha / 2) ** 2 * draws.variance_users
    return np.sqrt(users_part + relative**2 * (draws.variance_a + draws.variance_b))


def behrens_fisher_p_value(draws: Draws, distance: np.ndarray) -> np.ndarray:
    """Return the p-values of distances by the formula of Behrens and Fisher with 32 nodes a
    variance.
    """
    points, weights = np.polynomial.legendre.leggauss(32)
    parts = [np.full((len(distance), 1), draws.variance_users)]
    shares = np.ones(1)
    variances = (draws.variance_a, draws.variance_b)
    for variance, count in zip(variances, draws.counts, strict=True):
        if count:
            ratios = (count - 1) / chdtri(count - 1, (1 - points) / 2)
            wider = parts[-1][:, :, np.newaxis] + variance[:, np.newaxis, np.newaxis] * ratios
            parts.append(wider.reshape(len(distance), -1))
            shares = np.outer(shares, weights / 2).ravel()
    return np.asarray(2 * ndtr(-distance[:, np.newaxis] / np.sqrt(parts[-1])) @ shares)


def behrens_fisher(draws: Draws, alpha: float) -> np.ndarray:
    """Of Behrens and Fisher, by 30 halvings."""
    low = np.zeros_like(draws.gap)
    high = 1000 * np.sqrt(draws.variance_users + draws.variance_a + draws.variance_b)
    for _ in range(30):
        middle = (low + high) / 2
        is_short = behrens_fisher_p_value(draws, middle) > alpha
        low = np.where(is_short, middle, low)
        high = np.where(is_short, high, middle)
    return high


# --- tables -------------------------------------------------------------------------------------

FAST = {"satterthwaite": satterthwaite, "quadrature": quadrature, "library": library}


def cells(options: argparse.Namespace) -> Iterator[dict[str, object]]:
    """Yield a row for each cell: the share of intervals that miss, and the mean width by the true
    standard error.
    """
    pairs = (*PAIRS, *MORE, *((b, a) for a, b in MORE if a != b), *ALONE) if options.all else PAIRS
    for counts, law, ratio, users, alpha in product(
        pairs, options.laws, options.ratios, USERS, options.rates
    ):
        if not counts[1] and ratio != 1:
            continue
        draws = drawn(counts, law, ratio, users, options.simulations, options.seed)
        count_a, count_b = counts
        variance_b = 1 / count_b if count_b else 0.0
        error = np.sqrt(draws.variance_users + ratio**2 / count_a + variance_b)
        row = {
            "first": count_a,
            "second": count_b,
            "law": law,
            "ratio": ratio,
            "users": users,
            "alpha": alpha,
        }
        for name, half_width in FAST.items():
            widths = half_width(draws, alpha)
            row[f"{name}_misses"] = (np.abs(draws.gap) > widths).mean()
            row[f"{name}_width"] = widths.mean() / error
        if not options.fast:
            some = draws.beginning(len(draws.gap) // SLOW)
            p_value = behrens_fisher_p_value(some, np.abs(some.gap))
            row["behrens_fisher_misses"] = (p_value < alpha).mean()
            widths = behrens_fisher(draws.beginning(WIDTHS), alpha)
            row["behrens_fisher_width"] = widths.mean() / error
        yield row


def summary(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the most misses by pair, law, and whether one spreads more, and the widths for equal
    normal seeds.
    """
    methods = ["behrens_fisher", *FAST] if "behrens_fisher_misses" in rows else list(FAST)
    rows = rows.assign(spreads=np.where(rows["ratio"] == 1, "equal", "unequal"))
    misses = rows.groupby(["first", "second", "law", "spreads"], sort=False)[
        [f"{name}_misses" for name in methods]
    ]
    widths = rows[(rows["ratio"] == 1)].pivot_table(
        index=["first", "second", "law"],
        columns="users",
        values=[f"{name}_width" for name in methods],
    )
    widths.columns = [f"{name} at {users:g}" for name, users in widths.columns]
    most_misses = (100 * misses.max()).round(1).reset_index()
    return most_misses.merge(widths.round(2).reset_index(), on=["first", "second", "law"])


def collapses(options: argparse.Namespace) -> pd.DataFrame:
    """Return shares of false verdicts if a model has 0 in one run of ten, and the mean of the other
    in all runs.

    Both have a mean of .18 over runs. Those that do not collapse vary by .004, and the users' part
    is .004.
    """
    rng = np.random.default_rng(options.seed)
    rows = []
    for count in (2, 3, 5, 10, 20, 50):
        noise = 0.004 * rng.standard_normal((2, options.simulations, count))
        steady = 0.18 + noise[0]
        collapsing = np.where(rng.random(steady.shape) < 0.1, 0.0, 0.2) + noise[1]
        users_part = 0.004 * rng.standard_normal(options.simulations)
        gap = collapsing.mean(axis=1) - steady.mean(axis=1) + users_part
        variances = (side.var(axis=1, ddof=1) / count for side in (collapsing, steady))
        draws = Draws(gap, *variances, 0.004**2, (count, count))
        row = {"seeds": count, "no run collapsed": (collapsing > 0.1).all(axis=1).mean()}
        for name, half_width in FAST.items():
            row[name] = (np.abs(gap) > half_width(draws, 0.05)).mean()
        rows.append(row)
    return pd.DataFrame(rows)


# --- families -----------------------------------------------------------------------------------


def deviations_of_families(recommenders: int) -> dict[str, np.ndarray]:
    """Return deviations of the seeds of each recommender, by name."""
    equal = np.ones(recommenders)
    three_to_one = np.where(np.arange(recommenders) % 2, 3.0, 1.0)
    deviations = {"equal": equal, "1 to 3": three_to_one, "3 to 1": three_to_one[::-1]}
    for place, name in ((0, "the first"), (-1, "the last")):
        for deviation in (0.0, 1 / 3, 3.0):
            differing = equal.copy()
            differing[place] = deviation
            deviations[f"{name} {deviation:.2g}"] = differing
    return deviations


def half_widths_in_family(
    squares: np.ndarray, counts: tuple[int, ...], variance_users: float, alpha: float
) -> Iterator[np.ndarray]:
    """Yield the (simulations,) half widths of each pair by the library, at the error rate alpha.

    The (recommenders, simulations) squares are the variances between seeds.
    """
    simulations = squares.shape[1]
    none = np.zeros(simulations)
    own = [
        SeedSpread(square / count, none, count - 1)
        for square, count in zip(squares, counts, strict=True)
    ]
    limits = np.tile([-1e30, 1e30], (simulations, 1))
    users = Intervals(none, none, none + np.sqrt(variance_users), none)
    for pair in combinations(pooled(own), 2):
        yield with_seeds(users, none, pair, limits, alpha).high


def half_widths_by_pair(
    squares: np.ndarray, counts: tuple[int, ...], variance_users: float, alpha: float
) -> Iterator[np.ndarray]:
    """Yield the half widths of each pair by its own seeds; parameters as above."""
    numbers = range(len(counts))
    for a, b in combinations(numbers, 2):
        # a deviation of 0 counts as a tiny one, as the library does
        variance_a = np.maximum(squares[a], 1e-12) / counts[a]
        variance_b = np.maximum(squares[b], 1e-12) / counts[b]
        draws = Draws(squares[a], variance_a, variance_b, variance_users, (counts[a], counts[b]))
        yield library(draws, alpha)


def half_widths_of_tukey(
    squares: np.ndarray, counts: tuple[int, ...], variance_users: float, quantile: float
) -> Iterator[np.ndarray]:
    """Yield the half widths of each pair of Tukey and Kramer, which have no users' part."""
    freedom = np.array(counts) - 1
    mean_square = freedom @ squares / freedom.sum()
    for count_a, count_b in combinations(counts, 2):
        yield quantile * np.sqrt(mean_square * (1 / count_a + 1 / count_b) / 2)


def families(options: argparse.Namespace) -> pd.DataFrame:
    """Return the worst shares of simulations with a false verdict on any pair, and the widths.

    The users' part is none, or that of the seeds. Tukey's intervals are for no users' part. The
    widths are those of equal deviations without a users' part.
    """
    level = 0.05
    rows = []
    for counts, law in product(FAMILIES, options.laws):
        pairs = len(counts) * (len(counts) - 1) // 2
        quantile = studentized_range.ppf(1 - level, len(counts), sum(counts) - len(counts))
        row: dict[str, object] = {"seeds": ", ".join(map(str, counts)), "law": law}
        for (name, deviations), users in product(
            deviations_of_families(len(counts)).items(), (0.0, 1.0)
        ):
            rng = np.random.default_rng([options.seed, *counts, list(LAWS).index(law)])
            sides = [
                deviation * LAWS[law](rng, (options.simulations, count))
                for deviation, count in zip(deviations, counts, strict=True)
            ]
            deviation_users = users / np.sqrt(np.mean(counts))
            means = [
                side.mean(axis=1) + deviation_users * rng.standard_normal(options.simulations)
                for side in sides
            ]
            squares = np.array([side.var(axis=1, ddof=1) for side in sides])
            variance_users = 2 * deviation_users**2
            rate = level / pairs
            half_widths = {
                "library": [*half_widths_in_family(squares, counts, variance_users, rate)],
                "by pair": [*half_widths_by_pair(squares, counts, variance_users, rate)],
            }
            if not users:
                half_widths["Tukey"] = [*half_widths_of_tukey(squares, counts, 0.0, quantile)]
            for method, widths in half_widths.items():
                is_false = np.zeros(options.simulations, dtype=bool)
                for (a, b), width in zip(combinations(means, 2), widths, strict=True):
                    is_false |= np.abs(a - b) > width
                false = round(100 * float(is_false.mean()), 1)
                row[f"{method} false"] = max(false, row.get(f"{method} false", 0.0))
            if name == "equal" and not users:
                for method in ("library", "by pair"):
                    ratio = np.mean(half_widths[method]) / np.mean(half_widths["Tukey"])
                    row[f"{method} width"] = round(float(ratio), 2)
        rows.append(row)
    return pd.DataFrame(rows)


def dependent(options: argparse.Namespace) -> pd.DataFrame:
    """Return shares of simulations with a false verdict if seeds are folds that recommenders share.

    The metrics of a fold have the same correlation for all pairs of neighbours. Seeds are normal
    and spread alike, and there is no users' part.
    """
    level = 0.05
    rows = []
    for recommenders, count in product((2, 3, 5), (3, 5, 10)):
        row: dict[str, object] = {"recommenders": recommenders, "seeds": count}
        for correlation in (-1.0, -0.5, 0.5):
            rng = np.random.default_rng([options.seed, recommenders, count])
            shape = (options.simulations, count)
            signs = np.sign(correlation) ** np.arange(recommenders)
            shared = np.sqrt(abs(correlation)) * rng.standard_normal(shape)
            sides = [
                sign * shared + np.sqrt(1 - abs(correlation)) * rng.standard_normal(shape)
                for sign in signs
            ]
            means = [side.mean(axis=1) for side in sides]
            squares = np.array([side.var(axis=1, ddof=1) for side in sides])
            method = half_widths_by_pair if recommenders == 2 else half_widths_in_family
            rate = level / (recommenders * (recommenders - 1) // 2)
            is_false = np.zeros(options.simulations, dtype=bool)
            widths = method(squares, (count,) * recommenders, 0.0, rate)
            for (a, b), width in zip(combinations(means, 2), widths, strict=True):
                is_false |= np.abs(a - b) > width
            row[f"correlation {correlation:g}"] = round(100 * float(is_false.mean()), 1)
        rows.append(row)
    return pd.DataFrame(rows)


def main() -> None:
    """Simulate, write the csv, and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--collapse", action="store_true", help="simulate a model that collapses instead"
    )
    parser.add_argument(
        "--families", action="store_true", help="compare three recommenders or more instead"
    )
    parser.add_argument(
        "--dependent", action="store_true", help="simulate seeds that recommenders share instead"
    )
    parser.add_argument(
        "--all", action="store_true", help="also other numbers of seeds, and one recommender"
    )
    parser.add_argument(
        "--fast", action="store_true", help="without the interval of Behrens and Fisher"
    )
    parser.add_argument("--laws", nargs="+", choices=LAWS, default=list(LAWS))
    parser.add_argument("--ratios", nargs="+", type=float, default=RATIOS)
    parser.add_argument("--rates", nargs="+", type=float, default=[0.05], help="error rates")
    parser.add_argument("--simulations", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--output", type=Path, help="csv file of all cells")
    options = parser.parse_args()
    if options.collapse:
        print(collapses(options).to_markdown(index=False, floatfmt=".3f"))
        return
    if options.families:
        print(families(options).to_markdown(index=False))
        return
    if options.dependent:
        print(dependent(options).to_markdown(index=False))
        return
    rows = pd.DataFrame(cells(options))
    if options.output:
        rows.to_csv(options.output, index=False)
    print(summary(rows).to_markdown(index=False))


if __name__ == "__main__":
    main()
