"""Laws of true ranks, of one recommender or of several on the same users.

A law is a mixture of parts, such as single ranks, flat stretches and power laws, which a search changes step by step;
or it is the users of rank tables.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import numpy as np
from scipy.optimize import brentq
from scipy.stats import beta

import sampled_metrics as sm

ROUNDING = 1e-12
MOST_PARTS = 6
"""Largest number of parts of a changed law, which keeps its largest parts."""


@dataclass(frozen=True)
class Part:
    """A part of a law of ranks 1 ... n. Its kind says what its numbers are.

    - `ranks` first, last: all with the same probability; a single rank if they are equal;
    - `triangle` k: the probabilities fall in equal steps up to rank k;
    - `power` exponent, offset: ∝ (r + offset)^-exponent;
    - `tail` first, exponent, offset: such a power from the first rank on;
    - `lognormal` mean, deviation: of the logarithm of the rank;
    - `normal` mean, deviation;
    - `beta` a, b: of the rank by n;
    - `capped` first, shift, most: ∝ 1 / (r - shift) from the first on, but at most `most`.
    """

    share: float
    kind: str
    numbers: tuple[float, ...]

    def words(self) -> str:
        """Return the part in words."""
        first, *rest = self.numbers
        if self.kind == "ranks":
            return f"{self.share:.4g} at {first:g}" + (f" to {rest[0]:g}" if rest[0] > first else "")
        return f"{self.share:.4g} " + WORDS.get(self.kind, f"{self.kind} ({{:.3g}}, {{:.3g}})").format(*self.numbers)

    def probabilities(self, n: int) -> np.ndarray:
        """Return (n,) probabilities of the ranks, without the share."""
        weights = WEIGHTS[self.kind](np.arange(1, n + 1), *self.numbers)
        return weights / weights.sum()


def _capped(r: np.ndarray, first: float, shift: float, most: float) -> np.ndarray:
    falling = np.divide(1.0, r - shift, out=np.zeros(len(r)), where=r >= first)
    possible = most * (r >= first)
    scale = brentq(lambda c: np.minimum(c * falling, possible).sum() - 1, 0.0, 1.0 / falling[falling > 0].min())
    return np.minimum(scale * falling, possible)


WEIGHTS: dict[str, Callable[..., np.ndarray]] = {
    "ranks": lambda r, first, last: 1.0 * ((r >= first) & (r <= last)),
    "triangle": lambda r, k: np.maximum(k + 1.0 - r, 0.0),
    "power": lambda r, exponent, offset: (r + offset) ** -exponent,
    "tail": lambda r, first, exponent, offset: (r >= first) * (r + offset) ** -exponent,
    "lognormal": lambda r, mean, deviation: np.exp(-(((np.log(r) - mean) / deviation) ** 2) / 2) / r,
    "normal": lambda r, mean, deviation: np.exp(-(((r - mean) / deviation) ** 2) / 2),
    "beta": lambda r, a, b: np.diff(beta(a, b).cdf(np.append(0, r) / len(r))),
    "capped": _capped,
}
WORDS = {
    "triangle": "falling to {:g}",
    "power": "∝ (r + {1:.3g})^-{0:.3g}",
    "tail": "∝ (r + {2:.3g})^-{1:.3g} from {0:g}",
    "capped": "∝ 1 / (r - {1:g}) from {0:g}, at most {2:.4g}",
}

Law = tuple[Part, ...]
"""The parts of a law; their shares sum to 1."""


def ranks(first: int, last: int | None = None, share: float = 1.0) -> Part:
    """Return the part of a single rank, or of ranks with the same probability."""
    return Part(share, "ranks", (first, first if last is None else last))


def law(*parts: Part) -> Law:
    """Return the law of some parts. Equal parts become one, and the shares are scaled to sum to 1."""
    shares: dict[tuple[str, tuple[float, ...]], float] = {}
    for part in parts:
        key = part.kind, part.numbers
        shares[key] = shares.get(key, 0.0) + part.share
    total = sum(shares.values())
    return tuple(Part(share / total, *key) for key, share in shares.items() if share > ROUNDING * total)


def whole(kind: str, *numbers: float) -> Law:
    """Return the law of one part."""
    return law(Part(1.0, kind, numbers))


def mixed(one: Law, other: Law, share: float) -> Law:
    """Return the first law with a share of the second."""
    scaled = ((one, 1 - share), (other, share))
    return law(*(replace(part, share=part.share * factor) for parts, factor in scaled for part in parts))


@lru_cache(maxsize=1000)
def rank_probabilities(parts: Law, n: int) -> np.ndarray:
    """Return (n,) probabilities of the ranks."""
    weights = sum(part.share * part.probabilities(n) for part in parts)
    return np.asarray(weights / np.sum(weights))


def has_shape(probabilities: np.ndarray, shape: str) -> bool:
    """Return whether the probabilities of ranks meet an assumption, which is on the better half of the ranks only."""
    better_half = probabilities[: max(1, len(probabilities) // 2)]
    return shape == "free" or bool((np.diff(better_half) <= ROUNDING).all())


@dataclass(frozen=True)
class Population:
    """The true ranks of recommenders on the same users.

    Attributes:
        sides: the law of each recommender; of more recommenders, the laws take turns.
        coupled: the share of users whose ranks by two recommenders are at the same quantile of both laws. If it is
            negative, they are at opposite quantiles. The ranks of the other users are independent.
    """

    sides: tuple[Law, ...]
    coupled: float = 0.0

    def words(self) -> str:
        """Return the population in words."""
        laws = [" + ".join(part.words() for part in side) for side in self.sides]
        if len(laws) == 1 and self.coupled == 0:
            return laws[0]
        direction = "opposite" if self.coupled < 0 else "coupled"
        users = "independent" if self.coupled == 0 else f"{abs(self.coupled):.2g} {direction}"
        both = f"A and B: {laws[0]}" if laws[0] == laws[-1] else f"A: {laws[0]}; B: {laws[1]}"
        return f"{both}; users: {users}"

    def keeps(self, shape: str, n: int) -> bool:
        """Return whether all laws have a shape."""
        return all(has_shape(rank_probabilities(side, n), shape) for side in self.sides)

    def means(self, values: np.ndarray) -> list[float]:
        """Return the true metric of each law, from the (n,) values of the metric by rank."""
        return [float(rank_probabilities(side, len(values)) @ values) for side in self.sides]

    def balanced(self, values: np.ndarray, ratio: float = 1.0, margin: float = 0.0) -> "Population":
        """Return a population in which the second metric is the first one times a ratio, and a margin.

        One law gets more users at rank 1. The population is the same if that is not possible.
        """
        first, second = self.means(values)
        gap = second - ratio * first - margin
        number, metric, missing = (0, first, gap / ratio) if gap > 0 else (1, second, -gap)
        if metric >= values[0] or missing < ROUNDING or missing > values[0] - metric:
            return self
        sides = list(self.sides)
        sides[number] = mixed(sides[number], law(ranks(1)), missing / (values[0] - metric))
        return Population(tuple(sides), self.coupled)

    def draw(self, n: int, users: int, recommenders: int, rng: np.random.Generator) -> np.ndarray:
        """Return (recommenders, users) true ranks. The same generator gives common random numbers."""
        first = rng.random(users)
        dependent, drawn = first if self.coupled >= 0 else 1 - first, []
        for number in range(recommenders):
            independent, choice = (first, first) if number == 0 else rng.random((2, users))
            quantile = first if number == 0 else np.where(choice < abs(self.coupled), dependent, independent)
            cumulative = np.cumsum(rank_probabilities(self.sides[number % len(self.sides)], n))[:-1]
            drawn.append(np.searchsorted(cumulative, quantile, side="right") + 1)
        return np.array(drawn)


# --- first laws of a search -------------------------------------------------------------------------------------------


def starts(n: int, users: int) -> Iterator[Law]:
    """Yield laws of many shapes; the first ones differ most."""
    half, tenth = n // 2, n // 10

    def top(share: float, first: int = 1) -> Law:
        return law(ranks(1, first, share=share), ranks(half + 1, n, share=1 - share))

    def last(share: float, first: int = 1) -> Law:
        return law(ranks(1, first, share=share), ranks(n, share=1 - share))

    yield from (law(ranks(1, half)), law(ranks(1, n)), law(ranks(1, share=0.05), ranks(1, half, share=0.95)))
    yield from (top(0.01), top(min(0.3, 3 / users)), whole("power", 1.0, 0.0), law(ranks(11)))
    yield from (law(ranks(1, n // 3)), law(Part(0.1, "triangle", (tenth,)), Part(0.9, "ranks", (1, half))))
    yield from (last(0.01, 10), whole("lognormal", 5.0, 2.5), law(ranks(1, 10)))
    yield from (law(Part(0.1, "ranks", (1, 10)), Part(0.9, "ranks", (1, half))), top(0.3, tenth))
    yield from (whole("power", 1.5, 0.0), law(ranks(1, share=0.05), ranks(1, n, share=0.95)))
    yield from (law(ranks(10, share=0.5), ranks(11, share=0.5)), last(0.99), law(ranks(1, tenth)))
    yield from (top(share) for share in (0.004, 0.03, 0.1, min(0.3, 1 / users)))
    yield from (last(0.95), last(0.05, 10), law(ranks(1, share=0.2), ranks(11, share=0.8)))
    yield from (law(ranks(rank)) for rank in (2, 88, half))
    yield from (whole("power", *numbers) for numbers in ((0.7, 2.0), (1.0, 60.0)))
    yield from (whole("lognormal", 3.0, 1.0), *(whole("triangle", k) for k in (half, tenth, 10)))


def capped_pair(n: int) -> Population:
    """Return two decreasing laws with equal Recall@10: one is flat in the middle, the other falls from the start."""
    top = Part(0.1, "ranks", (1, 10))
    return Population((law(top, Part(0.9, "ranks", (11, 200))), law(top, Part(0.9, "capped", (11, 8, 0.01 / 0.9)))))


def pairs(n: int, users: int) -> Iterator[Population]:
    """Yield pairs of laws, with independent, coupled and opposite users. The first ones have about equal AP."""
    half, share = n // 2, min(0.02, 3 / users)
    power, steep = whole("power", 1.0, 0.0), whole("power", 1.5, 0.0)
    lognormal, flat = whole("lognormal", 5.0, 2.5), law(ranks(1, half))
    all_ranks, third = law(ranks(1, n)), law(ranks(1, n // 3))
    rare = law(ranks(1, share=share), ranks(half + 1, n, share=1 - share))
    # rare hits at rank 1 and other ranks in the worse half, and a constant rank
    yield from (Population((law(ranks(half + 1, n)), law(ranks(k)))) for k in (88, 30, 160))
    yield from (capped_pair(n), Population((flat, flat)))
    yield Population((law(Part(0.05, "ranks", (1, 10)), ranks(1, n, share=0.95)), third))
    yield from (Population((power, lognormal)), Population((flat, power)), Population((flat, power), 1.0))
    yield from (Population((steep, third), 1.0), Population((all_ranks, third), -1.0), Population((power, power), 0.9))
    yield Population((whole("triangle", half), whole("triangle", n // 10)))
    yield from (Population((rare, rare)), Population((rare, law(ranks(20, share=0.3), ranks(n, share=0.7)))))
    yield Population((law(ranks(n)), *hits(0.02, n).sides))
    yield Population((law(ranks(1)), *hits(0.98, n).sides))
    yield Population((law(ranks(11)), law(ranks(10, share=0.05), ranks(12, share=0.95))))
    yield Population(hits(0.005, n).sides * 2)


def hits(share: float, n: int = 1000) -> Population:
    """Return the population with a share of the users at rank 1, and the others last."""
    return Population((law(ranks(1, share=share), ranks(n, share=1 - share)),))


def two(first: float, second: float, coupled: float = 0.0) -> tuple[Population, ...]:
    """Return a pair with shares of the users at rank 1, and the others last."""
    return (Population(hits(first).sides + hits(second).sides, coupled),)


@dataclass(frozen=True, eq=False)
class Users:
    """The users of rank tables, who are drawn with replacement.

    Attributes:
        name: in the table of results.
        ranks: (recommenders, users) true ranks.
        n: the number of candidates.
    """

    name: str
    ranks: np.ndarray
    n: int

    def words(self) -> str:
        """Return the name."""
        return self.name

    def means(self, values: np.ndarray) -> list[float]:
        """Return the true metric of each recommender, from the (n,) values of the metric by rank."""
        return [float(values[side - 1].mean()) for side in self.ranks]

    def draw(self, n: int, users: int, recommenders: int, rng: np.random.Generator) -> np.ndarray:
        """Return (recommenders, users) true ranks."""
        return self.ranks[:recommenders, rng.integers(self.ranks.shape[1], size=users)]


def of_tables(folder: str | Path, name: str) -> Iterator[Users]:
    """Yield each recommender of the rank tables in a folder, and all of them together."""
    tables = {path.name.split(".")[0]: sm.exact_ranks(path) for path in sorted(Path(folder).glob("*.csv.gz"))}
    n = round(float(np.mean([table.candidates.mean() for table in tables.values()])))
    columns = []
    for label, table in tables.items():
        share = (table.above + table.tied / 2) / (table.candidates - 1)
        columns.append(np.round(share * (n - 1)).astype(int)[np.argsort(table.user)] + 1)
        yield Users(f"{name} {label}", columns[-1][np.newaxis], n)
    yield Users(f"{name} {', '.join(tables)}", np.array(columns), n)


def usual(n: int = 3541) -> Sequence[Law]:
    """Return laws as they are met: three that decrease, and ten that do not."""
    zipf = Part(1.0, "power", (0.9, 2.0))
    later = [Part(zipf.share, "tail", (first, *zipf.numbers)) for first in (6, 21)]
    half = n // 2
    return [
        law(zipf),
        whole("lognormal", 5.0, 2.5),
        law(Part(1.0, "power", (1.0, 10.0)), ranks(half + 1, n, share=0.5)),
        *(whole("beta", *numbers) for numbers in ((1.2, 10.0), (1.5, 20.0), (2.0, 60.0))),
        *(whole("lognormal", *numbers) for numbers in ((4.0, 1.0), (5.0, 0.7))),
        law(Part(0.1, "normal", (1.0, 3.0)), Part(0.9, "normal", (400.0, 100.0))),
        *(law(part) for part in later),
        law(Part(0.2, "normal", (30.0, 12.0)), Part(0.8, "tail", (30, *zipf.numbers))),
        law(ranks(15), zipf),
    ]


# --- changes ----------------------------------------------------------------------------------------------------------


def changed(old: Law, shape: str, n: int, others: list[Law], rng: np.random.Generator) -> Law:
    """Return a law of the shape near an old one; the old one if no change keeps the shape."""
    for _ in range(50):
        kind, index = rng.integers(5), rng.integers(len(old))
        part, rest = old[index], (*old[:index], *old[index + 1 :])
        if kind == 0:
            new = law(*rest, replace(part, share=part.share * np.exp(0.7 * rng.normal())))
        elif kind == 1:
            new = law(*rest, replace(part, numbers=_other_numbers(part, n, rng)))
        elif kind == 2:
            new = mixed(old, law(_new_part(shape, n, rng)), 10 ** rng.uniform(-2.5, -0.3))
        elif kind == 3:
            new = mixed(old, others[rng.integers(len(others))], rng.choice([0.03, 0.1, 0.3]))
        else:
            new = law(*rest) if rest else old
        new = law(*sorted(new, key=lambda part: -part.share)[:MOST_PARTS])
        if new != old and has_shape(rank_probabilities(new, n), shape):
            return new
    return old


def _other_numbers(part: Part, n: int, rng: np.random.Generator) -> tuple[float, ...]:
    """Return the numbers of a part with one of them changed."""
    factor, numbers = float(np.exp(rng.choice([0.05, 0.5]) * rng.normal())), part.numbers

    def moved(rank: float) -> float:
        other = round(rank * factor)
        if other == rank:
            other += 1 if factor > 1 else -1
        return float(min(max(other, 1), n))

    if part.kind == "capped":
        return numbers
    if part.kind == "triangle" or (part.kind == "ranks" and numbers[0] == numbers[1]):
        return (moved(numbers[0]),) * len(numbers)
    place = 1 if part.kind == "ranks" and numbers[0] == 1 else int(rng.integers(2))
    if part.kind == "ranks":
        return tuple(sorted(moved(number) if place == which else number for which, number in enumerate(numbers)))
    return tuple(number * factor if place == which else number for which, number in enumerate(numbers))


def _new_part(shape: str, n: int, rng: np.random.Generator) -> Part:
    half = max(1, n // 2)
    if rng.random() < 0.25:
        first = int(rng.integers(half + 1, n + 1))
        return ranks(first, n if rng.random() < 0.5 else first)
    k = round(half ** rng.random())
    return ranks(1 if shape == "decreasing" or rng.random() < 0.3 else k, k)


def changed_population(
    old: Population, shape: str, n: int, others: list[Population], rng: np.random.Generator
) -> Population:
    """Return a population near an old one, with the same shape."""
    sides = list(old.sides)
    if len(sides) == 2 and rng.random() < 0.15:
        return Population(old.sides, float(rng.choice([0.0, 0.5, 0.9, 1.0, -1.0])))
    index, laws = rng.integers(len(sides)), [side for population in others for side in population.sides]
    sides[index] = changed(sides[index], shape, n, laws, rng)
    return Population(tuple(sides), old.coupled)
