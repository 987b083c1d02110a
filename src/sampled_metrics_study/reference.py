"""Every number that the paper prints, as data (Krichene and Rendle, KDD 2020).

The tables are copies of the printed ones; Tables 3 and 4 are in per cent. The functions return
fractions, with the unit of the last printed digit.
"""

import hashlib
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from sampled_metrics.core.ranks.exact import ExactRanks
from sampled_metrics.errors import DataError

DATASET = "ml-1m"
"""The name of the paper's dataset in config.yaml."""
RECOMMENDERS = ("X", "Y", "Z")
"""Recommenders of Tables 3 and 4."""
REPETITIONS = 100
"""Repetitions of Tables 3 and 4."""
TOY_REPETITIONS = 1000
"""Repetitions of Table 2."""

ARCHIVE_MD5 = "c4d9eecfca2ab87c1945afe126590906"
"""MD5 of the publisher's archive of the paper's data, ml-1m.zip."""
_CANDIDATES = "511b96eebadec373183d743a796ca2d6bc2e69bac031a8024da02cd54c97962e"

TOY_RANKS = {
    "A": [100, 100, 100, 100, 100],
    "B": [40, 40, 8437, 9266, 4482],
    "C": [212, 2, 743, 5342, 1548],
}
"""The running example: the rank of the relevant item in each of five instances."""
PRINTED_ESTIMATORS = {
    "uncorrected",
    "rank-estimate",
    "cls",
    "bv-1",
    "bv-0.1",
    "bv-0.01",
    "bv-0.001",
}

_TABLE_1 = """
  auc    ap     ndcg   recall@10
A 0.990  0.010  0.150  0.000
B 0.555  0.010  0.122  0.000
C 0.843  0.101  0.208  0.200
"""

_TABLE_2 = """
  auc           ap            ndcg          recall@10
A 0.990±0.004   0.630±0.129   0.724±0.097   1.000±0.000
B 0.555±0.014   0.336±0.073   0.444±0.054   0.400±0.000
C 0.843±0.014   0.325±0.050   0.460±0.039   0.567±0.092
"""

_TABLE_3 = """
            exact  uncorrected  rank-estimate  cls         bv-1        bv-0.1      bv-0.01     bv-0.001
recall@10 X 7.60   66.19±0.25   17.46±0.32     8.52±0.16   4.71±0.07   6.49±0.25   7.18±0.59   7.32±1.17
recall@10 Y 8.84   56.51±0.22   17.26±0.28     8.42±0.14   4.60±0.07   6.95±0.21   8.18±0.51   8.54±1.07
recall@10 Z 9.42   54.20±0.22   18.67±0.32     9.10±0.15   4.97±0.07   7.44±0.24   8.63±0.59   9.08±1.20
ndcg@10   X 3.76   39.21±0.20   17.46±0.32     3.99±0.07   2.16±0.04   3.00±0.12   3.34±0.32   3.41±0.71
ndcg@10   Y 4.59   34.82±0.16   17.26±0.28     3.94±0.06   2.12±0.03   3.24±0.10   3.85±0.28   4.03±0.66
ndcg@10   Z 4.79   35.34±0.16   18.67±0.32     4.27±0.07   2.29±0.04   3.46±0.12   4.05±0.32   4.31±0.74
ap        X 3.75   32.55±0.21   18.12±0.31     3.58±0.06   2.44±0.03   3.13±0.09   3.37±0.21   3.42±0.49
ap        Y 4.32   30.01±0.20   17.81±0.28     3.54±0.06   2.32±0.03   3.19±0.07   3.62±0.18   3.73±0.45
ap        Z 4.44   30.71±0.21   19.20±0.31     3.82±0.06   2.45±0.03   3.38±0.08   3.79±0.21   3.97±0.51
auc       X 89.13  89.12±0.04   89.24±0.04     89.12±0.04  88.36±0.04  89.04±0.04  89.11±0.04  89.12±0.04
auc       Y 85.33  85.33±0.04   85.48±0.04     85.32±0.04  84.63±0.04  85.26±0.04  85.32±0.04  85.32±0.04
auc       Z 74.73  75.04±0.23   75.24±0.20     75.04±0.21  74.51±0.23  75.02±0.20  75.02±0.24  75.02±0.23
"""

