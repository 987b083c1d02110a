"""A neural ranker of films by their titles and genres, trained on MovieLens 100K, in place of your
own.

A network of one hidden layer takes the vectors of a film and of the films that the user rated last.
The vector of a film is the sum of vectors of its id, the words of its title, its decade and its
genres. Adam trains the network to distinguish the next film of a user from ten random ones.
"""

import re
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import yaml
from numpy.typing import NDArray
from scipy.sparse import csr_array

from sampled_metrics.ranking.split import Split
from sampled_metrics_study.data.downloads import download
from sampled_metrics_study.data.events import binarize
from sampled_metrics_study.data.formats import FORMATS, read_events
from sampled_metrics_study.data.split import leave_last_out

WHEEL = Path("data/ml-100k/recbole-1.2.1.whl")
FILMS = "recbole/dataset_example/ml-100k/ml-100k.item"
LATEST = 15
WORDS = 512
LENGTH = 16
HIDDEN = 32
"""Films of a history, buckets of hashed words, length of a vector, hidden units."""

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]


def movielens() -> tuple[Split, pd.DataFrame]:
    """Return MovieLens 100K from the wheel that datasets.yaml names: the last film of each user is
    held out.

    Returns:
        The split, and the title, year and genres of each item.
    """
    dataset = yaml.safe_load(Path("datasets.yaml").read_text(encoding="utf-8"))["datasets"][
        "ml-100k"
    ]
    if not WHEEL.exists():
        download(dataset["urls"], WHEEL, sha256=dataset["sha256"])
    member = dataset["urls"][0].split("!")[1]
    events = binarize(read_events(WHEEL, FORMATS[dataset["format"]], member=member), min_rating=0)
    split = leave_last_out(events, "first", np.random.default_rng(0))
    with zipfile.ZipFile(WHEEL) as wheel, wheel.open(FILMS) as table:
        films = pd.read_csv(table, sep="\t", dtype=str, keep_default_na=False)
    films.columns = ["item", "title", "year", "genres"]
    return split, films.set_index(films["item"].astype(int)).loc[split.item_ids]


def features_of(films: pd.DataFrame) -> csr_array:
    """Return which features the films have, (films, features): the id, and hashed words of title,
    decade and genres.
    """
    text = films["title"].str.lower() + " decade" + films["year"].str[:3] + " " + films["genres"]
    words = [
        [zlib.crc32(word.encode()) % WORDS for word in re.findall(r"\w+", line)] for line in text
    ]
    ids = [(film, film) for film in range(len(films))]
    film, feature = np.array(
        ids + [(film, len(films) + word) for film, some in enumerate(words) for word in some]
    ).T
    return csr_array(
        (np.ones(len(film), np.float32), (film, feature)), shape=(len(films), len(films) + WORDS)
    )


def histories(split: Split) -> tuple[Ints, csr_array, csr_array]:
    """Return what the network learns from and ranks by.

    Returns:
        The (events,) films of training in the order of users and times; the weights of the films
        before each event, (events, films); and those of the last films of each user, (users,
        films).
    """
    starts = split.training.indptr[:-1]
    end = split.training.indptr[1:]
    user = np.repeat(np.arange(split.shape.users), end - starts)
    film = split.training.indices[np.lexsort((split.timestamps, user))].astype(np.int64)
    before = _latest(film, np.arange(len(film)), starts[user], split.shape.items)
    return film, before, _latest(film, end, starts, split.shape.items)


def _latest(film: Ints, end: Ints, start: Ints, films: int) -> csr_array:
    """Return the weights of the latest films in slices of the events, (slices, films): .9 to the
    power of their age.
    """
    place = end[:, np.newaxis] - 1 - np.arange(LATEST)
    weight = (place >= start[:, np.newaxis]) * 0.9 ** np.arange(LATEST)
    weight /= np.maximum(weight.sum(axis=1, keepdims=True), 1e-9)
    row = np.repeat(np.arange(len(end)), LATEST)
    weights = csr_array(
        (weight.ravel().astype(np.float32), (row, film[place.ravel()])), shape=(len(end), films)
    )
    weights.eliminate_zeros()
    return weights


