"""Train a recommender on a split."""

from sampled_metrics.data.split import read_split
from sampled_metrics.jobs import job
from sampled_metrics.recommenders import recommender
from sampled_metrics.recommenders.checks import check_model
from sampled_metrics.seeds import stream

if __name__ == "__main__":
    with job(snakemake.log[0]):
        rng = stream(snakemake.params.seed, snakemake.wildcards.dataset, snakemake.wildcards.recommender, "train")
        split = read_split(snakemake.input.split)
        model = recommender(snakemake.params.entry).fit(split.training, rng)
        check_model(model, split, f"recommender {snakemake.wildcards.recommender}")
        model.write(snakemake.output.model)
