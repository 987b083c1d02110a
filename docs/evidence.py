"""Compare what sampled ranks and printed sampled values say of the true values with the true ones.

    python docs/evidence.py printed   # some 25 minutes of CPU time, on all cores
    python docs/evidence.py ranks     # a minute
    python docs/evidence.py page

`printed` asks `published` for the values of published/evidence/pairs.csv, and for the order of the
models. `ranks` asks `correct` and `compare` for the ranks of published/evidence, of weights that
their authors published and of models that other libraries have trained (benchmarks/evidence.py).
Their csv files are in docs/reproduction. `page` writes docs/evidence.md and its figure from these
files.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

import sampled_metrics as sm

ROOT = Path(__file__).resolve().parents[1]
PAIRS = ROOT / "published/evidence/pairs.csv"
PRINTED = ROOT / "docs/reproduction/evidence-printed.csv"
ORDERS = ROOT / "docs/reproduction/evidence-orders.csv"

FOLDER = ROOT / "published/evidence"
ROWS_BETWEEN_SOURCES = 4  # so that their names do not meet in the figure
PAGE = ROOT / "docs/evidence.md"
OF_RANKS = ROOT / "docs/reproduction/evidence-ranks.csv"
OF_PAIRS = ROOT / "docs/reproduction/evidence-pairs.csv"
METRIC = "recall@10"  # HR@10, as one item of each user is held out
VERDICTS = ("better", "undecided", "no-verdict")

LESSONS = {
    ("published weights", "ml-1m, NCF", "MLP"): (
        "The paper prints 0.671. The true value is an eighth of it."
    ),
    ("Petrov & Macdonald 2022", "ml-1m", "BERT4Rec"): (
        "The sampled value is three times the true one."
    ),
    ("published weights", "beauty", "S3-Rec"): "It leads in the sample ...",
    ("published weights", "beauty", "FMLP-Rec"): (
        "... and this one is better. `compare` says undecided."
    ),
    ("trained by implicit", "video", "BPR"): "It leads in the sample ...",
    ("trained by implicit", "video", "ALS"): (
        "... and this one is better. `compare` says undecided."
    ),
    ("trained by recbole", "ml-100k", "NeuMF"): (
        "RecBole draws with replacement, so m differs by user, and *decreasing* is wide."
    ),
    ("Li, Jin et al. 2020 KDD", "ml-1m", "MultiVAE"): "A hit rate at 1 falls most.",
    ("ULTRA 3g checkpoint, baseline report of 2026-08-26", "NELLInductive:v1", "ULTRA"): (
        "n is known as a range only. The interval covers all of it."
    ),
    ("Zhou et al. 2020 S3-Rec", "Yelp", "BERT4Rec"): (
        "*decreasing* misses: the assumption does not hold for every model. *free* holds."
    ),
    ("Rao et al. 2022 SIGIR", "MS COCO text to image, 1K and 5K", "VSE++  [unified]"): (
        "The queries of a fold share their negatives, and *free* misses by .001."
    ),
    (
        "Rao et al. 2022 SIGIR",
        "MS COCO text to image, 1K and 5K",
        "CAMERA (random initialization Bert)  [unified]",
    ): "No ranks give its HR@5 on both sizes. A misprint, or values of two models.",
}
"""What cases that are on the page show, by source, data set and model."""

SETTING = ["source", "place", "dataset", "users", "n", "m", "sampling"]
SHAPES = ("free", "decreasing")
COUNTS = ("pairs", "turn", "same", "right", "undecided", "wrong")


def printed() -> None:
    """Write the rows of all printed pairs by uniform negatives, and the counts of the orders of
    their models.
    """
    pairs = pd.read_csv(PAIRS, dtype=str, keep_default_na=False)
    groups = list(pairs[is_covered(pairs)].groupby(SETTING, sort=False))
    settings = [dict(zip(SETTING, setting, strict=True)) for setting, _ in groups]
    with ProcessPoolExecutor() as pool:
        answers = list(pool.map(compared, settings, [cases for _, cases in groups]))
    rows = [row for setting_rows, _ in answers for row in setting_rows]
    PRINTED.write_text(pd.DataFrame(rows).to_csv(index=False), encoding="utf-8")
    counts = [
        setting | {"models": count["models"]} | {name: count[name] for name in COUNTS}
        for setting, (_, count) in zip(settings, answers, strict=True)
        if count["pairs"]
    ]
    ORDERS.write_text(pd.DataFrame(counts).to_csv(index=False), encoding="utf-8")


def is_covered(pairs: pd.DataFrame) -> pd.Series:
    """Return whether `published` is made for the rows: uniform negatives, one relevant item, n and
    users known.
    """
    is_uniform = pairs["sampling"].str.startswith("uniform") & ~pairs["sampling"].str.contains(
        "all test items"
    )
    return is_uniform & (pairs["n"] != "") & (pairs["users"] != "")


def compared(
    setting: dict[str, str], cases: pd.DataFrame
) -> tuple[list[dict[str, Any]], Counter[str]]:
    """Return the rows of the models of a setting, and counts of what `published` says of them."""
    values = {column: values_of(cases, column) for column in ("sampled", "full")}
    metrics = [
        metric
        for metric in dict.fromkeys(cases["metric"])
        if any(metric in of for of in values["full"].values())
    ]
    result = sm.published(
        values["sampled"],
        negatives=int(setting["m"]),
        candidates=candidates_of(setting["n"]),
        users=int(setting["users"]),
        replacement="with replacement" in setting["sampling"],
        metrics=metrics,
        exact=values["full"],
    )
    ends = {
        (row.recommender, row.metric, row.estimator): (row.low, row.high)
        for row in result.itertuples()
    }
    contradictions = {
        (finding.names[0], finding.metric): finding
        for finding in result.findings
        if is_contradiction(finding)
    }
    rows = []
    for model, metric, sampled, true in cases[["model", "metric", "sampled", "full"]].itertuples(
        index=False
    ):
        if true:
            row = setting | {"model": model, "metric": metric, "sampled": sampled, "true": true}
            for shape in SHAPES:
                low, high = ends[model, metric, shape]
                row |= {f"{shape}_low": round(low, 6), f"{shape}_high": round(high, 6)}
            for shape in SHAPES:
                row[f"holds_{shape}"] = holds(true, *ends[model, metric, shape])
            finding = contradictions.get((model, metric)) or contradictions.get((model, ""))
            row["contradiction"] = in_words(finding) if finding else ""
            rows.append(row)
    counts = Counter(
        models=cases["model"].nunique(), values=len(rows), contradictions=len(contradictions)
    )
    counts.update(
        decreasing=sum(row["holds_decreasing"] for row in rows),
        free=sum(row["holds_free"] for row in rows),
    )
    return rows, counts + orders(values, metrics, result)


def values_of(cases: pd.DataFrame, column: str) -> dict[str, dict[str, str]]:
    """Return the printed values of a column, by model and metric."""
    is_printed = cases[column] != ""
    values = dict[str, dict[str, str]]()
    for model, metric, value in cases.loc[is_printed, ["model", "metric", column]].itertuples(
        index=False
    ):
        values.setdefault(model, {})[metric] = value
    return values


def candidates_of(text: str) -> int | tuple[int, int]:
    """Return n of "3706", or the least and the largest of "18345-26744" and of "1089 (mean;
    1054-1093)".
    """
    if ends := re.search(r"(\d+)-(\d+)", text):
        return int(ends[1]), int(ends[2])
    return int(text)


def holds(true: str, low: float, high: float) -> bool:
    """Return whether an interval has a number that is written as the true value."""
    half = 0.5 * 10.0 ** -len(true.partition(".")[2])
    return bool(low <= float(true) + half and float(true) - half <= high)


def is_contradiction(finding: Any) -> bool:
    """Return whether a finding says that printed values cannot be of the same ranks, whatever these
    are.
    """
    return finding.kind == "unexplained" or (
        finding.kind == "exact-contradicted" and finding.values["assumption"] == "free"
    )


def in_words(finding: Any) -> str:
    """Return the values that contradict one another."""
    sampled = " ".join(f"{label}={value}" for label, value in finding.values["values"].items())
    if finding.kind == "unexplained":
        return sampled
    return f"true {finding.metric}={finding.values['value']} beside sampled {sampled}"


def orders(
    values: dict[str, dict[str, dict[str, str]]], metrics: list[str], result: sm.Result
) -> Counter[str]:
    """Count the pairs of models that turn between sampled and true values, and those that
    `published` orders.

    A pair has two models and a metric, with both values of both models. Pairs of the same true
    value are left out.
    """
    counts = Counter[str]()
    decided = {
        (frozenset(finding.names), finding.metric): finding.names[0]
        for finding in result.findings
        if finding.kind == "published-order"
    }
    for metric in metrics:
        models = [
            model
            for model in values["full"]
            if all(metric in values[kind].get(model, {}) for kind in values)
        ]
        for pair in combinations(models, 2):
            gaps = {
                kind: np.subtract(*(float(values[kind][model][metric]) for model in pair))
                for kind in values
            }
            if gaps["full"] == 0:
                continue
            better = decided.get((frozenset(pair), metric))
            is_right = better == pair[int(gaps["full"] < 0)]
            counts["pairs"] += 1
            counts["turn"] += int(gaps["full"] * gaps["sampled"] < 0)
            counts["same"] += int(gaps["sampled"] == 0)
            counts["undecided" if better is None else "right" if is_right else "wrong"] += 1
    return counts


# --- ranks --------------------------------------------------------------------------------------


def ranks() -> None:
    """Write what `correct` says of each file of ranks, and what `compare` says of the pairs of the
    same data.
    """
    for path, rows in rank_tables().items():
        path.write_text(pd.DataFrame(rows).to_csv(index=False), encoding="utf-8")


def rank_tables() -> dict[Path, list[dict[str, Any]]]:
    """Return the rows of the cases from ranks and those of their pairs, by the csv file that has
    them.
    """
    files = [*sorted(FOLDER.glob("*.csv.gz")), *sorted((FOLDER / "trained").glob("*.csv.gz"))]
    cases = sorted((case_of(path) for path in files), key=lambda case: case.row["source"])
    pairs = [
        pair_of(case, second)
        for case, second in combinations(cases, 2)
        if are_comparable(case, second)
    ]
    return {OF_RANKS: [case.row for case in cases], OF_PAIRS: pairs}


class Case(NamedTuple):
    """A recommender with its exact and its sampled ranks, and the row of the table."""

    row: dict[str, Any]
    exact: sm.ExactRanks
    sampled: sm.SampledRanks


def case_of(path: Path) -> Case:
    """Return the case of a file of ranks."""
    table = pd.read_csv(path)
    trained = re.fullmatch(r"(.+)-(implicit|recbole)-(.+)", path.name.removesuffix(".csv.gz"))
    dataset, model = (
        trained.group(1, 3) if trained else path.name.removesuffix(".csv.gz").split("-", 1)
    )
    dataset = {"ncf": "ml-1m, NCF"}.get(dataset, dataset)
    exact = sm.exact_ranks(table[["user", "candidates", "exact_rank"]], rank_column="exact_rank")
    options = {} if "negatives" in table else {"negatives": 99}
    sampled = sm.sampled_ranks(
        table.drop(columns="exact_rank"), rank_column="sampled_rank", **options
    )
    result = sm.correct(sampled, metrics=METRIC).set_index("estimator")
    true = float((table["exact_rank"] <= 10).mean())
    row = {
        "source": f"trained by {trained[2]}" if trained else "published weights",
        "dataset": dataset,
        "model": model,
        "users": len(table),
        "n": round(table["candidates"].mean()),
        "m": round(float(sampled.negatives.mean())),
        "metric": "hr@10",
        "sampled": round(float((table["sampled_rank"] <= 10).mean()), 4),
        "true": round(true, 4),
    }
    for shape in SHAPES:
        low, high, assumes = result.loc[shape, ["low", "high", "assumes"]]
        row |= {f"{shape}_low": round(low, 5), f"{shape}_high": round(high, 5)}
        row |= {f"holds_{shape}": bool(low <= true <= high), f"{shape}_assumes": assumes}
    return Case(row, exact, sampled)


def are_comparable(case: Case, second: Case) -> bool:
    """Return whether two cases have the same source and data set, and rank as many items for each
    user.

    RecBole ranks the items of the history for a sequential model, and not for others.
    """
    if any(case.row[name] != second.row[name] for name in ("source", "dataset")):
        return False
    return np.array_equal(case.exact.candidates, second.exact.candidates)


def pair_of(case_a: Case, case_b: Case) -> dict[str, Any]:
    """Return whether a pair turns, and what `compare` says of it by sampled and by exact ranks."""
    verdicts = {}
    for kind in ("exact", "sampled"):
        tables = {case.row["model"]: getattr(case, kind) for case in (case_a, case_b)}
        [finding] = [
            finding
            for finding in sm.compare(tables, metrics=METRIC).findings
            if finding.kind in VERDICTS
        ]
        verdicts[kind] = finding.names[0] if finding.kind == "better" else finding.kind
    gaps = {column: case_b.row[column] - case_a.row[column] for column in ("sampled", "true")}
    return {
        "source": case_a.row["source"],
        "dataset": case_a.row["dataset"],
        "a": case_a.row["model"],
        "b": case_b.row["model"],
        "turns": gaps["sampled"] * gaps["true"] < 0,
        "by_exact_ranks": verdicts["exact"],
        "by_sampled_ranks": verdicts["sampled"],
        "sampled_verdict": verdict_of(verdicts["sampled"], case_a.row, case_b.row),
    }


def verdict_of(by_sampled_ranks: str, case: dict[str, Any], second: dict[str, Any]) -> str:
    """Return whether the model that the sampled ranks call the better one has the larger true
    value.
    """
    if by_sampled_ranks not in (case["model"], second["model"]):
        return "undecided"
    return (
        "right"
        if by_sampled_ranks == max(case, second, key=lambda row: row["true"])["model"]
        else "wrong"
    )


# --- the page -----------------------------------------------------------------------------------


def page() -> None:
    """Write docs/evidence.md and its figure from the csv files."""
    tables = Tables.read()
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8"), tables), encoding="utf-8")
    draw(pd.concat([tables.ranks, one_of_each(tables.printed)], ignore_index=True))


class Tables(NamedTuple):
    """The csv files: cases from ranks and their pairs, printed values and the orders of their
    models.
    """

    ranks: pd.DataFrame
    pairs: pd.DataFrame
    printed: pd.DataFrame
    orders: pd.DataFrame

    @classmethod
    def read(cls) -> Tables:
        """Return the files, with the values as they are printed."""
        printed = pd.read_csv(
            PRINTED, dtype=dict.fromkeys(("sampled", "true", "n"), str), keep_default_na=False
        )
        return cls(pd.read_csv(OF_RANKS), pd.read_csv(OF_PAIRS), printed, pd.read_csv(ORDERS))


def filled(text: str, tables: Tables) -> str:
    """Return the page with its parts made from the tables."""
    parts = {
        "number": [number_of(tables)],
        "held": held(tables),
        "decided": [decided(tables)],
        "verdicts": verdicts_of(tables),
        "lessons": lessons_of(tables),
    }
    for name, lines in parts.items():
        place = re.compile(f"(<!-- {name} -->\n).*?(<!-- end of {name} -->)", flags=re.DOTALL)
        text = place.sub(
            lambda match, lines=lines: match[1] + "\n".join(lines) + "\n" + match[2], text
        )
    return text


def number_of(tables: Tables) -> str:
    """Return how many cases the page has."""
    counts = [len(tables.ranks), len(one_of_each(tables.printed))]
    return (
        "A case is a model on a data set, with one number of negatives. The page has "
        f"{sum(counts)}: {counts[0]} from ranks, and {counts[1]} from printed tables, with "
        f"{len(tables.printed)} printed true values."
    )


def one_of_each(tables: pd.DataFrame) -> pd.DataFrame:
    """Return one row of each model of printed tables: of HR@10 or Recall@10, or of the metric that
    comes first.
    """
    is_usual = tables["metric"].isin(["hr@10", "recall@10", "hit-rate@10"])
    ordered = tables.assign(order=~is_usual).sort_values("order", kind="stable")
    return ordered.drop_duplicates(["source", "place", "dataset", "model", "m"]).sort_index()


def held(tables: Tables) -> list[str]:
    """Return a table of how many intervals hold the true value, by source."""
    lines = ["| source | values | in *decreasing* | in *free* |", "|---|---|---|---|"]
    for table in (tables.ranks, tables.printed):
        for source, rows in table.groupby("source", sort=False):
            counts = [
                int(rows[f"holds_{shape}"].astype(bool).sum()) for shape in ("decreasing", "free")
            ]
            lines.append(f"| {source} | {len(rows)} | {counts[0]} | {counts[1]} |")
    return lines


def lessons_of(tables: Tables) -> list[str]:
    """Return a table of the cases in LESSONS, with what each one shows."""
    head = "| data | model | n | m | metric | sampled | true | *decreasing* | *free* | lesson |"
    cases = pd.concat([tables.ranks, one_of_each(tables.printed)])
    cases = cases.set_index(["source", "dataset", "model"]).sort_index()
    lines = [head, "|---" * 10 + "|"]
    for (source, dataset, model), lesson in LESSONS.items():
        row = cases.loc[[(source, dataset, model)]].iloc[0]
        numbers = f"{row.n} | {row.m} | {row.metric} | {shown(row.sampled)} | {shown(row.true)}"
        lines.append(
            f"| {dataset} ({source}) | {model} | {numbers} | {' | '.join(intervals_of(row))} | "
            f"{lesson} |"
        )
    return lines


def shown(value: Any) -> str:
    """Return a value with at most four decimals, as the tables print it."""
    return f"{float(value):.4f}".rstrip("0")


def decided(tables: Tables) -> str:
    """Return how many pairs turn, and how many the library orders, in words."""
    rows = counts_by_table(tables)
    total = total_of(rows)
    known = total_of([row for row in rows if not pd.isna(row["right"])])
    pairs = known["pairs"]
    sentences = [
        f"The sampled values put {total['turn']:,.0f} of {total['pairs']:,} pairs into the wrong "
        f"order ({total['turn'] / total['pairs']:.0%}).",
        f"Of {pairs:,} pairs, the library orders {known['right'] + known['wrong']:,.0f}: "
        f"{known['right']:,.0f} rightly and {known['wrong']:,.0f} wrongly. It leaves "
        f"{known['undecided']:,.0f} undecided.",
    ]
    if pairs < total["pairs"]:
        sentences.append(
            f"The files have no verdict on the other {total['pairs'] - pairs:,}, whose cells are "
            "empty."
        )
    return " ".join(sentences)


def verdicts_of(tables: Tables) -> list[str]:
    """Return a table of how many pairs turn, and how many the library orders rightly or wrongly."""
    head = [
        "source",
        "data",
        "pairs",
        "the order turns",
        "same sampled value",
        "right",
        "undecided",
        "wrong",
    ]
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    rows = counts_by_table(tables)
    return [
        *lines,
        *map(counts_line, rows),
        counts_line({"source": "all", "dataset": ""} | total_of(rows)),
    ]


def counts_by_table(tables: Tables) -> list[dict[str, Any]]:
    """Return the counts of pairs: of the ranks by source, and of each printed table."""
    rows = list[dict[str, Any]]()
    for source, pairs in tables.pairs.groupby("source", sort=False):
        verdicts = pairs["sampled_verdict"].value_counts().to_dict()
        counts = {"pairs": len(pairs), "turn": int(pairs["turns"].sum())} | verdicts
        data = ", ".join(pairs["dataset"].unique())
        rows.append(dict.fromkeys(COUNTS, 0) | counts | {"source": source, "dataset": data})
    return rows + tables.orders.to_dict("records")


def total_of(rows: list[dict[str, Any]]) -> dict[str, int]:
    """Return the sum of each count."""
    return {name: sum(row[name] for row in rows) for name in COUNTS}


def counts_line(row: dict[str, Any]) -> str:
    """Return a row of the table of verdicts.

    A count that the files do not have is an empty cell, and so is its sum.
    """
    numbers = " | ".join("" if pd.isna(row[name]) else f"{row[name]:,.0f}" for name in COUNTS)
    return f"| {row['source']} | {row['dataset']} | {numbers} |"


def intervals_of(row: Any) -> list[str]:
    """Return the intervals by *decreasing* and by *free*, and whether they miss the true value."""
    return [
        f"{low:.4f} to {high:.4f}{'' if holds_it else ' (**misses**)'}"
        for low, high, holds_it in (
            (row.decreasing_low, row.decreasing_high, row.holds_decreasing),
            (row.free_low, row.free_high, row.holds_free),
        )
    ]


def draw(cases: pd.DataFrame) -> None:
    """Draw the true value of each case as a dot on its interval, and the sampled value as an open
    mark.
    """
    from matplotlib.figure import Figure

    from sampled_metrics.reporting.drawing import styles_of

    starts = cases["source"].ne(cases["source"].shift())
    place = np.arange(len(cases)) + ROWS_BETWEEN_SOURCES * (starts.cumsum() - 1).to_numpy()
    figure = Figure(figsize=(7, 1.2 + 0.045 * place.max()), layout="constrained")
    axes = figure.subplots()
    styles = styles_of(["exact", "uncorrected", *SHAPES], estimators=True)
    for shape, width in {"free": 0.8, "decreasing": 1.2}.items():
        ends = cases[[f"{shape}_low", f"{shape}_high"]].to_numpy().T
        colour = styles[shape]["color"]
        axes.hlines(place, *ends, color=colour, linewidth=width, label=f"interval by {shape}")
    axes.plot(
        cases["true"].astype(float),
        place,
        ".",
        color=styles["exact"]["color"],
        markersize=4,
        zorder=3,
        label="true value",
    )
    sampled = pd.to_numeric(cases["sampled"])  # empty where it is not printed
    axes.plot(
        sampled,
        place,
        "D",
        color=styles["uncorrected"]["color"],
        markerfacecolor="white",
        markersize=2.5,
        zorder=2.5,
        label="sampled value",
    )
    axes.set_yticks(place[starts], cases["source"][starts], fontsize=7)
    axes.set_xscale("log")
    axes.set_xlim(0.001, 1.1)  # an interval from 0 goes on to the left
    axes.xaxis.set_major_formatter("{x:g}")
    axes.set_ylim(place.max() + 2, -2)
    axes.set_xlabel("HR@10, or the metric that was printed", fontsize=8)
    figure.legend(loc="outside upper center", ncols=2, fontsize=8)
    figure.savefig(ROOT / "docs/reproduction/evidence.png", dpi=130)


if __name__ == "__main__":
    {"printed": printed, "ranks": ranks, "page": page}[" ".join(sys.argv[1:])]()
