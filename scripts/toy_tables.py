"""Evaluate the running example: Tables 1 and 2."""

from functools import partial
from typing import Any

from sampled_metrics import _files
from sampled_metrics.rendering import page
from sampled_metrics.study import toy
from sampled_metrics.study.jobs import run, stream


def main(snakemake: Any) -> None:
    """Write the tables and their pages."""
    params, output = snakemake.params, snakemake.output
    for number, (title, compute) in toy.TABLES.items():
        csv, *pages = (getattr(output, f"table_{number}_{kind}") for kind in ("csv", "md", "tex", "html"))
        table = compute(params.toy, partial(stream, params.seed, "toy"))
        _files.write_csv(csv, table)
        page.write(title, toy.sections(table, params.toy["ranks"]), *pages)


if __name__ == "__main__":
    run(main, snakemake, "tables of the running example")
