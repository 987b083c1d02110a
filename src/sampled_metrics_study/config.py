"""The config of a study: its layers, and the checks across its keys.

An error is one line that names the key.

The schema checks each key by itself (`sampled_metrics_study.schemas`).
"""

import copy
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from sampled_metrics.core.estimators import estimators_by_label
from sampled_metrics.core.evaluation.compare import CompareOptions
from sampled_metrics.core.metrics import metric, metrics_by_label
from sampled_metrics.core.ranks.exact import exact_ranks, require_same_events
from sampled_metrics.errors import ConfigError, DataError
from sampled_metrics_study import reference
from sampled_metrics_study.data import formats
from sampled_metrics_study.data.negatives import require_negatives, split_at_hand
from sampled_metrics_study.data.split import lack_of_times
from sampled_metrics_study.data.times import usual_date
from sampled_metrics_study.recommenders.recommender import config_schema
from sampled_metrics_study.recommenders.registry import recommender, recommender_type
from sampled_metrics_study.recommenders.simple import PrecomputedRanks
from sampled_metrics_study.schemas import check


def assemble(
    datasets: Mapping[str, Any],
    study: Mapping[str, Any],
    stated: Mapping[str, Any],
    user_config: Mapping[str, Any],
) -> dict[str, Any]:
    """Return the config of a study, layer by layer: the last layer that states a key counts.

    The layers are the datasets that are known (datasets.yaml, and those of config.yaml), the config
    of the user over config.yaml or in its place (stated), and that of the user alone. Each has the
    key `defaults` of its datasets that are studied below itself. Recommenders, and ranks of the
    running example, replace those of a layer below.
    """
    names = stated.get("study")
    names = names if isinstance(names, list) else []  # the schema refuses others
    known = merged(datasets, {"datasets": study["datasets"]})
    config: dict[str, Any] = {}
    for layer in (known, stated, user_config):
        for name in names:
            dataset = _mapping(_mapping(layer, "datasets"), name)
            config = merged(config, _mapping(dataset, "defaults"))
        config = merged(config, layer)
    for layer in (stated, user_config):
        if "recommenders" in layer:
            config["recommenders"] = copy.deepcopy(layer["recommenders"])
        if ranks := _mapping(_mapping(layer, "toy"), "ranks"):
            config["toy"]["ranks"] = copy.deepcopy(dict(ranks))
    return config


def _mapping(whole: Mapping[str, Any], key: Any) -> Mapping[str, Any]:
    """Return what is below a key, if it is a mapping; otherwise an empty one."""
    below = whole.get(key) if isinstance(key, str) else None
    return below if isinstance(below, Mapping) else {}


