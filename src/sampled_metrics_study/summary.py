"""The values that the summary of a run shows.

The template summary.html has its structure, summary_words its words.
"""

from collections.abc import Iterable, Mapping, Sequence
from math import comb
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from sampled_metrics import __version__
from sampled_metrics.checks import counted, enumerated
from sampled_metrics.core.estimators import estimator_name
from sampled_metrics.core.metrics import can_mislead, metric_name
from sampled_metrics.core.ranks.exact import ExactRanks, ties_remark
from sampled_metrics.core.sampling.draws import EQUAL
from sampled_metrics.reporting.drawing import inline_svg
from sampled_metrics.reporting.page import render
from sampled_metrics.reporting.tables import PageTable, laid_out
from sampled_metrics_study import (
    decided,
    fidelity,
    figures,
    reference,
    sample_tables,
    summary_words,
    tables,
)
from sampled_metrics_study.inputs import Inputs
from sampled_metrics_study.repetitions import VARIANTS, part_of_size, sizes_of

# how much wider than with all candidates an interval of stages may be that the page names
_WIDER = 1.25
_SAME_RIGHT = 0.005  # shares of right orders that differ by no more are named together
# share of samples that agree on the order of a pair, from which the page does not say that they
# differ
_STEADY = 0.95


class Studied(NamedTuple):
    """The results on one dataset.

    Attributes:
        name: name of the dataset.
        trained: the recommenders that were trained here. The ranks of the others are ready-made.
        ranks: rank tables by recommender.
        exact: result of `decided.exact_findings`.
        table_3, table_4: results of `tables.table_3` and `tables.table_4`.
        intervals, verdicts: results of `sample_tables.intervals` and `sample_tables.verdicts`.
        facts: dataset.json, if the dataset was split here.
        figures: title, image, caption and csv of each figure; csv is the file of its numbers.
        budget: what scores buy, if the run computes it.
        stand_in: what may be of a stand-in for the archive: archive, ranks or nothing
            (`reference.stand_in`).
    """

    name: str
    trained: Sequence[str]
    ranks: Mapping[str, ExactRanks]
    exact: decided.Exact
    table_3: pd.DataFrame
    table_4: pd.DataFrame
    intervals: pd.DataFrame
    verdicts: pd.DataFrame
    facts: Mapping[str, Any] | None = None
    figures: Sequence[Mapping[str, Any]] = ()
    budget: pd.DataFrame | None = None
    stand_in: str = ""


def summary(
    config: Mapping[str, Any],
    studied: Sequence[Studied],
    captions: Mapping[str, str],
    made_from: Mapping[str, str],
    printed: pd.DataFrame | None = None,
    claims: pd.DataFrame | None = None,
    kinds: Sequence[str] = (),
    older: Sequence[str] = (),
) -> str:
    """Return the page as html, by the template summary.html.

    `made_from` has versions and checksums of code, software and data. If the run covers tables of
    the paper, `printed` and `claims` are results of `fidelity` and `claims`. `kinds` has a line on
    each recommender, its type by default. `older` has the jobs whose config was another one
    (`older.differences`).
    """
    names = list(config["recommenders"])
    # a recommender may be trained on some datasets, and have ready-made ranks of others
    on_any = set().union(*(dataset.trained for dataset in studied))
    on_all = set(names).intersection(*(dataset.trained for dataset in studied))
    trained = [name for name in names if name in on_any]
    ready_made = [name for name in names if name not in on_all]
    leaking = [
        dataset.name
        for dataset in studied
        if dataset.trained and not config["datasets"][dataset.name]["test"]
    ]
    facts = {dataset.name: _facts(dataset, config["datasets"][dataset.name]) for dataset in studied}
    split = {key: value for key, value in config["split"].items() if value is not None}
    return render(
        "summary.html",
        "sampled_metrics_study",
        config=config,
        is_single=len(names) == 1,
        one_item_each=all(
            table.weights is None for dataset in studied for table in dataset.ranks.values()
        ),
        sizes=np.atleast_1d(config["sampling"]["negatives"]).tolist(),
        most_drawn=figures.SHOWN,
        level="95 %",
        answers=[
            answer(dataset, config, m) for dataset in studied for m in sizes_of(dataset.table_3)
        ],
        stages=[cost for dataset in studied for cost in stage_costs(dataset)],
        datasets=[dataset._asdict() | _results(dataset, config) for dataset in studied],
        captions=captions,
        leaking=leaking,
        trained=trained,
        ready_made=ready_made,
        facts=laid_out(pd.DataFrame(facts).fillna("-").reset_index(names="Dataset")),
        recommenders=_rows(
            ["Recommender", "Type", "Parameters"], _recommenders(config, studied, kinds)
        ),
        split=_options(split),
        paper=None if printed is None else _comparison_with_paper(printed, claims, config),
        made_from=_rows(["What", "Version or SHA-256"], made_from.items()),
        version=__version__,
        words=summary_words,
        older=older,
        enumerated=enumerated,
        metrics=list(map(metric_name, config["metrics"])),
        estimators=list(map(estimator_name, config["estimators"])),
        rows=_rows,
    )


