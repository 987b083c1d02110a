"""Rank the held-out items of all users, or of one part of them, among their candidates."""

from typing import Any

from sampled_metrics import _files
from sampled_metrics.data.split import read_shape, read_split
from sampled_metrics.ranking.memory import spare_memory
from sampled_metrics.ranking.ranking import gather, rank_part
from sampled_metrics.recommenders.models import ranking_memory, read_model
from sampled_metrics.workflow.jobs import progress_bar, run


def main(snakemake: Any) -> None:
    """Write the rank table or, where the users are divided (wildcard scatteritem), the counts of one part."""
    path, wildcards, precision = snakemake.input.model, snakemake.wildcards, snakemake.params.precision
    memory, threads = snakemake.config["ranking"]["memory"], snakemake.threads  # change no number
    least = ranking_memory(path, read_shape(snakemake.input.split), threads)
    spare_memory(least, memory, "ranking")  # refuses too little before the model is read
    model, split = read_model(path), read_split(snakemake.input.split)
    model.check(split, path)
    item = getattr(wildcards, "scatteritem", None)
    part, parts = map(int, (item or "1-of-1").split("-of-"))
    progress = progress_bar(f"rank {wildcards.dataset} {wildcards.recommender} {item or ''}")
    counts = rank_part(
        model, split, progress, part=part, parts=parts, precision=precision, threads=threads, memory=memory
    )
    if item is None:
        gather(split, [counts]).write(snakemake.output.ranks)
    else:
        _files.write_npz(snakemake.output.part, **dict(zip(("users", "above", "tied"), counts, strict=True)))


if __name__ == "__main__":
    run(main, snakemake)
