"""datasets.yaml: each entry that names columns reads a made-up file of the layout.

What it reads is what an independent count says.
"""

import gzip
import io
import json
import random
import zipfile
from datetime import UTC, datetime
from pathlib import Path
from string import Template
from typing import NamedTuple

import pandas as pd
import pyarrow as pa
import pytest
import yaml
from docs_blocks import ROOT
from made_up_project import complete_config, split
from pyarrow import parquet

from sampled_metrics.ranking.split import read_split

DATASETS = yaml.safe_load((ROOT / "datasets.yaml").read_text(encoding="utf-8"))["datasets"]
ENTRIES = {
    name: entry for name, entry in DATASETS.items() if entry.get("options", {}).get("columns")
}


class Event(NamedTuple):
    """An event before it is written: ids as in the file, a time, and one of three kinds.

    The time is in seconds since 1970.
    """

    user: str
    item: str
    rating: int
    second: int
    kind: int


def is_liked(event):
    return event.rating >= 4


def is_chosen(event):
    return event.kind > 0


def is_any(event):
    return True


REVIEW = r"""{"rating": $rating.0, "title": "A \"title\"", "text": "one\ntwo, three", "asin": "other", "images": [],
 "parent_asin": "$item", "user_id": "$user", "timestamp": ${second}000, "verified_purchase": $is_chosen}"""
YELP = (
    r'{"user_id": "$user", "business_id": "$item", "stars": $rating.0, "text": "so\nso", '
    r'"date": "$time"}'
)
KUAIREC = "user_id,video_id,play_duration,video_duration,time,date,timestamp,watch_ratio\n$user,$item,5000,5000,"
FILES = {
    "amazon-2018": "All_Beauty.csv",
    "amazon-2023": "Toys_and_Games.csv.gz",
    "amazon-2023-reviews": "All_Beauty.jsonl.gz",
    "gowalla": "loc-gowalla_totalCheckins.txt.gz",
    "yelp": "yelp_academic_dataset_review.json",
    "lastfm-1k": "userid-timestamp-artid-artname-traid-traname.tsv",
    "lastfm-360k": "usersha1-artmbid-artname-plays.tsv",
    "steam-200k": "steam-200k.csv",
    "retailrocket": "events.csv",
    "yambda": "listens.parquet",
    "kuairec-big": "KuaiRec.zip/KuaiRec 2.0/data/big_matrix.csv",
    "kuairec-small": "KuaiRec.zip/KuaiRec 2.0/data/small_matrix.csv",
}
"""The names that they are published under, with the file inside a zip archive."""
PLAIN = "{}", "{}"
AMAZON = "A{:04}X", "B0{:08}"
LAYOUTS = {
    "amazon-2018": (AMAZON, "$item,$user,$rating.0,$second", is_liked),
    "amazon-2023": (
        AMAZON,
        "user_id,parent_asin,rating,timestamp\n$user,$item,$rating.0,${second}000",
        is_liked,
    ),
    "amazon-2023-reviews": (AMAZON, REVIEW.replace("\n", ""), is_chosen),
    "gowalla": (PLAIN, "$user\t$iso\t30.2\t-97.7\t$item", is_any),
    "yelp": (("mh_-{}", "XQf,{}"), YELP, is_liked),
    "lastfm-1k": (
        ("user_{}", '"Weird Al" Yankovic, {}'),
        '$user\t$iso\t$artist\t$item\t\tFall in "Love"',
        is_any,
    ),
    "lastfm-360k": (
        ("{:040x}", '"weird al" {}'),
        "$user\t$artist\t$item\t$rating",
        lambda event: event.rating > 1,
    ),
    "steam-200k": (
        ("15{}", "Ex, {}"),
        '$user,"$item",$play,$half,0',
        lambda event: event.kind and event.rating > 1,
    ),
    "retailrocket": (
        PLAIN,
        "timestamp,visitorid,event,itemid,other\n${second}117,$user,$step,$item,",
        is_chosen,
    ),
    "yambda": (PLAIN, "", lambda event: event.kind > 0 and 20 * event.rating >= 50),
    "kuairec-big": (PLAIN, KUAIREC + "$time.438,$day,$second.438,$half", is_liked),
    "kuairec-small": (
        PLAIN,
        KUAIREC + "$times,$half",
        lambda event: is_liked(event) and is_chosen(event),
    ),
}
"""Ids of users and items, a header and a line, and which events the entry asks for."""


