"""Compare the numbers of many evaluations with those of another commit, to 12 digits.

python tests/same_numbers.py 087fe4a7     prints the numbers that differ
python tests/same_numbers.py --numbers    prints those of this commit, as JSON

The numbers are those of the public functions. Text, order of columns and findings are not
compared. A difference is printed with the evaluation, the row and the column.
"""

import json
import os
import subprocess
import sys
import tempfile
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

ROOT = Path(__file__).parents[1]
USERS = 400
CANDIDATES = 1_000
METRICS = ["recall@10", "ndcg@10", "ap", "auc"]
RAISED = "raised"  # the column of an evaluation that ended with an error
FAMILIES = (["decreasing", "free"], ["bv-0.1", "cls", "uncorrected"], ["mle", "mes", "smooth"])

Evaluation = tuple[str, Any]
"""The name of an evaluation, and a function without arguments that returns its table."""
Numbers = dict[str, dict[str, list[Any]]]
"""The numeric columns of evaluations, by name."""


def exact_evaluations(exact):
    """Yield the evaluations of exact ranks."""
    import sampled_metrics as sm

    groups = {user: "even" if user % 2 == 0 else "odd" for user in range(USERS)}
    for level in (0.8, 0.99):
        options: dict[str, Any] = {"metrics": METRICS, "confidence_level": level}
        yield f"evaluate {level}", partial(sm.evaluate, exact, **options)
        for margin in (None, 0.01, "5%"):
            yield (
                f"compare {margin} {level}",
                partial(sm.compare, exact, margin=margin, **options),
            )
    yield "evaluate groups", partial(sm.evaluate, exact, groups=groups)
    yield "compare groups", partial(sm.compare, exact, metrics=METRICS, groups=groups)
    yield "expect", partial(sm.expect, exact, negatives=20, metrics=METRICS)
    pilot = {name: sm.exact_ranks(exact[name].to_frame()[:120]) for name in ("A", "C")}
    yield "plan", partial(sm.plan, pilot, metric="ndcg@10", negatives=[20], estimators="bv-0.1")


def sampled_evaluations(factors, split):
    """Yield the evaluations of sampled ranks, and of published values."""
    import sampled_metrics as sm

    for negatives in (20, 99):
        tables = {
            name: sm.rank_among_negatives(scores, *split, negatives=negatives, seed=seed)
            for seed, (name, scores) in enumerate(factors.items())
        }
        for name, table in tables.items():
            yield f"rank {name} m={negatives}", table.to_frame
        for labels in FAMILIES:
            options: dict[str, Any] = {"estimators": labels, "metrics": METRICS}
            yield f"correct m={negatives} {labels}", partial(sm.correct, tables, **options)
        for label, margin in product(("decreasing", "bv-0.1", "mle"), (None, 0.02)):
            options = {"estimator": label, "metrics": METRICS, "margin": margin}
            yield (
                f"compare m={negatives} {label} {margin}",
                partial(sm.compare, tables, **options),
            )
    runs = {
        name: [
            sm.rank_among_negatives(factors[name], *split, negatives=50, seed=seed)
            for seed in range(3)
        ]
        for name in ("A", "B")
    }
    yield "correct seeds", partial(sm.correct, runs, estimators=["bv-0.1"], metrics=METRICS)
    yield "compare seeds", partial(sm.compare, runs, estimator="bv-0.1", metrics=METRICS)
    values = {"A": {"recall@10": 0.42, "ndcg@10": 0.25}, "B": {"recall@1": 0.12, "recall@10": 0.31}}
    setting: dict[str, Any] = {"negatives": 99, "candidates": 3_500, "users": 2_000}
    yield "published", partial(sm.published, values, metrics=["recall@10", "ndcg@10"], **setting)


