"""How often the promises of `plan` hold for new users of the same law.

    python benchmarks/plan_promises.py --trials 200 --output plan-promises.csv

For each trial a pilot is drawn from a law, and planned from; then an evaluation of new users of the law is made. Its
width should be within the interval of the promised width, and the chance of a verdict, from many evaluations of the
law, within that of the promised chance. Ways of a part of the users are left out beside stages, as the part follows
from the scores of the pilot.
"""

import argparse
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.sparse import csr_array

import sampled_metrics as sm
from sampled_metrics.estimators import estimators_by_label
from sampled_metrics.evaluation.pilot import Pilot
from sampled_metrics.evaluation.plan import _Question, _ways, simulated
from sampled_metrics.sampling.distributions import SamplingDesign

PUBLISHED = Path(__file__).resolve().parents[1] / "published/ml-1m"
LARGE = 200_000  # users who stand for a law


@dataclass(frozen=True)
class Setting:
    """A law of the users, and what is planned.

    Attributes:
        law: the function that returns the ranks of so many users, by recommender, from random numbers.
        pilot: users of the pilot.
        users: users of the evaluation.
        options: of the plan.
    """

    law: Callable[[int, np.random.Generator], dict]
    pilot: int
    users: int
    options: dict


def of_movielens(users: int, rng: np.random.Generator) -> dict:
    """Draw users of X and Z on MovieLens 1M."""
    rows = rng.integers(0, 6040, users)
    tables = {name: sm.exact_ranks(PUBLISHED / f"{name}.csv.gz") for name in "XZ"}
    return {
        name: sm.ExactRanks(None, table.candidates[rows], table.above[rows], table.tied[rows])
        for name, table in tables.items()
    }


def power_laws(exponents: dict[str, float], n: int) -> Callable[[int, np.random.Generator], dict]:
    """Return a law of ranks of n candidates by power laws, independent of one another."""
    tails = {name: np.cumsum(np.arange(1, n + 1) ** -exponent) for name, exponent in exponents.items()}

    def law(users: int, rng: np.random.Generator) -> dict:
        above = {name: np.searchsorted(tail, rng.random(users) * tail[-1]) for name, tail in tails.items()}
        sizes, nothing = np.full(users, n), np.zeros(users, dtype=np.int64)
        return {name: sm.ExactRanks(None, sizes, of_one, nothing) for name, of_one in above.items()}

    return law


def staged_law(n: int, gain: float) -> Callable[[int, np.random.Generator], dict]:
    """Return a law of staged ranks by depth None: scores that are better than the order by popularity by a gain."""

    def law(users: int, rng: np.random.Generator) -> dict:
        popular = -np.log(np.arange(1, n + 1))
        held_out = rng.choice(n, users, p=np.arange(1, n + 1) ** -0.7 / np.sum(np.arange(1, n + 1) ** -0.7))
        noise = rng.integers(0, 2**31)

        def score(user: np.ndarray, item: np.ndarray) -> np.ndarray:
            mixed = (user.astype(np.uint64) * 2654435761 + item.astype(np.uint64) * 40503 + noise) % 2**31
            return popular[item] + gain * (item == held_out[user]) + 2.0 * (mixed * 48271 % 2147483647) / 2**31

        ranks = sm.staged_ranks(score, csr_array((users, n)), held_out, k=10, depth=None, order=popular)
        return {"A": ranks}

    return law


SETTINGS = {
    "MovieLens 1M, pilot of 600": Setting(of_movielens, 600, 6040, {"negatives": [100], "estimators": ["bv-0.1"]}),
    "MovieLens 1M, pilot of 3,000": Setting(of_movielens, 3000, 6040, {"negatives": [100], "estimators": ["bv-0.1"]}),
    "MovieLens 1M, decreasing": Setting(of_movielens, 1000, 2000, {"negatives": [20], "estimators": ["decreasing"]}),
    "power laws, 100 users of 1,000 items": Setting(
        power_laws({"A": 0.9, "B": 1.05}, 1000), 100, 400, {"negatives": [50], "estimators": ["uncorrected"]}
    ),
    "power law, 300 users of 50,000 items": Setting(
        power_laws({"A": 0.9}, 50_000), 300, 3000, {"negatives": [100], "estimators": ["bv-0.1"]}
    ),
    "stages, 300 users of 50,000 items": Setting(staged_law(50_000, 4.0), 300, 3000, {"depths": [100, 1000]}),
}


def trials(setting: Setting, number: int, evaluations: int) -> pd.DataFrame:
    """Return a row for each way: shares of trials in which each promise holds."""
    options = {"negatives": [], "depths": [], "estimators": ["bv-0.1"]} | setting.options
    law = setting.law(LARGE if "depths" not in setting.options else 4 * setting.users, np.random.default_rng(0))
    truth = of_law(law, setting.users, options, evaluations)
    held: list[pd.DataFrame] = []
    for trial in range(number):
        pilot = setting.law(setting.pilot, np.random.default_rng([1, trial]))
        try:
            plan = pd.DataFrame(sm.plan(pilot, users=setting.users, draws=40, **options))
        except sm.DataError:  # the recommenders are equal in the pilot
            continue
        row = plan[["way", "estimator"]].copy()
        for name in ("width", "ordered", "decided", "wrong"):
            if name in plan:
                true = truth[name] if name != "width" else truth["widths"].map(lambda w, t=trial: w[t % len(w)])
                low, high = plan[f"{name}_low"], plan[f"{name}_high"]
                row[name] = ((low - 1e-9 <= true) & (true <= high + 1e-9)).where(low.notna()).astype(float)
        held.append(row)
    shares = pd.concat(held).groupby(["way", "estimator"], sort=False).mean().reset_index()
    is_part = shares["way"].str.endswith("part of users")
    return shares[~is_part] if "depths" in setting.options else shares


def of_law(law: dict, users: int, options: dict, evaluations: int) -> pd.DataFrame:
    """Return the shares of many evaluations of a law, and the widths of each, by way."""
    question = _Question.from_given(law, "recall@10", users, 0.95)
    designs = [SamplingDesign(m) for m in options["negatives"]]
    pilot: Pilot = question.pilots[0]
    ways, _ = _ways(
        pilot, question, estimators_by_label(options["estimators"]), designs, options["depths"], evaluations
    )
    rows = []
    for way in ways:
        widths, gaps, _ = simulated(replace(way, draws=evaluations), pilot, question)
        row = {"widths": widths[:, np.nanmean(widths, axis=0).argmax()]}
        if question.pairs:
            value, low, high = gaps[:, 0].T
            row |= {"ordered": (value > 0).mean(), "decided": (low > 0).mean(), "wrong": (high < 0).mean()}
        rows.append(row)
    return pd.DataFrame(rows)


def main() -> None:
    """Print the shares, and write them to a file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=200)
    parser.add_argument("--evaluations", type=int, default=300, help="of each law, for the true chances")
    parser.add_argument("--only", help="settings whose name has this text")
    parser.add_argument("--output", type=Path)
    given = parser.parse_args()
    tables = []
    for name, setting in SETTINGS.items():
        if given.only and given.only not in name:
            continue
        table = trials(setting, given.trials, given.evaluations).assign(setting=name)
        print(table.to_string(index=False), flush=True)
        tables.append(table)
        if given.output:
            pd.concat(tables).to_csv(given.output, index=False)


if __name__ == "__main__":
    main()
