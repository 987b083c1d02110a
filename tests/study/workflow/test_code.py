"""Digests of code have every file that a script loads, and checksums are of the data."""

import sys
from pathlib import Path

import pytest
from made_up_project import ROOT, STUDY, Project

from sampled_metrics_study import code
from sampled_metrics_study.code import code_of, code_of_class, content, files_of
from sampled_metrics_study.entries import FIGURES, TABLES, paths
from sampled_metrics_study.provenance import checksums
from sampled_metrics_study.recommenders.registry import RECOMMENDERS, recommender_type

SHA256_OF_ABC = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
"""The SHA-256 of b"abc", by FIPS 180-2."""
SCRIPTS = sorted(path.stem for path in (ROOT / "scripts").glob("*.py"))
STUDY_FOLDER = Path(code.__file__).parent
SOURCE = STUDY_FOLDER.parent


def loaded(project: Project) -> dict[str, set[Path]]:
    """Return the files of the library that the scripts of a run have loaded, by script."""
    files: dict[str, set[Path]] = {}
    for path in (project.folder / "loaded").iterdir():
        modules = set(path.read_text(encoding="utf-8").split())
        paths_without_suffix = [SOURCE.joinpath(*module.split(".")) for module in modules]
        candidates = [path.with_suffix(".py") for path in paths_without_suffix]
        candidates += [path / "__init__.py" for path in paths_without_suffix]
        files[path.name] = {file for file in candidates if file.is_file()}
    return files


def digested(script: str) -> frozenset[Path]:
    """Return the files of which rules have digests.

    They are those of a script, of recommenders, and of functions of figures.
    """
    registered = {
        "train": {f"recommenders/{path.partition('.')[0]}.py" for path in RECOMMENDERS.values()}
    }
    for rule, places in (("figures", FIGURES), ("tables", TABLES)):
        functions = [name for entries in places.values() for name in paths(entries)]
        registered[rule] = {"/".join(name.split(".")[1:-1]) + ".py" for name in functions}
    files = [STUDY_FOLDER / name for name in registered.get(script, ())]
    return files_of([ROOT / f"scripts/{script}.py", *files])


def test_the_digest_has_every_module_that_a_script_has_loaded(finished: Project) -> None:
    files_by_script = loaded(finished)
    scripts = {"verify", "split", "train", "rank", "sample", "tables", "figures", "summary"}
    assert scripts <= set(files_by_script)
    for script, files in files_by_script.items():
        assert len(files) > 5
        assert files <= digested(script), script


@pytest.mark.slow
def test_the_digest_has_what_the_scripts_of_other_studies_load(project: Project) -> None:
    budget = {"metric": "recall@10", "depths": [5], "negatives": [5]}
    recommenders = STUDY["recommenders"] | {"Y": {"type": "item-cf"}}
    project.configure(recommenders=recommenders, figures=STUDY["figures"] | {"budget": budget})
    targets = ["results/made-up/budget.csv", "results/made-up/split/train.csv"]
    ran = project.snakemake(*targets, "--cores", "2", "--set-scatter", "users=2")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    files_by_script = loaded(project)
    assert {"budget", "split_tables", "gather_ranks"} <= set(files_by_script)
    for script, files in files_by_script.items():
        assert files <= digested(script), script


def names(script: str) -> set[str]:
    """The modules that a script depends on, as a path below src."""
    files = files_of([ROOT / f"scripts/{script}.py"])
    return {str(path.relative_to(SOURCE)) for path in files if path.is_relative_to(SOURCE)}


@pytest.mark.parametrize(
    "script", ["verify", "split", "train", "rank", "split_tables", "gather_ranks", "import_ranks"]
)
def test_what_comes_before_the_metrics_does_not_depend_on_them(script: str) -> None:
    later = (
        "sampled_metrics/core/metrics",
        "sampled_metrics/core/estimators",
        "sampled_metrics/core/sampling",
        "sampled_metrics/core/inference",
        "sampled_metrics/core/evaluation",
        "sampled_metrics/reporting",
        "sampled_metrics/cli",
        "sampled_metrics/adapters",
    )
    assert not [name for name in names(script) if name.startswith(later)]
    assert "sampled_metrics_study/recommenders/registry.py" not in names(script)


