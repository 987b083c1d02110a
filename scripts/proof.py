"""Compute what samples of a dataset prove, by sample size."""

import logging
from typing import Any

from sampled_metrics import _files
from sampled_metrics.ranks.exact import read_rank_tables
from sampled_metrics.rendering import drawing
from sampled_metrics.study.proof import draw, proven
from sampled_metrics.study.workflow.jobs import progress_bar, run


def main(snakemake: Any) -> None:
    """Write the intervals, the decisions and the figure."""
    params, output = snakemake.params, snakemake.output
    figure = params.figure
    ranks = read_rank_tables(params.recommenders, snakemake.input.ranks)
    alone, paired = proven(
        ranks,
        figure["metric"],
        figure["negatives"],
        replacement=params.replacement,
        progress=progress_bar(f"proof on {snakemake.wildcards.dataset}"),
    )
    left_out = sorted(set(figure["negatives"]) - set(alone["negatives"]))
    if left_out:
        logging.warning("left out, as a user has fewer other candidates: m = %s", ", ".join(map(str, left_out)))
    _files.write_csv(output.csv, alone)
    _files.write_csv(output.pairs, paired)
    note = f"{snakemake.wildcards.dataset}: {next(iter(ranks.values())).description}"
    drawing.write(draw(alone, paired, note), output.svg, output.png)


if __name__ == "__main__":
    run(main, snakemake, "what samples prove on {wildcards.dataset}")
