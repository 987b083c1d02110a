# Needs: config. Makes: nothing; it checks the config and holds the helpers of the other files.
import atexit
import codecs
import copy
import json
import locale
import math
import os
import shlex
import subprocess
import sys
import tarfile
import tempfile
import time
from io import BytesIO
from pathlib import Path


def project_root(here):
    """The project's folder. If it is imported from git, its files at that commit are unpacked below .snakemake."""
    if isinstance(here, os.PathLike):
        return Path(here).parents[1]
    if not hasattr(here, "hosted_repo"):
        sys.exit(f"error: {here}: import the workflow from a folder, or by github(...) or gitlab(...)")
    repository = here.hosted_repo.repo
    commit = repository.commit(here.ref).hexsha
    root = Path(".snakemake/sampled-metrics", commit).resolve()
    if not root.is_dir():
        root.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=root.parent) as folder:
            packed = subprocess.run(
                ["git", "-C", repository.git_dir, "archive", commit], capture_output=True, check=True
            )
            with tarfile.open(fileobj=BytesIO(packed.stdout)) as files:
                files.extractall(f"{folder}/files", filter="data")
            os.rename(f"{folder}/files", root)
    return root


ROOT = project_root(workflow.current_basedir)
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

from snakemake.utils import update_config

from sampled_metrics import _files
from sampled_metrics.data import download, formats
from sampled_metrics.data.reading import files_beside
from sampled_metrics.data.split import Shape
from sampled_metrics.errors import ConfigError
from sampled_metrics.paper import reference
from sampled_metrics.recommenders import recommender
from sampled_metrics.workflow.code_dependencies import library_files
from sampled_metrics.workflow.config import complete, merge_recommenders, precomputed_ranks
from sampled_metrics.workflow.config_files import read_config
from sampled_metrics.workflow.fingerprint import fingerprint
from sampled_metrics.workflow.jobs import failures

STARTED = time.time()


configfile: str(ROOT / "datasets.yaml")
configfile: str(ROOT / "config.yaml")


try:
    own = [read_config(ROOT / name) for name in ("datasets.yaml", "config.yaml")]
    if workflow.modifier.skip_configfile:  # imported with a config, which replaces ours; only our datasets are known
        written = [copy.deepcopy(config)]
        config = {"datasets": {}}
        for each in [*({"datasets": each["datasets"]} for each in own), *written]:
            update_config(config, each)
    else:
        written = [own[1], *map(read_config, workflow.overwrite_configfiles), workflow.config_settings.config]
    merge_recommenders(config, written)
    complete(config, read_config(ROOT / "workflow/schemas/config.schema.yaml"))
except ConfigError as error:
    sys.exit(f"error: config: {error}")

DATASETS = "|".join(map(re.escape, config["study"]))


wildcard_constraints:
    dataset=DATASETS,
    recommender="|".join(map(re.escape, config["recommenders"])),


RANKS = "results/{dataset}/ranks/{recommender}.csv.gz"
PRECOMPUTED = precomputed_ranks(config)
TRAINED = {
    dataset: [name for name in config["recommenders"] if (dataset, name) not in PRECOMPUTED]
    for dataset in config["study"]
}
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
    """The library files that a script imports, which snakemake does not see. A module's prefix is not theirs."""
    return [local(os.path.relpath(path)) for path in library_files(ROOT / "scripts" / script)]


def own_files(wildcards):
    """The dataset's files that are the user's: none, the one at path, or that and the test file of its split."""
    dataset = config["datasets"][wildcards.dataset]
    if not dataset["path"]:
        return []
    path, form = Path(dataset["path"]), formats.get(dataset["format"])
    beside = [dataset["test"]] if dataset["test"] else files_beside(path, form, member=dataset["member"])
    return [*map(local, [dataset["path"], *beside])]


COMMANDS = {name: recommender(entry) for name, entry in config["recommenders"].items() if entry["type"] == "command"}


