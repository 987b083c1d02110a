"""Set what `published` says of printed sampled values beside the true values that were printed, too.

    python docs/evidence.py printed

The numbers are those of published/evidence/pairs.csv; the rows are in docs/reproduction/evidence-printed.csv. A table
of the sources is printed.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from itertools import combinations
from pathlib import Path
from typing import Any

import pandas as pd

import sampled_metrics as sm

ROOT = Path(__file__).resolve().parents[1]
PAIRS = ROOT / "published/evidence/pairs.csv"
PRINTED = ROOT / "docs/reproduction/evidence-printed.csv"

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


if __name__ == "__main__":
    {"printed": printed}[" ".join(sys.argv[1:])]()
