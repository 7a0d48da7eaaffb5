"""The monoid of a machine as a picture: small enough to be seen."""

from matplotlib.figure import Figure

from krohn.algebra.automaton import Automaton
from krohn.algebra.budget import Budget, BudgetExceeded, steps_of
from krohn.algebra.green import green
from krohn.algebra.monoid import TransformationMonoid
from krohn.algebra.wording import count
from krohn.drawing.eggbox import draw_eggboxes

MOST_ELEMENTS = 200_000


def draw_monoid(machine: Automaton, effort: str | float = "high") -> Figure:
    """The egg-boxes of the transformation monoid of a machine, in the J-order.

    Args:
        machine: Any machine.
        effort: How much work to do: a key of `krohn.algebra.budget.EFFORTS`, or steps.

    Raises:
        BudgetExceeded: If there are more than 200,000 elements or no step remains; the
            message says what to do.
        DrawingError: If there are too many D-classes.
    """
    monoid = _monoid(machine, steps_of(effort))
    found = green(monoid)
    facts = [
        f"transformation monoid of {count(monoid.size, 'element')}",
        count(len(found.d_sizes), "D-class", "es"),
        f"{count(len(machine.states), 'state')}, "
        f"{count(len(machine.letters), 'letter')}",
    ]
    remarks = []
    if not monoid.identity_is_product:
        remarks.append("The identity is no product of letters; it was adjoined.")
    return draw_eggboxes(
        found.egg_boxes(), found.covers(), machine.name, " · ".join(facts), remarks
    )


def _monoid(machine: Automaton, steps: float) -> TransformationMonoid:
    budget = Budget(steps, MOST_ELEMENTS)
    try:
        return TransformationMonoid.enumerate(machine.semiautomaton, budget)
    except BudgetExceeded as error:
        raise BudgetExceeded(
            f"the monoid of {machine.name} is too large for a picture ({error}); raise "
            "--effort if it was stopped, else draw a smaller machine",
            error.found,
        ) from error
