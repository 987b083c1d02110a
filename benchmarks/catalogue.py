"""Write seeded synthetic events with the shape of MovieLens 32M, as a zip archive that the format movielens-csv reads.

The archive has exactly the requested numbers of users, items and events. Every user and item occurs, and no pair occurs
twice. The number of events of a user is log-normal from 20 up. The popularity of items follows the law of Zipf and
Mandelbrot, (place + q)^-2.2. With the default shape, half of the users have the most popular item, and half of the
items have a handful of events, as in MovieLens. Every user has a taste, a genre to which half of the user's draws are
confined, so that a recommender can learn something. The same arguments give the same bytes. Memory is bounded by a
block of events.

    python benchmarks/catalogue.py --output data/synthetic-32m/events.zip
"""

import argparse
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import ndtri

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

from sampled_metrics import _files
from sampled_metrics._running import LATE, terminal_bar
from sampled_metrics._validation import Floats, Ints

USERS, ITEMS, EVENTS = 200_948, 84_432, 32_000_204
"""The shape of MovieLens 32M."""

FEWEST = 20  # events of a user, if there are enough
DEVIATION = 1.39  # of the logarithm of a user's events above the fewest: a mean of 2.6 medians
EXPONENT = 2.2
FLAT = 0.85  # q, in mean events of a user
GENRES = 20
OF_TASTE = 0.5  # share of a user's draws from the genre of the user's taste
FIRST_DAY, DAYS, SPAN = 9131, 10_000, 30  # users start within 10,000 days from 1995 on, and are active for 30 days
RATINGS = np.arange(1, 11) / 2
COLUMNS = ("userId", "movieId", "rating", "timestamp")
BLOCK = 1_000_000  # events made at a time, or those of a single user if they are more; another size gives other events


