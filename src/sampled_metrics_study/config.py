"""The config of a study: its layers, and the checks across its keys.

An error is one line that names the key.

The schema checks each key by itself (`sampled_metrics_study.schemas`).
"""

import copy
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from sampled_metrics.core.estimators import linear_estimator
from sampled_metrics.core.evaluation.compare import CompareOptions
from sampled_metrics.core.metrics import metric, metrics_by_label
from sampled_metrics.core.ranks.exact import ExactRanks, exact_ranks, require_same_events
from sampled_metrics.core.sampling.distributions import SamplingDesign
from sampled_metrics.errors import ConfigError, DataError
from sampled_metrics_study import reference
from sampled_metrics_study.data import formats
from sampled_metrics_study.data.negatives import require_negatives, split_at_hand
from sampled_metrics_study.data.records import ColumnError
from sampled_metrics_study.data.split import lack_of_times
from sampled_metrics_study.data.times import usual_date
from sampled_metrics_study.recommenders.recommender import config_schema
from sampled_metrics_study.recommenders.registry import recommender, recommender_type
from sampled_metrics_study.recommenders.simple import PrecomputedRanks
from sampled_metrics_study.schemas import check, settle_labels

T = TypeVar("T")

RESERVED = (
    "toy",
    "logs",
    "benchmarks",
    "report.html",
    "summary.html",
    "provenance.json",
    "README.md",
)
"""Names below results/ that no dataset may have."""


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
            defaults = _mapping(_mapping(_mapping(layer, "datasets"), name), "defaults")
            if unfit := [key for key in defaults if key in ("study", "datasets", "recommenders")]:
                raise ConfigError(f"datasets.{name}.defaults: cannot have the key {unfit[0]}")
            config = merged(config, defaults)
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
    # each entry by itself
    check(config, schema)
    _expand_home(config)
    for name, entry in config["recommenders"].items():
        check_recommender(entry, f"recommenders.{name}")
    config["recommenders"] = _with_seeds(config["recommenders"])
    for name in config["study"]:
        if name not in config["datasets"]:
            raise ConfigError(
                f"study: unknown dataset {name!r}; it may be {', '.join(config['datasets'])}"
            )
    for name, dataset in config["datasets"].items():
        if dataset["format"] is not None:
            file_format = _named(f"datasets.{name}.format", dataset["format"], formats.get)
            check(dataset["options"], file_format.options, f"datasets.{name}.options")
            _check_options(name, dataset["options"], file_format)
    # the input, and the keys that depend on it
    for name in config["study"]:
        if name in RESERVED:
            raise ConfigError(
                f"study: a dataset cannot be called {name!r}, as results/{name} has another use"
            )
        _check_sources(name, config, results)
    _check_split(config["split"])
    _check_use_of_split(config, schema)
    _check_times(config)
    _check_ratings(config)
    _check_sizes(config)
    _check_sizes_of_events(config)
    # metrics and estimators
    figure_6 = config["figures"]["figure-6"]
    if figure_6 and figure_6["metric"] is None:
        figure_6["metric"] = config["metrics"][0]
    budget = config["figures"]["budget"]
    if budget and budget["metric"] is None:
        with_cutoff = [label for label in config["metrics"] if metric(label).cutoff is not None]
        budget["metric"] = with_cutoff[0] if with_cutoff else "recall@10"
    settle_labels(config, schema)
    _check_solvable("estimators", config["estimators"], config["sampling"]["negatives"], config)
    if figure_6:
        key = "figures.figure-6.estimators"
        _check_solvable(key, figure_6["estimators"], figure_6["negatives"] or 100, config)
    CompareOptions.from_config(config).require_possible(metrics_by_label(config["metrics"]))
    if budget:
        _check_pair(budget["pair"], config["recommenders"])
    if config["toy"] is not None:
        figure_3 = schema["properties"]["figures"]["properties"]["figure-3"]["properties"]
        _check_toy(config["toy"], config["figures"], figure_3["negatives"]["default"])


