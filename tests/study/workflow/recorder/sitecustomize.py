"""At the end of a job, write which modules of the project its script has loaded.

tests/study/workflow/test_code.py reads this.
"""

import atexit
import os
import sys
from pathlib import Path


def record():
    """Add a line for each module to a file that has the name of the script."""
    parts = Path(sys.argv[0]).name.split(".")
    # snakemake calls it tmpabc123.train.py
    if Path(sys.argv[0]).parent.name == "scripts" and len(parts) == 3:
        script = parts[1]
        names = [
            name for name in sys.modules if name.partition(".")[0].startswith("sampled_metrics")
        ]
        with Path(os.environ["LOADED_MODULES"], script).open("a", encoding="utf-8") as file:
            file.writelines(f"{name}\n" for name in names)


atexit.register(record)
