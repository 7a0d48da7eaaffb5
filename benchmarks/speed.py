"""How long commands take on long words and on large machines, and how fast networks read.

Each command is a process of its own with one thread: CPU seconds, and the most memory that
it held. Machines of a given size are random, from seed 0. With ``--long`` the longest words
are measured as well, which takes minutes.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

import numpy as np
from report import Row, Table, parser, publish

from krohn.algebra import formats
from krohn.algebra.automaton import Automaton, Semiautomaton

LONG = (("S5", 65_536), ("S5", 16_384), ("Grid9", 2_048))
WORDS = (("S5", 4_096), ("C2", 8_192), ("C2", 10_000))
SMALL = (("D8", 100), ("Q8", 100), ("S4", 100), ("PermReset4", 100))
WIDE = ((6, 64), (55, 60), (243, 2))
PATTERNS = (("regex:bcac(a)*|ba", 128), ("regex:(ab|ba)*", 512))
COUNTING, LONG_COUNTING = "regex:(ab)*c", "regex:(ab)*c(de)*f(gh)*i(jk)*"
READ = (("FlipFlop", 1_024), ("C2", 1_024), ("S5", 1_024), ("PermReset4", 100))


def measured(command: Sequence[str]) -> tuple[Row, dict[str, Any]]:
    """A row of what a command took, and the object that it printed."""
    one = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    process = subprocess.Popen(
        [sys.executable, "-m", "krohn", *command, "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ | one,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    text, refusal = process.stdout.read(), process.stderr.read()
    _, _, used = os.wait4(process.pid, 0)
    found = json.loads(text) if text.strip() else {"refusal": refusal.decode()}
    shown = " ".join(part for part in command if not part.startswith("/"))
    row = {
        "command": f"krohn {shown.removesuffix(' -o')}",
        "CPU s": used.ru_utime + used.ru_stime,
        "MiB": used.ru_maxrss / 1024,
    }
    return row, found


def compiled(folder: Path, source: str, length: int, name: str = "") -> Row:
    """The row of a network that is compiled and proved."""
    out = str(folder / "network.safetensors")
    row, found = measured(["compile", source, "-T", str(length), "-o", out])
    row["command"] = f"krohn compile {name or source} -T {length}"
    if "parameters" not in found:
        return row | {"network": "refused: --arch rnn"}
    sizes = {n: found[n] for n in ("depth", "layers", "parameters")}
    return row | {"network": found["construction"]} | sizes


def explained(source: str, length: int) -> Row:
    """The row of an explanation; the network is the one that it calls chosen."""
    row, found = measured(["explain", source, "-T", str(length)])
    (chosen,) = [each for each in found["front"] if each["chosen"]]
    sizes = {n: chosen[n] for n in ("depth", "layers", "parameters")}
    return row | {"network": chosen["name"]} | sizes


def derived(folder: Path, source: str) -> Row:
    """The row of a counting program; instead of a network its verdict."""
    row, found = measured(["crasp", source, "-o", str(folder / "program.crasp")])
    return row | {"network": found["verdict"]}


def random_machine(folder: Path, states: int, letters: int) -> str:
    """A file of a machine whose letters are random functions."""
    rng = np.random.default_rng(0)
    moves = rng.integers(states, size=(letters, states))
    names = (
        tuple(f"{kind}{i}" for i in range(n))
        for kind, n in (("a", letters), ("q", states))
    )
    path = folder / f"{states}x{letters}.json"
    formats.write(Automaton(Semiautomaton(moves, *names), 0, name=path.stem), path)
    return str(path)


def commands(folder: Path, long: bool) -> Iterator[Row]:
    """The rows of all commands."""
    for source, length in (*SMALL, *WORDS, *(LONG if long else ())):
        yield compiled(folder, source, length)
    for states, letters in WIDE:
        path, name = random_machine(folder, states, letters), f"{states}x{letters}.json"
        yield compiled(folder, path, 100, name)
        out = str(folder / "network.safetensors")
        row, found = measured(["compile", path, "--arch", "rnn", "-o", out])
        row["command"] = f"krohn compile {name} --arch rnn"
        yield row | {n: found[n] for n in ("layers", "parameters")}
    for source, length in PATTERNS:
        yield explained(source, length)
        yield compiled(folder, source, length)
    for source in (COUNTING, *((LONG_COUNTING,) if long else ())):
        yield derived(folder, source)


def speed(name: str, length: int) -> Row:
    """How many letters a network reads in a second, one word at a time."""
    # A process counts what its parent held, so torch comes after all commands.
    import torch

    import krohn
    from krohn.network.forward_pass import full_precision
    from krohn.network.model import Model

    torch.set_num_threads(1)
    network = Model(krohn.compile(name, length, proved=False).file).network
    rng, letters = np.random.default_rng(0), len(krohn.zoo(name).letters)
    word = torch.from_numpy(rng.integers(letters, size=(length, 1)))
    best = float("inf")
    for _ in range(3):
        cache, began = network.start(), process_time()
        with torch.inference_mode(), full_precision():
            for letter in word:
                _, cache = network.step(letter, cache)
        best = min(best, process_time() - began)
    return {"machine": name, "letters": length, "letters/s": length / best}


def main() -> None:
    """Measure and print the tables."""
    found = parser(__doc__)
    found.add_argument("--long", action="store_true", help="the longest words as well")
    options = found.parse_args()
    with TemporaryDirectory() as name:
        rows = list(commands(Path(name), options.long))
    tables = [
        Table("commands, one thread", rows),
        Table("letter by letter, batch 1", [speed(*case) for case in READ]),
    ]
    publish(tables, options)


if __name__ == "__main__":
    main()
