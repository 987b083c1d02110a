"""datasets.yaml: each entry that names columns reads a made-up file of the layout, as an independent count says."""

import json
from collections import Counter
from pathlib import Path

import pytest
from made_up_project import complete_config, split
from raw_files import ENTRIES, Layout, write

from sampled_metrics.data.split import read_split


def counted(layout: Layout, core: int) -> dict[str, list[tuple[int, str]]]:
    """Times and items of each user, ascending: the earliest event of a pair, and so many of each user and item."""
    pairs: dict[tuple[str, str], int] = {}
    for event in layout.events:
        if layout.counts(event):
            pair = event.user, event.item
            pairs[pair] = min(event.second, pairs.get(pair, event.second))
    while core:
        users, items = Counter(user for user, _ in pairs), Counter(item for _, item in pairs)
        enough = {pair: when for pair, when in pairs.items() if min(users[pair[0]], items[pair[1]]) >= core}
        core, pairs = core if len(enough) < len(pairs) else 0, enough
    return {user: sorted((when, item) for (other, item), when in pairs.items() if other == user) for user, _ in pairs}


@pytest.mark.parametrize("name", ENTRIES)
def test_an_entry_reads_what_the_file_holds(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    layout, entry = write(name, tmp_path), ENTRIES[name]
    config = complete_config(entry | {"study": [name], "sampling": {"negatives": 1}})
    assert split(config, name) == []
    found, facts = read_split("split.npz"), json.loads(Path("dataset.json").read_text(encoding="utf-8"))

    events = counted(layout, entry["datasets"][name].get("core", 0))
    least = 1 + entry.get("split", {}).get("min_training_events", 1)
    users = [user for user, own in events.items() if len(own) >= least]
    assert sorted(map(str, found.user_ids)) == sorted(users)
    assert sorted(map(str, found.item_ids)) == sorted({item for own in events.values() for _, item in own})
    assert facts["events"] == sum(map(len, events.values()))
    assert facts["users"] == len(users) == len(events) - facts["users_left_out_with_few_training_events"]
    for row, user in enumerate(map(str, found.user_ids)):
        items = {item for _, item in events[user]}
        training = {str(item) for item in found.item_ids[found.training[[row]].indices]}
        held_out = str(found.item_ids[found.item[row]])
        assert training | {held_out} == items
        assert held_out not in training
        if config["split"]["strategy"] == "last-event":
            assert held_out == events[user][-1][1]
