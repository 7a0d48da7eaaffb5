"""Networks of hidden Markov models by finitely many situations: sizes, errors, seconds.

The error that is proved stands beside the largest one found: of random words, and of words
that are bred to be bad, letter by letter, from the worst of them.
"""

from collections.abc import Callable, Iterable, Iterator
from time import monotonic
from typing import NamedTuple

import numpy as np
import torch
from report import Row, Table, parser, publish

import krohn
from krohn.algebra.automaton import IntArray
from krohn.compiled_model import CompiledModel
from krohn.kinds.hidden_markov.source import HiddenMarkovModel
from krohn.network.model import Model
from krohn.network.precision import FloatArray

WORDS, STEPS = 64, 40


class Case(NamedTuple):
    """A network to be made."""

    name: str
    length: int
    construction: str = "auto"
    within: float | None = None
    dtype: str = "float32"


CASES = (
    *(Case("RanHMM5,5@3", 120, "window", e) for e in (0.1, 0.05, 0.02, 0.01, 0.001)),
    Case("RanHMM5,5@3", 4096, "window", 0.05),
    Case("RanHMM5,5@3", 120, "window", 0.05, "bfloat16"),
    Case("RanHMM5,5@3", 120, "window", 0.01, "float64"),
    Case("Cyclic-DET5,5@3", 120, "beliefs"),
    Case("Cyclic-DET5,5@3", 4096, "beliefs", None, "bfloat16"),
    Case("Cyclic-HARD5,5@3", 120),
    Case("Cyclic-HARD5,5@3", 1000),
    Case("Cyclic-HARD5,5@3", 120, "beliefs", None, "bfloat16"),
)


def measured(model: CompiledModel, steps: int, count: int = WORDS) -> float:
    """The largest error that is found on words that the model can say, so many at once."""
    source = HiddenMarkovModel.from_wire(model.file.header["source"])
    length = min(model.file.header["claim"]["length"] or 120, 120)
    runner, random = Model(model.file), np.random.default_rng(0)
    words = source.sample(count, length, random)[0]
    found = _errors(runner, source, words)
    for _ in range(steps):
        tried = words.copy()
        for _ in range(random.integers(1, 5)):
            at = random.integers(length, size=count)
            said = random.integers(len(source.letters), size=count)
            tried[np.arange(count), at] = said
        errors = _errors(runner, source, tried)
        words[errors > found] = tried[errors > found]
        found = np.maximum(found, errors)
    return float(found.max())


def _errors(runner: Model, source: HiddenMarkovModel, words: IntArray) -> FloatArray:
    """``(words,)``: the largest error of each, where it is possible."""
    with torch.no_grad():
        said = runner(torch.tensor(words)).double().numpy()
    right = source.filter(words)[0]
    off = np.where(np.isnan(right), 0.0, np.abs(said - right))
    return np.asarray(off.max(axis=(1, 2)))


def rows(steps: int) -> Iterator[Row]:
    """A row for each case."""
    for name, length, construction, within, dtype in CASES:
        began = monotonic()
        model = krohn.compile(name, length, construction, within=within, dtype=dtype)
        seconds, sizes = monotonic() - began, model.summary()
        claim = model.file.header["claim"]
        few = steps if length <= 120 else steps // 10
        worst = measured(model, few)
        channels = model.file.header["program"]["channels"]
        vectors = next(c["vectors"] for c in channels if "vectors" in c)
        yield {
            "model": f"`{name}`",
            "T": str(length),
            "format": dtype,
            "ε asked": within,
            "network": model.construction,
            "situations": len(vectors),
            "depth": sizes["depth"],
            "d": sizes["d_model"],
            "MLP": sizes["mlp_width"],
            "parameters": sizes["parameters"],
            "ε proved": claim["error"],
            "of the model": claim["model_error"],
            "found": worst,
            "×": claim["error"] / worst if worst > 1e-15 else None,
            "s": seconds,
        }


def show(doc: str | None, title: str, rows: Callable[[int], Iterable[Row]]) -> None:
    """Print a table whose rows need so many steps of breeding words."""
    asked = parser(doc)
    asked.add_argument("--steps", type=int, default=STEPS, help="of breeding words")
    options = asked.parse_args()
    torch.set_num_threads(1)
    publish([Table(title, list(rows(options.steps)))], options)


if __name__ == "__main__":
    show(__doc__, "Networks of finitely many situations", rows)
