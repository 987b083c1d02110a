"""Run snakemake --lint.

A conda environment for each rule is not asked for: the library is on no channel.
"""

import re
import subprocess
import sys

ALLOWED = "Specify a conda environment or container for each rule."

ran = subprocess.run(
    [sys.executable, "-m", "snakemake", "--lint"], capture_output=True, text=True, check=False
)
titles = re.findall(r"^ +\* (.*):$", ran.stdout + ran.stderr, re.MULTILINE)
if set(titles) != {ALLOWED}:
    print(ran.stdout + ran.stderr)
    sys.exit(1)
