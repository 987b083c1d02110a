"""The time to fuzz."""

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--minutes", metavar="M", type=float, help="how long to fuzz, in all; without it a moment"
    )
