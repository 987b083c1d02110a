"""Check the ranks that another tool computed, and write them in the form that later stages read."""

from typing import Any

from sampled_metrics.ranks.table import read_ranks
from sampled_metrics.workflow.jobs import run


def main(snakemake: Any) -> None:
    """Write the rank table."""
    read_ranks(snakemake.input.ranks, snakemake.params.candidates).write(snakemake.output.ranks)


if __name__ == "__main__":
    run(main, snakemake)
