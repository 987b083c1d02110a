"""What the negative samplers of other libraries draw, for one made-up data set.

    PYTHON benchmarks/samplers.py --output NAME.csv    # for the libraries that this Python has

DaisyRec is in no environment of this project: `pip install --no-deps daisyRec` adds it to one that has torch.

Each library draws negatives twice for the test items of 400 users, or as for training where it samples nothing else. A
row says whether an item is there twice for a user, whether the second draw is another one, how often training items and
the user's other held-out item are drawn, and the p-value of `uniformity` of those that are candidates.
"""

import argparse
import sys
import tempfile
from collections.abc import Callable
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "src"))

from sampled_metrics.data.split import Split, pair_matrix  # noqa: E402
from sampled_metrics.ranking.negatives import uniformity  # noqa: E402

USERS, ITEMS, EVENTS, NEGATIVES = 400, 600, 22, 100
Draw = tuple[np.ndarray, np.ndarray]
"""(draws,) users, and their negatives."""


def made_up_events() -> np.ndarray:
    """Return (users, events) items in the order of time, popular ones more often; the last two are held out."""
    rng = np.random.default_rng(0)
    popularity = 1 / np.arange(10, ITEMS + 10)
    items = [rng.choice(ITEMS, EVENTS, replace=False, p=popularity / popularity.sum()) for _ in range(USERS)]
    for user, item in enumerate(rng.permutation(ITEMS)[: USERS * (EVENTS - 2)]):  # every item is in training
        if item not in items[user % USERS]:
            items[user % USERS][user // USERS] = item
    return np.array(items)


def recbole(events: np.ndarray, mode: str) -> Callable[[], Draw]:
    """Draws of RecBole's evaluation."""
    from recbole.config import Config
    from recbole.data import create_dataset, data_preparation

    folder = Path(tempfile.mkdtemp())
    (folder / "made-up").mkdir()
    table = pd.DataFrame(
        {
            "user_id:token": np.repeat(np.arange(USERS), EVENTS),
            "item_id:token": events.ravel(),
            "timestamp:float": np.tile(np.arange(EVENTS), USERS),
        }
    )
    table.to_csv(folder / "made-up/made-up.inter", sep="\t", index=False)
    settings = {
        "data_path": str(folder),
        "load_col": {"inter": ["user_id", "item_id", "timestamp"]},
        "eval_args": {"split": {"LS": "valid_and_test"}, "order": "TO", "mode": mode},
        "state": "ERROR",
    }
    config = Config(model="BPR", dataset="made-up", config_dict=settings)
    *_, test = data_preparation(config, create_dataset(config))

    def draw() -> Draw:
        parts = [interaction for interaction, *_ in test]
        user, item = (
            np.concatenate([test.dataset.id2token(field, part[field].numpy()) for part in parts]).astype(int)
            for field in ("user_id", "item_id")
        )
        is_negative = item != events[user, -1]
        return user[is_negative], item[is_negative]

    return draw


def lenskit(events: np.ndarray, weighting: str) -> Callable[[], Draw]:
    """Draws of LensKit's matrix of training events."""
    from lenskit.data import from_interactions_df

    known = events[:, :-2]
    table = {"user_id": np.repeat(np.arange(USERS), known.shape[1]), "item_id": known.ravel()}
    data = from_interactions_df(pd.DataFrame(table))
    matrix = data.interactions().matrix()
    rows, ids = data.users.numbers(np.arange(USERS)), np.asarray(data.items.ids())

    def draw() -> Draw:
        drawn = matrix.sample_negatives(np.asarray(rows, dtype=np.int32), weighting=weighting, n=NEGATIVES)
        return np.repeat(np.arange(USERS), NEGATIVES), ids[drawn].ravel()

    return draw


def pykeen(events: np.ndarray) -> Callable[[], Draw]:
    """Draws of PyKEEN's sampled evaluation of tails, with the training triples as filter."""
    import torch
    from pykeen.evaluation.rank_based_evaluator import sample_negatives

    def triples(columns: slice) -> Any:
        items = events[:, columns]
        users = np.repeat(np.arange(USERS) + ITEMS, items.shape[1])  # users are entities, too, after the items
        return torch.as_tensor(np.stack((users, np.zeros_like(users), items.ravel()), axis=1)).long()

    def draw() -> Draw:
        drawn = sample_negatives(triples(slice(-1, None)), triples(slice(-2)), NEGATIVES, ITEMS + USERS)["tail"].numpy()
        user = np.repeat(np.arange(USERS), NEGATIVES)
        is_item = drawn.ravel() < ITEMS  # any entity may be a tail
        return user[is_item], drawn.ravel()[is_item].astype(int)

    return draw


def cornac(events: np.ndarray, population: str) -> Callable[[], Draw]:
    """Draws of Cornac's training, one for each event."""
    from cornac.data import Dataset

    known = events[:, :-2]
    triples = [(user, item, 1.0) for user in range(USERS) for item in known[user].tolist()]
    data = Dataset.from_uir(triples, seed=None)
    ids, users = np.array(list(data.iid_map)), np.array(list(data.uid_map))

    def draw() -> Draw:
        batches = [(user, item) for user, _, item in data.uij_iter(1000, neg_sampling=population)]
        user, item = (np.concatenate(column) for column in zip(*batches, strict=True))
        return users[user], ids[item]

    return draw


def rectools(events: np.ndarray) -> Callable[[], Draw]:
    """Draws of the sampler of RecTools' transformers, which has the items without their padding."""
    import torch
    from rectools.models.nn.transformers.negative_sampler import CatalogUniformSampler

    sampler = CatalogUniformSampler(NEGATIVES)

    def draw() -> Draw:
        drawn = sampler.get_negatives({"x": torch.zeros((USERS, 1))}, 1, ITEMS + 1)  # item i has the number i + 1
        return np.repeat(np.arange(USERS), NEGATIVES), drawn.numpy().ravel() - 1

    return draw


def daisy(events: np.ndarray) -> Callable[[], Draw]:
    """Draws of the candidates of DaisyRec's evaluation of the last event."""
    from daisy.utils.utils import build_candidates_set

    settings = {"item_num": ITEMS, "cand_num": NEGATIVES + 1}
    known = {user: set(events[user, :-2].tolist()) for user in range(USERS)}
    test = {user: {int(events[user, -1])} for user in range(USERS)}

    def draw() -> Draw:
        users, candidates = build_candidates_set(test, known, settings)
        drawn = np.stack([items[:-1] for _, items in candidates])  # the held-out item is the last
        return np.repeat(users, NEGATIVES), drawn.ravel().astype(int)

    return draw


SAMPLERS: dict[tuple[str, str], Callable[[np.ndarray], Callable[[], Draw]]] = {
    ("recbole", "evaluation, uni100"): lambda events: recbole(events, "uni100"),
    ("recbole", "evaluation, pop100"): lambda events: recbole(events, "pop100"),
    ("rectools", "training of transformers"): rectools,
    ("lenskit", "sample_negatives, uniform"): lambda events: lenskit(events, "uniform"),
    ("lenskit", "sample_negatives, popularity"): lambda events: lenskit(events, "popularity"),
    ("cornac", "training, uniform"): lambda events: cornac(events, "uniform"),
    ("cornac", "training, popularity"): lambda events: cornac(events, "popularity"),
    ("pykeen", "evaluation, sampled"): pykeen,
    ("daisyRec", "evaluation, candidates"): daisy,
}
MODULES = {"daisyRec": "daisy"}
"""Names of modules that are not those of their packages."""


def row(library: str, name: str, events: np.ndarray) -> dict[str, Any]:
    """Return what a sampler draws, as a row of the table."""
    draw = SAMPLERS[library, name](events)
    (user, item), (again_user, again) = draw(), draw()
    order = np.argsort(user, kind="stable")
    user, item = user[order], item[order]
    drawn = pd.DataFrame({"user": user, "item": item})
    training = np.zeros((USERS, ITEMS), dtype=bool)
    np.put_along_axis(training, events[:, :-2], True, axis=1)
    is_training, is_other = training[user, item], item == events[user, -2]
    is_candidate = ~is_training & (item != events[user, -1]) & ~is_other
    number = np.repeat(np.arange(USERS), EVENTS - 2)
    split = Split(
        pair_matrix(number, events[:, :-2].ravel(), (USERS, ITEMS)),
        pair_matrix(np.repeat(np.arange(USERS), 2), events[:, -2:].ravel(), (USERS, ITEMS)),
        np.arange(USERS),
        np.arange(ITEMS),
    )
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
        "redrawn": not np.array_equal(np.sort(again_user * ITEMS + again), np.sort(user * ITEMS + item)),
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
    sys.argv = sys.argv[:1]  # RecBole reads the arguments
    np.random.seed(1)  # noqa: NPY002  # RecBole and others draw from it
    rows = [
        row(library, name, made_up_events()) for library, name in SAMPLERS if find_spec(MODULES.get(library, library))
    ]
    table = pd.DataFrame(rows)
    print(table.to_string(index=False))
    if output:
        table.to_csv(output, index=False)


if __name__ == "__main__":
    main()
