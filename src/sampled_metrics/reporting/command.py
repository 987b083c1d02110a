"""The command report."""

from __future__ import annotations

from typing import Any

import click

from sampled_metrics.cli import options as shared
from sampled_metrics.cli.options import Command, output_option
from sampled_metrics.cli.reading import ANY_TABLES, Reading
from sampled_metrics.errors import printable


@click.command(
    "report",
    cls=Command,
    short_help="A page with verdict, tables and figures.",
    epilog="  sampled-metrics report old.csv new.csv -o report.html\n"
    "  sampled-metrics report old.csv new.csv -o report.html --negatives 100 --candidates 3541",
)
@ANY_TABLES
@output_option("html file to write")
@shared.COMPARING
def report(ranks: tuple[str, ...], reading: Reading, output: str, **options: Any) -> None:
    """One html page about ranks: what was read, a verdict in words, tables and figures.

    Ranks are sampled if --negatives is given or there is a column negatives, and exact if not. With
    --relevance, RANKS are lists. Of more than 10 recommenders, the tables of metrics have all, and
    the pairs and figures are of the 10 best by the first metric.
    """
    from sampled_metrics.reporting.report import report as write_report  # loads matplotlib

    tables = reading.tables_of_any_kind(ranks)
    write_report(tables, output, groups=reading.groups_of_results(), **options)
    click.echo(f"{printable(output)} is written")
