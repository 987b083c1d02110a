"""Exact ranks: numbers of candidates that score above, or tie with, the held-out item of each row.

Later stages need only this table. It keeps ties as counts, because a rank among ties is random: it
is uniform on above + 1 ... above + tied + 1, anew in every repetition.
"""

from __future__ import annotations

import itertools
import logging
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import InitVar, dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, ClassVar, overload

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sampled_metrics import file_io
from sampled_metrics.checks import MOST, Floats, Ints, refuse_masked, require_flags
from sampled_metrics.core.data.labels import refuse_other_labels
from sampled_metrics.core.data.tables import Place, refuse_rows
from sampled_metrics.core.findings import Finding, from_source
from sampled_metrics.core.ranks.frames import Columns, PerUser, RanksLike
from sampled_metrics.core.ranks.reading import (
    columns_by_recommender,
    has_counts,
    require_effect,
    tables_of,
)
from sampled_metrics.core.ranks.table import (
    OutcomeValues,
    Ranked,
    pair_users,
    require_exact_ids,
    span,
)
from sampled_metrics.core.ranks.truncation import seems_truncated
from sampled_metrics.errors import DataError

if TYPE_CHECKING:
    from sampled_metrics.core.metrics import Metric


COLUMNS = ("user", "candidates", "above", "tied")

ABOVE_AND_TIED = "the columns above and tied are counts from 0, and exact"
"""Why options of ranks have no effect on them."""

