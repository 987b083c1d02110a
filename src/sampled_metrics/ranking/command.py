"""The command rank."""

from __future__ import annotations

from typing import Any

import click

import sampled_metrics as sm
from sampled_metrics.cli import options as shared
from sampled_metrics.cli.options import Command, OutputFile
from sampled_metrics.cli.output import warnings_on_stderr
from sampled_metrics.running import terminal_progress


@click.command(
    "rank",
    cls=Command,
    short_help="Exact or sampled ranks, from the factors or scores of a model.",
    epilog="  sampled-metrics rank --users u.npy --items i.npy --training train.csv --held-out "
    "test.csv\n\n"
    "  train.csv, test.csv: user,item    rows of u.npy and i.npy, from 0; or ids, with "
    "--user-ids and --item-ids",
)
@click.option(
    "--users",
    type=shared.FILE,
    help="(users, d) factors: npy or npz; or parquet or csv with a header and a column user.",
)
@click.option(
    "--items",
    type=shared.FILE,
    help="(items, d) factors, with --users: likewise, with a column item.",
)
@click.option(
    "--scores",
    type=shared.FILE,
    help="(users, items) scores in place of factors: likewise, with ids of items as header.",
)
@shared.TRAINING_AND_HELD_OUT
@click.option(
    "--user-ids",
    type=shared.FILE,
    help="An id on each line, in the order of the rows; npy or text.",
)
@click.option("--item-ids", type=shared.FILE, help="The same for items.")
@click.option(
    "--negatives",
    type=shared.WHOLE,
    help="How many negatives to sample, in place of all candidates.",
)
@click.option(
    "--replacement", is_flag=True, help="A negative may be sampled twice for the same user."
)
@click.option(
    "--seed", type=click.IntRange(0), show_default="0", help="Of the negatives and the ties."
)
@click.option(
    "-o",
    "--output",
    type=OutputFile(path_type=str, allow_dash=True),
    default="-",
    help="csv, gzip if it ends in .gz, or parquet.  [default: - (stdout)]",
)
def rank(
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
    """Ranks of held-out items among all candidates, or among sampled negatives.

    The candidates are all items but the training items of the user. The result is a csv with the
    columns user, candidates, above and tied, which evaluate and the others read. With --negatives
    it has the columns user, candidates, negatives and rank.
    """
    has_factors = (users is not None, items is not None)
    if has_factors != ((True, True) if scores is None else (False, False)):
        raise click.UsageError("give --users and --items, or --scores alone")
    if replacement and negatives is None:
        raise click.UsageError("--replacement is for --negatives")
    if seed is not None and negatives is None:
        raise click.UsageError("--seed is for --negatives")
    from sampled_metrics.file_io import write_table
    from sampled_metrics.ranking.inputs import read_array, read_ids, read_pairs

    if scores:
        model: Any = read_array(scores)
    else:
        model = read_array(str(users)), read_array(str(items))
    pairs = read_pairs(training, separator)
    test = read_pairs(held_out, separator)
    ids: dict[str, Any] = {
        "user_ids": read_ids(user_ids) if user_ids else None,
        "item_ids": read_ids(item_ids) if item_ids else None,
    }
    ranked: Any = sm.rank
    sampling: dict[str, Any] = {}
    if negatives is not None:
        ranked = sm.rank_among_negatives
        sampling = {"negatives": negatives, "replacement": replacement, "seed": seed or 0}
    with warnings_on_stderr():
        table = ranked(model, pairs, test, **ids, progress=terminal_progress, **sampling)
    frame = table.to_frame()
    if output == "-":
        click.echo(frame.to_csv(index=False, lineterminator="\n"), nl=False)
    else:
        write_table(output, frame)
