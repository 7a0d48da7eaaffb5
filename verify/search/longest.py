"""The longest prefixes for which the tensors of a generator would be verified."""

from krohn.program.errors import Refused
from krohn.verify.checker.arithmetic import Format
from krohn.verify.checker.brackets import claimed
from krohn.verify.checker.generator import shown
from krohn.verify.checker.layer_norm import REAL
from krohn.verify.checker.model_file import Machine, Model

FARTHEST = 2**40


def longest(model: Model, machine: Machine) -> dict[str, int]:
    """T at most, in the format of the file and without rounding in its heads.

    Raises:
        Refused: If the file claims nothing about the machine.
    """
    return {form.name: _longest(model, machine, form) for form in (model.format, REAL)}


def _longest(model: Model, machine: Machine, form: Format) -> int:
    """By bisection from the length that the file claims, which passes."""
    claim = claimed(model, machine)

    def passes(length: int) -> bool:
        try:
            shown(model, claim._replace(length=length), form)
        except Refused:
            return False
        return True

    low, high = claim.length, FARTHEST
    while low + 1 < high:
        middle = min(2 * low, (low + high) // 2)
        low, high = (middle, high) if passes(middle) else (low, middle)
    return low
