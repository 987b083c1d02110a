"""Ranked lists of items and their relevance, from tables as ranx's Run and Qrels.

A run is a table of user, item and score. Judgements are a table of user, item and relevance. Users and items are
compared as text, so 7 and "7" are the same.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import csr_array

from sampled_metrics._validation import Floats, Ints, check_labels, is_real, shown
from sampled_metrics.data.tables import refuse_rows
from sampled_metrics.errors import ConfigError, DataError
from sampled_metrics.metrics.formulas import FORMULAS, Formula
from sampled_metrics.metrics.metric import metrics_by_label
from sampled_metrics.ranks.exact import ExactRanks
from sampled_metrics.ranks.frames import Columns, are_lists, as_text
from sampled_metrics.ranks.read import Form, columns_or_table
from sampled_metrics.ranks.sampled import SampledRanks

LABELS = ("recall@10", "ndcg@10", "ap", "mrr")
"""The default metrics of lists."""

_NUMBERS = 2**24  # numbers of an array that holds the lists of some users


ListMetric = tuple[Formula, int | None]
"""A metric of lists and its cut-off."""


def list_metrics(metrics: Any) -> dict[str, ListMetric]:
    """Return the metrics of lists, by label as it is written; None stands for the default ones.

    Raises:
        ConfigError: there are none, one is unknown, no text or not of lists, or two are the same.
    """
    found = {}
    for label, each in metrics_by_label(check_labels(LABELS if metrics is None else metrics, "metrics")).items():
        if not isinstance(each.formula, Formula):
            raise ConfigError(f"{each.label} is no metric of ranked lists; those are {', '.join(FORMULAS)}")
        found[label] = each.formula, each.cutoff
    return found


@dataclass(frozen=True)
class Judgements:
    """The judged items of users.

    Attributes:
        users: (users,) ids as text, ascending.
        items: (items,) ids as text, ascending.
        pairs: (judgements,) the place of a user, times the number of items, plus the place of an item; ascending.
        grades: (judgements,) from 0.
        relevant_from: the lowest relevant grade; None if every grade above 0 is relevant.
        remarks: sentences on the table.
    """

    users: pd.Index
    items: pd.Index
    pairs: Ints
    grades: Floats
    relevant_from: float | None
    remarks: tuple[str, ...]

    @classmethod
    def of(cls, relevance: Any, relevant_from: float | None = None) -> "Judgements":
        """Return the judgements of a table; arguments and errors as in `evaluate`."""
        if relevant_from is not None and not (is_real(relevant_from) and 0 < relevant_from < np.inf):
            raise ConfigError(f"relevant_from must be a number above 0, not {shown(relevant_from)}")
        columns = _columns(columns_or_table(relevance, "relevance", Form()), "relevance", "relevance")
        if are_lists(relevance):  # its columns have names of ours
            columns = replace(columns, names={}, taken=())
        remarks = [*columns.remarks_on_taken, *columns.unused(("user", "item", "relevance"))]
        (user, users), (item, items) = _ids(columns, "user"), _ids(columns, "item")
        pairs = _distinct(user, item, items, columns)
        if "relevance" in columns:
            grades = columns.numbers("relevance", 0)
            refuse_rows(np.isinf(grades), lambda row: f"{columns.called('relevance')} is infinite", columns.place)
        else:
            grades = np.ones(len(columns))
            if relevant_from is not None:
                raise DataError(f"{columns.header}: lacks the column relevance, which relevant_from is for")
            remarks.append("The judged items have no column relevance: each is relevant, with grade 1.")
        relevant = grades > 0 if relevant_from is None else grades >= relevant_from
        if nothing := len(users) - len(np.unique(user[relevant])):
            remarks.append(f"{nothing} of {len(users)} users have no relevant item, and count with the value 0.")
        order = np.argsort(pairs)
        return cls(users, items, pairs[order], grades[order], relevant_from, tuple(remarks))

    def lists(self, run: Columns | ExactRanks | SampledRanks, name: str) -> tuple[csr_array, list[str]]:
        """Return the grades of the lists of a run, (users, longest) by user and place, and remarks on the run.

        The items are in the order of their scores; of equal scores, the last id as text comes first, as in trec_eval.

        Raises:
            DataError: the table is no run; the message names it.
        """
        columns = _columns(run, name, "score")
        about = [*columns.remarks_on_taken, *columns.unused(("user", "item", "score", "rank"))]
        if "score" not in columns and "rank" in columns:
            score = -columns.whole_numbers("rank", 1).astype(np.float64)
        else:
            columns.require("score")
            score = columns.numbers("score")
        (user, users), (item, items) = _ids(columns, "user"), _ids(columns, "item")
        _distinct(user, item, items, columns)
        user_here, item_here = self.users.get_indexer(users), self.items.get_indexer(items)
        if (user_here < 0).all():
            raise DataError(
                f"{name}: none of its users has a judged item; they are such as {shown(users[0])}, and those of the "
                f"judgements such as {shown(self.users[0])}"
            )
        rows = np.flatnonzero(user_here[user] >= 0)
        rows = rows[np.lexsort((-item[rows], -score[rows], user[rows]))]  # ids are ascending, as those of the users
        user, item, score = user_here[user[rows]], item_here[item[rows]], score[rows]
        pairs = np.where(item < 0, -1, user * len(self.items) + item)
        at = np.minimum(np.searchsorted(self.pairs, pairs), len(self.pairs) - 1)
        grade = np.where(self.pairs[at] == pairs, self.grades[at], 0.0)
        length = np.bincount(user, minlength=len(self.users))
        place, hit = np.arange(len(user)) - (np.cumsum(length) - length)[user], grade > 0
        remarks = [
            f"{count} of {len(found)} {what}."
            for count, found, what in (
                (int((user_here < 0).sum()), users, "users have no judged item, and are left out"),
                (int((length == 0).sum()), self.users, "users with judged items are missing, and count as empty lists"),
                (
                    _ties(user, score, grade),
                    self.users,
                    f"users have a relevant item with the score of others; {_ORDER}",
                ),
            )
            if count
        ]
        if (item_here < 0).all():
            remarks.append(
                f"none of its items is judged for any user; they are such as {shown(items[0])}, and the judged ones "
                f"such as {shown(self.items[0])}. Ids are compared as text."
            )
        shape = len(self.users), 1 + int(place[hit].max(initial=0))
        return csr_array((grade[hit], (user[hit], place[hit])), shape=shape), [
            f"{name}: {each}" for each in [*remarks, *about]
        ]

    def values(self, lists: csr_array, metrics: Iterable[ListMetric]) -> Floats:
        """Return the (metrics, users) values of lists, as `lists` returns them."""
        return np.stack([self._values(lists[:, :k], formula, k) for formula, k in metrics])

    def largest(self, metrics: Iterable[ListMetric]) -> Floats:
        """Return the (metrics,) largest values: 1, or the largest DCG that a user could have."""
        judged = self._judged
        return np.array([1.0 if each.bounded else self._values(judged, each, k).max() for each, k in metrics])

    def _values(self, lists: csr_array, formula: Formula, k: int | None) -> Floats:
        """Return the (users,) values of lists, computed for some users at a time."""
        judged, found = self._judged, []
        step = max(1, _NUMBERS // (lists.shape[1] + judged.shape[1]))
        for first in range(0, len(self.users), step):
            rows = slice(first, first + step)
            gains = formula.gains(lists[rows].toarray(), self.relevant_from)
            found.append(formula.of_lists(gains, formula.gains(judged[rows].toarray(), self.relevant_from), k))
        return np.concatenate(found)

    @cached_property
    def _judged(self) -> csr_array:
        """Return the grades above 0, (users, most of a user), the highest first."""
        user = self.pairs // len(self.items)
        order = np.lexsort((-self.grades, user))
        count = np.bincount(user, minlength=len(self.users))
        place = np.arange(len(user)) - (np.cumsum(count) - count)[user]
        return csr_array((self.grades[order], (user, place)), shape=(len(self.users), count.max()))


_ORDER = "of equal scores, the last item by its id as text comes first, as in trec_eval"


def _ties(user: Ints, score: Floats, grade: Floats) -> int:
    """Return the number of users with a relevant item that has the score of one of another grade; rows are sorted."""
    if not len(user):
        return 0
    first = np.flatnonzero(np.append(True, (np.diff(user) != 0) | (score[1:] != score[:-1])))
    differ = np.minimum.reduceat(grade, first) < np.maximum.reduceat(grade, first)
    return len(np.unique(user[first[differ]]))


def _columns(given: Columns | ExactRanks | SampledRanks, name: str, value: str) -> Columns:
    """Return a table of columns user, item and a third."""
    if not isinstance(given, Columns):
        raise DataError(f"{name}: is a {type(given).__name__}, which holds ranks, not lists of items")
    columns = given.by_usual_name("item").by_usual_name(value)
    columns.require("user", "item")
    return columns


def _ids(columns: Columns, kind: str) -> tuple[Ints, pd.Index]:
    """Return the (rows,) places of the ids of a column, and the distinct ids as text, ascending."""
    codes, distinct = pd.factorize(columns.frame[kind])
    text = as_text(pd.Series(distinct))
    refuse_rows(np.append(text == "", True)[codes], lambda row: f"{columns.called(kind)} is empty", columns.place)
    number, ids = pd.factorize(text, sort=True)
    return number[codes], pd.Index(ids)


def _distinct(user: Ints, item: Ints, items: pd.Index, columns: Columns) -> Ints:
    """Return the (rows,) numbers of pairs; raise DataError if one is there twice."""
    pairs = user * len(items) + item
    again = pd.Series(pairs).duplicated()
    refuse_rows(again, lambda row: f"item {shown(items[item[row]])} of this user has an earlier row too", columns.place)
    return pairs
