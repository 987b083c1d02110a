"""Make the ranks of published/evidence/ again, from weights and test sets as their authors
published them.

    pip install h5py
    python published/evidence/make.py FOLDER --ml-1m ml-1m.zip

FOLDER holds clones of the three repositories in REPOSITORIES, or is empty: a file that is not there
is downloaded from GitHub. Each file has the checksum that git gives it at the named commit. h5py
reads the weights of NCF, and nothing else here; it is no dependency of this project. The files of
the authors stay in FOLDER: what is written beside this script is ranks. It takes about a minute.

NCF's ranks need the training items, `Data/ml-1m.train.rating`. Where that file cannot be had,
`--ml-1m` names an archive of MovieLens 1M, and the numbers of its items are assigned to those of
NCF (`ncf_training`).
"""

import argparse
import collections
import hashlib
import io
import pickle
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple
from urllib.error import URLError
from urllib.parse import quote
from urllib.request import urlopen

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csr_array
from scipy.special import erf
from threadpoolctl import threadpool_limits

from sampled_metrics import file_io
from sampled_metrics_study.data.events import binarize
from sampled_metrics_study.data.formats import get, read_events
from sampled_metrics_study.data.split import split_events

HERE = Path(__file__).resolve().parent
NEGATIVES = 99

Floats = NDArray[np.floating[Any]]
Ints = NDArray[np.int64]
Weights = Mapping[str, Floats]


class Repository(NamedTuple):
    """A repository on GitHub at one commit, and the checksums that git gives to its files."""

    owner: str
    commit: str
    files: Mapping[str, str]


GMF_WEIGHTS = "Pretrain/ml-1m_GMF_8_1501651698.h5"
MLP_WEIGHTS = "Pretrain/ml-1m_MLP_[64,32,16,8]_1501652038.h5"
REPOSITORIES = {
    "FMLP-Rec": Repository(
        "RUCAIBox",
        "f3c42856d2cf7c87daae7ceeafadf06f86f5c5b1",
        {"output/FMLPRec-Beauty-4eval.pt": "f4d17f265717119c10a55816cb66573867ab4e5a"},
    ),
    "CIKM2020-S3Rec": Repository(
        "RUCAIBox",
        "2a81540ae18615d88ef88227b0c066e5b74781e5",
        {
            "data/Beauty.txt": "a29773026846d857ec8176cb25f37b23ecf20155",
            "data/LastFM.txt": "3c46bd58d4c8582d0496fe42570af06d977b58db",
            "data/LastFM_sample.txt": "4b4e019acf2fad7d36a706a6d1a2d574591f4c34",
            "reproduce/Beauty-epochs-150.pt": "8734c2dae423caab5b197f157581b9e07508fdeb",
            "reproduce/LastFM-epochs-150.pt": "bf84b1fa7d5d68c917d33b132855188c713eee1e",
        },
    ),
    "neural_collaborative_filtering": Repository(
        "hexiangnan",
        "4aab159e81c44b062c091bdaed0ab54ac632371f",
        {
            "Data/ml-1m.test.negative": "c82844fb99d021f94751a6f915a230a1e8b8da92",
            "Data/ml-1m.test.rating": "1b79e03c96710c3b0c35deb19155ef74f7965a02",
            "Data/ml-1m.train.rating": "31ba384fd58dac8fbd09d2dfc6616431f3563ab5",
            GMF_WEIGHTS: "08270046f25c846faa51fda6685a86250ba54062",
            MLP_WEIGHTS: "a16bc7baad3b1d2035b21da9d1f496512a4ea930",
        },
    ),
}


# ---- the files of the authors


