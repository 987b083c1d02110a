"""What the negative samplers of other libraries draw, for one made-up data set.

    PYTHON benchmarks/samplers.py --output NAME.csv    # for the libraries that this Python has

DaisyRec is in no environment of this project: `pip install --no-deps daisyRec` adds it to one that has torch.

Each library draws negatives twice for the test items of 400 users, or as for training where it samples nothing else. A
row says whether an item is there twice for a user, whether the second draw is another one, how often training items and
the user's other held-out item are drawn, and the p-value of `uniformity` of those that are candidates.
"""

import argparse
import sys
from collections.abc import Callable, Iterator
from functools import partial
from importlib.metadata import version
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

import recbole_data

from sampled_metrics.data.split import Split, pair_matrix
from sampled_metrics.ranking.negatives import uniformity

USERS, ITEMS, EVENTS, NEGATIVES = 400, 600, 22, 100
USER = np.repeat(np.arange(USERS), NEGATIVES)
Draws = Iterator[tuple[np.ndarray, np.ndarray]]
"""One draw after the other: users and their negatives, both (draws,)."""


def made_up_events() -> np.ndarray:
    """Return (users, events) items in the order of time, popular ones more often; the last two are held out."""
    rng = np.random.default_rng(0)
    popularity = 1 / np.arange(10, ITEMS + 10)
    items = [rng.choice(ITEMS, EVENTS, replace=False, p=popularity / popularity.sum()) for _ in range(USERS)]
    for user, item in enumerate(rng.permutation(ITEMS)[: USERS * (EVENTS - 2)]):  # every item is in training
        if item not in items[user % USERS]:
            items[user % USERS][user // USERS] = item
    return np.array(items)


def pairs(items: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return users and items of (users, events) items."""
    return np.repeat(np.arange(USERS), items.shape[1]), items.ravel()


def recbole(events: np.ndarray, mode: str) -> Draws:
    """Draws of RecBole's evaluation."""
    user, item = pairs(events)
    table = pd.DataFrame({"user_id": user, "item_id": item, "timestamp": np.tile(np.arange(EVENTS), USERS)})
    with recbole_data.new_folder():
        _, (*_, test) = recbole_data.prepared(table, "BPR", "valid_and_test", mode)
    while True:
        parts = [interaction for interaction, *_ in test]
        user, item = (
            np.concatenate([test.dataset.id2token(field, part[field].numpy()) for part in parts]).astype(int)
            for field in ("user_id", "item_id")
        )
        is_negative = item != events[user, -1]
        yield user[is_negative], item[is_negative]


def lenskit(events: np.ndarray, weighting: str) -> Draws:
    """Draws of LensKit's matrix of training events."""
    from lenskit.data import from_interactions_df

    data = from_interactions_df(pd.DataFrame(dict(zip(("user_id", "item_id"), pairs(events[:, :-2]), strict=True))))
    matrix, ids = data.interactions().matrix(), np.asarray(data.items.ids())
    rows = np.asarray(data.users.numbers(np.arange(USERS)), dtype=np.int32)
    while True:
        yield USER, ids[matrix.sample_negatives(rows, weighting=weighting, n=NEGATIVES)].ravel()


def pykeen(events: np.ndarray) -> Draws:
    """Draws of PyKEEN's sampled evaluation of tails, with the training triples as filter."""
    import torch
    from pykeen.evaluation.rank_based_evaluator import sample_negatives

    def triples(items: np.ndarray) -> Any:
        user, item = pairs(items)  # users are entities, too, after the items
        return torch.as_tensor(np.stack((user + ITEMS, np.zeros_like(user), item), axis=1)).long()

    while True:
        drawn = sample_negatives(triples(events[:, -1:]), triples(events[:, :-2]), NEGATIVES, ITEMS + USERS)["tail"]
        item = drawn.numpy().ravel().astype(int)
        yield USER[item < ITEMS], item[item < ITEMS]  # any entity may be a tail


def cornac(events: np.ndarray, population: str) -> Draws:
    """Draws of Cornac's training, one for each event."""
    from cornac.data import Dataset

    triples = [(user, item, 1.0) for user, item in zip(*map(np.ndarray.tolist, pairs(events[:, :-2])), strict=True)]
    data = Dataset.from_uir(triples, seed=None)
    ids, users = np.array(list(data.iid_map)), np.array(list(data.uid_map))
    while True:
        batches = [(user, item) for user, _, item in data.uij_iter(1000, neg_sampling=population)]
        user, item = (np.concatenate(column) for column in zip(*batches, strict=True))
        yield users[user], ids[item]


def rectools(events: np.ndarray) -> Draws:
    """Draws of the sampler of RecTools' transformers, which has the items without their padding."""
    import torch
    from rectools.models.nn.transformers.negative_sampler import CatalogUniformSampler

    sampler = CatalogUniformSampler(NEGATIVES)
    while True:  # item i has the number i + 1
        yield USER, sampler.get_negatives({"x": torch.zeros((USERS, 1))}, 1, ITEMS + 1).numpy().ravel() - 1


def daisy(events: np.ndarray) -> Draws:
    """Draws of the candidates of DaisyRec's evaluation of the last event."""
    from daisy.utils.utils import build_candidates_set

    known = {user: set(events[user, :-2].tolist()) for user in range(USERS)}
    test = {user: {int(events[user, -1])} for user in range(USERS)}
    while True:
        users, candidates = build_candidates_set(test, known, {"item_num": ITEMS, "cand_num": NEGATIVES + 1})
        drawn = np.stack([items[:-1] for _, items in candidates])  # the held-out item is the last
        yield np.repeat(users, NEGATIVES), drawn.ravel().astype(int)


SAMPLERS: dict[tuple[str, str], Callable[[np.ndarray], Draws]] = {
    ("recbole", "evaluation, uni100"): partial(recbole, mode="uni100"),
    ("recbole", "evaluation, pop100"): partial(recbole, mode="pop100"),
    ("rectools", "training of transformers"): rectools,
    ("lenskit", "sample_negatives, uniform"): partial(lenskit, weighting="uniform"),
    ("lenskit", "sample_negatives, popularity"): partial(lenskit, weighting="popularity"),
    ("cornac", "training, uniform"): partial(cornac, population="uniform"),
    ("cornac", "training, popularity"): partial(cornac, population="popularity"),
    ("pykeen", "evaluation, sampled"): pykeen,
    ("daisyRec", "evaluation, candidates"): daisy,
}


def row(library: str, name: str, events: np.ndarray) -> dict[str, Any]:
    """Return what a sampler draws, as a row of the table."""
    draws = SAMPLERS[library, name](events)
    drawn, again = (
        pd.DataFrame({"user": user, "item": item}).sort_values(["user", "item"]) for user, item in islice(draws, 2)
    )
    user, item = drawn["user"].to_numpy(), drawn["item"].to_numpy()
    split = Split(
        pair_matrix(*pairs(events[:, :-2]), (USERS, ITEMS)),
        pair_matrix(*pairs(events[:, -2:]), (USERS, ITEMS)),
        np.arange(USERS),
        np.arange(ITEMS),
    )
    is_training, is_other = (item[:, np.newaxis] == events[user, :-2]).any(axis=1), item == events[user, -2]
    is_candidate = ~is_training & (item != events[user, -1]) & ~is_other
    is_repeated = bool(drawn.duplicated().any())
    p_value, popularity, _ = uniformity(
        user[is_candidate], item[is_candidate], np.arange(USERS), split, replacement=is_repeated
    )
    return {
        "library": library,
        "version": version(library),
        "sampler": name,
        "draws": len(item),
        "replacement": is_repeated,
        "redrawn": not np.array_equal(drawn, again),
        "training": int(is_training.sum()),
        "other held-out": int(is_other.sum()),
        "p": p_value,
        "popularity": popularity,
    }


def main() -> None:
    """Print and write the table of the libraries that are here."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path)
    output = parser.parse_args().output
    np.random.seed(1)  # noqa: NPY002  # RecBole and others draw from it
    events = made_up_events()
    there = [key for key in SAMPLERS if find_spec({"daisyRec": "daisy"}.get(key[0], key[0]))]
    table = pd.DataFrame([row(*key, events) for key in there])
    print(table.to_string(index=False))
    if output:
        table.to_csv(output, index=False)


if __name__ == "__main__":
    main()
