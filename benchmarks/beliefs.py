"""Errors of beliefs by normalised products: the proved ones beside the measured ones."""

from functools import partial
from typing import Any

import numpy as np
import torch
from report import Row, Table, each, parser, publish

from krohn.compiler.pipeline import Options
from krohn.kinds.hidden_markov.build_normalised import normalised_network
from krohn.kinds.hidden_markov.source import (
    HiddenMarkovModel,
    find_by_name,
)
from krohn.network.modelfile import ModelFile
from krohn.network.precision import PRECISIONS, FloatArray
from krohn.network.transformer import Transformer
from krohn.verify.search.find import model_of, search

BATCH = 24
CASES = (
    *(("RanHMM5,5@3", 120, "float64", 2.0**k) for k in (8, 10, 12, 13, 14, 16, 18)),
    *(("RanHMM5,5@3", length, "float64", None) for length in (8, 32, 120, 480)),
    *(("RanHMM5,5@1", length, "float64", None) for length in (32, 120)),
    ("RanHMM3,2@1", 120, "float64", None),
    ("RanHMM8,5@1", 120, "float64", None),
    *(("RanHMM5,5@3", length, "float32", None) for length in (8, 32)),
)
NOTE = (
    "Measured: the largest error over 24 words, those of one letter among them; climbed: "
    "what a hill climb finds from there; ×: proved by climbed; blocks: those with heads, "
    "of all; sizes: the numbers that are not 0."
)


def made(
    model: HiddenMarkovModel, length: int, dtype: str, scale: float | None
) -> ModelFile:
    """The network, claimed within an error that nothing can break."""
    precision = PRECISIONS[dtype]
    built = normalised_network(model, length, Options(precision), scale)
    header = {
        "architecture": built.network.architecture,
        "source": model.to_wire(),
        "claim": {"kind": "within", "error": 1e9, "length": length},
        "program": built.program,
    }
    tensors = {n: precision.round(t) for n, t in built.network.tensors.items()}
    return ModelFile(header, tensors, precision)


def proved(file: ModelFile) -> float:
    """The error that the checker shows."""
    with np.errstate(all="ignore"):
        shown = search(model_of(file), None)[1]
    return shown.error


def errors(runner: Transformer, model: HiddenMarkovModel, words: Any) -> FloatArray:
    """``(words,)``: the largest error of any output on each."""
    said = runner(torch.tensor(words)).double().numpy()
    return np.asarray(np.abs(said - model.filter(words)[0]).max(axis=(1, 2)))


def attacked(file: ModelFile, model: HiddenMarkovModel, steps: int) -> FloatArray:
    """The largest error of some words, and after a climb from there.

    Each step changes one to four letters of each of 24 words, and keeps what is worse.
    """
    dtype = getattr(torch, file.precision.name)
    held = {n: torch.tensor(t).to(dtype) for n, t in file.tensors.items()}
    runner = Transformer(file.header["architecture"], held)
    random, letters = np.random.default_rng(0), len(model.letters)
    length = file.header["claim"]["length"]
    words = random.integers(letters, size=(BATCH, length))
    words[:letters] = np.arange(letters)[:, None]
    found = errors(runner, model, words)
    first = found.max()
    for _ in range(steps):
        tried = words.copy()
        for _ in range(random.integers(1, 5)):
            at = random.integers(length, size=BATCH)
            tried[np.arange(BATCH), at] = random.integers(letters, size=BATCH)
        now = errors(runner, model, tried)
        words[now > found] = tried[now > found]
        found = np.maximum(found, now)
    return np.array([first, found.max()])


def row(steps: int, case: tuple[str, int, str, float | None]) -> Row:
    """A network of beliefs; a climb has this many steps at 120 letters."""
    name, length, dtype, scale = case
    model = find_by_name(name)
    assert model is not None
    file = made(model, length, dtype, scale)
    first, worst = attacked(file, model, min(steps, steps * 120 // length))
    weight, most = file.tensors["blocks.0.mlp.0.weight"], proved(file)
    blocks = file.header["architecture"]["blocks"]
    return {
        "model": f"`{name}`",
        "T": length,
        "format": dtype,
        "λ": f"2^{-np.log2(np.abs(weight).max()):g}",
        "measured": float(first),
        "climbed": float(worst),
        "proved": most,
        "×": float(most / worst),
        "blocks": f"{sum(b['heads'] > 0 for b in blocks)} of {len(blocks)}",
        "sizes": sum(int(np.count_nonzero(t)) for t in file.tensors.values()),
    }


def main() -> None:
    """Print the table."""
    options = parser(__doc__)
    options.add_argument("--climb", type=int, default=25, help="steps at 120 letters")
    chosen = options.parse_args()
    torch.set_num_threads(1)
    rows = each(partial(row, chosen.climb), CASES)
    publish([Table("Beliefs by normalised products", rows, NOTE)], chosen)


if __name__ == "__main__":
    main()
