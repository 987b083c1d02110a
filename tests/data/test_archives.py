import gzip
import zipfile
import zlib
from pathlib import Path

import pytest

from sampled_metrics.data import archives
from sampled_metrics.data.archives import is_web_page, open_member
from sampled_metrics.errors import DataError

EVENTS = b"".join(b"%d::%d::4::%d\n" % (number, number * 7919 % 3001, number * 104729) for number in range(2000))


def make_zip(path: Path, entries: dict[str, bytes], compression: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    return path


def read(path: Path, member: str | None = "ratings.dat") -> bytes:
    with open_member(path, member) as stream:
        return stream.read()


def error_of(path: Path, member: str | None = "ratings.dat") -> str:
    with pytest.raises(DataError) as caught:
        read(path, member)
    message = str(caught.value)
    assert message.startswith(str(path))
    assert "\n" not in message
    return message


def edited(path: Path, old: bytes, new: bytes) -> Path:
    content = path.read_bytes()
    assert content.count(old) == 1
    path.write_bytes(content.replace(old, new))
    return path


class TestWellFormed:
    @pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
    @pytest.mark.parametrize("name", ["ml-1m.zip", "archive.bin"])
    def test_zip_member_in_a_folder(self, tmp_path, compression, name):
        path = make_zip(tmp_path / name, {"ml-1m/": b"", "ml-1m/README": b"", "ml-1m/ratings.dat": EVENTS}, compression)
        assert read(path) == EVENTS
        assert read(path, "ml-1m/ratings.dat") == EVENTS
        assert [file.name for file in tmp_path.iterdir()] == [name]

    def test_only_entry_of_a_zip_needs_no_name(self, tmp_path):
        assert read(make_zip(tmp_path / "a.zip", {"folder/": b"", "folder/events.csv": EVENTS}), None) == EVENTS

    def test_a_full_name_wins_over_the_same_name_in_a_folder(self, tmp_path):
        assert read(make_zip(tmp_path / "a.zip", {"ratings.dat": EVENTS, "old/ratings.dat": b""})) == EVENTS

    @pytest.mark.parametrize("member", [None, "ratings.dat"])
    def test_gzip(self, tmp_path, member):
        path = tmp_path / "ratings"
        path.write_bytes(gzip.compress(EVENTS))
        assert read(path, member) == EVENTS

    @pytest.mark.parametrize("member", [None, "ratings.dat"])
    @pytest.mark.parametrize("content", [EVENTS, b""])
    def test_plain_file(self, tmp_path, member, content):
        path = tmp_path / "my-ratings.txt"
        path.write_bytes(content)
        assert read(path, member) == content

    def test_stream_reads_lines_and_knows_its_name(self, tmp_path):
        path = make_zip(tmp_path / "ml-1m.zip", {"ml-1m/ratings.dat": EVENTS})
        with open_member(path, "ratings.dat") as stream:
            assert stream.name == f"{path}/ratings.dat"
            assert stream.readline() == b"0::0::4::0\n"
            assert b"".join(stream) == EVENTS.removeprefix(b"0::0::4::0\n")
        assert stream.closed

    def test_errors_of_the_reader_pass_unchanged(self, tmp_path):
        path = make_zip(tmp_path / "a.zip", {"ratings.dat": EVENTS})
        with pytest.raises(OSError, match="mine"), open_member(path, "ratings.dat"):
            raise OSError("mine")


class TestWrongEntries:
    def test_no_such_entry_lists_what_there_is(self, tmp_path):
        path = make_zip(tmp_path / "a.zip", {"ml-1m/README": b"", "ml-1m/movies.dat": b""})
        assert error_of(path) == (
            f"{path}: expected one file named 'ratings.dat', found 0; "
            "the archive holds 'ml-1m/README', 'ml-1m/movies.dat'; name one as the dataset's `member`"
        )

    def test_several_entries_lists_them(self, tmp_path):
        path = make_zip(tmp_path / "a.zip", {"x/ratings.dat": b"", "y/ratings.dat": b"", "README": b""})
        assert "found 2; the archive holds 'x/ratings.dat', 'y/ratings.dat'; name one" in error_of(path)

    def test_lists_at_most_ten(self, tmp_path):
        message = error_of(make_zip(tmp_path / "a.zip", {f"{number}.dat": b"" for number in range(50)}))
        assert "'8.dat', '9.dat', …; name one" in message

    def test_no_name_given_and_several_entries(self, tmp_path):
        assert "expected one file, found 2" in error_of(make_zip(tmp_path / "a.zip", {"x": b"", "y": b""}), None)

    def test_empty_archive(self, tmp_path):
        assert "the archive holds no files" in error_of(make_zip(tmp_path / "a.zip", {}))

    def test_names_outside_the_folder_are_only_names(self, tmp_path):
        path = make_zip(tmp_path / "a.zip", {"../../ratings.dat": EVENTS})
        assert read(path) == EVENTS
        assert list(tmp_path.iterdir()) == [path]


class TestDamage:
    def test_missing_file(self, tmp_path):
        assert error_of(tmp_path / "no.zip").endswith("cannot be read: No such file or directory")

    def test_folder(self, tmp_path):
        assert error_of(tmp_path).endswith("cannot be read: Is a directory")

    @pytest.mark.parametrize("beginning", [b"<!DOCTYPE html>", b"\n  <html lang='en'>", b"\xef\xbb\xbf<!doctype html>"])
    @pytest.mark.parametrize("name", ["ml-1m.zip", "ratings.dat"])
    def test_web_page(self, tmp_path, beginning, name):
        path = tmp_path / name
        path.write_bytes(beginning + b"<body>Please log in</body>")
        assert is_web_page(path)
        assert "is a web page, not the data set" in error_of(path)

    @pytest.mark.parametrize("name", ["ml-1m.zip", "download"])
    def test_truncated_zip(self, tmp_path, name):
        path = make_zip(tmp_path / name, {"ratings.dat": EVENTS})
        path.write_bytes(path.read_bytes()[:-100])
        assert "is not a zip archive, or is truncated" in error_of(path)

    def test_zip_by_its_name_only(self, tmp_path):
        path = tmp_path / "ratings.ZIP"
        path.write_bytes(EVENTS)
        assert "is not a zip archive" in error_of(path)

    def test_changed_content_fails_the_checksum(self, tmp_path):
        path = make_zip(tmp_path / "a.zip", {"ratings.dat": EVENTS}, zipfile.ZIP_STORED)
        edited(path, b"\n1999::", b"\n1998::")
        assert error_of(path).startswith(f"{path}/ratings.dat: cannot be read: Bad CRC-32")

    def test_broken_deflate_stream(self, tmp_path):
        path = make_zip(tmp_path / "a.zip", {"ratings.dat": EVENTS})
        packed = zlib.compress(EVENTS, wbits=-15)
        edited(path, packed[1000:1200], b"\xff" * 200)
        assert "ratings.dat: cannot be read: " in error_of(path)

    def test_unknown_compression(self, tmp_path):
        path = make_zip(tmp_path / "a.zip", {"ratings.dat": EVENTS}, zipfile.ZIP_BZIP2)
        path.write_bytes(path.read_bytes().replace(b"\x0c\x00", b"\x09\x00"))
        assert "its compression (kind 9) is not supported; pack it again with deflate" in error_of(path)

    def test_encrypted(self, tmp_path):
        path = make_zip(tmp_path / "a.zip", {"ratings.dat": EVENTS})
        content = bytearray(path.read_bytes())
        content[content.index(b"PK\x01\x02") + 8] |= 1
        path.write_bytes(content)
        assert error_of(path) == f"{path}/ratings.dat: is encrypted; decrypt the archive first"

    def test_truncated_gzip(self, tmp_path):
        path = tmp_path / "ratings.gz"
        path.write_bytes(gzip.compress(EVENTS)[:-100])
        assert "cannot be read: Compressed file ended" in error_of(path)

    def test_gzip_with_a_wrong_checksum(self, tmp_path):
        path = tmp_path / "ratings.gz"
        content = bytearray(gzip.compress(EVENTS))
        content[-8] ^= 1
        path.write_bytes(content)
        assert "cannot be read: CRC check failed" in error_of(path)


class TestLimit:
    """Of the bytes that a packed file unpacks to; a plain file has no limit."""

    @pytest.fixture(params=["zip", "gzip", "plain"])
    def path(self, tmp_path, request):
        if request.param == "zip":
            return make_zip(tmp_path / "ratings.zip", {"ratings.dat": EVENTS})
        path = tmp_path / "ratings.dat"
        path.write_bytes(gzip.compress(EVENTS) if request.param == "gzip" else EVENTS)
        return path

    def test_a_file_at_the_limit_is_read(self, path, monkeypatch):
        monkeypatch.setattr(archives, "MAX_BYTES", len(EVENTS))
        assert read(path) == EVENTS

    def test_a_packed_file_above_the_limit_is_refused(self, path, monkeypatch):
        monkeypatch.setattr(archives, "MAX_BYTES", len(EVENTS) - 1)
        if path.read_bytes() == EVENTS:
            assert read(path) == EVENTS
        else:
            assert f"more than the {len(EVENTS) - 1} bytes allowed" in error_of(path)

    def test_nothing_is_read_beyond_the_declared_size(self, tmp_path):
        path = make_zip(tmp_path / "a.zip", {"ratings.dat": EVENTS})
        content = bytearray(path.read_bytes())
        directory = content.index(b"PK\x01\x02")
        content[directory + 16 : directory + 20] = zlib.crc32(EVENTS[:1000]).to_bytes(4, "little")
        content[directory + 24 : directory + 28] = (1000).to_bytes(4, "little")
        path.write_bytes(content)
        assert read(path) == EVENTS[:1000]
