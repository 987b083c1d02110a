"""The files that are given to a command, and what it prints."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sampled_metrics.cli.options import NAME
from sampled_metrics.errors import DataError

if TYPE_CHECKING:  # pandas and what needs it are imported where they are used, so that help comes at once
    from sampled_metrics.evaluation.result import Result
    from sampled_metrics.ranks.frames import Columns


def read(path: str) -> Columns:
    """Read a file, or standard input, by the options of the command; columns that are not used may be left out."""
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
    return replace(columns.named(names), refuses_shallow=True)


def table_of(argument: str) -> Columns | dict[str, Columns]:
    """Return the table of FILE, or the recommender of NAME=FILE."""
    name, paths = named_files(argument)
    if len(paths) > 1:
        raise DataError(f"{argument}: several files are the seeds of a recommender, which compare takes")
    return read(paths[0]) if name is None else {name: read(paths[0])}


def tables_of(arguments: tuple[str, ...]) -> Columns | dict[str, Columns]:
    """Return the tables of FILE or NAME=FILE by recommender, or one table that has the ranks of several."""
    params = click.get_current_context().params
    if len(arguments) == 1 and (params.get("by") or len(params.get("rank_column") or ()) > 1):
        columns = table_of(arguments[0])
        if isinstance(columns, dict):
            raise DataError(f"{arguments[0]}: a table of several recommenders has no name of its own")
        return columns
    found = seeds_of(arguments)
    for name, tables in found.items():
        if len(tables) > 1:
            raise DataError(f"{name}: several files are the seeds of a recommender, which compare takes")
    return {name: tables[0] for name, tables in found.items()}


def seeds_of(arguments: tuple[str, ...]) -> dict[str, list[Columns]]:
    """Return the tables of the seeds of recommenders, FILE or NAME=FILE,FILE,..., by name."""
    named = [named_files(each) for each in arguments]
    names = iter(_names(tuple(paths[0] for name, paths in named if name is None)))
    tables: dict[str, list[Columns]] = {}
    for name, paths in named:
        name = next(names) if name is None else name
        if name in tables:
            raise DataError(f"{name}: is given twice")
        tables[name] = [read(path) for path in paths]
    return tables


def named_files(argument: str) -> tuple[str | None, list[str]]:
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


def show(result: Result, plot: str | None) -> None:
    """Print a result in the form that was asked for, and draw it if there is a file to draw into."""
    form = click.get_current_context().meta.get(f"{NAME}.form")
    if plot is not None:
        result.plot(plot)
    if form == "json":
        found = {"remarks": list(result.remarks), "rows": result.plain_rows()}
        click.echo(json.dumps(found, indent=2, ensure_ascii=False))
        return
    if form == "csv":
        for caution in result.cautions:
            click.echo(caution, err=True)
        click.echo(result.to_csv(index=False, lineterminator="\n"), nl=False)
        for remark in result.further_remarks:
            click.echo(remark, err=True)
        return
    if form == "latex":
        click.echo(result.latex())
        return
    above = "".join(f"{caution}\n\n" for caution in result.cautions)
    header, *rest = str(result).removeprefix(above).split("\n")
    click.echo("\n".join([above + click.style(header, bold=True), *rest]))  # plain where it is no terminal
