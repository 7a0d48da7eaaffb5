"""State charts that are flat: what SCXML and XState mean alike.

An event that no transition of the current state takes is ignored there. Guards, nested and
parallel states, history and events that a chart sends itself are refused by name: a network
sees letters only.
"""

from collections.abc import Iterable, Sequence

from krohn.algebra.automaton import Automaton
from krohn.algebra.errors import MachineError
from krohn.algebra.formats.assembly import (
    Transition,
    assemble,
    complete_draft,
    with_remark,
)
from krohn.algebra.formats.files import Complete, problem, quote
from krohn.program.quoting import listed

NESTED = "a state has states of its own"
ADVICE = {
    "guard": "make two events of it, one for each outcome",
    "nested": "give each innermost state transitions of its own, side by side",
    "parallel": "write a state for each pair of states that are active together",
    "history": "write a state for each that is remembered",
    "eventless": "let the events lead to where it leads",
    "sends": "let the transition lead to where that event leads",
    "delayed": "make an event of it",
    "invoke": "make events of what it answers",
}
"""What to write instead, by what cannot be read."""


def refuse(name: str, line: int, what: str, reason: str) -> MachineError:
    """The error for a part of a chart that no machine has, with what to write instead."""
    return problem(name, line, f"{what}; {ADVICE[reason]}")


def machine_of_chart(
    transitions: Sequence[Transition],
    start: str,
    name: str,
    complete: Complete,
    *,
    states: Iterable[str],
    omitted: Iterable[str] = (),
) -> Automaton:
    """The machine of a flat chart, which shows its states.

    Args:
        transitions: Of each state and event the one that is taken.
        start: The start state.
        name: What to call the file in messages.
        complete: The treatment of events that no transition takes; ``"reject"`` leaves
            the state, as charts do, and the machine's remark says so.
        states: All states, in their order.
        omitted: Names of actions and data that were left out, for the remark.

    Raises:
        MachineError: If there are no transitions.
    """
    draft = assemble(transitions, start, name, states=states)
    ignored = int((draft.transitions < 0).sum())
    machine = complete_draft(draft, "stay" if complete == "reject" else complete)
    remarks = []
    if ignored and complete == "reject":
        remarks.append(
            f"in {ignored} of {draft.transitions.size} cases a state has no transition for "
            "an event and stays, as in every state chart; --complete sink leads to a new "
            "state instead"
        )
    if names := [*dict.fromkeys(omitted)]:
        shown = listed(map(quote, names), 5)
        remarks.append(f"left out, for it changes no state: {shown}")
    return with_remark(machine, f"{name}: {'; '.join(remarks)}" if remarks else "")
