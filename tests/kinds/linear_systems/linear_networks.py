"""Networks of linear systems, for tests: made, damaged, proved and run."""

from typing import Any

import numpy as np
import torch

from krohn.compiler.pipeline import Options
from krohn.kinds.linear_systems.build_products import realise
from krohn.kinds.linear_systems.source import (
    LinearSystem,
    find_by_name,
)
from krohn.network.modelfile import ModelFile
from krohn.network.precision import PRECISIONS, FloatArray
from krohn.network.transformer import Transformer
from krohn.verify.checker.established import Established
from krohn.verify.search.find import model_of, search

LOOSE = 1e9
"""An error that is claimed where the one that is shown is wanted."""


def system(name: str) -> LinearSystem:
    found = find_by_name(name)
    assert found is not None
    return found


def rounding(source: LinearSystem, length: int) -> float:
    """How far `run` of a source can be off if no product of letters has an entry above 2.

    A step adds γ_n·|A||b| to a state, entries of at most 4n·γ_n·|b_0|₁, and the later
    letters multiply that by a matrix with rows of at most 2n. The result is rounded.
    """
    size, unit = float(np.abs(source.start).sum()), np.finfo(np.longdouble).eps / 2
    return float(9 * length * source.size**3 * unit + 2.0**-52) * size


def built(
    source: LinearSystem | str,
    length: int,
    dtype: str = "float64",
    scale: float | None = None,
    **options: bool,
) -> ModelFile:
    """The file of a network of products, with a claim that nothing can break."""
    source = system(source) if isinstance(source, str) else source
    precision = PRECISIONS[dtype]
    network, program = realise(source, length, Options(precision, **options), scale)
    claim = {"kind": "within", "error": LOOSE, "length": length, "dtype": dtype}
    header = {
        "architecture": network.architecture,
        "source": source.to_wire(),
        "construction": "products",
        "claim": claim,
        "program": program,
    }
    tensors = {n: precision.round(t) for n, t in network.tensors.items()}
    return ModelFile(header, tensors, precision)


def changed(file: ModelFile, **tensors: FloatArray) -> ModelFile:
    """The file with other tensors; dots in their names are written as two underscores."""
    named = {name.replace("__", "."): array for name, array in tensors.items()}
    return ModelFile(file.header, {**file.tensors, **named}, file.precision)


def shown(file: ModelFile) -> Established:
    """The facts that the checker shows, without regard to the claim."""
    with np.errstate(all="ignore"):
        return search(model_of(file), None)[1]


def runner(file: ModelFile) -> Transformer:
    dtype = getattr(torch, file.precision.name)
    held = {name: torch.tensor(t).to(dtype) for name, t in file.tensors.items()}
    return Transformer(file.header["architecture"], held)


def outputs(file: ModelFile, words: Any) -> FloatArray:
    """``(batch, length, n)``: what the network says."""
    found: FloatArray = runner(file)(torch.tensor(np.asarray(words))).double().numpy()
    return found


def measured(file: ModelFile, words: Any) -> float:
    """The largest error of any output on some words."""
    source = LinearSystem.from_wire(file.header["source"])
    return float(np.abs(outputs(file, words) - source.run(words)).max())


def words_of(source: LinearSystem, length: int, count: int, seed: int = 0) -> Any:
    """Random words, after those that repeat a letter."""
    letters = len(source.letters)
    words = np.random.default_rng(seed).integers(letters, size=(count, length))
    constant = np.repeat(np.arange(letters)[:, None], length, axis=1)
    return np.vstack([constant, words])
