"""The summary of a run: the question, the answer in numbers, what was studied, and the conclusions."""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from sampled_metrics import __version__
from sampled_metrics.errors import DataError
from sampled_metrics.estimators import estimator_name
from sampled_metrics.evaluation import compare
from sampled_metrics.evaluation.comparison import Standings
from sampled_metrics.evaluation.magnitude import on_margin
from sampled_metrics.inference.families import pairs_of
from sampled_metrics.inference.margins import Margin
from sampled_metrics.metrics.metric import metric_name
from sampled_metrics.ranks.exact import ExactRanks
from sampled_metrics.recommenders import recommender_type
from sampled_metrics.rendering.page import Page
from sampled_metrics.sampling.moments import EQUAL
from sampled_metrics.study import tables
from sampled_metrics.study.paper import choices, fidelity
from sampled_metrics.study.repetitions import of_size, sizes_of
from sampled_metrics.study.variants import VARIANTS

TITLE = "Do sampled metrics order recommenders correctly?"

_NAMED = 6  # most pairs that a sentence names

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

_PAPER = "Krichene and Rendle, On Sampled Metrics for Item Recommendation, KDD 2020"

_OF_RANK = {"recall": "1 if r ≤ k, and 0 otherwise", "ndcg": "1/log₂(r + 1)", "ap": "1/r", "auc": "(n - r)/(n - 1)"}
"""The value of one user by the metrics of the paper."""


class Studied(NamedTuple):
    """The results on one dataset.

    Attributes:
        name: name of the dataset.
        facts: numbers about it, by row of a table.
        trained: the recommenders that were trained here. The ranks of the others are ready-made.
        table_3, table_4: results of `tables.table_3` and `tables.table_4`.
        figures: (title, svg, caption) of each figure.
        standings: result of `exact_standings`.
        on_margin: result of `on_exact_margin`.
        by_group: sentences on the pairs that groups order in different ways.
    """

    name: str
    facts: Mapping[str, str]
    trained: Sequence[str]
    table_3: pd.DataFrame
    table_4: pd.DataFrame
    figures: Sequence[tuple[str, str, str]]
    standings: Mapping[str, Standings]
    on_margin: Sequence[str] = ()
    by_group: Sequence[str] = ()


def dataset_facts(ranks: ExactRanks, counted: Mapping[str, Any] | None = None) -> dict[str, str]:
    """Return the numbers of a dataset: from the ranks of a recommender, and from dataset.json if it was split here."""
    of_ranks = {"Held-out items": f"{len(ranks)}", "Mean candidates": f"{ranks.candidates.mean():.1f}"}
    if counted is None:
        return of_ranks
    keys = {
        "Users": "users",
        "Items": "items",
        "Events": "events",
        "Training events": "training_events",
        "Users left out (too few training events)": "users_left_out_with_few_training_events",
    }
    return {row: f"{counted[key]}" for row, key in keys.items()} | of_ranks


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


def on_exact_margin(ranks: Mapping[str, ExactRanks], metrics: Sequence[str], margin: float | str | None) -> list[str]:
    """Return sentences on which exact metrics differ by more or less than a margin; none without a margin."""
    if margin is None:
        return []
    compared, (first, second, *_) = compare(ranks, metrics=metrics, margin=margin), ranks
    rows = compared if "a" in compared else compared.assign(a=first, b=second)
    return on_margin(rows, Margin.from_given(margin), compared.attrs["confidence_level"])


