"""Recommenders that learn little or nothing: popularity, random scores and ready-made ranks."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from sampled_metrics.errors import ConfigError
from sampled_metrics_study.recommenders.models import FactorModel, Model, RandomModel
from sampled_metrics_study.recommenders.recommender import (
    COUNT,
    Recommender,
    factor_memory,
    parameter,
)


@dataclass(frozen=True)
class Popularity(Recommender):
    """An item's score is the number of its training events; equally popular items tie."""

    is_random = False

    def fit(self, training: csr_array, rng: np.random.Generator) -> FactorModel:
        """Count the events of each item. Nothing is random."""
        users, items = training.shape
        events = np.bincount(training.indices, minlength=items).astype(np.float64)
        # one factor, so products are exact
        return FactorModel(np.ones((users, 1)), events[:, np.newaxis])

    def memory(self, users: int, items: int, events: int) -> int:
        """Return the bytes of one factor."""
        return factor_memory(users, items, 1)


@dataclass(frozen=True)
class RandomScores(Recommender):
    """Scores are independent and uniform on [0, 1)."""

    has_factors = False

    def fit(self, training: csr_array, rng: np.random.Generator) -> RandomModel:
        """Draw the key of the scores from rng; the events do not matter."""
        return RandomModel(int(rng.integers(2**64, dtype=np.uint64)))

    def memory(self, users: int, items: int, events: int) -> int:
        """Return 0: the model is a key."""
        return 0


@dataclass(frozen=True)
class PrecomputedRanks(Recommender):
    """Ranks of the held-out items that another tool computed.

    `sampled_metrics.core.ranks.exact.exact_ranks` reads them.
    """

    path: str = parameter(
        "a csv (or .csv.gz) or parquet file with the columns candidates, above and tied, or "
        "candidates and rank, and optionally user; {dataset} in the path stands for the name of "
        "the dataset",
        type="string",
        minLength=1,
        format="path",
    )
    candidates: int | None = parameter(
        "n, the candidates of every held-out item, for a file without that column", **COUNT
    )
    user_column: str | None = parameter(
        "the column of users, if it has another name than user",
        default=None,
        type=["string", "null"],
        minLength=1,
    )
    candidates_column: str | None = parameter(
        "the column of candidates, if it has another name than candidates",
        default=None,
        type=["string", "null"],
        minLength=1,
    )
    rank_column: str | None = parameter(
        "the column of ranks, if it has another name than rank",
        default=None,
        type=["string", "null"],
        minLength=1,
    )
    exact: bool = parameter(
        "whether the ranks are exact although all are in the best tenth of the candidates",
        default=False,
        type="boolean",
    )
    zero_based: bool = parameter(
        "whether ranks start at 0, in place of 1", default=False, type="boolean"
    )

    @property
    def reading(self) -> dict[str, Any]:
        """Return the options of `exact_ranks` that read the file."""
        return {name: value for name, value in vars(self).items() if name != "path"}

    def file(self, dataset: str) -> str:
        """Return the file that holds the ranks on a dataset."""
        return self.path.replace("{dataset}", dataset)

    def fit(self, training: csr_array, rng: np.random.Generator) -> Model:
        """Raise ConfigError: there is nothing to train."""
        raise ConfigError("precomputed ranks (type ranks) cannot be trained")
