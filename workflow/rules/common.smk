# Needs: config. Makes: nothing; it checks the environment and the config, and holds the helpers of the other files.
import codecs
import copy
import locale
import os
import re
import sys
import tomllib
from pathlib import Path

from snakemake.io import strip_wildcard_constraints

# snakemake reads the report's captions in the encoding of the locale
encoding = locale.getpreferredencoding(False)
if codecs.lookup(encoding).name != "utf-8":
    sys.exit(f"error: Python takes text for {encoding} here, not for UTF-8; say export PYTHONUTF8=1, and run again")
ROOT = Path(workflow.snakefile).parents[2]  # if the project is imported from git, an address
if set("{}") & set(str(ROOT)):
    sys.exit(f"error: {ROOT}: a folder with {{ or }} in its name, which snakemake takes for its own")


def own(name):
    """The path of a file of this project, or of a copy of it if the project is imported from git."""
    path = ROOT / name
    return local(os.path.relpath(path)) if path.is_file() else workflow.source_path(f"../../{name}")


version = tomllib.loads(Path(own("pyproject.toml")).read_text(encoding="utf-8"))["project"]["version"]
try:
    from sampled_metrics import __version__ as installed
except ImportError:
    installed = "none"
if installed not in (version, f"{version}+checkout"):
    sys.exit(
        f"error: the workflow needs the library sampled-metrics {version}, and this environment has {installed}; "
        "run pip install --no-deps --editable . in the workflow's folder, or give pip its git address"
    )

from sampled_metrics.errors import ConfigError
from sampled_metrics.recommenders import recommender_type
from sampled_metrics.study.paper import reference
from sampled_metrics.study.workflow.code_dependencies import digest
from sampled_metrics.study.workflow.config import assemble, compared_with_paper, complete, precomputed_ranks
from sampled_metrics.study.workflow.config_files import read_config

given = copy.deepcopy(config)  # from the command line, or from the workflow that imports this one
try:
    datasets, study = map(read_config, map(own, ("datasets.yaml", "config.yaml")))
except ConfigError as error:
    sys.exit(f"error: config: {error}")


configfile: own("config.yaml")


try:
    config = assemble(datasets, study, config, given)
    complete(config, read_config(own("workflow/schemas/config.schema.yaml")))
except ConfigError as error:
    sys.exit(f"error: config: {error}")

DATASETS = "|".join(map(re.escape, config["study"]))


wildcard_constraints:
    dataset=DATASETS,
    recommender="|".join(map(re.escape, config["recommenders"])),


# With `--sdm conda`, jobs run in this environment. It lacks the library, which is on no channel: Snakemake lets jobs
# import what its own environment has, too.
ENVIRONMENT = "../../envs/environment.yaml"

COMPARED = compared_with_paper(config)  # the datasets whose tables are compared with the printed ones
RANKS = "results/{dataset}/ranks/{recommender}.csv.gz"
PRECOMPUTED = precomputed_ranks(config)
TRAINED = {
    dataset: [name for name in config["recommenders"] if (dataset, name) not in PRECOMPUTED]
    for dataset in config["study"]
}
# Parameters of rules; the estimators may take P(x | r) as binomial.
DESIGN = {"replacement": config["sampling"]["replacement"]}
DESIGN["assume_replacement"] = DESIGN["replacement"] or config["estimator_model"] == "binomial"
EVALUATION = {key: config[key] for key in ("sampling", "estimators", "metrics")}
EVALUATION["assume_replacement"] = DESIGN["assume_replacement"]


def code(script, *recommenders):
    """A digest of a script, of the library files that it imports, and of recommenders. As a parameter, it runs a rule again."""
    classes = [recommender_type(config["recommenders"][name]["type"]) for name in recommenders]
    return digest(Path(own(f"scripts/{script}")), [found.__module__ for found in classes])


def dataset_of(paths, *, others=False):
    """A pattern of the wildcard dataset in these paths, which begin with a dataset, or in all other paths."""
    alternatives = "|".join(map(re.escape, paths))
    return f"(?{'!' if others else '='}(?:{alternatives or '(?!)'})$)(?:{DATASETS})"


def each_recommender(path):
    """The path for every recommender of the study."""
    return expand(path, recommender=config["recommenders"], allow_missing=True)


