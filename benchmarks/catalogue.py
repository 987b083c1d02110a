"""Write seeded synthetic events with the shape of MovieLens 32M, as a zip archive that the format movielens-csv reads.

Users, items and events are exactly as many as asked for; every user and item occurs, and no pair twice. How many events
users have is log-normal from 20 up; how popular items are falls by the law of Zipf and Mandelbrot, (place + q)^-2.2. At
the default shape half of the users have the most popular item, and half of the items a handful of events, as in
MovieLens. Every user has a taste, a genre that half of the user's draws are confined to, so that there is something for
a recommender to find. The same arguments give the same bytes. Memory is bounded by a block of events, not by all.

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
"""MovieLens 32M."""

FEWEST = 20  # events of a user, where there are enough
DEVIATION = 1.39  # of the logarithm of a user's events above the fewest: a mean of 2.6 medians
EXPONENT = 2.2
FLAT = 0.85  # q, in mean events of a user
GENRES = 20
OF_TASTE = 0.5  # of a user's draws
FIRST_DAY, DAYS, SPAN = 9131, 10_000, 30  # users begin from 1995 on, within 10,000 days, and have 30 days
RATINGS = np.frombuffer(b"0.51.01.52.02.53.03.54.04.55.0", dtype=np.uint8).reshape(10, 3)
HEADER = b"userId,movieId,rating,timestamp\n"
BLOCK = 1_000_000  # events made at a time, and more where a single user has more; part of what the seed gives


def users_events(users: int, items: int, events: int, rng: np.random.Generator) -> Ints:
    """Return how many events each user has, (users,): log-normal above the fewest, at most half of the items."""
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
    """What items there are, to draw from.

    Attributes:
        items: (items,) genre by genre, so that a genre's are consecutive.
        up_to: (items + 1,) weights of all items before, in that order; what is between two is the weight of one.
        of_genre: (genres + 1,) where in the order a genre begins.
    """

    items: Ints
    up_to: Floats
    of_genre: Ints

    @classmethod
    def of(cls, users: int, items: int, events: int, rng: np.random.Generator) -> "Catalogue":
        """Make a catalogue; the numbers of its items say nothing of popularity or genre."""
        weights = rng.permutation((np.arange(1, items + 1) + FLAT * events / users) ** -EXPONENT)
        genres = rng.permutation(np.arange(items) % GENRES)
        order = np.argsort(genres, kind="stable")
        up_to = np.concatenate(([0.0], np.cumsum(weights[order])))
        return cls(order, up_to, np.searchsorted(genres[order], np.arange(GENRES + 1)))

    def draw(self, tastes: Ints, rng: np.random.Generator) -> Ints:
        """Draw an item for each of the tastes, with replacement; half of the draws are from the taste's genre."""
        place = rng.random(len(tastes))
        own = rng.random(len(tastes)) < OF_TASTE
        first, last = np.where(own, self.of_genre[tastes], 0), np.where(own, self.of_genre[tastes + 1], len(self.items))
        place = self.up_to[first] + place * (self.up_to[last] - self.up_to[first])
        # a genre without items, in a small catalogue, leaves place at a border: any item will do
        found = np.searchsorted(self.up_to, place, side="right") - 1
        return self.items[np.minimum(found, len(self.items) - 1)]


def pairs_of(
    counts: Ints, tastes: Ints, first: tuple[Ints, Ints], catalogue: Catalogue, rng: np.random.Generator
) -> tuple[Ints, Ints]:
    """Draw the items of some users without replacement: repeated draws do not count.

    Args:
        counts: (users,) how many items each has.
        tastes: (users,) genres.
        first: users and items of pairs that there are anyhow, no user with more than its count.
        catalogue: what to draw from.
        rng: the random stream.

    Returns:
        Users and items, ascending by both.
    """
    size, counts = len(catalogue.items), counts.copy()
    users, items = first
    finished: list[Ints] = []
    ahead = 1
    while True:
        short = counts - np.bincount(users, minlength=len(counts))
        is_full = (short == 0)[users]
        finished.append(users[is_full] * size + items[is_full])
        users, items = users[~is_full], items[~is_full]
        counts[short == 0] = 0
        if not short.any():
            keys = np.sort(np.concatenate(finished))
            return keys // size, keys % size
        drawing = np.repeat(np.arange(len(counts)), short * ahead)
        users, items = np.append(users, drawing), np.append(items, catalogue.draw(tastes[drawing], rng))
        new = ~pd.Series(users * size + items).duplicated().to_numpy()
        users, items = users[new], items[new]
        order = np.argsort(users, kind="stable")  # each user's in the order of the draws
        users, items = users[order], items[order]
        place = np.arange(len(users)) - np.searchsorted(users, users)
        inside = place < counts[users]
        users, items = users[inside], items[inside]
        ahead = min(2 * ahead, 64)  # those who have seen nearly all that they are likely to draw


def blocks_of(counts: Ints) -> Iterator[slice]:
    """Divide users into consecutive blocks of about BLOCK events."""
    of_block = (np.cumsum(counts) - 1) // BLOCK
    ends = np.append(np.flatnonzero(np.diff(of_block)) + 1, len(counts))
    first = 0
    for last in ends.tolist():
        yield slice(first, last)
        first = last


