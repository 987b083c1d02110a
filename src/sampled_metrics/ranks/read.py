"""Read ranks, in every form that a user may give, as rank tables or as sampled ranks.

Every public function that takes ranks reads them here, once. What is behind it takes `ExactRanks` and `SampledRanks`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sampled_metrics._validation import check_label, check_labels
from sampled_metrics.errors import DataError
from sampled_metrics.ranks.by_recommender import by_name, is_table, require_same_order
from sampled_metrics.ranks.exact import ExactRanks, table_of_columns
from sampled_metrics.ranks.files import read_columns
from sampled_metrics.ranks.frames import Columns, PerUser, RanksLike, columns_of
from sampled_metrics.ranks.sampled import SampledRanks, sampled_of_columns

UNNAMED = ""
"""Name of a recommender that has none."""


@dataclass(frozen=True)
class Form:
    """What a user says about ranks, besides the ranks themselves.

    Attributes:
        candidates: n, unless it is a column.
        negatives: m, unless it is a column.
        exact: whether the ranks are exact although none comes near n.
        replacement: whether a negative could be sampled twice for the same user.
        by: the column that names the recommenders of the rows.
        rank_column: the column of ranks, or several columns of several recommenders.
        zero_based: whether ranks start at 0.
    """

    candidates: PerUser | None = None
    negatives: PerUser | None = None
    exact: bool = False
    replacement: bool = False
    by: str | None = None
    rank_column: str | Sequence[str] | None = None
    zero_based: bool = False

    @property
    def rank_columns(self) -> list[str]:
        """Return the names of columns of ranks that are given."""
        return [] if self.rank_column is None else check_labels(self.rank_column, "rank_column")

    @property
    def splits(self) -> bool:
        """Return whether one table has the ranks of several recommenders."""
        if self.by is not None:
            check_label(self.by, "by")
        return self.by is not None or len(self.rank_columns) > 1

    def is_of_columns(self, ranks: Any) -> bool:
        """Return whether ranks are a table of columns, and not a mapping from names of recommenders to their ranks."""
        return is_table(ranks, self.rank_columns)


def read_exact(ranks: RanksLike | Mapping[str, RanksLike], form: Form) -> dict[str, ExactRanks]:
    """Return the exact ranks of each recommender, by name.

    Raises:
        DataError: the ranks cannot be read, or are not exact.
    """
    found = {name: _exact(each, name or "ranks", form) for name, each in recommenders(ranks, form).items()}
    require_same_order(found, [form.candidates, form.negatives])
    return found


def read_sampled(ranks: RanksLike | Mapping[str, RanksLike], form: Form) -> dict[str, SampledRanks]:
    """Return the ranks among sampled negatives of each recommender, by name.

    Raises:
        DataError: the ranks cannot be read, or are not among sampled negatives.
    """
    found = {name: _sampled(each, name or "ranks", form) for name, each in recommenders(ranks, form).items()}
    require_same_order(found, [form.candidates, form.negatives])
    return found


def exact_or_sampled(
    given: Mapping[str, Columns | ExactRanks | SampledRanks], form: Form
) -> dict[str, ExactRanks] | dict[str, SampledRanks]:
    """Return the ranks of recommenders, which are sampled if m is given, or one of them has a column negatives.

    Raises:
        DataError: the ranks are wrong, or some are exact and others sampled.
    """
    if form.negatives is None and not any(
        isinstance(each, SampledRanks) or (isinstance(each, Columns) and "negatives" in each) for each in given.values()
    ):
        exact = {name: _exact(each, name or "ranks", form) for name, each in given.items()}
        require_same_order(exact, [form.candidates, form.negatives])
        return exact
    for name, each in given.items():
        if isinstance(each, ExactRanks) or (isinstance(each, Columns) and "above" in each):
            raise DataError(f"{name or 'ranks'} has exact ranks, and others are sampled; they cannot be compared")
    sampled = {name: _sampled(each, name or "ranks", form) for name, each in given.items()}
    require_same_order(sampled, [form.candidates, form.negatives])
    return sampled


def _exact(given: Columns | ExactRanks | SampledRanks, name: str, form: Form) -> ExactRanks:
    if isinstance(given, Columns):
        return table_of_columns(given, name, form.candidates, form.exact)
    if isinstance(given, SampledRanks):
        raise DataError(f"{name}: are sampled ranks; `correct` takes those")
    _refuse(name, "a rank table", candidates=form.candidates)
    return given


def _sampled(given: Columns | ExactRanks | SampledRanks, name: str, form: Form) -> SampledRanks:
    if isinstance(given, Columns):
        return sampled_of_columns(given, name, form.candidates, form.negatives, form.replacement)
    if isinstance(given, ExactRanks):
        raise DataError(f"{name}: is a rank table, which holds exact ranks, not sampled ones")
    _refuse(name, "a table of sampled ranks", candidates=form.candidates, negatives=form.negatives)
    return given


def _refuse(name: str, what: str, **given: PerUser | None) -> None:
    """Raise DataError if an argument is given that a table of ranks has."""
    for argument, value in given.items():
        if value is not None:
            raise DataError(f"{name}: {what} has its own {argument}, so {argument} must not be given too")


def recommenders(ranks: RanksLike | Mapping[str, RanksLike], form: Form) -> dict[str, Any]:
    """Return the ranks of each recommender, by name, not yet checked; those of one without a name by UNNAMED.

    They are columns, or tables of ranks as they are given.

    Raises:
        DataError: there are none, or two names are the same text; or a table cannot be read, or has no such columns.
    """
    if form.is_of_columns(ranks):
        if not form.splits:
            return {UNNAMED: columns_or_table(ranks, "ranks", form)}
        columns = _read(ranks, "ranks")
        if not isinstance(columns, Columns):
            raise DataError("ranks: by and several of rank_column are for a table of columns")
        if form.by is None:
            return dict(columns.by_rank_column(form.rank_columns, form.zero_based))
        if len(form.rank_columns) > 1:
            raise DataError("by is for one column of ranks, and rank_column names several; give one of them")
        return {name: _renamed(each, form) for name, each in columns.by_column(form.by).items()}
    named = by_name(ranks)
    if form.splits:
        raise DataError("by, and several of rank_column, are for one table that has the ranks of all recommenders")
    return {name: columns_or_table(each, name, form) for name, each in named.items()}


def columns_or_table(data: Any, name: str, form: Form) -> Columns | ExactRanks | SampledRanks:
    """Return the ranks of one recommender as columns, or as the table of ranks that they are."""
    found = _read(data, name)
    if isinstance(found, Columns):
        return _renamed(found, form)
    if form.zero_based or form.rank_columns:
        raise DataError(f"{name}: is a {type(found).__name__}, which has no columns to name and no ranks from 0")
    return found


def _read(data: Any, name: str) -> Columns | ExactRanks | SampledRanks:
    if isinstance(data, str | os.PathLike):
        return read_columns(data)
    return data if isinstance(data, ExactRanks | SampledRanks) else columns_of(data, name)


def _renamed(columns: Columns, form: Form) -> Columns:
    names = {"rank": form.rank_columns[0]} if form.rank_columns else {}
    return columns.named(names, form.zero_based).refuse_counts()
