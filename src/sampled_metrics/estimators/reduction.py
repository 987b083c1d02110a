"""Reduce the n equations of a least-squares correction to m + 1, in bounded memory.

‖D^½ (A w - f)‖² and ‖R w - Qᵀ D^½ f‖² differ by a constant, where D^½ A = QR. The QR factorization avoids the loss of
digits in AᵀDA. Only one block of A is in memory: each block is stacked below the R so far, with f as further columns,
and reduced again.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from sampled_metrics._arrays import Floats
from sampled_metrics._validation import check_memory_limit, require_sum_of_one
from sampled_metrics.metrics.held_out import RankMetric
from sampled_metrics.sampling.design import SamplingDesign
from sampled_metrics.sampling.distributions import pmf

_ROWS = 4096  # rows of A in a block


@dataclass(frozen=True)
class Reduction:
    """The reduced least-squares problems of one design, one n and some metrics, with D = 1/n.

    Attributes:
        factor: R, (min(n, m + 1), m + 1), where D^½ A = QR.
        targets: Qᵀ D^½ f, (min(n, m + 1), metrics).
        marginal: c = Aᵀ D 1, (m + 1,): P(x).
        joint: Aᵀ D f, (m + 1, metrics).
    """

    factor: Floats
    targets: Floats
    marginal: Floats
    joint: Floats


@lru_cache(maxsize=16)
def reduced(candidates: int, design: SamplingDesign, metrics: tuple[RankMetric, ...]) -> Reduction:
    """Reduce eq. 21 under the uniform prior, or raise DataError if n or m are too large for the allowed memory."""
    columns = design.negatives + 1
    rows = max(_ROWS, 2 * (columns + len(metrics)))
    instead = "take an estimator that solves no equations, such as rank-estimate or uncorrected"
    check_memory_limit((len(metrics) + 3, candidates), f"the metrics at every rank of {candidates} candidates", instead)
    check_memory_limit((rows + columns, columns + len(metrics)), f"the equations for {design}", instead)
    values = np.stack([metric.values(candidates) for metric in metrics], axis=1)
    system = np.empty((0, columns + len(metrics)))
    marginal, joint = np.zeros(columns), np.zeros((columns, len(metrics)))
    for first in range(0, candidates, rows):
        ranks = slice(first, min(first + rows, candidates))
        block = pmf(np.arange(ranks.start, ranks.stop), candidates - 1, design)
        marginal += block.sum(axis=0) / candidates
        joint += block.T @ values[ranks] / candidates
        block = np.hstack((block, values[ranks])) / np.sqrt(candidates)
        system = np.asarray(np.linalg.qr(np.vstack((system, block)), mode="r"))
    require_sum_of_one(marginal, f"P(x) of n = {candidates} candidates and {design}")
    kept = min(candidates, columns)
    parts = (np.triu(system[:kept, :columns]), system[:kept, columns:], marginal, joint)
    for part in parts:
        part.flags.writeable = False
    return Reduction(*parts)
