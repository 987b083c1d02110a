"""Claims of the paper about the running example (sections 3 to 5)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from sampled_metrics.metrics.metric import metric
from sampled_metrics.sampling.distributions import SamplingDesign
from sampled_metrics.sampling.draws import expected_metric
from sampled_metrics.study.paper.claims import LOW_GAMMA, Claims, Finding, by_name, order

claim = Claims()


@dataclass(frozen=True)
class Toy:
    """The tables of the running example and of its figures, and n."""

    exact: pd.DataFrame  # Table 1, recommenders × metrics
    sampled: pd.DataFrame  # expectations of Table 2, recommenders × metrics
    by_size: pd.DataFrame  # Figure 2, (metric, negatives) × recommenders
    by_rank: pd.DataFrame  # Figure 3, (metric, negatives) × ranks
    corrected: pd.DataFrame  # Figure 4, (panel, estimator) × ranks
    candidates: int


def check(
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
    return claim.check(toy, "default")


@claim("Section 3.1", "Rank 1 is worth 2 times rank 2 for AP, and 1.58 times for NDCG", tolerance="two decimals")
def _top_heaviness(toy: Toy) -> Finding:
    ap, ndcg = (float(metric(label).of_rank(1, 2) / metric(label).of_rank(2, 2)) for label in ("ap", "ndcg"))
    return f"AP {ap:.2f}, NDCG {ndcg:.2f}", round(ap, 2) == 2 and round(ndcg, 2) == 1.58


@claim("Section 3.2, Table 1", "On AUC recommender A is best; on AP, NDCG and Recall C is")
def _exact_winners(toy: Toy) -> Finding:
    best = toy.exact.idxmax()
    wanted = {"auc": "A", "ap": "C", "ndcg": "C", "recall@10": "C"}
    ours = ", ".join(f"{label}: {name}" for label, name in best.items())
    return ours, all(best[label] == name for label, name in wanted.items())


@claim("Section 4.2", "On the exact metrics C has 10 times the AP of A and B", tolerance="9 to 11 times")
def _tenfold(toy: Toy) -> Finding:
    ap = toy.exact["ap"]
    ratios = ap["C"] / ap[["A", "B"]]
    return f"{ratios['A']:.1f} and {ratios['B']:.1f} times", bool(ratios.between(9, 11).all())


@claim("Section 4.2, Table 2", "C has the lowest AP when sampled measurements are used")
def _sampled_lowest(toy: Toy) -> Finding:
    return by_name(toy.sampled["ap"]), toy.sampled["ap"].idxmin() == "C"


@claim(
    "Section 4.2, Table 2",
    "A and B have the same exact AP, but A has twice that of B when sampled",
    tolerance="three decimals, 1.7 to 2.3 times",
)
def _twice(toy: Toy) -> Finding:
    exact, sampled = toy.exact["ap"], toy.sampled["ap"]
    ratio = sampled["A"] / sampled["B"]
    ours = f"exact {exact['A']:.3f} and {exact['B']:.3f}; sampled {ratio:.2f} times"
    return ours, round(exact["A"], 3) == round(exact["B"], 3) and 1.7 < ratio < 2.3


@claim("Section 4.2, Table 2", "Only AUC orders A, B, C on the samples as it does exactly")
def _only_auc(toy: Toy) -> Finding:
    same = [str(label) for label in toy.exact if order(toy.exact[label]) == order(toy.sampled[label])]
    return f"same order: {', '.join(same)}", same == ["auc"]


def _ordered(toy: Toy, sizes: str, wanted: str) -> Finding:
    """Return the orders of the recommenders by AP at sizes such as `m < 50`, and whether they are as claimed."""
    curves = toy.by_size.loc["ap"].rename_axis(index="m").query(sizes)
    orders = "; ".join(dict.fromkeys(order(row) for _, row in curves.iterrows()))
    return f"{sizes.replace('==', '=')}: {orders}", orders == wanted


@claim("Section 4.2, Figure 2", "On AP, A is better than C better than B for sample sizes below 50")
def _below_50(toy: Toy) -> Finding:
    return _ordered(toy, "m < 50", "A > C > B")


@claim("Section 4.2, Figure 2", "On AP, A is better than B better than C at a sample size of about 200")
def _at_200(toy: Toy) -> Finding:
    return _ordered(toy, "m == 200", "A > B > C")


@claim("Section 4.2, Figure 2", "On AP, C is better than A better than B at a sample size of about 500")
def _at_500(toy: Toy) -> Finding:
    return _ordered(toy, "m == 500", "C > A > B")


@claim(
    "Section 4.2, Figure 2",
    "On AP, C is better than A, which equals B, for large sample sizes",
    tolerance="A and B within 0.001",
)
def _large(toy: Toy) -> Finding:
    values = toy.by_size.loc["ap"].iloc[-1]
    ours = f"m = {toy.by_size.loc['ap'].index[-1]}: {by_name(values)}"
    return ours, values.idxmax() == "C" and abs(values["A"] - values["B"]) < 0.001


@claim(
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


@claim("Section 4.2, Figure 2", "AUC is consistent for all m, and independent of m", tolerance="1e-9")
def _auc_constant(toy: Toy) -> Finding:
    curves = toy.by_size.loc["auc"]
    spread = float((curves.max() - curves.min()).max())
    return f"varies by {spread:.0e} over m", spread < 1e-9


@claim("Section 4.3, Figure 3", "Only AUC remains unchanged by sampling", tolerance="1e-9")
def _auc_unchanged(toy: Toy) -> Finding:
    biases = {}
    for label, curves in toy.by_rank.groupby(level="metric"):
        table = curves.droplevel("metric")
        biases[str(label)] = float((table - table.loc[toy.candidates - 1]).abs().max().max())
    ours = ", ".join(f"{label} by {bias:.2g}" for label, bias in biases.items())
    return f"changed at most: {ours}", [label for label, bias in biases.items() if bias < 1e-9] == ["auc"]


@claim("Section 4.4.4, Figure 3", "At m = 1 every metric is a linear function of the rank", tolerance="1e-9")
def _linear_at_1(toy: Toy) -> Finding:
    bends = []
    for label in ("auc", "ap", "ndcg", "recall@10"):
        curve = toy.by_rank.loc[(label, 1)]
        line = np.polynomial.Polynomial.fit(curve.index, curve, 1)
        bends.append(float(np.abs(curve - line(curve.index.to_numpy())).max()))
    return f"off a straight line by at most {max(bends):.0e}", max(bends) < 1e-9


@claim(
    "Caption of Figure 3", "Even large sampling sizes (m = 1000 of n = 10000) show large bias", tolerance="above 0.1"
)
def _bias_at_1000(toy: Toy) -> Finding:
    sampled, exact = (toy.by_rank.xs(m, level="negatives") for m in (1000, toy.candidates - 1))
    biases = (sampled - exact).abs().max(axis=1)[["ap", "ndcg", "recall@10"]]
    return f"largest bias: {by_name(biases, 2)}", biases.min() > 0.1


@claim("Section 5.4, Figure 4", "Without the order constraint, lower γ give oscillating solutions")
def _oscillation(toy: Toy) -> Finding:
    turns = {}
    for label in ("bv-1", *LOW_GAMMA):
        steps = np.diff(toy.corrected.loc[("sampled", label)].dropna())
        turns[label] = int((np.diff(np.sign(steps[np.abs(steps) > 1e-6])) != 0).sum())
    ours = "turning points: " + ", ".join(f"{label} {count}" for label, count in turns.items())
    return ours, turns["bv-1"] == 0 and turns["bv-0.001"] > turns["bv-0.1"]


@claim("Section 5.4, Figure 4", "All corrected metrics are closer, in expectation, to the true metric")
def _closer(toy: Toy) -> Finding:
    expected = toy.corrected.loc["expected"].dropna(axis=1)
    error = (expected.drop("exact") - expected.loc["exact"]).abs().mean(axis=1)
    return "mean error: " + by_name(error), bool((error.drop("uncorrected") < error["uncorrected"]).all())
