"""Train recommenders of other libraries on data of others, and write their exact and their sampled
ranks.

    python benchmarks/evidence.py implicit NAME FILE
    python benchmarks/evidence.py recbole NAME FILE [MODEL ...]

NAME is that of the data, and FILE has events: `.inter` of RecBole, `ratings.csv` of MovieLens, or
lines of a user and an item in the order of time, as SASRec's files have them. Of each user the last
event is held out, and the one before it is for validation. One file for each model goes to
published/evidence/trained/ (user, candidates, exact_rank, negatives, sampled_rank). Users are
numbers in the order of the file: no data of others is in it.

RecBole draws the negatives itself (`uni100`), with replacement, and ranks each item once, so that
users have somewhat fewer than 100. implicit has no sampled evaluation, so its negatives are those
of `rank_among_negatives`. RecBole needs the environment of `make .venv-peers/ready`.
"""

import argparse
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import csr_array, csr_matrix

import sampled_metrics as sm
from sampled_metrics import adapters

FOLDER = Path(__file__).parents[1] / "published/evidence/trained"
NEGATIVES = 100
SEED = 1
RECBOLE: dict[str, dict[str, Any]] = {
    "BPR": {"epochs": 30},
    "NeuMF": {
        "epochs": 20,
        "mf_embedding_size": 32,
        "mlp_embedding_size": 32,
        "mlp_hidden_size": [64, 32],
        "eval_batch_size": 65_536,
    },
    "SASRec": {
        "epochs": 20,
        "train_neg_sample_args": None,
        "MAX_ITEM_LIST_LENGTH": 20,
        "n_layers": 1,
        "n_heads": 1,
        "hidden_size": 32,
        "inner_size": 64,
    },
}
"""Models of RecBole, and settings that are not its defaults: small ones, that one core trains in
some minutes.
"""


def read_events(path: Path) -> pd.DataFrame:
    """Return the columns user, item and time of events, with whole numbers for users and items."""
    if path.suffix == ".inter":
        table = pd.read_csv(path, sep="\t").rename(columns=lambda name: name.split(":")[0])
        table = table.rename(columns={"user_id": "user", "item_id": "item", "timestamp": "time"})
    elif path.suffix == ".csv":
        table = pd.read_csv(path).rename(
            columns={"userId": "user", "movieId": "item", "timestamp": "time"}
        )
    else:
        table = pd.read_csv(path, sep=" ", header=None, names=["user", "item"])
        table["time"] = np.arange(len(table))
    table = table[["user", "item", "time"]].drop_duplicates(["user", "item"])
    for column in ("user", "item"):
        table[column], _ = pd.factorize(table[column])
    table = table.sort_values(["user", "time"], kind="stable")
    events_of_user = table.groupby("user")["item"].transform("size")
    return table[events_of_user >= 3]


def write(name: str, exact: sm.ExactRanks, sampled: sm.SampledRanks) -> None:
    """Write the ranks of a model. Ties of exact ranks are broken at random."""
    columns = exact.to_frame().merge(
        sampled.to_frame()[["user", "negatives", "rank"]], on="user", validate="1:1"
    )
    ties = np.random.default_rng(SEED).integers(columns["tied"] + 1)
    table = pd.DataFrame(
        {
            "user": np.arange(len(columns)),
            "candidates": columns["candidates"],
            "exact_rank": columns["above"] + 1 + ties,
            "negatives": columns["negatives"],
            "sampled_rank": columns["rank"],
        }
    )
    FOLDER.mkdir(parents=True, exist_ok=True)
    table.to_csv(FOLDER / f"{name}.csv.gz", index=False, compression={"method": "gzip", "mtime": 0})
    sampled_hits = (table["sampled_rank"] <= 10).mean()
    exact_hits = (table["exact_rank"] <= 10).mean()
    print(
        f"{name}: {len(table)} users, HR@10 among {NEGATIVES} {sampled_hits:.4f}, among all "
        f"{exact_hits:.4f}"
    )


