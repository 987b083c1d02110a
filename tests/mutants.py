"""Change one thing in the source at a time, and see whether the tests notice it.

python tests/mutants.py --chosen inference  # the changes of CHOSEN in a package, or in all of them
without a name
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src"
PACKAGES = {
    "sampled_metrics/core": ["core"],
    "sampled_metrics/lists": ["lists"],
    "sampled_metrics/papers": ["papers"],
    "sampled_metrics/planning": ["planning"],
    "sampled_metrics/ranking": ["ranking", "study/recommenders"],
    "sampled_metrics/stages": ["stages"],
    "sampled_metrics/validation": ["validation"],
    "sampled_metrics_study": ["study"],
}
"""Package of the library → the folders of tests that are run for a change in it."""
CHOSEN = (
    (
        "sampled_metrics/core/evaluation/compare.py",
        "rates = np.full(len(part.metrics), alpha / pairs)",
        "rates = np.full(len(part.metrics), alpha)",
    ),
    (
        "sampled_metrics/core/evaluation/compare.py",
        "setting, confidence_level=level_of_group)",
        "setting, confidence_level=confidence_level)",
    ),
    ("sampled_metrics/core/evaluation/correct.py", "row[end] > 1 + 1e-9", "row[end] > 2"),
    (
        "sampled_metrics/core/evaluation/correct.py",
        'max(4 * row["standard_error"], 0.01)',
        'max(4 * row["standard_error"], 1.0)',
    ),
    (
        "sampled_metrics/core/evaluation/correct.py",
        "biases[1:].std(axis=0, ddof=1)",
        "biases[1:].std(axis=0, ddof=1) / 3",
    ),
    (
        "sampled_metrics/core/evaluation/correct.py",
        "other_is_possible = m < n",
        "other_is_possible = m <= n",
    ),
    (
        "sampled_metrics/core/evaluation/expect.py",
        "variances.sum(axis=0)) /",
        "variances.mean(axis=0)) /",
    ),
    ("sampled_metrics/core/evaluation/expect.py", "and gap < -EQUAL", "and gap < 1"),
    ("sampled_metrics/papers/published.py", "0.5 * 10.0**exponent if", "10.0**exponent if"),
    (
        "sampled_metrics/papers/published.py",
        "(1 - confidence_level) / len(values)",
        "(1 - confidence_level)",
    ),
    (
        "sampled_metrics/papers/published.py",
        "b.ends - a.ends[:, ::-1]",
        "b.ends - a.ends",
    ),
    (
        "sampled_metrics/core/evaluation/standings.py",
        "key=lambda name: -values[name])",
        "key=lambda name: values[name])",
    ),
    (
        "sampled_metrics/core/evaluation/values.py",
        "ratio * subtrahend.bounds[:, ::-1, ::-1]",
        "ratio * subtrahend.bounds[:, ::-1]",
    ),
    ("sampled_metrics/core/evaluation/verdict.py", " or difference > high + EQUAL", ""),
    (
        "sampled_metrics/core/evaluation/compare.py",
        "excess_a = -ends[::-1] - margin.size",
        "excess_a = -ends - margin.size",
    ),
    (
        "sampled_metrics/core/evaluation/compare.py",
        "(places_b - places_a > EQUAL).mean",
        "(places_a - places_b > EQUAL).mean",
    ),
    (
        "sampled_metrics/planning/plan.py",
        "return self.alpha / max(1, len(self.pairs))",
        "return self.alpha",
    ),
    (
        "sampled_metrics/validation/standing.py",
        "later**_POWER / (later - 1)",
        "later / (later - 1)",
    ),
    (
        "sampled_metrics/validation/standing.py",
        "(self.epochs - 1) / (later - 1)",
        "(self.epochs - 1)",
    ),
    (
        "sampled_metrics/validation/standing.py",
        "leaders = {self.best, self.reference}",
        "leaders = {self.reference}",
    ),
    ("sampled_metrics/validation/standing.py", "if is_reference or is_best:", "if is_reference:"),
    (
        "sampled_metrics/validation/standing.py",
        "epoch if is_reference else self.reference",
        "self.reference",
    ),
    ("sampled_metrics/validation/standing.py", "squares - 2 / 3 * cubes / reach", "squares"),
    (
        "sampled_metrics/validation/validator.py",
        "return epochs_since >= patience",
        "return epochs_since > patience",
    ),
    (
        "sampled_metrics/core/estimators/linear.py",
        "rest * x // (design.negatives +",
        "rest * x // (design.negatives + 1 +",
    ),
    ("sampled_metrics/core/estimators/linear.py", "* (n + k) / (n - k)", "* (n - k) / (n + k)"),
    (
        "sampled_metrics/core/estimators/linear.py",
        "if condition > WORST_CONDITION:",
        "if condition > 100 * WORST_CONDITION:",
    ),
    ("sampled_metrics/core/estimators/linear.py", "(1 - self.gamma) * singular**2", "singular**2"),
    (
        "sampled_metrics/core/estimators/linear.py",
        "np.min([weights.min(axis=1)",
        "np.max([weights.min(axis=1)",
    ),
    (
        "sampled_metrics/core/estimators/rank_distribution.py",
        "np.maximum(square - mean**2, 0.0)",
        "square",
    ),
    (
        "sampled_metrics/core/estimators/rank_distribution.py",
        "sample @ (negatives + 1)",
        "sample @ negatives",
    ),
    ("sampled_metrics/core/estimators/shapes.py", "max(1, candidates // 2)", "candidates"),
    ("sampled_metrics/core/estimators/shapes.py", "[min, max] if several else [max]", "[max]"),
    (
        "sampled_metrics/core/estimators/smooth.py",
        "PRIOR * (1 / exponents - 1), curvature",
        "PRIOR / exponents, curvature",
    ),
    ("sampled_metrics/core/estimators/smooth.py", "+ normalising / 2", "+ normalising"),
    (
        "sampled_metrics/core/estimators/strict_bounds.py",
        "return further / drawn",
        "return (further - 1) / drawn",
    ),
    (
        "sampled_metrics/core/estimators/strict_bounds.py",
        "deviations * float(np.sqrt(share))",
        "deviations",
    ),
    (
        "sampled_metrics/core/inference/expectation.py",
        "mean_of_rows(variances / rows_of_user, user)",
        "mean_of_rows(variances, user)",
    ),
    (
        "sampled_metrics/core/inference/families.py",
        "np.arange(len(p_values), 0, -1)",
        "np.full(len(p_values), len(p_values))",
    ),
    ("sampled_metrics/core/inference/families.py", "alpha / pairs, alpha))", "0.0, alpha))"),
    (
        "sampled_metrics/core/inference/families.py",
        "alpha / pairs, alpha))",
        "alpha / pairs, 1.0))",
    ),
    (
        "sampled_metrics/papers/known_means.py",
        "return 1.0 + self.users * max",
        "return 1e9 + self.users * max",
    ),
    (
        "sampled_metrics/core/inference/means.py",
        "return float(limit_of_many + surplus_of_few / deciding)",
        "return float(limit_of_many)",
    ),
    (
        "sampled_metrics/core/inference/means.py",
        "_effective_number(above, counts) + 1)",
        "_effective_number(above, counts))",
    ),
    (
        "sampled_metrics/core/inference/means.py",
        "low = mean - share * (mean - limits[0])",
        "low = mean - share * mean",
    ),
    (
        "sampled_metrics/core/inference/seeds.py",
        "/ (max(users - 1, 1) * (seeds - 1)) /",
        "/ (users * seeds) /",
    ),
    (
        "sampled_metrics/core/inference/strict.py",
        "IMPOSSIBLE if assumption == FREE else SIGNIFICANCE",
        "SIGNIFICANCE",
    ),
    (
        "sampled_metrics/core/inference/strict.py",
        "counts_outside = sample.counts - np.asarray(shares.sum(axis=0))",
        "counts_outside = sample.counts",
    ),
    (
        "sampled_metrics/core/sampling/distributions.py",
        "lambda tied: np.maximum(tied, 1)",
        "lambda tied: tied + 1",
    ),
    (
        "sampled_metrics/core/sampling/draws.py",
        "rng.binomial(m - drawn_above, share)",
        "rng.binomial(m, share)",
    ),
    (
        "sampled_metrics/core/sampling/draws.py",
        "event_weights**2 * variances",
        "event_weights * variances",
    ),
    (
        "sampled_metrics/core/sampling/draws.py",
        "(gap - step / 2) / deviation",
        "(gap - step) / deviation",
    ),
    (
        "sampled_metrics/core/sampling/outcomes.py",
        "classes[-1][0].candidates <= FACTOR",
        "classes[-1][-1].candidates <= FACTOR",
    ),
    ("sampled_metrics/core/sampling/outcomes.py", "+= group.events * values", "+= values"),
    (
        "sampled_metrics/core/sampling/outcomes.py",
        "(k for k in cutoffs if last < k < following)",
        "(k + 1 for k in cutoffs if last < k < following)",
    ),
    ("sampled_metrics/core/metrics.py", "np.minimum(relevant, k)", "relevant"),
    (
        "sampled_metrics/core/metrics.py",
        "self.of_rank(above + 1 + tied / 2",
        "self.of_rank(above + 1 + tied",
    ),
    (
        "sampled_metrics/core/metrics.py",
        "before + 0.5, last[events] - before - 1",
        "before, last[events] - before - 1",
    ),
    (
        "sampled_metrics/core/metrics.py",
        "if measure.label == known_measure.label:",
        "if label == known_label:",
    ),
    ("sampled_metrics/core/ranks/exact.py", "last >= n,", "last > n,"),
    (
        "sampled_metrics/core/ranks/exact.py",
        "((self.tied + 1.0) ** 2 - 1) / 12",
        "(self.tied + 1.0) ** 2 / 12",
    ),
    ("sampled_metrics/core/ranks/sampled.py", "(x < 0) | (x > m)", "x < 0"),
    (
        "sampled_metrics/stages/table.py",
        "smallest_sums = np.cumsum(falls * high)",
        "smallest_sums = np.cumsum(falls)",
    ),
    (
        "sampled_metrics/stages/candidate_order.py",
        "self._candidates[starts[index] + place]",
        "self._candidates[place]",
    ),
    (
        "sampled_metrics/ranking/inputs.py",
        "np.argsort(order)[excluded.indices]",
        "order[excluded.indices]",
    ),
    (
        "sampled_metrics/ranking/labels.py",
        "ordered = data if order is None else data.iloc[order]",
        "ordered = data",
    ),
    (
        "sampled_metrics/ranking/labels.py",
        "return ordered if order is None else ordered.iloc[:, order]",
        "return ordered",
    ),
    (
        "sampled_metrics/ranking/labels.py",
        "return users, items[users.columns]",
        "return users, items",
    ),
    ("sampled_metrics/ranking/negatives.py", "(tie * (tied + 1))", "(tie * tied)"),
    (
        "sampled_metrics/ranking/negatives.py",
        "(np.diff(pair, prepend=-1) == 0) & (not replacement)",
        "np.diff(pair, prepend=-1) == 0",
    ),
    (
        "sampled_metrics/stages/scoring.py",
        "np.isnan(scores) | (scores == math.inf)",
        "np.isnan(scores)",
    ),
    (
        "sampled_metrics/ranking/split.py",
        "self.training.shape[1] + 1 - events[self.user]",
        "self.training.shape[1] - events[self.user]",
    ),
    (
        "sampled_metrics_study/data/split.py",
        'side="right")  # where the events',
        'side="left")  # where the events',
    ),
    (
        "sampled_metrics_study/data/split.py",
        "lambda positions, events, rng: -positions",
        "lambda positions, events, rng: positions",
    ),
)
"""File, text that is there once, and the text in its place: changes by hand, of each of which a
test should fail.
"""
TIMEOUT = 300
"""Seconds after which a change counts as found, as it makes the tests hang."""
Mutant = tuple[Path, int, str, str]
"""File, line, the changed source of the file, and what was changed in words."""


def package_of(name: str) -> str:
    """Return the package of a file, by its path below src."""
    return next(package for package in PACKAGES if name.startswith(f"{package}/"))


def tests_of(path: Path, package: str) -> list[str]:
    """Return the files of tests that are run for a change of a file: first those about it, which
    fail soonest.
    """
    module = ".".join(path.relative_to(SOURCE).with_suffix("").parts)
    places = [ROOT / "tests" / place for place in PACKAGES[package]]
    files = [
        file
        for place in places
        for file in (sorted(place.rglob("test_*.py")) if place.is_dir() else [place])
    ]

    def is_other(file: Path) -> bool:
        return path.stem not in file.name and f"{module} " not in file.read_text(encoding="utf-8")

    return [str(file) for file in sorted(files, key=is_other)]


def is_found(path: Path, source: str, package: str) -> bool:
    """Run the tests of a package on a copy of the library with another source of one file."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(ROOT / "src", f"{folder}/src", ignore=shutil.ignore_patterns("__pycache__"))
        (Path(folder) / path.relative_to(ROOT)).write_text(source, encoding="utf-8")
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-n", "0", "-p", "no:cacheprovider"]
        command += ["-o", f"pythonpath={folder}/src tests", *tests_of(path, package)]
        environment = os.environ | {"PYTHONPATH": f"{folder}/src", "OMP_NUM_THREADS": "1"}
        try:
            ran = subprocess.run(
                command,
                cwd=ROOT,
                env=environment,
                capture_output=True,
                timeout=TIMEOUT,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return True
    return ran.returncode != 0


def chosen_mutants(packages: list[str]) -> Iterator[Mutant]:
    """Yield the changes of CHOSEN in some packages; a text that is not there once is an error."""
    for name, before, after in CHOSEN:
        if package_of(name) not in packages:
            continue
        head, *tails = (SOURCE / name).read_text(encoding="utf-8").split(before)
        if len(tails) != 1:
            raise SystemExit(f"{name}: {before!r} is there {len(tails)} times")
        yield SOURCE / name, head.count("\n") + 1, head + after + tails[0], f"{before} → {after}"


def main() -> None:
    """Make the changes of the packages that the command line names."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--chosen", nargs="*", choices=PACKAGES, required=True)
    options = parser.parse_args()
    changes_by_package = Counter[str]()
    noticed_by_package = Counter[str]()
    # all are looked up first
    for path, place, source, what in [*chosen_mutants(options.chosen or [*PACKAGES])]:
        package = package_of(path.relative_to(SOURCE).as_posix())
        noticed = is_found(path, source, package)
        changes_by_package[package] += 1
        noticed_by_package[package] += noticed
        print(
            f"{'found' if noticed else 'NOT FOUND'}  {path.relative_to(SOURCE)}:{place}  {what}",
            flush=True,
        )
    for package, number in changes_by_package.items():
        print(f"{package}: {noticed_by_package[package]} of {number} found")


if __name__ == "__main__":
    main()
