"""Networks that say the belief of a hidden Markov model, for tests."""

from itertools import product
from typing import Any

import numpy as np
import torch
from hypothesis import strategies as st

from krohn.compile_options import CompileOptions
from krohn.kinds.hidden_markov.commands import HiddenMarkovModels
from krohn.kinds.hidden_markov.source import HiddenMarkovModel
from krohn.network.modelfile import ModelFile
from krohn.network.precision import FloatArray
from krohn.network.transformer import Transformer
from krohn.program.domains import IntArray
from krohn.verify.checker.established import Established
from krohn.verify.proof import shown_of

LOOSE = 1e9
"""An error that is claimed where the one that is shown is wanted."""


def mixing(states: int, letters: int, seed: int, zeros: bool = False) -> Any:
    """A random model; with zeros some words are impossible."""
    random = np.random.default_rng(seed)
    step, say = random.random((states, states)) + 0.1, random.random((letters, states))
    if zeros:
        say *= random.random(say.shape) < 0.7
        say[random.integers(letters, size=states), range(states)] += 0.5
    start = np.eye(states)[0]
    return HiddenMarkovModel.of(
        "random", step / step.sum(axis=0), say / say.sum(axis=0), before=start
    )


MODELS = st.builds(
    mixing, st.integers(2, 4), st.integers(2, 3), st.integers(0, 999), st.booleans()
)


def golden() -> HiddenMarkovModel:
    """The golden mean process: after a 1 comes a 0. Its beliefs are three."""
    say = np.zeros((2, 2, 2))
    say[0, 0, 0], say[1, 1, 0], say[0, 0, 1] = 0.5, 0.5, 1.0
    return HiddenMarkovModel(
        "golden", ("a", "b"), ("0", "1"), say, np.array([0.5, 0.5])
    )


def words(letters: int, length: int) -> IntArray:
    """All of a length."""
    return np.array(list(product(range(letters), repeat=length)), np.int64)


def built(
    model: HiddenMarkovModel,
    length: int,
    construction: str = "auto",
    within: float | None = None,
    dtype: str = "float32",
    **options: Any,
) -> ModelFile:
    """The file of a network, with a claim that nothing can break."""
    kind = HiddenMarkovModels()
    asked = CompileOptions(
        length, construction, within=within, formats=(dtype,), **options
    )
    network, claim = kind.build(model, asked)
    return kind.file(model, network, {**claim, "error": LOOSE}, asked.options)


def changed(file: ModelFile, header: Any = None, **tensors: FloatArray) -> ModelFile:
    """The file with other tensors; dots in their names are written as two underscores."""
    named = {name.replace("__", "."): array for name, array in tensors.items()}
    return ModelFile(
        file.header if header is None else header,
        {**file.tensors, **named},
        file.precision,
    )


def shown(file: ModelFile) -> Established:
    """The facts that the checker shows."""
    return shown_of(file)


def outputs(file: ModelFile, asked: IntArray) -> FloatArray:
    """``(batch, length, n)``: what the network says."""
    dtype = getattr(torch, file.precision.name)
    held = {name: torch.tensor(t).to(dtype) for name, t in file.tensors.items()}
    network = Transformer(file.header["architecture"], held)
    found: FloatArray = network(torch.tensor(asked)).double().numpy()
    return found


def measured(file: ModelFile, asked: IntArray) -> float:
    """The largest error of any output after a possible word; infinite if one is NaN."""
    model = HiddenMarkovModel.from_wire(file.header["source"])
    right = model.filter(asked)[0]
    off = np.abs(outputs(file, asked) - right)
    off[np.isnan(off) & ~np.isnan(right)] = np.inf
    return float(np.nanmax(off))
