"""The configuration: defaults filled in, and every error one line that names the key and what is allowed."""

from copy import deepcopy
from pathlib import Path
from typing import ClassVar

import pandas as pd
import pytest
import yaml
from made_up_project import complete_config

from sampled_metrics.data import formats
from sampled_metrics.errors import ConfigError
from sampled_metrics.recommenders import RECOMMENDERS, config_schema, recommender_type
from sampled_metrics.study.config import assemble, check, compared_with_paper, complete, merged

ROOT = Path(__file__).parents[2]


def read(name):
    return yaml.safe_load((ROOT / name).read_text(encoding="utf-8"))


SCHEMA = read("workflow/schemas/config.schema.yaml")
AS_IT_STANDS = assemble({}, read("config.yaml"), read("config.yaml"), {})
LEAST = {
    "study": ["mine"],
    "datasets": {"mine": {"format": "movielens-dat", "urls": ["https://example.org/ratings.zip"]}},
    "recommenders": {"Y": {"type": "item-cf", "exponent": 3}},
}


def completed(config):
    config = deepcopy(config)
    complete(config, SCHEMA)
    return config


def error_of(config):
    with pytest.raises(ConfigError) as caught:
        completed(config)
    message = str(caught.value)
    assert "\n" not in message
    return message


def changed(path, value, config=AS_IT_STANDS):
    """The configuration with one key set, or taken out (...)."""
    config = deepcopy(config)
    *folders, last = path.split("/")
    place = config
    for folder in folders:
        place = place.setdefault(folder, {})
    if value is ...:
        del place[last]
    else:
        place[last] = value
    return config


class TestDefaults:
    def test_of_every_section_are_filled_in(self):
        config = completed(LEAST | {"toy": {}})
        assert config["metrics"] == ["recall@10", "ndcg@10", "ap", "auc"]
        assert config["toy"]["ranks"]["C"] == [212, 2, 743, 5342, 1548]
        assert LEAST["datasets"]["mine"].items() <= config["datasets"]["mine"].items()
        assert (config["datasets"]["mine"]["repeated"], config["datasets"]["mine"]["md5"]) == ("earliest", None)

    def test_of_a_recommenders_type_are_filled_in(self):
        found = completed(LEAST)["recommenders"]["Y"]
        assert (found["exponent"], found["neighbours"], found["keep_self"]) == (3, None, True)

    def test_labels_are_those_of_result_files(self):
        """Files of results have one label of each metric and estimator, however the configuration writes it."""
        config = changed("metrics", ["MAP@10", "HR@5", "AUC"], changed("estimators", ["CLS", "BV 0.10", "sampled"]))
        config = completed(config)
        assert config["metrics"] == ["ap@10", "hit-rate@5", "auc"]
        assert config["estimators"] == ["cls", "bv-0.10", "uncorrected"]

    def test_changing_a_default_that_was_filled_in_does_not_change_the_schema(self):
        before = deepcopy(SCHEMA)
        config = deepcopy(LEAST) | {"toy": {}}
        complete(config, SCHEMA)
        config["metrics"].append("mrr")
        config["toy"]["ranks"]["D"] = [1]
        config["toy"]["ranks"]["A"].append(7)
        config["figures"]["figure-2"]["negatives"].append(3)
        changed_schema = before != SCHEMA
        SCHEMA.clear()  # for the other tests
        SCHEMA.update(before)
        assert not changed_schema