def digits(numbers: Ints) -> tuple[np.ndarray, np.ndarray]:
    """Write whole numbers below 2³² in decimal.

    Returns:
        (numbers, width) ASCII characters with leading zeros, and which of them are not leading zeros.
    """
    numbers = numbers.astype(np.uint32)  # to divide by one number at a time, in 32 bits, is several times as fast
    width = len(str(int(numbers.max(initial=0))))
    characters = np.empty((len(numbers), width), dtype=np.uint8)
    shown = np.ones(characters.shape, dtype=bool)
    for column in range(width):
        leading = numbers // 10 ** (width - 1 - column)
        characters[:, column] = leading % 10 + ord("0")
        if column < width - 1:
            shown[:, column] = leading > 0
    return characters, shown


def lines_of(users: Ints, items: Ints, ratings: Ints, timestamps: Ints) -> bytes:
    """Write events as lines of csv; ratings are rows of RATINGS."""
    parts = []
    for characters, shown in (
        digits(users),
        digits(items),
        (RATINGS[ratings], np.ones((len(ratings), RATINGS.shape[1]), dtype=bool)),
        digits(timestamps),
    ):
        comma = np.full((len(users), 1), ord(","), dtype=np.uint8)
        parts.append((np.hstack((characters, comma)), np.hstack((shown, np.ones((len(users), 1), dtype=bool)))))
    text, shown = (np.hstack(each) for each in zip(*parts, strict=True))
    text[:, -1] = ord("\n")
    return text[shown].tobytes()


def blocks(users: int, items: int, events: int, seed: int) -> Iterator[tuple[Ints, Ints, Ints, Ints]]:
    """Yield users and items from 0, ratings and timestamps of consecutive events, by user and item."""
    rng = np.random.default_rng(seed)
    counts = users_events(users, items, events, rng)
    tastes = rng.integers(GENRES, size=users)
    catalogue = Catalogue.of(users, items, events, rng)
    # every item occurs: it has one of the events from the start, and no two items the same one
    owners = np.searchsorted(np.cumsum(counts), rng.choice(events, size=items, replace=False), side="right")
    order = np.argsort(owners, kind="stable")
    owners = owners[order]
    begins = 86_400 * (FIRST_DAY + rng.integers(DAYS, size=users))
    for block in blocks_of(counts):
        here = slice(*np.searchsorted(owners, [block.start, block.stop]))
        first = owners[here] - block.start, order[here]
        of_user, of_item = pairs_of(counts[block], tastes[block], first, catalogue, rng)
        of_user += block.start
        ratings = rng.integers(len(RATINGS), size=len(of_user))
        yield of_user, of_item, ratings, begins[of_user] + rng.integers(86_400 * SPAN, size=len(of_user))


def write(path: Path, users: int, items: int, events: int, seed: int) -> dict[str, int]:
    """Write a catalogue's events.

    Args:
        path: the zip archive, which has one file, ratings.csv.
        users: how many, numbered from 1; at least 1.
        items: how many, numbered from 1; at least 2.
        events: how many; at least one for each user and item, at most half of the pairs.
        seed: of everything random.

    Returns:
        How many events the user and the item with most, and those in the middle, have, by what to call it.

    Raises:
        ValueError: there can be no such catalogue.
    """
    if users < 1 or items < 2:
        raise ValueError(f"users must be 1 or more, not {users}, and items 2 or more, not {items}")
    lowest, highest = max(users, items), users * (items // 2)
    if not lowest <= events <= highest:
        raise ValueError(
            f"events must be {lowest} (one for each user and item) to {highest} (half of the pairs), not {events}"
        )
    of_users, of_items = np.zeros(users, dtype=np.int64), np.zeros(items, dtype=np.int64)
    with (
        _files.atomic_write(path) as temporary,
        zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        archive.open("ratings.csv", "w", force_zip64=True) as file,  # as of 1980, whenever it is written
        terminal_bar("events", events, delay=LATE) as advance,
    ):
        file.write(HEADER)
        for of_user, of_item, ratings, timestamps in blocks(users, items, events, seed):
            of_users += np.bincount(of_user, minlength=users)
            of_items += np.bincount(of_item, minlength=items)
            file.write(lines_of(of_user + 1, of_item + 1, ratings, timestamps))
            advance(len(of_user))
    return {
        f"{which} events of {what}": int(of(counts))
        for what, counts in (("a user", of_users), ("an item", of_items))
        for which, of in (("fewest", np.min), ("median", np.median), ("most", np.max))
    }


def main() -> None:
    """Write the archive, and print what is in it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--users", type=int, default=USERS)
    parser.add_argument("--items", type=int, default=ITEMS)
    parser.add_argument("--events", type=int, default=EVENTS)
    parser.add_argument("--seed", type=int, default=2020)
    parser.add_argument("--output", type=Path, required=True, help="the zip archive")
    given = parser.parse_args()
    try:
        written = write(given.output, given.users, given.items, given.events, given.seed)
    except (ValueError, OSError) as error:
        sys.exit(f"error: {error}")
    for what, number in written.items():
        print(f"{what}: {number}")


if __name__ == "__main__":
    main()
