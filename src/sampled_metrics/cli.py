"""The command `sampled-metrics`: the functions of the library over files."""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import get_completion_class

import sampled_metrics as sm
from sampled_metrics._defaults import ESTIMATORS, KNOWN, LINEAR, METRICS, PLANNED
from sampled_metrics._progress import terminal_progress
from sampled_metrics.errors import DataError, SampledMetricsError

if TYPE_CHECKING:  # pandas and what needs it are imported where they are used, so that help comes at once
    from sampled_metrics.evaluation.result import Result
    from sampled_metrics.ranks.frames import Columns

NAME = "sampled-metrics"


def main(arguments: list[str] | None = None) -> None:
    """Run the command; exit with 0 when done, 2 on bad usage or input, which is said in one line on stderr."""
    code: Any = None
    try:
        code = cli.main(arguments, prog_name=NAME, standalone_mode=False)
    except click.Abort:
        _fail("interrupted", 130)
    except click.ClickException as error:
        _fail(error.format_message())
    except SampledMetricsError as error:
        _fail(str(error))
    except MemoryError as error:
        _fail(f"there is not enough memory for this: {error or 'it is too large'}")
    except SystemExit:  # click and rich leave so when whoever read the output has seen enough
        return
    except OSError as error:
        sys.stdout = None  # what it still holds cannot be written either
        _fail(f"the output cannot be written: {error.strerror}")
    if code:
        sys.exit(code)


def _fail(message: str, code: int = 2) -> None:
    sys.stderr.write(f"error: {' '.join(message.split())}\n")
    sys.exit(code)


# --- what the commands share ------------------------------------------------------------------------------------------


class _Labels(click.ParamType):  # type: ignore[type-arg]  # generic from click 8.2 on
    """Labels with commas between them."""

    name = "labels"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, ...]:
        if isinstance(value, tuple):
            return value
        labels = tuple(label.strip() for label in str(value).split(","))
        if "" in labels:
            self.fail(f"{value!r} has an empty label; labels stand with commas between them")
        return labels


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


class _Formatted(click.Command):
    """A command whose epilog, the examples, keeps its lines."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        if self.epilog:
            formatter.write(f"\nExample:\n{self.epilog}\n")


def _labels(
    name: str, default: tuple[str, ...], otherwise: str = "", *, known: tuple[str, ...] = ()
) -> Callable[..., Any]:
    """Return an option that takes labels with commas between them, by its name in plural and in singular.

    Args:
        name: the name in plural.
        default: the labels.
        otherwise: says when there is another default.
        known: the labels that there are.
    """
    text = ",".join(default)
    value, shown = (None, f"{text}; {otherwise}") if otherwise else (text, True)
    names, may_be = (f"--{name}", f"--{name.removesuffix('s')}", name), f": {_listed(known)}" if known else ""
    return click.option(
        *names, type=_Labels(), default=value, show_default=shown, help=f"With commas between them{may_be}."
    )


def _listed(estimators: tuple[str, ...]) -> str:
    return f"{', '.join(estimators)}; 0.1 may be another number"


def _options(*options: Callable[..., Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


FILE = click.Path(path_type=str, allow_dash=True)
WHOLE = click.IntRange(1, 10**18 - 1)  # as many digits as a csv may have
METRIC_LIST = _labels("metrics", METRICS)
CANDIDATES = click.option(
    "--candidates", type=WHOLE, help="n: how many items an exact evaluation ranks, unless a column says it."
)
NEGATIVES = click.option("--negatives", type=WHOLE, help="m: how many negatives were sampled, unless a column says it.")
EXACT = click.option("--exact", is_flag=True, help="The ranks are exact, although none comes near n.")
REPLACEMENT = click.option("--replacement", is_flag=True, help="A negative could be sampled twice for the same user.")


LISTS = _options(
    _labels("metrics", METRICS, "mrr in place of auc for lists"),
    click.option(
        "--relevance", type=FILE, help="Judged items of users: user,item,relevance. RANKS are lists: user,item,score."
    ),
    click.option("--relevant-from", type=float, help="The lowest relevant grade, for metrics other than NDCG and DCG."),
)


def _keep(context: click.Context, option: click.Parameter, value: Any) -> None:
    """Keep how files are read where `_read` finds it."""
    context.meta[f"{NAME}.{option.name}"] = value


READING = _options(
    *(
        click.option(
            f"--{column}-column", metavar="NAME", expose_value=False, callback=_keep, help=f"The column {column}."
        )
        for column in ("user", "candidates", "negatives")
    ),
    click.option("--rank-column", metavar="NAME", type=_Labels(), help="The column rank, or several: a,b."),
    click.option("--zero-based", is_flag=True, help="Ranks start at 0, not at 1."),
    click.option(
        "--separator",
        metavar="SIGN",
        expose_value=False,
        callback=_keep,
        help="Between the fields of a line.  [default: comma, semicolon, tab or bar, as noticed]",
    ),
)

BY = click.option("--by", metavar="NAME", help="The column that names the recommenders of a table with all of them.")

CONFIDENCE_LEVEL = click.option(
    "--confidence-level", type=float, default=0.95, show_default=True, help="Of the intervals."
)
RESAMPLES = click.option("--n-resamples", type=int, default=1000, show_default=True, help="Bootstrap samples.")
SEED = click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Of the bootstrap.")


def _intervals(default: str | None) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return the options of the intervals, with the default method of the command."""
    return _options(
        CONFIDENCE_LEVEL,
        click.option(
            "--method",
            default=default,
            show_default=default or "delta; bootstrap for estimators that are not linear",
            metavar="delta|bootstrap",
            help="How intervals are computed.",
        ),
        RESAMPLES,
        SEED,
    )


