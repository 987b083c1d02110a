"""Check the ranks that another tool computed, and write them in the form that later stages read."""

from typing import Any

from sampled_metrics.ranks.table import read_ranks
from sampled_metrics.workflow.jobs import run


def main(snakemake: Any) -> None:
    """Write the rank table."""
    given, params = snakemake.input, snakemake.params
    read_ranks(given.ranks, params.candidates, unique_users=True).write(snakemake.output.ranks)


if __name__ == "__main__":
    run(main, snakemake)
