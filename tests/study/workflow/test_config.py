"""The configuration: defaults filled in, and every error one line that names the key."""

from copy import deepcopy
from datetime import date
from pathlib import Path

import pandas as pd
import pytest
from made_up_project import DEFAULTS, ROOT, SCHEMA, complete_config

from sampled_metrics.errors import ConfigError
from sampled_metrics_study.config import (
    assemble,
    compared_with_paper,
    complete,
    merged,
    precomputed_ranks,
)
from sampled_metrics_study.data import negatives

AS_IT_STANDS = assemble({}, DEFAULTS[1], DEFAULTS[1], {})
LEAST = {
    "study": ["mine"],
    "datasets": {"mine": {"format": "movielens-dat", "urls": ["https://example.org/ratings.zip"]}},
    "recommenders": {"Y": {"type": "item-cf", "exponent": 3}, "Z": {"type": "random"}},
}
COLUMNS = {"user": "u", "item": "i"}


def completed(config):
    config = deepcopy(config)
    complete(config, SCHEMA)
    return config


def changed(config, path, value):
    """The configuration with one key set, or taken out (...)."""
    config = deepcopy(config)
    *keys, last_key = path.split("/")
    section = config
    for key in keys:
        section = section.setdefault(key, {})
    section[last_key] = value
    if value is ...:
        del section[last_key]
    return config


def delimited(**options):
    """The least config with a csv file that has these options."""
    return changed(
        LEAST, "datasets/mine", {"path": __file__, "format": "delimited", "options": options}
    )


@pytest.mark.parametrize("figure", range(1, 7))
def test_a_figure_is_left_out(figure):
    config = completed(changed(AS_IT_STANDS, f"figures/figure-{figure}", False))
    assert config["figures"][f"figure-{figure}"] is None


def test_one_recommender_for_each_seed():
    entry = {"type": "random", "seeds": [3, 5]}
    config = completed(changed(LEAST, "recommenders/Z", entry))
    assert [*config["recommenders"]] == ["Y", "Z seed 3", "Z seed 5"]
    assert config["recommenders"]["Z seed 3"] == {"type": "random", "seeds": [3]}


@pytest.mark.parametrize(
    "text", [date(2015, 1, 31), "2015-01-31", "2015-01-31T00:00Z", "2015-01-31 01:00+01:00"]
)
def test_a_date_of_the_first_held_out_events_has_one_form(text):
    split = {"strategy": "global-time", "test_from": text}
    config = completed(changed(LEAST, "split", split))
    assert config["split"]["test_from"] == "2015-01-31T00:00:00+00:00"


def test_defaults_of_every_section_type_and_format_are_filled_in(tmp_path, monkeypatch):
    config = completed(LEAST | {"toy": {}})
    assert config["metrics"] == ["recall@10", "ndcg@10", "ap", "auc"]
    assert config["toy"]["ranks"]["C"] == [212, 2, 743, 5342, 1548]
    dataset = config["datasets"]["mine"]
    assert dataset.items() >= LEAST["datasets"]["mine"].items()
    assert (dataset["repeated"], dataset["md5"]) == ("earliest", None)
    parameters = {"exponent": 3, "neighbours": None, "keep_self": True}
    assert config["recommenders"]["Y"].items() >= parameters.items()
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "events.csv").write_text("u,i\n1,2\n")
    in_order = delimited(columns=COLUMNS, timestamp="order")
    config = completed(changed(in_order, "datasets/mine/path", "~/events.csv"))
    assert config["datasets"]["mine"]["path"] == str(tmp_path / "events.csv")
    options = config["datasets"]["mine"]["options"]
    assert options["columns"] == COLUMNS | {"rating": None, "timestamp": None}
    assert (options["separator"], options["on_bad_lines"]) == (",", "error")


def test_configs_that_say_the_same_are_equal_also_as_text():
    config = changed(LEAST, "datasets/mine/min_rating", 0.0)
    stated = {"split": {"held_out": 1, "strategy": "last-event"}, "toy": False}
    assert repr(completed(config | stated)) == repr(completed(LEAST))
    entry = {"type": "implicit", "options": {"regularization": 0.1, "factors": 4}}
    other_order = {"options": {"factors": 4, "regularization": 0.1}, "type": "implicit"}
    configs = [
        completed(LEAST | {"recommenders": {"I": stated}}) for stated in (entry, other_order)
    ]
    assert repr(configs[0]) == repr(configs[1])
    # the order of recommenders is that of the tables
    two = {"b": {"type": "popularity"}, "a": {"type": "random"}}
    assert [*completed(LEAST | {"recommenders": two})["recommenders"]] == ["b", "a"]


