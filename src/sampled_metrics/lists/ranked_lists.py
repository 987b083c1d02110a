"""Ranked lists of items and their relevance, from tables as ranx's Run and Qrels.

A run is a table of user, item and score. Judgements are a table of user, item and relevance. Users
and items are compared as text, so 7 and "7" are the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import csr_array

from sampled_metrics.checks import Floats, Ints, is_real, shown
from sampled_metrics.core.data.tables import refuse_rows
from sampled_metrics.core.findings import Finding, from_source
from sampled_metrics.core.metrics import METRICS, Auc, Formula, Metric
from sampled_metrics.core.ranks.frames import Columns
from sampled_metrics.core.ranks.reading import Layout, source_of, tables_of
from sampled_metrics.core.ranks.table import OutcomeValues, Table
from sampled_metrics.errors import ConfigError, DataError

_NUMBERS = 2**24  # numbers of an array that holds the lists of some users


@dataclass(frozen=True)
class Judgements:
    """The judged items of users.

    Attributes:
        users: (users,) ids as text, ascending.
        items: (items,) ids as text, ascending.
        pairs: (judgements,) the place of a user, times the number of items, plus the place of an
            item; ascending.
        grades: (judgements,) from 0.
        relevant_from: the lowest relevant grade; None if every grade above 0 is relevant.
        findings: on the table.
        groups: (users,) the groups of the users; None if there are none.
    """

    users: pd.Index
    items: pd.Index
    pairs: Ints
    grades: Floats
    relevant_from: float | None
    findings: tuple[Finding, ...]
    groups: NDArray[np.str_] | None = None

    @classmethod
    def from_table(
        cls,
        relevance: Any,
        relevant_from: float | None,
        groups: str | None,
        names: Mapping[str, str],
    ) -> Judgements:
        """Return the judgements of a table; arguments and errors as in `ranked_lists`.

        The table may have some of `names`, the columns of the lists.
        """
        if relevant_from is not None and not (
            is_real(relevant_from) and 0 < relevant_from < np.inf
        ):
            raise ConfigError(f"relevant_from must be a number above 0, not {shown(relevant_from)}")
        columns = source_of(relevance, "relevance", "relevance")
        names = {column: name for column, name in names.items() if name in columns.frame}
        columns = columns.named(names, False, groups)
        columns.require("user", "item")
        findings = [*columns.remarks(("user", "item", "relevance"))]
        (user, users) = columns.ids("user")
        (item, items) = columns.ids("item")
        pairs = _distinct(user, item, items, columns)
        if "relevance" not in columns:
            if relevant_from is not None:
                raise DataError(
                    f"{columns.name}: lacks the column relevance, which relevant_from is for"
                )
            findings.append(Finding("one-grade"))
        grades = _grades(columns)
        is_relevant = grades > 0 if relevant_from is None else grades >= relevant_from
        without_relevant = len(users) - len(np.unique(user[is_relevant]))
        if without_relevant:
            counts = {"users": without_relevant, "all": len(users)}
            findings.append(Finding("nothing-relevant", values=counts))
        order = np.argsort(pairs)
        return cls(
            users,
            items,
            pairs[order],
            grades[order],
            relevant_from,
            tuple(findings),
            _groups_of_users(columns, user),
        )

    def of_users(self, positions: Ints) -> Judgements:
        """Return the judgements of the users at some ascending positions."""
        position = np.full(len(self.users), -1)
        position[positions] = np.arange(len(positions))
        user, item = np.divmod(self.pairs, len(self.items))
        kept = position[user] >= 0
        return replace(
            self,
            users=self.users[positions],
            pairs=position[user[kept]] * len(self.items) + item[kept],
            grades=self.grades[kept],
            groups=None if self.groups is None else self.groups[positions],
        )

    def grades_of(self, columns: Columns) -> tuple[csr_array, list[Finding]]:
        """Return the (users, longest) grades of the lists of a run, by place, and findings on it.

        The items are in the order of their scores; of equal scores, the last id as text comes
        first, as in trec_eval.

        Raises:
            DataError: the table is not a run; the message names it.
        """
        # --- the rows of the run
        name = columns.name
        columns.require("user", "item", *([] if "rank" in columns else ["score"]))
        (user, users) = columns.ids("user")
        (item, items) = columns.ids("item")
        score = _scores(columns, user)
        _distinct(user, item, items, columns)
        user_here = self.users.get_indexer(users)
        item_here = self.items.get_indexer(items)
        if (user_here < 0).all():
            raise DataError(
                f"{name}: none of its users has a judged item; they are such as {shown(users[0])}, "
                f"and those of the judgements such as {shown(self.users[0])}"
            )

        # --- the rows of judged users, in the order of their lists; all ids are ascending
        rows = np.flatnonzero(user_here[user] >= 0)
        rows = rows[np.lexsort((-item[rows], -score[rows], user[rows]))]
        user = user_here[user[rows]]
        item = item_here[item[rows]]
        score = score[rows]
        position = _places(user)
        pairs = np.where(item < 0, -1, user * len(self.items) + item)
        nearest = np.minimum(np.searchsorted(self.pairs, pairs), len(self.pairs) - 1)
        grade = np.where(self.pairs[nearest] == pairs, self.grades[nearest], 0.0)
        has_grade = grade > 0
        shape = len(self.users), 1 + int(position[has_grade].max(initial=0))
        cells = (user[has_grade], position[has_grade])
        grades = csr_array((grade[has_grade], cells), shape=shape)

        # --- findings
        counts = {
            "not-judged": (int((user_here < 0).sum()), users),
            "empty-lists": (len(self.users) - len(np.unique(user)), self.users),
            "equal-scores": (_ties(user, score, grade), self.users),
        }
        findings = [
            Finding(kind, values={"users": count, "all": len(all_users)})
            for kind, (count, all_users) in counts.items()
            if count
        ]
        if (item_here < 0).all():
            findings.append(
                Finding("items-not-judged", values={"item": items[0], "judged": self.items[0]})
            )
        findings += columns.remarks(("user", "item", "rank" if _is_by_rank(columns) else "score"))
        return grades, from_source(findings, name)

    def values(self, lists: csr_array, metric: Metric) -> Floats:
        """Return the (users,) values of lists from `grades_of`, for some users at a time."""
        formula = metric.formula
        k = metric.cutoff
        assert isinstance(formula, Formula)  # `RankedLists.check_metrics` refuses others
        lists = lists[:, :k]
        judged = self.judged
        values = []
        step = max(1, _NUMBERS // (lists.shape[1] + judged.shape[1]))
        for start in range(0, len(self.users), step):
            rows = slice(start, start + step)
            gains = formula.gains(lists[rows].toarray(), self.relevant_from)
            best_gains = formula.gains(judged[rows].toarray(), self.relevant_from)
            values.append(formula.of_lists(gains, best_gains, k))
        return np.concatenate(values)

    def equals(self, judgements: Judgements) -> bool:
        """Return whether other judgements are the same."""
        return self is judgements or (
            self.users.equals(judgements.users)
            and self.items.equals(judgements.items)
            and np.array_equal(self.pairs, judgements.pairs)
            and np.array_equal(self.grades, judgements.grades)
            and self.relevant_from == judgements.relevant_from
        )

    @cached_property
    def judged(self) -> csr_array:
        """Return the grades above 0, (users, most of a user), the highest first."""
        user = self.pairs // len(self.items)
        order = np.lexsort((-self.grades, user))
        position = _places(user)
        shape = len(self.users), 1 + position.max()
        return csr_array((self.grades[order], (user, position)), shape=shape)


@dataclass(frozen=True, repr=False)
class RankedLists(Table):
    """Ranked lists of a recommender, with the judged items of the users.

    Attributes:
        judgements: the judged items.
        grades: (users, longest) grades of the items of each judged user's list, by place; 0 if they
            are not relevant.
        findings: on how the lists and the judgements were read; notes and cautions have them in
            words.
        source: name of the file or table that the lists are from.
        seed_name: the name of the seed in a column of seeds; empty if it is not known.
    """

    judgements: Judgements
    grades: csr_array
    findings: tuple[Finding, ...] = ()
    source: str = ""
    seed_name: str = ""

    per_row: ClassVar[tuple[str, ...]] = ("grades",)
    kind: ClassVar[str] = "ranked lists"
    title: ClassVar[str] = "Ranked lists of {names}"
    reader: ClassVar[str] = "ranked_lists"
    taken_by: ClassVar[tuple[str, ...]] = ("evaluate", "compare", "report")
    has_one_relevant_item: ClassVar[bool] = False
    default_metrics: ClassVar[tuple[str, ...]] = ("recall@10", "ndcg@10", "ap", "mrr")
    description: ClassVar[str] = ""

    def __len__(self) -> int:
        return len(self.judgements.users)

    def __repr__(self) -> str:
        judged = len(self.judgements.pairs)
        return (
            f"{self.kind} of {len(self):,} user{'s' * (len(self) != 1)}, with {judged:,} judged "
            "items"
        )

    @property
    def groups(self) -> NDArray[np.str_] | None:  # type: ignore[override]
        """The (users,) groups of the judged users; None if there are none."""
        return self.judgements.groups

    @property
    def user(self) -> NDArray[np.generic]:  # type: ignore[override]
        """The (users,) judged users."""
        return np.asarray(self.judgements.users)

    def rows(self, positions: Ints) -> RankedLists:
        """Return the lists of the users at some ascending positions."""
        return replace(super().rows(positions), judgements=self.judgements.of_users(positions))

    @property
    def user_numbers(self) -> Ints:
        """The (users,) numbers of the judged users from 0."""
        return np.arange(len(self))

    @property
    def facts(self) -> dict[str, str]:
        """Return the number of judged users."""
        return {"Judged users": str(len(self))}

    def check_metrics(self, metrics: Mapping[str, Metric]) -> None:
        """Raise ConfigError if a metric is not one of ranked lists."""
        names = [name for name, formula in METRICS.items() if not isinstance(formula, Auc)]
        for metric in metrics.values():
            if not isinstance(metric.formula, Formula):
                raise ConfigError(
                    f"{metric.label} is not a metric of ranked lists; those are {', '.join(names)}"
                )

    @property
    def outcomes(self) -> Floats:
        """Return (users, 1) sums of the grades of a list, with a random weight of each place.

        Lists that differ have different sums.
        """
        weights = np.random.default_rng(0).random(self.grades.shape[1])
        return np.asarray(self.grades @ weights)[:, np.newaxis]

    def outcome_values(self, metrics: Sequence[Metric]) -> OutcomeValues:
        """Return the values of the lists; each user is an outcome.

        The best list has the largest DCG.
        """
        values = np.stack([self.judgements.values(self.grades, metric) for metric in metrics])
        judged = self.judgements.judged
        largest = np.ones(len(metrics))
        for index, metric in enumerate(metrics):
            if not getattr(metric.formula, "bounded", False):
                largest[index] = self.judgements.values(judged, metric).max()
        return OutcomeValues(values, self.user_numbers, np.zeros_like(largest), largest, largest)

    def pair(self, others: Sequence[Any], names: Sequence[str]) -> tuple[list[Ints], list[Finding]]:
        """Return the users of the judgements; raise DataError if tables have other judgements."""
        for name, table in zip(names[1:], others, strict=True):
            if not (isinstance(table, RankedLists) and self.judgements.equals(table.judgements)):
                raise DataError(
                    f"{names[0]} and {name} have different judged items; read them with the same "
                    "relevance"
                )
        return [self.user_numbers] * (1 + len(others)), []


def ranked_lists(
    lists: Any,
    *,
    relevance: Any,
    relevant_from: float | None = None,
    by: str | None = None,
    seeds: str | None = None,
    user_column: str | None = None,
    item_column: str | None = None,
    score_column: str | None = None,
    rank_column: str | Sequence[str] | None = None,
    zero_based: bool = False,
    groups: str | None = None,
) -> RankedLists | list[RankedLists] | dict[str, RankedLists | list[RankedLists]]:
    """Read ranked lists of items, with the judged items of the users.

    Args:
        lists: a table, or the path of a file, with the columns user, item and score, or rank in
            place of score; or a dict {user: {item: score}}, as ranx and pytrec_eval have it; or a
            Series by user and item. A named index of pandas is a column. A mapping from the names
            of recommenders to any of these gives a mapping.
        relevance: the judged items of users: a table with the columns user, item and relevance (a
            grade from 0), or a dict {user: {item: grade}}, or a Series by user and item. Without
            the column relevance, all have grade 1. Other items have grade 0. Users of the lists
            without a judged item are left out; judged users without a list count as an empty one.
        relevant_from: the lowest relevant grade, for metrics other than NDCG and DCG. The default
            is any above 0.
        by: the column of a table that names the recommenders of its rows. The result is then a
            mapping from these names.
        seeds: the column of the seeds of a training, as in `exact_ranks`. A TREC run has its name
            in the column run, so that ``by="run"``, or ``seeds="run"``, reads a file with several.
        user_column: the column of users, if it has another name; the judged items have the same or
            a usual name.
        item_column: the column of items, likewise.
        score_column: the column of scores, if it has another name, or if there are other ranks.
        rank_column: the column of ranks in the list, if it has another name, or if there are other
            scores.
        zero_based: whether these ranks start at 0, in place of 1.
        groups: the column of `relevance` that has the groups of the users, for metrics by group; it
            is the same for all items of a user.

    Returns:
        The lists, or a list of one table for each seed, or a mapping from the names of several
        recommenders to either.

    Raises:
        DataError: a table lacks a column, has no number somewhere, or a user's item twice; no user
            of the lists has a judged item; or ranks and scores have different orders, and neither
            is named.
        ConfigError: `relevant_from` is not a number above 0, or the name of a column is not text.

    Examples:
        The lists of two users, of whom the second has two relevant items:

        >>> import sampled_metrics as sm
        >>> run = {"ann": {"film": 0.9, "song": 0.4}, "bob": {"film": 0.2, "book": 0.8,
        ...     "song": 0.5}}
        >>> lists = sm.ranked_lists(run, relevance={"ann": {"song": 3}, "bob": {"book": 1,
        ...     "film": 2}})
        >>> lists
        ranked lists of 2 users, with 3 judged items
        >>> result = sm.evaluate(lists, metrics=["ndcg@2", "map", "dcg@2"])
        >>> [(row.metric, round(row.value, 3)) for row in result.itertuples()]
        [('ndcg@2', 0.506), ('map', 0.667), ('dcg@2', 1.446)]

        Two seeds, of which the second ranks the relevant item first:

        >>> run = {"user": ["ann"] * 4, "seed": [1, 1, 2, 2], "item": ["film", "song"] * 2,
        ...     "rank": [1, 2, 2, 1]}
        >>> by_seed = sm.ranked_lists(run, relevance={"ann": {"song": 1}}, seeds="seed")
        >>> values = [lists.outcome_values([sm.metric("mrr")]).values for lists in by_seed]
        >>> [of_metric.tolist() for [of_metric] in values]
        [[0.5], [1.0]]

    References:
        K. Järvelin and J. Kekäläinen, Cumulated Gain-Based Evaluation of IR Techniques, ACM
        Transactions on Information Systems 20, 2002.
    """
    layout = Layout.of(
        ("item",),
        by=by,
        seeds=seeds,
        zero_based=zero_based,
        rank_column=rank_column,
        user_column=user_column,
        item_column=item_column,
        score_column=score_column,
    )
    judgements = Judgements.from_table(relevance, relevant_from, groups, layout.names)

    def table_of(columns: Columns) -> RankedLists:
        grades, on_lists = judgements.grades_of(columns)
        findings = (*judgements.findings, *on_lists)
        return RankedLists(judgements, grades, findings, columns.name, seed_name=columns.seed_name)

    return tables_of(lists, layout, table_of)


def _is_by_rank(columns: Columns) -> bool:
    """Return whether the column of ranks, not the scores, orders the lists.

    Ranks order the lists if the caller named their column, or there are no scores.
    """
    return "rank" in columns.names or "score" not in columns


def _scores(columns: Columns, user: Ints) -> Floats:
    """Return (rows,) scores by which the lists are in order, the highest first.

    Raises DataError if there are ranks and scores, neither is named, and their orders differ.
    """
    if _is_by_rank(columns):
        return -columns.whole_numbers("rank", columns.best_rank).astype(np.float64)
    scores = columns.numbers("score")
    if "rank" in columns and "score" not in columns.names:
        order = np.lexsort((columns.numbers("rank"), user))
        is_higher = scores[order[1:]] > scores[order[:-1]]
        is_wrong = is_higher & (user[order[1:]] == user[order[:-1]])
        refuse_rows(
            np.isin(np.arange(len(user)), order[1:][is_wrong]),
            lambda row: (
                f"{columns.called('rank')} and {columns.called('score')} have different orders; "
                "name the right column with rank_column or score_column (--rank-column, "
                "--score-column)"
            ),
            columns.location,
        )
    return scores


def _grades(columns: Columns) -> Floats:
    """Return the (rows,) grades, 1 without a column; raise DataError if one is infinite."""
    if "relevance" not in columns:
        return np.ones(len(columns))
    grades = columns.numbers("relevance", 0)
    refuse_rows(
        np.isinf(grades), lambda row: f"{columns.called('relevance')} is infinite", columns.location
    )
    return grades


def _places(user: Ints) -> Ints:
    """Return the (rows,) places from 0 of rows in the lists of their users, which are ascending."""
    return np.arange(len(user)) - np.searchsorted(user, user)


def _ties(user: Ints, score: Floats, grade: Floats) -> int:
    """Return the number of users with a relevant item that ties with an item of another grade.

    The rows are sorted by user and score.
    """
    if not len(user):
        return 0
    is_new_score = (np.diff(user) != 0) | (score[1:] != score[:-1])
    starts = np.flatnonzero(np.append(True, is_new_score))
    differ = np.minimum.reduceat(grade, starts) < np.maximum.reduceat(grade, starts)
    return len(np.unique(user[starts[differ]]))


def _groups_of_users(columns: Columns, user: Ints) -> NDArray[np.str_] | None:
    """Return the groups of the users from 0, if there are groups.

    Raises:
        DataError: a user has several.
    """
    groups = columns.groups()
    if groups is None:
        return None
    _, first_row = np.unique(user, return_index=True)
    group_of_user = groups[first_row]
    refuse_rows(
        group_of_user[user] != groups,
        lambda row: f"this user is in another group by {columns.grouped_by}, too",
        columns.location,
    )
    return group_of_user


def _distinct(user: Ints, item: Ints, items: pd.Index, columns: Columns) -> Ints:
    """Return the (rows,) numbers of pairs; raise DataError if one is there twice."""
    pairs = user * len(items) + item
    is_repeated = pd.Series(pairs).duplicated()
    refuse_rows(
        is_repeated,
        lambda row: (
            f"item {shown(items[item[row]])} of this user has an earlier row; if a column has "
            "recommenders or seeds, name it with by or seeds"
        ),
        columns.location,
    )
    return pairs
