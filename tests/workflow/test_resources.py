"""What jobs ask a cluster for is known of every job once its input is there, and makes nothing run again."""

import re
import zipfile
from pathlib import Path

import pytest
import yaml
from made_up_project import ROOT
from two_groups import two_groups

from sampled_metrics.data.split import Shape
from sampled_metrics.recommenders import recommender
from sampled_metrics.study.workflow.memory import MEGABYTE, reading_request, training_request

RESERVED = 700 + 200 * 20_000 / MEGABYTE  # of every recommender, for Python and the events


def planned(output: str) -> dict[str, list[str]]:
    """Return what the jobs of a dry run ask for, by rule."""
    found: dict[str, list[str]] = {}
    for line in output.splitlines():
        if job := re.fullmatch(r"(?:local)?rule (\w+):", line):
            rule = job[1]
        elif asked := re.fullmatch(r" +resources: (.*)", line):
            found.setdefault(rule, []).append(asked[1])
    return found


PROFILE = yaml.safe_load((ROOT / "profiles/slurm/config.yaml").read_text(encoding="utf-8"))
DEFAULTS = ["--default-resources", *(f"{name}={value}" for name, value in PROFILE["default-resources"].items())]


def test_every_job_asks_for_memory_and_minutes(finished) -> None:
    ran = finished.snakemake("--dry-run", "--forceall", "--quiet", "host", *DEFAULTS)
    assert ran.returncode == 0, ran.stderr
    jobs = planned(ran.stdout + ran.stderr)
    jobs.pop("all", None)
    assert {"split", "train", "rank", "sample", "tables", "toy_tables"} <= set(jobs)
    for rule, asked in jobs.items():
        for resources in asked:
            numbers = {name: int(value) for name, value in re.findall(r"\b(mem_mb|runtime)=(\d+)", resources)}
            assert numbers.keys() == {"mem_mb", "runtime"}, (rule, resources)
            assert 1000 <= numbers["mem_mb"] <= 2500, (rule, resources)
            assert 10 <= numbers["runtime"] <= 15, (rule, resources)


@pytest.mark.slow
def test_before_there_is_a_split_a_plan_can_be_made(project) -> None:
    ran = project.snakemake("--dry-run", "--quiet", "host", *DEFAULTS)
    assert ran.returncode == 0, ran.stderr
    jobs = planned(ran.stdout + ran.stderr)
    assert all("mem_mb=<TBD>" in asked for asked in jobs["train"])
    assert all(re.search(r"mem_mb=\d", asked) for asked in jobs["split"])
    assert not (project.folder / "results").exists()  # a dry run writes nothing


@pytest.mark.slow
def test_asking_for_something_else_runs_nothing_again(finished) -> None:
    ran = finished.snakemake("--dry-run", "--set-resources", "train:mem_mb=64000", "train:runtime=1440")
    assert ran.returncode == 0, ran.stderr
    assert "Nothing to be done" in ran.stdout + ran.stderr
    assert (Path(finished.folder) / "results/made-up/table-3.csv").is_file()


def test_a_job_that_refuses_its_input_is_queued_once() -> None:
    assert PROFILE.get("retries", 0) == 0


@pytest.mark.parametrize(("packed", "unpacked"), [(zipfile.ZIP_DEFLATED, 40), (zipfile.ZIP_STORED, 40)])
def test_the_split_asks_for_memory_by_the_unpacked_file(tmp_path: Path, packed: int, unpacked: int) -> None:
    with zipfile.ZipFile(tmp_path / "events.zip", "w", packed) as archive:
        archive.writestr("ratings.dat", bytes(unpacked * MEGABYTE))
        archive.writestr("readme", b"x" * 1000)
    assert reading_request(tmp_path / "events.zip") == 1000 + 5 * unpacked


@pytest.mark.parametrize(("start", "times"), [(b"1::2", 1), (b"\x1f\x8b\x08\x00", 6), (b"PAR1", 6), (b"PK\x03\x04", 1)])
def test_and_of_any_other_file_by_its_size(tmp_path: Path, start: bytes, times: int) -> None:
    (tmp_path / "events").write_bytes(start + bytes(4 * MEGABYTE - len(start)))
    assert reading_request(tmp_path / "events") == 1000 + 5 * times * 4


SHAPE = Shape(1000, 5000, 20_000)
EASE, FACTORS = {"type": "ease", "regularization": 1}, {"type": "popularity"}


@pytest.mark.parametrize(
    ("entry", "memory", "asked"),
    [
        (FACTORS, 100, 300 + RESERVED + 24),  # 4 × 8 × 128 × 6000 bytes
        (EASE, 2000, 300 + 2000),
        (EASE, 600, 300 + RESERVED + 763),  # 4 × 8 × 5000² bytes
        (EASE, 100, 300 + 100),  # it refuses
    ],
)
def test_training_asks_for_what_it_takes_and_for_its_limit(tmp_path: Path, entry, memory: int, asked: int) -> None:
    path = tmp_path / "split.npz"
    two_groups().write(path)
    assert training_request(recommender(entry), path, SHAPE, memory) == pytest.approx(asked, abs=1)
