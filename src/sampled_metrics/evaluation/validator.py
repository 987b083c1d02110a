"""Exact metrics after each epoch of a training, and whether an epoch is better than the best so far."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from threading import Lock
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from sampled_metrics import _defaults
from sampled_metrics._running import on_one_thread
from sampled_metrics._validation import MOST, Floats, Ints, require_confidence_level, require_whole
from sampled_metrics.data.split import Split
from sampled_metrics.errors import ConfigError, DataError
from sampled_metrics.evaluation.evaluate import result_of_values
from sampled_metrics.evaluation.result import Result
from sampled_metrics.evaluation.values import UserValues, values_of
from sampled_metrics.inference.findings import Setting
from sampled_metrics.metrics.metric import Metric, MetricsLike, metrics_by_label
from sampled_metrics.ranking.inputs import Ids, PairsLike, split_and_users
from sampled_metrics.ranking.labels import aligned, aligned_blocks, aligned_scores
from sampled_metrics.ranking.rank import rank_users, scores_and_shape
from sampled_metrics.ranking.scoring import Ranker
from sampled_metrics.ranking.stages import require_depth, staged_ranks
from sampled_metrics.ranks.exact import ExactRanks
from sampled_metrics.ranks.staged import StagedRanks

if TYPE_CHECKING:
    from matplotlib.axes import Axes

YES, NO, UNDECIDED, FIRST = "yes", "no", "undecided", "first"
"""Whether an epoch is better than the best so far; the first epoch has none before it."""

STAGED_METRICS = ("recall@10", "ndcg@10", "mrr@10")
"""The metrics that are computed of stages if none are given."""


def validator(
    training: PairsLike,
    held_out: Any,
    *,
    metrics: MetricsLike | None = None,
    depth: float | None = None,
    user_ids: ArrayLike | None = None,
    item_ids: ArrayLike | None = None,
    batch_size: int | None = None,
    confidence_level: float = 0.95,
) -> Validator:
    """Prepare exact metrics for the loop that trains a model.

    The result is called after each epoch with the scores of the model. It ranks the held-out items among all
    candidates, as `rank` does, and says for each metric whether this epoch is better than the best so far: yes, no or
    undecided. Training and held-out items are read and checked once, so that each call only ranks.

    All epochs are looked at on the same users. Of a metric, all answers "yes" and "no" of a training are right together
    with the probability `confidence_level`, however many epochs there are:

    - The comparison of epoch k + 1 has the error rate α / (k (k + 1)), half of it for "yes" and half for "no". The sum
      over all k is α (alpha spending by a union bound). It needs no number of epochs, and allows any dependence of the
      epochs, which are similar models on the same users. A confidence sequence is for a sample that grows, and here the
      sample stays and the model changes.
    - "Yes" means: better than every earlier epoch. The best so far is chosen by its value on the same users, so to beat
      it alone could be to beat one that was lucky. Each earlier epoch has to be beaten at the whole rate, and so has
      the truly best of them, whichever it is (an intersection-union test, which needs no correction for their number).
    - "No" means: worse than the best so far. The best is one of k epochs, and its choice favours this answer. So the
      rate is divided by k.

    Each comparison is that of `compare`, paired by user. The answers are on the expected metric over users like these,
    of the models of this training, not of other seeds. They suppose that the models do not depend on the held-out
    items: to stop early, or to keep the best epoch, is allowed; a learning rate that reacts to the values is not.

    The interval of a value is that of one epoch. The value of an epoch that was chosen because it is the highest is too
    high on average: report the model on test items.

    Args:
        training: as in `rank`.
        held_out: as in `rank`: the items of validation.
        metrics: as in `evaluate`. The first one is that of `Validation.value` and `Validation.better`. With `depth`
            they have cut-offs, and the default is recall@10, ndcg@10 and mrr@10.
        depth: for models that score pairs, such as NeuMF, the depth of `staged_ranks`: about how many candidates of
            each user are scored. The metrics are then estimated without bias. The default ranks all candidates.
        user_ids: as in `rank`.
        item_ids: as in `rank`.
        batch_size: number of users whose scores are computed at a time, as in `rank`, which refuses it for factors;
            with `depth`, the largest number of pairs in a call.
        confidence_level: probability that all answers on a metric are right, and that the interval of a value covers
            the mean over the population of users.

    Returns:
        The `Validator`. Call it with `scores` as in `rank`, such as factors, a function, or tensors on any device; with
        `depth`, with a function of pairs as in `staged_ranks`. It returns a `Validation`.

    Raises:
        DataError: as in `rank`.
        ConfigError: a metric or an option does not exist, or a metric has no cut-off and there is a depth.

    Examples:
        Three epochs of a model of 400 users, of which the second one learns and the third one does not:

        >>> import numpy as np
        >>> import sampled_metrics as sm
        >>> rng = np.random.default_rng(1)
        >>> training, held_out = np.zeros((400, 50)), rng.integers(50, size=400)
        >>> scores = rng.normal(size=(400, 50))
        >>> validate = sm.validator(training, held_out, metrics=["ndcg@10", "recall@10"])
        >>> validate(scores).better
        'first'
        >>> scores[np.arange(400), held_out] += 1
        >>> validate(scores).better
        'yes'
        >>> result = validate(scores + 0.01 * rng.normal(size=(400, 50)))
        >>> result.better, result.best
        ('undecided', 2)
        >>> validate.history[["epoch", "metric", "better"]].tail(2).values.tolist()
        [[3, 'ndcg@10', 'undecided'], [3, 'recall@10', 'undecided']]

    References:
        W. Krichene and S. Rendle, On Sampled Metrics for Item Recommendation, KDD 2020, section 3.
        K. Lan and D. DeMets, Discrete Sequential Boundaries for Clinical Trials, Biometrika 70, 1983: alpha spending.
        R. Berger, Multiparameter Hypothesis Testing and Acceptance Sampling, Technometrics 24, 1982: tests of a union.
    """
    setting = Setting(require_confidence_level(confidence_level))
    if depth is not None:
        require_depth(depth)
    if batch_size is not None:
        require_whole(1, None if depth is None else MOST, batch_size=batch_size)
    default = _defaults.METRICS if depth is None else STAGED_METRICS
    by_label = metrics_by_label(default if metrics is None else metrics)
    for label, metric in by_label.items():
        if depth is not None and metric.cutoff is None:
            raise ConfigError(f"metrics: {label} has no cut-off, which the metrics of stages need; leave out depth")
    pairs = aligned(None, training, held_out, user_ids, item_ids)
    shape = None, None
    split, ids, users = split_and_users(pairs.training, pairs.held_out, shape, None, pairs.user_ids, pairs.item_ids)
    users = users[np.diff(split.held_out.indptr) > 0]
    return Validator(by_label, split, ids, users, setting, depth, batch_size)


@dataclass(frozen=True, repr=False)
class Validation:
    """The metrics of an epoch.

    Attributes:
        epoch: number of the call, from 1.
        result: a row for each metric with the columns of `evaluate`, and better and best: whether this epoch is better
            than the best before it (yes, no, undecided, or first), and the epoch with the highest value so far.
        ranks: the ranks, an `ExactRanks` or a `StagedRanks`, for `compare`.
        users: a row for each user with the columns user and, for each metric, the value of the user, whose mean is the
            value of the metric. With a depth it is an estimate that may be negative or above 1.
    """

    epoch: int
    result: Result
    ranks: ExactRanks | StagedRanks
    users: pd.DataFrame

    @property
    def value(self) -> float:
        """The value of the first metric."""
        return float(self.result["value"].iloc[0])

    @property
    def better(self) -> str:
        """Whether this epoch is better than the best before it, by the first metric: yes, no, undecided or first."""
        return str(self.result["better"].iloc[0])

    @property
    def best(self) -> int:
        """The epoch with the highest value of the first metric so far."""
        return int(self.result["best"].iloc[0])

    @property
    def is_best(self) -> bool:
        """Whether this epoch has the highest value of the first metric so far."""
        return self.best == self.epoch

    def __repr__(self) -> str:
        return f"Epoch {self.epoch}\n{self.result!r}"


class Validator:
    """Exact metrics after each epoch; `sm.validator` makes it.

    An epoch counts once its call has returned. A call that is interrupted, or fails, leaves no trace. Calls from
    several threads are epochs one after another, in the order in which their ranks are there. A copy that was pickled
    goes on from its epochs.

    Attributes:
        metrics: the metrics by label.
    """

    def __init__(
        self,
        metrics: dict[str, Metric],
        split: Split,
        ids: tuple[Ids, Ids],
        users: Ints,
        setting: Setting,
        depth: float | None,
        batch_size: int | None,
    ) -> None:
        self.metrics, self._split, self._users, self._setting = metrics, split, users, setting
        self._ids, self._depth, self._batch_size = ids, depth, batch_size
        self._epochs = _Epochs(tuple(_Leader() for _ in metrics))
        self._lock = Lock()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _lock=Lock())

    def __call__(self, scores: Any) -> Validation:
        """Return the metrics of the next epoch.

        Args:
            scores: as in `rank`; with a depth, a function of pairs, or a `Ranker`, as in `staged_ranks`. A model of
                torch has to be set to evaluation, without gradients, by the caller.

        Raises:
            DataError: as in `rank` or `staged_ranks`. The epoch is then not counted.
            ConfigError: there is a `batch_size`, and the scores are factors, which have no batches, or a `Ranker`.
        """
        start = perf_counter()
        ranks = self._ranks(scores)
        with self._lock:
            return self._judged(ranks, start)

    @property
    def history(self) -> pd.DataFrame:
        """A row for each epoch and metric: epoch, metric, value, low, high, better, best, seconds (of the call)."""
        columns = ["epoch", "metric", "value", "low", "high", "better", "best", "seconds"]
        return pd.DataFrame(self._epochs.rows, columns=columns)

    def plot(self, path: str | os.PathLike[str] | None = None, *, ax: Axes | None = None) -> Any:
        """Draw the metrics by epoch with their intervals; it needs matplotlib.

        Args:
            path: a file to write, as svg, png or pdf by its ending. Without it, the figure is one of pyplot.
            ax: the axes to draw in, if there is one metric; `path` must not be given too.

        Returns:
            The axes, or a (metrics,) array of them.

        Raises:
            ConfigError: there is no epoch yet, matplotlib is not installed, the ending is another one, or `ax` is given
                for several metrics or beside a path.
            WriteError: the file cannot be written.
        """
        if not self._epochs.rows:
            raise ConfigError("plot: there is no epoch yet")
        if ax is not None and (path is not None or len(self.metrics) > 1):
            raise ConfigError("plot takes ax for one metric, and without a path")
        from sampled_metrics.evaluation import plots
        from sampled_metrics.rendering import drawing  # says in one line that matplotlib is missing

        if ax is not None:
            plots.draw_epochs(self.history, ax, self._setting)
            return ax
        return drawing.shown_or_written(path, lambda figure: plots.draw_history(self.history, figure, self._setting))

    def _ranks(self, scores: Any) -> ExactRanks | StagedRanks:
        split, size = self._split, self._batch_size
        if self._depth is not None:
            if isinstance(scores, Ranker) and size is not None:
                raise ConfigError("batch_size: a Ranker says itself how many pairs it takes (pairs_per_call)")
            is_ranker = isinstance(scores, Ranker)
            return staged_ranks(
                scores if is_ranker else Ranker(scores, name="the model of an epoch", pairs_per_call=size or 1024),
                split.training,
                split.held_out,
                k=max(metric.cutoff or 0 for metric in self.metrics.values()),
                depth=self._depth,
                users=self._users,
                user_ids=split.user_ids,
                item_ids=split.item_ids,
            )
        scores, shape = scores_and_shape(aligned_scores(scores, *self._ids), size)
        expected = split.shape[:2]
        if any(given not in (None, wanted) for given, wanted in zip(shape, expected, strict=True)):
            raise DataError(f"scores have shape {shape}, but training has {expected[0]} users and {expected[1]} items")
        scores = aligned_blocks(scores, *self._ids)
        return rank_users(scores, split, self._users, batch_size=size)

    @on_one_thread
    def _judged(self, ranks: ExactRanks | StagedRanks, start: float) -> Validation:
        """Return the metrics of ranks, compared with the epochs before, and add them to the history."""
        values = values_of(ranks, ranks.user_numbers, list(self.metrics.values()))
        result = result_of_values(ranks, self.metrics, values, self._setting)
        epoch = len(self._epochs.rows) // len(self.metrics) + 1
        alpha = 1 - self._setting.confidence_level
        judged = [
            leader.judged(epoch, values.of_metric(number), alpha) for number, leader in enumerate(self._epochs.leaders)
        ]
        result["better"] = [verdict for verdict, _ in judged]
        result["best"] = [leader.best for _, leader in judged]
        names = np.unique(np.asarray(ranks.user))
        users = pd.DataFrame({"user": names, **dict(zip(self.metrics, values.low, strict=True))})
        seconds = perf_counter() - start
        columns = result[["metric", "value", "low", "high", "better", "best"]]
        rows = [{"epoch": epoch, **row, "seconds": seconds} for row in columns.to_dict("records")]
        validation = Validation(epoch, result, ranks, users)
        # all that changes, at once: an interruption before or after it leaves whole epochs
        self._epochs = _Epochs(tuple(leader for _, leader in judged), (*self._epochs.rows, *rows))
        return validation


@dataclass(frozen=True)
class _Epochs:
    """What is known of the epochs so far.

    Attributes:
        leaders: of each metric.
        rows: of the history.
    """

    leaders: tuple[_Leader, ...]
    rows: tuple[dict[str, Any], ...] = ()


@dataclass(frozen=True)
class _Leader:
    """The epoch with the highest value of a metric, and the values of the epochs that may still be the best one.

    An epoch that is worse than another cannot be the best, and an epoch that is better than all before it leaves none
    of them. So these need not be beaten again, and their values are not kept.
    """

    best: int = 0
    contenders: dict[int, UserValues] = field(default_factory=dict)

    def judged(self, epoch: int, values: UserValues, alpha: float) -> tuple[str, _Leader]:
        """Return whether an epoch is better than all before it, and the leader of all epochs with this one."""
        if np.isnan(values.point[0]):
            return UNDECIDED, self
        if not self.contenders:
            return FIRST, _Leader(epoch, {epoch: values})
        before, best_first = epoch - 1, sorted(self.contenders.values(), key=lambda other: -other.point[0])
        rate = alpha / max(1, before * epoch)
        gaps = (_gap(values, other) for other in best_first)
        if all(gap > 0 and p_value <= rate for gap, p_value in gaps):
            return YES, _Leader(epoch, {epoch: values})
        best = self.contenders[self.best]
        gap, p_value = _gap(values, best)
        if gap < 0 and p_value <= rate / before:
            return NO, self
        leading = epoch if values.point[0] > best.point[0] else self.best
        return UNDECIDED, _Leader(leading, {**self.contenders, epoch: values})


def _gap(values: UserValues, other: UserValues) -> tuple[float, float]:
    """Return the difference of two epochs, and its p-value; NaN if there is none."""
    difference = values.minus(other)
    p_value: Floats = difference.interval(0.05, test=True).p_value
    return float(difference.point[0]), float(p_value[0])
