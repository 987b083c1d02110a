"""Ranks among sampled negatives."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import InitVar, dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import gammaln, xlogy

from sampled_metrics.checks import (
    Floats,
    Ints,
    counted,
    enumerated,
    require_flags,
    shown,
    whole_numbers,
)
from sampled_metrics.core.data.labels import refuse_other_labels
from sampled_metrics.core.data.tables import Location, refuse_rows
from sampled_metrics.core.findings import Finding
from sampled_metrics.core.ranks.exact import ExactRanks
from sampled_metrics.core.ranks.frames import CONTENT, Columns, PerUser, RanksLike
from sampled_metrics.core.ranks.reading import Layout, tables_of
from sampled_metrics.core.ranks.table import OutcomeValues, Ranked, checked_users, span
from sampled_metrics.errors import ConfigError, DataError

BY_USER = "by user"
ONCE = "once"
POPULARITY = "popularity"
DRAWN = (BY_USER, ONCE, POPULARITY)
"""How negatives are drawn: anew for each user, once for all users, or not uniformly."""

if TYPE_CHECKING:  # ranking does not depend on metrics, so a new metric does not rerun it
    from sampled_metrics.core.metrics import Metric


@dataclass(frozen=True, repr=False)
class SampledRanks(Ranked):
    """The number of sampled negatives that rank above the held-out item of each row.

    All rules about sampled ranks are checked here.

    Attributes:
        x: (rows,) int, sampled negatives above the held-out item; its sampled rank is x + 1.
        negatives: (rows,) or one number: m, the number of sampled negatives, 0 or more.
        candidates: (rows,) or one number: n, the held-out item and all negatives that could have
            been sampled.
        replacement: whether a negative could be sampled twice for the same row.
        user: (rows,) the user of each row; None if users are not known.
        findings: on how the ranks were read, and on what would make all results wrong; notes and
            cautions have them in words.
        source: name of the file or table that they are from.
        groups: (rows,) text, the group of each row, for metrics by group; None if there are none.
        drawn: how the negatives are drawn, "by user", "once" or "popularity", as in
            `sampled_ranks`.
        seed_name: the seed, or the draw, of which the ranks are, as a column names it; empty if
            that is not known.

    Raises:
        ConfigError: `drawn` has another value.
        DataError: there are no ranks, an entry is masked, or x, m and n of a row do not fit each
            other; the message names the row, the user or the line of the file.
    """

    x: Ints
    negatives: Ints
    candidates: Ints
    replacement: bool = False
    user: NDArray[np.generic] | None = None
    location: InitVar[Location | None] = None
    findings: tuple[Finding, ...] = ()
    source: str = ""
    groups: NDArray[np.str_] | None = None
    drawn: str = BY_USER
    seed_name: str = ""

    def __post_init__(self, location: Location | None) -> None:
        require_flags(replacement=self.replacement)
        refuse_other_labels({name: getattr(self, name) for name in self.per_row}, "sampled ranks")
        if not isinstance(self.drawn, str) or self.drawn not in DRAWN:
            raise ConfigError(
                f"drawn must be {enumerated(map(repr, DRAWN), 'or')}, not {shown(self.drawn)}"
            )
        columns = [
            whole_numbers(getattr(self, name), name) for name in ("x", "negatives", "candidates")
        ]
        shapes_of_rows = {column.shape for column in columns if column.ndim}
        if len(shapes_of_rows) > 1 or max(column.ndim for column in columns) > 1:
            shapes = enumerated([str(column.shape) for column in columns])
            raise DataError(
                "x, negatives and candidates must be one number each, or one for each row, not "
                f"{shapes}"
            )
        x, m, n = np.broadcast_arrays(*map(np.atleast_1d, columns))
        if len(x) == 0:
            raise DataError("there are no ranks to estimate from")
        object.__setattr__(self, "user", checked_users(self.user))
        for name, values in {"x": x, "negatives": m, "candidates": n}.items():
            object.__setattr__(self, name, values)
        for wrong, message in self._rules():
            refuse_rows(wrong, message, location or self.named)

    def _rules(self) -> list[tuple[NDArray[np.bool_], Callable[[int], str]]]:
        """Return which rows break each rule, and what is wrong with a row that does.

        Ranks are from 1 in messages.
        """
        x = self.x
        m = self.negatives
        n = self.candidates

        def sampled(row: int) -> str:
            return counted(int(m[row]), "negative")

        def rank(row: int) -> str:
            return f"rank {x[row] + 1}"

        rules: list[tuple[NDArray[np.bool_], Callable[[int], str]]] = [
            (m < 0, lambda row: f"negatives must be 0 or more, not {m[row]}"),
            (
                (x < 0) | (x > m),
                lambda row: (
                    f"{rank(row)} is not from 1 to {m[row] + 1}, among the item and {sampled(row)}"
                ),
            ),
            (n < 1, lambda row: f"candidates must be 1 or more, not {n[row]}"),
        ]
        if self.replacement:
            rules += [
                (
                    (n == 1) & (m > 0),
                    lambda row: f"{sampled(row)}, but no other candidate to sample from",
                ),
                (
                    impossible_with_replacement(x, m, n),
                    lambda row: f"{rank(row)} is not possible: {_why_impossible(m[row], n[row])}",
                ),
            ]
        else:
            rules.append(
                (
                    m > n - 1,
                    lambda row: (
                        f"{sampled(row)} cannot be sampled without replacement from {n[row] - 1} "
                        f"({n[row]} candidates)"
                    ),
                )
            )
        return rules

    kind: ClassVar[str] = "sampled ranks"
    per_row: ClassVar[tuple[str, ...]] = ("x", "negatives", "candidates", "user", "groups")
    title: ClassVar[str] = "Ranks of {names} among sampled negatives"
    reader: ClassVar[str] = "sampled_ranks"
    taken_by: ClassVar[tuple[str, ...]] = ("correct", "compare", "report")
    is_sampled: ClassVar[bool] = True
    has_values_of_users: ClassVar[bool] = False

    @property
    def _among(self) -> str:
        return f"{span(self.negatives)} of {span(self.candidates)} candidates"

    @property
    def _numbers(self) -> dict[str, Ints]:
        return {"n": self.candidates, "m": self.negatives}

    @property
    def design(self) -> dict[str, Any]:
        """Return how the negatives are drawn."""
        return {"drawn": self.drawn}

    @property
    def facts(self) -> dict[str, str]:
        """Return the numbers of rows, users, candidates and negatives, and how these are drawn."""
        return super().facts | {
            "Negatives": span(self.negatives, "d"),
            "Drawn": self.drawn,
            "Ties": "not known",
        }

    @property
    def outcomes(self) -> Ints:
        """Return the (rows, 2) numbers of negatives, and of those above."""
        return np.stack((self.negatives, self.x), axis=1)

    def pair(self, others: Sequence[Any], names: Sequence[str]) -> tuple[list[Ints], list[Finding]]:
        """Pair the tables by user or by row; the order of rows without users changes nothing.

        Users without ids are sorted by what was observed of them in all tables, and numbered in a
        random order whose seed is a digest of these observations. Whatever was observed, each order
        is as likely as the others, as for ids that have nothing to do with the ranks. With a fixed
        seed, equal ranks would share a fold in each sample.
        """
        numbers, findings = super().pair(others, names)
        tables: list[SampledRanks] = [self, *others]
        if any(table.user is not None for table in tables):
            return numbers, findings
        # the order of the tables changes nothing, either
        outcomes = sorted((table.outcomes for table in tables), key=_sorted_bytes)
        observed = np.hstack([self.candidates[:, np.newaxis], *outcomes])
        order = np.lexsort(observed.T)
        digest = hashlib.sha256(observed[order].astype("<i8").tobytes()).digest()
        rng = np.random.default_rng(int.from_bytes(digest))
        number = np.empty(len(self), dtype=np.int64)
        number[order] = rng.permutation(len(self))
        return [number] * len(tables), findings

    def outcome_values(self, metrics: Sequence[Metric]) -> OutcomeValues:
        """Raise DataError: the metrics of sampled ranks are estimated, from the outcomes."""
        raise DataError("sampled ranks have no true metrics, only estimates; `correct` has them")

    def to_frame(self) -> pd.DataFrame:
        """Return the columns user, candidates, negatives and rank, which `sampled_ranks` reads."""
        users = np.arange(1, len(self) + 1) if self.user is None else self.user
        columns = {
            "user": users,
            "candidates": self.candidates,
            "negatives": self.negatives,
            "rank": self.x + 1,
        }
        return pd.DataFrame(columns)

    @property
    def expected_above(self) -> Floats:
        """Return the (rows,) numbers of sampled negatives above."""
        return self.x.astype(np.float64)

    @property
    def ranked_items(self) -> ExactRanks:
        """Return the ranks among the m + 1 items of the sample."""
        return ExactRanks(None, self.negatives + 1, self.x, np.zeros_like(self.x))


def sampled_ranks(
    ranks: RanksLike | Mapping[str, RanksLike],
    *,
    negatives: PerUser | None = None,
    candidates: PerUser | None = None,
    replacement: bool = False,
    drawn: str = BY_USER,
    by: str | None = None,
    seeds: str | None = None,
    user_column: str | None = None,
    rank_column: str | Sequence[str] | None = None,
    candidates_column: str | None = None,
    negatives_column: str | None = None,
    zero_based: bool = False,
    groups: str | None = None,
) -> Any:
    """Read ranks among sampled negatives.

    Args:
        ranks: (rows,) ranks of the held-out items among themselves and m sampled negatives, from 1
            to m + 1; or a table, or the path of a csv or parquet file, with the column rank and
            optionally user, candidates and negatives, as in `exact_ranks`. In place of rank, a
            table may have the columns above and tied, numbers of negatives: ties are broken at
            random, the same way in each call. A mapping from the names of recommenders to any of
            these gives a mapping.
        negatives: m, the number of sampled negatives: one number for all rows, a (rows,) array, or
            numbers by user (a mapping, or a Series with the users as its index). If given, a column
            of the ranks is ignored.
        candidates: n, the number of items in an exact evaluation, including the held-out item, in
            the same forms.
        replacement: whether a negative could be sampled twice for the same user.
        drawn: "by user" if the negatives of each user are drawn anew, as all intervals and verdicts
            assume. "once" if users share negatives, such as one list of candidates for everybody,
            or the other items of a batch. One such draw gives values alone; several
            independent draws also give intervals and verdicts. "popularity" if they are drawn by
            popularity, or in any other way that is not uniform. Then `correct` bounds the metrics,
            without an estimate, and `compare` refuses: x distinct negatives above the held-out item
            are x candidates above it, so its true rank is at least its sampled rank.
        by: the column of a table that names the recommenders of its rows. The result is then a
            mapping from these names.
        seeds: the column of the seeds of a training, as in `exact_ranks`; with ``drawn="once"``,
            the column of the draws of negatives. Several seeds, or draws, of a recommender give a
            list.
        user_column: the column of users, if it has another name; likewise `candidates_column` and
            `negatives_column`.
        rank_column: the column of ranks, if it has another name; or several, of one recommender
            each, which give a mapping from these names.
        candidates_column: the column of numbers of candidates, if it has another name.
        negatives_column: the column of numbers of negatives, if it has another name.
        zero_based: whether ranks start at 0, in place of 1.
        groups: the column of the groups of the rows, of users or of held-out items, for metrics by
            group.

    Returns:
        The `SampledRanks`, or a list of one for each seed, or a mapping from the names of several
        recommenders to either.

    Raises:
        DataError: the ranks cannot be read, are not possible among m of n items, or lack m or n; or
            a column that no argument names distinguishes several rows of each user. The message
            names the file and the line.
        ConfigError: the name of a column is not text, or `drawn` has another value.

    Examples:
        >>> import sampled_metrics as sm
        >>> sm.sampled_ranks([1, 3, 1, 12], negatives=100, candidates=3541)
        sampled ranks of 4 users, 100 of 3,541 candidates
        >>> sm.sampled_ranks({"gmf": [1, 3], "mlp": [2, 1]}, negatives=100,
        ...     candidates=3541)["mlp"].x
        array([1, 0])

        Ranks of two seeds, with a row for each user and seed:

        >>> columns = {"user": ["ann", "bob"] * 2, "seed": [1, 1, 2, 2], "rank": [1, 3, 2, 1]}
        >>> for table in sm.sampled_ranks(columns, negatives=100, candidates=3541, seeds="seed"):
        ...     print(table.seed_name, table.x)
        1 [0 2]
        2 [1 0]

    References:
        W. Krichene and S. Rendle, On Sampled Metrics for Item Recommendation, KDD 2020, section 4.
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
        negatives_column=negatives_column,
    )
    table_of = partial(
        sampled_of_columns,
        candidates=candidates,
        negatives=negatives,
        replacement=replacement,
        drawn=drawn,
        rng=np.random.default_rng(0),
    )
    return tables_of(ranks, layout, table_of, [candidates, negatives])