class Source(NamedTuple):
    """A folder with clones of the repositories."""

    folder: Path

    def content(self, name: str, path: str) -> bytes:
        """Return the content of a file, from the folder or from GitHub.

        Raises:
            SystemExit: the file cannot be downloaded, or is another one than at the commit.
        """
        repository = REPOSITORIES[name]
        local = self.folder / name / path
        if not local.exists():
            address = f"https://raw.githubusercontent.com/{repository.owner}/{name}/{repository.commit}/{quote(path)}"
            local.parent.mkdir(parents=True, exist_ok=True)
            try:
                with urlopen(address, timeout=60) as response:
                    local.write_bytes(response.read())
            except (URLError, TimeoutError) as error:
                raise SystemExit(
                    f"{local} is not there, and {address} cannot be read: {error}"
                ) from None
        content = local.read_bytes()
        digest = hashlib.sha1(
            b"blob %d\0" % len(content) + content, usedforsecurity=False
        ).hexdigest()
        if digest != repository.files[path]:
            raise SystemExit(
                f"{local}: not the file of commit {repository.commit}; git's checksum is {digest}"
            )
        return content

    def text(self, name: str, path: str) -> str:
        """Return the text of a file."""
        return self.content(name, path).decode()


class _Storage(NamedTuple):
    """The place of some numbers in a file of torch."""

    key: str


class _Tensor(NamedTuple):
    """A tensor that is not read yet."""

    storage: _Storage
    offset: int
    shape: tuple[int, ...]

    def read(self, numbers: Floats) -> Floats:
        """Return the array; weights are stored in C order."""
        return numbers[self.offset : self.offset + int(np.prod(self.shape))].reshape(self.shape)


class _NoCode(pickle.Unpickler):
    """Reads a state dict of torch, and calls nothing that the file names but the three below."""

    ALLOWED: Mapping[tuple[str, str], Any] = {
        ("collections", "OrderedDict"): collections.OrderedDict,
        ("torch", "FloatStorage"): "float32",
        ("torch._utils", "_rebuild_tensor_v2"): lambda storage, offset, shape, *_: _Tensor(
            storage, offset, shape
        ),
    }

    def find_class(self, module: str, name: str) -> Any:
        """Return what a file may name."""
        if (module, name) not in self.ALLOWED:
            raise SystemExit(f"the weights name {module}.{name}, which is not read")
        return self.ALLOWED[module, name]

    def persistent_load(self, pid: Any) -> _Storage:
        """Return the place of a storage: ("storage", type, key, device, size, ...)."""
        return _Storage(pid[2])


def torch_weights(content: bytes) -> Weights:
    """Return the arrays of a state dict, as torch 1.6 and later write it (a zip), or as torch
    before it.
    """
    stream = io.BytesIO(content)
    storages = {}
    if zipfile.is_zipfile(stream):
        with zipfile.ZipFile(stream) as archive:
            tensors = _NoCode(io.BytesIO(archive.read("archive/data.pkl"))).load()
            for key in {tensor.storage.key for tensor in tensors.values()}:
                storages[key] = np.frombuffer(
                    archive.read(f"archive/data/{key}"), np.float32
                ).astype(np.float64)
    else:
        stream.seek(0)
        for _ in ("magic number", "version of the protocol", "sizes of types"):
            _NoCode(stream).load()
        tensors = _NoCode(stream).load()
        for key in _NoCode(stream).load():
            length = int.from_bytes(stream.read(8), "little")
            storages[key] = np.frombuffer(stream.read(4 * length), np.float32).astype(np.float64)
    return {name: tensor.read(storages[tensor.storage.key]) for name, tensor in tensors.items()}


def keras_weights(content: bytes) -> Weights:
    """Return the arrays of an h5 file of Keras 1, such as `layer1_W`."""
    import h5py

    weights = {}

    def add(name: str, node: Any) -> None:
        if isinstance(node, h5py.Dataset):
            weights[name.rsplit("/", 1)[-1]] = node[()].astype(np.float64)

    with h5py.File(io.BytesIO(content)) as file:
        file.visititems(add)
    return weights


# ---- sequence models: Beauty and LastFM


