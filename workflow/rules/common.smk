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
    sys.exit(f"error: {ROOT}: a folder with {{ or }} in its name, which snakemake takes for its own; move the project")
# snakemake reads the report's captions in the encoding of the locale
encoding = locale.getpreferredencoding(False)
if codecs.lookup(encoding).name != "utf-8":
    sys.exit(f"error: Python takes text for {encoding} here, not for UTF-8; say export PYTHONUTF8=1, and run again")
LIBRARY = str(ROOT / "src")
# Scripts import the library from here, installed or not. One thread, so that sums always have the same order.
shell.prefix(
    f"export PYTHONPATH={shlex.quote(LIBRARY)}:${{{{PYTHONPATH:-}}}} "
    "OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1; "
)
if LIBRARY not in sys.path:
    sys.path.insert(0, LIBRARY)

from sampled_metrics import _files
from sampled_metrics.data import download, formats
from sampled_metrics.data.reading import files_beside
from sampled_metrics.data.split import Shape
from sampled_metrics.errors import ConfigError
from sampled_metrics.paper import reference
from sampled_metrics.recommenders import recommender
from sampled_metrics.workflow.code_dependencies import library_files
from sampled_metrics.workflow.config import complete, merge_recommenders, precomputed_ranks
from sampled_metrics.workflow.config_files import read_config, require_modest
from sampled_metrics.workflow.fingerprint import fingerprint

try:
    written = [ROOT / "config.yaml", *workflow.overwrite_configfiles]
    require_modest(config, "all together")
    merge_recommenders(config, [*map(read_config, written), workflow.config_settings.config])
    complete(config, read_config(ROOT / "workflow/schemas/config.schema.yaml"))
except ConfigError as error:
    sys.exit(f"error: config: {error}")

DATASETS = "|".join(map(re.escape, config["study"]))


wildcard_constraints:
    dataset=DATASETS,
    recommender="|".join(map(re.escape, config["recommenders"])),


RANKS = "results/{dataset}/ranks/{recommender}.csv.gz"
PRECOMPUTED = precomputed_ranks(config)
DOWNLOADS = {
    name: f"data/{name}/{download.file_name(config['datasets'][name]['urls'][0])}"
    for name in config["study"]
    if config["datasets"][name]["urls"] and not config["datasets"][name]["path"]
}
# Parameters of rules; the estimators may take P(x | r) as binomial.
DESIGN = {"replacement": config["sampling"]["replacement"]}
DESIGN["assume_replacement"] = DESIGN["replacement"] or config["estimator_model"] == "binomial"
EVALUATION = {key: config[key] for key in ("sampling", "estimators", "metrics")}
EVALUATION["assume_replacement"] = DESIGN["assume_replacement"]


def dataset_of(paths, *, others=False):
    """A pattern for the wildcard dataset in these paths below a folder, or in all other paths."""
    listed = "|".join(re.escape(path.split("/", 1)[1]) for path in paths)
    return f"(?{'!' if others else '='}(?:{listed or '(?!)'})$)(?:{DATASETS})"


def code(script):
    """The library files that a script imports, which snakemake does not see."""
    return [os.path.relpath(path) for path in library_files(ROOT / "scripts" / script)]


def own_files(wildcards):
    """The dataset's files that are the user's: none, the one at path, or that and the second file of its split."""
    dataset = config["datasets"][wildcards.dataset]
    if not dataset["path"]:
        return []
    path, form = Path(dataset["path"]), formats.get(dataset["format"])
    return [dataset["path"], *files_beside(path, form, member=dataset["member"])]


def each_recommender(path):
    """The path for every recommender of the study."""
    return expand(path, recommender=config["recommenders"], allow_missing=True)


# What a job asks a cluster for: several times what results/benchmarks/ shows, and more with each retry. A change of it
# runs nothing again, and it does not limit a run on one machine.


def data_mb(input):
    """MB of a job's input without code. Snakemake waits for input that is not there yet (input.size_mb warns of it)."""
    data = set(input) - set(input.get("code", []))
    return sum(map(os.path.getsize, data)) / 2**20


def per_mb(memory=0, minutes=0):
    """MB of memory and minutes: Python's start with its libraries, and so much for each MB of data."""
    return dict(
        mem_mb=lambda wildcards, input, attempt: attempt * (1000 + math.ceil(memory * data_mb(input))),
        runtime=lambda wildcards, input, attempt: attempt * (10 + math.ceil(minutes * data_mb(input))),
    )


def shape(split):
    """The size of a split; of FileNotFoundError, snakemake concludes that the split is yet to be made."""
    try:
        facts = json.loads(Path(split).with_name("dataset.json").read_text(encoding="utf-8"))
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


KINDS = {
    "table": ["csv", "md", "tex", "html"],
    "figure": ["csv", "svg", "png"],
    "proof": ["csv", "svg", "png"],
    "proof-pairs": ["csv"],
    "estimator-study": ["csv", "md", "html", "svg", "png"],
    "estimator-study-order": ["csv"],
    "fidelity": ["csv", "md", "html"],
    "claims": ["csv", "md", "html"],
}


def result_files(folder, name):
    """The files of a result by kind."""
    return {kind: f"results/{folder}/{name}.{kind}" for kind in KINDS[re.sub("-[0-9]$", "", name)]}


def result(folder, name, category, of={}, **titles):
    """The files of a result by kind; those with a title are in the report, in a category."""
    files = result_files(folder, name)
    for kind, title in titles.items():
        labels = {"what": title, **of}
        files[kind] = report(files[kind], caption=f"../report/{name}.rst", category=category, labels=labels)
    return files


def beside_paper(folder, of):
    """The files that set our results beside the paper's, such as claims_csv."""
    titles = {"fidelity": "printed numbers", "claims": "claims in words"}
    return {
        f"{name}_{kind}": file
        for name, title in titles.items()
        for kind, file in result(folder, name, "the paper beside ours", {"of": of}, html=title).items()
    }


def result_names():
    """Names of the results of this config, by folder."""
    comparisons = ["fidelity", "claims"]
    toy = ["table-1", "table-2", "figure-1", "figure-2", "figure-3", "figure-4"]
    names = {"toy": toy + (comparisons if reference.covers_toy(config) else [])}
    for dataset in config["study"]:
        names[dataset] = ["table-3", "table-4", "figure-5", "figure-6", "proof", "proof-pairs"]
        if config["estimator_study"]["estimators"]:
            names[dataset] += ["estimator-study", "estimator-study-order"]
        if reference.covers_study(dataset, config):
            names[dataset] += comparisons
    return names


def all_results():
    """The files of all results of this config."""
    files = [result_files(folder, name) for folder, names in result_names().items() for name in names]
    return [path for each in files for path in each.values()]


def remove_leftovers():
    """Remove temporary files of jobs that were killed, and optional results of an earlier run with another config."""
    leftovers = list(filter(_files.is_temporary, Path("results").rglob(".*")))
    for folder, names in result_names().items():
        for name in {"estimator-study", "estimator-study-order", "fidelity", "claims"} - set(names):
            leftovers += map(Path, result_files(folder, name).values())
    for path in leftovers:
        path.unlink(missing_ok=True)