ERRORS = [
    ("margin", 0, "margin must be a number above 0, such as 0.005, or a part of the worse value, "),
    ("margin", "much", "margin must be a number above 0"),
    # keys that earlier versions had
    ("groups", ["activity"], "groups: unknown key, which earlier versions had; the library has metrics by groups"),
    ("datasets/ml-1m/groups", "users.csv", "datasets.NAME.groups: unknown key, which earlier versions had; "),
    ("ranking/scatter", 4, "ranking.scatter: unknown key, which earlier versions had; say snakemake --set-scatter"),
    # unknown keys, with a guess
    ("sampling/negative", 5, "sampling: unknown key 'negative' (did you mean negatives?); it may be negatives, "),
    ("metrcs", [], "unknown key 'metrcs' (did you mean metrics?); it may be study, seed, "),
    ("recommenders/Y/neighbors", 3, "recommenders.Y: unknown key 'neighbors' (did you mean neighbours?)"),
    # missing keys
    ("study", ..., "(top level): lacks the key 'study'"),
    # types and ranges
    ("seed", -1, "seed: must be 0 or more, not -1"),
    ("sampling", None, "sampling: must be of type object, not None"),
    ("sampling/repetitions", 10_000.0, "sampling.repetitions: must be of type integer, not 10000.0"),  # one to JSON
    (
        "sampling/repetitions",
        "10",
        "sampling.repetitions: must be of type integer (in --config, numbers inside of braces",
    ),
    ("sampling/replacement", "yes", "sampling.replacement: must be of type boolean, not 'yes'"),
    ("datasets/ml-1m/path", "", "datasets.ml-1m.path: must not be empty, not ''"),
    ("recommenders/X/unobserved_weight", 0, "recommenders.X.unobserved_weight: must be more than 0, not 0"),
    ("recommenders/Y/neighbours", "all", "recommenders.Y.neighbours: must be of type integer or null, not 'all'"),
    # choices
    ("sampling/negatives", [50, 0], "sampling.negatives.1: must be 1 or more, not 0"),
    ("split/test_size", 1, "split.test_size: must be less than 1, not 1"),
    ("split/test_size", 0.2, "split.test_size: is for the strategy global-time, not last-event"),
    ("split/strategy", "global-time", "split.strategy: global-time needs either test_from or test_size"),
    (
        "split",
        {"strategy": "global-time", "test_size": 0.2, "test_from": 3},
        "split.strategy: global-time needs either test_from or test_size",
    ),
    (
        "split",
        {"strategy": "global-time", "test_size": 0.2, "held_out": 2},
        "split.held_out: is for the strategies last-event and random-event, not global-time",
    ),
    ("datasets/ml-1m/test", "none.dat", "datasets.ml-1m.test: there is no file 'none.dat'"),
    ("datasets/ml-1m/test", __file__, "datasets.ml-1m.test: needs a path, with the training events"),
    ("sampling/readings", ["printed"], "sampling.readings.0: may be default, as-printed, not 'printed'"),
    (
        "recommenders/Y/type",
        "knn",
        "recommenders.Y.type: unknown recommender type 'knn'; it may be ease, ials, implicit, item-cf, ",
    ),
    # lists
    ("study", [], "study: needs 1 or more entries, not []"),
    ("figures/figure-5/edges", [100, 10], "figures.figure-5.edges: must ascend, not [100, 10]"),
    # names
    ("study", ["ml-1b"], "study: unknown dataset 'ml-1b'; it may be ml-1m"),
    (
        "recommenders",
        {"a/b": {"type": "item-cf", "exponent": 1}},
        "recommenders: 'a/b' cannot be a name; it may be letters and digits",
    ),
    ("recommenders", {"ab" * 20: {"type": "ease"}}, f"recommenders: '{'ab' * 20}' cannot be a name: it ends with 'ab'"),
    ("metrics", ["ap", "recall"], "metrics: metric 'recall' needs a cut-off, such as recall@10"),
    ("toy/metrics", ["mapp"], "toy.metrics: unknown metric 'mapp' (did you mean map?); it may be "),
    (
        "estimators",
        ["cls", "bv"],
        "estimators: unknown estimator 'bv'; it may be decreasing, free, uncorrected, ",
    ),
    ("estimators", ["mle", "mle-100"], "estimators: 'mle' and 'mle-100' are the same one; "),
    ("figures/figure-6/estimators", ["x"], "figures.figure-6.estimators: unknown estimator 'x'; it may be "),
    # keys that must agree
    ("toy/ranks", {"A": [3, 10001]}, "toy.ranks.A: rank 10001 is above toy.candidates (10000)"),
    ("datasets/ml-1m/urls", [], "datasets.ml-1m: give either urls or a path"),
    ("toy/negatives", 10000, "toy.negatives: "),
]


