"""How often a family of comparisons raises a false alarm, and how often intervals with seeds hold the truth.

Families: 10 recommenders with the same distribution of ranks are compared in all pairs, by the functions behind
`compare`. Seeds: two recommenders are trained several times; users, seeds and both together have effects of known
size. The same seed gives the same numbers. The bootstrap samples are drawn once for all simulations of a setting, as
`compare` draws the same ones for the same seed.

    OMP_NUM_THREADS=1 python benchmarks/families.py --output docs/reproduction/families.md
"""

import argparse
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pandas as pd
from tqdm import tqdm

from sampled_metrics.evaluation.families import holm, max_t_rates, pairs_of
from sampled_metrics.evaluation.intervals import IntervalOptions, linear, no_progress, resamples, uncertainty
from sampled_metrics.evaluation.seeds import SeedSpread, with_seeds
from sampled_metrics.metrics.held_out import metric, metric_name

METRICS = ("recall@1", "recall@10", "ndcg@10")
RECOMMENDERS = 10
CANDIDATES = 3541
OFFSET = 7
"""P(r) ∝ 1 / (r + offset), by which Recall@1 is 2 %."""

SAME = (0.0, 0.7)
"""Shares of users for whom all recommenders have the same rank; the others' ranks are independent."""

ALPHA = 0.05
USER_SPREAD = 0.3  # standard deviation over users, of the values of a recommender
SEED_SPREADS = (0.0, 0.02, 0.1)
BOTH_SPREADS = (0.1, 0.4)


def alarms(users: int, same: float, simulations: int, seed: int) -> np.ndarray:
    """Return (max-t, Holm, no adjustment; metrics) shares of families with a false alarm."""
    ranks = np.arange(1, CANDIDATES + 1)
    chances = 1.0 / (ranks + OFFSET)
    values = np.stack([metric(label).of_rank(ranks, CANDIDATES) for label in METRICS])
    ones, pairs = np.ones(users, dtype=np.int64), pairs_of(RECOMMENDERS)
    samples = list(resamples(ones, IntervalOptions(seed=seed), no_progress))
    one, other = np.transpose(pairs)
    found = np.zeros((3, len(METRICS)))
    for number in tqdm(range(simulations), desc=f"{users} users, {same:.0%} alike", disable=None):
        rng = np.random.default_rng([seed, users, int(100 * same), number])
        shared, own = np.split(rng.choice(CANDIDATES, size=(RECOMMENDERS + 1, users), p=chances / chances.sum()), [1])
        weights = values[:, np.where(rng.random(users) < same, shared, own)].swapaxes(0, 1)
        rates = max_t_rates(weights, ones, ALPHA, samples)
        differences = (weights[other] - weights[one]).reshape(-1, users)
        interval = uncertainty(
            linear(differences), ones, IntervalOptions(), bounds=(-1.0, 1.0), weights=differences,
            alpha=np.tile(rates, len(pairs)), test=True,
        )  # fmt: skip
        p_values = interval.p_value.reshape(len(pairs), -1)
        outside = ((interval.low > 0) | (interval.high < 0)).reshape(p_values.shape)
        found += [each.any(axis=0) for each in (outside, holm(p_values) < ALPHA, p_values < ALPHA)]
    return found / simulations


def coverage(users: int, seeds: int, spread: float, both: float, simulations: int, seed: int) -> tuple[float, float]:
    """Return how often 95 % intervals of the difference of two equal recommenders hold 0: with seeds, and without."""
    rng = np.random.default_rng([seed, users, seeds, int(1000 * spread), int(1000 * both)])
    ones, rates = np.ones(users, dtype=np.int64), np.array([ALPHA])
    held = np.zeros(2)
    for _ in range(simulations):
        weights = [
            rng.normal(0, USER_SPREAD, users)
            + rng.normal(0, spread, (seeds, 1, 1))
            + rng.normal(0, both, (seeds, 1, users))
            for _ in range(2)
        ]
        values = [each.mean(axis=2) for each in weights]
        difference = weights[1].mean(axis=0) - weights[0].mean(axis=0)
        over_users = uncertainty(
            linear(difference), ones, IntervalOptions(), bounds=(-9.0, 9.0), weights=difference, test=True
        )
        spreads = [SeedSpread.of(*each, ones) for each in zip(values, weights, strict=True)]
        found = with_seeds(over_users, difference.mean(axis=1), spreads, users, rates)
        held += [bool(each.low[0] <= 0 <= each.high[0]) for each in (found, over_users)]
    return held[0] / simulations, held[1] / simulations


def report(users: Iterable[int], simulations: int, seed: int) -> str:
    """Return the page as Markdown."""
    rows = []
    for count in users:
        for same in SAME:
            max_t, by_holm, alone = alarms(count, same, simulations, seed)
            named = zip(METRICS, max_t, by_holm, alone, strict=True)
            rows += [
                [count, f"{same:.0%}", metric_name(label), *(f"{100 * each:.1f}" for each in shares)]
                for label, *shares in named
            ]
    header = ["Users", "Same rank", "Metric", "Max-t, %", "Holm, %", "Not adjusted, %"]
    of_families = pd.DataFrame(rows, columns=header)
    rows = []
    for seeds in (3, 5):
        for spread in SEED_SPREADS:
            for both in BOTH_SPREADS:
                held, without = coverage(200, seeds, spread, both, simulations, seed)
                rows.append([seeds, spread, both, f"{100 * held:.1f}", f"{100 * without:.1f}"])
    header = ["Seeds", "σ of seeds", "σ of both", "Coverage, %", "Without the spread between seeds, %"]
    of_seeds = pd.DataFrame(rows, columns=header)
    off = 100 * np.sqrt(ALPHA * (1 - ALPHA) / simulations)
    return f"""# Many recommenders, and seeds

Simulations, {simulations} of each row, so that 5 % has a standard error of {off:.1f}. Made by
`python benchmarks/families.py`.

## False alarms of families

{RECOMMENDERS} recommenders have the same distribution of ranks, P(r) ∝ 1 / (r + {OFFSET}) for n = {CANDIDATES}, and are
compared in all {len(pairs_of(RECOMMENDERS))} pairs. *Same rank* is the share of users for whom all recommenders have
the same rank. The table shows how often at least one pair is found to differ: by an interval of the max-t bootstrap
with 1000 samples, by a p-value below 0.05 that is adjusted by the method of Holm, and by one that is not adjusted. 5 at
most is right.

{of_families.to_markdown(index=False, disable_numparse=True)}

Where hits are rare, few users differ between two recommenders, and the intervals are careful: Recall@1 of 200 users has
some four hits.

## Coverage with seeds

Two equal recommenders, trained with several seeds, rank 200 users. Values are normal. The standard deviation over
users is {USER_SPREAD}; those of the seeds, and of seeds and users together, are in the table. *Coverage* is how often
the 95 % interval of `compare` holds the true difference, 0.

{of_seeds.to_markdown(index=False, disable_numparse=True)}
"""


def main() -> None:
    """Simulate, print the page, and write it where --output says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--simulations", type=int, default=1000, help="of each setting (1000)")
    parser.add_argument("--users", type=int, nargs="+", default=(200, 1000), help="numbers of users")
    parser.add_argument("--seed", type=int, default=1, help="of everything (1)")
    parser.add_argument("--output", type=Path, help="also write the page to this file")
    given = parser.parse_args()
    page = report(given.users, given.simulations, given.seed)
    print(page)
    if given.output:
        given.output.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
