"""Models whose scores are stored."""

from dataclasses import dataclass
from typing import Any, ClassVar

from numpy.typing import NDArray
from scipy.sparse import csr_array

from sampled_metrics.data.split import Split
from sampled_metrics.errors import DataError
from sampled_metrics.ranking.loop import not_comparable
from sampled_metrics.recommenders.models.model import Model


@dataclass(frozen=True)
class ScoreModel(Model):
    """Scores are stored, and compared in their own type.

    Attributes:
        matrix: (users, items).
        tolerance: as in `Model`; `sampled_metrics.ranking.loop.TIE` suits sums whose rounding would separate ties.
    """

    kind: ClassVar[str] = "scores"
    matrix: NDArray[Any]
    tolerance: float = 0.0

    def scores(self, users: slice, training: csr_array) -> NDArray[Any]:
        """Return the scores of some users and all items, (some users, items)."""
        return self.matrix[users]

    def check(self, split: Split, name: str) -> None:
        """Refuse scores of another shape, or of a candidate that are NaN or +∞; a training item may score anything."""
        if self.matrix.shape != split.training.shape:
            raise DataError(
                f"{name}: has scores of shape {self.matrix.shape}, not {split.training.shape} (users, items)"
            )
        wrong = not_comparable(self.matrix)
        wrong[split.training.nonzero()] = False
        if wrong.any():
            user, item = (int(indices[0]) for indices in wrong.nonzero())
            ids = f"item {split.item_ids[item]} for user {split.user_ids[user]}"
            raise DataError(f"{name}: the score of {ids} is NaN or +inf")
