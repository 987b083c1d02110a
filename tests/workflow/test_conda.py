"""`--sdm conda`, with a stand-in for conda: jobs run in the Python of envs/environment.yaml, and find the library."""

import os
import subprocess
import sys

import pytest
import yaml
from made_up_project import ROOT, Project

CONDA = """#!/bin/sh
case "$1" in
    --version) echo "conda 25.1.0" ;;
    info) echo '{{"conda_prefix": "{base}", "platform": "linux-64"}}' ;;
    config) echo '{{"get": {{"channel_priority": "strict"}}}}' ;;
    env) # env create --quiet --no-default-packages --file FILE --prefix PREFIX
        mkdir -p "$8/bin" && cp "$6" {base}/asked.yaml && cp {base}/python "$8/bin/python" ;;
esac
"""
# without `site`, it finds nothing that is installed; and it leaves a trace
PYTHON = '#!/bin/sh\necho >> {base}/ran\nexec "{python}" -S "$@"\n'
ACTIVATE = 'export PATH="$1/bin:$PATH"\n'
OPTIONS = ["--sdm", "conda", "--cores", "1", "--configfile", "study.yaml", "--"]
# the library on the path of snakemake alone, as an editable installation puts it
SITE = "import sys\nsys.path.insert(0, {source!r})\n"


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="a stand-in in sh")
def test_jobs_run_in_the_environment_with_the_library(
    project: Project, tmp_path_factory: pytest.TempPathFactory
) -> None:
    base = tmp_path_factory.mktemp("conda")
    (base / "bin").mkdir()
    names = {"base": base, "python": sys.executable}
    for name, text in {"bin/conda": CONDA, "python": PYTHON}.items():
        (base / name).write_text(text.format(**names), encoding="utf-8")
        (base / name).chmod(0o755)
    (base / "bin/activate").write_text(ACTIVATE, encoding="utf-8")
    (base / "sitecustomize.py").write_text(SITE.format(source=str(project.folder / "src")), encoding="utf-8")
    path = f"{base / 'bin'}{os.pathsep}{os.environ['PATH']}"
    ran = subprocess.run(
        [sys.executable, "-m", "snakemake", *OPTIONS, "results/made-up/models/X.npz"],
        cwd=project.folder,
        env=os.environ | {"PYTHONPATH": str(base), "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert (project.folder / "results/made-up/models/X.npz").is_file()
    assert len((base / "ran").read_text(encoding="utf-8").splitlines()) >= 2  # split and train
    asked = yaml.safe_load((base / "asked.yaml").read_text(encoding="utf-8"))
    assert asked == yaml.safe_load((ROOT / "envs/environment.yaml").read_text(encoding="utf-8"))
