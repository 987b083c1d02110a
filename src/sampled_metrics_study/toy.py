"""The running example of sections 3 to 5: Tables 1 and 2."""

from typing import Any

import numpy as np
import pandas as pd

from sampled_metrics.core.metrics import metric, metric_name
from sampled_metrics.core.sampling.distributions import SamplingDesign
from sampled_metrics.core.sampling.draws import draw
from sampled_metrics.reporting.tables import Section, plus_minus, with_best
from sampled_metrics_study.inputs import Inputs


def table_1(inputs: Inputs) -> pd.DataFrame:
    """Return the exact metrics of each recommender; columns recommender, metric, value."""
    toy = inputs.options
    rows = [
        (name, label, metric(label).of_rank(ranks, toy["candidates"]).mean())
        for name, ranks in toy["ranks"].items()
        for label in toy["metrics"]
    ]
    return pd.DataFrame(rows, columns=["recommender", "metric", "value"])


def table_2(inputs: Inputs) -> pd.DataFrame:
    """Return the metrics of each recommender on samples; columns recommender, metric, mean, sd.

    The standard deviation is that of one repetition's mean over the instances.
    """
    toy = inputs.options
    repetitions = toy["repetitions"]
    design = SamplingDesign(toy["negatives"], toy["replacement"])
    design.check(toy["candidates"])
    stream: Any = inputs.stream
    rows = []
    for name, ranks in toy["ranks"].items():
        above = np.tile(np.array(ranks) - 1, repetitions)
        candidates = np.full_like(above, toy["candidates"])
        draws = draw(above, np.zeros_like(above), candidates, design, stream(name, "sample"))
        sampled_rank = 1 + draws.above.reshape(repetitions, len(ranks))
        for label in toy["metrics"]:
            values = metric(label).of_rank(sampled_rank, design.negatives + 1).mean(axis=1)
            sd = values.std(ddof=1) if repetitions > 1 else np.nan
            rows.append((name, label, values.mean(), sd))
    return pd.DataFrame(rows, columns=["recommender", "metric", "mean", "sd"])


def sections(table: pd.DataFrame, inputs: Inputs) -> list[Section]:
    """Lay out Table 1 or 2 beside the ranks of the example.

    The best recommender by each metric is bold.
    """
    ranks = inputs.options["ranks"]
    cells = table if "mean" in table else table.rename(columns={"value": "mean"}).assign(sd=np.nan)
    texts = [plus_minus(mean, sd, 3) for mean, sd in zip(cells["mean"], cells["sd"], strict=True)]
    bold_texts = with_best(pd.Series(texts, cells.index), cells["mean"], [cells["metric"]], 3)
    wide = cells.assign(cell=bold_texts).pivot(index="recommender", columns="metric", values="cell")
    wide = wide.loc[list(ranks), list(dict.fromkeys(cells["metric"]))].rename(columns=metric_name)
    predicted = [", ".join(map(str, instances)) for instances in ranks.values()]
    wide.insert(0, "Predicted ranks", predicted)
    return [("", wide.rename_axis(columns=None).rename_axis(index="Recommender").reset_index())]
