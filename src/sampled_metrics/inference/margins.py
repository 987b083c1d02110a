"""A margin: the smallest difference that matters, as a number or relative to the worse value.

With an absolute margin d, the second recommender is better than the first one by more than the margin if b - a > d.
With a relative one, b must be above (1 + d) a. A margin that is estimated from the data is not fixed, so this is a
statement on the mean of b - (1 + d) a over users, which has an interval of its own. The values of users of this mean
fall as d rises, and so do the ends of its interval. So all statements on a pair, whether it is ordered and by how much,
are right if the interval at the true ratio is; they need no adjustment for one another.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sampled_metrics._validation import is_real, shown
from sampled_metrics.errors import ConfigError
from sampled_metrics.metrics.metric import Metric


@dataclass(frozen=True)
class Margin:
    """The smallest difference of a metric that matters.

    Attributes:
        size: the difference, or its part of the worse value.
        is_relative: whether it is relative to the worse value.
    """

    size: float
    is_relative: bool = False

    @classmethod
    def from_given(cls, given: Any) -> "Margin":
        """Return the margin of a number, or of text such as "0.005" or "2%".

        Raises:
            ConfigError: it is neither, or not above 0.
        """
        text = given.strip() if isinstance(given, str) else ""
        try:
            number = float(text.removesuffix("%") if text or not is_real(given) else given)
        except ValueError:
            number = 0.0
        if not 0 < number < float("inf"):
            raise ConfigError(
                f'margin must be a number above 0, such as 0.005, or a part of the worse value, such as "2%", not '
                f"{shown(given)}"
            )
        return cls(number / 100, True) if text.endswith("%") else cls(number)

    def require_possible(self, metrics: Mapping[str, Metric]) -> None:
        """Raise ConfigError if no difference of one of these metrics, by label, can be above the margin."""
        for label, one in metrics.items():
            if not self.is_relative and self.size >= one.largest:
                raise ConfigError(
                    f"margin: a difference of {label} is never above {self.size:g}, as its values are from 0 to "
                    f'{one.largest:g}; a part of the worse value is text, such as "2%"'
                )

    @property
    def text(self) -> str:
        """Return the margin as a sentence names it."""
        return f"{100 * self.size:.4g} % of the worse value" if self.is_relative else f"{self.size:.4g}"
