"""What config may say of a dataset."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from sampled_metrics.data import formats
from sampled_metrics.errors import ConfigError
from sampled_metrics.workflow.config import check, complete

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = yaml.safe_load((ROOT / "workflow/schemas/config.schema.yaml").read_text(encoding="utf-8"))
COLUMNS = {"user": "u", "item": "i"}


def completed(dataset: dict[str, Any], strategy: str = "last-event") -> dict[str, Any]:
    """The dataset's entry after completion of a config that has it."""
    config = {
        "study": ["a"],
        "datasets": {"a": {"urls": ["https://example.org/a.zip"]} | dataset},
        "split": {"strategy": strategy},
        "recommenders": {"Y": {"type": "item-cf", "exponent": 3}},
    }
    complete(config, SCHEMA)
    return config["datasets"]["a"]


def error_of(dataset: dict[str, Any], strategy: str = "last-event") -> str:
    with pytest.raises(ConfigError) as caught:
        completed(dataset, strategy)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def described(schema: dict[str, Any]) -> bool:
    below = schema.get("properties", {}).values()
    return all(len(each.get("description", "")) > 2 and described(each) for each in below)


@pytest.mark.parametrize("name", formats.FORMATS)
class TestEveryFormat:
    def test_options_are_described(self, name):
        assert described(formats.get(name).options)

    def test_is_named_in_the_schema(self, name):
        assert name in SCHEMA["properties"]["datasets"]["additionalProperties"]["properties"]["format"]["description"]

    def test_unknown_options_are_refused(self, name):
        with pytest.raises(ConfigError, match=r"^options: .*unknown key 'seperator'"):
            check({"seperator": ";", "columns": COLUMNS}, formats.get(name).options, "options")


class TestOptions:
    def test_defaults_are_filled_in(self):
        dataset = completed({"format": "delimited", "options": {"columns": dict(COLUMNS)}})
        assert dataset["options"] == {
            "separator": ",",
            "quotes": True,
            "columns": COLUMNS | {"rating": None, "timestamp": None},
            "timestamp_format": None,
            "keep": None,
            "on_bad_lines": "error",
        }
        assert dataset["member"] is None
        assert completed({"format": "movielens-dat"})["options"] == {}

    @pytest.mark.parametrize(
        ("options", "says"),
        [
            ({}, ": lacks the key 'columns'"),
            ({"columns": COLUMNS, "seperator": ";"}, ": unknown key 'seperator' (did you mean separator?); it may be"),
            ({"columns": {"user": "u"}}, ".columns: lacks the key 'item'"),
            ({"columns": COLUMNS | {"ratings": "r"}}, ".columns: unknown key 'ratings' (did you mean rating?)"),
            (
                {"columns": COLUMNS | {"rating": 3.5}},
                ".columns.rating: must be of type string or integer or null, not 3",
            ),
            ({"columns": COLUMNS | {"rating": 0}}, ".columns.rating: must be 1 or more, not 0"),
            ({"columns": COLUMNS, "timestamp_format": "ISO"}, ".timestamp_format: must match"),
            ({"columns": COLUMNS, "keep": {"column": "event"}}, ".keep: lacks the key 'values'"),
            (
                {"columns": COLUMNS, "keep": {"column": "event", "values": []}},
                ".keep.values: needs 1 or more entries, not []",
            ),
            ({"columns": COLUMNS, "on_bad_lines": "warn"}, ".on_bad_lines: may be error, skip, not 'warn'"),
            ({"columns": COLUMNS | {"item": ""}}, ".columns.item: must not be empty"),
            ({"columns": COLUMNS, "separator": "::"}, ".separator: "),
            ({"columns": COLUMNS, "separator": ",\n"}, ".separator: "),
            ({"columns": COLUMNS, "separator": '"'}, ".separator: must match"),
            ([], ": must be of type object, not []"),
        ],
    )
    def test_refused(self, options, says):
        message = error_of({"format": "delimited", "options": options})
        assert message.startswith(f"datasets.a.options{says}")


class TestAddresses:
    def test_of_a_wheel(self):
        urls = ["pypi:recbole==1.2.1!ml-100k.inter"]
        assert completed({"format": "recbole-inter", "urls": urls})["urls"] == urls

    @pytest.mark.parametrize(
        ("url", "says"),
        [
            ("pypi:recbole", "datasets.a.urls: 'pypi:recbole' is not pypi:NAME==VERSION!MEMBER"),
            ("ftp://example.org/a.zip", "datasets.a.urls.0: must match"),
        ],
    )
    def test_refused(self, url, says):
        assert error_of({"format": "recbole-inter", "urls": [url]}).startswith(says)


class TestReadyMadeSplit:
    def test_is_split_as_its_files_say_whatever_the_strategy(self):
        assert completed({"format": "ncf"})["format"] == "ncf"
        assert completed({"format": "ncf"}, "random-event")["format"] == "ncf"

    def test_is_taken_whole(self):
        assert error_of({"format": "ncf", "min_rating": 4}) == (
            "datasets.a.min_rating: must be 0 for a ready-made split, not 4"
        )

    def test_needs_both_files(self, tmp_path):
        train = tmp_path / "ml-1m.train.rating"
        train.write_text("0\t1\t5\t1\n")
        assert error_of({"format": "ncf", "path": str(train)}) == (
            f"datasets.a.path: there is no file 'ml-1m.test.rating' beside {str(train)!r}"
        )
        train.with_name("ml-1m.test.rating").write_text("0\t2\t5\t1\n")
        assert completed({"format": "ncf", "path": str(train)})["path"] == str(train)

    def test_needs_its_name(self, tmp_path):
        train = tmp_path / "train.tsv"
        train.write_text("0\t1\t5\t1\n")
        message = error_of({"format": "ncf", "path": str(train)})
        assert message.startswith("datasets.a.path: train.tsv: expected a file named NAME.train.rating")
