"""Calls of functions that take ranks: what to write in place of a call that Python refuses."""

import inspect
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property, wraps
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import numpy as np

from sampled_metrics.checks import enumerated, shown
from sampled_metrics.core.ranks.table import Table
from sampled_metrics.errors import ConfigError

_OTHER_NAMES = {"m": "negatives", "n": "candidates", "metric": "metrics", "estimator": "estimators"}
"""The names of arguments by those that people write for them."""

_READERS = dict[type[Table], inspect.Signature]()
"""The arguments of the readers by the kind of their tables."""

_P = ParamSpec("_P")
_T = TypeVar("_T")


def says_what_to_write(function: Callable[_P, _T]) -> Callable[_P, _T]:
    """Return a function of ranks that refuses, in one line, arguments that it does not have.

    Raises:
        ConfigError: an argument is one of the reader, has another name, or has no name. The message
            says what to write. The lack of an argument is told by Python.
    """
    signature = inspect.signature(function)

    @wraps(function)
    def checked(*args: _P.args, **kwargs: _P.kwargs) -> _T:
        try:
            signature.bind_partial(*args, **kwargs)
        except TypeError:
            refusal = _Call(function.__name__, signature, args, kwargs).refusal
        else:
            return function(*args, **kwargs)
        raise ConfigError(refusal)

    return checked


def reads(kind: type[Table]) -> Callable[[Callable[_P, _T]], Callable[_P, _T]]:
    """Return the decorator of the reader of a kind of tables, as `says_what_to_write`."""

    def decorate(function: Callable[_P, _T]) -> Callable[_P, _T]:
        _READERS[kind] = inspect.signature(function)
        return says_what_to_write(function)

    return decorate


