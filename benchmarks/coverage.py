"""How often intervals cover what they claim to cover, and how often `compare` raises a false alarm.

Evaluations are simulated from a known distribution of true ranks: a user's rank is r with a probability proportional to
1 / (r + 30) for r = 1 … n, and of m negatives drawn without replacement x are above the held-out item. So the truth is
a sum, and so is what a linear estimator gives on average over users and samples; for MLE, which is not linear, that is
the mean of further simulated estimates. Every interval is made by the functions that users call. The same seed gives
the same numbers, whatever the number of jobs.

    python benchmarks/coverage.py --jobs 2 --output docs/reproduction/coverage.md
"""

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from multiprocessing import Pool
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits
from tqdm import tqdm

from sampled_metrics import compare, correct, evaluate
from sampled_metrics.estimators import LinearEstimate, estimator, estimator_name
from sampled_metrics.metrics.held_out import metric, metric_name
from sampled_metrics.sampling.design import SamplingDesign
from sampled_metrics.sampling.distributions import rank_distribution
from sampled_metrics.sampling.outcomes import Outcomes

METRICS = ("recall@10", "ndcg@10", "ap", "auc")
LINEAR = ("bv-0.1", "bv-0.01")
INTERVALS = ("delta", "bootstrap")
SAME = 0.7
"""Share of users for whom correlated recommenders have the same rank; the others' ranks are independent."""


@dataclass(frozen=True)
class Study:
    """What is simulated.

    Attributes:
        users: of an evaluation.
        candidates: n.
        negatives: m.
        resamples: bootstrap samples of linear estimators, of exact metrics and of comparisons.
        mle_resamples: bootstrap samples of MLE, each of which is a fit; 0 leaves MLE out.
        seed: of everything.
    """

    users: int = 1000
    candidates: int = 3541
    negatives: int = 100
    resamples: int = 1000
    mle_resamples: int = 200
    seed: int = 1

    @property
    def ranks(self) -> np.ndarray:
        """(n,) probabilities of the true ranks."""
        weights = 1.0 / (np.arange(1, self.candidates + 1) + 30)
        return weights / weights.sum()

    @property
    def other_ranks(self) -> np.ndarray:
        """(n,) probabilities with the same Recall@10 and other ranks: ∝ 1 / (r + 30)^1.2, within and beyond 10."""
        of_top = self.ranks[:10].sum()
        steep = self.ranks**1.2
        top, rest = steep[:10] / steep[:10].sum(), steep[10:] / steep[10:].sum()
        return np.concatenate((of_top * top, (1 - of_top) * rest))

    def random(self, purpose: int, number: int) -> np.random.Generator:
        """Return the random numbers of one simulated evaluation."""
        return np.random.default_rng([self.seed, purpose, number])

    def draw(self, rng: np.random.Generator, ranks: np.ndarray | None = None) -> np.ndarray:
        """Draw (users,) true ranks."""
        return rng.choice(self.candidates, size=self.users, p=self.ranks if ranks is None else ranks) + 1

    def sample(self, rng: np.random.Generator, rank: np.ndarray) -> np.ndarray:
        """Draw (users,) ranks among m negatives."""
        return 1 + rng.hypergeometric(rank - 1, self.candidates - rank, self.negatives)


def truth(study: Study, ranks: np.ndarray) -> np.ndarray:
    """Return the (metrics,) true means."""
    return np.array([ranks @ metric(label).values(study.candidates) for label in METRICS])


def expectation(study: Study, label: str, ranks: np.ndarray) -> np.ndarray:
    """Return the (metrics,) means of a linear estimator over users and samples: Σ_r π_r Σ_x P(x | r) w_x."""
    design = SamplingDesign(study.negatives)
    fitted = estimator(label).fit(Outcomes.of(design, study.candidates), [metric(each) for each in METRICS])
    assert isinstance(fitted, LinearEstimate)
    return ranks @ rank_distribution(study.candidates, design) @ fitted.weights.T


