"""Run the study at the shape of MovieLens 32M, on synthetic events: the time and the peak memory of every job.

The events are those of catalogue.py, the study is examples/large.yaml, the jobs are the workflow's own. How memory is
measured, workflow_run.py says.

    python benchmarks/scale.py --cores 2 --output docs/reproduction/scale.md
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import catalogue
import machine
import pandas as pd
from workflow_run import ROOT, Run, run

from sampled_metrics import _files

LIMIT, LIMIT_OF_RANKS = 4096, 2048  # MiB of one process


def write_events(path: Path, shape: Mapping[str, int]) -> tuple[float, float, str]:
    """Write the events in a process of its own; return its seconds, its peak memory in MiB and what it printed."""
    start = time.monotonic()
    command = [sys.executable, str(ROOT / "benchmarks/catalogue.py"), "--output", str(path)]
    command += [each for name, number in shape.items() for each in (f"--{name}", str(number))]
    writing = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert writing.stdout
    with writing.stdout as stream:
        printed = stream.read()
    _, status, used = os.wait4(writing.pid, 0)
    writing.returncode = os.waitstatus_to_exitcode(status)  # so that Popen knows, too
    if writing.returncode:
        sys.exit(1)
    return time.monotonic() - start, used.ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10), printed


def of_large(jobs: pd.DataFrame) -> pd.DataFrame:
    """Return the jobs of the dataset, in the order of the workflow, and what they were about."""
    own = jobs[jobs["job"].str.startswith("large/")]
    order = ["split", "train", "rank", "sample", "expect"]
    place = own["rule"].map(lambda rule: order.index(rule) if rule in order else len(order))
    return own.assign(place=place).sort_values(["place", "job"], kind="stable")


def report(
    shape: Mapping[str, int],
    written: tuple[float, float, str],
    facts: Mapping[str, Any],
    ran: Run,
    cores: int,
    load: float,
) -> str:
    """Lay the measurements out as a page."""
    own = of_large(ran.jobs)
    table = pd.DataFrame(
        {
            "Job": own["job"].str.removeprefix("large/"),
            "Seconds": [f"{value:.1f}" for value in own["seconds"]],
            "Seconds of processor": [f"{value:.1f}" for value in own["processor"]],
            "Peak memory, MiB": [f"{value:.0f}" for value in own["memory"]],
            "As Snakemake samples it, MiB": [f"{value:.0f}" for value in own["sampled"]],
        }
    )
    seconds, memory, printed = written
    largest, of_ranks = own["memory"].max(), own.loc[own["rule"] == "rank", "memory"].max()
    toy = ran.jobs.loc[ran.jobs["job"].str.startswith("toy/"), "seconds"]
    parts = [
        "**At the shape of MovieLens 32M**",
        "`make bench-scale` writes this page. Synthetic events "
        f"({shape['users']:,} users, {shape['items']:,} items, {shape['events']:,} events, seed {shape['seed']}; "
        "benchmarks/catalogue.py), as many of each as MovieLens 32M has, go through the workflow's own jobs, as "
        "[examples/large.yaml](../../examples/large.yaml) says. The numbers say what a study of that size costs, and "
        f"nothing about recommenders. Users have {facts['mean_candidates']:,.0f} candidates on average.",
        "\n".join(f"- {line}" for line in printed.splitlines()),
        f"The events took {seconds:.0f} s and {memory:.0f} MiB to write. From them to the report it took "
        f"**{ran.seconds / 60:.1f} minutes** on {cores} cores, of which the running example {toy.sum():.0f} s, and at "
        f"most **{ran.memory:.0f} MiB** of memory for all processes together. The largest process took "
        f"**{largest:.0f} MiB**, the largest that ranks **{of_ranks:.0f} MiB**; the limits are {LIMIT} and "
        f"{LIMIT_OF_RANKS} MiB. In the last quarter of an hour {load:.1f} processes wanted a core, on average: with "
        f"more than {cores} the seconds are longer than they need be.",
        table.to_markdown(index=False, disable_numparse=True),
        "Peak memory is the high-water mark of the resident set, which the kernel keeps (VmHWM, in the end ru_maxrss). "
        "Snakemake samples it, up to half a minute apart, and misses peaks. Seconds of processor are those of all "
        "cores together, and depend less on what else the machine does.",
        machine.table(machine.describe()),
    ]
    return "\n\n".join(parts)


def main() -> None:
    """Run the study once, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--users", type=int, default=catalogue.USERS)
    parser.add_argument("--items", type=int, default=catalogue.ITEMS)
    parser.add_argument("--events", type=int, default=catalogue.EVENTS)
    parser.add_argument("--seed", type=int, default=2020)
    parser.add_argument("--folder", type=Path, default=None, help="where to run, empty; default: one that is removed")
    parser.add_argument("--output", type=Path, default=None, help="a Markdown file; default: standard output")
    given = parser.parse_args()
    shape = {name: getattr(given, name) for name in ("users", "items", "events", "seed")}
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        print("writing the events", file=sys.stderr)
        written = write_events(folder / "large.zip", shape)
        print("running the study", file=sys.stderr)
        ran = run(ROOT / "examples/large.yaml", given.cores, folder.resolve())
        facts = json.loads((folder / "results/large/dataset.json").read_text(encoding="utf-8"))
    text = report(shape, written, facts, ran, given.cores, os.getloadavg()[2])
    if given.output:
        _files.write_text(given.output, text)
    else:
        print(text)


if __name__ == "__main__":
    main()
