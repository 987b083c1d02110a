"""Alignment of pandas objects with the ids of users and items.

Rows and columns with labels are brought into the order of the ids. Ids are those that the caller
gives, or else the labels of the first object that has some. Labels are compared as text. An index
by default, 0, 1, 2, …, has no labels: its entries are places.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from sampled_metrics.checks import Ints, shown
from sampled_metrics.core.data.ids import as_text, column_of
from sampled_metrics.core.data.labels import counts_rows, has_labels
from sampled_metrics.core.ranks.frames import NAMES, plain
from sampled_metrics.errors import DataError
from sampled_metrics.ranking.inputs import Factors, Ids, PairsLike, ScoreFunction, is_table
from sampled_metrics.ranking.layout import require_numbers_alone


@dataclass(frozen=True)
class Inputs:
    """Arguments of a ranker, whose rows and columns are in the order of the ids."""

    scores: Any
    training: PairsLike
    held_out: Any
    user_ids: ArrayLike | None
    item_ids: ArrayLike | None


def aligned(
    scores: Any,
    training: PairsLike,
    held_out: Any,
    user_ids: ArrayLike | None,
    item_ids: ArrayLike | None,
) -> Inputs:
    """Return the arguments of `rank`, with labels of pandas objects as ids and all in their order.

    Raises:
        DataError: labels contradict the ids, or each other: one is missing, unknown or there twice.
    """
    user_ids = _without_index(user_ids, "user_ids")
    item_ids = _without_index(item_ids, "item_ids")
    training = _pairs(training, "training")
    factors = scores if isinstance(scores, tuple) else ()
    for name, data in (("training", training), ("held_out", held_out)):
        if _is_matrix(data):
            require_numbers_alone(name, data)
    axes: list[_Axis] = []
    if not factors:
        axes += _axes(scores, "scores", ("user", "item"))
    elif len(factors) == 2:
        axes += _axes(factors[0], "factors of users", ("user",))
        axes += _axes(factors[1], "factors of items", ("item",))
    for name, data in (("training", training), ("held_out", held_out)):
        if _is_matrix(data):
            axes += _axes(data, name, ("user", "item"))
    knows_items = item_ids is not None or any(
        axis.kind == "item" and not counts_rows(axis.labels) for axis in axes
    )
    held_out = _pairs(held_out, "held_out", one_each=True, negative_is_none=not knows_items)
    scores = aligned_scores(scores, None, None)
    if not axes:
        return Inputs(scores, training, held_out, user_ids, item_ids)
    users = _ids("user", user_ids, axes)
    items = _ids("item", item_ids, axes)
    arguments = {"scores": scores, "training": training, "held_out": held_out}
    if users is not None and user_ids is None:
        _refuse_other_order(users, arguments, axis=0)
    if items is not None and item_ids is None:
        _refuse_other_order(items, arguments, axis=1)
    scores = aligned_scores(scores, users, items)
    if _is_matrix(training):
        training = in_order(training, "training", users, items).to_numpy()
    if _is_matrix(held_out):
        held_out = in_order(held_out, "held_out", users, items).to_numpy()
    return Inputs(
        scores,
        training,
        held_out,
        user_ids if users is None else users.values,
        item_ids if items is None else items.values,
    )


def aligned_scores(scores: Any, users: Ids | None, items: Ids | None) -> Any:
    """Return scores in the order of the users and items, if they are known.

    Functions are unchanged.
    """
    if isinstance(scores, tuple) and len(scores) == 2:
        user_factors, item_factors = _same_dimensions(*scores)
        return (
            in_order(user_factors, "factors of users", users),
            in_order(item_factors, "factors of items", items),
        )
    return in_order(scores, "scores", users, items)


def aligned_blocks(scores: ScoreFunction | Factors, users: Ids, items: Ids) -> Any:
    """Return a function of scores whose frames have the order of the users and the items."""
    if isinstance(scores, tuple):
        return scores

    def in_order_of_ids(block: slice) -> Any:
        answer = scores(block)
        if not isinstance(answer, pd.DataFrame):
            return answer
        index = answer.index
        is_unnamed = not isinstance(index, pd.MultiIndex) and index.name is None
        # of a slice of a larger frame
        if is_unnamed and np.array_equal(index, np.arange(block.start, block.stop)):
            answer = answer.set_axis(range(len(index)), axis="index")
        users_of_block = Ids(users.kind, users.values[block], users.is_given)
        return in_order(answer, "scores", users_of_block, items)

    return in_order_of_ids


def in_order(data: Any, name: str, rows: Ids | None, columns: Ids | None = None) -> Any:
    """Return a frame, or a Series, in the order of the ids of its rows and columns.

    Other data are unchanged.

    Raises:
        DataError: labels and ids differ, or a column is an index.
    """
    if not isinstance(data, pd.DataFrame | pd.Series):
        return data
    require_numbers_alone(name, data)
    order = None if rows is None else _order(data.index, rows, f"the index of {name}")
    ordered = data if order is None else data.iloc[order]
    if not isinstance(data, pd.DataFrame) or columns is None:
        return ordered
    order = _order(data.columns, columns, f"the columns of {name}")
    return ordered if order is None else ordered.iloc[:, order]


def _order(labels: pd.Index, ids: Ids, name: str) -> Ints | None:
    """Return the (ids,) places of ids among labels.

    It is None if they are in this order, or there are no labels.

    Raises:
        DataError: a label is unknown, missing or there twice; or the numbers 0, 1, 2, … may be
            places or ids.
    """
    if isinstance(labels, pd.RangeIndex) and counts_rows(labels):
        return None
    if isinstance(labels, pd.MultiIndex):
        raise DataError(f"{name}: has several levels; it may have one, the {ids.kind}s")
    if np.array_equal(labels, ids.values):
        return None
    text = _text(labels)
    if text.equals(ids.text):
        return None
    place = text.get_indexer(ids.text) if text.is_unique else None
    is_known = text.isin(ids.text)
    if counts_rows(labels):  # not by default, as after a file
        if place is None or not is_known.all() or (place < 0).any():
            return None
        raise DataError(
            f"{name}: 0 to {len(labels) - 1} may be places, or {ids.kind}s in another order; call "
            f"it {ids.kind} if they are ids, or give .to_numpy()"
        )
    hint = f"; give .to_numpy() if it is in the order of the {ids.kind}s"
    if place is None:
        raise DataError(f"{name}: has the {ids.kind} {shown(labels[text.duplicated()][0])} twice")
    if not is_known.all():
        label = shown(labels[int(np.argmin(is_known))])
        raise DataError(f"{name}: {ids.kind} {label} is not {ids.where}{hint}{ids.hint}")
    is_missing = place < 0
    if is_missing.any():
        lacking = shown(ids.values[int(np.argmax(is_missing))])
        raise DataError(f"{name}: lacks the {ids.kind} {lacking}{hint}")
    return np.asarray(place)


def _text(labels: Any) -> pd.Index:
    return pd.Index(as_text(column_of(np.asarray(labels))))


def _is_matrix(pairs: PairsLike) -> bool:
    """Return whether pairs are a (users, items) frame."""
    return isinstance(pairs, pd.DataFrame) and not is_table(pairs)


@dataclass(frozen=True)
class _Axis:
    """The rows or the columns of a frame.

    Attributes:
        kind: what they are, user or item.
        labels: their labels.
        name: what messages call them, such as "the index of scores".
    """

    kind: str
    labels: pd.Index
    name: str


def _axes(data: Any, name: str, kinds: Sequence[str]) -> list[_Axis]:
    """Return the axes of a frame of these kinds, but for those with an index by default."""
    if not isinstance(data, pd.DataFrame):
        return []
    axes = [_Axis(kinds[0], data.index, f"the index of {name}")]
    if len(kinds) > 1:
        axes.append(_Axis(kinds[1], data.columns, f"the columns of {name}"))
    return [
        axis
        for axis in axes
        if not (isinstance(axis.labels, pd.RangeIndex) and counts_rows(axis.labels))
    ]


def _ids(kind: str, argument: ArrayLike | None, axes: Sequence[_Axis]) -> Ids | None:
    """Return the ids of an argument, or else the first labels of this kind, or else None."""
    if argument is not None:
        return Ids.from_given(kind, argument, int(np.size(argument)))
    labelled = [axis for axis in axes if axis.kind == kind and not counts_rows(axis.labels)]
    if not labelled:
        return None
    labels = labelled[0].labels
    name = labelled[0].name
    if isinstance(labels, pd.MultiIndex):
        raise DataError(f"{name}: has several levels; it may have one, the {kind}s")
    ids = Ids.from_given(kind, np.asarray(labels), len(labels), name)
    users = [label for label in labels if isinstance(label, str) and plain(label) in NAMES["user"]]
    if kind == "item" and users:
        raise DataError(
            f"{name}: has {shown(users[0])} among the items; make it the index, by set_index"
        )
    return ids


def _refuse_other_order(ids: Ids, arguments: Mapping[str, Any], axis: int) -> None:
    """Raise DataError if labels are 0, 1, 2, … in another order, and another matrix has places.

    The places may be those of the labels, or the numbers 0, 1, 2, …. `axis` is that of users, 0, or
    of items, 1, in a matrix.
    """
    numbers = pd.Index(map(str, range(len(ids.values))))
    if ids.text.equals(numbers) or not ids.text.isin(numbers).all():
        return
    for name, data in arguments.items():
        is_factors = isinstance(data, tuple)
        part = data[axis] if is_factors and len(data) == 2 else data
        if isinstance(part, pd.DataFrame):
            has_places = not is_table(part) and counts_rows(part.axes[0 if is_factors else axis])
        else:
            has_places = len(getattr(part, "shape", ())) == 2
        if has_places:
            raise DataError(
                f"{name}: its {ids.kind}s may be in the order of {ids.name}, which is not 0, "
                "1, 2, …, or in that of these numbers; give it labels, too, or give "
                f"{ids.kind}_ids and arrays in one order"
            )


def _without_index(ids: Any, name: str) -> Any:
    """Return ids in their own order.

    Raises:
        DataError: a Series has them in an order that its index may change.
    """
    if not isinstance(ids, pd.Series) or not has_labels(ids):
        return ids
    index = ids.index
    is_unnamed = not isinstance(index, pd.MultiIndex) and index.name is None
    has_rows_left_out = (
        is_unnamed
        and pd.api.types.is_integer_dtype(index.dtype)
        and index.is_monotonic_increasing
        and index.is_unique
    )
    if has_rows_left_out or _text(index).equals(_text(ids)):
        return ids.to_numpy()
    raise DataError(
        f"{name}: is a Series with labels, such as {shown(index[0])} of {shown(ids.iloc[0])}; give "
        f"{name}.to_numpy() if it is in the order of the scores"
    )


def _same_dimensions(users: Any, items: Any) -> tuple[Any, Any]:
    """Return two factors whose columns are in the order of the users' if both have labels.

    Raises:
        DataError: some of the labels are in both frames, and others are not.
    """
    for factors, kind in ((users, "user"), (items, "item")):
        for column in factors.columns if isinstance(factors, pd.DataFrame) else ():
            if isinstance(column, str) and plain(column) in NAMES[kind]:
                raise DataError(
                    f"factors of {kind}s: the column {column} is no factor; make it the index, "
                    "by set_index"
                )
    if not (isinstance(users, pd.DataFrame) and isinstance(items, pd.DataFrame)):
        return users, items
    if counts_rows(users.columns) or counts_rows(items.columns):
        return users, items
    if users.columns.equals(items.columns):
        return users, items
    is_of_items = users.columns.isin(items.columns)
    if not is_of_items.any():
        return users, items
    is_of_users = items.columns.isin(users.columns)
    if not (is_of_items.all() and is_of_users.all() and items.columns.is_unique):
        wrong = [*users.columns[~is_of_items], *items.columns[~is_of_users], *items.columns]
        raise DataError(
            f"factors: {shown(wrong[0])} is not a column of both frames, or is there twice"
        )
    return users, items[users.columns]


def _pairs(pairs: Any, name: str, *, one_each: bool = False, negative_is_none: bool = False) -> Any:
    """Return a Series with labels as a table of users and items; other pairs are unchanged.

    Its values are items of the users in its index, where a missing one means none, and maybe a
    negative one, too; or its index has users and items, and no value is 0. Numbers without a name
    are users if there is one item of each (`one_each`), and else rows.
    """
    if not isinstance(pairs, pd.Series) or not has_labels(pairs):
        return pairs
    index = pairs.index
    levels = [plain(level) for level in pairs.index.names if level is not None]
    if isinstance(index, pd.MultiIndex):
        if (pd.to_numeric(pairs, errors="coerce") == 0).any():
            raise DataError(
                f"{name}: has pairs with the value 0; leave out those that are not there"
            )
        return pairs.to_frame("value")
    if not levels and not one_each and pd.api.types.is_integer_dtype(index.dtype):
        return pairs.to_numpy()
    values = pairs[pairs.notna()]
    if negative_is_none and pd.api.types.is_numeric_dtype(values.dtype):
        values = values[values >= 0]
    if levels and levels[0] in NAMES["item"]:
        if plain(pairs.name) not in NAMES["user"]:
            raise DataError(
                f"{name}: the index of the Series is called {index.name}; it has users, and the "
                "values items"
            )
        return pd.DataFrame({"user": values.to_numpy(), "item": np.asarray(values.index)})
    return pd.DataFrame({"user": np.asarray(values.index), "item": values.to_numpy()})


def scores_of_pairs(scores: Any, users: NDArray[Any], items: NDArray[Any]) -> Any:
    """Return a Series of scores in the order of the (pairs,) users and items that were asked for.

    Its labels are those users or items, in their order; both, in any order; or the numbers of the
    pairs from 0.

    Raises:
        DataError: they are others.
    """
    if not isinstance(scores, pd.Series) or counts_rows(scores.index) or len(scores) != len(users):
        return scores
    index = scores.index
    user = _text(users)
    item = _text(items)
    if isinstance(index, pd.MultiIndex):
        if index.nlevels == 2:
            labels = [_text(index.get_level_values(level)) for level in range(2)]
            labelled = pd.MultiIndex.from_arrays(labels)
            if labelled.is_unique:
                order = labelled.get_indexer(pd.MultiIndex.from_arrays([user, item]))
                if (order >= 0).all():
                    return scores.iloc[order]
    elif _text(index).equals(user) or _text(index).equals(item):
        return scores
    elif index.is_unique and index.name is None and index.isin(np.arange(len(scores))).all():
        return scores.iloc[index.get_indexer(np.arange(len(scores)))]
    raise DataError(
        f"scores of pairs: the Series has labels, such as {shown(index[0])}, that are not the "
        "users and items that were asked for; give .to_numpy() if it is in their order"
    )
