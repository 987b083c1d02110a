"""What must hold of every trained recommender: as many rows as there are users and items, and finite numbers."""

import numpy as np
from scipy.sparse import csr_array

from sampled_metrics.data.split import Split
from sampled_metrics.errors import DataError
from sampled_metrics.recommenders.models import FactorModel, Model, SimilarityModel


def check_model(model: Model, split: Split, name: str) -> None:
    """Refuse factors and similarities that are not numbers, or not of the split's users and items.

    Args:
        model: a trained recommender.
        split: what it was trained on.
        name: what to call it: a recommender, or the file that it was read from.

    Raises:
        DataError: the message says which user or item.
    """
    users, items = split.training.shape
    if isinstance(model, FactorModel):
        _check_rows(model.user_factors, "user", users, name)
        _check_rows(model.item_factors, "item", items, name)
        if model.user_factors.shape[1] != model.item_factors.shape[1]:
            lengths = f"{model.user_factors.shape[1]} and {model.item_factors.shape[1]}"
            raise DataError(f"{name}: the factors of users and items differ in length, {lengths}")
    elif isinstance(model, SimilarityModel):
        if model.similarity.shape != (items, items):
            raise DataError(f"{name}: has similarities of shape {model.similarity.shape}, not {(items, items)} (items)")
        stored = model.similarity.data if isinstance(model.similarity, csr_array) else model.similarity
        if not np.isfinite(stored).all():
            raise DataError(f"{name}: has similarities that are not finite numbers")


def _check_rows(factors: np.ndarray, of: str, count: int, name: str) -> None:
    if factors.ndim != 2 or len(factors) != count:
        raise DataError(f"{name}: has factors of shape {factors.shape} for {count} {of}s")
    wrong = ~np.isfinite(factors).all(axis=1)
    if wrong.any():
        raise DataError(f"{name}: the factors of {of} {int(np.argmax(wrong)) + 1} of {count} are not finite numbers")