def test_a_lowest_rating_needs_a_column_of_ratings(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("events.csv").write_text("u,i\n1,2\n", encoding="utf-8")
    config = changed(
        delimited(columns=COLUMNS, timestamp="order"), "datasets/mine/path", "events.csv"
    )
    with pytest.raises(ConfigError, match=r"datasets\.mine\.min_rating"):
        completed(changed(config, "datasets/mine/min_rating", 4))


def test_labels_are_those_of_result_files_however_the_configuration_writes_them():
    labels = {"metrics": ["MAP@10", "HR@5", "AUC"], "estimators": ["CLS", "BV 0.10", "sampled"]}
    config = completed(AS_IT_STANDS | labels)
    assert config["metrics"] == ["ap@10", "hit-rate@5", "auc"]
    assert config["estimators"] == ["cls", "bv-0.10", "uncorrected"]


def test_changing_a_default_that_was_filled_in_does_not_change_the_schema():
    config = deepcopy(LEAST) | {"toy": {}}
    schema = deepcopy(SCHEMA)
    complete(config, schema)
    config["metrics"].append("mrr")
    config["toy"]["ranks"]["A"].append(7)
    config["figures"]["figure-2"]["negatives"].append(3)
    assert schema == SCHEMA


NO_ADDRESSES = [
    "",
    "ftp://x/x",
    "file:///etc/passwd",
    "https://x/..",
    "https://x/a?b=c",
    "https://x/a.zip\n",
    "pypi:-r==1!x",
    "pypi:../data==1!x",
]
ERRORS = [
    (
        "margin",
        "much",
        "margin must be a number above 0, such as 0.005, or a part of the worse value, ",
    ),
    # unknown and missing keys
    ("metrcs", [], "(top level): unknown key 'metrcs' (did you mean metrics?); it may be study, "),
    (
        "recommenders/Y/neighbors",
        3,
        "recommenders.Y: unknown key 'neighbors' (did you mean neighbours?)",
    ),
    # types and ranges
    ("seed", -1, "seed: -1"),
    # no comparison refuses NaN
    ("seed", float("nan"), "seed: nan"),
    ("recommenders/X/unobserved_weight", float("inf"), "recommenders.X.unobserved_weight: inf"),
    ("study", ["toy"], "study.0: 'toy'"),
    ("study", ["ml-1b"], "study: unknown dataset 'ml-1b'; it may be ml-1m"),
    (
        "recommenders",
        {"a/b": {"type": "ease"}},
        "recommenders: 'a/b' cannot be a name; it may be ",
    ),
    ("metrics", ["ap", "recall"], "metrics.1: metric 'recall' needs a cut-off, such as recall@10"),
    ("estimators", ["mle", "mle-100"], "estimators: 'mle' and 'mle-100' are the same one; "),
    # keys that must agree
    ("split/test_size", 0.2, "split.test_size: 0.2 is for the strategy global-time"),
    (
        "split/strategy",
        "global-time",
        "split.strategy: global-time needs either test_from or test_size",
    ),
    ("recommenders/X/type", "als", "recommenders.X.type: unknown recommender type 'als' (a model "),
    ("toy/ranks", {"A": [3, 10001]}, "toy.ranks.A: 10001 is above toy.candidates"),
    ("datasets/ml-1m/urls", [], "datasets.ml-1m: give either urls or a path"),
    (
        "datasets/ml-1m/format",
        ...,
        "datasets.ml-1m: lacks the key 'format', for X, Y, Z to be trained",
    ),
    (
        "datasets/ml-1m/test",
        __file__,
        "datasets.ml-1m.path: None must be a file with the training events",
    ),
    ("datasets/ml-1m/path", "gone.zip", "datasets.ml-1m.path: there is no file 'gone.zip'"),
    *[
        ("datasets/ml-1m/urls", ["https://example.org/a.zip", url], "datasets.ml-1m.urls.1: ")
        for url in NO_ADDRESSES
    ],
    (
        "datasets/ml-1m/ranks",
        {"Z": "gone/{dataset}.csv"},
        "datasets.ml-1m.ranks.Z: there is no file 'gone/ml-1m.csv'",
    ),
    (
        "split",
        {"strategy": "random-event", "ties": "last"},
        "split.ties: 'last' is for the strategy last-event",
    ),
    (
        "split",
        {"strategy": "global-time", "test_from": "last year"},
        "split.test_from: must be a number, or a date such as 2015-01-31, not 'last year'",
    ),
    ("recommenders/Y/seeds", [1, 2], "recommenders.Y.seeds: type item-cf has no random start"),
    ("datasets/ml-1m/path", str(ROOT), "datasets.ml-1m.path: "),
    (
        "figures/budget",
        {"metric": "ap"},
        "figures.budget.metric: must have a cut-off",
    ),
    (
        "figures/budget",
        {"pair": ["X", "W"]},
        "figures.budget.pair: must be two of X, Y, Z, not ['X', 'W']",
    ),
    ("datasets/ml-1m/test", "none.dat", "datasets.ml-1m.path: None"),
    ("datasets/ml-1m/path", "{dataset}.zip", "datasets.ml-1m.path: '{dataset}.zip' has a brace"),
    ("datasets/ml-1m/defaults", {"study": []}, "datasets.ml-1m.defaults: 'study'"),
    (
        "datasets/ml-1m/ranks",
        {"z": __file__},
        "datasets.ml-1m.ranks: unknown recommender 'z'; it may be X, Y, Z",
    ),
]
DATASET_ERRORS = [
    (
        {"core": 4, "test": __file__, "options": {"columns": COLUMNS}},
        "core: 4 must be 0 for a ready-made split",
    ),
    ({"options": {"separator": ";"}}, "options: 'columns'"),
]


def require_error(config, says):
    """A config is refused by one line that begins so."""
    with pytest.raises(ConfigError) as caught:
        completed(config)
    assert str(caught.value).startswith(says)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("path", "value", "says"), ERRORS)
