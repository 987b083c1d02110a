"""Tools without an adapter, by the functions and examples of pages of the docs.

The pages are docs/adapters.md and docs/how-to/validate.md.

Cornac and PyKEEN: against the order in which they rank, and their own evaluation.
"""

import re
from types import SimpleNamespace

import numpy as np
import pytest
from docs_blocks import DOCS, blocks
from expected_ranks import has_candidates
from scipy.sparse import csr_matrix

import sampled_metrics as sm

pytestmark = pytest.mark.filterwarnings("ignore")  # the tools' own


def of_page(name):
    """Return a function that docs/adapters.md defines."""
    [code] = [code for code in blocks("adapters.md", "py") if f"def {name}(" in code]
    namespace = {"np": np, "sm": sm}
    exec(code, namespace)
    return namespace[name]


# --- LightFM ------------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", ["bpr", "warp"])
def test_lightfm(loss):
    lightfm = pytest.importorskip("lightfm", reason="lightfm-next is not installed")
    from lightfm.evaluation import auc_score, reciprocal_rank

    rng = np.random.default_rng(0)
    events = csr_matrix((rng.random((60, 90)) < 0.15).astype(np.float32))
    held_out = csr_matrix(
        (np.ones(60, np.float32), (np.arange(60), rng.integers(90, size=60))), shape=(60, 90)
    )
    training = (events - events.multiply(held_out)).tocsr()
    training.eliminate_zeros()
    model = lightfm.LightFM(no_components=5, loss=loss, random_state=1)
    model.fit(training, epochs=5)

    ranks = of_page("lightfm_ranks")(model, training, held_out)
    values = sm.evaluate(ranks, metrics=["mrr", "auc"]).set_index("metric")["value"]
    expected = reciprocal_rank(model, held_out, train_interactions=training).mean()
    assert values["mrr"] == pytest.approx(expected, abs=1e-6)
    expected = auc_score(model, held_out, train_interactions=training).mean()
    assert values["auc"] == pytest.approx(expected, abs=1e-6)


# --- Cornac -------------------------------------------------------------------------------------


def triples(events, rating=lambda user, item: 1.0):
    return [
        (row.user_id, row.item_id, rating(row.user_id, row.item_id)) for row in events.itertuples()
    ]


@pytest.mark.parametrize(
    ("name", "options", "validation"),
    [
        ("MostPop", {}, False),
        ("BPR", {"k": 4, "seed": 1}, True),
        ("ItemKNN", {"k": 3, "verbose": False}, True),
        ("MF", {"k": 4, "seed": 1}, False),
    ],
)
def test_cornac(split, name, options, validation):
    cornac = pytest.importorskip("cornac", reason="Cornac is not installed")
    from cornac.eval_methods import BaseMethod, ranking_eval

    training, test = split
    parts = {"train_data": training, "test_data": test}
    if validation:
        is_validation = training["time"] == 3
        parts |= {"train_data": training[~is_validation], "val_data": training[is_validation]}
    data = {key: triples(part) for key, part in parts.items()}
    method = BaseMethod.from_splits(**data, exclude_unknowns=True, verbose=False)
    model = getattr(cornac.models, name)(**options)
    model.fit(method.train_set)

    table = of_page("cornac_ranks")(model, method.train_set, method.test_set, method.val_set)
    assert sorted(table.user) == sorted(test["user_id"])
    has_candidates(table, training)
    theirs = [
        ranking_eval(model, [metric], method.train_set, method.test_set, method.val_set)[0][
            0
        ]  # 2.2: not with Recall@5
        for metric in (cornac.metrics.AUC(), cornac.metrics.Recall(k=5), cornac.metrics.MRR())
    ]
    # Cornac's AUC counts a tie as a loss
    losses = (table.above + table.tied) / (table.candidates - 1)
    assert theirs[0] == pytest.approx((1 - losses).mean())
    assert table.tied.any() == (name in ("MostPop", "ItemKNN"))
    if not table.tied.any():
        ours = sm.evaluate(table, metrics=["auc", "recall@5", "mrr"])["value"]
        np.testing.assert_allclose(theirs, ours, rtol=1e-12)


