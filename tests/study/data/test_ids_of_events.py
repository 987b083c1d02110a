"""Ids of events are compared as text: which are refused, and spaces around them."""

import io
import json

import pyarrow as pa
import pytest
from pyarrow import parquet

from sampled_metrics.errors import DataError
from sampled_metrics_study.data import formats
from sampled_metrics_study.data.events import binarize


@pytest.mark.parametrize(
    ("form", "content"),
    [
        ("json-lines", json.dumps({"user": 1e16, "item": 1}).encode()),
        ("delimited", b"user,item\n1,2\n1e+16,2\n"),
        ("delimited", b"user,item\n1,2\n9007199254740992.0,2\n"),
    ],
    ids=["json", "exponent", "decimal"],
)
def test_events_refuse_floats_that_stand_for_several_ids(form, content):
    columns = {"user": "user", "item": "item"}
    with pytest.raises(
        DataError,
        match=r"^x, line \d: user",
    ):
        list(formats.get(form).parse(io.BytesIO(content), "x", columns=columns))


def test_events_of_parquet_and_json_have_the_ids_of_csv():
    """A column of floats holds the same ids as one of integers.

    Arrow would write 10000000000.0 as 1e+10.
    """
    ids = [1e10, 3.0, 1.5]
    file = io.BytesIO()
    parquet.write_table(pa.table({"user": ids, "item": ids}), file)
    lines = "".join(json.dumps({"user": number, "item": number}) + "\n" for number in ids)
    table = "user,item\n10000000000,10000000000\n3,3\n1.5,1.5\n"
    for form, content in (
        ("parquet", file.getvalue()),
        ("json-lines", lines.encode()),
        ("delimited", table.encode()),
    ):
        columns = {"user": "user", "item": "item"}
        events = binarize(formats.get(form).parse(io.BytesIO(content), "x", columns=columns), 0)
        assert sorted(events.user_ids.tolist()) == ["1.5", "10000000000", "3"], form


@pytest.mark.parametrize("space", [" ", "\t", "\xa0", "\u2003", "\u3000", "\x1f", "\x0b"])
@pytest.mark.parametrize("form", ["{0}a,b", "a{0},b", "a,{0}b", "a,b{0}", '"{0}a",b', 'a,"b{0}"'])
def test_no_space_of_a_block_is_overlooked(space, form):
    line = form.format(space)
    content = f"user,item\n{line}\na,b\n"
    columns = {"user": "user", "item": "item"}
    events = binarize(
        formats.get("delimited").parse(io.BytesIO(content.encode()), "x", columns=columns), 0
    )
    assert (events.user_ids.tolist(), events.item_ids.tolist()) == (["a"], ["b"])
