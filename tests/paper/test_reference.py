"""The paper's numbers as data stand in its own tables, and the published ranks give its exact metrics."""

import hashlib
import re
from dataclasses import replace

import numpy as np
import pytest
from made_up_project import ROOT, complete_config

from sampled_metrics.metrics.metric import metric
from sampled_metrics.ranks.exact import COLUMNS, exact_ranks
from sampled_metrics.study import reference

PAPER = ROOT.parent / "shared/paper/on-sampled-metrics.md"
LABELS = {"Recall": "recall@10", "NDCG": "ndcg@10", "AP": "ap", "AUC": "auc"}
ESTIMATORS = ["uncorrected", "rank-estimate", "cls", "bv-1", "bv-0.1", "bv-0.01", "bv-0.001"]
RANKS = {name: exact_ranks(ROOT / f"published/ml-1m/{name}.csv.gz") for name in "XYZ"}
EXACT = reference.table_3().query("estimator == 'exact'").set_index(["recommender", "metric"])["mean"]


def test_table_3_has_12_exact_numbers_and_84_means_with_deviations():
    table = reference.table_3()
    exact = table["estimator"] == "exact"
    assert table[exact][["mean", "sd"]].notna().sum().tolist() == [12, 0]
    assert table[~exact][["mean", "sd"]].notna().sum().tolist() == [84, 84]


def numbers(text):
    return [float(number) for number in re.findall(r"\d+\.\d+|\d+", text)]


def rows_before(caption):
    """The rows of a table of the paper: tab-separated, right above a caption."""
    lines = PAPER.read_text(encoding="utf-8").split(caption)[0].rstrip("\n").split("\n")
    rows = []
    for line in reversed(lines):
        if "\t" in line:
            text = re.sub(r"</?b>|\$", "", line).replace("\\pm", "±")
            rows.insert(0, [cell.strip() for cell in text.split("\t")])
        elif rows:
            break
    return rows


@pytest.mark.skipif(not PAPER.is_file(), reason="the text of the paper is not beside the repository")
class TestAgainstThePaper:
    def test_tables_1_and_2(self):
        for caption, table in (("Table 1:", reference.table_1()), ("Table 2:", reference.table_2())):
            rows = {row[0]: row[1:] for row in rows_before(caption)[1:]}
            assert {name: [*map(int, cells[0].split(","))] for name, cells in rows.items()} == reference.TOY_RANKS
            found = {
                (name, label): numbers(cell)
                for name, cells in rows.items()
                for label, cell in zip(["auc", "ap", "ndcg", "recall@10"], cells[1:], strict=True)
            }
            ours = table.set_index(["recommender", "metric"]).drop(columns="unit")
            assert found == dict(zip(ours.index, ours.to_numpy().tolist(), strict=True))

    def test_table_3(self):
        found, label = {}, None
        for first, name, *cells in rows_before("Table 3:"):
            if name in reference.RECOMMENDERS:
                label = LABELS.get(first, label)  # the first cell of a block is filled once
                for estimator, cell in zip(["exact", *ESTIMATORS], cells, strict=True):
                    found[name, label, estimator] = numbers(cell)
        assert len(found) == 96
        for row in reference.table_3().itertuples():
            ours = [100 * row.mean] if np.isnan(row.sd) else [100 * row.mean, 100 * row.sd]
            assert ours == pytest.approx(found[row.recommender, row.metric, row.estimator], abs=1e-10)

    def test_table_4(self):
        found, pair = {}, None
        for first, name, *cells in rows_before("Table 4:"):
            if name in LABELS:
                pair = first or pair
                for estimator, cell in zip(ESTIMATORS, cells, strict=True):
                    found[pair, LABELS[name], estimator] = float(cell) / 100
        assert len(found) == 84
        ours = {(row.pair, row.metric, row.estimator): row.correct for row in reference.table_4().itertuples()}
        assert ours == pytest.approx(found)


