"""Draw docs/architecture.svg: the packages of the library, their files, and the imports between packages.

python docs/architecture.py
"""

import sys
import tomllib
from collections import Counter
from pathlib import Path

import grimp
import matplotlib as mpl
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src/sampled_metrics"
PICTURE = ROOT / "docs/architecture.svg"
BASE = "base"
FILES_IN_COLUMN = 5
LANE, HEIGHT, GAP, LETTER = 0.42, 0.96, 0.09, 0.055  # inches
LINES = 400  # as many lines of code make a box an inch wide
LEGEND = """A box is a package of the library, with its files.
The number in it is its lines of code. The more lines, the wider the box.
The line to the right of a package leads to what it imports: go right to a circle,
then down along the arrow. The number in the circle counts the imports.
Packages of one band form a layer."""


def layers() -> list[list[str]]:
    """The packages by layer, from the top, as the contract in pyproject.toml has them."""
    config = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    contract = next(contract for contract in config["contracts"] if contract["containers"] == [PACKAGE.name])
    rows = [[package.strip() for package in layer.replace(":", "|").split("|")] for layer in contract["layers"]]
    return [*(row for row in rows if "cli" in row or (PACKAGE / row[0]).is_dir()), [BASE]]


def files() -> dict[str, list[Path]]:
    """Return the files of each package. Modules outside the packages are the base."""
    packages: dict[str, list[Path]] = {package: [] for layer in layers() for package in layer}
    for path in sorted(PACKAGE.rglob("*.py")):
        first = path.relative_to(PACKAGE).with_suffix("").parts[0]
        if not first.startswith("__"):
            packages[first if first in packages else BASE].append(path)
    return packages


def imports() -> Counter[tuple[str, str]]:
    """Count the imports from the files of one package in those of another; imports for type checking are left out."""
    sys.path.insert(0, str(PACKAGE.parent))
    graph = grimp.build_graph(PACKAGE.name, exclude_type_checking_imports=True, cache_dir=None)
    package_of = {module_of(path): package for package, paths in files().items() for path in paths}
    pairs = (
        (package_of[module], package_of[imported])
        for module in package_of
        for imported in sorted(graph.find_modules_directly_imported_by(module))
        if imported in package_of
    )
    return Counter(pair for pair in pairs if pair[0] != pair[1])


def module_of(path: Path) -> str:
    """The name by which a file is imported."""
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def description() -> str:
    """Return the picture in words: the files of each package, and the imports between each two."""
    packages = [f"{package}: {', '.join(labels(paths))}" for package, paths in files().items()]
    arrows = [f"{package} -> {imported}: {count}" for (package, imported), count in sorted(imports().items())]
    return "\n".join([*packages, *arrows])


def labels(paths: list[Path]) -> list[str]:
    """The names of a package's files; those in a folder of the package have the folder's name before theirs."""
    named = [path.relative_to(PACKAGE).with_suffix("") for path in paths if path.stem != "__init__"]
    return ["/".join(path.parts[1:] or path.parts) for path in named]


def columns(names: list[str]) -> list[list[str]]:
    """The names of a package's files in columns."""
    return [names[start : start + FILES_IN_COLUMN] for start in range(0, len(names), FILES_IN_COLUMN)]


def draw(path: Path = PICTURE) -> None:
    """Write the picture: packages on the diagonal, as wide as they have lines; imports to the right and below."""
    packages = files()
    lines = {
        package: sum(len(path.read_text(encoding="utf-8").splitlines()) for path in paths)
        for package, paths in packages.items()
    }
    needed = {
        package: max(
            0.6 + 1.5 * LETTER * len(package),
            0.25 + sum(0.12 + LETTER * max(map(len, column)) for column in columns(labels(paths))),
        )
        for package, paths in packages.items()
    }
    widths = {package: max(lines[package] / LINES, needed[package]) for package in packages}
    lane_of = {package: row for row, package in enumerate(packages)}
    left = max(widths[package] - LANE * lane_of[package] for package in packages) + GAP
    right = {package: left + LANE * row for package, row in lane_of.items()}
    width, height = max(right.values()) + LANE, HEIGHT * len(packages)

    mpl.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "architecture", "font.family": "sans-serif"})
    figure = plt.figure(figsize=(width, height))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, width), ylim=(height, 0))
    axes.axis("off")
    for number, layer in enumerate(layers()):
        top, bottom = HEIGHT * lane_of[layer[0]], HEIGHT * (lane_of[layer[-1]] + 1)
        axes.add_patch(Rectangle((0, top), width, bottom - top, facecolor="0.93" if number % 2 else "1", zorder=0))
    for package, paths in packages.items():
        draw_package(
            axes, right[package], HEIGHT * lane_of[package], widths[package], package, lines[package], labels(paths)
        )
    draw_imports(axes, imports(), right, {package: HEIGHT * (row + 0.5) for package, row in lane_of.items()})
    axes.text(GAP, height - GAP, LEGEND, size=6.5, va="bottom", linespacing=1.5)
    figure.savefig(path, metadata={"Date": None, "Title": "Packages of sampled_metrics", "Description": description()})


def draw_package(axes: Axes, right: float, top: float, width: float, name: str, lines: int, names: list[str]) -> None:
    """Draw a box with the name of a package, its lines of code and its files."""
    x, y = right - width, top + GAP
    axes.add_patch(Rectangle((x, y), width, HEIGHT - 2 * GAP, facecolor="white", edgecolor="black", zorder=3))
    axes.text(x + 0.07, y + 0.13, name, weight="bold", size=9, va="center", zorder=4)
    axes.text(right - 0.06, y + 0.13, f"{lines:,}", size=6.5, va="center", ha="right", zorder=4)
    for column in columns(names):
        for row, each in enumerate(column):
            axes.text(x + 0.07, y + 0.29 + 0.1 * row, each, size=6.5, va="center", zorder=4)
        x += 0.12 + LETTER * max(map(len, column))


def draw_imports(
    axes: Axes, counts: Counter[tuple[str, str]], right: dict[str, float], middle: dict[str, float]
) -> None:
    """Draw a line from each package to the right, and from there an arrow down to each package that it imports."""
    for package, x in right.items():
        below = [right[imported] - 0.2 for importer, imported in counts if importer == package]
        above = [middle[importer] for importer, imported in counts if imported == package]
        if below:
            axes.plot([x, max(below)], [middle[package]] * 2, color="black", linewidth=0.8, zorder=1)
        if above:
            arrow = {"arrowstyle": "-|>", "linewidth": 0.8, "shrinkA": 0, "shrinkB": 0, "color": "black"}
            end = middle[package] - HEIGHT / 2 + GAP
            axes.annotate("", (x - 0.2, end), (x - 0.2, min(above)), arrowprops=arrow, zorder=1)
    for (importer, imported), count in counts.items():
        box = {"boxstyle": "circle,pad=0.25", "facecolor": "white", "linewidth": 0.8}
        axes.text(
            right[imported] - 0.2, middle[importer], count, size=6.5, ha="center", va="center", bbox=box, zorder=2
        )


if __name__ == "__main__":
    draw()