_TABLE_4 = """
              uncorrected  rank-estimate  cls  bv-1  bv-0.1  bv-0.01  bv-0.001
X-Y recall@10 0            31             31   11    93      91       78
X-Y ndcg@10   0            31             31   15    93      88       76
X-Y ap        0            24             31   0     68      79       66
X-Y auc       100          100            100  100   100     100      100
X-Z recall@10 0            100            100  100   100     95       86
X-Z ndcg@10   0            100            100  100   100     95       82
X-Z ap        0            100            100  61    99      92       81
X-Z auc       100          100            100  100   100     100      100
Y-Z recall@10 0            100            100  100   95      72       68
Y-Z ndcg@10   100          100            100  100   94      70       67
Y-Z ap        100          100            100  100   98      75       68
Y-Z auc       100          100            100  100   100     100      100
"""


def covers_toy(config: Mapping[str, Any]) -> bool:
    """Return whether a config's running example is the paper's and covers all of its claims."""
    toy = config["toy"]
    figures = config["figures"]
    if toy is None or None in (figures[f"figure-{number}"] for number in (2, 3, 4)):
        return False
    return (
        (toy["candidates"], toy["ranks"], toy["negatives"], toy["replacement"])
        == (10000, TOY_RANKS, 99, False)
        and toy["repetitions"] > 1
        and set(toy["metrics"]) >= {"auc", "ap", "ndcg", "recall@10"}
        and set(figures["figure-2"]["negatives"]) >= {10, 200, 500, 5000}
        and set(figures["figure-3"]["negatives"]) >= {1, 1000}
        and figures["figure-3"]["zoom"] >= 100
        and (figures["figure-4"]["metric"], figures["figure-4"]["negatives"]) == ("ap", 100)
        and set(figures["figure-4"]["estimators"]) >= PRINTED_ESTIMATORS
    )


def study_differences(config: Mapping[str, Any]) -> list[str]:
    """Return in what a config does not cover the paper's study, whatever its data.

    The result is empty if the config covers it.

    The parameters of the recommenders may differ from config.yaml. `data_differences` and
    `has_paper_users` are about the data.
    """
    sampling = config["sampling"]
    figure_6 = config["figures"]["figure-6"]
    if figure_6 is None:
        return ["figures.figure-6 is left out"]
    values = {
        "sampling.negatives": (sampling["negatives"], 100),
        "sampling.replacement": (sampling["replacement"], False),
        "estimator_model": (config["estimator_model"], "binomial"),
        "figures.figure-6.metric": (figure_6["metric"], "recall@10"),
    }
    needed = {
        "recommenders": (config["recommenders"], RECOMMENDERS),
        "metrics": (config["metrics"], ("recall@10", "ndcg@10", "ap", "auc")),
        "estimators": (config["estimators"], sorted(PRINTED_ESTIMATORS)),
        "figures.figure-6.estimators": (figure_6["estimators"], ("uncorrected", "bv-0.1")),
    }
    differences = _unequal(values)
    if sampling["repetitions"] <= 1:
        differences.append("sampling.repetitions is 1")
    for key, (stated, names) in needed.items():
        lacking = [name for name in names if name not in stated]
        if lacking:
            differences.append(f"{key} lacks {', '.join(lacking)}")
    return differences


