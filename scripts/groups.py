"""Compute metrics and verdicts by group of users and of held-out items."""

from typing import Any

from sampled_metrics import _files
from sampled_metrics.data.split import read_split
from sampled_metrics.ranks.exact import ExactRanks, read_rank_tables
from sampled_metrics.ranks.reading import read_columns
from sampled_metrics.rendering import drawing
from sampled_metrics.study.group_sources import by_file, by_thirds
from sampled_metrics.study.groups import by_groups, draw
from sampled_metrics.study.workflow.jobs import run


def main(snakemake: Any) -> None:
    """Write the metrics, the comparisons and the figure."""
    params, given, output = snakemake.params, snakemake.input, snakemake.output
    ranks = read_rank_tables(params.recommenders, given.ranks)
    grouped: dict[str, dict[str, ExactRanks]] = {}
    trained = {name: ranks[name] for name in params.trained}
    for split in given.split:  # one or none
        grouped |= by_thirds(trained, read_split(split), params.groups)
    for source in given.sources:  # the tables of a study number the users that a file does not name
        read_columns(source).require("user")
    for users in given.users:
        grouped |= by_file(ranks, users)
    values, pairs = by_groups(grouped, params.metrics)
    _files.write_csv(output.csv, values)
    _files.write_csv(output.pairs, pairs)
    note = f"{snakemake.wildcards.dataset}: {next(iter(ranks.values())).description}"
    drawing.write(draw(values, note, list(snakemake.config["recommenders"])), output.svg, output.png)


if __name__ == "__main__":
    run(main, snakemake, "metrics by group on {wildcards.dataset}")
