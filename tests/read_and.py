"""The functions of the package with the reading of the ranks in the same call, which keeps tests
short.

Ranks are exact, sampled if negatives are given or a column, or lists if relevance is given, as for
the command.
"""

import inspect

import numpy as np

import sampled_metrics as sm
from sampled_metrics.core.ranks.frames import CONTENT
from sampled_metrics.core.ranks.reading import Layout
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


def compare(ranks, ranks_b=None, names=NAMES, **options):
    return of(sm.compare, named(ranks, ranks_b, names), options)


def expect(ranks, negatives, replacement=False, **options):
    return of(sm.expect, ranks, options, "exact", negatives=negatives, replacement=replacement)


def plan(ranks, ranks_b=None, names=NAMES, replacement=False, **options):
    return of(sm.plan, named(ranks, ranks_b, names), options, "exact", replacement=replacement)


def report(ranks, path=None, **options):
    return of(sm.report, ranks, options, path=path)


def named(ranks, ranks_b, names):
    """Return the ranks of two recommenders by name; a mapping of several stays as it is."""
    return ranks if ranks_b is None else dict(zip(names, (ranks, ranks_b), strict=True))


def read(ranks, reading, kind=None):
    """Return the tables of ranks; those that are tables already are left as they are."""
    if isinstance(ranks, Table):
        return ranks
    recommenders = ranks.values() if isinstance(ranks, dict) else ()
    if not any(has_seeds(runs) or isinstance(runs, Table) for runs in recommenders):
        return read_columns(ranks, reading, kind)
    tables = {}
    for name, runs in ranks.items():
        if has_seeds(runs):
            tables[name] = [read(seed, reading, kind) for seed in runs]
        else:
            tables[name] = read(runs, reading, kind)
    return tables


def has_seeds(ranks):
    """Return whether these are the ranks of several seeds, and not numbers."""
    return (
        isinstance(ranks, list | tuple)
        and bool(ranks)
        and not any(np.isscalar(element) for element in ranks)
    )


def read_columns(ranks, reading, kind):
    """Read ranks by the reader of their kind, with the options that it has."""
    if "relevance" in reading:
        kind = "lists"
    if kind is None:
        kind = "sampled" if "negatives" in reading or has_negatives(ranks, reading) else "exact"
    reader = getattr(sm, READERS[kind])
    known = inspect.signature(reader).parameters
    return reader(ranks, **{name: value for name, value in reading.items() if name in known})


def has_negatives(ranks, reading):
    """Return whether a table of ranks has the column negatives."""
    layout = Layout.of(
        CONTENT,
        by=reading.get("by"),
        seeds=None,
        zero_based=False,
        rank_column=reading.get("rank_column"),
    )
    return any("negatives" in table for [table] in layout.sources(ranks).values())
