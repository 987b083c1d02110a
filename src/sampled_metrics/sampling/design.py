"""The sampling design: how many negatives are drawn for an event, and how."""

from dataclasses import dataclass

from numpy.typing import ArrayLike

from sampled_metrics._validation import is_whole, require_candidates, require_flags, shown
from sampled_metrics.errors import ConfigError


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
        require_flags(replacement=self.replacement)
        if not is_whole(self.negatives):
            raise ConfigError(f"the number of negatives must be a whole number, 1 or more, not {shown(self.negatives)}")
        if self.negatives < 1:
            raise ConfigError(f"the number of negatives must be 1 or more, not {self.negatives}")

    def __str__(self) -> str:
        return f"m = {self.negatives} negatives {'with' if self.replacement else 'without'} replacement"

    def check(self, candidates: ArrayLike) -> None:
        """Raise DataError if an event has too few other candidates."""
        require_candidates(candidates, self.negatives, self.replacement)

    def assumed(self, replacement: bool | None) -> "SamplingDesign":
        """Return the design with the replacement that an estimator assumes; None keeps that of the design."""
        return self if replacement is None else SamplingDesign(self.negatives, replacement)