@pytest.mark.parametrize(
    ("section", "change"),
    [
        ("toy", {"candidates": 9999}),
        ("toy", {"negatives": 100}),
        ("toy", {"replacement": True}),
        ("toy", {"repetitions": 1}),
        ("toy", {"metrics": ["auc", "ap"]}),
        ("toy", {"ranks": {"A": [1]}}),
        ("figures", {"figure-2": {"negatives": [10, 200]}}),
        ("figures", {"figure-3": {"negatives": [1]}}),
        ("figures", {"figure-3": {"zoom": 99}}),
        ("figures", {"figure-4": {"metric": "ndcg"}}),
        ("figures", {"figure-4": {"negatives": 99}}),
        ("figures", {"figure-4": {"estimators": ["cls"]}}),
    ],
)
def test_another_running_example_is_not_compared(section, change):
    assert reference.covers_toy(complete_config({}))
    assert not reference.covers_toy(complete_config({section: change}))
    assert not reference.covers_toy(complete_config({"toy": None}))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"recommenders": {"X": {"type": "ease"}, "Y": {"type": "random"}}}, "recommenders lacks Z"),
        ({"metrics": ["recall@10", "ap"]}, "metrics lacks ndcg@10, auc"),
        ({"estimators": ["cls", "bv-1", "bv-0.1", "bv-0.01", "bv-0.001", "uncorrected"]}, "estimators lacks rank-esti"),
        ({"figures": {"figure-6": {"metric": "ap"}}}, "figures.figure-6.metric is ap, not recall@10"),
        ({"figures": {"figure-6": {"estimators": ["cls"]}}}, "figures.figure-6.estimators lacks uncorrected, bv-0.1"),
        ({"sampling": {"negatives": 50}}, "sampling.negatives is 50, not 100"),
        ({"sampling": {"replacement": True}}, "sampling.replacement is True, not False"),
        ({"sampling": {"repetitions": 1}}, "sampling.repetitions is 1"),
        ({"estimator_model": "design"}, "estimator_model is design, not binomial"),
    ],
)
def test_a_study_that_lacks_something_is_not_compared(change, says):
    assert reference.study_differences(complete_config({})) == []
    [difference] = reference.study_differences(complete_config(change))
    assert difference.startswith(says)


def test_published_files_have_their_checksums():
    folder = ROOT / "published/ml-1m"
    lines = [line.split() for line in (folder / "SHA256SUMS").read_text(encoding="utf-8").splitlines()]
    assert [name for _, name in lines] == [f"{name}.csv.gz" for name in RANKS]
    assert [digest for digest, _ in lines] == [
        hashlib.sha256((folder / name).read_bytes()).hexdigest() for _, name in lines
    ]


def test_published_ranks_are_of_the_papers_users():
    for table in RANKS.values():
        assert table.user.tolist() == list(range(1, 6041))
        assert table.candidates.tolist() == RANKS["X"].candidates.tolist()
        assert round(table.candidates.mean(), 1) == 3541.4
        assert reference.has_paper_users(table)
    order = np.random.default_rng(1).permutation(6040)
    shuffled = replace(table, **{name: getattr(table, name)[order] for name in COLUMNS})
    assert reference.has_paper_users(shuffled)
    assert not reference.has_paper_users(replace(table, candidates=table.candidates + (np.arange(6040) == 7)))


def test_published_ranks_have_the_papers_exact_metrics_but_for_ties():
    for label in LABELS.values():
        y, z = (100 * RANKS[name].values(metric(label)).mean() for name in "YZ")
        assert round(y, 2) == round(100 * EXACT["Y", label], 2)
        assert label == "auc" or round(z, 2) == round(100 * EXACT["Z", label], 2)
    assert (RANKS["Z"].tied > 0).sum() == 2622  # fidelity.md
    assert abs(z - 100 * EXACT["Z", "auc"]) < 300 * RANKS["Z"].tie_deviation(metric("auc"))


@pytest.mark.parametrize(
    ("facts", "what"), [(None, "ranks"), ({"md5": reference.ARCHIVE_MD5}, ""), ({"md5": "0" * 32}, "archive")]
)
def test_what_may_be_of_a_stand_in(facts, what):
    assert reference.stand_in(facts, RANKS["X"]) == what
    assert reference.stand_in(facts, replace(RANKS["X"], candidates=np.full(6040, 3706))) == ""
