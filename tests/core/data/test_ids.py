"""Ids are compared as text wherever they are read: which are the same, and which are refused."""

import re
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

import sampled_metrics as sm
from sampled_metrics.core.data.ids import as_text, column_of, id_column, places_of
from sampled_metrics.core.ranks.groups import read_groups
from sampled_metrics.errors import DataError

LARGE = 2**53  # float64 has no 2^53 + 1

SAME = {
    "whole numbers of any type": [7, 7.0, "7", np.int8(7), np.float32(7), Decimal("7.00"), " 7 "],
    "spaces around, of any width": ["u1", "u1 ", "\tu1", "\xa0u1", "\u3000u1\u2003"],
    "bytes and text": [b"u1", "u1"],
    "fractions": [1.5, "1.5", Decimal("1.50"), np.float32(1.5)],
}
APART = {
    "truth and numbers": [True, 1, False, 0],
    "zeros and signs in front": ["007", "07", 7, "+7", "-7", "7.0", "７"],
    "case, and letters that look the same": ["é", "e\u0301", "É", "u\u200b1", "u1"],
    "words for nothing": ["nan", "NaN", "NA", "None", "null", "<NA>"],
    "large whole numbers": [LARGE, LARGE + 1, 2**64, 2**64 + 1, Decimal(2**70), 2**70 + 1],
    "fractions": [0.1 + 0.2, 0.3],
}


@pytest.mark.parametrize("values", SAME.values(), ids=SAME)
def test_same_ids(values):
    for ordered in (values, values[::-1]):
        assert len(id_column(pd.Series(ordered, dtype=object)).ids) == 1


@pytest.mark.parametrize("values", APART.values(), ids=APART)
def test_different_ids(values):
    for ordered in (values, values[::-1]):
        column = id_column(pd.Series(ordered, dtype=object))
        assert sorted(column.codes.tolist()) == list(range(len(values)))


@pytest.mark.parametrize(
    "dtype", [np.uint64, np.float32, np.float16, "Int64", "Float32", "category", object]
)
def test_types_of_numbers(dtype):
    column = id_column(pd.Series([3, 20, 3], dtype=dtype))
    assert (column.codes.tolist(), column.ids.tolist()) == ([1, 0, 1], ["20", "3"])
    assert not column.is_inexact.any()


@pytest.mark.parametrize(
    ("values", "inexact"),
    [
        (np.array([LARGE - 1.0, LARGE, -float(LARGE), np.inf]), [1, 2, 3]),
        (np.array([2**24 - 1, 2**24], dtype=np.float32), [1]),
        (pd.array([1.0, float(LARGE), None], dtype="Float64"), [1]),
        (pd.Categorical([float(LARGE), 1.0]), [0]),
        (np.array([float(LARGE), LARGE, True, None], dtype=object), [0]),
        (np.array(["9007199254740992.0", "9007199254740991.0", "1e+16", "1.5e+300"]), [0, 2, 3]),
    ],
)
def test_floats_that_may_stand_for_several_ids(values, inexact):
    assert np.flatnonzero(id_column(pd.Series(values)).is_inexact).tolist() == inexact


# --- by each way in -----------------------------------------------------------------------------

USERS = np.arange(120, dtype=np.float64) + LARGE  # 60 of 120 numbers are no float64


def test_tables_of_ranks_refuse_them(tmp_path):
    ranks = pd.DataFrame({"user": USERS, "rank": 1})
    users = USERS[:3]
    ones = np.ones(3, dtype=np.int64)
    path = tmp_path / "ranks.csv"
    ranks.to_csv(path, index=False)
    groups = tmp_path / "groups.parquet"
    pd.DataFrame({"user": USERS, "age": "old"}).to_parquet(groups)
    calls = {
        "sampled": lambda: sm.sampled_ranks(ranks, candidates=9, negatives=5),
        "csv": lambda: sm.exact_ranks(path, candidates=9),
        "by": lambda: sm.exact_ranks(ranks[["rank"]].assign(m=USERS), by="m", candidates=9),
        "groups": lambda: sm.exact_ranks(ranks[["rank"]].assign(g=USERS), groups="g", candidates=9),
        "read": lambda: read_groups(str(groups), "age"),
        "exact table": lambda: sm.ExactRanks(users, ones * 9, ones, ones),
        "sampled table": lambda: sm.SampledRanks(ones, ones * 9, ones * 99, user=users),
    }
    for name, call in calls.items():
        with pytest.raises(DataError) as caught:
            call()
        assert "9007199254740992.0" in str(caught.value), name
        assert "a float that may stand for several whole numbers" in str(caught.value), name


