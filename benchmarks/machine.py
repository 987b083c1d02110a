"""Describe the machine of a benchmark; `python benchmarks/machine.py` prints the description."""

import os
import platform
import re
from pathlib import Path

import numpy as np
import psutil
from threadpoolctl import threadpool_info


def describe() -> dict[str, str]:
    """Return the properties of the machine and of the libraries under a benchmark, by name, in the order of a table.

    Properties that the system does not report are left out. The processor and its caches are read on Linux only.
    """
    total = os.cpu_count() or 1
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else total
    names = re.findall(r"^model name\s*: (.*)$", _text(Path("/proc/cpuinfo")), re.MULTILINE)
    described = {
        "Processor": next(iter(names), platform.processor()),
        "Cores": str(total) if usable == total else f"{usable} of {total}",
        "Caches": caches(),
        "Memory": f"{psutil.virtual_memory().total / 2**30:.1f} GiB",
        "System": f"{platform.system()} {platform.release()}, {platform.machine()}",
        "Python": platform.python_version(),
        "NumPy": np.__version__,
        "BLAS": blas(),
    }
    return {name: value for name, value in described.items() if value}


def caches(folder: Path = Path("/sys/devices/system/cpu/cpu0/cache")) -> str:
    """Return the data caches that the first core sees, such as "L1 32 KiB, L2 512 KiB", from a folder of Linux."""
    read = [[_text(index / name) for name in ("type", "level", "size")] for index in sorted(folder.glob("index*"))]
    sizes = {level: size for kind, level, size in read if kind != "Instruction" and level and size}
    return ", ".join(f"L{level} {size.replace('K', ' KiB')}" for level, size in sorted(sizes.items()))


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8").strip()
    except OSError:
        return ""


def blas() -> str:
    """Return NumPy's BLAS, with the kernels that it chose for this processor."""
    np.ones((2, 2)) @ np.ones((2, 2))  # loads the BLAS
    pools = [pool for pool in threadpool_info() if pool["user_api"] == "blas"]
    if not pools:
        return ""
    pool = min(pools, key=lambda pool: "numpy" not in pool["filepath"])  # SciPy may have another one
    kernel = f", kernel {pool['architecture']}" if pool.get("architecture") else ""
    return f"{pool['internal_api']} {pool['version']}{kernel}"


def table() -> str:
    """Return the description as a table in Markdown, without a heading."""
    return "\n".join(["| Machine | |", "|:---|:---|", *(f"| {name} | {value} |" for name, value in describe().items())])


if __name__ == "__main__":
    print(table())
