"""Whether the planner keeps its word: what explain says and compile writes, in any memory.

Regular expressions are drawn by the numbers 0, 1, 2, … for words of up to 512 letters. Of
each `krohn explain` and `krohn compile` must name one construction with one depth and one
number of parameters. And machines are compiled in limits of memory: each file has the same
bytes, or the command ends with a message and writes none. Every command is a process.
"""

import hashlib
import json
import os
import random
import resource
import subprocess
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from report import Row, Table, each, parser, publish

LENGTH = 512
LIMITS = (0.8, 1, 2, 8)
"""GB of addresses that a command may have."""
GB = 10**9
MACHINES = (
    *("C2", "C6", "S3", "S4", "S5", "A5", "Q8", "D4", "FlipFlop", "FFL2", "Grid4"),
    *("Grid9", "Dyck2,1", "Dyck4,2", "Memory5", "PermReset3", "GoldenMean", "Adder"),
)


def word(source: random.Random, letters: str) -> str:
    """One to three letters."""
    return "".join(source.choice(letters) for _ in range(source.randint(1, 3)))


def factor(source: random.Random, letters: str) -> str:
    """A word, a repeated letter, or a choice of words, repeated or not."""
    kind = source.random()
    if kind < 0.3:
        return word(source, letters)
    if kind < 0.5:
        return source.choice(letters) + "*"
    words = "|".join(word(source, letters) for _ in range(source.randint(1, 3)))
    return f"({words})" + "*" * (kind < 0.8)


def pattern(number: int) -> str:
    """A regular expression over two letters, or over three if the number is even."""
    source, letters = random.Random(number), "ab" if number % 2 else "abc"
    parts = (
        "".join(factor(source, letters) for _ in range(source.randint(1, 4)))
        for _ in range(source.randint(1, 3))
    )
    return "regex:" + "|".join(parts)


class Ended(NamedTuple):
    """How a command ended.

    Attributes:
        code: Its exit code.
        result: What it printed as JSON; empty if that is none.
        memory: The most memory that it had, in GiB.
        seconds: Of CPU.
    """

    code: int
    result: dict[str, Any]
    memory: float
    seconds: float


def run(arguments: Sequence[str], limit: float | None = None) -> Ended:
    """Run a command of Krohn, in so many GB of addresses if there is a limit."""

    def confine() -> None:
        if limit is not None:
            most = int(limit * GB)
            resource.setrlimit(resource.RLIMIT_AS, (most, most))

    process = subprocess.Popen(
        [sys.executable, "-m", "krohn", *arguments, "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        preexec_fn=confine,
        text=True,
    )
    assert process.stdout is not None
    text = process.stdout.read()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    try:
        result = json.loads(text)
    except ValueError:
        result = {}
    spent = used.ru_utime + used.ru_stime
    return Ended(process.returncode, result, used.ru_maxrss / 2**20, spent)


def compare(number: int) -> Row:
    """What the two commands say of one regular expression."""
    source = pattern(number)
    asked = [source, "-T", str(LENGTH)]
    with TemporaryDirectory() as home:
        explained = run(["explain", *asked])
        written = run(["compile", *asked, "-o", str(Path(home, "m.safetensors"))])
    names = "depth", "parameters"
    rows = [row for row in explained.result.get("front", []) if row["chosen"]]
    chosen = [(row["name"], *(row[n] for n in names)) for row in rows]
    told = written.result
    made = (told.get("construction"), *(told.get(n) for n in names))
    return {
        "number": number,
        "pattern": source,
        "states": explained.result.get("states"),
        "explain": chosen[0][0] if chosen else None,
        "compile": made[0],
        "parameters": made[2],
        "one network": chosen == [made] and explained.result["proved"] is True,
        "not proved before": len(told.get("tried", [])),
        "explain GiB": explained.memory,
        "compile GiB": written.memory,
        "explain CPU s": explained.seconds,
        "compile CPU s": written.seconds,
    }


def summarise(rows: Sequence[Row]) -> Row:
    """How many agree, and the most that any of them took."""
    both = "explain", "compile"
    return {
        "expressions": len(rows),
        "one network": sum(row["one network"] for row in rows),
        **{f"{n}: most GiB": max(row[f"{n} GiB"] for row in rows) for n in both},
        **{f"{n}: most CPU s": max(row[f"{n} CPU s"] for row in rows) for n in both},
    }


def digest_within(source: str, length: int, limit: float) -> str:
    """The digest of the file that is written in a limit of memory; how it ended if none."""
    with TemporaryDirectory() as home:
        path = Path(home, "m.safetensors")
        asked = ["compile", source, "-T", str(length), "-o", str(path)]
        ended = run(asked, limit)
        left = path.read_bytes() if path.exists() else b""
    if ended.code:
        clean = ended.code == 2 and "error" in ended.result and not left
        return "refused" if clean else f"broken ({ended.code})"
    return hashlib.sha256(left).hexdigest()[:12]


def confine(length: int, source: str) -> Row:
    """The files of a machine in each limit of memory."""
    found = {limit: digest_within(source, length, limit) for limit in LIMITS}
    written = {name for name in found.values() if len(name) == 12}
    return {
        "machine": source,
        **{f"{limit} GB": found[limit] for limit in LIMITS},
        "one file or none": len(written) <= 1
        and all(len(name) == 12 or name == "refused" for name in found.values()),
    }


def main() -> None:
    """Measure and print the tables."""
    options = parser(__doc__)
    options.add_argument("--first", type=int, default=0, help="the first expression")
    options.add_argument("--count", type=int, default=175, help="how many expressions")
    options.add_argument("--confined", type=int, default=60, help="how many machines")
    options.add_argument("--processes", type=int, default=1)
    asked = options.parse_args()
    numbers = range(asked.first, asked.first + asked.count)
    rows = each(compare, numbers, asked.processes)
    sources = [*MACHINES, *map(pattern, range(1000, 1000 + asked.confined))]
    sources = sources[: asked.confined]
    confined = each(partial(confine, LENGTH), sources, asked.processes)
    publish(
        [
            Table("explain and compile", [summarise(rows)] if rows else []),
            Table("each expression", rows),
            Table("files in limits of memory", confined),
        ],
        asked,
    )


if __name__ == "__main__":
    main()
