"""How long words may be in each number format: by compiling and proving again.

A file says nothing of other lengths. What is found here is about networks of the same
construction for the same machine, each compiled and proved as a file would be.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from algebra.automaton import Automaton
from algebra.errors import KrohnError
from algebra.formats import json_format
from compiler.plan import CONSTRUCTIONS, ON_REQUEST
from krohn.compilation import OWN
from krohn.compilation import compile as compiled
from krohn.foreign import names_machine
from network.modelfile import ModelFile, sines
from network.precision import PRECISIONS

SECONDS = 20.0
LIMIT = 4096
"""No longer word is tried: proofs take the square of it in time and memory."""
GROWTH = 5
"""How much longer twice the length may take, with room to spare above its square."""


@dataclass(frozen=True)
class Longest:
    """What was found for a number format.

    Attributes:
        dtype: The format.
        length: The longest word that was certified; 0 if none was.
        refused: The shortest length that was refused; None if none was.
        open: Whether a longer word may be certified, too.
        how: In words, how this was found.
    """

    dtype: str
    length: int
    refused: int | None
    open: bool
    how: str


def longest(
    file: ModelFile, proved: float | None, seconds: float = SECONDS
) -> list[Longest] | str:
    """The longest certified words of a model's construction in every format.

    Args:
        file: The model.
        proved: How long its own proof took; None if it was not proved.
        seconds: For all formats together. A length that is being tried is finished.

    Returns:
        A line for each format; or in words, why there is none.
    """
    header = file.header
    name, claimed = header.get("construction"), header["claim"].get("length")
    if header["architecture"]["kind"] == "rnn":
        return (
            "An RNN has no longest word: what is proved of it holds for every length."
        )
    if not names_machine(file):
        return "The file states no machine that could be compiled again."
    if name not in {*CONSTRUCTIONS, *ON_REQUEST} or type(claimed) is not int:
        return "The file names no construction of Krohn that could be compiled again."
    if proved is None:
        return "The network was not proved, so nothing is said of others like it."
    end = time.monotonic() + seconds
    found: list[Longest] = []
    for dtype in PRECISIONS:
        own = proved if dtype == file.precision.name else None
        share = (end - time.monotonic()) / (len(PRECISIONS) - len(found))
        probe = partial(certified, file, str(name), dtype)
        search = _Search(probe, time.monotonic() + max(share, 0.0))
        found.append(search.run(dtype, claimed, own))
    return found


def certified(file: ModelFile, construction: str, dtype: str, length: int) -> bool:
    """Whether the construction of a model is proved in a format at a length."""
    machine: Automaton = json_format.from_object(file.header["machine"])
    shape = file.header["architecture"]
    waves = any(any(sines(block)) for block in shape["blocks"])
    outputs = file.header["claim"].get("shows") == "outputs"
    try:
        compiled(
            machine,
            length,
            construction,
            dtype=dtype,
            strict=bool(shape.get("strict")),
            activation="sine" if waves else "relu",
            observation=OWN if outputs else None,
        )
    except (KrohnError, MemoryError):
        return False
    return True


class _Search:
    """A search for the greatest length that passes, until a moment."""

    def __init__(self, probe: Callable[[int], bool], end: float) -> None:
        self.probe, self.end = probe, end
        self.good, self.bad, self.last = 0, LIMIT + 1, 0.0

    def run(self, dtype: str, start: int, proved: float | None) -> Longest:
        """Double or halve until lengths on both sides are known, then bisect."""
        if proved is None:
            self._try(min(start, LIMIT))
        else:
            self.good, self.last = start, proved
        while not self._narrow and self._affordable:
            self._try(self._next())
        refused = self.bad if self.bad <= LIMIT else None
        still_open = self.good > 0 and not (refused and self._narrow)
        how = self._said(refused, proved is not None and self.good == start)
        return Longest(dtype, self.good, refused, still_open, how)

    @property
    def _narrow(self) -> bool:
        if self.bad > LIMIT:  # nothing was refused
            return self.good >= LIMIT
        return self.bad - self.good <= max(1, self.good // 100)

    @property
    def _affordable(self) -> bool:
        return time.monotonic() + GROWTH * self.last < self.end

    def _next(self) -> int:
        if self.bad > LIMIT:
            return min(2 * self.good, LIMIT)
        return (self.good + self.bad) // 2

    def _try(self, length: int) -> None:
        began = time.monotonic()
        if began >= self.end:
            return
        if self.probe(length):
            self.good = max(self.good, length)
        else:
            self.bad = min(self.bad, length)
        self.last = time.monotonic() - began

    def _said(self, refused: int | None, own: bool) -> str:
        """How it was found."""
        compiled = "this file" if own else "compiled and proved"
        if self.good == 0:
            return f"{refused} is refused" if refused else "not tried: the time was up"
        if refused is None:
            most = self.good >= LIMIT
            why = "no longer one was tried" if most else "then the time was up"
            return f"{compiled}; {why}"
        rest = "" if self._narrow else "; then the time was up"
        return f"{compiled}; {refused} is refused{rest}"
