"""P(outcome | rank) as the band that it is: a rank gives only numbers of better negatives near m times its quantile.

The larger m, the narrower the band, relative to m: at m = 1000 a product with it costs a fifth of one with the whole.
"""

from dataclasses import dataclass

import numpy as np

from sampled_metrics._arrays import Floats

NEGLIGIBLE = 1e-25
"""Probabilities that are not above are taken as 0. A sum over all ranks does not feel it: it is rounded at 10⁻¹⁶."""

_ROWS = 128  # at least, in a block


@dataclass(frozen=True)
class Banded:
    """A matrix of (ranks, outcomes), in blocks of rows with the columns that matter."""

    shape: tuple[int, int]
    blocks: tuple[tuple[slice, slice, Floats], ...]  # rows, columns, and what they have in common

    @classmethod
    def of(cls, matrix: Floats) -> "Banded":
        """Cut a matrix into blocks; the bands are narrow where its columns are sorted by x."""
        ranks, outcomes = matrix.shape
        step = max(_ROWS, ranks // 32)
        blocks = []
        for first in range(0, ranks, step):
            rows = slice(first, min(first + step, ranks))
            columns = np.flatnonzero((matrix[rows] > NEGLIGIBLE).any(axis=0))
            if len(columns):
                band = slice(int(columns[0]), int(columns[-1]) + 1)
                blocks.append((rows, band, matrix[rows, band]))
        return cls((ranks, outcomes), tuple(blocks))

    def to_outcomes(self, distribution: Floats) -> Floats:
        """π A: (…, outcomes) probabilities of the outcomes for (…, ranks) distributions."""
        product = np.zeros((*distribution.shape[:-1], self.shape[1]))
        for rows, band, block in self.blocks:
            product[..., band] += distribution[..., rows] @ block
        return product

    def to_ranks(self, values: Floats) -> Floats:
        """V Aᵀ: (…, ranks) means of (…, outcomes) values given the rank."""
        product = np.zeros((*values.shape[:-1], self.shape[0]))
        for rows, band, block in self.blocks:
            product[..., rows] = values[..., band] @ block.T
        return product

    def gram(self, weights: Floats) -> Floats:
        """Aᵀ diag(w) A, (outcomes, outcomes), for (ranks,) weights from 0."""
        product = np.zeros((self.shape[1], self.shape[1]))
        root = np.sqrt(weights)
        for rows, band, block in self.blocks:
            half = root[rows, np.newaxis] * block
            product[band, band] += half.T @ half
        return product
