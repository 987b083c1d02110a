"""The claims that the paper makes in words, and their checks."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from sampled_metrics.metrics.metric import metric
from sampled_metrics.ranks.exact import ExactRanks
from sampled_metrics.rendering.tables import Section
from sampled_metrics.sampling.distributions import SamplingDesign
from sampled_metrics.sampling.draws import expected_metric
from sampled_metrics.study.fidelity import LIMIT
from sampled_metrics.study.reference import RECOMMENDERS
from sampled_metrics.study.repetitions import VARIANTS
from sampled_metrics.study.tables import pair_names

WITHIN_NOISE = "within noise"
"""Verdict of a claim that does not hold here, by no more than the paper's random samples and start may explain."""

Finding = tuple[str, bool | str | None]
"""The measurement in words, and whether the claim holds: yes, no, `WITHIN_NOISE`, or None if the paper is too vague."""

COLUMNS = ["reading", "place", "claim", "tolerance", "ours", "holds"]
LOW_GAMMA = ("bv-0.1", "bv-0.01", "bv-0.001")


class Claim(NamedTuple):
    """A claim of the paper.

    Attributes:
        place: its place in the paper.
        words: its wording.
        tolerance: what still counts as what the words say; empty if nothing else does.
        check: tables of a study → finding.
    """

    place: str
    words: str
    tolerance: str
    check: Callable[[Any], Finding]


class Claims(list[Claim]):
    """Claims in the order of the paper. An instance is a decorator of the functions that check a claim."""

    def __call__(
        self, place: str, words: str, tolerance: str = ""
    ) -> Callable[[Callable[[Any], Finding]], Callable[[Any], Finding]]:
        """Return a decorator that registers a function as the check of a claim."""

        def register(check: Callable[[Any], Finding]) -> Callable[[Any], Finding]:
            self.append(Claim(place, words, tolerance, check))
            return check

        return register

    def check(self, tables: Any, reading: str) -> pd.DataFrame:
        """Return every claim, checked on the tables of one reading, with `COLUMNS`.

        The column holds is yes, no, within noise or open.
        """
        rows = []
        for place, words, tolerance, check in self:
            ours, holds = check(tables)
            verdict = holds if isinstance(holds, str) else "open" if holds is None else "yes" if holds else "no"
            rows.append((reading, place, words, tolerance, ours, verdict))
        return pd.DataFrame(rows, columns=COLUMNS)


def order(values: "pd.Series[float]") -> str:
    """Return the names of recommenders from best to worst: `Z > Y > X`."""
    return " > ".join(str(name) for name in values.sort_values(ascending=False, kind="stable").index)


def by_name(values: "pd.Series[float]", digits: int = 3) -> str:
    """Return values with their names: `A 0.100, B 0.200`."""
    return ", ".join(f"{name} {value:.{digits}f}" for name, value in values.items())


def sections(table: pd.DataFrame) -> list[Section]:
    """Lay out checked claims, a section for each reading."""
    columns = {
        "place": "Where",
        "claim": "The paper says",
        "tolerance": "Tolerance",
        "ours": "We find",
        "holds": "Holds",
    }
    table = table.fillna({"tolerance": ""})
    return [
        (
            VARIANTS[str(name)].heading if table["reading"].nunique() > 1 else "",
            rows[list(columns)].rename(columns=columns),
        )
        for name, rows in table.groupby("reading", sort=False)
    ]


toy_claim, study_claim = Claims(), Claims()
"""The claims of sections 3 to 5 about the running example, and of section 6 about the study."""


@dataclass(frozen=True)
class Toy:
    """The tables of the running example and of its figures, and n."""

    exact: pd.DataFrame  # Table 1, recommenders × metrics
    sampled: pd.DataFrame  # expectations of Table 2, recommenders × metrics
    by_size: pd.DataFrame  # Figure 2, (metric, negatives) × recommenders
    by_rank: pd.DataFrame  # Figure 3, (metric, negatives) × ranks
    corrected: pd.DataFrame  # Figure 4, (panel, estimator) × ranks
    candidates: int


