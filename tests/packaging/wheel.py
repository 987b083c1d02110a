"""Build wheel and sdist, look into them, and use the wheel.

It is used in an empty environment of every Python that is here. Run by `make test-wheel`; needs
pip's package index. No workflow extra is installed, so that whatever needs one shows.
"""

import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
WITH_EXTRAS = (
    "sampled_metrics.planning.figure",
    "sampled_metrics.reporting",
    "sampled_metrics.validation.figure",
    "sampled_metrics_study",
)
"""Packages with modules that need an extra, and such modules."""
PIP = ("-m", "pip", "--quiet", "--disable-pip-version-check", "--no-input")

USE = f"""
import importlib, importlib.util, pkgutil, sys
import sampled_metrics as s, sampled_metrics_study
with_extras = {WITH_EXTRAS!r}
extras = "matplotlib pooch requests urllib3 yaml jsonschema implicit snakemake tabulate jinja2".split()
assert not [name for name in extras if importlib.util.find_spec(name)], "not an empty environment"
packages = [(s.__path__, "sampled_metrics."), (sampled_metrics_study.__path__, "sampled_metrics_study.")]
for module in (module for path, prefix in packages for module in pkgutil.walk_packages(path, prefix, lambda _: None)):
    try:
        module.name.endswith("__main__") or importlib.import_module(module.name)
    except (ModuleNotFoundError, s.ConfigError) as error:
        says = f"{{module.name}}: {{error}}"
        assert module.name.startswith(with_extras) and any(name in str(error) for name in extras), says
sampled = s.sampled_ranks([1, 3, 2, 1, 40, 7, 1, 101, 12, 1], candidates=3541, negatives=100)
assert len(s.correct(sampled))
"""


def main():
    """Build, look, install and use; return 0 if every Python that is here passed."""
    with tempfile.TemporaryDirectory() as folder:
        wheel, sdist = build(Path(folder))
        look_into_wheel(wheel)
        look_into_sdist(sdist)
        pythons = {version: python for version in PYTHONS if (python := find(version))}
        if not pythons:
            raise SystemExit(f"none of the Pythons {', '.join(PYTHONS)} is here")
        failed = [
            version
            for version, python in pythons.items()
            if not passes(version, python, wheel, Path(folder))
        ]
    missing = [version for version in PYTHONS if version not in pythons]
    print(
        f"{len(pythons) - len(failed)} passed, {len(failed)} failed, not here: "
        f"{', '.join(missing) or 'none'}"
    )
    return bool(failed)


def build(folder):
    """Build in an environment of its own from a copy of what git tracks.

    So nothing that is left over gets in.
    """
    tree = folder / "tree"
    tracked = run(
        "git", "-C", ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard"
    ).split("\0")
    for name in filter(None, tracked):
        if (ROOT / name).is_file():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, tree / name)
    builder = environment(Path(sys.executable), folder / "builder")
    run(builder, *PIP, "install", "build")
    run(builder, "-m", "build", "--outdir", folder / "dist", tree)
    [wheel] = (folder / "dist").glob("*.whl")
    [sdist] = (folder / "dist").glob("*.tar.gz")
    return wheel, sdist


def look_into_wheel(wheel):
    """It holds the library, typed, its command and its licence, and nothing else."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        [points] = [
            archive.read(name).decode()
            for name in names
            if name.endswith(".dist-info/entry_points.txt")
        ]
    source = ROOT / "src"
    templates = [*source.rglob("templates/*")]
    assert len(templates) > 5
    expected = {path.relative_to(source).as_posix() for path in (*source.rglob("*.py"), *templates)}
    held = {name for name in names if ".dist-info/" not in name}
    assert held == expected | {"sampled_metrics/py.typed"}, held ^ expected
    assert "sampled-metrics = sampled_metrics.__main__:main" in points
    assert any(name.endswith("/licenses/LICENSE") for name in names)


def look_into_sdist(sdist):
    """It holds what a source distribution is expected to, and no results or data."""
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    expected = {
        "LICENSE",
        "CITATION.cff",
        "CHANGELOG.md",
        "README.md",
        "pyproject.toml",
        "src/sampled_metrics/py.typed",
    }
    assert expected <= names, expected - names
    folders = {name.split("/")[0] for name in names if "/" in name}
    assert not folders & {"results", "data", ".venv", ".snakemake", "dist", "build"}, folders


def passes(version, python, wheel, folder):
    """Install the wheel and use it; say how it went."""
    try:
        installed = environment(python, folder / version)
        run(installed, *PIP, "install", "--only-binary=:all:", wheel)
        name = "sampled-metrics.exe" if os.name == "nt" else "sampled-metrics"
        command = installed.with_name(name)
        answer = run(command, "--version")
        assert answer.split()[-1] == PROJECT["version"], answer
        csv = folder / version / "ranks.csv"
        csv.write_text("user,candidates,rank\na,3541,1\nb,3541,12\nc,3541,400\n", encoding="utf-8")
        result = json.loads(run(command, "evaluate", csv, "--metrics", "recall@10,auc", "--json"))
        # a third is among the first ten; AUC: the mean of (3541 - rank) / 3540
        values = {row["metric"]: row["value"] for row in result["rows"]}
        assert abs(values["recall@10"] - 1 / 3) < 1e-9, result
        assert abs(values["auc"] - (3 * 3541 - 413) / (3 * 3540)) < 1e-9, result
        run(installed, "-W", "error", "-c", USE)
    except (subprocess.CalledProcessError, AssertionError) as error:
        print(f"Python {version}: FAILED: {getattr(error, 'stderr', None) or error}")
        return False
    print(f"Python {version}: passed")
    return True


def find(version):
    """A Python of a version: this one, one on the path that starts, or one of pyenv's."""
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    candidates = [
        shutil.which(f"python{version}"),
        *sorted(pyenv.glob(f"versions/{version}.*/bin/python"))[::-1],
    ]
    if sys.version.startswith(f"{version}."):
        candidates.insert(0, sys.executable)
    for candidate in filter(None, candidates):
        command = [candidate, "-c", "import ensurepip, sys; print('%d.%d' % sys.version_info[:2])"]
        answer = subprocess.run(command, capture_output=True, text=True, check=False)
        if answer.stdout.strip() == version:
            return Path(candidate)
    return None


def environment(python, folder):
    """Make an empty environment and return its Python."""
    run(python, "-m", "venv", folder)
    return folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def run(*command):
    """Run a command in an empty folder, and return what it printed.

    So only what is installed can be imported.
    """
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    with tempfile.TemporaryDirectory() as empty:
        done = subprocess.run(
            [*map(str, command)],
            cwd=empty,
            env=clean,
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
