"""Kernels from files: a ``.kernel`` text, or a ``.csv`` with measured values.

A ``.kernel`` text has a line each for::

    length 64            # T
    inputs 0 1           # the box; -1 1 if nothing is said
    values 0.5 0.25      # the first values, the latest input first; more lines go on
    mode 1 0.9+0.3j      # c and λ of Re(c λ^s); any number of such lines
"""

from math import isfinite
from pathlib import Path

from krohn.program.errors import Refused
from krohn.program.files import read_text
from krohn.sources.kernels.kernel import MOST_VALUES, Kernel, Mode

SUFFIXES = (".kernel", ".csv")
LARGEST_TEXT = 2**20
DIGITS = 18
"""Of a length, at most: more would be read slowly, and no kernel is as long."""


def read(path: str | Path) -> Kernel:
    """The kernel of a file.

    Raises:
        Refused: If it cannot be read, or states none; the message names the line.
    """
    file = Path(path)
    text = read_text(file, LARGEST_TEXT)
    try:
        kind = measured if file.suffix == ".csv" else parsed
        return kind(text, file.stem)
    except Refused as reason:
        raise Refused(f"{path}: {reason}") from None


def measured(text: str, name: str) -> Kernel:
    """A kernel of values alone: numbers with commas, blanks or lines between them.

    A first line of one word, of letters alone, is a heading; lines at the end may be empty.

    Raises:
        Refused: If there is something else than numbers; the message names the line.
    """
    rows = [
        line.replace(",", " ").split() for line in text.rstrip(", \r\n\t").splitlines()
    ]
    first = 1
    if rows and len(rows[0]) == 1 and _is_heading(rows[0][0]):
        rows, first = rows[1:], 2
    if len(rows) > 1 and any(len(row) > 1 for row in rows):
        raise Refused("several columns: a kernel is one number a line, or one line")
    values = list[float]()
    for at, row in enumerate(rows, start=first):
        try:
            if not row:
                raise Refused("there is no number")
            values += map(_real, row)
        except Refused as reason:
            raise Refused(f"line {at}: {reason}") from None
    if not 0 < len(values) <= MOST_VALUES:
        raise Refused(f"a kernel has 1 to {MOST_VALUES} values, not {len(values)}")
    return Kernel(name, tuple(values), (), len(values))


def parsed(text: str, name: str) -> Kernel:
    """A kernel of a ``.kernel`` text.

    Raises:
        Refused: With the number of the line that is wrong.
    """
    once = dict[str, tuple[float, ...]]()
    values, modes = list[float](), list[Mode]()
    for at, line in enumerate(text.splitlines(), start=1):
        word, *rest = line.partition("#")[0].split() or [""]
        try:
            if word in once:
                raise Refused(f"{word} is said twice")
            match word, rest:
                case "", _:
                    continue
                case "length", [number] if number.isdecimal() and len(number) <= DIGITS:
                    once[word] = (int(number),)
                case "inputs", [low, high]:
                    once[word] = _real(low), _real(high)
                case "values", [_, *_]:
                    values += map(_real, rest)
                case "mode", [weight, base]:
                    modes.append(Mode(_complex(weight), _complex(base)))
                case _:
                    raise Refused(
                        "say length N, inputs LOW HIGH, values NUMBER …, or mode C LAMBDA"
                    )
        except Refused as reason:
            raise Refused(f"line {at}: {reason}") from None
    return _of_lines(name, values, modes, once)


def _of_lines(
    name: str,
    values: list[float],
    modes: list[Mode],
    once: dict[str, tuple[float, ...]],
) -> Kernel:
    """The kernel of what the lines say.

    Raises:
        Refused: If they say too little, or more values than there are inputs.
    """
    if not values and not modes:
        raise Refused("it describes no kernel: say values, or a mode and the length")
    if modes and "length" not in once:
        raise Refused("it does not say its length, the number of inputs")
    (length,) = once.get("length", (len(values),))
    if len(values) > length > 0:
        raise Refused(f"there are {len(values)} values, and the length is {length:g}")
    low, high = once.get("inputs", (-1.0, 1.0))
    return Kernel(name, tuple(values), tuple(modes), int(length), (low, high))


def _is_heading(word: str) -> bool:
    return word.isalpha() and not _is_number(word)  # nan and inf are numbers


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def _real(word: str) -> float:
    if not _is_number(word):
        raise Refused(f"{word[:40]!r} is no number")
    if not isfinite(found := float(word)):
        raise Refused(f"{word[:40]!r} is not finite")
    return found


def _complex(word: str) -> complex:
    try:
        found = complex(word)
    except ValueError:
        raise Refused(f"{word[:40]!r} is no number, as 0.9 or 0.9+0.3j") from None
    if not (isfinite(found.real) and isfinite(found.imag)):
        raise Refused(f"{word[:40]!r} is not finite")
    return found
