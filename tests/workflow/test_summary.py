"""The summary of a run: its sentences by hand, and the page for any config."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from made_up_project import complete_config
from small_tables import table_of

from sampled_metrics.rendering.page import Image
from sampled_metrics.sampling.distributions import SamplingDesign
from sampled_metrics.study import tables
from sampled_metrics.study.decided import Exact, exact_findings
from sampled_metrics.study.repetitions import Evaluation, by_size, exact_moments, repeat
from sampled_metrics.study.summary import Studied, answer, stage_costs, summary

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


DECIDED = [(label, "Z", "X") for label in ("recall@10", "auc")]
RIGHT = table_3(
    {"X": {"exact": (0.08, 0), "uncorrected": (0.5, 0.01)}, "Z": {"exact": (0.09, 0), "uncorrected": (0.6, 0.01)}}
)
RANKS = table_of([(100, 1, 0), (201, 5, 2)])
MADE = {"format": "movielens-dat", "urls": ["https://a.b/c"]}
COUNTED = {
    **{"users": 2, "items": 300, "events_in_file": 40, "training_events": 38},
    **{"events_left_out_by_core": 0, "users_left_out_with_few_training_events": 0},
    **{"held_out_items": 20, "held_out_items_without_training_events": 0},
}


def study(name="one", third=METRICS, fourth=ORDER, decided=DECIDED, trained=("X",), on_margin=(), **given):
    """A study with exact values ± .01."""
    exact = third[third["estimator"] == "exact"].rename(columns={"mean": "value"})
    exact = exact.drop_duplicates(["recommender", "metric"])
    exact = exact.assign(low=exact["value"] - 0.01, high=exact["value"] + 0.01)
    ranks = dict.fromkeys(exact["recommender"], RANKS)
    figure = {"title": "A figure", "caption": "What it shows.", "csv": f"{name}/figure-6.csv"}
    figures = [figure | {"image": Image.from_svg(SVG)}]
    return Studied(name, trained, ranks, Exact(exact, decided, on_margin), third, fourth, figures=figures, **given)


def config_of(*studied, **changes):
    datasets = {dataset.name: MADE for dataset in studied}
    given = {"study": list(datasets), "datasets": datasets, "metrics": ["recall@10", "auc"], **changes}
    return complete_config(given)


def page_of(*studied, printed=None, claims=None, **changes):
    """The page of a config, and its text."""
    made_from = {"Code": "version 1", "one: ratings.zip": "a" * 64}
    page = summary(config_of(*studied, **changes), studied, CAPTIONS, made_from, printed, claims)
    return page, re.sub(r"\s+", " ", re.sub(r"<style>.*?</style>|<[^>]*>", " ", page, flags=re.DOTALL))


def answer_of(third, fourth, decided):
    given = study(third=third, fourth=fourth, decided=decided)
    return answer(given, config_of(given), None)


class TestAnswer:
    def test_by_hand(self):
        given = answer_of(METRICS, ORDER, DECIDED)
        assert given["recommenders"] == ["Z", "X"]
        assert given["exact"] == [0.09, 0.08]
        assert given["sampled"] == [0.54, 0.66]
        assert given["pairs"] == given["wrong"] == [("Z", "X")]
        assert (given["wrong_of_all"], given["decided_of_all"], given["undecided_of_all"]) == (1, 2, 0)
        # CLS: √((.01² + (.0² + .02²)) / 2) = .0158; without correction √((.58² + .01² + .45² + .01²) / 2) = .519
        assert given["correction"]["nearest"] == ["CLS"]
        assert given["correction"]["error"] == pytest.approx(0.01581, abs=1e-5)
        assert given["correction"]["uncorrected_error"] == pytest.approx(0.51918, abs=1e-5)
        assert given["correction"]["right"] == pytest.approx(0.7)  # .5 and .9
        assert given["correction"]["uncorrected_right"] == pytest.approx(0.5)
        assert given["correction"]["best_for_order"] == ["BV 1"]
        assert given["correction"]["most_right"] == pytest.approx(0.95)  # .9 and 1

    def test_the_figure_has_the_intervals_of_both_sides(self):
        exact, sampled = answer_of(METRICS, ORDER, DECIDED)["sides"]
        assert exact.low.to_dict() == pytest.approx({"X": 0.07, "Z": 0.08})
        assert sampled.high.to_dict() == pytest.approx({"X": 0.68, "Z": 0.56})

    def test_undecided_pairs_are_counted_apart(self):
        """By AUC the pair is decided, and comes out right; by recall it is not, and its wrong order does not count."""
        given = answer_of(METRICS, ORDER, DECIDED[1:])
        assert given["pairs"] == given["wrong"] == []
        assert (given["wrong_of_all"], given["decided_of_all"], given["undecided_of_all"]) == (0, 1, 1)
        assert given["correction"]["right"] == pytest.approx(0.9)

    @pytest.mark.parametrize(
        ("sampled", "wrong"),
        [
            ((0.1, 0.2, 0.3), []),
            ((0.3, 0.2, 0.1), [("Z", "X"), ("Y", "X")]),
            ((0.2, 0.1, 0.3), [("Y", "X")]),
            ((0.1, 0.3, 0.2), []),  # Y and Z are undecided
        ],
    )
    def test_compares_the_orders_of_decided_pairs(self, sampled, wrong):
        values = {
            name: {"exact": (exact, 0), "uncorrected": (mean, 0)}
            for name, exact, mean in zip("XYZ", (0.01, 0.02, 0.03), sampled, strict=True)
        }
        decided = [("recall@10", "Z", "X"), ("recall@10", "Y", "X")]
        given = answer_of(table_3(values), table_4(), decided)
        assert sorted(given["wrong"]) == sorted(wrong)
        assert len(given["pairs"]) == 2

    def test_of_one_recommender_has_no_order(self):
        given = answer_of(METRICS[METRICS["recommender"] == "X"], table_4(), [])
        assert (given["pairs"], given["wrong"], given["decided_of_all"]) == ([], [], 0)
        assert given["correction"]["nearest"] == ["CLS"]
        assert given["correction"]["right"] is None


class TestStageCosts:
    def test_are_those_of_the_smallest_depth_with_a_narrow_interval(self):
        rows = [
            ("X", "all candidates", np.nan, 3000.0, 0.010),
            ("X", "stages", 30.0, 70.0, 0.020),
            ("X", "stages", 100.0, 120.0, 0.012),
            ("X", "stages", 300.0, 200.0, 0.010),
            ("Y", "all candidates", np.nan, 3000.0, 0.010),
            ("Y", "stages", 30.0, 70.0, np.nan),
        ]
        budget = pd.DataFrame(rows, columns=["recommender", "way", "depth", "scores", "width"])
        [cost] = stage_costs(study(budget=budget))
        assert (cost["recommender"], cost["scores"], cost["all_scores"]) == ("X", 120.0, 3000.0)
        assert cost["ratio"] == pytest.approx(1.2)


class TestComparisonWithPaper:
    @staticmethod
    def printed(*rows):
        columns = ["table", "reading", "ok", "printed", "ours", "standard_error", "z"]
        return pd.DataFrame([(*row, 0.5, 0.5, 0.001, 0.0) for row in rows], columns=columns)

    def test_counts_each_reading_with_the_tables_that_have_one(self):
        rows = [(1, "default", True)] * 2 + [(3, "default", True)] * 3 + [(3, "default", False)]
        _, text = page_of(study(), printed=self.printed(*rows, *[(3, "as-printed", True)] * 4))
        assert "The reading default (ties broken at random, eq. 20 as written) is the correct one. It repr" in text
        assert "It reproduces 5 of the 6 printed numbers" in text
        assert "The reading as printed" in text
        assert "It reproduces 6 of the 6 printed numbers" in text
        assert "are not compared" not in text

    def test_counts_claims_once(self):
        claims = pd.DataFrame(
            {"reading": ["default"] * 4 + ["as-printed"] * 2, "holds": ["yes", "yes", "no", "open", "yes", "no"]}
        )
        rows = [(3, "default", True), (3, "as-printed", True)]
        _, text = page_of(study(), printed=self.printed(*rows), claims=claims)
        assert (
            "Under the reading default, 2 of 4 claims that the paper makes in words hold; not holding: 1; too "
            "vague to check: 1."
        ) in text

    def test_says_why_tables_3_and_4_are_not_compared(self):
        _, text = page_of(study(), printed=self.printed((1, "default", True)), sampling={"negatives": 50})
        assert "are not compared with the printed ones: sampling.negatives is 50, not 100" in text


def test_what_was_left_out_is_among_the_facts():
    _, text = page_of(study(facts=COUNTED | {"events_left_out_repeated": 7}))
    assert "repeated earliest" in text
    assert "Events left out: user and item repeat 7" in text
    assert "Events left out: core" not in text
    assert "min_rating 3" not in text
    _, text = page_of(study(facts=COUNTED), datasets={"one": MADE | {"min_rating": 3.5, "core": 5}})
    assert "min_rating 3.5 core 5" in text


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"held_out_items_without_training_events": 2, "users": 18, "users_left_out_with_few_training_events": 2}, ""),
        ({"held_out_items_without_training_events": 3}, "3 of 20 held-out items of one have no training"),
        ({"users": 8, "users_left_out_with_few_training_events": 1}, "1 of 9 users of one are left out"),
    ],
)
def test_many_events_without_training_are_said(change, said):
    _, text = page_of(study(facts=COUNTED | change))
    assert said in text
    assert ("have no training events" in text) == ("held-out" in said)
    assert ("are left out, as" in text) == ("users" in said)


class TestPage:
    @pytest.mark.parametrize(
        ("dataset", "split", "trained", "leaks"),
        [
            ({}, {}, ("X",), True),
            ({}, {"strategy": "random-event"}, ("X",), True),
            ({}, {"strategy": "global-time", "test_size": 0.1}, ("X",), False),
            ({"test": "test.dat", "path": "train.dat"}, {}, ("X",), False),
            ({}, {}, (), False),
        ],
        ids=["last event", "random event", "global time", "a split of its own", "ready-made ranks"],
    )
    def test_says_that_a_split_by_user_leaks_the_future(self, tmp_path, monkeypatch, dataset, split, trained, leaks):
        monkeypatch.chdir(tmp_path)
        for name in ("train.dat", "test.dat"):
            (tmp_path / name).touch()
        _, text = page_of(study(trained=trained), datasets={"one": MADE | dataset}, split=split)
        assert ("leaks the future between users" in text) == leaks
        assert ("The split global-time avoids this" in text) == leaks

    def test_has_every_part_and_fetches_nothing(self):
        datasets = {"one": {"format": "movielens-dat", "urls": ["https://example.org/a.zip"]}}
        page, text = page_of(study(facts=COUNTED), datasets=datasets)
        for heading in ("For your own evaluation", "What was studied", "Results on one", "What cannot be concluded"):
            assert re.search(f"<h2[^>]*>{heading}", page)
        assert "How much of the paper" not in text
        for said in ("factors: 16", "keep self: yes", "neighbours: none", "Held-out items 2", "Mean candidates 150.5"):
            assert said in text
        assert "Training events 38" in text
        assert "100, without replacement" in text
        assert "What Table 3 holds." in text
        assert "What it shows." in text
        assert "--natural: 10.00in" in page  # 720 points
        assert not re.findall(r'src="(?!data:|#)', page)
        assert set(re.findall(r'href="([^#][^"]*)', page)) == {"one/figure-6.csv", "one/table-3.csv", "one/table-4.csv"}
        assert "X is trained once" in text
        assert "Bold on this page: the best by the exact metric" in text
        assert "66.00<wbr>±1.00" in page  # what a sample shows is no truth
        assert "Y, Z were made elsewhere" in text

    @pytest.mark.parametrize("names", [["X"], ["X", "Z"]])
    def test_one_recommender_has_no_order(self, names):
        third = METRICS[METRICS["recommender"].isin(names)]
        one = study(third=third) if len(names) > 1 else study(third=third, fourth=ORDER[:0], decided=[])
        recommenders = {name: {"type": "popularity"} for name in names}
        _, text = page_of(one, recommenders=recommenders)
        of_orders = ("order recommenders correctly", "Is the order", "Lines cross", "its own scale", "Tables 3 and 4")
        for of_order in of_orders:
            assert (of_order in text) == (len(names) > 1)

    @pytest.mark.parametrize(
        ("third", "decided", "said"),
        [
            (
                METRICS,
                DECIDED,
                "Lines cross where the sample turns the order. {}; bars of a decided pair may overlap. B",
            ),
            (
                METRICS,
                [],
                "Lines cross where the sample turns the order. {}; crossing lines of an undecided one do not",
            ),
            (RIGHT, DECIDED, "{}; bars of a decided pair may overlap. B"),
            (RIGHT, [], "{}. B"),
        ],
    )
    def test_the_caption_of_the_answer_speaks_of_what_is_drawn(self, third, decided, said):
        _, text = page_of(study(third=third, decided=decided))
        caption = text[text.index("A pair is decided") - 60 :]
        start, rest = said.split("{}")
        assert f"A pair is decided if a comparison by user at 95 % tells it apart{rest}" in caption
        assert start in caption
        assert ("Lines cross" in caption) == ("Lines cross" in start)

    @pytest.mark.parametrize(("decided", "said"), [(DECIDED, "decided"), ([], "undecided")])
    def test_table_4_marks_what_is_not_decided(self, decided, said):
        page, _ = page_of(study(decided=decided))
        fourth = page[page.index("Table 4.") :]
        rows = re.findall(r"<tr>(.*?)</tr>", fourth[: fourth.index("</table>")], re.DOTALL)[1:]
        assert [re.findall(r">(\w*decided)<", row) for row in rows] == [[said], [said]]
        # of 1000 repetitions, .9 is not .5, and 1 is not .9; but it is 1
        bold = [re.findall(r"<strong>(\d+)</strong>", row) for row in rows]
        assert bold == ([["90"], ["100", "100"]] if said == "decided" else [[], []])


def made_up(ranks, negatives=100, estimators=("uncorrected", "bv-0.1")):
    """A study of ranks by recommender among 1000 candidates, and its page; 50 repetitions."""
    rank_tables = {name: table_of([(1000, rank - 1, 0) for rank in each]) for name, each in ranks.items()}
    evaluation = Evaluation(
        SamplingDesign(negatives, False), 50, ["default"], list(estimators), ["recall@10", "auc"], False
    )
    runs = {
        name: repeat(each, evaluation, np.random.default_rng(at)) for at, (name, each) in enumerate(rank_tables.items())
    }
    expected = {name: exact_moments(each, evaluation) for name, each in rank_tables.items()}
    third, fourth = (each(rank_tables, runs, expected) for each in (tables.table_3, tables.table_4))
    return page_of(
        Studied("made", (), rank_tables, exact_findings(rank_tables, evaluation.metrics), third, fourth),
        recommenders={name: {"type": "popularity"} for name in ranks},
        sampling={"negatives": negatives, "repetitions": 50},
    )


def exact_cells(page):
    """The cells of the column Exact of Table 3 on the page, by metric and recommender."""
    third = page[page.index("Table 3.") :]
    rows = re.findall(r"<tr>(.*?)</tr>", third[: third.index("</table>")], re.DOTALL)
    cells = [[cell.strip() for cell in re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", row, re.DOTALL)] for row in rows]
    return {(row[0], row[1]): row[2] for row in cells[1:]}


USERS = 400
NEVER = 1 + np.arange(USERS) % 20 + 29
"""Ranks 30 to 49: no hit at 10, and nearly all a hit at 10 among 100 negatives."""
SOME = np.where(np.arange(USERS) % 5 == 0, 3, 900)
"""A hit for 80 of 400 users, and the others far below."""


class TestMadeUpStudies:
    """What a reader may conclude from the page alone is what the ranks say."""

    def test_a_clear_winner_that_samples_put_last(self):
        """80 of 400 users have a hit by "some" only: p = 2⁻⁷⁹. Among 100 negatives, "never" has nearly all hits."""
        page, text = made_up({"never": NEVER, "some": SOME})
        assert (
            "No. By the exact Recall@10, some is better than never. Among 100 sampled negatives, never looks better."
        ) in text
        assert "1 of 2 decided comparisons of two recommenders comes out wrong in most samples" in text  # AUC is right
        assert "The exact ranks do not decide" not in text
        assert exact_cells(page)["Recall@10", "some"] == "<strong>20.00</strong>"
        assert exact_cells(page)["Recall@10", "never"] == "0.00"

    def test_of_three_two_tie(self):
        """Two that hit for 120 and 118 users of their own, and one that never does."""
        one, other = (np.full(USERS, 100) for _ in range(2))
        one[:120], other[120:238] = 5, 5
        page, text = made_up({"last": np.full(USERS, 200), "one": one, "other": other})
        assert "Yes, by Recall@10: among 100 sampled negatives, both decided pairs are in the right order." in text
        assert "0 of 4 decided comparisons" in text
        assert "The exact ranks do not decide 2 further ones." in text
        cells = exact_cells(page)
        assert cells["Recall@10", "one"] == "<strong>30.00</strong>"
        assert cells["Recall@10", "other"] == "<strong>29.50</strong>"
        assert cells["Recall@10", "last"] == "0.00"

    def test_equal_values_in_all_samples_put_no_one_first(self):
        """Among 5 negatives, every rank is at most 6."""
        _, text = made_up({"never": NEVER, "some": SOME}, negatives=5)
        assert "No. By the exact Recall@10, some is better than never. Among 5 sampled negatives, both have" in text
        assert "looks better" not in text
        assert "out wrong or equal in most samples" in text

    def test_counts_one_and_names_several_wrong_pairs(self):
        hits = {"best": 100, "better": 80, "good": 60}
        ranks = {name: np.where(np.arange(USERS) < number, 3, 900) for name, number in hits.items()}
        _, text = made_up({"never": NEVER, **ranks})
        assert "No. Among 100 sampled negatives, 3 of 6 decided pairs are the wrong way round by Recall@10." in text
        assert "best is better than never, better is better than never, and good is better than never." in text
        _, text = made_up({"never": NEVER, "best": ranks["best"], "worst": np.full(USERS, 950)})
        assert "1 of 2 decided pairs is the wrong way round by Recall@10." in text

    def test_an_order_that_changes_from_sample_to_sample(self):
        """120 hits, and 80 hits with 42 ranks that are hits in 94 % of the samples: 119.5 on average."""
        more, fewer = (np.where(np.arange(USERS) < hits, 1, 900) for hits in (120, 80))
        fewer[80:122] = 60
        _, text = made_up({"more": more, "fewer": fewer})
        assert re.search(
            r"Only on average, by Recall@10: .* in the right order\.|fewer looks better on average\.", text
        )
        [share] = re.findall(
            r"Samples differ: by Recall@10, more comes out better than fewer in (\d+) % of them\.", text
        )
        assert 20 < int(share) < 80

    def test_without_the_uncorrected_metric_nothing_is_said_of_it(self):
        page, text = made_up({"never": NEVER, "some": SOME}, estimators=["bv-0.1"])
        assert "some is better than never. This run did not compute the uncorrected sampled metric." in text
        assert "BV 0.1 has this root mean square error of Recall@10 in one sample" in text
        for absent in ("Lines cross", "two standard deviations", "Of the corrections"):
            assert absent not in text
        assert "<figure></figure>" not in page

    def test_of_equal_ranks_there_is_no_table_4(self):
        _, text = made_up({"one": SOME, "other": SOME})
        assert "The ± of Table 3 describes the random negatives of the same users. It does not" in text

    @pytest.mark.parametrize("count", [12, 13])
    def test_says_that_some_are_not_drawn(self, count):
        _, text = made_up({f"r{number}": np.roll(SOME, number) for number in range(count)})
        assert ("Only the 12 recommenders with the best exact values are drawn." in text) == (count > 12)


class TestSentences:
    """What the page says of made-up tables."""

    def test_counts_one_undecided_comparison(self):
        _, text = page_of(study(decided=DECIDED[1:]))
        assert "The exact ranks do not decide 1 further one." in text

    def test_ranks_that_are_not_compared_are_not_undecided(self):
        page, _ = page_of(study(decided=None))
        assert re.findall(r">([\w ]*compared|\w*decided)<", page[page.index("Table 4.") :]) == ["not compared"] * 2

    @pytest.mark.parametrize(
        ("each", "said"),
        [
            (True, "One item of each user is held out. Here, as in many papers, it is ranked among"),
            (False, "Items of users are held out. Here, as in many papers, each is ranked among"),
        ],
    )
    def test_users_may_have_several_items(self, each, said):
        ranks = replace(RANKS, user=np.arange(2) * each)
        _, text = page_of(study()._replace(ranks={"X": ranks, "Z": ranks}))
        assert said in text

    def test_what_the_exact_ranks_say_is_there_once(self):
        both = [by_size(dict.fromkeys((20, 50), part)) for part in (METRICS, ORDER)]
        _, text = page_of(study("one", *both, on_margin=["Of a margin."]), sampling={"negatives": [20, 50]})
        assert "By the exact ranks: Of a margin." in text
        assert text.count("Of a margin.") == 1

    def test_corrections_that_order_alike_are_not_called_best(self):
        alike = ORDER.assign(correct=1.0)
        _, text = page_of(study(fourth=alike))
        assert "in the right order in 100 % of cases with each correction, and in 100 % without a correction." in text

    def test_corrections_with_the_same_error_are_named_together(self):
        same = METRICS.copy()
        of_cls = (same["estimator"] == "cls").to_numpy()
        same.loc[same["estimator"] == "bv-1", ["mean", "sd"]] = same.loc[of_cls, ["mean", "sd"]].to_numpy() + 1e-16
        _, text = page_of(study(third=same))
        assert "All corrections have the same root mean square error" in text

    def test_one_negative_is_singular(self):
        _, text = page_of(study(), sampling={"negatives": 1})
        assert "it is ranked among 1 sampled negative instead of all items" in text
        assert "among 1 sampled negative," in text.lower()


def test_ranks_of_other_users_state_no_order(caplog):
    one = table_of([(10, 1, 0), (20, 2, 0), (30, 1, 0)])
    other = table_of([(30, 1, 0), (20, 2, 0), (10, 1, 0)])
    assert exact_findings({"one": one, "other": other}, ["recall@10"]).decided is None
    assert "the exact ranks are not compared by user" in caplog.text


def test_two_datasets_two_sizes_of_samples_and_one_recommender_of_ready_made_ranks():
    """Each has its answer and its tables; one recommender has no order."""
    both = [by_size(dict.fromkeys((20, 50), part)) for part in (METRICS, ORDER)]
    alone = study("two", METRICS[METRICS["recommender"] == "X"], ORDER[:0], [], ())
    first = study("one", *both)
    _, text = page_of(first, alone, sampling={"negatives": [20, 50]})
    for said in ("one, 20 negatives", "one, 50 negatives", "Results on one", "Results on two", "results on 2 datasets"):
        assert said in text
    for said in (
        "among 20 or 50 sampled",
        "Among 20 sampled negatives",
        "Among 50 sampled negatives",
        "m = 20. Reading",
        "m = 50. Reading",
    ):
        assert said in text
    assert "Table 4." not in text[text.index("Results on two") :]
    assert "come out the wrong way round" not in text  # of the second there is no pair
    _, text = page_of(first, sampling={"negatives": [20, 50]})
    wrong = "1 of 1 (one, 20 negatives), 1 of 1 (one, 50 negatives)."  # Z is better, and X looks better
    assert f"No. Decided pairs that come out the wrong way round by Recall@10: {wrong}" in text


@pytest.mark.parametrize(
    ("third", "said"),
    [
        ({20: RIGHT, 50: RIGHT}, "Yes, by Recall@10: the decided pairs are in the right order (one, 20 negatives; one"),
        ({20: METRICS, 50: RIGHT}, "Not always. Decided pairs that come out the wrong way round by Recall@10: 1 of 1 "),
    ],
)
def test_several_sample_sizes_have_one_answer(third, said):
    _, text = page_of(study("one", by_size(third), by_size({20: ORDER, 50: ORDER})), sampling={"negatives": [20, 50]})
    assert said in text


def test_the_best_correction_is_known_from_the_exact_values():
    assert "One sees this only because the exact values are known." in page_of(study())[1]


def test_a_stand_in_is_named_beside_the_answer():
    for what, says in (("archive", "The archive of one does not have"), ("ranks", "The ranks of one are ready-made")):
        page, _ = page_of(study(stand_in=what))
        start, end = page.index('<section class="answer"'), page.index("</section>")
        assert start < page.index(says) < end