def list_evaluations(rng):
    """Yield the evaluations of ranked lists."""
    import sampled_metrics as sm

    def first_ten():
        items = np.argsort(rng.random((60, 40)), axis=1)[:, :10]
        frame = pd.DataFrame(items, columns=range(1, 11)).rename_axis("user")
        return frame.reset_index().melt("user", var_name="rank", value_name="item")

    judged = first_ten()[["user", "item"]][::3]
    lists = {name: sm.ranked_lists(first_ten(), relevance=judged) for name in ("A", "B")}
    metrics = ["recall@10", "ndcg@10", "ap", "precision@5", "mrr"]
    yield "evaluate lists", partial(sm.evaluate, lists, metrics=metrics)
    yield "compare lists", partial(sm.compare, lists, metrics=metrics)


def staged_evaluations(factors, split):
    """Yield the evaluations of staged ranks, and their rows."""
    import sampled_metrics as sm

    orders = {
        "popularity": "popularity",
        "cosine": lambda user: np.cos(user + np.arange(CANDIDATES)),
    }
    scores = {name: users @ items.T for name, (users, items) in factors.items()}
    for depth, order in product((30, 100, None), orders):
        tables = {
            name: sm.staged_ranks(
                sm.Ranker(lambda users, items, matrix=scores[name]: matrix[users, items]),
                *split,
                depth=depth,
                order=orders[order],
            )
            for name in ("A", "B")
        }
        yield f"staged {depth} {order}", tables["A"].to_frame
        yield f"evaluate staged {depth} {order}", partial(sm.evaluate, tables)
        yield f"compare staged {depth} {order}", partial(sm.compare, tables, metrics="recall@10")


def evaluations():
    """Yield all evaluations."""
    import sampled_metrics as sm

    rng = np.random.default_rng(1)
    training = rng.random((USERS, CANDIDATES)) < 0.02
    held_out = rng.integers(0, CANDIDATES, USERS)
    training[np.arange(USERS), held_out] = False
    split = (training, held_out)
    items = rng.normal(size=(CANDIDATES, 32))
    factors = {
        name: (items[held_out] + noise * rng.normal(size=(USERS, 32)), items)
        for name, noise in {"A": 4.0, "B": 5.0, "C": 5.0}.items()
    }
    exact = {name: sm.rank(scores, *split) for name, scores in factors.items()}
    for name, table in exact.items():
        yield f"rank {name}", table.to_frame
    yield from exact_evaluations(exact)
    yield from sampled_evaluations(factors, split)
    yield from list_evaluations(rng)
    yield from staged_evaluations(factors, split)


def numbers():
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


def numbers_of(source, environment=None):
    """Return the numbers by the library in a folder, from a process of its own."""
    variables = {**os.environ, **(environment or {}), "PYTHONPATH": str(source)}
    command = [sys.executable, __file__, "--numbers"]
    ran = subprocess.run(command, env=variables, check=True, capture_output=True, text=True)
    return dict(json.loads(ran.stdout))


def differences(before, after, tolerance=1e-12):
    """Yield a line for each column of before that is another one now."""
    for name, columns in before.items():
        for column, values in columns.items():
            values_now = after.get(name, {}).get(column, [])
            if column == RAISED:
                is_same = values == values_now
            else:
                is_same = len(values) == len(values_now) and np.allclose(
                    values, values_now, rtol=tolerance, atol=tolerance, equal_nan=True
                )
            if not is_same:
                yield f"{name}: {column} is {values_now[:5]}, before {values[:5]}"


def main(commit):
    """Print the differences from a commit; return 1 if there is one."""
    with tempfile.TemporaryDirectory() as folder:
        archive = subprocess.run(
            ["git", "archive", commit, "src"], cwd=ROOT, check=True, capture_output=True
        ).stdout
        subprocess.run(["tar", "-x", "-C", folder], input=archive, check=True)
        before = numbers_of(Path(folder) / "src")
    lines = list(differences(before, numbers_of(ROOT / "src")))
    failed = sum(RAISED in columns for columns in before.values())
    print("\n".join(lines))
    print(
        f"{len(before)} evaluations, {failed} of them errors before; {len(lines)} columns differ "
        f"from {commit}"
    )
    return int(bool(lines))


if __name__ == "__main__":
    if sys.argv[1:] == ["--numbers"]:
        print(json.dumps(numbers()))
    else:
        sys.exit(main(sys.argv[1]))
