"""The entries of datasets.yaml that name columns, and made-up files of the layouts that they read."""

import csv
import gzip
import io
import json
import random
import zipfile
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import yaml
from docs_blocks import ROOT
from pyarrow import parquet

PAGE = "reference/datasets.md"
PUBLISHED = yaml.safe_load((ROOT / "datasets.yaml").read_text(encoding="utf-8"))["datasets"]
ENTRIES = {
    name: {"datasets": {name: entry}, **({} if "timestamp" in columns else {"split": {"strategy": "random-event"}})}
    for name, entry in PUBLISHED.items()
    if (columns := entry.get("options", {}).get("columns"))
}


class Event(NamedTuple):
    """An event before it is written: ids as in the file, seconds since 1970, and what kinds of events there are."""

    user: str
    item: str
    rating: int
    second: int
    kind: int


def made_up(user: str, item: str) -> list[Event]:
    """Events with repeated pairs; the times of a user differ."""
    rng = random.Random(7)
    seconds = rng.sample(range(1_262_304_000, 1_577_836_800), 1200)  # 2010 to 2019
    return [
        Event(
            user.format(rng.randint(1, 30)),
            item.format(rng.randint(1, 60)),
            rng.randint(1, 5),
            second,
            rng.randint(0, 2),
        )
        for second in seconds
    ]


def newest_first(events: list[Event]) -> list[Event]:
    return sorted(events, key=lambda event: (event.user, -event.second))


def time(event: Event, pattern: str) -> str:
    return datetime.fromtimestamp(event.second, UTC).strftime(pattern)


def as_csv(rows: list[list]) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().encode()


