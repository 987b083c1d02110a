"""Train a recommender on a split."""

from typing import Any

from sampled_metrics.data.split import read_shape, read_split
from sampled_metrics.ranking.memory import spare_memory
from sampled_metrics.recommenders import recommender
from sampled_metrics.workflow.jobs import run
from sampled_metrics.workflow.seeds import stream


def main(snakemake: Any) -> None:
    """Write the trained model."""
    wildcards, entry, memory = snakemake.wildcards, snakemake.params.entry, snakemake.config["ranking"]["memory"]
    chosen = recommender(entry)
    spare_memory(chosen.least_memory(read_shape(snakemake.input.split)), memory, entry["type"])  # refuses too little
    split = read_split(snakemake.input.split)
    rng = stream(snakemake.params.seed, wildcards.dataset, wildcards.recommender, "train")
    model = chosen.fit(split.training, rng, memory)
    model.check(split, f"recommender {wildcards.recommender}")
    model.write(snakemake.output.model)


if __name__ == "__main__":
    run(main, snakemake)
