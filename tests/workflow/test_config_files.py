from pathlib import Path

import pytest

from sampled_metrics.errors import ConfigError
from sampled_metrics.workflow.config_files import read_config


def read(tmp_path: Path, content: bytes) -> dict:
    path = tmp_path / "study.yaml"
    path.write_bytes(content)
    return read_config(path)


def error_of(tmp_path: Path, content: bytes) -> str:
    with pytest.raises(ConfigError) as caught:
        read(tmp_path, content)
    message = str(caught.value)
    assert message.startswith(f"{tmp_path / 'study.yaml'}")
    assert "\n" not in message
    return message.removeprefix(f"{tmp_path / 'study.yaml'}")


def test_plain_values(tmp_path: Path) -> None:
    content = "# of λ\na: [1, 2.5, true, null, text]\n'b c': {d: 'é'}\n".encode()
    assert read(tmp_path, content) == {"a": [1, 2.5, True, None, "text"], "b c": {"d": "é"}}


@pytest.mark.parametrize("content", [b"", b"# nothing\n", b"---\n"])
def test_an_empty_file_is_an_empty_mapping(tmp_path: Path, content: bytes) -> None:
    assert read(tmp_path, content) == {}


def test_what_a_merge_brings_may_be_overridden(tmp_path: Path) -> None:
    content = b"a: &a {x: 1, y: 2}\nb: {<<: *a, x: 3}\n"
    assert read(tmp_path, content)["b"] == {"x": 3, "y": 2}


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"seed: 1\nsplit: {}\nseed: 2\n", ", line 3: the key 'seed' is there twice"),
        (b"a:\n  b: 1\n  b: 1\n", ", line 3: the key 'b' is there twice"),
        (b"a: {b: 1, 'b': 2}\n", ", line 1: the key 'b' is there twice"),
        (b"- 1\n", ": must be a mapping of keys, not a list"),
        (b"a: [1\n", ", line 2: expected ',' or ']'"),
        (b"a: !!python/object/apply:os.getcwd []\n", ", line 1: could not determine a constructor for the tag"),
        (b"a: *nothing\n", ", line 1: found undefined alias"),
        (b"? [1, 2]\n: 3\n", ", line 1: found unhashable key"),
        (b"a: \xff\n", ": is not text in UTF-8"),
        (b"a: \x01\n", ": is not YAML: unacceptable character"),
        (b"a: 2020-13-45\n", ": is not YAML: month must be in 1..12"),
        (b"a: " + b"9" * 5000 + b"\n", ": is not YAML: Exceeds the limit"),
    ],
)
def test_refused(tmp_path: Path, content: bytes, says: str) -> None:
    assert error_of(tmp_path, content).startswith(says)


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"none\.yaml: cannot be read: No such file"):
        read_config(tmp_path / "none.yaml")