class Sequences(NamedTuple):
    """The items of each user in their order, from 1 to `items`; the last one is held out.

    Attributes:
        items_by_user: the items of each user.
        items: the number of items.
        negatives: (users, 99) items of the sampled evaluation.
    """

    items_by_user: Sequence[Sequence[int]]
    items: int
    negatives: Ints

    @property
    def held_out(self) -> Ints:
        """(users,) the held-out items."""
        return np.array([items[-1] for items in self.items_by_user])

    def inputs(self, length: int, mask: int | None = None) -> Ints:
        """Return the (users, length) last items before the held-out one, 0 where there are fewer; a
        mask comes last.
        """
        padded = np.zeros((len(self.items_by_user), length), dtype=np.int64)
        for row, items in zip(padded, self.items_by_user, strict=True):
            known = [*items[:-1], *([] if mask is None else [mask])][-length:]
            row[length - len(known) :] = known
        return padded


def read_sequences(text: str) -> list[list[int]]:
    """Return the items of each line; its first number is the user."""
    return [[int(item) for item in line.split()[1:]] for line in text.splitlines()]


def drawn_negatives(items_by_user: Sequence[Sequence[int]]) -> Ints:
    """Draw 99 negatives for each user as data/generate_test.py of S3-Rec does, from its seed.

    It draws 99 of all items without replacement, leaves out the user's items, and draws 99 anew
    until there are enough. Its check for items that an earlier round drew compares numbers with
    texts, so an item may come twice. That is kept.
    """
    stream = np.random.RandomState(12345)  # the generator of the script
    all_items = list(dict.fromkeys(item for items in items_by_user for item in items))
    negatives = np.empty((len(items_by_user), NEGATIVES), dtype=np.int64)
    for row, items in zip(negatives, items_by_user, strict=True):
        drawn: list[int] = []
        while len(drawn) < NEGATIVES:
            batch = stream.choice(all_items, NEGATIVES, replace=False)
            drawn += [item for item in batch.tolist() if item not in items]
        row[:] = drawn[:NEGATIVES]
    return negatives


def normalized(values: Floats, weights: Weights, name: str) -> Floats:
    """Return layer normalization, its epsilon inside the root."""
    centred = values - values.mean(-1, keepdims=True)
    variance = (centred**2).mean(-1, keepdims=True)
    return (
        weights[f"{name}.LayerNorm.weight"] * centred / np.sqrt(variance + 1e-12)
        + weights[f"{name}.LayerNorm.bias"]
    )


def linear(values: Floats, weights: Weights, name: str) -> Floats:
    """Return a linear layer."""
    return values @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]


def embedded(inputs: Ints, weights: Weights) -> Floats:
    """Return the (users, length, size) embeddings of items and positions, normalized."""
    sums = weights["item_embeddings.weight"][inputs] + weights["position_embeddings.weight"]
    return normalized(sums, {f"input.{name}": array for name, array in weights.items()}, "input")


def fed_forward(values: Floats, weights: Weights, layer: str) -> Floats:
    """Return the block after filter or attention: two linear layers with a GELU between them."""
    wide = linear(values, weights, f"{layer}.intermediate.dense_1")
    active = wide * 0.5 * (1 + erf(wide / np.sqrt(2)))
    return normalized(
        linear(active, weights, f"{layer}.intermediate.dense_2") + values,
        weights,
        f"{layer}.intermediate",
    )


def fmlp_states(inputs: Ints, weights: Weights) -> Floats:
    """Return the (users, size) last states of FMLP-Rec: filters in the frequencies of the
    sequence.
    """
    values = embedded(inputs, weights)
    for number in range(2):
        layer = f"item_encoder.layer.{number}"
        filters = weights[f"{layer}.filterlayer.complex_weight"]
        spectrum = np.fft.rfft(values, axis=1, norm="ortho") * (
            filters[..., 0] + 1j * filters[..., 1]
        )
        filtered = np.fft.irfft(spectrum, n=inputs.shape[1], axis=1, norm="ortho")
        if number == 1:
            filtered = filtered[:, -1:]
            values = values[:, -1:]
        values = normalized(filtered + values, weights, f"{layer}.filterlayer")
        values = fed_forward(values, weights, layer)
    return values[:, -1]


