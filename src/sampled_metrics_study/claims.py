"""The claims that the paper makes in words, and their checks."""

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from sampled_metrics.core.metrics import metric
from sampled_metrics.core.ranks.exact import ExactRanks
from sampled_metrics.core.sampling.distributions import SamplingDesign
from sampled_metrics.core.sampling.draws import expected_metric
from sampled_metrics.reporting.tables import Section
from sampled_metrics_study.fidelity import LIMIT
from sampled_metrics_study.reference import RECOMMENDERS
from sampled_metrics_study.repetitions import VARIANTS
from sampled_metrics_study.tables import pair_names

WITHIN_NOISE = "within noise"
"""Verdict of a claim that fails by no more than noise may explain.

The noise is that of the paper's random samples and start.
"""

COLUMNS = ["reading", "place", "claim", "tolerance", "ours", "holds"]
TOP_HEAVY = ("recall@10", "ndcg@10", "ap")
LOW_GAMMA = ("bv-0.1", "bv-0.01", "bv-0.001")


class Claim(NamedTuple):
    """A claim of the paper, and what is measured here.

    Attributes:
        place: where the paper makes it.
        words: what the paper says.
        ours: the measurement in words.
        holds: whether the claim holds: yes, no, `WITHIN_NOISE`, or None if the paper is too vague.
        tolerance: what still counts as what the paper says; empty if nothing else does.
    """

    place: str
    words: str
    ours: str
    holds: bool | str | None
    tolerance: str = ""


def _checked(reading: str, *parts: Iterator[Claim]) -> pd.DataFrame:
    """Return the claims of a reading with `COLUMNS`.

    The column holds is yes, no, within noise or open.
    """
    verdicts = {True: "yes", False: "no", None: "open", WITHIN_NOISE: WITHIN_NOISE}
    rows = [
        (reading, claim.place, claim.words, claim.tolerance, claim.ours, verdicts[claim.holds])
        for claims in parts
        for claim in claims
    ]
    return pd.DataFrame(rows, columns=COLUMNS)


def sections(table: pd.DataFrame) -> list[Section]:
    """Lay out checked claims, a section for each reading."""
    titles = ["Where", "The paper says", "Tolerance", "We find", "Holds"]
    columns = dict(zip(COLUMNS[1:], titles, strict=True))
    has_readings = table["reading"].nunique() > 1
    return [
        (
            VARIANTS[str(name)].heading if has_readings else "",
            rows[list(columns)].rename(columns=columns),
        )
        for name, rows in table.fillna({"tolerance": ""}).groupby("reading", sort=False)
    ]


def order(values: "pd.Series[float]") -> str:
    """Return the names of recommenders from best to worst: `Z > Y > X`."""
    return " > ".join(
        str(name) for name in values.sort_values(ascending=False, kind="stable").index
    )


def by_name(values: "pd.Series[float]", digits: int = 3) -> str:
    """Return values with their names: `A 0.100, B 0.200`."""
    return ", ".join(f"{name} {value:.{digits}f}" for name, value in values.items())


def check_toy(
    example: Mapping[str, Any],
    table_1: pd.DataFrame,
    figure_2: pd.DataFrame,
    figure_3: pd.DataFrame,
    figure_4: pd.DataFrame,
) -> pd.DataFrame:
    """Return the claims of sections 3 to 5, checked on the running example.

    The example is the config entry `toy`, and the tables are the csv files of these names.
    """
    exact = table_1.pivot(index="recommender", columns="metric", values="value")
    by_recommender = figure_2.pivot(
        index=["metric", "negatives"], columns="recommender", values="expected"
    )
    by_rank = figure_3.pivot(index=["metric", "negatives"], columns="rank", values="expected")
    corrected = figure_4.pivot(index=["panel", "estimator"], columns="rank", values="value")
    return _checked(
        "default",
        _claims_on_tables_1_and_2(example, exact),
        _claims_on_figure_2(by_recommender),
        _claims_on_figure_3(by_rank, example["candidates"]),
        _claims_on_figure_4(corrected),
    )


