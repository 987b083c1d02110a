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
# snakemake reads the report's captions as the locale says
if codecs.lookup(locale.getpreferredencoding(False)).name != "utf-8":
    sys.exit(
        f"error: Python takes text for {locale.getpreferredencoding(False)} here, not for UTF-8; "
        "say export PYTHONUTF8=1, and run again"
    )
LIBRARY = ROOT / "src"
# The scripts import the library from here, installed or not. One thread each, so that sums have one order.
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
    """A pattern for the wildcard dataset of a rank table: where its ranks are ready-made, or where they are not."""
    pairs = (
        "|".join(
            re.escape(f"{dataset}/ranks/{name}.csv.gz") for dataset, name in PRECOMPUTED
        )
        or "(?!)"
    )
    return f"(?{'=' if made else '!'}(?:{pairs})$)(?:{'|'.join(map(re.escape, config['study']))})"


def code(script):
    """The library files that a script depends on: snakemake sees the script itself, but not what it imports."""
    return [os.path.relpath(path) for path in library_files(ROOT / "scripts" / script)]


def archive(wildcards):
    """The dataset's file: a copy of the user's own, or the download."""
    dataset = config["datasets"][wildcards.dataset]
    return dataset["path"] or download_path(wildcards.dataset)


def downloads():
    """A pattern for the wildcard dataset of a download: nothing that a dataset has a path to is ever one."""
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
    """What tells these files of the user's own from any others in their place; those that are not named have none."""
    return [fingerprint(path) for path in paths if path]


def download_path(dataset):
    return (
        f"data/{dataset}/{download.file_name(config['datasets'][dataset]['urls'][0])}"
    )


def beside_archive(wildcards):
    """The other file of a split that the user has in two files."""
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


def negatives_are_replaced(model):
    """Whether the estimators take P(x | r) as binomial."""
    return True if model == "binomial" else config["sampling"]["replacement"]


def rendered(path, kinds):
    return expand(f"{path}.{{kind}}", kind=kinds, allow_missing=True)


ESTIMATOR_STUDY = rendered(
    "results/{dataset}/estimator-study", ["csv", "md", "html", "svg", "png"]
)


def toy_results():
    tables = rendered("results/toy/table-{n}", ["csv", "md", "tex", "html"])
    figures = rendered("results/toy/figure-{n}", ["csv", "svg", "png"])
    compared = rendered("results/toy/{what}", ["csv", "md", "html"])
    return [
        *expand(tables, n=[1, 2]),
        *expand(figures, n=[1, 2, 3, 4]),
        *(expand(compared, what=["fidelity", "claims"]) if toy_is_the_papers() else []),
    ]


def study_results():
    tables = rendered("results/{dataset}/table-{n}", ["csv", "md", "tex", "html"])
    figures = rendered("results/{dataset}/figure-{n}", ["csv", "svg", "png"])
    compared = rendered("results/{dataset}/{what}", ["csv", "md", "html"])
    return [
        *expand(tables, dataset=config["study"], n=[3, 4]),
        *expand(figures, dataset=config["study"], n=[5, 6]),
        *expand(
            ESTIMATOR_STUDY if config["estimator_study"]["estimators"] else [],
            dataset=config["study"],
        ),
        *expand(
            compared,
            dataset=[name for name in config["study"] if has_printed_numbers(name)],
            what=["fidelity", "claims"],
        ),
    ]


def toy_is_the_papers():
    """Whether Tables 1 and 2 and Figures 2-4 are of what the paper's numbers and claims are about."""
    return reference.covers_toy(config)


def has_printed_numbers(dataset):
    """Whether the study of a dataset is the one that the paper's numbers and claims are about."""
    return reference.covers_study(dataset, config)


def remove_what_killed_jobs_left():
    """Remove files that a job was writing, under a name of its own, when it was killed."""
    for path in Path("results").rglob(".*"):
        if _files.is_temporary(path):
            path.unlink(missing_ok=True)


def remove_comparisons_that_do_not_apply():
    """Remove what an earlier run, of another study, left beside the results: comparisons with the paper, or of estimators."""
    others = [name for name in config["study"] if not has_printed_numbers(name)]
    for folder in [*others, *([] if toy_is_the_papers() else ["toy"])]:
        for path in rendered(f"results/{folder}/{{what}}", ["csv", "md", "html"]):
            for what in ("fidelity", "claims"):
                Path(path.format(what=what)).unlink(missing_ok=True)
    if not config["estimator_study"]["estimators"]:
        for dataset in config["study"]:
            for path in (
                *ESTIMATOR_STUDY,
                "results/{dataset}/estimator-study-order.csv",
            ):
                Path(path.format(dataset=dataset)).unlink(missing_ok=True)