@dataclass(frozen=True)
class _Call:
    """A call that Python refuses.

    Attributes:
        function: the name of the function.
        signature: its arguments; the first is ranks.
        args: the arguments by position.
        kwargs: the arguments by name.
    """

    function: str
    signature: inspect.Signature
    args: Sequence[Any]
    kwargs: Mapping[str, Any]

    @property
    def refusal(self) -> str:
        """What is wrong, and what to write."""
        if self._has_too_many and not all(map(_may_be_ranks, self.args[:2])):
            options = ", ".join(self._options)
            return (
                f"{self.function}: only {self._name_of_ranks} has no name; the others are {options}"
            )
        if self._has_too_many:
            return (
                f"{self.function} takes the ranks of several recommenders as a mapping from their "
                f"names: {self._with_reader}"
            )
        if self._reader is None:
            return self._no_such_argument
        verb = "is an argument" if len(self._reader_options) == 1 else "are arguments"
        return (
            f"{self.function}: {enumerated(self._reader_options)} {verb} of the reader: "
            f"{self._with_reader}"
        )

    @property
    def _name_of_ranks(self) -> str:
        """The name of the ranks."""
        return next(iter(self.signature.parameters))

    @property
    def _options(self) -> list[str]:
        """The names of the other arguments."""
        return [*self.signature.parameters][1:]

    @property
    def _has_too_many(self) -> bool:
        """Whether more arguments have no name than may."""
        by_name = inspect.Parameter.KEYWORD_ONLY
        parameters = self.signature.parameters.values()
        positional = [parameter for parameter in parameters if parameter.kind != by_name]
        return len(self.args) > len(positional)

    @cached_property
    def _reader_options(self) -> dict[str, Any]:
        """The arguments that the function does not have, by the names of readers for them."""
        unknown = dict[str, Any]()
        for name, value in self.kwargs.items():
            usual = _OTHER_NAMES.get(name, name)
            if name not in self.signature.parameters and usual not in self.signature.parameters:
                unknown[usual] = value
        return unknown

    @cached_property
    def _reader(self) -> type[Table] | None:
        """The kind of tables whose reader has these arguments; None if there is none.

        The kind of a table that was read comes first, and then those that the function takes.
        """
        if self.function in [kind.reader for kind in _READERS]:
            return None
        if not self._reader_options and not self._has_too_many:
            return None

        def distance(kind: type[Table]) -> tuple[bool, bool, str]:
            was_read = any(isinstance(table, kind) for table in self.args)
            return not was_read, self.function not in kind.taken_by, kind.reader

        kinds = sorted(_READERS, key=distance)
        for kind in kinds:
            if set(self._reader_options) <= {*_READERS[kind].parameters}:
                return kind
        return None

    @property
    def _with_reader(self) -> str:
        """The call to write, with that of the reader in it."""
        ranks = _mapping(self.args) if self._has_too_many else self._written_ranks
        are_tables = any(map(_is_table, self.args))
        if self._reader is None or (are_tables and not self._reader_options):
            return f"sm.{self.function}({', '.join([ranks, *self._written_options])})"
        options = [f"{name}={_written(value)}" for name, value in self._reader_options.items()]
        read = f"sm.{self._reader.reader}({', '.join([ranks, *options])})"
        if are_tables:
            return read
        takes = self.function in self._reader.taken_by
        further = [] if self._has_too_many else map(_written, self.args[1:])
        function = self.function if takes else self._reader.taken_by[0]
        return f"sm.{function}({', '.join([read, *further, *self._written_options])})"

    @property
    def _written_options(self) -> list[str]:
        """The arguments by name that the function has, as they are written."""
        names = [name for name in self.kwargs if name in self.signature.parameters]
        return [f"{name}={_written(self.kwargs[name])}" for name in names]

    @property
    def _written_ranks(self) -> str:
        """The ranks of one call, or of several by name, as they are written."""
        is_path = bool(self.args) and isinstance(self.args[0], str | os.PathLike)
        return _written(self.args[0]) if is_path else self._name_of_ranks

    @property
    def _no_such_argument(self) -> str:
        """That the function does not have an argument, and which one may be meant."""
        unknown = next(name for name in self.kwargs if name not in self.signature.parameters)
        if unknown == "k" and "metrics" in self._options:
            return f'{self.function} has no argument k; a metric has it: metrics="recall@10"'
        usual = _OTHER_NAMES.get(unknown, "")
        likely = [usual] if usual in self._options else get_close_matches(unknown, self._options, 1)
        meant = f"; write {likely[0]}" if likely else ""
        return (
            f"{self.function} has no argument {unknown}{meant}; it has {', '.join(self._options)}"
        )


def _is_table(value: Any) -> bool:
    """Return whether an argument is a table that was read, or those of seeds."""
    is_list = isinstance(value, list | tuple) and len(value) > 0
    return isinstance(value[0] if is_list else value, Table)


def _may_be_ranks(value: Any) -> bool:
    """Return whether an argument is a table, columns, numbers or a path, and no option."""
    if isinstance(value, list | tuple) and value and isinstance(value[0], str):
        return _may_be_ranks(value[0])
    if isinstance(value, str):
        return "." in value  # no label of a metric has a point
    return not (value is None or np.isscalar(value))


def _mapping(args: Sequence[Any]) -> str:
    """Return the mapping to write for the ranks of several recommenders."""
    names = [Path(path).name.split(".")[0] for path in args if isinstance(path, str | os.PathLike)]
    if len(set(names)) < len(args):
        names = [chr(ord("A") + place) for place in range(len(args))]
    values = [
        _written(value) if isinstance(value, str | os.PathLike) else name.lower()
        for name, value in zip(names, args, strict=True)
    ]
    pairs = [f'"{name}": {value}' for name, value in zip(names, values, strict=True)]
    return f"{{{', '.join(pairs)}}}"


def _written(value: Any) -> str:
    """Return an argument as it is written in a call; … for data."""
    if isinstance(value, str | os.PathLike):
        return f'"{os.fspath(value)}"'
    return shown(value) if value is None or np.isscalar(value) else "…"
