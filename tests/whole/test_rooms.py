"""tests/rooms.py takes packages away: what goes with each, and the registry that is left."""

import ast
from pathlib import Path

import pytest
import rooms

REGISTRY = (rooms.ROOT / "src/sampled_metrics/_registry.py").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("package", "gone"),
    [
        ("lists", {"lists"}),
        ("planning", {"planning"}),
        ("validation", {"validation"}),
        ("stages", {"stages", "planning", "validation"}),
        ("reporting", {"reporting", rooms.STUDY}),
        (rooms.STUDY, {rooms.STUDY}),
    ],
)
def test_with_a_package_go_those_that_load_it(package, gone):
    assert rooms.without({package}) == gone


def keys(registry: str) -> list[str]:
    """Return the packages of a registry."""
    scope: dict = {"__name__": "registry"}
    exec(compile(ast.parse(registry), "registry", "exec"), scope)
    return [*scope["PACKAGES"]]


@pytest.mark.parametrize(
    "gone", [{"lists"}, {"validation", "planning"}, {*rooms.PACKAGES}], ids=sorted
)
def test_the_registry_loses_the_entries_of_packages_alone(gone):
    left = rooms.without_entries(REGISTRY, gone)
    assert keys(left) == [package for package in keys(REGISTRY) if package not in gone]
    assert ("commands=(" in left) == ("cli" not in gone)


def test_every_folder_of_the_library_is_the_core_or_a_package_that_is_taken_away():
    folders = {
        path.parent.name for path in Path(rooms.ROOT / "src/sampled_metrics").glob("*/__init__.py")
    }
    assert folders == {"core", *rooms.PACKAGES}
