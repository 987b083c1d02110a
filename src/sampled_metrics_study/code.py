"""Digests of code and of files. The workflow runs again what depends on one that changed.

There are two digests of the project's code: that of `TRAINING`, which splits, trains and ranks, and
that of `PROJECT`. They are taken from syntax trees, so docstrings, comments and layout do not
count.
"""

import ast
import hashlib
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from sampled_metrics import file_io

SOURCE = Path(__file__).parents[1]

PROJECT = ("sampled_metrics", "sampled_metrics_study")
"""The folders of all code, in `SOURCE`."""

TRAINING = (
    "sampled_metrics/_defaults.py",
    "sampled_metrics/checks.py",
    "sampled_metrics/errors.py",
    "sampled_metrics/file_io.py",
    "sampled_metrics/running.py",
    "sampled_metrics/core/data",
    "sampled_metrics/core/findings.py",
    "sampled_metrics/core/ranks",
    "sampled_metrics/ranking",
    "sampled_metrics_study/data",
    "sampled_metrics_study/jobs.py",
    "sampled_metrics_study/provenance.py",
    "sampled_metrics_study/recommenders/__init__.py",
    "sampled_metrics_study/recommenders/models.py",
    "sampled_metrics_study/recommenders/ranking.py",
    "sampled_metrics_study/recommenders/recommender.py",
)
"""Files and folders of `SOURCE` with the code that splits, trains and ranks.

The files of single recommenders are not among them: a recommender is trained again after an edit of
its own class (`code_of_class`).
"""


def code_of(script: Path, trains: bool = False) -> str:
    """Return a digest of the code of a script and of the project.

    Args:
        script: the file.
        trains: whether the script needs no other files of the project than those of `TRAINING`.
    """
    return _digest([script, *files_of(TRAINING if trains else PROJECT)])


def code_of_class(cls: type) -> str:
    """Return a digest of the code of a recommender's class.

    The digest covers the files of the class and of its bases. For a class of one's own, it also
    covers the other files of its package, or those beside its module.
    """
    modules = {base.__module__ for base in cls.__mro__}
    others = [name for name in modules if name.partition(".")[0] not in sys.stdlib_module_names]
    files = [Path(str(sys.modules[name].__file__)) for name in others]
    name = cls.__module__.partition(".")[0]
    module = sys.modules[name]
    if name in PROJECT:
        return _digest(files)
    if hasattr(module, "__path__"):
        files += [file for folder in module.__path__ for file in Path(folder).rglob("*.py")]
    else:
        files += Path(str(module.__file__)).parent.glob("*.py")
    return _digest(files)


def files_of(names: Iterable[str]) -> set[Path]:
    """Return files of `SOURCE`, and the modules and templates of its folders."""
    paths = [SOURCE / name for name in names]
    files = {file for path in paths for file in (path, *path.rglob("*.*"))}
    return {file for file in files if file.suffix in (".py", ".html", ".css")}


@cache
def content(path: str) -> str:
    """Return the SHA-256 of the content of a file. A file that is only touched keeps it."""
    return file_io.digest(path, "sha256")


class _Code(ast.NodeTransformer):
    """A syntax tree without bare texts, such as docstrings."""

    def visit_Expr(self, node: ast.Expr) -> ast.Expr | None:
        is_text = isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        return None if is_text else node


def _digest(files: Iterable[Path]) -> str:
    """Return a digest of what counts in files, whatever their names."""
    digests = sorted(map(_digest_of_file, set(files)))
    return hashlib.sha256(" ".join(digests).encode()).hexdigest()


@cache
def _digest_of_file(path: Path) -> str:
    """Return a digest of the syntax tree of a module, or of the content of another file."""
    if path.suffix != ".py":
        return content(str(path))
    dumped = ast.dump(_Code().visit(ast.parse(path.read_bytes())))
    return hashlib.sha256(dumped.encode(errors="surrogatepass")).hexdigest()
