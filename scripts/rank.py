"""Rank the held-out items of all users, or of one part of them, among their candidates."""

import logging
from typing import Any

from sampled_metrics import file_io
from sampled_metrics.core.ranks.exact import COLUMNS, log_ranks
from sampled_metrics.ranking.split import read_split
from sampled_metrics_study.jobs import progress_bar, run
from sampled_metrics_study.recommenders.models import read_model
from sampled_metrics_study.recommenders.ranking import part_of_users, rank_by_model


def main(snakemake: Any) -> None:
    """Write the rank table.

    If the users are divided (wildcard scatteritem), write the table of one part of them.
    """
    wildcards = snakemake.wildcards
    precision = snakemake.params.precision
    model = read_model(snakemake.input.model)
    split = read_split(snakemake.input.split)
    model.check(split, snakemake.input.model)
    part_of_parts = getattr(wildcards, "scatteritem", None)  # such as "2-of-4"
    part, parts = map(int, (part_of_parts or "1-of-1").split("-of-"))
    progress = progress_bar(f"rank {wildcards.recommender} on {wildcards.dataset}")
    users = part_of_users(split.shape, part, parts)
    table = rank_by_model(
        model, split, users, precision=precision, threads=snakemake.threads, progress=progress
    )
    if part_of_parts is None:
        log_ranks(table)
        table.write(snakemake.output.ranks)
    else:
        logging.info("ranked %d held-out items", len(table))
        file_io.write_npz(snakemake.output.part, **{name: getattr(table, name) for name in COLUMNS})


if __name__ == "__main__":
    job = "rank {wildcards.recommender} on {wildcards.dataset}"
    if hasattr(snakemake.wildcards, "scatteritem"):
        job += " (part {wildcards.scatteritem})"
    run(main, snakemake, job)
