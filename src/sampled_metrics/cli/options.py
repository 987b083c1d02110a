"""Options that several commands have."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

import click

from sampled_metrics._defaults import DEFAULT_METRICS
from sampled_metrics._registry import has_package
from sampled_metrics.checks import MOST
from sampled_metrics.errors import ConfigError, SampledMetricsError, printable

NAME = "sampled-metrics"


class Labels(click.ParamType):  # type: ignore[type-arg]  # generic from click 8.2 on
    """Labels, or numbers of a kind, with commas between them."""

    name = "labels"

    def __init__(self, kind: Callable[[str], Any] = str) -> None:
        self.kind = kind

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[Any, ...]:
        """Return the labels, without spaces around them, or the numbers."""
        if isinstance(value, tuple):
            return value
        labels = [label.strip() for label in str(value).split(",")]
        if "" in labels:
            self.fail(f"{value!r} has an empty label; separate labels with commas")
        try:
            return tuple(map(self.kind, labels))
        except ValueError:
            self.fail(f"must be numbers separated by commas, not {value}")


def whole_range(value: str) -> int | tuple[int, int]:
    """Return a whole number, or the smallest and the largest one with a hyphen between them."""
    whole: Any = WHOLE
    numbers = [whole.convert(text, None, None) for text in value.split("-", 1)]
    return numbers[0] if len(numbers) == 1 else tuple(numbers)


def label_option(
    name: str, default: tuple[str, ...], otherwise: str = "", *, known: tuple[str, ...] = ()
) -> Callable[..., Any]:
    """Return an option that takes labels with commas between them.

    The option has two names, in plural and in singular.

    Args:
        name: the name in plural.
        default: the labels.
        otherwise: says when there is another default.
        known: the labels that there are.
    """
    default_text = ",".join(default)
    value: str | None = default_text
    default_in_help: str | bool = True  # as it is
    if otherwise:
        value = None
        default_in_help = "; ".join(filter(None, (default_text, otherwise)))
    names = (f"--{name}", f"--{name.removesuffix('s')}", name)
    may_be = f": {labels_in_help(known)}" if known else ""
    return click.option(
        *names,
        type=Labels(),
        default=value,
        show_default=default_in_help,
        help=f"With commas between them{may_be}.",
    )


def labels_in_help(estimators: tuple[str, ...]) -> str:
    """Return the labels of estimators as help lists them."""
    return f"{', '.join(estimators)}; another number may take the place of 0.1"


def together(*options: Callable[..., Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return the decorator that gives a command all of these options, in their order."""

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


FILE = click.Path(path_type=str, allow_dash=True)
RANKS = click.argument("ranks", type=FILE, nargs=-1, required=True)
_SEPARATORS = {"tab": "\t", "\\t": "\t"}


def _separator(context: click.Context, option: click.Parameter, text: str | None) -> str | None:
    """Return the character between the fields of a line; None if it is found out."""
    if text is None:
        return None
    separator = _SEPARATORS.get(text, text)
    if len(separator) != 1 or not separator.isascii() or separator in '\n\r"':
        raise ConfigError(f"--separator must be one character or tab, not {separator!r}")
    return separator


SEPARATOR = click.option(
    "--separator",
    metavar="CHARACTER",
    callback=_separator,
    help="Between the fields of a line.  [default: comma, semicolon, tab or bar]",
)
TRAINING_AND_HELD_OUT = together(
    click.option(
        "--training",
        type=FILE,
        required=True,
        help="Users and their items: csv, parquet, or npz (a matrix).",
    ),
    click.option(
        "--held-out", type=FILE, required=True, help="Users and their held-out items, likewise."
    ),
    SEPARATOR,
)
WHOLE = click.IntRange(1, MOST)
METRIC_LIST = label_option("metrics", DEFAULT_METRICS)
CANDIDATES = click.option(
    "--candidates",
    type=WHOLE,
    help="n: how many items an exact evaluation ranks; in place of a column.",
)
NEGATIVES = click.option(
    "--negatives", type=WHOLE, help="m: how many negatives were sampled, unless a column says it."
)
EXACT = click.option(
    "--exact", is_flag=True, help="The ranks are exact, although none comes near n."
)
REPLACEMENT = click.option(
    "--replacement", is_flag=True, help="A negative could be sampled twice for the same user."
)
DRAWN = click.option(
    "--drawn",
    type=click.Choice(["by user", "once", "popularity"]),
    default="by user",
    show_default=True,
    help="Whether the negatives of each user are drawn anew, once for all users, or not uniformly.",
)


