"""Which library files a script depends on: what it imports when it runs, no less, and no more than it needs."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from sampled_metrics.study.workflow import code_dependencies
from sampled_metrics.study.workflow.code_dependencies import PACKAGE, digest, library_files

SCRIPTS = Path(__file__).parents[2] / "scripts"


def names(script, *modules):
    return {path.relative_to(PACKAGE).as_posix() for path in library_files(SCRIPTS / script, modules)}


def test_editing_an_estimator_touches_the_sampled_evaluation_and_nothing_before():
    estimators = {path.relative_to(PACKAGE).as_posix() for path in PACKAGE.glob("estimators/*.py")}
    for script in ("sample.py", "exact_moments.py", "study_estimators.py", "figure_6.py"):
        assert estimators | {"metrics/metric.py", "sampling/distributions.py", "ranks/exact.py"} <= names(script)
    for script in ("split.py", "train.py", "rank.py", "figure_5.py"):
        packages = {name.partition("/")[0] for name in names(script)}
        assert not packages & {"estimators", "metrics", "sampling", "evaluation", "paper"}


def test_a_recommender_is_trained_again_for_its_own_file():
    assert not names("train.py") & {"recommenders/ials.py", "recommenders/item_cf.py"}
    added = names("train.py", "sampled_metrics.recommenders.item_cf") - names("train.py")
    assert added == {f"recommenders/{name}.py" for name in ("item_cf",)}


@pytest.mark.parametrize(
    ("edited", "is_same"),
    [("# other\na = 1\n\n\nb = 2  # note\n", True), ("a = 1\nb = 3\n", False), ("a = 1\n'b'\nb = 2\n", False)],
)
def test_a_digest_is_that_of_the_code_and_not_of_its_layout(tmp_path, edited, is_same):
    one, other = tmp_path / "one.py", tmp_path / "other.py"
    one.write_text("a = 1\nb = 2\n", encoding="utf-8")
    other.write_text(edited, encoding="utf-8")
    assert (digest(one) == digest(other)) == is_same


LOADED = """
import json, runpy, sys
runpy.run_path(sys.argv[1], run_name="imported")
print(json.dumps([module.__file__ for name, module in sys.modules.items() if name.startswith("sampled_metrics")]))
"""


@pytest.mark.parametrize("script", ["train.py", pytest.param("study_tables.py", marks=pytest.mark.slow)])
def test_python_loads_nothing_else(script):
    command = [sys.executable, "-c", LOADED, str(SCRIPTS / script)]
    environment = {"PYTHONPATH": str(PACKAGE.parent)}
    found = subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout
    loaded = {Path(path).resolve() for path in json.loads(found.splitlines()[-1])}
    assert loaded
    assert loaded <= {path.resolve() for path in library_files(SCRIPTS / script)}


CHECKED = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n"


class TestImports:
    """Of a package of its own, made for the test."""

    @pytest.fixture
    def depends_on(self, tmp_path, monkeypatch):
        package = tmp_path / "sampled_metrics"
        (package / "inner").mkdir(parents=True)
        for name in ("__init__", "one", "two", "types_only", "inner/__init__", "inner/leaf"):
            (package / f"{name}.py").touch()
        monkeypatch.setattr(code_dependencies, "PACKAGE", package)
        known = code_dependencies._imported, code_dependencies._files
        for each in known:
            each.cache_clear()
        yield lambda code, **modules: self.files(tmp_path, package, code, modules)
        for each in known:
            each.cache_clear()

    @staticmethod
    def files(folder, package, code, modules):
        for name, text in modules.items():
            (package / f"{name}.py").write_text(text)
        (folder / "script.py").write_text(code)
        return {path.relative_to(package).as_posix() for path in library_files(folder / "script.py")}

    @pytest.mark.parametrize(
        ("code", "wanted"),
        [
            ("import sampled_metrics.one", {"__init__.py", "one.py"}),
            ("import sampled_metrics.one as first", {"__init__.py", "one.py"}),
            ("from sampled_metrics import one, two", {"__init__.py", "one.py", "two.py"}),
            ("from sampled_metrics.one import name", {"__init__.py", "one.py"}),
            ("from sampled_metrics.inner import leaf", {"__init__.py", "inner/__init__.py", "inner/leaf.py"}),
            ("def later():\n    from sampled_metrics import one", {"__init__.py", "one.py"}),
            ("class Shown:\n    def _repr_html_(self):\n        from sampled_metrics import one", set()),
            ('path = "sampled_metrics.one.Class"', {"__init__.py", "one.py"}),
            ("import json\nfrom os import path", set()),
            ("import sampled_metrics_other", set()),
            ("# from sampled_metrics import one", set()),
        ],
    )
    def test_of_a_script(self, depends_on, code, wanted):
        assert depends_on(code) == wanted

    @pytest.mark.parametrize(
        ("code", "modules", "wanted"),
        [
            (
                "from . import one",
                {"one": "from sampled_metrics import two", "two": "import sampled_metrics.one"},
                "one two",
            ),
            ("from . import one", {"one": f"{CHECKED}    from sampled_metrics import types_only\n"}, "one"),
            (f"{CHECKED}    from . import types_only\nelse:\n    from . import one", {}, "one"),
            ("if True:\n    from . import one\nelse:\n    import sampled_metrics.two", {}, "one two"),
        ],
        ids=["in turn, even in a circle", "for type checking", "instead of type checking", "under a condition"],
    )
    def test_of_modules(self, depends_on, code, modules, wanted):
        found = depends_on(code.replace("from .", "from sampled_metrics"), **modules)
        assert found == {"__init__.py", *(f"{name}.py" for name in wanted.split())}


@pytest.mark.parametrize(
    ("script", "templates"),
    [
        ("study_tables", {"tables.html", "base.html", "parts.html", "style.css"}),
        ("summary", {"summary.html", "tables.html", "base.html", "parts.html", "style.css"}),
        ("rank", set()),
    ],
)
def test_templates_count(script, templates):
    files = library_files(SCRIPTS / f"{script}.py")
    assert {path.name for path in files if path.suffix != ".py"} - {"result.html"} == templates