def line_of(event, pattern):
    """Write an event; many have no id of the artist, or no time."""
    when = datetime.fromtimestamp(event.second, UTC)
    text = {
        "time": f"{when:%Y-%m-%d %H:%M:%S}",
        "iso": f"{when:%Y-%m-%dT%H:%M:%SZ}",
        "day": f"{when:%Y%m%d}",
    }
    has_time = is_chosen(event)
    text["times"] = f"{text['time']}.438,{text['day']},{event.second}.438" if has_time else ",,"
    kinds = {"play": ("purchase", "play", "play"), "step": ("view", "addtocart", "transaction")}
    text |= {name: words[event.kind] for name, words in kinds.items()}
    text |= {
        "half": str(event.rating / 2),
        "artist": "3bd7" * is_chosen(event),
        "is_chosen": json.dumps(is_chosen(event)),
    }
    return Template(pattern).substitute(event._asdict(), **text) + "\n"


def made_up(name):
    """Events with repeated pairs; the times of a user differ.

    Some files begin with the latest event.
    """
    rng = random.Random(7)
    user, item = LAYOUTS[name][0]
    seconds = rng.sample(range(1_262_304_000, 1_577_836_800), 1200)  # 2010 to 2019
    events = [
        Event(
            user.format(rng.randint(1, 30)),
            item.format(rng.randint(1, 60)),
            rng.randint(1, 5),
            second,
            second % 3,
        )
        for second in seconds
    ]
    order = {"gowalla": -1, "lastfm-1k": -1, "yambda": 1}.get(name)
    return sorted(events, key=lambda event: (event.user, order * event.second)) if order else events


def parquet_of_yambda(events):
    columns = {
        "uid": pa.array([int(event.user) for event in events], pa.uint32()),
        "timestamp": pa.array([event.second for event in events], pa.uint32()),
        "item_id": pa.array([int(event.item) for event in events], pa.uint32()),
        "is_organic": pa.array([int(is_chosen(event)) for event in events], pa.uint8()),
        "played_ratio_pct": pa.array([20 * event.rating for event in events], pa.uint16()),
    }
    written = io.BytesIO()
    parquet.write_table(pa.table(columns), written, row_group_size=100)
    return written.getvalue()


def write(name, events):
    """Write the made-up file into the current folder."""
    header, _, pattern = LAYOUTS[name][1].rpartition("\n")
    lines = [line_of(event, pattern) for event in events]
    if name == "lastfm-1k":
        lines.insert(500, lines[500].rstrip() + "\tagain\tand again\n")  # two fields too many
    content = "".join([header, "\n" * bool(header), *lines]).encode()
    file, _, member = FILES[name].partition("/")
    packers = {".gz": gzip.compress, ".parquet": lambda _: parquet_of_yambda(events)}
    pack = packers.get(Path(file).suffix, bytes)
    Path(file).write_bytes(pack(content))
    if member:
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
            packed.writestr(member, content)
            packed.writestr("KuaiRec 2.0/data/user_features.csv", "user_id\n")


def counted(events, core):
    """The pairs of the core with their earliest times, by user and time."""
    table = pd.DataFrame(events, columns=Event._fields)
    pairs = table.groupby(["user", "item"], as_index=False)["second"].min()
    while core:
        users = pairs.groupby("user")["user"].transform("size")
        items = pairs.groupby("item")["item"].transform("size")
        is_frequent = (users >= core) & (items >= core)
        core = 0 if is_frequent.all() else core
        pairs = pairs[is_frequent]
    return pairs.sort_values(["user", "second"])


@pytest.mark.parametrize("name", ENTRIES)
def test_an_entry_reads_what_the_file_holds(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    made = made_up(name)
    entry = ENTRIES[name]
    write(name, made)
    has_times = "timestamp" in entry["options"]["columns"]
    config = complete_config(
        {"datasets": {name: entry}, "study": [name], "sampling": {"negatives": 1}}
        | ({} if has_times else {"split": {"strategy": "random-event"}})
    )
    assert split(config, name) == []
    read = read_split("split.npz")
    facts = json.loads(Path("dataset.json").read_text(encoding="utf-8"))

    events = counted([event for event in made if LAYOUTS[name][2](event)], entry.get("core", 0))
    counts = events["user"].value_counts()
    users = counts.index[counts > 1]
    assert sorted(map(str, read.user_ids)) == sorted(users)
    assert sorted(map(str, read.item_ids)) == sorted(events["item"].unique())
    assert facts["events"] == len(events)
    assert facts["users_left_out_with_few_training_events"] == (counts == 1).sum()
    for row, user in enumerate(map(str, read.user_ids)):
        items = events.loc[events["user"] == user, "item"].tolist()
        training = read.item_ids[read.training[[row]].indices]
        held_out = str(read.item_ids[read.item[row]])
        assert sorted([*map(str, training), held_out]) == sorted(items)
        assert not has_times or held_out == items[-1]