class _OutputFile(click.Path):
    """A file to write, in a folder that exists; - is standard output where it is allowed."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        from sampled_metrics._files import require_folder

        path = str(super().convert(value, param, ctx))
        if path != "-":
            require_folder(path)
        return path


class _FigureFile(_OutputFile):
    """A file whose ending says how a figure is written."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        from sampled_metrics.rendering.drawing import check_ending  # loads matplotlib

        check_ending(value)
        return super().convert(value, param, ctx)


def _keep_form(context: click.Context, option: click.Parameter, value: bool) -> None:
    """Keep how a result is printed where `_show` finds it."""
    if value and context.meta.setdefault(f"{NAME}.form", option.name) != option.name:
        raise click.UsageError(f"give one of --{context.meta[f'{NAME}.form']} and --{option.name}")


OUTPUT = _options(
    click.option(
        "--plot", type=_FigureFile(dir_okay=False, path_type=str), metavar="FILE", help="Draw it: .svg, .png or .pdf."
    ),
    *(
        click.option(f"--{form}", is_flag=True, expose_value=False, callback=_keep_form, help=shown)
        for form, shown in (
            ("json", "Print rows and remarks as JSON."),
            ("csv", "Print csv, remarks on stderr."),
            ("latex", "Print a LaTeX table, for the package booktabs."),
        )
    ),
)


def _read(path: str) -> Columns:
    from sampled_metrics.ranks.files import read_columns, read_stream

    given = click.get_current_context().meta
    separator = given[f"{NAME}.separator"]
    if separator is not None:
        separator = {"tab": "\t", "\\t": "\t"}.get(separator, separator)
        if len(separator) != 1 or not separator.isascii():
            raise DataError(f"--separator must be one sign, or tab, not {separator!r}")
    wanted = {column: given[f"{NAME}.{column}_column"] for column in ("user", "candidates", "negatives")}
    names = {column: name for column, name in wanted.items() if name}
    params = click.get_current_context().params
    kept = [*names.values(), *(params.get("rank_column") or ()), *([params["by"]] if params.get("by") else ())]
    if path == "-":
        if sys.stdin is None:
            raise DataError("stdin: is closed")
        columns = read_stream(sys.stdin.buffer, "stdin", separator, kept)
    else:
        columns = read_columns(path, separator, kept)
    return columns.named(names)


def _one(argument: str) -> Columns | dict[str, Columns]:
    """Return the table of FILE, or the recommender of NAME=FILE."""
    name, paths = _named(argument)
    if len(paths) > 1:
        raise DataError(f"{argument}: several files are the seeds of a recommender, which compare takes")
    return _read(paths[0]) if name is None else {name: _read(paths[0])}


def _tables(arguments: tuple[str, ...]) -> Columns | dict[str, Columns]:
    """Return the tables of FILE or NAME=FILE by recommender, or one table that has the ranks of several."""
    params = click.get_current_context().params
    if len(arguments) == 1 and (params.get("by") or len(params.get("rank_column") or ()) > 1):
        columns = _one(arguments[0])
        if isinstance(columns, dict):
            raise DataError(f"{arguments[0]}: a table of several recommenders has no name of its own")
        return columns
    found = _seeds(arguments)
    for name, tables in found.items():
        if len(tables) > 1:
            raise DataError(f"{name}: several files are the seeds of a recommender, which compare takes")
    return {name: tables[0] for name, tables in found.items()}


