"""Repeated sampled evaluations of a rank table, and their exact moments (section 6)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from sampled_metrics import file_io
from sampled_metrics.checks import Floats
from sampled_metrics.core.estimators import Estimate, estimator
from sampled_metrics.core.metrics import metric
from sampled_metrics.core.ranks.exact import ExactRanks
from sampled_metrics.core.sampling.distributions import SamplingDesign
from sampled_metrics.core.sampling.draws import Draws, draw, linear_moments
from sampled_metrics.core.sampling.outcomes import Outcomes
from sampled_metrics.running import Progress, no_progress, on_one_thread


@dataclass(frozen=True)
class Variant:
    """A way to compute an estimate from a sample.

    Attributes:
        heading: its name in tables.
        tie_rule: how tied negatives in a sample count
            (`sampled_metrics.core.sampling.distributions.TIE_RULES`).
        substitutes: label of an estimator → label of its substitute.
    """

    heading: str
    tie_rule: str = "random"
    substitutes: Mapping[str, str] = field(default_factory=dict)


VARIANTS = {
    "default": Variant("Reading: default (ties broken at random, eq. 20 as written)"),
    "as-printed": Variant(
        "Reading: as printed (with the two slips that the paper's numbers have)",
        "beats-one",
        {"rank-estimate": "rank-estimate-as-printed"},
    ),
}
"""`default` is correct; `as-printed` has the two slips that reproduce the paper's printed numbers.
"""


def sampled_histograms(
    draws: Iterator[Draws], tie_rules: Sequence[str], negatives: int, weights: Floats | None
) -> dict[str, np.ndarray]:
    """Return (repetitions, m + 1) sums of the weights of the events with x = 0 … m, by tie rule."""
    histograms: dict[str, list[np.ndarray]] = {rule: [] for rule in tie_rules}
    for repetition in draws:
        for rule, counts in histograms.items():
            counts.append(
                np.bincount(repetition.ranked_above(rule), weights, minlength=negatives + 1)
            )
    return {rule: np.array(counts) for rule, counts in histograms.items()}


def tie_rules_of(readings: Sequence[str]) -> list[str]:
    """Return the tie rules of readings, each once."""
    return sorted({VARIANTS[reading].tie_rule for reading in readings})


def designs(sampling: Mapping[str, Any]) -> dict[int | None, SamplingDesign]:
    """Return the sampling designs of the config entry `sampling`, by m.

    A single m has the key None.
    """
    negatives = sampling["negatives"]
    sizes = {m: m for m in negatives} if isinstance(negatives, list) else {None: negatives}
    return {key: SamplingDesign(m, sampling["replacement"]) for key, m in sizes.items()}


def name_of_samples(design: SamplingDesign, tie_rule: str) -> str:
    """Return the name of the samples of a design in a file."""
    return f"{design.negatives}-{tie_rule}"


@dataclass(frozen=True)
class Evaluation:
    """A sampled evaluation and its estimates.

    Attributes:
        design: how negatives are drawn from each event's own other candidates.
        repetitions: number of repetitions.
        readings: names of `VARIANTS`, which share the draws.
        estimators: labels of estimators, fitted for a table's mean number of candidates.
        metrics: labels of metrics.
        assume_replacement: whether estimators take P(x | r) as binomial.
    """

    design: SamplingDesign
    repetitions: int
    readings: Sequence[str]
    estimators: Sequence[str]
    metrics: Sequence[str]
    assume_replacement: bool

    def labels(self, reading: str) -> list[str]:
        """Return the labels of the estimators that a reading uses, or of their substitutes."""
        substitutes = VARIANTS[reading].substitutes
        return [substitutes.get(label, label) for label in self.estimators]

    def all_labels(self) -> list[str]:
        """Return the labels of all estimators that the readings use, sorted."""
        return sorted({label for reading in self.readings for label in self.labels(reading)})

    def fit(self, candidates: int) -> dict[str, Estimate]:
        """Return the readings' estimators by label, fitted to all metrics for n candidates."""
        outcomes = Outcomes.from_design(self.design, candidates)
        metrics = [metric(label) for label in self.metrics]
        return {
            label: estimator(label, assume_replacement=self.assume_replacement).fit(
                outcomes, metrics
            )
            for label in self.all_labels()
        }

    @classmethod
    def from_config(
        cls,
        sampling: Mapping[str, Any],
        estimators: Sequence[str],
        metrics: Sequence[str],
        assume_replacement: bool,
    ) -> dict[int | None, "Evaluation"]:
        """Return the evaluations of the config entries with these names, by m as in `designs`."""
        options = (
            sampling["repetitions"],
            sampling["readings"],
            estimators,
            metrics,
            assume_replacement,
        )
        return {key: cls(design, *options) for key, design in designs(sampling).items()}


def by_size(parts: Mapping[int | None, pd.DataFrame]) -> pd.DataFrame:
    """Return tables by m as one table, with a first column negatives.

    The table of the key None is unchanged.
    """
    if None in parts:
        return parts[None]
    return pd.concat(parts, names=["negatives"]).reset_index("negatives").reset_index(drop=True)


