"""An estimator, a metric, a recommender and a format, as another package adds them (docs/plug-ins.md)."""

from dataclasses import dataclass

import numpy as np

from sampled_metrics.data.formats import EventChunk, register
from sampled_metrics.errors import ConfigError, DataError
from sampled_metrics.estimators import LinearEstimator
from sampled_metrics.metrics.held_out import Metric
from sampled_metrics.recommenders import Recommender
from sampled_metrics.recommenders.models import FactorModel
from sampled_metrics.recommenders.parameters import parameter


@dataclass(frozen=True)
class Scaled(LinearEstimator):
    """The sampled metric times a factor: w_x = factor * f(x + 1)."""

    factor: float

    def weights(self, design, candidates, metrics):
        weights = self.factor * np.stack([metric.values(design.negatives + 1) for metric in metrics])
        return np.broadcast_to(weights, (len(candidates), *weights.shape))


def scaled(label, assume_replacement):
    """Return the estimator of a label such as scaled-0.5."""
    try:
        return Scaled(float(label.removeprefix("scaled-")))
    except ValueError:
        raise ConfigError(f"unknown estimator {label!r}; it may be scaled-c with a number c") from None


def rbp(label, cutoff):
    """Return rank-biased precision with p = 0.8, of a label such as rbp or rbp@10: 0.2 * 0.8 ** (rank - 1)."""

    def of_rank(rank):
        rank = np.asarray(rank, dtype=np.float64)
        return np.where(rank <= (cutoff or np.inf), 0.2 * 0.8 ** (rank - 1), 0.0)

    return Metric(
        label,
        of_rank=lambda rank, candidates: of_rank(rank),
        linear_in_rank=False,
        cutoff=cutoff,
    )


@dataclass(frozen=True)
class InOrder(Recommender):
    """Recommends the items in the order of their ids, or the other way round."""

    reverse: bool = parameter("whether the last item comes first", default=False, type="boolean")

    def fit(self, training, rng, memory=None):
        users, items = training.shape
        scores = np.arange(items, dtype=np.float64)
        return FactorModel(np.ones((users, 1)), (scores if self.reverse else -scores)[:, np.newaxis])


@register("pairs", member=None)
def parse(stream, name):
    """Yield lines of a user and an item, with a space between them, in the order of time."""
    try:
        users, items = np.loadtxt(stream.readlines(), dtype=np.int64, ndmin=2).T
    except ValueError as error:
        raise DataError(f"{name}: {error}") from None
    yield EventChunk(users, items, timestamps=np.arange(len(users)))
