"""Every machine of the zoo as a GPT-2: proved, and run in Hugging Face's library.

``python benchmarks/gpt2.py [T] [NAME …]`` prints the table of docs/gpt2.md. Networks are
strict, by the construction that `krohn compile` chooses; where that cannot be proved as a
GPT-2, by `scan`.
"""

import sys
import tempfile
from itertools import product
from pathlib import Path

import numpy as np
import torch

import krohn
from algebra.zoo import catalogue
from krohn.gpt2 import verify
from network.exports import gpt2
from network.exports.gpt2_directory import open_logits, write
from network.modelfile import ModelFile

MOST_PARAMETERS = 150_000_000
EVERY, RANDOM = 2_000, 2_000
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


def row(name: str, dtype: str, length: int) -> str:
    """A line of the table."""
    reasons = list[str]()
    for construction in ("auto", "scan"):
        try:
            file = krohn.compile(
                name, length, construction, strict=True, dtype=dtype
            ).file
        except Exception as error:
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
            count, bad = wrong(file, Path(place), length)
        sizes = gpt2.plan(file)
        assert found.proof is not None
        shape = f"{sizes.width} = {sizes.heads}·{sizes.size}"
        layers = len(file.header["architecture"]["blocks"])
        margin = found.proof.told["margin"]
        told = f"| {shape}, {sizes.inner}, {layers} | 2^{np.log2(sizes.large):.0f} "
        told += f"| verified | {margin:.3f} | {bad} of {count:,} |"
        note = f"{chosen} ({reasons[0]})" if reasons else chosen
        return f"| {name} | {dtype} | {note} {told}"
    told = "; ".join(dict.fromkeys(reasons))
    return f"| {name} | {dtype} | {told} | | | no | | |"


def main() -> None:
    """Print the table."""
    given = sys.argv[1:]
    length = int(given.pop(0)) if given and given[0].isdigit() else 32
    print("| machine | format | construction | D = heads·w, inner, layers | K ", end="")
    print("| proof | margin | wrong words |")
    print("|---|---|---|---|---|---|---|---|")
    for dtype in ("float32", "bfloat16"):
        for name in given or catalogue.names():
            print(row(name, dtype, length), flush=True)


if __name__ == "__main__":
    main()
