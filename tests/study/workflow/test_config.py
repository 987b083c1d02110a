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
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "events.csv").write_text("u,i\n1,2\n")
    in_order = delimited(columns=COLUMNS, timestamp="order")
    own = changed(in_order, "datasets/mine/path", "~/events.csv")
    config = completed(own | {"toy": {}})
    assert config["metrics"] == ["recall@10", "ndcg@10", "ap", "auc"]
    assert config["toy"]["ranks"]["C"] == [212, 2, 743, 5342, 1548]
    parameters = {"exponent": 3, "neighbours": None, "keep_self": True}
    assert config["recommenders"]["Y"].items() >= parameters.items()
    dataset = config["datasets"]["mine"]
    assert dataset["repeated"] == "earliest"
    assert dataset["path"] == str(tmp_path / "events.csv")
    assert dataset["options"]["columns"] == COLUMNS | {"rating": None, "timestamp": None}
    assert dataset["options"]["separator"] == ","


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
    "file:///etc/passwd",
    "https://x/..",
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
    ("seed", float("nan"), "seed: nan"),  # no comparison refuses NaN
    ("recommenders/X/unobserved_weight", float("inf"), "recommenders.X.unobserved_weight: inf"),
    ("study", ["ml-1b"], "study: unknown dataset 'ml-1b'; it may be ml-1m"),
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


@pytest.fixture
def events(tmp_path, monkeypatch):
    """Events of 30 users, each with 4 of 20 items at the times 0 to 3, and two of rare items."""
    monkeypatch.chdir(tmp_path)
    rows = [(user, (3 * user + at) % 20, at) for user in range(30) for at in range(4)]
    table = pd.DataFrame([*rows, (30, 98, 0), (30, 99, 1)], columns=["u", "i", "t"])
    table.to_csv("events.csv", index=False)


def config_of_events(**entry):
    """The config of a study of these events."""
    options = {"columns": COLUMNS | {"timestamp": "t"}}
    dataset = {"path": "events.csv", "format": "delimited", "options": options, **entry}
    return changed(LEAST, "datasets/mine", dataset) | {"sampling": {"negatives": 16}}


@pytest.mark.usefixtures("events")
def test_more_negatives_than_events_leave_candidates_are_refused_before_any_job(monkeypatch):
    """A 2-core leaves 20 items, of which a user has 3 in training: 16 can be negatives."""
    own = config_of_events(core=2)
    many = {"sampling": {"negatives": 17}}
    assert complete_config(own)
    assert complete_config(config_of_events() | many)
    assert complete_config(own | changed(many, "sampling/replacement", True))
    with pytest.raises(ConfigError, match=r"^sampling.negatives, dataset mine: 17 .* only 16"):
        complete_config(own | many)
    with pytest.raises(ConfigError, match=r"^figures.figure-6.negatives, dataset mine: 17 "):
        complete_config(own | {"figures": {"figure-6": {"negatives": [30, 17]}}})
    two_held_out = {"split": {"held_out": 2}, "sampling": {"negatives": 18}}
    with pytest.raises(ConfigError, match=r"^sampling.negatives, dataset mine"):
        complete_config(own | two_held_out)
    # the candidates of a file of more rows are counted by the job
    monkeypatch.setattr(negatives, "_MOST_EVENTS", 121)
    assert complete_config(own | many)


@pytest.mark.usefixtures("events")
def test_a_file_without_times_or_ratings():
    without = config_of_events(options={"columns": COLUMNS})
    with pytest.raises(ConfigError, match="needs timestamps"):
        complete_config(without)
    assert complete_config(without | {"split": {"strategy": "random-event"}})
    assert complete_config(config_of_events(options={"columns": COLUMNS, "timestamp": "order"}))
    with pytest.raises(ConfigError, match=r"datasets\.mine\.min_rating"):
        complete_config(config_of_events(min_rating=4))


@pytest.fixture
def ranks_of(tmp_path, monkeypatch):
    """A function that writes files of ready-made ranks, and returns the config of their study."""
    monkeypatch.chdir(tmp_path)

    def study(negatives, **texts):
        for name, text in texts.items():
            Path(f"{name}.csv").write_text(text)
        return {
            "study": ["mine"],
            "datasets": {"mine": {}},
            "recommenders": {name: {"type": "ranks", "path": f"{name}.csv"} for name in texts},
            "sampling": {"negatives": negatives},
        }

    return study


