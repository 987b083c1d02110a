"""One factor model on MovieLens 100K through other tools: docs/same-model.md says how each defines its numbers.

The numbers are those that benchmarks/same_model.py prints; the definitions are stated here again, from the rank of each
held-out item. Only implicit is a dependency of this project; the others' tests run where they are installed.
"""

import importlib.util
import json
import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from sampled_metrics.data import formats, wheels
from sampled_metrics.data.events import binarize
from sampled_metrics.data.reading import read_events
from sampled_metrics.data.split import leave_last_out
from sampled_metrics.errors import DownloadError
from sampled_metrics.metrics.held_out import metric
from sampled_metrics.ranking.ranking import rank_held_out
from sampled_metrics.recommenders.ials import IALS
from sampled_metrics.recommenders.models import FactorModel

pytestmark = pytest.mark.filterwarnings("ignore")  # the tools' own

SCRIPT = Path(__file__).resolve().parents[2] / "benchmarks/same_model.py"
WHEEL = wheels.Wheel("recbole", "1.2.1", "recbole/dataset_example/ml-100k/ml-100k.inter")


@pytest.fixture(scope="module")
def same_model() -> ModuleType:
    spec = importlib.util.spec_from_file_location("same_model", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules["same_model"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def case(same_model: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Recommender X, trained on MovieLens 100K less the last event of each user."""
    path = tmp_path_factory.mktemp("ml-100k") / WHEEL.file_name
    try:
        wheels.fetch(WHEEL, path)
    except DownloadError as error:
        pytest.skip(f"pip cannot fetch the wheel that carries MovieLens 100K: {error}")
    events = binarize(read_events(path, formats.get("recbole-inter"), member=WHEEL.member), 0)
    rng = np.random.default_rng(0)
    split = leave_last_out(events, "first", rng)
    model = IALS(factors=16, regularization=10, unobserved_weight=0.2, iterations=3).fit(split.training, rng)
    # items without an event in training have no factors, and would tie: ties have tests of their own
    items = model.item_factors + rng.normal(scale=1e-3, size=model.item_factors.shape)
    return same_model.Case(split, FactorModel(model.user_factors, items))


@dataclass(frozen=True)
class Ours:
    """What this project says of each user: (users,) each."""

    rank: np.ndarray
    n: np.ndarray
    items: int
    recall: np.ndarray
    ndcg: np.ndarray
    ap: np.ndarray
    ap_10: np.ndarray
    auc: np.ndarray
    whole_ndcg: np.ndarray

    def auc_over(self, others: int) -> np.ndarray:
        """1 - (rank - 1) / others, from AUC, which is that of the n - 1 other candidates."""
        return 1 - (1 - self.auc) * (self.n - 1) / others


@pytest.fixture(scope="module")
def ours(case: Any) -> Ours:
    table = rank_held_out(case.model, case.split)
    assert not table.tied.any()
    labels = ("recall@10", "ndcg@10", "ap", "ap@10", "auc", "ndcg")
    return Ours(table.above + 1, table.candidates, case.items, *(table.values(metric(label)) for label in labels))


IDEAL_10 = sum(1 / math.log2(place + 1) for place in range(1, 11))  # 4.5436
DEFINITIONS: dict[str, dict[str, Callable[[Ours], np.ndarray]]] = {
    "implicit": {
        "precision, K=10": lambda us: us.recall,
        "ndcg, K=10": lambda us: us.ndcg,
        "map, K=10": lambda us: us.ap_10,
        # a miss is worth half of the items beyond the list, whatever its rank
        "auc, K=10": lambda us: np.where(us.rank <= 10, us.auc_over(us.items - 1), (1 - 10 / (us.items - 1)) / 2),
        "precision, K=all": lambda us: np.ones(len(us.rank)),
        "ndcg, K=all": lambda us: us.whole_ndcg,
        "map, K=all": lambda us: us.ap,
        "auc, K=all": lambda us: us.auc_over(us.items - 1),
    },
    "lenskit": {
        "Recall(10)": lambda us: us.recall,
        "NDCG(10)": lambda us: us.recall / np.maximum(1, np.log2(us.rank)),
        "NDCG(10, weight=LogRankWeight(offset=1))": lambda us: us.ndcg,
        "RecipRank(10)": lambda us: us.ap_10,
        "RecipRank()": lambda us: us.ap,
    },
    "rectools": {
        "Recall(10)": lambda us: us.recall,
        "NDCG(10)": lambda us: us.ndcg / IDEAL_10,
        "NDCG(10, divide_by_achievable=True)": lambda us: us.ndcg,
        "MAP(10)": lambda us: us.ap_10,
        "MAP(all)": lambda us: us.ap,
        "MRR(10)": lambda us: us.ap_10,
        "MRR(all)": lambda us: us.ap,
        "PartialAUC(10)": lambda us: np.maximum(0, us.auc_over(10)),
        "PartialAUC(all)": lambda us: us.auc_over(us.items),
    },
    "cornac": {
        "Recall(10)": lambda us: us.recall,
        "NDCG(10)": lambda us: us.ndcg,
        "NDCG() without a k": lambda us: us.whole_ndcg,
        "MRR() without a k": lambda us: us.ap,
        "MAP()": lambda us: us.ap,
        "AUC()": lambda us: us.auc,
    },
    "recbole": {
        "recall@10": lambda us: us.recall,
        "ndcg@10": lambda us: us.ndcg,
        "mrr@10": lambda us: us.ap_10,
        "map@10": lambda us: us.ap_10,
        "mrr@all": lambda us: us.ap,
        "mrr@10, topk [10, all]": lambda us: us.ap_10,
        "gauc": lambda us: us.auc,
    },
    "recometrics": {
        f"{name}{suffix}": definition
        for suffix in ("", ", break_ties_with_noise=False")
        for name, definition in {
            "R@10": lambda us: us.recall,
            "NDCG@10": lambda us: us.ndcg,
            "AP@10": lambda us: us.ap_10,
            "RR@10": lambda us: us.ap_10,
            "ROC_AUC": lambda us: us.auc,
            "PR_AUC": lambda us: us.ap,
        }.items()
    },
}
"""What each number of a tool is, by user, for one held-out item."""

SHORT_LISTS = {"cornac": {"NDCG() beside Recall(10)", "MRR() beside Recall(10)"}}
"""Numbers of lists that are in order up to place 10 alone, and not the metric that they are named after."""


@pytest.fixture(scope="module")
def said(same_model: ModuleType, case: Any) -> Callable[[str, str], dict[str, float]]:
    """What a tool says of the model ("model"), and of ties in either order of the items ("equal", "backwards")."""
    rows: dict[str, list[Any]] = {}

    def of(tool: str, column: str) -> dict[str, float]:
        pytest.importorskip(tool, reason=f"{tool} is not installed")
        if tool not in rows:
            rows[tool] = list(same_model.rows(tool, case))
        return {row.number: getattr(row, column) for row in rows[tool]}

    return of


@pytest.mark.slow
@pytest.mark.parametrize("tool", list(DEFINITIONS))
def test_each_number_is_ours_after_the_conversion(tool: str, said, ours: Ours) -> None:
    theirs = said(tool, "model")
    assert set(theirs) == set(DEFINITIONS[tool]) | SHORT_LISTS.get(tool, set())
    # RecTools and RecBole's GAUC compute in single precision
    expected = {name: definition(ours).mean() for name, definition in DEFINITIONS[tool].items()}
    assert {name: theirs[name] for name in expected} == pytest.approx(expected, abs=2e-6)


@pytest.mark.slow
def test_the_other_definitions_are_other_numbers(ours: Ours) -> None:
    """Or the test above would not tell them apart."""
    auc, ndcg = ours.auc.mean(), ours.ndcg.mean()
    for number in (DEFINITIONS["implicit"]["auc, K=all"], DEFINITIONS["rectools"]["PartialAUC(all)"]):
        assert number(ours).mean() > auc + 0.005
    assert DEFINITIONS["implicit"]["auc, K=10"](ours).mean() < 0.6
    assert DEFINITIONS["lenskit"]["NDCG(10)"](ours).mean() > ndcg + 0.005
    assert DEFINITIONS["rectools"]["NDCG(10)"](ours).mean() < ndcg / 4


def test_cornac_orders_no_more_than_the_largest_k(said, ours: Ours) -> None:
    theirs = said("cornac", "model")
    assert theirs["MRR() beside Recall(10)"] != pytest.approx(ours.ap.mean(), abs=1e-6)
    assert theirs["NDCG() beside Recall(10)"] != pytest.approx(ours.whole_ndcg.mean(), abs=1e-6)


# --- all scores equal -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Places:
    """Where the held-out item is among its user's candidates in the order of their numbers, (users,) each."""

    from_first: np.ndarray
    from_last: np.ndarray
    n: np.ndarray
    items: int


@pytest.fixture(scope="module")
def places(case: Any) -> Places:
    has = case.split.training.toarray() > 0
    upto = np.arange(case.items) <= case.split.held_out[:, np.newaxis]
    from_first, n = (~has & upto).sum(axis=1), (~has).sum(axis=1)
    return Places(from_first, n - from_first + 1, n, case.items)


def test_ours_is_the_mean_over_the_ties(same_model: ModuleType, case: Any, places: Places) -> None:
    found = dict(same_model.ours(case.all_equal()))
    assert found["recall@10"] == pytest.approx((10 / places.n).mean())
    assert found["ap"] == pytest.approx(np.mean([(1 / np.arange(1, n + 1)).mean() for n in places.n]))
    assert found["auc"] == 0.5


@pytest.mark.slow
def test_implicit_lists_ties_by_number(said, places: Places) -> None:
    """The first ten candidates are its ten, whole lists run from the last to the first."""
    theirs = said("implicit", "equal")
    assert theirs["precision, K=10"] == pytest.approx((places.from_first <= 10).mean())
    assert theirs["map, K=all"] == pytest.approx((1 / places.from_last).mean())
    assert theirs["auc, K=all"] == pytest.approx((1 - (places.from_last - 1) / (places.items - 1)).mean())


def test_rectools_lists_ties_by_number(said, places: Places) -> None:
    theirs = said("rectools", "equal")
    assert theirs["Recall(10)"] == pytest.approx((places.from_last <= 10).mean())
    assert theirs["MRR(all)"] == pytest.approx((1 / places.from_last).mean())
    assert theirs["PartialAUC(all)"] == pytest.approx((1 - (places.from_last - 1) / places.items).mean())


def test_cornac_counts_a_tie_as_a_loss_where_it_looks_at_scores(said, places: Places) -> None:
    theirs = said("cornac", "equal")
    assert theirs["AUC()"] == 0
    assert theirs["MAP()"] == pytest.approx((1 / places.n).mean())


def test_recbole_counts_a_tie_as_half_where_it_looks_at_scores(said) -> None:
    assert said("recbole", "equal")["gauc"] == pytest.approx(0.5, abs=1e-6)


def test_recometrics_refuses_ties_of_all(said) -> None:
    assert np.isnan(list(said("recometrics", "equal").values())).all()


@pytest.mark.parametrize(
    ("tool", "number"),
    [
        ("implicit", "precision, K=10"),
        ("implicit", "auc, K=all"),
        ("lenskit", "Recall(10)"),
        ("rectools", "Recall(10)"),
        ("rectools", "PartialAUC(all)"),
        ("cornac", "Recall(10)"),
        ("recbole", "recall@10"),
    ],
)
def test_ties_are_decided_by_the_numbers_of_the_items(tool: str, number: str, said) -> None:
    assert said(tool, "equal")[number] != pytest.approx(said(tool, "backwards")[number], abs=1e-4)


# --- the script -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["json", "markdown"])
def test_the_script_prints_a_line_a_number(
    same_model: ModuleType, case: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys, ours: Ours, form: str
) -> None:
    case.split.write(tmp_path / "split.npz")
    case.model.write(tmp_path / "X.npz")
    paths = ["--split", str(tmp_path / "split.npz"), "--model", str(tmp_path / "X.npz")]
    monkeypatch.setattr("sys.argv", ["same_model.py", *paths, "--tool", "sampled-metrics", "--format", form])
    same_model.main()
    lines = capsys.readouterr().out.splitlines()
    if form == "json":
        found = {row["number"]: row["model"] for row in map(json.loads, lines)}
        assert found["auc"] == pytest.approx(ours.auc.mean())
        assert set(found) == {"recall@10", "ndcg@10", "ap@10", "ndcg", "ap", "auc"}
    else:
        assert len(lines) == 2 + 6
        assert f"| auc | {ours.auc.mean():.4f} | 0.5000 | 0.5000 |" in lines[-1]
