"""Alignment of pandas objects: rows and columns with labels are brought into the order of the ids
of users and items.

Ids are those that the caller gives, or else the labels of the first object that has some. Labels
are compared as text. An index by default, 0, 1, 2, …, has no labels: its entries are places.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from sampled_metrics._validation import Ints, shown
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
    """Return the arguments of `rank` with the labels of pandas objects as ids, and all objects in
    their order.

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
    axes = [
        *([] if factors else _axes(scores, "scores", ("user", "item"))),
        *(_axes(factors[0], "factors of users", ("user",)) if len(factors) == 2 else []),
        *(_axes(factors[1], "factors of items", ("item",)) if len(factors) == 2 else []),
        *(_axes(training, "training", ("user", "item")) if _is_matrix(training) else []),
        *(_axes(held_out, "held_out", ("user", "item")) if _is_matrix(held_out) else []),
    ]
    knows_items = item_ids is not None or any(
        kind == "item" and not counts_rows(index) for kind, index, _ in axes
    )
    held_out = _pairs(held_out, "held_out", one_each=True, negative_is_none=not knows_items)
    scores = aligned_scores(scores, None, None)
    if not axes:
        return Inputs(scores, training, held_out, user_ids, item_ids)
    users = _ids("user", user_ids, axes)
    items = _ids("item", item_ids, axes)
    arguments = {"scores": scores, "training": training, "held_out": held_out}
    for ids, given, axis in ((users, user_ids, 0), (items, item_ids, 1)):
        if ids is not None and given is None:
            _refuse_other_order(ids, arguments, axis)
    return Inputs(
        aligned_scores(scores, users, items),
        in_order(training, "training", users, items).to_numpy()
        if _is_matrix(training)
        else training,
        in_order(held_out, "held_out", users, items).to_numpy()
        if _is_matrix(held_out)
        else held_out,
        user_ids if users is None else users.values,
        item_ids if items is None else items.values,
    )


def aligned_scores(scores: Any, users: Ids | None, items: Ids | None) -> Any:
    """Return scores in the order of the users and items, if they are known; functions are
    unchanged.
    """
    if isinstance(scores, tuple) and len(scores) == 2:
        user_factors, item_factors = _same_dimensions(*scores)
        return in_order(user_factors, "factors of users", users), in_order(
            item_factors, "factors of items", items
        )
    return in_order(scores, "scores", users, items)


def aligned_blocks(scores: ScoreFunction | Factors, users: Ids, items: Ids) -> Any:
    """Return a function of scores whose frames are brought into the order of the users and the
    items.
    """
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
        return in_order(
            answer, "scores", Ids(users.kind, users.values[block], users.is_given), items
        )

    return in_order_of_ids


def in_order(data: Any, name: str, rows: Ids | None, columns: Ids | None = None) -> Any:
    """Return a frame, or a Series, in the order of the ids of its rows and columns; other data are
    unchanged.

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
    """Return the (ids,) places of ids among labels; None if they are in this order, or there are no
    labels.

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
    own = _text(labels)
    known = ids.text
    if own.equals(known):
        return None
    place = own.get_indexer(known) if own.is_unique else None
    is_known = own.isin(known)
    if counts_rows(labels):  # not by default, as after a file
        if place is None or not is_known.all() or (place < 0).any():
            return None
        raise DataError(
            f"{name}: 0 to {len(labels) - 1} may be places, or {ids.kind}s in another order; call "
            f"it {ids.kind} if they are ids, or give .to_numpy()"
        )
    hint = f"; give .to_numpy() if it is in the order of the {ids.kind}s"
    if place is None:
        raise DataError(f"{name}: has the {ids.kind} {shown(labels[own.duplicated()][0])} twice")
    if not is_known.all():
        label = shown(labels[int(np.argmin(is_known))])
        raise DataError(f"{name}: {ids.kind} {label} is not {ids.where}{hint}{ids.hint}")
    if (place < 0).any():
        raise DataError(
            f"{name}: lacks the {ids.kind} {shown(ids.values[int(np.argmax(place < 0))])}{hint}"
        )
    return np.asarray(place)


def _text(labels: Any) -> pd.Index:
    return pd.Index(as_text(column_of(np.asarray(labels))))


def _is_matrix(pairs: PairsLike) -> bool:
    """Return whether pairs are a (users, items) frame."""
    return isinstance(pairs, pd.DataFrame) and not is_table(pairs)


