# Needs: config. Makes: nothing; it holds the functions that return the input of rules, and parameters that follow it.
import errno
import math

from sampled_metrics.data import formats
from sampled_metrics.data.reading import files_beside
from sampled_metrics.data.split import Shape
from sampled_metrics.errors import DataError
from sampled_metrics.recommenders import recommender, recommender_type
from sampled_metrics.study.workflow.fingerprint import class_files, fingerprint
from sampled_metrics.study.workflow.stage_files import read_facts

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


def code_fingerprints(wildcards):
    """Fingerprints of the user's own code: files among a command's arguments, such as its script, or of a class."""
    entry = config["recommenders"][wildcards.recommender]
    command = COMMANDS.get(wildcards.recommender)
    return [*map(fingerprint, command.arguments if command else class_files(recommender_type(entry["type"])))]


def train_memory(wildcards, input, attempt):
    """The MB that a training job asks a cluster for, by the size of the split; 300 are for snakemake itself."""
    path = Path(input.split).with_name("dataset.json")
    if not path.exists():  # an error that names the input is for snakemake a sign that it is yet to be made
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(input.split))
    try:
        facts = read_facts(path)
    except DataError as error:  # snakemake would show where it was raised
        sys.exit(f"error: {error}")
    trainer = recommender(config["recommenders"][wildcards.recommender])
    needed = trainer.training_memory(Shape(facts["users"], facts["items"], facts["training_events"]))
    return attempt * (300 + math.ceil(needed / 1e6))
