"""MovieLens 100K from the wheel of the package index: Y and Z come out as a computation that shares no code says.

What is compared is the workflow's ranks with those of this file, which parses the data, splits it, scores and ranks it
by itself. Ties must be decided alike, so they are decided exactly here. With t_ij the training users that
items i and j share, and n_j those of j, the norm of eq. 29 cancels n_i, and the score of an item i is

    sum over the user's items j of sqrt((t_ij² / n_j)^q / w_i),  w_i = sum over all kept j of (t_ij² / n_j)^q,

a sum of square roots of rational numbers. Scores that float64 sets further apart than 1e-9 (its own error is below
1e-12) are in the order that it says. All others are computed again with 60 digits, and tie if 50 of them agree: sums of
some hundred square roots of such fractions that differ at all differ by more. Zero is exact anyway, as no term is
negative.
"""

import csv
import io
import subprocess
import sys
import zipfile
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from decimal import Context, Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
import yaml
from made_up_project import Project, copy_of_project

pytestmark = pytest.mark.slow
WHEEL, VERSION = "recbole", "1.2.1"
MEMBER = "recbole/dataset_example/ml-100k/ml-100k.inter"
FITTED = {"neighbours_prime": None, "row_norm": "l2", "denominator": False}
RECOMMENDERS = {
    "Y": {"type": "item-cf", "exponent": 3, "neighbours": None, "keep_self": True, **FITTED},
    "Z": {"type": "item-cf", "exponent": 1, "neighbours": 10, "keep_self": False, **FITTED},
}
DIGITS = Context(prec=60)


