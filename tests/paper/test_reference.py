"""The paper's numbers as data: how many there are, and that each stands in the paper's own tables."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import yaml

from sampled_metrics.ranks.exact import COLUMNS, exact_ranks
from sampled_metrics.study import reference
from sampled_metrics.study.config import assemble

ROOT = Path(__file__).parents[2]
PAPER = ROOT.parent / "shared/paper/on-sampled-metrics.md"
METRICS_OF_STUDY = {"recall@10": "Recall", "ndcg@10": "NDCG", "ap": "AP", "auc": "AUC"}
ESTIMATORS = ["uncorrected", "rank-estimate", "cls", "bv-1", "bv-0.1", "bv-0.01", "bv-0.001"]
TOY_METRICS = ["auc", "ap", "ndcg", "recall@10"]


class TestCounts:
    def test_table_3_has_12_exact_numbers_and_84_means_with_deviations(self):
        table = reference.table_3()
        exact = table["estimator"] == "exact"
        assert table[exact]["mean"].notna().sum() == exact.sum() == 12
        assert table[exact]["sd"].isna().all()
        assert table[~exact][["mean", "sd"]].notna().sum().tolist() == [84, 84]


def numbers(text):
    return re.findall(r"\d+\.\d+|\d+", text)


@pytest.mark.skipif(not PAPER.is_file(), reason="the text of the paper is not beside the repository")
class TestAgainstThePaper:
    """The rows of the paper's tables: tab-separated, the first cell of a block filled once."""

    @staticmethod
    def rows_before(caption):
        """The tab-separated rows that stand right above a caption."""
        lines = PAPER.read_text(encoding="utf-8").split(caption)[0].rstrip("\n").split("\n")
        rows = []
        for line in reversed(lines):
            if "\t" in line:
                rows.insert(
                    0, re.sub(r"</?b>|\$|\\pm", lambda match: "±" if "pm" in match[0] else "", line).split("\t")
                )
            elif rows:
                break
        return rows

    def test_tables_1_and_2(self):
        for caption, table in (("Table 1:", reference.table_1()), ("Table 2:", reference.table_2())):
            rows = {row[0]: row[1:] for row in self.rows_before(caption)[1:]}
            ranks = {name: [int(rank) for rank in cells[0].split(",")] for name, cells in rows.items()}
            assert ranks == reference.TOY_RANKS
            found = {
                (name, label): [float(number) for number in numbers(cell)]
                for name, cells in rows.items()
                for label, cell in zip(TOY_METRICS, cells[1:], strict=True)
            }
            columns = [column for column in ("value", "mean", "sd") if column in table]
            ours = table.set_index(["recommender", "metric"])[columns]
            assert found == {key: [*row] for key, row in zip(ours.index, ours.to_numpy().tolist(), strict=True)}

    def test_table_3(self):
        labels = {name: label for label, name in METRICS_OF_STUDY.items()}
        found, label = {}, None
        for row in self.rows_before("Table 3:"):
            cells = [cell.strip() for cell in row]
            if cells[1] in reference.RECOMMENDERS:
                label = labels.get(cells[0], label)
                for name, cell in zip(["exact", *ESTIMATORS], cells[2:], strict=True):
                    found[cells[1], label, name] = [float(number) / 100 for number in numbers(cell)]
        assert len(found) == 96
        for row in reference.table_3().itertuples():
            printed = found[row.recommender, row.metric, row.estimator]
            ours = [row.mean] if np.isnan(row.sd) else [row.mean, row.sd]
            assert ours == pytest.approx(printed, abs=1e-12)

    def test_table_4(self):
        labels = {name: label for label, name in METRICS_OF_STUDY.items()}
        found, pair = {}, None
        for row in self.rows_before("Table 4:"):
            cells = [cell.strip() for cell in row]
            if cells[1] in labels:
                pair = cells[0] or pair
                for name, cell in zip(ESTIMATORS, cells[2:], strict=True):
                    found[pair, labels[cells[1]], name] = float(cell) / 100
        assert len(found) == 84
        ours = {(row.pair, row.metric, row.estimator): row.correct for row in reference.table_4().itertuples()}
        assert ours == pytest.approx(found)


class TestCovers:
    @pytest.fixture
    def config(self):
        stated = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))
        return assemble({}, stated, stated, {})

    @pytest.mark.parametrize(
        "change",
        [
            *(lambda toy, _, change=change: toy.update(change)
              for change in ({"candidates": 9999}, {"negatives": 100}, {"metrics": ["auc", "ap"]})),
            lambda toy, _: toy["ranks"].update(A=[1]),
            lambda _, figures: figures["figure-2"].update(negatives=[10, 200]),
            lambda _, figures: figures["figure-3"].update(negatives=[1]),
            lambda _, figures: figures["figure-4"].update(metric="ndcg"),
            lambda _, figures: figures["figure-4"].update(estimators=["cls"]),
        ],
    )  # fmt: skip
    def test_not_another_running_example(self, config, change):
        change(config["toy"], config["figures"])
        assert not reference.covers_toy(config)

    @pytest.mark.parametrize(
        "change",
        [
            lambda config: config["recommenders"].pop("Z"),
            lambda config: config["metrics"].remove("auc"),
            lambda config: config["estimators"].remove("cls"),
            lambda config: config["figures"]["figure-6"].update(metric="ap"),
            lambda config: config["figures"]["figure-6"].update(estimators=["cls"]),
        ],
    )
    def test_not_a_study_that_lacks_something(self, config, change):
        change(config)
        assert reference.study_differences(config)


class TestPaperUsers:
    def test_are_those_of_the_published_ranks(self):
        table = exact_ranks(ROOT / "published/ml-1m/X.csv.gz")
        assert reference.has_paper_users(table)
        order = np.random.default_rng(1).permutation(len(table))
        assert reference.has_paper_users(replace(table, **{name: getattr(table, name)[order] for name in COLUMNS}))

    def test_are_not_any_6040_users(self):
        table = exact_ranks(ROOT / "published/ml-1m/X.csv.gz")
        one_more = table.candidates + (np.arange(len(table)) == 7)
        assert not reference.has_paper_users(replace(table, candidates=one_more))
        assert not reference.has_paper_users(replace(table, candidates=np.full(len(table), 3706)))


@pytest.mark.parametrize(
    ("facts", "what"), [(None, "ranks"), ({"md5": reference.ARCHIVE_MD5}, ""), ({"md5": "0" * 32}, "archive")]
)
def test_what_may_be_of_a_stand_in(facts, what):
    table = exact_ranks(ROOT / "published/ml-1m/X.csv.gz")
    assert reference.stand_in(facts, table) == what
    assert reference.stand_in(facts, replace(table, candidates=np.full(len(table), 3706))) == ""
