"""Digests of code and of files. The workflow runs again what depends on one that changed.

The digest of a script is that of the script and of the modules that it imports, directly or through
others. It is taken from their syntax trees, so docstrings, comments and layout do not count, and
neither do imports that only type checkers see. These count as imports, too:

- an import inside a function;
- a name that a package offers lazily, by a ``__getattr__``: the module that defines the name, not
  the whole package;
- a text that is the dotted path of a module, as in a registry of classes;
- a text that is the name of a file beside the modules, such as a template, and what such a file
  names in turn.

A path that is put together at run time is not seen. tests/study/workflow/test_code.py compares the
digests with the modules that the scripts load.
"""

import ast
import gc
import hashlib
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

_DOTTED = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)+")
_TEXT = re.compile(r"Constant\(value='([\w.-]+)'")
_ATTRIBUTE = re.compile(r"Attribute\(value=Name\(id='(\w+)'(?:, ctx=Load\(\))?\), attr='(\w+)'")
"""Texts, and attributes of names, in a syntax tree as `ast.dump` writes it."""
_QUOTED = re.compile(r'"([\w.-]+)"')


def code_of(script: Path, names: Iterable[str] = ()) -> str:
    """Return a digest of the code of a script: its own, and that of the modules that it imports.

    Args:
        script: the file.
        names: dotted names of what it imports by a path that is put together at run time.
    """
    named = [file for name in names for file in _located(name, _project())]
    return _digest_of(files_of([script, *named]))


def code_of_class(cls: type) -> str:
    """Return a digest of the code of a class and its bases, and of what their modules import.

    Of a class of the user's own, modules in its package and in the working folder count, and no
    other package's.
    """
    files = {
        Path(file)
        for module in _modules_of(cls)
        if (file := getattr(sys.modules.get(module), "__file__", None))
    }
    return _digest_of(files_of(files, beside=_beside(cls)))


def files_of(
    paths: Iterable[Path], beside: Mapping[str, Path] = MappingProxyType({})
) -> frozenset[Path]:
    """Return files, and the files of the modules that they import.

    Args:
        paths: files in Python.
        beside: packages and modules that are followed besides those of the project, as name →
            folder that holds it.
    """
    packages = MappingProxyType({**beside, **_project()})
    files: set[Path] = set()
    waiting = list(paths)
    with _without_collection():
        while waiting:
            path = waiting.pop()
            if path in files:
                continue
            files.add(path)
            if path.suffix == ".py":
                for name in _read(path).names | _relative_names(path, packages):
                    waiting += _located(name, packages)
            waiting += [file for name in _texts(path) if (file := _data_files().get(name))]
    return frozenset(files)


@cache
def content(path: str | Path) -> str | None:
    """Return the SHA-256 of the content of a file; None if it does not exist.

    A file that is only touched keeps it.
    """
    if not Path(path).is_file():
        return None
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class _Source(NamedTuple):
    """What the syntax tree of a file says.

    Attributes:
        digest: of the tree, without what does not count.
        names: the dotted names that it imports or states, without relative ones.
        relative: (level, name) of its relative imports.
        offered: name that it offers lazily → dotted name of what it is.
        texts: its texts that may be names of files.
    """

    digest: str
    names: frozenset[str]
    relative: frozenset[tuple[int, str]]
    offered: Mapping[str, str]
    texts: frozenset[str]


@cache
def _read(path: Path) -> _Source:
    """Return what the syntax tree of a file says."""
    tree = ast.parse(path.read_bytes())
    is_lazy = any(
        isinstance(node, ast.FunctionDef) and node.name == "__getattr__" for node in tree.body
    )
    offered = _names_for_type_checkers(tree) if is_lazy else {}
    imports: set[tuple[str, str]] = set()  # (name in the file, dotted name)
    relative: set[tuple[int, str]] = set()  # (level, name)
    for statement in _stripped_statements(tree):
        if isinstance(statement, ast.Import):
            imports |= {(alias.asname or alias.name, alias.name) for alias in statement.names}
        elif isinstance(statement, ast.ImportFrom) and statement.level == 0:
            module = statement.module
            imports |= {
                (alias.asname or alias.name, f"{module}.{alias.name}") for alias in statement.names
            }
        elif isinstance(statement, ast.ImportFrom):
            relative |= {
                (statement.level, f"{statement.module or ''}.{alias.name}")
                for alias in statement.names
            }
    dumped = ast.dump(tree)
    texts = frozenset(_TEXT.findall(dumped))
    attributes: dict[str, set[str]] = {}
    for name, attribute in _ATTRIBUTE.findall(dumped):
        attributes.setdefault(name, set()).add(attribute)
    names = {name for _, name in imports} | set(filter(_DOTTED.fullmatch, texts))
    names |= {
        f"{name}.{attribute}" for alias, name in imports for attribute in attributes.get(alias, ())
    }
    digest = hashlib.sha256(dumped.encode(errors="surrogatepass")).hexdigest()
    return _Source(digest, frozenset(names), frozenset(relative), offered, texts)


