"""Rank every held-out item among its user's candidates."""

from sampled_metrics.data.split import read_split
from sampled_metrics.ranking.rank_memory import require_files
from sampled_metrics.ranking.ranking import rank_held_out
from sampled_metrics.recommenders.checks import check_model
from sampled_metrics.recommenders.models import read_model
from sampled_metrics.workflow.jobs import job, progress_bar

if __name__ == "__main__":
    with job(snakemake.log[0]):
        memory, threads = snakemake.config["ranking"]["memory"], snakemake.threads  # change no number
        require_files(snakemake.input.model, snakemake.input.split, memory, threads)
        model, split = read_model(snakemake.input.model), read_split(snakemake.input.split)
        check_model(model, split, snakemake.input.model)
        progress = progress_bar(f"rank {snakemake.wildcards.dataset} {snakemake.wildcards.recommender}")
        precision = snakemake.params.precision
        table = rank_held_out(model, split, progress, precision=precision, threads=threads, memory=memory)
        table.write(snakemake.output.ranks)
