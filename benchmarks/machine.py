"""Say what machine a benchmark ran on; `python benchmarks/machine.py` prints it."""

import os
import platform
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import psutil
from threadpoolctl import threadpool_info

_CPU = Path("/sys/devices/system/cpu/cpu0/cache")


def describe() -> dict[str, str]:
    """Return what the machine and the libraries under a benchmark are, by name, in the order of a table.

    What a system does not tell is left out: caches are read from Linux alone.
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
    """Return how many cores this process may use, and how many there are where it may not use all."""
    every = os.cpu_count() or 1
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else every
    return str(every) if usable == every else f"{usable} of {every}"


def caches(folder: Path = _CPU) -> str:
    """Return the data caches that the first core sees, such as "L1 32 KiB, L2 512 KiB, L3 32 MiB".

    Args:
        folder: where Linux describes them, a folder index* each.
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
    np.ones((2, 2)) @ np.ones((2, 2))  # loaded now, if it was not
    found = [each for each in threadpool_info() if each["user_api"] == "blas"]
    for each in sorted(found, key=lambda each: "numpy" not in each["filepath"]):  # SciPy brings one of its own
        kernel = f", kernel {each['architecture']}" if each.get("architecture") else ""
        return f"{each['internal_api']} {each['version']}{kernel}"
    return ""


def table(described: Mapping[str, str]) -> str:
    """Lay a description out as Markdown, without a heading."""
    return "\n".join(["| Machine | |", "|:---|:---|", *(f"| {name} | {value} |" for name, value in described.items())])


def main() -> None:
    """Print the description."""
    print(table(describe()))


if __name__ == "__main__":
    main()
