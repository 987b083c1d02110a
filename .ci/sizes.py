"""Print the sizes of the project: files and lines, and the words of the pages.

python .ci/sizes.py
"""

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
    return [
        path
        for path in paths
        if path.relative_to(ROOT).parts[:2] not in {("docs", "_build"), ("docs", "paper")}
    ]


def sizes() -> dict[str, int]:
    """Return the number of files and of lines of each folder; of the pages, with README.md, of
    words.
    """
    counts = {}
    for name, (folder, patterns) in FOLDERS.items():
        paths = [*files(folder, patterns), *([ROOT / "README.md"] if name == "pages" else [])]
        texts = [path.read_text(encoding="utf-8") for path in paths]
        unit = "words" if name == "pages" else "lines"
        counts[f"{name}-files"] = len(paths)
        counts[f"{name}-{unit}"] = sum(
            len(text.split() if unit == "words" else text.splitlines()) for text in texts
        )
    return counts


if __name__ == "__main__":
    for name, count in sizes().items():
        print(f"{name:18} {count:7,}")
