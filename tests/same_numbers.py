"""The numbers of about two hundred made-up evaluations, to see that a change of the code leaves them as they are.

    python tests/same_numbers.py --output before.json
    python tests/same_numbers.py --against before.json    # after the change; exits with 1 if a number differs

Numbers are equal up to 12 digits. Sentences are not compared, nor columns that only one of the two has. For an interval
that differs, the line says how wide it is relative to the one before.
"""

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array

import sampled_metrics as sm

METRICS = ["recall@10", "ndcg@10", "ap", "auc"]
ESTIMATORS = ["decreasing", "free", "uncorrected", "rank-estimate", "bv-0.1", "bv-0.01", "cls", "mle", "mes", "smooth"]
PUBLISHED = Path(__file__).resolve().parents[1] / "published/ml-1m"


def drawn(rng: np.random.Generator, n: np.ndarray, exponent: float) -> np.ndarray:
    """Return a rank for each n, from a power law."""
    cumulated = np.cumsum(np.arange(1, n.max() + 1) ** -exponent)
    return 1 + np.searchsorted(cumulated, rng.random(len(n)) * cumulated[n - 1])


def tables(seed: int) -> Iterator[tuple[str, dict[str, np.ndarray], dict[str, np.ndarray], bool]]:
    """Yield the name, two recommenders as columns, and whether negatives are drawn with replacement."""
    for users in (12, 60, 400):
        for kind in ("one n", "n by user", "ties", "several rows", "replacement"):
            rng = np.random.default_rng([seed, users, len(kind)])
            rows = 2 * users if kind == "several rows" else users
            n = rng.choice([300, 310, 500], rows) if kind == "n by user" else np.full(rows, 400)
            tied = rng.integers(0, 5, rows) if kind == "ties" else np.zeros(rows, dtype=int)
            columns = []
            for exponent in (0.8, 1.1):
                above = np.minimum(drawn(rng, n, exponent) - 1, n - 1 - tied)
                user = np.arange(rows) % users
                columns.append({"user": user, "candidates": n, "above": above, "tied": tied})
            yield f"{users} users, {kind}", columns[0], columns[1], kind == "replacement"


def sampled(columns: dict[str, np.ndarray], m: int, replacement: bool, rng: np.random.Generator) -> Any:
    """Return ranks among m sampled negatives."""
    n, above = columns["candidates"], columns["above"] + rng.integers(0, columns["tied"] + 1)
    x = rng.binomial(m, above / (n - 1)) if replacement else rng.hypergeometric(above, n - 1 - above, m)
    data = {"user": columns["user"], "rank": x + 1, "candidates": n, "negatives": np.full(len(n), m)}
    return sm.sampled_ranks(data, replacement=replacement)


def numbers(table: Any) -> list[dict[str, Any]]:
    """Return the rows of a result by column; NaN becomes None."""
    rows = []
    for row in table.to_dict("records"):
        cells = {name: cell.item() if isinstance(cell, np.generic) else cell for name, cell in row.items()}
        rows.append(
            {
                name: None if cell != cell else cell if isinstance(cell, float | int) else str(cell)
                for name, cell in cells.items()
            }
        )
    return rows


def staged(users: int, items: int, depth: int | None, seed: int) -> Any:
    """Return staged ranks of users by made-up scores."""
    rng = np.random.default_rng(seed)
    popular = rng.random(items) ** 3
    scores = rng.random((users, items)) + popular
    held_out = np.array([rng.choice(items, p=popular / popular.sum()) for _ in range(users)])
    training = csr_array((users, items))
    return sm.staged_ranks(
        lambda user, item: scores[user, item] + 0.5 * (held_out[user] == item),
        training,
        held_out,
        k=10,
        depth=depth,
        order=popular,
    )


def lists(seed: int) -> Any:
    """Return ranked lists of two recommenders, with judged items."""
    rng = np.random.default_rng(seed)
    judged = {
        f"u{user}": {f"i{item}": int(rng.integers(0, 4)) for item in rng.integers(0, 40, 6)} for user in range(80)
    }
    runs = {
        name: {user: {f"i{item}": float(score) for item, score in enumerate(rng.random(40))} for user in judged}
        for name in "AB"
    }
    return sm.ranked_lists(runs, relevance=judged)


