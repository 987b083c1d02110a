"""How a command prints its result."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from sampled_metrics.cli.options import FigureFile, together
from sampled_metrics.errors import Remark, printable

# pandas and what needs it are imported where they are used, so that help comes at once
if TYPE_CHECKING:
    from sampled_metrics.core.evaluation.result import Result

FAILED = 3
"""The exit code of a result that is not as wanted."""

_FORMS = {
    "json": "Print rows and remarks as JSON.",
    "csv": "Print csv, remarks on stderr.",
    "latex": "Print a LaTeX table, for the package booktabs.",
}

_UNDECIDED = {"undecided", "no-verdict", "undefined"}
"""The kinds of findings for which --fail-if-undecided exits with 3."""

FAILS = together(
    click.option(
        "--fail-if-undecided", is_flag=True, help="Exit with 3 if a pair is undecided by a metric."
    ),
    click.option(
        "--fail-if-worse",
        "fail_if_worse",
        metavar="NAME",
        multiple=True,
        help="Exit with 3 if this recommender is worse than another one by a metric.",
    ),
)
"""Options of a command that compares, for a job that must stop where a result is not as wanted."""


def _print(result: Result, form: str) -> None:
    """Print a result as json, csv or latex, or as a table for a terminal."""
    if form == "json":
        content = {
            "recommenders": list(result.setting.names),
            "remarks": list(result.remarks),
            "findings": [finding.plain() for finding in result.findings],
            "rows": result.plain_rows(),
        }
        click.echo(json.dumps(content, indent=2))
    elif form == "csv":
        for caution in result.cautions:
            click.echo(caution, err=True)
        click.echo(result.to_csv(index=False, lineterminator="\n"), nl=False)
        for remark in result.further_remarks:
            click.echo(remark, err=True)
    elif form == "latex":
        click.echo(result.to_latex())
    else:
        cautions = "".join(f"{caution}\n\n" for caution in result.cautions)
        header, *lines = str(result).removeprefix(cautions).split("\n")
        bold_header = click.style(header, bold=True)  # which is plain where there is no terminal
        click.echo("\n".join([cautions + bold_header, *lines]))


@contextmanager
def warnings_on_stderr() -> Iterator[None]:
    """Write each warning at once, in a line on stderr.

    All remarks of the library are written, and the other warnings that Python shows.
    """

    def say(message: Warning | str, *_: Any, **__: Any) -> None:
        click.echo(printable(str(message)), err=True)

    with warnings.catch_warnings():
        warnings.simplefilter("always", Remark)
        warnings.showwarning = say
        yield


def _require_names(result: Result, names: Sequence[str]) -> None:
    """Raise an error of usage unless these are recommenders of a result."""
    unknown = [name for name in names if name not in result.setting.names]
    if unknown:
        raise click.UsageError(
            f"--fail-if-worse: there is no recommender {unknown[0]}; it may be "
            f"{', '.join(result.setting.names)}"
        )


def _has_failed(result: Result, fails_if_undecided: bool, may_not_be_worse: Sequence[str]) -> bool:
    """Return whether a result fails what the command's options ask for."""
    for finding in result.findings:
        if fails_if_undecided and finding.kind in _UNDECIDED:
            return True
        # of a decided pair, the second name is the worse recommender
        if finding.kind == "better" and finding.names[1] in may_not_be_worse:
            return True
    return False


def prints_result(command: Callable[..., Result]) -> Callable[..., None]:
    """Give a command that returns a result the options of how to print it."""

    @wraps(command)
    def with_output(plot: str | None, **arguments: Any) -> None:
        forms = [form for form in _FORMS if arguments.pop(form)]
        if len(forms) > 1:
            raise click.UsageError(f"give one of --{forms[0]} and --{forms[1]}")
        fails_if_undecided = arguments.pop("fail_if_undecided", False)
        may_not_be_worse = arguments.pop("fail_if_worse", ())
        result = command(**arguments)
        _require_names(result, may_not_be_worse)
        if plot is not None:
            result.plot(plot)
        _print(result, next(iter(forms), ""))
        if _has_failed(result, fails_if_undecided, may_not_be_worse):
            raise click.exceptions.Exit(FAILED)

    return together(
        click.option(
            "--plot",
            type=FigureFile(dir_okay=False, path_type=str),
            metavar="FILE",
            help="Draw it: .svg, .png or .pdf.",
        ),
        *(click.option(f"--{form}", is_flag=True, help=text) for form, text in _FORMS.items()),
    )(with_output)
