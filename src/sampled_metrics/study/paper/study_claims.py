"""Claims of the paper about its study (section 6)."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pandas as pd

from sampled_metrics.ranks.exact import ExactRanks
from sampled_metrics.study.pairs import pair_names
from sampled_metrics.study.paper.claims import LOW_GAMMA, WITHIN_NOISE, Claims, Finding, by_name, order
from sampled_metrics.study.paper.fidelity import LIMIT
from sampled_metrics.study.paper.reference import RECOMMENDERS

claim = Claims()

TOP_HEAVY = ("recall@10", "ndcg@10", "ap")


@dataclass(frozen=True)
class Study:
    """The tables of the study, for one reading. Tables 3 and 4 are expectations, which depend on no sample."""

    ranks: Mapping[str, ExactRanks]  # by recommender
    means: pd.DataFrame  # of Table 3, (metric, estimator) × recommenders
    correct: pd.DataFrame  # Table 4, (pair, metric) × estimators
    by_size: pd.DataFrame  # Figure 6, (estimator, negatives) × recommenders
    error: Mapping[str, float]  # cell of Tables 3 and 4 → standard error of the printed number less ours


def check(
    ranks: Mapping[str, ExactRanks],
    table_3: pd.DataFrame,
    table_4: pd.DataFrame,
    figure_6: pd.DataFrame,
    printed: pd.DataFrame,
) -> pd.DataFrame:
    """Return the claims, checked on the csv tables under every reading, as in `Claims.check`.

    `printed` is the result of `fidelity.compare_study`. Its standard errors say what noise may explain.
    """
    table_3, figure_6 = (table[table["recommender"].isin(RECOMMENDERS)] for table in (table_3, figure_6))
    table_4 = table_4[table_4["worse"].isin(RECOMMENDERS) & table_4["better"].isin(RECOMMENDERS)]
    table_4 = table_4.assign(pair=pair_names(table_4))
    ranks = {name: ranks[name] for name in RECOMMENDERS}
    by_size = figure_6.pivot(index=["estimator", "negatives"], columns="recommender", values="expected")
    checked = []
    for reading, means in table_3.groupby("reading", sort=False):
        orders = table_4[table_4["reading"] == reading]
        study = Study(
            ranks,
            means.pivot(index=["metric", "estimator"], columns="recommender", values="mean_exact"),
            orders.pivot(index=["pair", "metric"], columns="estimator", values="correct_exact"),
            by_size,
            printed[printed["reading"] == reading].set_index("cell")["standard_error"].to_dict(),
        )
        checked.append(claim.check(study, str(reading)))
    return pd.concat(checked, ignore_index=True)


def _excused(gaps: Sequence[tuple[float, float]]) -> bool | str:
    """Return the verdict on a claim from the (gap, standard error) of each failure; true if there is none."""
    if not gaps:
        return True
    return all(gap <= LIMIT * error for gap, error in gaps) and WITHIN_NOISE


def _corrections(study: Study) -> list[str]:
    """Return the estimators of Table 3 that correct."""
    estimators = study.means.index.get_level_values("estimator").unique()
    return [str(name) for name in estimators if name not in ("exact", "uncorrected")]


@claim("Section 6.1", "In total there are 6040 ranks, one for each test user")
def _users(study: Study) -> Finding:
    counts = {len(table) for table in study.ranks.values()}
    return f"{', '.join(map(str, counts))} users", counts == {6040}


# three standard deviations over random starts, each about 20 (docs/reproduction.md)
@claim("Section 6.1", "X puts 2310 items in the top 100", tolerance="60 items, as random starts differ")
def _x_top_100(study: Study) -> Finding:
    events = study.ranks["X"].expected_between(1, 100)
    return f"{events:.0f}", abs(events - 2310) < 60


@claim("Section 6.1", "X puts fewer than 300 items in the bottom half")
def _x_bottom_half(study: Study) -> Finding:
    events = _worse_half(study.ranks["X"])
    return f"{events:.0f}", events < 300


def _worse_half(table: ExactRanks) -> float:
    return table.expected_between(table.candidates // 2 + 1, table.candidates)


@claim("Section 6.1", "Z puts the items of over 1600 users in the worst bucket (edge not given)")
def _z_worst_bucket(study: Study) -> Finding:
    table = study.ranks["Z"]
    ranks = np.arange(1, int(table.candidates.max()) + 1)
    large = (int(rank) for rank in ranks[::-1] if table.expected_between(int(rank), int(ranks[-1])) > 1600)
    from_rank = next(large, None)
    if from_rank is None:
        return f"{len(table)} users in all", False
    return f"{_worse_half(table):.0f} in the worse half; over 1600 from rank {from_rank} on", None


@claim("Section 6.1", "Z is the best in the top 10")
def _z_top_10(study: Study) -> Finding:
    events = pd.Series({name: table.expected_between(1, 10) for name, table in study.ranks.items()})
    return by_name(events, 0), events.idxmax() == "Z"


@claim("Section 6.1", "Y is better than X in the top 10, but tends to put items at a worse rank overall")
def _y_between(study: Study) -> Finding:
    x, y = study.ranks["X"], study.ranks["Y"]
    top = x.expected_between(1, 10), y.expected_between(1, 10)
    mean = tuple(float((table.above + 1 + table.tied / 2).mean()) for table in (x, y))
    ours = f"top 10: Y {top[1]:.0f}, X {top[0]:.0f}; mean rank: Y {mean[1]:.0f}, X {mean[0]:.0f}"
    return ours, top[1] > top[0] and mean[1] > mean[0]


def _ordered(study: Study, estimator: str, metrics: Sequence[str], wanted: str) -> Finding:
    """Return the orders of the recommenders by an estimator, and whether all are as claimed."""
    orders = {label: order(study.means.loc[(label, estimator)]) for label in metrics}
    return "; ".join(f"{label}: {names}" for label, names in orders.items()), set(orders.values()) == {wanted}


@claim("Section 6.2", "On exact Recall, NDCG and AP, Z is better than Y, which is better than X")
def _exact_order(study: Study) -> Finding:
    return _ordered(study, "exact", TOP_HEAVY, "Z > Y > X")


@claim("Section 6.2", "On sampled Recall, X is better than Y, which is better than Z")
def _recall_reversed(study: Study) -> Finding:
    return _ordered(study, "uncorrected", ["recall@10"], "X > Y > Z")


@claim("Section 6.2", "On sampled NDCG and AP, X appears to be the best; Y and Z are ordered rightly")
def _x_seems_best(study: Study) -> Finding:
    return _ordered(study, "uncorrected", ["ndcg@10", "ap"], "X > Z > Y")


@claim("Section 6.2", "On AUC all sampled results order the recommenders as the exact ones do")
def _auc_consistent(study: Study) -> Finding:
    orders = [order(study.means.loc[("auc", name)]) for name in ["exact", "uncorrected", *_corrections(study)]]
    return "; ".join(dict.fromkeys(orders)), len(set(orders)) == 1


@claim("Section 6.3", "All corrections are closer to the exact results than sampling without one")
def _all_closer(study: Study) -> Finding:
    farther = []
    for label in TOP_HEAVY:
        error = (study.means.loc[label] - study.means.loc[(label, "exact")]).abs()
        is_farther = (error.loc[_corrections(study)] >= error.loc["uncorrected"]).any(axis=1)
        farther += [f"{label} {name}" for name in is_farther.index[is_farther]]
    return f"farther: {', '.join(farther) or 'none'}", not farther


@claim("Section 6.3", "All corrections place Z as the best on Recall, NDCG and AP")
def _z_found_best(study: Study) -> Finding:
    best = study.means.loc[list(TOP_HEAVY)].idxmax(axis=1)
    wrong = [key for key in best.index[best != "Z"] if key[1] in _corrections(study)]
    gaps = [_gap(study, key, str(best[key]), "Z") for key in wrong]
    return f"not Z: {', '.join(map(' '.join, wrong)) or 'none'}", _excused(gaps)


def _gap(study: Study, key: tuple[str, str], one: str, other: str) -> tuple[float, float]:
    """Return how far the mean of one recommender is above that of another in Table 3, and the standard error."""
    row = study.means.loc[key]
    errors = [study.error[f"{name} {' '.join(key)}"] for name in (one, other)]
    return float(row[one] - row[other]), math.hypot(*errors)


@claim("Caption of Table 3", "BV with γ of 0.1 or less produces the right order in expectation")
def _low_gamma_order(study: Study) -> Finding:
    orders = {(label, name): order(study.means.loc[(label, name)]) for label in TOP_HEAVY for name in LOW_GAMMA}
    wrong = {key: names for key, names in orders.items() if names != "Z > Y > X"}
    cells = [f"{' '.join(key)}: {names}" for key, names in wrong.items()]
    gaps = [_gap(study, key, worse, better) for key in wrong for better, worse in ("ZY", "YX")]
    return f"wrong: {', '.join(cells) or 'none'}", _excused(gaps)


@claim("Section 6.3", "m = 1000 is about a 1/3 sampling rate", tolerance="0.25 to 0.4")
def _one_third(study: Study) -> Finding:
    rate = 1000 / study.ranks["X"].mean_candidates
    return f"{rate:.2f}", 0.25 < rate < 0.4


def _right_from(study: Study, estimator: str, better: Sequence[str]) -> int | None:
    """Return the sample size from which on the recommenders, given best first, are in the right order, if any."""
    curves = study.by_size.loc[estimator]
    right = np.all([curves[one] > curves[next_] for one, next_ in pairwise(better)], axis=0)
    wrong = np.flatnonzero(~right)
    first_right = wrong[-1] + 1 if len(wrong) else 0
    return int(curves.index[first_right]) if first_right < len(curves) else None


@claim("Section 6.3, Figure 6", "Uncorrected, it needs more than m = 1000 to order X and Y")
def _uncorrected_1000(study: Study) -> Finding:
    size = _right_from(study, "uncorrected", "YX")
    largest = study.by_size.loc["uncorrected"].index.max()
    return f"right from m = {size}" if size else f"wrong up to m = {largest}", size is None or size > 1000


@claim("Section 6.3, Figure 6", "With BV 0.1 the order is right with less than m = 60 samples")
def _bv_60(study: Study) -> Finding:
    size = _right_from(study, "bv-0.1", "ZYX")
    return f"right from m = {size}" if size else "never right", size is not None and size < 60


@claim("Section 6.3", "Under the rank estimate Recall@10 and NDCG@10 are identical", tolerance="1e-12")
def _same_metric(study: Study) -> Finding:
    difference = (study.means.loc[("recall@10", "rank-estimate")] - study.means.loc[("ndcg@10", "rank-estimate")]).abs()
    return f"differ by {difference.max():.0e}", bool(difference.max() < 1e-12)


@claim("Section 6.3, Table 4", "The rank estimate is never worse than no correction, in Table 4")
def _rank_estimate_wins(study: Study) -> Finding:
    worse = study.correct[study.correct["rank-estimate"] < study.correct["uncorrected"]]
    return f"worse in {len(worse)} of {len(study.correct)}", len(worse) == 0


@claim("Section 6.3, Table 4", "BV 0.1 gets all but one comparison right with more than 90 % chance")
def _bv_best(study: Study) -> Finding:
    low = study.correct[study.correct["bv-0.1"] <= 0.9]["bv-0.1"].sort_values()
    ours = ", ".join(f"{' '.join(map(str, key))} {100 * value:.0f}" for key, value in low.items())
    gaps = [(0.9 - value, study.error[f"{' '.join(map(str, key))} bv-0.1"]) for key, value in low.items()]
    return f"90 or less: {ours or 'none'}", _excused(gaps[1:])
