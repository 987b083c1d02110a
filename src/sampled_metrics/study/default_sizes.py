"""The sample sizes of a figure, if the config states none."""

from collections.abc import Mapping, Sequence

from sampled_metrics.ranks.exact import ExactRanks

_LARGEST = 1500  # larger samples take long, and their metrics are near the exact ones


def default_sizes(tables: Mapping[str, ExactRanks], steps: Sequence[float]) -> list[int]:
    """Return sample sizes that every user's candidates allow, ascending.

    They are multiples of powers of ten, from 10 on, or from 1 on if a user has fewer than 100 other candidates. The
    largest one is 1500.

    Args:
        tables: rank tables by recommender.
        steps: the multiples, from 1 to less than 10.
    """
    fewest = min(int(table.candidates.min()) for table in tables.values()) - 1
    powers = (10, 100, 1000) if fewest >= 100 else (1, 10)
    sizes = {round(step * power) for power in powers for step in steps}
    return sorted(size for size in sizes if size <= min(fewest, _LARGEST))
