"""Every machine of the zoo as a GPT-2: proved, and run in Hugging Face's library.

Networks are strict, by the construction that `krohn compile` chooses; where that cannot be
proved as a GPT-2, by `scan`. The table stands in docs/architectures/gpt2.md.
"""

import tempfile
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import numpy as np
import torch
from report import Row, Table, parser, publish

import krohn
from krohn.algebra import zoo
from krohn.algebra.errors import KrohnError
from krohn.architectures.gpt2 import export as gpt2
from krohn.architectures.gpt2.export import (
    open_logits,
    write,
)
from krohn.network.modelfile import ModelFile
from krohn.verification import verify

MOST_PARAMETERS = 150_000_000
LENGTH, EVERY, RANDOM = 32, 2_000, 2_000
TITLE = "the zoo as GPT-2s, T = 32"
BATCH = 250


def parameters(file: ModelFile) -> int:
    """About how many numbers the blocks of the GPT-2 have."""
    sizes = gpt2.plan(file)
    block = 4 * sizes.width**2 + 2 * sizes.width * sizes.inner
    return block * len(file.header["architecture"]["blocks"])


def words(letters: int, length: int) -> list[torch.Tensor]:
    """All words of some length, fewer than `EVERY`, and random ones of full length."""
    short = max(n for n in range(1, length + 1) if n == 1 or letters**n <= EVERY)
    rng = np.random.default_rng(0)
    return [
        torch.tensor(list(product(range(letters), repeat=short))),
        torch.from_numpy(rng.integers(letters, size=(RANDOM, length))),
    ]


def wrong(file: ModelFile, directory: Path, length: int) -> tuple[int, int]:
    """How many words were run in the library, and at how many an answer was wrong."""
    logits, machine = open_logits(directory), file.header["machine"]
    moves, shown = np.array(machine["transitions"]), file.header["claim"].get("shows")
    seen = np.array(machine["output"]["table"]) if shown else np.arange(moves.shape[1])
    count = bad = 0
    for given in words(moves.shape[0], length):
        for part in torch.split(given, BATCH):
            state = np.full(len(part), machine["states"].index(machine["start"]))
            states = [state := moves[a, state] for a in part.numpy().T]
            said = logits(part).argmax(-1).numpy()
            bad += int((said != seen[np.array(states).T]).any(axis=1).sum())
            count += len(part)
    return count, bad


def row(name: str, dtype: str) -> Row:
    """A line of the table."""
    reasons = list[str]()
    for construction in ("auto", "scan"):
        try:
            file = krohn.compile(
                name, LENGTH, construction, strict=True, dtype=dtype
            ).file
        except KrohnError as error:
            reasons.append(f"{construction}: {str(error)[:90]}")
            continue
        chosen, size = file.header["construction"], parameters(file)
        if size > MOST_PARAMETERS:
            reasons.append(f"{chosen} has {size / 1e6:,.0f} million parameters")
            continue
        with tempfile.TemporaryDirectory() as place:
            write(file, Path(place))
            found = verify(place)
            if found.verdict != "verified":
                reasons.append(f"{chosen}: {found.reason}")
                continue
            count, bad = wrong(file, Path(place), LENGTH)
        note = f"{chosen} ({reasons[0]})" if reasons else chosen
        assert found.proof is not None
        margin = found.proof.told["margin"]
        told = {"margin": f"{margin:.3f}", "wrong words": f"{bad} of {count:,}"}
        named = {"machine": name, "format": dtype, "construction": note}
        return {**named, **shape(file), "proof": "verified", **told}
    why = "; ".join(dict.fromkeys(reasons))
    return {"machine": name, "format": dtype, "construction": why, "proof": "no"}


def shape(file: ModelFile) -> Row:
    """The sizes of the GPT-2 of a network."""
    sizes, layers = gpt2.plan(file), len(file.header["architecture"]["blocks"])
    width = f"{sizes.width} = {sizes.heads}·{sizes.size}"
    return {
        "D = heads·w, inner, layers": f"{width}, {sizes.inner}, {layers}",
        "K": f"2^{np.log2(sizes.large):.0f}",
    }


def again(printed: dict[str, str]) -> Row:
    """A line of the table as it is found now."""
    return row(printed["machine"], printed["format"])


AGAIN = {TITLE: again}


def rows(names: list[str]) -> Iterator[Row]:
    """Every machine in both formats."""
    for dtype in ("float32", "bfloat16"):
        yield from (row(name, dtype) for name in names)


def main() -> None:
    """Make the networks, and print the table."""
    found = parser(__doc__)
    found.add_argument("names", nargs="*", help="machines; all of the zoo by default")
    options = found.parse_args()
    names = options.names or list(zoo.names())
    publish([Table(TITLE, list(rows(names)))], options)


if __name__ == "__main__":
    main()