def data_differences(config: Mapping[str, Any], name: str) -> list[str]:
    """Return in what a dataset is not ml-1m, unfiltered, and split as in the paper.

    The paper's split holds out the last event of each user.
    """
    dataset = config["datasets"][name]
    split = config["split"]
    where = f"datasets.{name}"
    if name != DATASET:
        return [f"{name} is not the paper's dataset, {DATASET}"]
    return _unequal(
        {
            f"{where}.min_rating": (dataset["min_rating"], 0),
            f"{where}.core": (dataset["core"], 0),
            f"{where}.test": (dataset["test"], None),
            "split.strategy": (split["strategy"], "last-event"),
            "split.held_out": (split["held_out"], 1),
            "split.min_training_events": (split["min_training_events"], 1),
        }
    )


def _unequal(values: Mapping[str, tuple[Any, Any]]) -> list[str]:
    """Return which keys have another value than in the paper; the mapping has both, by key."""
    return [
        f"{key} is {value}, not {paper_value}"
        for key, (value, paper_value) in values.items()
        if value != paper_value
    ]


def has_paper_users(table: ExactRanks) -> bool:
    """Return whether ranks belong to the paper's users, with the candidates of the paper's split.

    The 6040 numbers of candidates are n minus the training events of each user. No other data have
    the same ones.
    """
    candidates = np.sort(table.candidates).astype("<i8")
    return hashlib.sha256(candidates.tobytes()).hexdigest() == _CANDIDATES


def stand_in(facts: Mapping[str, Any] | None, table: ExactRanks) -> str:
    """Return what may come from a stand-in for the publisher's archive: archive, ranks or nothing.

    A stand-in has the paper's users, and is not known to come from that archive.

    Facts are those of the archive; without them, the ranks are ready-made.
    """
    if not has_paper_users(table):
        return ""
    if facts is None:
        return "ranks"
    return "" if facts["md5"] == ARCHIVE_MD5 else "archive"


def require_paper_users(table: ExactRanks, dataset: str) -> None:
    """Raise DataError if ranks are not of the paper's users and candidates.

    The ranks are those on a dataset that has the name of the paper's.
    """
    if not has_paper_users(table):
        raise DataError(
            f"datasets.{dataset}: its users and candidates are not those of MovieLens 1M in the "
            f"paper, with which {DATASET} is compared; give this dataset another name"
        )


def _table(text: str, keys: list[str], across: str, scale: float = 1.0) -> pd.DataFrame:
    """Return a row for each cell of a table: its keys, mean and sd (NaN if there is none).

    The numbers are divided by the scale.
    """
    header, *lines = (line.split() for line in text.strip("\n").splitlines())
    rows = []
    for line in lines:
        for name, printed in zip(header, line[len(keys) :], strict=True):
            mean, _, sd = printed.partition("±")
            rows.append((*line[: len(keys)], name, float(mean) / scale, float(sd or "nan") / scale))
    return pd.DataFrame(rows, columns=[*keys, across, "mean", "sd"])


def table_1() -> pd.DataFrame:
    """Return Table 1; columns recommender, metric, value, unit."""
    table = _table(_TABLE_1, ["recommender"], "metric").drop(columns="sd")
    return table.rename(columns={"mean": "value"}).assign(unit=0.001)


def table_2() -> pd.DataFrame:
    """Return Table 2; columns recommender, metric, mean, sd, unit."""
    return _table(_TABLE_2, ["recommender"], "metric").assign(unit=0.001)


def table_3() -> pd.DataFrame:
    """Return Table 3 in fractions; columns metric, recommender, estimator, mean, sd, unit.

    The exact numbers have no sd (NaN).
    """
    return _table(_TABLE_3, ["metric", "recommender"], "estimator", 100).assign(unit=0.0001)


def table_4() -> pd.DataFrame:
    """Return Table 4 in fractions; columns pair (such as `X vs Y`), metric, estimator, correct."""
    table = _table(_TABLE_4, ["pair", "metric"], "estimator", 100).drop(columns="sd")
    return table.rename(columns={"mean": "correct"}).assign(
        pair=table["pair"].str.replace("-", " vs ")
    )
