"""What samples from strata give on average, from exact counts: moments of estimators that are linear in the sample."""

from collections.abc import Mapping, Sequence

import numpy as np
from scipy.stats import hypergeom

from sampled_metrics._arrays import Floats, Ints
from sampled_metrics._progress import Progress
from sampled_metrics.errors import ConfigError, DataError
from sampled_metrics.estimators.stratified import LINEAR
from sampled_metrics.metrics.held_out import Metric
from sampled_metrics.ranks.strata import allocation
from sampled_metrics.sampling.strata import StratifiedOutcomes, StratifiedRanks

_OUTCOMES, _MOST = 2**19, 2**28  # that are looked at together, and in all


def drawn_of(ranks: StratifiedRanks, negatives: Mapping[str, object]) -> Ints:
    """Return the (events, strata) numbers of negatives of an allocation; of a small stratum, all are drawn."""
    wanted = allocation(negatives, ranks.strata)
    return np.minimum(ranks.sizes, [wanted[name] for name in ranks.strata]).astype(np.int64)


def strata_moments(
    ranks: StratifiedRanks, drawn: Ints, estimators: Sequence[str], metrics: Sequence[Metric], progress: Progress
) -> tuple[Floats, Floats]:
    """Return the means and variances of the weights of each event, (events, estimators * metrics) each.

    The mean of a weight is Σ_x Π_s P(x_s | a_s) w(x), over all x.

    Args:
        ranks: exact counts.
        drawn: (events, strata) numbers of negatives to draw.
        estimators: labels.
        metrics: of one relevant item.
        progress: wraps the blocks of events.

    Raises:
        ConfigError: an estimator is not linear in a sample from strata.
        DataError: there are too many outcomes.
    """
    for label in estimators:
        if label not in LINEAR:
            raise ConfigError(
                f"the expectation of {label} has no closed form for samples from strata; take {' or '.join(LINEAR)}"
            )
    table, which = np.unique(np.hstack((ranks.x, drawn, ranks.sizes)), axis=0, return_inverse=True)

    possible = int(np.prod(drawn.max(axis=0) + 1))
    if len(table) * possible > _MOST:
        raise DataError(
            f"a sample has {possible} possible outcomes for each of {len(table)} users with different counts, too many "
            "to sum over; take fewer strata or negatives"
        )
    x = np.indices(drawn.max(axis=0) + 1).reshape(drawn.shape[1], -1).T  # (outcomes, strata)
    blocks = np.array_split(table, -(-len(table) * len(x) // _OUTCOMES))
    parts = []
    for at in progress(range(len(blocks))):
        above, m, size = np.split(blocks[at], 3, axis=1)
        chances = np.ones((len(blocks[at]), len(x)))
        for numbers, of_stratum in zip(x.T, zip(above.T, m.T, size.T, strict=True), strict=True):
            a, drawn_here, available = (each[:, np.newaxis] for each in of_stratum)
            chances *= hypergeom.pmf(np.arange(numbers.max() + 1), available, a, drawn_here)[:, numbers]
        shape = len(blocks[at]), len(x), x.shape[1]
        three = np.minimum(x, m[:, np.newaxis]), m[:, np.newaxis], size[:, np.newaxis]
        rows = (np.broadcast_to(each, shape).reshape(-1, shape[2]) for each in three)
        x_of, drawn_of_row, sizes = rows
        outcomes = StratifiedOutcomes(x_of, drawn_of_row, sizes, np.ones(len(x_of), dtype=np.int64))
        weights = np.vstack([LINEAR[label](outcomes, metrics).weights for label in estimators])
        weights = weights.reshape(len(weights), *shape[:2])
        mean = np.einsum("woe,oe->ow", weights, chances)
        parts.append((mean, np.einsum("woe,oe->ow", weights**2, chances) - mean**2))
    means, variances = (np.concatenate(each)[np.asarray(which).ravel()] for each in zip(*parts, strict=True))
    return means, np.maximum(variances, 0.0)
