"""The longest prefixes of brackets for which a generator would be verified."""

from krohn.architectures.generator.check import prove_law
from krohn.architectures.generator.check_brackets import read_claim
from krohn.architectures.generator.check_layer_norm import REAL
from krohn.program.errors import Refused
from krohn.verify.checker.model_file import Machine, Model

FARTHEST = 2**40
"""The longest prefixes for which the tensors of a generator are looked at."""


def longest(model: Model, machine: Machine) -> dict[str, dict[str, int]]:
    """The longest prefixes for which the tensors of a generator would be verified.

    In the format of the file and without rounding in its heads: by bisection from the
    length that the file claims, which passes.

    Raises:
        Refused: If the file claims nothing about the machine.
    """
    claim, lengths = read_claim(model, machine), dict[str, int]()
    for form in (model.format, REAL):
        low, high = claim.length, FARTHEST
        while low + 1 < high:
            middle = min(2 * low, (low + high) // 2)
            try:
                prove_law(model, claim._replace(length=middle), form)
                low = middle
            except Refused:
                high = middle
        lengths[form.name] = low
    return {"longest": lengths}
