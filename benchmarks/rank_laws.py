"""Laws of true ranks, of one recommender or of two on the same users, that a search can change step by step.

A law is a mixture of parts, such as single ranks, flat stretches and power laws. It can be written as text and read
back, so that a law that was found once can be simulated again.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.optimize import brentq

ROUNDING = 1e-12
MOST_PARTS = 6
"""Of a law that was changed; it loses its smallest parts beyond."""


@dataclass(frozen=True)
class Part:
    """A part of a law of ranks 1 ... n, by its kind.

    - `ranks` first, last: all as frequent; a single rank if they are equal;
    - `triangle` k: the probabilities fall in equal steps up to rank k;
    - `power` exponent, offset: ∝ (r + offset)^-exponent;
    - `lognormal` mean, deviation: of the logarithm of the rank;
    - `capped` first, shift, most: ∝ 1 / (r - shift) from the first on, but at most `most`.

    Attributes:
        share: of the users.
        kind: as above.
        numbers: in the order above.
    """

    share: float
    kind: str
    numbers: tuple[float, ...]

    def words(self) -> str:
        """Say what it is."""
        first, *more = self.numbers
        if self.kind == "ranks":
            return f"{self.share:.4g} at {first:g}" + (f" to {more[0]:g}" if more[0] > first else "")
        if self.kind == "triangle":
            return f"{self.share:.4g} falling to {first:g}"
        if self.kind == "power":
            return f"{self.share:.4g} ∝ (r + {more[0]:.3g})^-{first:.3g}"
        if self.kind == "lognormal":
            return f"{self.share:.4g} lognormal ({first:.3g}, {more[0]:.3g})"
        return f"{self.share:.4g} ∝ 1 / (r - {more[0]:g}) from {first:g}, at most {more[1]:.4g}"

    def chances(self, n: int) -> np.ndarray:
        """Return (n,) probabilities of the ranks, without the share."""
        r, numbers = np.arange(1, n + 1), self.numbers
        if self.kind == "ranks":
            weights = 1.0 * ((r >= numbers[0]) & (r <= numbers[1]))
        elif self.kind == "triangle":
            weights = np.maximum(numbers[0] + 1.0 - r, 0.0)
        elif self.kind == "power":
            weights = (r + numbers[1]) ** -numbers[0]
        elif self.kind == "lognormal":
            weights = np.exp(-(((np.log(r) - numbers[0]) / numbers[1]) ** 2) / 2) / r
        elif self.kind == "capped":
            weights = _capped(r, *numbers)
        else:
            raise ValueError(f"no part of a law is called {self.kind}")
        return weights / weights.sum()


def _capped(r: np.ndarray, first: float, shift: float, most: float) -> np.ndarray:
    there = r >= first
    steep = np.where(there, 1.0 / np.where(there, r - shift, 1.0), 0.0)
    scale = brentq(lambda c: np.minimum(c * steep, most * there).sum() - 1, 0.0, 1.0 / steep[there].min())
    return np.minimum(scale * steep, most * there)


Law = tuple[Part, ...]
"""The parts of a law; their shares sum to 1."""


def ranks(first: int, last: int | None = None, share: float = 1.0) -> Part:
    """Return a single rank, or a flat stretch."""
    return Part(share, "ranks", (first, first if last is None else last))


def law(*parts: Part) -> Law:
    """Return a law; equal parts are added up, shares are made to sum to 1."""
    shares: dict[tuple[str, tuple[float, ...]], float] = {}
    for part in parts:
        key = part.kind, part.numbers
        shares[key] = shares.get(key, 0.0) + part.share
    total = sum(shares.values())
    return tuple(Part(share / total, *key) for key, share in shares.items() if share > ROUNDING * total)


def mixed(one: Law, other: Law, share: float) -> Law:
    """Return the first law with a share of the second."""
    scaled = [
        Part(part.share * factor, part.kind, part.numbers)
        for of, factor in ((one, 1 - share), (other, share))
        for part in of
    ]
    return law(*scaled)


@lru_cache(maxsize=1000)
def chances(of: Law, n: int) -> np.ndarray:
    """Return (n,) probabilities of the ranks."""
    found = sum(part.share * part.chances(n) for part in of)
    return np.asarray(found / np.sum(found))


def has_shape(probabilities: np.ndarray, shape: str) -> bool:
    """Return whether a law keeps an assumption, which is on the better half of the ranks alone."""
    better = probabilities[: max(1, len(probabilities) // 2)]
    steps = np.diff(better)
    if shape == "decreasing":
        return bool((steps <= ROUNDING).all())
    if shape == "convex":
        return bool((steps <= ROUNDING).all() and (np.diff(steps) >= -ROUNDING).all())
    return True


@dataclass(frozen=True)
class Population:
    """The true ranks of one recommender, or of two on the same users.

    Attributes:
        sides: a law of each.
        coupled: the share of users whom two recommenders rank at the same quantile of their laws, or at opposite
            quantiles if it is negative. The ranks of the other users are independent.
    """

    sides: tuple[Law, ...]
    coupled: float = 0.0

    def words(self) -> str:
        """Say what it is."""
        said = [" + ".join(part.words() for part in side) for side in self.sides]
        if len(said) == 1:
            return said[0]
        how = "opposite" if self.coupled < 0 else "coupled"
        users = "independent" if self.coupled == 0 else f"{abs(self.coupled):.2g} {how}"
        return f"A: {said[0]}; B: {said[1]}; users: {users}"

    def text(self) -> str:
        """Return it as JSON."""
        sides = [[[part.share, part.kind, *part.numbers] for part in side] for side in self.sides]
        return json.dumps({"sides": sides, "coupled": self.coupled})

    @classmethod
    def read(cls, text: str) -> "Population":
        """Return what `text` wrote."""
        given = json.loads(text)
        sides = tuple(
            tuple(Part(share, kind, tuple(numbers)) for share, kind, *numbers in side) for side in given["sides"]
        )
        return cls(sides, given["coupled"])

    def keeps(self, shape: str, n: int) -> bool:
        """Return whether all laws have a shape."""
        return all(has_shape(chances(side, n), shape) for side in self.sides)

    def truth(self, values: np.ndarray) -> float:
        """Return the true metric, or its difference B - A, by the (n,) values of the metric by rank."""
        means = [float(chances(side, len(values)) @ values) for side in self.sides]
        return means[-1] - (means[0] if len(means) == 2 else 0.0)

    def balanced(self, values: np.ndarray) -> "Population":
        """Return two laws with equal metrics: the worse one gets more users at rank 1."""
        first, second = (float(chances(side, len(values)) @ values) for side in self.sides)
        low, high = min(first, second), max(first, second)
        if low >= values[0] or high - low < ROUNDING:
            return self
        better = mixed(self.sides[int(second < first)], law(ranks(1)), (high - low) / (values[0] - low))
        sides = (better, self.sides[1]) if first < second else (self.sides[0], better)
        return Population(sides, self.coupled)

    def draw(self, n: int, users: int, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
        """Return (users,) true ranks of each recommender; the same generator gives common random numbers."""
        uniform, fresh, choice = rng.random((3, users))
        same = uniform if self.coupled >= 0 else 1 - uniform
        places = (uniform, np.where(choice < abs(self.coupled), same, fresh))
        return tuple(
            np.searchsorted(np.cumsum(chances(side, n))[:-1], place, side="right") + 1
            for side, place in zip(self.sides, places, strict=False)
        )


# --- laws to begin with -----------------------------------------------------------------------------------------------


def starts(n: int, users: int) -> Iterator[Law]:
    """Yield laws of any shape, different ones first: flats, spikes with a flat, points, power laws, lognormal ones."""
    half = n // 2
    yield law(ranks(1, half))
    yield law(ranks(1, n))
    yield law(ranks(1, share=0.05), ranks(1, half, share=0.95))
    for p in (0.01, min(0.3, 3 / users)):
        yield law(ranks(1, share=p), ranks(half + 1, n, share=1 - p))
    yield law(Part(1.0, "power", (1.0, 0.0)))
    yield law(ranks(11))
    yield law(ranks(1, n // 3))
    yield law(Part(0.1, "triangle", (n // 10,)), Part(0.9, "ranks", (1, half)))
    yield law(ranks(1, 10, share=0.01), ranks(n, share=0.99))
    yield law(Part(1.0, "lognormal", (5.0, 2.5)))
    yield law(ranks(1, 10))
    yield law(Part(0.1, "ranks", (1, 10)), Part(0.9, "ranks", (1, half)))
    yield law(ranks(1, n // 10, share=0.3), ranks(half + 1, n, share=0.7))
    yield law(Part(1.0, "power", (1.5, 0.0)))
    yield law(Part(1.0, "triangle", (half,)))
    yield law(ranks(1, share=0.05), ranks(1, n, share=0.95))
    yield law(ranks(10, share=0.5), ranks(11, share=0.5))
    yield law(ranks(1, share=0.99), ranks(n, share=0.01))
    yield law(ranks(1, n // 10))
    for p in (0.004, 0.03, 0.1, min(0.3, 1 / users)):
        yield law(ranks(1, share=p), ranks(half + 1, n, share=1 - p))
    yield law(ranks(1, share=0.95), ranks(n, share=0.05))
    yield law(ranks(1, 10, share=0.05), ranks(n, share=0.95))
    yield law(ranks(1, share=0.2), ranks(11, share=0.8))
    for rank in (2, 88, half):
        yield law(ranks(rank))
    yield law(ranks(1, 20))
    for exponent, offset in ((0.7, 2.0), (1.0, 60.0)):
        yield law(Part(1.0, "power", (exponent, offset)))
    yield law(Part(1.0, "lognormal", (3.0, 1.0)))
    for k in (n // 3, n // 10, 10):
        yield law(Part(1.0, "triangle", (k,)))


def rare_hits(n: int) -> Iterator[Population]:
    """Yield pairs of rare hits at rank 1, otherwise in the worse half, and of a constant rank of about equal AP."""
    for k in (88, 30, 160, 10, 200):
        yield Population((law(ranks(n // 2 + 1, n)), law(ranks(k))))
    yield Population((law(ranks(n)), law(ranks(45))))


def capped_pair(n: int) -> Population:
    """Return two decreasing laws with equal Recall@10: one flat in the middle, one falling from the start."""
    top = Part(0.1, "ranks", (1, 10))
    return Population((law(top, Part(0.9, "ranks", (11, 200))), law(top, Part(0.9, "capped", (11, 8, 0.01 / 0.9)))))


def pairs(n: int, users: int) -> Iterator[Population]:
    """Yield pairs of laws, with independent, coupled and opposite users."""
    half = n // 2
    power, steep = law(Part(1.0, "power", (1.0, 0.0))), law(Part(1.0, "power", (1.5, 0.0)))
    lognormal, flat = law(Part(1.0, "lognormal", (5.0, 2.5))), law(ranks(1, half))
    all_ranks, third = law(ranks(1, n)), law(ranks(1, n // 3))
    yield capped_pair(n)
    yield Population((flat, flat))
    yield Population((law(Part(0.05, "ranks", (1, 10)), ranks(1, n, share=0.95)), third))
    yield Population((power, lognormal))
    yield Population((flat, power))
    yield Population((flat, power), 1.0)
    yield Population((steep, third), 1.0)
    yield Population((all_ranks, third), -1.0)
    yield Population((power, power), 0.9)
    yield Population((law(Part(1.0, "triangle", (half,))), law(Part(1.0, "triangle", (n // 10,)))))
    rare = law(ranks(1, share=min(0.02, 3 / users)), ranks(half + 1, n, share=1 - min(0.02, 3 / users)))
    yield Population((rare, rare))
    yield Population((rare, law(ranks(20, share=0.3), ranks(n, share=0.7))))
    yield Population((law(ranks(n)), law(ranks(1, share=0.02), ranks(n, share=0.98))))
    yield Population((law(ranks(1)), law(ranks(1, share=0.98), ranks(n, share=0.02))))
    yield Population((law(ranks(11)), law(ranks(10, share=0.05), ranks(12, share=0.95))))


# --- changes ----------------------------------------------------------------------------------------------------------


def changed(of: Law, shape: str, n: int, others: list[Law], rng: np.random.Generator) -> Law:
    """Return a law of the shape near another one; the same one if no change keeps the shape."""
    for _ in range(50):
        kind = rng.integers(5)
        if kind == 0:
            found = _other_share(of, rng)
        elif kind == 1:
            found = _other_number(of, n, rng)
        elif kind == 2:
            found = mixed(of, law(_new_part(shape, n, rng)), 10 ** rng.uniform(-2.5, -0.3))
        elif kind == 3:
            found = mixed(of, others[rng.integers(len(others))], rng.choice([0.03, 0.1, 0.3]))
        else:
            found = law(*np.delete(np.array(of, dtype=object), rng.integers(len(of)))) if len(of) > 1 else of
        found = law(*sorted(found, key=lambda part: -part.share)[:MOST_PARTS])
        if found != of and has_shape(chances(found, n), shape):
            return found
    return of


def _other_share(of: Law, rng: np.random.Generator) -> Law:
    at = rng.integers(len(of))
    return law(
        *(
            Part(part.share * (np.exp(0.7 * rng.normal()) if place == at else 1.0), part.kind, part.numbers)
            for place, part in enumerate(of)
        )
    )


def _other_number(of: Law, n: int, rng: np.random.Generator) -> Law:
    at = rng.integers(len(of))
    part = of[at]
    factor = float(np.exp(rng.choice([0.05, 0.5]) * rng.normal()))

    def moved(rank: float) -> float:
        other = round(rank * factor)
        if other == rank:
            other += 1 if factor > 1 else -1
        return float(min(max(other, 1), n))

    numbers = part.numbers
    if part.kind == "ranks" and numbers[0] == numbers[1]:
        numbers = (moved(numbers[0]),) * 2
    elif part.kind == "ranks":
        side = 1 if numbers[0] == 1 else rng.integers(2)
        numbers = (moved(numbers[0]), numbers[1]) if side == 0 else (numbers[0], moved(numbers[1]))
        numbers = (min(numbers), max(numbers))
    elif part.kind == "triangle":
        numbers = (moved(numbers[0]),)
    elif part.kind != "capped":
        side = rng.integers(2)
        numbers = tuple(number * factor if place == side else number for place, number in enumerate(numbers))
    return law(*of[:at], Part(part.share, part.kind, numbers), *of[at + 1 :])


def _new_part(shape: str, n: int, rng: np.random.Generator) -> Part:
    half = max(1, n // 2)
    if rng.random() < 0.25:
        first = int(rng.integers(half + 1, n + 1))
        return ranks(first, n if rng.random() < 0.5 else first)
    k = round(half ** rng.random())
    if shape == "convex":
        return Part(1.0, "triangle", (k,)) if rng.random() < 0.8 else ranks(1, half)
    return ranks(1 if shape == "decreasing" or rng.random() < 0.3 else k, k)


def changed_population(
    of: Population, shape: str, n: int, others: list[Population], rng: np.random.Generator
) -> Population:
    """Return a population near another one, with the same shape."""
    sides, coupled = list(of.sides), of.coupled
    if len(sides) == 2 and rng.random() < 0.15:
        return Population(of.sides, float(rng.choice([0.0, 0.5, 0.9, 1.0, -1.0])))
    at = rng.integers(len(sides))
    sides[at] = changed(sides[at], shape, n, [side for each in others for side in each.sides], rng)
    return Population(tuple(sides), coupled)
