"""The scripts after ranking that a study of made-up data has no need of, on tiny inputs.

tests/workflow/test_run.py has the others, by Snakemake.
"""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from made_up_project import ROOT, run_script

from sampled_metrics.ranks.exact import ExactRanks
from sampled_metrics.study.reference import ESTIMATORS, RECOMMENDERS

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
        made |= {"expected": f"expected-{name}.csv", "conditions": f"conditions-{name}.csv"}
        params = EVALUATION | {"seed": 1}
        assert run_script("sample", input=ranks, output=made, params=params, wildcards=wildcards) == []

    runs = {
        kind: [f"{kind}-{name}.{end}" for name in NAMES] for kind, end in (("estimates", "csv.gz"), ("expected", "csv"))
    }
    made = (
        files("table-3", TABLE, "table_3_") | files("table-4", TABLE, "table_4_") | files("studied", PAGE, "studied_")
    )
    given = {"recommenders": NAMES, "repetitions": 3}
    assert run_script("tables", input=ALL_RANKS | runs | {"facts": []}, output=made, params=given) == []
    assert len(pd.read_csv("table-3.csv")) == 2 * 3 * 4 * (1 + len(ESTIMATORS))
    assert pd.read_csv("table-4.csv")["correct"].between(0, 1).all()
    given |= {
        "figure_5": {"edges": [10, 100]},
        "figure_6": {"metric": "recall@10", "estimators": ["uncorrected", "bv-0.1"], "negatives": [10, 20, 500]},
        "replacement": False,
        "assume_replacement": True,
    }
    made = files("figure-5", FIGURE, "figure_5_") | files("figure-6", FIGURE, "figure_6_")
    assert run_script("figures", input=ALL_RANKS, output=made, params=given) == []
    assert pd.read_csv("figure-6.csv")["negatives"].unique().tolist() == [10, 20]
    results = {"table_3": "table-3.csv", "table_4": "table-4.csv", "figure_6": "figure-6.csv"}
    made = files("fidelity", PAGE, "fidelity_") | files("claims", PAGE, "claims_")
    beside = ALL_RANKS | results | {"seed_spread": str(ROOT / "docs/seed-spread.csv")}
    [error] = run_script("fidelity", input=beside, output=made, params=given)
    assert "its users and candidates are not those of MovieLens 1M in the paper" in error
    assert not Path("fidelity.csv").exists()
