"""The commands, each a function of the library over files."""

from __future__ import annotations

import io
import os
import sys
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import get_completion_class

import sampled_metrics as sm
from sampled_metrics._defaults import ESTIMATORS, PLANNED
from sampled_metrics._running import terminal_progress
from sampled_metrics.cli import options as shared
from sampled_metrics.cli.options import (
    NAME,
    Command,
    Labels,
    OutputFile,
    label_option,
    labels_in_help,
    output_option,
    whole_range,
)
from sampled_metrics.cli.output import FAILS, prints_result, warnings_on_stderr
from sampled_metrics.cli.reading import ANY_TABLES, Reading, reading
from sampled_metrics.errors import ConfigError, SampledMetricsError, printable
from sampled_metrics.estimators import BOUNDS, KNOWN, LINEAR

if TYPE_CHECKING:  # pandas and what needs it are imported where they are used, so that help comes at once
    from sampled_metrics.evaluation.result import Result


def main(arguments: list[str] | None = None) -> None:
    """Run the command, and exit with 0 when done.

    It exits with 1 if it cannot be done, such as for a malformed file, and with 2 if it is used wrongly; both are said
    in one line on stderr. `compare` exits with 3 if it is told to fail by its result, and an interrupted command with
    130.
    """
    code: Any = None
    if sys.stderr is None:  # closed, as by 2>&-
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115  # until the process ends
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # what the terminal's encoding lacks
    try:
        code = cli.main(arguments, prog_name=NAME, standalone_mode=False)
    except click.Abort as error:
        _fail("; ".join(["interrupted", *getattr(error.__cause__, "__notes__", ())]), 130)
    except click.ClickException as error:
        _fail(error.format_message(), 2)
    except ConfigError as error:
        _fail(str(error), 2)
    except SampledMetricsError as error:
        _fail(str(error))
    except MemoryError as error:
        _fail(f"there is not enough memory for this: {error or 'it is too large'}")
    except SystemExit:  # click and rich leave so when whoever read the output has seen enough
        sys.exit(1)
    except OSError as error:  # files say theirs themselves
        sys.stdout = None  # what it still holds cannot be written either
        _fail(f"the output cannot be written: {error.strerror}")
    if code:
        sys.exit(code)


def _fail(message: str, code: int = 1) -> None:
    sys.stderr.write(f"error: {printable(' '.join(message.split()))}\n")
    sys.exit(code)


class _Program(click.Group):
    """The command, in which SystemExit means that nobody reads the output any more."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; one that exits for another reason keeps its exit code."""
        try:
            return super().invoke(ctx)
        except SystemExit as left:
            if isinstance(left.__context__, BrokenPipeError):
                raise
            raise click.exceptions.Exit(left.code) from None  # type: ignore[arg-type]  # may be text, as of sys.exit


