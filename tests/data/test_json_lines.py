"""Lines of JSON."""

import io
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sampled_metrics.data import formats, tables
from sampled_metrics.data.events import EventChunk
from sampled_metrics.errors import DataError

COLUMNS = {"user": "u", "item": "i", "rating": None, "timestamp": None}


def parse(content: str | bytes, columns=COLUMNS, **options) -> list[EventChunk]:
    raw = content if isinstance(content, bytes) else content.encode()
    return list(formats.get("json-lines").parse(io.BytesIO(raw), "events.json", columns=columns, **options))


def pairs(content: str | bytes, columns=COLUMNS, **options) -> list[tuple]:
    return [pair for chunk in parse(content, columns, **options) for pair in zip(chunk.users, chunk.items, strict=True)]


def error_of(content: str | bytes, columns=COLUMNS, **options) -> str:
    with pytest.raises(DataError) as caught:
        parse(content, columns, **options)
    return str(caught.value)


def test_keys_in_any_order_and_others_ignored():
    columns = {"user": "u", "item": "i", "rating": "r", "timestamp": "t"}
    content = '{"x": {"u": 9}, "t": 20, "i": 7, "r": 4.5, "u": "ann"}\n{"u": "bob", "i": "8", "r": -1, "t": 10}\n'
    [chunk] = parse(content, columns)
    assert [array.tolist() for array in chunk[:4]] == [["ann", "bob"], ["7", "8"], [4.5, -1.0], [20, 10]]


def test_times_are_exact_whole_numbers_or_written():
    [chunk] = parse('{"u": 1, "i": 2, "t": 1700000000000000001}\n', COLUMNS | {"timestamp": "t"})
    assert chunk.timestamps.tolist() == [1700000000000000001]
    [chunk] = parse(
        '{"u": 1, "i": 2, "t": "1970-01-01 00:00:01"}', COLUMNS | {"timestamp": "t"}, timestamp_format="iso"
    )
    assert chunk.timestamps.tolist() == [10**9]


BAD = {
    "{": "expected an object of JSON, got '{'",
    "[1]": "expected an object of JSON, got '[1]'",
    "": "expected an object of JSON, got ''",
    "{}": "expected an object of JSON, got '{}'",
    '{"u": 1}': "i is empty; or state on_bad_lines: skip",
    '{"u": null, "i": 2}': "u is empty; or state on_bad_lines: skip",
    '{"u": "", "i": 2}': "u is empty; or state on_bad_lines: skip",
    '{"u": [1], "i": 2}': "u is empty; or state on_bad_lines: skip",
    '{"u": "a\\nb", "i": 2}': "u is empty; or state on_bad_lines: skip",
}


@pytest.mark.parametrize("line", BAD)
def test_a_bad_line_is_named_or_skipped(line, caplog):
    content = f'{{"u": "a", "i": 1}}\n{line}\n{{"u": "b", "i": 2}}\n'
    assert error_of(content) == f"events.json, line 2: {BAD[line]}"
    assert pairs(content, on_bad_lines="skip") == [("a", "1"), ("b", "2")]
    assert "lines are malformed, and are skipped" in caplog.text


def test_no_such_key_and_no_line():
    assert error_of('{"u": 1, "j": 2}\n') == "events.json, line 1: there is no column 'i'; the columns are 'u', 'j'"
    assert error_of("") == "events.json: holds no events"


def test_a_file_without_line_ends(monkeypatch):
    monkeypatch.setattr(tables, "_BLOCK_BYTES", 100)
    monkeypatch.setattr(tables, "LONGEST_LINE", 100)
    stream = io.BytesIO(b'{"u": "' + b"x" * 10_000)
    with pytest.raises(DataError, match=r"^events.json, line 1: is longer than 100 bytes"):
        list(formats.get("json-lines").parse(stream, "events.json", columns=COLUMNS))
    assert stream.tell() < 300


@settings(deadline=None, max_examples=50)
@given(
    st.lists(
        st.tuples(*[st.text(st.characters(exclude_characters="\0\r\n", codec="utf-8"), min_size=1)] * 2), min_size=1
    ),
    st.integers(1, 60),
    st.booleans(),
)
def test_reads_what_python_writes(events, block, ascii_only):
    content = "\n".join(json.dumps({"u": user, "i": item}, ensure_ascii=ascii_only) for user, item in events)
    with pytest.MonkeyPatch.context() as patch:
        longest = max(len(line.encode()) for line in content.split("\n"))
        patch.setattr(tables, "_BLOCK_BYTES", longest + block)
        assert pairs(content) == events
