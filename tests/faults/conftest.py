"""The time to fuzz."""


def pytest_addoption(parser):
    parser.addoption(
        "--minutes", metavar="M", type=float, help="how long to fuzz, in all; without it a moment"
    )
