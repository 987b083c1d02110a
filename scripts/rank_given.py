"""Rank the held-out item of each user among the negatives that come with the dataset."""

import logging
from pathlib import Path
from typing import Any

from sampled_metrics import _files
from sampled_metrics.data.given_negatives import read_negatives
from sampled_metrics.data.split import read_split
from sampled_metrics.ranking.negatives import rank_model_among
from sampled_metrics.recommenders.models import read_model
from sampled_metrics.workflow.jobs import progress_bar, run
from sampled_metrics.workflow.seeds import stream


def main(snakemake: Any) -> None:
    """Write the ranks, which `sampled-metrics correct` reads, too."""
    path, wildcards, params = snakemake.input.model, snakemake.wildcards, snakemake.params
    model, split = read_model(path), read_split(snakemake.input.split)
    model.check(split, path)
    negatives = read_negatives(Path(snakemake.input.negatives), split)
    ranks = rank_model_among(
        model,
        split,
        negatives,
        progress_bar(f"rank {wildcards.recommender} on {wildcards.dataset} among given negatives"),
        seed=int(stream(params.seed, wildcards.dataset, wildcards.recommender, "given").integers(2**63)),
        precision=params.precision,
        memory=snakemake.config["ranking"]["memory"],  # changes no number
    )
    logging.info("negatives of each user: %d; repeated: %d", negatives.shape[1], ranks["repeated"].sum())
    _files.write_csv(snakemake.output.ranks, ranks)


if __name__ == "__main__":
    run(main, snakemake, "rank {wildcards.recommender} on {wildcards.dataset} among given negatives")
