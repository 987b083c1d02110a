"""Count, for each held-out item, the candidates above it and tied with it, by strata of popularity."""

from typing import Any

from sampled_metrics import _files
from sampled_metrics.data.split import read_split
from sampled_metrics.errors import ConfigError
from sampled_metrics.ranking.strata import popularity_strata, rank_model_by_stratum
from sampled_metrics.recommenders.models import read_model
from sampled_metrics.workflow.jobs import progress_bar, run


def main(snakemake: Any) -> None:
    """Write the counts by stratum."""
    path, wildcards, params = snakemake.input.model, snakemake.wildcards, snakemake.params
    memory = snakemake.config["ranking"]["memory"]  # changes no number
    model, split = read_model(path), read_split(snakemake.input.split)
    model.check(split, path)
    try:
        labels = popularity_strata(split.training, params.sizes)
    except ConfigError as error:
        raise ConfigError(f"sampling.strata.{error}") from None
    progress = progress_bar(f"rank {wildcards.recommender} on {wildcards.dataset} by stratum")
    counts = rank_model_by_stratum(model, split, labels, progress, precision=params.precision, memory=memory)
    _files.write_csv(snakemake.output.strata, counts)


if __name__ == "__main__":
    run(main, snakemake, "rank {wildcards.recommender} on {wildcards.dataset} by stratum")
