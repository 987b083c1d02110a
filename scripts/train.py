"""Train a recommender on a split."""

import logging
from pathlib import Path
from typing import Any

from sampled_metrics.data.split import read_shape, read_split
from sampled_metrics.recommenders import Command, recommender
from sampled_metrics.study.workflow.jobs import run
from sampled_metrics.study.workflow.memory import require_memory, split_memory
from sampled_metrics.study.workflow.seeds import stream


def main(snakemake: Any) -> None:
    """Write the trained model."""
    wildcards, entry, memory = snakemake.wildcards, snakemake.params.entry, snakemake.config["ranking"]["memory"]
    algorithm, name = recommender(entry), f"recommender {wildcards.recommender}"
    least = algorithm.least_memory(read_shape(snakemake.input.split))
    if least:
        require_memory(split_memory(snakemake.input.split) + least, memory, entry["type"])
    split = read_split(snakemake.input.split)
    rng = stream(snakemake.params.seed, wildcards.dataset, wildcards.recommender, "train")
    if isinstance(algorithm, Command):
        files = {Path(path).stem: path for path in snakemake.input.tables}
        model = algorithm.run(files, split, rng, name, snakemake.log[0])
    else:
        model = algorithm.fit(split.training, rng)
    model.check(split, name)
    model.write(snakemake.output.model)
    logging.info(
        "trained %s on %d events of %d users and %d items", entry["type"], split.shape.events, *split.shape[:2]
    )


if __name__ == "__main__":
    run(main, snakemake, "train {wildcards.recommender} on {wildcards.dataset}")
