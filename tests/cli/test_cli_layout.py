"""The command rank, of files of matrices with names of columns or an index.

The ranks are right, or the file is refused.
"""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from matrix_files import (
    ABOVE,
    FORMS,
    HELD_OUT,
    ITEM_FACTORS,
    ITEM_IDS,
    ITEMS,
    NAMES,
    SCORES,
    TRAINED,
    USER_FACTORS,
    USER_IDS,
    USERS,
    D,
    names,
    write,
)

from sampled_metrics.cli.program import cli
from sampled_metrics.errors import DataError


@pytest.mark.parametrize("with_ids", [False, True])
@pytest.mark.parametrize(("form", "index"), list(product(FORMS, NAMES)))
def test_each_file_gives_the_right_ranks_or_is_refused_in_a_line(
    form, index, with_ids, tmp_path, monkeypatch
) -> None:
    monkeypatch.chdir(tmp_path)
    users, items = (USER_IDS, ITEM_IDS) if with_ids else (np.arange(USERS), np.arange(ITEMS))
    pd.DataFrame({"user": users, "item": items[TRAINED]}).to_csv("training.csv", index=False)
    pd.DataFrame({"user": users, "item": items[HELD_OUT]}).to_csv("held-out.csv", index=False)
    np.savetxt("users.txt", users, fmt="%d")
    np.savetxt("items.txt", items, fmt="%d")
    ids = ["--user-ids", "users.txt", "--item-ids", "items.txt"] if with_ids else []
    np.save("u.npy", USER_FACTORS)
    np.save("i.npy", ITEM_FACTORS)
    dimensions = np.arange(D) + 40
    for header in NAMES:
        user_names = names(index, USER_IDS)
        item_names = names(index, ITEM_IDS)
        dimension_names = names(header, dimensions)
        scores_file = write(tmp_path, "s", SCORES, form, user_names, names(header, ITEM_IDS))
        users_file = write(tmp_path, "v", USER_FACTORS, form, user_names, dimension_names)
        items_file = write(tmp_path, "j", ITEM_FACTORS, form, item_names, dimension_names)
        model_options = {
            "scores": ["--scores", scores_file],
            "users": ["--users", users_file, "--items", "i.npy"],
            "items": ["--users", "u.npy", "--items", items_file],
            "both": ["--users", users_file, "--items", items_file],
        }
        for what, model in model_options.items():
            held_out = ["--training", "training.csv", "--held-out", "held-out.csv"]
            arguments = ["rank", *model, *held_out, *ids, "-o", "r.csv"]
            result = CliRunner().invoke(cli, arguments)
            has_ids = index == "ids" and (what != "scores" or header == "ids")
            in_order = index in ("none", "from 0") and header in ("none", "from 0")
            if form == ".parquet" and (in_order or (has_ids and with_ids)):
                assert result.exit_code == 0, result.exception
            if form == "named index.csv" and has_ids and with_ids:
                assert result.exit_code == 0, result.exception
            if result.exit_code == 0:
                assert "reset_index" not in form, (what, header)
                table = pd.read_csv("r.csv").set_index("user").loc[users]
                assert table["above"].tolist() == ABOVE
            else:
                assert isinstance(result.exception, DataError), (what, header, result.exception)
                assert "\n" not in str(result.exception)
