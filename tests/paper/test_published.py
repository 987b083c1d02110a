"""The published ranks are whole, of all users, and give the paper's exact metrics."""

import hashlib
from pathlib import Path

import pytest

from sampled_metrics.metrics.metric import metric
from sampled_metrics.ranks.exact import exact_ranks
from sampled_metrics.study import reference

FOLDER = Path(__file__).resolve().parents[2] / "published/ml-1m"
EXACT = reference.table_3().query("estimator == 'exact'").set_index(["recommender", "metric"])["mean"]


def test_checksums() -> None:
    lines = [line.split() for line in (FOLDER / "SHA256SUMS").read_text(encoding="utf-8").splitlines()]
    assert [name for _, name in lines] == ["X.csv.gz", "Y.csv.gz", "Z.csv.gz"]
    for digest, name in lines:
        assert hashlib.sha256((FOLDER / name).read_bytes()).hexdigest() == digest


def test_users_are_the_same_in_all() -> None:
    x, y, z = (exact_ranks(FOLDER / f"{name}.csv.gz") for name in "XYZ")
    assert len(x) == 6040
    assert x.user.tolist() == y.user.tolist() == z.user.tolist() == list(range(1, 6041))
    assert x.candidates.tolist() == y.candidates.tolist() == z.candidates.tolist()
    assert round(x.candidates.mean(), 1) == 3541.4


@pytest.mark.parametrize("label", ["recall@10", "ndcg@10", "ap", "auc"])
def test_y_has_the_papers_exact_metrics(label: str) -> None:
    value = exact_ranks(FOLDER / "Y.csv.gz").values(metric(label)).mean()
    assert round(100 * value, 2) == round(100 * EXACT["Y", label], 2)


def test_z_has_the_papers_exact_metrics_but_for_its_ties() -> None:
    table = exact_ranks(FOLDER / "Z.csv.gz")
    assert (table.tied > 0).sum() == 2622  # fidelity.md
    for label in ("recall@10", "ndcg@10", "ap"):
        assert round(100 * table.values(metric(label)).mean(), 2) == round(100 * EXACT["Z", label], 2)
    assert abs(table.values(metric("auc")).mean() - EXACT["Z", "auc"]) < 3 * table.tie_deviation(metric("auc"))