# --- spaces -------------------------------------------------------------------------------------


def test_spaces_are_left_out():
    table = {"user": ["u1", " u1", "u2 "], "rank": [1, 2, 3]}
    assert sm.exact_ranks(table, candidates=9).user.tolist() == ["u1", "u1", "u2"]


# --- bytes, and zero bytes ----------------------------------------------------------------------

OBJECT_IDS = [b"\x01\xfeobject " + bytes([counter // 251, counter % 251]) for counter in range(600)]
"""Ids of 11 bytes with a counter at the end, which may look like a space."""


def test_bytes_are_not_cut(tmp_path):
    """Issue 84: strip() takes 9 to 13 and 28 to 32 off either end of bytes."""
    assert len({value.strip() for value in OBJECT_IDS}) < 600
    table = pa.table({"user": pa.array(OBJECT_IDS, pa.binary(11)), "rank": [1] * 600})
    parquet.write_table(table, tmp_path / "ranks.parquet")
    numpy_ids = pd.DataFrame({"user": np.array(OBJECT_IDS, dtype=object), "rank": 1})
    for source in (table, tmp_path / "ranks.parquet", numpy_ids):
        users = sm.exact_ranks(source, candidates=9).user
        assert len(np.unique(users)) == 600
        # their text is an id, too, and the same one
        assert as_text(pd.Series(users)).tolist() == users.tolist()


@pytest.mark.parametrize("values", [["a\0", "a", "\0a"], [b"a\0", b"a", b"\0a", b"a "]])
def test_zero_bytes_distinguish_ids(values):
    text = as_text(column_of(values))
    assert text.nunique() == len(np.unique(text.to_numpy(dtype=str))) == len(values)
    assert len(id_column(column_of(values)).ids) == len(values)
    ranks = sm.exact_ranks({"user": values, "rank": [1] * len(values)}, candidates=9)
    assert len(np.unique(ranks.user)) == len(values)


def test_bytes_of_plain_text_are_this_text():
    assert as_text(column_of([b"u1", "é".encode(), b"a b"])).tolist() == ["u1", "é", "a b"]
    assert as_text(column_of([b"u1 ", b"\xff", b"\t"])).tolist() == [
        "b'u1 '",
        "b'\\xff'",
        "b'\\t'",
    ]


def test_places_are_whole_numbers_below_a_count():
    ids = pd.Index(["0", "7", "8", "07", "-1", "x", "", "1" * 30])
    assert places_of(ids, 8).tolist() == [0, 7, -1, -1, -1, -1, -1, -1]


# --- groups of users ----------------------------------------------------------------------------


def test_groups_of_a_mapping_are_by_the_same_rule():
    ranks = sm.exact_ranks(pd.DataFrame({"user": [1, 2, 3, 4], "candidates": 9, "rank": 1}))
    groups = {1.0: "old ", "2": "old", np.int64(3): 7.0, " 4": "7"}
    result = sm.evaluate(ranks, metrics="recall@1", groups=groups)
    assert result["group"].tolist() == ["all", "7", "old"]
    with pytest.raises(DataError, match="groups: the user 7"):
        sm.evaluate(ranks, groups={7: "a", "7": "b"})
    with pytest.raises(DataError, match=r"groups .* user 4"):
        sm.evaluate(ranks, groups={1: "a", 2: "a", 3: "b", 4: np.nan})


def test_users_of_two_tables_are_paired_by_the_same_rule():
    ones = np.ones(40, dtype=np.int64)
    floats = sm.ExactRanks(np.arange(40.0), ones * 9, ones, ones * 0)
    texts = sm.ExactRanks(np.arange(40).astype(str), ones * 9, ones * 2, ones * 0)
    result = sm.compare({"a": floats, "b": texts}, metrics="recall@2")
    assert result["users"].tolist() == [40]


@pytest.mark.parametrize("text", ["1.67772e+07", "9.0072E+18", "1.000e+06"])
def test_text_of_a_float_with_an_exponent_is_refused_as_digits_may_be_lost(text):
    table = pd.DataFrame({"user": ["a", text, "b"], "rank": [1, 2, 30]})
    with pytest.raises(sm.DataError, match=re.escape(text)):
        sm.exact_ranks(table, candidates=90)


def test_text_with_an_e_or_a_sign_is_an_id():
    ids = ["1E05", "12e3", "a+b", "c++", "+49", "1.5"]
    table = pd.DataFrame({"user": ids, "rank": [1, 2, 30, 4, 5, 6]})
    assert sm.exact_ranks(table, candidates=90).user.tolist() == ids
