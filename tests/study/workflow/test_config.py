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
from sampled_metrics_study.data import formats
from sampled_metrics_study.recommenders import config_schema
from sampled_metrics_study.recommenders.registry import RECOMMENDERS, recommender_type
from sampled_metrics_study.schemas import check

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


def test_defaults_of_every_section_type_and_format_are_filled_in():
    config = completed(LEAST | {"toy": {}})
    assert config["metrics"] == ["recall@10", "ndcg@10", "ap", "auc"]
    assert config["toy"]["ranks"]["C"] == [212, 2, 743, 5342, 1548]
    dataset = config["datasets"]["mine"]
    assert dataset.items() >= LEAST["datasets"]["mine"].items()
    assert (dataset["repeated"], dataset["md5"]) == ("earliest", None)
    parameters = {"exponent": 3, "neighbours": None, "keep_self": True}
    assert config["recommenders"]["Y"].items() >= parameters.items()
    config = completed(delimited(columns=COLUMNS, timestamp="order"))
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


GLOBAL_TIME = {"strategy": "global-time", "test_size": 0.2}
ERRORS = [
    (
        "margin",
        "much",
        "margin must be a number above 0, such as 0.005, or a part of the worse value, ",
    ),
    # unknown and missing keys
    ("metrcs", [], "(top level): "),
    (
        "recommenders/Y/neighbors",
        3,
        "recommenders.Y: unknown key 'neighbors' (did you mean neighbours?)",
    ),
    ("study", ..., "(top level): "),
    # types and ranges
    ("seed", -1, "seed: "),
    # an integer to JSON
    (
        "sampling/repetitions",
        "10",
        "sampling.repetitions: ",
    ),
    (
        "sampling/negatives",
        "1e2",
        "sampling.negatives: ",
    ),
    ("sampling/negatives", [50, 0], "sampling.negatives.1: "),
    ("datasets/ml-1m/path", "", "datasets.ml-1m.path: "),
    (
        "recommenders/X/unobserved_weight",
        0,
        "recommenders.X.unobserved_weight: ",
    ),
    ("split/test_size", 1, "split.test_size: "),
    ("study", [], "study: "),
    ("figures/figure-6", 6, "figures.figure-6: "),
    ("sampling/replacement", 1, "sampling.replacement: "),
    ("sampling/repetitions", True, "sampling.repetitions: "),
    ("figures/figure-5/edges", [10, 10], "figures.figure-5.edges: "),
    # choices and names
    ("recommenders/Y/type", "als", "recommenders.Y.type: unknown recommender type 'als' (a mod"),
    (
        "sampling/readings",
        ["printed"],
        "sampling.readings.0: ",
    ),
    (
        "recommenders/Y/type",
        "eas",
        "recommenders.Y.type: unknown recommender type 'eas' (did you mean ease?); it may",
    ),
    (
        "datasets/ml-1m/format",
        "delimitd",
        "datasets.ml-1m.format: unknown format 'delimitd' (did you mean delimited?)",
    ),
    (
        "recommenders/Y/type",
        "knn",
        "recommenders.Y.type: unknown recommender type 'knn'; it may be ease, ials, ",
    ),
    (
        "datasets/ml-1m/format",
        "csv",
        "datasets.ml-1m.format: unknown format 'csv' (write delimited); it may be",
    ),
    ("study", ["ml-1b"], "study: unknown dataset 'ml-1b'; it may be ml-1m"),
    (
        "recommenders",
        {"a/b": {"type": "ease"}},
        "recommenders: ",
    ),
    ("metrics", ["ap", "recall"], "metrics.1: "),
    ("toy/metrics", ["mapp"], "toy.metrics.0: "),
    (
        "figures/figure-6/estimators",
        ["x"],
        "figures.figure-6.estimators.0: ",
    ),
    # keys that must agree
    ("split/test_size", 0.2, "split.test_size: "),
    (
        "split/strategy",
        "global-time",
        "split",
    ),
    (
        "split",
        GLOBAL_TIME | {"test_from": 3},
        "split",
    ),
    (
        "split",
        GLOBAL_TIME | {"held_out": 2},
        "split.held_out: ",
    ),
    (
        "split",
        {"strategy": "random-event", "ties": "last"},
        "split.ties: ",
    ),
    (
        "split",
        GLOBAL_TIME | {"test_from": "last year"},
        "split.test_from: ",
    ),
    ("recommenders/Y/seeds", [1, 2], "recommenders.Y.seeds: type item-cf has no random start"),
    ("recommenders/X/seeds", [1, 1], "recommenders.X.seeds: "),
    ("recommenders/X/type", "als", "recommenders.X.type: unknown recommender type 'als' (a model "),
    ("datasets/ml-1m/path", str(ROOT), "datasets.ml-1m.path: "),
    ("toy/ranks", {"A": [3, 10001]}, "toy.ranks.A: "),
    (
        "figures/budget",
        {"metric": "ap"},
        "figures.budget.metric: ",
    ),
    (
        "figures/budget",
        {"pair": ["X", "W"]},
        "figures.budget.pair: must be two of X, Y, Z, not ['X', 'W']",
    ),
    ("figures/budget", {"pair": ["X", "X"]}, "figures.budget.pair: "),
    ("datasets/ml-1m/urls", [], "datasets.ml-1m: give either urls or a path"),
    (
        "datasets/ml-1m/format",
        ...,
        "datasets.ml-1m: lacks the key 'format', for X, Y, Z to be trained",
    ),
    ("datasets/ml-1m/test", "none.dat", "datasets.ml-1m.path: "),
    (
        "datasets/ml-1m/test",
        __file__,
        "datasets.ml-1m.path: ",
    ),
    ("datasets/ml-1m/path", "gone.zip", "datasets.ml-1m.path: there is no file 'gone.zip'"),
    ("datasets/ml-1m/path", "{dataset}.zip", "datasets.ml-1m.path: "),
    (
        "datasets/ml-1m/urls",
        ["pypi:recbole"],
        "datasets.ml-1m.urls.0: ",
    ),
    (
        "datasets/ml-1m/ranks",
        {"Z": "gone/{dataset}.csv"},
        "datasets.ml-1m.ranks.Z: there is no file 'gone/ml-1m.csv'",
    ),
    (
        "datasets/ml-1m/ranks",
        {"z": __file__},
        "datasets.ml-1m.ranks: unknown recommender 'z'; it may be X, Y, Z",
    ),
]
DATASET_ERRORS = [
    (
        {"core": 4, "test": __file__, "options": {"columns": COLUMNS}},
        "core: ",
    ),
    ({"options": {"separator": ";"}}, "options: "),
    (
        {"options": {"columns": COLUMNS, "seperator": ";"}},
        "options: unknown key 'seperator' (did you mean separator?)",
    ),
    ({"options": {"columns": {"user": "u"}}}, "options.columns: "),
    (
        {"options": {"columns": COLUMNS | {"rating": 3.5}}},
        "options.columns.rating: ",
    ),
    (
        {"options": {"columns": COLUMNS, "timestamp_format": "ISO"}},
        "options.timestamp_format: ",
    ),
    (
        {"options": {"columns": COLUMNS, "keep": {"column": "event"}}},
        "options.keep: ",
    ),
    *[
        ({"options": {"columns": COLUMNS, "separator": text}}, "options.separator: ")
        for text in ("::", '"')
    ],
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


@pytest.mark.parametrize(
    ("path", "value"),
    [("seed", "x\n" * 5000), ("sampling/a\nb", 1), ("metrics", ["a\nb"])],
    ids=["a value", "a key", "a label"],
)
def test_a_value_of_several_lines_stays_one_line_and_a_long_one_is_cut(path, value):
    with pytest.raises(ConfigError) as caught:
        completed(changed(AS_IT_STANDS, path, value))
    assert "\n" not in str(caught.value)
    # that of metrics lists all that are known
    assert path == "metrics" or len(str(caught.value)) < 200


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
        ({"study": ["b", "a"]}, {"seed": 3}),
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
        ({"toy": None}, {"toy": None}),
        # names of recommenders and of ranks replace others
        (
            {"recommenders": {"Y": {"type": "ease"}}, "toy": {"ranks": {"B": [2]}}},
            {"recommenders": {"Y": {"type": "ease"}}, "toy": {"negatives": 9, "ranks": {"B": [2]}}},
        ),
    ],
    ids=[
        "nothing",
        "a dataset without defaults",
        "two datasets",
        "defaults of a dataset",
        "a key of these defaults",
        "keys of all layers",
        "no running example",
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


def test_some_keys_cannot_be_defaults_of_a_dataset_and_what_is_malformed_is_left_for_the_schema():
    for key in ("study", "datasets", "recommenders"):
        user_config = {"datasets": {"a": {"defaults": {key: {}}}}}
        config = assemble({}, BELOW, merged(BELOW, user_config), user_config)
        with pytest.raises(ConfigError, match=key):
            completed(config)
    for user_config in (
        {"study": 5},
        {"datasets": []},
        {"study": [["a"]]},
        {"datasets": {"a": 1}},
    ):
        config = assemble({}, BELOW, merged(BELOW, user_config), user_config)
        with pytest.raises(ConfigError):
            completed(config)


@pytest.mark.parametrize(("stated", "says"), [
    ({}, "recommenders: {} "),
    (None, "recommenders: None "),
])  # fmt: skip
def test_a_study_that_states_no_recommenders_does_not_take_those_of_the_paper(stated, says):
    own = {"recommenders": stated}
    with pytest.raises(ConfigError) as error:
        completed(assemble({}, DEFAULTS[1], DEFAULTS[1] | own, own))
    assert str(error.value).startswith(says)


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
    for metrics, stated, expected in (
        (["ap", "ndcg@3"], {}, "ndcg@3"),
        (["ap", "auc"], {}, "recall@10"),
        (["ndcg@3"], {"metric": "recall@5"}, "recall@5"),
    ):
        config = complete_config(own | {"metrics": metrics, "figures": {"budget": stated}})
        assert config["figures"]["budget"]["metric"] == expected
    stated = {"toy": {"negatives": 9}, "figures": {"figure-6": {"metric": "ap"}}}
    config = complete_config(own | stated | {"sampling": {"readings": ["as-printed"]}})
    assert config["toy"].items() >= {"negatives": 9, "candidates": 10000}.items()
    assert config["sampling"]["readings"] == ["as-printed"]
    assert config["figures"]["figure-6"].items() >= {"metric": "ap", "negatives": None}.items()
    config = complete_config(own | {"study": ["mine", "ml-1m"]})
    assert config["toy"] == AS_IT_STANDS["toy"]
    assert config["figures"] == AS_IT_STANDS["figures"] | {"budget": None}
    assert config["sampling"]["readings"] == ["default", "as-printed"]


def described(schema):
    """Whether every property, at any depth, has a description."""
    subschemas = [*schema.get("properties", {}).values()]
    if isinstance(schema.get("additionalProperties"), dict):
        assert described(schema["additionalProperties"])
    return all(
        len(subschema.get("description", "")) > 2 and described(subschema)
        for subschema in subschemas
    )


OPTIONS = {name: entry.options for name, entry in formats.FORMATS.items()}
TYPES = {kind: config_schema(recommender_type(kind)) for kind in RECOMMENDERS}


@pytest.mark.parametrize(
    "schema", [SCHEMA, *OPTIONS.values(), *TYPES.values()], ids=["config", *OPTIONS, *TYPES]
)
def test_every_key_is_described_and_no_other_is_allowed(schema):
    assert described(schema)
    with pytest.raises(
        ConfigError, match=r"unknown key 'seperator'|lacks the key|unknown recommender type"
    ):
        check({"seperator": ";"}, schema)


PAPERS_RANKS = {name: str(ROOT / f"published/ml-1m/{name}.csv.gz") for name in "XYZ"}


@pytest.mark.parametrize(
    ("user_config", "compared"),
    [
        ({"study": ["ml-100k", "ml-1m"]}, ["ml-1m"]),
        ({"datasets": {"ml-1m": {"min_rating": 4}}}, []),
        ({"split": {"held_out": 2}}, []),
        ({"split": {"strategy": "random-event"}}, []),
        ({"split": {"min_training_events": 2}}, []),
        ({"split": {"ties": "last"}}, ["ml-1m"]),
        ({"study": ["ours"], "datasets": {"ours": {"ranks": PAPERS_RANKS}}}, ["ours"]),
        ({"datasets": {"ml-1m": {"ranks": dict.fromkeys("XYZ", "other.csv")}}}, []),
        ({"sampling": {"negatives": 50}}, []),
    ],
    ids=[
        "a dataset more",
        "fewer ratings",
        "two held out",
        "random events",
        "fewer users",
        "another rule of ties",
        "the paper's ranks by another name",
        "ranks of other users",
        "fewer negatives",
    ],
)
def test_the_paper_is_compared_with_its_own_data_alone(
    user_config, compared, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    pd.read_csv(PAPERS_RANKS["X"]).assign(candidates=3706).to_csv("other.csv", index=False)
    assert compared_with_paper(complete_config(user_config)) == compared


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
