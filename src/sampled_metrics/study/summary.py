"""The summary of a run: the question, the answer in numbers, what was studied, and what it was made from."""

import logging
import platform
import subprocess
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_info

import sampled_metrics
from sampled_metrics import __version__, _files
from sampled_metrics._validation import counted, enumerated
from sampled_metrics.errors import DataError
from sampled_metrics.estimators import estimator_name
from sampled_metrics.evaluation import compare, evaluate
from sampled_metrics.evaluation.standings import Standings
from sampled_metrics.evaluation.wording import margin_of_pairs, standing
from sampled_metrics.inference.families import pairs_of
from sampled_metrics.metrics.metric import metric_name
from sampled_metrics.ranks.exact import ExactRanks
from sampled_metrics.recommenders import recommender_type
from sampled_metrics.rendering.drawing import inline_svg
from sampled_metrics.rendering.page import Image, render
from sampled_metrics.rendering.tables import laid_out, number
from sampled_metrics.sampling.draws import EQUAL
from sampled_metrics.study import fidelity, figures, reference, tables
from sampled_metrics.study.repetitions import VARIANTS, of_size, sizes_of

_SOFTWARE = ("numpy", "scipy", "pandas", "implicit", "matplotlib", "snakemake")


def provenance(config: Mapping[str, Any], data: Mapping[str, Mapping[str, str]]) -> dict[str, Any]:
    """Return the code, the software, the data (result of `checksums`), the configuration and the time of a study."""
    return {
        "code": code(),
        "software": software(),
        "data": data,
        "seed": config["seed"],
        "config": config,
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def checksums(ranks: Sequence[str], archives: Mapping[str, Mapping[str, str]]) -> dict[str, dict[str, str]]:
    """Return the SHA-256 of the archive and the rank tables of each dataset, by dataset and file.

    Args:
        ranks: the rank tables, files such as ``…/ml-1m/ranks/X.csv.gz``.
        archives: the source and the sha256 of the archive of each dataset that was split here.
    """
    data: dict[str, dict[str, str]] = {}
    for path in ranks:
        dataset = Path(path).parts[-3]
        archive = archives.get(dataset)
        files = data.setdefault(dataset, {archive["source"]: archive["sha256"]} if archive else {})
        files[path] = _files.digest(path, "sha256")
    return data


def code() -> str:
    """Return the version of the library, and the commit if its source tree is under git."""
    version = f"sampled-metrics {sampled_metrics.__version__}"
    source = Path(sampled_metrics.__file__)
    if _git(source.parent, "ls-files", "--error-unmatch", source.name) is None:
        return version
    changed = " with changes" if _git(source.parent, "status", "--porcelain", "--untracked-files=no", ":/") else ""
    return f"{version}, commit {_git(source.parent, 'rev-parse', 'HEAD')}{changed}"


def _git(folder: Path, *arguments: str) -> str | None:
    """Return the output of git; None if it fails, or is not installed."""
    try:
        process = subprocess.run(["git", "-C", folder, *arguments], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return process.stdout.strip()


def software() -> dict[str, str]:
    """Return the versions of Python, of libraries, and of the BLAS."""
    versions = {"python": platform.python_version()}
    for name in _SOFTWARE:
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            versions[name] = "not installed"
    pools = [pool for pool in threadpool_info() if pool["user_api"] == "blas"]
    blas = sorted({f"{pool['internal_api']} {pool['version']}" for pool in pools})
    return versions | {"blas": ", ".join(blas) or "not known"}


TITLE = "Do sampled metrics order recommenders correctly?"
TITLE_OF_ONE = "Are sampled metrics the true metrics?"

_WIDER = 1.25  # how much wider than with all candidates an interval of stages may be that the page names

_MANY = 0.1  # share of held-out items or users without training events from which the page says so

_SAME_RIGHT = 0.005  # shares of right orders that differ by no more are named together

_STEADY = 0.95  # share of samples that agree on the order of a pair, from which the page does not say that they differ

_KEYS_3, _KEYS_4 = ["metric", "recommender"], ["pair", "metric"]

_TITLES = {
    "table-3": "Table 3. Exact, sampled and corrected metrics in per cent (mean ± standard deviation of a repetition)",
    "table-4": "Table 4. Repetitions in which a pair is ordered as by the exact metric, in per cent",
}

_BOLD = {
    "table-3": "Bold on this page: the best by the exact metric, and those that the exact ranks do not distinguish "
    "from it, compared by user at 95 %.",
    "table-4": "Bold on this page: the best estimator of a row, and those that the repetitions do not distinguish from "
    "it, at 95 %. An undecided row has nothing in bold: the exact ranks do not decide the order of the pair.",
}
"""The meaning of bold on this page; the captions state its meaning in the files."""


class Studied(NamedTuple):
    """The results on one dataset.

    Attributes:
        name: name of the dataset.
        facts: numbers about it, by row of a table.
        trained: the recommenders that were trained here. The ranks of the others are ready-made.
        table_3, table_4: results of `tables.table_3` and `tables.table_4`.
        figures: (title, svg, caption, csv) of each figure; csv is the file of its numbers, from the folder of the page.
        standings: result of `exact_standings`.
        exact: result of `exact_values`.
        budget: what scores buy, if the run computes it.
        on_margin: result of `on_exact_margin`.
        one_item_each: whether no user has several held-out items.
        cautions: result of `cautions`.
    """

    name: str
    facts: Mapping[str, str]
    trained: Sequence[str]
    table_3: pd.DataFrame
    table_4: pd.DataFrame
    figures: Sequence[tuple[str, str, str, str]]
    standings: Mapping[str, Standings]
    exact: pd.DataFrame
    budget: pd.DataFrame | None = None
    on_margin: Sequence[str] = ()
    one_item_each: bool = True
    cautions: Sequence[str] = ()


def dataset_facts(
    ranks: ExactRanks,
    facts: Mapping[str, Any] | None = None,
    dataset: Mapping[str, Any] | None = None,
    ties: str = "first",
) -> dict[str, str]:
    """Return the numbers of a dataset, by row of a table.

    Args:
        ranks: ranks of a recommender.
        facts: dataset.json, if the dataset was split here.
        dataset: its entry in the config, likewise.
        ties: the rule of the split for events at the same time.
    """
    of_ranks = {"Held-out items": f"{len(ranks)}", "Mean candidates": f"{ranks.candidates.mean():.1f}"}
    if facts is None or dataset is None:
        return of_ranks
    kept = {
        "Lowest rating that counts (min_rating)": f"{dataset['min_rating'] or 'all count'}",
        "Fewest events of a user and of an item (core)": f"{dataset['core'] or 'any number'}",
        **({"File of held-out events": dataset["test"]} if dataset["test"] else {}),
    }
    keys = {
        "Users": "users",
        "Items": "items",
        "Events": "events",
        "Training events": "training_events",
        "Users left out (too few training events)": "users_left_out_with_few_training_events",
    }
    left_out = {
        "Events left out (below min_rating)": facts["events_left_out_below_min_rating"],
        f"Events left out (a user's repeated events of an item; the {dataset['repeated']} is kept)": facts[
            "events_left_out_repeated"
        ],
        "Events left out (core)": facts["events_left_out_by_core"],
        f"Users whose last time several events share (ties: {ties})": facts["users_whose_last_time_is_shared"],
        "Held-out items without training events": facts["held_out_items_without_training_events"],
    }
    some = {row: f"{count}" for row, count in left_out.items() if count}
    return kept | {row: f"{facts[key]}" for row, key in keys.items()} | some | of_ranks


def cautions(facts: Mapping[str, Any], name: str, has_test_file: bool) -> list[str]:
    """Return sentences on events that a dataset holds out without training events of the user or the item.

    Args:
        facts: dataset.json.
        name: the name of the dataset.
        has_test_file: whether the held-out events are a file of their own.
    """
    items, unknown = facts["held_out_items"], facts["held_out_items_without_training_events"]
    users, left_out = facts["users"], facts["users_left_out_with_few_training_events"]
    told = []
    if unknown > _MANY * items:
        told.append(
            f"{unknown} of {items} held-out items of {name} have no training events. Most recommenders cannot place "
            f"such an item.{' See that both files have the same ids.' if has_test_file else ''}"
        )
    if left_out > _MANY * (users + left_out):
        told.append(
            f"{left_out} of {users + left_out} users of {name} are left out, as they have too few training events."
        )
    return told


def exact_standings(ranks: Mapping[str, ExactRanks], metrics: Sequence[str]) -> Mapping[str, Standings]:
    """Return the results of `compare` of the exact ranks, by metric; none if the users cannot be compared.

    The pairs are compared by user. The intervals of the pairs of a metric hold together at 95 %.

    Args:
        ranks: rank tables by recommender.
        metrics: labels.
    """
    if len(ranks) < 2:
        return {}
    try:
        return compare(ranks, metrics=metrics).by_metric
    except DataError as error:  # ready-made ranks whose users have other names or another order
        logging.getLogger(__name__).warning("the exact ranks are not compared by user: %s", error)
        return {}


def exact_values(ranks: Mapping[str, ExactRanks], metrics: Sequence[str]) -> pd.DataFrame:
    """Return the exact metrics of recommenders with intervals: columns recommender, metric, value, low, high."""
    return pd.DataFrame(evaluate(ranks, metrics=metrics))[["recommender", "metric", "value", "low", "high"]]


def on_exact_margin(ranks: Mapping[str, ExactRanks], metrics: Sequence[str], margin: float | str | None) -> list[str]:
    """Return sentences on which exact metrics differ by more or less than a margin; none without a margin."""
    if margin is None:
        return []
    compared = compare(ranks, metrics=metrics, margin=margin)
    return margin_of_pairs(compared.verdicts, compared.setting)


def summary(
    config: Mapping[str, Any],
    studied: Sequence[Studied],
    captions: Mapping[str, str],
    made_from: pd.DataFrame,
    printed: pd.DataFrame | None = None,
    claims: pd.DataFrame | None = None,
    stand_ins: Sequence[str] = (),
) -> str:
    """Return the page as html, by the template summary.html.

    Args:
        config: the configuration of the run, complete.
        studied: the results on each dataset.
        captions: captions of table-3 and table-4.
        made_from: result of `made_from`.
        printed: results of `paper.fidelity`, if the run covers tables of the paper.
        claims: results of `paper.claims`, likewise.
        stand_ins: datasets with the paper's users whose archive is not the publisher's.
    """
    sampling, reading = config["sampling"], config["sampling"]["readings"][0]
    answers: list[dict[str, Any]] = []
    for dataset in studied:
        table_3, table_4 = (table[table["reading"] == reading] for table in (dataset.table_3, dataset.table_4))
        for m in sizes_of(table_3):
            negatives = sampling["negatives"] if m is None else int(m)
            given = answer(of_size(table_3, m), of_size(table_4, m), config["metrics"][0], negatives, dataset)
            drawn = figures.draw(*given.sides) if given.sampled else None
            figure = inline_svg(drawn, "Exact and sampled values", f"a{len(answers)}") if drawn else ""
            heading = dataset.name if m is None else f"{dataset.name}, {m} negatives"
            is_first = m == sizes_of(table_3)[0]  # what the exact ranks say is the same for all m
            further = dataset.on_margin if is_first else []
            answers.append(
                {**given._asdict(), "heading": heading, "figure": figure, "level": "95 %", "further": further}
            )
    facts = pd.DataFrame({dataset.name: dataset.facts for dataset in studied})
    recommenders = list(config["recommenders"])
    return render(
        "summary.html",
        title=TITLE if len(recommenders) > 1 else TITLE_OF_ONE,
        is_single=len(recommenders) == 1,
        one_item_each=all(dataset.one_item_each for dataset in studied),
        has_pairs=any(len(dataset.table_4) for dataset in studied),
        sizes=_sizes(sampling),
        most_drawn=figures.SHOWN,
        level="95 %",
        answers=answers,
        stages=[cost for dataset in studied for cost in stage_costs(dataset)],
        stages_metric=metric_name(config["figures"]["budget"]["metric"]) if config["figures"]["budget"] else "",
        cautions=[sentence for dataset in studied for sentence in dataset.cautions],
        left_out=left_out(config, studied),
        counted=counted,
        datasets=[_results(dataset, reading, sampling["repetitions"], captions) for dataset in studied],
        strategy=config["split"]["strategy"],
        leaking=[dataset.name for dataset in studied if dataset.trained and _leaks_future(config, dataset.name)],
        trained=[name for name in recommenders if any(name in dataset.trained for dataset in studied)],
        ready_made=[name for name in recommenders if not all(name in dataset.trained for dataset in studied)],
        facts=laid_out(facts.fillna("-").reset_index(names="Dataset")),
        recommenders=laid_out(_recommenders(config, studied)),
        settings=laid_out(_settings(config, any(dataset.trained for dataset in studied))),
        paper=None if printed is None else _comparison_with_paper(printed, claims, config),
        stand_ins=stand_ins,
        made_from=laid_out(made_from),
        version=__version__,
        seed=config["seed"],
    )


def left_out(config: Mapping[str, Any], studied: Sequence[Studied]) -> list[str]:
    """Return sentences on the results of the config that ready-made ranks do not have."""
    without = [dataset.name for dataset in studied if not dataset.trained]
    if not without or not config["figures"]["budget"]:
        return []
    return [f"figures.budget is left out for {enumerated(without)}, whose ranks are ready-made: it needs the models."]


def _comparison_with_paper(
    printed: pd.DataFrame, claims: pd.DataFrame | None, config: Mapping[str, Any]
) -> dict[str, Any]:
    """Return what is reproduced of the paper, how sharp the comparison is, and the choices that it depends on."""
    return {
        "reproduced": reproduced(printed, claims, not_compared(config)),
        "counts": laid_out(fidelity.counts(printed)),
        "not_sharp": not_sharp(printed),
        "sharpness_title": fidelity.SHARPNESS,
        "sharpness": laid_out(fidelity.sharpness(printed)),
    }


def _results(dataset: Studied, reading: str, repetitions: int, captions: Mapping[str, str]) -> dict[str, Any]:
    """Return the exact values, Tables 3 and 4 of a dataset under a reading, a part for each m, and the figures."""
    layouts: dict[str, tuple[pd.DataFrame, Callable[[pd.DataFrame], pd.DataFrame]]] = {
        "table-3": (dataset.table_3, partial(_table_3, standings=dataset.standings)),
        "table-4": (dataset.table_4, partial(_table_4, standings=dataset.standings, repetitions=repetitions)),
    }
    heading, shown = VARIANTS[reading].heading, []
    for name, (table, layout) in layouts.items():
        if not table.empty:  # a single recommender has no pairs
            parts = [
                {
                    "heading": heading if m is None else f"m = {m}. {heading}",
                    "table": laid_out(layout(of_size(table[table["reading"] == reading], m))),
                }
                for m in sizes_of(table)
            ]
            caption = f"{_BOLD[name]} {captions[name]}" if dataset.standings else captions[name]
            shown.append(
                {"title": _TITLES[name], "parts": parts, "caption": caption, "csv": f"{dataset.name}/{name}.csv"}
            )
    figures = [
        {"title": title, "image": Image.from_svg(svg), "caption": caption, "csv": csv}
        for title, svg, caption, csv in dataset.figures
    ]
    return {"name": dataset.name, "exact": laid_out(_exact(dataset.exact)), "tables": shown, "figures": figures}


def _exact(exact: pd.DataFrame) -> pd.DataFrame:
    """Lay out exact values with their intervals, a column for each metric."""
    cells = exact.assign(
        cell=[
            number(100 * row.value, ".2f")
            + ("" if np.isnan(row.low) else f" ({100 * row.low:.2f} to {100 * row.high:.2f})")
            for row in exact.itertuples()
        ]
    )
    wide = cells.pivot(index="recommender", columns="metric", values="cell")
    wide = wide.loc[exact["recommender"].unique(), exact["metric"].unique()]
    wide.columns = [metric_name(str(label)) for label in wide.columns]
    return wide.reset_index(names="Recommender")


def _sizes(sampling: Mapping[str, Any]) -> str:
    sizes = np.atleast_1d(sampling["negatives"])
    return f"{enumerated(map(str, sizes), 'or')} sampled {'negative' if sizes[-1] == 1 else 'negatives'}"


class Correction(NamedTuple):
    """What corrections do on one dataset.

    Attributes:
        corrections: number of corrections.
        nearest: the names of the estimators with the smallest root mean square error.
        error: this error, a fraction.
        uncorrected_error: that of the uncorrected metric; None if it was not computed.
        right: the share of samples in which the first of them orders the decided pairs rightly, over all metrics; None
            if there are none.
        uncorrected_right: that of the uncorrected metric, likewise.
        best_for_order: the names of the corrections with the largest such share; none if there is no decided pair.
        most_right: their share; None likewise.
    """

    corrections: int
    nearest: list[str]
    error: float
    uncorrected_error: float | None
    right: float | None
    uncorrected_right: float | None
    best_for_order: list[str]
    most_right: float | None


class Answer(NamedTuple):
    """The answer on one dataset and one number of negatives.

    Attributes:
        dataset: the name of the dataset.
        metric: the name of the metric.
        negatives: m.
        csv: the file with the numbers, from the folder of the page.
        recommenders: names, the best by the exact metric first.
        exact: their exact values.
        sampled: their uncorrected sampled values; none if they were not computed.
        pairs: (better, worse) pairs that the exact ranks decide; None if the users cannot be compared.
        wrong: those that the sampled metric orders wrongly.
        alike: those whose sampled values are equal.
        unsteady: (better, worse, share) of those that some samples order rightly and others do not, with the share of
            samples that do.
        sentence: what the exact ranks decide, in words.
        wrong_of_all: number of decided comparisons over all metrics that come out wrong in most samples.
        decided_of_all: number of decided comparisons over all metrics.
        undecided_of_all: number of other comparisons.
        correction: what corrections do; None without a correction.
        sides: the exact and the sampled side of the figure.
    """

    dataset: str
    metric: str
    negatives: int
    csv: str
    recommenders: list[str]
    exact: list[float]
    sampled: list[float]
    pairs: list[tuple[str, str]] | None
    wrong: list[tuple[str, str]]
    alike: list[tuple[str, str]]
    unsteady: list[tuple[str, str, float]]
    sentence: str
    wrong_of_all: int
    decided_of_all: int
    undecided_of_all: int
    correction: Correction | None
    sides: tuple[figures.Ends, figures.Ends]


def answer(table_3: pd.DataFrame, table_4: pd.DataFrame, label: str, negatives: int, dataset: Studied) -> Answer:
    """Return the answer on a dataset. An order of two recommenders is right or wrong only if the exact ranks decide it.

    Args:
        table_3: result of `tables.table_3`, one reading and one m.
        table_4: result of `tables.table_4`, likewise.
        label: the metric whose values are given.
        negatives: m.
        dataset: the dataset.
    """
    values = table_3[table_3["metric"] == label]
    means = values.pivot(index="recommender", columns="estimator", values="mean")
    values = values.assign(sd=values["sd"].fillna(values["sd_exact"]))  # a single repetition shows none
    spread = values.pivot(index="recommender", columns="estimator", values="sd")
    means = means.sort_values("exact", ascending=False, kind="stable")
    standings = dataset.standings.get(label)
    pairs = None if standings is None and len(means) > 1 else _decided(standings) if standings else []
    sampled = means.get("uncorrected")
    gaps = {} if sampled is None else {(one, other): sampled[one] - sampled[other] for one, other in pairs or []}
    wrong = [pair for pair, gap in gaps.items() if gap < -EQUAL]
    alike = [pair for pair, gap in gaps.items() if abs(gap) <= EQUAL]
    decided = table_4[_is_decided(table_4, dataset.standings)]
    of_sampled = decided[decided["estimator"] == "uncorrected"]
    of_metric = of_sampled[of_sampled["metric"] == label]
    shares = zip(of_metric["better"], of_metric["worse"], of_metric["correct"], strict=True)
    unsteady = [(one, other, share) for one, other, share in shares if 1 - _STEADY < share < _STEADY]
    all_pairs = sum(len(pairs_of(len(of_metric.rows))) for of_metric in dataset.standings.values())
    exact = dataset.exact[dataset.exact["metric"] == label].set_index("recommender")
    exact = exact[exact.index.isin(means.index)]  # in the order of all figures
    name = metric_name(label)
    left = figures.Ends(f"exact {name}", exact["value"], exact["low"], exact["high"])
    right_values = means["exact"] if sampled is None else sampled
    deviation = 2 * spread["exact" if sampled is None else "uncorrected"]
    title = f"exact {name}" if sampled is None else f"among {counted(negatives, 'negative')}"
    right = figures.Ends(title, right_values, right_values - deviation, right_values + deviation)
    return Answer(
        dataset.name,
        name,
        negatives,
        f"{dataset.name}/table-3.csv",
        list(map(str, means.index)),
        means["exact"].tolist(),
        [] if sampled is None else sampled.tolist(),
        pairs,
        wrong,
        alike,
        unsteady,
        standing(standings) if standings else "",
        int((of_sampled["correct"] < 0.5).sum()),
        len(of_sampled),
        all_pairs - sum(len(of_metric.decided) for of_metric in dataset.standings.values()),
        correction_of(means, spread, decided),
        (left, right),
    )


def correction_of(means: pd.DataFrame, spread: pd.DataFrame, decided: pd.DataFrame) -> Correction | None:
    """Return what the corrections with the smallest error and with the most right orders do; None if there is none.

    Args:
        means: means by recommender and estimator, with a column exact.
        spread: standard deviations, likewise.
        decided: the rows of Table 4 of pairs that the exact ranks decide.
    """
    spread = spread.loc[means.index, means.columns]
    squares = means.sub(means["exact"], axis=0) ** 2 + spread**2
    errors = np.sqrt(squares.mean(skipna=False)).drop("exact").dropna()
    corrected = errors.drop("uncorrected", errors="ignore")
    if corrected.empty:
        return None
    nearest = [str(label) for label in corrected.index[corrected <= corrected.min() + EQUAL]]
    right = decided.groupby("estimator", sort=False)["correct"].mean()
    of_corrections = right[right.index.isin(corrected.index)]
    best_for_order = of_corrections.index[of_corrections >= of_corrections.max() - _SAME_RIGHT]
    return Correction(
        len(corrected),
        [estimator_name(label) for label in nearest],
        float(errors[nearest[0]]),
        float(errors["uncorrected"]) if "uncorrected" in errors else None,
        float(right[nearest[0]]) if nearest[0] in right else None,
        float(right["uncorrected"]) if "uncorrected" in right else None,
        [estimator_name(str(label)) for label in best_for_order],
        float(of_corrections.max()) if len(of_corrections) else None,
    )


def stage_costs(dataset: Studied) -> list[dict[str, Any]]:
    """Return what stages would have taken of each recommender, with the smallest depth that has an interval."""
    costs = []
    if dataset.budget is not None:
        for name, table in dataset.budget.groupby("recommender", sort=False):
            every, stages = table[table["way"] == "all candidates"].iloc[0], table[table["way"] == "stages"]
            stages = stages[stages["width"] <= _WIDER * every["width"]]
            if len(stages):
                row = stages.iloc[0]
                costs.append(
                    {
                        "dataset": dataset.name,
                        "recommender": name,
                        "scores": row["scores"],
                        "all_scores": every["scores"],
                        "ratio": row["width"] / every["width"],
                    }
                )
    return costs


def _is_decided(table_4: pd.DataFrame, standings: Mapping[str, Standings]) -> "pd.Series[bool]":
    """Return whether the exact ranks decide the order of the pair, for each row of Table 4."""
    decided = {
        (label, better, worse) for label, of_metric in standings.items() for better, worse in _decided(of_metric)
    }
    rows = zip(table_4["metric"], table_4["better"], table_4["worse"], strict=True)
    return pd.Series([row in decided for row in rows], index=table_4.index, dtype=bool)


def _decided(standings: Standings) -> list[tuple[str, str]]:
    """Return the pairs (better, worse) of recommenders that the exact ranks decide."""
    return [(standings.rows[better].name, standings.rows[worse].name) for better, worse in standings.decided]


def _table_3(table: pd.DataFrame, standings: Mapping[str, Standings]) -> pd.DataFrame:
    """Lay out Table 3. Bold are the best by the exact metric, and those that are not decided to be worse."""
    cells = tables.cells_3(table)
    best = {
        (label, row.name)
        for label, of_metric in standings.items()
        for index, row in enumerate(of_metric.rows)
        if len(of_metric.rows) > 1 and (0, index) not in of_metric.decided
    }
    keys = zip(cells["metric"], cells["recommender"], strict=True)
    bold = np.array([key in best for key in keys]) & (cells["estimator"] == "exact")
    return tables.wide(cells.assign(cell=cells["cell"].where(~bold, "**" + cells["cell"] + "**")), _KEYS_3)


def _table_4(table: pd.DataFrame, standings: Mapping[str, Standings], repetitions: int) -> pd.DataFrame:
    """Lay out Table 4 with a column that says whether the exact ranks decide a row. An undecided row has no bold cell.

    The interval of Agresti and Caffo, at 95 %, distinguishes the shares of two estimators.
    """
    cells = tables.cells_4(table)
    share = (cells["correct"] * repetitions + 1) / (repetitions + 2)
    variance = share * (1 - share) / (repetitions + 2)
    best = share.groupby([cells["pair"], cells["metric"]]).transform("idxmax")
    half_width = 1.96 * np.sqrt(variance + variance.loc[best].to_numpy())
    decided = _is_decided(cells, standings)
    bold = decided & (share.loc[best].to_numpy() - share <= half_width)
    cells["cell"] = cells["cell"].where(~bold, "**" + cells["cell"] + "**")
    wide = tables.wide(cells, _KEYS_4)
    words = decided.map({True: "decided", False: "undecided" if standings else "not compared"})
    word_of_row = {
        (pair, metric_name(str(label))): word
        for pair, label, word in zip(cells["pair"], cells["metric"], words, strict=True)
    }
    wide.insert(2, "Exact order", [word_of_row[key] for key in zip(wide["Pair"], wide["Metric"], strict=True)])
    return wide


def not_compared(config: Mapping[str, Any]) -> list[str]:
    """Return in what no dataset of a configuration is compared with the paper's Tables 3 and 4, beyond other data."""
    names = [name for name in config["study"] if name == reference.DATASET]
    return reference.study_differences(config) + [
        difference for name in names for difference in reference.data_differences(config, name)
    ]


def reproduced(printed: pd.DataFrame, claims: pd.DataFrame | None = None, differences: Sequence[str] = ()) -> list[str]:
    """Return sentences on how many printed numbers are reproduced under each reading, and how many claims hold.

    Args:
        printed: results of `paper.fidelity`.
        claims: results of `paper.claims`.
        differences: result of `not_compared`, for a run that does not compare Tables 3 and 4.
    """
    sentences = []
    readings = _readings(printed)
    for name in readings:
        rows = _under_reading(printed, name)
        counts = [f"{ok.sum()} of {len(ok)} in Table {table}" for table, ok in rows.groupby("table")["ok"]]
        heading = VARIANTS[name].heading.removeprefix("Reading: ")
        which = "is the correct one" if name == "default" else "repeats two errors that the printed numbers fit"
        sentences.append(
            f"The reading {heading} {which}. It reproduces {rows['ok'].sum()} of the {len(rows)} printed numbers: "
            f"{', '.join(counts)}."
        )
    sentences.append(
        "A number is reproduced if our number rounds to the printed digits. If a number depends on a random sample or "
        f"start, a difference of up to {fidelity.LIMIT:g} standard errors counts too."
    )
    if claims is not None:
        is_of_reading = claims["reading"] == readings[0]
        holds = claims.loc[is_of_reading | ~claims["reading"].isin(readings), "holds"].value_counts()
        words = {
            "within noise": "failing by no more than noise may explain",
            "no": "not holding",
            "open": "too vague to check",
        }
        exceptions = [f"; {words[verdict]}: {holds[verdict]}" for verdict in words if verdict in holds]
        sentences.append(
            f"Under the reading {readings[0]}, {holds.get('yes', 0)} of {holds.sum()} claims that the paper makes in "
            f"words hold{''.join(exceptions)}."
        )
    if printed["table"].max() < 3:
        why = f": {'; '.join(differences)}" if differences else ", as the data are not the paper's"
        sentences.append(
            "Tables 1 and 2 are the paper's running example. Tables 3 and 4 of this run are not compared with the "
            f"printed ones{why}."
        )
    return sentences


def _readings(printed: pd.DataFrame) -> list[str]:
    """Return the readings of compared numbers, the correct one first; of tables that have some, those of the last."""
    of_last = printed.loc[printed["table"] == printed["table"].max(), "reading"]
    return [name for name in VARIANTS if (of_last == name).any()]


def _under_reading(printed: pd.DataFrame, reading: str) -> pd.DataFrame:
    """Return the compared numbers of a reading, and those of tables that do not have the reading."""
    is_of_reading = printed["reading"] == reading
    return printed[is_of_reading | ~printed["table"].isin(printed.loc[is_of_reading, "table"])]


def not_sharp(printed: pd.DataFrame) -> list[str]:
    """Return what the count of reproduced numbers does not show, under the first reading."""
    rows = _under_reading(printed, _readings(printed)[0])
    by_table = dict(iter(rows.groupby("table")))
    factors = np.array(fidelity.FACTORS)
    times = np.sum([fidelity.reproduced_times(table, factors) for table in by_table.values()], axis=0)
    larger = [
        f"if all of ours were {100 * (factor - 1):.0f} % larger, {count} of {len(rows)} would still be reproduced"
        for factor, count in zip(fidelity.FACTORS, times, strict=True)
    ]
    unnoticed = [f"{100 * fidelity.unnoticed_factor(table):.2g} % in Table {n}" for n, table in by_table.items()]
    return [
        f"The comparison is not sharp number by number: {'; '.join(larger)}. The count of a table does not notice a "
        f"common factor of our numbers that is off by up to {', '.join(unnoticed)}. Up to there, no more numbers are "
        "lost than chance explains at 95 %."
    ]


def made_from(code: str, software: Mapping[str, str], data: Mapping[str, Mapping[str, str]]) -> pd.DataFrame:
    """Lay out the results of `code`, `software` and `checksums` of the module provenance."""
    rows = {"Code": code, **software}
    for dataset, files in data.items():
        rows |= {f"{dataset}: {file}": checksum for file, checksum in files.items()}
    return pd.DataFrame(rows.items(), columns=["What", "Version or SHA-256"])


def _recommenders(config: Mapping[str, Any], studied: Sequence[Studied]) -> pd.DataFrame:
    """Return the type and the parameters of each recommender, or the file of its ready-made ranks on each dataset."""
    rows = []
    for name, entry in config["recommenders"].items():
        files = [config["datasets"][dataset.name]["ranks"].get(name) for dataset in studied]
        if any(name in dataset.trained for dataset in studied) or not all(files):
            kind = (recommender_type(entry["type"]).__doc__ or entry["type"]).split("\n")[0]
            parameters = [f"{key.replace('_', ' ')}: {_value(one)}" for key, one in entry.items() if key != "type"]
            rows.append((name, kind, ", ".join(parameters)))
        for dataset, file in zip(studied, files, strict=True):
            if file:
                rows.append((name, f"Ready-made ranks on {dataset.name}", f"path: {file}"))
    return pd.DataFrame(rows, columns=["Recommender", "Type", "Parameters"])


def _value(value: Any) -> str:
    return "none" if value is None else ("no", "yes")[value] if isinstance(value, bool) else str(value)


def _settings(config: Mapping[str, Any], split: bool) -> pd.DataFrame:
    sampling = config["sampling"]
    estimators = ", ".join(map(estimator_name, config["estimators"]))
    rows = {"Split": _split(config["split"])} if split else {}
    replaced = "with" if sampling["replacement"] else "without"
    rows |= {
        "Metrics": ", ".join(map(metric_name, config["metrics"])),
        "Negatives of a user": f"{enumerated(map(str, np.atleast_1d(sampling['negatives'])))}, {replaced} replacement",
        "Repetitions": str(sampling["repetitions"]),
        "Estimators": f"{estimators} (BV γ minimises bias² + γ · variance; docs/how-to/correct.md describes all)",
        "P(x | r) of CLS and BV": config["estimator_model"],
        "Readings": f"{', '.join(sampling['readings'])} (on this page: {sampling['readings'][0]})",
        "Seed": str(config["seed"]),
        "Version": f"sampled-metrics {__version__}",
    }
    return pd.DataFrame(rows.items(), columns=["Setting", "Value"])


def _split(split: Mapping[str, Any]) -> str:
    """Return the strategy of the split and the options that it uses."""
    keys = {
        "last-event": ("held_out", "ties"),
        "random-event": ("held_out",),
        "global-time": ("test_from", "test_size"),
    }[split["strategy"]]
    options = [f"{key}: {split[key]}" for key in (*keys, "min_training_events") if split[key] is not None]
    return ", ".join([split["strategy"], *options])


def _leaks_future(config: Mapping[str, Any], name: str) -> bool:
    """Return whether a dataset is split by user here, and does not come with a split of its own."""
    return config["split"]["strategy"] != "global-time" and config["datasets"][name]["test"] is None
