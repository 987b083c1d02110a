"""Exact metrics after each epoch of a training, and whether the training still improves."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from threading import Lock
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from sampled_metrics import _defaults
from sampled_metrics.checks import MOST, require_confidence_level, require_whole
from sampled_metrics.core.evaluation.evaluate import about_several_metrics, result_of_values
from sampled_metrics.core.evaluation.result import Result, drawing
from sampled_metrics.core.evaluation.values import values_of
from sampled_metrics.core.findings import Finding
from sampled_metrics.core.inference.setting import Setting
from sampled_metrics.core.metrics import Metric, MetricsLike, metrics_by_label
from sampled_metrics.core.ranks.exact import ExactRanks
from sampled_metrics.errors import ConfigError, DataError, Remark
from sampled_metrics.ranking.inputs import PairsLike, read_inputs
from sampled_metrics.running import on_one_thread
from sampled_metrics.stages.rank import Prepared, require_depth
from sampled_metrics.stages.table import StagedRanks
from sampled_metrics.validation.ranking import AllCandidates, Ranking, Stages
from sampled_metrics.validation.standing import Answer, EpochStanding, Spending
from sampled_metrics.validation.state import State

if TYPE_CHECKING:
    from matplotlib.axes import Axes

STAGED_METRICS = ("recall@10", "ndcg@10", "mrr@10")
"""The metrics that are computed of stages if none are given."""

_HISTORY = ["epoch", "metric", "value", "low", "high", "better", "reference", "best", "seconds"]
"""The columns of the history, without whether an epoch is a contender."""


def validator(
    training: PairsLike,
    held_out: Any,
    *,
    metrics: MetricsLike | None = None,
    epochs: int | None = None,
    depth: float | None = None,
    user_ids: ArrayLike | None = None,
    item_ids: ArrayLike | None = None,
    batch_size: int | None = None,
    confidence_level: float = 0.95,
) -> Validator:
    """Prepare exact metrics for the loop that trains a model.

    Call the result after each epoch with the scores of the model: the validator ranks the held-out
    items among all candidates, as `rank` does, and says for each metric whether the training has
    improved. Training and held-out items are read and checked once, so that each call only ranks.

    An epoch is compared with the *reference*, the last epoch that was called better. At first it is
    the first one.

    - "Yes" means that the epoch is better than the reference. The epoch is then the reference.
    - "No" means that it is worse than an earlier epoch: the reference, or the one with the highest
      value.
    - Otherwise it is undecided.
    - The *contenders* are the epochs that may be the best one so far. An epoch leaves them if it is
      worse than the reference or than an epoch with the highest value.

    All epochs are looked at on the same users. Of a metric, all answers "yes" and "no" of a
    training are right together with the probability `confidence_level`, and then the truly best
    epoch so far is always one of the contenders. Each metric is a family of its own. The error rate
    α is spent over all pairs of epochs that could be compared, so that it does not matter which of
    them are, nor how similar the models are:

    - With `epochs` = K, a pair of epoch k and one of the k - 1 before it has the error rate α / ((K
      - 1) (k - 1)).
    - Otherwise it has α / (1.612 k^(3/2) (k - 1)). In both cases the sum over all pairs is α.

    Half of a rate is for each direction. Each comparison is made as in `compare`, paired by user.
    The answers are on the expected metric over users like these, of the models of this training,
    not of other seeds. The models must not depend on the held-out items: to stop early, or to keep
    the best epoch, is allowed; a learning rate that reacts to the values is not.

    The intervals of the values of a metric hold together for all epochs, too. The interval of epoch
    k has the error rate α / K, or α / (2.612 k^(3/2)) if K is not known. So the interval of the
    best epoch holds although the epoch is chosen by its value. The value itself is too high on
    average, and a remark says so: other users give an unbiased one.

    Args:
        training: as in `rank`.
        held_out: as in `rank`: the items of validation.
        metrics: as in `evaluate`. The first one is that of `Validation.value`, `Validation.better`
            and `Validator.stop`. With `depth` they have cut-offs, and the default is recall@10,
            ndcg@10 and mrr@10.
        epochs: K, the largest number of calls, if it is known, which makes the answers of long
            trainings sharper. Epochs after these are undecided and have no interval, and a warning
            says so. Earlier stopping is allowed.
        depth: for models that score pairs, such as NeuMF, the depth of `staged_ranks`: about how
            many candidates of each user are scored. The metrics are then estimated without bias.
            The default ranks all candidates.
        user_ids: as in `rank`.
        item_ids: as in `rank`.
        batch_size: number of users whose scores are computed at a time, as in `rank`, which refuses
            it for factors; with `depth`, the largest number of pairs in a call.
        confidence_level: probability that all answers on a metric are right, and that the interval
            of a value covers the mean over the population of users, for all epochs together.

    Returns:
        The `Validator`. Call it with `scores` as in `rank`, such as factors, a function, or tensors
        on any device; with `depth`, with a function of pairs as in `staged_ranks`. Each call
        returns a `Validation`.

    Raises:
        DataError: as in `rank`.
        ConfigError: a metric or an option does not exist, or a metric has no cut-off and there is a
            depth.

    Examples:
        Three epochs of a model of 400 users, of which the second one learns and the third one does
        not:

        >>> import numpy as np
        >>> import sampled_metrics as sm
        >>> rng = np.random.default_rng(1)
        >>> training, held_out = np.zeros((400, 50)), rng.integers(50, size=400)
        >>> scores = rng.normal(size=(400, 50))
        >>> validate = sm.validator(training, held_out, metrics=["ndcg@10", "recall@10"], epochs=3)
        >>> validate(scores).better
        'first'
        >>> scores[np.arange(400), held_out] += 1
        >>> validate(scores).better
        'yes'
        >>> result = validate(scores + 0.01 * rng.normal(size=(400, 50)))
        >>> result.better, result.reference, result.best
        ('undecided', 2, 2)
        >>> validate.contenders
        [2, 3]
        >>> validate.history[["epoch", "metric", "better"]].tail(2).values.tolist()
        [[3, 'ndcg@10', 'undecided'], [3, 'recall@10', 'undecided']]

    References:
        W. Krichene and S. Rendle, On Sampled Metrics for Item Recommendation, KDD 2020, section 3.
        J. Hsu, Simultaneous Confidence Intervals for all Distances from the "Best", Annals of
        Statistics 9, 1981: a set that has the best one. K. Lan and D. DeMets, Discrete Sequential
        Boundaries for Clinical Trials, Biometrika 70, 1983: alpha spending.
    """
    setting = Setting(require_confidence_level(confidence_level))
    if depth is not None:
        require_depth(depth)
    if epochs is not None:
        require_whole(1, MOST, epochs=epochs)
    if batch_size is not None:
        require_whole(1, None if depth is None else MOST, batch_size=batch_size)
    default = _defaults.DEFAULT_METRICS if depth is None else STAGED_METRICS
    by_label = metrics_by_label(default if metrics is None else metrics)
    for label, metric in by_label.items():
        if depth is not None and metric.cutoff is None:
            raise ConfigError(
                f"metrics: {label} has no cut-off, which the metrics of stages need; leave out "
                "depth"
            )
    inputs = read_inputs(None, training, held_out, None, user_ids, item_ids)
    split = inputs.split
    spending = Spending(1 - setting.confidence_level, None if epochs is None else int(epochs))
    if depth is None:
        users = inputs.users[np.diff(split.held_out.indptr) > 0]
        ranking = AllCandidates(split, inputs.ids, users, batch_size)
        return Validator(by_label, ranking, setting, spending)
    largest = max(metric.cutoff or 0 for metric in by_label.values())
    stages = Stages(
        Prepared.from_split(split, inputs.ids, inputs.users), largest, depth, batch_size
    )
    return Validator(by_label, stages, setting, spending)


@dataclass(frozen=True, repr=False)
class Validation:
    """The metrics of an epoch.

    Attributes:
        epoch: its number: that of the call, from 1, or the `step` of the call.
        result: a row for each metric with the columns of `evaluate`, and better, reference, best
            and contender: whether this epoch is better than the reference (yes, no, undecided, or
            first), the reference that it was compared with, the epoch with the highest value so
            far, and whether this epoch may be the best so far.
        ranks: the ranks, an `ExactRanks` or a `StagedRanks`, for `compare`.
        users: a row for each user with the columns user and, for each metric, the value of the
            user, whose mean is the value of the metric. With a depth it is an estimate that may be
            negative or above 1.
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
        """Whether this epoch is better than the reference: yes, no, undecided or first.

        The first metric decides.
        """
        return str(self.result["better"].iloc[0])

    @property
    def reference(self) -> int | None:
        """The epoch that this one was compared with, by the first metric; None if there is none."""
        return _number(self.result["reference"].iloc[0])

    @property
    def best(self) -> int | None:
        """The epoch with the highest value of the first metric so far.

        None if the metric was not defined in any epoch.
        """
        return _number(self.result["best"].iloc[0])

    @property
    def is_best(self) -> bool:
        """Whether this epoch has the highest value of the first metric so far."""
        return self.best == self.epoch

    def __repr__(self) -> str:
        return f"Epoch {self.epoch}\n{self.result!r}"