def _seeds(arguments: tuple[str, ...]) -> dict[str, list[Columns]]:
    """Return the tables of the seeds of recommenders, FILE or NAME=FILE,FILE,..., by name."""
    named = [_named(each) for each in arguments]
    names = iter(_names(tuple(paths[0] for name, paths in named if name is None)))
    tables: dict[str, list[Columns]] = {}
    for name, paths in named:
        name = next(names) if name is None else name
        if name in tables:
            raise DataError(f"{name}: is given twice")
        tables[name] = [_read(path) for path in paths]
    return tables


def _named(argument: str) -> tuple[str | None, list[str]]:
    """Return the name and the files of NAME=FILE,FILE,..., or no name and the file; a file may have a = in its name."""
    name, equals, paths = argument.partition("=")
    if not equals or Path(argument).exists():
        return None, [argument]
    if not name.strip():
        raise DataError(f"{argument}: has no name before the sign =")
    return name, paths.split(",")


def _names(paths: tuple[str, ...]) -> list[str]:
    """Name recommenders by their files, without folders and endings, or by their paths if these names repeat."""
    names = ["stdin" if path == "-" else Path(path).name.split(".")[0] or path for path in paths]
    if len(set(names)) < len(names):
        names = list(paths)
    if len(set(names)) < len(names):
        raise DataError(f"{next(name for name in names if names.count(name) > 1)}: is given twice")
    return names


def _show(result: Result, plot: str | None) -> None:
    form = click.get_current_context().meta.get(f"{NAME}.form")
    if plot is not None:
        result.plot(plot)
    if form == "json":
        found = {"rows": result.plain_rows(), "remarks": list(result.remarks)}
        click.echo(json.dumps(found, indent=2, ensure_ascii=False))
        return
    if form == "csv":
        click.echo(result.to_csv(index=False, lineterminator="\n"), nl=False)
        for remark in result.remarks:
            click.echo(remark, err=True)
        return
    if form == "latex":
        click.echo(result.latex())
        return
    header, *rest = str(result).split("\n")
    click.echo("\n".join([click.style(header, bold=True), *rest]))  # plain where it is no terminal


# --- the commands -----------------------------------------------------------------------------------------------------


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


cli.command_class = _Formatted


@cli.command(
    "evaluate",
    short_help="Exact metrics of ranks, with intervals.",
    epilog="  sampled-metrics evaluate ranks.csv --metrics recall@10,ndcg@10,auc\n"
    "  sampled-metrics evaluate lists.csv --relevance judged.csv --metrics map,ndcg@10\n\n"
    "  ranks.csv: user,candidates,rank    or    user,candidates,above,tied    or one rank per line and --candidates",
)
@click.argument("ranks", type=FILE)
@READING
@BY
@LISTS
@CANDIDATES
@EXACT
@_intervals("delta")
@OUTPUT
def _evaluate(ranks: str, relevance: str | None, plot: str | None, **options: Any) -> None:
    """Exact metrics of ranks among all candidates, or of ranked lists, with intervals."""
    judged = _read(relevance) if relevance else None
    _show(sm.evaluate(_one(ranks), relevance=judged, progress=terminal_progress, **options), plot)


@cli.command(
    "correct",
    short_help="The true metrics behind sampled ranks.",
    epilog="  sampled-metrics correct mine.csv --candidates 3541 --negatives 100 --metrics recall@10,ndcg@10\n"
    "  sampled-metrics correct --value hit-rate@10=0.62 --negatives 99 --candidates 20000 --users 6040\n\n"
    "  mine.csv: a column rank, from 1 to 101 here, or one rank per line; user, candidates, negatives if they differ",
)
@click.argument("ranks", type=FILE, required=False)
@READING
@BY
@CANDIDATES
@NEGATIVES
@click.option(
    "--value",
    "values",
    multiple=True,
    metavar="METRIC=VALUE",
    help="A published recall@k or hit-rate@k, in place of RANKS; again for another k.",
)
@click.option("--users", type=WHOLE, help="How many users a published value is of.")
@_labels("estimators", ESTIMATORS, known=KNOWN)
@METRIC_LIST
@REPLACEMENT
@_intervals(None)
@OUTPUT
def _correct(ranks: str | None, values: tuple[str, ...], users: int | None, plot: str | None, **options: Any) -> None:
    """The true metrics behind ranks among sampled negatives, or behind published values, with intervals."""
    if not values:
        if ranks is None or users is not None:
            raise click.UsageError("give RANKS, or --value and --users")
        _show(sm.correct(_one(ranks), progress=terminal_progress, **options), plot)
        return
    context = click.get_current_context()
    kept = ["negatives", "candidates", "replacement", "estimators", "metrics", "confidence_level", "seed"]
    for option in context.command.params:
        given = context.get_parameter_source(str(option.name)) is click.core.ParameterSource.COMMANDLINE
        if given and option.name not in (*kept, "values", "users", "ranks", "json", "csv", "latex"):
            raise click.UsageError(f"{option.opts[0]} is for RANKS, not for --value")
    if ranks is not None or users is None or None in (options["negatives"], options["candidates"]):
        raise click.UsageError("--value takes --negatives, --candidates and --users, and no RANKS")
    pairs = [each.rpartition("=") for each in values]
    if any(not label for label, _, _ in pairs) or len({label for label, _, _ in pairs}) < len(pairs):
        raise click.UsageError("--value is METRIC=VALUE, such as hit-rate@10=0.62, once for each metric")
    if context.get_parameter_source("metrics") is click.core.ParameterSource.DEFAULT:
        kept.remove("metrics")  # by default those of the values
    by_label = {label: number for label, _, number in pairs}
    _show(sm.correct_value(by_label, users=users, **{name: options[name] for name in kept}), None)


