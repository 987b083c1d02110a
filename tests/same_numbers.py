"""Compare the numbers of many evaluations with those of another commit, to 12 digits.

python tests/same_numbers.py 087fe4a7

The numbers are those of the public functions. Text, order of columns and findings are not
compared. A difference is printed with the evaluation, the row and the column.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

ROOT = Path(__file__).parents[1]
USERS = 400
CANDIDATES = 1_000
METRICS = ["recall@10", "ndcg@10", "ap", "auc"]
DIGITS = 12
RAISED = "raised"  # the column of an evaluation that ended with an error

Evaluation = tuple[str, Any]
"""The name of an evaluation, and a function without arguments that returns its table."""


def ranks_of(seed: int, shift: float) -> np.ndarray:
    """Return (users,) exact ranks of a made-up recommender; a larger shift gives worse ranks."""
    rng = np.random.default_rng(seed)
    share = rng.beta(0.6 + shift, 3, USERS)
    return 1 + np.floor(share * CANDIDATES).astype(int)


def sampled(ranks: np.ndarray, negatives: int, seed: int) -> np.ndarray:
    """Return (users,) ranks among uniform negatives without replacement."""
    rng = np.random.default_rng(seed)
    above = ranks - 1
    return 1 + rng.hypergeometric(above, CANDIDATES - 1 - above, negatives)


def evaluations() -> Iterator[Evaluation]:
    """Yield all evaluations."""
    import sampled_metrics as sm

    exact_ranks = {
        name: ranks_of(seed, shift)
        for seed, (name, shift) in enumerate({"x": 0.0, "y": 0.1, "z": 0.3}.items())
    }
    exact = {
        name: sm.exact_ranks(ranks, candidates=CANDIDATES) for name, ranks in exact_ranks.items()
    }
    pair = {name: exact[name] for name in "xy"}
    groups = {str(user): "even" if user % 2 == 0 else "odd" for user in range(USERS)}
    frame = pd.concat(
        [
            pd.DataFrame(
                {"user": np.arange(USERS), "rank": ranks, "candidates": CANDIDATES, "model": name}
            )
            for name, ranks in exact_ranks.items()
        ]
    )
    with_users = sm.exact_ranks(frame, by="model")
    levels = (0.8, 0.95, 0.99)

    for name, table in exact.items():
        for level in levels:
            yield (
                f"evaluate {name} {level}",
                partial(sm.evaluate, table, metrics=METRICS, confidence_level=level),
            )
        yield f"expect {name}", partial(sm.expect, table, negatives=20, metrics=METRICS)
    yield "evaluate groups", lambda: sm.evaluate(with_users, groups=groups)
    for margin in (None, 0.01, "5%"):
        for level in levels:
            for tables, which in ((pair, "pair"), (exact, "all")):
                yield (
                    f"compare {which} {margin} {level}",
                    partial(
                        sm.compare, tables, metrics=METRICS, margin=margin, confidence_level=level
                    ),
                )
    for margin in (None, 0.01):
        yield (
            f"compare groups {margin}",
            lambda m=margin: sm.compare(with_users, metrics=METRICS, margin=m, groups=groups),
        )

    for negatives in (20, 99):
        tables = {
            name: sm.sampled_ranks(
                sampled(ranks, negatives, seed), negatives=negatives, candidates=CANDIDATES
            )
            for seed, (name, ranks) in enumerate(exact_ranks.items())
        }
        for name, table in tables.items():
            for estimators in (
                ["decreasing", "free"],
                ["bv-0.1", "cls", "uncorrected"],
                ["mle", "mes", "smooth"],
            ):
                yield (
                    f"correct {name} m={negatives} {' '.join(estimators)}",
                    partial(sm.correct, table, estimators=estimators, metrics=METRICS),
                )
        sampled_pair = {name: tables[name] for name in "xy"}
        for label in ("decreasing", "free", "bv-0.1", "uncorrected", "mle"):
            for margin in (None, 0.02):
                yield (
                    f"compare sampled m={negatives} {label} {margin}",
                    partial(
                        sm.compare, sampled_pair, estimator=label, metrics=METRICS, margin=margin
                    ),
                )
            yield (
                f"compare sampled all m={negatives} {label}",
                partial(sm.compare, tables, estimator=label, metrics=METRICS),
            )
    draws = {
        name: [
            sm.sampled_ranks(
                sampled(ranks, 50, 10 + draw), negatives=50, candidates=CANDIDATES, drawn="once"
            )
            for draw in range(3)
        ]
        for name, ranks in exact_ranks.items()
        if name in "xy"
    }
    yield "correct draws", lambda: sm.correct(draws, estimators=["bv-0.1"], metrics=METRICS)
    yield "compare draws", lambda: sm.compare(draws, estimator="bv-0.1", metrics=METRICS)

    for known, values in {
        "two": {"recall@10": 0.42, "ndcg@10": 0.25},
        "many": {"recall@1": 0.12, "recall@5": 0.33, "recall@10": 0.42},
    }.items():
        yield (
            f"published {known}",
            lambda v=values: sm.published(
                {"A": v},
                negatives=99,
                candidates=3_500,
                users=2_000,
                estimators=("decreasing", "free"),
                metrics=["recall@10", "ndcg@10"],
            ),
        )
    rng = np.random.default_rng(0)
    lists_of_p = pd.DataFrame(
        {
            "user": np.repeat(np.arange(60), 10),
            "item": np.concatenate([rng.permutation(40)[:10] for _ in range(60)]),
            "rank": np.tile(np.arange(1, 11), 60),
        }
    )
    lists_of_q = lists_of_p.assign(
        item=np.concatenate([rng.permutation(40)[:10] for _ in range(60)])
    )
    relevant = pd.DataFrame(
        {
            "user": np.repeat(np.arange(60), 4),
            "item": np.concatenate([rng.permutation(40)[:4] for _ in range(60)]),
        }
    )
    list_tables = {
        name: sm.ranked_lists(table, relevance=relevant)
        for name, table in {"p": lists_of_p, "q": lists_of_q}.items()
    }
    list_metrics = ["recall@10", "ndcg@10", "ap", "precision@5", "mrr"]
    yield "evaluate lists", lambda: sm.evaluate(list_tables, metrics=list_metrics)
    yield "compare lists", lambda: sm.compare(list_tables, metrics=list_metrics)
    pilot = {
        name: sm.exact_ranks(ranks[:120], candidates=CANDIDATES)
        for name, ranks in exact_ranks.items()
        if name in "xz"
    }
    yield from staged_evaluations()
    yield "plan", lambda: sm.plan(pilot, metric="ndcg@10", negatives=[20, 100])


def staged_evaluations() -> Iterator[Evaluation]:
    """Yield the evaluations of staged ranks, and their rows."""
    import sampled_metrics as sm

    rng = np.random.default_rng(1)
    scores = rng.normal(size=(2, USERS, CANDIDATES)).round(2)
    training = rng.random(scores[0].shape) < 0.05
    taste = np.where(training, -np.inf, scores[0] + rng.gumbel(size=training.shape))
    held_out = taste.argmax(axis=1)
    orders = {
        "popularity": "popularity",
        "numbers": rng.random(CANDIDATES),
        "function": lambda user: np.cos(user + np.arange(CANDIDATES)),
    }

    def staged(number: int, depth: float | None, order: str) -> Any:
        return sm.staged_ranks(
            sm.Ranker(lambda users, items: scores[number, users, items], concurrency=2),
            training,
            held_out,
            depth=depth,
            order=orders[order],
        )

    for depth in (30, 100, None):
        for order in orders:
            name = f"depth={depth} {order}"
            yield f"staged {name}", lambda d=depth, o=order: staged(0, d, o).to_frame()
            yield f"evaluate staged {name}", lambda d=depth, o=order: sm.evaluate(staged(0, d, o))
            yield (
                f"compare staged {name}",
                lambda d=depth, o=order: sm.compare(
                    {"x": staged(0, d, o), "y": staged(1, d, o)}, metrics=["recall@10", "ndcg@5"]
                ),
            )


def numbers() -> dict[str, dict[str, list[Any]]]:
    """Return the numeric columns of all evaluations; a failed one has its error."""
    columns = {}
    for name, evaluate in evaluations():
        try:
            table = pd.DataFrame(evaluate())
        except Exception as error:  # an error of both commits is the same result
            columns[name] = {RAISED: [f"{type(error).__name__}: {error}"]}
            continue
        kept = table.select_dtypes("number")
        columns[name] = {str(column): kept[column].astype(float).tolist() for column in kept}
    return columns


def numbers_of(source: Path) -> dict[str, dict[str, list[Any]]]:
    """Return the numbers by the library in a folder, from a process of its own."""
    environment = {**os.environ, "PYTHONPATH": str(source)}
    command = [sys.executable, __file__, "--numbers"]
    text = subprocess.run(
        command, env=environment, check=True, capture_output=True, text=True
    ).stdout
    return dict(json.loads(text))


def differences(before: dict[str, Any], after: dict[str, Any]) -> Iterator[str]:
    """Yield a line for each number of an evaluation of before that is another one now."""
    for name, columns in before.items():
        for column, values in columns.items():
            values_now = after.get(name, {}).get(column)
            if values_now is None:
                yield f"{name}: has no {column}; before {values[:3]}, now {after.get(name)}"
            elif len(values_now) != len(values):
                yield f"{name}: {column} has {len(values_now)} rows, before {len(values)}"
            elif column == RAISED:
                if values_now != values:
                    yield f"{name}: {values_now}, before {values}"
            else:
                for row, (value, value_now) in enumerate(zip(values, values_now, strict=True)):
                    if not np.isclose(
                        value, value_now, rtol=10.0**-DIGITS, atol=10.0**-DIGITS, equal_nan=True
                    ):
                        yield f"{name}: {column}, row {row}: {value_now!r}, before {value!r}"


def main(commit: str) -> int:
    """Print the differences from a commit; return 1 if there is one."""
    with tempfile.TemporaryDirectory() as folder:
        archive = subprocess.run(
            ["git", "archive", commit, "src"], cwd=ROOT, check=True, capture_output=True
        ).stdout
        subprocess.run(["tar", "-x", "-C", folder], input=archive, check=True)
        before = numbers_of(Path(folder) / "src")
    after = numbers_of(ROOT / "src")
    lines = list(differences(before, after))
    failed = sum(RAISED in columns for columns in before.values())
    print("\n".join(lines))
    print(
        f"{len(before)} evaluations, {failed} of them errors before; {len(lines)} numbers differ "
        f"from {commit}"
    )
    return int(bool(lines))


if __name__ == "__main__":
    if sys.argv[1:] == ["--numbers"]:
        print(json.dumps(numbers()))
    else:
        sys.exit(main(sys.argv[1]))
