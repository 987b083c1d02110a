"""What a study is made from: digests of code have every file that a script imports, and checksums are of the data."""

import ast
import re
import sys
import tomllib
from functools import cache
from pathlib import Path

import pytest
from made_up_project import ROOT

from sampled_metrics.study import code
from sampled_metrics.study.code import LAYERS, code_of, content, files_of_class
from sampled_metrics.study.provenance import checksums

STATED = {
    script: re.findall(r"\w+", packages)
    for rules in (ROOT / "workflow/rules").glob("*.smk")
    for script, packages in re.findall(r'code=code\("(\w+)", (.*)\)', rules.read_text(encoding="utf-8"))
}
"""Script → the packages that a rule gives for it."""
OF_ABC = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
"""The SHA-256 of b"abc", by FIPS 180-2."""


@cache
def imported(path: Path) -> set[Path]:
    """The files of the library that a file imports at once, with the packages that they are in."""
    names = set[str]()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom):
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    parts = [name.split(".") for name in names if name.startswith(code.PACKAGE.name)]
    places = {code.PACKAGE.joinpath(*words[1:end]) for words in parts for end in range(1, len(words) + 1)}
    return {file for place in places for file in (place.with_suffix(".py"), place / "__init__.py") if file.is_file()}


@pytest.mark.parametrize("script", STATED)
def test_the_digest_has_every_file_that_a_script_imports(script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that it imports at once; what is imported later is in a package below one of these."""
    path = ROOT / f"scripts/{script}.py"
    new = found = imported(path)
    while new:
        new = set[Path]().union(*map(imported, new)) - found
        found = found | new
    assert len(found) > 5
    digested = set[Path]()
    monkeypatch.setattr(code, "content", lambda path: digested.add(Path(path)))
    code_of(path, *STATED[script])
    assert found - {code.PACKAGE / "study/__init__.py"} <= digested


def test_every_script_but_the_download_has_a_digest_by_the_layers_of_the_contract() -> None:
    assert {path.stem for path in (ROOT / "scripts").glob("*.py")} - {"download"} == {*STATED}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    above, *layers, base, errors = project["tool"]["importlinter"]["contracts"][0]["layers"]
    assert [set(layer.split(" | ")) for layer in layers] == [*map(set, LAYERS)]
    assert (above, errors) == ("cli | study", "errors")
    assert {name.strip() for name in base.split(":")} == {path.stem for path in code.PACKAGE.glob("_[a-z]*.py")}


def test_the_content_of_a_file_is_its_sha256(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"abc")
    assert content(tmp_path / "a") == OF_ABC
    assert content(tmp_path / "b") is None


def test_the_files_of_a_class_are_its_own_and_of_those_that_it_inherits_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    below, above = (tmp_path / f"{name}_of_a_test.py" for name in ("below", "above"))
    below.write_text("from collections import OrderedDict\n\n\nclass Below(OrderedDict):\n    pass\n")
    above.write_text("from below_of_a_test import Below\n\n\nclass Above(Below):\n    pass\n")
    cls = __import__("above_of_a_test").Above
    assert files_of_class(cls) == [str(above), str(below)]
    assert files_of_class(code.Path) == []
    for path in (below, above):
        del sys.modules[path.stem]


def test_checksums_are_of_the_archive_and_the_ranks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    paths = [f"{folder}/ranks/X.csv.gz" for folder in ("results/one", "prefix/results/two")]
    for path in paths:
        Path(path).parent.mkdir(parents=True)
        Path(path).write_bytes(b"abc")
    found = checksums(paths, {"two": {"source": "two.zip", "sha256": "123"}})
    assert found == {"one": {paths[0]: OF_ABC}, "two": {"two.zip": "123", paths[1]: OF_ABC}}