def summary(
    config: Mapping[str, Any],
    studied: Sequence[Studied],
    captions: Mapping[str, str],
    made_from: pd.DataFrame,
    printed: pd.DataFrame | None = None,
    claims: pd.DataFrame | None = None,
    stand_ins: Sequence[str] = (),
) -> str:
    """Return the page as html.

    Args:
        config: the configuration of the run, complete.
        studied: the results on each dataset.
        captions: captions of table-3 and table-4.
        made_from: result of `made_from`.
        printed: results of `paper.fidelity`, if the run covers tables of the paper.
        claims: results of `paper.claims`, likewise.
        stand_ins: datasets with the paper's users whose archive is not the publisher's.
    """
    page, sampling, reading = Page(), config["sampling"], config["sampling"]["readings"][0]
    page.heading("The question")
    page.paragraphs([_question(sampling), _metrics(config["metrics"])])
    page.heading("The answer")
    for dataset in studied:
        page.paragraphs([f"On {dataset.name}:"] if len(studied) > 1 else [])
        table_3, table_4 = (table[table["reading"] == reading] for table in (dataset.table_3, dataset.table_4))
        for m in sizes_of(table_3):
            negatives = sampling["negatives"] if m is None else m
            parts = of_size(table_3, m), of_size(table_4, m)
            page.list(answer(*parts, config["metrics"][0], negatives, dataset.standings))
        page.list([*dataset.on_margin, *dataset.by_group])
    if printed is not None:
        _add_comparison_with_paper(page, printed, claims)
    page.heading("What was studied")
    facts = pd.DataFrame({dataset.name: dataset.facts for dataset in studied})
    page.table("Datasets", facts.fillna("-").reset_index(names="Dataset"))
    page.table("Recommenders", _recommenders(config["recommenders"]))
    page.table("Settings", _settings(config, any(dataset.trained for dataset in studied)))
    for dataset in studied:
        page.heading(f"Results on {dataset.name}")
        _add_results(page, dataset, reading, sampling["repetitions"], captions)
    page.heading("What can be concluded, and what cannot")
    page.list(_conclusions(config, studied))
    page.heading("What it was made from")
    page.paragraphs(
        f"Warning: the archive of {name} does not have the publisher's checksum. It has the paper's users and "
        "candidates, but it is another file, such as a stand-in."
        for name in stand_ins
    )
    page.table("Code, software and data", made_from)
    page.paragraphs(["results/provenance.json has the configuration and the times, too."])
    page.footer(f"Made by sampled-metrics {__version__} with the seed {config['seed']}. report.html has every result.")
    return page.html(TITLE)


def _add_comparison_with_paper(page: Page, printed: pd.DataFrame, claims: pd.DataFrame | None) -> None:
    """Add what is reproduced of the paper, how sharp the comparison is, and the choices that it depends on."""
    page.heading("How much of the paper is reproduced")
    page.paragraphs(reproduced(printed, claims))
    page.table("Printed numbers that are reproduced", fidelity.counts(printed))
    page.paragraphs(not_sharp(printed))
    page.table(fidelity.SHARPNESS, fidelity.sharpness(printed))
    if printed["table"].max() >= 3:
        page.paragraphs(chosen())
        page.table("Choices that the text leaves open or contradicts", choices.choices_table())


def _add_results(page: Page, dataset: Studied, reading: str, repetitions: int, captions: Mapping[str, str]) -> None:
    """Add Tables 3 and 4 of a dataset under a reading, a part for each m, and the figures."""
    layouts: dict[str, tuple[pd.DataFrame, Callable[[pd.DataFrame], pd.DataFrame]]] = {
        "table-3": (dataset.table_3, partial(_table_3, standings=dataset.standings)),
        "table-4": (dataset.table_4, partial(_table_4, standings=dataset.standings, repetitions=repetitions)),
    }
    heading = VARIANTS[reading].heading
    for name, (table, layout) in layouts.items():
        if table.empty:  # a single recommender has no pairs
            continue
        page.heading(_TITLES[name], 3)
        for m in sizes_of(table):
            page.paragraphs([heading if m is None else f"m = {m}. {heading}"])
            page.table(_TITLES[name], layout(of_size(table[table["reading"] == reading], m)))
        page.paragraphs([f"{_BOLD[name]} {captions[name]}"], "caption")
    for title, svg, caption in dataset.figures:
        page.heading(title, 3)
        page.wide_figure(svg, title, caption)


def _sizes(sampling: Mapping[str, Any]) -> str:
    return ", ".join(map(str, np.atleast_1d(sampling["negatives"])))


