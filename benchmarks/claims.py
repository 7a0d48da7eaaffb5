"""Put the counts of results/trusted into CLAIMS.md.

Run ``python benchmarks/regenerate.py trusted`` and then this script.
"""

import csv
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "CLAIMS.md"
TABLE = ROOT / "results/trusted/what-a-proof-rests-on-by-kind-of-file.csv"
COUNT = re.compile(r"[\d,]+ \(`([^`]+)`\)")


def counted_lines() -> dict[str, int]:
    """The trusted lines of each example, as `krohn compile` takes it."""
    with TABLE.open(newline="") as file:
        rows = list(csv.DictReader(file))
    return {row["for example"]: int(row["lines"]) for row in rows}


def with_counts(page: str) -> str:
    """The page with the lines that were counted in front of each example."""
    lines = counted_lines()
    return COUNT.sub(lambda found: f"{lines[found[1]]:,} (`{found[1]}`)", page)


if __name__ == "__main__":
    PAGE.write_text(with_counts(PAGE.read_text()))