def command_tables(wildcards):
    """The files of the split that a command reads."""
    names = COMMANDS[wildcards.recommender].tables if wildcards.recommender in COMMANDS else []
    return expand("results/{dataset}/split/{name}", dataset=wildcards.dataset, name=names)


def command_fingerprints(wildcards):
    """Fingerprints of the files among a command's arguments, such as its script."""
    arguments = COMMANDS[wildcards.recommender].arguments if wildcards.recommender in COMMANDS else []
    return [fingerprint(each) for each in arguments]


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
    """MB of memory and minutes: Python's start with its libraries, and more for each MB of data."""
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
    needed = chosen.training_memory(shape(input.split))
    return attempt * (SNAKEMAKE_MB + math.ceil(needed / 1e6))


def rank_memory(wildcards, input, attempt):
    """MB: the model three times, and the events, but no more than the budget."""
    held = 3 * data_mb(input) + 100 * shape(input.split).events / 1e6
    needed = math.ceil(700 + 150 * config["ranking"]["threads"] + held)
    return attempt * (SNAKEMAKE_MB + min(needed, config["ranking"]["memory"]))


def rank_minutes(wildcards, input, attempt):
    """Minutes: by pairs of a user and an item."""
    return attempt * (10 + math.ceil(math.prod(shape(input.split)[:2]) / 1e8))


def train_minutes(wildcards, input, attempt):
    """Minutes: by events, for factors, and by pairs of items, for similarities."""
    _, items, events = shape(input.split)
    return attempt * (10 + math.ceil(events / 1e5 + items**2 / 1e7))


KINDS = {
    "studied": ["csv", "md", "html"],
    "table": ["csv", "md", "tex", "html"],
    "figure": ["csv", "svg", "png"],
    "proof": ["csv", "svg", "png"],
    "proof-pairs": ["csv"],
    "estimator-study": ["csv", "md", "html", "svg", "png"],
    "estimator-study-order": ["csv"],
    "fidelity": ["csv", "md", "html"],
    "claims": ["csv", "md", "html"],
}


OPTIONAL = {"estimator-study", "estimator-study-order", "fidelity", "claims"}


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


def results(folder, titles, category, of={}):
    """The files of several results, such as table_1_csv; titles are by result and kind."""
    return {
        f"{name}_{kind}".replace("-", "_"): file
        for name, titled in titles.items()
        for kind, file in result(folder, name, category, of, **titled).items()
    }


def result_names():
    """Names of the results of this config, by folder."""
    comparisons = ["fidelity", "claims"]
    toy = ["table-1", "table-2", "figure-1", "figure-2", "figure-3", "figure-4"]
    names = {"toy": toy + (comparisons if reference.covers_toy(config) else [])}
    for dataset in config["study"]:
        names[dataset] = ["studied", "table-3", "table-4", "figure-5", "figure-6", "proof", "proof-pairs"]
        if config["estimator_study"]["estimators"]:
            names[dataset] += ["estimator-study", "estimator-study-order"]
        if reference.covers_study(config):
            names[dataset] += comparisons
    return names


def all_results():
    """The files of all results of this config."""
    files = [result_files(folder, name) for folder, names in result_names().items() for name in names]
    return ["results/summary.html", "results/provenance.json", *(path for each in files for path in each.values())]


def say_failures():
    """Say at the very end which jobs failed, and why."""
    atexit.register(print, *failures("results/logs", STARTED), sep="\n", file=sys.stderr)  # after snakemake's own lines


def remove_leftovers():
    """Remove temporary files of jobs that were killed, and optional results of an earlier run with another config."""
    leftovers = list(filter(_files.is_temporary, Path("results").rglob(".*")))
    for folder, names in result_names().items():
        for name in OPTIONAL - set(names):
            leftovers += map(Path, result_files(folder, name).values())
    for path in leftovers:
        path.unlink(missing_ok=True)
