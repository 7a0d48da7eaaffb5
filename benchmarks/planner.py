"""Whether the planner keeps its word: what explain says and compile writes, in any memory.

Regular expressions are drawn by the numbers 0, 1, 2, … for words of up to 512 letters. Of
each `krohn explain` and `krohn compile` must name one construction with one depth and one
number of parameters. And machines are compiled in limits of memory, those of files for up
to 64 letters: each file has the same bytes, or the command ends with a message and writes
none. Every command is a process. With --files, DOT and KISS2 files of a folder are among
these machines.
"""

import hashlib
import json
import os
import random
import resource
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from report import Row, Table, each, parser, publish

LENGTH = 512
LENGTH_OF_FILES = 64
LIMITS = (0.8, 1, 2, 8)
"""GB of addresses that a command may have."""
GB = 10**9
MACHINES = (
    *("C2", "C6", "S3", "S4", "S5", "A5", "Q8", "D4", "FlipFlop", "FFL2", "Grid4"),
    *("Grid9", "Dyck2,1", "Dyck4,2", "Memory5", "PermReset3", "GoldenMean", "Adder"),
)
FIRST_CONFINED = 1000
"""Of the expressions that are compiled in limits of memory."""
LARGE = 46, 52
ENDINGS, MOST_FILES = ("*.dot", "*.kiss2"), 20
REFUSED = "refused"


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
        memory: The most memory that it had, in MiB.
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
    return Ended(process.returncode, result, used.ru_maxrss / 2**10, spent)


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
        "one network": chosen == [made],
        "proved by explain": explained.result.get("proved") is True,
        "not proved before": len(told.get("tried", [])),
        "explain MiB": explained.memory,
        "compile MiB": written.memory,
        "explain CPU s": explained.seconds,
        "compile CPU s": written.seconds,
    }


def summarise(rows: Sequence[Row]) -> list[Row]:
    """For each construction that is written, and for all: how many agree, and the most."""
    kinds = dict[str, list[Row]]()
    for row in rows:
        kinds.setdefault(row["compile"], []).append(row)
    every = {"all": list(rows)} if rows else {}
    return [_summary(*kind) for kind in (dict(sorted(kinds.items())) | every).items()]


def _summary(name: str, rows: Sequence[Row]) -> Row:
    both = "explain", "compile"
    return {
        "construction": name,
        "expressions": len(rows),
        "one network": sum(row["one network"] for row in rows),
        "proved by explain": sum(row["proved by explain"] for row in rows),
        "most states": max(row["states"] for row in rows),
        "most parameters": max(row["parameters"] for row in rows),
        **{f"{n} MiB": max(row[f"{n} MiB"] for row in rows) for n in both},
        **{f"{n} CPU s": max(row[f"{n} CPU s"] for row in rows) for n in both},
    }


def digest_within(source: str, limit: float) -> str:
    """The digest of the file that is written in a limit of memory; how it ended if none."""
    with TemporaryDirectory() as home:
        path = Path(home, "m.safetensors")
        asked = ["compile", source, "-o", str(path)]
        # Files of machines may leave transitions out.
        if Path(source).is_file():
            asked += ["-T", str(LENGTH_OF_FILES), "--complete", "sink"]
        else:
            asked += ["-T", str(LENGTH)]
        ended = run(asked, limit)
        left = path.read_bytes() if path.exists() else b""
    if ended.code:
        clean = ended.code == 2 and "error" in ended.result and not left
        return REFUSED if clean else f"broken ({ended.code})"
    return hashlib.sha256(left).hexdigest()[:12]


def confine(source: str) -> Row:
    """The file of a machine in each limit of memory."""
    return {"machine": Path(source).name} | {
        f"{n:g} GB": digest_within(source, n) for n in LIMITS
    }


def compare_limits(rows: Sequence[Row]) -> list[Row]:
    """How the commands ended in each limit, and whether files are those without one."""
    *_, largest = columns = [f"{limit:g} GB" for limit in LIMITS]
    return [
        {
            "limit": column,
            "machines": len(rows),
            "as in the largest": sum(row[column] == row[largest] for row in rows),
            "refused": sum(row[column] == REFUSED != row[largest] for row in rows),
            "otherwise": sum(
                row[column] not in (row[largest], REFUSED) for row in rows
            ),
        }
        for column in columns
    ]


def draw_machine(states: int, folder: Path) -> str:
    """The file of a machine of random functions, whose network takes most of a GiB."""
    source, letters = random.Random(states), "abc"
    told = {
        "format": "krohn-machine",
        "version": 1,
        "letters": list(letters),
        "states": list(map(str, range(states))),
        "start": "0",
        "transitions": [source.choices(range(states), k=states) for _ in letters],
    }
    path = folder / f"random-{states}.json"
    path.write_text(json.dumps(told))
    return str(path)


def machines(count: int, files: Path | None, folder: Path) -> list[str]:
    """So many machines: by name, two drawn ones, files, and regular expressions."""
    drawn = [draw_machine(states, folder) for states in LARGE]
    found = [p for ending in ENDINGS for p in sorted((files or folder).rglob(ending))]
    named = [*MACHINES, *drawn, *map(str, found[:MOST_FILES])]
    return [*named, *map(pattern, range(FIRST_CONFINED, FIRST_CONFINED + count))][
        :count
    ]


def kept(
    work: Callable[[Any], Row], jobs: Sequence[Any], path: Path | None
) -> list[Row]:
    """The row of every job, each kept in a file: what is there is not measured again."""
    lines = path.read_text().splitlines() if path and path.exists() else []
    known: dict[str, Row] = dict(map(json.loads, lines))

    def work_once(job: Any) -> Row:
        name = Path(str(job)).name
        if name not in known:
            known[name] = work(job)
            if path is not None:
                with path.open("a") as file:
                    file.write(json.dumps([name, known[name]]) + "\n")
        return known[name]

    return each(work_once, jobs)


def main() -> None:
    """Measure and print the tables."""
    options = parser(__doc__)
    options.add_argument("--first", type=int, default=0, help="the first expression")
    options.add_argument("--count", type=int, default=175, help="how many expressions")
    options.add_argument("--confined", type=int, default=60, help="how many machines")
    options.add_argument("--files", type=Path, help="a folder with files of machines")
    options.add_argument(
        "--kept", type=Path, help="a file that keeps rows between runs"
    )
    asked = options.parse_args()
    numbers = range(asked.first, asked.first + asked.count)
    rows = kept(compare, numbers, asked.kept)
    with TemporaryDirectory() as home:
        sources = machines(asked.confined, asked.files, Path(home))
        confined = kept(confine, sources, asked.kept)
    unlike = [row for row in rows if not row["one network"]]
    publish(
        [
            Table("explain and compile", summarise(rows)),
            Table("expressions of which they differ", unlike),
            Table("files in limits of memory", compare_limits(confined)),
        ],
        asked,
    )


if __name__ == "__main__":
    main()
