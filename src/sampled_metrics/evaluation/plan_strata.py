"""Find the strata, and the numbers of negatives from each, that make the error of a sampled evaluation smallest."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri

from sampled_metrics._arrays import Floats, Ints
from sampled_metrics._progress import Progress, no_progress
from sampled_metrics._threads import on_one_thread
from sampled_metrics._validation import check_label, is_real, is_whole, shown
from sampled_metrics.errors import ConfigError, DataError
from sampled_metrics.estimators.stratified import planned_variances
from sampled_metrics.evaluation.result import Remark, Result
from sampled_metrics.metrics.held_out import Metric, metric_name
from sampled_metrics.metrics.held_out import metric as metric_of
from sampled_metrics.ranks.frames import RanksLike, named_ranks
from sampled_metrics.ranks.pairing import pair_users, user_numbers
from sampled_metrics.ranks.table import RankTable, columns_or_table
from sampled_metrics.sampling.strata import StratifiedRanks, stratified_ranks

_SHARES = (0.2, 0.35, 0.5, 0.65, 0.8)
"""Shares of the negatives from the first of two strata that are tried, beside its share of the candidates."""

_USERS = 3000  # most users of the pilot that are looked at
_STEP = 1.25  # ratio of the numbers of negatives that are tried for a wanted error
_FEWEST, _MOST = 4, 5000  # numbers of them


@on_one_thread
def plan_strata(
    ranks: RanksLike | Mapping[str, RanksLike],
    *,
    negatives: int | None = None,
    error: float | None = None,
    metric: str = "recall@10",
    seed: int = 0,
    progress: Progress = no_progress,
) -> Result:
    """Find two strata, and how many negatives to draw from each, by exact counts of a pilot.

    Neighbouring strata of the pilot are joined to two in every way, and several shares of the negatives are tried. The
    error is the standard deviation of the estimator `smooth` over samples of negatives, σ / √U with the variance σ² of
    a user's influence on the estimate. It is computed from two drawn samples of each plan, for the smooth distribution
    that fits the exact counts, and ignores the bias.

    Args:
        ranks: exact counts by stratum, as of ``rank(..., strata=)``, with the strata in an order such as that of
            popularity; or a mapping from the names of recommenders to their counts.
        negatives: m, the number of negatives of a user, of both strata together; the default is 100.
        error: the wanted error in place of `negatives`. The smallest m that gives it is found, up to a quarter, for
            the strata and shares that are best for 100.
        metric: a label, as in `evaluate`.
        seed: of the samples, and of the users if there are more than 3000.
        progress: wraps the plans, for a progress bar.

    Returns:
        A row for each plan, the best first, with the columns negatives (the number from each stratum, as
        ``top100=50,rest=50``; strata that are joined have a + between them), total (m), error (of the metric, the root
        of the mean square over the recommenders), standard_error (likewise, over users and negatives). With two
        recommenders there is a column conclusive, the chance that an interval of 95 % of their difference does not
        include 0. A plan with as many negatives of each stratum as its share of the candidates is as good as uniform
        negatives.

    Raises:
        DataError: the ranks are not exact counts of the same two strata or more, or a wanted error takes too many
            negatives.
        ConfigError: the metric does not exist, negatives is no whole number from 2, or error is not above 0.

    Examples:
        >>> import numpy as np, pandas as pd, sampled_metrics as sm
        >>> rng = np.random.default_rng(0)
        >>> popular, others = rng.geometric([0.05, 0.01], (500, 2)).T - 1
        >>> columns = {"above_top100": np.minimum(popular, 100), "size_top100": 100}
        >>> pilot = pd.DataFrame(columns | {"above_rest": others, "size_rest": 2000})
        >>> result = sm.plan_strata(pilot, negatives=50)
        >>> result["negatives"][0]
        'top100=40,rest=10'

    References:
        W. G. Cochran, Sampling Techniques, 3rd edition, Wiley, 1977, chapter 5.
    """
    chosen = metric_of(check_label(metric, "metric"))
    if negatives is not None and error is not None:
        raise ConfigError("give negatives or a wanted error, not both")
    negatives = 100 if negatives is None else negatives
    if not is_whole(negatives) or negatives < 2:
        raise ConfigError(f"negatives must be a whole number, 2 or more, not {shown(negatives)}")
    if error is not None and (not is_real(error) or not error > 0):
        raise ConfigError(f"error must be a number above 0, not {shown(error)}")
    pilots = [_Pilot.of(name, each, chosen, seed) for name, each in named_ranks(ranks).items()]
    strata = pilots[0].counts.strata
    for each in pilots[1:]:
        if each.counts.strata != strata:
            raise DataError(f"{each.name} has the strata {', '.join(each.counts.strata)}, not {', '.join(strata)}")
        if each.users != pilots[0].users:
            raise DataError(f"{each.name} has {each.users} users, and {pilots[0].name} has {pilots[0].users}")
    cuts = [_Cut(pilots, cut) for cut in range(1, len(strata))]
    plans = [(cut, share) for cut in cuts for share in (None, *_SHARES)]
    rows = [cut.row(share, negatives) for cut, share in progress(plans)]
    uniform = min(row["error"] for row, (_, share) in zip(rows, plans, strict=True) if share is None)
    if error is not None:
        cut, share = plans[int(np.argmin([row["error"] for row in rows]))]
        rows = [_enough(cut, share, error)]
    table = Result(sorted(rows, key=lambda row: row["error"])).drop_duplicates("negatives", ignore_index=True)
    first = table.iloc[0]
    sentences: list[Remark | str] = [
        f"Draw {first['negatives']}: the error of {metric_name(metric)} is then {first['error']:.2g}, and its standard "
        f"error {first['standard_error']:.2g} for {pilots[0].users} users."
    ]
    if error is None:
        sentences.append(f"With as many negatives of each stratum as its share of the candidates: {uniform:.2g}.")
    return table.with_remarks([*sentences, "The errors ignore the bias of the estimator, which is smooth."])


@dataclass(frozen=True)
class _Pilot:
    """Exact counts of a recommender.

    Attributes:
        name: of the recommender.
        counts: of at most so many users.
        users: how many there are.
        metric: to plan for.
        seed: of the samples.
    """

    name: str
    counts: StratifiedRanks
    users: int
    metric: Metric
    seed: int

    @classmethod
    def of(cls, name: str, ranks: RanksLike, metric: Metric, seed: int) -> "_Pilot":
        """Read exact counts."""
        given = columns_or_table(ranks, name)
        if isinstance(given, RankTable):
            raise DataError(f"{name}: a rank table has no counts by stratum; give the table of rank(..., strata=)")
        counts = stratified_ranks(given, exact=True)
        if len(counts.strata) < 2:
            raise DataError(f"{name}: has one stratum; a plan takes two or more")
        if len(counts) < 2 or user_numbers(counts).max() + 1 < len(counts):
            raise DataError(f"{name}: a plan takes two users or more, with one row each")
        order = np.argsort(user_numbers(counts))  # so that the same users are chosen of all recommenders
        chosen = order[np.sort(np.random.default_rng(seed).permutation(len(counts))[:_USERS])]
        user = None if counts.user is None else counts.user[chosen]
        few = StratifiedRanks(counts.strata, counts.x[chosen], counts.drawn[chosen], counts.sizes[chosen], user)
        return cls(name, few, len(counts), metric, seed)

    @property
    def values(self) -> Floats:
        """Return the exact metric of each user."""
        return self.metric.of_rank(1 + self.counts.x.sum(axis=1), self.counts.candidates)


@dataclass(frozen=True)
class _Cut:
    """Pilots whose strata are joined to those before and after a cut."""

    pilots: list[_Pilot]
    cut: int

    @cached_property
    def sizes(self) -> list[Ints]:
        """Return the (users, 2) sizes of the strata of each pilot."""
        return [self._joined(each.counts.sizes) for each in self.pilots]

    @cached_property
    def variances(self) -> list[Callable[[Ints, np.random.Generator], tuple[Floats, Floats]]]:
        """Return the functions from numbers of negatives to variances, of each pilot."""
        return [
            planned_variances(self._joined(each.counts.x), sizes, (each.metric,))
            for each, sizes in zip(self.pilots, self.sizes, strict=True)
        ]

    def _joined(self, counts: Ints) -> Ints:
        return np.add.reduceat(counts, [0, self.cut], axis=1)

    def row(self, share: float | None, negatives: int) -> dict[str, Any]:
        """Return the errors of a plan; without a share, the strata have their shares of the candidates."""
        sizes = np.concatenate(self.sizes).mean(axis=0)
        first = round((sizes[0] / sizes.sum() if share is None else share) * negatives)
        most = np.max([size.max(axis=0) for size in self.sizes], axis=0)
        wanted = np.minimum(np.clip([first, negatives - first], 1, negatives - 1), most)
        wanted = np.minimum(np.maximum(wanted, negatives - wanted[::-1]), most)  # what one stratum lacks
        found = [
            of_plan(np.minimum(size, wanted), np.random.default_rng([each.seed, *wanted]))
            for each, size, of_plan in zip(self.pilots, self.sizes, self.variances, strict=True)
        ]
        labels, users = self.pilots[0].counts.strata, self.pilots[0].users
        of_samples, both = np.array(found)[:, :, 0].T / users
        names = joined_label(labels[: self.cut]), joined_label(labels[self.cut :])
        row: dict[str, Any] = {
            "negatives": ",".join(f"{name}={m}" for name, m in zip(names, wanted, strict=True)),
            "total": int(wanted.sum()),
            "error": float(np.sqrt(of_samples.mean())),
            "standard_error": float(np.sqrt(both.mean())),
        }
        if len(self.pilots) == 2:
            one, other = self.pilots
            pairs = pair_users(one.counts, other.counts, (one.name, other.name))
            gaps = other.values[np.argsort(pairs.other)] - one.values[np.argsort(pairs.one)]
            deviation = np.sqrt(gaps.var() / users + of_samples.sum())
            row["conclusive"] = float(ndtr(abs(gaps.mean()) / deviation - ndtri(0.975))) if deviation > 0 else np.nan
        return row


def joined_label(labels: Sequence[str]) -> str:
    """Return the label of joined strata: top500 of top100 and top101-500, rest if it has the rest; else a + b."""
    popular = [re.fullmatch(r"top(?:(\d+)-)?(\d+)", label) for label in labels]
    if all(popular[:-1]) and labels[-1] == "rest":
        return "rest"
    if all(popular) and popular[0] and popular[-1] and popular[0][1] is None:
        return f"top{popular[-1][2]}"
    return "+".join(labels)


def _enough(cut: _Cut, share: float | None, error: float) -> dict[str, Any]:
    """Return the plan with the fewest negatives whose error is small enough."""
    negatives = _FEWEST
    while negatives <= _MOST:
        row = cut.row(share, negatives)
        if row["error"] <= error:
            return row
        negatives = int(np.ceil(_STEP * negatives))
    raise DataError(f"an error of {error:g} takes more than {_MOST} negatives")
