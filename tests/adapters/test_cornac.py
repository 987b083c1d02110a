"""Cornac: against the order in which it ranks the items, and its own evaluation."""

from typing import Any

import numpy as np
import pytest
from expected_ranks import agrees, has_candidates, of_page

import sampled_metrics as sm

pytestmark = pytest.mark.filterwarnings("ignore")  # the library's own
cornac = pytest.importorskip("cornac", reason="Cornac is not installed")
cornac_ranks = of_page("cornac_ranks")

OPTIONS: dict[str, dict[str, Any]] = {
    "MostPop": {},
    "BPR": {"k": 4, "seed": 1},
    "ItemKNN": {"k": 3, "verbose": False},
    "MF": {"k": 4, "seed": 1},
}


def triples(events) -> list[tuple[str, str, float]]:
    return [(row.user_id, row.item_id, 1.0) for row in events.itertuples()]


@pytest.mark.parametrize("name", OPTIONS)
@pytest.mark.parametrize("validation", [False, True])
def test_ranks(split, name: str, validation: bool) -> None:
    from cornac.eval_methods import BaseMethod, ranking_eval

    training, test = split
    parts = {"train_data": training, "test_data": test}
    if validation:  # every tenth event of training
        parts |= {"train_data": training[training["time"] != 3], "val_data": training[training["time"] == 3]}
    method = BaseMethod.from_splits(
        **{key: triples(part) for key, part in parts.items()}, exclude_unknowns=True, verbose=False
    )
    model = getattr(cornac.models, name)(**OPTIONS[name])
    model.fit(method.train_set)

    table = cornac_ranks(model, method.train_set, method.test_set, method.val_set)
    assert sorted(table.user) == sorted(test["user_id"])
    has_candidates(table, training)
    of_user = training.groupby("user_id")["item_id"].apply(set)
    held_out = test.set_index("user_id")["item_id"]
    positions = []
    for user in table.user:
        index, names = method.train_set.uid_map[user], method.train_set.item_ids
        listed = [names[item] for item in model.rank(index)[0] if names[item] not in of_user[user]]
        positions.append(1.0 + listed.index(held_out[user]))
    agrees(table, np.array(positions))

    theirs = [
        ranking_eval(model, [metric], method.train_set, method.test_set, method.val_set)[0][0]  # 2.2: not with Recall@5
        for metric in (cornac.metrics.AUC(), cornac.metrics.Recall(k=5), cornac.metrics.MRR())
    ]
    losses = (table.above + table.tied) / (table.candidates - 1)  # Cornac's AUC counts a tie as a loss
    assert theirs[0] == pytest.approx((1 - losses).mean())
    if not table.tied.any():
        ours = sm.evaluate(table, metrics=["auc", "recall@5", "mrr"])["value"]
        np.testing.assert_allclose(theirs, ours, rtol=1e-12)
    assert table.tied.any() == (name in ("MostPop", "ItemKNN"))


def test_ratings_below_the_threshold_do_not_count(split) -> None:
    """As in Cornac: an item that the user rated below is a candidate, and a test item below is no test item."""
    from cornac.eval_methods import BaseMethod, ranking_eval

    rated = [[(user, item, float(len(item) + len(user))) for user, item, _ in triples(part)] for part in split]
    assert {rating for part in rated for *_, rating in part} == {4.0, 5.0, 6.0}
    method = BaseMethod.from_splits(*rated, exclude_unknowns=True, rating_threshold=5.0, verbose=False)
    model = cornac.models.BPR(k=4, seed=1)
    model.fit(method.train_set)
    table = cornac_ranks(model, method.train_set, method.test_set, rating_threshold=5.0)
    assert len(table) == sum(rating >= 5 for *_, rating in rated[1]) < len(rated[1])
    metrics = [cornac.metrics.AUC(), cornac.metrics.Recall(k=5)]
    theirs, _ = ranking_eval(model, metrics, method.train_set, method.test_set, rating_threshold=5.0)
    np.testing.assert_allclose(theirs, sm.evaluate(table, metrics=["auc", "recall@5"])["value"], rtol=1e-12)
