import gzip
import zipfile
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array

from sampled_metrics.data.given_negatives import read_negatives
from sampled_metrics.data.split import Split
from sampled_metrics.errors import DataError

LINES = ["(7,30)\t20\t40\t20", "(5,20)\t30\t40\t50"]


def split(*, text: bool = False) -> Split:
    """User 5 has item 10 in training and 20 held out; user 7 has 10 and 50, and 30."""
    users, items = np.array([5, 7]), np.array([10, 20, 30, 40, 50])
    training = csr_array([[1.0, 0, 0, 0, 0], [1, 0, 0, 0, 1]])
    ids = [each.astype(str).astype(object) if text else each for each in (users, items)]
    return Split(training, np.array([1, 2]), *ids)


def written(folder: Path, lines: list[str]) -> Path:
    path = folder / "made-up.test.negative"
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


@pytest.mark.parametrize("text", [False, True])
def test_negatives_are_in_the_order_of_the_users(tmp_path: Path, text: bool) -> None:
    assert read_negatives(written(tmp_path, LINES), split(text=text)).tolist() == [[2, 3, 4], [1, 3, 1]]


def test_packed_files_and_other_line_ends(tmp_path: Path) -> None:
    content = "\r\n".join(LINES).encode()
    (tmp_path / "a.gz").write_bytes(gzip.compress(content))
    with zipfile.ZipFile(tmp_path / "ncf.zip", "w") as archive:
        archive.writestr("Data/made-up.train.rating", b"5\t10\t1\t1\n")
        archive.writestr("Data/made-up.test.negative", content)
    for name in ("a.gz", "ncf.zip"):
        assert read_negatives(tmp_path / name, split()).tolist() == [[2, 3, 4], [1, 3, 1]]


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("(5,20)\t10\t40\t50", "the negative 10 is a training item of the user"),
        ("(5,20)\t30\t20\t50", "the negative 20 is the held-out item of the user"),
        ("(5,20)\t30\t40\t60", "the negative 60 is not an item of the dataset"),
        ("(5,20)\t30\t\t50", "the negative  is not an item of the dataset"),
        ("(6,20)\t30\t40\t50", "user 6 is not in the split; expected one line of each of its users"),
        ("(5,30)\t20\t40\t50", "user 5 has item 20 held out, not 30"),
        ("(5,60)\t20\t40\t50", "user 5 has item 20 held out, not 60"),
        ("(7,30)\t20\t40\t20", "a second line of user 7; expected one"),
        ("(5,20)\t30\t40", "2 negatives, but line 1 has 3; expected as many in all"),
        ("(5,20)", "expected (user,item) and its negatives, separated by tabs, got '(5,20)'"),
        ("5\t20\t30", r"expected (user,item) and its negatives, separated by tabs, got '5\t20\t30'"),
        ("", "expected (user,item) and its negatives, separated by tabs, got ''"),
    ],
)
def test_a_wrong_line_is_named(tmp_path: Path, line: str, says: str) -> None:
    path = written(tmp_path, [LINES[0], line])
    with pytest.raises(DataError) as caught:
        read_negatives(path, split())
    assert str(caught.value) == f"{path}, line 2: {says}"


@pytest.mark.parametrize(("lines", "user"), [(LINES[:1], 5), (LINES[1:], 7), ([], 5)])
def test_a_user_without_a_line(tmp_path: Path, lines: list[str], user: int) -> None:
    with pytest.raises(DataError, match=rf"negative: lacks a line of user {user}; expected one of each user$"):
        read_negatives(written(tmp_path, lines), split())


def test_several_held_out_items_of_a_user(tmp_path: Path) -> None:
    given = split()
    several = Split(given.training, np.array([1, 2, 3]), given.user_ids, given.item_ids, np.array([0, 1, 1]))
    with pytest.raises(DataError, match="each user must have one held-out item, but some have several, or none"):
        read_negatives(written(tmp_path, LINES), several)