def test_an_error_names_the_key_and_what_it_may_be(path, value, says):
    require_error(changed(AS_IT_STANDS, path, value), says)


@pytest.mark.parametrize(("keys", "says"), DATASET_ERRORS)
def test_an_error_of_a_file_names_the_key_and_what_it_may_be(keys, says):
    config = delimited()
    dataset = config["datasets"]["mine"] | keys
    require_error(changed(config, "datasets/mine", dataset), f"datasets.mine.{says}")


def test_what_config_yaml_says_is_what_holds_without_it():
    """Nothing has two defaults.

    Of the keys of config.yaml, only the study's data and what fits these alone matter.
    """
    needed = {key: AS_IT_STANDS[key] for key in ("study", "datasets", "recommenders")}
    assert completed(assemble({}, needed, needed, {})) == completed(AS_IT_STANDS)


BELOW = {
    "study": ["a"],
    "datasets": {
        "a": {"defaults": {"toy": {"negatives": 9, "ranks": {"A": [1]}}, "seed": 3}},
        "b": {},
    },
    "recommenders": {"X": {"type": "ials"}},
    "sampling": {"repetitions": 5},
}
STUDY_OF_B = {
    "study": ["b"],
    "datasets": {"b": {"defaults": {"seed": 4, "sampling": {"repetitions": 7}}}},
}


@pytest.mark.parametrize(
    ("user_config", "expected"),
    [
        # defaults of a dataset hold where it is studied
        ({}, {"toy": {"negatives": 9, "ranks": {"A": [1]}}, "sampling": {"repetitions": 5}}),
        ({"study": ["b"]}, {"toy": None, "seed": None}),
        # those that a user states count more than config.yaml
        (STUDY_OF_B, {"seed": 4, "sampling": {"repetitions": 7}}),
        (STUDY_OF_B | {"sampling": {"repetitions": 8}}, {"sampling": {"repetitions": 8}}),
        # what is stated counts
        (
            {"toy": {"negatives": 8}, "sampling": {"negatives": 7}, "seed": 2},
            {
                "toy": {"negatives": 8, "ranks": {"A": [1]}},
                "sampling": {"repetitions": 5, "negatives": 7},
                "seed": 2,
            },
        ),
        # names of recommenders and of ranks replace others
        (
            {"recommenders": {"Y": {"type": "ease"}}, "toy": {"ranks": {"B": [2]}}},
            {"recommenders": {"Y": {"type": "ease"}}, "toy": {"negatives": 9, "ranks": {"B": [2]}}},
        ),
    ],
    ids=[
        "nothing",
        "a dataset without defaults",
        "defaults of a dataset",
        "a key of these defaults",
        "keys of all layers",
        "recommenders and ranks",
    ],
)
def test_the_config_of_a_user_lies_over_config_yaml_and_the_defaults_of_datasets(
    user_config, expected
):
    config = assemble({}, BELOW, merged(BELOW, user_config), user_config)
    assert {key: config.get(key) for key in expected} == expected
    # config.yaml edited in place is as a file over it
    if not user_config.keys() & {"datasets", "sampling"}:
        in_place = deepcopy(BELOW) | deepcopy(user_config)
        assert assemble({}, in_place, in_place, {}) == config


