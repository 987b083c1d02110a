"""Join the parts of a rank table."""

from typing import Any

from sampled_metrics import _files
from sampled_metrics.data.split import read_split
from sampled_metrics.ranking.ranking import gather
from sampled_metrics.ranks.ties import log_ranks
from sampled_metrics.workflow.jobs import run


def main(snakemake: Any) -> None:
    """Write the rank table."""
    parts = []
    for path in snakemake.input.parts:
        arrays = _files.read_npz(path, "a part of a rank table", ("users", "above", "tied"))
        parts.append((arrays["users"], arrays["above"], arrays["tied"]))
    table = gather(read_split(snakemake.input.split), parts)
    log_ranks(table)
    table.write(snakemake.output.ranks)


if __name__ == "__main__":
    run(main, snakemake, "join the ranks of {wildcards.recommender} on {wildcards.dataset}")