def merged(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Return one config laid over another, key by key."""
    config = copy.deepcopy(dict(below))
    for key, value in above.items():
        if isinstance(value, Mapping):
            config[key] = merged(_mapping(config, key), value)
        else:
            config[key] = copy.deepcopy(value)
    return config


def complete(config: dict[str, Any], schema: Mapping[str, Any], results: str = "results") -> None:
    """Fill in the defaults of a config, in place, and check it.

    Args:
        config: the config of a study, as `assemble` returns it.
        schema: its JSON schema.
        results: the folder of results.

    Raises:
        ConfigError: a key is wrong, alone or with others.
    """
    check(config, schema)
    properties = schema["properties"]
    for name, entry in config["recommenders"].items():
        check_recommender(entry, f"recommenders.{name}")
    config["recommenders"] = _with_seeds(config["recommenders"])
    for name, dataset in config["datasets"].items():
        if dataset["format"] is not None:
            with _named(f"datasets.{name}.format: "):
                file_format = formats.get(dataset["format"])
            where = f"datasets.{name}.options"
            check(dataset["options"], file_format.options, where)
            with _named(f"{where}."):
                file_format.columns_by_role(**dataset["options"])
    _complete_split(config["split"])
    reserved = properties["study"]["items"]["not"]["enum"]
    written = [Path(results, name) for name in (*reserved, *config["study"])]
    for name in config["study"]:
        if name not in config["datasets"]:
            known = ", ".join(config["datasets"])
            raise ConfigError(f"study: unknown dataset {name!r}; it may be {known}")
        _check_ranks(name, config, written)
        _check_events(name, config, written)
    _check_use_of_split(config, properties["split"]["properties"])
    CompareOptions.from_config(config).require_possible(metrics_by_label(config["metrics"]))
    estimators_by_label(config["estimators"])
    if (figure_6 := config["figures"]["figure-6"]) and figure_6["metric"] is None:
        figure_6["metric"] = config["metrics"][0]
    if budget := config["figures"]["budget"]:
        _complete_budget(budget, config)
    for name, ranks in (config["toy"] or {"ranks": {}})["ranks"].items():
        if max(ranks) > config["toy"]["candidates"]:
            raise ConfigError(f"toy.ranks.{name}: {max(ranks)} is above toy.candidates")


def _complete_split(split: dict[str, Any]) -> None:
    """Settle the date of a split by time, and refuse one without a time, or with two."""
    if isinstance(split["test_from"], str):
        split["test_from"] = usual_date(split["test_from"], "split.test_from")
    times = [key for key in ("test_from", "test_size") if split[key] is not None]
    if split["strategy"] == "global-time" and len(times) != 1:
        raise ConfigError("split.strategy: global-time needs either test_from or test_size")


def _with_seeds(recommenders: Mapping[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return the recommenders, in which one with seeds is one for each of its seeds."""
    expanded = {}
    for name, entry in recommenders.items():
        seeds = entry.get("seeds")
        if seeds and not recommender(entry).is_random:
            raise ConfigError(
                f"recommenders.{name}.seeds: type {entry['type']} has no random start; leave it out"
            )
        for seed in seeds or []:
            expanded[f"{name} seed {seed}"] = {**entry, "seeds": [seed]}
        if not seeds:
            expanded[name] = entry
    return expanded


def _complete_budget(budget: dict[str, Any], config: Mapping[str, Any]) -> None:
    """Fill in the metric of what scores buy, and refuse one without a cut-off, or another pair."""
    if budget["metric"] is None:
        with_cutoff = [label for label in config["metrics"] if metric(label).cutoff is not None]
        budget["metric"] = with_cutoff[0] if with_cutoff else "recall@10"
    if metric(budget["metric"]).cutoff is None:
        raise ConfigError("figures.budget.metric: must have a cut-off, such as recall@10")
    names = list(config["recommenders"])
    pair = budget["pair"]
    if pair and (len(pair) != 2 or not set(pair) <= set(names)):
        raise ConfigError(f"figures.budget.pair: must be two of {', '.join(names)}, not {pair}")


def check_recommender(entry: dict[str, Any], where: str) -> None:
    """Check a recommender's config entry by the parameters of its type, and fill in defaults."""
    kind = entry["type"]
    with _named(f"{where}.type: "):
        schema = config_schema(recommender_type(kind))
    schema["properties"]["type"] = {"const": kind}
    schema["properties"].setdefault("seeds", {"type": "array"})
    check(entry, schema, where)
    with _named(f"{where}."):  # a check of the type itself, beyond its schema
        recommender(entry)


def precomputed_ranks(config: Mapping[str, Any]) -> dict[tuple[str, str], PrecomputedRanks]:
    """Return the precomputed ranks of a study by (dataset, recommender).

    A dataset has them in its key `ranks`; a recommender has them by its type ranks.
    """
    precomputed = {}
    for dataset in config["study"]:
        for name, entry in config["recommenders"].items():
            file = config["datasets"][dataset]["ranks"].get(name)
            source = recommender(entry)
            if file and isinstance(source, PrecomputedRanks):
                # the options of the recommender hold for the file of the dataset, too
                precomputed[dataset, name] = replace(source, path=file)
            elif file:
                precomputed[dataset, name] = PrecomputedRanks(file)
            elif isinstance(source, PrecomputedRanks):
                precomputed[dataset, name] = source
    return precomputed


def compared_with_paper(config: Mapping[str, Any]) -> list[str]:
    """Return the datasets of a study whose Tables 3 and 4 are compared with the printed ones.

    The sampling, recommenders, metrics and estimators must cover the paper's. The data must be the
    paper's: ready-made ranks have its users and candidates, and trained recommenders are of the
    dataset ml-1m, whole, with its last events held out.
    """
    if reference.study_differences(config):
        return []
    precomputed = precomputed_ranks(config)
    datasets = []
    for name in config["study"]:
        files = [
            precomputed[name, label]
            for label in reference.RECOMMENDERS
            if (name, label) in precomputed
        ]
        if files:
            table = exact_ranks(files[0].file(name), **files[0].reading)
            is_of_paper = reference.has_paper_users(table)
        else:
            is_of_paper = not reference.data_differences(config, name)
        datasets += [name] if is_of_paper else []
    return datasets


def _check_ranks(dataset_name: str, config: Mapping[str, Any], written: Sequence[Path]) -> None:
    """Refuse ready-made ranks that cannot be read or paired, or that have too few candidates."""
    ranks = config["datasets"][dataset_name]["ranks"]
    names = config["recommenders"]
    for name in ranks:
        if name not in names:
            raise ConfigError(
                f"datasets.{dataset_name}.ranks: unknown recommender {name!r}; it may be "
                f"{', '.join(names)}"
            )
    tables = {}
    for (dataset, name), source in precomputed_ranks(config).items():
        if dataset == dataset_name:
            path = source.file(dataset)
            key = (
                f"datasets.{dataset}.ranks.{name}" if name in ranks else f"recommenders.{name}.path"
            )
            with _named(f"{key}: "):
                _require_file(path, written)
                tables[name] = exact_ranks(path, **source.reading)
            require_negatives(tables[name].candidates, tables[name].users, dataset, config)
    with _named(f"recommenders, dataset {dataset_name}: "):
        require_same_events(tables)


def _check_events(dataset_name: str, config: Mapping[str, Any], written: Sequence[Path]) -> None:
    """Refuse a dataset whose events recommenders cannot be trained on, as far as its files show."""
    dataset = config["datasets"][dataset_name]
    where = f"datasets.{dataset_name}"
    precomputed = precomputed_ranks(config)
    trained = [name for name in config["recommenders"] if (dataset_name, name) not in precomputed]
    if not trained:
        return
    if dataset["format"] is None:
        names = ", ".join(trained)
        raise ConfigError(f"{where}: lacks the key 'format', for {names} to be trained")
    if not dataset["path"] and not dataset["urls"]:
        raise ConfigError(f"{where}: give either urls or a path")
    for key in ("path", "test"):
        if dataset[key]:
            with _named(f"{where}.{key}: "):
                _require_file(dataset[key], written)
                formats.check_columns(
                    Path(dataset[key]),
                    formats.get(dataset["format"]),
                    member=dataset["member"],
                    options=dataset["options"],
                )
    options = dataset["options"]
    columns = options.get("columns")
    if columns and columns["rating"] is None and dataset["min_rating"] != 0:
        raise ConfigError(f"{where}.min_rating: needs a column rating in options.columns")
    strategy = config["split"]["strategy"]
    is_by_time = strategy != "random-event" and not dataset["test"]
    has_times = not columns or columns["timestamp"] or options["timestamp"] == "order"
    if is_by_time and not has_times:
        raise lack_of_times(strategy, dataset_name)
    split = split_at_hand(dataset_name, config)
    if split is not None:
        users = split.user_ids[split.user]
        require_negatives(split.candidates, users, dataset_name, config)


def _check_use_of_split(config: Mapping[str, Any], options: Mapping[str, Any]) -> None:
    """Refuse options of the split if all datasets of the study have a split of their own."""
    if not all(config["datasets"][name]["test"] for name in config["study"]):
        return
    for key, option in options.items():
        if key != "min_training_events" and config["split"][key] != option["default"]:
            raise ConfigError(
                f"split.{key}: has no effect, as each dataset has a split of its own (test)"
            )


def _require_file(path: str, written: Sequence[Path]) -> None:
    """Refuse a path that is no file, is a result of this study, or has a pattern of snakemake."""
    if set(path) & set("{}\0"):
        raise ConfigError(f"{path!r} has a brace or a zero byte, which no name of a file has here")
    real_path = Path(os.path.realpath(path))
    for place in written:
        if real_path.is_relative_to(os.path.realpath(place)):
            raise ConfigError(f"{path!r} is among the results of this study, in {place}; move it")
    if os.path.isdir(path):
        raise ConfigError(
            f"{path!r} is a folder; write its parts into one file, as "
            "pandas.read_parquet(folder).to_parquet(file) does"
        )
    if not os.path.isfile(path):  # also if the name is too long
        raise ConfigError(f"there is no file {path!r} (from {Path.cwd()})")


@contextmanager
def _named(beginning: str) -> Iterator[None]:
    """Begin the message of an error of the block with a key."""
    try:
        yield
    except (ConfigError, DataError) as error:
        raise ConfigError(f"{beginning}{error}") from None
