"""What every count of a user's candidates requires: finite scores, and a held-out item that is a candidate."""

import numpy as np
from numpy.typing import NDArray

from sampled_metrics.errors import DataError


def require_finite(wrong: NDArray[np.bool_], user_ids: NDArray[np.generic]) -> None:
    """Refuse users of whom a candidate's score is not a finite number.

    Args:
        wrong: (users,) whether it is so.
        user_ids: (users,) their ids.

    Raises:
        DataError: of the first one.
    """
    if wrong.any():
        raise DataError(f"the recommender gives user {user_ids[np.argmax(wrong)]} a score that is not a finite number")


def require_candidate(wrong: NDArray[np.bool_], user_ids: NDArray[np.generic]) -> None:
    """Refuse users whose held-out item is one of their training items; arguments and errors as of `require_finite`."""
    if wrong.any():
        raise DataError(f"user {user_ids[np.argmax(wrong)]}: the held-out item is one of the user's training items")
