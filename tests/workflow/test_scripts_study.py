"""The scripts after ranking that a study of made-up data has no need of, on tiny inputs: the paper, and random starts.

tests/workflow/test_run.py has the others, by Snakemake.
"""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from made_up_project import ROOT, run_script
from ranked_by_argsort import one_each
from scipy.sparse import csr_array

from sampled_metrics.data.split import Split
from sampled_metrics.ranks.exact import ExactRanks
from sampled_metrics.study.paper.reference import ESTIMATORS, RECOMMENDERS

NAMES = list(RECOMMENDERS)
SAMPLING = {"negatives": 20, "replacement": False, "repetitions": 3, "readings": ["default", "as-printed"]}
EVALUATION = {
    "sampling": SAMPLING,
    "estimators": sorted(ESTIMATORS),
    "metrics": ["recall@10", "ndcg@10", "ap", "auc"],
    "assume_replacement": True,
}
ALL_RANKS = {"ranks": [f"ranks-{name}.csv.gz" for name in NAMES]}
TABLE, FIGURE, PAGE = ("csv", "md", "tex", "html"), ("csv", "svg", "png"), ("csv", "md", "html")


def files(name: str, kinds: tuple[str, ...], prefix: str = "") -> dict[str, str]:
    """Files of a table or figure, such as table_3_csv."""
    return {f"{prefix}{kind}": f"{name}.{kind}" for kind in kinds}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder with ranks of 40 users by the paper's recommenders."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    for name in NAMES:
        above = np.minimum(rng.geometric(0.05, 40) - 1, 199)
        ExactRanks(np.arange(40), np.full(40, 200), above, np.zeros_like(above)).write(Path(f"ranks-{name}.csv.gz"))


def test_tables_and_figures_of_a_study_and_the_paper_beside_them() -> None:
    for name in NAMES:
        ranks, wildcards = {"ranks": f"ranks-{name}.csv.gz"}, {"recommender": name}
        made = {"estimates": f"estimates-{name}.csv.gz"}
        params = EVALUATION | {"seed": 1}
        assert run_script("sample", input=ranks, output=made, params=params, wildcards=wildcards) == []
        made = {"expected": f"expected-{name}.csv", "conditions": f"conditions-{name}.csv"}
        assert run_script("exact_moments", input=ranks, output=made, params=EVALUATION, wildcards=wildcards) == []

    runs = {
        kind: [f"{kind}-{name}.{end}" for name in NAMES] for kind, end in (("estimates", "csv.gz"), ("expected", "csv"))
    }
    made = files("table-3", TABLE, "table_3_") | files("table-4", TABLE, "table_4_")
    given = {"recommenders": NAMES, "repetitions": 3}
    assert run_script("study_tables", input=ALL_RANKS | runs, output=made, params=given) == []
    assert len(pd.read_csv("table-3.csv")) == 2 * 3 * 4 * (1 + len(ESTIMATORS))
    assert pd.read_csv("table-4.csv")["correct"].between(0, 1).all()
    given |= {
        "figure": {"metric": "recall@10", "estimators": ["uncorrected", "bv-0.1"], "negatives": [10, 20, 500]},
        "replacement": False,
        "assume_replacement": True,
    }
    assert run_script("figure_6", input=ALL_RANKS, output=files("figure-6", FIGURE), params=given) == []
    assert pd.read_csv("figure-6.csv")["negatives"].unique().tolist() == [10, 20]
    results = {"table_3": "table-3.csv", "table_4": "table-4.csv", "figure_6": "figure-6.csv"}
    made = files("fidelity", PAGE, "fidelity_") | files("claims", PAGE, "claims_")
    beside = ALL_RANKS | results | {"seed_spread": str(ROOT / "docs/seed-spread.csv")}
    [error] = run_script("fidelity", input=beside, output=made, params=given)
    assert "its users and candidates are not those of MovieLens 1M in the paper" in error
    assert not Path("fidelity.csv").exists()


def test_the_spread_over_random_starts() -> None:
    training = csr_array((np.random.default_rng(2).random((40, 200)) < 0.1) * 1.0)
    held_out = np.array([next(item for item in range(200) if not training[[user], [item]][0]) for user in range(40)])
    Split(training, one_each(held_out, 200), np.arange(40), np.arange(200)).write(Path("split.npz"))
    entry = {"type": "ials", "factors": 2, "regularization": 1, "unobserved_weight": 0.1, "iterations": 1}
    params = EVALUATION | {"estimators": ["uncorrected"], "metrics": ["ap"], "recommenders": NAMES}
    params |= {"entry": entry, "seed": 1, "starts": 2}
    given = ALL_RANKS | {"split": "split.npz"}
    assert run_script("seed_spread", input=given, output={"spread": "spread.csv"}, params=params) == []
    spread = pd.read_csv("spread.csv")
    assert spread["seeds"].tolist() == [2] * len(spread)
    assert set(spread["cell"]) >= {"X ap exact", "X ap uncorrected"}
