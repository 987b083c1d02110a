"""Evaluate the running example: Tables 1 and 2."""

from functools import partial
from typing import Any

from sampled_metrics import _files
from sampled_metrics.rendering import page
from sampled_metrics.study.paper import toy_tables
from sampled_metrics.study.workflow.jobs import run
from sampled_metrics.study.workflow.seeds import stream


def main(snakemake: Any) -> None:
    """Write the tables and their pages."""
    params, output = snakemake.params, snakemake.output
    for number, (title, compute) in toy_tables.TABLES.items():
        csv, *pages = (getattr(output, f"table_{number}_{kind}") for kind in ("csv", "md", "tex", "html"))
        table = compute(params.toy, partial(stream, params.seed, "toy"))
        _files.write_csv(csv, table)
        page.write(title, toy_tables.sections(table, params.toy["ranks"]), *pages)


if __name__ == "__main__":
    run(main, snakemake, "tables of the running example")
