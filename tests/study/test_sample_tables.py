"""What samples tell, by `correct` and `compare` of samples that are drawn here once more."""

from functools import partial

import numpy as np
import pytest

import sampled_metrics as sm
from sampled_metrics.core.evaluation.compare import CompareOptions
from sampled_metrics.core.sampling.distributions import SamplingDesign
from sampled_metrics.core.sampling.draws import draw
from sampled_metrics_study import sample_tables
from sampled_metrics_study.decided import exact_findings
from sampled_metrics_study.inputs import Inputs
from sampled_metrics_study.jobs import stream
from sampled_metrics_study.repetitions import samples

METRICS = ["recall@3", "auc"]
USERS = 40
CANDIDATES = 60
NEGATIVES = 10
REPETITIONS = 2


def inputs_of(ranks, **sampling):
    tables = {
        name: sm.exact_ranks(
            {"user": np.arange(USERS), "rank": values}, candidates=CANDIDATES, exact=True
        )
        for name, values in ranks.items()
    }
    sampling = {"negatives": NEGATIVES, "replacement": False, "repetitions": 10, **sampling}
    return Inputs(
        {"metrics": METRICS, "sampling": {"verdicts": REPETITIONS, **sampling}},
        partial(stream, 7, "made"),
        ranks=tables,
        exact=exact_findings(tables, CompareOptions(metrics=METRICS)),
    )


@pytest.fixture(scope="module")
def inputs():
    rng = np.random.default_rng(3)
    better = rng.integers(1, 15, USERS)
    return inputs_of({"worse": better + 15, "better": better, "same": np.roll(better, 1)})


@pytest.fixture(scope="module")
def drawn(inputs):
    """The sampled ranks of each repetition, drawn from the streams of the rule sample."""
    design = SamplingDesign(NEGATIVES, replacement=False)
    streams = {name: stream(7, "made", name, "sample") for name in inputs.ranks}
    repetitions = []
    for _ in range(REPETITIONS):
        sampled = {}
        for name, table in inputs.ranks.items():
            draws = draw(table.above, table.tied, table.candidates, design, streams[name])
            columns = {"user": table.user, "rank": draws.ranked_above("random") + 1}
            sampled[name] = sm.sampled_ranks(columns, negatives=NEGATIVES, candidates=CANDIDATES)
        repetitions.append(sampled)
    return repetitions


def test_the_repetitions_are_those_of_the_samples_of_the_study(inputs, drawn):
    design = SamplingDesign(NEGATIVES, replacement=False)
    rng = stream(7, "made", "worse", "sample")
    histograms = samples(inputs.ranks["worse"], design, REPETITIONS, ["random"], rng)["random"]
    for sampled, histogram in zip(drawn, histograms, strict=True):
        counts = np.bincount(sampled["worse"].x, minlength=NEGATIVES + 1)
        assert counts.tolist() == histogram.tolist()


def test_intervals_are_those_of_correct_on_the_first_sample(inputs, drawn):
    table = sample_tables.intervals(inputs)
    corrected = sm.correct(drawn[0], estimators=["decreasing", "free"], metrics=METRICS)
    keys = ["recommender", "metric", "estimator"]
    both = table.merge(corrected, on=keys, suffixes=("", "_of_correct"))
    assert len(both) == len(table) == len(corrected) == 12
    for column in ("value", "low", "high"):
        np.testing.assert_array_equal(both[column], both[f"{column}_of_correct"])
    assert (both["assumes"] == both["assumes_of_correct"]).all()
    # AUC is 1 less the share of the other candidates above
    rows = table[(table["recommender"] == "same") & (table["metric"] == "auc")]
    exact = 1 - inputs.ranks["better"].above.mean() / (CANDIDATES - 1)
    assert rows["exact"].to_numpy() == pytest.approx([exact, exact])


def test_verdicts_count_the_conclusions_of_compare(inputs, drawn):
    table = sample_tables.verdicts(inputs)
    # "better" and "same" have equal exact metrics, so no order is right
    assert set(zip(table["worse"], table["better"], strict=True)) == {
        ("worse", "better"),
        ("worse", "same"),
    }
    assert (table["repetitions"] == REPETITIONS).all()
    conclusions = {(row.better, row.metric): [] for row in table.itertuples()}
    for sampled in drawn:
        for row in sm.compare(sampled, metrics=METRICS).itertuples():
            better = row.b if row.a == "worse" else row.a
            if "worse" in (row.a, row.b):
                conclusions[better, row.metric].append(row.conclusion)
    for row in table.itertuples():
        counts = [
            conclusions[row.better, row.metric].count(name)
            for name in (row.better, "undecided", "worse")
        ]
        assert np.array([row.right, row.undecided, row.wrong]) * REPETITIONS == pytest.approx(
            counts
        )
    assert (table.loc[table["metric"] == "auc", "right"] == 1).all()


def test_a_wrong_order_is_counted(inputs, monkeypatch):
    said = iter([[("auc", "worse", "better")], []])
    monkeypatch.setattr(sample_tables.decided, "decided_pairs", lambda *_: next(said))
    table = sample_tables.verdicts(inputs).set_index(["better", "metric"])
    shares = table.loc[("better", "auc"), ["right", "undecided", "wrong"]]
    assert shares.tolist() == [0, 0.5, 0.5]


def test_several_sizes_are_parts_and_repetitions_are_at_most_those_of_the_study():
    rng = np.random.default_rng(5)
    ranks = {"a": rng.integers(1, 20, USERS), "b": rng.integers(10, 50, USERS)}
    inputs = inputs_of(ranks, negatives=[5, 10], repetitions=1)
    verdicts = sample_tables.verdicts(inputs)
    assert verdicts["negatives"].unique().tolist() == [5, 10]
    assert (verdicts["repetitions"] == 1).all()
    headings = [heading for heading, _ in sample_tables.verdicts_layout(verdicts, inputs)]
    assert headings == ["m = 5", "m = 10"]


def test_a_single_recommender_has_intervals_and_no_verdicts():
    inputs = inputs_of({"a": np.arange(USERS) % CANDIDATES + 1})
    assert len(sample_tables.intervals(inputs)) == 4
    verdicts = sample_tables.verdicts(inputs)
    assert verdicts.empty
    assert sample_tables.verdicts_layout(verdicts, inputs) == []
