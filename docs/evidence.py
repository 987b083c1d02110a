"""Set what sampled ranks and printed sampled values say of the true values beside the true ones.

    python docs/evidence.py printed   # some ten minutes
    python docs/evidence.py ranks     # a minute
    python docs/evidence.py page

`printed` asks `published` for the values of published/evidence/pairs.csv, and prints a table of the sources. `ranks`
asks `correct` and `compare` for the ranks of published/evidence, of weights that their authors published and of models
that other libraries have trained (benchmarks/evidence.py). Their csv files are in docs/reproduction. `page` writes
docs/evidence.md and its figure from these files.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

import sampled_metrics as sm

ROOT = Path(__file__).resolve().parents[1]
PAIRS = ROOT / "published/evidence/pairs.csv"
PRINTED = ROOT / "docs/reproduction/evidence-printed.csv"

FOLDER = ROOT / "published/evidence"
ROWS_BETWEEN_SOURCES = 4  # so that their names do not meet in the figure
PAGE = ROOT / "docs/evidence.md"
OF_RANKS = ROOT / "docs/reproduction/evidence-ranks.csv"
OF_PAIRS = ROOT / "docs/reproduction/evidence-pairs.csv"
METRIC = "recall@10"  # HR@10, as one item of each user is held out
VERDICTS = ("better", "undecided", "no-verdict")

SETTING = ["source", "place", "dataset", "users", "n", "m", "sampling"]
SHAPES = ("free", "decreasing")


def printed() -> None:
    """Write the rows of all printed pairs by uniform negatives, and print the table of their sources."""
    pairs = pd.read_csv(PAIRS, dtype=str, keep_default_na=False)
    counts = dict[str, Counter[str]]()
    rows = list[dict[str, Any]]()
    for setting, cases in pairs[is_covered(pairs)].groupby(SETTING, sort=False):
        of_setting, found = compared(dict(zip(SETTING, setting, strict=True)), cases)
        rows += of_setting
        counts.setdefault(setting[0], Counter()).update(found)
    PRINTED.write_text(pd.DataFrame(rows).to_csv(index=False), encoding="utf-8")
    print(pd.DataFrame(counts).T.fillna(0).astype(int).to_string())


def is_covered(pairs: pd.DataFrame) -> pd.Series:
    """Return whether `published` is made for the rows: uniform negatives, one relevant item, n and users known."""
    is_uniform = pairs["sampling"].str.startswith("uniform") & ~pairs["sampling"].str.contains("all test items")
    return is_uniform & (pairs["n"] != "") & (pairs["users"] != "")


def compared(setting: dict[str, str], cases: pd.DataFrame) -> tuple[list[dict[str, Any]], Counter[str]]:
    """Return the rows of the models of a setting, and counts of what `published` says of them."""
    values = {column: values_of(cases, column) for column in ("sampled", "full")}
    metrics = [
        metric for metric in dict.fromkeys(cases["metric"]) if any(metric in of for of in values["full"].values())
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
    ends = {(row.recommender, row.metric, row.estimator): (row.low, row.high) for row in result.itertuples()}
    contradictions = {
        (finding.names[0], finding.metric): finding for finding in result.findings if is_contradiction(finding)
    }
    rows = []
    for model, metric, sampled, true in cases[["model", "metric", "sampled", "full"]].itertuples(index=False):
        if true:
            row = setting | {"model": model, "metric": metric, "sampled": sampled, "true": true}
            for shape in SHAPES:
                row |= dict(zip((f"{shape}_low", f"{shape}_high"), ends[model, metric, shape], strict=True))
            for shape in SHAPES:
                row[f"holds_{shape}"] = holds(true, *ends[model, metric, shape])
            finding = contradictions.get((model, metric)) or contradictions.get((model, ""))
            row["contradiction"] = in_words(finding) if finding else ""
            rows.append(row)
    counts = Counter(models=cases["model"].nunique(), values=len(rows), contradictions=len(contradictions))
    counts.update(decreasing=sum(row["holds_decreasing"] for row in rows), free=sum(row["holds_free"] for row in rows))
    return rows, counts + orders(values, metrics, result)


def values_of(cases: pd.DataFrame, column: str) -> dict[str, dict[str, str]]:
    """Return the printed values of a column, by model and metric."""
    is_printed = cases[column] != ""
    values = dict[str, dict[str, str]]()
    for model, metric, value in cases.loc[is_printed, ["model", "metric", column]].itertuples(index=False):
        values.setdefault(model, {})[metric] = value
    return values


def candidates_of(text: str) -> int | tuple[int, int]:
    """Return n of "3706", or the least and the largest of "18345-26744" and of "1089 (mean; 1054-1093)"."""
    if ends := re.search(r"(\d+)-(\d+)", text):
        return int(ends[1]), int(ends[2])
    return int(text)


def holds(true: str, low: float, high: float) -> bool:
    """Return whether an interval has a number that is written as the true value."""
    half = 0.5 * 10.0 ** -len(true.partition(".")[2])
    return bool(low <= float(true) + half and float(true) - half <= high)


def is_contradiction(finding: Any) -> bool:
    """Return whether a finding says that printed values cannot be of the same ranks, whatever these are."""
    return finding.kind == "unexplained" or (
        finding.kind == "exact-contradicted" and finding.values["assumption"] == "free"
    )


def in_words(finding: Any) -> str:
    """Return the values that contradict one another."""
    sampled = " ".join(f"{label}={value}" for label, value in finding.values["values"].items())
    if finding.kind == "unexplained":
        return sampled
    return f"true {finding.metric}={finding.values['value']} beside sampled {sampled}"


def orders(values: dict[str, dict[str, dict[str, str]]], metrics: list[str], result: sm.Result) -> Counter[str]:
    """Count the pairs of models that turn between sampled and true values, and those that `published` orders."""
    counts = Counter[str]()
    decided = {
        (frozenset(finding.names), finding.metric): finding.names[0]
        for finding in result.findings
        if finding.kind == "published-order" and finding.values["is_decided"]
    }
    for metric in metrics:
        models = [model for model, of_model in values["full"].items() if metric in of_model]
        for pair in combinations(models, 2):
            true, sampled = (
                [float(values[of][model].get(metric, "nan")) for model in pair] for of in ("full", "sampled")
            )
            better = decided.get((frozenset(pair), metric))
            if true[0] == true[1]:
                counts["tied"] += 1
                continue
            counts["pairs"] += 1
            counts["turn"] += (true[1] - true[0]) * (sampled[1] - sampled[0]) < 0
            is_right = better == pair[int(true[1] > true[0])]
            counts["undecided" if better is None else "right" if is_right else "wrong"] += 1
    return counts


# --- ranks ------------------------------------------------------------------------------------------------------------


def ranks() -> None:
    """Write what `correct` says of each file of ranks, and what `compare` says of the pairs of the same data."""
    files = [*sorted(FOLDER.glob("*.csv.gz")), *sorted((FOLDER / "trained").glob("*.csv.gz"))]
    cases = sorted((case_of(path) for path in files), key=lambda case: case.row["source"])
    pd.DataFrame([case.row for case in cases]).to_csv(OF_RANKS, index=False)
    rows = []
    for first, second in combinations(cases, 2):
        if (first.row["source"], first.row["dataset"]) == (second.row["source"], second.row["dataset"]):
            rows.append(pair_of(first, second))
    pd.DataFrame(rows).to_csv(OF_PAIRS, index=False)


class Case(NamedTuple):
    """A recommender with its exact and its sampled ranks, and the row of the table."""

    row: dict[str, Any]
    exact: sm.ExactRanks
    sampled: sm.SampledRanks


def case_of(path: Path) -> Case:
    """Return the case of a file of ranks."""
    table = pd.read_csv(path)
    trained = re.fullmatch(r"(.+)-(implicit|recbole)-(.+)", path.name.removesuffix(".csv.gz"))
    dataset, model = trained.group(1, 3) if trained else path.name.removesuffix(".csv.gz").split("-", 1)
    dataset = {"ncf": "ml-1m, NCF"}.get(dataset, dataset)
    exact = sm.exact_ranks(table[["user", "candidates", "exact_rank"]], rank_column="exact_rank")
    given = {} if "negatives" in table else {"negatives": 99}
    sampled = sm.sampled_ranks(table.drop(columns="exact_rank"), rank_column="sampled_rank", **given)
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


def pair_of(first: Case, second: Case) -> dict[str, Any]:
    """Return whether a pair turns, and what `compare` says of it by sampled and by exact ranks."""
    verdicts = {}
    for kind in ("exact", "sampled"):
        tables = {case.row["model"]: getattr(case, kind) for case in (first, second)}
        [finding] = [one for one in sm.compare(tables, metrics=METRIC).findings if one.kind in VERDICTS]
        verdicts[kind] = finding.names[0] if finding.kind == "better" else finding.kind
    gaps = {column: second.row[column] - first.row[column] for column in ("sampled", "true")}
    return {
        "source": first.row["source"],
        "dataset": first.row["dataset"],
        "a": first.row["model"],
        "b": second.row["model"],
        "turns": gaps["sampled"] * gaps["true"] < 0,
        "by_exact_ranks": verdicts["exact"],
        "by_sampled_ranks": verdicts["sampled"],
    }


# --- the page ---------------------------------------------------------------------------------------------------------


def page() -> None:
    """Write docs/evidence.md and its figure from the csv files."""
    of_ranks, of_pairs = pd.read_csv(OF_RANKS), pd.read_csv(OF_PAIRS)
    of_tables = pd.read_csv(PRINTED) if PRINTED.exists() else pd.DataFrame()
    text = PAGE.read_text(encoding="utf-8")
    parts = {"held": held(of_ranks, of_tables), "orders": orders_of(of_pairs), "cases": cases_of(of_ranks)}
    for name, lines in parts.items():
        place = re.compile(f"(<!-- {name} -->\n).*?(<!-- end of {name} -->)", flags=re.DOTALL)
        text = place.sub(lambda match, lines=lines: match[1] + "\n".join(lines) + "\n" + match[2], text)
    PAGE.write_text(text, encoding="utf-8")
    draw(pd.concat([of_ranks, one_of_each(of_tables)], ignore_index=True))


def one_of_each(tables: pd.DataFrame) -> pd.DataFrame:
    """Return one row of each model of printed tables: of HR@10 or Recall@10, or of the metric that comes first."""
    if tables.empty:
        return tables
    is_usual = tables["metric"].isin(["hr@10", "recall@10", "hit-rate@10"])
    ordered = tables.assign(order=~is_usual).sort_values("order", kind="stable")
    return ordered.drop_duplicates(["source", "place", "dataset", "model", "m"]).sort_index()


def held(of_ranks: pd.DataFrame, of_tables: pd.DataFrame) -> list[str]:
    """Return a table of how many intervals hold the true value, by source."""
    lines = ["| source | values | in *decreasing* | in *free* |", "|---|---|---|---|"]
    for table in (of_ranks, of_tables):
        for source, rows in table.groupby("source", sort=False) if len(table) else ():
            counts = [int(rows[f"holds_{shape}"].astype(bool).sum()) for shape in ("decreasing", "free")]
            lines.append(f"| {source} | {len(rows)} | {counts[0]} | {counts[1]} |")
    return lines


def orders_of(pairs: pd.DataFrame) -> list[str]:
    """Return a table of the pairs of models."""
    lines = ["| data | models | the order turns | by exact ranks | by the sampled ranks |", "|---|---|---|---|---|"]
    for row in pairs.itertuples():
        turns = "**yes**" if row.turns else "no"
        models = f"{row.dataset} ({row.source}) | {row.a}, {row.b}"
        lines.append(f"| {models} | {turns} | {row.by_exact_ranks} | {row.by_sampled_ranks} |")
    return lines


def cases_of(ranks: pd.DataFrame) -> list[str]:
    """Return a table of the files of ranks."""
    head = "| data | model | users | n | m | sampled | true | *decreasing* | *free* |"
    lines = [head, "|---|---|---|---|---|---|---|---|---|"]
    for row in ranks.itertuples():
        intervals = [
            f"{low:.4f} to {high:.4f}{'' if holds_it else ' (**misses**)'}"
            for low, high, holds_it in (
                (row.decreasing_low, row.decreasing_high, row.holds_decreasing),
                (row.free_low, row.free_high, row.holds_free),
            )
        ]
        numbers = f"{row.users:,} | {row.n:,} | {row.m} | {row.sampled:.4f} | {row.true:.4f}"
        lines.append(f"| {row.dataset} ({row.source}) | {row.model} | {numbers} | {' | '.join(intervals)} |")
    return lines


def draw(cases: pd.DataFrame) -> None:
    """Draw the true value of each case as a dot on its interval, and the sampled value as an open mark."""
    from matplotlib.figure import Figure

    starts = cases["source"].ne(cases["source"].shift())
    place = np.arange(len(cases)) + ROWS_BETWEEN_SOURCES * (starts.cumsum() - 1).to_numpy()
    figure = Figure(figsize=(7, 1.2 + 0.045 * place.max()), layout="constrained")
    axes = figure.subplots()
    axes.hlines(place, cases["decreasing_low"], cases["decreasing_high"], color="#0072B2", linewidth=1.2, zorder=2)
    axes.hlines(place, cases["free_low"], cases["free_high"], color="#BBBBBB", linewidth=0.8, zorder=1)
    axes.plot(cases["true"].astype(float), place, ".", color="black", markersize=4, zorder=3, label="true value")
    sampled = cases["sampled"].astype(float)
    axes.plot(sampled, place, "D", color="#D55E00", markerfacecolor="white", markersize=2.5, label="sampled value")
    axes.set_yticks(place[starts], cases["source"][starts], fontsize=7)
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter("{x:g}")
    axes.set_ylim(place.max() + 2, -2)
    axes.set_xlabel(
        "HR@10, or the metric that was printed\nthick line: interval by decreasing, thin line: by free", fontsize=8
    )
    figure.legend(loc="outside upper center", ncols=2, fontsize=8)
    figure.savefig(ROOT / "docs/reproduction/evidence.png", dpi=130)


if __name__ == "__main__":
    {"printed": printed, "ranks": ranks, "page": page}[" ".join(sys.argv[1:])]()
