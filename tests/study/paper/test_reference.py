"""The paper's numbers are those of its own tables, and of its exact metrics on published ranks."""

import hashlib
import re
from dataclasses import replace

import numpy as np
import pytest
from made_up_project import ROOT, complete_config

from sampled_metrics.core.metrics import metric
from sampled_metrics.core.ranks.exact import COLUMNS, exact_ranks
from sampled_metrics_study import reference

PAPER = ROOT.parent / "shared/paper/on-sampled-metrics.md"
LABELS = {"Recall": "recall@10", "NDCG": "ndcg@10", "AP": "ap", "AUC": "auc"}
ESTIMATORS = ["uncorrected", "rank-estimate", "cls", "bv-1", "bv-0.1", "bv-0.01", "bv-0.001"]
RANKS = {name: exact_ranks(ROOT / f"published/ml-1m/{name}.csv.gz") for name in "XYZ"}
EXACT = (
    reference.table_3().query("estimator == 'exact'").set_index(["recommender", "metric"])["mean"]
)


def rows_above(caption):
    """The rows of numbers of a table of the paper, right above a caption: three parts of each."""
    table = PAPER.read_text(encoding="utf-8").split(caption)[0].rstrip().split("\n\n")[-1]
    rows = [line.split("\t", 2) for line in re.sub(r"<[^>]*>|\$", "", table).splitlines()]
    return [row for row in rows if row[-1][:1].isdigit()]


def printed(caption):
    """The numbers of each row."""
    rows = rows_above(caption)
    return [[float(number) for number in re.findall(r"[\d.]+", row[-1])] for row in rows]


def transcribed(table, keys, columns, factor=1):
    """The numbers of each row of our copy of a table."""
    rows = []
    for _, group in table.groupby(keys, sort=False):
        numbers = factor * group[columns].to_numpy().ravel()
        rows.append(pytest.approx(numbers[~np.isnan(numbers)].tolist(), abs=1e-10))
    return rows


@pytest.mark.skipif(
    not PAPER.is_file(), reason="the text of the paper is not beside the repository"
)
def test_the_numbers_are_those_in_the_text_of_the_paper():
    ranks = {name: [*map(int, text.split(","))] for name, text, _ in rows_above("Table 1:")}
    assert ranks == reference.TOY_RANKS
    toy = [reference.table_1(), reference.table_2()]
    study = [reference.table_3(), reference.table_4()]
    assert printed("Table 1:") == transcribed(toy[0], "recommender", ["value"])
    assert printed("Table 2:") == transcribed(toy[1], "recommender", ["mean", "sd"])
    keys = ["metric", "recommender"]
    assert printed("Table 3:") == transcribed(study[0], keys, ["mean", "sd"], 100)
    assert printed("Table 4:") == transcribed(study[1], ["pair", "metric"], ["correct"], 100)
    # rows and columns are in the order of the paper
    for table in toy:
        assert table["recommender"].unique().tolist() == ["A", "B", "C"]
        assert table["metric"].unique().tolist() == ["auc", "ap", "ndcg", "recall@10"]
    for table, estimators in zip(study, (["exact", *ESTIMATORS], ESTIMATORS), strict=True):
        assert table["metric"].unique().tolist() == ["recall@10", "ndcg@10", "ap", "auc"]
        assert table["estimator"].unique().tolist() == estimators
    assert study[0]["recommender"].unique().tolist() == ["X", "Y", "Z"]
    assert study[1]["pair"].unique().tolist() == ["X vs Y", "X vs Z", "Y vs Z"]


@pytest.mark.parametrize(
    "change",
    [
        {"toy": {"candidates": 9999}},
        {"toy": {"replacement": True}},
        {"toy": {"repetitions": 1}},
        {"toy": {"metrics": ["auc", "ap"]}},
        {"toy": {"ranks": {"A": [1]}}},
        {"figures": {"figure-2": {"negatives": [10, 200]}}},
        {"figures": {"figure-3": {"zoom": 99}}},
        {"figures": {"figure-4": {"estimators": ["cls"]}}},
        {"toy": None},
    ],
)
def test_another_running_example_is_not_compared(change):
    assert reference.covers_toy(complete_config({}))
    assert not reference.covers_toy(complete_config(change))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"metrics": ["recall@10", "ap"]}, "metrics lacks ndcg@10, auc"),
        (
            {"figures": {"figure-6": {"metric": "ap"}}},
            "figures.figure-6.metric is ap, not recall@10",
        ),
        ({"sampling": {"replacement": True}}, "sampling.replacement is True, not False"),
        ({"estimator_model": "design"}, "estimator_model is design, not binomial"),
        ({"recommenders": {"X": {"type": "random"}}}, "recommenders lacks Y, Z"),
        (
            {"estimators": ["cls", "bv-1", "bv-0.1", "bv-0.01", "bv-0.001", "uncorrected"]},
            "estimators lacks rank-esti",
        ),
        (
            {"figures": {"figure-6": {"estimators": ["cls"]}}},
            "figures.figure-6.estimators lacks uncorrected, bv-0.1",
        ),
        ({"sampling": {"repetitions": 1}}, "sampling.repetitions is 1"),
    ],
)
def test_a_study_that_lacks_something_is_not_compared(change, says):
    assert reference.study_differences(complete_config({})) == []
    [difference] = reference.study_differences(complete_config(change))
    assert difference.startswith(says)


def test_published_ranks_are_of_the_papers_users_and_have_their_checksums():
    folder = ROOT / "published/ml-1m"
    digests = {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.glob("*.csv.gz"))
    }
    stated = (folder / "SHA256SUMS").read_text(encoding="utf-8")
    assert stated == "".join(f"{digest}  {name}\n" for name, digest in digests.items())
    for table in RANKS.values():
        assert table.user.tolist() == list(range(1, 6041))
        assert table.candidates.tolist() == RANKS["X"].candidates.tolist()
        assert round(table.candidates.mean(), 1) == 3541.4
        assert reference.has_paper_users(table)
    order = np.random.default_rng(1).permutation(6040)
    shuffled = replace(table, **{name: getattr(table, name)[order] for name in COLUMNS})
    assert reference.has_paper_users(shuffled)
    changed = table.candidates + (np.arange(6040) == 7)
    assert not reference.has_paper_users(replace(table, candidates=changed))


def test_published_ranks_have_the_papers_exact_metrics_but_for_ties():
    for label in LABELS.values():
        y, z = (100 * RANKS[name].values(metric(label)).mean() for name in "YZ")
        assert round(y, 2) == round(100 * EXACT["Y", label], 2)
        assert label == "auc" or round(z, 2) == round(100 * EXACT["Z", label], 2)
    assert (RANKS["Z"].tied > 0).sum() == 2622  # fidelity.md
    assert abs(z - 100 * EXACT["Z", "auc"]) < 300 * RANKS["Z"].tie_deviation(metric("auc"))


def test_what_may_be_of_a_stand_in():
    others = replace(RANKS["X"], candidates=np.full(6040, 3706))
    for facts, what in (
        (None, "ranks"),
        ({"md5": reference.ARCHIVE_MD5}, ""),
        ({"md5": "0" * 32}, "archive"),
    ):
        assert reference.stand_in(facts, RANKS["X"]) == what
        assert reference.stand_in(facts, others) == ""
