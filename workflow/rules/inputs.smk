# Needs: config. Makes: nothing; it holds the functions that return the input of rules, and parameters that follow it.
import json
import math

from sampled_metrics.data import formats
from sampled_metrics.data.reading import files_beside
from sampled_metrics.data.split import Shape
from sampled_metrics.recommenders import recommender
from sampled_metrics.study.workflow.fingerprint import fingerprint

COMMANDS = {name: recommender(entry) for name, entry in config["recommenders"].items() if entry["type"] == "command"}


def own_files(wildcards):
    """The files of a dataset that are the user's own: none, the one at path, or this and the test file of its split."""
    dataset = config["datasets"][wildcards.dataset]
    if not dataset["path"]:
        return []
    path, file_format = Path(dataset["path"]), formats.get(dataset["format"])
    beside = [dataset["test"]] if dataset["test"] else files_beside(path, file_format, member=dataset["member"])
    return [*map(local, [dataset["path"], *beside])]


def split_entry(wildcards):
    """The config of a dataset without the keys that do not change the split."""
    unused = {"ranks", "urls"} if own_files(wildcards) else {"ranks"}
    return {key: value for key, value in config["datasets"][wildcards.dataset].items() if key not in unused}


def command_tables(wildcards):
    """The files of the split that a command reads."""
    names = COMMANDS[wildcards.recommender].tables if wildcards.recommender in COMMANDS else []
    return expand("results/{dataset}/split/{name}", dataset=wildcards.dataset, name=names)


def command_fingerprints(wildcards):
    """Fingerprints of the files among a command's arguments, such as its script."""
    arguments = COMMANDS[wildcards.recommender].arguments if wildcards.recommender in COMMANDS else []
    return [fingerprint(argument) for argument in arguments]


def train_memory(wildcards, input, attempt):
    """The MB that a training job asks a cluster for, by the size of the split; 300 are for snakemake itself."""
    try:
        facts = json.loads(Path(input.split).with_name("dataset.json").read_text(encoding="utf-8"))
    except FileNotFoundError as error:  # if the error names the input, snakemake concludes that it is yet to be made
        raise FileNotFoundError(error.errno, error.strerror, str(input.split)) from None
    trainer = recommender(config["recommenders"][wildcards.recommender])
    needed = trainer.training_memory(Shape(facts["users"], facts["items"], facts["training_events"]))
    return attempt * (300 + math.ceil(needed / 1e6))
