"""What samples tell without the exact ranks: intervals from one, and verdicts of several."""

from collections.abc import Callable, Iterator
from itertools import combinations, islice

import numpy as np
import pandas as pd

from sampled_metrics.core.estimators import BOUNDS, estimator
from sampled_metrics.core.evaluation.values import sampled_values
from sampled_metrics.core.inference.strict import Sample
from sampled_metrics.core.metrics import metric, metric_name
from sampled_metrics.core.ranks.sampled import SampledRanks
from sampled_metrics.core.sampling.distributions import SamplingDesign
from sampled_metrics.reporting.tables import Section
from sampled_metrics.running import on_one_thread
from sampled_metrics_study import decided, tables
from sampled_metrics_study.inputs import Inputs
from sampled_metrics_study.repetitions import (
    by_size,
    designs,
    part_of_size,
    repeated_draws,
    sizes_of,
)

_ALPHA = 1 - 0.95


def sampled_ranks_of(inputs: Inputs, design: SamplingDesign) -> Iterator[dict[str, SampledRanks]]:
    """Yield the sampled ranks of the recommenders in each repetition, ties broken at random."""
    assert inputs.stream is not None
    draws_of = [
        repeated_draws(table, design, inputs.stream(name, "sample"))
        for name, table in inputs.ranks.items()
    ]
    for draws in zip(*draws_of, strict=True):
        sampled = {}
        for (name, table), drawn in zip(inputs.ranks.items(), draws, strict=True):
            sampled[name] = SampledRanks(
                x=drawn.ranked_above("random"),
                negatives=np.array(design.negatives),
                candidates=table.candidates,
                replacement=design.replacement,
                user=table.user,
            )
        yield sampled


@on_one_thread
def _by_design(
    inputs: Inputs, compute: Callable[[Inputs, SamplingDesign], pd.DataFrame]
) -> pd.DataFrame:
    """Return a table with a part for each m."""
    sampling = inputs.options["sampling"]
    return by_size({m: compute(inputs, design) for m, design in designs(sampling).items()})


def intervals(inputs: Inputs) -> pd.DataFrame:
    """Return the 95 % intervals of `correct` by strict bounds, from the first repetition."""
    return _by_design(inputs, _intervals)


def _intervals(inputs: Inputs, design: SamplingDesign) -> pd.DataFrame:
    """Return the intervals for a design."""
    labels = inputs.options["metrics"]
    metrics = list(map(metric, labels))
    rows: list[tuple[object, ...]] = []
    for name, ranks in next(sampled_ranks_of(inputs, design)).items():
        sample = Sample.from_ranks(ranks, ranks.user_numbers)
        for bound in BOUNDS:
            # `correct` also computes what another design would give
            estimate = estimator(bound).fit(sample.outcomes, metrics)
            values = sampled_values(sample, estimate, metrics, _ALPHA)
            ends = values.interval(_ALPHA)
            numbers = zip(labels, values.point, ends.low, ends.high, strict=True)
            rows += [(name, label, bound, *row, values.assumes) for label, *row in numbers]
    columns = ["recommender", "metric", "estimator", "value", "low", "high", "assumes"]
    exact = inputs.exact.values.rename(columns={"value": "exact"})
    keys = ["recommender", "metric"]
    return pd.DataFrame(rows, columns=columns).merge(exact[[*keys, "exact"]], on=keys)


def verdicts(inputs: Inputs) -> pd.DataFrame:
    """Return how often `compare` on sampled ranks decides each pair as the exact metric does."""
    return _by_design(inputs, _verdicts)


def _verdicts(inputs: Inputs, design: SamplingDesign) -> pd.DataFrame:
    """Return the shares of the verdicts for a design; a pair with equal metrics has no row."""
    metrics = inputs.options["metrics"]
    sampling = inputs.options["sampling"]
    count = min(sampling["verdicts"], sampling["repetitions"])
    # users of which the exact ranks are not comparable have no pairs
    pairs = list(combinations(inputs.ranks, 2)) if inputs.exact.decided is not None else []
    decided_pairs: list[tuple[str, str, str]] = []
    for ranks in islice(sampled_ranks_of(inputs, design), count if pairs else 0):
        decided_pairs += decided.decided_pairs(ranks, metrics)
    rows: list[tuple[object, ...]] = []
    for label in metrics:
        exact = {name: table.mean(metric(label)) for name, table in inputs.ranks.items()}
        for pair in pairs:
            order = tables.worse_and_better(pair, exact)
            if order is None:
                continue
            worse, better = order
            right = decided_pairs.count((label, better, worse))
            wrong = decided_pairs.count((label, worse, better))
            undecided = count - right - wrong
            shares = right / count, undecided / count, wrong / count
            rows.append((worse, better, label, count, *shares))
    columns = ["worse", "better", "metric", "repetitions", "right", "undecided", "wrong"]
    return pd.DataFrame(rows, columns=columns)


def intervals_layout(table: pd.DataFrame, inputs: Inputs) -> list[Section]:
    """Lay out the intervals beside the exact metrics, in per cent."""
    sections = []
    for m in sizes_of(table):
        part = part_of_size(table, m)
        ends = zip(100 * part["low"], 100 * part["high"], strict=True)
        texts = [f"{low:.2f} to {high:.2f}" for low, high in ends]
        cells = part.assign(cell=[text.replace("nan to nan", "none") for text in texts])
        exact = part.assign(estimator="exact", cell=(100 * part["exact"]).map("{:.2f}".format))
        exact = exact.drop_duplicates(["recommender", "metric"])
        rows = tables.wide(pd.concat([exact, cells]), ["metric", "recommender"])
        sections.append((_heading(m), rows))
    return sections


def verdicts_layout(table: pd.DataFrame, inputs: Inputs) -> list[Section]:
    """Lay out the verdicts, in per cent of the repetitions."""
    sections = []
    for m in sizes_of(table) if len(table) else []:
        part = part_of_size(table, m)
        is_decided = decided.is_decided(part, inputs.exact.decided)
        columns = {
            "Pair": tables.pair_names(part),
            "Metric": part["metric"].map(metric_name),
            "Exact order": (part["better"] + " is better").where(is_decided, "undecided"),
        }
        for name in ("right", "undecided", "wrong"):
            columns[name.capitalize()] = (100 * part[name]).map("{:.0f}".format)
        sections.append((_heading(m), pd.DataFrame(columns)))
    return sections


def _heading(m: int | None) -> str:
    return "" if m is None else f"m = {m}"
