"""Laws of true ranks, of one recommender or of several on the same users.

A law is a mixture of parts, such as single ranks, flat stretches and power laws, which a search
changes step by step; or it is the users of rank tables.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import numpy as np
from scipy.optimize import brentq

import sampled_metrics as sm

ROUNDING = 1e-12
MOST_PARTS = 6  # of a changed law, which keeps its largest parts


@dataclass(frozen=True)
class Part:
    """A part of a law of ranks 1 ... n, with its share of the users."""

    share: float
    kind: str  # of WEIGHTS
    numbers: tuple[float, ...]

    def words(self) -> str:
        """Return the part in words."""
        numbers = ", ".join(f"{number:.4g}" for number in self.numbers)
        return f"{self.share:.4g} {self.kind} ({numbers})"


def _capped(r: np.ndarray, first_rank: float, shift: float, cap: float) -> np.ndarray:
    falling = np.divide(1.0, r - shift, out=np.zeros(len(r)), where=r >= first_rank)
    caps = cap * (r >= first_rank)
    largest_scale = 1.0 / falling[falling > 0].min()
    scale = brentq(lambda c: np.minimum(c * falling, caps).sum() - 1, 0.0, largest_scale)
    return np.minimum(scale * falling, caps)


WEIGHTS: dict[str, Callable[..., np.ndarray]] = {
    "ranks": lambda r, first_rank, last_rank: 1.0 * ((r >= first_rank) & (r <= last_rank)),
    "falling to": lambda r, last_rank: np.maximum(last_rank + 1.0 - r, 0.0),
    "power": lambda r, exponent, offset, first_rank=1: (
        (r >= first_rank) * (r + offset) ** -exponent
    ),
    "lognormal": lambda r, mean, deviation: (
        np.exp(-(((np.log(r) - mean) / deviation) ** 2) / 2) / r
    ),
    "normal": lambda r, mean, deviation: np.exp(-(((r - mean) / deviation) ** 2) / 2),
    "capped": _capped,
}
"""What the probabilities of the ranks r are proportional to, by kind of part, with its numbers."""

Law = tuple[Part, ...]
"""The parts of a law; their shares sum to 1."""


def ranks(first_rank: int, last_rank: int | None = None, share: float = 1.0) -> Part:
    """Return the part of a single rank, or of ranks with the same probability."""
    return Part(share, "ranks", (first_rank, first_rank if last_rank is None else last_rank))


def law(*parts: Part) -> Law:
    """Return the law of some parts.

    Equal parts become one, and the shares are scaled to sum to 1.
    """
    shares: dict[tuple[str, tuple[float, ...]], float] = {}
    for part in parts:
        key = part.kind, part.numbers
        shares[key] = shares.get(key, 0.0) + part.share
    total = sum(shares.values())
    return tuple(
        Part(share / total, kind, numbers)
        for (kind, numbers), share in shares.items()
        if share > ROUNDING * total
    )


def whole(kind: str, *numbers: float) -> Law:
    """Return the law of one part."""
    return law(Part(1.0, kind, numbers))


def mixed(base: Law, added: Law, share: float) -> Law:
    """Return a law to which a share of a second one is added."""
    base_parts = [replace(part, share=part.share * (1 - share)) for part in base]
    added_parts = [replace(part, share=part.share * share) for part in added]
    return law(*base_parts, *added_parts)


@lru_cache(maxsize=1000)
def rank_probabilities(parts: Law, n: int) -> np.ndarray:
    """Return (n,) probabilities of the ranks."""
    parts_of_sum = []
    for part in parts:
        weights = WEIGHTS[part.kind](np.arange(1, n + 1), *part.numbers)
        parts_of_sum.append(part.share * weights / weights.sum())
    probabilities = np.sum(parts_of_sum, axis=0)
    return np.asarray(probabilities / probabilities.sum())


def has_shape(probabilities: np.ndarray, shape: str) -> bool:
    """Return whether the probabilities of ranks meet an assumption, which is on the better half of
    the ranks only.
    """
    better_half = probabilities[: max(1, len(probabilities) // 2)]
    return shape == "free" or bool((np.diff(better_half) <= ROUNDING).all())


@dataclass(frozen=True)
class Population:
    """The true ranks of recommenders on the same users."""

    sides: tuple[Law, ...]  # the law of each recommender; of more recommenders, the laws take turns
    # share of users whose ranks by all are at the same quantiles, if negative at opposite ones
    coupled: float = 0.0

    def words(self) -> str:
        """Return the population in words."""
        laws = [" + ".join(part.words() for part in side) for side in self.sides]
        if len(laws) == 1 and self.coupled == 0:
            return laws[0]
        both = f"A and B: {laws[0]}" if laws[0] == laws[-1] else f"A: {laws[0]}; B: {laws[1]}"
        return f"{both}; coupled users: {self.coupled:.2g}"

    def keeps(self, shape: str, n: int) -> bool:
        """Return whether all laws have a shape."""
        return all(has_shape(rank_probabilities(side, n), shape) for side in self.sides)

    def means(self, values: np.ndarray) -> list[float]:
        """Return the true metric of each law, from the (n,) values of the metric by rank."""
        return [float(rank_probabilities(side, len(values)) @ values) for side in self.sides]

    def balanced(self, values: np.ndarray, ratio: float = 1.0, margin: float = 0.0) -> "Population":
        """Return a population in which the second metric is the first one times a ratio, and a
        margin.

        One law gets more users at rank 1. The population is the same if that is not possible.
        """
        metric_a, metric_b = self.means(values)
        gap = metric_b - ratio * metric_a - margin
        if gap > 0:
            number = 0
            metric = metric_a
            missing = gap / ratio
        else:
            number = 1
            metric = metric_b
            missing = -gap
        if metric >= values[0] or missing < ROUNDING or missing > values[0] - metric:
            return self
        sides = list(self.sides)
        sides[number] = mixed(sides[number], law(ranks(1)), missing / (values[0] - metric))
        return Population(tuple(sides), self.coupled)

    def draw(self, n: int, users: int, recommenders: int, rng: np.random.Generator) -> np.ndarray:
        """Return (recommenders, users) true ranks.

        The same generator gives common random numbers.
        """
        quantile_of_first = rng.random(users)
        coupled_quantile = quantile_of_first if self.coupled >= 0 else 1 - quantile_of_first
        drawn = []
        for number in range(recommenders):
            quantile = quantile_of_first
            if number > 0:
                independent, choice = rng.random((2, users))
                quantile = np.where(choice < abs(self.coupled), coupled_quantile, independent)
            cumulative = np.cumsum(rank_probabilities(self.sides[number % len(self.sides)], n))[:-1]
            drawn.append(np.searchsorted(cumulative, quantile, side="right") + 1)
        return np.array(drawn)


@dataclass(frozen=True, eq=False)
class Users:
    """The users of rank tables, who are drawn with replacement."""

    name: str  # in the table of results
    ranks: np.ndarray  # (recommenders, users) true ranks
    n: int  # the number of candidates

    def words(self) -> str:
        """Return the name."""
        return self.name

    def means(self, values: np.ndarray) -> list[float]:
        """Return the true metric of each recommender, from the (n,) values of the metric by
        rank.
        """
        return [float(values[side - 1].mean()) for side in self.ranks]

    def draw(self, n: int, users: int, recommenders: int, rng: np.random.Generator) -> np.ndarray:
        """Return (recommenders, users) true ranks."""
        return self.ranks[:recommenders, rng.integers(self.ranks.shape[1], size=users)]


def users_of_tables(folder: str | Path, name: str) -> Iterator[Users]:
    """Yield each recommender of the rank tables in a folder, and all of them together."""
    paths = sorted(Path(folder).glob("*.csv.gz"))
    tables = {path.name.split(".")[0]: sm.exact_ranks(path) for path in paths}
    n = round(float(np.mean([table.candidates.mean() for table in tables.values()])))
    columns = []
    for label, table in tables.items():
        share = (table.above + table.tied / 2) / (table.candidates - 1)
        above = np.round(share * (n - 1)).astype(int)
        rank = above[np.argsort(table.user)] + 1
        columns.append(rank)
        yield Users(f"{name} {label}", rank[np.newaxis], n)
    yield Users(f"{name} {', '.join(tables)}", np.array(columns), n)


# --- made-up laws -------------------------------------------------------------------------------


def usual(n: int = 3541) -> list[Law]:
    """Return laws as they are met: three that decrease, and four that do not."""
    zipf = whole("power", 0.9, 2.0)
    return [
        zipf,
        whole("lognormal", 5.0, 2.5),
        law(Part(1.0, "power", (1.0, 10.0)), ranks(n // 2 + 1, n, share=0.5)),
        whole("lognormal", 4.0, 1.0),
        law(Part(0.1, "normal", (1.0, 3.0)), Part(0.9, "normal", (400.0, 100.0))),
        whole("power", 0.9, 2.0, 21),
        mixed(zipf, law(ranks(15)), 0.5),
    ]


def hits(share: float, n: int) -> Law:
    """Return the law with a share of the users at rank 1, and the others last."""
    return law(ranks(1, share=share), ranks(n, share=1 - share))


def two(
    share_a: float, share_b: float, coupled: float = 0.0, n: int = 1000
) -> tuple[Population, ...]:
    """Return a pair with shares of the users at rank 1, and the others last."""
    return (Population((hits(share_a, n), hits(share_b, n)), coupled),)


def capped_pair() -> Population:
    """Return two decreasing laws with equal Recall@10: one is flat in the middle, the other falls
    from the start.
    """
    top = ranks(1, 10, share=0.1)
    return Population(
        (law(top, ranks(11, 200, share=0.9)), law(top, Part(0.9, "capped", (11, 8, 0.01 / 0.9))))
    )


def starts(n: int, users: int) -> list[Law]:
    """Return the first laws of a search; the first ones differ most."""
    half = n // 2
    tenth = n // 10
    flat = law(ranks(1, half))

    def top(share: float, last_rank: int = 1) -> Law:
        return law(ranks(1, last_rank, share=share), ranks(half + 1, n, share=1 - share))

    return [
        flat,
        law(ranks(1, n)),
        mixed(flat, law(ranks(1)), 0.05),
        top(0.01),
        top(min(0.3, 3 / users)),
        whole("power", 1.0, 0.0),
        law(ranks(11)),
        law(ranks(1, n // 3)),
        mixed(flat, whole("falling to", tenth), 0.1),
        law(ranks(1, 10, share=0.01), ranks(n, share=0.99)),
        whole("lognormal", 5.0, 2.5),
        law(ranks(1, 10)),
        mixed(flat, law(ranks(1, 10)), 0.1),
        top(0.3, tenth),
        whole("power", 1.5, 0.0),
        law(ranks(1, share=0.05), ranks(1, n, share=0.95)),
        law(ranks(10), ranks(11)),
        hits(0.99, n),
        law(ranks(1, tenth)),
        top(0.004),
        top(0.03),
        top(min(0.3, 1 / users)),
        hits(0.95, n),
        law(ranks(88)),
        whole("lognormal", 3.0, 1.0),
    ]


def pairs(n: int, users: int) -> list[Population]:
    """Return pairs of laws, with independent, coupled and opposite users.

    The first ones have about equal AP.
    """
    half = n // 2
    share = min(0.02, 3 / users)
    power = whole("power", 1.0, 0.0)
    flat = law(ranks(1, half))
    third = law(ranks(1, n // 3))
    worse_half = law(ranks(half + 1, n))
    rare = law(ranks(1, share=share), ranks(half + 1, n, share=1 - share))
    return [
        *(Population((worse_half, law(ranks(k)))) for k in (88, 30, 160)),
        capped_pair(),
        Population((flat, flat)),
        Population((law(ranks(1, 10, share=0.05), ranks(1, n, share=0.95)), third)),
        Population((power, whole("lognormal", 5.0, 2.5))),
        Population((flat, power)),
        Population((flat, power), 1.0),
        Population((whole("power", 1.5, 0.0), third), 1.0),
        Population((law(ranks(1, n)), third), -1.0),
        Population((power, power), 0.9),
        Population((whole("falling to", half), whole("falling to", n // 10))),
        Population((rare, rare)),
        Population((rare, law(ranks(20, share=0.3), ranks(n, share=0.7)))),
        Population((law(ranks(n)), hits(0.02, n))),
        Population((law(ranks(1)), hits(0.98, n))),
        Population((law(ranks(11)), law(ranks(10, share=0.05), ranks(12, share=0.95)))),
        Population((hits(0.005, n),) * 2),
        Population((power, whole("power", 1.5, 0.0))),
    ]


# --- changes ------------------------------------------------------------------------------------


def changed(old: Law, shape: str, n: int, others: list[Law], rng: np.random.Generator) -> Law:
    """Return a law of the shape near an old one; the old one if no change keeps the shape."""
    for _ in range(50):
        kind = rng.integers(4)
        index = rng.integers(len(old))
        part = old[index]
        rest = (*old[:index], *old[index + 1 :])
        if kind == 0:
            new = law(*rest, replace(part, share=part.share * np.exp(0.7 * rng.normal())))
        elif kind == 1:
            low, high = sorted(round(n ** rng.random()) for _ in range(2))
            first_rank = int(rng.choice([1, low, high]))
            new = mixed(old, law(ranks(first_rank, high)), 10 ** rng.uniform(-2.5, -0.3))
        elif kind == 2:
            new = mixed(old, others[rng.integers(len(others))], rng.choice([0.03, 0.1, 0.3]))
        else:
            new = law(*rest) if rest else old
        new = law(*sorted(new, key=lambda part: -part.share)[:MOST_PARTS])
        if new != old and has_shape(rank_probabilities(new, n), shape):
            return new
    return old


def changed_population(
    old: Population, shape: str, n: int, others: list[Population], rng: np.random.Generator
) -> Population:
    """Return a population near an old one, with the same shape."""
    sides = list(old.sides)
    if len(sides) == 2 and rng.random() < 0.15:
        return Population(old.sides, float(rng.choice([0.0, 0.5, 0.9, 1.0, -1.0])))
    index = rng.integers(len(sides))
    laws = [side for population in others for side in population.sides]
    sides[index] = changed(sides[index], shape, n, laws, rng)
    return Population(tuple(sides), old.coupled)
