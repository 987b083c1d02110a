"""Precomputed ranks, which another tool computed and which are read from a file."""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from sampled_metrics.errors import ConfigError
from sampled_metrics.recommenders.models import Model
from sampled_metrics.recommenders.parameters import COUNT, parameter
from sampled_metrics.recommenders.recommender import Recommender


@dataclass(frozen=True)
class PrecomputedRanks(Recommender):
    """Ranks of the held-out items that another tool computed.

    `sampled_metrics.ranks.exact.exact_ranks` reads them.
    """

    path: str = parameter(
        "a csv file, or .csv.gz, with the columns candidates, above and tied, or candidates and rank, and optionally "
        "user; {dataset} in the path stands for the name of the dataset",
        type="string",
        minLength=1,
    )
    candidates: int | None = parameter(
        "n, the candidates of every held-out item, for a file without that column", **COUNT
    )
    exact: bool = parameter(
        "whether the ranks are exact although they look sampled: none is far down the candidates",
        default=False,
        type="boolean",
    )

    def file(self, dataset: str) -> str:
        """Return the file that holds the ranks on a dataset."""
        return self.path.replace("{dataset}", dataset)

    def fit(self, training: csr_array, rng: np.random.Generator) -> Model:
        """Raise ConfigError: there is nothing to train."""
        raise ConfigError("precomputed ranks (type ranks) cannot be trained")
