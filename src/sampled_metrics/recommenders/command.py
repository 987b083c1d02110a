"""A command that trains a model in any language: it reads the split from files, and writes factors, scores or ranks."""

import logging
import os
import re
import shlex
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from subprocess import DEVNULL, PIPE, Popen
from tempfile import TemporaryDirectory
from threading import Thread
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from sampled_metrics.data.split import Split
from sampled_metrics.errors import ConfigError, DataError, reason
from sampled_metrics.ranking.files import read_array
from sampled_metrics.ranks.exact import ExactRanks, exact_ranks
from sampled_metrics.ranks.pairing import pair_users
from sampled_metrics.recommenders.models import FactorModel, Model, RankModel, ScoreModel
from sampled_metrics.recommenders.parameters import parameter
from sampled_metrics.recommenders.recommender import Recommender

TABLES = ("train", "held_out", "users", "items")
"""The tables of the split that a command may read (`data.split_tables`)."""

_ARRAYS, _RANKS = (".csv", ".npy", ".npz", ".parquet"), (".csv", ".csv.gz", ".parquet")
"""Endings of the files that a command may write: matrices, and ranks."""

_LAST_LINES = 3


@dataclass(frozen=True)
class Command(Recommender):
    """A command line, run in the folder of the study without a shell."""

    command: str | Sequence[str] = parameter(
        "the program and its arguments, as text or as a list. {train}, {held_out}, {users} and {items} stand for files "
        "of the split, {output} for the folder to write into, and {seed} for a number",
        type=["string", "array"],
        minLength=1,
        minItems=1,
        items={"type": "string"},
    )
    writes: str = parameter(
        "what it writes: user_factors and item_factors, scores (users, items), or ranks, as csv and other formats",
        enum=["factors", "scores", "ranks"],
    )
    format: str = parameter("format of the files of the split", default="csv", enum=["csv", "parquet"])

    def __post_init__(self) -> None:
        """Refuse a command that cannot give a result."""
        needed = {"{output}": "the folder to write into"}
        if self.writes == "ranks":
            needed["{held_out}"] = "the file of the items to rank"
        for name, purpose in needed.items():
            if not any(name in arg for arg in self.arguments):
                raise ConfigError(f"command: must have {name} among its arguments, {purpose}")

    @property
    def arguments(self) -> Sequence[str]:
        """The program and its arguments.

        Raises:
            ConfigError: a quotation mark is open.
        """
        try:
            return shlex.split(self.command) if isinstance(self.command, str) else self.command
        except ValueError as error:
            raise ConfigError(f"command: cannot be split into arguments: {reason(error)}") from None

    @property
    def tables(self) -> list[str]:
        """The names of the files of the split that the command reads."""
        return [f"{name}.{self.format}" for name in TABLES if any(f"{{{name}}}" in arg for arg in self.arguments)]

    @property
    def is_random(self) -> bool:
        """Whether the command asks for a seed."""
        return any("{seed}" in arg for arg in self.arguments)

    @property
    def has_factors(self) -> bool:
        """Whether the command writes factors."""
        return self.writes == "factors"

    def fit(self, training: csr_array, rng: np.random.Generator) -> Model:
        """Raise ConfigError: a command reads files."""
        raise ConfigError("a command (type command) is trained by the workflow, which writes the files that it reads")

    def run(self, files: Mapping[str, str], split: Split, rng: np.random.Generator, name: str, log: str) -> Model:
        """Run the command, with its output in the log of the job, and return the model that it writes.

        Args:
            files: the files of `tables`, by the name of the table.
            split: the split that the files hold.
            rng: source of the seed.
            name: start of the messages, which names the recommender.
            log: the log file, for messages.

        Raises:
            ConfigError: the command cannot be run.
            DataError: it fails, or does not write what it should.
        """
        with TemporaryDirectory() as folder:
            values = {table: os.path.abspath(path) for table, path in files.items()}
            values |= {"output": folder, "seed": str(rng.integers(2**31))}
            filled = [re.sub(r"{(\w+)}", lambda match: values.get(match[1], match[0]), arg) for arg in self.arguments]
            try:
                _call(filled)
                return _READ[self.writes](Path(folder), split)
            except (ConfigError, DataError) as error:
                message = str(error).replace(folder + os.sep, "")
                raise type(error)(f"{name}: {message}; {log} has what the command says") from None


def _call(arguments: Sequence[str]) -> None:
    """Run a command with its output in the log; if it fails, raise DataError with its last lines on stderr."""
    logging.info("%s", shlex.join(arguments))
    last_lines: deque[str] = deque(maxlen=_LAST_LINES)

    def log(lines: IO[str], keep: Callable[[str], object] = str) -> None:
        for line in filter(None, map(str.rstrip, lines)):
            logging.info("%s", line)
            keep(line)

    try:
        process = Popen(arguments, stdin=DEVNULL, stdout=PIPE, stderr=PIPE, encoding="utf-8", errors="replace")
    except (OSError, ValueError) as error:
        raise ConfigError(f"{arguments[0]!r} cannot be run: {reason(error)}") from None
    with process:
        assert process.stdout is not None
        assert process.stderr is not None
        stdout_reader = Thread(target=log, args=(process.stdout,))
        stdout_reader.start()
        log(process.stderr, last_lines.append)
        stdout_reader.join()
    code = process.returncode
    if code != 0:
        ending = f"with exit code {code}" if code > 0 else f"by signal {-code}"
        raise DataError(f"the command ended {ending}: {' | '.join(last_lines) or 'nothing on stderr'}")


def _written(folder: Path, stem: str, endings: tuple[str, ...]) -> str:
    """Return the only file named `stem` with one of the endings; refuse a folder without it, or with several."""
    written = sorted(path.name for path in folder.iterdir())
    matches = [name for name in written if name in {stem + ending for ending in endings}]
    if len(matches) == 1:
        return str(folder / matches[0])
    allowed = f"{stem}{', '.join(endings[:-1])} or {endings[-1]}"
    raise DataError(f"the command must write {allowed} into {{output}}; it wrote {', '.join(written) or 'nothing'}")


def _matrix(folder: Path, stem: str) -> NDArray[Any]:
    path = _written(folder, stem, _ARRAYS)
    array = read_array(path)
    array = array.toarray() if issparse(array) else np.asarray(array)
    if array.ndim != 2 or array.dtype.kind not in "biuf":
        raise DataError(f"{path}: must be a matrix of numbers, not {array.dtype} of shape {array.shape}")
    return array


def _factors(folder: Path, split: Split) -> FactorModel:
    users, items = (_matrix(folder, name).astype(np.float64) for name in ("user_factors", "item_factors"))
    return FactorModel(users, items)


def _ranks(folder: Path, split: Split) -> RankModel:
    if not np.array_equal(split.user, np.arange(split.shape.users)):
        raise DataError("a command that writes ranks needs one held-out item of each user; let it write scores")
    table = exact_ranks(_written(folder, "ranks", _RANKS))
    nothing = np.zeros_like(split.user)
    expected = ExactRanks(split.user_ids, split.candidates, nothing, nothing)
    pairs = pair_users(expected, table, ("the split", "ranks"))
    rows = np.argsort(pairs.other)[pairs.one]
    return RankModel(table.above[rows], table.tied[rows])


_READ: dict[str, Callable[[Path, Split], Model]] = {
    "factors": _factors,
    "scores": lambda folder, split: ScoreModel(_matrix(folder, "scores")),
    "ranks": _ranks,
}