def _claims_on_tables_1_and_2(example: Mapping[str, Any], exact: pd.DataFrame) -> Iterator[Claim]:
    """Yield the claims on Tables 1 and 2, from the exact metrics by recommender."""
    ratio_of_ranks = {
        label: float(metric(label).of_rank(1, 2) / metric(label).of_rank(2, 2))
        for label in ("ap", "ndcg")
    }
    yield Claim(
        "Section 3.1",
        "Rank 1 is worth 2 times rank 2 for AP, and 1.58 times for NDCG",
        f"AP {ratio_of_ranks['ap']:.2f}, NDCG {ratio_of_ranks['ndcg']:.2f}",
        round(ratio_of_ranks["ap"], 2) == 2 and round(ratio_of_ranks["ndcg"], 2) == 1.58,
        tolerance="two decimals",
    )

    best = exact.idxmax()
    wanted = {"auc": "A", "ap": "C", "ndcg": "C", "recall@10": "C"}
    yield Claim(
        "Section 3.2, Table 1",
        "On AUC recommender A is best; on AP, NDCG and Recall C is",
        ", ".join(f"{label}: {name}" for label, name in best.items()),
        all(best[label] == name for label, name in wanted.items()),
    )

    ratios = exact["ap"]["C"] / exact["ap"][["A", "B"]]
    yield Claim(
        "Section 4.2",
        "On the exact metrics C has 10 times the AP of A and B",
        f"{ratios['A']:.1f} and {ratios['B']:.1f} times",
        bool(ratios.between(9, 11).all()),
        tolerance="9 to 11 times",
    )

    place = "Section 4.2, Table 2"
    sampled = _sampled_metrics(example)
    sampled_ap = sampled["ap"]
    words = "C has the lowest AP when sampled measurements are used"
    yield Claim(place, words, by_name(sampled_ap), sampled_ap.idxmin() == "C")

    exact_ap = exact["ap"]
    is_same = round(exact_ap["A"], 3) == round(exact_ap["B"], 3)
    ratio = sampled_ap["A"] / sampled_ap["B"]
    yield Claim(
        place,
        "A and B have the same exact AP, but A has twice that of B when sampled",
        f"exact {exact_ap['A']:.3f} and {exact_ap['B']:.3f}; sampled {ratio:.2f} times",
        is_same and 1.7 < ratio < 2.3,
        tolerance="three decimals, 1.7 to 2.3 times",
    )

    unchanged = [str(label) for label in exact if order(exact[label]) == order(sampled[label])]
    words = "Only AUC orders A, B, C on the samples as it does exactly"
    yield Claim(place, words, f"same order: {', '.join(unchanged)}", unchanged == ["auc"])


def _sampled_metrics(example: Mapping[str, Any]) -> pd.DataFrame:
    """Return the expected metrics of the running example, a row for each recommender."""
    design = SamplingDesign(example["negatives"], example["replacement"])
    columns = {}
    for label in example["metrics"]:
        columns[label] = {
            name: expected_metric(ranks, example["candidates"], design, metric(label)).mean()
            for name, ranks in example["ranks"].items()
        }
    return pd.DataFrame(columns)


