"""Repeat the sampled evaluation of a recommender: draw the negatives of each repetition."""

from typing import Any

from sampled_metrics import file_io
from sampled_metrics.core.ranks.exact import exact_ranks
from sampled_metrics_study.jobs import progress_bar, run, stream
from sampled_metrics_study.repetitions import designs, name_of_samples, samples


def main(snakemake: Any) -> None:
    """Write how often x negatives are above the held-out item, by m, tie rule and repetition."""
    params = snakemake.params
    dataset = snakemake.wildcards.dataset
    recommender = snakemake.wildcards.recommender
    table = exact_ranks(snakemake.input.ranks)
    progress = progress_bar(f"sample {recommender} on {dataset}")
    histograms = {}
    for design in designs(params.sampling).values():
        # each m has the same stream, so its numbers do not depend on the other m
        rng = stream(params.seed, dataset, recommender, "sample")
        repetitions = params.sampling["repetitions"]
        drawn = samples(table, design, repetitions, params.tie_rules, rng, progress)
        for rule, histogram in drawn.items():
            histograms[name_of_samples(design, rule)] = histogram
    file_io.write_npz(snakemake.output.samples, **histograms)


if __name__ == "__main__":
    run(main, snakemake, "sample {wildcards.recommender} on {wildcards.dataset}")
