# Needs: config. Makes: nothing; it checks the config and holds the helpers of the other files.
import codecs
import json
import locale
import math
import os
import shlex
import sys
from pathlib import Path

ROOT = Path(workflow.basedir)
if set("{}") & set(str(ROOT)):
    sys.exit(
        f"error: {ROOT}: a folder with {{ or }} in its name, which snakemake takes for names of its own; "
        "move the project to another"
    )
# snakemake reads the report's captions in the encoding of the locale
if codecs.lookup(locale.getpreferredencoding(False)).name != "utf-8":
    sys.exit(
        f"error: Python takes text for {locale.getpreferredencoding(False)} here, not for UTF-8; "
        "say export PYTHONUTF8=1, and run again"
    )
LIBRARY = ROOT / "src"
# Scripts import the library from here, installed or not. One thread, so that sums always have the same order.
path = shlex.quote(str(LIBRARY))
shell.prefix(
    f"export PYTHONPATH={path}:${{{{PYTHONPATH:-}}}} "
    "OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1; "
)
if str(LIBRARY) not in sys.path:
    sys.path.insert(0, str(LIBRARY))

from sampled_metrics import _files
from sampled_metrics.paper import reference
from sampled_metrics.workflow.config import (
    complete,
    precomputed_ranks,
    merge_recommenders,
)
from sampled_metrics.workflow.config_files import read_config, require_modest
from sampled_metrics.data import download, formats
from sampled_metrics.data.split import Shape
from sampled_metrics.recommenders import recommender
from sampled_metrics.workflow.fingerprint import fingerprint
from sampled_metrics.data.reading import files_beside
from sampled_metrics.workflow.code_dependencies import library_files
from sampled_metrics.errors import ConfigError

try:
    written = [ROOT / "config.yaml", *workflow.overwrite_configfiles]
    require_modest(config, "all together")
    merge_recommenders(
        config, [*map(read_config, written), workflow.config_settings.config]
    )
    complete(config, read_config(ROOT / "workflow/schemas/config.schema.yaml"))
except ConfigError as error:
    sys.exit(f"error: config: {error}")


wildcard_constraints:
    dataset="|".join(map(re.escape, config["study"])),
    recommender="|".join(map(re.escape, config["recommenders"])),


PRECOMPUTED = precomputed_ranks(config)


def datasets_where(made):
    """A pattern for the wildcard dataset of a rank table: datasets with precomputed ranks, or those without."""
    pairs = (
        "|".join(
            re.escape(f"{dataset}/ranks/{name}.csv.gz") for dataset, name in PRECOMPUTED
        )
        or "(?!)"
    )
    return f"(?{'=' if made else '!'}(?:{pairs})$)(?:{'|'.join(map(re.escape, config['study']))})"


def code(script):
    """The library files that a script imports, which snakemake does not see."""
    return [os.path.relpath(path) for path in library_files(ROOT / "scripts" / script)]


def archive(wildcards):
    """The dataset's file: the user's copy or the download."""
    dataset = config["datasets"][wildcards.dataset]
    return dataset["path"] or download_path(wildcards.dataset)


def downloads():
    """A pattern for the wildcard dataset of a download: datasets without a path of their own."""
    names = [
        name
        for name in config["study"]
        if config["datasets"][name]["urls"] and not config["datasets"][name]["path"]
    ]
    pairs = "|".join(
        re.escape(download_path(name).removeprefix("data/")) for name in names
    )
    return f"(?=(?:{pairs or '(?!)'})$)(?:{'|'.join(map(re.escape, config['study']))})"


def fingerprints(*paths):
    """Fingerprints of the user's files, to notice a file that replaces one; a path that is not given has none."""
    return [fingerprint(path) for path in paths if path]


def download_path(dataset):
    return (
        f"data/{dataset}/{download.file_name(config['datasets'][dataset]['urls'][0])}"
    )


def beside_archive(wildcards):
    """The second file of a split that the user has in two files."""
    dataset = config["datasets"][wildcards.dataset]
    if not dataset["path"]:
        return []
    form = formats.get(dataset["format"])
    return files_beside(Path(dataset["path"]), form, member=dataset["member"])


def each_recommender(path):
    """The path for every recommender of the study."""
    return expand(path, recommender=config["recommenders"], allow_missing=True)


# What a job asks a cluster for: several times what results/benchmarks/ shows, and more with each retry. A change of it runs
# nothing again, and it does not limit a run on one machine.