def as_lines(lines: list[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()


class Layout(NamedTuple):
    """A made-up file of a layout.

    Attributes:
        file: the name that it is published under, in the archive if it is in one.
        events: what it holds, in its order.
        content: its bytes.
        counts: whether an event is one that the entry asks for.
    """

    file: str
    events: list[Event]
    content: bytes
    counts: Callable[[Event], bool] = lambda event: True


def is_liked(event: Event) -> bool:
    return event.rating >= 4


def is_chosen(event: Event) -> bool:
    return event.kind > 0


def amazon_2018() -> Layout:
    events = made_up("A{:04}X", "B0{:08}")
    rows = [[event.item, event.user, float(event.rating), event.second] for event in events]
    return Layout("All_Beauty.csv", events, as_csv(rows), is_liked)


def amazon_2023() -> Layout:
    events = made_up("AGKA{:03}", "B0{:08}")
    rows = [[event.user, event.item, float(event.rating), 1000 * event.second] for event in events]
    content = as_csv([["user_id", "parent_asin", "rating", "timestamp"], *rows])
    return Layout("Toys_and_Games.csv.gz", events, gzip.compress(content), is_liked)


def amazon_2023_reviews() -> Layout:
    events = made_up("AGKA{:03}", "B0{:08}")
    other = {"title": 'A "title"', "text": "one\ntwo, three", "images": [], "asin": "other", "helpful_vote": 0}
    lines = [
        json.dumps(other | {"rating": float(event.rating), "parent_asin": event.item, "user_id": event.user,
                            "timestamp": 1000 * event.second, "verified_purchase": is_chosen(event)})
        for event in events
    ]  # fmt: skip
    return Layout("All_Beauty.jsonl.gz", events, gzip.compress(as_lines(lines)), is_chosen)


def gowalla() -> Layout:
    events = newest_first(made_up("{}", "{}"))
    times = [time(event, "%Y-%m-%dT%H:%M:%SZ") for event in events]
    lines = [f"{event.user}\t{when}\t30.2\t-97.7\t{event.item}" for event, when in zip(events, times, strict=True)]
    return Layout("loc-gowalla_totalCheckins.txt.gz", events, gzip.compress(as_lines(lines)))


def yelp() -> Layout:
    events = made_up("mh_-{}", "XQf,{}")
    other = {"review_id": "KU_", "useful": 0, "funny": 0, "cool": 0, "text": "so\nso"}
    lines = [
        json.dumps(other | {"user_id": event.user, "business_id": event.item, "stars": float(event.rating),
                            "date": time(event, "%Y-%m-%d %H:%M:%S")})
        for event in events
    ]  # fmt: skip
    return Layout("yelp_academic_dataset_review.json", events, as_lines(lines), is_liked)


def lastfm_1k() -> Layout:
    events = newest_first(made_up("user_{:06}", '"Weird Al" Yankovic, {}'))
    times = [time(event, "%Y-%m-%dT%H:%M:%SZ") for event in events]
    lines = [  # many have no id of the artist
        "\t".join([event.user, when, "f1b1cf71" * is_chosen(event), event.item, "", 'Fall in "Love"'])
        for event, when in zip(events, times, strict=True)
    ]
    lines.insert(500, lines[500] + "\tagain\tand again")  # two fields too many
    return Layout("userid-timestamp-artid-artname-traid-traname.tsv", events, as_lines(lines))


def lastfm_360k() -> Layout:
    events = made_up("{:040x}", '"weird al" {}')
    lines = [f"{event.user}\t{'3bd73256' * is_chosen(event)}\t{event.item}\t{event.rating}" for event in events]
    return Layout("usersha1-artmbid-artname-plays.tsv", events, as_lines(lines), lambda event: event.rating >= 2)


def steam_200k() -> Layout:
    events, kinds = made_up("15160{}", "Deus Ex, {}"), ("purchase", "play", "play")
    rows = [[event.user, event.item, kinds[event.kind], event.rating / 2, 0] for event in events]
    return Layout("steam-200k.csv", events, as_csv(rows), lambda event: event.kind > 0 and event.rating >= 2)


def retailrocket() -> Layout:
    events, kinds = made_up("{}", "{}"), (("view", ""), ("addtocart", ""), ("transaction", 4000))
    rows = [["timestamp", "visitorid", "event", "itemid", "transactionid"]]
    for event in events:
        kind, transaction = kinds[event.kind]
        rows.append([1000 * event.second + 117, event.user, kind, event.item, transaction])
    return Layout("events.csv", events, as_csv(rows), is_chosen)


def kuairec(member: str) -> Layout:
    events, is_small = made_up("{}", "{}"), member.startswith("small")
    rows = [["user_id", "video_id", "play_duration", "video_duration", "time", "date", "timestamp", "watch_ratio"]]
    for event in events:
        when = [time(event, "%Y-%m-%d %H:%M:%S.438"), time(event, "%Y%m%d"), f"{event.second}.438"]
        is_blank = is_small and event.kind == 0
        rows.append([event.user, event.item, 5000, 5000, *(["", "", ""] if is_blank else when), event.rating / 2])
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr(f"KuaiRec 2.0/data/{member}", as_csv(rows))
        packed.writestr("KuaiRec 2.0/data/user_features.csv", "user_id\n")
    counts = (lambda event: is_liked(event) and is_chosen(event)) if is_small else is_liked
    return Layout("KuaiRec.zip", events, archive.getvalue(), counts)


def yambda() -> Layout:
    events = sorted(made_up("{}", "{}"), key=lambda event: (int(event.user), event.second))
    columns = {
        "uid": pa.array([int(each.user) for each in events], pa.uint32()),
        "timestamp": pa.array([each.second for each in events], pa.uint32()),
        "item_id": pa.array([int(each.item) for each in events], pa.uint32()),
        "is_organic": pa.array([int(each.kind > 0) for each in events], pa.uint8()),
        "played_ratio_pct": pa.array([20 * each.rating for each in events], pa.uint16()),
        "track_length_seconds": pa.array([180] * len(events), pa.uint32()),
    }
    written = io.BytesIO()
    parquet.write_table(pa.table(columns), written, row_group_size=100)
    return Layout(
        "listens.parquet", events, written.getvalue(), lambda event: event.kind > 0 and 20 * event.rating >= 50
    )


MAKERS = (
    *(amazon_2018, amazon_2023, amazon_2023_reviews, gowalla, yelp, lastfm_1k, lastfm_360k, steam_200k, retailrocket),
    yambda,
)
LAYOUTS: dict[str, Callable[[], Layout]] = {
    **{make.__name__.replace("_", "-"): make for make in MAKERS},
    **{f"kuairec-{size}": partial(kuairec, f"{size}_matrix.csv") for size in ("big", "small")},
}


def write(name: str, folder: Path) -> Layout:
    """Write the made-up file into a folder."""
    layout = LAYOUTS[name]()
    (folder / layout.file).write_bytes(layout.content)
    return layout
