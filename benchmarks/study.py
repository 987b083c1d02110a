"""Time the whole study, from the archive to the report, in total and by rule. Each run starts in an empty folder.

The peak memory of a job is the largest size of its resident set. The kernel keeps it (VmHWM, the final value of
ru_maxrss), and it is read 20 times a second, so only the last twentieth of a second is missed. Snakemake's own
benchmark files have samples of the memory, up to half a minute apart.

    python benchmarks/study.py --configfile study.yaml --runs 5 --output results/bench/time.md
"""

import argparse
import platform
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pandas as pd
import psutil

ROOT = Path(__file__).resolve().parent.parent
INTERVAL = 0.05  # seconds between two readings of the memory


def run(configfile: Path, cores: int, folder: Path) -> tuple[float, float, pd.DataFrame]:
    """Return the seconds and the peak memory of a run of the workflow in an empty folder, and its jobs.

    The peak memory is that of all processes together in MiB, as proportional set size, which counts shared pages once.
    The jobs have the columns rule, seconds and memory, which is the larger one of VmHWM and Snakemake's own value.
    """
    command = [sys.executable, "-m", "snakemake", "--snakefile", str(ROOT / "Snakefile"), "--directory", str(folder)]
    command += ["--cores", str(cores), "--configfile", str(configfile), "--benchmark-extended"]
    start, peak, peak_of_job = time.monotonic(), 0, dict[str, int]()
    with (folder / "out").open("w") as out:
        snakemake = psutil.Popen(command, stdout=out, stderr=subprocess.STDOUT, cwd=ROOT)
        while snakemake.poll() is None:
            peak = max(peak, read_memory(snakemake, folder / "results/logs", peak_of_job))
            time.sleep(INTERVAL)
    if snakemake.returncode:
        sys.exit((folder / "out").read_text())
    seconds, rows, benchmarks = time.monotonic() - start, [], folder / "results/benchmarks"
    for path in benchmarks.rglob("*.tsv"):
        job = pd.read_csv(path, sep="\t", na_values="-").iloc[0]
        memory = max(job["max_rss"], peak_of_job.get(str(path.relative_to(benchmarks).with_suffix("")), 0) / 2**20)
        rows.append({"rule": job["rule_name"], "seconds": job["s"], "memory": memory})
    return seconds, peak / 2**20, pd.DataFrame(rows)


def read_memory(snakemake: psutil.Process, logs: Path, peak_of_job: dict[str, int]) -> int:
    """Update the peak bytes of the running jobs, known by their logs; return the bytes that all processes have now."""
    total = 0
    for process in [snakemake, *snakemake.children(recursive=True)]:
        try:
            total += process.memory_full_info().pss
            highest = re.search(r"^VmHWM:\s*(\d+)", Path(f"/proc/{process.pid}/status").read_text(), re.MULTILINE)
            opened = [Path(file.path) for file in process.open_files()]
        except (psutil.Error, OSError, AttributeError):  # the process ended after it was listed
            continue
        for log in opened:
            if highest and log.suffix == ".log" and log.is_relative_to(logs.resolve()):
                job = str(log.relative_to(logs.resolve()).with_suffix(""))
                peak_of_job[job] = 1024 * int(highest[1])  # the value never falls
    return total


def main() -> None:
    """Run the study several times and write a table of medians."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--configfile", type=Path, default=ROOT / ".ci/local-copy.yaml")
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--output", type=Path, default=None, help="a Markdown file; default: standard output")
    arguments = parser.parse_args()
    totals, peaks, rules = [], [], []
    for number in range(arguments.runs):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name) / "main"
            folder.mkdir()
            # the config may have paths to ../shared
            (Path(name) / "shared").symlink_to((ROOT / "../shared").resolve())
            seconds, memory, jobs = run(arguments.configfile.resolve(), arguments.cores, folder)
        totals.append(seconds)
        peaks.append(memory)
        columns = {"jobs": ("seconds", "size"), "seconds": ("seconds", "sum"), "memory": ("memory", "max")}
        rules.append(jobs.groupby("rule").agg(**columns))
        print(f"run {number + 1} of {arguments.runs}: {seconds:.1f} s, {memory:.0f} MiB", file=sys.stderr)
    medians = pd.concat(rules).groupby(level="rule").median().sort_values("seconds", ascending=False)
    medians.columns = ["Jobs", "Seconds, all jobs", "Peak memory of a job, MiB"]
    text = (
        "**Where the time goes**\n\n"
        f"Medians of {arguments.runs} runs on {arguments.cores} cores ({platform.machine()}, Python "
        f"{platform.python_version()}): **{statistics.median(totals):.1f} s** from the archive to the report "
        f"({min(totals):.1f} to {max(totals):.1f}), at most **{max(peaks):.0f} MiB** of memory for all processes "
        f"together.\n\n{medians.rename_axis('Rule').to_markdown(floatfmt=('', '.0f', '.1f', '.0f'))}\n\n"
        "Snakemake itself and the report take the rest of the time.\n"
    )
    if arguments.output:
        arguments.output.parent.mkdir(parents=True, exist_ok=True)
        arguments.output.write_text(text, encoding="utf-8")
    else:
        print(text)


if __name__ == "__main__":
    main()
