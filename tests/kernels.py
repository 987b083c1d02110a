"""Run tests under two other kernels of OpenBLAS than the processor's own.

python tests/kernels.py tests/core tests/ranking     with the arguments of pytest

OpenBLAS picks its kernel by the processor, and the variable OPENBLAS_CORETYPE asks for another one.
A kernel counts if threadpoolctl reports another one than without the variable. A machine that sets
the variable itself has a reason, and keeps its kernel.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
VARIABLE = "OPENBLAS_CORETYPE"
NEEDS = {
    "SkylakeX": {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"},
    "Haswell": {"avx2", "fma"},
    "Sandybridge": {"avx"},
    "Prescott": {"pni"},
}
"""The flags of a processor that kernels need, from new to old."""

NUMBER = 2
REPORT = """
import json
import numpy
import scipy.linalg
from threadpoolctl import threadpool_info
libraries = [library for library in threadpool_info() if library["internal_api"] == "openblas"]
print(json.dumps(sorted({library["architecture"] for library in libraries})))
"""


def environment(kernel):
    """Return the variables of a process that asks for a kernel; "" is the processor's own."""
    return {**os.environ, VARIABLE: kernel} if kernel else dict(os.environ)


def reported(kernel):
    """Return the kernels that threadpoolctl reports in a process that asks for one.

    The names are those of OpenBLAS, which may have several for the same kernel.
    """
    command = [sys.executable, "-c", REPORT]
    report = subprocess.run(
        command, env=environment(kernel), check=True, capture_output=True, text=True
    )
    return list(json.loads(report.stdout))


def flags():
    """Return the flags of the processor; none where Linux does not list those of an x86."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text(encoding="utf-8").splitlines() if cpuinfo.exists() else []
    lists = [line.partition(":")[2].split() for line in lines if line.startswith("flags")]
    return set(lists[0]) if lists else set()


def why_none():
    """Return why this machine runs no other kernel; "" if it can."""
    if VARIABLE in os.environ:
        return f"{VARIABLE} is {os.environ[VARIABLE]} on this machine, and stays so"
    if not flags():
        return "this is no x86 with Linux"
    if not reported(""):
        return "numpy and scipy do not use OpenBLAS"
    return ""


def other_kernels():
    """Return what is reported for each of two kernels that differ from the processor's own."""
    seen = [reported("")]
    kernels: dict[str, list[str]] = {}
    for kernel, needs in NEEDS.items():
        if len(kernels) < NUMBER and needs <= flags():
            report = reported(kernel)
            if report not in seen:
                seen.append(report)
                kernels[kernel] = report
    if len(kernels) < NUMBER:
        sys.exit(f"error: {VARIABLE} has no effect: of {', '.join(NEEDS)}, there are {kernels}")
    return kernels


def main(arguments):
    """Run pytest under each kernel; return 0 if all tests pass."""
    if reason := why_none():
        print(f"other kernels: skipped, {reason}")
        return 0
    kernels = other_kernels()
    print(f"the processor's own kernel is {', '.join(reported(''))}", flush=True)
    command = [sys.executable, "-m", "pytest", *arguments]
    failed = []
    for kernel, names in kernels.items():
        print(f"{VARIABLE}={kernel} ({', '.join(names)}):", flush=True)
        if subprocess.run(command, cwd=ROOT, env=environment(kernel), check=False).returncode:
            failed.append(kernel)
    print(f"failed under: {', '.join(failed) or 'none'}")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