def train_with_implicit(data: str, path: Path) -> None:
    """Train ALS and BPR of implicit, and rank the last event of each user."""
    from implicit.als import AlternatingLeastSquares
    from implicit.bpr import BayesianPersonalizedRanking

    events = read_events(path)
    users = events["user"].max() + 1
    items = events["item"].max() + 1
    is_last = ~events.duplicated("user", keep="last")
    held_out = np.full(users, -1)
    held_out[events["user"][is_last]] = events["item"][is_last]
    rest = events[~is_last]
    training = csr_array(
        (np.ones(len(rest), dtype=np.float32), (rest["user"], rest["item"])), shape=(users, items)
    )
    models = {
        "ALS": AlternatingLeastSquares(factors=64, iterations=15, random_state=SEED),
        "BPR": BayesianPersonalizedRanking(factors=64, iterations=100, random_state=SEED),
    }
    for name, model in models.items():
        model.fit(csr_matrix(training), show_progress=False)
        exact = adapters.implicit.ranks(model, training, held_out)
        factors = np.asarray(model.user_factors), np.asarray(model.item_factors)
        sampled = sm.rank_among_negatives(
            factors, training, held_out, negatives=NEGATIVES, seed=SEED
        )
        write(f"{data}-implicit-{name}", exact, sampled)


def train_with_recbole(data: str, path: Path, names: list[str]) -> None:
    """Train models of RecBole, and rank the last event of each user among all items and among
    RecBole's negatives.
    """
    for name in names:
        model, test, sampled_test = trained_by_recbole(data, path, name)
        exact = adapters.recbole.ranks(model, test)
        sampled = adapters.recbole.sampled_ranks(model, sampled_test, seed=SEED)
        write(f"{data}-recbole-{name}", exact, sampled)


def trained_by_recbole(data: str, path: Path, name: str) -> tuple[Any, Any, Any]:
    """Return a trained model, and the test data with all items and with sampled ones."""
    from recbole.config import Config
    from recbole.data import create_dataset, data_preparation
    from recbole.utils import get_model, get_trainer, init_seed

    folder = Path("/tmp/evidence") / data
    folder.mkdir(parents=True, exist_ok=True)
    columns = {"user": "user_id:token", "item": "item_id:token", "time": "timestamp:float"}
    read_events(path).rename(columns=columns).to_csv(
        folder / f"{data}.inter", sep="\t", index=False
    )
    split = {"split": {"LS": "valid_and_test"}, "group_by": "user", "order": "TO"}
    common = {
        "data_path": str(folder.parent),
        "load_col": {"inter": ["user_id", "item_id", "timestamp"]},
        "checkpoint_dir": str(folder / "saved"),
        "metrics": ["Hit", "NDCG"],
        "topk": [10],
        "valid_metric": "NDCG@10",
        "state": "ERROR",
        "use_gpu": False,
        "seed": SEED,
        "reproducibility": True,
        "stopping_step": 5,
    }

    def prepared(mode: str) -> tuple[Any, Iterator[Any]]:
        settings = common | RECBOLE[name] | {"eval_args": split | {"mode": mode}}
        config = Config(model=name, dataset=data, config_dict=settings)
        init_seed(SEED, True)
        return config, data_preparation(config, create_dataset(config))

    config, (training, _, test) = prepared("full")
    model = get_model(config["model"])(config, training.dataset).to(config["device"])
    trainer = get_trainer(config["MODEL_TYPE"], config["model"])(config, model)
    trainer.fit(training, saved=False, show_progress=False)
    _, (_, _, sampled_test) = prepared(f"uni{NEGATIVES}")
    return model, test, sampled_test


def main() -> None:
    """Run a command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("library", choices=["implicit", "recbole"])
    parser.add_argument("name")
    parser.add_argument("file", type=Path)
    parser.add_argument("models", nargs="*", metavar="MODEL")
    arguments = parser.parse_args()
    logging.disable(logging.WARNING)
    if arguments.library == "implicit":
        train_with_implicit(arguments.name, arguments.file)
    else:
        train_with_recbole(arguments.name, arguments.file, arguments.models or list(RECBOLE))


if __name__ == "__main__":
    main()