def data_mb(input):
    """MB of a job's input without code. Snakemake waits for input that is not there yet (input.size_mb warns of it)."""
    data = set(input) - set(input.get("code", []))
    return sum(map(os.path.getsize, data)) / 2**20


def memory(per_mb=0):
    """MB of memory: Python and its libraries, and per_mb for each MB of data."""
    return lambda wildcards, input, attempt: attempt * (
        1000 + math.ceil(per_mb * data_mb(input))
    )


def minutes(per_mb=0):
    """Minutes: the start of a job on a slow file system, and per_mb for each MB of data."""
    return lambda wildcards, input, attempt: attempt * (
        10 + math.ceil(per_mb * data_mb(input))
    )


def shape(split):
    """The size of a split; of FileNotFoundError, snakemake concludes that the split is yet to be made."""
    try:
        facts = json.loads(
            Path(split).with_name("dataset.json").read_text(encoding="utf-8")
        )
    except FileNotFoundError as error:
        raise FileNotFoundError(error.errno, error.strerror, str(split)) from None
    return Shape(facts["users"], facts["items"], facts["training_events"])


SNAKEMAKE_MB = 300  # what snakemake takes beside the script


def train_memory(wildcards, input, attempt):
    """MB that the recommender asks for."""
    chosen = recommender(config["recommenders"][wildcards.recommender])
    needed = chosen.training_memory(shape(input.split), config["ranking"]["memory"])
    return attempt * (SNAKEMAKE_MB + math.ceil(needed / 1e6))


def rank_memory(wildcards, input, attempt):
    """MB: the model twice, the events, and similarities of all items to all, but no more than the budget."""
    _, items, events = shape(input.split)
    held = 2 * data_mb(input) + (100 * events + 8 * items**2) / 1e6
    needed = math.ceil(700 + 150 * config["ranking"]["threads"] + held)
    return attempt * (SNAKEMAKE_MB + min(needed, config["ranking"]["memory"]))


def train_minutes(wildcards, input, attempt):
    """Minutes: by events, for factors, and by pairs of items, for similarities."""
    _, items, events = shape(input.split)
    return attempt * (10 + math.ceil(events / 1e5 + items**2 / 1e7))


def rank_minutes(wildcards, input, attempt):
    """Minutes: by pairs of a user and an item."""
    users, items, _ = shape(input.split)
    return attempt * (10 + math.ceil(users * items / 1e8))


# whether the estimators take P(x | r) as binomial
ASSUME_REPLACEMENT = (
    config["estimator_model"] == "binomial" or config["sampling"]["replacement"]
)
KINDS = {
    "table": ["csv", "md", "tex", "html"],
    "figure": ["csv", "svg", "png"],
    "estimator-study": ["csv", "md", "html", "svg", "png"],
    "estimator-study-order": ["csv"],
    "fidelity": ["csv", "md", "html"],
    "claims": ["csv", "md", "html"],
}


def result_names():
    """Names of the results of this config, by folder."""
    beside_paper = ["fidelity", "claims"]
    toy = ["table-1", "table-2", "figure-1", "figure-2", "figure-3", "figure-4"]
    names = {"toy": toy + (beside_paper if reference.covers_toy(config) else [])}
    for dataset in config["study"]:
        names[dataset] = ["table-3", "table-4", "figure-5", "figure-6"]
        if config["estimator_study"]["estimators"]:
            names[dataset] += ["estimator-study", "estimator-study-order"]
        if reference.covers_study(dataset, config):
            names[dataset] += beside_paper
    return names


def result_files(folder, names):
    """Files of results, each in all formats of its kind."""
    kinds = {name: KINDS[re.sub("-[0-9]$", "", name)] for name in names}
    return [f"results/{folder}/{name}.{kind}" for name in names for kind in kinds[name]]


def all_results():
    return [
        path
        for folder, names in result_names().items()
        for path in result_files(folder, names)
    ]


def remove_parts_of_files():
    """Remove the temporary files of jobs that were killed."""
    for path in Path("results").rglob(".*"):
        if _files.is_temporary(path):
            path.unlink(missing_ok=True)


def remove_other_results():
    """Remove optional results of an earlier run with another config."""
    optional = {"estimator-study", "estimator-study-order", "fidelity", "claims"}
    for folder, names in result_names().items():
        for path in result_files(folder, optional - set(names)):
            Path(path).unlink(missing_ok=True)
