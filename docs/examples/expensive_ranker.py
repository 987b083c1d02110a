"""What scores of an expensive ranker buy: all candidates, 100 negatives, or stages.

python -m docs.examples.expensive_ranker     # in the root of the repository; takes 90 s

The ranker is a small network (`film_ranker`), not a language model. The network is a process of its
own that answers by HTTP, eight calls at a time. Before each answer it sleeps for 0.25 ms for each
pair, to be as slow as a larger one.
"""

import json
import multiprocessing as mp
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from multiprocessing.connection import Connection
from pathlib import Path
from urllib.request import ProxyHandler, build_opener

import numpy as np
import pandas as pd

import sampled_metrics as sm
from docs.examples.film_ranker import FilmRanker, Floats, Ints, movielens, train
from sampled_metrics.ranking.split import Split
from sampled_metrics_study.recommenders.item_cf import ItemCF
from sampled_metrics_study.recommenders.models import Model

SECONDS_PER_PAIR = 0.25e-3
CALLS = 8
PAIRS = 256
NEGATIVES = 100
"""What the service sleeps for a pair, calls at a time, pairs in a call, and negatives of each user.
"""

METRIC = "recall@10"

Ranks = sm.ExactRanks | sm.StagedRanks | sm.SampledRanks


def serve(ranker: FilmRanker, started: Connection) -> None:
    """Answer calls of pairs by their scores, and send the port."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            pairs = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            time.sleep(SECONDS_PER_PAIR * len(pairs["users"]))
            answer = json.dumps(
                ranker(np.array(pairs["users"]), np.array(pairs["items"])).tolist()
            ).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: object) -> None:
            """Write nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    started.send(server.server_port)
    server.serve_forever()


@contextmanager
def service(ranker: FilmRanker) -> Iterator["Client"]:
    """Start the service in a process, and give its client."""
    near_end, far_end = mp.Pipe()
    process = mp.get_context("spawn").Process(target=serve, args=(ranker, far_end), daemon=True)
    process.start()
    far_end.close()  # so that a process that ends is noticed
    try:
        yield Client(f"http://127.0.0.1:{near_end.recv()}")
    finally:
        process.terminate()
        process.join()


class Client:
    """Calls of the service.

    Attributes:
        pairs: how many pairs each call had.
    """

    def __init__(self, address: str) -> None:
        self.address = address
        self.pairs = list[int]()
        self.open = build_opener(ProxyHandler({})).open  # no proxy leads to this machine

    def score(self, users: Ints, items: Ints) -> list[float]:
        """Return the (pairs,) scores of pairs, by one call."""
        pairs = json.dumps({"users": users.tolist(), "items": items.tolist()}).encode()
        with self.open(self.address, data=pairs) as answer:
            scores = json.load(answer)
        self.pairs.append(len(scores))
        return scores

    def score_many(self, users: Ints, items: Ints) -> Floats:
        """Return the (pairs,) scores of any number of pairs."""
        parts = [slice(start, start + PAIRS) for start in range(0, len(users), PAIRS)]
        with ThreadPoolExecutor(CALLS) as pool:
            return np.concatenate(
                list(pool.map(lambda part: self.score(users[part], items[part]), parts))
            )


def ranked_in_full(client: Client, split: Split) -> sm.ExactRanks:
    """Return the ranks among all candidates."""

    def scores(users: slice) -> Floats:
        is_candidate = split.training[users].toarray() == 0
        user, item = np.nonzero(is_candidate)
        values = np.full(is_candidate.shape, -np.inf)
        values[user, item] = client.score_many(user + users.start, item)
        return values

    return sm.rank(scores, split.training, split.held_out)


def negatives_of(split: Split) -> Ints:
    """Return uniform negatives of each user, (users, negatives)."""
    numbers = np.random.default_rng(1)
    excluded = split.excluded.toarray() > 0
    return np.array(
        [numbers.choice(np.flatnonzero(~row), NEGATIVES, replace=False) for row in excluded]
    )


