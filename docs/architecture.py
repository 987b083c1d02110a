"""Draw docs/architecture.svg: the packages of the library, what they are, and the imports between
them.

python docs/architecture.py
"""

import ast
import sys
import tomllib
from collections import Counter
from functools import cache
from pathlib import Path
from typing import NamedTuple

import grimp
import matplotlib as mpl
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src"
LIBRARY = "sampled_metrics"
STUDY = "sampled_metrics_study"
PICTURE = ROOT / "docs/architecture.svg"
BASE = "base"
WIDTH = 9.0  # inches: of the picture, and between layers
GAP = 0.12
HEIGHT = {1: 0.62, 2: 0.62, 3: 0.88}  # inches: of a box, by how many are beside each other
LEGEND = (
    "The last line of a box says what it imports, beside the core and the base. A command.py "
    "imports cli, too."
)


class Box(NamedTuple):
    """Where a package is drawn."""

    left: float
    top: float
    width: float
    height: float


def layers() -> list[list[str]]:
    """The packages by layer, from the top: the study, and the library as the contract in
    pyproject.toml has it.
    """
    rows = [
        layer
        for layer in layers_of(LIBRARY)
        if not layer[0].startswith("_") and layer != ["errors"]
    ]
    return [[STUDY], *rows, [BASE]]


def layers_of(container: str) -> list[list[str]]:
    """The layers of the contract of a package, from the top."""
    config = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"][
        "importlinter"
    ]
    contract = next(
        contract for contract in config["contracts"] if contract.get("containers") == [container]
    )
    return [
        [package.strip() for package in layer.replace(":", "|").split("|")]
        for layer in contract["layers"]
    ]


def files() -> dict[str, list[Path]]:
    """Return the files of each package. Modules outside the packages are the base."""
    packages: dict[str, list[Path]] = {package: [] for layer in layers() for package in layer}
    packages[STUDY] = sorted((SOURCE / STUDY).rglob("*.py"))
    for path in sorted((SOURCE / LIBRARY).rglob("*.py")):
        folder = path.relative_to(SOURCE / LIBRARY).with_suffix("").parts[0]
        if not folder.startswith("__"):
            packages[folder if folder in packages else BASE].append(path)
    return packages


@cache
def imports() -> Counter[tuple[str, str]]:
    """Count the imports from the files of one package in those of another; without those for type
    checking.

    A command.py, which the program alone loads, imports cli; these imports are left out, too.
    """
    sys.path.insert(0, str(SOURCE))
    graph = grimp.build_graph(LIBRARY, STUDY, exclude_type_checking_imports=True, cache_dir=None)
    package_of = {module_of(path): package for package, paths in files().items() for path in paths}
    pairs = (
        (package_of[module], package_of[imported])
        for module in package_of
        for imported in sorted(graph.find_modules_directly_imported_by(module))
        if imported in package_of and not module.endswith(".command")
    )
    return Counter(pair for pair in pairs if pair[0] != pair[1])


def module_of(path: Path) -> str:
    """The name by which a file is imported."""
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def nodes(paths: list[Path]) -> int:
    """Count the nodes of the syntax trees of files."""
    return sum(1 for path in paths for _ in ast.walk(ast.parse(path.read_bytes())))


def summary(package: str) -> str:
    """Return what the first file of a package says in its first sentence."""
    if package == BASE:
        return "errors, checks of arguments, files, threads, the registry"
    folder = SOURCE / (package if package == STUDY else f"{LIBRARY}/{package}")
    docstring = ast.get_docstring(ast.parse((folder / "__init__.py").read_bytes())) or ""
    sentence = docstring.split("\n\n")[0].replace("\n", " ").rstrip(".")
    _, colon, rest = sentence.partition(": ")
    return rest if colon else sentence


def description() -> str:
    """Return the picture in words: the packages, and the imports between each two."""
    packages = [f"{package}: {summary(package)}" for package in files()]
    arrows = [
        f"{package} -> {imported}: {count}"
        for (package, imported), count in sorted(imports().items())
    ]
    return "\n".join([*packages, *arrows])


