# Needs: config. Makes: nothing; it checks the environment and the config, and holds the helpers of the other files.
import codecs
import copy
import locale
import json
import os
import re
import sys
import tomllib
from pathlib import Path

from snakemake.exceptions import WorkflowError

# snakemake reads the report's captions in the encoding of the locale
encoding = locale.getpreferredencoding(False)
if codecs.lookup(encoding).name != "utf-8":
    raise WorkflowError(
        f"error: Python takes text for {encoding} here, not for UTF-8; say export PYTHONUTF8=1, and run again"
    )
# the folder of the project; its address if the project is imported from git
ROOT = Path(workflow.snakefile).parents[2]
if set("{}") & set(str(ROOT)):
    raise WorkflowError(
        f"error: {ROOT}: a folder with {{ or }} in its name, which snakemake takes for its own"
    )


def own(name):
    """The path of a file of this project, or of a copy of it if the project is imported from git."""
    path = ROOT / name
    return local(os.path.relpath(path)) if path.is_file() else workflow.source_path(f"../../{name}")


# the library is that of the workflow's own checkout, also for its jobs; from git it has to be installed
MODULES = "PYTHONPATH"
source = os.path.abspath(ROOT / "src")
if os.path.isdir(source):
    sys.path.insert(0, source)
    inherited = os.environ.get(MODULES, "").split(os.pathsep)
    folders = [source, *(folder for folder in inherited if folder not in ("", source))]
    os.environ[MODULES] = os.pathsep.join(folders)
else:
    pyproject = tomllib.loads(Path(own("pyproject.toml")).read_text(encoding="utf-8"))
    version = pyproject["project"]["version"]
    try:
        from sampled_metrics import __version__ as installed
    except ImportError:
        installed = "none"
    if installed not in (version, f"{version}+checkout"):
        raise WorkflowError(
            f"error: the workflow needs the library sampled-metrics {version}, and this environment has {installed}; "
            "give pip the git address of the workflow"
        )

# after the check, as another version of the library may not have these names
from sampled_metrics_study.data import archives
from sampled_metrics.errors import ConfigError
from sampled_metrics_study.recommenders.registry import (
    parameters_of,
    path_of,
    recommender,
    summary_of,
)
from sampled_metrics_study.recommenders.recommender import takes
from sampled_metrics_study import reference
from sampled_metrics_study.code import code_of, code_of_class, content
from sampled_metrics_study.config import assemble, compared_with_paper, complete, precomputed_ranks
from sampled_metrics_study.config_files import read_config
from sampled_metrics_study.entries import FIGURES, arguments
from sampled_metrics_study.jobs import memory_of_machine
from sampled_metrics_study.repetitions import tie_rules_of

# from the command line, or from the workflow that imports this one
user_config = copy.deepcopy(config)
try:
    for path in workflow.config_settings.configfiles:
        read_config(path)  # snakemake takes a repeated key
    known_datasets = read_config(own("datasets.yaml"))
    default_config = read_config(own("config.yaml"))
except ConfigError as error:
    raise WorkflowError(f"error: config: {error}")


configfile: own("config.yaml")


pathvars:
    data="data",  # the downloads; <results> is Snakemake's own


try:
    config = assemble(known_datasets, default_config, config, user_config)
    complete(
        config,
        read_config(own("workflow/schemas/config.schema.yaml")),
        workflow.pathvars.get("results"),
    )
except ConfigError as error:
    raise WorkflowError(f"error: config: {error}")


def pattern_of(names):
    """A pattern that matches names; that of none matches nothing."""
    return "|".join(map(re.escape, names)) or "(?!)"


wildcard_constraints:
    dataset=pattern_of(config["study"]),
    recommender=pattern_of(config["recommenders"]),


