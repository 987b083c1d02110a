"""Configs that are wrong or mean harm: refused in one line; no shell runs, nothing is written."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from made_up_project import ROOT, Project, complete_config, copy_of_project

from sampled_metrics.errors import ConfigError

DATASET = {"path": "made-up.zip", "format": "movielens-dat"}
COMMAND = "$(touch pwned)"
LEADS_OUT = "../../pwned"


def named(name: Any) -> str:
    """A study of a dataset of that name."""
    return yaml.safe_dump({"study": [name], "datasets": {name: DATASET}})


def dataset(**changes: Any) -> str:
    return yaml.safe_dump({"datasets": {"made-up": DATASET | changes}})


def recommender(name: Any, **entry: Any) -> str:
    return yaml.safe_dump({"recommenders": {name: {"type": "popularity"} | entry}})


REFUSED: dict[str, tuple[str, str]] = {
    "a dataset called $(touch pwned)": (named(COMMAND), "cannot be a name"),
    "a dataset called `touch pwned`": (named("`touch pwned`"), "cannot be a name"),
    "a dataset called x; touch pwned": (named("x; touch pwned"), "cannot be a name"),
    "a dataset called x & touch pwned": (named("x & touch pwned"), "cannot be a name"),
    "a dataset called x' 'touch": (named("x' 'touch"), "cannot be a name"),
    "a dataset called ../../pwned": (named(LEADS_OUT), "cannot be a name"),
    "a dataset called ..": (named(".."), "cannot be a name"),
    "a dataset called /tmp/pwned": (named("/tmp/pwned"), "cannot be a name"),
    "a dataset called -rf": (named("-rf"), "cannot be a name"),
    "a dataset called {dataset}": (named("{dataset}"), "cannot be a name"),
    "a dataset called a*": (named("a*"), "cannot be a name"),
    "a dataset without a name": (named(""), "cannot be a name"),
    "a dataset whose name ends in a line end": (named("made-up\n"), "cannot be a name"),
    "a dataset with a line end in its name": (named("made\nup"), "cannot be a name"),
    "a dataset with a zero byte in its name": (named("a\0b"), "cannot be a name"),
    "a dataset called in other letters": (named("評価"), "cannot be a name"),
    "a dataset whose name writes from right to left": (named("a\u202eb"), "cannot be a name"),
    "a name of 10,000 letters": (named("x" * 10_000), "cannot be a name"),
    "a dataset called toy": (named("toy"), "cannot be called 'toy'"),
    "a dataset called report.html": (named("report.html"), "cannot be called 'report.html'"),
    "a recommender called $(touch pwned)": (recommender(COMMAND), "cannot be a name"),
    "a recommender called ../../pwned": (recommender(LEADS_OUT), "cannot be a name"),
    "a recommender without a name": (recommender(""), "cannot be a name"),
    "a recommender whose name ends in a line end": (recommender("x\n"), "cannot be a name"),
    "a recommender called by a number": (recommender(7), "cannot be a name"),
    "a recommender called null": (recommender(None), "cannot be a name"),
    "a recommender of the toy called ../x": ("toy: {ranks: {../x: [1]}}", "cannot be a name"),
    "a file that is not there": (dataset(path="gone.zip"), "there is no file"),
    "a file of ranks called $(touch pwned)": (
        yaml.safe_dump({"recommenders": {"R": {"type": "ranks", "path": COMMAND}}}),
        "there is no file '$(touch pwned)'",
    ),
    "a file called {dataset}.zip": (dataset(path="{dataset}.zip"), "has braces"),
    "a file of ranks called {user}.csv": (
        yaml.safe_dump({"recommenders": {"R": {"type": "ranks", "path": "{dataset}{user}.csv"}}}),
        "'made-up{user}.csv' has braces",
    ),
    "a file among the results, which would be removed": (
        yaml.safe_dump({"recommenders": {"R": {"type": "ranks", "path": "results/{dataset}/claims.csv"}}}),
        "'results/made-up/claims.csv' is among the results of this study",
    ),
    "a dataset's file among the results": (
        dataset(path="./results/../results/toy/table-1.csv"),
        "is among the results of this study, in results/toy/",
    ),
    "a file with a zero byte in its name": (dataset(path="made-up\0.zip"), "there is no file"),
    "a device for a file": (dataset(path="/dev/zero"), "there is no file '/dev/zero'"),
    "a folder for a file": (dataset(path="."), "there is no file '.'"),
    "an address with a command": (dataset(path=None, urls=["https://x/$(touch pwned)"]), "does not end in the name"),
    "an address that leads out": (dataset(path=None, urls=["https://x/..%2f..%2fpwned"]), "does not end in the name"),
    "an address of a file here": (dataset(path=None, urls=["file:///etc/passwd"]), "must match"),
    "an address that is none": (dataset(path=None, urls=["http://["]), "does not end in the name of a file"),
    "a wheel with an option of pip": (
        dataset(path=None, urls=["pypi:--index-url=http://x==1!x"]),
        "is not pypi:NAME==VERSION!MEMBER",
    ),
    "a wheel with a command": (dataset(path=None, urls=["pypi:a==1;touch!x"]), "is not pypi:NAME==VERSION!MEMBER"),
    "a checksum that is none": (dataset(md5="d41d8"), "datasets.made-up.md5: must match"),
    "a checksum with a line end": (dataset(md5="0" * 32 + "\n"), "datasets.made-up.md5: must match"),
    "a checksum that is a number": (dataset(md5=5), "datasets.made-up.md5: must be of type string or null"),
    "an unknown format": (dataset(format="pickle"), "unknown format 'pickle'"),
    "an unknown option of a format": (dataset(options={"engine": "python"}), "unknown key 'engine'"),
    "an unknown key": ("shell: touch pwned\n", "unknown key 'shell'"),
    "an unknown key below": ("sampling: {negativs: 5}\n", "did you mean negatives?"),
    "a key in another case": ("Seed: 5\n", "unknown key 'Seed'"),
    "a key that is a number": ("5: 5\n", "unknown key 5"),
    "a number as text": ("sampling: {negatives: '100'}\n", "must be of type integer or array, not '100'"),
    "a number with decimals": ("sampling: {negatives: 100.0}\n", "must be of type integer or array, not 100.0"),
    "a truth for a number": ("sampling: {negatives: yes}\n", "must be of type integer or array, not True"),
    "a text for a list": ("metrics: recall@10\n", "metrics: must be of type array"),
    "a list for a mapping": ("sampling: [1]\n", "sampling: must be of type object"),
    "nothing for a mapping": ("sampling:\n", "sampling: must be of type object"),
    "NaN": ("recommenders: {X: {type: ease, regularization: .nan}}\n", "regularization: must be of type number"),
    "NaN for a recommender of a type": (recommender("W", type="ease", regularization=float("nan")), "of type number"),
    "a type in a list": (recommender("W", type=["ease"]), "recommenders.W.type: must be of type string"),
    "infinity": ("recommenders: {X: {type: ease, regularization: .inf}}\n", "regularization: must be of type number"),
    "a number that overflows": (recommender("W", type="ease", regularization=float("inf")), "must be of type number"),
    "a negative number": ("sampling: {negatives: -5}\n", "must be 1 or more"),
    "zero": ("sampling: {repetitions: 0}\n", "must be 1 or more"),
    "a number of 30 digits": ("sampling: {negatives: 100000000000000000000000000000}\n", "must be 1000000000 or less"),
    "a number of 5,000 digits": (f"seed: {'9' * 5000}\n", "is not YAML: Exceeds the limit"),
    "a date for a number": ("seed: 2020-01-01\n", "must be of type integer"),
    "an empty list": ("metrics: []\n", "metrics: needs 1 or more entries"),
    "an entry twice": ("metrics: [ap, ap]\n", "metrics: must not repeat an entry"),
    "an unknown metric": ("metrics: ['__import__(\"os\").system(\"touch pwned\")']\n", "unknown metric"),
    "a metric at a huge k": (f"metrics: [recall@{'9' * 5000}]\n", "metrics: "),
    "a metric at 0": ("metrics: [recall@0]\n", "metrics: "),
    "a metric at other digits": ("metrics: [recall@１０]\n", "metrics: "),
    "a negative number of iterations of mle": ("estimators: [mle--5]\n", "estimators: "),
    "a huge number of iterations of mle": (f"estimators: [mle-{'9' * 5000}]\n", "estimators: "),
    "an unknown estimator": ("estimators: [../../pwned]\n", "estimators: "),
    "an estimator in two spellings": ("estimators: [bv-0.1, bv-0.10]\n", "'bv-0.1' and 'bv-0.10' are the same one"),
    "an estimator with NaN": ("estimators: [bv-nan]\n", "estimators: "),
    "an estimator with infinity": ("estimators: [bv-1e999]\n", "estimators: "),
    "a key twice": ("seed: 1\nseed: 2\n", "line 2: the key 'seed' is there twice"),
    "a key twice below": ("sampling:\n  negatives: 1\n  negatives: 2\n", "line 3: the key 'negatives' is there twice"),
    "a Python object": ("seed: !!python/object/apply:os.system ['touch pwned']\n", "could not determine a constructor"),
    "a Python name": ("seed: !!python/name:os.system\n", "could not determine a constructor"),
    "an alias of nothing": ("seed: *nothing\n", "found undefined alias"),
    "lists a thousand deep": ("study: " + "[" * 1000 + "]" * 1000 + "\n", "is not YAML: maximum recursion"),
    "a bracket that nothing closes": ("study: [made-up\n", "expected ',' or ']'"),
    "a tab": ("split:\n\tties: last\n", "found character '\\t' that cannot start any token"),
    "a list for the whole": ("- 1\n", "must be a mapping of keys"),
    "a word for the whole": ("hello\n", "must be a mapping of keys"),
    "two documents": ("seed: 1\n---\nseed: 2\n", "but found another document"),
    "bytes that are no UTF-8": ("\udcff\udcfe\n", "is not text in UTF-8"),
    "a zero byte": ("seed: \0\n", "is not YAML"),
}  # fmt: skip


def settled(study: Path) -> dict:
    """The config of a study of the made-up dataset and of a file over it."""
    return complete_config({"study": ["made-up"], "datasets": {"made-up": DATASET}}, study)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "made-up.zip").touch()
    return tmp_path


@pytest.mark.parametrize("fault", REFUSED)
def test_refused(fault: str, folder: Path) -> None:
    text, says = REFUSED[fault]
    study = folder / "study.yaml"
    study.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(ConfigError) as caught:
        settled(study)
    message = str(caught.value)
    assert says in message
    assert len(message.splitlines()) == 1
    assert len(message) <= 2000
    assert sorted(folder.iterdir()) == [folder / "made-up.zip", study]


ACCEPTED: dict[str, tuple[str, str, Any]] = {
    "an empty file": ("", "seed", 2020),
    "a name of dots, signs and digits": ("recommenders: {A.b_c+d-9: {type: popularity}}", "study", ["made-up"]),
    "a seed of 128 bits": (f"seed: {2**128 - 1}\n", "seed", 2**128 - 1),
    "a byte order mark": ("\ufeffseed: 5\n", "seed", 5),
    "line ends of Windows": ("seed: 5\r\n", "seed", 5),
    "JSON": ('{"seed": 5, "metrics": ["ap"]}', "metrics", ["ap"]),
}


@pytest.mark.parametrize("fault", ACCEPTED)
def test_accepted(fault: str, folder: Path) -> None:
    text, key, value = ACCEPTED[fault]
    (folder / "study.yaml").write_text(text, encoding="utf-8")
    assert settled(folder / "study.yaml")[key] == value


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return copy_of_project(tmp_path_factory.mktemp("config faults"))


def run(project: Project, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run snakemake on one target, as a user would; it would take seconds if nothing were wrong."""
    command = [sys.executable, "-m", "snakemake", "results/made-up/dataset.json", "--cores", "1", *arguments]
    return subprocess.run(command, cwd=project.folder, capture_output=True, text=True, timeout=120, check=False)


