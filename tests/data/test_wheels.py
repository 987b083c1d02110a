import hashlib
import json
import os
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from sampled_metrics.data import archives
from sampled_metrics.data.archives import parse_address
from sampled_metrics.errors import ConfigError, DownloadError

NO_VERSION = """\
WARNING: Location 'file:///x/' is ignored: it is neither a file nor a directory.
ERROR: Could not find a version that satisfies the requirement data==2 (from versions: 0.1, 1.0)
ERROR: No matching distribution found for data==2
"""
NO_NETWORK = """\
WARNING: Retrying (Retry(total=0, connect=None)) after connection broken by 'NewConnectionError(': /simple/x/
ERROR: Could not find a version that satisfies the requirement data==2 (from versions: none)
ERROR: No matching distribution found for data==2
"""


class TestAddress:
    def test_member_is_that_of_the_first_wheel(self):
        assert archives.member(["https://example.org/a.whl", "pypi:a==1!x", "pypi:a==1!y"]) == "x"
        assert archives.member(["https://example.org/a.whl!z"]) is None
        assert archives.member([]) is None

    @pytest.mark.parametrize(
        "rest", ["data", "data==1", "data==1!", "data>=1!x", "-r==1!x", "data==1;rm -rf!x", "../data==1!x",
                 "data==1 !x", "data[extra]==1!x", "data==1!x\n", "data==*!x", "dätä==1!x"]
    )  # fmt: skip
    def test_malformed(self, rest):
        address = f"pypi:{rest}"
        with pytest.raises(ConfigError) as caught:
            parse_address(address)
        assert str(caught.value).startswith(f"{address!r} is not pypi:NAME==VERSION!MEMBER")
        with pytest.raises(ConfigError, match=r"^datasets\.x\.urls: "):
            archives.require_addresses(["https://example.org/a.zip", address], "datasets.x.urls")


@pytest.fixture
def pip(tmp_path, monkeypatch):
    """A substitute of pip: it keeps the arguments, writes `files` and `err`, and exits with `code`."""

    def install(*, files=("data-1.0-py3-none-any.whl",), err="", code=0) -> Path:
        arguments = tmp_path / "arguments.json"
        script = tmp_path / "python"
        script.write_text(
            f"#!{sys.executable}\n"
            "import json, pathlib, sys\n"
            f"pathlib.Path({str(arguments)!r}).write_text(json.dumps(sys.argv[1:]))\n"
            "folder = pathlib.Path(sys.argv[sys.argv.index('--dest') + 1])\n"
            f"[(folder / name).write_bytes(b'wheel') for name in {list(files)!r}]\n"
            f"sys.stderr.write({err!r})\n"
            f"sys.exit({code})\n"
        )
        script.chmod(0o755)
        monkeypatch.setattr(archives.sys, "executable", str(script))
        return arguments

    return install


@pytest.fixture
def destination(tmp_path) -> Path:
    return tmp_path / "data" / "set" / "data-1.0.whl"


class TestFetch:
    def test_the_wheel_becomes_the_file_alone(self, pip, destination):
        arguments = pip()
        archives.download(["pypi:data==1.0!x.csv"], destination, sha256=hashlib.sha256(b"wheel").hexdigest())
        assert destination.read_bytes() == b"wheel"
        assert os.listdir(destination.parent) == [destination.name]
        given = json.loads(arguments.read_text())
        assert given[:2] == ["-m", "pip"]
        assert given[-1] == "data==1.0"
        assert "--no-deps" in given
        assert given[given.index("--only-binary") + 1] == ":all:"
        assert given[given.index("--platform") + 1] == "any"

    @pytest.mark.parametrize(
        ("err", "reason"),
        [
            (NO_VERSION, "the package index has no wheel data==2 for every platform (versions: 0.1, 1.0)"),
            (NO_NETWORK, "pip cannot reach the package index"),
            ("/usr/bin/python3: No module named pip\n", "python has no pip; install it (`python -m ensurepip`)"),
            ("ERROR: one\nERROR: THESE PACKAGES DO NOT MATCH\n", "pip: THESE PACKAGES DO NOT MATCH"),
            ("Killed", "pip: it failed without a reason"),
            ("", "pip: it failed without a reason"),  # and ends well, but leaves no wheel
        ],
    )
    def test_fails_in_one_line(self, pip, destination, err, reason):
        pip(files=["data-2.tar.gz"], err=err, code=1 if err else 0)
        with pytest.raises(DownloadError) as caught:
            archives.download(["pypi:data==2!x.csv"], destination)
        assert str(caught.value) == (
            f"{destination}: could not be downloaded (pypi:data==2!x.csv: {reason}); "
            "download it by hand and set the dataset's `path`"
        )
        assert os.listdir(destination.parent) == []

    def test_the_next_address_is_tried_unless_one_is_malformed(self, pip, destination, monkeypatch):
        monkeypatch.setattr("pooch.core.time", SimpleNamespace(sleep=lambda seconds: None))
        arguments = pip()
        with pytest.raises(ConfigError, match="is not pypi:NAME==VERSION!MEMBER"):
            archives.download(["pypi:data==1.0!x.csv", "pypi:data"], destination)
        assert not arguments.exists()
        archives.download(["http://127.0.0.1:1/data-1.0.whl", "pypi:data==1.0!x.csv"], destination, md5=None)
        assert destination.read_bytes() == b"wheel"

    def test_this_python_without_pip(self, tmp_path, monkeypatch):
        """The message of Python itself, not of the substitute."""
        monkeypatch.setattr(archives, "_PIP", ("-S", "-I", "-m", "pip"))
        with pytest.raises(DownloadError, match="has no pip"):
            archives.download(["pypi:data==1.0!x"], tmp_path / "data.whl")

    def test_an_index_that_is_not_there(self, tmp_path, monkeypatch):
        """The message of pip itself, not of the substitute."""
        monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
        monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:1/simple")
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        monkeypatch.setattr(archives, "_PIP", (*archives._PIP[:-1], "1"))
        with pytest.raises(DownloadError, match="pip cannot reach the package index"):
            archives.download(["pypi:data==1.0!x"], tmp_path / "data.whl")
        assert os.listdir(tmp_path) == []

    @pytest.mark.slow
    def test_an_index_without_the_package(self, tmp_path, monkeypatch):
        """The message of pip itself, not of the substitute."""
        monkeypatch.setenv("PIP_NO_INDEX", "1")
        monkeypatch.delenv("PIP_FIND_LINKS", raising=False)
        with pytest.raises(
            DownloadError, match=r"has no wheel no-such-data==1\.0 for every platform \(versions: none\)"
        ):
            archives.download(["pypi:no-such-data==1.0!x"], tmp_path / "data.whl")