@click.group(
    cls=_Program,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    epilog="Files are csv, gzip if the name ends in .gz, or parquet; - is standard input. 'sampled-metrics COMMAND "
    "--help' has an example of each.",
)
@click.version_option(sm.__version__, prog_name=NAME)
@click.pass_context
def cli(context: click.Context) -> None:
    """Metrics of recommenders from ranks, exact or among sampled negatives."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help(), err=True)
        context.exit(2)


cli.command_class = Command


@cli.command(
    "evaluate",
    short_help="Exact metrics of ranks, with intervals.",
    epilog="  sampled-metrics evaluate ranks.csv --metrics recall@10,ndcg@10,auc\n"
    "  sampled-metrics evaluate old.csv new.csv\n"
    "  sampled-metrics evaluate lists.csv --relevance judged.csv --metrics map,ndcg@10\n\n"
    "  ranks.csv: user,candidates,rank    or    user,candidates,above,tied    or one rank per line and --candidates",
)
@reading(shared.BY, shared.LISTS, shared.CANDIDATES, shared.EXACT, shared.GROUPS)
@shared.CONFIDENCE_LEVEL
@prints_result
def _evaluate(ranks: tuple[str, ...], reading: Reading, **options: Any) -> Result:
    """Exact metrics of ranks among all candidates, or of ranked lists, with intervals.

    RANKS are files, one for each recommender, or one table of all recommenders, with --by. The seeds of a recommender
    are a column, with --seeds, or NAME=FILE,FILE,...
    """
    tables = reading.tables_of_runs(ranks, "" if reading.relevance else "exact")
    return sm.evaluate(tables, groups=reading.groups_of_results(), **options)


@cli.command(
    "correct",
    short_help="The true metrics behind sampled ranks.",
    epilog="  sampled-metrics correct mine.csv --candidates 3541 --negatives 100 --metrics recall@10,ndcg@10\n\n"
    "  mine.csv: a column rank, from 1 to 101 here, or one rank per line; user, candidates, negatives if they differ",
)
@reading(shared.BY, shared.CANDIDATES, shared.NEGATIVES, shared.REPLACEMENT, shared.DRAWN, shared.GROUPS)
@label_option("estimators", ESTIMATORS, known=KNOWN)
@shared.METRIC_LIST
@shared.CONFIDENCE_LEVEL
@prints_result
def _correct(ranks: tuple[str, ...], reading: Reading, **options: Any) -> Result:
    """The true metrics behind ranks among sampled negatives, with intervals.

    RANKS are files, one for each recommender, or one table of all recommenders, with --by. The draws of negatives that
    all users share, or the seeds of a recommender, are a column, with --seeds, or NAME=FILE,FILE,...
    """
    tables = reading.tables_of_runs(ranks, "sampled")
    return sm.correct(tables, groups=reading.groups_of_results(), **options)


@cli.command(
    "published",
    short_help="The true metrics behind published sampled ones.",
    epilog="  sampled-metrics published --value A:hr@10=.68 --value B:hr@10=.7 --negatives 99 --candidates 3706 "
    "--users 6040",
)
@click.option(
    "--value",
    "values",
    multiple=True,
    required=True,
    metavar="NAME:METRIC=VALUE",
    help="A sampled metric of a recommender; again for another metric or recommender.",
)
@click.option(
    "--exact",
    multiple=True,
    metavar="NAME:METRIC=VALUE",
    help="A published metric among all candidates, if there is one: whether the sampled values exclude it.",
)
@click.option("--negatives", type=shared.WHOLE, required=True, help="m: how many negatives were sampled.")
@click.option(
    "--candidates",
    type=whole_range,
    metavar="N|LEAST-LARGEST",
    required=True,
    help="n: how many items an exact evaluation ranks; 3000-10000 if it is not known.",
)
@click.option("--users", type=shared.WHOLE, required=True, help="How many users the values are of.")
@label_option("estimators", ESTIMATORS, known=BOUNDS)
@label_option("metrics", (), "those of the values")
@shared.REPLACEMENT
@shared.CONFIDENCE_LEVEL
@prints_result
def _published(values: tuple[str, ...], exact: tuple[str, ...], **options: Any) -> Result:
    """The true metrics behind published values of sampled ones, with intervals."""
    return sm.published(_values_by_name(values, "--value"), exact=_values_by_name(exact, "--exact"), **options)


def _values_by_name(texts: tuple[str, ...], option: str) -> dict[str, dict[str, str]]:
    """Return the values of NAME:METRIC=VALUE by name and by metric."""
    by_name: dict[str, dict[str, str]] = {}
    for text in texts:
        name, _, of_metric = text.rpartition(":")
        label, _, number = of_metric.rpartition("=")
        if not name.strip() or not label.strip() or label in by_name.get(name, {}):
            raise click.UsageError(
                f"{option} is NAME:METRIC=VALUE, such as GMF:hr@10=0.68, once for each metric, not {text}"
            )
        by_name.setdefault(name, {})[label] = number
    return by_name


@cli.command(
    "compare",
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
    help=f"The one that corrects sampled ranks: {labels_in_help(KNOWN)}.  [default: decreasing]",
)
@shared.MARGIN
@shared.CONFIDENCE_LEVEL
@FAILS
@prints_result
def _compare(ranks: tuple[str, ...], reading: Reading, **options: Any) -> Result:
    """Which recommenders are better than others, paired by user.

    RANKS are files, one for each of two recommenders or more, or one table of all recommenders, with --by or several of
    --rank-column. The seeds of a recommender are a column, with --seeds, or NAME=FILE,FILE,... Ranks
    are sampled if --negatives is given or there is a column negatives, and exact if not. With --relevance, RANKS are
    lists. The exit code is 3 if --fail-if-undecided or --fail-if-worse applies.
    """
    if len(ranks) > 1:
        if reading.is_of_several:
            raise ConfigError("by, and several of rank_column, are for one table with the ranks of all recommenders")
        tables: Any = reading.tables_of_seeds(ranks)
    else:
        tables = reading.tables(reading.recommenders(ranks))
    if reading.replacement and not _are_sampled(tables):
        raise ConfigError("--replacement is for ranks among sampled negatives: say how many, with --negatives")
    if not isinstance(tables, dict) or len(tables) < 2:
        raise ConfigError(f"compare takes two recommenders or more, not only {ranks[0]}; or one table and --by")
    return sm.compare(tables, groups=reading.groups_of_results(), **options)


def _are_sampled(tables: Any) -> bool:
    """Return whether tables, by the names of recommenders, or one alone, are sampled ranks."""
    first = next(iter(tables.values())) if isinstance(tables, dict) else tables
    return isinstance(first[0] if isinstance(first, list) else first, sm.SampledRanks)


@cli.command(
    "expect",
    short_help="What sampled metrics would show of exact ranks.",
    epilog="  sampled-metrics expect x.csv y.csv --negatives 100 --metrics recall@10",
)
@click.option("--negatives", "size", type=shared.WHOLE, required=True, help="m: how many would be sampled.")
@reading(shared.BY, shared.CANDIDATES, shared.EXACT, shared.REPLACEMENT)
@shared.METRIC_LIST
@label_option("estimators", ("uncorrected",), known=LINEAR)
@prints_result
def _expect(ranks: tuple[str, ...], reading: Reading, size: int, **options: Any) -> Result:
    """What sampled metrics would show of exact ranks, and whether they would order recommenders wrongly."""
    tables = reading.tables(reading.recommenders(ranks), "exact")
    return sm.expect(tables, negatives=size, replacement=reading.replacement, **options)


@cli.command(
    "plan",
    short_help="What each way to evaluate costs, and what it tells.",
    epilog="  sampled-metrics plan x.csv y.csv --metric recall@10\n"
    "  sampled-metrics plan x.csv --users 20000 --width 0.02\n"
    "  sampled-metrics plan X=x.csv,x-staged.parquet Z=z.csv,z-staged.parquet --scores 500000",
)
@reading(shared.SEEDS, shared.CANDIDATES, shared.EXACT, shared.NEGATIVES, shared.REPLACEMENT, shared.DRAWN)
@click.option(
    "--metric",
    "--metrics",
    "metric",
    type=Labels(),
    default="recall@10",
    show_default=True,
    help="The metric to plan for.",
)
@click.option("--sizes", type=Labels(int), default="20,50,100,300", show_default=True, help="m to try.")
@click.option(
    "--depths", type=Labels(float), default="30,100,300,1000", show_default=True, help="Depths of stages to try."
)
@click.option("--users", type=shared.WHOLE, help="How many users the evaluation has.  [default: those of the pilot]")
@label_option("estimators", PLANNED, known=BOUNDS + LINEAR)
@click.option("--draws", type=shared.WHOLE, default=100, show_default=True, help="Simulated evaluations of each way.")
@click.option("--width", type=float, help="Mark the cheapest way with so narrow an interval.")
@click.option("--scores", type=float, help="Mark the best way with so many scores in all.")
@shared.CONFIDENCE_LEVEL
@prints_result
def _plan(ranks: tuple[str, ...], reading: Reading, sizes: Any, **options: Any) -> Result:
    """What each way to evaluate costs, and what it tells, from the ranks of a pilot.

    RANKS are files, one for each recommender, or NAME=FILE,FILE for the exact and the staged ranks of one. Ranks are
    sampled if --negatives is given or there is a column negatives, and exact if not.
    """
    tables = reading.tables_of_seeds(ranks)
    return sm.plan(tables, negatives=sizes, replacement=reading.replacement, **options)


@cli.command(
    "report",
    short_help="A page with verdict, tables and figures.",
    epilog="  sampled-metrics report old.csv new.csv -o report.html\n"
    "  sampled-metrics report old.csv new.csv -o report.html --negatives 100 --candidates 3541",
)
@ANY_TABLES
@output_option("html file to write")
@shared.MARGIN
@shared.CONFIDENCE_LEVEL
def _report(ranks: tuple[str, ...], reading: Reading, output: str, **options: Any) -> None:
    """One html page about ranks: what was read, a verdict in words, tables and figures.

    Ranks are sampled if --negatives is given or there is a column negatives, and exact if not. With --relevance, RANKS
    are lists. Of more than 10 recommenders, the tables of metrics have all, and the pairs and figures are of the 10
    best by the first metric.
    """
    from sampled_metrics.reporting.report import report  # loads matplotlib

    tables = reading.tables(reading.recommenders(ranks))
    groups = reading.groups_of_results()
    replacement = reading.replacement and not _are_sampled(tables)  # of sampled ranks, the reader has used it
    report(tables, output, groups=groups, replacement=replacement, progress=terminal_progress, **options)
    click.echo(f"{printable(output)} is written")


@cli.command(
    "rank",
    short_help="Exact or sampled ranks, from the factors or scores of a model.",
    epilog="  sampled-metrics rank --users u.npy --items i.npy --training train.csv --held-out test.csv\n\n"
    "  train.csv, test.csv: user,item    rows of u.npy and i.npy, from 0; or ids, with --user-ids and --item-ids",
)
@click.option(
    "--users", type=shared.FILE, help="(users, d) factors: npy, npz, parquet, or csv without header and index."
)
@click.option("--items", type=shared.FILE, help="(items, d) factors, with --users.")
@click.option("--scores", type=shared.FILE, help="(users, items) scores in place of factors; npz may be sparse.")
@shared.TRAINING_AND_HELD_OUT
@click.option("--user-ids", type=shared.FILE, help="An id on each line, in the order of the rows; npy or text.")
@click.option("--item-ids", type=shared.FILE, help="The same for items.")
@click.option("--negatives", type=shared.WHOLE, help="Sample so many, in place of all candidates.")
@click.option("--replacement", is_flag=True, help="A negative may be sampled twice for the same user.")
@click.option("--seed", type=click.IntRange(0), show_default="0", help="Of the negatives and the ties.")
@click.option(
    "-o",
    "--output",
    type=OutputFile(path_type=str, allow_dash=True),
    default="-",
    help="csv, gzip if it ends in .gz, or parquet.  [default: - (stdout)]",
)
def _rank(
    users: str | None,
    items: str | None,
    scores: str | None,
    training: str,
    held_out: str,
    separator: str | None,
    user_ids: str | None,
    item_ids: str | None,
    negatives: int | None,
    replacement: bool,
    seed: int | None,
    output: str,
) -> None:
    """Ranks of held-out items among all items but the training items of the user, or among sampled negatives.

    The result is a csv with the columns user, candidates, above and tied, which evaluate and the others read. With
    --negatives it has the columns user, candidates, negatives and rank.
    """
    if (users is None, items is None, scores is None) not in ((False, False, True), (True, True, False)):
        raise click.UsageError("give --users and --items, or --scores alone")
    if replacement and negatives is None:
        raise click.UsageError("--replacement is for --negatives")
    if seed is not None and negatives is None:
        raise click.UsageError("--seed is for --negatives")
    from sampled_metrics._files import write_table
    from sampled_metrics.ranking.inputs import read_array, read_ids, read_pairs, require_layout

    factors = read_array(scores) if scores else (read_array(str(users)), read_array(str(items)))
    pairs = read_pairs(training, separator)
    test = read_pairs(held_out, separator)
    ids: dict[str, Any] = {
        "user_ids": read_ids(user_ids) if user_ids else None,
        "item_ids": read_ids(item_ids) if item_ids else None,
    }
    matrices: list[tuple[str, Any, tuple[str, ...]]]
    if scores:
        matrices = [(scores, factors, ("user", "item"))]
    else:
        matrices = [(str(users), factors[0], ("user",)), (str(items), factors[1], ("item",))]
    require_layout(matrices, pairs, test, **ids)
    sampled: dict[str, Any] = (
        {} if negatives is None else {"negatives": negatives, "replacement": replacement, "seed": seed or 0}
    )
    with warnings_on_stderr():
        table = (sm.rank if negatives is None else sm.rank_among_negatives)(
            factors,
            pairs,
            test,
            **ids,
            progress=terminal_progress,
            **sampled,
        )
    frame = table.to_frame()
    if output == "-":
        click.echo(frame.to_csv(index=False, lineterminator="\n"), nl=False)
    else:
        write_table(output, frame)


@cli.command(
    "completion",
    short_help="Print what makes a shell complete this.",
    epilog='  eval "$(sampled-metrics completion bash)"    # in ~/.bashrc; zsh and fish likewise',
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def _completion(shell: str) -> None:
    """Print what makes a shell complete this command."""
    completion: Any = get_completion_class(shell)
    click.echo(completion(cli, {}, NAME, "_SAMPLED_METRICS_COMPLETE").source())