def check_toy(
    example: Mapping[str, Any],
    table_1: pd.DataFrame,
    figure_2: pd.DataFrame,
    figure_3: pd.DataFrame,
    figure_4: pd.DataFrame,
) -> pd.DataFrame:
    """Return the claims, checked on the config entry `toy` and the csv tables of these names, as in `Claims.check`."""
    candidates = example["candidates"]
    design = SamplingDesign(example["negatives"], example["replacement"])
    sampled = {
        label: {
            name: expected_metric(ranks, candidates, design, metric(label)).mean()
            for name, ranks in example["ranks"].items()
        }
        for label in example["metrics"]
    }
    toy = Toy(
        table_1.pivot(index="recommender", columns="metric", values="value"),
        pd.DataFrame(sampled),
        figure_2.pivot(index=["metric", "negatives"], columns="recommender", values="expected"),
        figure_3.pivot(index=["metric", "negatives"], columns="rank", values="expected"),
        figure_4.pivot(index=["panel", "estimator"], columns="rank", values="value"),
        candidates,
    )
    return toy_claim.check(toy, "default")


@toy_claim("Section 3.1", "Rank 1 is worth 2 times rank 2 for AP, and 1.58 times for NDCG", tolerance="two decimals")
def _top_heaviness(toy: Toy) -> Finding:
    ap, ndcg = (float(metric(label).of_rank(1, 2) / metric(label).of_rank(2, 2)) for label in ("ap", "ndcg"))
    return f"AP {ap:.2f}, NDCG {ndcg:.2f}", round(ap, 2) == 2 and round(ndcg, 2) == 1.58


@toy_claim("Section 3.2, Table 1", "On AUC recommender A is best; on AP, NDCG and Recall C is")
def _exact_winners(toy: Toy) -> Finding:
    best = toy.exact.idxmax()
    wanted = {"auc": "A", "ap": "C", "ndcg": "C", "recall@10": "C"}
    ours = ", ".join(f"{label}: {name}" for label, name in best.items())
    return ours, all(best[label] == name for label, name in wanted.items())


@toy_claim("Section 4.2", "On the exact metrics C has 10 times the AP of A and B", tolerance="9 to 11 times")
def _tenfold(toy: Toy) -> Finding:
    ap = toy.exact["ap"]
    ratios = ap["C"] / ap[["A", "B"]]
    return f"{ratios['A']:.1f} and {ratios['B']:.1f} times", bool(ratios.between(9, 11).all())


@toy_claim("Section 4.2, Table 2", "C has the lowest AP when sampled measurements are used")
def _sampled_lowest(toy: Toy) -> Finding:
    return by_name(toy.sampled["ap"]), toy.sampled["ap"].idxmin() == "C"


@toy_claim(
    "Section 4.2, Table 2",
    "A and B have the same exact AP, but A has twice that of B when sampled",
    tolerance="three decimals, 1.7 to 2.3 times",
)
def _twice(toy: Toy) -> Finding:
    exact, sampled = toy.exact["ap"], toy.sampled["ap"]
    ratio = sampled["A"] / sampled["B"]
    ours = f"exact {exact['A']:.3f} and {exact['B']:.3f}; sampled {ratio:.2f} times"
    return ours, round(exact["A"], 3) == round(exact["B"], 3) and 1.7 < ratio < 2.3


@toy_claim("Section 4.2, Table 2", "Only AUC orders A, B, C on the samples as it does exactly")
def _only_auc(toy: Toy) -> Finding:
    same = [str(label) for label in toy.exact if order(toy.exact[label]) == order(toy.sampled[label])]
    return f"same order: {', '.join(same)}", same == ["auc"]


def _toy_order(toy: Toy, sizes: str, wanted: str) -> Finding:
    """Return the orders of the recommenders by AP at sizes such as `m < 50`, and whether they are as claimed."""
    curves = toy.by_size.loc["ap"].rename_axis(index="m").query(sizes)
    orders = "; ".join(dict.fromkeys(order(row) for _, row in curves.iterrows()))
    return f"{sizes.replace('==', '=')}: {orders}", orders == wanted


@toy_claim("Section 4.2, Figure 2", "On AP, A is better than C better than B for sample sizes below 50")
def _below_50(toy: Toy) -> Finding:
    return _toy_order(toy, "m < 50", "A > C > B")


@toy_claim("Section 4.2, Figure 2", "On AP, A is better than B better than C at a sample size of about 200")
def _at_200(toy: Toy) -> Finding:
    return _toy_order(toy, "m == 200", "A > B > C")


