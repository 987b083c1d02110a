"""Time the whole study, from the archive to the report, and say by rule where the time goes.

Each run has a folder of its own, so that nothing is there yet. Memory is that of all processes of a run together,
sampled 20 times a second as proportional set size (pages that processes share are counted once).

    python benchmarks/study.py --configfile examples/local-copy.yaml --runs 5 --output docs/reproduction/time.md
"""

import argparse
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pandas as pd
import psutil

ROOT = Path(__file__).resolve().parent.parent


def run(configfile: Path, cores: int, folder: Path) -> tuple[float, float]:
    """Run the study in a folder; return its seconds and its peak memory in MiB."""
    command = [sys.executable, "-m", "snakemake", "--snakefile", str(ROOT / "Snakefile"), "--directory", str(folder)]
    command += ["--cores", str(cores), "--configfile", str(configfile)]
    start, peak = time.monotonic(), 0.0
    with (folder / "out").open("w") as out:
        study = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT, cwd=ROOT)
        while study.poll() is None:
            peak = max(peak, memory(psutil.Process(study.pid)))
            time.sleep(0.05)
    if study.returncode:
        sys.exit((folder / "out").read_text())
    return time.monotonic() - start, peak / 2**20


def memory(process: psutil.Process) -> int:
    """Return the proportional set size of a process and all below it, in bytes."""
    total = 0
    for each in [process, *process.children(recursive=True)]:
        try:
            total += each.memory_full_info().pss
        except (psutil.Error, AttributeError):  # gone since it was listed
            continue
    return total


def by_rule(folder: Path) -> pd.DataFrame:
    """Sum the benchmark files of a run by rule; columns rule, jobs, seconds, peak memory of one job in MiB."""
    rows = []
    for path in (folder / "results/benchmarks").rglob("*.tsv"):
        measured = pd.read_csv(path, sep="\t", na_values="-").iloc[0]
        job = path.stem if path.parent.name != "toy" or path.stem != "fidelity" else "toy-fidelity"
        rule = job.split("-")[0] if job.startswith(("train", "rank", "sample", "download")) else job.replace("-", "_")
        rows.append((rule, float(measured["s"]), float(measured["max_rss"])))
    jobs = pd.DataFrame(rows, columns=["rule", "seconds", "memory"])
    return jobs.groupby("rule").agg(jobs=("seconds", "size"), seconds=("seconds", "sum"), memory=("memory", "max"))


def main() -> None:
    """Run the study several times and write a table of medians."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--configfile", type=Path, default=ROOT / "examples/local-copy.yaml")
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--output", type=Path, default=None, help="a Markdown file; default: standard output")
    given = parser.parse_args()
    config = given.configfile.resolve()
    totals, peaks, rules = [], [], []
    for number in range(given.runs):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name) / "main"
            folder.mkdir()
            # a path in the config that is relative to this folder holds there too
            (Path(name) / "shared").symlink_to((ROOT / "../shared").resolve())
            seconds, peak = run(config, given.cores, folder)
            totals.append(seconds)
            peaks.append(peak)
            rules.append(by_rule(folder))
        print(f"run {number + 1} of {given.runs}: {seconds:.1f} s, {peak:.0f} MiB", file=sys.stderr)
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
        f"Medians of {given.runs} runs on {given.cores} cores ({platform.machine()}, Python "
        f"{platform.python_version()}): **{statistics.median(totals):.1f} s** from the archive to the report "
        f"({min(totals):.1f} to {max(totals):.1f}), at most **{max(peaks):.0f} MiB** of memory for all processes "
        f"together.\n\n{table.to_markdown(index=False, disable_numparse=True)}\n\n"
        "What the rules do not sum up to is Snakemake itself, and the report.\n"
    )
    if given.output:
        given.output.parent.mkdir(parents=True, exist_ok=True)
        given.output.write_text(text, encoding="utf-8")
    else:
        print(text)


if __name__ == "__main__":
    main()
