"""What the file of a generator claims, and how its tokens are numbered."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from algebra.automaton import Automaton
from algebra.bracket_distribution import BracketDistribution, distribution
from algebra.errors import MachineError
from algebra.rational import rational
from network.modelfile import ModelFile
from verify.errors import Rejected


@dataclass(frozen=True)
class Claim:
    """What a file says it computes.

    Attributes:
        law: The distribution.
        length: T.
        tolerance: How far an output may be from the law.
    """

    law: BracketDistribution
    length: int
    tolerance: Fraction

    @property
    def depth(self) -> int:
        """D."""
        return self.law.brackets.depth

    @cached_property
    def letters(self) -> list[tuple[int, int]]:
        """Each letter with each depth that it can lead to."""
        return [
            (a, depth + (opens is not None))
            for a, opens in enumerate(self.law.brackets.opens)
            for depth in range(self.depth)
        ]

    @cached_property
    def pairs(self) -> dict[tuple[int, int], tuple[int, int]]:
        """For a kind and a level, the tokens that open and that close such a bracket.

        Tokens are places in `letters`; the start comes after them.
        """
        opens, closes = self.law.brackets.opens, self.law.brackets.closes
        token = {letter: i for i, letter in enumerate(self.letters)}
        return {
            (kind, level): (
                token[opens.index(kind), level],
                token[closes.index(kind), level - 1],
            )
            for kind in range(self.law.brackets.kinds)
            for level in range(1, self.depth + 1)
        }


def claimed(file: ModelFile, machine: Automaton) -> Claim:
    """The claim of a file about a machine.

    Raises:
        Rejected: If the machine is no stack, or the claim does not fit the file.
    """
    header = file.header
    claim, shape = header["claim"], header["architecture"]
    length, tolerance = claim.get("length"), claim.get("tolerance")
    if type(length) is not int or length < 1:
        raise Rejected("the file claims no length")
    if not isinstance(tolerance, int | float) or not 0 <= tolerance < 1:
        raise Rejected("the file claims no tolerance")
    try:
        law = distribution(machine, rational(str(claim.get("opening"))))
    except MachineError as error:
        raise Rejected(str(error)) from None
    except (ValueError, ZeroDivisionError):
        raise Rejected("the file claims no probability of opening") from None
    moves = [-1 if kind is None else 1 for kind in law.brackets.opens]
    if (shape["vocabulary"], shape["outputs"]) != (len(moves), len(moves)):
        raise Rejected("the file has another number of letters than the machine")
    if shape["moves"] != moves:
        raise Rejected("the file and the machine differ in which letters open")
    return Claim(law, length, Fraction(tolerance))
