import io
import zipfile
from pathlib import Path

import pytest

from sampled_metrics.data import formats
from sampled_metrics.data.events import EventChunk, binarize
from sampled_metrics.data.reading import files_beside, read_events
from sampled_metrics.data.split import leave_published_out
from sampled_metrics.errors import DataError

TRAIN = b"0\t32\t4\t978824330\n0\t34\t4\t978824330\n2\t7\t3\t5\n1\t32\t5\t9\n"
TEST = b"2\t32\t4\t10\n0\t25\t5\t978824351\n1\t34\t3\t2\n"


def parse(train: bytes = TRAIN, test: bytes = TEST) -> list[EventChunk]:
    parser = formats.get("ncf").parse
    return list(parser(io.BytesIO(train), "a.train.rating", io.BytesIO(test), "a.test.rating"))


def test_the_split_is_the_files_own():
    split = leave_published_out(binarize(parse(), 0))
    assert split.item_ids.tolist() == [7, 25, 32, 34]
    assert split.item_ids[split.item].tolist() == [25, 34, 32]
    assert split.training.toarray().tolist() == [[0, 0, 1, 1], [0, 0, 1, 0], [1, 0, 0, 0]]


class TestFiles:
    def read(self, path: Path, member: str | None = None) -> int:
        return sum(len(chunk.users) for chunk in read_events(path, formats.get("ncf"), member=member))

    def test_side_by_side(self, tmp_path):
        path = tmp_path / "ml-1m.train.rating"
        path.write_bytes(TRAIN)
        (tmp_path / "ml-1m.test.rating").write_bytes(TEST)
        assert self.read(path) == 7
        assert files_beside(path, formats.get("ncf")) == [tmp_path / "ml-1m.test.rating"]

    def test_of_several_in_a_zip_the_member_says_which(self, tmp_path):
        path = tmp_path / "ncf.zip"
        with zipfile.ZipFile(path, "w") as archive:
            for name in ("ml-1m", "pinterest"):
                archive.writestr(f"{name}.train.rating", TRAIN)
                archive.writestr(f"{name}.test.rating", TEST)
        assert self.read(path, "pinterest.train.rating") == 7
        with pytest.raises(DataError, match=r"found 2; .*'ml-1m\.train\.rating'.*name one as the dataset's `member`"):
            self.read(path)

    @pytest.mark.parametrize(
        ("name", "says"),
        [
            ("ml-1m.train.rating", r"ml-1m\.test\.rating: cannot be read: No such file"),
            ("train.tsv", r"^train\.tsv: expected a file named NAME\.train\.rating, with NAME\.test\.rating"),
        ],
    )
    def test_without_the_test_file(self, tmp_path, name, says):
        (tmp_path / name).write_bytes(TRAIN)
        with pytest.raises(DataError, match=says):
            self.read(tmp_path / name)


@pytest.mark.parametrize(
    ("train", "test", "says"),
    [
        (TRAIN, TEST + b"0\t99\t1\t1\n", "test.rating, line 4: a second held-out event of user 0; expected one"),
        (TRAIN, b"5\t1\t1\t1\n" + TEST, "test.rating, line 1: user 5 is not in a.train.rating"),
        (
            TRAIN + b"5\t1\t1\t1\n",
            TEST,
            "train.rating, line 5: user 5 has no held-out event in a.test.rating; expected one of each user",
        ),
        (
            TRAIN + b"2\t32\t1\t1\n",
            TEST,
            "train.rating, line 5: user 2 has item 32, which a.test.rating, line 1, holds out",
        ),
        (TRAIN * 50 + b"2\t32\t1\t1\n" + TRAIN, TEST, "train.rating, line 201: "),  # over blocks
        (b"", TEST, "train.rating: holds no events"),
        (TRAIN, b"", "test.rating: holds no events"),
        (TRAIN, TEST + b"(0,25)\t1\n", "test.rating, line 4: has 2 fields, but the lines"),
    ],
)
def test_refused(train, test, says, monkeypatch):
    monkeypatch.setattr("sampled_metrics.data.text._BLOCK_BYTES", 40)
    with pytest.raises(DataError) as caught:
        parse(train, test)
    assert str(caught.value).startswith(f"a.{says}")
