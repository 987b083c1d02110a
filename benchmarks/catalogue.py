"""Write seeded synthetic events with the shape of MovieLens 32M, as a zip archive that the format
movielens-csv reads.

The archive has exactly the requested numbers of users, items and events. Every user and item
occurs, and no pair occurs twice. The number of events of a user is log-normal from 20 up. The
popularity of items follows the law of Zipf and Mandelbrot, (place + q)^-2.2. With the default
shape, half of the users have the most popular item, and half of the items have a handful of events,
as in MovieLens. Every user has a taste, a genre to which half of the user's draws are confined, so
that a recommender can learn something. The same arguments give the same bytes. Memory is bounded by
a block of events.

    python benchmarks/catalogue.py --output data/synthetic-32m/events.zip
"""

import argparse
import sys
import zipfile
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import ndtri

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

from sampled_metrics import file_io
from sampled_metrics.checks import Ints

USERS = 200_948
ITEMS = 84_432
EVENTS = 32_000_204
"""The shape of MovieLens 32M."""

FEWEST = 20  # events of a user, if there are enough
DEVIATION = 1.39  # of the logarithm of a user's events above the fewest: a mean of 2.6 medians
EXPONENT = 2.2
FLAT = 0.85  # q, in mean events of a user
GENRES = 20
OF_TASTE = 0.5  # share of a user's draws from the genre of the user's taste
FIRST_DAY = 9131  # users start within 10,000 days from 1995 on, and are active for 30 days
DAYS = 10_000
SPAN = 30
SEED = 2020
# events made at a time, or those of a single user if they are more; another size gives other events
BLOCK = 1_000_000

Draw = Callable[[Ints], Ints]
"""Function from tastes to an item for each, drawn with replacement."""


def users_events(users: int, items: int, events: int, rng: np.random.Generator) -> Ints:
    """Return (users,) numbers of events: log-normal above the fewest, at most half of the items."""
    highest = items // 2
    lowest = min(FEWEST, events // users, highest)
    shares = np.exp(DEVIATION * ndtri((np.arange(users) + 0.5) / users))
    low = 0.0
    high = float(events)
    for _ in range(100):  # the largest scale that does not give more than all events
        middle = (low + high) / 2
        fits = np.minimum(lowest + np.floor(middle * shares), highest).sum() <= events
        low, high = (middle, high) if fits else (low, middle)
    counts = np.minimum(lowest + np.floor(low * shares), highest).astype(np.int64)
    while (left := events - int(counts.sum())) > 0:
        counts[np.flatnonzero(counts < highest)[-left:]] += 1
    return rng.permutation(counts)


def random_catalogue(users: int, items: int, events: int, rng: np.random.Generator) -> Draw:
    """Return the draws from a catalogue, in which an item's number does not depend on its
    popularity or genre.
    """
    weights = rng.permutation((np.arange(1, items + 1) + FLAT * events / users) ** -EXPONENT)
    genres = rng.permutation(np.arange(items) % GENRES)
    by_genre = np.argsort(genres, kind="stable")
    starts = np.searchsorted(genres[by_genre], np.arange(GENRES + 1))
    cumulative = np.concatenate(([0.0], np.cumsum(weights[by_genre])))

    def draw(tastes: Ints) -> Ints:
        uniform = rng.random(len(tastes))
        is_own = rng.random(len(tastes)) < OF_TASTE
        start = np.where(is_own, starts[tastes], 0)
        end = np.where(is_own, starts[tastes + 1], items)
        weight = cumulative[start] + uniform * (cumulative[end] - cumulative[start])
        # in a small catalogue, a genre may have no items; the draw is then an item of another genre
        position = np.searchsorted(cumulative, weight, side="right") - 1
        return by_genre[np.minimum(position, items - 1)]

    return draw


def draw_pairs(counts: Ints, tastes: Ints, pairs: Ints, size: int, draw: Draw) -> Ints:
    """Return the pairs of users, user × size + item, ascending: to some given pairs, draws are
    added up to the counts.

    The counts and the tastes are (users,), and size is the number of all items. Repeated draws do
    not count.
    """
    draws_per_item = 1
    while (short := counts - np.bincount(pairs // size, minlength=len(counts))).any():
        user = np.repeat(np.arange(len(counts)), short * draws_per_item)
        series = pd.Series(np.append(pairs, user * size + draw(tastes[user]))).drop_duplicates()
        user = series // size
        pairs = series[user.groupby(user).cumcount() < counts[user]].to_numpy()
        # the remaining users have most of the items that they draw
        draws_per_item = min(2 * draws_per_item, 64)
    return np.sort(pairs)


def blocks(users: int, items: int, events: int) -> Iterator[pd.DataFrame]:
    """Yield consecutive events of the catalogue, about BLOCK at a time, sorted by user and item."""
    rng = np.random.default_rng(SEED)
    counts = users_events(users, items, events, rng)
    tastes = rng.integers(GENRES, size=users)
    draw = random_catalogue(users, items, events, rng)
    # so that every item occurs, each item starts with an event of its own
    owners = np.searchsorted(
        np.cumsum(counts), rng.choice(events, size=items, replace=False), side="right"
    )
    owned = np.sort(owners * items + np.arange(items))
    first_seconds = 86_400 * (FIRST_DAY + rng.integers(DAYS, size=users))
    last_of_block = np.flatnonzero(np.diff((np.cumsum(counts) - 1) // BLOCK, append=-1))
    for start, end in pairwise([0, *(1 + last_of_block).tolist()]):
        block = slice(start, end)  # of users
        place = slice(*np.searchsorted(owned, [start * items, end * items]))
        owned_pairs = owned[place] - start * items
        pairs = draw_pairs(counts[block], tastes[block], owned_pairs, items, draw)
        user = start + pairs // items
        ratings = (1 + rng.integers(10, size=len(pairs))) / 2
        seconds = rng.integers(86_400 * SPAN, size=len(pairs))
        columns = {"userId": user + 1, "movieId": pairs % items + 1, "rating": ratings}
        yield pd.DataFrame(columns | {"timestamp": first_seconds[user] + seconds})


def main() -> None:
    """Write the archive."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--users", type=int, default=USERS)
    parser.add_argument("--items", type=int, default=ITEMS)
    parser.add_argument("--events", type=int, default=EVENTS)
    parser.add_argument("--output", type=Path, required=True, help="the zip archive")
    arguments = parser.parse_args()
    if arguments.users < 1 or arguments.items < 2:
        sys.exit(
            f"error: users must be 1 or more, not {arguments.users}, and items 2 or more, not "
            f"{arguments.items}"
        )
    lowest = max(arguments.users, arguments.items)
    highest = arguments.users * (arguments.items // 2)
    if not lowest <= arguments.events <= highest:
        limits = f"{lowest} (one for each user and item) to {highest} (half of the pairs)"
        sys.exit(f"error: events must be {limits}, not {arguments.events}")
    try:
        with (
            file_io.atomic_write(arguments.output) as temporary,
            zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
            archive.open("ratings.csv", "w", force_zip64=True) as file,  # its time is always 1980
        ):
            for number, block in enumerate(
                blocks(arguments.users, arguments.items, arguments.events)
            ):
                file.write(
                    block.to_csv(index=False, header=number == 0, lineterminator="\n").encode()
                )
    except OSError as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
