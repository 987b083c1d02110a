"""The commands of staged ranks."""

from __future__ import annotations

import importlib
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

import sampled_metrics as sm
from sampled_metrics.checks import shown
from sampled_metrics.cli.options import FILE, TRAINING_AND_HELD_OUT, WHOLE, Command, output_option
from sampled_metrics.cli.output import warnings_on_stderr
from sampled_metrics.errors import ConfigError, DataError, SampledMetricsError


def depth(value: str) -> float | None:
    """Return a number; None for none."""
    if value == "none":
        return None
    try:
        number = float(value)
    except ValueError:
        raise click.BadParameter(f"{value!r} must be a number or none") from None
    return int(number) if number.is_integer() else number


def part(value: str) -> tuple[int, int]:
    """Return 2 and 8 of 2/8: the number of a part, from 1, and the number of equal parts."""
    number, slash, parts = value.partition("/")
    are_whole = slash and all(text.isdecimal() and len(text) < 16 for text in (number, parts))
    if not are_whole or not 1 <= int(number) <= int(parts):
        raise click.BadParameter(f"{shown(value)} is not a part such as 2/8, the second of eight")
    return int(number), int(parts)


@click.command(
    "stages",
    cls=Command,
    short_help="Few scores for each user, for unbiased metrics of a ranker that is expensive to "
    "score.",
    epilog="  sampled-metrics stages --score mine:score --ranker model-7 --training train.csv "
    "--held-out test.csv --item-ids items.txt -o mine.npz\n"
    "  sampled-metrics evaluate mine.npz --metrics recall@10,ndcg@10\n\n"
    "  mine.py: def score(users, items): ...   # arrays of ids of the same length; returns a "
    "score for each pair",
)
@click.option(
    "--score",
    metavar="MODULE:FUNCTION",
    required=True,
    help="score(users, items) -> (batch,): scores of pairs.",
)
@click.option(
    "--ranker",
    required=True,
    help="The name of what gives the scores, such as a model and its date. A run goes on from "
    "OUTPUT if it has the same name.",
)
@TRAINING_AND_HELD_OUT
@click.option(
    "--item-ids",
    type=FILE,
    help="The id of each item on a line, or npy; all items of the catalogue.",
)
@click.option("--user-ids", type=FILE, help="The same for users.  [default: those of the files]")
@click.option(
    "--order",
    default="popularity",
    show_default=True,
    help="Of candidates: popularity, or a file of numbers.",
)
@click.option(
    "-k", type=WHOLE, default=10, show_default=True, help="The largest cut-off of the metrics."
)
@click.option(
    "--depth",
    type=depth,
    default="100",
    show_default=True,
    help="About how many candidates, or none: exact.",
)
@click.option(
    "--pairs-per-call", type=WHOLE, default=1024, show_default=True, help="Pairs in a call."
)
@click.option("--concurrency", type=WHOLE, default=1, show_default=True, help="Calls at a time.")
@click.option(
    "--seed",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="The same for all recommenders.",
)
@click.option(
    "--part", type=part, help="A part of the users, such as 2/8; the command concat joins parts."
)
@output_option("file to write, .npz")
def stages(
    score: str,
    training: str,
    held_out: str,
    separator: str | None,
    item_ids: str | None,
    user_ids: str | None,
    order: str,
    part: tuple[int, int] | None,
    ranker: str,
    pairs_per_call: int,
    concurrency: int,
    output: str,
    **options: Any,
) -> None:
    """Rank held-out items by few scores for each user.

    Candidates are scored until k of them are above the held-out item. A share of the users goes on
    from 10, 30, 100, 300, ... candidates. Each answer is kept in OUTPUT.journal at once: a run that
    was stopped goes on if it is called again, and no pair is scored twice. A larger --depth goes on
    from OUTPUT, too; a smaller one leaves it as it is. A file with another --ranker is refused;
    nothing else tells rankers apart. evaluate, compare and report take the file, and plan that of
    some users by --depth none.
    """
    import numpy as np
    import pandas as pd

    from sampled_metrics.core.data.ids import as_text
    from sampled_metrics.ranking.inputs import (
        is_table,
        read_array,
        read_ids,
        read_pairs,
        table_of_pairs,
    )

    function = _function(score)
    pairs: Any = read_pairs(training, separator)
    test = read_pairs(held_out, separator)
    users = read_ids(user_ids) if user_ids else None
    if users is None and is_table(pairs) and is_table(test):
        training_users = table_of_pairs(pairs, training)["user"]
        held_out_users = table_of_pairs(test, held_out)["user"]
        user_column = pd.concat([training_users, held_out_users])
        users = user_column[~as_text(user_column).duplicated()].to_numpy()
    chosen = None
    if part is not None:
        number, parts = part
        chosen = slice(number - 1, None, parts)  # such as every eighth: a part is like the whole
    with warnings_on_stderr():
        try:
            scorer = sm.Ranker(
                function, name=ranker, pairs_per_call=pairs_per_call, concurrency=concurrency
            )
            ranks = sm.staged_ranks(
                scorer,
                pairs,
                test,
                order=order if order == "popularity" else np.squeeze(read_array(order)),
                users=chosen,
                user_ids=users,
                item_ids=read_ids(item_ids) if item_ids else None,
                file=output,
                **options,
            )
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # whatever the function raises
            if isinstance(error.__context__, BrokenPipeError):  # nobody reads what a terminal shows
                raise
            raise _error_of_run(error, score) from None
    click.echo(f"{output}: {ranks}")


def _error_of_run(error: BaseException, score: str) -> SampledMetricsError:
    """Return an error with its notes in a line, and with --score if the function raised it."""
    message = (
        str(error)
        if isinstance(error, SampledMetricsError)
        else f"--score {score}: {_cause(error)}"
    )
    notes = getattr(error, "__notes__", ())
    kind = ConfigError if isinstance(error, ConfigError) else DataError
    return kind("; ".join([message, *notes]))


@click.command(
    "concat",
    cls=Command,
    short_help="Join staged ranks of parts of the users.",
    epilog="  sampled-metrics concat part1.npz part2.npz -o all.npz",
)
@click.argument("parts", type=FILE, nargs=-1, required=True)
@output_option("file to write, .npz")
def concat(parts: tuple[str, ...], output: str) -> None:
    """Join staged ranks of parts of the users, which stages --part has written, in one file."""
    ranks = sm.StagedRanks.concat([sm.StagedRanks.read(part) for part in parts])
    ranks.write(output)
    click.echo(f"{output}: {ranks}")


def _function(name: str) -> Callable[..., Any]:
    """Import a function by MODULE:FUNCTION, from the current folder or what is installed."""
    module, colon, function = name.partition(":")
    if not (module and colon and function):
        raise ConfigError(f"--score must be MODULE:FUNCTION, such as mine:score, not {name!r}")
    if (folder := str(Path.cwd())) not in sys.path:
        sys.path.insert(0, folder)
    try:
        imported: Any = importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"--score {name}: {error}; it is looked for in the current folder, too"
        ) from None
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # whatever the module raises
        raise DataError(f"--score {name}: {_cause(error)}") from None
    for part in function.split("."):
        if not hasattr(imported, part):
            raise ConfigError(f"--score {name}: {module} has no {function}")
        imported = getattr(imported, part)
    if not callable(imported):
        raise ConfigError(f"--score {name}: is not a function")
    return imported


def _cause(error: BaseException) -> str:
    """Return an exception of a user's function in a line, with the place."""
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return f"{Path(frame.filename).name}, line {frame.lineno}: {type(error).__name__}: {error}"
