"""Print the size of each package, and fail if one is larger than it may be.

python .ci/sizes.py

The size is the number of nodes of the syntax trees, so layout, comments and docstrings' length do
not count, and a template has as many as it has lines. Lines, files and words have no limits.
"""

import ast
import sys
from collections import Counter
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
STUDY = "sampled_metrics_study"


class Size(NamedTuple):
    """The size of a package before, and the largest that it may have."""

    before: int
    limit: int


SIZES = {
    "core": Size(95_002, 82_000),
    "lists": Size(2_956, 3_500),
    "papers": Size(7_886, 10_500),
    "ranking": Size(25_017, 22_500),
    "reporting": Size(16_041, 13_500),
    "stages": Size(19_462, 14_500),
    "planning": Size(10_936, 13_000),
    "validation": Size(5_336, 6_000),
    "adapters": Size(2_801, 3_500),
    "cli": Size(5_850, 5_500),
    "base": Size(5_567, 6_000),
    STUDY: Size(51_922, 51_000),
}
"""By package: the size at 61786d19, before inputs had one contract, and the limit."""
NEW = Size(0, 15_000)
"""Those of a package that SIZES lacks."""


def package_of(path: Path) -> str:
    """Return the package of a file of the library or of the study; a module beside the packages is
    of the base.
    """
    parts = path.relative_to(ROOT / "src").parts
    if parts[0] == STUDY:
        return STUDY
    return parts[1] if len(parts) > 2 else "base"


def nodes(path: Path) -> int:
    """Return the nodes of the syntax tree of a module, or the lines of a template."""
    if path.suffix == ".py":
        return sum(1 for _ in ast.walk(ast.parse(path.read_bytes())))
    return len(path.read_text(encoding="utf-8").splitlines())


def sizes() -> Counter[str]:
    """Return the size of each package."""
    counts: Counter[str] = Counter()
    for path in (ROOT / "src").rglob("*"):
        is_counted = path.suffix in (".py", ".html", ".css") and ".egg-info" not in str(path)
        if is_counted:
            counts[package_of(path)] += nodes(path)
    return counts


def main() -> int:
    """Print the sizes, and return 1 if a package is too large."""
    counts = sizes()
    known = {name: SIZES.get(name, NEW) for name in sorted(counts)}
    too_large = [name for name, size in known.items() if counts[name] > size.limit]
    print(f"{'package':24}{'nodes':>9}{'before':>9}{'limit':>9}")
    for name, size in known.items():
        print(f"{name:24}{counts[name]:9,}{size.before:9,}{size.limit:9,}")
    print(f"{'all':24}{counts.total():9,}{sum(size.before for size in SIZES.values()):9,}")
    for name in too_large:
        print(f"error: {name} has more than {known[name].limit:,} nodes", file=sys.stderr)
    return 1 if too_large else 0


if __name__ == "__main__":
    sys.exit(main())
