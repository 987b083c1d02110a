"""Ranks that a recommender has counted itself."""

from dataclasses import dataclass
from typing import Any, ClassVar

from numpy.typing import NDArray
from scipy.sparse import csr_array

from sampled_metrics._validation import Ints
from sampled_metrics.data.split import Split
from sampled_metrics.errors import DataError
from sampled_metrics.ranks.exact import ExactRanks
from sampled_metrics.recommenders.models.model import Model


@dataclass(frozen=True)
class RankModel(Model):
    """Counts of candidates in place of scores.

    Attributes:
        above: (users,) number of candidates that score higher than the held-out item.
        tied: (users,) number of other candidates that score the same.
    """

    kind: ClassVar[str] = "ranks"
    above: Ints
    tied: Ints

    def scores(self, users: slice, training: csr_array) -> NDArray[Any]:
        """Raise DataError: the counts have no scores."""
        raise DataError("a recommender that writes ranks has no scores")

    def rank(self, split: Split, users: slice = slice(None), **options: Any) -> ExactRanks:
        """Return the counts as a table of ranks."""
        return ExactRanks(split.user_ids[users], split.candidates[users], self.above[users], self.tied[users])
