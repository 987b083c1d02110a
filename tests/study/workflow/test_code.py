"""Digests of code have every file that training loads, and checksums are of the data."""

import sys
from pathlib import Path

import pytest

from sampled_metrics_study import code
from sampled_metrics_study.code import TRAINING, code_of_class, files_of
from sampled_metrics_study.provenance import checksums, gathered
from sampled_metrics_study.recommenders.registry import recommender_type

SHA256_OF_ABC = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
"""The SHA-256 of b"abc", by FIPS 180-2."""
SOURCE = Path(code.__file__).parents[1]
OF_ONE_RECOMMENDER = {
    f"sampled_metrics_study/recommenders/{name}.py" for name in ("ials", "item_cf")
}
COMPUTE_NOTHING = {
    "sampled_metrics/__init__.py",
    "sampled_metrics/_registry.py",
    "sampled_metrics/core/__init__.py",
    "sampled_metrics_study/__init__.py",
}


def file_of(module):
    """The file of a module, below src."""
    path = Path(*module.split("."))
    is_package = (SOURCE / path).is_dir()
    return str(path / "__init__.py" if is_package else path.with_suffix(".py"))


@pytest.mark.parametrize("script", ["verify", "split", "train", "rank", "import_ranks"])
def test_the_digest_of_training_has_every_module_that_is_loaded(finished, script):
    modules = (finished.folder / "loaded" / script).read_text(encoding="utf-8").split()
    loaded = {file_of(module) for module in modules}
    assert len(loaded) > 5
    digested = {str(path.relative_to(SOURCE)) for path in files_of(TRAINING)}
    assert loaded - COMPUTE_NOTHING - OF_ONE_RECOMMENDER <= digested


def test_training_depends_on_its_own_recommender():
    digests = {code_of_class(recommender_type(kind)) for kind in ("ials", "item-cf", "ease")}
    assert len(digests) == 3
    registered = {"ials.py", "item_cf.py", "ease.py", "registry.py"}
    assert not registered & {path.name for path in files_of(TRAINING)}


def test_the_code_of_a_class_of_ones_own_is_that_of_its_files_and_what_they_import(
    tmp_path, monkeypatch
):
    """Docstrings, comments and layout do not count, other texts do."""
    above = (
        "from below_of_a_test import Below\nimport helper_of_a_test\n\n\nclass Above(Below):\n    "
        "pass\n"
    )
    below = (
        "from sampled_metrics_study.recommenders.item_cf import ItemCF\n\n\nclass "
        "Below(ItemCF):\n    pass\n"
    )
    helpers = [
        'def text():\n    return "2"\n',
        '"""A module."""\n\ndef text():  # here\n    """A function."""\n    return ("2")\n',
        'def text():\n    return "3"\n',
    ]
    digests = []
    for helper in helpers:
        folder = tmp_path / str(len(digests))
        folder.mkdir()
        texts = {"above": above, "below": below, "helper": helper}
        for name, text in texts.items():
            (folder / f"{name}_of_a_test.py").write_text(text, encoding="utf-8")
        with monkeypatch.context() as patched:
            patched.chdir(folder)
            patched.syspath_prepend(folder)
            digests.append(code_of_class(__import__("above_of_a_test").Above))
        for name in texts:
            del sys.modules[f"{name}_of_a_test"]
    assert digests[0] == digests[1] != digests[2]


def test_checksums_are_of_the_archive_and_the_ranks(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    paths = [f"{folder}/ranks/X.csv.gz" for folder in ("results/one", "prefix/results/two")]
    for path in paths:
        Path(path).parent.mkdir(parents=True)
        Path(path).write_bytes(b"abc")
    assert checksums(paths, {"two": {"source": "two.zip", "sha256": "123"}}) == {
        "one": {"results/one/ranks/X.csv.gz": SHA256_OF_ABC},
        "two": {"two.zip": "123", "prefix/results/two/ranks/X.csv.gz": SHA256_OF_ABC},
    }


def test_versions_that_differ_name_their_jobs():
    old = {"job": "train X", "code": "0.1", "software": {"numpy": "2.0", "implicit": "0.7.2"}}
    new = {"job": "tables", "code": "0.1", "software": {"numpy": "2.0", "implicit": "0.7.3"}}
    assert gathered([old, old | {"job": "train Y"}, new]) == {
        "Code": "0.1",
        "numpy": "2.0",
        "implicit": "0.7.2 (train X, train Y); 0.7.3 (tables)",
    }
