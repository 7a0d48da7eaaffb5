"""Kernels from files: a ``.kernel`` text, or a ``.csv`` with measured values.

A ``.kernel`` text has a line each for::

    length 64            # T
    inputs 0 1           # the box; -1 1 if nothing is said
    values 0.5 0.25      # the first values, the latest input first
    mode 1 0.9+0.3j      # c and λ of Re(c λ^s); any number of such lines
"""

from pathlib import Path

from program.errors import Refused
from sources.kernels.kernel import MOST_VALUES, Kernel, Mode

SUFFIXES = (".kernel", ".csv")
LARGEST_TEXT = 2**20


def read(path: str | Path) -> Kernel:
    """The kernel of a file.

    Raises:
        Refused: If it cannot be read, or states none; the message names the line.
    """
    file = Path(path)
    try:
        if file.stat().st_size > LARGEST_TEXT:
            raise Refused(f"{path}: larger than {LARGEST_TEXT} bytes")
        text = file.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise Refused(f"{path}: no UTF-8 text") from None
    except OSError as error:
        raise Refused(f"{path}: cannot be read: {error.strerror}") from None
    try:
        kind = measured if file.suffix == ".csv" else parsed
        return kind(text, file.stem)
    except Refused as reason:
        raise Refused(f"{path}: {reason}") from None


def measured(text: str, name: str) -> Kernel:
    """A kernel of values alone: numbers with commas, blanks or lines between them.

    A first line that is no number, a heading, is passed over.

    Raises:
        Refused: If there is something else than numbers.
    """
    lines = [line for line in text.splitlines() if line.strip()]
    if lines and not _is_number(lines[0].replace(",", " ").split()[0]):
        lines = lines[1:]
    rows = [line.replace(",", " ").split() for line in lines]
    if len(rows) > 1 and any(len(row) > 1 for row in rows):
        raise Refused("several columns: a kernel is one number a line, or one line")
    words = [word for row in rows for word in row]
    if not 0 < len(words) <= MOST_VALUES:
        raise Refused(f"a kernel has 1 to {MOST_VALUES} values, not {len(words)}")
    return Kernel(name, tuple(map(_real, words)), (), len(words))


def parsed(text: str, name: str) -> Kernel:
    """A kernel of a ``.kernel`` text.

    Raises:
        Refused: With the number of the line that is wrong.
    """
    length, inputs = 0, (-1.0, 1.0)
    values, modes = list[float](), list[Mode]()
    for at, line in enumerate(text.splitlines(), start=1):
        word, *rest = line.partition("#")[0].split() or [""]
        try:
            match word, rest:
                case "", _:
                    continue
                case "length", [number] if number.isdecimal():
                    length = int(number)
                case "inputs", [low, high]:
                    inputs = _real(low), _real(high)
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
    if not length and modes:
        raise Refused("it does not say its length: how many inputs there are")
    return Kernel(name, tuple(values), tuple(modes), length or len(values), inputs)


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def _real(word: str) -> float:
    if not _is_number(word):
        raise Refused(f"{word[:40]!r} is no number")
    return float(word)


def _complex(word: str) -> complex:
    try:
        return complex(word)
    except ValueError:
        raise Refused(f"{word[:40]!r} is no number, as 0.9 or 0.9+0.3j") from None
