"""The values of users of an epoch, as kept until another epoch is compared with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sampled_metrics.checks import Floats
from sampled_metrics.core.evaluation.values import UserValues

_CODES = (np.uint8, np.uint16, np.uint32)
"""The types of the codes of users, the smallest first."""


@dataclass(frozen=True)
class KeptValues:
    """The values of one metric, to the bit, in few bytes.

    Most metrics have few values: Recall@10 has two, and NDCG@10 eleven. Each value is kept once,
    and each user has a code of one or two bytes. Where users hardly share values, as with AUC, the
    values are kept unchanged.

    Attributes:
        codes: (users,) number of the value of a user; empty if the levels are the values of the
            users.
        levels: (levels,) values in ascending order, or (users,) values.
        bounds: (1, 2, 2) as in `UserValues`.
        limits: (1, 2) as in `UserValues`.
        value: the value of the metric.
    """

    codes: NDArray[np.unsignedinteger[Any]]
    levels: Floats
    bounds: Floats
    limits: Floats
    value: float

    @classmethod
    def from_values(cls, values: UserValues) -> KeptValues:
        """Return what is kept of the values of one metric."""
        by_user = values.low[0]
        levels, level_of_user = np.unique(by_user, return_inverse=True)
        smallest_type = next(code for code in _CODES if len(levels) <= np.iinfo(code).max + 1)
        codes: NDArray[np.unsignedinteger[Any]] = level_of_user.astype(smallest_type)
        if codes.nbytes + levels.nbytes >= by_user.nbytes:
            codes = np.empty(0, dtype=np.uint8)
            levels = by_user.copy()
        return cls(codes, levels, values.bounds, values.limits, float(values.point[0]))

    def values(self) -> UserValues:
        """Return the values of the users."""
        by_user = self.levels[self.codes] if len(self.codes) else self.levels
        low = by_user[np.newaxis]
        return UserValues(low, low, True, self.bounds, self.limits, np.array([self.value]))

    @property
    def nbytes(self) -> int:
        """The memory of the arrays, in bytes."""
        return self.codes.nbytes + self.levels.nbytes + self.bounds.nbytes + self.limits.nbytes

    def to_plain(self) -> dict[str, Any]:
        """Return the fields as Python's own numbers, text and bytes."""
        return {
            "code": self.codes.dtype.str,
            "codes": self.codes.tobytes(),
            "levels": self.levels.astype("<f8").tobytes(),
            "bounds": self.bounds.tolist(),
            "limits": self.limits.tolist(),
            "value": self.value,
        }

    @classmethod
    def from_plain(cls, plain: dict[str, Any]) -> KeptValues:
        """Return the values that `to_plain` was called on."""
        return cls(
            np.frombuffer(plain["codes"], dtype=plain["code"]),
            np.frombuffer(plain["levels"], dtype="<f8"),
            np.array(plain["bounds"]),
            np.array(plain["limits"]),
            plain["value"],
        )