def _stripped_statements(tree: ast.Module) -> Iterator[ast.AST]:
    """Yield the statements of a tree, without docstrings and what only type checkers see.

    These are taken out of the tree in place.
    """
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        for field in ("body", "orelse", "finalbody"):
            statements = getattr(node, field, None)
            if isinstance(statements, list):
                kept = [statement for below in statements for statement in _kept(below)]
                setattr(node, field, kept)
                waiting += kept
        waiting += [*getattr(node, "handlers", ()), *getattr(node, "cases", ())]
        yield node


def _kept(statement: ast.stmt) -> list[ast.stmt]:
    """Return what counts of a statement.

    Nothing of a bare text counts, and of `if TYPE_CHECKING` only the `else`.
    """
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
        return [statement] if not isinstance(statement.value.value, str) else []
    if _is_for_type_checkers(statement):
        return [kept for below in statement.orelse for kept in _kept(below)]  # type: ignore[attr-defined]
    return [statement]


def _is_for_type_checkers(statement: ast.stmt) -> bool:
    """Whether a statement is `if TYPE_CHECKING`."""
    if not isinstance(statement, ast.If):
        return False
    match statement.test:
        case ast.Name(id="TYPE_CHECKING") | ast.Attribute(attr="TYPE_CHECKING"):
            return True
    return False


def _names_for_type_checkers(tree: ast.Module) -> dict[str, str]:
    """Return the names that a module imports for type checkers, with their dotted names."""
    names: dict[str, str] = {}
    for statement in filter(_is_for_type_checkers, tree.body):
        for node in ast.walk(statement):
            if isinstance(node, ast.ImportFrom) and node.level == 0:
                names |= {
                    alias.asname or alias.name: f"{node.module}.{alias.name}"
                    for alias in node.names
                }
    return names


def _relative_names(path: Path, packages: Mapping[str, Path]) -> set[str]:
    """Return the dotted names of the relative imports of a file."""
    names: set[str] = set()
    for level, name in _read(path).relative:
        folder = path.parents[level - 1]
        roots = [root for root in packages.values() if folder.is_relative_to(root)]
        if roots:
            nearest_root = max(roots, key=lambda root: len(root.parts))
            package = ".".join(folder.relative_to(nearest_root).parts)
            names.add(f"{package}.{name}".replace("..", "."))
    return names


def _located(name: str, packages: Mapping[str, Path]) -> list[Path]:
    """Return the files that an import of a dotted name loads.

    They are those of its packages, and of what the last one defines.
    """
    return _located_in(name, packages.get(name.partition(".")[0]))


@cache
def _located_in(name: str, root: Path | None) -> list[Path]:
    """Return the files that an import of a dotted name loads, if its package is in a folder."""
    if root is None:
        return []
    files: list[Path] = []
    parts = name.split(".")
    for end in range(1, len(parts) + 1):
        path = root.joinpath(*parts[:end])
        candidates = (path.with_suffix(".py"), path / "__init__.py")
        module = next((file for file in candidates if file.is_file()), None)
        if module is not None:
            files.append(module)
        elif files and (defined := _read(files[-1]).offered.get(parts[end - 1])):
            return [*files, *_located_in(defined, root)]
    return files


def _digest_of(files: Iterable[Path]) -> str:
    """Return a digest of files: of what counts of those in Python, and of the content of others."""
    digests = sorted(
        f"{_read(path).digest if path.suffix == '.py' else content(path)}" for path in files
    )
    return hashlib.sha256(" ".join(digests).encode()).hexdigest()


@cache
def _project() -> Mapping[str, Path]:
    """Return the packages of the project, as name → folder that holds it."""
    names = {"sampled_metrics", __name__.partition(".")[0]}
    specs = {name: find_spec(name) for name in names}
    return {
        name: Path(spec.origin).parents[1] for name, spec in specs.items() if spec and spec.origin
    }


@cache
def _data_files() -> Mapping[str, Path]:
    """Return the files of the project's packages that are not modules, by their names."""
    files = [path for name, root in _project().items() for path in (root / name).rglob("*.*")]
    return {path.name: path for path in sorted(files) if path.suffix not in (".py", ".pyc")}


@cache
def _texts(path: Path) -> frozenset[str]:
    """Return the texts of a module, or what another file has in quotation marks."""
    if path.suffix == ".py":
        return _read(path).texts
    return frozenset(_QUOTED.findall(path.read_text(encoding="utf-8")))


def _modules_of(cls: type) -> set[str]:
    """Return the names of the modules of a class and its bases, without the standard library's."""
    return {
        base.__module__
        for base in cls.__mro__
        if base.__module__.partition(".")[0] not in sys.stdlib_module_names
    }


def _beside(cls: type) -> dict[str, Path]:
    """Return what is followed of a class of the user's own.

    It is the packages of the class, and the modules in the working folder.
    """
    folder = Path.cwd()
    beside = {
        path.stem: folder for path in folder.iterdir() if path.suffix == ".py" or path.is_dir()
    }
    for module in _modules_of(cls):
        names = module.split(".")
        file = getattr(sys.modules.get(module), "__file__", None)
        if file:
            depth = len(names) - (Path(file).name != "__init__.py")
            beside[names[0]] = Path(file).parents[depth]
    return beside


@contextmanager
def _without_collection() -> Iterator[None]:
    """Do not collect garbage in the meantime.

    Trees have no garbage, and the search for it takes most of the time.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