FILES = {
    "a misspelt column": (
        "delimited",
        "user,item\n1,2\n",
        "there is no column 'u'; the columns are 'user', 'item'",
    ),
    "events in a list": (
        "json-lines",
        '{"session": 1, "events": [{"aid": 5, "ts": 7, "type": "clicks"}]}\n',
        "there is no column 'u'; the columns are 'session', 'events'",
    ),
}


@pytest.mark.parametrize(("form", "content", "says"), FILES.values(), ids=FILES)
def test_a_file_without_the_columns_is_refused_before_any_job(form, content, says, tmp_path):
    (tmp_path / "events").write_text(content)
    dataset = {"path": str(tmp_path / "events"), "format": form, "options": {"columns": COLUMNS}}
    with pytest.raises(ConfigError, match=r"^datasets.mine.path: .*, line 1: ") as error:
        completed(changed(LEAST, "datasets/mine", dataset))
    assert says in str(error.value)


def test_a_first_line_that_is_skipped_need_not_have_the_columns(tmp_path):
    (tmp_path / "events").write_text('{"version": 1}\n{"u": 1, "i": 2, "t": 3}\n')
    options = {"columns": COLUMNS | {"timestamp": "t"}}
    dataset = {"path": str(tmp_path / "events"), "format": "json-lines", "options": options}
    with pytest.raises(ConfigError, match=r"line 1: .*'u'"):
        completed(changed(LEAST, "datasets/mine", dataset))
    options["on_bad_lines"] = "skip"
    assert completed(changed(LEAST, "datasets/mine", dataset))


@pytest.mark.parametrize(
    ("stated", "says"),
    [
        (
            {"sampling": {"negatives": 5000}},
            "sampling.negatives, dataset mine: 5000 negatives .* only 99",
        ),
    ],
    ids=[
        "sampling",
    ],
)
def test_more_negatives_than_ready_made_ranks_have_candidates_are_refused_before_any_job(
    stated, says, tmp_path
):
    (tmp_path / "a.csv").write_text("candidates,rank\n120,90\n100,1\n")
    ranks = {"A": {"type": "ranks", "path": str(tmp_path / "a.csv")}}
    own = {
        "study": ["mine"],
        "datasets": {"mine": {}},
        "recommenders": ranks,
        "sampling": {"negatives": 99},
    }
    assert complete_config(own)
    with pytest.raises(ConfigError, match=f"^{says}"):
        complete_config(own | stated)


def users_of_twenty_items():
    """The events of 30 users, each with 4 of 20 items at the times 0 to 3."""
    events = [(user, (3 * user + at) % 20, at) for user in range(30) for at in range(4)]
    return pd.DataFrame(events, columns=["u", "i", "t"])


def twenty_items(path, form="delimited", **entry):
    """The config of a study of these events, in a file."""
    options = {"columns": COLUMNS | {"timestamp": "t"}}
    dataset = {"path": str(path), "format": form, "options": options, **entry}
    sampling = {"sampling": {"negatives": 16}}
    return changed(LEAST, "datasets/mine", dataset) | sampling