def _check_solvable(
    key: str, labels: Sequence[str], negatives: int | Sequence[int], config: Mapping[str, Any]
) -> None:
    """Refuse an estimator whose equations cannot be solved for as many negatives.

    It is refused before anything is trained. With P(x | r) as binomial, the condition of the
    equations hardly depends on the number of candidates.
    """
    if config["estimator_model"] != "binomial":
        return
    without_variance = [
        label for label in labels if label.startswith("bv-") and float(label[3:]) == 0
    ]
    for label, m in product(without_variance, np.atleast_1d(negatives).tolist()):
        try:
            linear_estimator(label).weights(
                SamplingDesign(m, True), np.array([10 * m]), (metric("recall@10"),)
            )
        except DataError as error:
            raise ConfigError(f"{key}: {error}") from None


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


def _check_pair(pair: Sequence[str], recommenders: Mapping[str, Any]) -> None:
    """Refuse a pair that is not of two recommenders."""
    if pair and (len(set(pair)) != 2 or not set(pair) <= set(recommenders)):
        raise ConfigError(
            f"figures.budget.pair: must be two of {', '.join(recommenders)}, not {pair}"
        )


def _check_toy(
    toy: Mapping[str, Any], figures: Mapping[str, Any], default_sizes: Sequence[int]
) -> None:
    """Refuse ranks and sizes that are too large for the running example.

    Of default sizes, keep the others.
    """
    for name, ranks in toy["ranks"].items():
        if max(ranks) > toy["candidates"]:
            raise ConfigError(
                f"toy.ranks.{name}: rank {max(ranks)} is above toy.candidates ({toy['candidates']})"
            )
    if not toy["replacement"] and toy["negatives"] >= toy["candidates"]:
        raise ConfigError(
            f"toy.negatives: must be less than toy.candidates ({toy['candidates']}), without "
            "replacement"
        )
    all_negatives = toy["candidates"] - 1
    figure_3 = figures["figure-3"]
    if not figure_3:
        return
    if figure_3["negatives"] == default_sizes:
        figure_3["negatives"] = [m for m in default_sizes if m < all_negatives] or [1]
    if max(figure_3["negatives"]) >= all_negatives:
        raise ConfigError(
            f"figures.figure-3.negatives: must be less than {all_negatives}, all there are"
        )


def check_recommender(entry: dict[str, Any], where: str) -> None:
    """Check a recommender's config entry by the parameters of its type, and fill in defaults."""
    kind = entry["type"]
    schema = config_schema(_named(f"{where}.type", kind, recommender_type))
    schema["properties"]["type"] = {"const": kind}
    schema["properties"].setdefault("seeds", {"type": "array"})
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
            is_of_paper = _are_of_paper_users(files[0], name)
        else:
            is_of_paper = not reference.data_differences(config, name)
        datasets += [name] if is_of_paper else []
    return datasets


def _are_of_paper_users(source: PrecomputedRanks, dataset: str) -> bool:
    """Return whether ready-made ranks are of the paper's users.

    The result is false for a file that the job will refuse.
    """
    try:
        table = exact_ranks(source.file(dataset), **source.reading)
    except (ConfigError, DataError):
        return False
    return reference.has_paper_users(table)


def _expand_home(config: Mapping[str, Any]) -> None:
    """Write the home folder for ~ at the start of the paths of a config, in place."""
    ranks = [dataset["ranks"] for dataset in config["datasets"].values()]
    entries = [*config["datasets"].values(), *config["recommenders"].values()]
    places = [(files, name) for files in ranks for name in files]
    places += [(entry, key) for entry in entries for key in ("path", "test")]
    for mapping, key in places:
        path = mapping.get(key)
        if isinstance(path, str) and path.startswith("~"):
            mapping[key] = os.path.expanduser(path)


def _check_options(name: str, options: Mapping[str, Any], form: formats.Format) -> None:
    """Refuse options of a dataset that do not fit each other."""
    try:
        form.columns_by_role(**options)
    except ConfigError as error:
        raise ConfigError(f"datasets.{name}.options.{error}") from None


