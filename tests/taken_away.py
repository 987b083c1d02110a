"""Skips tests that use a package which tests/rooms.py took away.

The tests of the command and those of the whole library use all packages. In a copy without one,
a test that asks the library for a name of the package, imports one of its modules, or runs one of
its commands, is skipped. What the library itself asks for is not: there the missing package is an
error. In the project nothing is missing, and no test is skipped.
"""

import importlib.abc
import json
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
TAKEN_AWAY = TESTS / "taken_away.json"
"""The names, modules and commands that a copy lacks; not there in the project."""
OF_ALL_PACKAGES = ("cli", "whole")
"""Folders of tests that may use any package."""


def is_asked_by_a_test():
    """Return whether a file of tests, and not the library, asks for a name or a module."""
    frame = sys._getframe(2)
    while frame and "importlib" in frame.f_code.co_filename:
        frame = frame.f_back
    path = Path(frame.f_code.co_filename) if frame else Path()
    return path.is_relative_to(TESTS) and path.relative_to(TESTS).parts[0] in OF_ALL_PACKAGES


def skip(name):
    """Skip the test, or the file of tests that is being imported."""
    pytest.skip(f"{name} is taken away", allow_module_level=True)


class Modules(importlib.abc.MetaPathFinder):
    """Skips a test that imports a module which is taken away."""

    def __init__(self, packages):
        self.packages = packages

    def find_spec(self, fullname, path, target=None):
        """Skip the test if it imports a module of the packages."""
        if ".".join(fullname.split(".")[:2]) in self.packages and is_asked_by_a_test():
            skip(fullname)


def skip_what_uses_it():
    """Skip tests that use a public name or a module which is taken away."""
    import sampled_metrics as sm

    missing = json.loads(TAKEN_AWAY.read_text(encoding="utf-8"))
    sys.meta_path.insert(0, Modules(missing["packages"]))
    attribute = sm.__getattr__

    def attribute_or_skip(name):
        if name in missing["names"] and is_asked_by_a_test():
            skip(name)
        return attribute(name)

    sm.__getattr__ = attribute_or_skip


def skip_without(name):
    """Skip a test of a command, or of a public name, that is taken away."""
    if TAKEN_AWAY.exists():
        missing = json.loads(TAKEN_AWAY.read_text(encoding="utf-8"))
        if name in [*missing["commands"], *missing["names"]]:
            skip(name)
