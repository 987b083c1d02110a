"""The scripts after ranking, run in this process on tiny inputs: a mistake in one is found without Snakemake."""

import runpy
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from ranked_by_argsort import one_each
from scipy.sparse import csr_array

from sampled_metrics.data.split import Split
from sampled_metrics.paper.reference import ESTIMATORS, RECOMMENDERS, TOY_RANKS
from sampled_metrics.ranks.table import RankTable

ROOT = Path(__file__).parents[2]
NAMES = list(RECOMMENDERS)
SAMPLING = {"negatives": 20, "replacement": False, "repetitions": 3, "readings": ["default", "as-printed"]}
METRICS = ["recall@10", "ndcg@10", "ap", "auc"]
STUDIED = {"metrics": METRICS, "assume_replacement": True}
TOY = {
    "ranks": TOY_RANKS,
    "candidates": 10000,
    "metrics": ["auc", "ap", "ndcg", "recall@10"],
    "negatives": 99,
    "replacement": False,
    "repetitions": 5,
}


class Folder:
    """Runs scripts whose files lie in one folder."""

    def __init__(self, path):
        self.path = path

    def run(self, script, given, made, recommender="X", **params):
        """Call the main of a script with files and parameters, as Snakemake does."""

        def named(files):
            where = {
                name: [str(self.path / each) for each in file] if isinstance(file, list) else str(self.path / file)
                for name, file in files.items()
            }
            return SimpleNamespace(**where)

        wildcards = SimpleNamespace(dataset="tiny", recommender=recommender)
        runpy.run_path(str(ROOT / "scripts" / f"{script}.py"))["main"](
            SimpleNamespace(
                input=named(given), output=named(made), params=SimpleNamespace(**params), wildcards=wildcards
            )
        )

    def read(self, file):
        return pd.read_csv(self.path / file)


def pages(name, *kinds):
    return {kind: f"{name}.{kind}" for kind in ("csv", *kinds)}


def several(kinds, what):
    """Files of numbered tables or figures, such as table_3_csv."""
    return {
        f"{what}_{number}_{kind}": f"{what}-{number}.{kind}" for number, endings in kinds.items() for kind in endings
    }


TABLE, FIGURE = ("csv", "md", "tex", "html"), ("csv", "svg", "png")


def compared(folder):
    return {
        f"{what}_{kind}": f"{folder}-{what}.{kind}" for what in ("fidelity", "claims") for kind in ("csv", "md", "html")
    }


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    folder = Folder(tmp_path_factory.mktemp("study"))
    rng = np.random.default_rng(1)
    n, user = np.full(40, 200), np.arange(40)
    for name in NAMES:
        above = np.minimum(rng.geometric(0.05, 40) - 1, 199)
        RankTable(user, n, above, np.zeros_like(above)).write(folder.path / f"ranks-{name}.csv.gz")
        ranks = {"ranks": f"ranks-{name}.csv.gz"}
        evaluation = {"sampling": SAMPLING, "estimators": sorted(ESTIMATORS), **STUDIED}
        folder.run("sample", ranks, {"estimates": f"estimates-{name}.csv.gz"}, name, seed=1, **evaluation)
        moments = {"expected": f"expected-{name}.csv", "conditions": f"conditions-{name}.csv"}
        folder.run("exact_moments", ranks, moments, name, **evaluation)
    return folder


ALL_RANKS = {"ranks": [f"ranks-{name}.csv.gz" for name in NAMES]}
RUNS = ALL_RANKS | {
    "estimates": [f"estimates-{name}.csv.gz" for name in NAMES],
    "expected": [f"expected-{name}.csv" for name in NAMES],
}


def test_tables_and_figures_of_a_study_and_the_paper_beside_them(study):
    study.run("study_tables", RUNS, several({3: TABLE, 4: TABLE}, "table"), recommenders=NAMES, repetitions=3)
    assert len(study.read("table-3.csv")) == 2 * 3 * 4 * (1 + len(ESTIMATORS))
    assert study.read("table-4.csv")["correct"].between(0, 1).all()
    study.run("figure_5", ALL_RANKS, pages("figure-5", "svg", "png"), recommenders=NAMES, edges=[10, 50])
    assert study.read("figure-5.csv").groupby("recommender")["events"].sum().tolist() == pytest.approx([40] * 3)
    figure = {"metric": "recall@10", "estimators": ["uncorrected", "bv-0.1"], "negatives": [10, 20, 500]}
    given = {"recommenders": NAMES, "figure": figure, "replacement": False, "assume_replacement": True}
    study.run("figure_6", ALL_RANKS, pages("figure-6", "svg", "png"), **given)
    assert study.read("figure-6.csv")["negatives"].unique().tolist() == [10, 20]
    given = ALL_RANKS | {"table_3": "table-3.csv", "table_4": "table-4.csv", "figure_6": "figure-6.csv"}
    given["seed_spread"] = ROOT / "docs/seed-spread.csv"
    study.run("fidelity", given, compared("study"), recommenders=NAMES)
    # these are not the paper's users
    assert study.read("study-fidelity.csv").empty
    assert study.read("study-claims.csv").empty


