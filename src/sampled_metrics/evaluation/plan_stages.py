"""Plan staged ranks: what a number of scores for each user buys."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from scipy.special import bdtr, ndtr, ndtri

from sampled_metrics._running import Progress, late_progress
from sampled_metrics._validation import Floats, Ints, counted, enumerated, is_real, is_whole, shown
from sampled_metrics.errors import ConfigError, DataError
from sampled_metrics.evaluation.compare import compare
from sampled_metrics.evaluation.correct import correct
from sampled_metrics.evaluation.evaluate import evaluate
from sampled_metrics.evaluation.result import Result
from sampled_metrics.inference.findings import Setting, notes
from sampled_metrics.metrics.metric import Metric, metric_name, metrics_by_label
from sampled_metrics.ranks.by_recommender import UNNAMED
from sampled_metrics.ranks.exact import ExactRanks
from sampled_metrics.ranks.given import require_same_design, tables_by_name
from sampled_metrics.ranks.sampled import SampledRanks, sampled_ranks
from sampled_metrics.ranks.staged import FEW_COMPLETED, StagedRanks
from sampled_metrics.ranks.stages import FOLDS
from sampled_metrics.sampling.moments import EQUAL

DRAWS = 20
"""Number of simulated evaluations of each row whose estimate has no bias."""

SAMPLES = 5
"""Number of simulated samples of negatives."""

_LIKELY = 0.01  # chance of no interval that is said
_MANY_HITS = 400  # with more, the error of the pilot is not said
_QUANTILE = 1.96  # of the stated error of the widths, which is that of the square root of a count


def plan_stages(
    pilot: StagedRanks | Mapping[str, StagedRanks | ExactRanks],
    *,
    metric: str | Metric = "recall@10",
    depths: Sequence[float] = (30, 100, 300, 1000),
    users: int | None = None,
    exact: ExactRanks | Mapping[str, ExactRanks] | None = None,
    negatives: Sequence[int] = (100,),
    confidence_level: float = 0.95,
    seed: int = 0,
    progress: Progress = late_progress,
) -> Result:
    """Tell what a number of scores for each user buys: by staged ranks, by some of the users, by sampled negatives.

    The users of the pilot stand for the population. For each row of the result, users are drawn from them with
    replacement, and the evaluation is simulated: its scores are counted, and its interval is that of `evaluate` or
    `correct`. Where the estimate has no bias, the chance of a verdict is Φ((|δ| - h) / (h / z)). Here δ is the
    difference of the pilot, h the mean distance from a difference to the end of its interval on the side of 0, and z
    the normal quantile of the confidence level. That of sampled negatives is Φ(mean / standard deviation) of this end.

    Args:
        pilot: the `StagedRanks` of some users by ``depth=None``, so that all are known; or a mapping from the names of
            two recommenders to those of the same users, whose comparison is planned too. One of the two may be
            `ExactRanks`, as those of a model that is cheap to score.
        metric: one label, with a cut-off of k or below.
        depths: the depths to try.
        users: how many users the evaluation has; as many as the pilot by default.
        exact: the `ExactRanks` of the pilot, or of both by name. With them there are rows of sampled negatives, which
            need the ranks above k, too.
        negatives: the numbers of negatives of these rows.
        confidence_level: of the intervals.
        seed: of the simulations.
        progress: wraps the rows, for a progress bar. By default, a terminal shows one after two seconds.

    Returns:
        A row for each way to spend scores, with the columns method, depth, scores (for each of the users, on average),
        users (who are scored), completed (users, of stages), width (of the interval of the first staged ranks; NaN if
        there is none), conclusive (the chance that `compare` decides for the better one; of two recommenders). The
        methods are

        - all candidates: exact ranks of all users;
        - stop at k: exact metrics, as by depth None;
        - stages: staged ranks;
        - stop at k, part of users; and all candidates, part of users: as many scores as the stages above, spent on some
          of the users alone;
        - decreasing and free: m uniform negatives, and `correct` by this estimator.

    Raises:
        DataError: the pilot is not of staged ranks that are all known, or of more than two recommenders; the two
            are equal in the pilot, or `exact` is of other rows.
        ConfigError: the metric has no cut-off or one above k, or an option is out of range.

    Examples:
        >>> import numpy as np
        >>> import sampled_metrics as sm
        >>> rng = np.random.default_rng(1)
        >>> scores, training = rng.random((500, 800)), np.zeros((500, 800))
        >>> scores[:, 0] += 0.6
        >>> pilot = sm.staged_ranks(lambda u, i: scores[u, i], training, np.zeros(500, dtype=int), depth=None)
        >>> result = sm.plan_stages(pilot, depths=[100])
        >>> print(result["method"].tolist())
        ['all candidates', 'stop at k', 'stages', 'stop at k, part of users', 'all candidates, part of users']

    References:
        C.-E. Särndal, B. Swensson and J. Wretman, Model Assisted Survey Sampling, Springer 1992, chapter 9: two-phase
        sampling.
    """
    tables = tables_by_name(pilot, "plan_stages")
    staged = {name: table for name, table in tables.items() if isinstance(table, StagedRanks)}
    if not staged or len(tables) > 2:
        raise DataError("pilot: plan_stages takes staged ranks of one recommender, or of one beside another one")
    for name, table in staged.items():
        if not table.is_all_known:
            raise DataError(f"{name or 'pilot'}: some ranks are not known; a pilot takes depth=None")
    by_label = metrics_by_label(metric, "metric")
    if len(by_label) > 1:
        raise ConfigError(f"metric: give one, not {', '.join(by_label)}")
    [(label, measure)] = by_label.items()
    for table in tables.values():
        table.check_metrics(by_label)
    for depth in depths:
        if not (is_real(depth) and depth >= 1):
            raise ConfigError(f"depths must be numbers of 1 or more, not {shown(depth)}")
    for number in negatives if users is None else [*negatives, users]:
        if not is_whole(number) or number < 1:
            raise ConfigError(f"users and negatives must be whole numbers of 1 or more, not {shown(number)}")
    if not (is_real(confidence_level) and 0 < confidence_level < 1):
        raise ConfigError(f"confidence_level must be above 0 and below 1, not {shown(confidence_level)}")
    study = _Study.from_tables(tables, exact, measure, users, confidence_level, seed)
    result = Result(list(study.rows(depths, negatives, progress)))
    if not study.is_pair:
        result = result.drop(columns="conclusive")
    setting = Setting(confidence_level, f"{metric_name(label)}, {study.users:,} users")
    return result.found(notes(_advice(result, study, metric_name(label))), setting)


def _exact_of(exact: Any, tables: Mapping[str, Any]) -> dict[str, ExactRanks]:
    """Return exact ranks in the order of the rows of each pilot, by name; none if they are not given."""
    if exact is None:
        return {}
    given = tables_by_name(exact, "plan")
    by_name = {name: table for name, table in tables.items() if isinstance(table, ExactRanks)} | given
    if set(by_name) != set(tables):
        raise DataError(f"exact: must be of {enumerated(tables) if list(tables) != [UNNAMED] else 'one recommender'}")
    for name, ranks in by_name.items():
        pilot = tables[name]
        if len(ranks) != len(pilot) or (ranks.candidates != pilot.candidates).any():
            raise DataError(f"exact: has other rows or candidates than the pilot {name}".rstrip())
        if isinstance(pilot, StagedRanks) and (np.minimum(ranks.above, pilot.k) != pilot.above).any():
            raise DataError(f"exact: has other ranks than the pilot {name}".rstrip())
    return {name: by_name[name] for name in tables}


@dataclass(frozen=True)
class _Study:
    """Simulated evaluations of users who are drawn from a pilot.

    Attributes:
        pilots: the ranks of one recommender or two, by name.
        numbers: (rows,) numbers of their users, the same for the same users.
        exact: exact ranks of the same rows; none if not known.
        metric: the metric.
        users: number of users of an evaluation.
        confidence_level: of the intervals.
        seed: of the simulations.
        gap: the difference of the metric in the pilot, the second minus the first; NaN of one recommender.
    """

    pilots: dict[str, Any]
    numbers: dict[str, Ints]
    exact: dict[str, ExactRanks]
    metric: Metric
    users: int
    confidence_level: float
    seed: int
    gap: float

    @classmethod
    def from_tables(
        cls, tables: dict[str, Any], exact: Any, metric: Metric, users: int | None, confidence_level: float, seed: int
    ) -> _Study:
        """Return the study of a pilot; raise DataError if two recommenders are of other users, or are equal."""
        names, (one, *others) = list(tables), tables.values()
        numbers, gap = {names[0]: one.user_numbers}, np.nan
        if others:
            require_same_design(tables)
            numbers = dict(zip(names, one.pair(others, names)[0], strict=True))
            values = [evaluate(table, metrics=[metric.label])["value"].item() for table in tables.values()]
            gap = values[1] - values[0]
            if abs(gap) <= EQUAL:
                raise DataError(f"pilot: {names[0]} and {names[1]} have the same {metric_name(metric.label)}")
        count = int(numbers[names[0]].max()) + 1
        exact = _exact_of(exact, tables)
        return cls(tables, numbers, exact, metric, users or count, confidence_level, seed, gap)

    @property
    def is_pair(self) -> bool:
        """Return whether there are two recommenders."""
        return len(self.pilots) == 2

    @property
    def staged(self) -> str:
        """Return the name of the first recommender with staged ranks."""
        return next(name for name, table in self.pilots.items() if isinstance(table, StagedRanks))

    @property
    def first(self) -> StagedRanks:
        """Return the first staged ranks."""
        return cast(StagedRanks, self.pilots[self.staged])

    def _rows_of(self, name: str, users: Ints) -> tuple[Ints, Ints]:
        """Return the rows of (draws,) users by number, those of a draw side by side, and the number of their draw."""
        numbers = self.numbers[name]
        order, held = np.argsort(numbers, kind="stable"), np.bincount(numbers)
        draw = np.repeat(np.arange(len(users)), held[users])
        offset = np.arange(len(draw)) - np.repeat(np.cumsum(held[users]) - held[users], held[users])
        return order[(np.cumsum(held) - held)[users][draw] + offset], draw

    def _redrawn(self, name: str, users: Ints, uniform: Floats, fold: Ints, depth: float | None) -> Any:
        """Return the ranks of (draws,) users of a recommender."""
        table, (rows, draw) = self.pilots[name], self._rows_of(name, users)
        if isinstance(table, StagedRanks):
            return table.redrawn(rows, draw, uniform, fold, depth)
        return ExactRanks(draw, table.candidates[rows], table.above[rows], table.tied[rows])

    def rows(self, depths: Sequence[float], negatives: Sequence[int], progress: Progress) -> Iterator[dict[str, Any]]:
        """Yield the rows of the result."""
        steps: list[Callable[[], list[dict[str, Any]]]] = [self._exact_rows]
        steps += [lambda depth=depth: self._rows_of_depth(depth) for depth in depths]  # type: ignore[misc]
        steps += [lambda m=m: self._rows_of_negatives(m) for m in (negatives if self.exact else ())]  # type: ignore[misc]
        for step in progress(steps):
            yield from step()

    def _exact_rows(self) -> list[dict[str, Any]]:
        row = self._simulated("stop at k", None, self.users)
        return [row | {"method": "all candidates", "scores": float(self.first.candidates.mean())}, row]

    def _rows_of_depth(self, depth: float) -> list[dict[str, Any]]:
        """Return the row of a depth, and those of as many scores for a part of the users."""
        stages = self._simulated("stages", depth, self.users)
        rows, pilot = [stages], self.first
        for method, scores in {"stop at k": pilot.scores_per_user, "all candidates": pilot.candidates.mean()}.items():
            part = max(2, min(self.users, round(self.users * stages["scores"] / scores)))
            row = self._simulated(f"{method}, part of users", None, part)
            rows.append(row | {"scores": scores * part / self.users})
        return rows

    def _simulated(self, method: str, depth: float | None, users: int) -> dict[str, Any]:
        """Return the row of evaluations without bias."""
        numbers = np.random.default_rng([self.seed, users, round(depth or 0)])
        widths, distances, scores, completed = [], [], [], []
        label = [self.metric.label]
        for _ in range(DRAWS):
            drawn = numbers.integers(0, self.numbers[self.staged].max() + 1, users)
            coins = numbers.random(users), numbers.integers(0, FOLDS, users)
            tables = {name: self._redrawn(name, drawn, *coins, depth) for name in self.pilots}
            first = tables[self.staged]
            value = evaluate(first, metrics=label, confidence_level=self.confidence_level)
            widths.append(value["high"].item() - value["low"].item())
            scores.append(first.scores_per_user)
            completed.append(first.completed_users)
            if self.is_pair:
                difference = compare(tables, metrics=label, confidence_level=self.confidence_level)
                end = difference["low" if self.gap > 0 else "high"].item()
                distances.append(abs(difference["difference"].item() - end))
        chance = np.nan
        if self.is_pair and np.isfinite(distances).any():
            distance = np.nanmean(distances)
            chance = float(ndtr((abs(self.gap) - distance) / (distance / ndtri(0.5 + self.confidence_level / 2))))
        return {
            "method": method,
            "depth": np.nan if depth is None else depth,
            "scores": float(np.mean(scores)),
            "users": users,
            "completed": float(np.mean(completed)) if depth is not None else np.nan,
            "width": _mean_if_usual(widths),
            "conclusive": chance * float(np.isfinite(distances).mean()) if self.is_pair else np.nan,
        }

    def _rows_of_negatives(self, negatives: int) -> list[dict[str, Any]]:
        """Return the rows of sampled negatives."""
        rows = []
        for estimator in ("decreasing", "free"):
            numbers = np.random.default_rng([self.seed, self.users, negatives])
            widths, ends = [], []
            for _ in range(SAMPLES):
                drawn = numbers.integers(0, self.numbers[self.staged].max() + 1, self.users)
                samples = {
                    name: _sampled(ranks, *self._rows_of(name, drawn), negatives, numbers)
                    for name, ranks in self.exact.items()
                }
                options: dict[str, Any] = {"metrics": [self.metric.label], "confidence_level": self.confidence_level}
                value = correct(samples[self.staged], estimators=[estimator], **options)
                widths.append(value["high"].item() - value["low"].item())
                if self.is_pair:
                    difference = compare(samples, estimator=estimator, **options)
                    ends.append(difference["low"].item() if self.gap > 0 else -difference["high"].item())
            finite = np.array(ends)[np.isfinite(ends)] if ends else np.empty(0)
            chance = float(ndtr(finite.mean() / finite.std(ddof=1))) if len(finite) > 1 else np.nan
            rows.append(
                {
                    "method": estimator,
                    "depth": np.nan,
                    "scores": negatives + 1.0,
                    "users": self.users,
                    "completed": np.nan,
                    "width": _mean_if_usual(widths),
                    "conclusive": chance,
                }
            )
        return rows


def _mean_if_usual(widths: Sequence[float]) -> float:
    """Return the mean width of the intervals if at least half of the evaluations have one; else NaN."""
    is_there = np.isfinite(widths)
    return float(np.nanmean(widths)) if is_there.mean() >= 0.5 else np.nan


def _sampled(ranks: ExactRanks, rows: Ints, user: Ints, negatives: int, numbers: np.random.Generator) -> SampledRanks:
    """Return ranks among uniform negatives of (n,) rows and their users; ties are broken at random."""
    above, tied, n = ranks.above[rows], ranks.tied[rows], ranks.candidates[rows]
    rank = 1 + above + np.floor(numbers.random(len(rows)) * (tied + 1)).astype(np.int64)
    sampled = 1 + numbers.hypergeometric(rank - 1, n - rank, np.minimum(negatives, n - 1))
    columns = {"user": user, "rank": sampled, "candidates": n, "negatives": np.minimum(negatives, n - 1)}
    return cast(SampledRanks, sampled_ranks(columns))


def _advice(result: Result, study: _Study, what: str) -> list[str]:
    """Return what the rows say, in sentences."""
    stages = result[(result["method"] == "stages")]
    every = result.iloc[0]
    sentences = []
    if study.is_pair:
        first, second = study.pilots
        better, worse = (second, first) if study.gap > 0 else (first, second)
        sentences.append(f"In the pilot, {better} is better than {worse} by {what}, by {abs(study.gap):.4f}.")
    good = stages[stages["width"].notna()]
    if len(good):
        best = good.loc[(good["width"] ** 2 * good["scores"]).idxmin()]
        part = result.loc[best.name + 1]
        ratio = best["width"] / every["width"]
        sentences.append(
            f"With depth {best['depth']:g}, a user takes {best['scores']:,.0f} scores on average, and the interval is "
            f"{ratio:.2f} times as wide as with all {every['scores']:,.0f}."
        )
        if part["width"] <= best["width"]:
            sentences.append(
                "Stages do not pay here: as many scores for some of the users alone give a narrower interval. Take a "
                "part of the users, with depth=None."
            )
    few = stages[stages["width"].isna()]
    if len(few):
        sentences.append(
            f"With depth {few['depth'].iloc[-1]:g}, fewer than {FEW_COMPLETED} users are completed in most "
            "evaluations, so that there is no interval."
        )
    for row in good.itertuples():
        chance = float(bdtr(FEW_COMPLETED - 1, row.users, row.completed / row.users))
        if chance >= _LIKELY:
            sentences.append(
                f"With depth {row.depth:g}, {row.completed:.0f} users are completed on average. With a chance of about "
                f"{100 * chance:.0f} %, they are fewer than {FEW_COMPLETED}, and there is no interval."
            )
    hits = int(study.first.complete.sum())
    if hits < _MANY_HITS:
        sentences.append(
            f"The pilot has {counted(hits, 'held-out item')} among the first {study.first.k}, so that the widths hold "
            f"within about ±{100 * _QUANTILE / (2 * np.sqrt(max(hits, 1))):.0f} %."
        )
    sentences.append(
        "Stages are for a score that does not depend on the other candidates, and for metrics of the first k ranks."
    )
    return sentences