def boxes() -> dict[str, Box]:
    """Return the box of each package: a row for each layer, with the packages side by side."""
    places: dict[str, Box] = {}
    top = 0.1
    for layer in layers():
        height = HEIGHT[min(len(layer), 3)] if layer != ["core"] else 1.3
        width = (WIDTH - 0.2 * (len(layer) + 1)) / len(layer)
        for number, package in enumerate(layer):
            left = 0.2 + number * (width + 0.2)
            places[package] = Box(left, top, width, height)
        top += height + GAP
    return places


def draw(path: Path = PICTURE) -> None:
    """Write the picture."""
    places = boxes()
    height = max(box.top + box.height for box in places.values()) + 0.35
    mpl.rcParams.update(
        {"svg.fonttype": "none", "svg.hashsalt": "architecture", "font.family": "sans-serif"}
    )
    figure = plt.figure(figsize=(WIDTH, height))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, WIDTH), ylim=(height, 0))
    axes.axis("off")
    for package, paths in files().items():
        draw_package(axes, places[package], package, nodes(paths), beside(package))
    draw_core(axes, places["core"])
    axes.text(0.2, height - 0.15, LEGEND, size=7.5, va="center")
    figure.savefig(
        path,
        metadata={
            "Date": None,
            "Title": "Packages of sampled_metrics",
            "Description": description(),
        },
    )


def beside(package: str) -> list[str]:
    """Return what a package imports besides the core and the base."""
    return [name for name in boxes() if (package, name) in imports() and name not in ("core", BASE)]


def draw_package(axes: Axes, box: Box, package: str, count: int, imported: list[str]) -> None:
    """Draw a box with the name of a package, the nodes of its syntax trees, what it is, and what it
    imports.
    """
    axes.add_patch(
        Rectangle(
            (box.left, box.top),
            box.width,
            box.height,
            facecolor="white",
            edgecolor="black",
            zorder=3,
        )
    )
    text_at = box.left + 0.08
    axes.text(text_at, box.top + 0.16, package, weight="bold", size=9.5, va="center", zorder=4)
    size = f"{count:,} nodes"
    axes.text(
        box.left + box.width - 0.08,
        box.top + 0.16,
        size,
        size=6.5,
        va="center",
        ha="right",
        zorder=4,
    )
    for number, line in enumerate(wrapped(summary(package), box.width)):
        axes.text(text_at, box.top + 0.36 + 0.14 * number, line, size=7.5, va="center", zorder=4)
    if imported:
        last = f"imports {', '.join(imported)}"
        axes.text(
            text_at,
            box.top + box.height - 0.12,
            last,
            size=7,
            va="center",
            style="italic",
            zorder=4,
        )


def wrapped(text: str, width: float) -> list[str]:
    """Return text in lines that fit into so many inches."""
    lines = [""]
    for word in text.split():
        if len(lines[-1]) + len(word) > width / 0.065:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return lines


def draw_core(axes: Axes, box: Box) -> None:
    """Draw the packages in the core: each imports from those to the right of it."""
    parts = [" | ".join(layer) for layer in layers_of(f"{LIBRARY}.core")]
    width = (box.width - 0.1 * (len(parts) + 1)) / len(parts)
    top = box.top + box.height - 0.72
    for number, part in enumerate(parts):
        left = box.left + 0.1 + number * (width + 0.1)
        axes.add_patch(
            Rectangle((left, top), width, 0.4, facecolor="0.93", edgecolor="0.4", zorder=4)
        )
        axes.text(left + width / 2, top + 0.2, part, size=8, ha="center", va="center", zorder=5)
    note = "each of these imports from those to the right of it"
    axes.text(box.left + 0.1, box.top + box.height - 0.16, note, size=6.5, va="center", zorder=5)


if __name__ == "__main__":
    draw()
