"""Make published/ from the rank tables of a run: the same ranks, users not identified.

    make reproduce && python published/make.py

The lines are brought into an order that depends on the ranks alone, and users are numbered in it,
the same for every recommender, so that a user's ranks under X, Y and Z can be compared but not
traced to the dataset.
"""

import hashlib
from pathlib import Path

import numpy as np

from sampled_metrics.core.ranks.exact import ExactRanks, exact_ranks

ROOT = Path(__file__).resolve().parent.parent
HERE = ROOT / "published/ml-1m"
NAMES = ("X", "Y", "Z")


def main() -> None:
    """Write the rank tables and their checksums."""
    tables = {name: exact_ranks(ROOT / f"results/ml-1m/ranks/{name}.csv.gz") for name in NAMES}
    keys = [column for table in tables.values() for column in (table.tied, table.above)]
    order = np.lexsort((*keys, tables["X"].candidates))
    sums = []
    for name, table in tables.items():
        path = HERE / f"{name}.csv.gz"
        users = np.arange(1, len(table) + 1)
        ExactRanks(users, table.candidates[order], table.above[order], table.tied[order]).write(
            path
        )
        sums.append(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n")
    (HERE / "SHA256SUMS").write_text("".join(sums), encoding="utf-8")


if __name__ == "__main__":
    main()
