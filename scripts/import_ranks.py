"""Check ranks that another tool computed, and write them in the format of later stages."""

import logging
from typing import Any

from sampled_metrics.core.ranks.exact import exact_ranks, log_ranks
from sampled_metrics_study.jobs import run


def main(snakemake: Any) -> None:
    """Write the rank table."""
    files = snakemake.input
    params = snakemake.params
    table = exact_ranks(files.ranks, **params.reading)
    if table.weights is not None:
        logging.warning(
            "some users have several rows: a user counts once, by the mean over the user's rows"
        )
    log_ranks(table)
    table.write(snakemake.output.ranks)


if __name__ == "__main__":
    run(main, snakemake, "import the ranks of {params.name}")