def _claims_on_figure_2(curves: pd.DataFrame) -> Iterator[Claim]:
    """Yield the claims on expected metrics of recommenders, by metric and m."""
    place = "Section 4.2, Figure 2"
    ap = curves.loc["ap"]
    for sizes, wanted, words in (
        (
            "m < 50",
            "A > C > B",
            "On AP, A is better than C better than B for sample sizes below 50",
        ),
        (
            "m == 200",
            "A > B > C",
            "On AP, A is better than B better than C at a sample size of about 200",
        ),
        (
            "m == 500",
            "C > A > B",
            "On AP, C is better than A better than B at a sample size of about 500",
        ),
    ):
        rows = ap.rename_axis(index="m").query(sizes).iterrows()
        orders = "; ".join(dict.fromkeys(order(row) for _, row in rows))
        yield Claim(place, words, f"{sizes.replace('==', '=')}: {orders}", orders == wanted)

    largest = ap.iloc[-1]
    yield Claim(
        place,
        "On AP, C is better than A, which equals B, for large sample sizes",
        f"m = {ap.index[-1]}: {by_name(largest)}",
        largest.idxmax() == "C" and abs(largest["A"] - largest["B"]) < 0.001,
        tolerance="A and B within 0.001",
    )

    # by the exact metric, C is best and A and B are both 0; the metric is nearly consistent once
    # they are within 0.01
    recall = curves.loc["recall@10"]
    is_consistent = (recall.idxmax(axis=1) == "C") & ((recall["A"] - recall["B"]).abs() < 0.01)
    sizes = recall.index.tolist()
    right = _size_from_which(is_consistent)
    if right in (None, sizes[0]):
        ours = f"{'not ' if right is None else ''}consistent at every m"
        holds = False
    else:
        last_wrong = sizes[sizes.index(right) - 1]
        ours = (
            f"C best, A and B within 0.01 of each other from m = {right} on, and not at "
            f"{last_wrong}"
        )
        holds = last_wrong < 5000 <= right
    words = "It takes about m = 5000 for Recall to become consistent"
    yield Claim(place, words, ours, holds, tolerance="A and B within 0.01")

    auc = curves.loc["auc"]
    spread = float((auc.max() - auc.min()).max())
    words = "AUC is consistent for all m, and independent of m"
    yield Claim(place, words, f"varies by {spread:.0e} over m", spread < 1e-9, tolerance="1e-9")


def _claims_on_figure_3(curves: pd.DataFrame, candidates: int) -> Iterator[Claim]:
    """Yield the claims on expected metrics of ranks, by metric and m; exact ones have m = n - 1."""
    biases = {}
    for label, by_size in curves.groupby(level="metric"):
        table = by_size.droplevel("metric")
        biases[str(label)] = float((table - table.loc[candidates - 1]).abs().max().max())
    changes = ", ".join(f"{label} by {bias:.2g}" for label, bias in biases.items())
    unchanged = [label for label, bias in biases.items() if bias < 1e-9]
    yield Claim(
        "Section 4.3, Figure 3",
        "Only AUC remains unchanged by sampling",
        f"changed at most: {changes}",
        unchanged == ["auc"],
        tolerance="1e-9",
    )

    bends = []
    for label in ("auc", "ap", "ndcg", "recall@10"):
        curve = curves.loc[(label, 1)]
        line = np.polynomial.Polynomial.fit(curve.index, curve, 1)
        bends.append(float(np.abs(curve - line(curve.index.to_numpy())).max()))
    yield Claim(
        "Section 4.4.4, Figure 3",
        "At m = 1 every metric is a linear function of the rank",
        f"off a straight line by at most {max(bends):.0e}",
        max(bends) < 1e-9,
        tolerance="1e-9",
    )

    sampled = curves.xs(1000, level="negatives")
    exact = curves.xs(candidates - 1, level="negatives")
    largest = (sampled - exact).abs().max(axis=1)[["ap", "ndcg", "recall@10"]]
    yield Claim(
        "Caption of Figure 3",
        "Even large sampling sizes (m = 1000 of n = 10000) show large bias",
        f"largest bias: {by_name(largest, 2)}",
        largest.min() > 0.1,
        tolerance="above 0.1",
    )


