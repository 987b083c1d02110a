"""Draw docs/architecture.svg: the rooms of the library, their files, and the imports between rooms.

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
GROUND = "the ground"
FILES_IN_COLUMN = 5
LANE, HEIGHT, GAP, LETTER = 0.42, 0.96, 0.09, 0.055  # inches
LINES = 400  # as many lines of code make a box an inch wide
LEGEND = """A box is a room of the library, with its files.
The number in it is its lines of code. The more lines, the wider the box.
The line to the right of a room leads to what the room imports: go right to a circle,
then down along the arrow. The number in the circle counts the imports.
Rooms of one band form a layer."""


def layers() -> list[list[str]]:
    """The rooms by layer, from the top, as the contract in pyproject.toml has them."""
    config = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    [contract] = [contract for contract in config["contracts"] if contract["type"] == "layers"]
    rows = [[room.strip() for room in layer.replace(":", "|").split("|")] for layer in contract["layers"]]
    return [*(row for row in rows if "cli" in row or (PACKAGE / row[0]).is_dir()), [GROUND]]


def files() -> dict[str, list[Path]]:
    """The files of each room. The modules that are in no room, but for the command, are the ground."""
    rooms: dict[str, list[Path]] = {room: [] for layer in layers() for room in layer}
    for path in sorted(PACKAGE.rglob("*.py")):
        first = path.relative_to(PACKAGE).with_suffix("").parts[0]
        if not first.startswith("__"):
            rooms[first if first in rooms else GROUND].append(path)
    return rooms


def imports() -> Counter[tuple[str, str]]:
    """How many imports lead from the files of one room to those of another, but for those for type checking alone."""
    sys.path.insert(0, str(PACKAGE.parent))
    graph = grimp.build_graph(PACKAGE.name, exclude_type_checking_imports=True, cache_dir=None)
    room_of = {module_of(path): room for room, paths in files().items() for path in paths}
    pairs = (
        (room_of[module], room_of[imported])
        for module in room_of
        for imported in sorted(graph.find_modules_directly_imported_by(module))
        if imported in room_of
    )
    return Counter(pair for pair in pairs if pair[0] != pair[1])


def module_of(path: Path) -> str:
    """The name by which a file is imported."""
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def description() -> str:
    """Return the picture in words: each room with its files, and each pair of rooms with the imports between them."""
    rooms = [f"{room}: {', '.join(labels(paths))}" for room, paths in files().items()]
    arrows = [f"{room} -> {imported}: {count}" for (room, imported), count in sorted(imports().items())]
    return "\n".join([*rooms, *arrows])


def labels(paths: list[Path]) -> list[str]:
    """The names of a room's files; those in a folder of the room have the folder's name before theirs."""
    named = [path.relative_to(PACKAGE).with_suffix("") for path in paths if path.stem != "__init__"]
    return ["/".join(path.parts[1:] or path.parts) for path in named]


def columns(names: list[str]) -> list[list[str]]:
    """The names of a room's files in columns."""
    return [names[start : start + FILES_IN_COLUMN] for start in range(0, len(names), FILES_IN_COLUMN)]


def draw() -> None:
    """Draw every room on the diagonal, as wide as it has lines. What it imports is right of it and below."""
    rooms = files()
    lines = {
        room: sum(len(path.read_text(encoding="utf-8").splitlines()) for path in paths) for room, paths in rooms.items()
    }
    needed = {
        room: max(
            0.6 + 1.5 * LETTER * len(room),
            0.25 + sum(0.12 + LETTER * max(map(len, column)) for column in columns(labels(paths))),
        )
        for room, paths in rooms.items()
    }
    widths = {room: max(lines[room] / LINES, needed[room]) for room in rooms}
    at = {room: row for row, room in enumerate(rooms)}
    left = max(widths[room] - LANE * at[room] for room in rooms) + GAP
    right = {room: left + LANE * row for room, row in at.items()}
    width, height = max(right.values()) + LANE, HEIGHT * len(rooms)

    mpl.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "architecture", "font.family": "sans-serif"})
    figure = plt.figure(figsize=(width, height))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, width), ylim=(height, 0))
    axes.axis("off")
    for number, layer in enumerate(layers()):
        top, bottom = HEIGHT * at[layer[0]], HEIGHT * (at[layer[-1]] + 1)
        axes.add_patch(Rectangle((0, top), width, bottom - top, facecolor="0.93" if number % 2 else "1", zorder=0))
    for room, paths in rooms.items():
        draw_room(axes, right[room], HEIGHT * at[room], widths[room], room, lines[room], labels(paths))
    draw_imports(axes, imports(), right, {room: HEIGHT * (row + 0.5) for room, row in at.items()})
    axes.text(GAP, height - GAP, LEGEND, size=6.5, va="bottom", linespacing=1.5)
    figure.savefig(PICTURE, metadata={"Date": None, "Title": "Rooms of sampled_metrics", "Description": description()})


def draw_room(axes: Axes, right: float, top: float, width: float, name: str, lines: int, names: list[str]) -> None:
    """Draw a box with the name of a room, its lines of code and its files."""
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
    """Draw a line from each room to the right, and from there an arrow down to each room that it imports."""
    for room, x in right.items():
        below = [right[imported] - 0.2 for importer, imported in counts if importer == room]
        above = [middle[importer] for importer, imported in counts if imported == room]
        if below:
            axes.plot([x, max(below)], [middle[room]] * 2, color="black", linewidth=0.8, zorder=1)
        if above:
            arrow = {"arrowstyle": "-|>", "linewidth": 0.8, "shrinkA": 0, "shrinkB": 0, "color": "black"}
            end = middle[room] - HEIGHT / 2 + GAP
            axes.annotate("", (x - 0.2, end), (x - 0.2, min(above)), arrowprops=arrow, zorder=1)
    for (importer, imported), count in counts.items():
        box = {"boxstyle": "circle,pad=0.25", "facecolor": "white", "linewidth": 0.8}
        axes.text(
            right[imported] - 0.2, middle[importer], count, size=6.5, ha="center", va="center", bbox=box, zorder=2
        )


if __name__ == "__main__":
    draw()
