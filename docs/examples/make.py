"""Make the csv files that the documentation works on, from the published ranks of X, Y and Z, ties broken at random.

x.csv, z.csv: each user's rank among 100 sampled negatives, drawn once.
pilot-x.csv, pilot-y.csv, pilot-z.csv: every tenth user, in a catalogue of 500 items: the rank among the item and 499
others.

python docs/examples/make.py
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd

from sampled_metrics.ranks.table import read_ranks
from sampled_metrics.sampling.design import SamplingDesign
from sampled_metrics.sampling.draws import draw

HERE = Path(__file__).resolve().parent
PUBLISHED = HERE.parents[1] / "published/ml-1m"


def sampled(name: str, negatives: int, seed: int) -> pd.DataFrame:
    """Sample the negatives of each user of a published recommender, without replacement."""
    exact = read_ranks(PUBLISHED / f"{name}.csv.gz")
    draws = draw(exact.above, exact.tied, exact.candidates, SamplingDesign(negatives), np.random.default_rng(seed))
    return pd.DataFrame({"user": exact.user, "rank": 1 + draws.ranked_above("random")})


def main(folder: Path) -> None:
    """Write the files."""
    for name, seed in {"X": 1, "Z": 2, "Y": 3}.items():
        pilot = sampled(name, 499, seed)[::10].assign(candidates=500)[["user", "candidates", "rank"]]
        tables = {f"pilot-{name}.csv": pilot}
        if name != "Y":
            tables[f"{name}.csv"] = sampled(name, 100, seed)
        for file, table in tables.items():
            table.to_csv(folder / file.lower(), index=False, lineterminator="\n")
    (folder / "places.csv").write_text("who;place\nann;0\nbob;11\neve;4\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE)
