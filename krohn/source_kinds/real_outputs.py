"""Real vectors as a person writes them, and networks that say real numbers."""

import csv
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from io import StringIO
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from krohn.algebra.errors import KrohnError
from krohn.network.modelfile import ModelFile
from krohn.network.precision import FloatArray
from krohn.network.reading import Opened, output_function
from krohn.program.domains import IntArray
from krohn.program.exact_products import (
    Ratios,
    ratios,
)
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
        number = float(text)
    except ValueError:
        raise KrohnError(
            f"vector {t} has {text.strip()!r}, which is no number"
        ) from None
    if not np.isfinite(number):
        raise KrohnError(f"vector {t} has {text.strip()!r}, which is not finite")
    return number


def _rows(path: Path, names: tuple[str, ...], most: int | None) -> list[list[str]]:
    text = read_text(path, LARGEST_TEXT)
    blanks = "\t" if path.suffix == ".tsv" else ","
    lines = csv.reader(StringIO(text), delimiter=blanks)
    # One vector too many is enough to be refused; before them may be a line of names.
    try:
        rows = list(islice(lines, None if most is None else most + 2))
    except csv.Error as error:
        raise KrohnError(f"{path}: line {lines.line_num}: {error}") from None
    while rows and not any(map(str.strip, rows[-1])):
        rows.pop()
    for line, row in enumerate(rows, start=1):
        if not any(map(str.strip, row)):
            raise KrohnError(f"{path}: line {line}: there is no number")
    headed = bool(rows) and tuple(n.strip() for n in rows[0]) == names
    return rows[headed:]


# Networks that say real numbers: how they are run, and held against what is right.


BATCH = 256
REPLAYED, REACH = 64, 2**15
"""So many inputs of a run are computed exactly where floats are not near enough; and so
many numbers of each."""