def results() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Yield the name and the rows of each evaluation."""
    for name, one, other, replacement in tables(1):
        a, b = sm.exact_ranks(one, exact=True), sm.exact_ranks(other, exact=True)
        yield f"evaluate, {name}", numbers(sm.evaluate(a, metrics=METRICS))
        yield f"compare exact, {name}", numbers(sm.compare({"A": a, "B": b}, metrics=METRICS))
        yield f"expect, {name}", numbers(sm.expect({"A": a, "B": b}, negatives=20, metrics=METRICS))
        rng = np.random.default_rng(2)
        x, y = sampled(one, 30, replacement, rng), sampled(other, 30, replacement, rng)
        yield f"correct, {name}", numbers(sm.correct(x, estimators=ESTIMATORS, metrics=METRICS))
        for label in ("decreasing", "bv-0.1", "uncorrected"):
            compared = sm.compare({"A": x, "B": y}, estimator=label, metrics=METRICS)
            yield f"compare {label}, {name}", numbers(compared)
    tables_of_seeds = [sm.exact_ranks(one, exact=True) for _, one, _, _ in list(tables(3))[10:11] * 3]
    other = sm.exact_ranks(next(columns for name, _, columns, _ in tables(4) if name == "400 users, one n"))
    yield "compare seeds", numbers(sm.compare({"A": tables_of_seeds, "B": other}, metrics=METRICS))
    x, y, z = (sm.exact_ranks(PUBLISHED / f"{name}.csv.gz") for name in "XYZ")
    yield "evaluate X", numbers(sm.evaluate(x, metrics=METRICS))
    yield "compare X, Y and Z", numbers(sm.compare({"X": x, "Y": y, "Z": z}, metrics=METRICS))
    yield "expect X, Y and Z", numbers(sm.expect({"X": x, "Y": y, "Z": z}, negatives=100, metrics=METRICS))
    by_user = {user: "ab"[user % 2] for user in range(400)}
    _, one, other, _ = next(table for table in tables(5) if table[0] == "400 users, ties")
    a, b = sm.exact_ranks(one, exact=True), sm.exact_ranks(other, exact=True)
    yield "evaluate groups", numbers(sm.evaluate({"A": a, "B": b}, metrics=METRICS, groups=by_user))
    for margin in (0.01, "5%"):
        compared = sm.compare({"A": a, "B": b}, metrics=METRICS, groups=by_user, margin=margin)
        yield f"compare groups, margin {margin}", numbers(compared)
    rng = np.random.default_rng(6)
    x, y = sampled(one, 30, False, rng), sampled(other, 30, False, rng)
    yield "correct groups", numbers(sm.correct({"A": x, "B": y}, metrics=METRICS, groups=by_user))
    yield (
        "compare decreasing, groups, margin",
        numbers(sm.compare({"A": x, "B": y}, metrics=METRICS, groups=by_user, margin="5%")),
    )
    z = sampled(one, 30, False, rng)
    for label in ("decreasing", "bv-0.1"):
        compared = sm.compare({"A": x, "B": y, "C": z}, metrics=METRICS, estimator=label)
        yield f"compare {label}, three", numbers(compared)
    yield "compare bv-0.1, seeds", numbers(sm.compare({"A": [x, z], "B": y}, metrics=METRICS, estimator="bv-0.1"))
    for depth in (None, 60):
        s, t = staged(300, 400, depth, 7), staged(300, 400, depth, 8)
        yield f"evaluate staged, depth {depth}", numbers(sm.evaluate(s, metrics=["recall@10", "ndcg@10"]))
        yield f"compare staged, depth {depth}", numbers(sm.compare({"A": s, "B": t}, metrics=["recall@10", "ndcg@10"]))
    of_lists = lists(9)
    yield "evaluate lists", numbers(sm.evaluate(of_lists, metrics=["ndcg@10", "ap", "mrr", "dcg@10", "precision@5"]))
    yield "compare lists", numbers(sm.compare(of_lists, metrics=["ndcg@10", "ap", "dcg@10"], margin=0.02))
    values = {"GMF": {"hr@10": 0.68, "ndcg@10": 0.41}, "NCF": {"hr@10": 0.70}}
    yield "published", numbers(sm.published(values, negatives=99, candidates=(2000, 3706), users=6040))


def differences(before: dict[str, Any], now: dict[str, Any]) -> Iterator[str]:
    """Yield a line for each evaluation whose numbers differ."""
    for name in sorted({*before, *now}):
        old, new = before.get(name, []), now.get(name, [])
        if len(old) != len(new):
            yield f"{name}: {len(old)} rows before, {len(new)} now"
            continue
        for first, second in zip(old, new, strict=True):
            changed = {column for column in {*first} & {*second} if not is_same(first[column], second[column])}
            if changed:
                labels = " ".join(str(first[key]) for key in ("group", "estimator", "metric", "a", "b") if key in first)
                cells = "; ".join(f"{column} {first[column]} -> {second[column]}" for column in sorted(changed))
                yield f"{name}, {labels}: {cells}{width_ratio(first, second)}"


def is_same(one: Any, two: Any) -> bool:
    """Return whether two cells are equal up to 12 digits."""
    if isinstance(one, float | int) and isinstance(two, float | int):
        return bool(np.isclose(one, two, rtol=1e-12, atol=1e-12))
    return bool(one == two)


def width_ratio(first: dict[str, Any], second: dict[str, Any]) -> str:
    """Return how wide an interval is, relative to the one before."""
    ends = [row.get(end) for row in (first, second) for end in ("low", "high")]
    if any(end is None for end in ends) or ends[1] == ends[0]:
        return ""
    return f" (width x {(ends[3] - ends[2]) / (ends[1] - ends[0]):.3f})"


def main() -> int:
    """Write the numbers, or compare them with those of a file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, help="json to write")
    parser.add_argument("--against", type=Path, help="json of an earlier run")
    given = parser.parse_args()
    now = dict(results())
    if given.output:
        given.output.write_text(json.dumps(now, indent=0), encoding="utf-8")
    lines = list(differences(json.loads(given.against.read_text(encoding="utf-8")), now)) if given.against else []
    print("\n".join([*lines, f"{len(now)} evaluations, {len(lines)} rows differ"]))
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
