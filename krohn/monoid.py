"""The monoid of a machine as a picture: small enough to be seen."""

from matplotlib.figure import Figure

from algebra.automaton import Automaton
from algebra.budget import Budget, BudgetExceeded
from algebra.green import green
from algebra.monoid import TransformationMonoid
from krohn.drawing.eggbox import draw_eggboxes

SECONDS = 30.0
MOST_ELEMENTS = 200_000


def draw_monoid(machine: Automaton, seconds: float = SECONDS) -> Figure:
    """The egg-boxes of the transformation monoid of a machine, in the J-order.

    Raises:
        BudgetExceeded: If there are more than 200,000 elements or the time is over; the
            message says what to do.
        DrawingError: If there are too many D-classes.
    """
    monoid = _monoid(machine, seconds)
    found = green(monoid)
    facts = [
        f"transformation monoid of {_count(monoid.size, 'element')}",
        _count(len(found.d_sizes), "D-class", "es"),
        f"{_count(len(machine.states), 'state')}, "
        f"{_count(len(machine.letters), 'letter')}",
    ]
    remarks = []
    if not monoid.identity_is_product:
        remarks.append("The identity is no product of letters; it was adjoined.")
    return draw_eggboxes(
        found.egg_boxes(), found.covers(), machine.name, " · ".join(facts), remarks
    )


def _monoid(machine: Automaton, seconds: float) -> TransformationMonoid:
    budget = Budget(seconds, MOST_ELEMENTS)
    try:
        return TransformationMonoid.enumerate(machine.semiautomaton, budget)
    except BudgetExceeded as error:
        raise BudgetExceeded(
            f"the monoid of {machine.name} is too large for a picture ({error}); raise "
            "--budget if it was the time, else draw a smaller machine",
            error.found,
        ) from error


def _count(number: int, noun: str, plural: str = "s") -> str:
    return f"{number:,} {noun}{'' if number == 1 else plural}"