def sampled_of_columns(
    columns: Columns,
    *,
    candidates: PerUser | None = None,
    negatives: PerUser | None = None,
    replacement: bool = False,
    drawn: str = BY_USER,
    rng: np.random.Generator,
) -> SampledRanks:
    """Return ranks among sampled negatives; parameters and errors as in `sampled_ranks`.

    Ties with negatives are broken by `rng`: the rank is uniform among the ranks of the tie.
    """
    above, tied = columns.counts()
    m = columns.column_or_argument("negatives", negatives, 0)
    refuse_rows(
        (tied > 0) & (above + tied > m),
        lambda row: f"above ({above[row]}) and tied ({tied[row]}) are more than {m[row]} negatives",
        columns.location,
    )
    if tied.any():
        above = above + np.floor(rng.random(len(tied)) * (tied + 1)).astype(np.int64)
    return SampledRanks(
        x=above,
        negatives=m,
        candidates=columns.column_or_argument("candidates", candidates, 1),
        replacement=replacement,
        user=columns.users_of_ranks(),
        location=columns.location,
        findings=columns.remarks_on_ranks(above, candidates=candidates, negatives=negatives),
        source=columns.name,
        groups=columns.groups(),
        drawn=drawn,
        seed_name=columns.seed_name,
    )


def impossible_with_replacement(x: Ints, negatives: Ints, candidates: Ints) -> NDArray[np.bool_]:
    """Return whether x has probability 0, in double precision, at every true rank, as (rows,).

    The probability of x is largest where (r - 1) / (n - 1) is closest to x / m. If there is only
    one other item, x is 0 or m. Without replacement every x from 0 to m is possible. All arguments
    are (rows,).
    """
    pool = candidates - 1
    below = np.floor(x / np.maximum(negatives, 1) * pool)
    log_choose = gammaln(negatives + 1) - gammaln(x + 1) - gammaln(negatives - x + 1)
    logs = []
    for better in (below, np.minimum(below + 1, pool)):
        theta = better / np.maximum(pool, 1)
        worse_share = (pool - better) / np.maximum(pool, 1)
        logs.append(log_choose + xlogy(x, theta) + xlogy(negatives - x, worse_share))
    likeliest = np.maximum(*logs)
    return (negatives > 0) & (likeliest < np.log(np.finfo(np.float64).tiny))


def _why_impossible(negatives: int, candidates: int) -> str:
    if candidates == 2:
        return (
            f"with 2 candidates all {negatives} negatives are the same item, so that the rank "
            f"is 1 or {negatives + 1}"
        )
    return (
        f"the chance of that, of {negatives} negatives drawn from {candidates - 1}, is below "
        "1e-307 whatever the rank"
    )


def _sorted_bytes(rows: Ints) -> bytes:
    """Return the bytes of an array whose rows are sorted."""
    return rows[np.lexsort(rows.T)].tobytes()
