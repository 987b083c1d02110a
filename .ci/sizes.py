"""Print the sizes of the project, and fail if one is above its limit in pyproject.toml. The limits only ever fall.

python .ci/sizes.py
"""

import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDERS = {
    "source": ("src", ["*.py"]),
    "tests": ("tests", ["*.py"]),
    "benchmarks": ("benchmarks", ["*.py"]),
    "scripts": ("scripts", ["*.py"]),
    "rules": ("workflow", ["*.smk"]),
    "pages": ("docs", ["*.md"]),
}
"""Folders, and patterns of the files in them that count."""


def files(folder: str, patterns: list[str]) -> list[Path]:
    """Return the files of a folder that somebody has written: no builds, and not the paper."""
    paths = [path for pattern in patterns for path in (ROOT / folder).rglob(pattern)]
    return [path for path in paths if path.relative_to(ROOT).parts[:2] not in {("docs", "_build"), ("docs", "paper")}]


def sizes() -> dict[str, int]:
    """Return the number of files and of lines of each folder; of the pages, with README.md, of words."""
    counts = {}
    for name, (folder, patterns) in FOLDERS.items():
        paths = [*files(folder, patterns), *([ROOT / "README.md"] if name == "pages" else [])]
        texts = [path.read_text(encoding="utf-8") for path in paths]
        unit = "words" if name == "pages" else "lines"
        counts[f"{name}-files"] = len(paths)
        counts[f"{name}-{unit}"] = sum(len(text.split() if unit == "words" else text.splitlines()) for text in texts)
    return counts


def main() -> int:
    """Print each size beside its limit; return 1 if one is above it."""
    limits = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["sampled-metrics"]["sizes"]
    counts = sizes()
    for name, count in counts.items():
        print(f"{name:18} {count:7,} of {limits[name]:7,}" + ("  above the limit" if count > limits[name] else ""))
    return int(any(count > limits[name] for name, count in counts.items()))


if __name__ == "__main__":
    sys.exit(main())
