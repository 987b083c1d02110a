"""Run the workflow in a folder, and measure every job of it.

The peak memory of a job is the high-water mark of its resident set, which the kernel keeps (VmHWM, what ru_maxrss is in
the end) and which is read 20 times a second: what is missed is the last twentieth of a second. Snakemake's own
benchmark files have samples of the memory instead, up to half a minute apart.
"""

import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import psutil

ROOT = Path(__file__).resolve().parent.parent
EVERY = 0.05  # seconds between two looks


@dataclass(frozen=True)
class Run:
    """What a run of the workflow took.

    Attributes:
        seconds: from the start of snakemake to its end.
        memory: peak of all processes together, in MiB, as proportional set size (pages that processes share are counted
            once); 0 where the system does not tell it.
        jobs: columns job (its log's path below results/logs, without ending), rule, seconds and memory (peak of the
            resident set in MiB; as in Snakemake's benchmark files where that is larger, or the system does not tell).
    """

    seconds: float
    memory: float
    jobs: pd.DataFrame

    def by_rule(self) -> pd.DataFrame:
        """Sum jobs up by rule: jobs, seconds of all, peak memory of one in MiB."""
        rules = self.jobs.groupby("rule")
        return rules.agg(jobs=("seconds", "size"), seconds=("seconds", "sum"), memory=("memory", "max"))


def run(configfile: Path, cores: int, folder: Path) -> Run:
    """Run the workflow from scratch.

    Args:
        configfile: what is studied.
        cores: how many it may use.
        folder: where; what is there already is not made again.
    """
    command = [sys.executable, "-m", "snakemake", "--snakefile", str(ROOT / "Snakefile"), "--directory", str(folder)]
    command += ["--cores", str(cores), "--configfile", str(configfile)]
    start, together, seen = time.monotonic(), 0, dict[str, int]()
    with (folder / "out").open("w") as out:
        snakemake = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT, cwd=ROOT)
        while snakemake.poll() is None:
            together = max(together, _look(psutil.Process(snakemake.pid), folder / "results/logs", seen))
            time.sleep(EVERY)
    if snakemake.returncode:
        sys.exit((folder / "out").read_text())
    return Run(time.monotonic() - start, together / 2**20, _jobs(folder / "results/benchmarks", seen))


def _look(snakemake: psutil.Process, logs: Path, seen: dict[str, int]) -> int:
    """Note peak bytes of the jobs that run; return the bytes that all together have now."""
    total = 0
    for process in [snakemake, *snakemake.children(recursive=True)]:
        try:
            total += process.memory_full_info().pss
            status = Path(f"/proc/{process.pid}/status").read_text()
            opened = [Path(each.path) for each in process.open_files()]
        except (psutil.Error, OSError, AttributeError):  # gone since it was listed
            continue
        mark = [line.split()[1] for line in status.splitlines() if line.startswith("VmHWM:")]
        for log in opened:
            if mark and log.suffix == ".log" and log.is_relative_to(logs.resolve()):
                job = str(log.relative_to(logs.resolve()).with_suffix(""))
                seen[job] = 1024 * int(mark[0])  # never falls
    return total


def _jobs(benchmarks: Path, seen: Mapping[str, int]) -> pd.DataFrame:
    rows = []
    for path in sorted(benchmarks.rglob("*.tsv")):
        measured = pd.read_csv(path, sep="\t", na_values="-").iloc[0]
        job = str(path.relative_to(benchmarks).with_suffix(""))
        memory = max(float(measured["max_rss"]), seen.get(job, 0) / 2**20)
        rows.append((job, rule_of(job), float(measured["s"]), memory))
    return pd.DataFrame(rows, columns=["job", "rule", "seconds", "memory"])


def rule_of(job: str) -> str:
    """Return the rule of a job, such as train of ml-1m/train-X."""
    if job == "toy/fidelity":
        return "toy_fidelity"
    name = Path(job).name
    several = {"train", "rank", "sample", "download", "exact-moments"}  # one for each recommender or file
    rule = next((each for each in several if name.startswith(f"{each}-")), name)
    if name.startswith("estimator-study-"):
        rule = "study-estimators"
    return rule.replace("-", "_")
