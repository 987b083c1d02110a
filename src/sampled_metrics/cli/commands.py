"""The commands evaluate, correct, compare and expect: functions of the core over files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

import sampled_metrics as sm
from sampled_metrics._defaults import DEFAULT_ESTIMATORS
from sampled_metrics.cli import options as shared
from sampled_metrics.cli.options import Command, Labels, label_option, labels_in_help
from sampled_metrics.cli.output import FAILS, prints_result
from sampled_metrics.cli.reading import ANY_TABLES, Reading, reading
from sampled_metrics.core.estimators import KNOWN, LINEAR
from sampled_metrics.errors import ConfigError

# pandas and what needs it are imported where they are used, so that help comes at once
if TYPE_CHECKING:
    from sampled_metrics.core.evaluation.result import Result


@click.command(
    "evaluate",
    cls=Command,
    short_help="Exact metrics of ranks, with intervals.",
    epilog="  sampled-metrics evaluate ranks.csv --metrics recall@10,ndcg@10,auc\n"
    "  sampled-metrics evaluate old.csv new.csv\n"
    "  sampled-metrics evaluate lists.csv --relevance judged.csv --metrics map,ndcg@10\n\n"
    "  ranks.csv: user,candidates,rank    or    user,candidates,above,tied    or one rank per "
    "line and --candidates",
)
@reading(shared.BY, shared.LISTS, shared.CANDIDATES, shared.EXACT, shared.GROUPS)
@shared.CONFIDENCE_LEVEL
@prints_result
def evaluate(ranks: tuple[str, ...], reading: Reading, **options: Any) -> Result:
    """Exact metrics of ranks among all candidates, or of ranked lists, with intervals.

    RANKS are files, one for each recommender, or one table of all recommenders, with --by. Give the
    seeds of a recommender as a column with --seeds or as NAME=FILE,FILE,...
    """
    tables = reading.tables(ranks, "exact", unnamed=True)
    return sm.evaluate(tables, groups=reading.groups_of_results(), **options)


@click.command(
    "correct",
    cls=Command,
    short_help="The true metrics behind sampled ranks.",
    epilog="  sampled-metrics correct mine.csv --candidates 3541 --negatives 100 --metrics "
    "recall@10,ndcg@10\n\n"
    "  mine.csv: a column rank, from 1 to 101 here, or one rank per line; user, candidates, "
    "negatives if they differ",
)
@reading(
    shared.BY, shared.CANDIDATES, shared.NEGATIVES, shared.REPLACEMENT, shared.DRAWN, shared.GROUPS
)
@label_option("estimators", DEFAULT_ESTIMATORS, known=KNOWN)
@shared.METRIC_LIST
@shared.CONFIDENCE_LEVEL
@prints_result
def correct(ranks: tuple[str, ...], reading: Reading, **options: Any) -> Result:
    """The true metrics behind ranks among sampled negatives, with intervals.

    RANKS are files, one for each recommender, or one table of all recommenders, with --by. Give the
    seeds of a recommender, or the draws of negatives that all users share, as a column with --seeds
    or as NAME=FILE,FILE,...
    """
    tables = reading.tables(ranks, "sampled", unnamed=True)
    return sm.correct(tables, groups=reading.groups_of_results(), **options)


@click.command(
    "compare",
    cls=Command,
    short_help="Which of two recommenders or more are better than others.",
    epilog="  sampled-metrics compare old.csv new.csv --metrics recall@10\n"
    "  sampled-metrics compare old.csv new.csv --negatives 100 --candidates 3541\n"
    "  sampled-metrics compare runs.csv --by model --seeds seed\n"
    "  sampled-metrics compare x.csv y.csv Z=z-seed-1.csv,z-seed-2.csv,z-seed-3.csv\n"
    "  sampled-metrics compare old-lists.csv new-lists.csv --relevance judged.csv --metrics map",
)
@ANY_TABLES
@click.option(
    "--estimator",
    "--estimators",
    "estimator",
    type=Labels(),
    help=f"To correct sampled ranks with: {labels_in_help(KNOWN)}.  [default: decreasing]",
)
@shared.COMPARING
@FAILS
@prints_result
def compare(ranks: tuple[str, ...], reading: Reading, **options: Any) -> Result:
    """Which recommenders are better than others, paired by user.

    RANKS are files, one for each of two recommenders or more, or one table of all recommenders,
    with --by or several of --rank-column. Give the seeds of a recommender as a column with --seeds
    or as NAME=FILE,FILE,... Ranks are sampled if --negatives is given or there is a column
    negatives, and exact if not. With --relevance, RANKS are lists. The exit code is 3 if
    --fail-if-undecided or --fail-if-worse applies.
    """
    tables = reading.tables_of_any_kind(ranks)
    if not isinstance(tables, dict) or len(tables) < 2:
        raise ConfigError(
            f"compare takes two recommenders or more, not only {ranks[0]}; or one table and --by"
        )
    return sm.compare(tables, groups=reading.groups_of_results(), **options)


@click.command(
    "expect",
    cls=Command,
    short_help="What sampled metrics would show of exact ranks.",
    epilog="  sampled-metrics expect x.csv y.csv --negatives 100 --metrics recall@10",
)
@click.option(
    "--negatives", "size", type=shared.WHOLE, required=True, help="m: how many would be sampled."
)
@reading(shared.BY, shared.CANDIDATES, shared.EXACT, shared.REPLACEMENT)
@shared.METRIC_LIST
@label_option("estimators", ("uncorrected",), known=LINEAR)
@prints_result
def expect(ranks: tuple[str, ...], reading: Reading, size: int, **options: Any) -> Result:
    """What sampled metrics would show of exact ranks.

    The findings say whether sampled metrics would order recommenders wrongly.
    """
    tables = reading.tables(ranks, "exact")
    return sm.expect(tables, negatives=size, replacement=reading.replacement, **options)