def _question(sampling: Mapping[str, Any]) -> str:
    return (
        "One item of each user is held out, and a recommender ranks it among the user's n candidates: all items "
        "without a training event of this user. An exact metric is computed from this rank r. To save time, many "
        f"papers rank the item among a few sampled candidates (negatives) only, here {_sizes(sampling)}, and "
        "compute the same metric from that rank. Does this sampled metric order recommenders as the exact one does? If "
        f"it does not, does a correction restore the order? ({_PAPER}.)"
    )


def _metrics(labels: Iterable[str]) -> str:
    """Return a sentence that defines the metrics of the paper."""
    definitions = []
    for label in labels:
        kind, _, k = label.partition("@")
        if kind in _OF_RANK:
            beyond = f", and 0 if r > {k}" if k and kind != "recall" else ""
            definitions.append(f"{metric_name(label)} counts {_OF_RANK[kind].replace('k', k)}{beyond}")
    if not definitions:
        return ""
    return f"A metric is a mean over the users. {'; '.join(definitions)}. All are in per cent here."


def answer(
    table_3: pd.DataFrame,
    table_4: pd.DataFrame,
    label: str,
    negatives: int,
    standings: Mapping[str, Standings],
) -> list[str]:
    """Return the answer in a few sentences; fewer if there is nothing to compare or to correct.

    An order of two recommenders is right or wrong only if the exact ranks decide it.

    Args:
        table_3: result of `tables.table_3`, one reading.
        table_4: result of `tables.table_4`, the same reading.
        label: the metric whose values are given.
        negatives: m.
        standings: result of `exact_standings`.
    """
    name, values = metric_name(label), table_3[table_3["metric"] == label]
    means = values.pivot(index="recommender", columns="estimator", values="mean").loc[values["recommender"].unique()]
    spread = values.pivot(index="recommender", columns="estimator", values="sd").fillna(0)
    table_4 = table_4[_is_decided(table_4, standings)]
    right = table_4.groupby("estimator", sort=False)["correct"].mean()
    sentences = [_verdict(name, standings.get(label))] if len(means) > 1 else []
    sentences.append(f"Exact {name}: {_percentages(means['exact'].sort_values(ascending=False, kind='stable'))}.")
    if "uncorrected" in means:
        sampled = means["uncorrected"].sort_values(ascending=False, kind="stable")
        sentences.append(f"Among {negatives} negatives, without correction: {_percentages(sampled)}.")
        if len(means) > 1:
            sentences[-1] += _order(sampled, standings.get(label))
            sentences[-1] += _over_all(table_4[table_4["estimator"] == "uncorrected"], standings)
    errors = np.sqrt((means.sub(means["exact"], axis=0) ** 2 + spread**2).mean()).drop("exact")
    corrected = errors.drop("uncorrected", errors="ignore")
    if len(corrected):
        nearest = str(corrected.idxmin())
        without = f", against {100 * errors['uncorrected']:.1f} without correction" if "uncorrected" in errors else ""
        sentences.append(
            f"Of the corrections in Table 3, {estimator_name(nearest)} has the smallest root mean square error of "
            f"{name}: {100 * errors[nearest]:.1f} percentage points{without}."
        )
        if len(shares := right.drop("uncorrected", errors="ignore")):
            best = [estimator_name(str(name)) for name in shares.index[shares >= shares.max() - EQUAL]]
            without = (
                f", against {100 * right['uncorrected']:.0f} % without correction" if "uncorrected" in right else ""
            )
            sentences[-1] += (
                f" {' and '.join(best)} order{'s' * (len(best) == 1)} recommenders correctly most often: in "
                f"{100 * shares.max():.0f} % of the decided comparisons over all metrics and repetitions{without}."
            )
    return sentences


def _verdict(name: str, standings: Standings | None) -> str:
    """Return a sentence on what the exact ranks decide, the first of an answer."""
    if standings is None:
        return f"By the exact {name}, the recommenders are not compared by user, so no order of them is stated as true."
    return f"By the exact {name}, compared by user at 95 %: {standings.sentence}"


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


