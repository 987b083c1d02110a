"""Ids of users and items as text: one rule for tables, files, arrays, the command and the config.

- `as_text(values)` returns cells as text, and missing cells as empty text.
- `id_column(values)` numbers the ids of a column.
- `column_of(values)` makes a column of ids in any form.
- `are_inexact(values)` finds floats that are no ids.
- `places_of(ids, count)` returns ids that are whole numbers as places.

Ids are compared as text. A whole number is written without a point, whatever its type is: 7, 7.0
and "7" are the same. Spaces around text are left out. Bytes that are printable UTF-8 text without
spaces around it are this text, and other bytes are written as Python writes them. All else
distinguishes ids: "007" is not 7, and "A" is not "a".

A float is not an id where it may stand for several whole numbers: from 2^53 on, or from 2^24 on in
single precision.
"""

import re
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from pandas.api.types import is_list_like

from sampled_metrics.checks import Ints

_DIGITS = 53
"""Binary digits of a whole number that double precision holds."""

_ROUNDED = r"\s*-?(?:[0-9]{16}\.0|[0-9](?:\.[0-9]+)?[eE]\+[0-9]{2,3})\s*"
"""Text of a float that may be rounded, as pandas, JSON, Arrow and spreadsheets write it.

Examples are 9007199254740992.0, 1e+16 and 1.6E+07.
"""

INEXACT = "a float that may stand for several whole numbers; give ids as integers or as text"
"""What is wrong with such an id, after its value."""


class IdColumn(NamedTuple):
    """The ids of the rows of a column.

    Attributes:
        codes: (rows,) the position of the id among `ids`; -1 where there is none.
        ids: (ids,) the distinct ids as text, ascending.
        is_inexact: (rows,) whether the id is a float that may stand for several whole numbers.
    """

    codes: Ints
    ids: pd.Index
    is_inexact: NDArray[np.bool_]

    @property
    def text(self) -> NDArray[np.object_]:
        """The (rows,) ids as text; empty where there is none."""
        return np.append(self.ids.to_numpy(dtype=object), "")[self.codes]


def id_column(values: pd.Series) -> IdColumn:
    """Return the ids of a column of any type but lists."""
    row = np.arange(len(values))
    cells = values
    if values.dtype != object:  # there, True and 1 are equal, and differ as ids
        row, distinct = pd.factorize(values)
        cells = pd.Series(distinct)
    codes, ids = pd.factorize(as_text(cells), sort=True)
    if len(ids) and ids[0] == "":
        codes = codes - 1
        ids = ids[1:]
    # a missing cell has the row -1, which is that of what is appended
    code_of_row = np.append(codes, -1)[row]
    if values.dtype.kind == "f":  # which factorize may widen
        is_inexact = are_inexact(values)
    else:
        is_inexact = np.append(are_inexact(cells), False)[row]
    return IdColumn(code_of_row, pd.Index(ids), is_inexact)


def are_inexact(values: pd.Series) -> NDArray[np.bool_]:
    """Return whether each cell is a float, or its text, that could be several whole numbers."""
    dtype: Any = getattr(values.dtype, "numpy_dtype", values.dtype)
    if isinstance(dtype, pd.StringDtype):
        text = values.fillna("")
        is_like_float = text.str.contains("+", regex=False) | text.str.contains(".0", regex=False)
        is_inexact = is_like_float.to_numpy(dtype=np.bool_, copy=True)
        is_inexact[is_inexact] = [_is_inexact(cell) for cell in text[is_like_float]]
        return is_inexact
    if isinstance(dtype, np.dtype) and dtype.kind == "f":
        numbers = values.to_numpy(dtype=dtype, na_value=np.nan)
        return np.asarray(np.abs(numbers) >= _largest(dtype))
    if isinstance(dtype, np.dtype) and dtype.kind != "O":
        return np.zeros(len(values), dtype=np.bool_)
    return np.array([_is_inexact(cell) for cell in values.tolist()], dtype=np.bool_)


def _is_inexact(cell: Any) -> bool:
    if isinstance(cell, float | np.floating):
        return bool(np.abs(cell) >= _largest(np.asarray(cell).dtype))
    if isinstance(cell, str) and re.fullmatch(_ROUNDED, cell):
        return "+" in cell or abs(float(cell)) >= 2.0**_DIGITS
    return False


def _largest(dtype: np.dtype[Any]) -> float:
    """Return the least float that may stand for several whole numbers."""
    return float(2 ** min(_DIGITS, int(np.finfo(dtype).nmant) + 1))


def as_text(values: pd.Series) -> pd.Series:
    """Return cells as text: whole numbers without a point, missing values as empty text."""
    if isinstance(values.dtype, pd.StringDtype):
        text = values.fillna("").str.strip()
        if text.str.contains("\0", regex=False).any():
            text = text.str.replace("\0", _ZERO, regex=False)
        return text
    if isinstance(values.dtype, np.dtype) and values.dtype.kind in "iu":
        return values.astype("str")
    # a cell of `tolist` would be a float of double precision
    texts = [cell_as_text(cell) for cell in values.array]
    return pd.Series(texts, index=values.index, dtype="str")


_ZERO = "\\x00"
"""A zero byte in text, which arrays of numpy would cut off at the end."""


def cell_as_text(value: Any) -> str:
    """Return a cell as text; empty text if it is missing."""
    if isinstance(value, str):
        return _escaped(value.strip()).replace("\0", _ZERO)
    if isinstance(value, bytes):
        text = value.decode(errors="replace")
        is_text = text.isprintable() and text == text.strip() and "\ufffd" not in text
        return text if is_text else repr(value)
    if value is None or value is pd.NA or (not is_list_like(value) and value != value):
        return ""
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    if isinstance(value, Decimal) and value.is_finite():
        is_whole = value == value.to_integral_value()
        return str(int(value)) if is_whole else format(value.normalize(), "f")
    return _escaped(str(value).strip())


def _escaped(text: str) -> str:
    """Return text with lone surrogates escaped, as Python writes them."""
    return text.encode(errors="backslashreplace").decode()


def column_of(values: ArrayLike) -> pd.Series:
    """Return ids of any shape as a column.

    Text and bytes of a list stay objects, as arrays of numpy lose zero bytes at their ends.
    """
    array = np.asarray(values)
    if array.dtype.kind in "SU" and not hasattr(values, "dtype"):
        array = np.array(values, dtype=object)
    cells = array.ravel()
    try:
        return pd.Series(cells)
    except UnicodeEncodeError:
        return pd.Series([_escaped(cell) if isinstance(cell, str) else cell for cell in cells])


def places_of(ids: pd.Index, count: int) -> Ints:
    """Return the (ids,) places of ids, as of `id_column`, that are whole numbers below `count`.

    Other ids have the place -1.
    """
    numbers = pd.to_numeric(ids.where(ids.str.fullmatch("0|[1-9][0-9]{0,17}"), "-1"))
    places = np.asarray(numbers, dtype=np.int64)
    return np.where(places < count, places, -1)