def test_what_samples_prove(study):
    figure = {"metric": "recall@10", "negatives": [10, 100, 500]}
    made = pages("proof", "svg", "png") | {"pairs": "proof-pairs.csv"}
    study.run("proof", ALL_RANKS, made, recommenders=NAMES, figure=figure, replacement=False)
    found, pairs = study.read("proof.csv"), study.read("proof-pairs.csv")
    assert found["negatives"].unique().tolist() == [10, 100]
    assert len(found) == 2 * 3 * len(NAMES)
    assert (found["low"] <= found["high"]).all()
    assert pairs[["right", "wrong"]].stack().between(0, 1).all()


def test_the_estimator_study(study):
    entry = {
        "estimators": ["uncorrected", "mle"],
        "negatives": [5, 20, 500],
        "repetitions": 2,
        "recall_up_to": 5,
    }
    for name in NAMES:
        files = {"ranks": f"ranks-{name}.csv.gz"}, {"study": f"study-{name}.csv"}
        study.run("study_estimators", *files, name, seed=1, study=entry, replacement=False, **STUDIED)
    given = ALL_RANKS | {"studies": [f"study-{name}.csv" for name in NAMES]}
    made = pages("estimator-study", "md", "html", "svg", "png") | {"order": "order.csv"}
    study.run("estimator_study", given, made, recommenders=NAMES)
    found = study.read("estimator-study.csv")
    assert list(found.columns[:2]) == ["recommender", "negatives"]
    assert set(found["negatives"]) == {5, 20}
    assert study.read("order.csv")["correct"].between(0, 1).all()


def test_the_running_example_and_the_paper_beside_it(tmp_path):
    toy = Folder(tmp_path)
    both = {"candidates": 10000, "metrics": TOY["metrics"]}
    estimators = ["uncorrected", "bv-1", "bv-0.1", "bv-0.01", "bv-0.001"]
    arguments = {
        1: both | {"zoom": 100},
        2: both | {"ranks": TOY_RANKS, "negatives": [10, 200, 500, 5000]},
        3: both | {"negatives": [1, 1000], "zoom": 100},
        4: {"candidates": 10000, "metric_label": "ap", "negatives": 100, "estimators": estimators},
    }
    made = several({1: TABLE, 2: TABLE}, "table") | several(dict.fromkeys(arguments, FIGURE), "figure")
    toy.run("toy", {}, made, toy=TOY, figures=arguments, seed=1)
    for figure in arguments:
        assert (tmp_path / f"figure-{figure}.svg").stat().st_size > 0
    kinds = ("table-1", "table-2", "figure-2", "figure-3", "figure-4")
    toy.run("toy_fidelity", {kind.replace("-", "_"): f"{kind}.csv" for kind in kinds}, compared("toy"), toy=TOY)
    assert toy.read("toy-fidelity.csv").query("table == 1")["ok"].all()
    assert (toy.read("toy-claims.csv")["holds"] == "yes").mean() > 0.5


def test_the_spread_over_random_starts(study):
    training = csr_array((np.random.default_rng(2).random((40, 200)) < 0.1) * 1.0)
    held_out = np.array([next(item for item in range(200) if not training[[user], [item]][0]) for user in range(40)])
    Split(training, one_each(held_out, 200), np.arange(40), np.arange(200)).write(study.path / "split.npz")
    entry = {"type": "ials", "factors": 2, "regularization": 1, "unobserved_weight": 0.1, "iterations": 1}
    evaluation = {"sampling": SAMPLING, "estimators": ["uncorrected"], "metrics": ["ap"], "assume_replacement": True}
    given = ALL_RANKS | {"split": "split.npz"}
    study.run(
        "seed_spread", given, {"spread": "spread.csv"}, recommenders=NAMES, entry=entry, seed=1, starts=2, **evaluation
    )
    spread = study.read("spread.csv")
    assert spread["seeds"].tolist() == [2] * len(spread)
    assert set(spread["cell"]) >= {"X ap exact", "X ap uncorrected"}
