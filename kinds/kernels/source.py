"""Kernels: causal convolutions of real inputs, exactly."""

import re
from decimal import Context, Decimal
from fractions import Fraction
from math import isfinite
from pathlib import Path
from random import Random

from krohn.kinds.kernels.source_kernel import (
    Kernel,
    mix_inputs,
    permute_inputs,
    swap_ends,
)
from krohn.kinds.kernels.statement import MOST_LENGTH, MOST_VALUES, Mode
from krohn.program.errors import Refused, demand, told_as
from krohn.program.user_input import read_text

__all__ = [
    "SUFFIXES",
    "Kernel",
    "Mode",
    "find_by_name",
    "mix_inputs",
    "permute_inputs",
    "read",
    "swap_ends",
]


# Kernels by name: ``Exp32``, ``Power64,2``, ``RanKernel32@1``, ``Exp32:swap=10``.


_NAME = re.compile(
    r"(?P<family>Exp|Power|Delay|Mean|RanKernel)(?P<length>\d{1,9})"
    r"(,(?P<number>\d{1,9}))?(@(?P<seed>\d{1,18}))?"
    r"(:swap=(?P<swap>\d{1,9})|:mix=(?P<mix>\d{1,9})@(?P<filter>\d{1,18}))?"
)
_DIGITS = Context(prec=60)


def find_by_name(name: str) -> Kernel | None:
    """The kernel of a name; None if it is of another form.

    Raises:
        Refused: If one of its numbers is out of range.
    """
    parts = _NAME.fullmatch(name)
    if parts is None or (parts["family"] == "RanKernel") != (parts["seed"] is not None):
        return None
    length, number = int(parts["length"]), int(parts["number"] or 1)
    demand(
        1 <= length <= MOST_LENGTH,
        f"{name}: a kernel is for 1 to {MOST_LENGTH} inputs, not {length}",
    )
    values, modes = list[float](), list[Mode]()
    match parts["family"]:
        case "Exp":
            demand(number >= 1, f"{name}: the decay takes at least 1 step")
            modes = [Mode(1.0, float((Decimal(-1) / number).exp(_DIGITS)))]
        case "Power":
            demand(1 <= number <= 16, f"{name}: the power is 1 to 16")
            demand(length <= 4096, f"{name}: at most 4096 values are listed")
            values = [float(Fraction(1, (1 + s) ** number)) for s in range(length)]
        case "Delay":
            demand(number < length, f"{name}: the delay must be shorter than the input")
            values = [0.0] * number + [1.0]
        case "Mean":
            few = 1 <= number <= length
            demand(few, f"{name}: the mean is of 1 to {length} inputs, not {number}")
            values = [1 / number] * number
        case _:
            demand(length <= 4096, f"{name}: at most 4096 values are listed")
            random = Random(f"RanKernel {length} {int(parts['seed'])}")
            values = [random.random() for _ in range(length)]
    kernel = Kernel(name, tuple(values), tuple(modes), length)
    if parts["swap"]:
        return swap_ends(kernel, int(parts["swap"]), name)
    if parts["mix"]:
        size, seed = int(parts["mix"]), int(parts["filter"])
        demand(1 <= size <= 64, f"{name}: a filter has 1 to 64 weights")
        return mix_inputs(kernel, random_filter(size, seed), name)
    return kernel


def random_filter(size: int, seed: int) -> tuple[float, ...]:
    """Weights in [0, 1), divided by their sum, so that ‖θ‖₁ is 1 up to roundings."""
    random = Random(f"filter {size} {seed}")
    drawn = [random.random() for _ in range(size)]
    return tuple(x / sum(drawn) for x in drawn)


# Kernels from files: a ``.kernel`` text, or a ``.csv`` with measured values.
#
# A ``.kernel`` text has a line each for::
#
#     length 64            # T
#     inputs 0 1           # the box; -1 1 if nothing is said
#     values 0.5 0.25      # the first values, the latest input first; more lines go on
#     mode 1 0.9+0.3j      # c and λ of Re(c λ^s); any number of such lines


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
    with told_as(Refused, f"{path}: "):
        kind = parse_values if file.suffix == ".csv" else parse_kernel
        return kind(text, file.stem)


def parse_values(text: str, name: str) -> Kernel:
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
        raise Refused(
            "several columns: a kernel is one number a line, or one line; a table of "
            "transitions begins with 'state', or marks its start state by ->"
        )
    values = list[float]()
    for at, row in enumerate(rows, start=first):
        with told_as(Refused, f"line {at}: "):
            if not row:
                raise Refused("there is no number")
            values += map(_real, row)
    if not 0 < len(values) <= MOST_VALUES:
        raise Refused(f"a kernel has 1 to {MOST_VALUES} values, not {len(values)}")
    return Kernel(name, tuple(values), (), len(values))


def parse_kernel(text: str, name: str) -> Kernel:
    """A kernel of a ``.kernel`` text.

    Raises:
        Refused: With the number of the line that is wrong.
    """
    once = dict[str, tuple[float, ...]]()
    values, modes = list[float](), list[Mode]()
    for at, line in enumerate(text.splitlines(), start=1):
        word, *rest = line.partition("#")[0].split() or [""]
        with told_as(Refused, f"line {at}: "):
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
    if not isfinite(number := float(word)):
        raise Refused(f"{word[:40]!r} is not finite")
    return number


def _complex(word: str) -> complex:
    try:
        number = complex(word)
    except ValueError:
        raise Refused(f"{word[:40]!r} is no number, as 0.9 or 0.9+0.3j") from None
    if not (isfinite(number.real) and isfinite(number.imag)):
        raise Refused(f"{word[:40]!r} is not finite")
    return number