def test_ratings_below_the_threshold_do_not_count(split):
    """As in Cornac.

    An item that the user rated below is a candidate, and a test item below is no test item.
    """
    cornac = pytest.importorskip("cornac", reason="Cornac is not installed")
    from cornac.eval_methods import BaseMethod, ranking_eval

    rated = [triples(part, lambda user, item: float(len(item) + len(user))) for part in split]
    assert {rating for part in rated for *_, rating in part} == {4.0, 5.0, 6.0}
    method = BaseMethod.from_splits(
        *rated, exclude_unknowns=True, rating_threshold=5.0, verbose=False
    )
    model = cornac.models.BPR(k=4, seed=1)
    model.fit(method.train_set)
    table = of_page("cornac_ranks")(model, method.train_set, method.test_set, rating_threshold=5.0)
    assert len(table) == sum(rating >= 5 for *_, rating in rated[1]) < len(rated[1])
    metrics = [cornac.metrics.AUC(), cornac.metrics.Recall(k=5)]
    theirs, _ = ranking_eval(
        model, metrics, method.train_set, method.test_set, rating_threshold=5.0
    )
    np.testing.assert_allclose(
        theirs, sm.evaluate(table, metrics=["auc", "recall@5"])["value"], rtol=1e-12
    )


def test_what_cornac_cannot_score_is_left_out():
    """Users and items that are not in training, as with exclude_unknowns=False.

    They are given by objects of Cornac's shape.
    """
    scores = np.array([[0.1, 0.2, 0.3], [0.3, 0.2, 0.1]])
    train = csr_matrix([[1, 0, 0], [0, 1, 0]])
    train_set = SimpleNamespace(num_users=2, num_items=3, csr_matrix=train, user_ids=["a", "b"])
    # the third user and the fourth item are unknown
    uir = (
        np.array([0, 1, 2, 1]),
        np.array([2, 0, 1, 3]),
        np.ones(4),
    )
    model = SimpleNamespace(rank=lambda user, items: (None, scores[user]))
    ranks = of_page("cornac_ranks")(model, train_set, SimpleNamespace(uir_tuple=uir))
    assert list(zip(ranks.user, ranks.above, ranks.candidates, strict=True)) == [
        ("a", 0, 2),
        ("b", 0, 2),
    ]


# --- PyKEEN -------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", ["tail", "head"])
def test_pykeen(target):
    """A model of 100 made-up triples of 15 entities: ranks and metrics."""
    pytest.importorskip("pykeen", reason="PyKEEN is not installed")
    from pykeen.evaluation import RankBasedEvaluator
    from pykeen.models import DistMult
    from pykeen.triples import TriplesFactory

    names = [(f"e{h}", f"r{r}", f"e{t}") for h in range(15) for r in range(2) for t in range(15)]
    chosen = np.array(names)[np.random.default_rng(0).choice(len(names), 130, replace=False)]
    training = TriplesFactory.from_labeled_triples(chosen[:100])
    ids = {"entity_to_id": training.entity_to_id, "relation_to_id": training.relation_to_id}
    test = TriplesFactory.from_labeled_triples(chosen[100:], **ids)
    model = DistMult(triples_factory=training, embedding_dim=4, random_seed=0)
    table = of_page("pykeen_ranks")(model, test, [training.mapped_triples], target=target)
    assert table.tied.sum() == 0
    assert table.user[0] == " ".join(test.triples[0])
    assert len(set(table.user)) == len(table) == 30

    theirs = RankBasedEvaluator(filtered=True).evaluate(
        model,
        test.mapped_triples,
        additional_filter_triples=[training.mapped_triples],
        use_tqdm=False,
    )
    ours = sm.evaluate(table, metrics=["recall@5", "mrr"])["value"]
    expected = [
        theirs.get_metric(f"{target}.realistic.{name}")
        for name in ("hits_at_5", "inverse_harmonic_mean_rank")
    ]
    np.testing.assert_allclose(ours, expected, rtol=1e-6)


# --- examples -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("page", "title", "tool"),
    [
        ("adapters.md", "torchmetrics", "torchmetrics"),
        ("how-to/validate.md", "A model of PyTorch", "torch"),
        ("how-to/validate.md", "Lightning", "lightning"),
    ],
)
def test_examples_run_and_print_what_the_page_shows(page, title, tool, capsys):
    """Those of validate.md show nothing, as what a training prints differs by machine."""
    is_shown = page == "adapters.md"
    for module in (tool,) if is_shown else (tool, "torch"):
        pytest.importorskip(module, reason=f"{module} is not installed")
    section = (
        (DOCS / page).read_text(encoding="utf-8").split(f"\n## {title}\n")[1].split("\n## ")[0]
    )
    examples = re.findall(
        r"^```py\n(.*?)^```\n(?:```text\n(.*?)^```$)?", section, re.MULTILINE | re.DOTALL
    )
    namespace = {"__name__": "of_page"}
    assert examples
    for code, shown in examples:
        exec(code, namespace)
        assert capsys.readouterr().out == shown or not is_shown