def _check_columns(name: str, config: Mapping[str, Any]) -> None:
    """Refuse a file of the user whose beginning lacks a column; nothing else is read."""
    dataset = config["datasets"][name]
    form = formats.get(dataset["format"])
    for key in ("path", "test"):
        if dataset[key]:
            try:
                formats.check_columns(
                    Path(dataset[key]), form, member=dataset["member"], options=dataset["options"]
                )
            except ColumnError as error:
                raise ConfigError(f"datasets.{name}.{key}: {error}") from None


def _check_sizes(config: Mapping[str, Any]) -> None:
    """Refuse ready-made ranks that cannot be read or paired, or of too few candidates."""
    sampling = config["sampling"]
    figure_6 = config["figures"]["figure-6"]
    sizes = {"sampling.negatives": int(np.max(sampling["negatives"]))}
    if figure_6 and figure_6["negatives"]:
        sizes["figures.figure-6.negatives"] = min(figure_6["negatives"])  # larger ones are left out
    tables: dict[str, dict[str, ExactRanks]] = {dataset: {} for dataset in config["study"]}
    for (dataset, name), source in precomputed_ranks(config).items():
        try:
            table = exact_ranks(source.file(dataset), **source.reading)
        except (ConfigError, DataError) as error:
            key = _key_of_ranks(dataset, name, config)
            raise ConfigError(f"{key}: {error}") from None
        fewest = int(table.candidates.min()) - 1
        for key, m in sizes.items():
            if m > fewest and not sampling["replacement"]:
                raise ConfigError(
                    f"{key}: {m} is more than {fewest}, the other candidates of a user of {dataset}"
                )
        tables[dataset][name] = table
    for dataset, tables_of_dataset in tables.items():
        try:
            require_same_events(tables_of_dataset)
        except DataError as error:
            raise ConfigError(f"recommenders, dataset {dataset}: {error}") from None


def _check_sizes_of_events(config: Mapping[str, Any]) -> None:
    """Refuse more negatives than the events of a dataset leave candidates.

    The file is at hand and small; the split tells of other datasets.
    """
    for name in _trained_datasets(config):
        split = split_at_hand(name, config)
        if split is not None:
            try:
                require_negatives(split, name, config)
            except DataError as error:
                raise ConfigError(str(error)) from None


def _check_times(config: Mapping[str, Any]) -> None:
    """Refuse a split by time of a dataset whose options name no times."""
    strategy = config["split"]["strategy"]
    if strategy == "random-event":
        return
    for name in _trained_datasets(config):
        dataset = config["datasets"][name]
        columns = dataset["options"].get("columns")
        has_times = columns is None or columns["timestamp"] is not None
        if not has_times and dataset["options"]["timestamp"] != "order" and not dataset["test"]:
            raise lack_of_times(strategy, name)


def _check_ratings(config: Mapping[str, Any]) -> None:
    """Refuse a lowest rating for a dataset whose options name no ratings."""
    for name in _trained_datasets(config):
        dataset = config["datasets"][name]
        columns = dataset["options"].get("columns")
        if dataset["min_rating"] != 0 and columns is not None and columns["rating"] is None:
            raise ConfigError(
                f"datasets.{name}.min_rating: is {dataset['min_rating']}, but options.columns "
                "names no column rating; name one, or leave it out"
            )


def _trained_datasets(config: Mapping[str, Any]) -> list[str]:
    """Return the datasets of a study on which a recommender is trained."""
    precomputed = precomputed_ranks(config)
    return [
        dataset
        for dataset in config["study"]
        if any((dataset, name) not in precomputed for name in config["recommenders"])
    ]


def _key_of_ranks(dataset: str, recommender_name: str, config: Mapping[str, Any]) -> str:
    """Return the key that names the file of ready-made ranks."""
    if recommender_name in config["datasets"][dataset]["ranks"]:
        return f"datasets.{dataset}.ranks.{recommender_name}"
    return f"recommenders.{recommender_name}.path"


