"""The parts of docs/examples/expensive_ranker.py do what they say, on made-up films.

The example itself needs MovieLens 100K and takes 90 s. The page shows what it printed.
"""

import numpy as np
import pandas as pd
import pytest
from docs_blocks import DOCS, blocks

import sampled_metrics as sm
from docs.examples import expensive_ranker as example
from docs.examples.film_ranker import FilmRanker, train
from sampled_metrics_study.data.events import Events
from sampled_metrics_study.data.split import leave_last_out
from sampled_metrics_study.recommenders.simple import Popularity

USERS = 40
FILMS = 60
SEEN = 12


@pytest.fixture(scope="module")
def split():
    """Users who watch the films of a circle one after the other; the next one is held out."""
    user, place = np.divmod(np.arange(USERS * SEEN), SEEN)
    events = Events(user, (7 * user + place) % FILMS, place, np.arange(USERS), np.arange(FILMS))
    return leave_last_out(events, "first", np.random.default_rng(0))


def scores_of(ranker):
    return np.array([ranker(np.full(FILMS, user), np.arange(FILMS)) for user in range(USERS)])


def test_the_network_learns_what_comes_next(split):
    films = pd.DataFrame(
        {"title": [f"Part {film}" for film in range(FILMS)], "year": "1990", "genres": "Drama"}
    )
    ranks = sm.rank(
        scores_of(train(split, films, epochs=30, batch=32)), split.training, split.held_out
    )
    assert sm.evaluate(ranks, metrics="recall@5")["value"].item() > 0.9  # by chance: 0.1


def test_each_way_ranks_by_the_scores_of_the_service(split, monkeypatch, tmp_path):
    draw = np.random.default_rng(0).normal
    sizes = (USERS, 4), (FILMS, 4), FILMS, (12, 8), 8
    ranker = FilmRanker(*(draw(size=size) for size in sizes))
    monkeypatch.setattr(example, "NEGATIVES", 20)
    negatives = example.negatives_of(split)
    cheap = Popularity().fit(split.training, np.random.default_rng(0))
    with example.service(ranker) as client:
        in_full = example.ranked_in_full(client, split)
        scored = sum(client.pairs)
        stopped = example.ranked_by_stages(client, split, None, cheap, tmp_path / "ranks.npz")
        sampled = example.ranked_among_negatives(client, split, negatives)
    scores = scores_of(ranker)
    everyone = np.arange(USERS)
    held_out_score = scores[everyone, split.item, np.newaxis]
    is_candidate = split.training.toarray() == 0
    above = ((scores > held_out_score) & is_candidate).sum(axis=1)
    assert in_full.above.tolist() == above.tolist()
    assert scored == is_candidate.sum()
    assert stopped.above.tolist() == np.minimum(in_full.above, 10).tolist()
    assert not split.excluded.toarray()[everyone[:, np.newaxis], negatives].any()
    score_of_negative = np.take_along_axis(scores, negatives, axis=1)
    rank = 1 + (score_of_negative > held_out_score).sum(axis=1)
    assert sampled.to_frame()["rank"].tolist() == rank.tolist()


def test_the_page_shows_the_example_and_what_it_printed():
    page = "how-to/expensive-rankers.md"
    printed = (DOCS / "examples/expensive-ranker.txt").read_text(encoding="utf-8")
    assert printed in blocks(page, "text")
    code = (DOCS / "examples/expensive_ranker.py").read_text(encoding="utf-8")
    [excerpt] = [block for block in blocks(page, "py") if "staged_ranks" in block]
    assert all(line.strip() in code for line in excerpt.splitlines())