def _rows(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> PageTable:
    """Return a table for the templates."""
    return laid_out(pd.DataFrame(rows, columns=columns))


def answer(dataset: Studied, config: Mapping[str, Any], m: int | None) -> dict[str, Any]:
    """Return the answer on a dataset by the first metric and reading, for a sample size.

    The size m is None if the study has only one.

    An order of two recommenders is right or wrong only if the exact ranks decide it. Among others,
    the answer has: the recommenders, the best by the exact metric first, with their exact and
    sampled values, none if the latter were not computed; the decided pairs (better, worse), None if
    the users cannot be compared; those of them that come out wrong or alike in the mean of the
    samples; and those (better, worse, share) that some samples order rightly and others do not.
    """
    label = config["metrics"][0]
    reading = config["sampling"]["readings"][0]
    table_3, table_4 = (
        part_of_size(table[table["reading"] == reading], m)
        for table in (dataset.table_3, dataset.table_4)
    )
    negatives = config["sampling"]["negatives"] if m is None else int(m)
    cells = table_3[table_3["metric"] == label]
    cells = cells.assign(sd=cells["sd"].fillna(cells["sd_exact"]))  # a single repetition shows none
    wide = cells.pivot(index="recommender", columns="estimator", values=["mean", "sd"])
    wide = wide.sort_values(("mean", "exact"), ascending=False, kind="stable")
    means = wide["mean"]
    spread = wide["sd"]
    names = list(map(str, wide.index))
    sampled = means.get("uncorrected")

    # the pairs that the exact ranks decide by this metric
    known = dataset.exact.decided
    pairs = [(better, worse) for name, better, worse in known or [] if name == label]
    gaps = {} if sampled is None else {pair: sampled[pair[0]] - sampled[pair[1]] for pair in pairs}
    wrong = [pair for pair, gap in gaps.items() if gap < -EQUAL]
    alike = [pair for pair, gap in gaps.items() if abs(gap) <= EQUAL]

    # those that they decide by all metrics that sampling can mislead
    misleading = [name for name in config["metrics"] if can_mislead(name)]
    decided_rows = table_4[decided.is_decided(table_4, known)]
    sampled_rows = decided_rows[decided_rows["estimator"] == "uncorrected"]
    can_be_wrong = sampled_rows[sampled_rows["metric"].isin(misleading)]
    undecided = 0
    if known is not None:
        all_pairs = comb(len(names), 2) * len(misleading)
        undecided = all_pairs - sum(name in misleading for name, _, _ in known)

    further = []
    if m == sizes_of(dataset.table_3)[0]:  # what the exact ranks say is the same for all m
        remarks = {name: ties_remark(dataset.ranks[name]) for name in names}
        further = [
            *dataset.exact.on_margin,
            *(f"{name}: {remark}." for name, remark in remarks.items() if remark),
        ]
    values = {
        "dataset": dataset.name,
        "heading": dataset.name if m is None else f"{dataset.name}, {m} negatives",
        "stand_in": dataset.stand_in,
        "further": further,
        "metric": metric_name(label),
        "negatives": negatives,
        "recommenders": names,
        "exact": means["exact"].tolist(),
        "sampled": [] if sampled is None else sampled.tolist(),
        "pairs": None if known is None else pairs,
        "wrong": wrong,
        "alike": alike,
        "turned": bool(wrong or alike),
        "unsteady": [
            (row.better, row.worse, row.correct)
            for row in sampled_rows.itertuples()
            if row.metric == label and 1 - _STEADY < row.correct < _STEADY
        ],
        "wrong_of_all": int((can_be_wrong["correct"] < 0.5).sum()),
        "decided_of_all": len(can_be_wrong),
        "undecided_of_all": undecided,
        "can_turn": can_mislead(label),
        "unchanged": [metric_name(name) for name in config["metrics"] if name not in misleading],
        "correction": _correction(
            means, spread, decided_rows[decided_rows["metric"].isin(misleading)]
        ),
        "figure": "",
    }
    if sampled is None:
        return values
    exact = dataset.exact.values[dataset.exact.values["metric"] == label].set_index("recommender")
    exact = exact[exact.index.isin(names)]  # in the order of all figures
    return values | _figure(values, exact, sampled, spread["uncorrected"])


def _figure(
    answer: Mapping[str, Any],
    exact: pd.DataFrame,
    sampled: "pd.Series[float]",
    deviation: "pd.Series[float]",
) -> dict[str, Any]:
    """Return the figure of an answer, and the values on its two sides.

    `exact` has columns value, low and high by recommender; `sampled` and `deviation` are the mean
    and the standard deviation of the uncorrected metric.
    """
    negatives = answer["negatives"]
    sides = (
        figures.Ends(
            f"among {counted(negatives, 'negative')}",
            sampled,
            sampled - 2 * deviation,
            sampled + 2 * deviation,
            "± 2 standard deviations",
        ),
        figures.Ends(
            f"exact {answer['metric']}",
            exact["value"],
            exact["low"],
            exact["high"],
            "95 % intervals",
        ),
    )
    drawing = inline_svg(
        figures.draw(*sides), "Sampled and exact values", f"{answer['dataset']}-{negatives}"
    )
    return {"sides": sides, "figure": drawing}


def _correction(
    means: pd.DataFrame, spread: pd.DataFrame, decided: pd.DataFrame
) -> dict[str, Any] | None:
    """Return what corrections do; None if there is none.

    Means and deviations are by recommender and estimator.

    The result names the corrections with the smallest root mean square error and those with the
    most right orders of the decided pairs, over all metrics. A share that is not known is missing
    (None).
    """
    squares = means.sub(means["exact"], axis=0) ** 2 + spread**2
    errors = np.sqrt(squares.mean(skipna=False)).drop("exact").dropna()
    corrected = errors.drop("uncorrected", errors="ignore")
    if corrected.empty:
        return None
    nearest = corrected.index[corrected <= corrected.min() + EQUAL]
    right = decided.groupby("estimator", sort=False)["correct"].mean()
    right_corrected = right[right.index.isin(corrected.index)]
    most_right = right_corrected.max()
    best_for_order = right_corrected.index[right_corrected >= most_right - _SAME_RIGHT]
    return {
        "nearest": list(map(estimator_name, nearest)),
        "error": errors[nearest[0]],
        "uncorrected_error": errors.get("uncorrected"),
        "right": right.get(nearest[0]),
        "uncorrected_right": right.get("uncorrected"),
        "most_right": most_right,
        "best_for_order": list(map(estimator_name, best_for_order)),
    }


def stage_costs(dataset: Studied) -> list[dict[str, Any]]:
    """Return what stages would have taken of each recommender.

    The depth is the smallest one that has an interval.
    """
    if dataset.budget is None:
        return []
    costs = []
    for name, table in dataset.budget.groupby("recommender", sort=False):
        all_candidates = table[table["way"] == "all candidates"].iloc[0]
        stages = table[table["way"] == "stages"]
        narrow = stages[stages["width"] <= _WIDER * all_candidates["width"]]
        if len(narrow):
            smallest = narrow.iloc[0]
            costs.append(
                {
                    "dataset": dataset.name,
                    "recommender": name,
                    "scores": smallest["scores"],
                    "all_scores": all_candidates["scores"],
                    "ratio": smallest["width"] / all_candidates["width"],
                }
            )
    return costs


def _results(dataset: Studied, config: Mapping[str, Any]) -> dict[str, Any]:
    """Return the exact values of a dataset and its tables.

    Tables 3 and 4 are those under the first reading. The tables have a part for each m.
    """
    reading = config["sampling"]["readings"][0]
    repetitions = config["sampling"]["repetitions"]
    parts: dict[str, list[dict[str, Any]]] = {"table-3": [], "table-4": []}
    for name, table in (("table-3", dataset.table_3), ("table-4", dataset.table_4)):
        for m in sizes_of(table) if len(table) else []:  # a single recommender has no pairs
            cells = part_of_size(table[table["reading"] == reading], m)
            if name == "table-3":
                wide = decided.table_3(cells, dataset.exact)
            else:
                wide = decided.table_4(cells, dataset.exact, repetitions)
            size = "" if m is None else f"m = {m}. "
            heading = f"{size}{VARIANTS[reading].heading}"
            parts[name].append({"heading": heading, "table": laid_out(wide)})
    inputs = Inputs({}, exact=dataset.exact)
    for name, sections in {
        "sample-intervals": sample_tables.intervals_layout(dataset.intervals, inputs),
        "sample-verdicts": sample_tables.verdicts_layout(dataset.verdicts, inputs),
    }.items():
        parts[name] = [
            {"heading": heading, "table": laid_out(table)} for heading, table in sections
        ]
    return {"exact_values": laid_out(_exact_cells(dataset.exact.values)), "tables": parts}


def _exact_cells(values: pd.DataFrame) -> pd.DataFrame:
    """Return exact values with their intervals, a row for each recommender."""
    rows = zip(values["value"], values["low"], values["high"], strict=True)
    texts = [
        f"{100 * value:.2f} ({100 * low:.2f} to {100 * high:.2f})" for value, low, high in rows
    ]
    cells = values.assign(cell=[text.removesuffix(" (nan to nan)") for text in texts])
    table = cells.pivot(index="recommender", columns="metric", values="cell")
    # pivot sorts, and the order of the values is wanted
    table = table.loc[values["recommender"].unique(), values["metric"].unique()]
    table = table.rename_axis(columns=None).rename(columns=metric_name)
    return table.reset_index(names="Recommender")


def _facts(dataset: Studied, entry: Mapping[str, Any]) -> dict[str, str]:
    """Return the options and numbers of a dataset, by row of a table.

    Numbers that are 0 or missing are left out.
    """
    ranks = next(iter(dataset.ranks.values()))
    facts = dataset.facts or {}
    options = {
        key: f"{entry[key]}"
        for key in ("test", "min_rating", "core", "repeated")
        if facts and entry[key]
    }
    counts = {words: f"{facts[key]}" for key, words in tables.FACTS.items() if facts.get(key)}
    return (
        options
        | counts
        | {"Held-out items": f"{len(ranks)}", "Mean candidates": f"{ranks.candidates.mean():.1f}"}
    )


def _recommenders(
    config: Mapping[str, Any], studied: Sequence[Studied], kinds: Sequence[str]
) -> list[tuple[str, str, str]]:
    """Return the type and the parameters of each recommender.

    Of ready-made ranks, return the file on each dataset.
    """
    rows = []
    kinds = kinds or [entry["type"] for entry in config["recommenders"].values()]
    for kind, (name, entry) in zip(kinds, config["recommenders"].items(), strict=True):
        files = {
            dataset.name: config["datasets"][dataset.name]["ranks"].get(name) for dataset in studied
        }
        if any(name in dataset.trained for dataset in studied) or not all(files.values()):
            parameters = {key: value for key, value in entry.items() if key != "type"}
            rows.append((name, kind, _options(parameters)))
        rows += [
            (name, f"Ready-made ranks on {dataset}", f"path: {file}")
            for dataset, file in files.items()
            if file
        ]
    return rows


def _options(entry: Mapping[str, Any]) -> str:
    """Return the keys of a part of the config and their values, in words."""
    words = {None: "none", True: "yes", False: "no"}
    return ", ".join(
        f"{key.replace('_', ' ')}: "
        f"{words[value] if value is None or isinstance(value, bool) else value}"
        for key, value in entry.items()
    )


def _comparison_with_paper(
    printed: pd.DataFrame, claims: pd.DataFrame | None, config: Mapping[str, Any]
) -> dict[str, Any]:
    """Return how many printed numbers and claims are reproduced, and how sharp the comparison is.

    The counts are by reading.

    A table that does not have a reading counts with its own. The correct reading is the first.
    """
    readings_of_last = printed.loc[printed["table"] == printed["table"].max(), "reading"]
    readings = [name for name in VARIANTS if (readings_of_last == name).any()]
    by_reading = []
    for name in readings:
        has_reading = printed["reading"] == name
        is_table_without = ~printed["table"].isin(printed.loc[has_reading, "table"])
        ok = printed.loc[has_reading | is_table_without, "ok"]
        heading = VARIANTS[name].heading.removeprefix("Reading: ")
        by_reading.append(
            {"name": name, "heading": heading, "reproduced": int(ok.sum()), "printed": len(ok)}
        )
    holds = {}
    if claims is not None:
        counts_too = (claims["reading"] == readings[0]) | ~claims["reading"].isin(readings)
        holds = claims.loc[counts_too, "holds"].value_counts().to_dict()
    differences = reference.study_differences(config)
    if reference.DATASET in config["study"]:
        differences += reference.data_differences(config, reference.DATASET)
    return {
        "readings": by_reading,
        "holds": holds,
        "limit": fidelity.LIMIT,
        "has_study": printed["table"].max() >= 3,
        "differences": differences,
        "counts": laid_out(fidelity.counts(printed)),
        "sharpness_title": fidelity.SHARPNESS,
        "sharpness": laid_out(fidelity.sharpness(printed)),
    }
