"""Run the workflow in a folder, and measure every job of it.

The peak memory of a job is the high-water mark of its resident set, which the kernel keeps (VmHWM, what ru_maxrss is in
the end) and which is read 20 times a second: what is missed is what a job takes in its last twentieth of a second.
Snakemake's own benchmark files have samples instead, half a minute apart.
"""

import subprocess
import sys
import time
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
        jobs: columns job (its log's path below results/logs, without ending), rule, seconds, sampled (peak memory as in
            Snakemake's benchmark files) and memory (peak of the resident set; as sampled where the system does not tell
            it or a sample is larger), both in MiB.
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
    start, together, peaks = time.monotonic(), 0, dict[str, int]()
    with (folder / "out").open("w") as out:
        snakemake = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT, cwd=ROOT)
        while snakemake.poll() is None:
            together = max(together, _look(psutil.Process(snakemake.pid), folder / "results/logs", peaks))
            time.sleep(EVERY)
    if snakemake.returncode:
        sys.exit((folder / "out").read_text())
    return Run(time.monotonic() - start, together / 2**20, _jobs(folder / "results/benchmarks", peaks))


def _look(snakemake: psutil.Process, logs: Path, peaks: dict[str, int]) -> int:
    """Note the peaks of the jobs that run; return the bytes that all processes together have now."""
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
                peaks[job] = max(peaks.get(job, 0), 1024 * int(mark[0]))
    return total


def _jobs(benchmarks: Path, peaks: dict[str, int]) -> pd.DataFrame:
    rows = []
    for path in sorted(benchmarks.rglob("*.tsv")):
        measured = pd.read_csv(path, sep="\t", na_values="-").iloc[0]
        job = str(path.relative_to(benchmarks).with_suffix(""))
        sampled = float(measured["max_rss"])
        peak = max(sampled, peaks.get(job, 0) / 2**20)
        rows.append((job, rule_of(job), float(measured["s"]), sampled, peak))
    return pd.DataFrame(rows, columns=["job", "rule", "seconds", "sampled", "memory"])


def rule_of(job: str) -> str:
    """Return the rule of a job, such as train of ml-1m/train-X."""
    if job == "toy/fidelity":
        return "toy_fidelity"
    name = Path(job).name
    beginning = name.partition("-")[0]
    several = ("train", "rank", "sample", "expect", "compare", "download")  # one for each recommender or file
    return beginning if beginning in several else name.replace("-", "_")