def _heads(values: Floats) -> Floats:
    """Return (users, 2, length, size / 2) of (users, length, size): attention has two heads."""
    users, length, _ = values.shape
    return values.reshape(users, length, 2, -1).swapaxes(1, 2)


def s3_states(inputs: Ints, weights: Weights) -> Floats:
    """Return the (users, size) projected states of S3-Rec at the mask, the last input, as in its
    pre-training.
    """
    values = embedded(inputs, weights)
    padding = np.where(inputs == 0, -1e8, 0.0)[:, np.newaxis, np.newaxis]
    for number in range(2):
        layer = f"item_encoder.layer.{number}"
        asking = values[:, -1:] if number == 1 else values
        query = _heads(linear(asking, weights, f"{layer}.attention.query"))
        key = _heads(linear(values, weights, f"{layer}.attention.key"))
        value = _heads(linear(values, weights, f"{layer}.attention.value"))
        scores = query @ key.swapaxes(2, 3) / np.sqrt(query.shape[-1]) + padding
        attention = np.exp(scores - scores.max(-1, keepdims=True))
        attention /= attention.sum(-1, keepdims=True)
        context = (attention @ value).swapaxes(1, 2).reshape(asking.shape)
        attended = linear(context, weights, f"{layer}.attention.dense") + asking
        values = fed_forward(normalized(attended, weights, f"{layer}.attention"), weights, layer)
    return linear(values[:, -1], weights, "mip_norm")


def sequence_ranks(
    sequences: Sequences,
    weights: Weights,
    states: Callable[[Ints, Weights], Floats],
    mask: int | None = None,
) -> pd.DataFrame:
    """Return the ranks of the held-out items: among all items but the user's others, and among the
    negatives.
    """
    length = len(weights["position_embeddings.weight"])
    embeddings = weights["item_embeddings.weight"][: sequences.items + 1]
    inputs = sequences.inputs(length, mask)
    tables = []
    for users in _batches(len(inputs)):
        scores = states(inputs[users], weights) @ embeddings.T
        rows = np.arange(len(scores))[:, np.newaxis]
        own = scores[rows[:, 0], sequences.held_out[users]][:, np.newaxis]
        is_candidate = np.ones(scores.shape, dtype=bool)
        is_candidate[:, 0] = False  # the padding
        for row, items in zip(is_candidate, sequences.items_by_user[users], strict=True):
            row[items[:-1]] = False
        is_candidate[rows[:, 0], sequences.held_out[users]] = True
        tables.append(
            rank_table(scores, own, is_candidate, scores[rows, sequences.negatives[users]])
        )
    return pd.concat(tables, ignore_index=True)


def rank_table(
    scores: Floats, own: Floats, is_candidate: NDArray[np.bool_], negative_scores: Floats
) -> pd.DataFrame:
    """Return candidates, exact_rank and sampled_rank.

    Another item of an equal score does not make a rank worse.
    """
    return pd.DataFrame(
        {
            "candidates": is_candidate.sum(axis=1),
            "exact_rank": 1 + ((scores > own) & is_candidate).sum(axis=1),
            "sampled_rank": 1 + (negative_scores > own).sum(axis=1),
        }
    )


def _batches(rows: int, size: int = 512) -> Iterator[slice]:
    return (slice(start, min(start + size, rows)) for start in range(0, rows, size))