def _percentages(values: "pd.Series[float]") -> str:
    return ", ".join(f"{name} {100 * value:.2f} %" for name, value in values.items())


def _order(sampled: "pd.Series[float]", standings: Standings | None) -> str:
    """Return a sentence, which follows another one, on the decided pairs that a sampled metric orders wrongly."""
    if standings is None or not standings.decided:
        return " The exact ranks decide no order of two of them, so this order is neither right nor wrong."
    pairs = _decided(standings)
    wrong = [f"{better} and {worse}" for better, worse in pairs if sampled[better] <= sampled[worse]]
    if not wrong:
        return f" This puts {'the decided pair' if len(pairs) == 1 else 'all decided pairs'} in the right order."
    named = f": {', '.join(wrong)}" if len(wrong) <= _NAMED else ""
    return f" This puts {len(wrong)} of {len(pairs)} decided pairs the wrong way round{named}."


def _over_all(decided: pd.DataFrame, standings: Mapping[str, Standings]) -> str:
    """Return sentences with the number of decided comparisons that come out wrong, and of undecided ones."""
    pairs = sum(len(pairs_of(len(of_metric.rows))) for of_metric in standings.values())
    undecided = pairs - sum(len(of_metric.decided) for of_metric in standings.values())
    if not pairs:
        return ""
    text = ""
    if len(decided):
        text = (
            f" Over all metrics, {(decided['correct'] < 0.5).sum()} of {len(decided)} decided comparisons of two "
            "recommenders by a metric come out wrong in most repetitions."
        )
    if undecided:
        text += f" Undecided by the exact ranks, and counted as neither: {undecided} of {pairs} comparisons."
    return text


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
    words = decided.map({True: "decided", False: "undecided"})
    word_of_row = {
        (pair, metric_name(str(label))): word
        for pair, label, word in zip(cells["pair"], cells["metric"], words, strict=True)
    }
    wide.insert(2, "Exact order", [word_of_row[key] for key in zip(wide["Pair"], wide["Metric"], strict=True)])
    return wide


def reproduced(printed: pd.DataFrame, claims: pd.DataFrame | None = None) -> list[str]:
    """Return sentences on how many printed numbers are reproduced under each reading, and how many claims hold."""
    sentences = []
    readings = _readings(printed)
    for name in readings:
        rows = _under_reading(printed, name)
        counts = [f"{ok.sum()} of {len(ok)} in Table {table}" for table, ok in rows.groupby("table")["ok"]]
        heading = VARIANTS[name].heading.removeprefix("Reading: ")
        which = "is the correct one" if name == "default" else "repeats two slips that the printed numbers seem to have"
        sentences.append(
            f"The reading {heading} {which}. It reproduces {rows['ok'].sum()} of the {len(rows)} printed numbers: "
            f"{', '.join(counts)}."
        )
    sentences.append(
        "A number is reproduced if our number rounds to the printed digits. If a number depends on a random sample or "
        f"start, a difference of up to {fidelity.LIMIT:g} standard errors counts too."
    )
    if claims is not None:
        holds = claims.loc[claims["reading"] == readings[0], "holds"].value_counts()
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
        sentences.append("Tables 1 and 2 are the paper's running example. This run does not repeat the paper's study.")
    return sentences


def _readings(printed: pd.DataFrame) -> list[str]:
    """Return the readings of compared numbers, the correct one first."""
    return [name for name in VARIANTS if (printed["reading"] == name).any()]


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


def chosen() -> list[str]:
    """Return how many printed numbers the text as written reproduces, and how many other data reproduce."""
    as_written, other_data = (choices.TOY + choices.RECORDED[name].sum() for name in ("as_written", "other_data"))
    return [
        f"The text leaves {len(choices.CHOICES)} choices open, or the printed numbers contradict it. The choices here "
        "were made because the printed numbers fit them. The table shows how many of the 300 printed numbers are "
        f"reproduced if one choice alone is the other one. With the text as written, {as_written} are "
        f"(examples/as-written.yaml). With the same recommenders on other data (MovieLens 100K), {other_data} are: "
        f"{choices.TOY} of Tables 1 and 2, which depend on no data, and most of Table 4, in which many shares are 0 or "
        "100 %."
    ]