@pytest.fixture(scope="session")
def ml_100k(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A copy in which ml-100k was fetched, split, trained on, ranked and summarised."""
    probe = tmp_path_factory.mktemp("probe")
    pip = [sys.executable, "-m", "pip", "--no-input", "--disable-pip-version-check", "--retries", "0"]
    options = ["--no-deps", "--only-binary", ":all:", "--platform", "any", "--dest", str(probe)]
    command = [*pip, "download", *options, f"{WHEEL}=={VERSION}"]
    fetched = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    if fetched.returncode != 0:
        last = (fetched.stderr.strip().splitlines() or ["it does not say why"])[-1]
        pytest.skip(f"pip cannot fetch the wheel of {WHEEL} {VERSION} that carries MovieLens 100K: {last}")
    project = copy_of_project(tmp_path_factory.mktemp("ml-100k"))
    config = {"study": ["ml-100k"], "recommenders": RECOMMENDERS, "sampling": {"repetitions": 3}}
    (project.folder / "study.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
    targets = [f"results/ml-100k/{name}" for name in ("ranks/Y.csv.gz", "ranks/Z.csv.gz")]
    ran = project.snakemake(*targets, "--cores", "2")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return project


@dataclass
class Data:
    """The split: the training items of each user, and the item that is held out."""

    items: list[int]
    training: dict[int, set[int]] = field(default_factory=lambda: defaultdict(set))
    held_out: dict[int, int] = field(default_factory=dict)

    def candidates(self, user: int) -> int:
        return len(self.items) - len(self.training[user])


@pytest.fixture(scope="session")
def data(ml_100k: Project) -> Data:
    """The events of the wheel that the workflow downloaded, the last one of each user held out."""
    (wheel,) = (ml_100k.folder / "data/ml-100k").glob("*.whl")
    with zipfile.ZipFile(wheel) as opened, opened.open(MEMBER) as member:
        rows = list(csv.DictReader(io.TextIOWrapper(member, "utf-8"), delimiter="\t"))
    events = [(int(row["user_id:token"]), int(row["item_id:token"]), float(row["timestamp:float"])) for row in rows]
    assert len({(user, item) for user, item, _ in events}) == len(events) == 100_000
    of_user = defaultdict(list)
    for user, item, time in events:
        of_user[user].append((time, item))
    made = Data(sorted({item for _, item, _ in events}))
    for user, had in of_user.items():
        _, last = max(had, key=lambda event: event[0])  # of equal times the one listed first: max keeps the first
        made.held_out[user] = last
        made.training[user] = {item for _, item in had} - {last}
    return made


class Scores:
    """Item-based collaborative filtering by eqs 27-30, in float64 for all items and in 60 digits for any one."""

    def __init__(self, data: Data, exponent: int, neighbours: int | None, keep_self: bool) -> None:
        self.data, self.exponent = data, exponent
        self.position = {item: at for at, item in enumerate(data.items)}
        has = np.zeros((len(data.training), len(data.items)))
        self.row = {user: at for at, user in enumerate(sorted(data.training))}
        for user, items in data.training.items():
            has[self.row[user], [self.position[item] for item in items]] = 1.0
        self.shared = np.rint(has.T @ has).astype(np.int64)  # sums of 0 and 1: exact
        self.kept = self._kept(neighbours, keep_self)
        users = np.maximum(self.shared.diagonal(), 1)
        powers = np.where(self.kept, self.shared.astype(np.float64) ** 2 / users, 0.0) ** exponent
        norms = powers.sum(axis=1, keepdims=True)
        self.approximate = has @ np.sqrt(powers / np.where(norms > 0, norms, 1.0)).T
        self._terms: dict[tuple[int, int], Decimal] = {}
        self._norms: dict[int, Fraction] = {}

    def _kept(self, neighbours: int | None, keep_self: bool) -> np.ndarray:
        """Return which s_ij stay, as (i, j): i among the items nearest to j, equally near ones by their ids."""
        kept = self.shared > 0
        if neighbours is not None:
            kept = np.zeros_like(kept)
            for j in range(len(kept)):
                # The squared cosine is t_ij² / n_i over n_j, which is the same for all i. Equal fractions are equal
                # numbers; others, of whole numbers up to 943² over ones up to 943, are further apart than 1e-6.
                nearness = (self.shared[:, j] ** 2 / np.maximum(self.shared.diagonal(), 1)).tolist()
                others = [i for i in np.flatnonzero(self.shared[:, j]).tolist() if i != j]
                kept[sorted(others, key=lambda i, of=nearness: (-of[i], i))[:neighbours], j] = True
        np.fill_diagonal(kept, keep_self)
        return kept & (self.shared > 0)

    def exact(self, user: int, i: int) -> Decimal:
        """Return the score of the item at position i in 60 digits."""
        total = Decimal(0)
        for j in sorted(self.position[item] for item in self.data.training[user]):
            if self.kept[i, j]:
                total = DIGITS.add(total, self._term(i, j))
        return total

    def _term(self, i: int, j: int) -> Decimal:
        if (i, j) not in self._terms:
            if i not in self._norms:
                self._norms[i] = sum(self._power(i, other) for other in np.flatnonzero(self.kept[i]).tolist())
            square = self._power(i, j) / self._norms[i]
            self._terms[i, j] = DIGITS.sqrt(DIGITS.divide(Decimal(square.numerator), Decimal(square.denominator)))
        return self._terms[i, j]

    def _power(self, i: int, j: int) -> Fraction:
        return Fraction(int(self.shared[i, j]) ** 2, int(self.shared[j, j])) ** self.exponent

    def place(self, user: int) -> tuple[int, int]:
        """Return how many of the user's candidates score above the held-out item, and how many the same."""
        scores, target = self.approximate[self.row[user]], self.position[self.data.held_out[user]]
        mine = scores[target]
        is_candidate = np.ones(len(scores), dtype=bool)
        is_candidate[[target, *(self.position[item] for item in self.data.training[user])]] = False
        is_apart = abs(scores - mine) > 1e-9 * np.maximum(scores, mine)
        above = int((is_candidate & is_apart & (scores > mine)).sum())
        is_close = is_candidate & ~is_apart
        if mine == 0:
            return above, int(is_close.sum())
        tied = 0
        for i in np.flatnonzero(is_close).tolist():
            score, of_target = self.exact(user, i), self.exact(user, target)
            gap = DIGITS.subtract(score, of_target)
            if abs(gap) < DIGITS.multiply(of_target, Decimal("1e-50")):
                tied += 1
            else:
                above += gap > 0
        return above, tied


def test_the_data_is_movielens_100k(ml_100k: Project, data: Data) -> None:
    assert (len(data.training), len(data.items)) == (943, 1682)
    facts = yaml.safe_load((ml_100k.folder / "results/ml-100k/dataset.json").read_text(encoding="utf-8"))
    assert facts["users"] == 943
    assert facts["items"] == 1682
    assert facts["events"] == 100_000
    assert facts["training_events"] == 100_000 - 943
    assert facts["mean_candidates"] == pytest.approx(1682 - (100_000 - 943) / 943, abs=1e-9)


@pytest.mark.parametrize("name", list(RECOMMENDERS))
def test_every_user_is_ranked_alike(ml_100k: Project, data: Data, name: str) -> None:
    entry = RECOMMENDERS[name]
    scores = Scores(data, entry["exponent"], entry["neighbours"], entry["keep_self"])
    places = {user: scores.place(user) for user in sorted(data.training)}
    table = pd.read_csv(ml_100k.folder / f"results/ml-100k/ranks/{name}.csv.gz")
    assert table["user"].tolist() == sorted(data.training)
    ours = {row.user: (row.candidates, row.above, row.tied) for row in table.itertuples()}
    expected = {user: (data.candidates(user), *place) for user, place in places.items()}
    assert {user: (ours[user], expected[user]) for user in ours if ours[user] != expected[user]} == {}
    assert Counter(tied > 0 for _, tied in places.values())[True] > 0  # or ties would be left untested
