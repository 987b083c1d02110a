"""What the paper claims in words, checked against our numbers.

Each check is a function of the same name as the claim's key in `reference`. It returns what was measured, in words, and
whether the claim holds (None where the paper does not say enough to tell).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import numpy as np
import pandas as pd

from sampled_metrics.metrics.held_out import metric
from sampled_metrics.paper.reference import RECOMMENDERS, STUDY_CLAIMS, TOY_CLAIMS, Claim
from sampled_metrics.ranks.table import RankTable

Finding = tuple[str, bool | None]
COLUMNS = ["reading", "place", "claim", "ours", "holds"]
TOP_HEAVY = ("recall@10", "ndcg@10", "ap")
LOW_GAMMA = ("bv-0.1", "bv-0.01", "bv-0.001")


@dataclass(frozen=True)
class Toy:
    """The running example's tables and what its figures were drawn from.

    Attributes:
        exact: Table 1, recommenders × metrics.
        sampled: Table 2's means, recommenders × metrics.
        by_size: Figure 2, (metric, negatives) × recommenders.
        by_rank: Figure 3, (metric, negatives) × ranks.
        corrected: Figure 4, (panel, estimator) × ranks.
        candidates: n.
    """

    exact: pd.DataFrame
    sampled: pd.DataFrame
    by_size: pd.DataFrame
    by_rank: pd.DataFrame
    corrected: pd.DataFrame
    candidates: int


@dataclass(frozen=True)
class Study:
    """The tables of the study, for one reading.

    Attributes:
        ranks: rank tables by recommender.
        means: Table 3's means, (metric, estimator) × recommenders.
        correct: Table 4, (pair, metric) × estimators.
        by_size: Figure 6, (estimator, negatives) × recommenders.
    """

    ranks: Mapping[str, RankTable]
    means: pd.DataFrame
    correct: pd.DataFrame
    by_size: pd.DataFrame


def check_toy(
    table_1: pd.DataFrame,
    table_2: pd.DataFrame,
    figure_2: pd.DataFrame,
    figure_3: pd.DataFrame,
    figure_4: pd.DataFrame,
    candidates: int,
) -> pd.DataFrame:
    """Check the claims on the running example; columns `COLUMNS`. The arguments are the csv tables of those names."""
    toy = Toy(
        table_1.pivot(index="recommender", columns="metric", values="value"),
        table_2.pivot(index="recommender", columns="metric", values="mean"),
        figure_2.pivot(index=["metric", "negatives"], columns="recommender", values="expected"),
        figure_3.pivot(index=["metric", "negatives"], columns="rank", values="expected"),
        figure_4.pivot(index=["panel", "estimator"], columns="rank", values="value"),
        candidates,
    )
    return _found("default", TOY_CLAIMS, lambda claim: _TOY_CHECKS[claim.key](toy))


def check_study(
    ranks: Mapping[str, RankTable], table_3: pd.DataFrame, table_4: pd.DataFrame, figure_6: pd.DataFrame
) -> pd.DataFrame:
    """Check the claims of section 6 under every reading; columns `COLUMNS`. The tables are the csv tables."""
    table_3, figure_6 = (table[table["recommender"].isin(RECOMMENDERS)] for table in (table_3, figure_6))
    table_4 = table_4[table_4["worse"].isin(RECOMMENDERS) & table_4["better"].isin(RECOMMENDERS)]
    ranks = {name: ranks[name] for name in RECOMMENDERS}
    by_size = figure_6.pivot(index=["estimator", "negatives"], columns="recommender", values="expected")
    found = []
    for name, means in table_3.groupby("reading", sort=False):
        orders = table_4[table_4["reading"] == name]
        pairs = orders[["worse", "better"]].min(axis=1) + " vs " + orders[["worse", "better"]].max(axis=1)
        study = Study(
            ranks,
            means.pivot(index=["metric", "estimator"], columns="recommender", values="mean"),
            orders.assign(pair=pairs).pivot(index=["pair", "metric"], columns="estimator", values="correct"),
            by_size,
        )
        found.append(_found(str(name), STUDY_CLAIMS, partial(_check_study, study)))
    return pd.concat(found, ignore_index=True)


def _check_study(study: Study, claim: Claim) -> Finding:
    return _STUDY_CHECKS[claim.key](study)


def _found(reading: str, claims: Sequence[Claim], find: Callable[[Claim], Finding]) -> pd.DataFrame:
    rows = []
    for claim in claims:
        ours, holds = find(claim)
        rows.append((reading, claim.place, claim.words, ours, "open" if holds is None else "yes" if holds else "no"))
    return pd.DataFrame(rows, columns=COLUMNS)


def _order(values: "pd.Series[float]") -> str:
    """Name recommenders from best to worst: `Z > Y > X`."""
    return " > ".join(str(name) for name in values.sort_values(ascending=False, kind="stable").index)


def _listed(values: "pd.Series[float]", digits: int = 3) -> str:
    return ", ".join(f"{name} {value:.{digits}f}" for name, value in values.items())


# --- the running example ----------------------------------------------------------------------------------------------


def _top_heaviness(toy: Toy) -> Finding:
    ap, ndcg = (float(metric(label).of_rank(1, 2) / metric(label).of_rank(2, 2)) for label in ("ap", "ndcg"))
    return f"AP {ap:.2f}, NDCG {ndcg:.2f}", round(ap, 2) == 2 and round(ndcg, 2) == 1.58


def _exact_winners(toy: Toy) -> Finding:
    best = toy.exact.idxmax()
    wanted = {"auc": "A", "ap": "C", "ndcg": "C", "recall@10": "C"}
    return _listed_names(best), all(best[label] == name for label, name in wanted.items())


def _listed_names(best: "pd.Series[str]") -> str:
    return ", ".join(f"{label}: {name}" for label, name in best.items())


def _tenfold(toy: Toy) -> Finding:
    ap = toy.exact["ap"]
    ratios = ap["C"] / ap[["A", "B"]]
    return f"{ratios['A']:.1f} and {ratios['B']:.1f} times", bool(ratios.between(9, 11).all())


def _sampled_lowest(toy: Toy) -> Finding:
    return _listed(toy.sampled["ap"]), toy.sampled["ap"].idxmin() == "C"


def _twice(toy: Toy) -> Finding:
    exact, sampled = toy.exact["ap"], toy.sampled["ap"]
    ratio = sampled["A"] / sampled["B"]
    ours = f"exact {exact['A']:.3f} and {exact['B']:.3f}; sampled {ratio:.2f} times"
    return ours, round(exact["A"], 3) == round(exact["B"], 3) and 1.7 < ratio < 2.3


def _only_auc(toy: Toy) -> Finding:
    same = [str(label) for label in toy.exact if _order(toy.exact[label]) == _order(toy.sampled[label])]
    return f"same order: {', '.join(same)}", same == ["auc"]


def _at(toy: Toy, label: str, sizes: Callable[["pd.Index[int]"], np.ndarray]) -> pd.DataFrame:
    curves = toy.by_size.loc[label]
    return curves[sizes(curves.index)]


def _orders(curves: pd.DataFrame) -> str:
    orders = dict.fromkeys(_order(row) for _, row in curves.iterrows())
    return "; ".join(orders)


def _below_50(toy: Toy) -> Finding:
    orders = _orders(_at(toy, "ap", lambda m: m < 50))
    return f"m < 50: {orders}", orders == "A > C > B"


def _at_200(toy: Toy) -> Finding:
    orders = _orders(_at(toy, "ap", lambda m: m == 200))
    return f"m = 200: {orders}", orders == "A > B > C"


def _at_500(toy: Toy) -> Finding:
    orders = _orders(_at(toy, "ap", lambda m: m == 500))
    return f"m = 500: {orders}", orders == "C > A > B"


def _large(toy: Toy) -> Finding:
    values = toy.by_size.loc["ap"].iloc[-1]
    ours = f"m = {toy.by_size.loc['ap'].index[-1]}: {_listed(values)}"
    return ours, values.idxmax() == "C" and abs(values["A"] - values["B"]) < 0.001


def _recall_5000(toy: Toy) -> Finding:
    curves = toy.by_size.loc["recall@10"]
    # exactly, C is best and A and B are both 0: the metric is as good as consistent once they are within 0.01
    consistent = (curves.idxmax(axis=1) == "C") & ((curves["A"] - curves["B"]).abs() < 0.01)
    sizes, wrong = curves.index.to_numpy(), np.flatnonzero(~consistent)
    if len(wrong) == 0 or wrong[-1] + 1 == len(sizes):
        return f"{'not ' if len(wrong) else ''}consistent at every m", False
    last_wrong, right = int(sizes[wrong[-1]]), int(sizes[wrong[-1] + 1])
    ours = f"C best, A and B within 0.01 of each other from m = {right} on, and not at {last_wrong}"
    return ours, last_wrong < 5000 <= right


def _auc_constant(toy: Toy) -> Finding:
    curves = toy.by_size.loc["auc"]
    spread = float((curves.max() - curves.min()).max())
    return f"varies by {spread:.0e} over m", spread < 1e-9


def _auc_unchanged(toy: Toy) -> Finding:
    biases = {}
    for label, curves in toy.by_rank.groupby(level="metric"):
        table = curves.droplevel("metric")
        biases[str(label)] = float((table - table.loc[toy.candidates - 1]).abs().max().max())
    ours = ", ".join(f"{label} by {bias:.2g}" for label, bias in biases.items())
    return f"changed at most: {ours}", [label for label, bias in biases.items() if bias < 1e-9] == ["auc"]


def _linear_at_1(toy: Toy) -> Finding:
    bends = []
    for label in ("auc", "ap", "ndcg", "recall@10"):
        curve = toy.by_rank.loc[(label, 1)]
        line = np.polynomial.Polynomial.fit(curve.index, curve, 1)
        bends.append(float(np.abs(curve - line(curve.index.to_numpy())).max()))
    return f"off a straight line by at most {max(bends):.0e}", max(bends) < 1e-9


def _bias_at_1000(toy: Toy) -> Finding:
    biases = {
        label: float((toy.by_rank.loc[(label, 1000)] - toy.by_rank.loc[(label, toy.candidates - 1)]).abs().max())
        for label in ("ap", "ndcg", "recall@10")
    }
    return "largest bias: " + ", ".join(f"{name} {bias:.2f}" for name, bias in biases.items()), min(
        biases.values()
    ) > 0.1


def _oscillation(toy: Toy) -> Finding:
    turns = {}
    for label in ("bv-1", *LOW_GAMMA):
        steps = np.diff(toy.corrected.loc[("sampled", label)].dropna())
        turns[label] = int((np.diff(np.sign(steps[np.abs(steps) > 1e-6])) != 0).sum())
    ours = "turning points: " + ", ".join(f"{label} {count}" for label, count in turns.items())
    return ours, turns["bv-1"] == 0 and turns["bv-0.001"] > turns["bv-0.1"]


def _closer(toy: Toy) -> Finding:
    expected = toy.corrected.loc["expected"].dropna(axis=1)
    error = (expected.drop("exact") - expected.loc["exact"]).abs().mean(axis=1)
    return "mean error: " + _listed(error), bool((error.drop("uncorrected") < error["uncorrected"]).all())


_TOY_CHECKS: dict[str, Callable[[Toy], Finding]] = {
    "top_heaviness": _top_heaviness,
    "exact_winners": _exact_winners,
    "tenfold": _tenfold,
    "sampled_lowest": _sampled_lowest,
    "twice": _twice,
    "only_auc": _only_auc,
    "below_50": _below_50,
    "at_200": _at_200,
    "at_500": _at_500,
    "large": _large,
    "recall_5000": _recall_5000,
    "auc_constant": _auc_constant,
    "auc_unchanged": _auc_unchanged,
    "linear_at_1": _linear_at_1,
    "bias_at_1000": _bias_at_1000,
    "oscillation": _oscillation,
    "closer": _closer,
}


# --- the study --------------------------------------------------------------------------------------------------------


def _corrections(study: Study) -> list[str]:
    """Every estimator of Table 3 that corrects."""
    estimators = study.means.index.get_level_values("estimator").unique()
    return [str(name) for name in estimators if name not in ("exact", "uncorrected")]


def _users(study: Study) -> Finding:
    counts = {len(table) for table in study.ranks.values()}
    return f"{', '.join(map(str, counts))} users", counts == {6040}


def _x_top_100(study: Study) -> Finding:
    # 3 standard deviations over random starts, which is about 20 (docs/reproduction.md)
    events = study.ranks["X"].expected_between(1, 100)
    return f"{events:.0f}", abs(events - 2310) < 60


def _x_bottom_half(study: Study) -> Finding:
    events = _worse_half(study.ranks["X"])
    return f"{events:.0f}", events < 300


def _worse_half(table: RankTable) -> float:
    return table.expected_between(table.candidates // 2 + 1, table.candidates)


def _z_worst_bucket(study: Study) -> Finding:
    table = study.ranks["Z"]
    ranks = np.arange(1, int(table.candidates.max()) + 1)
    over = (int(rank) for rank in ranks[::-1] if table.expected_between(int(rank), int(ranks[-1])) > 1600)
    from_rank = next(over, None)
    if from_rank is None:
        return f"{len(table)} users in all", False
    return f"{_worse_half(table):.0f} in the worse half; over 1600 from rank {from_rank} on", None


def _z_top_10(study: Study) -> Finding:
    events = pd.Series({name: table.expected_between(1, 10) for name, table in study.ranks.items()})
    return _listed(events, 0), events.idxmax() == "Z"


def _y_between(study: Study) -> Finding:
    x, y = study.ranks["X"], study.ranks["Y"]
    top = x.expected_between(1, 10), y.expected_between(1, 10)
    mean = tuple(float((table.above + 1 + table.tied / 2).mean()) for table in (x, y))
    ours = f"top 10: Y {top[1]:.0f}, X {top[0]:.0f}; mean rank: Y {mean[1]:.0f}, X {mean[0]:.0f}"
    return ours, top[1] > top[0] and mean[1] > mean[0]


def _orders_of(study: Study, estimator: str, metrics: Sequence[str]) -> dict[str, str]:
    return {label: _order(study.means.loc[(label, estimator)]) for label in metrics}


def _said(orders: Mapping[str, str]) -> str:
    return "; ".join(f"{label}: {order}" for label, order in orders.items())


def _exact_order(study: Study) -> Finding:
    orders = _orders_of(study, "exact", TOP_HEAVY)
    return _said(orders), set(orders.values()) == {"Z > Y > X"}


def _recall_reversed(study: Study) -> Finding:
    orders = _orders_of(study, "uncorrected", ["recall@10"])
    return _said(orders), set(orders.values()) == {"X > Y > Z"}


def _x_seems_best(study: Study) -> Finding:
    orders = _orders_of(study, "uncorrected", ["ndcg@10", "ap"])
    return _said(orders), set(orders.values()) == {"X > Z > Y"}


def _auc_consistent(study: Study) -> Finding:
    orders = {name: _orders_of(study, name, ["auc"])["auc"] for name in ["exact", "uncorrected", *_corrections(study)]}
    return "; ".join(dict.fromkeys(orders.values())), len(set(orders.values())) == 1


def _all_closer(study: Study) -> Finding:
    farther = []
    for label in TOP_HEAVY:
        of_metric = study.means.loc[label]
        error = (of_metric - of_metric.loc["exact"]).abs()
        corrected = error.loc[_corrections(study)]
        farther += [f"{label} {name}" for name, row in corrected.iterrows() if (row >= error.loc["uncorrected"]).any()]
    return f"farther: {', '.join(farther) or 'none'}", not farther


def _z_found_best(study: Study) -> Finding:
    other = [
        f"{label} {name}"
        for label in TOP_HEAVY
        for name in _corrections(study)
        if study.means.loc[(label, name)].idxmax() != "Z"
    ]
    return f"not Z: {', '.join(other) or 'none'}", not other


def _low_gamma_order(study: Study) -> Finding:
    wrong = [
        f"{label} {name}: {_order(study.means.loc[(label, name)])}"
        for label in TOP_HEAVY
        for name in LOW_GAMMA
        if _order(study.means.loc[(label, name)]) != "Z > Y > X"
    ]
    return f"wrong: {', '.join(wrong) or 'none'}", not wrong


def _one_third(study: Study) -> Finding:
    rate = 1000 / study.ranks["X"].mean_candidates
    return f"{rate:.2f}", 0.25 < rate < 0.4


def _right_from(study: Study, estimator: str, better: Sequence[str]) -> int | None:
    """Return the smallest sample size from which on the recommenders, best first, are ordered rightly."""
    curves = study.by_size.loc[estimator]
    right = np.all([curves[one] > curves[next_] for one, next_ in pairwise(better)], axis=0)
    wrong = np.flatnonzero(~right)
    if len(wrong) == 0:
        return int(curves.index[0])
    return int(curves.index[wrong[-1] + 1]) if wrong[-1] + 1 < len(curves) else None


def _uncorrected_1000(study: Study) -> Finding:
    size = _right_from(study, "uncorrected", "YX")
    largest = study.by_size.loc["uncorrected"].index.max()
    return f"right from m = {size}" if size else f"wrong up to m = {largest}", size is None or size > 1000


def _bv_60(study: Study) -> Finding:
    size = _right_from(study, "bv-0.1", "ZYX")
    return f"right from m = {size}" if size else "never right", size is not None and size < 60


def _same_metric(study: Study) -> Finding:
    difference = (study.means.loc[("recall@10", "rank-estimate")] - study.means.loc[("ndcg@10", "rank-estimate")]).abs()
    return f"differ by {difference.max():.0e}", bool(difference.max() < 1e-12)


def _rank_estimate_wins(study: Study) -> Finding:
    worse = study.correct[study.correct["rank-estimate"] < study.correct["uncorrected"]]
    return f"worse in {len(worse)} of {len(study.correct)}", len(worse) == 0


def _bv_best(study: Study) -> Finding:
    low = study.correct[study.correct["bv-0.1"] <= 0.9]["bv-0.1"]
    ours = ", ".join(f"{' '.join(map(str, key))} {100 * value:.0f}" for key, value in low.items())
    return f"90 or less: {ours or 'none'}", len(low) <= 1


_STUDY_CHECKS: dict[str, Callable[[Study], Finding]] = {
    "users": _users,
    "x_top_100": _x_top_100,
    "x_bottom_half": _x_bottom_half,
    "z_worst_bucket": _z_worst_bucket,
    "z_top_10": _z_top_10,
    "y_between": _y_between,
    "exact_order": _exact_order,
    "recall_reversed": _recall_reversed,
    "x_seems_best": _x_seems_best,
    "auc_consistent": _auc_consistent,
    "all_closer": _all_closer,
    "z_found_best": _z_found_best,
    "low_gamma_order": _low_gamma_order,
    "one_third": _one_third,
    "uncorrected_1000": _uncorrected_1000,
    "bv_60": _bv_60,
    "same_metric": _same_metric,
    "rank_estimate_wins": _rank_estimate_wins,
    "bv_best": _bv_best,
}