def made_from(provenance: Mapping[str, Any]) -> pd.DataFrame:
    """Lay out the result of `provenance.provenance`, without the times, the seed and the configuration."""
    rows = {"Code": provenance["code"]} | provenance["software"]
    for dataset, files in provenance["data"].items():
        rows |= {f"{dataset}: {file}": checksum for file, checksum in files.items()}
    return pd.DataFrame(rows.items(), columns=["What", "Version or SHA-256"])


def _recommenders(entries: Mapping[str, Mapping[str, Any]]) -> pd.DataFrame:
    rows = [
        (
            name,
            f"{entry['type']}: {(recommender_type(entry['type']).__doc__ or '').split(chr(10))[0]}",
            ", ".join(f"{key}: {_value(value)}" for key, value in entry.items() if key != "type"),
        )
        for name, entry in entries.items()
    ]
    return pd.DataFrame(rows, columns=["Recommender", "Type", "Parameters"])


def _value(value: Any) -> str:
    return "none" if value is None else ("no", "yes")[value] if isinstance(value, bool) else str(value)


def _settings(config: Mapping[str, Any], split: bool) -> pd.DataFrame:
    sampling = config["sampling"]
    estimators = ", ".join(map(estimator_name, config["estimators"]))
    rows = {"Split": f"{config['split']['strategy']}, ties: {config['split']['ties']}"} if split else {}
    replaced = "with" if sampling["replacement"] else "without"
    rows |= {
        "Metrics": ", ".join(map(metric_name, config["metrics"])),
        "Negatives of a user": f"{_sizes(sampling)}, {replaced} replacement",
        "Repetitions": str(sampling["repetitions"]),
        "Estimators": f"{estimators} (BV γ minimises bias² + γ · variance; docs/which-estimator.md describes all)",
        "P(x | r) of CLS and BV": config["estimator_model"],
        "Readings": f"{', '.join(sampling['readings'])} (Tables 3 and 4 below: {sampling['readings'][0]})",
        "Seed": str(config["seed"]),
        "Version": f"sampled-metrics {__version__}",
    }
    return pd.DataFrame(rows.items(), columns=["Setting", "Value"])


def _conclusions(config: Mapping[str, Any], studied: Sequence[Studied]) -> list[str]:
    trained = [name for name in config["recommenders"] if any(name in dataset.trained for dataset in studied)]
    ready_made = [name for name in config["recommenders"] if not all(name in dataset.trained for dataset in studied)]
    data = "one dataset" if len(studied) == 1 else f"{len(studied)} datasets"
    sentences = [
        "A sampled metric, except AUC, is another metric than the exact one of the same name. More repetitions make "
        "its mean more precise, but do not bring it nearer to the exact metric. More negatives do.",
        "A correction reduces the bias of the sampled metric, and increases its variance. Which correction is best "
        "depends on the metric, the recommenders and the number of negatives.",
        f"These are results on {data}, with one split and one set of parameters for each recommender. They do not show "
        "that the same order holds on other data, or that one method is better than another with its best parameters.",
        "The ± and the shares of Tables 3 and 4 describe the random negatives of the same users. They do not say how "
        "much the metrics would differ for other users."
        + (" The intervals in the section What a sample proves cover both." if config["figures"]["proof"] else ""),
        "A metric of held-out items does not show which recommendations users would prefer.",
    ]
    if trained:
        sentences.append(
            f"{', '.join(trained)}: each is trained once. If its training has a random start, another seed gives other "
            "numbers."
        )
    if ready_made:
        sentences.append(f"The ranks of {', '.join(ready_made)} were made elsewhere. This run does not check how.")
    return sentences
