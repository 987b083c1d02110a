"""The defaults and checks of a study's configuration. An error is one line that names the key."""

import argparse
import copy
import difflib
import math
import os
import re
import reprlib
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import yaml
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError, best_match
from jsonschema.validators import extend

from sampled_metrics.data import archives, formats
from sampled_metrics.errors import ConfigError, DataError, reason
from sampled_metrics.estimators import estimator, estimators_by_label, linear_estimator, usual_label
from sampled_metrics.inference.families import Margin
from sampled_metrics.metrics.metric import metric, metrics_by_label
from sampled_metrics.ranks.exact import exact_ranks
from sampled_metrics.recommenders import config_schema, recommender, recommender_type
from sampled_metrics.recommenders.simple import PrecomputedRanks
from sampled_metrics.sampling.distributions import SamplingDesign
from sampled_metrics.study import reference

T = TypeVar("T")

RESERVED = ("toy", "logs", "benchmarks", "report.html", "summary.html", "provenance.json", "README.md")
"""Names below results/ that no dataset may have."""


_LONGEST_NAME = 200
"""Bytes of the name of a dataset or recommender, which is a part of file names of at most 255 bytes."""

_PERIODIC = re.compile(r"(.+?)\1{19,}$")
"""A name that Snakemake refuses, as if a rule led to itself."""


def _pattern(validator: Any, pattern: str, instance: Any, schema: Any) -> Iterator[ValidationError]:
    """Yield an error if a text does not match. In JSON schema, $ does not match before a last line break."""
    if isinstance(instance, str) and not re.search(re.sub(r"\$$", r"\\Z", pattern), instance):
        yield ValidationError("does not match")


# 100.0 is an integer in JSON schema, but not for numpy
_Validator = extend(
    Draft202012Validator,
    {"pattern": _pattern},
    type_checker=Draft202012Validator.TYPE_CHECKER.redefine_many(
        {
            "integer": lambda _, value: isinstance(value, int) and not isinstance(value, bool),
            "number": lambda _, value: (
                isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
            ),
        }
    ),
)


