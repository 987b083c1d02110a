"""What several config files say of recommenders, put together."""

from sampled_metrics.workflow.config import merge_recommenders

BASE = {"recommenders": {"X": {"type": "ials", "factors": 16, "regularization": 10}, "Y": {"type": "item-cf"}}}


def settled(*files):
    config = {"recommenders": "what snakemake merged"}
    merge_recommenders(config, [BASE, *files])
    return config["recommenders"]


def test_keys_override_one_by_one_and_options_too() -> None:
    first = {"recommenders": {"X": {"factors": 4}, "W": {"type": "implicit", "options": {"a": 1, "b": 2}}}}
    second = {"recommenders": {"W": {"options": {"b": 3}}}}
    assert settled(first, second) == {
        "X": {"type": "ials", "factors": 4, "regularization": 10},
        "Y": {"type": "item-cf"},
        "W": {"type": "implicit", "options": {"a": 1, "b": 3}},
    }


def test_another_type_starts_afresh_even_where_a_parameter_has_the_same_name() -> None:
    assert settled({"recommenders": {"X": {"type": "ease"}}})["X"] == {"type": "ease"}
    assert settled({"recommenders": {"X": {"factors": 4}}}, {"recommenders": {"X": {"type": "ease"}}})["X"] == {
        "type": "ease"
    }
    assert settled({"recommenders": {"X": {"type": "ease", "regularization": 10}}})["X"]["regularization"] == 10


def test_null_removes_and_a_later_file_may_bring_back() -> None:
    assert list(settled({"recommenders": {"X": None}})) == ["Y"]
    assert settled({"recommenders": {"X": None}}, {"recommenders": {"X": {"type": "ease"}}})["X"] == {"type": "ease"}


def test_those_of_the_first_file_come_first() -> None:
    assert list(settled({"recommenders": {"A": {"type": "ease"}, "Y": {"exponent": 2}}})) == ["X", "Y", "A"]


def test_files_that_say_nothing_of_recommenders() -> None:
    assert settled({}, {"recommenders": None}) == BASE["recommenders"]


def test_the_files_themselves_are_left_as_they_are() -> None:
    file = {"recommenders": {"W": {"type": "implicit", "options": {"a": 1}}}}
    settled(file)["W"]["options"]["a"] = 2
    assert file["recommenders"]["W"]["options"] == {"a": 1}
