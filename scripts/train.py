"""Train a recommender on a split."""

import logging
from typing import Any

from sampled_metrics.data.split import read_shape, read_split
from sampled_metrics.recommenders import recommender
from sampled_metrics.study.workflow.jobs import run
from sampled_metrics.study.workflow.memory import limit, require_memory, training_memory
from sampled_metrics.study.workflow.seeds import stream


def main(snakemake: Any) -> None:
    """Write the trained model."""
    wildcards, entry, path = snakemake.wildcards, snakemake.params.entry, snakemake.input.split
    algorithm: Any = recommender(entry)
    name = f"recommender {wildcards.recommender}"
    require_memory(training_memory(algorithm, path, read_shape(path)), limit(snakemake.resources.mem_mb), entry["type"])
    split = read_split(path)
    rng = stream(snakemake.params.seed, wildcards.dataset, wildcards.recommender, "train")
    model = algorithm.fit(split.training, rng)
    model.check(split, name)
    model.write(snakemake.output.model)
    logging.info(
        "trained %s on %d events of %d users and %d items", entry["type"], split.shape.events, *split.shape[:2]
    )


if __name__ == "__main__":
    run(main, snakemake, "train {wildcards.recommender} on {wildcards.dataset}")
