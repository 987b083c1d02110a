"""Time the whole study, from the archive to the report, in total and by rule.

Each run starts in an empty folder. workflow_run.py describes how memory is measured.

    python benchmarks/study.py --configfile study.yaml --runs 5 --output results/bench/time.md
"""

import argparse
import platform
import statistics
import sys
import tempfile
from pathlib import Path

import pandas as pd
from workflow_run import ROOT, run


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
        rules.append(measured.by_rule())
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
