"""Ids of users and items as text: one rule for tables, files, arrays, the command and the config.

Ids are compared as text. A whole number is written without a point, whatever its type is: 7, 7.0
and "7" are the same. Spaces around an id are left out, and are counted. All else tells ids apart:
"007" is not 7, and "A" is not "a".

A float may stand for several whole numbers from 2^53 on, or from 2^24 on in single precision. It is
no id then.
"""

import re
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from sampled_metrics.checks import Ints, counted

_DIGITS = 53
"""Binary digits of a whole number that double precision holds."""

_WRITTEN_BY_FLOATS = re.compile(r"\s*-?(?:[0-9]{16}\.0|[0-9](?:\.[0-9]+)?[eE]\+[0-9]{2,3})\s*")
"""A float that may be rounded, as pandas, JSON, Arrow and spreadsheets write it.

Examples are 9007199254740992.0, 1e+16 and 1.6E+07.
"""

_OF_ONE_TYPE = ("string", "integer", "floating", "boolean", "bytes")
"""Contents of a column of objects in which equal cells are the same id.

True and 1 are equal, and differ.
"""

INEXACT = "a float that may stand for several whole numbers; give ids as integers or as text"
"""What is wrong with such an id, after its value."""


class IdColumn(NamedTuple):
    """The ids of the rows of a column.

    Attributes:
        number: (rows,) the position of the id among `ids`; -1 where there is none, or nothing but
            spaces.
        ids: (ids,) the distinct ids as text, ascending.
        is_inexact: (rows,) whether the id is a float that may stand for several whole numbers.
        spaced: how many distinct ids have spaces around them.
        merged: how many fewer ids there are without these spaces.
    """

    number: Ints
    ids: pd.Index
    is_inexact: NDArray[np.bool_]
    spaced: int
    merged: int

    @property
    def text(self) -> NDArray[np.object_]:
        """The (rows,) ids as text; empty where there is none."""
        return np.append(self.ids.to_numpy(dtype=object), "")[self.number]


def id_column(values: pd.Series) -> IdColumn:
    """Return the ids of a column of any type, but lists."""
    if values.dtype == object and pd.api.types.infer_dtype(values, skipna=True) not in _OF_ONE_TYPE:
        row = np.arange(len(values))
        distinct = values
    else:
        row, cells = pd.factorize(values)
        distinct = pd.Series(cells)
    text = as_text(distinct)
    number, ids = pd.factorize(text, sort=True)
    if len(ids) and ids[0] == "":
        number = number - 1
        ids = ids[1:]
    spaced, merged = _with_spaces(distinct, text)
    # a missing cell has the row -1, which is that of what is appended
    number_of_row = np.append(number, -1)[row]
    if values.dtype.kind == "f":
        is_inexact = are_inexact(values)
    else:
        is_inexact = np.append(are_inexact(distinct), False)[row]
    return IdColumn(number_of_row, pd.Index(ids), is_inexact, spaced, merged)


def about_spaces(column: IdColumn, name: str) -> list[str]:
    """Return a sentence on the ids of a column that had spaces around them; none if no id had."""
    return [spaces_left_out(name, column.spaced, column.merged)] if column.spaced else []


def spaces_left_out(column: str, ids: int, merged: int) -> str:
    """Say that spaces around ids of a column are left out.

    There are fewer ids then if some are merged.
    """
    fewer = f", which leaves {counted(merged, 'id')} fewer" if merged else ""
    return f"Spaces around {counted(ids, 'id')} of the column {column} are left out{fewer}."


def _with_spaces(distinct: pd.Series, text: pd.Series) -> tuple[int, int]:
    """Return how many distinct ids have spaces around them, and how many are merged without."""
    if isinstance(distinct.dtype, pd.StringDtype):
        written = distinct
    elif distinct.dtype == object:
        texts = distinct[[isinstance(value, str) for value in distinct.tolist()]].drop_duplicates()
        written = texts.map(_escaped).astype("str")
    else:
        return 0, 0
    stripped = text.loc[written.index]
    is_spaced = (stripped != written) & (stripped != "")
    spaced = int(is_spaced.sum())
    merged = len(written) - stripped.nunique() if spaced else 0
    return spaced, merged


def are_inexact(values: pd.Series) -> NDArray[np.bool_]:
    """Return whether each cell is a float, or its text, that may be several whole numbers."""
    kind: Any = getattr(values.dtype, "numpy_dtype", values.dtype)
    if isinstance(values.dtype, pd.StringDtype):
        text = values.fillna("")
        is_like_float = text.str.contains("+", regex=False) | text.str.contains(".0", regex=False)
        is_inexact = is_like_float.to_numpy(dtype=np.bool_, copy=True)
        is_inexact[is_inexact] = [_is_inexact(value) for value in text[is_like_float].tolist()]
        return is_inexact
    if isinstance(values.dtype, pd.CategoricalDtype) or values.dtype == np.dtype(object):
        return np.array([_is_inexact(value) for value in values.tolist()], dtype=np.bool_)
    if isinstance(kind, np.dtype) and kind.kind == "f":
        numbers = values.to_numpy(dtype=kind, na_value=np.nan)
        return np.asarray(np.abs(numbers) >= _largest(kind))
    return np.zeros(len(values), dtype=np.bool_)


def _is_inexact(value: Any) -> bool:
    if isinstance(value, float | np.floating):
        return bool(np.abs(value) >= _largest(np.asarray(value).dtype))
    if isinstance(value, str):
        is_like_float = _WRITTEN_BY_FLOATS.fullmatch(value) is not None
        return is_like_float and ("+" in value or abs(float(value)) >= 2.0**_DIGITS)
    return False


def _largest(kind: np.dtype[Any]) -> float:
    """Return the least float that may stand for several whole numbers."""
    return float(2 ** min(_DIGITS, int(np.finfo(kind).nmant) + 1))


def as_text(values: pd.Series) -> pd.Series:
    """Return cells as text: whole numbers without a point, missing values as empty text."""
    if isinstance(values.dtype, pd.StringDtype):
        return values.fillna("").str.strip()
    kind = values.dtype
    # `map` would give such floats as Python's, of double precision
    if isinstance(kind, np.dtype) and kind in (np.float16, np.float32):
        texts = [cell_as_text(value) for value in values.to_numpy()]
        return pd.Series(texts, index=values.index, dtype="str")
    return values.map(cell_as_text).astype("str")


def cell_as_text(value: Any) -> str:
    """Return a cell as text; empty text if it is missing."""
    try:
        if (
            value is None
            or value is pd.NA
            or (not pd.api.types.is_list_like(value) and value != value)
        ):
            return ""
    except ArithmeticError:  # a signaling NaN
        return str(value)
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    if isinstance(value, Decimal) and value.is_finite():
        is_whole = value == value.to_integral_value()
        return str(int(value)) if is_whole else format(value.normalize(), "f")
    if isinstance(value, bytes):
        return value.decode(errors="backslashreplace").strip()
    return _escaped(str(value).strip())


def _escaped(text: str) -> str:
    """Return text with halves of pairs of surrogates, which are not text, as Python writes them."""
    return text.encode(errors="backslashreplace").decode()


def column_of(values: ArrayLike) -> pd.Series:
    """Return ids of any shape as a column.

    Halves of pairs of surrogates are escaped, as in `as_text`.
    """
    array = np.asarray(values).ravel()
    try:
        return pd.Series(array)
    except UnicodeEncodeError:
        return pd.Series(
            [_escaped(value) if isinstance(value, str) else value for value in array.tolist()]
        )
