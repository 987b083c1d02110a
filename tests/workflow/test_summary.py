"""The summary of a run: its sentences by hand, and the page for any config."""

import re

import pandas as pd
import pytest
from made_up_project import complete_config
from small_tables import table_of

from sampled_metrics.study.repetitions import by_size
from sampled_metrics.workflow.summary import Studied, answer, dataset_facts, reproduced, summary

SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="720pt" height="72pt"></svg>'
CAPTIONS = {"table-3": "What Table 3 holds.", "table-4": "What Table 4 holds."}


def table_3(values, label="recall@10"):
    """Of {recommender: {estimator: (mean, sd)}}."""
    rows = [
        ("default", name, label, estimator, *each, *each)
        for name, by_estimator in values.items()
        for estimator, each in by_estimator.items()
    ]
    columns = ["reading", "recommender", "metric", "estimator", "mean", "sd", "mean_exact", "sd_exact"]
    return pd.DataFrame(rows, columns=columns)


def table_4(*rows):
    rows = [("default", *row, row[-1]) for row in rows]
    columns = ["reading", "worse", "better", "metric", "estimator", "correct", "correct_exact"]
    return pd.DataFrame(rows, columns=columns)


METRICS = table_3(
    {
        "X": {"exact": (0.08, 0), "uncorrected": (0.66, 0.01), "cls": (0.09, 0.0), "bv-1": (0.04, 0.0)},
        "Z": {"exact": (0.09, 0), "uncorrected": (0.54, 0.01), "cls": (0.09, 0.02), "bv-1": (0.05, 0.0)},
    }
)
ORDER = table_4(
    ("X", "Z", "recall@10", "uncorrected", 0.0),
    ("X", "Z", "auc", "uncorrected", 1.0),
    ("X", "Z", "recall@10", "cls", 0.5),
    ("X", "Z", "auc", "cls", 0.9),
    ("X", "Z", "recall@10", "bv-1", 0.9),
    ("X", "Z", "auc", "bv-1", 1.0),
)


class TestAnswer:
    def test_by_hand(self):
        exact, sampled, corrected = answer(METRICS, ORDER, "recall@10", 100)
        assert exact == "Exact Recall@10, from best to worst: Z 9.00 %, X 8.00 %."
        assert sampled == (
            "Among 100 negatives, without correction: X 66.00 %, Z 54.00 %. This is the opposite order. Over all "
            "metrics, 1 of 2 comparisons of two recommenders by a metric come out wrong in most repetitions."
        )
        # CLS: √((.01² + (.0² + .02²)) / 2) = .0158; without correction √((.58² + .01² + .45² + .01²) / 2) = .519
        assert corrected == (
            "Of the corrections in Table 3, CLS has the smallest root mean square error of Recall@10: 1.6 percentage "
            "points, against 51.9 without correction. BV 1 orders recommenders correctly most often: in 95 % of the "
            "comparisons over all metrics and repetitions, against 50 % without correction."
        )

    @pytest.mark.parametrize(
        ("sampled", "said"),
        [((0.1, 0.2, 0.3), "the same"), ((0.3, 0.2, 0.1), "the opposite"), ((0.2, 0.1, 0.3), "another")],
    )
    def test_compares_the_orders(self, sampled, said):
        values = {
            name: {"exact": (exact, 0), "uncorrected": (mean, 0)}
            for name, exact, mean in zip("XYZ", (0.01, 0.02, 0.03), sampled, strict=True)
        }
        assert f"This is {said} order." in answer(table_3(values), table_4(), "recall@10", 100)[1]

    def test_of_one_recommender_has_no_order(self):
        said = answer(METRICS[METRICS["recommender"] == "X"], table_4(), "recall@10", 100)
        assert said[:2] == [
            "Exact Recall@10, from best to worst: X 8.00 %.",
            "Among 100 negatives, without correction: X 66.00 %.",
        ]
        assert said[2].startswith("Of the corrections in Table 3, CLS has the smallest")
        assert "order" not in " ".join(said)

    def test_names_all_that_are_best(self):
        said = answer(METRICS, ORDER.assign(correct=1.0), "recall@10", 100)
        assert "CLS and BV 1 order recommenders correctly most often: in 100 % of" in said[2]

    def test_says_nothing_of_estimators_that_are_not_there(self):
        kept = METRICS["estimator"].isin(["exact", "bv-1"])
        said = answer(METRICS[kept], ORDER[ORDER["estimator"] == "bv-1"], "recall@10", 100)
        assert len(said) == 2
        assert "without correction" not in said[1]
        plain = METRICS["estimator"].isin(["exact", "uncorrected"])
        assert len(answer(METRICS[plain], ORDER[ORDER["estimator"] == "uncorrected"], "recall@10", 100)) == 2

    def test_one_repetition_has_no_deviation(self):
        said = answer(METRICS.assign(sd=float("nan")), ORDER, "recall@10", 100)
        assert "root mean square error of Recall@10: 0.7 percentage points" in said[2]  # √(.01² / 2)


def printed(*rows):
    return pd.DataFrame(rows, columns=["table", "reading", "ok"])


