"""Check ranks that another tool made, and bring them into the form that later stages read."""

from sampled_metrics.ranks.table import read_ranks
from sampled_metrics.workflow.jobs import job

if __name__ == "__main__":
    with job(snakemake.log[0]):
        read_ranks(snakemake.input.ranks, snakemake.params.candidates).write(snakemake.output.ranks)