class Reference(NamedTuple):
    """The right outputs: in floats, by which what may be wrong is found, and for certain.

    Attributes:
        run: ``(batch, length, …)`` inputs to ``(batch, length, n)``; NaN where nothing is
            claimed, infinite where floats cannot tell.
        rounding: How far any of these numbers can be off itself, where nothing is exact.
        exactly: One input to its numbers without error, a position after the other.
    """

    run: Callable[[npt.NDArray[Any]], FloatArray]
    rounding: float = 0.0
    exactly: Callable[[npt.NDArray[Any]], Iterator[Ratios]] | None = None

    def certain(
        self, x: npt.NDArray[Any], wanted: FloatArray
    ) -> Iterable[Ratios | None]:
        """The right numbers of one input, each within `rounding`; None if not known.

        Args:
            x: ``(length, …)``: the input.
            wanted: ``(length, n)``: what `run` says of it.
        """
        if self.exactly is not None:
            return islice(self.exactly(x), REACH // wanted.shape[1])
        known = np.isfinite(wanted).all(axis=1) & np.isfinite(self.rounding)
        rows = zip(wanted, known, strict=True)
        return (ratios(row) if sure else None for row, sure in rows)


def replace_nan(numbers: FloatArray) -> FloatArray:
    """Numbers of which each is claimed: floats that overflowed to NaN cannot tell."""
    return np.where(np.isnan(numbers), np.inf, numbers)


Batch: TypeAlias = tuple[npt.NDArray[Any], FloatArray, FloatArray]
Spelled: TypeAlias = Callable[[npt.NDArray[Any], int], tuple[str, ...]]


def outputs(file: ModelFile, words: IntArray, network: Opened = None) -> FloatArray:
    """``(batch, length, n)``: what the network says."""
    longest = file.claim.length
    if longest is not None and words.shape[1] > longest:
        raise KrohnError(f"the file is for words of up to {longest} letters")
    return output_function(file, network)(words).astype(np.float64)


def simulate_words(
    file: ModelFile,
    letters: Sequence[str],
    right: Reference,
    words: IntArray,
    progress: Progress,
    said: Callable[[ModelFile, IntArray], FloatArray] = outputs,
) -> Simulation:
    """Hold the outputs against the reference: are they within the claimed error?"""

    def spell_prefix(word: IntArray, stop: int) -> tuple[str, ...]:
        return tuple(letters[o] for o in word[:stop].tolist())

    batches = in_batches(words, BATCH, "running words", progress)
    runs = ((batch, right.run(batch), said(file, batch)) for batch in batches)
    return judge_outputs(runs, right, file.claim.error, spell_prefix)


def in_batches(
    inputs: npt.NDArray[Any], each: int, what: str, progress: Progress
) -> Iterator[npt.NDArray[Any]]:
    """So many inputs at a time, with the progress of what is done with them."""
    for at in range(0, len(inputs), each):
        progress(what, at, len(inputs))
        yield inputs[at : at + each]


def judge_outputs(
    batches: Iterable[Batch], right: Reference, error: float, spelled: Spelled
) -> Simulation:
    """Whether outputs are within an error: refuted is what no rounding can explain.

    Args:
        batches: Inputs ``(batch, length, …)``, what is right ``(batch, length, n)`` as
            `Reference.run` says it, and what the network says.
        right: What they are held against.
        error: How far the network may be off.
        spelled: The names of an input, up to a position.
    """
    done, length, farthest, unknown, left = 0, 0, 0.0, 0, REPLAYED
    for batch, wanted, actual in batches:
        length = wanted.shape[1]
        with np.errstate(invalid="ignore", over="ignore"):
            off = np.abs(wanted - actual)
        far = np.any(~(off <= error) & ~np.isnan(wanted), axis=2)
        for row in np.flatnonzero(far.any(axis=1)).tolist():
            each, wrong, sure = (batch[row], wanted[row], actual[row]), None, False
            if left:
                wrong, sure = _first_wrong(right, *each, far[row], error, spelled)
            if wrong is not None:
                return Simulation(done + row + 1, length, wrong)
            unknown, left = unknown + (not sure), left - (right.exactly is not None)
        done += len(batch)
        farthest = max(farthest, float(off[np.isfinite(off)].max(initial=0.0)))
    about = f", of which the reference is too coarse to judge {unknown}" * bool(unknown)
    return Simulation(done, length, None, about, largest_error=farthest)


def _first_wrong(
    right: Reference,
    x: npt.NDArray[Any],
    wanted: FloatArray,
    found: FloatArray,
    far: npt.NDArray[Any],
    error: float,
    spelled: Spelled,
) -> "tuple[Counterexample | None, bool]":
    """One input, up to where outputs are surely off by more than an error.

    Args:
        right: What is right.
        x: ``(length, …)``: the input.
        wanted: ``(length, n)``: what is right, in floats.
        found: ``(length, n)``: what the network says.
        far: ``(length,)``: where these are not near.
        error: How far the network may be off.
        spelled: The names of an input, up to a position.

    Returns:
        None for the first if nothing is surely off; then whether all is surely near.
    """
    from krohn.verify.testing.counterexample import NEAR, Counterexample

    unsettled = set(np.flatnonzero(far).tolist())
    numbers = islice(right.certain(x, wanted), max(unsettled) + 1)
    for t, each in enumerate(numbers):
        if t not in unsettled or each is None:
            continue
        most = Fraction(error) + Fraction(right.rounding)
        if each.under and _is_beyond(found[t], each, most):
            texts = _texts(each, found[t])
            expected, actual = ((*[NEAR] * t, text) for text in texts)
            wrong = Counterexample(spelled(x, t + 1), expected, actual, "at once")
            return wrong, True
        if not right.rounding:
            unsettled.remove(t)
    return None, not unsettled


def _is_beyond(found: FloatArray, right: Ratios, most: Fraction) -> bool:
    """Whether one of some numbers is farther than ``most`` from the right one."""
    if not np.isfinite(found).all():
        return True
    actual = ratios(found)
    off = max(
        abs(y * right.under - x * actual.under)
        for x, y in zip(right.over, actual.over, strict=True)
    )
    return off * most.denominator > most.numerator * actual.under * right.under


def _texts(right: Ratios, found: FloatArray) -> tuple[str, str]:
    """Right and wrong numbers in words, of as many digits as tell them apart."""
    from krohn.verify.testing.counterexample import told_apart

    exact, actual = [Fraction(x, right.under) for x in right.over], found.tolist()
    one, other = told_apart(list(map(_float, exact)), actual, " ", 9)
    if one != other:
        return one, other
    off = max(abs(x - Fraction(y)) for x, y in zip(exact, actual, strict=True))
    return one, f"{other}, which is {float(off):.2g} off"


def _float(x: Fraction) -> float:
    try:
        return float(x)
    except OverflowError:
        return float("inf") if x > 0 else -float("inf")