def ranked_among_negatives(client: Client, split: Split, negatives: Ints) -> sm.SampledRanks:
    """Return the ranks among negatives."""
    items = np.column_stack([split.item, negatives])
    users = np.repeat(np.arange(len(items)), items.shape[1])
    scores = client.score_many(users, items.ravel()).reshape(items.shape)
    ranks = pd.DataFrame(
        {"user": np.arange(len(items)), "rank": 1 + (scores[:, 1:] > scores[:, :1]).sum(axis=1)}
    )
    return sm.sampled_ranks(ranks, negatives=NEGATIVES, candidates=split.candidates)


def ranked_by_stages(
    client: Client, split: Split, depth: float | None, cheap: Model, file: Path
) -> sm.StagedRanks:
    """Return staged ranks; the candidates are in the order of the scores of a cheap model."""
    return sm.staged_ranks(
        sm.Ranker(client.score, name="network", pairs_per_call=PAIRS, concurrency=CALLS),
        split.training,
        split.held_out,
        k=10,
        depth=depth,
        order=lambda user: cheap.scores(slice(user, user + 1), split.training)[0],
        file=file,
    )


def row_of(ranks: Ranks, cheap: Ranks, estimator: str | None) -> dict[str, object]:
    """Return the metric of the network, and the difference from the cheap model; by an estimator,
    of sampled ranks.
    """
    if estimator:
        result = sm.correct(ranks, metrics=METRIC, estimators=[estimator])
        verdict = sm.compare(
            {"ItemCF": cheap, "network": ranks}, metrics=METRIC, estimator=estimator
        )
    else:
        result = sm.evaluate(ranks, metrics=METRIC)
        verdict = sm.compare({"ItemCF": cheap, "network": ranks}, metrics=METRIC)
    return {
        "recall@10": result["value"].item(),
        "interval": f"{result['low'].item():.3f}-{result['high'].item():.3f}",
        "- ItemCF": verdict["difference"].item(),
        "its interval": f"{verdict['low'].item():+.3f} to {verdict['high'].item():+.3f}",
        "better": verdict["conclusion"].item(),
    }


def main() -> None:
    """Print what each way to spend scores takes, and what it shows of the network and a cheap
    model.
    """
    split, films = movielens()
    item_cf = ItemCF(exponent=1, neighbours=10, neighbours_prime=None, keep_self=False)
    cheap = item_cf.fit(split.training, np.random.default_rng(0))
    inputs = (lambda users: cheap.scores(users, split.training)), split.training, split.held_out
    in_full = sm.rank(*inputs)
    negatives = negatives_of(split)
    sampled = sm.rank_among_negatives(*inputs, negatives=negatives)
    rows = []
    # in a study, keep the files
    with (
        service(train(split, films)) as client,
        tempfile.TemporaryDirectory() as folder,
    ):
        ways: dict[str, Callable[[], Ranks]] = {
            "all candidates": lambda: ranked_in_full(client, split),
            "stop at k": lambda: ranked_by_stages(
                client, split, None, cheap, Path(folder) / "exact.npz"
            ),
            "stages": lambda: ranked_by_stages(
                client, split, 100, cheap, Path(folder) / "stages.npz"
            ),
            f"{NEGATIVES} negatives": lambda: ranked_among_negatives(client, split, negatives),
        }
        for name, way in ways.items():
            client.pairs = []
            start = time.perf_counter()
            ranks = way()
            taken = {
                "scores": round(sum(client.pairs) / split.shape.users),
                "seconds": f"{time.perf_counter() - start:.1f}",
            }
            if isinstance(ranks, sm.SampledRanks):
                rows += [
                    {"ranks": f"{name}, {label}"} | taken | row_of(ranks, sampled, label)
                    for label in ("decreasing", "free")
                ]
            else:
                rows.append({"ranks": name} | taken | row_of(ranks, in_full, None))
    print(f"{split.shape.users} users, {split.candidates.mean():.0f} candidates on average\n")
    print(pd.DataFrame(rows).round(3).to_string(index=False))


if __name__ == "__main__":
    main()