def users_events(users: int, items: int, events: int, rng: np.random.Generator) -> Ints:
    """Return (users,) numbers of events: log-normal above the fewest, at most half of the items."""
    highest = items // 2
    lowest = min(FEWEST, events // users, highest)
    shares = np.exp(DEVIATION * ndtri((np.arange(users) + 0.5) / users))
    low, high = 0.0, float(events)
    for _ in range(100):  # the largest scale that does not give more than all events
        middle = (low + high) / 2
        fits = np.minimum(lowest + np.floor(middle * shares), highest).sum() <= events
        low, high = (middle, high) if fits else (low, middle)
    counts = np.minimum(lowest + np.floor(low * shares), highest).astype(np.int64)
    while (left := events - int(counts.sum())) > 0:
        counts[np.flatnonzero(counts < highest)[-left:]] += 1
    return rng.permutation(counts)


@dataclass(frozen=True)
class Catalogue:
    """The items, their weights and their genres.

    Attributes:
        items: (items,) items by genre.
        cumulative: (items + 1,) total weight of the items before, in that order.
        genre_starts: (genres + 1,) position of the first item of a genre in that order.
    """

    items: Ints
    cumulative: Floats
    genre_starts: Ints

    @classmethod
    def random(cls, users: int, items: int, events: int, rng: np.random.Generator) -> "Catalogue":
        """Return a random catalogue. The numbers of its items do not depend on popularity or genre."""
        weights = rng.permutation((np.arange(1, items + 1) + FLAT * events / users) ** -EXPONENT)
        genres = rng.permutation(np.arange(items) % GENRES)
        order = np.argsort(genres, kind="stable")
        cumulative = np.concatenate(([0.0], np.cumsum(weights[order])))
        return cls(order, cumulative, np.searchsorted(genres[order], np.arange(GENRES + 1)))

    def draw(self, tastes: Ints, rng: np.random.Generator) -> Ints:
        """Return an item for each taste, drawn with replacement. Half of the draws are from the taste's genre."""
        uniform = rng.random(len(tastes))
        is_own = rng.random(len(tastes)) < OF_TASTE
        first = np.where(is_own, self.genre_starts[tastes], 0)
        last = np.where(is_own, self.genre_starts[tastes + 1], len(self.items))
        weight = self.cumulative[first] + uniform * (self.cumulative[last] - self.cumulative[first])
        # in a small catalogue, a genre may have no items; the draw is then an item of another genre
        position = np.searchsorted(self.cumulative, weight, side="right") - 1
        return self.items[np.minimum(position, len(self.items) - 1)]


def draw_pairs(
    counts: Ints, tastes: Ints, first: tuple[Ints, Ints], catalogue: Catalogue, rng: np.random.Generator
) -> tuple[Ints, Ints]:
    """Return the items of some users, drawn without replacement: repeated draws do not count.

    Args:
        counts: (users,) numbers of items.
        tastes: (users,) genres.
        first: users and items of given pairs; no user has more than its count.
        catalogue: the items to draw from.
        rng: the random stream.

    Returns:
        Users and items, ascending by both.
    """
    size, counts = len(catalogue.items), counts.copy()
    users, items = first
    finished: list[Ints] = []
    draws_per_item = 1
    while True:
        short = counts - np.bincount(users, minlength=len(counts))
        is_full = (short == 0)[users]
        finished.append(users[is_full] * size + items[is_full])
        users, items = users[~is_full], items[~is_full]
        counts[short == 0] = 0
        if not short.any():
            keys = np.sort(np.concatenate(finished))
            return keys // size, keys % size
        drawing = np.repeat(np.arange(len(counts)), short * draws_per_item)
        users, items = np.append(users, drawing), np.append(items, catalogue.draw(tastes[drawing], rng))
        is_new = ~pd.Series(users * size + items).duplicated().to_numpy()
        users, items = users[is_new], items[is_new]
        order = np.argsort(users, kind="stable")  # keeps the order of a user's draws
        users, items = users[order], items[order]
        position = np.arange(len(users)) - np.searchsorted(users, users)
        is_kept = position < counts[users]
        users, items = users[is_kept], items[is_kept]
        draws_per_item = min(2 * draws_per_item, 64)  # the remaining users have most of the items that they draw


def user_blocks(counts: Ints) -> Iterator[slice]:
    """Yield consecutive blocks of users with about BLOCK events each."""
    block_of_user = (np.cumsum(counts) - 1) // BLOCK
    ends = np.append(np.flatnonzero(np.diff(block_of_user)) + 1, len(counts))
    first = 0
    for last in ends.tolist():
        yield slice(first, last)
        first = last


def blocks(users: int, items: int, events: int, seed: int) -> Iterator[tuple[Ints, Ints, Ints, Ints]]:
    """Yield users and items from 0, ratings and timestamps of consecutive events, sorted by user and item."""
    rng = np.random.default_rng(seed)
    counts = users_events(users, items, events, rng)
    tastes = rng.integers(GENRES, size=users)
    catalogue = Catalogue.random(users, items, events, rng)
    # so that every item occurs, each item starts with an event of its own
    owners = np.searchsorted(np.cumsum(counts), rng.choice(events, size=items, replace=False), side="right")
    order = np.argsort(owners, kind="stable")
    owners = owners[order]
    starts = 86_400 * (FIRST_DAY + rng.integers(DAYS, size=users))
    for block in user_blocks(counts):
        owned = slice(*np.searchsorted(owners, [block.start, block.stop]))
        first = owners[owned] - block.start, order[owned]
        event_users, event_items = draw_pairs(counts[block], tastes[block], first, catalogue, rng)
        event_users += block.start
        ratings = rng.integers(len(RATINGS), size=len(event_users))
        seconds = rng.integers(86_400 * SPAN, size=len(event_users))
        yield event_users, event_items, RATINGS[ratings], starts[event_users] + seconds


def write(path: Path, users: int, items: int, events: int, seed: int) -> dict[str, int]:
    """Write the events of a random catalogue.

    Args:
        path: the zip archive, with one file, ratings.csv.
        users: number of users, at least 1. They are numbered from 1.
        items: number of items, at least 2. They are numbered from 1.
        events: number of events: at least one for each user and item, at most half of the pairs.
        seed: seed of all random numbers.

    Returns:
        Description → the fewest, median and most events of a user and of an item.

    Raises:
        ValueError: no catalogue has such numbers.
    """
    if users < 1 or items < 2:
        raise ValueError(f"users must be 1 or more, not {users}, and items 2 or more, not {items}")
    lowest, highest = max(users, items), users * (items // 2)
    if not lowest <= events <= highest:
        raise ValueError(
            f"events must be {lowest} (one for each user and item) to {highest} (half of the pairs), not {events}"
        )
    user_counts, item_counts = np.zeros(users, dtype=np.int64), np.zeros(items, dtype=np.int64)
    with (
        _files.atomic_write(path) as temporary,
        zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        archive.open("ratings.csv", "w", force_zip64=True) as file,  # its time is always 1980
        terminal_bar("events", events, delay=LATE) as advance,
    ):
        file.write((",".join(COLUMNS) + "\n").encode())
        for event_users, event_items, ratings, timestamps in blocks(users, items, events, seed):
            user_counts += np.bincount(event_users, minlength=users)
            item_counts += np.bincount(event_items, minlength=items)
            columns = (event_users + 1, event_items + 1, ratings, timestamps)
            table = pd.DataFrame(dict(zip(COLUMNS, columns, strict=True)))
            file.write(table.to_csv(index=False, header=False, lineterminator="\n").encode())
            advance(len(event_users))
    return {
        f"{name} events of {owner}": int(statistic(counts))
        for owner, counts in (("a user", user_counts), ("an item", item_counts))
        for name, statistic in (("fewest", np.min), ("median", np.median), ("most", np.max))
    }


def main() -> None:
    """Write the archive, and print how many events its users and items have."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--users", type=int, default=USERS)
    parser.add_argument("--items", type=int, default=ITEMS)
    parser.add_argument("--events", type=int, default=EVENTS)
    parser.add_argument("--seed", type=int, default=2020)
    parser.add_argument("--output", type=Path, required=True, help="the zip archive")
    arguments = parser.parse_args()
    try:
        counts = write(arguments.output, arguments.users, arguments.items, arguments.events, arguments.seed)
    except (ValueError, OSError) as error:
        sys.exit(f"error: {error}")
    for description, count in counts.items():
        print(f"{description}: {count}")


if __name__ == "__main__":
    main()
