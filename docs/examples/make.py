"""Make the files that the documentation works on.

From the published ranks of X, Y and Z, ties broken at random: x.csv, z.csv: each user's rank among
100 sampled negatives, drawn once. pilot-x.csv, pilot-y.csv, pilot-z.csv: every tenth user, in a
catalogue of 500 items: the rank among the item and 499 others. ranks.parquet has those of Z.

Made up: places.csv: three ranks from 0. ncf.csv: scores of a held-out item and 99 negatives of each
user. run.csv, qrels.csv: lists of items with scores, and grades of items. models.csv: a column of
ranks for each of two recommenders.

python docs/examples/make.py
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd

from sampled_metrics.core.ranks.exact import exact_ranks
from sampled_metrics.core.sampling.distributions import SamplingDesign
from sampled_metrics.core.sampling.draws import draw

HERE = Path(__file__).resolve().parent
PUBLISHED = HERE.parents[1] / "published/ml-1m"


def sampled(name: str, negatives: int, seed: int) -> pd.DataFrame:
    """Sample the negatives of each user of a published recommender, without replacement."""
    exact = exact_ranks(PUBLISHED / f"{name}.csv.gz")
    draws = draw(
        exact.above,
        exact.tied,
        exact.candidates,
        SamplingDesign(negatives),
        np.random.default_rng(seed),
    )
    return pd.DataFrame({"user": exact.user, "rank": 1 + draws.ranked_above("random")})


def ncf_scores() -> pd.DataFrame:
    """Make up scores of 200 users: of the held-out item, which is somewhat better, and of 99
    negatives.
    """
    scores = np.random.default_rng(4).normal(size=(200, 100))
    scores[:, 0] += 1.5
    columns = ["held_out", *(f"negative_{number}" for number in range(1, 100))]
    return pd.DataFrame(
        scores.round(2), columns=columns, index=pd.RangeIndex(1, 201, name="user")
    ).reset_index()


def graded_lists() -> dict[str, pd.DataFrame]:
    """Make up the lists of 20 of 100 items, with scores, for 120 users, and the grades of 10 items
    of each user.
    """
    rng = np.random.default_rng(5)
    taste = rng.normal(size=(120, 100))
    score = taste + rng.normal(scale=2, size=taste.shape)
    item = np.argsort(-score, axis=1)[:, :20]
    judged = np.argsort(-taste - rng.normal(size=taste.shape), axis=1)[:, :10]
    user = np.arange(1, 121)
    run = {
        "user": user.repeat(20),
        "item": item.ravel(),
        "score": np.take_along_axis(score, item, 1).ravel(),
    }
    grade = np.digitize(np.take_along_axis(taste, judged, 1), [0, 1, 2])
    qrels = {"user": user.repeat(10), "item": judged.ravel(), "relevance": grade.ravel()}
    return {"run.csv": pd.DataFrame(run).round(5), "qrels.csv": pd.DataFrame(qrels)}


def two_columns_of_ranks() -> pd.DataFrame:
    """Make up the ranks of 200 users by two recommenders, among 1000 candidates."""
    rng = np.random.default_rng(6)
    ncf = np.ceil(1000 * rng.random(200) ** 3)
    mlp = np.clip(np.ceil(ncf * (1 + rng.normal(0.35, 0.5, 200))), 1, 1000)
    return pd.DataFrame(
        {"user": np.arange(1, 201), "candidates": 1000, "ncf": ncf, "mlp": mlp}
    ).astype(int)


def main(folder: Path) -> None:
    """Write the files."""
    for name, seed in {"X": 1, "Z": 2, "Y": 3}.items():
        pilot = sampled(name, 499, seed)[::10].assign(candidates=500)[
            ["user", "candidates", "rank"]
        ]
        tables = {f"pilot-{name}.csv": pilot}
        if name != "Y":
            tables[f"{name}.csv"] = sampled(name, 100, seed)
        for file, table in tables.items():
            table.to_csv(folder / file.lower(), index=False, lineterminator="\n")
        if name == "Z":
            pilot.rename(columns={"user": "user_id"}).to_parquet(
                folder / "ranks.parquet", index=False
            )
    for file, table in {
        "ncf.csv": ncf_scores(),
        "models.csv": two_columns_of_ranks(),
        **graded_lists(),
    }.items():
        table.to_csv(folder / file, index=False, lineterminator="\n")
    (folder / "places.csv").write_text("who;place\nann;0\nbob;11\neve;4\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE)
