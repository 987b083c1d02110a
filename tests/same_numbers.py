"""The numbers of about sixty made-up evaluations, to see that a change of the code leaves them as they are.

    python tests/same_numbers.py --output before.json
    python tests/same_numbers.py --against before.json    # after the change; exits with 1 if a number differs

Numbers are equal up to 12 digits. Sentences are not compared.
"""

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import sampled_metrics as sm

METRICS = ["recall@10", "ndcg@10", "ap", "auc"]
ESTIMATORS = ["decreasing", "free", "convex", "uncorrected", "bv-0.1", "cls", "mle"]
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


def numbers(table: Any) -> list[list[Any]]:
    """Return the rows of a result; NaN becomes None."""
    rows = []
    for row in table.itertuples(index=False):
        cells = [cell.item() if isinstance(cell, np.generic) else cell for cell in row]
        rows.append([None if cell != cell else cell if isinstance(cell, float | int) else str(cell) for cell in cells])
    return rows


def results() -> Iterator[tuple[str, list[list[Any]]]]:
    """Yield the name and the rows of each evaluation."""
    for name, one, other, replacement in tables(1):
        a, b = sm.exact_ranks(one, exact=True), sm.exact_ranks(other, exact=True)
        yield f"evaluate, {name}", numbers(sm.evaluate(a, metrics=METRICS))
        yield f"compare exact, {name}", numbers(sm.compare({"A": a, "B": b}, metrics=METRICS))
        yield f"expect, {name}", numbers(sm.expect({"A": a, "B": b}, negatives=20, metrics=METRICS))
        rng = np.random.default_rng(2)
        x, y = sampled(one, 30, replacement, rng), sampled(other, 30, replacement, rng)
        yield f"correct, {name}", numbers(sm.correct(x, estimators=ESTIMATORS, metrics=METRICS, n_resamples=200))
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


def differences(before: dict[str, Any], now: dict[str, Any]) -> Iterator[str]:
    """Yield a line for each evaluation whose numbers differ."""
    for name in sorted({*before, *now}):
        old, new = before.get(name, []), now.get(name, [])
        if len(old) != len(new):
            yield f"{name}: {len(old)} rows before, {len(new)} now"
            continue
        for first, second in zip(old, new, strict=True):
            pairs = list(zip(first, second, strict=False))
            same = all(
                np.isclose(one, two, rtol=1e-12, atol=1e-12)
                if isinstance(one, float | int) and isinstance(two, float | int)
                else one == two
                for one, two in pairs
            )
            if len(first) != len(second) or not same:
                yield f"{name}: {first} before, {second} now"


def main() -> int:
    """Write the numbers, or compare them with those of a file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, help="json to write")
    parser.add_argument("--against", type=Path, help="json of an earlier run")
    given = parser.parse_args()
    now = dict(results())
    if given.output:
        given.output.write_text(json.dumps(now, indent=0), encoding="utf-8")
    found = list(differences(json.loads(given.against.read_text(encoding="utf-8")), now)) if given.against else []
    print("\n".join([*found, f"{len(now)} evaluations, {len(found)} rows differ"]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
