"""The audit says what pip-audit was told, and no more; pip-audit is a stand-in that answers as it does."""

import json
import runpy
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
LOCK = ROOT / "envs/browser.lock"
SAFE = {"name": "numpy", "version": "2.4.6", "vulns": []}
KNOWN = {"name": "rich", "version": "1.0", "vulns": [{"id": "PYSEC-1", "fix_versions": ["1.1"]}]}
SKIPPED = {"name": "yte", "skip_reason": "Dependency not found on PyPI and could not be audited: yte (1.9.4)"}


def audited(answer: str, tmp_path: Path, *, may_be_unasked: bool) -> int:
    main = runpy.run_path(str(ROOT / ".ci/audit.py"))["main"]
    stand_in = tmp_path / "pip-audit"
    stand_in.write_text(f"#!/bin/sh\ncat <<'E'\n{answer}\nE\necho 'cannot reach it' >&2\n")
    stand_in.chmod(0o755)
    main.__globals__["PIP_AUDIT"] = stand_in
    return main([LOCK], may_be_unasked=may_be_unasked)


@pytest.mark.parametrize(
    ("packages", "strict", "lenient", "says"),
    [
        ([SAFE], 0, 0, "audited: 1 packages, 0 known vulnerabilities\n"),
        ([SAFE, KNOWN], 1, 1, "envs/browser.lock: rich 1.0: PYSEC-1 (fixed in: 1.1)\n"),
        ([SAFE, SKIPPED], 1, 0, "not audited: envs/browser.lock: 1 of 2 packages, such as: Dependency not found"),
        (None, 1, 0, "not audited: envs/browser.lock: cannot reach it\naudited: 0 packages"),
    ],
)
def test_says_what_it_was_told(
    packages: Any, strict: int, lenient: int, says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = "" if packages is None else json.dumps({"dependencies": packages, "fixes": []})
    assert audited(answer, tmp_path, may_be_unasked=False) == strict
    assert audited(answer, tmp_path, may_be_unasked=True) == lenient
    assert says in capsys.readouterr().out


def test_without_pip_audit(capsys: pytest.CaptureFixture[str]) -> None:
    main = runpy.run_path(str(ROOT / ".ci/audit.py"))["main"]
    main.__globals__["PIP_AUDIT"] = ROOT / "no/such/file"
    assert main([LOCK], may_be_unasked=True) == 0
    assert "not audited: envs/browser.lock: pip-audit is not installed" in capsys.readouterr().out