def assemble(
    datasets: Mapping[str, Any], study: Mapping[str, Any], stated: Mapping[str, Any], given: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the config of a study, layer by layer: of the same key, the last layer that states it counts.

    The layers are the datasets that are known (datasets.yaml, and those of config.yaml), the config of the user over
    config.yaml or in its place (stated), and that of the user alone (given). Each has the key `defaults` of its
    datasets that are studied below itself. Recommenders, and ranks of the running example, replace those of a layer
    below.
    """
    names = stated.get("study")
    config: dict[str, Any] = {}
    for layer in (merged(datasets, {"datasets": study["datasets"]}), stated, given):
        for name in names if isinstance(names, list) else []:
            defaults = _mapping(_mapping(_mapping(layer, "datasets"), name), "defaults")
            if unfit := [key for key in defaults if key in ("study", "datasets", "recommenders")]:
                raise ConfigError(f"datasets.{name}.defaults: cannot have the key {unfit[0]}")
            config = merged(config, defaults)
        config = merged(config, layer)
    for layer in (stated, given):
        if recommenders := _mapping(layer, "recommenders"):
            config["recommenders"] = copy.deepcopy(dict(recommenders))
        if ranks := _mapping(_mapping(layer, "toy"), "ranks"):
            config["toy"]["ranks"] = copy.deepcopy(dict(ranks))
    return config


def _mapping(whole: Mapping[str, Any], key: Any) -> Mapping[str, Any]:
    """Return what is below a key, if it is a mapping; otherwise an empty one."""
    below = whole.get(key) if isinstance(key, str) else None
    return below if isinstance(below, Mapping) else {}


def merged(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Return one config laid over another, key by key."""
    both = copy.deepcopy(dict(below))
    for key, value in above.items():
        both[key] = merged(_mapping(both, key), value) if isinstance(value, Mapping) else copy.deepcopy(value)
    return both


def complete(config: dict[str, Any], schema: Mapping[str, Any], results: str = "results") -> None:
    """Fill in the defaults of a configuration, in place, and check it, with a JSON schema and the folder of results."""
    check(config, schema)
    for key in ("datasets", "recommenders"):
        for name in config[key]:
            if len(os.fsencode(name)) > _LONGEST_NAME:
                raise ConfigError(f"{key}: {name!r:.80} cannot be a name: it is longer than a file name may be")
            if repeated := _PERIODIC.search(name):
                raise ConfigError(
                    f"{key}: {name!r} cannot be a name: it ends with {repeated[1]!r} twenty times, which "
                    "snakemake takes for a loop"
                )
    for name, entry in config["recommenders"].items():
        check_recommender(entry, f"recommenders.{name}")
    for name in config["study"]:
        if name not in config["datasets"]:
            raise ConfigError(f"study: unknown dataset {name!r}; it may be {', '.join(config['datasets'])}")
    for name, dataset in config["datasets"].items():
        if dataset["urls"]:
            archives.require_addresses(dataset["urls"], f"datasets.{name}.urls")
        if dataset["format"] is not None:
            file_format = _named(f"datasets.{name}.format", dataset["format"], formats.get)
            check(dataset["options"], file_format.options, f"datasets.{name}.options")
    for name in config["study"]:
        if name in RESERVED:
            raise ConfigError(f"study: a dataset cannot be called {name!r}, as results/{name} has another use")
        _check_sources(name, config, results)
    _check_split(config["split"])
    _check_use_of_split(config, schema)
    if config["figures"]["figure-6"]["metric"] is None:
        config["figures"]["figure-6"]["metric"] = config["metrics"][0]
    _settle_labels(config, schema)
    _check_solvable("estimators", config["estimators"], config["sampling"]["negatives"], config)
    figure_6 = config["figures"]["figure-6"]
    _check_solvable("figures.figure-6.estimators", figure_6["estimators"], figure_6["negatives"] or 100, config)
    edges = config["figures"]["figure-5"]["edges"]
    if sorted(set(edges)) != edges:
        raise ConfigError(f"figures.figure-5.edges: must ascend, not {edges}")
    if config["margin"] is not None:
        Margin.from_given(config["margin"]).require_possible(metrics_by_label(config["metrics"]))
    if config["figures"]["budget"]:
        _check_budget(config["figures"]["budget"], config["recommenders"])
    if config["toy"] is not None:
        figure_3 = schema["properties"]["figures"]["properties"]["figure-3"]["properties"]
        _check_toy(config["toy"], config["figures"], figure_3["negatives"]["default"])


def _check_solvable(key: str, labels: Sequence[str], negatives: int | Sequence[int], config: Mapping[str, Any]) -> None:
    """Refuse an estimator whose equations cannot be solved for as many negatives, before anything is trained.

    With P(x | r) as binomial, the condition of the equations hardly depends on the number of candidates.
    """
    if config["estimator_model"] != "binomial":
        return
    without_variance = [label for label in labels if label.startswith("bv-") and float(label[3:]) == 0]
    for label, m in product(without_variance, np.atleast_1d(negatives).tolist()):
        try:
            linear_estimator(label).weights(SamplingDesign(m, True), np.array([10 * m]), (metric("recall@10"),))
        except DataError as error:
            raise ConfigError(f"{key}: {error}") from None


def _check_budget(budget: Mapping[str, Any], recommenders: Mapping[str, Any]) -> None:
    """Refuse a metric without a cut-off, and a pair that is not of two recommenders."""
    if metric(budget["metric"]).cutoff is None:
        raise ConfigError(f"figures.budget.metric: must have a cut-off, such as recall@10, not {budget['metric']}")
    pair = budget["pair"]
    if pair and (len(set(pair)) != 2 or not set(pair) <= set(recommenders)):
        raise ConfigError(f"figures.budget.pair: must be two of {', '.join(recommenders)}, not {pair}")


def _check_toy(toy: Mapping[str, Any], figures: Mapping[str, Any], default_sizes: Sequence[int]) -> None:
    """Refuse ranks and sizes that are too large for the running example; of default sizes, keep the others."""
    for name, ranks in toy["ranks"].items():
        if max(ranks) > toy["candidates"]:
            raise ConfigError(f"toy.ranks.{name}: rank {max(ranks)} is above toy.candidates ({toy['candidates']})")
    if not toy["replacement"] and toy["negatives"] >= toy["candidates"]:
        raise ConfigError(f"toy.negatives: must be less than toy.candidates ({toy['candidates']}), without replacement")
    if figures["figure-3"]["negatives"] == default_sizes:  # as many of them as there are candidates for
        figures["figure-3"]["negatives"] = [m for m in default_sizes if m < toy["candidates"] - 1] or [1]
    if max(figures["figure-3"]["negatives"]) >= toy["candidates"] - 1:
        raise ConfigError(f"figures.figure-3.negatives: must be less than {toy['candidates'] - 1}, all there are")


def check(config: Any, schema: Mapping[str, Any], where: str = "") -> None:
    """Fill in the defaults of a schema, in place, and refuse, in a line that names the key, what it does not allow."""
    _fill_in_defaults(config, schema)
    error = best_match(_Validator(schema).iter_errors(config))
    if error is not None:
        raise ConfigError(_one_line(error, where))


def check_recommender(entry: dict[str, Any], where: str) -> None:
    """Check a recommender's config entry by the parameters of its type, and fill in their defaults."""
    kind = entry["type"]
    schema = config_schema(_named(f"{where}.type", kind, recommender_type))
    schema["properties"]["type"] = {"const": kind}
    check(entry, schema, where)
    try:
        recommender(entry)
    except ConfigError as error:  # from a check of the type itself, beyond its schema
        raise ConfigError(f"{where}.{error}") from None


def precomputed_ranks(config: Mapping[str, Any]) -> dict[tuple[str, str], PrecomputedRanks]:
    """Return the precomputed ranks of a study by (dataset, recommender).

    They belong to a dataset (key `ranks`) or to a recommender of type ranks.
    """
    precomputed = {}
    for dataset in config["study"]:
        for name, entry in config["recommenders"].items():
            file = config["datasets"][dataset]["ranks"].get(name)
            source = recommender(entry)
            if file:  # with the options of a recommender of type ranks
                source = replace(source, path=file) if isinstance(source, PrecomputedRanks) else PrecomputedRanks(file)
            if isinstance(source, PrecomputedRanks):
                precomputed[dataset, name] = source
    return precomputed


def compared_with_paper(config: Mapping[str, Any]) -> list[str]:
    """Return the datasets of a study whose Tables 3 and 4 are compared with the printed ones.

    The sampling, recommenders, metrics and estimators must cover the paper's. The data must be the paper's: ready-made
    ranks have its users and candidates, and trained recommenders are of the dataset ml-1m, whole, with its last events
    held out.
    """
    if reference.study_differences(config):
        return []
    precomputed, datasets = precomputed_ranks(config), []
    for name in config["study"]:
        files = [precomputed[name, label] for label in reference.RECOMMENDERS if (name, label) in precomputed]
        is_papers = _are_of_paper_users(files[0], name) if files else not reference.data_differences(config, name)
        datasets += [name] if is_papers else []
    return datasets


def _are_of_paper_users(source: PrecomputedRanks, dataset: str) -> bool:
    """Return whether ready-made ranks are of the paper's users; false for a file that the job will refuse."""
    try:
        table = exact_ranks(source.file(dataset), **source.reading)
    except (ConfigError, DataError):
        return False
    return reference.has_paper_users(table)


def _check_sources(dataset_name: str, config: Mapping[str, Any], results: str) -> None:
    """Refuse a dataset without the input of its recommenders: events to train on, or files of ranks."""
    dataset, where = config["datasets"][dataset_name], f"datasets.{dataset_name}"
    recommenders = config["recommenders"]
    for name in dataset["ranks"]:
        if name not in recommenders:
            raise ConfigError(f"{where}.ranks: unknown recommender {name!r}; it may be {', '.join(recommenders)}")
    precomputed = precomputed_ranks(config)
    for name in recommenders:
        if (dataset_name, name) in precomputed:
            key = f"{where}.ranks.{name}" if name in dataset["ranks"] else f"recommenders.{name}.path"
            _check_file(key, precomputed[dataset_name, name].file(dataset_name), config, results)
    to_train = [name for name in recommenders if (dataset_name, name) not in precomputed]
    if not to_train:
        return
    if dataset["format"] is None:
        raise ConfigError(f"{where}: lacks the key 'format', for {', '.join(to_train)} to be trained")
    if not dataset["path"] and not dataset["urls"]:
        raise ConfigError(f"{where}: give either urls or a path")
    if dataset["path"]:
        _check_file(f"{where}.path", dataset["path"], config, results)
    if dataset["test"]:
        _check_file(f"{where}.test", dataset["test"], config, results)
    if dataset["test"] and not dataset["path"]:
        raise ConfigError(f"{where}.test: needs a path, with the training events")
    if dataset["test"] and dataset["core"] != 0:
        raise ConfigError(f"{where}.core: must be 0 for a ready-made split, not {dataset['core']}")


def _check_split(split: Mapping[str, Any]) -> None:
    """Refuse options that the strategy of the split does not have."""
    time_keys = [key for key in ("test_from", "test_size") if split[key] is not None]
    if split["strategy"] != "global-time" and time_keys:
        raise ConfigError(f"split.{time_keys[0]}: is for the strategy global-time, not {split['strategy']}")
    if split["strategy"] == "global-time" and len(time_keys) != 1:
        raise ConfigError("split.strategy: global-time needs either test_from or test_size")
    if split["strategy"] == "global-time" and split["held_out"] != 1:
        raise ConfigError("split.held_out: is for the strategies last-event and random-event, not global-time")
    if split["strategy"] != "last-event" and split["ties"] != "first":
        raise ConfigError(f"split.ties: is for the strategy last-event, not {split['strategy']}")


def _check_use_of_split(config: Mapping[str, Any], schema: Mapping[str, Any]) -> None:
    """Refuse options of the split if all datasets of the study have a split of their own."""
    if not all(config["datasets"][name]["test"] for name in config["study"]):
        return
    for key, option in schema["properties"]["split"]["properties"].items():
        if key != "min_training_events" and config["split"][key] != option["default"]:
            raise ConfigError(
                f"split.{key}: has no effect, as each dataset has a split of its own (test); leave it out"
            )


def _check_file(key: str, path: str, config: Mapping[str, Any], results: str) -> None:
    """Refuse a path that is not a file, is a result of this study, or contains a pattern of snakemake."""
    if "{" in path or "}" in path:
        raise ConfigError(f"{key}: {path!r} has braces, which cannot be in the name of a file here; rename it")
    real = "" if "\0" in path else os.path.realpath(path)
    for name in (*config["study"], *RESERVED):
        result = os.path.realpath(Path(results, name))
        if real == result or real.startswith(result + os.sep):
            where = f"{results}/{name}" + ("" if real == result else "/")
            raise ConfigError(f"{key}: {path!r} is among the results of this study, in {where}; move it")
    if not os.path.isfile(path):  # also if the name is too long or has a zero byte
        raise ConfigError(f"{key}: there is no file {path!r} (from {Path.cwd()})")


def _named(key: str, name: str, find: Callable[[str], T]) -> T:
    """Return what a function finds by a name; an error of the function names the key."""
    try:
        return find(name)
    except ConfigError as error:
        raise ConfigError(f"{key}: {error}") from None


_KINDS_OF_LABELS: dict[str, Callable[[str], object]] = {
    "metric": metric,
    "estimator": estimator,
    "linear-estimator": linear_estimator,
}
"""Value of the schema's keyword `labels` → function that reads such a label."""


def _settle_labels(config: Mapping[str, Any], schema: Mapping[str, Any], where: str = "") -> None:
    """Check the labels that the schema's keyword `labels` marks, and write them in their usual form, in place."""
    for key, subschema in schema.get("properties", {}).items():
        if "labels" in subschema and isinstance(config, dict):
            config[key] = _labels(f"{where}{key}", config[key], _KINDS_OF_LABELS[subschema["labels"]])
        elif isinstance(config.get(key), Mapping):
            _settle_labels(config[key], subschema, f"{where}{key}.")


def _labels(key: str, given: Any, find: Callable[[str], object]) -> Any:
    """Return one label or a list of labels, each in its usual form."""
    for label in [given] if isinstance(given, str) else given:
        _named(key, label, find)
    if find is metric:
        labels = [measure.label for measure in metrics_by_label(given, key).values()]
    else:
        labels = [usual_label(label) for label in estimators_by_label(given, key)]
    return labels[0] if isinstance(given, str) else labels


def _fill_in_defaults(config: Any, schema: Mapping[str, Any]) -> None:
    """Set missing keys to their defaults, in place and from the outside in, so that a default {} is filled in too."""
    if not isinstance(config, dict):
        return
    properties = schema.get("properties", {})
    for key, subschema in properties.items():
        if key not in config and "default" in subschema:
            config[key] = copy.deepcopy(subschema["default"])
    for key, value in config.items():
        subschema = properties.get(key, schema.get("additionalProperties"))
        if isinstance(subschema, Mapping):
            _fill_in_defaults(value, subschema)


def _one_line(error: ValidationError, where: str) -> str:
    """Return an error as one line that names the key and says what it may be."""
    key = ".".join([*([where] if where else []), *map(str, error.absolute_path)]) or "(top level)"
    if "propertyNames" in error.absolute_schema_path and error.validator == "maxLength":
        letters = f"it has {len(error.instance)} letters, and may have {error.validator_value}"
        return f"{key}: {error.instance!r:.80} cannot be a name: {letters}"
    if "propertyNames" in error.absolute_schema_path and error.validator == "type":
        return f"{key}: {error.instance!r:.80} cannot be a name{_QUOTE}"
    if "propertyNames" in error.absolute_schema_path:
        signs = "letters and digits, and spaces and . _ + - in between"
        return f"{key}: {error.instance!r} cannot be a name; it may be {signs}"
    if error.validator == "additionalProperties":
        allowed = list(error.schema.get("properties", {}))
        unknown = next(name for name in error.instance if name not in allowed)
        path = re.sub(r"^datasets\..*\.", "datasets.NAME.", f"{key}.{unknown}".removeprefix("(top level)."))
        if path in _GONE:
            return f"{path}: unknown key, which earlier versions had; {_GONE[path]}"
        near = difflib.get_close_matches(str(unknown), allowed, n=1)
        guess = f" (did you mean {near[0]}?)" if near else ""
        prefix = "" if key == "(top level)" else f"{key}: "
        return f"{prefix}unknown key {unknown!r}{guess}; it may be {', '.join(allowed)}"
    if error.validator == "required":
        missing = next(name for name in error.validator_value if name not in error.instance)
        return f"{key}: lacks the key {missing!r}"
    allowed, value = _ALLOWED.get(str(error.validator), error.message), error.validator_value
    if error.validator == "type" and isinstance(error.instance, str) and re.fullmatch(r"-?[\d.]+", error.instance):
        allowed += " (in --config, numbers inside of braces are text: write them into a file)"
    is_text = error.validator == "type" and "string" in value and not isinstance(error.instance, str | list | dict)
    if isinstance(value, list):
        value = (" or " if error.validator == "type" else ", ").join(map(str, value))
    return f"{key}: {allowed.replace('VALUE', str(value))}, not {_IN_SHORT.repr(error.instance)}{_QUOTE * is_text}"


_QUOTE = '; text that YAML reads as a number, true, false or null stands in quotation marks, as "1" or "on"'


_OF_GROUPS = "the library has metrics by groups: sampled_metrics.evaluate(..., groups=...)"
_GONE = {
    "estimator_study": "`estimators` takes any estimator, and sampled_metrics.plan compares sample sizes",
    "groups": _OF_GROUPS,
    "datasets.NAME.groups": _OF_GROUPS,
    "choices": "docs/reproduction.md has the counts, and examples/as-written.yaml the text as written",
    "seed_spread": "docs/seed-spread.csv has the spread",
    "ranking.threads": "say snakemake --set-threads rank=2",
    "ranking.memory": "say snakemake --set-resources rank:mem_mb=4000, in megabytes",
    "ranking.scatter": "say snakemake --set-scatter users=4",
}
"""What takes the place of keys that earlier versions had."""

_ALLOWED = {
    "enum": "may be VALUE",
    "const": "must be VALUE",
    "type": "must be of type VALUE",
    "minimum": "must be VALUE or more",
    "maximum": "must be VALUE or less",
    "exclusiveMinimum": "must be more than VALUE",
    "exclusiveMaximum": "must be less than VALUE",
    "minItems": "needs VALUE or more entries",
    "maxItems": "needs VALUE or fewer entries",
    "minProperties": "needs VALUE or more entries",
    "uniqueItems": "must not repeat an entry",
    "pattern": "must match VALUE",
    "minLength": "must not be empty",
    "maxLength": "must have at most VALUE letters",
}
_IN_SHORT = reprlib.Repr()
_IN_SHORT.maxstring = _IN_SHORT.maxother = _IN_SHORT.maxlong = 80


_MOST_VALUES = 100_000
"""Values that a config file may have, each alias counted as what it stands for."""


class _StrictLoader(yaml.SafeLoader):  # type: ignore[misc]
    """A loader of plain values that refuses a repeated key, and aliases that expand without end."""

    def construct_document(self, node: yaml.Node) -> Any:
        """Return the content of a file, whose aliases stand for a limited number of values."""
        sizes: dict[int, int] = {}

        def expanded(node: yaml.Node) -> int:
            if id(node) not in sizes:
                sizes[id(node)] = 0  # until the values below it are counted
                pairs = node.value if isinstance(node, yaml.CollectionNode) else []
                below = [value for pair in pairs for value in (pair if isinstance(pair, tuple) else [pair])]
                sizes[id(node)] = 1 + sum(map(expanded, below))
            size, line = sizes[id(node)], node.start_mark.line + 1
            if not size:
                raise ConfigError(f"line {line}: an alias stands for a value that holds the alias itself")
            if size > _MOST_VALUES:
                raise ConfigError(f"line {line}: its aliases expand to more than {_MOST_VALUES:,} values")
            return size

        expanded(node)
        return super().construct_document(node)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        """Return a mapping without repeated keys; keys that `<<` merges may be overridden."""
        seen = set()
        for key, _ in node.value:
            if key.tag == "tag:yaml.org,2002:merge" or not isinstance(key, yaml.ScalarNode):
                continue
            if (key.tag, key.value) in seen:
                raise ConfigError(f"line {key.start_mark.line + 1}: the key {key.value!r} is there twice")
            seen.add((key.tag, key.value))
        return super().construct_mapping(node, deep)


def read_config(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the content of a config file.

    Raises:
        ConfigError: the file cannot be read, is not a mapping in YAML (or JSON, which is YAML), has no keys, repeats a
            key, or has aliases that expand without end; the message names the file and the line.
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
        content = yaml.load(text, _StrictLoader)  # noqa: S506  # it is a SafeLoader
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{path}: is not text in UTF-8") from None
    except ConfigError as error:
        raise ConfigError(f"{path}, {error}") from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = f", line {mark.line + 1}" if mark else ""
        raise ConfigError(f"{path}{line}: {error.problem or error.context or 'is not YAML'}") from None
    except Exception as error:  # constructors fail too: a value does not fit its tag, or is nested too deep
        raise ConfigError(f"{path}: is not YAML: {reason(error)}") from None
    if content is None:
        raise ConfigError(f"{path}: has no keys, and a config file states some")
    if not isinstance(content, dict):
        raise ConfigError(f"{path}: must be a mapping of keys, not a {type(content).__name__}")
    return content


def check_config_files(arguments: Sequence[str]) -> str:
    """Return the folder of results that the config files among the arguments of snakemake name.

    End the program with one line if a config file is missing or wrong.
    """
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--configfile", "--configfiles", nargs="+", default=[])
    results = "results"
    for path in parser.parse_known_args(arguments)[0].configfile:
        try:
            pathvars = read_config(path).get("pathvars")
        except ConfigError as error:
            sys.exit(f"error: config: {error}")
        if isinstance(pathvars, dict):
            results = str(pathvars.get("results", results))
    return results
