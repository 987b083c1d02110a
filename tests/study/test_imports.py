"""The study is the first user of the library: it imports what the reference describes."""

import ast
import re
from importlib import import_module
from types import ModuleType

import pytest
from docs_blocks import ROOT

import sampled_metrics as sm

MODULES = [*ROOT.glob("src/sampled_metrics_study/**/*.py"), *ROOT.glob("scripts/*.py")]
REFERENCE = "\n".join(
    (ROOT / f"docs/reference/{page}.md").read_text() for page in ("functions", "modules")
)
DESCRIBED = set(re.findall(r"^<!-- auto(?:module|function|class|data) (\S+)", REFERENCE, re.M))
DESCRIBED |= {
    f"{package}.{path.stem}"
    for package in re.findall(r"^<!-- autopackage (\S+) -->", REFERENCE, re.M)
    for path in (ROOT / "src" / package.replace(".", "/")).glob("[!_]*.py")
}
OFFERED = [getattr(sm, name) for name in sm.__all__]


def imported(path):
    """Yield what a file imports from the library: the module, the name and the value."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == sm.__name__:
            for alias in node.names:
                package = import_module(str(node.module))
                if not hasattr(package, alias.name):
                    import_module(f"{node.module}.{alias.name}")
                yield str(node.module), alias.name, getattr(package, alias.name)


def is_public(module, name, value):
    """Return whether sm offers a value, or the reference describes it or its module."""
    if isinstance(value, ModuleType):
        return value.__name__ in DESCRIBED
    is_offered = module == sm.__name__ and name in sm.__all__
    is_offered |= any(value is offered for offered in OFFERED)
    return is_offered or module in DESCRIBED or f"{module}.{name}" in DESCRIBED


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_study_imports_what_is_public(path):
    hidden = [
        f"{module}.{name}"
        for module, name, value in imported(path)
        if not is_public(module, name, value)
    ]
    assert hidden == []
