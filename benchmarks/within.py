"""Errors of networks over real numbers: the proved ones beside the measured ones.

python benchmarks/within.py [--climb STEPS]
"""

import argparse
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

import krohn
from krohn.compiler.constructions.products import realise
from krohn.compiler.pipeline import Options
from krohn.network.model import Model
from krohn.network.modelfile import ModelFile
from krohn.network.precision import PRECISIONS, FloatArray
from krohn.sources.linear_systems import LinearSystem, named
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
        source, precision = named(name), PRECISIONS[dtype]
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
            named(name),
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

    def _runner(self) -> Model:
        return Model(self.file)

    def _errors(self, runner: Model, words: Any) -> FloatArray:
        with torch.no_grad():
            said = runner(torch.tensor(words)).double().numpy()
        return np.asarray(np.abs(said - self.source.run(words)).max(axis=(1, 2)))


def main() -> None:
    """Print the table of docs/within.md."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--climb", type=int, default=150, help="steps at 120 letters")
    steps = parser.parse_args().climb
    torch.set_num_threads(1)
    print("| system | T | format | λ | law | measured | climbed | proved | × | norm |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for name, length, dtype, scale in CASES:
        case = Within.of(name, length, dtype, scale)
        first, worst = case.attacked(min(steps, steps * 120 // length))
        law = (2 ** (length - 1).bit_length() - 1) * 2 / (3 * case.scale**2)
        power = f"2^{np.log2(case.scale):g}"
        print(
            f"| `{name}` | {length} | {dtype} | {power} | {law:.1e} | {first:.1e} | "
            f"{worst:.1e} | {case.error:.1e} | {case.error / worst:.1f} | {case.norm} |"
        )

    print("\n| system | T | format | α | measured | climbed | proved | × | norm |")
    print("|---|---|---|---|---|---|---|---|---|")
    for name, length, dtype in RNNS:
        case = Within.recurrent(name, length, dtype)
        first, worst = case.attacked(min(steps, steps * 120 // length))
        scale = case.file.tensors["input.weight"][0, 0]
        print(
            f"| `{name}` | {length} | {dtype} | {scale:g} | {first:.1e} | {worst:.1e} | "
            f"{case.error:.1e} | {case.error / worst:.0f} | {case.norm} |"
        )


if __name__ == "__main__":
    main()
