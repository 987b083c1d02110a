"""Rank the held-out items of one part of the users among their candidates."""

from sampled_metrics import _files
from sampled_metrics.data.split import read_split
from sampled_metrics.ranking.rank_memory import require_files
from sampled_metrics.ranking.ranking import rank_part
from sampled_metrics.recommenders.checks import check_model
from sampled_metrics.recommenders.models import read_model
from sampled_metrics.workflow.jobs import job, progress_bar

if __name__ == "__main__":
    with job(snakemake.log[0]):
        wildcards = snakemake.wildcards
        part, parts = map(int, wildcards.scatteritem.split("-of-"))
        memory, threads = snakemake.config["ranking"]["memory"], snakemake.threads  # change no number
        require_files(snakemake.input.model, snakemake.input.split, memory, threads)
        model, split = read_model(snakemake.input.model), read_split(snakemake.input.split)
        check_model(model, split, snakemake.input.model)
        users, above, tied = rank_part(
            model,
            split,
            progress_bar(f"rank {wildcards.dataset} {wildcards.recommender} {part} of {parts}"),
            part=part,
            parts=parts,
            precision=snakemake.params.precision,
            threads=threads,
            memory=memory,
        )
        _files.write_npz(snakemake.output.part, users=users, above=above, tied=tied)