def sequence_tables(source: Source) -> dict[str, pd.DataFrame]:
    """Return the ranks on Beauty and LastFM."""
    s3 = "CIKM2020-S3Rec"
    items_by_user = read_sequences(source.text(s3, "data/Beauty.txt"))
    beauty = Sequences(items_by_user, max(map(max, items_by_user)), drawn_negatives(items_by_user))
    items_by_user = read_sequences(source.text(s3, "data/LastFM.txt"))
    negatives = np.array(read_sequences(source.text(s3, "data/LastFM_sample.txt")))
    lastfm = Sequences(items_by_user, max(map(max, items_by_user)), negatives)
    fmlp = torch_weights(source.content("FMLP-Rec", "output/FMLPRec-Beauty-4eval.pt"))
    tables = {"beauty-FMLP-Rec": sequence_ranks(beauty, fmlp, fmlp_states)}
    for name, sequences in (("beauty", beauty), ("lastfm", lastfm)):
        path = f"reproduce/{'Beauty' if name == 'beauty' else 'LastFM'}-epochs-150.pt"
        weights = torch_weights(source.content(s3, path))
        tables[f"{name}-S3-Rec"] = sequence_ranks(
            sequences, weights, s3_states, mask=sequences.items + 1
        )
    return tables


# ---- NCF: MovieLens 1M


class Ncf(NamedTuple):
    """The test set of NCF: (users,) held-out items, and (users, 99) negatives."""

    held_out: Ints
    negatives: Ints


def ncf_test(source: Source) -> Ncf:
    """Return the test set."""
    name = "neural_collaborative_filtering"
    ratings = [
        line.split("\t") for line in source.text(name, "Data/ml-1m.test.rating").splitlines()
    ]
    lines = source.text(name, "Data/ml-1m.test.negative").splitlines()
    held_out = np.array([int(rating[1]) for rating in ratings])
    return Ncf(held_out, np.array([[int(item) for item in line.split("\t")[1:]] for line in lines]))


def ncf_training(source: Source, archive: Path | None, test: Ncf, scores: Floats) -> csr_array:
    """Return the (users, items) training items of NCF: from its file, or from an archive of
    MovieLens 1M.

    `scores`, (users, items), are those of models that were trained on them.

    The numbers of items differ. NCF's are by the first user who has the item: the items of user 0
    come first, then those of user 1 that user 0 does not have, and so on. Within the items that a
    user brings, the numbers are assigned so that most held-out items agree and, of such
    assignments, the fewest negatives are items of their user. What is still open is decided by the
    scores: their sum over all events is the largest.
    """
    if archive is None:
        text = source.text("neural_collaborative_filtering", "Data/ml-1m.train.rating")
        rows = np.loadtxt(io.StringIO(text), dtype=np.int64, usecols=(0, 1))
        return csr_array((np.ones(len(rows)), rows.T), shape=scores.shape)
    events = binarize(read_events(archive, get("movielens-dat"), member="ml-1m/ratings.dat"), 0)
    # nothing is drawn
    split = split_events(events, strategy="last-event", ties="first", rng=np.random.default_rng())
    order = np.argsort(split.user_ids.astype(np.int64))
    training = csr_array(split.training[order])
    held_out = csr_array(split.held_out[order])
    users = np.arange(len(order))
    theirs = csr_array((np.ones(len(users)), (users, test.held_out)), shape=scores.shape)
    negatives = csr_array(
        (np.ones(test.negatives.size), (np.repeat(users, NEGATIVES), test.negatives.ravel())),
        shape=theirs.shape,
    )
    all_items = csr_array(training + held_out)
    agreements = (held_out.T @ theirs).toarray()
    contradictions = (all_items.T @ negatives).toarray()
    is_other_place = ~_first_user_places(all_items)
    fit = all_items.T @ scores
    # at most 1 for all items together, so it decides what is open alone
    fit /= len(fit) * np.abs(fit).max()
    number = linear_sum_assignment(contradictions - fit + 1e3 * is_other_place - 1e4 * agreements)[
        1
    ]
    rows = np.arange(len(number))
    print(
        f"NCF: {agreements[rows, number].sum():.0f} of {len(users)} held-out items agree, and "
        f"{contradictions[rows, number].sum():.0f} of {test.negatives.size} negatives are items of "
        f"their user; {is_other_place[rows, number].sum()} items are not at a place of their first "
        "user"
    )
    coordinates = training.tocoo()
    pairs = (coordinates.row, number[coordinates.col])
    return csr_array((np.ones(training.nnz), pairs), shape=scores.shape)


