"""Kernels by name: ``Exp32``, ``Power64,2``, ``RanKernel32@1``, ``Exp32:swap=10``."""

import re
from decimal import Context, Decimal
from fractions import Fraction
from random import Random

from krohn.program.errors import demand
from krohn.sources.kernels.kernel import MOST_LENGTH, Kernel, Mode
from krohn.sources.kernels.transforms import mixed, swapped

EXAMPLES = {
    "Exp32": "Σ e^(−s)·x(t − s) of up to 32 real inputs; Exp32,8: e^(−s/8)",
    "Power64,2": "the same with (1 + s)^−2, which no finite recurrence has",
    "Delay32,5": "the input of 5 steps ago",
    "Mean32,5": "the mean of the last 5 inputs",
    "RanKernel32@1": "a kernel of 32 random values in [0, 1)",
    "Exp32:swap=10": "the same, with the first and the last 10 inputs exchanged",
    "Exp32:mix=5@1": "the same, after a random filter of length 5",
}
"""An example of each family, with what it is."""
_NAME = re.compile(
    r"(?P<family>Exp|Power|Delay|Mean|RanKernel)(?P<length>\d{1,9})"
    r"(,(?P<number>\d{1,9}))?(@(?P<seed>\d{1,18}))?"
    r"(:swap=(?P<swap>\d{1,9})|:mix=(?P<mix>\d{1,9})@(?P<filter>\d{1,18}))?"
)
_DIGITS = Context(prec=60)


def named(name: str) -> Kernel | None:
    """The kernel of a name; None if it is of another form.

    Raises:
        Refused: If one of its numbers is out of range.
    """
    found = _NAME.fullmatch(name)
    if found is None or (found["family"] == "RanKernel") != (found["seed"] is not None):
        return None
    length, number = int(found["length"]), int(found["number"] or 1)
    demand(
        1 <= length <= MOST_LENGTH,
        f"{name}: a kernel is for 1 to {MOST_LENGTH} inputs, not {length}",
    )
    values, modes = list[float](), list[Mode]()
    match found["family"]:
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
            random = Random(f"RanKernel {length} {int(found['seed'])}")
            values = [random.random() for _ in range(length)]
    kernel = Kernel(name, tuple(values), tuple(modes), length)
    if found["swap"]:
        return swapped(kernel, int(found["swap"]), name)
    if found["mix"]:
        size, seed = int(found["mix"]), int(found["filter"])
        demand(1 <= size <= 64, f"{name}: a filter has 1 to 64 weights")
        return mixed(kernel, random_filter(size, seed), name)
    return kernel


def random_filter(size: int, seed: int) -> tuple[float, ...]:
    """Weights in [0, 1), divided by their sum, so that ‖θ‖₁ is 1 up to roundings."""
    random = Random(f"filter {size} {seed}")
    drawn = [random.random() for _ in range(size)]
    return tuple(x / sum(drawn) for x in drawn)