KINDS = {
    "studied": ["csv", "md", "html"],
    "table": ["csv", "md", "tex", "html"],
    "figure": ["csv", "svg", "png"],
    "budget": ["csv", "md", "html", "svg", "png"],
    "budget-pair": ["csv"],
    "groups": ["csv", "svg", "png"],
    "groups-pairs": ["csv"],
    "estimator-study": ["csv", "md", "html", "svg", "png"],
    "estimator-study-order": ["csv"],
    "fidelity": ["csv", "md", "html"],
    "claims": ["csv", "md", "html"],
    "choices": ["csv"],
}


TOY_TABLES = {"table-1": {"html": "Table 1: exact"}, "table-2": {"html": "Table 2: sampled"}}
TOY_FIGURES = {
    "figure-1": {"svg": "Figure 1: metrics by rank"},
    "figure-2": {"svg": "Figure 2: by sample size"},
    "figure-3": {"svg": "Figure 3: by true rank"},
    "figure-4": {"svg": "Figure 4: corrected"},
}
COMPARISONS = {"fidelity": {"html": "printed numbers"}, "claims": {"html": "claims in words"}}


def result_files(folder, name):
    """The files of a result by kind."""
    return {kind: f"results/{folder}/{name}.{kind}" for kind in KINDS[re.sub("-[0-9]$", "", name)]}


def result(folder, name, category, of={}, **titles):
    """The files of a result by kind. Files with a title are in a category of the report."""
    files = result_files(folder, name)
    for kind, title in titles.items():
        labels = {"what": title, **of}
        files[kind] = report(files[kind], caption=f"../report/{name}.rst", category=category, labels=labels)
    return files


def results(folder, titles, category, of={}):
    """The files of several results, such as table_1_csv. Titles are by result and kind."""
    return {
        f"{name}_{kind}".replace("-", "_"): file
        for name, title_of_kind in titles.items()
        for kind, file in result(folder, name, category, of, **title_of_kind).items()
    }


def group_files(dataset):
    """The file with the groups of the users of a dataset, if it has one."""
    return [path for path in [config["datasets"][dataset]["groups"]] if path]


def groups_of_study():
    """The file with the groups of the users of each dataset that has one, by dataset."""
    return {dataset: path for dataset in config["study"] for path in group_files(dataset)}


def has_thirds(dataset):
    """Whether metrics are by thirds of the held-out items of a dataset."""
    return bool(config["groups"] and TRAINED[dataset])


def grouped_sources(dataset):
    """The files of ready-made ranks of a dataset with a file of groups."""
    sources = [source for (of, _), source in PRECOMPUTED.items() if of == dataset]
    return [source.file(dataset) for source in sources] if group_files(dataset) else []


def grouped_names(dataset):
    """The recommenders that have metrics by group: all if there is a file of groups, else those that are trained."""
    return list(config["recommenders"]) if group_files(dataset) else TRAINED[dataset]


def result_names():
    """Names of the results of this config, by folder."""
    comparisons = ["fidelity", "claims"]
    names = (
        {"toy": [*TOY_TABLES, *TOY_FIGURES, *(comparisons if reference.covers_toy(config) else [])]}
        if config["toy"]
        else {}
    )
    for dataset in config["study"]:
        names[dataset] = ["studied", "table-3", "table-4", "figure-5", "figure-6"]
        if config["figures"]["budget"] and TRAINED[dataset]:
            names[dataset] += ["budget", "budget-pair"]
        if has_thirds(dataset) or group_files(dataset):
            names[dataset] += ["groups", "groups-pairs"]
        if config["estimator_study"]:
            names[dataset] += ["estimator-study", "estimator-study-order"]
        if dataset in COMPARED:
            names[dataset] += comparisons
        if config["choices"] and dataset in COMPARED and {*reference.RECOMMENDERS} <= {*TRAINED[dataset]}:
            names[dataset].append("choices")
    return names


def output_folders():
    """The folders of all files that the rules make."""
    files = {strip_wildcard_constraints(file) for rule in workflow.rules for file in rule.output}
    patterns = map(os.path.dirname, files)
    return {folder for pattern in patterns for folder in expand(pattern, dataset=config["study"], allow_missing=True)}


def all_results():
    """The files of all results of this config."""
    files = [result_files(folder, name) for folder, names in result_names().items() for name in names]
    return ["results/summary.html", "results/provenance.json", *(path for kinds in files for path in kinds.values())]
