"""Take machines apart, look at the parts, and check the proof a second time.

    python examples/decompose.py

A corridor of four cells with walls has no group in it: three flip-flops, each steered by
those above. The permutations of four points come apart along their derived series: a
counter modulo 2, a counter modulo 3, two counters modulo 2 side by side.
"""

import random
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import krohn
from krohn import decomposition
from krohn.algebra.cascade import prove
from krohn.decomposition import Decomposed, decompose, describe, save


def main() -> None:
    """Decompose two machines; compare each cascade with its machine on a long word."""
    for name in ("Grid4", "S4"):
        found = decompose(name)
        print(f"{name}, by {found.found.method}")
        for number, level in enumerate(describe(found)["levels"], start=1):
            for part in level:
                reads = ", ".join(map(str, part["reads"])) or "the letter alone"
                print(f"  level {number}: {part['kind']}, reads {reads}")
        print(f"  one word of 1000 letters: {agrees(found, 1000)}")
        print(f"  read back from a file: {survives(found)}")


def agrees(found: Decomposed, length: int) -> str:
    """Both machines on one random word, letter by letter."""
    machine, cascade = found.machine, found.found.cascade
    word = random.Random(1).choices(range(len(machine.letters)), k=length)
    at = cascade.lift[[machine.start]]
    shown = []
    for letter in word:
        at = cascade.step(at, np.array([letter]))
        shown.append(int(cascade.state_of(at)[0]))
    expected = machine.semiautomaton.trace(word, machine.start)
    return "the same states" if (expected == shown).all() else "DIFFERENT states"


def survives(found: Decomposed) -> str:
    """The cascade written as data, read again, and proved again."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "cascade.json"
        save(found, path)
        again = decomposition.load_cascade(path)
    machine = krohn.zoo(found.machine.name).semiautomaton
    proof = prove(machine, again)
    return f"proved again, for {proof.coordinates} coordinates"


if __name__ == "__main__":
    main()