@pytest.mark.parametrize(("stated", "says"), [
    ({"sampling": {"negatives": 17}}, "sampling.negatives, dataset mine: 17 negatives without "),

    ({"figures": {"figure-6": {"negatives": [30, 17]}}}, "figures.figure-6.negatives, dataset "
                                                         "mine: 17 negatives .* only 16"),
    ({"split": {"held_out": 2}, "sampling": {"negatives": 18}}, "sampling.negatives, dataset mine"),
])  # fmt: skip
def test_more_negatives_than_events_leave_candidates_are_refused_before_any_job(
    stated, says, tmp_path
):
    """Of 20 items, a user has 3 in training: 17 are candidates, and 16 can be negatives."""
    path = tmp_path / "events.csv"
    users_of_twenty_items().to_csv(path, index=False)
    own = twenty_items(path)
    assert complete_config(own)
    with pytest.raises(ConfigError, match=f"^{says}"):
        complete_config(own | stated)
    replacement = stated.get("sampling", {"negatives": 16}) | {"replacement": True}
    assert complete_config(own | stated | {"sampling": replacement})


def test_negatives_are_counted_among_the_items_that_filters_leave(tmp_path):
    """Item 99 has one event, which a 2-core removes: 20 items are left."""
    path = tmp_path / "events.csv"
    events = users_of_twenty_items()
    rare = pd.DataFrame({"u": [0], "i": [99], "t": [-1]})
    pd.concat([events, rare]).to_csv(path, index=False)
    assert complete_config(twenty_items(path))
    assert complete_config(twenty_items(path, core=2))
    many = {"sampling": {"negatives": 17}}
    with pytest.raises(ConfigError, match=r"user 0 has only 16"):
        complete_config(twenty_items(path, core=2) | many)


def test_negatives_of_a_file_of_many_events_are_counted_by_the_job(tmp_path, monkeypatch):
    """The file has 120 events. Of the 20 items, 4 are a user's."""
    users_of_twenty_items().to_csv(tmp_path / "events.csv", index=False)
    many = twenty_items(tmp_path / "events.csv") | {"sampling": {"negatives": 17}}
    monkeypatch.setattr(negatives, "_MOST_EVENTS", 120)
    with pytest.raises(ConfigError, match="17 negatives"):
        complete_config(many)
    monkeypatch.setattr(negatives, "_MOST_EVENTS", 119)
    assert complete_config(many)