@cli.command(
    "compare",
    short_help="Which of two recommenders or more are better than others.",
    epilog="  sampled-metrics compare old.csv new.csv --metrics recall@10\n"
    "  sampled-metrics compare old.csv new.csv --negatives 100 --candidates 3541\n"
    "  sampled-metrics compare x.csv y.csv Z=z-seed-1.csv,z-seed-2.csv,z-seed-3.csv\n"
    "  sampled-metrics compare old-lists.csv new-lists.csv --relevance judged.csv --metrics map",
)
@click.argument("ranks", type=FILE, nargs=-1, required=True)
@READING
@BY
@LISTS
@CANDIDATES
@EXACT
@NEGATIVES
@click.option(
    "--estimator",
    "--estimators",
    "estimator",
    type=_Labels(),
    help=f"The one that corrects sampled ranks: {_listed(KNOWN)}.  [default: decreasing]",
)
@REPLACEMENT
@_intervals(None)
@OUTPUT
def _compare(ranks: tuple[str, ...], relevance: str | None, plot: str | None, **options: Any) -> None:
    """Which recommenders are better than others, paired by user.

    RANKS are files, one for each of two recommenders or more, or NAME=FILE,FILE,... for the seeds of one, or one table
    of all recommenders, with --by or several of --rank-column. Ranks are sampled if --negatives is given or there is a
    column negatives, and exact if not. With --relevance, RANKS are lists.
    """
    judged = _read(relevance) if relevance else None
    tables: Any = _seeds(ranks) if len(ranks) > 1 else _tables(ranks)
    if isinstance(tables, dict) and len(tables) < 2:
        raise DataError(f"compare takes two recommenders or more, not only {ranks[0]}; or one table and --by")
    _show(sm.compare(tables, relevance=judged, progress=terminal_progress, **options), plot)


@cli.command(
    "expect",
    short_help="What sampled metrics would show of exact ranks.",
    epilog="  sampled-metrics expect x.csv y.csv --negatives 100 --metrics recall@10",
)
@click.argument("ranks", type=FILE, nargs=-1, required=True)
@READING
@BY
@click.option("--negatives", type=WHOLE, required=True, help="m: how many would be sampled.")
@METRIC_LIST
@_labels("estimators", ("uncorrected",), known=LINEAR)
@CANDIDATES
@EXACT
@REPLACEMENT
@OUTPUT
def _expect(ranks: tuple[str, ...], plot: str | None, **options: Any) -> None:
    """What sampled metrics would show of exact ranks, and whether they would order recommenders wrongly."""
    _show(sm.expect(_tables(ranks), **options), plot)


@cli.command(
    "plan",
    short_help="How many negatives, or users, it takes.",
    epilog="  sampled-metrics plan x.csv y.csv --metric recall@10 --probability 0.95",
)
@click.argument("ranks", type=FILE, nargs=-1, required=True)
@READING
@click.option(
    "--metric",
    "--metrics",
    "metric",
    type=_Labels(),
    default="recall@10",
    show_default=True,
    help="The metric by which to order.",
)
@click.option(
    "--probability", type=float, default=0.95, show_default=True, help="Wanted probability of the right order."
)
@_labels("estimators", PLANNED, known=("decreasing", "free", "convex", *LINEAR))
@CANDIDATES
@EXACT
@REPLACEMENT
@OUTPUT
def _plan(ranks: tuple[str, ...], plot: str | None, **options: Any) -> None:
    """How many negatives, and users, it takes to order two recommenders rightly; from exact ranks."""
    tables = _tables(ranks)
    if not isinstance(tables, dict) or len(tables) != 2:
        raise click.UsageError("plan takes the ranks of two recommenders, a file of each")
    first, second = tables
    _show(sm.plan(tables[first], tables[second], names=(first, second), progress=terminal_progress, **options), plot)