RANKS = "<results>/{dataset}/ranks/{recommender}.csv.gz"
SPLIT = "<results>/{dataset}/split.npz"
FACTS = "<results>/{dataset}/dataset.json"
MODEL = "<results>/{dataset}/models/{recommender}.npz"
VERSIONS_OF_RANKS = "<results>/{dataset}/ranks/{recommender}.json"
# the datasets whose tables are compared with the printed ones
COMPARED = compared_with_paper(config)
# ready-made ranks by (dataset, recommender)
PRECOMPUTED = precomputed_ranks(config)
TRAINERS = {name: recommender(entry) for name, entry in config["recommenders"].items()}
# the recommenders that are trained on each dataset
TRAINED = {
    dataset: [name for name in config["recommenders"] if (dataset, name) not in PRECOMPUTED]
    for dataset in config["study"]
}
IMPORTED = {f"{dataset}/ranks/{name}": (dataset, name) for dataset, name in PRECOMPUTED}
# the dataset of each archive that is downloaded
DOWNLOADS = {
    f"{name}/{archives.file_name(config['datasets'][name]['urls'][0])}": name
    for name in config["study"]
    if config["datasets"][name]["urls"] and not config["datasets"][name]["path"]
}
# parameters of rules: whether negatives are drawn with replacement, and whether the estimators take
# them to be, so that P(x | r) is binomial
DESIGN = {"replacement": config["sampling"]["replacement"]}
DESIGN["assume_replacement"] = DESIGN["replacement"] or config["estimator_model"] == "binomial"


def code(script):
    """A digest of a script and of all code. As a parameter, it runs a rule again."""
    return code_of(Path(own(f"scripts/{script}.py")))


def training_code(script):
    """A digest of a script and of the code that splits, trains and ranks."""
    return code_of(Path(own(f"scripts/{script}.py")), trains=True)


# On one machine, jobs run together only if it has the memory that they ask for, and one that asks for more runs alone. A
# cluster has its own rule, and so has whoever says --resources mem_mb.
settings = workflow.resource_settings
if settings.nodes is None and "mem_mb" not in settings.resources:
    workflow.register_resource("mem_mb", int(min(memory_of_machine() / 1e6, sys.maxsize)))


def memory_of_split(wildcards, input, attempt):
    """What a job asks for that reads events, in MB. A byte of a packed file holds more of them than one of a line."""
    archive = Path(input.archive)
    is_packed = archive.suffix in (".zip", ".whl", ".gz", ".parquet")
    has_lists = config["datasets"][wildcards.dataset]["format"] == "item-lists"
    times_file = 12 if is_packed or has_lists else 4
    return attempt * int(250 + times_file * archive.stat().st_size / 1e6)


def memory_of_model(wildcards, input, attempt):
    """What a job asks for that holds a model and the split, in MB."""
    facts = json.loads(Path(input.facts).read_text(encoding="utf-8"))
    size = {key: facts[key] for key in ("users", "items", "events")}
    needed = TRAINERS[wildcards.recommender].memory(**size)
    return attempt * int(250 + (needed + 40 * size["events"]) / 1e6)


def threads_of_training(wildcards):
    """The threads of a training job, at most those of --cores; one if training has no use for more."""
    return 4 if takes(type(TRAINERS[wildcards.recommender]), "threads") else 1


def for_recommenders(path):
    """The path for every recommender of the study."""
    return expand(path, recommender=config["recommenders"], allow_missing=True)


def in_report(path, what, category="{dataset}", **labels):
    """A result that is in a category of the report, with the caption of its name."""
    caption = f"{Path(path).stem}.rst"
    if ROOT.is_dir() and not (ROOT / "workflow/report" / caption).is_file():
        raise WorkflowError(
            f"error: workflow/report/{caption}: is missing; write the caption of {path}"
        )
    return report(path, f"../report/{caption}", category=category, labels={"what": what, **labels})


def files_of_figure(path, what, category="{dataset}"):
    """The files of a figure, by name; none if the config leaves the figure out."""
    name = Path(path).name
    if config["figures"][name] is None:
        return {}
    key = name.replace("-", "_")
    return {
        f"{key}_csv": f"<results>/{path}.csv",
        f"{key}_svg": in_report(f"<results>/{path}.svg", what, category),
        f"{key}_png": f"<results>/{path}.png",
    }


