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
    short_help="How many users an evaluation needs, and what it tells.",
    epilog="  sampled-metrics plan pilot.csv --width 0.01\n"
    "  sampled-metrics plan x.csv z.csv --difference 0.005 --metric ndcg@10\n"
    "  sampled-metrics plan X=x.csv,x-staged.npz Z=z.csv,z-staged.npz",
)
@reading(
    shared.SEEDS,
    shared.CANDIDATES,
    shared.EXACT,
    shared.REPLACEMENT,
)
@click.option("--width", type=float, help="How many users give an interval of this width?")
@click.option("--difference", type=float, help="How many users decide a difference this large?")
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
    default="100,300,1000",
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
@label_option("estimators", PLANNED, known=BOUNDS + LINEAR)
@shared.CONFIDENCE_LEVEL
@prints_result
def plan(ranks: tuple[str, ...], reading: Reading, sizes: Any, **options: Any) -> Result:
    """How many users an evaluation needs, and what it tells, from the ranks of a pilot.

    With --width or --difference, the table has the users that each way to evaluate takes. Without
    them, it has the width of intervals, and the chance of a verdict, with as many users as the
    pilot.

    RANKS are files, one for each recommender, or NAME=FILE,FILE for the exact and the staged ranks
    of one. Ranks are those among all candidates, or staged ones, and not those among negatives.
    """
    tables = reading.tables(ranks, "exact")
    return sm.plan(tables, negatives=sizes, replacement=reading.replacement, **options)
