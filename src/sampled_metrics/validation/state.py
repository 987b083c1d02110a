"""What a validator knows of the epochs so far, and how it is written for a restart."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sampled_metrics.errors import DataError
from sampled_metrics.validation.kept import KeptValues
from sampled_metrics.validation.standing import EpochStanding

_FORMAT = 3
_NO_STATE = "state: is not what state_dict of a validator returned"


@dataclass(frozen=True)
class State:
    """The epochs so far.

    Attributes:
        standings: by the label of a metric.
        rows: of the history, without what changes later.
    """

    standings: Mapping[str, EpochStanding]
    rows: tuple[dict[str, Any], ...] = ()

    @property
    def epochs(self) -> int:
        """The number of epochs."""
        return len(self.rows) // len(self.standings)

    @property
    def last(self) -> int:
        """The number of the last epoch; 0 if there is none."""
        return int(self.rows[-1]["epoch"]) if self.rows else 0

    def to_plain(self, task: Mapping[str, Any]) -> dict[str, Any]:
        """Return the state of a task as dictionaries, lists, numbers, text and bytes."""
        standings = {label: _plain_standing(standing) for label, standing in self.standings.items()}
        rows = [dict(row) for row in self.rows]
        content = {"format": _FORMAT, "task": dict(task), "standings": standings, "rows": rows}
        return content | {"checksum": _checksum(content)}

    @classmethod
    def from_plain(cls, plain: Any, task: Mapping[str, Any]) -> State:
        """Return the state that `to_plain` wrote.

        Raises:
            DataError: it is not a state, it belongs to another task, or it was changed.
        """
        if not isinstance(plain, Mapping) or plain.get("format") != _FORMAT:
            raise DataError(_NO_STATE)
        try:
            return cls._of_task(plain, task)
        except DataError:
            raise
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise DataError(_NO_STATE) from error

    @classmethod
    def _of_task(cls, plain: Mapping[str, Any], task: Mapping[str, Any]) -> State:
        for name, value in task.items():
            if plain["task"][name] != value:
                raise DataError(f"state: belongs to a validator with other {name}")
        content = {name: value for name, value in plain.items() if name != "checksum"}
        if plain["checksum"] != _checksum(content):
            raise DataError("state: is damaged, or was changed after state_dict returned it")
        standings = {
            label: _standing(plain_standing) for label, plain_standing in plain["standings"].items()
        }
        return cls(standings, tuple(dict(row) for row in plain["rows"]))


def _plain_standing(standing: EpochStanding) -> dict[str, Any]:
    contenders = {epoch: kept.to_plain() for epoch, kept in standing.contenders.items()}
    return {"best": standing.best, "reference": standing.reference, "contenders": contenders}


def _standing(plain: Mapping[str, Any]) -> EpochStanding:
    """Return the standing that `_plain_standing` was called on."""
    contenders = {epoch: KeptValues.from_plain(kept) for epoch, kept in plain["contenders"].items()}
    return EpochStanding(plain["best"], plain["reference"], contenders)


def _checksum(content: Mapping[str, Any]) -> str:
    """Return a digest of a plain state, whatever the order of its keys."""
    digest = hashlib.sha256()
    for chunk in _parts(content):
        digest.update(chunk)
    return digest.hexdigest()


def _parts(value: Any) -> Iterator[bytes]:
    """Yield the bytes of a plain value, each with its type and length.

    So no two values have the same bytes.
    """
    if isinstance(value, Mapping):
        yield f"mapping {len(value)} ".encode()
        for key in sorted(value, key=repr):
            yield from _parts(key)
            yield from _parts(value[key])
    elif isinstance(value, list | tuple):
        yield f"list {len(value)} ".encode()
        for element in value:
            yield from _parts(element)
    else:
        data = value if isinstance(value, bytes) else repr(value).encode()
        yield f"{type(value).__name__} {len(data)} ".encode()
        yield data
