"""Digests of code and of files. The workflow runs again what depends on one that changed.

There are two digests of the project's code: that of `TRAINING`, which splits, trains and ranks, and
that of the whole project. They are taken from syntax trees, so docstrings, comments and layout do
not count.
"""

import ast
import hashlib
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import sampled_metrics

_STUDY = Path(__file__).parent
_LIBRARY = Path(sampled_metrics.__file__).parent

TRAINING = (
    *(_LIBRARY / name for name in ("_defaults.py", "checks.py", "errors.py")),
    *(_LIBRARY / name for name in ("file_io.py", "running.py")),
    *(_LIBRARY / name for name in ("core/data", "core/findings.py", "core/ranks", "ranking")),
    *(_STUDY / name for name in ("data", "jobs.py", "provenance.py")),
    *(_STUDY / "recommenders" / name for name in ("__init__.py", "models.py")),
    *(_STUDY / "recommenders" / name for name in ("ranking.py", "recommender.py")),
)
"""Files and folders with the code that splits, trains and ranks.

The files of single recommenders are not among them: a recommender is trained again after an edit of
its own class (`code_of_class`).
"""


def code_of(script: Path, trains: bool = False) -> str:
    """Return a digest of the code of a script and of the project.

    Args:
        script: the file.
        trains: whether the script needs no other files of the project than those of `TRAINING`.
    """
    return _digest([script, *(files_of_training() if trains else _files_of_project())])


def code_of_class(cls: type) -> str:
    """Return a digest of the code of a class.

    It covers the files of the class and of its bases, and the other files of the class's package.
    For a module outside packages, these are the files in its folder. A package of the project
    counts by the file of the class alone.
    """
    files = {file for base in cls.__mro__ for file in _files_of_module(base.__module__)}
    name = cls.__module__.partition(".")[0]
    if name not in (_LIBRARY.name, _STUDY.name):
        for file in _files_of_module(cls.__module__):
            depth = len(cls.__module__.split(".")) - 2 + (file.name == "__init__.py")
            folder = file.parents[max(depth, 0)]
            is_package = folder.name == name
            files.update(folder.rglob("*.py") if is_package else folder.glob("*.py"))
    return _digest(files)


@cache
def content(path: str | Path) -> str | None:
    """Return the SHA-256 of the content of a file; None if it does not exist.

    A file that is only touched keeps it.
    """
    if not Path(path).is_file():
        return None
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@cache
def files_of_training() -> frozenset[Path]:
    """Return `TRAINING` with the files of its folders."""
    folders = [path for path in TRAINING if path.is_dir()]
    files = {path for path in TRAINING if path.is_file()}
    files.update(file for folder in folders for file in folder.rglob("*.py"))
    return frozenset(files)


@cache
def _files_of_project() -> frozenset[Path]:
    """Return all files of the library and of the study, with their templates."""
    files = {file for folder in (_LIBRARY, _STUDY) for file in folder.rglob("*.*")}
    return frozenset(file for file in files if "__pycache__" not in file.parts)


def _files_of_module(name: str) -> list[Path]:
    """Return the file of a module that is imported; none of the standard library's."""
    file = getattr(sys.modules.get(name), "__file__", None)
    is_standard = name.partition(".")[0] in sys.stdlib_module_names
    return [Path(file)] if file and not is_standard else []


def _digest(files: Iterable[Path]) -> str:
    """Return a digest of what counts of files, whatever their names."""
    digests = sorted(map(_digest_of_file, set(files)))
    return hashlib.sha256(" ".join(digests).encode()).hexdigest()


@cache
def _digest_of_file(path: Path) -> str:
    """Return a digest of the syntax tree of a module, or of the content of another file."""
    if path.suffix != ".py":
        return str(content(path))
    tree = ast.parse(path.read_bytes())
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            node.body = [line for line in body if not _is_text(line)]  # type: ignore[attr-defined]
    dumped = ast.dump(tree).encode(errors="surrogatepass")
    return hashlib.sha256(dumped).hexdigest()


def _is_text(statement: ast.AST) -> bool:
    """Whether a statement is a bare text, such as a docstring."""
    value = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(value, ast.Constant) and isinstance(value.value, str)
