"""The outputs of a machine, as files state them: acceptance, and outputs after letters."""

from krohn.algebra.automaton import Automaton

ACCEPTANCE = ("reject", "accept")
"""The outputs of an acceptor."""


def acceptance(machine: Automaton) -> list[bool] | None:
    """Which states accept, ``(states,)``; None if the machine is no acceptor."""
    output = machine.output
    if output is None or output.on != "states":
        return None
    shown = [output.names[i] for i in output.table]
    return [s == "accept" for s in shown] if set(shown) <= set(ACCEPTANCE) else None


def shown_after(machine: Automaton) -> list[list[str]]:
    """``(letters, states)``: the output after each letter, read in each state.

    This makes a Mealy machine of every machine: one that shows states shows the
    state which the letter leads to.
    """
    output = machine.output
    if output is None:
        return [[machine.states[q] for q in row] for row in machine.transitions]
    on_states = output.on == "states"
    table = output.table[machine.transitions] if on_states else output.table
    return [[output.names[i] for i in row] for row in table]