@pytest.mark.parametrize("is_of_dataset", [False, True])
def test_ready_made_ranks_that_cannot_be_read_are_refused_before_any_job(is_of_dataset, tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("candidates,rank\n10,11\n")
    ranks = {"type": "ranks", "path": str(path)}
    own = {
        "study": ["mine"],
        "datasets": {"mine": {"ranks": {"A": str(path)}} if is_of_dataset else {}},
        "recommenders": {"A": {"type": "popularity"} if is_of_dataset else ranks},
    }
    key = "datasets.mine.ranks.A" if is_of_dataset else "recommenders.A.path"
    with pytest.raises(ConfigError, match=f"^{key}: .*a.csv, line 2"):
        complete_config(own)


def test_ready_made_ranks_of_other_users_are_refused_before_any_job(tmp_path):
    files = {name: str(tmp_path / f"{name}.csv") for name in ("A", "B")}
    Path(files["A"]).write_text("user,candidates,rank\na,120,90\nb,120,9\n")
    own = {
        "study": ["mine", "yours"],
        "datasets": {"mine": {"ranks": files}, "yours": {"ranks": files | {"A": files["B"]}}},
        "recommenders": {"A": {"type": "popularity"}, "B": {"type": "random"}},
    }
    Path(files["B"]).write_text("user,candidates,rank\nb,120,1\na,120,2\n")
    assert complete_config(own)
    Path(files["B"]).write_text("user,candidates,rank\na,120,9\nc,120,90\n")
    with pytest.raises(ConfigError, match=r"^recommenders, dataset mine"):
        complete_config(own)


def test_a_study_that_states_no_recommenders_does_not_take_those_of_the_paper():
    own = {"recommenders": {}}
    with pytest.raises(ConfigError, match=r"^recommenders: "):
        completed(assemble({}, DEFAULTS[1], DEFAULTS[1] | own, own))


def test_a_file_without_times_is_split_at_random_or_in_its_order(tmp_path):
    path = tmp_path / "events.csv"
    users_of_twenty_items().to_csv(path, index=False)
    without = twenty_items(path, options={"columns": COLUMNS})
    assert complete_config(without | {"split": {"strategy": "random-event"}})
    assert complete_config(twenty_items(path, options={"columns": COLUMNS, "timestamp": "order"}))


def test_a_study_of_other_data_has_what_fits_the_paper_only_if_it_states_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("a.csv").write_text("candidates,rank\n120,90\n")
    own = {
        "study": ["mine"],
        "datasets": {"mine": {}},
        "recommenders": {"A": {"type": "ranks", "path": "a.csv"}},
    }
    config = complete_config(own | {"metrics": ["ndcg@3", "ap"]})
    assert (config["toy"], config["sampling"]["readings"]) == (None, ["default"])
    assert config["figures"]["figure-6"].items() >= {"metric": "ndcg@3", "negatives": None}.items()
    config = complete_config(own | {"metrics": ["ap", "ndcg@3"], "figures": {"budget": {}}})
    assert config["figures"]["budget"]["metric"] == "ndcg@3"
    stated = {"toy": {"negatives": 9}, "figures": {"figure-6": {"metric": "ap"}}}
    config = complete_config(own | stated | {"sampling": {"readings": ["as-printed"]}})
    assert config["toy"].items() >= {"negatives": 9, "candidates": 10000}.items()
    assert config["sampling"]["readings"] == ["as-printed"]
    assert config["figures"]["figure-6"].items() >= {"metric": "ap", "negatives": None}.items()
    config = complete_config(own | {"study": ["mine", "ml-1m"]})
    assert config["toy"] == AS_IT_STANDS["toy"]
    assert config["figures"] == AS_IT_STANDS["figures"] | {"budget": None}
    assert config["sampling"]["readings"] == ["default", "as-printed"]


PAPERS_RANKS = {name: str(ROOT / f"published/ml-1m/{name}.csv.gz") for name in "XYZ"}


@pytest.mark.parametrize(
    ("user_config", "compared"),
    [
        ({"study": ["ml-100k", "ml-1m"]}, ["ml-1m"]),
        ({"datasets": {"ml-1m": {"min_rating": 4}}}, []),
        ({"split": {"ties": "last"}}, ["ml-1m"]),
        ({"study": ["ours"], "datasets": {"ours": {"ranks": PAPERS_RANKS}}}, ["ours"]),
        ({"datasets": {"ml-1m": {"ranks": dict.fromkeys("XYZ", "other.csv")}}}, []),
        ({"split": {"held_out": 2}}, []),
        ({"split": {"min_training_events": 2}}, []),
        ({"split": {"strategy": "random-event"}}, []),
    ],
    ids=[
        "a dataset more",
        "fewer ratings",
        "another rule of ties",
        "the paper's ranks by another name",
        "ranks of other users",
        "two held out",
        "fewer users",
        "random events",
    ],
)
def test_the_paper_is_compared_with_its_own_data_alone(
    user_config, compared, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    pd.read_csv(PAPERS_RANKS["X"]).assign(candidates=3706).to_csv("other.csv", index=False)
    assert compared_with_paper(complete_config(user_config)) == compared


def test_a_split_of_its_own_takes_the_fewest_training_events(tmp_path):
    paths = {name: str(tmp_path / name) for name in ("path", "test")}
    for path in paths.values():
        Path(path).write_text("1::2::3::4\n")
    own = LEAST | {"datasets": {"mine": {"format": "movielens-dat", **paths}}}
    config = completed(own | {"split": {"min_training_events": 2}})
    assert config["split"]["min_training_events"] == 2


def test_ranks_of_a_dataset_keep_the_options_of_their_recommender():
    options = {
        "candidates": 9,
        "user_column": "who",
        "candidates_column": "size",
        "rank_column": "place",
        "exact": True,
        "zero_based": True,
    }
    entry = {"type": "ranks", "path": "x.csv", **options}
    config = {"study": ["d"], "datasets": {"d": {"ranks": {"A": "y.csv", "B": "z.csv"}}}}
    sources = precomputed_ranks(config | {"recommenders": {"A": entry, "B": {"type": "random"}}})
    assert sources["d", "A"].path == "y.csv"
    assert sources["d", "A"].reading == options
    defaults = {
        "candidates": None,
        "user_column": None,
        "candidates_column": None,
        "rank_column": None,
        "exact": False,
        "zero_based": False,
    }
    assert sources["d", "B"].reading == defaults


def test_options_of_a_format_that_do_not_fit_are_refused_before_any_job(tmp_path):
    path = tmp_path / "events.csv"
    users_of_twenty_items().to_csv(path, index=False)
    with pytest.raises(ConfigError, match="needs timestamps"):
        complete_config(twenty_items(path, options={"columns": COLUMNS}))