def test_training_depends_on_its_own_recommender_and_not_on_ranks() -> None:
    packages = ("sampled_metrics/core/ranks/", "sampled_metrics/ranking/")
    files_of_ranks = {name for name in names("train") if name.startswith(packages)}
    assert files_of_ranks == {
        "sampled_metrics/ranking/__init__.py",
        "sampled_metrics/ranking/split.py",
    }
    module = sys.modules[recommender_type("ials").__module__]
    files = files_of([Path(module.__file__)])
    folder = STUDY_FOLDER / "recommenders"
    assert folder / "ials.py" in files
    assert folder / "item_cf.py" not in files
    digests = {code_of_class(recommender_type(kind)) for kind in ("ials", "item-cf", "ease")}
    assert len(digests) == 3


PLAIN = "import os\n\n\ndef double(x):\n    return 2 * x\n"
SAME = {
    "docstrings": '"""Of a module."""\nimport os\n\n\ndef double(x):\n    """Of a function."""\n '
    "   return 2 * x\n",
    "the docstring of a constant": PLAIN.replace("os\n", 'os\n"""Said of what is above."""\n'),
    "comments and layout": "import os  # here\n\n# there\ndef double(x):\n    return (2\n        "
    "    * x)\n",
    "imports for type checkers": PLAIN.replace("os\n", "os\nif TYPE_CHECKING:\n    import csv\n"),
    "imports for type checkers, by their module": PLAIN.replace(
        "os\n", "os\nif typing.TYPE_CHECKING:\n    import re\n"
    ),
}
CHANGED = {
    "another number": PLAIN.replace("2", "3"),
    "another name": PLAIN.replace("x", "y"),
    "an import in a function": PLAIN.replace("    return", "    import re\n    return"),
    "a text that is no docstring": PLAIN.replace("2 * x", '"2"'),
    "what holds without type checkers": PLAIN.replace(
        "os\n", "os\nif TYPE_CHECKING:\n    import csv\nelse:\n    csv = 1\n"
    ),
}


@pytest.mark.parametrize(
    ("text", "is_same"),
    [(text, True) for text in SAME.values()] + [(text, False) for text in CHANGED.values()],
    ids=[*SAME, *CHANGED],
)
def test_a_digest_is_of_what_the_code_does(tmp_path: Path, text: str, is_same: bool) -> None:
    (tmp_path / "plain.py").write_text(PLAIN, encoding="utf-8")
    (tmp_path / "changed.py").write_text(text, encoding="utf-8")
    assert (code_of(tmp_path / "plain.py") == code_of(tmp_path / "changed.py")) == is_same


MODULES = {
    "pack/__init__.py": "from typing import TYPE_CHECKING\n"
    "if TYPE_CHECKING:\n    from pack.offered import first as first\n    from pack.unused import "
    "second as second\n"
    "def __getattr__(name):\n    return name\n",
    "pack/at_once.py": "import pack.below.deep\n",
    "pack/below/__init__.py": "",
    "pack/below/deep.py": "from .beside import x\nfrom .. import upwards\n",
    "pack/below/beside.py": "x = 1\n",
    "pack/upwards.py": "",
    "pack/late.py": "",
    "pack/offered.py": "first = 1\n",
    "pack/unused.py": "second = 1\n",
    "pack/registered.py": "class Entry:\n    pass\n",
    "pack/for_types.py": "",
    "pack/excepted.py": "",
}
CASES = {
    "an import, and what it imports relatively": (
        "import pack.at_once\n",
        ["at_once", "below/__init__", "below/deep", "below/beside", "upwards"],
    ),
    "an import in a function": ("def f():\n    from pack import late\n", ["late"]),
    "an import after an error": (
        "try:\n    import os\nexcept ImportError:\n    import pack.excepted\n",
        ["excepted"],
    ),
    "a name that is offered lazily": ("from pack import first\n", ["offered"]),
    "an attribute that is offered lazily": ("import pack as p\np.first\n", ["offered"]),
    "two modules by one name": (
        "def f():\n    from pack import late as x\ndef g():\n    from pack import upwards as x\n",
        ["late", "upwards"],
    ),
    "a path in a registry": ('KINDS = {"entry": "pack.registered.Entry"}\n', ["registered"]),
    "for type checkers": ("if TYPE_CHECKING:\n    import pack.for_types\nimport pack\n", []),
    "of nobody": ("import os, numpy\n", None),
}


