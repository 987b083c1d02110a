"""The data on which tools are compared: a factor model, its training events, and one held-out item of each user."""

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
    """A factor model and the split on which it is evaluated.

    Attributes:
        split: training events, and one held-out item of each user.
        model: model whose scores are products of factors.
    """

    split: Split
    model: FactorModel

    @property
    def items(self) -> int:
        """The number of all items, those in training included."""
        return self.split.training.shape[1]

    @property
    def training(self) -> csr_matrix:
        """The (users, items) training events, with 32-bit indices."""
        return _with_32_bit_indices(self.split.training)

    @property
    def test(self) -> csr_matrix:
        """The (users, items) held-out items, with 32-bit indices."""
        users = self.split.held_out.nnz
        pairs = (np.ones(users), self.split.item, np.arange(users + 1))
        return _with_32_bit_indices(csr_array(pairs, shape=self.split.training.shape))


def _with_32_bit_indices(pairs: csr_array) -> csr_matrix:
    """Return pairs as a matrix with the indices that the other tools need."""
    matrix = csr_matrix(pairs)
    matrix.indices, matrix.indptr = matrix.indices.astype(np.int32), matrix.indptr.astype(np.int32)
    return matrix
