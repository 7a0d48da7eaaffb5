"""Errors of networks over real numbers: the proved ones beside the measured ones."""

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import torch
from report import Row, Table, each, parser, publish

import krohn
from krohn.compiler.pipeline import Options
from krohn.kinds.linear_systems.build_products import realise
from krohn.kinds.linear_systems.source import (
    LinearSystem,
    find_by_name,
)
from krohn.network.model import Model
from krohn.network.modelfile import ModelFile
from krohn.network.precision import PRECISIONS, FloatArray
from krohn.verify.search.find import model_of, search

BATCH = 64
CASES = (
    *(
        ("MatMul5,5@3", 120, "float64", 2.0**k)
        for k in (10, 12, 13, 14, 15, 16, 17, 20)
    ),
    *(("Cyclic-DET5,5@3", 120, "float64", 2.0**k) for k in (10, 13, 15, 17)),
    *(("MatMul5,5@3", length, "float64", None) for length in (16, 512)),
    *(("Cyclic-DET5,5@3", length, "float64", None) for length in (16, 512)),
    ("MatMul3,5@3", 120, "float64", None),
    ("MatMul8,5@3", 120, "float64", None),
    ("Cyclic-DET5,5@3", 16, "float32", None),
    ("Cyclic-DET5,5@3", 120, "float32", None),
)

RNNS = (
    *(("MatMul5,5@3", length, "float64") for length in (120, 2000)),
    *(("MatMul5,5@3", length, "float32") for length in (120, 2000)),
    ("MatMul3,5@3", 2000, "float64"),
    ("MatMul8,5@3", 2000, "float64"),
)
NOTE = (
    "Law: (2^L − 1)·2/(3λ²). Measured: the largest error over 64 words, the constant ones "
    "among them; climbed: what a hill climb finds from there; ×: proved by climbed."
)


@dataclass(frozen=True)
class Within:
    """A network of a linear system, with what is proved of it.

    Attributes:
        source: The system.
        length: T.
        file: The model.
        error: What is proved.
        norm: In which norm.
    """

    source: LinearSystem
    length: int
    file: ModelFile
    error: float
    norm: str

    @classmethod
    def of(cls, name: str, length: int, dtype: str, scale: float | None) -> "Within":
        """Compiled and proved; λ is the best one if ``scale`` is None."""
        source, precision = find_by_name(name), PRECISIONS[dtype]
        assert source is not None
        network, program = realise(source, length, Options(precision), scale)
        claim = {"kind": "within", "error": 1e9, "length": length}
        header = {
            "architecture": network.architecture,
            "source": source.to_wire(),
            "claim": claim,
            "program": program,
        }
        tensors = {n: precision.round(t) for n, t in network.tensors.items()}
        file = ModelFile(header, tensors, precision)
        with np.errstate(all="ignore"):
            shown = search(model_of(file), None)[1]
        return cls(source, length, file, shown.error, shown.told["norm"])

    @classmethod
    def recurrent(cls, name: str, length: int, dtype: str) -> "Within":
        """The RNN, with the α that the compiler chooses."""
        model, source = (
            krohn.compile(name, length, arch="rnn", dtype=dtype),
            find_by_name(name),
        )
        assert source is not None
        assert model.proof is not None
        norm = next(step["norm"] for step in model.proof.evidence)
        error = model.file.header["claim"]["error"]
        return cls(source, length, model.file, error, norm)

    @property
    def scale(self) -> float:
        """λ, as the tensors have it."""
        weight = self.file.tensors["blocks.0.mlp.0.weight"]
        return 1 / float(np.abs(weight).max())

    def attacked(self, steps: int, seed: int = 0) -> tuple[float, float]:
        """The largest error of random words, and after a climb from the worst ones.

        Each step changes one to four letters of each of 64 words, and keeps what is worse.
        """
        random = np.random.default_rng(seed)
        letters, runner = len(self.source.letters), self._runner()
        words = random.integers(letters, size=(BATCH, self.length))
        words[:letters] = np.arange(letters)[:, None]
        found = self._errors(runner, words)
        first = float(found.max())
        for _ in range(steps):
            tried = words.copy()
            for _ in range(random.integers(1, 5)):
                at = random.integers(self.length, size=BATCH)
                tried[np.arange(BATCH), at] = random.integers(letters, size=BATCH)
            errors = self._errors(runner, tried)
            words[errors > found] = tried[errors > found]
            found = np.maximum(found, errors)
        return first, float(found.max())

    def row(self, steps: int) -> Row:
        """The columns that all tables have; a climb has this many steps at 120 letters."""
        first, worst = self.attacked(min(steps, steps * 120 // self.length))
        errors = {"measured": first, "climbed": worst, "proved": self.error}
        return errors | {"×": self.error / worst, "norm": self.norm}

    def _runner(self) -> Model:
        return Model(self.file)

    def _errors(self, runner: Model, words: Any) -> FloatArray:
        with torch.no_grad():
            said = runner(torch.tensor(words)).double().numpy()
        return np.asarray(np.abs(said - self.source.run(words)).max(axis=(1, 2)))


def product(steps: int, case: tuple[str, int, str, float | None]) -> Row:
    """A Transformer of products."""
    name, length, dtype, scale = case
    made = Within.of(name, length, dtype, scale)
    law = (2 ** (length - 1).bit_length() - 1) * 2 / (3 * made.scale**2)
    power = {"λ": f"2^{np.log2(made.scale):g}", "law": law}
    return (
        {"system": f"`{name}`", "T": length, "format": dtype} | power | made.row(steps)
    )


def recurrence(steps: int, case: tuple[str, int, str]) -> Row:
    """An RNN with gates."""
    name, length, dtype = case
    made = Within.recurrent(name, length, dtype)
    gate = {"α": float(made.file.tensors["input.weight"][0, 0])}
    return (
        {"system": f"`{name}`", "T": length, "format": dtype} | gate | made.row(steps)
    )


def main() -> None:
    """Print the tables."""
    options = parser(__doc__)
    options.add_argument("--climb", type=int, default=150, help="steps at 120 letters")
    chosen = options.parse_args()
    torch.set_num_threads(1)
    products = each(partial(product, chosen.climb), CASES)
    gates = each(partial(recurrence, chosen.climb), RNNS)
    tables = [
        Table("Transformers of products", products, NOTE),
        Table("RNNs with gates", gates),
    ]
    publish(tables, chosen)


if __name__ == "__main__":
    main()
