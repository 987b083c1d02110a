"""The sampling design: how many negatives are drawn for an event, and how."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from sampled_metrics._validation import is_whole, shown
from sampled_metrics.errors import ConfigError, DataError


@dataclass(frozen=True)
class SamplingDesign:
    """How negatives are drawn.

    Attributes:
        negatives: m, the number of negatives drawn for an event.
        replacement: whether a negative may be drawn again.
    """

    negatives: int
    replacement: bool = False

    def __post_init__(self) -> None:
        if not is_whole(self.negatives):
            raise ConfigError(f"the number of negatives must be a whole number, 1 or more, not {shown(self.negatives)}")
        if self.negatives < 1:
            raise ConfigError(f"the number of negatives must be 1 or more, not {self.negatives}")

    def __str__(self) -> str:
        return f"m = {self.negatives} negatives {'with' if self.replacement else 'without'} replacement"

    def check(self, candidates: ArrayLike) -> None:
        """Raise DataError if an event has too few other candidates."""
        others = int(np.min(candidates)) - 1
        if self.replacement and others < 1:
            raise DataError("an event has no candidates besides its held-out item, so no negative can be drawn")
        if not self.replacement and others < self.negatives:
            raise DataError(
                f"{self.negatives} negatives without replacement were asked for, but an event has only {others} "
                f"candidates besides its held-out item; draw at most {others}, or with replacement"
            )

    def assumed(self, replacement: bool | None) -> "SamplingDesign":
        """Return the design with another replacement, as assumed by an estimator; None keeps it."""
        return self if replacement is None else SamplingDesign(self.negatives, replacement)