@dataclass(frozen=True)
class FilmRanker:
    """What the trained network needs to score pairs.

    Attributes:
        users: (users, length) vectors of the histories.
        films: (films, length) vectors of the films.
        bias: (films,) of the films.
        hidden: weights of the hidden units, (3 length, hidden).
        output: weights of the score, (hidden,).
    """

    users: Floats
    films: Floats
    bias: Floats
    hidden: Floats
    output: Floats

    def __call__(self, users: Ints, items: Ints) -> Floats:
        """Return the (pairs,) scores of pairs of indices."""
        return (
            _forward(self.users[users], self.films[items], self.hidden, self.output)[-1]
            + self.bias[items]
        )


def _forward(
    user: Floats, film: Floats, hidden: Floats, output: Floats
) -> tuple[Floats, Floats, Floats]:
    """Return inputs, hidden units and scores of pairs of vectors; the products are scaled by
    √LENGTH.
    """
    inputs = np.concatenate([user, film, 4 * user * film], axis=-1)
    units = np.maximum(inputs @ hidden, 0)
    return inputs, units, units @ output


def train(
    split: Split,
    films: pd.DataFrame,
    *,
    epochs: int = 3,
    others: int = 10,
    rate: float = 0.004,
    batch: int = 512,
) -> FilmRanker:
    """Return the ranker after some passes over the training events."""
    numbers = np.random.default_rng(0)
    features = features_of(films)
    (film, before, latest) = histories(split)
    count = len(films)
    shapes = [
        (features.shape[1], LENGTH),
        (features.shape[1], LENGTH),
        (count,),
        (3 * LENGTH, HIDDEN),
        (HIDDEN,),
    ]
    scales = [0.1, 0.1, 0, 0.15, 0.2]
    weights = [
        numbers.normal(0, scale, shape).astype(np.float32)
        for scale, shape in zip(scales, shapes, strict=True)
    ]
    moments = [(np.zeros_like(matrix), np.zeros_like(matrix)) for matrix in weights]
    events = np.flatnonzero(np.diff(before.indptr))  # those with a history
    step = 0
    for _ in range(epochs):
        for some in np.array_split(numbers.permutation(events), -(-len(events) // batch)):
            choice = np.column_stack([film[some], numbers.integers(0, count, (len(some), others))])
            step += 1
            gradients = _gradients(weights, features, before[some], choice)
            for weight, (mean, square), gradient in zip(weights, moments, gradients, strict=True):
                mean += 0.1 * (gradient - mean)
                square += 0.001 * (gradient**2 - square)
                weight -= (
                    rate * mean / (1 - 0.9**step) / (np.sqrt(square / (1 - 0.999**step)) + 1e-8)
                )
    history, own, bias, hidden, output = weights
    return FilmRanker(latest @ (features @ history), features @ own, bias, hidden, output)


def _gradients(
    weights: list[Floats], features: csr_array, before: csr_array, choice: Ints
) -> list[Floats]:
    """Return the gradients of the mean cross entropy of the first film of each (events, films)
    choice.
    """
    history, own, bias, hidden, output = weights
    shape = (*choice.shape, LENGTH)
    user = np.broadcast_to((before @ (features @ history))[:, np.newaxis], shape)
    film = (features @ own)[choice]
    inputs, units, scores = _forward(user, film, hidden, output)
    scores = scores + bias[choice]
    error = np.exp(scores - scores.max(axis=1, keepdims=True))
    error /= error.sum(axis=1, keepdims=True)
    error[:, 0] -= 1
    error /= len(error)
    unit_gradient = error[..., np.newaxis] * output * (units > 0)
    user_gradient, film_gradient, product_gradient = np.split(unit_gradient @ hidden.T, 3, axis=-1)
    user_gradient = (user_gradient + 4 * product_gradient * film).sum(axis=1)
    film_gradient = (film_gradient + 4 * product_gradient * user).reshape(-1, LENGTH)
    places = choice.ravel(), np.arange(choice.size)
    chosen = csr_array((np.ones(choice.size, np.float32), places), shape=(len(bias), choice.size))
    return [
        features.T @ (before.T @ user_gradient),
        features.T @ (chosen @ film_gradient),
        chosen @ error.ravel(),
        inputs.reshape(-1, 3 * LENGTH).T @ unit_gradient.reshape(-1, HIDDEN),
        (error[..., np.newaxis] * units).sum(axis=(0, 1)),
    ]