def mle_expectation(study: Study, evaluations: int) -> np.ndarray:
    """Return the (metrics,) means of MLE over simulated evaluations of which no interval is made."""
    design = SamplingDesign(study.negatives)
    fitted = estimator("mle").fit(Outcomes.of(design, study.candidates), [metric(each) for each in METRICS])
    chances = study.ranks @ rank_distribution(study.candidates, design)
    counts = study.random(3, 0).multinomial(study.users, chances / chances.sum(), size=evaluations)
    blocks = [fitted.estimate(block) for block in np.array_split(counts, max(1, evaluations // 250))]
    return np.concatenate(blocks).mean(axis=0)


def intervals(study: Study, number: int) -> pd.DataFrame:
    """Simulate one evaluation; columns what, interval, metric, value, low, high, standard_error."""
    rng = study.random(1, number)
    rank = study.draw(rng)
    sampled = study.sample(rng, rank)
    of_sample = partial(correct, sampled, study.candidates, study.negatives, metrics=METRICS)
    parts = []
    for how in INTERVALS:
        options: dict[str, Any] = {"interval": how, "resamples": study.resamples, "seed": number}
        exact = evaluate(rank, metrics=METRICS, candidates=study.candidates, **options).assign(estimator="exact")
        parts += [part.assign(method=how) for part in (exact, of_sample(estimators=LINEAR, **options))]
        if study.mle_resamples:
            options["resamples"] = study.mle_resamples
            parts.append(of_sample(estimators=["mle"], **options).assign(method=how))
    columns = ["estimator", "interval", "metric", "value", "low", "high", "standard_error"]
    return pd.concat([pd.DataFrame(part)[columns] for part in parts], ignore_index=True)


def alarms(study: Study, number: int) -> pd.DataFrame:
    """Compare recommenders that are equal; columns pair, estimator, interval, metric, alarm."""
    rng = study.random(2, number)
    one, fresh = study.draw(rng), study.draw(rng)
    correlated = np.where(rng.random(study.users) < SAME, one, fresh)
    unlike = study.draw(rng, study.other_ranks)
    parts = []
    for pair, other, labels, methods in (
        ("independent", fresh, METRICS, INTERVALS),
        ("correlated", correlated, METRICS, INTERVALS),
        ("equal Recall@10 alone", unlike, METRICS[:1], INTERVALS[:1]),
    ):
        sampled = study.sample(rng, one), study.sample(rng, other)
        for how in methods:
            options: dict[str, Any] = {"interval": how, "resamples": study.resamples, "seed": number}
            found = {"exact": compare(one, other, metrics=labels, candidates=study.candidates, **options)}
            for label in LINEAR if how == "delta" else LINEAR[:1]:
                found[label] = compare(
                    *sampled,
                    metrics=labels,
                    candidates=study.candidates,
                    negatives=study.negatives,
                    estimator=label,
                    **options,
                )
            for label, table in found.items():
                alarm = table["conclusion"] != "undecided"
                rows = {"pair": pair, "estimator": label, "interval": how, "metric": list(labels), "alarm": alarm}
                parts.append(pd.DataFrame(rows))
    return pd.concat(parts, ignore_index=True)


def simulate(
    one: Callable[[Study, int], pd.DataFrame], study: Study, evaluations: int, jobs: int = 1, progress: bool = False
) -> pd.DataFrame:
    """Stack what many simulated evaluations give."""

    def results() -> Iterator[pd.DataFrame]:
        if jobs == 1:
            yield from map(partial(one, study), range(evaluations))
            return
        with Pool(jobs, initializer=threadpool_limits, initargs=(1,)) as pool:
            yield from pool.imap(partial(one, study), range(evaluations), chunksize=5)

    watched = tqdm(results(), one.__name__, evaluations, disable=None if progress else True)
    return pd.concat(list(watched), ignore_index=True)


def coverage(study: Study, simulated: pd.DataFrame, own: dict[str, np.ndarray]) -> pd.DataFrame:
    """Return the share of intervals that cover, by estimator, metric and interval.

    Args:
        study: what was simulated.
        simulated: rows of `intervals`.
        own: (metrics,) what each estimator gives on average.
    """
    true = dict(zip(METRICS, truth(study, study.ranks), strict=True))
    expected = {label: dict(zip(METRICS, means, strict=True)) for label, means in own.items()}
    rows = []
    for (label, of_metric, how), group in simulated.groupby(["estimator", "metric", "interval"], sort=False):

        def covered(target: float, group: pd.DataFrame = group) -> float:
            return float(((group["low"] <= target) & (target <= group["high"])).mean())

        rows.append(
            {
                "estimator": label,
                "metric": of_metric,
                "interval": how,
                "own": covered(expected[label][of_metric]),
                "truth": covered(true[of_metric]),
                "true": true[of_metric],
                "bias": expected[label][of_metric] - true[of_metric],
                "deviation": float(group["value"].std()),
                "standard_error": float(group["standard_error"].mean()),
                "evaluations": len(group),
            }
        )
    return pd.DataFrame(rows)


def alarm_rates(simulated: pd.DataFrame) -> pd.DataFrame:
    """Return the share of comparisons that are not undecided, by pair, estimator, interval and metric."""
    by = ["pair", "estimator", "interval", "metric"]
    return simulated.groupby(by, sort=False)["alarm"].mean().unstack("metric").reindex(columns=METRICS).reset_index()


def report(study: Study, covered: pd.DataFrame, rates: pd.DataFrame, comparisons: int, fits: int) -> str:
    """Return the page as Markdown."""
    percent = "{:.1f}".format

    def error(evaluations: int, chance: float) -> str:
        return percent(100 * np.sqrt(chance * (1 - chance) / evaluations))

    shown = pd.DataFrame(
        {
            "Estimator": covered["estimator"].map(estimator_name),
            "Metric": covered["metric"].map(metric_name),
            "Interval": covered["interval"],
            "Covers its own mean, %": (100 * covered["own"]).map(percent),
            "Covers the truth, %": (100 * covered["truth"]).map(percent),
            "Truth": covered["true"].map("{:.4f}".format),
            "Bias": [
                "0" if label == "exact" else f"{bias:+.4f}"
                for label, bias in zip(covered["estimator"], covered["bias"], strict=True)
            ],
            "Standard deviation": covered["deviation"].map("{:.4f}".format),
            "Standard error, mean": covered["standard_error"].map("{:.4f}".format),
        }
    )
    of_alarms = pd.DataFrame(
        {
            "Recommenders": rates["pair"],
            "Ranks": rates["estimator"].map(lambda label: "exact" if label == "exact" else estimator_name(label)),
            "Interval": rates["interval"],
            **{
                metric_name(each): (100 * rates[each]).map(lambda rate: "-" if np.isnan(rate) else percent(rate))
                for each in METRICS
            },
        }
    )
    evaluations = int(covered["evaluations"].iloc[0])
    mle = covered[(covered["estimator"] == "mle") & (covered["metric"] == "recall@10")]
    of_evaluations, of_comparisons = error(evaluations, 0.95), error(comparisons, 0.05)
    same = f"{100 * SAME:.0f} %"
    of_mle = (
        f"MLE has {study.mle_resamples} bootstrap samples, the others {study.resamples}; its own mean is that of "
        f"{fits} further evaluations."
        if len(mle)
        else f"There are {study.resamples} bootstrap samples."
    )
    return f"""# Do the intervals cover?

Simulated: {study.users} users, n = {study.candidates}, true ranks with P(r) ∝ 1 / (r + 30), m = {study.negatives}
negatives without replacement, seed {study.seed}. Made by `python benchmarks/coverage.py`.

## 95 % intervals

Over {evaluations} evaluations, so that 95.0 has a standard error of {of_evaluations}. An estimator's own mean is what
it gives on average over users and samples: that is what an interval claims to cover. For exact metrics it is the truth.
Where an estimator is biased, its interval misses the truth more often, and the more users there are the more often: the
column *Covers the truth* says how often here.

{of_mle}

{shown.to_markdown(index=False, disable_numparse=True)}

## False alarms of `compare`

Two recommenders with the same distribution of ranks, compared on the same users {comparisons} times: how often one is
said to be better, in per cent. 5.0 is right, with a standard error of {of_comparisons}. Correlated: {same} of the users
have the same rank by both. The last rows are of two that are equal by Recall@10 and by nothing else (the other one has
P(r) ∝ 1 / (r + 30)^1.2 both within and beyond the first 10): there the bias of a correction differs between the two,
and that difference is what it finds.

Where few users make up the difference, as by exact AP and NDCG of correlated recommenders, the bootstrap is too narrow
and alarms too often; the delta method does not.

{of_alarms.to_markdown(index=False, disable_numparse=True)}
"""


def main() -> None:
    """Simulate, print the page, and write it where --output says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--evaluations", type=int, default=1000, help="for the coverage (1000)")
    parser.add_argument("--comparisons", type=int, default=2000, help="for the false alarms (2000)")
    parser.add_argument("--users", type=int, default=1000, help="of an evaluation (1000)")
    parser.add_argument("--resamples", type=int, default=1000, help="bootstrap samples (1000)")
    parser.add_argument("--mle-resamples", type=int, default=200, help="bootstrap samples of MLE; 0: without MLE (200)")
    parser.add_argument("--mle-fits", type=int, default=10_000, help="evaluations for the mean of MLE (10000)")
    parser.add_argument("--seed", type=int, default=1, help="of everything (1)")
    parser.add_argument("--jobs", type=int, default=1, help="processes (1)")
    parser.add_argument("--output", type=Path, help="also write the page to this file")
    given = parser.parse_args()

    study = Study(users=given.users, n_resamples=given.resamples, mle_resamples=given.mle_resamples, seed=given.seed)
    own = {label: expectation(study, label, study.ranks) for label in LINEAR} | {"exact": truth(study, study.ranks)}
    if study.mle_resamples:
        own["mle"] = mle_expectation(study, given.mle_fits)
    rates = alarm_rates(simulate(alarms, study, given.comparisons, given.jobs, progress=True))
    covered = coverage(study, simulate(intervals, study, given.evaluations, given.jobs, progress=True), own)
    page = report(study, covered, rates, given.comparisons, given.mle_fits)
    print(page)
    if given.output:
        given.output.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
