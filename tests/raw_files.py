"""The entries of datasets.yaml that name columns, and made-up files of the layouts that they read."""

import csv
import gzip
import io
import json
import random
import zipfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import yaml
from docs_blocks import ROOT, blocks
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


def as_csv(rows: list[list], separator: str = ",") -> bytes:
    text = io.StringIO()
    csv.writer(text, delimiter=separator, lineterminator="\n").writerows(rows)
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


def amazon_2018() -> Layout:
    events = made_up("A{:04}X", "B0{:08}")
    rows = [[each.item, each.user, float(each.rating), each.second] for each in events]
    return Layout("All_Beauty.csv", events, as_csv(rows), lambda event: event.rating >= 4)


def amazon_2023() -> Layout:
    events = made_up("AGKA{:03}", "B0{:08}")
    rows = [[each.user, each.item, float(each.rating), 1000 * each.second] for each in events]
    content = as_csv([["user_id", "parent_asin", "rating", "timestamp"], *rows])
    return Layout("Toys_and_Games.csv.gz", events, gzip.compress(content), lambda event: event.rating >= 4)


def amazon_2023_reviews() -> Layout:
    events = made_up("AGKA{:03}", "B0{:08}")
    lines = [
        json.dumps(
            {
                "rating": float(each.rating), "title": 'A "title"', "text": "one\ntwo, three", "images": [],
                "asin": "other", "parent_asin": each.item, "user_id": each.user, "timestamp": 1000 * each.second,
                "helpful_vote": 0, "verified_purchase": each.kind > 0,
            }
        )
        for each in events
    ]  # fmt: skip
    return Layout("All_Beauty.jsonl.gz", events, gzip.compress(as_lines(lines)), lambda event: event.kind > 0)


def gowalla() -> Layout:
    events = newest_first(made_up("{}", "{}"))
    lines = [f"{each.user}\t{time(each, '%Y-%m-%dT%H:%M:%SZ')}\t30.23590911\t-97.7951\t{each.item}" for each in events]
    return Layout("loc-gowalla_totalCheckins.txt.gz", events, gzip.compress(as_lines(lines)))


def yelp() -> Layout:
    events = made_up("mh_-{}", "XQf,{}")
    lines = [
        json.dumps(
            {
                "review_id": f"KU_{at}", "user_id": each.user, "business_id": each.item, "stars": float(each.rating),
                "useful": 0, "funny": 0, "cool": 0, "text": "so\nso", "date": time(each, "%Y-%m-%d %H:%M:%S"),
            }
        )
        for at, each in enumerate(events)
    ]  # fmt: skip
    name = "yelp_academic_dataset_review.json"
    return Layout(name, events, as_lines(lines), lambda event: event.rating >= 4)


def lastfm_1k() -> Layout:
    events = newest_first(made_up("user_{:06}", '"Weird Al" Yankovic, {}'))
    artist = {True: "f1b1cf71", False: ""}  # many have no id
    lines = [
        "\t".join([each.user, time(each, "%Y-%m-%dT%H:%M:%SZ"), artist[each.kind > 0], each.item, "", 'Fall in "Love"'])
        for each in events
    ]
    lines.insert(500, lines[500] + "\tagain\tand again")  # two fields too many
    return Layout("userid-timestamp-artid-artname-traid-traname.tsv", events, as_lines(lines))


def lastfm_360k() -> Layout:
    events = made_up("{:040x}", '"weird al" {}')
    lines = [f"{each.user}\t{'3bd73256' * (each.kind > 0)}\t{each.item}\t{each.rating}" for each in events]
    return Layout("usersha1-artmbid-artname-plays.tsv", events, as_lines(lines), lambda event: event.rating >= 2)


def steam_200k() -> Layout:
    events = made_up("15160{}", "Deus Ex, {}")
    kinds = ("purchase", "play", "play")
    rows = [[each.user, each.item, kinds[each.kind], each.rating / 2, 0] for each in events]
    return Layout("steam-200k.csv", events, as_csv(rows), lambda event: event.kind > 0 and event.rating >= 2)


def retailrocket() -> Layout:
    events = made_up("{}", "{}")
    kinds = ("view", "addtocart", "transaction")
    header = ["timestamp", "visitorid", "event", "itemid", "transactionid"]
    rows = [
        [1000 * each.second + 117, each.user, kinds[each.kind], each.item, 4000 if each.kind == 2 else ""]
        for each in events
    ]
    return Layout("events.csv", events, as_csv([header, *rows]), lambda event: event.kind > 0)


def mind() -> Layout:
    events = made_up("U{}", "N{}")
    lines = []
    for at, each in enumerate(events):
        when = datetime.fromtimestamp(each.second, UTC)
        written = f"{when.month}/{when.day}/{when.year} {when.hour % 12 or 12}:{when:%M:%S %p}"
        lines.append(f"{at}\t{each.user}\t{written}\tN900 N901\tN950-0 {each.item}-{int(each.kind > 0)} N951-0")
    return Layout("behaviors.tsv", events, as_lines(lines), lambda event: event.kind > 0)


def kuairec(member: str) -> Layout:
    events = made_up("{}", "{}")
    is_small = member.startswith("small")
    header = ["user_id", "video_id", "play_duration", "video_duration", "time", "date", "timestamp", "watch_ratio"]
    rows = [
        [each.user, each.item, 5000, 5000, *["", "", ""], each.rating / 2]
        if is_small and each.kind == 0
        else [each.user, each.item, 5000, 5000, time(each, "%Y-%m-%d %H:%M:%S.438"), time(each, "%Y%m%d"),
              f"{each.second}.438", each.rating / 2]
        for each in events
    ]  # fmt: skip
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr(f"KuaiRec 2.0/data/{member}", as_csv([header, *rows]))
        packed.writestr("KuaiRec 2.0/data/user_features.csv", "user_id\n")
    return Layout(
        "KuaiRec.zip", events, archive.getvalue(), lambda event: event.rating >= 4 and (event.kind > 0 or not is_small)
    )


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


LAYOUTS: dict[str, Callable[[], Layout]] = {
    "amazon-2018": amazon_2018,
    "amazon-2023": amazon_2023,
    "amazon-2023-reviews": amazon_2023_reviews,
    "gowalla": gowalla,
    "yelp": yelp,
    "lastfm-1k": lastfm_1k,
    "lastfm-360k": lastfm_360k,
    "steam-200k": steam_200k,
    "retailrocket": retailrocket,
    "mind": mind,
    "kuairec-big": lambda: kuairec("big_matrix.csv"),
    "kuairec-small": lambda: kuairec("small_matrix.csv"),
    "yambda": yambda,
}


def write(name: str, folder: Path) -> Layout:
    """Write the made-up file into a folder, which is the current one; run the page's script if the entry needs it."""
    layout = LAYOUTS[name]()
    (folder / layout.file).write_bytes(layout.content)
    for code in blocks(PAGE, "python"):
        if f'"{layout.file}"' in code:
            exec(compile(code, PAGE, "exec"), {})
    return layout
