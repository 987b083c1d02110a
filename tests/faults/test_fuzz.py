"""Any input to any parser, and any config: a result, or one of the project's own errors, in time.

make fuzz MINUTES=60
"""

import copy
import io
import itertools
import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial, reduce
from operator import getitem
from pathlib import Path
from typing import Any

import hypothesis
import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from made_up_project import DEFAULTS, SCHEMA
from tables_of_ranks import parse_columns, rank_table

from sampled_metrics.errors import SampledMetricsError
from sampled_metrics_study.config import complete
from sampled_metrics_study.config_files import read_config
from sampled_metrics_study.data import archives, formats
from sampled_metrics_study.data.events import binarize
from sampled_metrics_study.data.split import leave_last_out
from sampled_metrics_study.schemas import check

SECONDS = 20  # within which every input has to have a result
EXAMPLES = 1000  # inputs that are made of a seed


Target = tuple[st.SearchStrategy[Any], Callable[[Any], None], Sequence[Any]]
"""How inputs are made, a check that raises AssertionError for a wrong result, and inputs to try
first.
"""


def pieces(*parts):
    """Bytes that are mostly put together of such parts."""
    common = [
        b"",
        b"\n",
        b"\r\n",
        b"\r",
        b"\0",
        b'"',
        b"'",
        b" ",
        b"-",
        b".",
        b"0",
        b"1",
        b"7",
        b"nan",
        b"inf",
    ]
    common += [
        b"1.5",
        b"1e99",
        b"9" * 18,
        b"1" + b"0" * 18,
        b"9" * 25,
        b"\xff",
        b"\xef\xbb\xbf",
        "é１".encode(),
    ]
    mixed = st.lists(st.sampled_from([*parts, *parts, *common]), max_size=40).map(b"".join)
    lines = [part for part in parts if part.endswith(b"\n")]
    whole_lines = st.lists(st.sampled_from(lines), max_size=20).map(b"".join) if lines else mixed
    return st.one_of(
        whole_lines,
        st.tuples(whole_lines, mixed).map(b"".join),
        mixed,
        st.tuples(mixed, st.binary(max_size=8), mixed).map(b"".join),
        st.binary(max_size=100),
    )


# --- events, ranks and addresses ----------------------------------------------------------------


OPTIONS: dict[str, dict] = {
    "delimited": {
        "columns": {"user": "u", "item": "i", "rating": "r", "timestamp": "t"},
        "separator": ",",
    },
    "json-lines": {
        "columns": {"user": "u", "item": "i", "timestamp": "t"},
        "timestamp_format": "iso",
    },
}
PARTS = {
    "movielens-dat": (b"::", b"1::2::3::4\n", b"1::2::3"),
    "movielens-csv": (b",", b"userId,movieId,rating,timestamp\n", b"1,2,3,4\n", b"1,2,3"),
    "movielens-100k": (b"\t", b"1\t2\t3\t4\n", b"1\t2\t3"),
    "recbole-inter": (
        b"\t",
        b"user_id:token\titem_id:token\n",
        b"a\tb\n",
        b"rating:float",
        b"timestamp:float",
    ),
    "json-lines": (
        b", ",
        b'{"u": 1, "i": "a", "t": "2020-01-01"}\n',
        b'{"u": ',
        b"null",
        b'"2020-02-30T1"',
        b"}\n",
    ),
    "delimited": (
        b",",
        b"u,i,r,t\n",
        b"a,b,3,4\n",
        b'"a","b""",3,4\n',
        b"u,i,r,t,x\n",
        b'a,b,3,4,"\n"\n',
    ),
}


def check_events(name, content):
    chunks = list(formats.get(name).parse(io.BytesIO(content), "file", **OPTIONS.get(name, {})))
    for chunk in chunks:
        assert len({len(column) for column in chunk if isinstance(column, np.ndarray)}) == 1
        for column in (chunk.ratings, chunk.timestamps):
            assert column is None or np.isfinite(column).all()
    if name.startswith("movielens"):
        rows = []
        for chunk in chunks:
            columns = [column.tolist() for column in chunk[:4]]
            rows += [
                (str(user), str(item), *more) for user, item, *more in zip(*columns, strict=True)
            ]
        separator = PARTS[name][0].decode()
        assert rows == naive(content, separator)
    try:
        leave_last_out(binarize(chunks, 0), "first", np.random.default_rng(0))
    except SampledMetricsError:
        return


def naive(content, separator):
    """The events, read in the plainest way."""
    lines = content.decode("utf-8-sig").replace("\r\n", "\n").rstrip("\r\n").split("\n")
    fields = [line.split(separator) for line in lines if not line.startswith("userId")]
    return [
        (user.strip(), item.strip(), float(rating), int(when))
        for user, item, rating, when in fields
    ]


def check_ranks(content):
    table = rank_table(parse_columns(content, "file"))
    assert (table.above >= 0).all()
    assert (table.tied >= 0).all()
    assert (table.above + table.tied < table.candidates).all()


def check_address(text):
    try:
        check(
            [text], SCHEMA["properties"]["datasets"]["additionalProperties"]["properties"]["urls"]
        )
    except SampledMetricsError:
        return
    assert not archives.parse_address(text)[0].startswith("-")
    assert "/" not in archives.file_name(text)


# --- configs ------------------------------------------------------------------------------------


def places(value, path=()):
    """The paths of everything in a config."""
    items: Iterable[tuple[Any, Any]] = ()
    if isinstance(value, dict):
        items = value.items()
    elif isinstance(value, list):
        items = enumerate(value)
    return [path, *(place for key, part in items for place in places(part, (*path, key)))]


