"""Train a recommender on a split."""

import logging
from typing import Any

from sampled_metrics.data.split import read_split
from sampled_metrics.recommenders import recommender
from sampled_metrics.study.jobs import run, stream


def main(snakemake: Any) -> None:
    """Write the trained model."""
    wildcards, entry = snakemake.wildcards, snakemake.params.entry
    algorithm: Any = recommender(entry)
    split = read_split(snakemake.input.split)
    rng = stream(snakemake.params.seed, wildcards.dataset, wildcards.recommender, "train")
    model = algorithm.fit(split.training, rng)
    model.check(split, f"recommender {wildcards.recommender}")
    model.write(snakemake.output.model)
    logging.info(
        "trained %s on %d events of %d users and %d items", entry["type"], split.shape.events, *split.shape[:2]
    )


if __name__ == "__main__":
    run(main, snakemake, "train {wildcards.recommender} on {wildcards.dataset}")