_FEW = 20  # if no rank of so many users comes near n, a caution says so
_MANY = 200  # and of so many, the command refuses them
_USUAL_SIZES = (51, 100, 101, 201, 501, 1000, 1001)  # of samples, with the held-out item
_FAR = 10  # a rank comes near n if it is above n / 10 + 1, the largest rank among n / 10 negatives


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
    place: InitVar[Place | None] = None
    findings: tuple[Finding, ...] = ()
    source: str = ""
    # how the source writes ranks: their name, and the best one
    written: InitVar[tuple[str, int]] = ("rank", 1)
    groups: NDArray[np.str_] | None = None
    seed_name: str = ""

    def __post_init__(self, place: Place | None, written: tuple[str, int]) -> None:
        refuse_other_labels({name: getattr(self, name) for name in self.per_row}, "exact ranks")
        lengths = set[int]()
        for column in COLUMNS:
            if getattr(self, column) is not None:
                lengths.add(len(self._column(column)))
        if self.groups is not None:
            lengths.add(len(self.groups))
        if len(lengths) > 1:
            raise DataError("the columns of exact ranks differ in length")
        require_exact_ids(self.user)
        n = self.candidates
        above = self.above
        tied = self.tied
        name, best = written
        last = above + tied
        limit = "the number of candidates" if best else "the last rank from 0"
        rules: list[tuple[NDArray[np.bool_], Callable[[int], str]]] = [
            (
                (above < 0) | (tied < 0),
                lambda row: f"above ({above[row]}) and tied ({tied[row]}) must be 0 or more",
            ),
            (n > MOST, lambda row: f"candidates must be 2^53 or less, not {n[row]}"),
            (
                last >= n,
                lambda row: (
                    f"{name} {last[row] + best} (ties included) is above {limit}, "
                    f"{n[row] - 1 + best}"
                ),
            ),
        ]
        for wrong, message in rules:
            refuse_rows(wrong, message, place or self.named)

    def _column(self, name: str) -> NDArray[np.generic]:
        """Check a column, and store it as an array."""
        refuse_masked(getattr(self, name), "a column of exact ranks")
        values = np.asarray(getattr(self, name))
        if values.ndim != 1:
            raise DataError(f"exact ranks: {name} must have one dimension")
        if name == "user" and pd.isna(values).any():
            raise DataError("exact ranks: user must not have missing values")
        if name != "user":
            if values.dtype.kind not in "iu":
                raise DataError(f"exact ranks: {name} must be integers, not {values.dtype}")
            values = values.astype(np.int64, copy=False)
        object.__setattr__(self, name, values)
        return values

    kind: ClassVar[str] = "exact ranks"
    per_row: ClassVar[tuple[str, ...]] = (*COLUMNS, "groups")
    title: ClassVar[str] = "Ranks of {names} among all candidates"
    reader: ClassVar[str] = "exact_ranks"
    taken_by: ClassVar[tuple[str, ...]] = ("evaluate", "compare", "expect", "plan", "report")
    beside: ClassVar[tuple[str, ...]] = ("staged ranks",)

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
    def places(self) -> Floats:
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
        """Return the n of the estimators: the mean number of candidates, rounded.

        It is 3541 on MovieLens 1M.
        """
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

        A name that ends in .parquet is of parquet. csv is gzipped if the name ends in .gz.
        """
        file_io.write_table(path, self.to_frame())

    def to_frame(self) -> pd.DataFrame:
        """Return the columns user, candidates, above, tied."""
        columns = (self.users, self.candidates, self.above, self.tied)
        return pd.DataFrame(dict(zip(COLUMNS, columns, strict=True)))


def table_of_columns(
    columns: Columns, name: str, candidates: PerUser | None = None, exact: bool = False
) -> ExactRanks:
    """Return the exact ranks of columns; parameters and errors as in `exact_ranks`."""
    require_flags(exact=exact)
    _require_exact_columns(columns)
    shifted: tuple[Finding, ...] = ()
    if "above" in columns or "tied" in columns:
        columns.require("above", "tied")
        above = columns.whole_numbers("above", 0)
        tied = columns.whole_numbers("tied", 0)
    else:
        ranks, shifted = columns.ranks()
        above = ranks - 1
        tied = np.zeros_like(ranks)
    columns = columns if candidates is None else columns.without_candidates()
    n = columns.column_or_argument("candidates", candidates, 1)
    users = columns.users()
    written = columns.written
    groups = columns.groups()
    findings = (*columns.remarks, *shifted)
    place = columns.place
    seed_name = columns.seed_name
    table = ExactRanks(
        users, n, above, tied, place, findings, columns.name, written, groups, seed_name
    )
    return table if exact or "above" in columns else _with_caution(table, columns, name)


def _require_exact_columns(columns: Columns) -> None:
    """Raise DataError if columns are of sampled ranks, or have ranks in two ways."""
    if "negatives" in columns:
        raise DataError(
            f"{columns.header}: has a column {columns.called('negatives')}, so its ranks are "
            "sampled ones; `correct` takes those, or remove the column if they are ranks among "
            "all candidates"
        )
    if "rank" in columns and ("above" in columns or "tied" in columns):
        raise DataError(
            f"{columns.header}: has both rank and above or tied; ranks are rank alone, or above "
            "and tied"
        )


def _with_caution(table: ExactRanks, columns: Columns, name: str) -> ExactRanks:
    """Return a table with a caution if no rank comes near n; refuse ranks that seem sampled.

    Raises DataError if the ranks end as among sampled negatives, or, of many users of the command,
    if none comes near n.
    """
    last = int(table.above.max()) + 1
    most = float(np.median(table.candidates))
    rank, best = columns.written
    shallow = (
        f"{name}: no {rank} of {len(table)} is above {last - 1 + best} of {most:.0f} candidates"
    )
    if seems_truncated(table.above + 1, most):
        raise DataError(
            f"{shallow}, as among {last - 1} sampled negatives or a few more; correct, compare and "
            "report take sampled ranks, with the number that was drawn for each user, such as "
            f"--negatives {last - 1} (in Python negatives={last - 1}); if these are exact, say "
            "--exact (in Python exact=True, in a config exact: true)"
        )
    if len(table) < _FEW:
        return table
    if last - 1 > most / _FAR:
        return _with_caution_on_size(table, name)
    if columns.refuses_shallow and len(table) >= _MANY:
        raise DataError(
            f"{shallow}, as among sampled negatives; if they are sampled, say how many negatives "
            "with --negatives (correct, compare and report take it); if they are exact, say "
            "--exact"
        )
    values = {"column": rank, "rows": len(table), "last": last - 1 + best, "candidates": most}
    caution = from_source([Finding("shallow-ranks", values=values)], name)
    return replace(table, findings=(*table.findings, *caution))


def _with_caution_on_size(table: ExactRanks, name: str) -> ExactRanks:
    """Return a table with a caution if its users have as many candidates as samples often have."""
    n = int(table.candidates[0])
    if n not in _USUAL_SIZES or (table.candidates != n).any():
        return table
    values = {"rows": len(table), "candidates": n}
    caution = from_source([Finding("usual-sample", values=values)], name)
    return replace(table, findings=(*table.findings, *caution))


@overload
def exact_ranks(
    ranks: str | os.PathLike[str],
    *,
    candidates: PerUser | None = None,
    exact: bool = False,
    zero_based: bool = False,
    groups: str | None = None,
) -> ExactRanks: ...


@overload
def exact_ranks(
    ranks: RanksLike | Mapping[str, RanksLike],
    *,
    candidates: PerUser | None = None,
    exact: bool = False,
    by: str | None = None,
    seeds: str | None = None,
    rank_column: str | Sequence[str] | None = None,
    zero_based: bool = False,
    groups: str | None = None,
) -> Any: ...


def exact_ranks(
    ranks: RanksLike | Mapping[str, RanksLike],
    *,
    candidates: PerUser | None = None,
    exact: bool = False,
    by: str | None = None,
    seeds: str | None = None,
    rank_column: str | Sequence[str] | None = None,
    zero_based: bool = False,
    groups: str | None = None,
) -> ExactRanks | list[ExactRanks] | dict[str, ExactRanks | list[ExactRanks]]:
    r"""Read ranks among all candidates.

    Args:
        ranks: (users,) ranks of the held-out items, from 1, best first; or a DataFrame with the
            columns candidates and rank, or candidates, above and tied (ties count in expectation);
            or the path of a csv or parquet file of such columns, or of one rank per line. A column
            user is optional. A named index of pandas is a column, and one of text without a name is
            the users if there is no such column. A column negatives raises an error, because it
            marks ranks among sampled negatives. A mapping from the names of recommenders to any of
            these gives a mapping.
        candidates: (users,) or one number: n, the number of ranked items, including the held-out
            item. It replaces a column of the ranks, and a remark says so. An array is in the order
            of the ranks, and a Series is by the labels of its index, the users or the rows. Only
            AUC depends on it.
        exact: that the ranks are exact although no rank comes near n. Without it, ranks that end as
            among sampled negatives are refused, and results begin with a caution if no rank is
            above a tenth of n (docs/how-to/tables.md). The columns above and tied are exact, so it
            is refused for them.
        by: the column of a table that names the recommenders of its rows. It gives a mapping from
            these names.
        seeds: the column that says of which seed of a training each row is. A recommender with
            several seeds gives a list of their tables, in the order of the seeds, as `compare` and
            `correct` take it. Without this argument, a column that is called seed, run, draw, fold,
            trial, repetition or replicate, or likewise, is refused if it has several values. Folds,
            of which each user is in one, are no seeds: leave their column out.
        rank_column: the column of ranks, if it has another name; or several, of one recommender
            each, which give a mapping from these names.
        zero_based: whether ranks start at 0, in place of 1.
        groups: the column of the groups of the rows, of users or of held-out items, for metrics by
            group (`groups=True` of `evaluate` and `compare`).

    Returns:
        The ranks, or a list of those of several seeds, or a mapping from the names of several
        recommenders to either.

    Raises:
        DataError: the ranks cannot be read, are not exact, or lack n; a column may have seeds and
            is named by no argument; or `seeds` has folds. The message names the file and the line.
        ConfigError: `by`, `seeds`, `rank_column` or `groups` is not text; or `exact` or
            `zero_based` is for no table, as all have the columns above and tied.

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
    columns = columns_by_recommender(ranks, by, rank_column, zero_based, groups, seeds)
    for option, is_given in {"exact": exact, "zero_based": zero_based}.items():
        if is_given:
            require_effect(option, columns, lambda table: not has_counts(table), ABOVE_AND_TIED)
    return tables_of(
        columns, partial(table_of_columns, candidates=candidates, exact=exact), [candidates]
    )


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
        pair_users(tables[name_a], tables[name_b], (name_a, name_b))
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
