"""Describe the machine of a benchmark; `python benchmarks/machine.py` prints the description."""

import os
import platform
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import psutil
from threadpoolctl import threadpool_info

_CPU = Path("/sys/devices/system/cpu/cpu0/cache")


def describe() -> dict[str, str]:
    """Return the properties of the machine and of the libraries under a benchmark, by name, in the order of a table.

    Properties that the system does not report are left out. Caches are read on Linux only.
    """
    described = {
        "Processor": processor(),
        "Cores": cores(),
        "Caches": caches(),
        "Memory": f"{psutil.virtual_memory().total / 2**30:.1f} GiB",
        "System": f"{platform.system()} {platform.release()}, {platform.machine()}",
        "Python": platform.python_version(),
        "NumPy": np.__version__,
        "BLAS": blas(),
    }
    return {name: value for name, value in described.items() if value}


def processor() -> str:
    """Return the model of the processor."""
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            name, _, value = line.partition(":")
            if name.strip() == "model name":
                return value.strip()
    except OSError:
        pass
    return platform.processor()


def cores() -> str:
    """Return the number of cores that this process may use, such as 2, or 2 of 8 if it may not use all."""
    total = os.cpu_count() or 1
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else total
    return str(total) if usable == total else f"{usable} of {total}"


def caches(folder: Path = _CPU) -> str:
    """Return the data caches that the first core sees, such as "L1 32 KiB, L2 512 KiB, L3 32 MiB".

    Args:
        folder: folder in which Linux describes each cache in a folder index*.
    """
    sizes = {}
    for index in sorted(folder.glob("index*")):
        kind, level, size = (_text(index / name) for name in ("type", "level", "size"))
        if kind != "Instruction" and level and size:
            sizes[level] = _bytes(size)
    return ", ".join(f"L{level} {size}" for level, size in sorted(sizes.items()))


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8").strip()
    except OSError:
        return ""


def _bytes(size: str) -> str:
    """Write "32768K" as "32 MiB"."""
    if not size.endswith("K"):
        return size
    kibibytes = int(size[:-1])
    return f"{kibibytes // 1024} MiB" if kibibytes >= 1024 and kibibytes % 1024 == 0 else f"{kibibytes} KiB"


def blas() -> str:
    """Return NumPy's BLAS, with the kernels that it chose for this processor."""
    np.ones((2, 2)) @ np.ones((2, 2))  # loads the BLAS
    pools = [pool for pool in threadpool_info() if pool["user_api"] == "blas"]
    if not pools:
        return ""
    pool = min(pools, key=lambda pool: "numpy" not in pool["filepath"])  # SciPy may have another one
    kernel = f", kernel {pool['architecture']}" if pool.get("architecture") else ""
    return f"{pool['internal_api']} {pool['version']}{kernel}"


def table(described: Mapping[str, str]) -> str:
    """Return a description as a table in Markdown, without a heading."""
    return "\n".join(["| Machine | |", "|:---|:---|", *(f"| {name} | {value} |" for name, value in described.items())])


def main() -> None:
    """Print the description."""
    print(table(describe()))


if __name__ == "__main__":
    main()
