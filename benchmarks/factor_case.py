"""What tools are compared on: a factor model, its training events, and one held-out item of each user."""

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array, csr_matrix

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "src"))

from sampled_metrics.data.split import Split
from sampled_metrics.recommenders.models import FactorModel


@dataclass(frozen=True)
class Case:
    """A factor model and what it is evaluated on.

    Attributes:
        split: training, and one held-out item of each user.
        model: its scores are products of factors.
    """

    split: Split
    model: FactorModel

    @property
    def items(self) -> int:
        """All items, those of training included."""
        return self.split.training.shape[1]

    @property
    def training(self) -> csr_matrix:
        """Training as the tools want it."""
        return _as_tools_want(self.split.training)

    @property
    def test(self) -> csr_matrix:
        """The held-out items, (users, items)."""
        users = self.split.held_out.nnz
        pairs = (np.ones(users), self.split.item, np.arange(users + 1))
        return _as_tools_want(csr_array(pairs, shape=self.split.training.shape))


def _as_tools_want(pairs: csr_array) -> csr_matrix:
    matrix = csr_matrix(pairs)
    matrix.indices, matrix.indptr = matrix.indices.astype(np.int32), matrix.indptr.astype(np.int32)
    return matrix