@toy_claim("Section 4.2, Figure 2", "On AP, C is better than A better than B at a sample size of about 500")
def _at_500(toy: Toy) -> Finding:
    return _toy_order(toy, "m == 500", "C > A > B")


@toy_claim(
    "Section 4.2, Figure 2",
    "On AP, C is better than A, which equals B, for large sample sizes",
    tolerance="A and B within 0.001",
)
def _large(toy: Toy) -> Finding:
    values = toy.by_size.loc["ap"].iloc[-1]
    ours = f"m = {toy.by_size.loc['ap'].index[-1]}: {by_name(values)}"
    return ours, values.idxmax() == "C" and abs(values["A"] - values["B"]) < 0.001


@toy_claim(
    "Section 4.2, Figure 2", "It takes about m = 5000 for Recall to become consistent", tolerance="A and B within 0.01"
)
def _recall_5000(toy: Toy) -> Finding:
    curves = toy.by_size.loc["recall@10"]
    # by the exact metric, C is best and A and B are both 0; the metric is nearly consistent once they are within 0.01
    consistent = (curves.idxmax(axis=1) == "C") & ((curves["A"] - curves["B"]).abs() < 0.01)
    sizes, wrong = curves.index.to_numpy(), np.flatnonzero(~consistent)
    if len(wrong) == 0 or wrong[-1] + 1 == len(sizes):
        return f"{'not ' if len(wrong) else ''}consistent at every m", False
    last_wrong, right = int(sizes[wrong[-1]]), int(sizes[wrong[-1] + 1])
    ours = f"C best, A and B within 0.01 of each other from m = {right} on, and not at {last_wrong}"
    return ours, last_wrong < 5000 <= right


@toy_claim("Section 4.2, Figure 2", "AUC is consistent for all m, and independent of m", tolerance="1e-9")
def _auc_constant(toy: Toy) -> Finding:
    curves = toy.by_size.loc["auc"]
    spread = float((curves.max() - curves.min()).max())
    return f"varies by {spread:.0e} over m", spread < 1e-9


@toy_claim("Section 4.3, Figure 3", "Only AUC remains unchanged by sampling", tolerance="1e-9")
def _auc_unchanged(toy: Toy) -> Finding:
    biases = {}
    for label, curves in toy.by_rank.groupby(level="metric"):
        table = curves.droplevel("metric")
        biases[str(label)] = float((table - table.loc[toy.candidates - 1]).abs().max().max())
    ours = ", ".join(f"{label} by {bias:.2g}" for label, bias in biases.items())
    return f"changed at most: {ours}", [label for label, bias in biases.items() if bias < 1e-9] == ["auc"]


@toy_claim("Section 4.4.4, Figure 3", "At m = 1 every metric is a linear function of the rank", tolerance="1e-9")
def _linear_at_1(toy: Toy) -> Finding:
    bends = []
    for label in ("auc", "ap", "ndcg", "recall@10"):
        curve = toy.by_rank.loc[(label, 1)]
        line = np.polynomial.Polynomial.fit(curve.index, curve, 1)
        bends.append(float(np.abs(curve - line(curve.index.to_numpy())).max()))
    return f"off a straight line by at most {max(bends):.0e}", max(bends) < 1e-9


@toy_claim(
    "Caption of Figure 3", "Even large sampling sizes (m = 1000 of n = 10000) show large bias", tolerance="above 0.1"
)
def _bias_at_1000(toy: Toy) -> Finding:
    sampled, exact = (toy.by_rank.xs(m, level="negatives") for m in (1000, toy.candidates - 1))
    biases = (sampled - exact).abs().max(axis=1)[["ap", "ndcg", "recall@10"]]
    return f"largest bias: {by_name(biases, 2)}", biases.min() > 0.1


@toy_claim("Section 5.4, Figure 4", "Without the order constraint, lower γ give oscillating solutions")
def _oscillation(toy: Toy) -> Finding:
    turns = {}
    for label in ("bv-1", *LOW_GAMMA):
        steps = np.diff(toy.corrected.loc[("sampled", label)].dropna())
        turns[label] = int((np.diff(np.sign(steps[np.abs(steps) > 1e-6])) != 0).sum())
    ours = "turning points: " + ", ".join(f"{label} {count}" for label, count in turns.items())
    return ours, turns["bv-1"] == 0 and turns["bv-0.001"] > turns["bv-0.1"]