class Validator:
    """Exact metrics after each epoch; `sm.validator` makes it.

    An epoch counts once its call has returned. A call that is interrupted, or fails, leaves no
    trace. Calls from several threads are epochs one after another, in the order in which they
    are ranked.

    After a restart, a validator goes on in two ways. A copy that was pickled goes on from its
    epochs; it has the training and held-out items, and no model. Or `sm.validator` makes it anew
    from the same items, and `load_state_dict` gives it the epochs of `state_dict`, which is
    smaller than the pickled copy.

    Attributes:
        metrics: the metrics by label.
    """

    def __init__(
        self,
        metrics: dict[str, Metric],
        ranking: Ranking,
        setting: Setting,
        spending: Spending,
    ) -> None:
        self.metrics = metrics
        self._ranking = ranking
        self._setting = setting
        self._spending = spending
        self._state = State({label: EpochStanding() for label in metrics})
        self._lock = Lock()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _lock=Lock())

    def __call__(self, scores: Any, *, step: int | None = None) -> Validation:
        """Return the metrics of the next epoch.

        Args:
            scores: as in `rank`; with a depth, a function of pairs, or a `Ranker`, as in
                `staged_ranks`. Set a model of torch to evaluation, without gradients, before the
                call.
            step: the number of the epoch, above that of the last call. The default is one more than
                that.

        Raises:
            DataError: as in `rank` or `staged_ranks`. The epoch is then not counted.
            ConfigError: `step` is not above the last one; or there is a `batch_size`, and the
                scores are factors, which have no batches, or a `Ranker`.
        """
        start = perf_counter()
        if step is not None:
            self._require_step(step)
        _require_scores(scores)
        ranks = self._ranking.ranks(scores)
        with self._lock:
            if step is not None:
                self._require_step(step)  # calls of other threads have raised it
            return self._judged(ranks, self._state.last + 1 if step is None else int(step), start)

    def __repr__(self) -> str:
        if not self._state.rows:
            return "Validator: no epochs yet; call it with the scores of an epoch"
        return f"Validator\n{self.history.to_string(index=False)}"

    @property
    def contenders(self) -> list[int]:
        """The epochs that may be the best so far, according to the first metric.

        After all epochs together, the truly best epoch is one of them with the probability
        `confidence_level`. The history has the contenders according to other metrics.
        """
        standing = next(iter(self._state.standings.values()))
        return sorted(standing.contenders)

    @property
    def history(self) -> pd.DataFrame:
        """A row for each epoch and metric.

        The columns are epoch, metric, value, low, high, better, reference, best, contender (whether
        the epoch may be the best of all so far) and seconds (of the call). The intervals of a
        metric hold together for all epochs. The highest value is too high on average.
        """
        state = self._state
        table = pd.DataFrame(state.rows, columns=_HISTORY)
        is_contender = [
            row["epoch"] in state.standings[row["metric"]].contenders for row in state.rows
        ]
        table.insert(_HISTORY.index("seconds"), "contender", pd.Series(is_contender, dtype=bool))
        return table.astype({"reference": "Int64", "best": "Int64"})

    def stop(self, patience: int | None = None) -> bool:
        """Return whether the highest value of the first metric is that many epochs ago, or more.

        Whether to stop is another question than whether an epoch is better: a slow training
        improves by steps that users are too few to see. Epochs are counted by calls. A metric that
        is not defined stops nothing.

        Args:
            patience: the number of epochs, 1 or more.

        Raises:
            ConfigError: it is not such a number.
        """
        if patience is None:
            raise ConfigError("stop: give the epochs to wait for a higher value, as in stop(10)")
        require_whole(1, MOST, patience=patience)
        label = next(iter(self.metrics))
        epochs = [row["epoch"] for row in self._state.rows if row["metric"] == label]
        best = self._state.standings[label].best
        if best is None:
            return False
        epochs_since = len(epochs) - 1 - epochs.index(best)
        return epochs_since >= patience

    def state_dict(self) -> dict[str, Any]:
        """Return the epochs so far, to save with the model.

        The state has dictionaries, lists, numbers, text and bytes, and the values of users of the
        contenders: .2 MiB for Recall@10 of 200,000 users and each contender.
        """
        return self._state.to_plain(self._task())

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Replace the epochs with those of a `state_dict`.

        Args:
            state: of a validator of the same training and held-out items and the same options.

        Raises:
            DataError: it is not a state, belongs to another validator, or is damaged. The
                validator's epochs do not change then.
        """
        loaded = State.from_plain(state, self._task())
        with self._lock:
            self._state = loaded

    def plot(self, path: str | os.PathLike[str] | None = None, *, ax: Axes | None = None) -> Any:
        """Draw the metrics by epoch with their intervals, the references and the contenders.

        The figure needs matplotlib.

        Args:
            path: a file to write: svg, png or pdf, according to its ending. Without a path, the
                figure is one of pyplot.
            ax: the axes to draw in, for a single metric and without a path.

        Returns:
            The axes, or a (metrics,) array of them.

        Raises:
            ConfigError: there is no epoch yet, matplotlib is not installed, the ending is another
                one, or `ax` is given for several metrics or with a path.
            WriteError: the file cannot be written.
        """
        history = self.history
        if history.empty:
            raise ConfigError("plot: there is no epoch yet")
        if ax is not None and (path is not None or len(self.metrics) > 1):
            raise ConfigError("plot takes ax for one metric, and without a path")
        drawing()
        from sampled_metrics.validation import figure

        if ax is not None:
            figure.draw_epochs(history, ax, self._setting)
            return ax
        return figure.draw(history, self._setting, path)

    def _require_step(self, step: Any) -> None:
        require_whole(0, MOST, step=step)
        if self._state.rows and step <= self._state.last:
            raise ConfigError(
                f"step must be above that of the last epoch, {self._state.last}, not {int(step)}"
            )

    def _task(self) -> dict[str, Any]:
        """Return what a state must match."""
        return {
            **self._ranking.task,
            "metrics": list(self.metrics),
            "confidence_level": self._setting.confidence_level,
            "epochs": self._spending.epochs,
        }

    @on_one_thread
    def _judged(self, ranks: ExactRanks | StagedRanks, epoch: int, start: float) -> Validation:
        """Add to the history and return the metrics of ranks, compared with the epochs before."""
        state = self._state
        values = values_of(ranks, ranks.user_numbers, list(self.metrics.values()))
        position = state.epochs + 1
        rate_of_interval = self._spending.of_interval(position)
        has_interval = rate_of_interval > 0
        if not has_interval:  # its ends are replaced
            rate_of_interval = self._spending.alpha
        result = result_of_values([ranks], self.metrics, values, self._setting, rate_of_interval)
        if not has_interval:
            result[["low", "high"]] = np.nan

        rate = self._spending.of_pair(position) if position > 1 else 0.0
        answers = [
            state.standings[label].answer(epoch, values.of_metric(index), rate)
            for index, label in enumerate(self.metrics)
        ]
        for name, column in _columns(epoch, answers).items():
            result[name] = column
        result = result.found(_findings(position, self.metrics, answers))
        if has_interval:
            result = result.found([Finding("epochs-together")])

        row_of_user = np.unique(ranks.user_numbers, return_index=True)[1]
        names = np.asarray(ranks.user)[row_of_user]
        values_by_label = dict(zip(self.metrics, values.low, strict=True))
        users = pd.DataFrame({"user": names, **values_by_label})
        validation = Validation(epoch, result, ranks, users)

        rows = _rows(epoch, result, answers, perf_counter() - start)
        standings = {
            label: answer.standing for label, answer in zip(self.metrics, answers, strict=True)
        }
        if position - 1 == self._spending.epochs:
            message = (
                f"epochs={position - 1}: this is one more, and from here on epochs are undecided "
                "and have no interval; give a larger number"
            )
            warnings.warn(message, Remark, stacklevel=4)
        # all that changes, at once: an interruption before or after it leaves whole epochs
        self._state = State(standings, (*state.rows, *rows))
        return validation


def _require_scores(scores: Any) -> None:
    """Raise DataError if scores are a model of torch, which is called with other arguments."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(scores, torch.nn.Module):
        raise DataError(
            "scores: is a torch Module; give its factors, as in validate((users, items)), or a "
            "function that calls it, as in validate(lambda users: model(users))"
        )


