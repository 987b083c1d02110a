"""Train a recommender on a split."""

from sampled_metrics.data.split import read_shape, read_split
from sampled_metrics.ranking.memory import require
from sampled_metrics.recommenders import ItemCF, recommender
from sampled_metrics.recommenders.checks import check_model
from sampled_metrics.workflow.jobs import job
from sampled_metrics.workflow.seeds import stream

if __name__ == "__main__":
    with job(snakemake.log[0]):
        rng = stream(snakemake.params.seed, snakemake.wildcards.dataset, snakemake.wildcards.recommender, "train")
        chosen, budget = recommender(snakemake.params.entry), {}
        if isinstance(chosen, ItemCF):  # the one that can do with less memory, and more time
            budget = {"memory": snakemake.config["ranking"]["memory"]}
            require(chosen.least_memory(read_shape(snakemake.input.split)), budget["memory"], "item-cf")
        split = read_split(snakemake.input.split)
        model = chosen.fit(split.training, rng, **budget)
        check_model(model, split, f"recommender {snakemake.wildcards.recommender}")
        model.write(snakemake.output.model)