A_AND_B = "user,candidates,rank\na,120,90\nb,100,9\n"


@pytest.mark.parametrize(
    ("negatives", "ranks_of_b", "says"),
    [
        (9, "user,candidates,rank\na,10,11\n", "recommenders.B.path: .*B.csv, line 2"),
        (9, "user,candidates,rank\na,120,9\nc,100,90\n", "recommenders, dataset mine"),
        (100, A_AND_B, "sampling.negatives, dataset mine: 100 negatives .* only 99"),
    ],
    ids=["a rank above the candidates", "other users", "too many negatives"],
)
def test_ready_made_ranks_are_refused_before_any_job(negatives, ranks_of_b, says, ranks_of):
    in_another_order = "user,candidates,rank\nb,100,1\na,120,2\n"
    assert complete_config(ranks_of(99, A=A_AND_B, B=in_another_order))
    with pytest.raises(ConfigError, match=f"^{says}"):
        complete_config(ranks_of(negatives, A=A_AND_B, B=ranks_of_b))


def test_a_study_that_states_no_recommenders_does_not_take_those_of_the_paper():
    own = {"recommenders": {}}
    with pytest.raises(ConfigError, match=r"^recommenders: "):
        completed(assemble({}, DEFAULTS[1], DEFAULTS[1] | own, own))


def test_a_study_of_other_data_has_what_fits_the_paper_only_if_it_states_it(ranks_of):
    own = ranks_of(100, A="candidates,rank\n120,90\n")
    config = complete_config(own | {"metrics": ["ap", "ndcg@3"], "figures": {"budget": {}}})
    assert config["toy"] is None
    assert config["sampling"]["readings"] == ["default"]
    assert config["figures"]["figure-6"].items() >= {"metric": "ap", "negatives": None}.items()
    assert config["figures"]["budget"]["metric"] == "ndcg@3"
    stated = {"toy": {"negatives": 9}, "sampling": {"readings": ["as-printed"]}}
    config = complete_config(own | stated)
    assert config["toy"].items() >= {"negatives": 9, "candidates": 10000}.items()
    assert config["sampling"]["readings"] == ["as-printed"]
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
        ({"split": {"strategy": "random-event"}}, []),
    ],
    ids=[
        "a dataset more",
        "fewer ratings",
        "another rule of ties",
        "the paper's ranks by another name",
        "ranks of other users",
        "two held out",
        "random events",
    ],
)
def test_the_paper_is_compared_with_its_own_data_alone(
    user_config, compared, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    pd.read_csv(PAPERS_RANKS["X"]).assign(candidates=3706).to_csv("other.csv", index=False)
    assert compared_with_paper(complete_config(user_config)) == compared


def test_a_split_of_its_own_takes_no_options_of_the_split(tmp_path):
    path = tmp_path / "ratings.dat"
    path.write_text("1::2::3::4\n")
    dataset = {"format": "movielens-dat", "path": str(path), "test": str(path)}
    own = changed(LEAST, "datasets/mine", dataset)
    config = completed(own | {"split": {"min_training_events": 2}})
    assert config["split"]["min_training_events"] == 2
    with pytest.raises(ConfigError, match=r"^split\.strategy"):
        completed(own | {"split": {"strategy": "random-event"}})


def test_ranks_of_a_dataset_keep_the_options_of_their_recommender():
    options = {
        "candidates": 9,
        "user_column": "who",
        "candidates_column": "size",
        "rank_column": "place",
        "exact": True,
        "zero_based": True,
    }
    config = {
        "study": ["d"],
        "datasets": {"d": {"ranks": {"A": "y.csv", "B": "z.csv"}}},
        "recommenders": {
            "A": {"type": "ranks", "path": "x.csv", **options},
            "B": {"type": "random"},
        },
    }
    sources = precomputed_ranks(config)
    assert sources["d", "A"].path == "y.csv"
    assert sources["d", "A"].reading == options
    assert sources["d", "B"].path == "z.csv"
    assert sources["d", "B"].reading["zero_based"] is False