def _axes(data: Any, name: str, kinds: Sequence[str]) -> list[tuple[str, pd.Index, str]]:
    """Return the kind, the labels and the name of each axis of a frame, but for an index by
    default.
    """
    if not isinstance(data, pd.DataFrame):
        return []
    axes = [
        (kind, index, f"the {axis} of {name}")
        for kind, index, axis in zip(
            kinds, (data.index, data.columns), ("index", "columns"), strict=False
        )
    ]
    return [
        axis for axis in axes if not (isinstance(axis[1], pd.RangeIndex) and counts_rows(axis[1]))
    ]


def _ids(kind: str, given: ArrayLike | None, axes: list[tuple[str, pd.Index, str]]) -> Ids | None:
    """Return the ids that are given, or the first labels of this kind; None if there are
    neither.
    """
    if given is not None:
        return Ids.from_given(kind, given, int(np.size(given)))
    of_kind = [
        (index, name) for axis, index, name in axes if axis == kind and not counts_rows(index)
    ]
    if not of_kind:
        return None
    labels, name = of_kind[0]
    if isinstance(labels, pd.MultiIndex):
        raise DataError(f"{name}: has several levels; it may have one, the {kind}s")
    ids = Ids.from_given(kind, np.asarray(labels), len(labels), name)
    usual = [label for label in labels if isinstance(label, str) and plain(label) in NAMES["user"]]
    if kind == "item" and usual:
        raise DataError(
            f"{name}: has {shown(usual[0])} among the items; make it the index, by set_index"
        )
    return ids


def _refuse_other_order(ids: Ids, arguments: Mapping[str, Any], axis: int) -> None:
    """Raise DataError if labels are 0, 1, 2, … in another order, and another matrix has places,
    which may be either.

    `axis` is that of users, 0, or of items, 1, in a matrix.
    """
    count = pd.Index(map(str, range(len(ids.values))))
    if ids.text.equals(count) or not ids.text.isin(count).all():
        return
    for name, data in arguments.items():
        parts = (data[axis],) if isinstance(data, tuple) and len(data) == 2 else (data,)
        for part in parts:
            place = 0 if isinstance(data, tuple) else axis
            if isinstance(part, pd.DataFrame):
                has_places = not is_table(part) and counts_rows(part.axes[place])
            else:
                has_places = len(getattr(part, "shape", ())) == 2
            if has_places:
                raise DataError(
                    f"{name}: its {ids.kind}s may be in the order of {ids.name}, which is not 0, "
                    "1, 2, …, or in that of these numbers; give it labels, too, or give "
                    f"{ids.kind}_ids and arrays in one order"
                )


def _without_index(ids: Any, name: str) -> Any:
    """Return ids in their own order; raise DataError if a Series has them in an order that its
    index may change.
    """
    if not isinstance(ids, pd.Series) or not has_labels(ids):
        return ids
    index = ids.index
    rows_left_out = (
        not isinstance(index, pd.MultiIndex)
        and index.name is None
        and (
            pd.api.types.is_integer_dtype(index.dtype)
            and index.is_monotonic_increasing
            and index.is_unique
        )
    )
    if rows_left_out or _text(index).equals(_text(ids)):
        return ids.to_numpy()
    raise DataError(
        f"{name}: is a Series with labels, such as {shown(index[0])} of {shown(ids.iloc[0])}; give "
        f"{name}.to_numpy() if it is in the order of the scores"
    )


def _same_dimensions(users: Any, items: Any) -> tuple[Any, Any]:
    """Return two factors, with the columns of the items' frame in the order of the users' if both
    have labels.

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
    if (
        counts_rows(users.columns)
        or counts_rows(items.columns)
        or users.columns.equals(items.columns)
    ):
        return users, items
    is_shared = users.columns.isin(items.columns)
    if not is_shared.any():
        return users, items
    if not (
        is_shared.all() and items.columns.isin(users.columns).all() and items.columns.is_unique
    ):
        only = [
            *users.columns[~is_shared],
            *items.columns[~items.columns.isin(users.columns)],
            *items.columns,
        ]
        raise DataError(
            f"factors: {shown(only[0])} is not a column of both frames, or is there twice"
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
            own = pd.MultiIndex.from_arrays(
                [_text(index.get_level_values(level)) for level in range(2)]
            )
            order = (
                own.get_indexer(pd.MultiIndex.from_arrays([user, item]))
                if own.is_unique
                else np.array([-1])
            )
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