def part_of_size(table: pd.DataFrame, negatives: int | None) -> pd.DataFrame:
    """Return the part of a table of `by_size` with these negatives."""
    if negatives is None:
        return table
    return table[table["negatives"] == negatives].drop(columns="negatives")


def sizes_of(table: pd.DataFrame) -> list[int | None]:
    """Return the keys of a table of `by_size`, in their order."""
    return list(table["negatives"].unique()) if "negatives" in table else [None]


@on_one_thread
def conditions(evaluation: Evaluation, candidates: int) -> pd.DataFrame:
    """Return the condition numbers of the fits of linear estimators, for n candidates.

    The column digits has the correct decimal digits of the worst weight, out of sixteen.
    """
    design = evaluation.design
    metrics = tuple(metric(label) for label in evaluation.metrics)
    rows: list[tuple[object, ...]] = []
    for label in evaluation.all_labels():
        rule = estimator(label, assume_replacement=evaluation.assume_replacement)
        number = rule.condition_number(design, candidates, metrics)
        if number is not None:
            digits = max(0.0, -np.log10(number * np.finfo(np.float64).eps))
            rows.append((label, candidates, design.negatives, number, digits))
    return pd.DataFrame(
        rows, columns=["estimator", "candidates", "negatives", "condition_number", "digits"]
    )


@on_one_thread
def samples(
    table: ExactRanks,
    design: SamplingDesign,
    repetitions: int,
    tie_rules: Sequence[str],
    rng: np.random.Generator,
    progress: Progress = no_progress,
) -> dict[str, np.ndarray]:
    """Return the samples of a repeated evaluation, as `sampled_histograms` by tie rule.

    The first repetitions do not depend on their number.
    """
    repeated = repeated_draws(table, design, rng)
    draws = (next(repeated) for _ in progress(range(repetitions)))
    return sampled_histograms(draws, tie_rules, design.negatives, table.weights)


def repeated_draws(
    table: ExactRanks, design: SamplingDesign, rng: np.random.Generator
) -> Iterator[Draws]:
    """Yield the draws of the repetitions of a sampled evaluation, without end."""
    design.check(table.candidates)
    while True:
        yield draw(table.above, table.tied, table.candidates, design, rng)


@on_one_thread
def estimates(
    table: ExactRanks, evaluation: Evaluation, histograms: Mapping[str, np.ndarray]
) -> pd.DataFrame:
    """Return estimates of every metric from each repetition of a sampled evaluation.

    One row per reading, metric, estimator and repetition (from 0), with the column estimate.
    `histograms` is the result of `samples`.
    """
    fitted = evaluation.fit(table.mean_candidates)
    estimates = []
    for reading in evaluation.readings:
        histogram = histograms[VARIANTS[reading].tie_rule]
        by_label = [fitted[label].estimate(histogram) for label in evaluation.labels(reading)]
        # metrics × estimators × repetitions
        estimates.append(np.stack(by_label).transpose(2, 0, 1).ravel())
    repetitions = range(evaluation.repetitions)
    keys = [evaluation.readings, evaluation.metrics, evaluation.estimators, repetitions]
    index = pd.MultiIndex.from_product(keys, names=["reading", "metric", "estimator", "repetition"])
    return pd.DataFrame({"estimate": np.concatenate(estimates)}, index).reset_index()


def read_samples(path: str, evaluation: Evaluation) -> dict[str, np.ndarray]:
    """Return the samples of an evaluation from a file, as `samples` does."""
    rules = tie_rules_of(evaluation.readings)
    names = [name_of_samples(evaluation.design, rule) for rule in rules]
    arrays = file_io.read_npz(path, "samples of this project", names)
    return {rule: arrays[name] for rule, name in zip(rules, names, strict=True)}


@on_one_thread
def exact_moments(table: ExactRanks, evaluation: Evaluation) -> pd.DataFrame:
    """Return the exact mean and standard deviation of a sampled evaluation. Nothing is drawn.

    One row per reading, metric and estimator, with the columns mean_exact and sd_exact: those of
    the estimate from one repetition. Both are missing for estimators that are not linear in the
    sample.
    """
    evaluation.design.check(table.candidates)
    fitted = evaluation.fit(table.mean_candidates)
    weights = {
        label: estimate.weights
        for label, estimate in fitted.items()
        if estimate.weights is not None
    }
    stacked = np.vstack([np.empty((0, evaluation.design.negatives + 1)), *weights.values()])
    missing = np.full((len(evaluation.metrics), 2), np.nan)
    columns = ["mean_exact", "sd_exact"]
    rows = []
    for reading in evaluation.readings:
        # mean and standard deviation by row of weights, then by estimator and metric
        linear = np.stack(
            linear_moments(table, evaluation.design, stacked, VARIANTS[reading].tie_rule), axis=1
        )
        moments = dict(zip(weights, linear.reshape(len(weights), *missing.shape), strict=True))
        by_label = [moments.get(label, missing) for label in evaluation.labels(reading)]
        rows.append(np.stack(by_label, axis=1).reshape(-1, 2))
    keys = [evaluation.readings, evaluation.metrics, evaluation.estimators]
    index = pd.MultiIndex.from_product(keys, names=["reading", "metric", "estimator"])
    return pd.DataFrame(np.concatenate(rows), index, columns).reset_index()
