"""Digests of code and of files. The workflow runs again what depends on one that changed."""

import hashlib
import re
import sys
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parents[1]

LAYERS = (
    ("reporting", "adapters"),
    ("evaluation",),
    ("inference",),
    ("estimators", "recommenders", "rendering"),
    ("sampling", "ranking"),
    ("ranks",),
    ("data",),
    ("metrics",),
)
"""The packages below study/, from the top, as in the contract of the layers (pyproject.toml)."""


def code_of(script: Path, *packages: str) -> str:
    """Return a digest of the code of a script: the script, packages and those below them, and what it has of study/.

    Args:
        script: the file.
        packages: the packages of the highest layer that the script or its files of study/ import from.
    """
    layer = next(number for number, layer in enumerate(LAYERS) if packages[0] in layer)
    names = [*packages, *(name for lower in LAYERS[layer + 1 :] for name in lower)]
    paths = [*PACKAGE.glob("*.py"), *(path for name in names for path in PACKAGE.joinpath(name).rglob("*.*"))]
    digests = [content(path) for path in sorted({*paths, *_of_study(script)}) if path.suffix != ".pyc"]
    return hashlib.sha256(f"{content(script)} {digests}".encode()).hexdigest()


@cache
def _of_study(source: Path) -> frozenset[Path]:
    """Return the files of study/ that a file imports, directly or through others of them."""
    text = source.read_text(encoding="utf-8")
    names = re.findall(r"^from sampled_metrics\.study\.(\w+)", text, re.MULTILINE)
    for several in re.findall(r"^from sampled_metrics\.study import (.*)", text, re.MULTILINE):
        names += re.findall(r"\w+", several)
    files = [PACKAGE / f"study/{name}.py" for name in names]
    return frozenset(files).union(*map(_of_study, files))


def files_of_class(cls: type) -> list[str]:
    """Return the files of a class of the user's own and of the classes that it inherits from, sorted."""
    packages = {*sys.stdlib_module_names, PACKAGE.name}
    modules = {base.__module__ for base in cls.__mro__ if base.__module__.partition(".")[0] not in packages}
    files = {getattr(sys.modules.get(module), "__file__", None) for module in modules}
    return sorted(file for file in files if file)


@cache
def content(path: str | Path) -> str | None:
    """Return the SHA-256 of the content of a file; None if it does not exist. A file that is only touched keeps it."""
    if not Path(path).is_file():
        return None
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
