"""CLAIMS.md says how many lines each proof rests on, as the table of results does."""

import csv
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
TABLE = ROOT / "results/trusted/what-a-proof-rests-on-by-kind-of-file.csv"
COUNT = re.compile(r"([\d,]+) \(`([^`]+)`\)")
# The same kind of file, with longer words.
LONGER = "FlipFlop -T 1024"


def test_trusted_lines_are_those_that_were_counted() -> None:
    with TABLE.open(newline="") as file:
        lines = {row["for example"]: row["lines"] for row in csv.DictReader(file)}
    counts = COUNT.findall((ROOT / "CLAIMS.md").read_text())
    stated = {example: count.replace(",", "") for count, example in counts}
    del lines[LONGER]
    assert stated == lines