def files(folder: Path) -> list[Path]:
    apart = (folder / ".snakemake", folder / "study.yaml", folder / "fault.yaml")
    return [path for path in sorted(folder.rglob("*")) if not any(path.is_relative_to(each) for each in apart)]


BY_SNAKEMAKE = [
    "a dataset called $(touch pwned)",
    "a dataset called ../../pwned",
    "a dataset whose name ends in a line end",
    "a recommender called $(touch pwned)",
    "a file of ranks called $(touch pwned)",
    "a Python object",
    "a key twice",
    "an address that is none",
    "bytes that are no UTF-8",
    "a bracket that nothing closes",
]
IN_ITS_OWN_WORDS = {"a Python object", "bytes that are no UTF-8", "a bracket that nothing closes"}
"""What snakemake itself reads first, and refuses."""


@pytest.mark.parametrize(
    "fault", [pytest.param(fault, marks=[pytest.mark.slow] if at else []) for at, fault in enumerate(BY_SNAKEMAKE)]
)
def test_refused_by_the_workflow(fault: str, project: Project) -> None:
    (project.folder / "fault.yaml").write_bytes(REFUSED[fault][0].encode("utf-8", "surrogateescape"))
    before = files(project.folder)
    ran = run(project, "--configfile", "study.yaml", "fault.yaml")
    assert ran.returncode != 0
    assert files(project.folder) == before
    if fault not in IN_ITS_OWN_WORDS:
        assert "Traceback" not in ran.stdout + ran.stderr
        [line] = [line for line in ran.stderr.splitlines() if line.startswith("error: ")]
        assert REFUSED[fault][1] in line.replace("study.0: must match", "cannot be a name")


