"""Real vectors as a person writes them, and networks that say real numbers."""

import csv
from collections.abc import Callable, Iterable, Iterator, Sequence
from io import StringIO
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from krohn.algebra.errors import KrohnError
from krohn.network.modelfile import ModelFile
from krohn.network.precision import FloatArray
from krohn.network.reading import plain_reader
from krohn.program.domains import IntArray
from krohn.program.user_input import read_text
from krohn.report import Progress
from krohn.verify.testing.simulation_result import Simulation

if TYPE_CHECKING:
    from krohn.verify.testing.counterexample import Counterexample

# Real vectors as a person writes them.


LARGEST_TEXT = 2**24
"""In bytes, of a file of numbers."""


def vectors(
    words: list[str], names: tuple[str, ...], most: int | None = None
) -> FloatArray:
    """``(t, d)`` numbers as a person writes them.

    Vectors with blanks between them, their numbers with commas; or the name of a file of
    comma-separated values, a vector a line, with or without a line of names before them;
    only lines at its end may be empty.

    Args:
        words: What a person wrote.
        names: Of the d numbers of a vector.
        most: How many vectors the network reads; what is behind them is not looked at.

    Raises:
        KrohnError: If it is no such thing, or has more vectors.
    """
    if len(words) == 1 and words[0].endswith((".csv", ".txt", ".tsv")):
        rows = _rows(Path(words[0]), names, most)
    else:
        rows = [part.split(",") for part in " ".join(words).split()]
    if len(names) == 1:
        rows = [[number] for row in rows for number in row]
    if most is not None and len(rows) > most:
        raise KrohnError(
            f"the network takes up to {most} vectors, and there are more; compile it again "
            "for more"
        )
    if not rows:
        raise KrohnError("an input has at least one vector")
    for t, row in enumerate(rows, start=1):
        if len(row) != len(names):
            raise KrohnError(
                f"vector {t} has {len(row)} numbers, and {len(names)} are needed: "
                f"{','.join(names)}"
            )
    return np.array([[_number(n, t) for n in row] for t, row in enumerate(rows, 1)])


def _number(text: str, t: int) -> float:
    try:
        found = float(text)
    except ValueError:
        raise KrohnError(
            f"vector {t} has {text.strip()!r}, which is no number"
        ) from None
    if not np.isfinite(found):
        raise KrohnError(f"vector {t} has {text.strip()!r}, which is not finite")
    return found


def _rows(path: Path, names: tuple[str, ...], most: int | None) -> list[list[str]]:
    text = read_text(path, LARGEST_TEXT)
    blanks = "\t" if path.suffix == ".tsv" else ","
    lines = csv.reader(StringIO(text), delimiter=blanks)
    # One vector too many is enough to be refused; before them may be a line of names.
    try:
        found = list(islice(lines, None if most is None else most + 2))
    except csv.Error as error:
        raise KrohnError(f"{path}: line {lines.line_num}: {error}") from None
    while found and not any(map(str.strip, found[-1])):
        found.pop()
    for line, row in enumerate(found, start=1):
        if not any(map(str.strip, row)):
            raise KrohnError(f"{path}: line {line}: there is no number")
    headed = bool(found) and tuple(n.strip() for n in found[0]) == names
    return found[headed:]


# Networks that say real numbers after each letter: how they are run and held against.


BATCH = 256


class Reference(NamedTuple):
    """The right outputs for words of letters.

    Attributes:
        letters: Their names.
        run: ``(batch, length)`` words to ``(batch, length, n)``; NaN where nothing is.
        rounding: How far it can be off itself after so many letters.
    """

    letters: Sequence[str]
    run: Callable[[IntArray], FloatArray]
    rounding: Callable[[int], float]


Batch: TypeAlias = tuple[npt.NDArray[Any], FloatArray, FloatArray]


def outputs(file: ModelFile, words: IntArray) -> FloatArray:
    """``(batch, length, n)``: what the network says.

    One word alone is read without torch, whose import would take longer.
    """
    longest = file.header["claim"]["length"]
    if longest is not None and words.shape[1] > longest:
        raise KrohnError(f"the file is for words of up to {longest} letters")
    begin = plain_reader(file) if len(words) == 1 else None
    if begin is not None:
        return begin(1).read_on(words).astype(np.float64)
    import torch

    from krohn.network.model import Model

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

    batches = in_batches(words, BATCH, "running words", progress)
    runs = ((batch, right.run(batch), said(file, batch)) for batch in batches)
    return judged(runs, length, most, spelled)


def in_batches(
    inputs: npt.NDArray[Any], each: int, what: str, progress: Progress
) -> Iterator[npt.NDArray[Any]]:
    """So many inputs at a time, with the progress of what is done with them."""
    for at in range(0, len(inputs), each):
        progress(what, at, len(inputs))
        yield inputs[at : at + each]


def judged(
    batches: Iterable[Batch],
    length: int,
    most: float,
    spelled: Callable[[npt.NDArray[Any], int], tuple[str, ...]],
) -> Simulation:
    """Whether all outputs are within an error of what is right.

    Args:
        batches: Inputs, what is right, and what the network says, as of `first_wrong`.
        length: How long the inputs are.
        most: The error.
        spelled: The names of an input, up to a position.
    """
    done, farthest = 0, 0.0
    for batch, wanted, found in batches:
        row, wrong = first_wrong(batch, wanted, found, most, spelled)
        if wrong is not None:
            return Simulation(done + row + 1, length, wrong)
        done += len(batch)
        farthest = max(farthest, float(np.nanmax(np.abs(wanted - found), initial=0.0)))
    return Simulation(done, length, None, largest_error=farthest)


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
    told = [_state_texts(x[row, :stop], near[row]) for x in (wanted, found)]
    return row, Counterexample(word, told[0], told[1], "at once")


def _state_texts(states: FloatArray, near: Any) -> tuple[str, ...]:
    """States in words; those that are near enough are not told apart."""
    rows = (" ".join(f"{x:.9g}" for x in state) for state in states.tolist())
    return tuple("near enough" if n else r for r, n in zip(rows, near, strict=False))
