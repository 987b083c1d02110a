"""Join the parts of a rank table."""

from typing import Any

import numpy as np

from sampled_metrics import file_io
from sampled_metrics.core.ranks.exact import COLUMNS, ExactRanks, log_ranks
from sampled_metrics_study.jobs import run


def main(snakemake: Any) -> None:
    """Write the rank table."""
    parts = [
        file_io.read_npz(path, "a part of a rank table", COLUMNS) for path in snakemake.input.parts
    ]
    columns = {name: np.concatenate([part[name] for part in parts]) for name in COLUMNS}
    table = ExactRanks(columns["user"], columns["candidates"], columns["above"], columns["tied"])
    log_ranks(table)
    table.write(snakemake.output.ranks)


if __name__ == "__main__":
    run(main, snakemake, "join the ranks of {wildcards.recommender} on {wildcards.dataset}")