WORDS = [
    "",
    "\n",
    "a\n",
    "\0",
    "a" * 300,
    "$(touch x)",
    "../../x",
    "/etc/passwd",
    "nan",
    "1e999",
    "{dataset}",
]
WORDS += [
    "ials",
    "item-cf",
    "ease",
    "implicit",
    "ranks",
    "random",
    "popularity",
    "movielens-dat",
    "config.yaml",
]
WORDS += ["recall@10", "recall@0", "bv-0.1", "mle-3", "http://[", "https://x/y.zip", "pypi:a==1!b"]
TEXTS = st.one_of(st.text(max_size=20), st.sampled_from(WORDS))
NUMBERS = st.one_of(
    st.integers(), st.integers(-2, 200), st.sampled_from([2**63, -(2**70)]), st.floats()
)
KEYS = st.one_of(TEXTS, st.integers(), st.none())
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), NUMBERS, TEXTS),
    lambda parts: st.one_of(st.lists(parts, max_size=4), st.dictionaries(KEYS, parts, max_size=4)),
    max_leaves=8,
)
CHANGE = st.tuples(st.sampled_from(places(DEFAULTS[1])), st.one_of(TEXTS, st.none()), VALUES)


def check_config(changes):
    """Lay changes over the config: a value at a path, or under a new key there."""
    config: Any = copy.deepcopy(DEFAULTS[1])
    for path, key, value in changes:
        config = changed(config, path if key is None else (*path, key), value)
    complete(config, SCHEMA)


def changed(config, path, value):
    if not path:
        return value if isinstance(value, dict) else config
    *parents, key = path
    try:
        parent = reduce(getitem, parents, config)
    except (KeyError, IndexError, TypeError):  # an earlier change took it away
        return config
    if isinstance(parent, dict):
        parent[key] = copy.deepcopy(value)
    elif isinstance(parent, list):
        parent.append(copy.deepcopy(value))
    return config


PARTS_OF_ADDRESSES = st.sampled_from([*"!/a1[]@:é% \n", "pypi:", "==", "b.c", "http://", ".."])
YAML = (
    b"study: |seed: |- |: |[|]|{|}|&a |*a|!!python/name:os.system|!!int |!!bool |!!binary "
    b"|<<: |? |#|~|="
).split(b"|")
YAML += [b"|\n ", b"---\n", b"\t", b"2020-01-01", b"0x1f", b"1_0", b"%YAML 9\n"]


def check_yaml(content):
    path = Path("study.yaml")  # in a folder of the test's own
    path.write_bytes(content)
    assert isinstance(read_config(path), dict)


TARGETS: dict[str, Target] = {
    **{
        f"format {name}": (
            pieces(*parts),
            partial(check_events, name),
            [b"".join(parts), b"\xef\xbb\xbf" + parts[1]],
        )
        for name, parts in PARTS.items()
    },
    "ranks": (
        pieces(b",", b"candidates,rank\n", b"user,candidates,above,tied\n", b"9,1\n", b"a,9,1,2\n"),
        check_ranks,
        [
            b"candidates,rank\n9,1\n",
            b'candidates,rank\n"9\n",1\n',
            b"candidates,above,tied\n9," + b"9" * 18 + b",1\n",
        ],
    ),
    "addresses": (
        st.one_of(TEXTS, st.lists(PARTS_OF_ADDRESSES, max_size=12).map("".join)),
        check_address,
        [
            "pypi:recbole==1.2.1!a/b",
            "http://[",
            "https://x/..",
            "pypi:a==1!b\n",
            "https://[::1]/a.zip",
        ],
    ),
    "the config, changed": (
        st.lists(CHANGE, min_size=1, max_size=4),
        check_config,
        [
            [(("recommenders", "X"), None, {"type": "ranks", "path": "a" * 5000})],
            [(("datasets", "ml-1m", "path"), None, "\0")],
            [(("study",), None, ["a\n"])],
        ],
    ),
    "config files": (
        pieces(*YAML),
        check_yaml,
        [b"a: &a [*a]", b"<<: 1", b"a: 2020-99-99", b"!!binary x: 1", b"!!int ", b"!!bool x"],
    ),
}


def feed(target, seed, examples):
    """Feed the corpus, and so many inputs made of a seed."""
    inputs, check, corpus = target

    def test(value):
        start = time.monotonic()
        message = "nothing"
        try:
            check(value)
        except SampledMetricsError as error:
            message = str(error)
        assert len(message.splitlines()) == 1
        assert len(message) <= 2000
        assert time.monotonic() - start < SECONDS

    test_of_inputs = hypothesis.given(inputs)(test)
    for value in corpus:
        test_of_inputs = hypothesis.example(value)(test_of_inputs)
    with_settings = settings(
        max_examples=examples,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        print_blob=False,
    )
    hypothesis.seed(seed)(with_settings(test_of_inputs))()


@pytest.mark.parametrize("name", TARGETS)
def test_any_input_has_a_result_or_one_line(name, tmp_path, monkeypatch, pytestconfig):
    monkeypatch.chdir(tmp_path)
    minutes = pytestconfig.getoption("--minutes")
    end = time.monotonic() + (minutes or 0) * 60 / len(TARGETS)
    for seed in itertools.count():
        feed(TARGETS[name], seed, 30 if minutes is None else EXAMPLES)
        if time.monotonic() >= end:
            break