def _columns(epoch: int, answers: list[Answer]) -> dict[str, Any]:
    """Return the columns of a result that answers give."""
    return {
        "better": [answer.better for answer in answers],
        "reference": pd.array([answer.reference for answer in answers], dtype="Int64"),
        "best": pd.array([answer.standing.best for answer in answers], dtype="Int64"),
        "contender": [epoch in answer.standing.contenders for answer in answers],
    }


def _findings(position: int, labels: Iterable[str], answers: list[Answer]) -> list[Finding]:
    """Return what is to be said of the values of an epoch.

    Args:
        position: its number from 1.
        labels: the labels of the metrics.
        answers: the answers, by metric.
    """
    findings = about_several_metrics(labels)
    for label, answer in zip(labels, answers, strict=True):
        best = answer.standing.best
        if position > 1 and best is not None:
            values = {"epoch": best, "epochs": position}
            findings.append(Finding("best-of-epochs", label, values=values))
    return findings


def _rows(
    epoch: int, result: Result, answers: list[Answer], seconds: float
) -> list[dict[str, Any]]:
    """Return the rows of the history of an epoch, one for each metric."""
    values = result[["metric", "value", "low", "high"]].to_dict("records")
    return [
        {
            "epoch": epoch,
            **row,
            "seconds": seconds,
            "better": answer.better,
            "reference": answer.reference,
            "best": answer.standing.best,
        }
        for row, answer in zip(values, answers, strict=True)
    ]


def _number(value: Any) -> int | None:
    return None if pd.isna(value) else int(value)
