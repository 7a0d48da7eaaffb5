"""Networks that `krohn.compare` trained, as files that tests prove."""

from functools import cache
from pathlib import Path

import numpy as np

from krohn.algebra.automaton import Automaton, Output, Semiautomaton
from krohn.architectures.gated.commands import model_file
from krohn.network.modelfile import ModelFile

HERE = Path(__file__).parent / "trained"
ONES = Automaton(
    Semiautomaton(np.array([[1, 1], [0, 1]]), ("0", "1"), ("all ones", "not")),
    name="Tomita1",
    output=Output("states", np.array([1, 0]), ("reject", "accept")),
)
LATCH = Automaton(
    Semiautomaton(np.array([[0, 1], [0, 0], [1, 1]]), ("keep", "0", "1"), ("0", "1")),
    name="latch",
)
NETWORKS: dict[str, tuple[Automaton, str | None]] = {
    "Tomita1-rnn8": (ONES, "outputs"),
    "latch-gru8": (LATCH, None),
    "Tomita1-lstm8": (ONES, "outputs"),
}
"""The machines that they learned, and what they say of them."""


def path(name: str) -> Path:
    return HERE / f"{name}.safetensors"


@cache
def file_of(name: str) -> ModelFile:
    file = model_file(path(name), *NETWORKS[name])
    assert file is not None
    return file
