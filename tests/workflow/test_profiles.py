"""The profiles: a run builds the report, and a dry run does not."""

import sys

import pytest
import yte
from made_up_project import ROOT


@pytest.mark.parametrize("profile", ["default", "slurm"])
@pytest.mark.parametrize(
    ("arguments", "is_dry"),
    [
        ("", False),
        ("-Rtrain", False),
        ("-R train", False),
        ("--nolock", False),
        ("-n", True),
        ("-Fn", True),
        ("-pn --cores 1", True),
        ("--dryrun", True),
        ("results/summary.html --dry-run", True),
    ],
)
def test_only_a_dry_run_builds_no_report(monkeypatch, profile, arguments, is_dry):
    monkeypatch.setattr(sys, "argv", ["snakemake", *arguments.split()])
    settings = yte.process_yaml((ROOT / f"profiles/{profile}/config.yaml").read_text(encoding="utf-8"))
    assert settings.get("report-after-run", False) == (not is_dry)
