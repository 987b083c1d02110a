"""Print the results of some public functions as JSON, for a comparison of processes.

python tests/kernel_numbers.py
"""

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

import sampled_metrics as sm
from sampled_metrics.core.estimators import ESTIMATORS

METRICS = ["recall@10", "ndcg@10", "ap", "auc"]
USERS = 300
ITEMS = 800


def tables() -> Iterator[tuple[str, Any]]:
    """Yield the results, with names."""
    rng = np.random.default_rng(1)
    training = rng.random((USERS, ITEMS)) < 0.02
    held_out = rng.integers(0, ITEMS, USERS)
    training[np.arange(USERS), held_out] = False
    item_factors = rng.normal(size=(ITEMS, 32))
    exact = {}
    sampled = {}
    for name, noise in (("A", 4.0), ("B", 5.0), ("C", 5.0)):
        user_factors = item_factors[held_out] + noise * rng.normal(size=(USERS, 32))
        factors = (user_factors, item_factors)
        exact[name] = sm.rank(factors, training, held_out)
        sampled[name] = sm.rank_among_negatives(factors, training, held_out, negatives=50, seed=2)
        yield f"rank {name}", exact[name].to_frame()
        yield f"rank_among_negatives {name}", sampled[name].to_frame()
    sampled.pop("C")
    yield "evaluate", sm.evaluate(exact, metrics=METRICS)
    yield "compare", sm.compare(exact, metrics=METRICS)
    labels = [entry.label for entry in ESTIMATORS]
    yield "correct", sm.correct(sampled, estimators=labels, metrics=METRICS)
    for label in ("decreasing", "bv-0.1", "smooth"):
        yield f"compare {label}", sm.compare(sampled, estimator=label, metrics=METRICS)
    values = {"A": {"recall@10": 0.42, "ndcg@10": 0.25}, "B": {"recall@10": 0.31, "ndcg@10": 0.2}}
    yield "published", sm.published(values, negatives=99, candidates=3_500, users=2_000)
    yield (
        "plan",
        sm.plan(
            {"A": exact["A"], "B": exact["B"]},
            metric="recall@10",
            negatives=[20],
            estimators="bv-0.1",
        ),
    )


def columns(table: Any) -> dict[str, list[Any]]:
    """Return the values of a table by column."""
    frame = pd.DataFrame(table)
    return {str(column): frame[column].tolist() for column in frame}


if __name__ == "__main__":
    print(json.dumps({name: columns(table) for name, table in tables()}, default=str))
