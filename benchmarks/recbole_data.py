"""Data and settings of RecBole 1.2.1, in an environment of its own: its numpy is below 2."""

import sys
import tempfile
from collections.abc import Iterator
from contextlib import chdir, contextmanager
from pathlib import Path
from typing import Any

import pandas as pd

COLUMNS = {"user_id": "user_id:token", "item_id": "item_id:token", "timestamp": "timestamp:float"}


@contextmanager
def new_folder() -> Iterator[None]:
    """Run in a new folder, to which RecBole writes, and without the arguments of the command, which it reads."""
    sys.argv = sys.argv[:1]
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        yield


def prepared(events: pd.DataFrame, model: Any, split: str, mode: str, **settings: Any) -> tuple[Any, tuple[Any, ...]]:
    """Return the config of a model, and the data of training, validation and test.

    Args:
        events: columns user_id, item_id and timestamp.
        model: the name of a model of RecBole, or a class.
        split: which of a user's last events are held out: test_only or valid_and_test.
        mode: of the evaluation, such as full or uni100.
        settings: further ones of RecBole.
    """
    from recbole.config import Config
    from recbole.data import create_dataset, data_preparation

    Path("events").mkdir(exist_ok=True)
    events[[*COLUMNS]].rename(columns=COLUMNS).to_csv("events/events.inter", sep="\t", index=False)
    settings |= {
        "data_path": str(Path.cwd()),
        "load_col": {"inter": [*COLUMNS]},
        "eval_args": {"split": {"LS": split}, "group_by": "user", "order": "TO", "mode": mode},
        "state": "ERROR",
        "use_gpu": False,
    }
    config = Config(model=model, dataset="events", config_dict=settings)
    return config, data_preparation(config, create_dataset(config))
