"""Fail unless every printed number is reproduced, in the reading that has the slips of the paper's
numbers.
"""

import csv
import sys

PRINTED = {"1": 12, "2": 24, "3": 180, "4": 84}
counts = dict.fromkeys(PRINTED, 0)
wrong = []
for path in sys.argv[1:]:
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["reading"] == "as-printed" or row["table"] in "12":
                counts[row["table"]] += 1
                if row["ok"] != "True":
                    wrong.append(
                        f"Table {row['table']}, {row['cell']}: {row['printed']} printed, ours "
                        f"{row['ours']}"
                    )
print("\n".join(wrong) if wrong else f"every printed number is reproduced: {counts}")
sys.exit(bool(wrong) or counts != PRINTED)
