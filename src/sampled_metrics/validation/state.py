"""What a validator knows of the epochs so far, and how it is written for a restart."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sampled_metrics.errors import DataError
from sampled_metrics.validation.kept import KeptValues
from sampled_metrics.validation.standing import Standing

_FORMAT = 1
_NO_STATE = "state: is not what state_dict of a validator returned"


@dataclass(frozen=True)
class State:
    """The epochs so far.

    Attributes:
        standings: by the label of a metric.
        rows: of the history, without what changes later.
    """

    standings: Mapping[str, Standing]
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
        standings = {
            label: {
                "best": standing.best,
                "reference": standing.reference,
                "contenders": {epoch: kept.to_plain() for epoch, kept in standing.contenders.items()},
            }
            for label, standing in self.standings.items()
        }
        return {"format": _FORMAT, "task": dict(task), "standings": standings, "rows": [dict(row) for row in self.rows]}

    @classmethod
    def from_plain(cls, plain: Any, task: Mapping[str, Any]) -> State:
        """Return the state that `to_plain` wrote.

        Raises:
            DataError: it is none, or that of another task.
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
                raise DataError(f"state: is of a validator with other {name}")
        standings = {
            label: Standing(
                standing["best"],
                standing["reference"],
                {epoch: KeptValues.from_plain(kept) for epoch, kept in standing["contenders"].items()},
            )
            for label, standing in plain["standings"].items()
        }
        return cls(standings, tuple(dict(row) for row in plain["rows"]))
