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


def test_tables_3_and_4_have_the_cells_of_the_paper():
    """12 exact numbers, and 84 means with deviations; 84 shares."""
    table = reference.table_3()
    is_exact = table["estimator"] == "exact"
    assert table[is_exact][["mean", "sd"]].notna().sum().to_dict() == {"mean": 12, "sd": 0}
    assert table[~is_exact][["mean", "sd"]].notna().sum().to_dict() == {"mean": 84, "sd": 84}
    assert len(reference.table_4()) == 84


def rows_before(caption):
    """The rows of a table of the paper: tab-separated, right above a caption."""
    lines = PAPER.read_text(encoding="utf-8").split(caption)[0].rstrip("\n").split("\n")
    last_row = max(position for position, line in enumerate(lines) if "\t" in line)
    line_before = max(position for position in range(last_row) if "\t" not in lines[position])
    rows = [
        re.sub(r"</?b>|\$", "", line).split("\t") for line in lines[line_before + 1 : last_row + 1]
    ]
    return [[cell.strip() for cell in row] for row in rows]


def numbers(text):
    return [float(number) for number in re.findall(r"\d+\.\d+|\d+", text)]


@pytest.mark.skipif(
    not PAPER.is_file(), reason="the text of the paper is not beside the repository"
)
def test_the_numbers_are_those_in_the_text_of_the_paper():
    for caption, table in (("Table 1:", reference.table_1()), ("Table 2:", reference.table_2())):
        rows = {row[0]: row[1:] for row in rows_before(caption)[1:]}
        ranks = {name: [*map(int, cells[0].split(","))] for name, cells in rows.items()}
        assert ranks == reference.TOY_RANKS
        printed = {}
        for name, (_, *cells) in rows.items():
            for label, cell in zip(["auc", "ap", "ndcg", "recall@10"], cells, strict=True):
                printed[name, label] = numbers(cell)
        ours = table.set_index(["recommender", "metric"]).drop(columns="unit")
        assert printed == dict(zip(ours.index, ours.to_numpy().tolist(), strict=True))
    printed = {}
    label = None
    pair = None
    for metric_name, name, *cells in rows_before("Table 3:"):
        if name in reference.RECOMMENDERS:
            label = LABELS.get(metric_name, label)  # a block names its metric once
            for key, cell in zip(["exact", *ESTIMATORS], cells, strict=True):
                printed[name, label, key] = numbers(cell)
    for pair_name, name, *cells in rows_before("Table 4:"):
        if name in LABELS:
            pair = pair_name or pair
            for key, cell in zip(ESTIMATORS, cells, strict=True):
                printed[pair, LABELS[name], key] = [float(cell)]
    ours = {}
    for row in reference.table_3().itertuples():
        moments = [row.mean] if np.isnan(row.sd) else [row.mean, row.sd]
        ours[row.recommender, row.metric, row.estimator] = [100 * moment for moment in moments]
    for row in reference.table_4().itertuples():
        ours[row.pair, row.metric, row.estimator] = [100 * row.correct]
    assert ours == {key: pytest.approx(cells, abs=1e-10) for key, cells in printed.items()}


@pytest.mark.parametrize(
    ("section", "changes"),
    [
        (
            "toy",
            [{"candidates": 9999}, {"negatives": 100}, {"replacement": True}, {"repetitions": 1}],
        ),
        ("toy", [{"metrics": ["auc", "ap"]}, {"ranks": {"A": [1]}}]),
        ("figures", [{"figure-2": {"negatives": [10, 200]}}, {"figure-3": {"negatives": [1]}}]),
        ("figures", [{"figure-3": {"zoom": 99}}, {"figure-4": {"metric": "ndcg"}}]),
        ("figures", [{"figure-4": {"negatives": 99}}, {"figure-4": {"estimators": ["cls"]}}]),
    ],
)
def test_another_running_example_is_not_compared(section, changes):
    assert reference.covers_toy(complete_config({}))
    assert not reference.covers_toy(complete_config({"toy": None}))
    for change in changes:
        assert not reference.covers_toy(complete_config({section: change})), change


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
        (
            {"recommenders": {"X": {"type": "ease"}, "Y": {"type": "random"}}},
            "recommenders lacks Z",
        ),
        (
            {"estimators": ["cls", "bv-1", "bv-0.1", "bv-0.01", "bv-0.001", "uncorrected"]},
            "estimators lacks rank-esti",
        ),
        (
            {"figures": {"figure-6": {"estimators": ["cls"]}}},
            "figures.figure-6.estimators lacks uncorrected, bv-0.1",
        ),
        ({"sampling": {"negatives": 50}}, "sampling.negatives is 50, not 100"),
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