@cli.command(
    "report",
    short_help="A page with verdict, tables and figures.",
    epilog="  sampled-metrics report old.csv new.csv -o report.html\n"
    "  sampled-metrics report old.csv new.csv -o report.html --negatives 100 --candidates 3541",
)
@click.argument("ranks", type=FILE, nargs=-1, required=True)
@READING
@click.option(
    "-o", "--output", type=_OutputFile(dir_okay=False, path_type=str), required=True, help="The html file to write."
)
@BY
@LISTS
@CANDIDATES
@EXACT
@NEGATIVES
@REPLACEMENT
@CONFIDENCE_LEVEL
@RESAMPLES
@SEED
def _report(ranks: tuple[str, ...], output: str, relevance: str | None, **options: Any) -> None:
    """One html page about ranks: what was read, a verdict in words, tables and figures.

    Ranks are sampled if --negatives is given or there is a column negatives, and exact if not. With --relevance, RANKS
    are lists.
    """
    from sampled_metrics.reporting import report  # loads matplotlib

    report(
        _tables(ranks),
        output,
        relevance=_read(relevance) if relevance else None,
        progress=terminal_progress,
        **options,
    )
    click.echo(f"{output} is written")


@cli.command(
    "rank",
    short_help="Exact or sampled ranks, from the factors or scores of a model.",
    epilog="  sampled-metrics rank --users u.npy --items i.npy --training train.csv --held-out test.csv\n\n"
    "  train.csv, test.csv: user,item    rows of u.npy and i.npy, from 0; or ids, with --user-ids and --item-ids",
)
@click.option("--users", type=FILE, help="(users, d) factors: npy, npz, csv or parquet.")
@click.option("--items", type=FILE, help="(items, d) factors, with --users.")
@click.option("--scores", type=FILE, help="(users, items) scores in place of factors; npz may be sparse.")
@click.option("--training", type=FILE, required=True, help="Users and their items: csv, parquet, or npz (a matrix).")
@click.option("--held-out", type=FILE, required=True, help="Users and their held-out items, likewise.")
@click.option("--user-ids", type=FILE, help="An id on each line, in the order of the rows; npy or text.")
@click.option("--item-ids", type=FILE, help="The same for items.")
@click.option("--negatives", type=WHOLE, help="Sample so many, in place of all candidates.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Of the negatives and the ties.")
@click.option(
    "-o",
    "--output",
    type=_OutputFile(path_type=str, allow_dash=True),
    default="-",
    help="csv, gzip if it ends in .gz, or parquet.  [default: - (stdout)]",
)
def _rank(
    users: str | None,
    items: str | None,
    scores: str | None,
    training: str,
    held_out: str,
    user_ids: str | None,
    item_ids: str | None,
    negatives: Any,
    seed: int,
    output: str,
) -> None:
    """Ranks of held-out items among all items but the training items of the user, or among sampled negatives.

    The result is a csv with the columns user, candidates, above and tied, which evaluate and the others read. With
    --negatives it has the columns user, candidates, negatives and rank.
    """
    if (users is None, items is None, scores is None) not in ((False, False, True), (True, True, False)):
        raise click.UsageError("give --users and --items, or --scores alone")
    from sampled_metrics._files import write_table
    from sampled_metrics.ranking.files import read_array, read_ids, read_pairs

    factors = read_array(scores) if scores else (read_array(str(users)), read_array(str(items)))
    pairs, ids = read_pairs(training), read_ids(item_ids) if item_ids else None
    sampled = {} if negatives is None else {"negatives": negatives, "seed": seed}
    with warnings.catch_warnings(record=True) as remarks:
        warnings.simplefilter("always")
        table = (sm.rank if negatives is None else sm.rank_among_negatives)(
            factors,
            pairs,
            read_pairs(held_out),
            user_ids=read_ids(user_ids) if user_ids else None,
            item_ids=ids,
            progress=terminal_progress,
            **sampled,
        )
    for remark in remarks:
        click.echo(str(remark.message), err=True)
    frame = table.to_frame() if isinstance(table, sm.RankTable) else table
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
    found = get_completion_class(shell)
    if found is None:
        raise click.UsageError(f"no completion for {shell}")
    click.echo(found(cli, {}, NAME, "_SAMPLED_METRICS_COMPLETE").source())