@pytest.mark.parametrize(("text", "wanted"), CASES.values(), ids=CASES)
def test_imports_are_followed_in_all_their_forms(
    tmp_path: Path, text: str, wanted: list[str] | None
) -> None:
    for name, module in MODULES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(module, encoding="utf-8")
    script = tmp_path / "script.py"
    script.write_text(text, encoding="utf-8")
    expected = {script}
    if wanted is not None:
        expected |= {tmp_path / f"pack/{name}.py" for name in ["__init__", *wanted]}
    assert files_of([script], beside={"pack": tmp_path}) == expected


def test_templates_count_where_they_are_named_and_in_those_that_include_them() -> None:
    tables_files = files_of([STUDY_FOLDER / "table_files.py"])
    summary_files = files_of([STUDY_FOLDER / "summary.py"])
    templates = STUDY_FOLDER / "templates"
    shared = SOURCE / "sampled_metrics/reporting/templates"
    assert templates / "tables.html" in tables_files
    for name in ("base.html", "style.css", "parts.html"):
        assert shared / name in tables_files
    assert templates / "summary.html" not in tables_files
    assert templates / "summary.html" in summary_files


def test_the_content_of_a_file_is_its_sha256(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"abc")
    assert content(tmp_path / "a") == SHA256_OF_ABC
    assert content(tmp_path / "b") is None


def test_the_code_of_a_class_of_ones_own_is_that_of_its_files_and_what_they_import(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    above = (
        "from below_of_a_test import Below\nimport helper_of_a_test\n\n\nclass Above(Below):\n    "
        "pass\n"
    )
    below = "from collections import OrderedDict\n\n\nclass Below(OrderedDict):\n    pass\n"
    digests = []
    for helper, comment in (("x = 1\n", ""), ("x = 1\n", "# a comment\n"), ("x = 2\n", "")):
        folder = tmp_path / str(len(digests))
        folder.mkdir()
        texts = {"above": above + comment, "below": below, "helper": helper}
        for name, text in texts.items():
            (folder / f"{name}_of_a_test.py").write_text(text, encoding="utf-8")
        with monkeypatch.context() as patched:
            patched.chdir(folder)
            patched.syspath_prepend(folder)
            digests.append(code_of_class(__import__("above_of_a_test").Above))
        for name in texts:
            del sys.modules[f"{name}_of_a_test"]
    assert digests[0] == digests[1] != digests[2]


def test_checksums_are_of_the_archive_and_the_ranks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    paths = [f"{folder}/ranks/X.csv.gz" for folder in ("results/one", "prefix/results/two")]
    for path in paths:
        Path(path).parent.mkdir(parents=True)
        Path(path).write_bytes(b"abc")
    assert checksums(paths, {"two": {"source": "two.zip", "sha256": "123"}}) == {
        "one": {"results/one/ranks/X.csv.gz": SHA256_OF_ABC},
        "two": {"two.zip": "123", "prefix/results/two/ranks/X.csv.gz": SHA256_OF_ABC},
    }