@pytest.mark.parametrize(("path", "value", "says"), ERRORS, ids=[f"{path}={value}" for path, value, _ in ERRORS])
def test_an_error_names_the_key_and_what_it_may_be(path, value, says):
    assert error_of(changed(path, value)).startswith(says)


COLUMNS = {"user": "u", "item": "i"}
OF_OPTIONS = [
    ({"columns": ...}, ": lacks the key 'columns'"),
    ({"seperator": ";"}, ": unknown key 'seperator' (did you mean separator?); it may be separator, "),
    ({"columns": {"user": "u"}}, ".columns: lacks the key 'item'"),
    ({"columns": COLUMNS | {"rating": 3.5}}, ".columns.rating: must be of type string or integer or null, not 3"),
    ({"columns": COLUMNS | {"item": ""}}, ".columns.item: must not be empty"),
    ({"timestamp_format": "ISO"}, ".timestamp_format: must match"),
    ({"keep": {"column": "event"}}, ".keep: lacks the key 'values'"),
    *[({"separator": separator}, ".separator: ") for separator in ("::", ",\n", '"')],
]


def with_dataset(**keys):
    """The least config, of two recommenders, with keys of its dataset."""
    recommenders = LEAST["recommenders"] | {"Z": {"type": "random"}}
    return LEAST | {"datasets": {"mine": LEAST["datasets"]["mine"] | keys}, "recommenders": recommenders}


@pytest.mark.parametrize(("options", "says"), OF_OPTIONS)
def test_an_error_of_an_option_of_a_format(options, says):
    given = {key: value for key, value in ({"columns": COLUMNS} | options).items() if value is not ...}
    message = error_of(with_dataset(format="delimited", options=given))
    assert message.startswith(f"datasets.mine.options{says}")


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        ({"options": []}, "options: must be of type object, not []"),
        ({"options": {"separator": ";"}}, "options: unknown key 'separator'"),
        ({"urls": ["pypi:recbole"]}, "urls: 'pypi:recbole' is not pypi:NAME==VERSION!MEMBER"),
        ({"path": __file__, "test": __file__, "core": 4}, "core: must be 0 for a ready-made split, not 4"),
        ({"ranks": {"Z": "gone/{dataset}.csv"}}, "ranks.Z: there is no file 'gone/mine.csv'"),
        ({"ranks": {"z": __file__}}, "ranks: unknown recommender 'z'; it may be Y, Z"),
        ({"ranks": {"Y": 3}}, "ranks.Y: must be of type string"),
        ({"path": "gone.zip"}, "path: there is no file 'gone.zip'"),
    ],
)
def test_an_error_of_a_dataset(keys, says):
    assert error_of(with_dataset(**keys)).startswith(f"datasets.mine.{says}")


def test_options_of_a_format_are_filled_in():
    config = completed(with_dataset(format="delimited", options={"columns": COLUMNS}))
    options = config["datasets"]["mine"]["options"]
    assert options["columns"] == COLUMNS | {"rating": None, "timestamp": None}
    assert (options["separator"], options["on_bad_lines"]) == (",", "error")


def test_an_unknown_format_lists_the_known_ones():
    message = error_of(changed("datasets/ml-1m/format", "csv"))
    assert message == f"datasets.ml-1m.format: unknown format 'csv'; it may be {', '.join(sorted(formats.FORMATS))}"


def test_a_value_of_several_lines_stays_one_line_and_a_long_one_is_cut():
    error_of(changed("seed", "a\nb"))
    error_of(changed("sampling/a\nb", 1))
    error_of(changed("metrics", ["a\nb"]))
    assert len(error_of(changed("seed", "x" * 5000))) < 200


def test_what_config_yaml_says_is_what_holds_without_it():
    """Nothing has two defaults: of the keys of config.yaml, only the study's data and what fits these alone matter."""
    needed = {key: AS_IT_STANDS[key] for key in ("study", "datasets", "recommenders")}
    assert completed(assemble({}, needed, needed, {})) == completed(AS_IT_STANDS)


OWN = {"study": ["mine"], "datasets": {"mine": {}}, "recommenders": {"A": {"type": "ranks", "path": "a.csv"}}}


