"""Time the whole study, from the archive to the report, in total and by rule. Each run starts in an empty folder.

The peak memory of a job is the largest size of its resident set. The kernel keeps it (VmHWM, the final value of
ru_maxrss), and it is read 20 times a second, so only the last twentieth of a second is missed. Snakemake's own
benchmark files have samples of the memory, up to half a minute apart.

    python benchmarks/study.py --configfile study.yaml --runs 5 --output results/bench/time.md
"""

import argparse
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import psutil

ROOT = Path(__file__).resolve().parent.parent
INTERVAL = 0.05  # seconds between two readings of the memory


@dataclass(frozen=True)
class Run:
    """Time and memory of a run of the workflow.

    Attributes:
        seconds: time from the start of snakemake to its end.
        memory: peak of all processes together, in MiB, as proportional set size, which counts shared pages once; 0 if
            the system does not report it.
        jobs: columns rule, seconds and memory, the peak of the resident set in MiB. If the value of Snakemake's
            benchmark file is larger, it is that value.
    """

    seconds: float
    memory: float
    jobs: pd.DataFrame


def run(configfile: Path, cores: int, folder: Path) -> Run:
    """Return the time and memory of a run of the workflow in an empty folder."""
    command = [sys.executable, "-m", "snakemake", "--snakefile", str(ROOT / "Snakefile"), "--directory", str(folder)]
    command += ["--cores", str(cores), "--configfile", str(configfile)]
    start, peak, peak_of_job = time.monotonic(), 0, dict[str, int]()
    with (folder / "out").open("w") as out:
        snakemake = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT, cwd=ROOT)
        while snakemake.poll() is None:
            peak = max(peak, _read_memory(psutil.Process(snakemake.pid), folder / "results/logs", peak_of_job))
            time.sleep(INTERVAL)
    if snakemake.returncode:
        sys.exit((folder / "out").read_text())
    return Run(time.monotonic() - start, peak / 2**20, _jobs(folder / "results/benchmarks", peak_of_job))


def _read_memory(snakemake: psutil.Process, logs: Path, peak_of_job: dict[str, int]) -> int:
    """Update the peak bytes of the running jobs; return the bytes that all processes have now."""
    total = 0
    for process in [snakemake, *snakemake.children(recursive=True)]:
        try:
            total += process.memory_full_info().pss
            status = Path(f"/proc/{process.pid}/status").read_text()
            opened = [Path(file.path) for file in process.open_files()]
        except (psutil.Error, OSError, AttributeError):  # the process ended after it was listed
            continue
        kilobytes = [line.split()[1] for line in status.splitlines() if line.startswith("VmHWM:")]
        for log in opened:
            if kilobytes and log.suffix == ".log" and log.is_relative_to(logs.resolve()):
                job = str(log.relative_to(logs.resolve()).with_suffix(""))
                peak_of_job[job] = 1024 * int(kilobytes[0])  # the value never falls
    return total


def _jobs(benchmarks: Path, peak_of_job: Mapping[str, int]) -> pd.DataFrame:
    rows = []
    for path in sorted(benchmarks.rglob("*.tsv")):
        measured = pd.read_csv(path, sep="\t", na_values="-").iloc[0]
        job = str(path.relative_to(benchmarks).with_suffix(""))
        memory = max(float(measured["max_rss"]), peak_of_job.get(job, 0) / 2**20)
        rows.append((rule_of(job), float(measured["s"]), memory))
    return pd.DataFrame(rows, columns=["rule", "seconds", "memory"])


def rule_of(job: str) -> str:
    """Return the rule of a job, such as train of ml-1m/train-X."""
    if job.startswith("toy/"):
        return job.replace("/", "_").replace("-", "_")
    name = Path(job).name
    if name == job or job.startswith("download/"):
        return job.partition("/")[0]
    rules = {"train", "rank", "sample"}  # these have a job for each recommender
    rule = next((rule for rule in rules if name.startswith(f"{rule}-")), name)
    return rule.replace("-", "_")


def main() -> None:
    """Run the study several times and write a table of medians."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--configfile", type=Path, default=ROOT / ".ci/local-copy.yaml")
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--output", type=Path, default=None, help="a Markdown file; default: standard output")
    arguments = parser.parse_args()
    config = arguments.configfile.resolve()
    totals, peaks, rules = [], [], []
    for number in range(arguments.runs):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name) / "main"
            folder.mkdir()
            # the config may have paths to ../shared
            (Path(name) / "shared").symlink_to((ROOT / "../shared").resolve())
            measured = run(config, arguments.cores, folder)
        totals.append(measured.seconds)
        peaks.append(measured.memory)
        of_rule = measured.jobs.groupby("rule")
        rules.append(of_rule.agg(jobs=("seconds", "size"), seconds=("seconds", "sum"), memory=("memory", "max")))
        took = f"{measured.seconds:.1f} s, {measured.memory:.0f} MiB"
        print(f"run {number + 1} of {arguments.runs}: {took}", file=sys.stderr)
    medians = pd.concat(rules).groupby(level="rule").median().sort_values("seconds", ascending=False)
    table = pd.DataFrame(
        {
            "Rule": medians.index,
            "Jobs": medians["jobs"].astype(int).astype(str),
            "Seconds, all jobs": [f"{value:.1f}" for value in medians["seconds"]],
            "Peak memory of a job, MiB": [f"{value:.0f}" for value in medians["memory"]],
        }
    )
    text = (
        "**Where the time goes**\n\n"
        f"Medians of {arguments.runs} runs on {arguments.cores} cores ({platform.machine()}, Python "
        f"{platform.python_version()}): **{statistics.median(totals):.1f} s** from the archive to the report "
        f"({min(totals):.1f} to {max(totals):.1f}), at most **{max(peaks):.0f} MiB** of memory for all processes "
        f"together.\n\n{table.to_markdown(index=False, disable_numparse=True)}\n\n"
        "Snakemake itself and the report take the rest of the time.\n"
    )
    if arguments.output:
        arguments.output.parent.mkdir(parents=True, exist_ok=True)
        arguments.output.write_text(text, encoding="utf-8")
    else:
        print(text)


if __name__ == "__main__":
    main()