def _check_sources(dataset_name: str, config: Mapping[str, Any], results: str) -> None:
    """Refuse a dataset without the input of its recommenders: events, or files of ranks."""
    dataset = config["datasets"][dataset_name]
    where = f"datasets.{dataset_name}"
    recommenders = config["recommenders"]
    for name in dataset["ranks"]:
        if name not in recommenders:
            raise ConfigError(
                f"{where}.ranks: unknown recommender {name!r}; it may be {', '.join(recommenders)}"
            )
    precomputed = precomputed_ranks(config)
    for name in recommenders:
        if (dataset_name, name) in precomputed:
            key = _key_of_ranks(dataset_name, name, config)
            _check_file(key, precomputed[dataset_name, name].file(dataset_name), config, results)
    to_train = [name for name in recommenders if (dataset_name, name) not in precomputed]
    if not to_train:
        return
    if dataset["format"] is None:
        raise ConfigError(
            f"{where}: lacks the key 'format', for {', '.join(to_train)} to be trained"
        )
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
    _check_columns(dataset_name, config)


def _check_split(split: dict[str, Any]) -> None:
    """Refuse options that the strategy of the split does not have, and settle its date."""
    if isinstance(split["test_from"], str):
        split["test_from"] = usual_date(split["test_from"], "split.test_from")
    time_keys = [key for key in ("test_from", "test_size") if split[key] is not None]
    if split["strategy"] != "global-time" and time_keys:
        raise ConfigError(
            f"split.{time_keys[0]}: is for the strategy global-time, not {split['strategy']}"
        )
    if split["strategy"] == "global-time" and len(time_keys) != 1:
        raise ConfigError("split.strategy: global-time needs either test_from or test_size")
    if split["strategy"] == "global-time" and split["held_out"] != 1:
        raise ConfigError(
            "split.held_out: is for the strategies last-event and random-event, not global-time"
        )
    if split["strategy"] != "last-event" and split["ties"] != "first":
        raise ConfigError(f"split.ties: is for the strategy last-event, not {split['strategy']}")


def _check_use_of_split(config: Mapping[str, Any], schema: Mapping[str, Any]) -> None:
    """Refuse options of the split if all datasets of the study have a split of their own."""
    if not all(config["datasets"][name]["test"] for name in config["study"]):
        return
    for key, option in schema["properties"]["split"]["properties"].items():
        if key != "min_training_events" and config["split"][key] != option["default"]:
            raise ConfigError(
                f"split.{key}: has no effect, as each dataset has a split of its own (test); "
                "leave it out"
            )


def _check_file(key: str, path: str, config: Mapping[str, Any], results: str) -> None:
    """Refuse a path that is no file, is a result of this study, or has a pattern of snakemake."""
    if "{" in path or "}" in path:
        raise ConfigError(
            f"{key}: {path!r} has braces, which cannot be in the name of a file here; rename it"
        )
    real_path = "" if "\0" in path else os.path.realpath(path)
    for name in (*config["study"], *RESERVED):
        result = os.path.realpath(Path(results, name))
        if real_path == result or real_path.startswith(result + os.sep):
            where = f"{results}/{name}" + ("" if real_path == result else "/")
            raise ConfigError(
                f"{key}: {path!r} is among the results of this study, in {where}; move it"
            )
    if os.path.isdir(path):
        raise ConfigError(
            f"{key}: {path!r} is a folder; write its parts into one file, as "
            "pandas.read_parquet(folder).to_parquet(file) does"
        )
    if not os.path.isfile(path):  # also if the name is too long or has a zero byte
        raise ConfigError(f"{key}: there is no file {path!r} (from {Path.cwd()})")


def _named(key: str, name: str, find: Callable[[str], T]) -> T:
    """Return what a function finds by a name; an error of the function names the key."""
    try:
        return find(name)
    except ConfigError as error:
        raise ConfigError(f"{key}: {error}") from None
