"""State space models of machines: compiled, and what is known of them."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from krohn.algebra.automaton import Automaton, Semiautomaton
from krohn.algebra.budget import Budget
from krohn.algebra.classification import Classification, classify
from krohn.algebra.minimisation import reachable
from krohn.architectures.state_space.build import (
    FORMS,
    ROUNDING,
    SELECTIVE,
    Parts,
    compile_ssm,
)
from krohn.compile_options import CompileOptions, check_one_of
from krohn.compiler import CompileError
from krohn.compiler.compiled_network import CompiledNetwork, machine_of_states
from krohn.network.precision import PRECISIONS


def forms(machine: Automaton, budget: Budget) -> dict[str, Any]:
    """The facts of a machine and a row for each form and format.

    Args:
        machine: What is to be held.
        budget: Of the search for groups; it notes what was left out.

    Returns:
        ``every_length_by_fixed_decays`` and ``every_length_by_chosen_decays``: whether
        any network with real decays holds it, Krohn's or not; None where that is not
        decided. ``networks``: what Krohn compiles.
    """
    wanted = machine_of_states(machine)
    rows = {form: list(_rows(wanted, form)) for form in FORMS}
    fixed, chosen = (rows[f][0]["right_for"] == EVERY for f in (ROUNDING, SELECTIVE))
    return {
        "name": machine.name,
        "states": len(wanted.states),
        "letters": len(wanted.letters),
        "every_length_by_fixed_decays": fixed
        or _check_need(_is_even_aperiodic, wanted, budget),
        "every_length_by_chosen_decays": chosen or _check_need(_two, wanted, budget),
        "networks": [row for form in FORMS for row in rows[form]],
        **budget.record(),
    }


def _check_need(
    needed: Callable[[Automaton, Budget], bool | None],
    machine: Automaton,
    budget: Budget,
) -> bool | None:
    """False if something that is needed does not hold; None if it is not known to fail."""
    return False if needed(reachable(machine), budget) is False else None


def _is_even_aperiodic(machine: Automaton, budget: Budget) -> bool | None:
    """Whether words of even length generate no group (Theorem D1)."""
    table = machine.transitions
    pairs = table[:, table].reshape(-1, table.shape[1])
    distinct = np.unique(pairs, axis=0)
    letters = tuple(map(str, range(len(distinct))))
    pair_machine = Automaton(Semiautomaton(distinct, letters, machine.states))
    return _classify_machine(pair_machine, budget)["aperiodic"].holds


def _two(machine: Automaton, budget: Budget) -> bool | None:
    """Whether all groups are 2-groups (Theorem D5)."""
    factors = _classify_machine(machine, budget).factors
    return None if factors is None else {*factors} <= {"C2"}


def _classify_machine(machine: Automaton, budget: Budget) -> Classification:
    kind = classify(machine, budget)
    for what in kind.cut:
        budget.leave_out(what)
    return kind


def _rows(machine: Automaton, form: str) -> Iterator[dict[str, Any]]:
    try:
        parts = Parts.of(machine, form)
    except CompileError as reason:
        yield {"form": form, "dtype": None, "layers": None, "right_for": str(reason)}
        return
    lengths = {p.name: parts.longest(form, p) for p in PRECISIONS.values()}
    layers = max(1, len(parts.parts))
    for dtype, most in lengths.items():
        longest = EVERY if most is None else f"up to {most:,} letters"
        yield {"form": form, "dtype": dtype, "layers": layers, "right_for": longest}


def networks(machine: Automaton, asked: CompileOptions) -> list[CompiledNetwork]:
    """The network of a machine.

    Raises:
        CompileError: If there is no such form of them.
    """
    form = ROUNDING if asked.construction == "auto" else asked.construction
    check_one_of("--construction", form, FORMS)
    if asked.length is not None:
        asked.longest("a state space model needs the longest length")
    return [compile_ssm(machine, asked.length, form, asked.options.precision)]


EVERY = "every length"
