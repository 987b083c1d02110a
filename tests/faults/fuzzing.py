"""What fuzzing is given: how inputs are made, what is asked of each, and what to try first."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st


@dataclass(frozen=True)
class Target:
    """What is fed.

    Attributes:
        inputs: how inputs are made.
        check: raises AssertionError if the result is wrong.
        corpus: inputs that once were, or well might be, of interest.
    """

    inputs: st.SearchStrategy[Any]
    check: Callable[[Any], None]
    corpus: Sequence[Any]


def pieces(*parts: bytes) -> st.SearchStrategy[bytes]:
    """Bytes that are mostly put together of such parts."""
    common = [b"", b"\n", b"\r\n", b"\r", b"\0", b'"', b"'", b" ", b"-", b".", b"0", b"1", b"7", b"nan", b"inf"]
    common += [b"1.5", b"1e99", b"9" * 18, b"1" + b"0" * 18, b"9" * 25, b"\xff", b"\xef\xbb\xbf", "é１".encode()]
    made = st.lists(st.sampled_from([*parts, *parts, *common]), max_size=40).map(b"".join)
    lines = [part for part in parts if part.endswith(b"\n")]
    formed = st.lists(st.sampled_from(lines), max_size=20).map(b"".join) if lines else made
    return st.one_of(
        formed,
        st.tuples(formed, made).map(b"".join),
        made,
        st.tuples(made, st.binary(max_size=8), made).map(b"".join),
        st.binary(max_size=100),
    )
