"""The digest of code: its layers are those of the contract, and it has every file that a script imports."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from made_up_project import ROOT

from sampled_metrics.study import code
from sampled_metrics.study.code import LAYERS, code_of, content

STATED = {
    script: re.findall(r"\w+", packages)
    for rules in (ROOT / "workflow/rules").glob("*.smk")
    for script, packages in re.findall(r'code=code\("(\w+)", (.*)\)', rules.read_text(encoding="utf-8"))
}
"""Script → the packages that a rule gives for it."""
LIST = """
import sys, runpy
runpy.run_path(sys.argv[1])
for module in list(sys.modules.values()):
    if module.__name__.startswith("sampled_metrics") and module.__file__:
        print(module.__file__)
"""


def test_the_layers_are_those_of_the_contract() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    above, *layers, base, errors = contracts[0]["layers"]
    assert [set(layer.split(" | ")) for layer in layers] == [*map(set, LAYERS)]
    assert (above, errors) == ("cli | study", "errors")
    assert {name.strip() for name in base.split(":")} == {path.stem for path in code.PACKAGE.glob("_[a-z]*.py")}


def test_every_script_but_the_download_has_a_digest() -> None:
    assert {path.stem for path in (ROOT / "scripts").glob("*.py")} - {"download"} == {*STATED}


@pytest.mark.parametrize("script", STATED)
def test_the_digest_has_every_file_that_a_script_imports(script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that it imports at once; what is imported later is in a package below one of these."""
    path = ROOT / f"scripts/{script}.py"
    listed = subprocess.run([sys.executable, "-c", LIST, path], capture_output=True, text=True, check=True)
    digested = set[Path]()
    monkeypatch.setattr(code, "content", lambda path: digested.add(Path(path)))
    code_of(path, *STATED[script])
    assert {*map(Path, listed.stdout.split("\n")[:-1])} - {code.PACKAGE / "study/__init__.py"} <= digested


def test_the_content_of_a_file_is_its_sha256(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"abc")
    assert content(tmp_path / "a") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert content(tmp_path / "b") is None