def _claims_on_figure_4(corrected: pd.DataFrame) -> Iterator[Claim]:
    """Yield the claims on corrected metrics of ranks, by panel and estimator."""
    place = "Section 5.4, Figure 4"
    turns = {}
    for label in ("bv-1", *LOW_GAMMA):
        steps = np.diff(corrected.loc[("sampled", label)].dropna())
        signs = np.sign(steps[np.abs(steps) > 1e-6])
        turns[label] = int((np.diff(signs) != 0).sum())
    yield Claim(
        place,
        "Without the order constraint, lower γ give oscillating solutions",
        "turning points: " + ", ".join(f"{label} {count}" for label, count in turns.items()),
        turns["bv-1"] == 0 and turns["bv-0.001"] > turns["bv-0.1"],
    )

    expected = corrected.loc["expected"].dropna(axis=1)
    error = (expected.drop("exact") - expected.loc["exact"]).abs().mean(axis=1)
    yield Claim(
        place,
        "All corrected metrics are closer, in expectation, to the true metric",
        "mean error: " + by_name(error),
        bool((error.drop("uncorrected") < error["uncorrected"]).all()),
    )


def check_study(
    ranks: Mapping[str, ExactRanks],
    table_3: pd.DataFrame,
    table_4: pd.DataFrame,
    figure_6: pd.DataFrame,
    printed: pd.DataFrame,
) -> pd.DataFrame:
    """Return the claims of section 6, checked on the csv tables under every reading.

    Tables 3 and 4 count as expectations, which depend on no sample. `printed` is the result of
    `fidelity.compare_study`, whose standard errors say what noise may explain.
    """
    table_3 = table_3[table_3["recommender"].isin(RECOMMENDERS)]
    figure_6 = figure_6[figure_6["recommender"].isin(RECOMMENDERS)]
    table_4 = table_4[table_4["worse"].isin(RECOMMENDERS) & table_4["better"].isin(RECOMMENDERS)]
    table_4 = table_4.assign(pair=pair_names(table_4))
    by_size = figure_6.pivot(
        index=["estimator", "negatives"], columns="recommender", values="expected"
    )
    checked = []
    for reading, rows in table_3.groupby("reading", sort=False):
        means = rows.pivot(
            index=["metric", "estimator"], columns="recommender", values="mean_exact"
        )
        correct = table_4[table_4["reading"] == reading]
        correct = correct.pivot(
            index=["pair", "metric"], columns="estimator", values="correct_exact"
        )
        error = printed[printed["reading"] == reading].set_index("cell")["standard_error"].to_dict()
        parts = [
            _claims_on_ranks({name: ranks[name] for name in RECOMMENDERS}),
            _claims_on_table_3(means, error),
            _claims_on_sizes(by_size, ranks["X"].mean_candidates),
            _claims_on_table_4(means, correct, error),
        ]
        checked.append(_checked(str(reading), *parts))
    return pd.concat(checked, ignore_index=True)