ON_THE_COMMAND_LINE = [
    ('study=["$(touch pwned)"]', "study.0: must match"),
    ("seed=$(touch pwned)", "seed: must be of type integer"),
    ('datasets={"made-up": {"path": "$(touch pwned)"}}', "there is no file"),
    ("nonsense=1", "unknown key 'nonsense'"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("given", "says"), ON_THE_COMMAND_LINE)
def test_refused_on_the_command_line(given: str, says: str, project: Project) -> None:
    before = files(project.folder)
    ran = run(project, "--configfile", "study.yaml", "--config", given)
    assert ran.returncode != 0
    assert "Traceback" not in ran.stdout + ran.stderr
    [line] = [line for line in ran.stderr.splitlines() if line.startswith("error: ")]
    assert says in line
    assert files(project.folder) == before


@pytest.mark.slow
@pytest.mark.parametrize("name", ["$(touch pwned).zip", "a; touch pwned #.zip", "é 評.zip", "-rf.zip"])
def test_a_file_with_such_a_name_is_read(name: str, tmp_path: Path) -> None:
    project = copy_of_project(tmp_path)
    (project.folder / "made-up.zip").rename(project.folder / name)
    project.configure(datasets={"made-up": {"path": name, "format": "movielens-dat"}})
    ran = project.snakemake("results/made-up/split.npz", "--cores", "1")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert not list(project.folder.rglob("pwned*"))


RULES = [ROOT / "Snakefile", *(ROOT / "workflow/rules").glob("*.smk")]


@pytest.mark.parametrize("path", RULES, ids=lambda path: path.name)
def test_no_rule_has_a_shell_command(path: Path) -> None:
    lines = [line.strip() for line in path.read_text(encoding="utf-8").splitlines()]
    assert not [line for line in lines if line.startswith(("shell:", "run:", "shell(", "os.system", "subprocess"))]