def files_of_comparison(folder, of):
    """The files of a comparison with the paper, by name."""
    files = {}
    for name, what in (("fidelity", "printed numbers"), ("claims", "claims in words")):
        path = f"<results>/{folder}/{name}"
        files[f"{name}_csv"] = f"{path}.csv"
        files[f"{name}_md"] = f"{path}.md"
        files[f"{name}_html"] = in_report(f"{path}.html", what, "comparison with the paper", of=of)
    return files


def own_files(wildcards):
    """The user's own files of a dataset: none, or path and test. Parameters have their content; their time counts not."""
    dataset = config["datasets"][wildcards.dataset]
    if not dataset["path"]:
        return []
    paths = [dataset["path"], *([dataset["test"]] if dataset["test"] else [])]
    return [ancient(local(path)) for path in paths]


def archive_of(wildcards):
    """The file with the events of a dataset: the user's own, or the download."""
    downloaded = [
        f"<data>/{archive}"
        for archive, dataset in DOWNLOADS.items()
        if dataset == wildcards.dataset
    ]
    return [*own_files(wildcards), *downloaded][0]


def split_entry(wildcards):
    """The config of a dataset that changes the split; a place is none, but what a file holds."""
    keys = ("format", "options", "member", "min_rating", "repeated", "core")
    dataset = config["datasets"][wildcards.dataset]
    entry = {key: dataset[key] for key in keys}
    if not own_files(wildcards):
        entry["member"] = entry["member"] or archives.member(dataset["urls"])
    return entry


def without_places(config):
    """The config of what is studied, without the places of files, whose content counts."""
    datasets = {}
    for name in config["study"]:
        entry = config["datasets"][name]
        places = {"path", "test", "ranks", "defaults"} | ({"urls"} if entry["path"] else set())
        datasets[name] = {key: value for key, value in entry.items() if key not in places}
    recommenders = {}
    for name, entry in config["recommenders"].items():
        places = {"path"} if entry["type"] == "ranks" else set()
        recommenders[name] = {key: value for key, value in entry.items() if key not in places}
    return {**config, "datasets": datasets, "recommenders": recommenders}


def imported_file(wildcards):
    """The user's own file of ready-made ranks."""
    dataset, name = IMPORTED[wildcards.table]
    return PRECOMPUTED[dataset, name].file(dataset)


def imported_name(wildcards):
    """The name of ready-made ranks in messages."""
    dataset, name = IMPORTED[wildcards.table]
    return f"{name} on {dataset}"


def written_folders():
    """The folders that the rules of this config write to, as far as they are there."""
    results = Path(workflow.pathvars.get("results"))
    data = Path(workflow.pathvars.get("data"))
    folders = [results / name for name in ("toy", "logs", "benchmarks", *config["study"])]
    folders += [data / name for name in config["study"]]
    paths = [results, *folders, *(path for folder in folders for path in folder.rglob("*"))]
    return [path for path in paths if path.is_dir()]


# A parameter of a function with the argument threads runs nothing again (Snakemake takes it to follow from the threads):
# checksums are for the rule verify alone, and a place is none of a file's content.
def checksums(wildcards, threads):
    """The checksums that the config states for an archive."""
    name = getattr(wildcards, "dataset", None) or DOWNLOADS[wildcards.archive]
    return {key: config["datasets"][name][key] for key in ("md5", "sha256")}


def seed_of(wildcards):
    """The seed of the training of a recommender; that of one without a random start never changes."""
    if not TRAINERS[wildcards.recommender].is_random:
        return 0
    [seed] = config["recommenders"][wildcards.recommender].get("seeds", [config["seed"]])
    return seed


# only factors have a precision; without them, another one does not rank again
def precision_of(wildcards):
    """The precision of the scores of a recommender."""
    has_factors = TRAINERS[wildcards.recommender].has_factors
    return config["ranking"]["precision"] if has_factors else "float64"