LISTS = together(
    label_option("metrics", DEFAULT_METRICS, "mrr in place of auc for lists"),
    click.option(
        "--relevance",
        type=FILE,
        help="Judged items of users: user,item,relevance. RANKS are lists: user,item,score.",
    ),
    click.option(
        "--relevant-from",
        type=float,
        help="The lowest relevant grade, for metrics other than NDCG and DCG.",
    ),
)


READING = together(
    *(
        click.option(f"--{column}-column", metavar="NAME", help=f"The column {column}.")
        for column in ("user", "candidates", "negatives", "item", "score")
    ),
    click.option(
        "--rank-column", metavar="NAME", type=Labels(), help="The column rank, or several: a,b."
    ),
    click.option("--zero-based", is_flag=True, help="Ranks start at 0, not at 1."),
    SEPARATOR,
)

SEEDS = click.option(
    "--seeds", metavar="NAME", help="The column of the seeds, if a recommender has several."
)

BY = together(
    click.option(
        "--by",
        metavar="NAME",
        help="The column that names the recommenders of a table with all of them.",
    ),
    SEEDS,
)

GROUPS = click.option(
    "--groups",
    metavar="NAME|FILE:NAME",
    help="The column of groups of users or held-out items, or the column of a file of users; "
    "each has rows of its own.",
)

CONFIDENCE_LEVEL = click.option(
    "--confidence-level", type=float, default=0.95, show_default=True, help="Of the intervals."
)

COMPARING = together(
    click.option(
        "--margin",
        metavar="NUMBER|PERCENT%",
        help="The smallest difference that matters, such as 0.005 or 2%.",
    ),
    CONFIDENCE_LEVEL,
)
"""The options of `compare` that `report` takes, too."""


class OutputFile(click.Path):
    """A file to write; - is standard output where it is allowed.

    `Command` checks that it can be written.
    """

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the path."""
        if value == "-" and not self.allow_dash:
            self.fail(
                "standard output (-) is not possible here; name a file (./- for a file called -)"
            )
        return str(super().convert(value, param, ctx))


class Command(click.Command):
    """A command that reads files and writes others; the examples of its epilog keep their lines."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; a file to write must be one that can be written and is not read."""
        inputs = _paths(ctx, [option for option in self.params if option.type is FILE])
        if inputs.count("-") > 1:
            raise click.UsageError("-: is given twice, and standard input can be read only once")
        self._require_outputs(ctx, [path for path in inputs if path != "-"])
        return super().invoke(ctx)

    def _require_outputs(self, ctx: click.Context, input_files: list[str]) -> None:
        """Raise an error unless the result can be written, and to no file that is read."""
        from sampled_metrics.file_io import require_writable

        outputs = [option for option in self.params if isinstance(option.type, OutputFile)]
        for path in _paths(ctx, outputs):
            if path != "-":
                require_writable(path, input_files)
        # a figure is drawn beside the result, which is printed then, too
        results = [option for option in outputs if option.name == "output"]
        is_in_file = bool(results) and "-" not in _paths(ctx, results)
        if sys.stdout is None and not is_in_file:  # closed, as by >&-
            raise SampledMetricsError("standard output is closed, and the result would be lost")

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples."""
        if self.epilog:
            formatter.write(f"\nExample:\n{self.epilog}\n")


def _paths(ctx: click.Context, options: list[click.Parameter]) -> list[str]:
    """Return the files that options and arguments were given, those of NAME=FILE,FILE,... too."""
    paths: list[str] = []
    for option in options:
        files = ctx.params[str(option.name)]
        arguments = files if isinstance(files, tuple) else (files,)
        for argument in arguments:
            if argument is not None:
                _, named = named_files(argument)
                paths += named
    return paths


def named_files(argument: str) -> tuple[str | None, list[str]]:
    """Return the name and the files of NAME=FILE,FILE,..., or no name and the file.

    A file that exists may have a = in its name.

    Raises:
        ConfigError: there is no name before =.
    """
    name, equals, paths = argument.partition("=")
    if not equals or os.path.exists(argument):
        return None, [argument]
    if not name.strip():
        raise ConfigError(f"{argument}: needs a name before =")
    return printable(name.strip()), paths.split(",")


def output_option(text: str) -> Callable[..., Any]:
    """Return the option of a file that a command must be told to write."""
    return click.option(
        "-o",
        "--output",
        type=OutputFile(dir_okay=False, path_type=str),
        required=True,
        help=f"The {text}.",
    )


class FigureFile(OutputFile):
    """A file whose ending says how a figure is written."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the path; its ending is that of a format."""
        if not has_package("reporting"):
            raise ConfigError("--plot: sampled_metrics.reporting is not installed")
        from sampled_metrics.reporting.drawing import check_ending  # loads matplotlib

        check_ending(value)
        return super().convert(value, param, ctx)