@toy_claim("Section 5.4, Figure 4", "All corrected metrics are closer, in expectation, to the true metric")
def _closer(toy: Toy) -> Finding:
    expected = toy.corrected.loc["expected"].dropna(axis=1)
    error = (expected.drop("exact") - expected.loc["exact"]).abs().mean(axis=1)
    return "mean error: " + by_name(error), bool((error.drop("uncorrected") < error["uncorrected"]).all())


TOP_HEAVY = ("recall@10", "ndcg@10", "ap")


@dataclass(frozen=True)
class Study:
    """The tables of the study, for one reading. Tables 3 and 4 are expectations, which depend on no sample."""

    ranks: Mapping[str, ExactRanks]  # by recommender
    means: pd.DataFrame  # of Table 3, (metric, estimator) × recommenders
    correct: pd.DataFrame  # Table 4, (pair, metric) × estimators
    by_size: pd.DataFrame  # Figure 6, (estimator, negatives) × recommenders
    error: Mapping[str, float]  # cell of Tables 3 and 4 → standard error of the printed number less ours


def check_study(
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
        checked.append(study_claim.check(study, str(reading)))
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


@study_claim("Section 6.1", "In total there are 6040 ranks, one for each test user")
def _users(study: Study) -> Finding:
    counts = {len(table) for table in study.ranks.values()}
    return f"{', '.join(map(str, counts))} users", counts == {6040}


# three standard deviations over random starts, each about 20 (docs/reproduction.md)
@study_claim("Section 6.1", "X puts 2310 items in the top 100", tolerance="60 items, as random starts differ")
def _x_top_100(study: Study) -> Finding:
    events = study.ranks["X"].expected_between(1, 100)
    return f"{events:.0f}", abs(events - 2310) < 60


@study_claim("Section 6.1", "X puts fewer than 300 items in the bottom half")
def _x_bottom_half(study: Study) -> Finding:
    events = _worse_half(study.ranks["X"])
    return f"{events:.0f}", events < 300


def _worse_half(table: ExactRanks) -> float:
    return table.expected_between(table.candidates // 2 + 1, table.candidates)


@study_claim("Section 6.1", "Z puts the items of over 1600 users in the worst bucket (edge not given)")
def _z_worst_bucket(study: Study) -> Finding:
    table = study.ranks["Z"]
    ranks = np.arange(1, int(table.candidates.max()) + 1)
    large = (int(rank) for rank in ranks[::-1] if table.expected_between(int(rank), int(ranks[-1])) > 1600)
    from_rank = next(large, None)
    if from_rank is None:
        return f"{len(table)} users in all", False
    return f"{_worse_half(table):.0f} in the worse half; over 1600 from rank {from_rank} on", None


@study_claim("Section 6.1", "Z is the best in the top 10")
def _z_top_10(study: Study) -> Finding:
    events = pd.Series({name: table.expected_between(1, 10) for name, table in study.ranks.items()})
    return by_name(events, 0), events.idxmax() == "Z"


@study_claim("Section 6.1", "Y is better than X in the top 10, but tends to put items at a worse rank overall")
def _y_between(study: Study) -> Finding:
    x, y = study.ranks["X"], study.ranks["Y"]
    top = x.expected_between(1, 10), y.expected_between(1, 10)
    mean = tuple(float((table.above + 1 + table.tied / 2).mean()) for table in (x, y))
    ours = f"top 10: Y {top[1]:.0f}, X {top[0]:.0f}; mean rank: Y {mean[1]:.0f}, X {mean[0]:.0f}"
    return ours, top[1] > top[0] and mean[1] > mean[0]


def _study_order(study: Study, estimator: str, metrics: Sequence[str], wanted: str) -> Finding:
    """Return the orders of the recommenders by an estimator, and whether all are as claimed."""
    orders = {label: order(study.means.loc[(label, estimator)]) for label in metrics}
    return "; ".join(f"{label}: {names}" for label, names in orders.items()), set(orders.values()) == {wanted}


@study_claim("Section 6.2", "On exact Recall, NDCG and AP, Z is better than Y, which is better than X")
def _exact_order(study: Study) -> Finding:
    return _study_order(study, "exact", TOP_HEAVY, "Z > Y > X")


@study_claim("Section 6.2", "On sampled Recall, X is better than Y, which is better than Z")
def _recall_reversed(study: Study) -> Finding:
    return _study_order(study, "uncorrected", ["recall@10"], "X > Y > Z")


@study_claim("Section 6.2", "On sampled NDCG and AP, X appears to be the best; Y and Z are ordered rightly")
def _x_seems_best(study: Study) -> Finding:
    return _study_order(study, "uncorrected", ["ndcg@10", "ap"], "X > Z > Y")


@study_claim("Section 6.2", "On AUC all sampled results order the recommenders as the exact ones do")
def _auc_consistent(study: Study) -> Finding:
    orders = [order(study.means.loc[("auc", name)]) for name in ["exact", "uncorrected", *_corrections(study)]]
    return "; ".join(dict.fromkeys(orders)), len(set(orders)) == 1


@study_claim("Section 6.3", "All corrections are closer to the exact results than sampling without one")
def _all_closer(study: Study) -> Finding:
    farther = []
    for label in TOP_HEAVY:
        error = (study.means.loc[label] - study.means.loc[(label, "exact")]).abs()
        is_farther = (error.loc[_corrections(study)] >= error.loc["uncorrected"]).any(axis=1)
        farther += [f"{label} {name}" for name in is_farther.index[is_farther]]
    return f"farther: {', '.join(farther) or 'none'}", not farther


@study_claim("Section 6.3", "All corrections place Z as the best on Recall, NDCG and AP")
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


@study_claim("Caption of Table 3", "BV with γ of 0.1 or less produces the right order in expectation")
def _low_gamma_order(study: Study) -> Finding:
    orders = {(label, name): order(study.means.loc[(label, name)]) for label in TOP_HEAVY for name in LOW_GAMMA}
    wrong = {key: names for key, names in orders.items() if names != "Z > Y > X"}
    cells = [f"{' '.join(key)}: {names}" for key, names in wrong.items()]
    gaps = [_gap(study, key, worse, better) for key in wrong for better, worse in ("ZY", "YX")]
    return f"wrong: {', '.join(cells) or 'none'}", _excused(gaps)


@study_claim("Section 6.3", "m = 1000 is about a 1/3 sampling rate", tolerance="0.25 to 0.4")
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


@study_claim("Section 6.3, Figure 6", "Uncorrected, it needs more than m = 1000 to order X and Y")
def _uncorrected_1000(study: Study) -> Finding:
    size = _right_from(study, "uncorrected", "YX")
    largest = study.by_size.loc["uncorrected"].index.max()
    return f"right from m = {size}" if size else f"wrong up to m = {largest}", size is None or size > 1000


@study_claim("Section 6.3, Figure 6", "With BV 0.1 the order is right with less than m = 60 samples")
def _bv_60(study: Study) -> Finding:
    size = _right_from(study, "bv-0.1", "ZYX")
    return f"right from m = {size}" if size else "never right", size is not None and size < 60


@study_claim("Section 6.3", "Under the rank estimate Recall@10 and NDCG@10 are identical", tolerance="1e-12")
def _same_metric(study: Study) -> Finding:
    difference = (study.means.loc[("recall@10", "rank-estimate")] - study.means.loc[("ndcg@10", "rank-estimate")]).abs()
    return f"differ by {difference.max():.0e}", bool(difference.max() < 1e-12)


@study_claim("Section 6.3, Table 4", "The rank estimate is never worse than no correction, in Table 4")
def _rank_estimate_wins(study: Study) -> Finding:
    worse = study.correct[study.correct["rank-estimate"] < study.correct["uncorrected"]]
    return f"worse in {len(worse)} of {len(study.correct)}", len(worse) == 0


@study_claim("Section 6.3, Table 4", "BV 0.1 gets all but one comparison right with more than 90 % chance")
def _bv_best(study: Study) -> Finding:
    low = study.correct[study.correct["bv-0.1"] <= 0.9]["bv-0.1"].sort_values()
    ours = ", ".join(f"{' '.join(map(str, key))} {100 * value:.0f}" for key, value in low.items())
    gaps = [(0.9 - value, study.error[f"{' '.join(map(str, key))} bv-0.1"]) for key, value in low.items()]
    return f"90 or less: {ours or 'none'}", _excused(gaps[1:])