class TestReproduced:
    ROWS = printed(
        *[(1, "default", True)] * 2,
        *[(3, "default", True)] * 3,
        *[(3, "default", False)],
        *[(3, "as-printed", True)] * 4,
    )

    def test_counts_each_reading_with_the_tables_that_have_one(self):
        default, as_printed, _ = reproduced(self.ROWS)
        assert default.startswith("The reading default (ties broken at random, eq. 20 as written) is the correct one.")
        assert "5 of the 6 printed numbers" in default
        assert default.endswith(": 2 of 2 in Table 1, 3 of 4 in Table 3.")
        assert as_printed.startswith("The reading as printed")
        assert "6 of the 6 printed numbers" in as_printed
        assert as_printed.endswith(": 2 of 2 in Table 1, 4 of 4 in Table 3.")

    def test_the_running_example_alone_is_not_the_papers_study(self):
        claims = pd.DataFrame({"reading": ["default"], "holds": ["yes"]})
        said = reproduced(self.ROWS[self.ROWS["table"] == 1], claims)
        assert said[-2:] == [
            "Under the reading default, 1 of 1 claims that the paper makes in words hold.",
            "Tables 1 and 2 are the paper's running example. This run does not repeat the paper's study.",
        ]

    def test_counts_claims_once(self):
        claims = pd.DataFrame(
            {"reading": ["default"] * 4 + ["as-printed"] * 2, "holds": ["yes", "yes", "no", "open", "yes", "no"]}
        )
        assert reproduced(self.ROWS, claims)[-1] == (
            "Under the reading default, 2 of 4 claims that the paper makes in words hold, 1 do not, and the paper "
            "leaves 1 too vague to check."
        )


def page_of(*studied, **changes):
    """The page of a config, and its text."""
    config = complete_config({"study": [each.name for each in studied], **changes})
    page = summary(config, studied, CAPTIONS)
    return page, re.sub(r"\s+", " ", re.sub(r"<style>.*?</style>|<[^>]*>", " ", page, flags=re.DOTALL))


def study(name="one", trained=("X",), counted=None):
    facts = dataset_facts(table_of([(100, 1, 0), (201, 5, 2)]), counted)
    return Studied(name, facts, trained, METRICS, ORDER, [("A figure", SVG, "What it shows.")])


COUNTED = {"users": 2, "items": 300, "events": 40, "training_events": 38, "users_left_out_with_few_training_events": 1}


class TestPage:
    def test_has_every_part_and_fetches_nothing(self):
        datasets = {"one": {"format": "movielens-dat", "urls": ["https://example.org/a.zip"]}}
        page, text = page_of(study(counted=COUNTED), datasets=datasets)
        for heading in ("The question", "The answer", "What was studied", "Results on one", "What can be concluded"):
            assert f"<h2>{heading}" in page
        assert "How much of the paper" not in text
        for said in ("factors: 16", "keep_self: yes", "neighbours: none", "Held-out items 2", "Mean candidates 150.5"):
            assert said in text
        assert "Training events 38" in text
        assert "100, without replacement" in text
        assert "What Table 3 holds." in text
        assert "What it shows." in text
        assert "--natural: 10.00in" in page  # 720 points
        assert not re.findall(r'(?:src|href)="(?!data:)', page)
        assert "X: each is trained once" in text
        assert "Y, Z were made elsewhere" in text

    def test_bold_is_the_best_by_each_column(self):
        page, _ = page_of(
            study(counted=COUNTED), datasets={"one": {"format": "movielens-dat", "urls": ["https://a.b/c"]}}
        )
        assert "<strong>9.00</strong>" in page
        assert "<strong>66.00<wbr>±1.00</strong>" in page

    def test_of_ready_made_ranks_has_no_split(self):
        page, text = page_of(
            study(trained=()), datasets={"one": {"format": "movielens-dat", "urls": ["https://a.b/c"]}}
        )
        assert "Split" not in text
        assert "trained once" not in text
        assert "Training events" not in page

    def test_of_one_recommender_has_no_table_4(self):
        given = {"datasets": {"one": {"format": "movielens-dat", "urls": ["https://a.b/c"]}}}
        alone = study()._replace(table_3=METRICS[METRICS["recommender"] == "X"], table_4=ORDER[:0])
        page, _ = page_of(alone, recommenders={"Y": None, "Z": None}, **given)
        assert "Table 3." in page
        assert "Table 4." not in page

    def test_of_two_datasets_has_an_answer_for_each(self):
        urls = {"format": "movielens-dat", "urls": ["https://a.b/c"]}
        _, text = page_of(study(), study("two", (), None), datasets={"one": urls, "two": urls})
        for said in ("On one:", "On two:", "Results on one", "Results on two", "results on 2 datasets"):
            assert said in text


def test_each_size_of_samples_has_its_answer_and_tables():
    tables = dict.fromkeys((20, 50), (METRICS, ORDER))
    both = [by_size({m: part[place] for m, part in tables.items()}) for place in (0, 1)]
    given = {"datasets": {"one": {"format": "movielens-dat", "urls": ["https://a.b/c"]}}}
    _, text = page_of(study()._replace(table_3=both[0], table_4=both[1]), sampling={"negatives": [20, 50]}, **given)
    for said in ("here 20, 50", "Among 20 negatives", "Among 50 negatives", "m = 20. Reading", "m = 50. Reading"):
        assert said in text