@pytest.fixture
def own_ranks(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.csv").touch()


class TestLayers:
    """config.yaml below the config of the user, and the defaults of the datasets that are studied below both."""

    STUDY: ClassVar = {
        "study": ["a"],
        "datasets": {"a": {"defaults": {"toy": {"negatives": 9, "ranks": {"A": [1]}}, "seed": 3}}, "b": {}},
        "recommenders": {"X": {"type": "ials"}},
        "sampling": {"repetitions": 5},
    }

    def test_defaults_of_a_dataset_hold_where_it_is_studied(self):
        assert self.laid({})["toy"] == {"negatives": 9, "ranks": {"A": [1]}}
        assert "toy" not in self.laid({"study": ["b"]})
        assert self.laid({"study": ["b", "a"]})["seed"] == 3
        assert self.laid({"study": ["b"], "datasets": {"b": {"defaults": {"seed": 4}}}})["seed"] == 4

    def test_those_that_a_user_states_count_more_than_config_yaml(self):
        given = {"study": ["b"], "datasets": {"b": {"defaults": {"sampling": {"repetitions": 7}}}}}
        assert self.laid(given)["sampling"]["repetitions"] == 7
        assert self.laid(given | {"sampling": {"repetitions": 8}})["sampling"]["repetitions"] == 8

    @pytest.mark.parametrize("key", ["study", "datasets", "recommenders"])
    def test_some_keys_cannot_be_among_them(self, key):
        with pytest.raises(ConfigError, match=f"datasets.a.defaults: cannot have the key {key}"):
            self.laid({"datasets": {"a": {"defaults": {key: {}}}}})

    def test_config_yaml_edited_in_place_is_as_a_file_over_it(self):
        """What belongs to the paper's data stands with it, so nothing of it stays for other data."""
        in_place = assemble({}, self.STUDY | {"study": ["b"]}, self.STUDY | {"study": ["b"]}, {})
        assert in_place == self.laid({"study": ["b"]})

    def test_what_is_stated_counts(self):
        laid = self.laid({"toy": {"negatives": 8}, "sampling": {"negatives": 7}, "seed": 2})
        assert (laid["toy"]["negatives"], laid["toy"]["ranks"], laid["seed"]) == (8, {"A": [1]}, 2)
        assert laid["sampling"] == {"repetitions": 5, "negatives": 7}
        assert self.laid({"toy": None})["toy"] is None

    def test_names_of_recommenders_and_of_ranks_replace_others(self):
        laid = self.laid({"recommenders": {"Y": {"type": "ease"}}, "toy": {"ranks": {"B": [2]}}})
        assert (laid["recommenders"], laid["toy"]["ranks"]) == ({"Y": {"type": "ease"}}, {"B": [2]})

    @pytest.mark.parametrize("given", [{"study": 5}, {"datasets": []}, {"study": [["a"]]}, {"datasets": {"a": 1}}])
    def test_what_is_malformed_is_left_for_the_schema(self, given):
        with pytest.raises(ConfigError):
            completed(self.laid(given))

    def laid(self, given):
        return assemble({}, self.STUDY, merged(self.STUDY, given), given)


def test_the_default_sizes_of_figure_3_fit_the_running_example():
    small = AS_IT_STANDS | {"toy": {"candidates": 100, "ranks": {"A": [1]}, "negatives": 9}, "figures": {}}
    assert completed(small)["figures"]["figure-3"]["negatives"] == [1, 10]
    stated = small | {"figures": {"figure-3": {"negatives": [99]}}}
    assert error_of(stated).startswith("figures.figure-3.negatives: must be less than 99")


def test_equations_that_cannot_be_solved_are_refused_before_training():
    said = error_of(AS_IT_STANDS | {"estimators": ["cls", "bv-0"]})
    assert said.startswith("estimators: bv-0 cannot be solved in double precision")
    assert "take a γ above 0, such as bv-0.01" in said
    assert completed(AS_IT_STANDS | {"estimators": ["cls", "bv-0"], "sampling": {"negatives": 10}})


@pytest.mark.usefixtures("own_ranks")
class TestAStudyOfOtherData:
    def test_has_nothing_that_fits_the_paper_alone(self):
        config = complete_config(OWN | {"metrics": ["ndcg@3", "ap"]})
        assert config["toy"] is None
        assert config["sampling"]["readings"] == ["default"]
        figure = config["figures"]["figure-6"]
        assert (figure["metric"], figure["negatives"]) == ("ndcg@3", None)

    def test_has_what_it_states(self):
        stated = {"toy": {"negatives": 9}, "figures": {"figure-6": {"metric": "ap"}}}
        stated["sampling"] = {"readings": ["as-printed"]}
        config = complete_config(OWN | stated)
        assert (config["toy"]["negatives"], config["toy"]["candidates"]) == (9, 10000)
        assert config["sampling"]["readings"] == ["as-printed"]
        assert (config["figures"]["figure-6"]["metric"], config["figures"]["figure-6"]["negatives"]) == ("ap", None)

    @pytest.mark.parametrize("study", [["mine", "ml-1m"], ["ml-1m"]])
    def test_with_the_data_of_the_paper_has_all_of_config_yaml(self, study):
        config = complete_config(OWN | {"study": study})
        assert (config["toy"], config["figures"]) == (
            AS_IT_STANDS["toy"],
            AS_IT_STANDS["figures"] | {"budget": None},
        )
        assert config["sampling"]["readings"] == ["default", "as-printed"]

    @pytest.mark.parametrize(("study", "says"), [("ml-1m", "study: must be of type array"), ([], "study: needs 1")])
    def test_a_wrong_study_is_refused_as_ever(self, study, says):
        with pytest.raises(ConfigError, match=says):
            complete_config(OWN | {"study": study})


def described(schema):
    """Whether every property, at any depth, has a description."""
    below = [*schema.get("properties", {}).values()]
    if isinstance(schema.get("additionalProperties"), dict):
        assert described(schema["additionalProperties"])
    return all(len(each.get("description", "")) > 2 and described(each) for each in below)


OPTIONS = {name: entry.options for name, entry in formats.FORMATS.items()}
TYPES = {kind: config_schema(recommender_type(kind)) for kind in RECOMMENDERS}


@pytest.mark.parametrize("schema", [SCHEMA, *OPTIONS.values(), *TYPES.values()], ids=["config", *OPTIONS, *TYPES])
def test_every_key_is_described_and_no_other_is_allowed(schema):
    assert described(schema)
    with pytest.raises(ConfigError, match=r"unknown key 'seperator'|lacks the key|unknown recommender type"):
        check({"seperator": ";"}, schema)


PAPERS_RANKS = {name: str(ROOT / f"published/ml-1m/{name}.csv.gz") for name in "XYZ"}


@pytest.mark.parametrize(
    ("given", "compared"),
    [
        ({}, ["ml-1m"]),
        ({"study": ["ml-100k"]}, []),
        ({"study": ["ml-100k", "ml-1m"]}, ["ml-1m"]),
        ({"datasets": {"ml-1m": {"min_rating": 4}}}, []),
        ({"datasets": {"ml-1m": {"core": 5}}}, []),
        ({"split": {"held_out": 2}}, []),
        ({"split": {"strategy": "random-event"}}, []),
        ({"split": {"ties": "last"}}, ["ml-1m"]),
        ({"study": ["ours"], "datasets": {"ours": {"ranks": PAPERS_RANKS}}}, ["ours"]),
        ({"sampling": {"negatives": 50}}, []),
    ],
)
def test_the_paper_is_compared_with_its_own_data_alone(given: dict, compared: list[str]) -> None:
    assert compared_with_paper(complete_config(given)) == compared


def test_ranks_of_other_users_are_not_compared_with_the_paper(tmp_path: Path) -> None:
    for name in "XYZ":
        table = pd.read_csv(PAPERS_RANKS[name]).assign(candidates=3706)
        table.to_csv(tmp_path / f"{name}.csv", index=False)
    ranks = {name: str(tmp_path / f"{name}.csv") for name in "XYZ"}
    assert compared_with_paper(complete_config({"datasets": {"ml-1m": {"ranks": ranks}}})) == []
