"""Count users by the rank of their held-out item (Figure 5), and expect a metric by sample size (Figure 6)."""

from typing import Any

from sampled_metrics import _files
from sampled_metrics.ranks.exact import read_rank_tables
from sampled_metrics.rendering import drawing
from sampled_metrics.reporting import rank_histogram, sample_sizes
from sampled_metrics.study.figures import default_sizes
from sampled_metrics.study.jobs import log_left_out, progress_bar, run

STEPS = (1, 1.5, 2, 3, 5, 7)


def main(snakemake: Any) -> None:
    """Write the tables of the figures, and the figures."""
    params, output, dataset = snakemake.params, snakemake.output, snakemake.wildcards.dataset
    ranks = read_rank_tables(params.recommenders, snakemake.input.ranks)
    note = f"{dataset}: {next(iter(ranks.values())).description}"
    histogram = rank_histogram.rank_histogram(ranks, params.figure_5["edges"])
    _files.write_csv(output.figure_5_csv, histogram)
    drawing.write(rank_histogram.draw(histogram, note), output.figure_5_svg, output.figure_5_png)
    negatives = params.figure_6["negatives"] or default_sizes(ranks, STEPS)
    expected = sample_sizes.expected_by_sample_size(
        ranks,
        params.figure_6["metric"],
        params.figure_6["estimators"],
        negatives,
        replacement=params.replacement,
        assume_replacement=params.assume_replacement,
        progress=progress_bar(f"figure 6 on {dataset}"),
    )
    log_left_out(negatives, expected["negatives"])
    _files.write_csv(output.figure_6_csv, expected)
    drawing.write(sample_sizes.draw(expected, note), output.figure_6_svg, output.figure_6_png)


if __name__ == "__main__":
    run(main, snakemake, "figures on {wildcards.dataset}")
