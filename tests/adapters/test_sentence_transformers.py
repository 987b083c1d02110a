"""The adapter of sentence-transformers, with a model that returns fixed vectors."""

from types import SimpleNamespace

import numpy as np
import pytest

import sampled_metrics as sm
from sampled_metrics import adapters
from sampled_metrics.errors import ConfigError, DataError

evaluation = pytest.importorskip(
    "sentence_transformers.sentence_transformer.evaluation",
    reason="sentence-transformers is not installed",
)
torch = pytest.importorskip("torch")

QUERIES = {f"q{number}": f"query {number}" for number in range(60)}
CORPUS = {f"d{number}": f"document {number}" for number in range(300)}
METRICS = {
    "ndcg@10": "ndcg@10",
    "mrr@10": "mrr@10",
    "recall@1": "recall@1",
    "recall@10": "recall@10",
    "precision@5": "precision@5",
    "hit-rate@3": "accuracy@3",
    "map@100": "map@100",
}
"""The labels here → those of the evaluator."""


class Model:
    """A model whose vectors of queries are near those of their relevant documents."""

    similarity_fn_name = "dot"
    model_card_data = SimpleNamespace(set_evaluation_metrics=lambda *_: None)

    def __init__(self, noise):
        rng = np.random.default_rng(0)
        documents = rng.normal(size=(len(CORPUS), 8))
        queries = np.stack([documents[numbers].sum(axis=0) for numbers in relevant_numbers()])
        queries += noise * rng.normal(size=queries.shape)
        vectors = np.vstack((queries, documents))
        texts = (*QUERIES.values(), *CORPUS.values())
        self.vector_of_text = dict(zip(texts, vectors, strict=True))

    def encode(self, texts, **_options):
        return torch.tensor(np.stack([self.vector_of_text[text] for text in texts]))

    encode_query = encode_document = encode

    def similarity(self, queries, documents):
        return queries @ documents.T


def relevant_numbers():
    """The numbers of one to four relevant documents of each query."""
    rng = np.random.default_rng(1)
    return [rng.choice(len(CORPUS), 1 + query % 4, replace=False) for query in range(len(QUERIES))]


def retrieval(**options):
    relevant = {
        query: {f"d{number}" for number in numbers}
        for query, numbers in zip(QUERIES, relevant_numbers(), strict=True)
    }
    relevant["q7"] = set()  # the evaluator leaves the query out
    relevant["q8"].add("not in the corpus")
    options = {"accuracy_at_k": [3], "precision_recall_at_k": [1, 5, 10]} | options
    return evaluation.InformationRetrievalEvaluator(QUERIES, CORPUS, relevant, **options)


def test_metrics_are_those_of_the_evaluator():
    evaluator = retrieval()
    theirs = evaluator(Model(1.0))
    lists = adapters.sentence_transformers.ranks(Model(1.0), evaluator)
    ours = sm.evaluate(lists, metrics=list(METRICS)).set_index("metric")["value"]
    assert 0.1 < ours["ndcg@10"] < 0.9
    for label, name in METRICS.items():
        assert ours[label] == pytest.approx(theirs[f"dot_{name}"], abs=1e-9), label
    assert len(lists) == len(QUERIES) - 1
    assert evaluator(Model(1.0)) == theirs


def test_a_validator_follows_the_calls():
    evaluator = retrieval()
    validator = adapters.sentence_transformers.validator(evaluator, epochs=4)
    returned = [evaluator(Model(noise), steps=100) for noise in (4.0, 1.0, 1.0)]
    history = validator.history.query("metric == 'ndcg@10'")
    assert history["better"].tolist() == ["first", "yes", "undecided"]
    np.testing.assert_allclose(
        history["value"], [metrics["dot_ndcg@10"] for metrics in returned], atol=1e-9
    )
    assert (history["low"] < history["value"]).all()
    assert returned == [retrieval()(Model(noise)) for noise in (4.0, 1.0, 1.0)]
    # the lists of a model for `compare` are no epoch
    adapters.sentence_transformers.ranks(Model(0.5), evaluator)
    assert len(validator.history) == 3 * 3
    evaluator(Model(1.0))
    assert len(validator.history) == 4 * 3


def test_a_state_goes_on_with_the_same_queries_alone():
    evaluator = retrieval()
    validator = adapters.sentence_transformers.validator(evaluator)
    evaluator(Model(4.0))
    again = retrieval()
    resumed = adapters.sentence_transformers.validator(again)
    resumed.load_state_dict(validator.state_dict())
    again(Model(1.0))
    assert resumed.history["epoch"].tolist() == [1] * 3 + [2] * 3
    changed = retrieval()
    changed.relevant_docs["q1"] = {"d1"}
    with pytest.raises(DataError, match="queries"):
        adapters.sentence_transformers.validator(changed).load_state_dict(validator.state_dict())


@pytest.mark.parametrize("label", ["mrr", "ndcg@200"])
def test_lists_are_as_long_as_the_cut_off(label):
    with pytest.raises(ConfigError, match=label):
        adapters.sentence_transformers.validator(retrieval(), metrics=label)


def test_several_score_functions_are_refused():
    functions = {"dot": Model(1.0).similarity, "again": Model(1.0).similarity}
    with pytest.raises(ConfigError, match="score_functions"):
        adapters.sentence_transformers.ranks(Model(1.0), retrieval(score_functions=functions))
