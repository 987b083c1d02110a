"""The command plan."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

import sampled_metrics as sm
from sampled_metrics._defaults import PLANNED
from sampled_metrics.cli import options as shared
from sampled_metrics.cli.options import Command, Labels, label_option
from sampled_metrics.cli.output import prints_result
from sampled_metrics.cli.reading import Reading, reading
from sampled_metrics.core.estimators import BOUNDS, LINEAR

# pandas and what needs it are imported where they are used, so that help comes at once
if TYPE_CHECKING:
    from sampled_metrics.core.evaluation.result import Result


@click.command(
    "plan",
    cls=Command,
    short_help="What each way to evaluate costs, and what it tells.",
    epilog="  sampled-metrics plan x.csv y.csv --metric recall@10\n"
    "  sampled-metrics plan x.csv --users 20000 --width 0.02\n"
    "  sampled-metrics plan X=x.csv,x-staged.npz Z=z.csv,z-staged.npz --scores 500000",
)
@reading(
    shared.SEEDS,
    shared.CANDIDATES,
    shared.EXACT,
    shared.REPLACEMENT,
)
@click.option(
    "--metric",
    "--metrics",
    "metric",
    type=Labels(),
    default="recall@10",
    show_default=True,
    help="The metric to plan for.",
)
@click.option(
    "--negatives",
    "sizes",
    type=Labels(int),
    default="20,100,300",
    show_default=True,
    help="m to try.",
)
@click.option(
    "--depths",
    type=Labels(float),
    default="30,100,300",
    show_default=True,
    help="Depths of stages to try.",
)
@click.option(
    "--users",
    type=shared.WHOLE,
    help="How many users the evaluation has.  [default: those of the pilot]",
)
@label_option("estimators", PLANNED, known=BOUNDS + LINEAR)
@click.option(
    "--draws",
    type=shared.WHOLE,
    default=100,
    show_default=True,
    help="Simulated evaluations of each way.",
)
@click.option("--width", type=float, help="Mark the cheapest way with so narrow an interval.")
@click.option("--scores", type=float, help="Mark the best way with so many scores in all.")
@shared.CONFIDENCE_LEVEL
@prints_result
def plan(ranks: tuple[str, ...], reading: Reading, sizes: Any, **options: Any) -> Result:
    """What each way to evaluate costs, and what it tells, from the ranks of a pilot.

    RANKS are files, one for each recommender, or NAME=FILE,FILE for the exact and the staged ranks
    of one. Ranks are those among all candidates, or staged ones, and not those among negatives.
    """
    tables = reading.tables(ranks, "exact")
    return sm.plan(tables, negatives=sizes, replacement=reading.replacement, **options)
