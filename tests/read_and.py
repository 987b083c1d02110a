"""The functions of the package with the reading of the ranks in the same call, which keeps tests
short.

Ranks are exact, sampled if negatives are given or a column, or lists if relevance is given, as for
the command.
"""

import inspect

import numpy as np

import sampled_metrics as sm
from sampled_metrics.core.ranks.frames import Columns
from sampled_metrics.core.ranks.reading import columns_by_recommender
from sampled_metrics.core.ranks.table import Table

NAMES = ("A", "B")

READING = {
    "candidates",
    "negatives",
    "exact",
    "replacement",
    "drawn",
    "by",
    "rank_column",
    "zero_based",
}
READING |= {"relevance", "relevant_from"}
READERS = {
    "exact": "exact_ranks",
    "sampled": "sampled_ranks",
    "lists": "ranked_lists",
}


def of(function, ranks, options, kind=None, **more):
    """Read ranks by the options of the readers, and call a function with them and the other
    options.
    """
    reading = {
        name: value for name, value in options.items() if name in READING and value is not None
    }
    return function(
        read(ranks, reading, kind),
        **more,
        **{key: options[key] for key in options if key not in READING},
    )


def evaluate(ranks, **options):
    return of(sm.evaluate, ranks, options, "exact" if options.get("relevance") is None else "lists")


def correct(ranks, **options):
    return of(sm.correct, ranks, options, "sampled")


def compare(ranks, other=None, names=NAMES, **options):
    return of(sm.compare, named(ranks, other, names), options)


def expect(ranks, negatives, replacement=False, **options):
    return of(sm.expect, ranks, options, "exact", negatives=negatives, replacement=replacement)


def plan(ranks, other=None, names=NAMES, replacement=False, **options):
    return of(sm.plan, named(ranks, other, names), options, "exact", replacement=replacement)


def report(ranks, path=None, **options):
    return of(sm.report, ranks, options, path=path, replacement=options.get("replacement", False))


def named(ranks, other, names):
    """Return the ranks of two recommenders by their names, or of several as they are given."""
    return ranks if other is None else dict(zip(names, (ranks, other), strict=True))


def read(ranks, reading, kind=None):
    """Return the tables of ranks; those that are tables already are left as they are."""
    if isinstance(ranks, dict) and any(
        has_seeds(one) or isinstance(one, Table) for one in ranks.values()
    ):
        return {
            name: [read(seed, reading, kind) for seed in one]
            if has_seeds(one)
            else read(one, reading, kind)
            for name, one in ranks.items()
        }
    return ranks if isinstance(ranks, Table) else read_columns(ranks, reading, kind)


def has_seeds(ranks):
    """Return whether these are the ranks of several seeds, and not numbers."""
    return (
        isinstance(ranks, list | tuple)
        and bool(ranks)
        and not any(np.isscalar(one) for one in ranks)
    )


def read_columns(ranks, reading, kind):
    """Read ranks by the reader of their kind, with the options that it has."""
    if "relevance" in reading:
        kind = "lists"
    if kind is None:
        options = {
            name: reading[name] for name in ("by", "rank_column", "zero_based") if name in reading
        }
        columns = columns_by_recommender(ranks, **options)
        tables = [columns] if isinstance(columns, Columns) else columns.values()
        kind = (
            "sampled"
            if "negatives" in reading or any("negatives" in table for table in tables)
            else "exact"
        )
    reader = getattr(sm, READERS[kind])
    known = inspect.signature(reader).parameters
    return reader(ranks, **{name: value for name, value in reading.items() if name in known})
