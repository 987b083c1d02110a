"""Train a recommender on a split."""

import logging
from typing import Any

from sampled_metrics.ranking.split import read_split
from sampled_metrics_study.jobs import run, stream
from sampled_metrics_study.recommenders.recommender import class_at, takes, trained


def main(snakemake: Any) -> None:
    """Write the trained model."""
    wildcards = snakemake.wildcards
    algorithm: Any = class_at(snakemake.params.path)(**snakemake.params.parameters)
    split = read_split(snakemake.input.split, timestamps=takes(type(algorithm), "events"))
    rng = stream(snakemake.params.seed, wildcards.dataset, wildcards.recommender, "train")
    model = trained(algorithm, split, rng, snakemake.threads)
    model.check(split, f"recommender {wildcards.recommender}")
    model.write(snakemake.output.model)
    logging.info(
        "trained on %d events of %d users and %d items", split.shape.events, *split.shape[:2]
    )


if __name__ == "__main__":
    run(main, snakemake, "train {wildcards.recommender} on {wildcards.dataset}")