def _first_user_places(items: csr_array) -> NDArray[np.bool_]:
    """Return whether an item may have a number, (items, numbers), if numbers are by the first user
    who has the item.
    """
    columns = items.tocsc()
    first_user = np.array(
        [columns.indices[start:end].min() for start, end in pairwise(columns.indptr)]
    )
    return first_user[:, np.newaxis] == np.sort(first_user)


def gmf_scores(weights: Weights) -> Floats:
    """Return the (users, items) scores of generalized matrix factorization, before the sigmoid."""
    return (weights["user_embedding_W"] * weights["prediction_W"][:, 0]) @ weights[
        "item_embedding_W"
    ].T


def mlp_scores(weights: Weights) -> Floats:
    """Return the (users, items) scores of the multi-layer perceptron, before the sigmoid."""
    half = weights["user_embedding_W"].shape[1]
    user_parts = weights["user_embedding_W"] @ weights["layer1_W"][:half]
    item_parts = weights["item_embedding_W"] @ weights["layer1_W"][half:] + weights["layer1_b"]
    scores = np.empty((len(user_parts), len(item_parts)))
    for users in _batches(len(scores), 64):
        values = np.maximum(user_parts[users, np.newaxis] + item_parts, 0)
        for name in ("layer2", "layer3"):
            values = np.maximum(values @ weights[f"{name}_W"] + weights[f"{name}_b"], 0)
        scores[users] = (values @ weights["prediction_W"])[..., 0]
    return scores


def ncf_tables(source: Source, archive: Path | None) -> dict[str, pd.DataFrame]:
    """Return the ranks of GMF and MLP."""
    name = "neural_collaborative_filtering"
    scores = {
        "GMF": gmf_scores(keras_weights(source.content(name, GMF_WEIGHTS))),
        "MLP": mlp_scores(keras_weights(source.content(name, MLP_WEIGHTS))),
    }
    test = ncf_test(source)
    is_candidate = ncf_training(source, archive, test, scores["GMF"] + scores["MLP"]).toarray() == 0
    rows = np.arange(len(is_candidate))
    is_candidate[rows, test.held_out] = True
    tables = {}
    for model, model_scores in scores.items():
        own = model_scores[rows, test.held_out][:, np.newaxis]
        negative_scores = model_scores[rows[:, np.newaxis], test.negatives]
        tables[f"ncf-{model}"] = rank_table(model_scores, own, is_candidate, negative_scores)
    return tables


# ---- the files that are kept


def written(tables: Mapping[str, pd.DataFrame], folder: Path) -> None:
    """Write the tables, and their checksums.

    Users have their numbers of the authors' files, from 0 in their order.
    """
    sums = []
    for name, table in sorted(tables.items()):
        path = folder / f"{name}.csv.gz"
        file_io.write_csv(path, table.rename_axis("user").reset_index())
        sums.append(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n")
    (folder / "SHA256SUMS").write_text("".join(sums), encoding="utf-8")


def main() -> None:
    """Make the ranks, and write them beside this script or elsewhere."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="clones of the repositories, or an empty folder")
    parser.add_argument(
        "--ml-1m", type=Path, help="an archive of MovieLens 1M, instead of NCF's training file"
    )
    parser.add_argument("--output", type=Path, default=HERE, help="where to write")
    options = parser.parse_args()
    source = Source(options.folder)
    with threadpool_limits(1):  # the arrays are small
        tables = ncf_tables(source, options.ml_1m) | sequence_tables(source)
    written(tables, options.output)
    for name, table in tables.items():
        hits = (table[["sampled_rank", "exact_rank"]] <= 10).mean()
        print(
            f"{name}: {len(table)} users, n {table['candidates'].mean():.1f}, HR@10 "
            f"{hits.round(4).to_dict()}"
        )


if __name__ == "__main__":
    main()
