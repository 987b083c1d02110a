"""Exact ranks: numbers of candidates that score above, or tie with, the held-out item of each row.

Later stages need only this table. Ties are kept as counts, because a rank among ties is random:
uniform on above + 1 ... above + tied + 1, anew in every repetition.
"""

from __future__ import annotations

import itertools
import logging
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import InitVar, dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sampled_metrics import file_io
from sampled_metrics.checks import (
    Floats,
    Ints,
    enumerated,
    require_flags,
    whole_numbers,
)
from sampled_metrics.core.data.labels import refuse_other_labels
from sampled_metrics.core.data.tables import Location, refuse_rows
from sampled_metrics.core.findings import Finding
from sampled_metrics.core.ranks.frames import CONTENT, Columns, PerUser, RanksLike
from sampled_metrics.core.ranks.reading import Layout, tables_of
from sampled_metrics.core.ranks.table import (
    OutcomeValues,
    Ranked,
    checked_users,
    numbers_in,
    span,
)
from sampled_metrics.errors import DataError

if TYPE_CHECKING:
    from sampled_metrics.core.metrics import Metric


COLUMNS = ("user", "candidates", "above", "tied")

_MANY = 100
"""Ranks of this many users are refused as exact if all are in the best tenth."""
_TENTH = 10


@dataclass(frozen=True, repr=False)
class ExactRanks(Ranked):
    """Exact ranks of the held-out items of a recommender, one row for each.

    Attributes:
        user: (rows,) the user of each row; None if users are not known.
        candidates: (rows,) int, n: the number of ranked items, including the held-out item.
        above: (rows,) int, number of candidates that score higher than the held-out item.
        tied: (rows,) int, number of other candidates that score exactly the same.
        findings: on how the ranks were read, and on what would make all results wrong; notes and
            cautions have them in words.
        source: name of the file or table that they are from.
        groups: (rows,) text, the group of each row, for metrics by group; None if there are none.
        seed_name: the seed of which the ranks are, as a column of seeds names it; empty if that is
            not known.

    Raises:
        DataError: a column is not one-dimensional integers, or a user is missing; the columns
            differ in length; or above + tied is not below candidates.

    Examples:
        Two users; two candidates tie with the held-out item of the second:

        >>> import numpy as np
        >>> import sampled_metrics as sm
        >>> table = sm.ExactRanks(
        ...     user=np.array(["ann", "bob"]),
        ...     candidates=np.array([100, 100]),
        ...     above=np.array([0, 3]),
        ...     tied=np.array([0, 2]),
        ... )
        >>> table.values(sm.metric("recall@5"))
        array([1.        , 0.66666667])

    References:
        W. Krichene and S. Rendle, On Sampled Metrics for Item Recommendation, KDD 2020, section 3.
    """

    user: NDArray[np.generic] | None
    candidates: Ints
    above: Ints
    tied: Ints
    location: InitVar[Location | None] = None
    findings: tuple[Finding, ...] = ()
    source: str = ""
    groups: NDArray[np.str_] | None = None
    seed_name: str = ""

    def __post_init__(self, location: Location | None) -> None:
        refuse_other_labels({name: getattr(self, name) for name in self.per_row}, "exact ranks")
        for column in ("candidates", "above", "tied"):
            object.__setattr__(self, column, whole_numbers(getattr(self, column), column))
        object.__setattr__(self, "user", checked_users(self.user))
        columns = {name: getattr(self, name) for name in self.per_row}
        shapes = {np.shape(column) for column in columns.values() if column is not None}
        if shapes != {(self.candidates.size,)}:
            raise DataError(
                f"{enumerated(columns)} must have one dimension and the same length, not "
                f"{enumerated(map(str, shapes))}"
            )
        n = self.candidates
        above = self.above
        tied = self.tied
        last = above + tied
        rules: list[tuple[NDArray[np.bool_], Callable[[int], str]]] = [
            (
                (above < 0) | (tied < 0),
                lambda row: f"above ({above[row]}) and tied ({tied[row]}) must be 0 or more",
            ),
            (
                last >= n,
                lambda row: (
                    f"rank {last[row] + 1} (from 1, ties included) is above the number of "
                    f"candidates, {n[row]}"
                ),
            ),
        ]
        for wrong, message in rules:
            refuse_rows(wrong, message, location or self.named)

    kind: ClassVar[str] = "exact ranks"
    per_row: ClassVar[tuple[str, ...]] = (*COLUMNS, "groups")
    title: ClassVar[str] = "Ranks of {names} among all candidates"
    reader: ClassVar[str] = "exact_ranks"
    taken_by: ClassVar[tuple[str, ...]] = ("evaluate", "compare", "expect", "plan", "report")
    compared_with: ClassVar[tuple[str, ...]] = ("staged ranks",)

    @property
    def _among(self) -> str:
        return f"among {span(self.candidates)} candidates"

    @property
    def facts(self) -> dict[str, str]:
        """Return the numbers of rows, users, candidates and ties."""
        tied = int((self.tied > 0).sum())
        return super().facts | {"Ties": f"{tied} rows" if tied else "none"}

    @property
    def ranked_items(self) -> ExactRanks:
        """Return the table itself."""
        return self

    @property
    def expected_above(self) -> Floats:
        """Return the (rows,) expected numbers of candidates above, ties broken at random."""
        return np.asarray(self.above + self.tied / 2)

    @property
    def outcomes(self) -> Ints:
        """Return the (rows, 2) numbers of candidates above and tied."""
        return np.stack((self.above, self.tied), axis=1)

    def outcome_values(self, metrics: Sequence[Metric]) -> OutcomeValues:
        """Return the values of metrics, by distinct rows; they are from 0 to that of rank 1."""
        rows = np.stack((self.candidates, self.above, self.tied), axis=1)
        distinct, outcome = np.unique(rows, axis=0, return_inverse=True)
        n, above, tied = distinct.T
        values = np.stack([metric.over_ties(above, tied, n) for metric in metrics])
        largest = np.array([metric.largest for metric in metrics])
        return OutcomeValues(
            values, np.asarray(outcome).ravel(), np.zeros_like(largest), largest, largest
        )

    @property
    def users(self) -> NDArray[np.generic]:
        """Return the (rows,) users, numbered from 1 if they are not known."""
        return np.arange(1, len(self) + 1) if self.user is None else self.user

    @property
    def mean_candidates(self) -> int:
        """Return the mean number of candidates, rounded, such as 3541 on MovieLens 1M."""
        return round(float(self.candidates.mean()))

    def values(self, metric: Metric) -> Floats:
        """Return the exact metric of each row, (rows,), as an expectation over its ties."""
        return metric.over_ties(self.above, self.tied, self.candidates)

    @cached_property
    def weights(self) -> Floats | None:
        """The (rows,) weights by which each user counts once; None if no user has several rows.

        Their mean is 1.
        """
        user, distinct = pd.factorize(self.users)
        if len(distinct) == len(self):
            return None
        rows_of_user = np.bincount(user)[user]
        return len(self) / len(distinct) / rows_of_user

    def mean(self, metric: Metric) -> float:
        """Return the exact metric: the mean over users, each by the mean over the user's rows."""
        return float(np.average(self.values(metric), weights=self.weights))

    def tie_deviation(self, metric: Metric) -> float:
        """Return the standard deviation of `mean` where ties are broken at random, once a row."""
        means = self.values(metric)
        if metric.linear_in_rank:
            spread = metric.of_rank(1, self.candidates) - metric.of_rank(2, self.candidates)
            variance = spread**2 * ((self.tied + 1.0) ** 2 - 1) / 12
        else:
            variance = np.maximum(metric.squares_over_ties(self.above, self.tied) - means**2, 0.0)
        if self.weights is not None:
            variance = variance * self.weights**2
        return float(np.sqrt(variance[self.tied > 0].sum()) / len(self))

    def expected_between(self, best: Ints | int, worst: Ints | int) -> float:
        """Return the expected number of rows with a rank from `best` to `worst` (inclusive).

        Ties are broken at random.
        """
        lowest = self.above + 1
        highest = self.above + self.tied + 1
        inside = np.minimum(highest, worst) - np.maximum(lowest, best) + 1
        return float((np.clip(inside, 0, None) / (self.tied + 1)).sum())

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the columns user, candidates, above, tied as csv or parquet.

        A name that ends in .parquet is a parquet file. csv is gzipped if the name ends in .gz.
        """
        file_io.write_table(path, self.to_frame())

    def to_frame(self) -> pd.DataFrame:
        """Return the columns user, candidates, above, tied."""
        columns = (self.users, self.candidates, self.above, self.tied)
        return pd.DataFrame(dict(zip(COLUMNS, columns, strict=True)))


def table_of_columns(
    columns: Columns, candidates: PerUser | None = None, exact: bool = False
) -> ExactRanks:
    """Return the exact ranks of columns; parameters and errors as in `exact_ranks`."""
    require_flags(exact=exact)
    if "negatives" in columns:
        raise DataError(
            f"{columns.name}: has a column {columns.called('negatives')}, so its ranks are "
            "sampled; `sampled_ranks` reads those"
        )
    above, tied = columns.counts()
    n = columns.column_or_argument("candidates", candidates, 1)
    table = ExactRanks(
        user=columns.users_of_ranks(),
        candidates=n,
        above=above,
        tied=tied,
        location=columns.location,
        findings=columns.remarks_on_ranks(above, candidates=candidates),
        source=columns.name,
        groups=columns.groups(),
        seed_name=columns.seed_name,
    )
    if not (exact or columns.are_counts):
        _refuse_sampled(table, columns)
    return table


def _refuse_sampled(table: ExactRanks, columns: Columns) -> None:
    """Raise DataError if ranks of many users are all in the best tenth of their candidates.

    Exact ranks rarely are, and ranks among sampled negatives often.
    """
    if ((table.above + 1) * _TENTH > table.candidates).any():
        return
    users = int(table.user_numbers.max()) + 1
    if users < _MANY:
        return
    raise DataError(
        f"{columns.name}: the largest {columns.called('rank')} of {users} users is "
        f"{table.above.max() + columns.best_rank}, in "
        "the best tenth of the candidates, as ranks among sampled negatives are; give exact=True "
        "(--exact, in a config exact: true) if they are exact; sampled ranks need negatives "
        "(--negatives), and plan does not take them"
    )


def exact_ranks(
    ranks: RanksLike | Mapping[str, RanksLike],
    *,
    candidates: PerUser | None = None,
    exact: bool = False,
    by: str | None = None,
    seeds: str | None = None,
    user_column: str | None = None,
    rank_column: str | Sequence[str] | None = None,
    candidates_column: str | None = None,
    zero_based: bool = False,
    groups: str | None = None,
) -> Any:
    r"""Read ranks among all candidates.

    Args:
        ranks: (rows,) ranks of the held-out items, from 1, best first; or a table with the columns
            candidates and rank, or candidates, above and tied (ties count in expectation); or the
            path of a csv or parquet file with such columns, or with one rank per line. A column
            user is optional. A named index of pandas is a column. A mapping from the names of
            recommenders to any of these gives a mapping.
        candidates: n, the number of ranked items, including the held-out item: one number for all
            rows, a (rows,) array, or numbers by user (a mapping, or a Series with the users as its
            index). If given, a column of the ranks is ignored. Only AUC depends on n.
        exact: whether the ranks are exact although all are in the best tenth of the candidates. By
            default, such ranks of 100 users or more are refused, because ranks among sampled
            negatives look the same.
        by: the column of a table that names the recommenders of its rows. The result is then a
            mapping from these names.
        seeds: the column of the seeds of a training. A recommender with several seeds gives a list
            of their tables, in the order of the seeds, as `compare` and `correct` take it.
        user_column: the column of users, if it has another name; likewise `candidates_column`.
        rank_column: the column of ranks, if it has another name; or several, of one recommender
            each, which give a mapping from these names.
        candidates_column: the column of numbers of candidates, if it has another name.
        zero_based: whether ranks start at 0, in place of 1.
        groups: the column of the groups of the rows, of users or of held-out items, for metrics by
            group (`groups=True` of `evaluate` and `compare`).

    Returns:
        The `ExactRanks`, or a list of one for each seed, or a mapping from the names of several
        recommenders to either.

    Raises:
        DataError: the ranks cannot be read, are not exact, or lack n; or a column that no argument
            names distinguishes several rows of each user. The message names the file and the line.
        ConfigError: the name of a column is not text.

    Examples:
        >>> import pathlib, tempfile
        >>> import sampled_metrics as sm
        >>> path = pathlib.Path(tempfile.mkdtemp(), "ranks.csv")
        >>> _ = path.write_text("user,candidates,rank\nann,100,1\nbob,100,12\n")
        >>> sm.exact_ranks(path)
        exact ranks of 2 users, among 100 candidates
        >>> sm.exact_ranks([3, 1, 20], candidates=50).above
        array([ 2,  0, 19])

        Two users, ranked by two seeds of the recommender A and by one of B:

        >>> import pandas as pd
        >>> rows = [("A", 1, "ann", 3), ("A", 1, "bob", 9), ("A", 2, "ann", 2), ("A", 2, "bob", 7)]
        >>> rows += [("B", 1, "ann", 4), ("B", 1, "bob", 8)]
        >>> ranks = pd.DataFrame(rows, columns=["model", "seed", "user", "rank"])
        >>> tables = sm.exact_ranks(ranks, candidates=50, by="model", seeds="seed")
        >>> [table.above.tolist() for table in tables["A"]]
        [[2, 8], [1, 6]]
        >>> tables["B"].above.tolist()
        [3, 7]

    References:
        W. Krichene and S. Rendle, On Sampled Metrics for Item Recommendation, KDD 2020, section 3.
    """
    layout = Layout.of(
        CONTENT,
        by=by,
        seeds=seeds,
        groups=groups,
        zero_based=zero_based,
        rank_column=rank_column,
        user_column=user_column,
        candidates_column=candidates_column,
    )
    table_of = partial(table_of_columns, candidates=candidates, exact=exact)
    return tables_of(ranks, layout, table_of, [candidates])


def read_rank_tables(
    names: Sequence[str], paths: Sequence[str | os.PathLike[str]]
) -> dict[str, ExactRanks]:
    """Read the rank tables of a dataset's recommenders with `exact_ranks`, one file for each name.

    Raises DataError if a file is damaged, or the tables have different held-out items.
    """
    tables = {name: exact_ranks(path) for name, path in zip(names, paths, strict=True)}
    require_same_events(tables)
    return tables


def require_same_events(tables: Mapping[str, ExactRanks]) -> None:
    """Raise DataError if the tables differ in their users, or in the candidates of a user.

    Tables without users, which a file numbers from 1, may be in any order.
    """
    named = [
        name
        for name, table in tables.items()
        if not np.array_equal(table.users, np.arange(1, len(table) + 1))
    ]
    for name_a, name_b in itertools.pairwise(named):
        numbers_in(tables[name_a], tables[name_b], (name_a, name_b))
    for name_a, name_b in itertools.pairwise(tables):
        n_a = np.sort(tables[name_a].candidates)
        n_b = np.sort(tables[name_b].candidates)
        if not np.array_equal(n_a, n_b):
            raise DataError(
                f"{name_a} and {name_b} must be ranks of the same users among the same items, but "
                f"they have {_size_in_words(n_a)} and {_size_in_words(n_b)}"
            )


def _size_in_words(n: Ints) -> str:
    """Return how many users have how many candidates, by their ascending (users,) n."""
    return f"{len(n)} users with {n[0]} to {n[-1]} candidates, {n.sum()} in all"


_LOGGER = logging.getLogger(__name__)


def tied_shares(table: ExactRanks) -> Floats:
    """Return the share of each row's other candidates that tie with the held-out item, (rows,)."""
    return table.tied / np.maximum(table.candidates - 1, 1)


def half_tied(table: ExactRanks) -> int:
    """Count the rows in which half of the other candidates or more tie with the held-out item."""
    return int((tied_shares(table) >= 0.5).sum())


def ties_remark(table: ExactRanks) -> str:
    """Say in how many rows half of the other candidates or more tie; empty if in none."""
    if not (rows := half_tied(table)):
        return ""
    return (
        f"in {rows} of {len(table)} rows, half of the other candidates or more tie with the "
        "held-out item; the rank of such an item is mostly chance"
    )


def log_ranks(table: ExactRanks) -> None:
    """Log how many items were ranked among how many candidates, and how many tie.

    The remark on ties is a warning.
    """
    _LOGGER.info(
        "%d held-out items among %.1f candidates on average; %d of them tie with other candidates",
        len(table),
        table.candidates.mean(),
        (table.tied > 0).sum(),
    )
    if remark := ties_remark(table):
        _LOGGER.warning("%s", remark)