def _claims_on_ranks(ranks: Mapping[str, ExactRanks]) -> Iterator[Claim]:
    place = "Section 6.1"
    counts = {len(table) for table in ranks.values()}
    words = "In total there are 6040 ranks, one for each test user"
    yield Claim(place, words, f"{', '.join(map(str, counts))} users", counts == {6040})

    # three standard deviations over random starts, each about 20 (docs/reproduction.md)
    in_top_100 = ranks["X"].expected_between(1, 100)
    yield Claim(
        place,
        "X puts 2310 items in the top 100",
        f"{in_top_100:.0f}",
        abs(in_top_100 - 2310) < 60,
        tolerance="60 items, as random starts differ",
    )

    worse_half = {
        name: table.expected_between(table.candidates // 2 + 1, table.candidates)
        for name, table in ranks.items()
    }
    words = "X puts fewer than 300 items in the bottom half"
    yield Claim(place, words, f"{worse_half['X']:.0f}", worse_half["X"] < 300)

    table_of_z = ranks["Z"]
    last = int(table_of_z.candidates.max())
    # the edge of the largest worst bucket with over 1600 users
    edge = next(
        (rank for rank in range(last, 0, -1) if table_of_z.expected_between(rank, last) > 1600),
        None,
    )
    words = "Z puts the items of over 1600 users in the worst bucket (edge not given)"
    if edge is None:
        yield Claim(place, words, f"{len(table_of_z)} users in all", False)
    else:
        ours = f"{worse_half['Z']:.0f} in the worse half; over 1600 from rank {edge} on"
        yield Claim(place, words, ours, None)

    top = pd.Series({name: table.expected_between(1, 10) for name, table in ranks.items()})
    yield Claim(place, "Z is the best in the top 10", by_name(top, 0), top.idxmax() == "Z")

    mean = {name: float((table.above + 1 + table.tied / 2).mean()) for name, table in ranks.items()}
    yield Claim(
        place,
        "Y is better than X in the top 10, but tends to put items at a worse rank overall",
        f"top 10: Y {top['Y']:.0f}, X {top['X']:.0f}; mean rank: Y {mean['Y']:.0f}, X "
        f"{mean['X']:.0f}",
        top["Y"] > top["X"] and mean["Y"] > mean["X"],
    )


def _claims_on_table_3(means: pd.DataFrame, error: Mapping[str, float]) -> Iterator[Claim]:
    """Yield the claims on means of recommenders, by metric and estimator.

    The standard errors are by cell.
    """
    orders = means.apply(order, axis=1)
    for estimator, metrics, wanted, words in (
        (
            "exact",
            TOP_HEAVY,
            "Z > Y > X",
            "On exact Recall, NDCG and AP, Z is better than Y, which is better than X",
        ),
        (
            "uncorrected",
            ["recall@10"],
            "X > Y > Z",
            "On sampled Recall, X is better than Y, which is better than Z",
        ),
        (
            "uncorrected",
            ["ndcg@10", "ap"],
            "X > Z > Y",
            "On sampled NDCG and AP, X appears to be the best; Y and Z are ordered rightly",
        ),
    ):
        order_by_metric = {label: orders[label, estimator] for label in metrics}
        ours = "; ".join(f"{label}: {names}" for label, names in order_by_metric.items())
        yield Claim("Section 6.2", words, ours, set(order_by_metric.values()) == {wanted})

    estimators = means.index.get_level_values("estimator").unique()
    corrections = [str(name) for name in estimators if name not in ("exact", "uncorrected")]
    auc_orders = [orders["auc", name] for name in ["exact", "uncorrected", *corrections]]
    words = "On AUC all sampled results order the recommenders as the exact ones do"
    ours = "; ".join(dict.fromkeys(auc_orders))
    yield Claim("Section 6.2", words, ours, len(set(auc_orders)) == 1)

    farther = []
    for label in TOP_HEAVY:
        distance = (means.loc[label] - means.loc[(label, "exact")]).abs()
        is_farther = (distance.loc[corrections] >= distance.loc["uncorrected"]).any(axis=1)
        farther += [f"{label} {name}" for name in is_farther.index[is_farther]]
    words = "All corrections are closer to the exact results than sampling without one"
    yield Claim("Section 6.3", words, f"farther: {', '.join(farther) or 'none'}", not farther)

    def gap(key: tuple[str, str], ahead: str, behind: str) -> tuple[float, float]:
        """Return by how much the mean of a recommender is above another's, and its error."""
        errors = [error[f"{name} {' '.join(key)}"] for name in (ahead, behind)]
        return float(means.loc[key, ahead] - means.loc[key, behind]), math.hypot(*errors)

    best = means.loc[list(TOP_HEAVY)].idxmax(axis=1)
    keys_without_z = [key for key in best.index[best != "Z"] if key[1] in corrections]
    words = "All corrections place Z as the best on Recall, NDCG and AP"
    ours = ", ".join(map(" ".join, keys_without_z))
    gaps = [gap(key, str(best[key]), "Z") for key in keys_without_z]
    yield Claim("Section 6.3", words, f"not Z: {ours or 'none'}", _excused(gaps))

    keys = [(label, name) for label in TOP_HEAVY for name in LOW_GAMMA]
    wrong = [key for key in keys if orders[key] != "Z > Y > X"]
    words = "BV with γ of 0.1 or less produces the right order in expectation"
    ours = ", ".join(f"{' '.join(key)}: {orders[key]}" for key in wrong)
    gaps = [gap(key, worse, better) for key in wrong for better, worse in ("ZY", "YX")]
    yield Claim("Caption of Table 3", words, f"wrong: {ours or 'none'}", _excused(gaps))


def _excused(gaps: Sequence[tuple[float, float]]) -> bool | str:
    """Return the verdict on a claim from the (gap, standard error) of each failure.

    Without a failure, the claim holds.
    """
    if not gaps:
        return True
    return all(gap <= LIMIT * error for gap, error in gaps) and WITHIN_NOISE


def _claims_on_sizes(by_size: pd.DataFrame, candidates: float) -> Iterator[Claim]:
    """Yield the claims on sample sizes, from expectations of recommenders by estimator and m."""
    rate = 1000 / candidates
    words = "m = 1000 is about a 1/3 sampling rate"
    yield Claim("Section 6.3", words, f"{rate:.2f}", 0.25 < rate < 0.4, tolerance="0.25 to 0.4")

    place = "Section 6.3, Figure 6"
    size = _size_from_which(_are_ordered(by_size.loc["uncorrected"], "YX"))
    largest = by_size.loc["uncorrected"].index.max()
    ours = f"right from m = {size}" if size else f"wrong up to m = {largest}"
    words = "Uncorrected, it needs more than m = 1000 to order X and Y"
    yield Claim(place, words, ours, size is None or size > 1000)

    size = _size_from_which(_are_ordered(by_size.loc["bv-0.1"], "ZYX"))
    ours = f"right from m = {size}" if size else "never right"
    words = "With BV 0.1 the order is right with less than m = 60 samples"
    yield Claim(place, words, ours, size is not None and size < 60)


def _are_ordered(curves: pd.DataFrame, names: str) -> "pd.Series[bool]":
    """Return whether recommenders, named from best to worst, are in this order, by m."""
    return pd.concat([curves[a] > curves[b] for a, b in pairwise(names)], axis=1).all(axis=1)


def _size_from_which(holds: "pd.Series[bool]") -> int | None:
    """Return the m from which on something holds; None if it does not at the largest m."""
    sizes = holds.index[holds[::-1].cumprod()[::-1] == 1]
    return int(sizes[0]) if len(sizes) else None


def _claims_on_table_4(
    means: pd.DataFrame, correct: pd.DataFrame, error: Mapping[str, float]
) -> Iterator[Claim]:
    """Yield the claims on the rank estimate and on shares of right orders, by pair and metric."""
    recall = means.loc[("recall@10", "rank-estimate")]
    ndcg = means.loc[("ndcg@10", "rank-estimate")]
    difference = (recall - ndcg).abs().max()
    yield Claim(
        "Section 6.3",
        "Under the rank estimate Recall@10 and NDCG@10 are identical",
        f"differ by {difference:.0e}",
        bool(difference < 1e-12),
        tolerance="1e-12",
    )

    place = "Section 6.3, Table 4"
    worse = correct[correct["rank-estimate"] < correct["uncorrected"]]
    words = "The rank estimate is never worse than no correction, in Table 4"
    yield Claim(place, words, f"worse in {len(worse)} of {len(correct)}", len(worse) == 0)

    low = correct.loc[correct["bv-0.1"] <= 0.9, "bv-0.1"].sort_values()
    cells = {" ".join(map(str, key)): value for key, value in low.items()}
    words = "BV 0.1 gets all but one comparison right with more than 90 % chance"
    ours = ", ".join(f"{cell} {100 * value:.0f}" for cell, value in cells.items())
    gaps = [(0.9 - value, error[f"{cell} bv-0.1"]) for cell, value in cells.items()]
    # the lowest one is the exception that the claim allows
    yield Claim(place, words, f"90 or less: {ours or 'none'}", _excused(gaps[1:]))
