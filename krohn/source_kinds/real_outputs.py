"""Networks that say real numbers after each letter: how they are run and held against."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from krohn.algebra.errors import KrohnError
from krohn.network.modelfile import ModelFile
from krohn.network.precision import FloatArray
from krohn.program.domains import IntArray
from krohn.progress import Progress
from krohn.verify.testing.simulation_result import Simulation

if TYPE_CHECKING:
    from krohn.verify.testing.counterexample import Counterexample

BATCH = 256


class Reference(NamedTuple):
    """What is right.

    Attributes:
        letters: Their names.
        run: ``(batch, length)`` words to ``(batch, length, n)``; NaN where nothing is.
        rounding: How far it can be off itself after so many letters.
    """

    letters: Sequence[str]
    run: Callable[[IntArray], FloatArray]
    rounding: Callable[[int], float]


def outputs(file: ModelFile, words: IntArray) -> FloatArray:
    """``(batch, length, n)``: what the network says."""
    import torch

    from krohn.network.model import Model

    longest = file.header["claim"]["length"]
    if longest is not None and words.shape[1] > longest:
        raise KrohnError(f"the file is for words of up to {longest} letters")
    network = Model(file).network
    with torch.no_grad():
        found: FloatArray = network(torch.from_numpy(words)).double().numpy()
    return found


def held(
    file: ModelFile,
    right: Reference,
    words: IntArray,
    progress: Progress,
    said: Callable[[ModelFile, IntArray], FloatArray] = outputs,
) -> Simulation:
    """Hold the outputs against the reference: are they within the claimed error?"""
    length = words.shape[1]
    most = file.header["claim"]["error"] + right.rounding(length)

    def spelled(word: IntArray, stop: int) -> tuple[str, ...]:
        return tuple(right.letters[o] for o in word[:stop].tolist())

    for at in range(0, len(words), BATCH):
        batch = words[at : at + BATCH]
        wanted, found = right.run(batch), said(file, batch)
        progress("running words", at, len(words))
        row, wrong = first_wrong(batch, wanted, found, most, spelled)
        if wrong is not None:
            return Simulation(at + row + 1, length, wrong)
    return Simulation(len(words), length, None)


def first_wrong(
    batch: npt.NDArray[Any],
    wanted: FloatArray,
    found: FloatArray,
    most: float,
    spelled: Callable[[npt.NDArray[Any], int], tuple[str, ...]],
) -> "tuple[int, Counterexample | None]":
    """The first input whose outputs are not all within an error, as a counterexample.

    Args:
        batch: ``(batch, length, …)``: the inputs.
        wanted: ``(batch, length, n)``: what is right; NaN where nothing is.
        found: The same, of the network.
        most: The error.
        spelled: The names of an input, up to the position that is wrong.

    Returns:
        Which of the batch it is, and None for the other if there is none.
    """
    from krohn.verify.testing.counterexample import Counterexample

    off = np.abs(wanted - found)
    near = np.all((off <= most) | np.isnan(wanted), axis=2)  # what is no number is not
    rows = np.flatnonzero(~np.all(near, axis=1))
    if not len(rows):
        return 0, None
    row = int(rows[0])
    stop = int(np.argmin(near[row])) + 1
    word = spelled(batch[row], stop)
    told = [_told(x[row, :stop], near[row]) for x in (wanted, found)]
    return row, Counterexample(word, told[0], told[1], "at once")


def _told(states: FloatArray, near: Any) -> tuple[str, ...]:
    """States in words; those that are near enough are not told apart."""
    rows = (" ".join(f"{x:.9g}" for x in state) for state in states.tolist())
    return tuple("near enough" if n else r for r, n in zip(rows, near, strict=False))
