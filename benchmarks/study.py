"""Time the whole study, from the archive to the report, in total and by rule.

Each run starts in an empty folder.

python benchmarks/study.py --configfile study.yaml --runs 5 --output results/bench/time.md
"""

import argparse
import platform
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
    """Return the seconds and the peak MiB of a run of the workflow in an empty folder, and the
    seconds of its jobs.

    The memory is that of all processes together, as proportional set size, which counts shared
    pages once.
    """
    command = [
        sys.executable,
        "-m",
        "snakemake",
        "--snakefile",
        str(ROOT / "Snakefile"),
        "--directory",
        str(folder),
    ]
    command += ["--cores", str(cores), "--configfile", str(configfile), "--benchmark-extended"]
    start = time.monotonic()
    peak = 0
    with (folder / "out").open("w") as out:
        snakemake = psutil.Popen(command, stdout=out, stderr=subprocess.STDOUT, cwd=ROOT)
        while snakemake.poll() is None:
            peak = max(peak, sum(map(memory, [snakemake, *snakemake.children(recursive=True)])))
            time.sleep(INTERVAL)
    if snakemake.returncode:
        sys.exit((folder / "out").read_text())
    seconds = time.monotonic() - start
    paths = (folder / "results/benchmarks").rglob("*.tsv")
    jobs = pd.concat([pd.read_csv(path, sep="\t", na_values="-", nrows=1) for path in paths])
    return seconds, peak / 2**20, jobs[["rule_name", "s"]]


def memory(process: psutil.Process) -> int:
    """Return the bytes of a process, 0 if it ended after it was listed."""
    try:
        return int(process.memory_full_info().pss)
    except (psutil.Error, OSError):
        return 0


def main() -> None:
    """Run the study several times and write a table of medians."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--configfile", type=Path, default=ROOT / ".ci/local-copy.yaml")
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--output", type=Path, required=True, help="a Markdown file")
    arguments = parser.parse_args()
    totals = []
    rules = []
    for number in range(arguments.runs):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name) / "main"
            folder.mkdir()
            # the config may have paths to ../shared
            (Path(name) / "shared").symlink_to((ROOT / "../shared").resolve())
            seconds, peak, jobs = run(arguments.configfile.resolve(), arguments.cores, folder)
        totals.append((seconds, peak))
        rules.append(jobs.groupby("rule_name")["s"].agg(["size", "sum"]))
        print(
            f"run {number + 1} of {arguments.runs}: {seconds:.1f} s, {peak:.0f} MiB",
            file=sys.stderr,
        )
    medians = pd.concat(rules).groupby(level=0).median().sort_values("sum", ascending=False)
    medians = medians.set_axis(["Jobs", "Seconds, all jobs"], axis="columns").rename_axis("Rule")
    runs = pd.DataFrame(totals, columns=["seconds", "peak"])
    text = (
        "**Where the time goes**\n\n"
        f"Medians of {arguments.runs} runs on {arguments.cores} cores ({platform.machine()}, "
        f"Python {platform.python_version()}): **{runs.seconds.median():.1f} s** from the archive "
        f"to the report ({runs.seconds.min():.1f} to {runs.seconds.max():.1f}), at most "
        f"**{runs.peak.max():.0f} MiB** of memory for all processes "
        f"together.\n\n{medians.to_markdown(floatfmt=('', '.0f', '.1f'))}\n\n"
        "Snakemake itself and the report take the rest of the time.\n"
    )
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    arguments.output.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
