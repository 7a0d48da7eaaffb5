"""The thesis's tasks by name, and a task for any machine."""

import re
from collections.abc import Callable
from dataclasses import replace

from krohn.algebra import zoo
from krohn.algebra.automaton import Automaton, Semiautomaton
from krohn.algebra.minimisation import Shows
from krohn.algebra.observation import observe
from krohn.algebra.zoo.samplers import acceptor, tracker
from krohn.compare.tasks.languages import MIXTURE, DyckPrefixes, FlipFlop
from krohn.compare.tasks.letters import Abab, Default
from krohn.compare.tasks.task import Inputs, Task

THESIS = (
    *("Dyck4,2", "Grid4", "Grid9", *(f"C{n}" for n in range(2, 9))),
    *("C2xC2", "C2xC2xC2", "D6", "D8", "Q8", "A4", "A5", "S4", "S5"),
)
"""The 19 machines of Figure 3.15, in its order."""

READS = ("r",)
GENERATORS = 5
"""How many letters S5 has under indirect supervision (section 3.4.5.2.1)."""


def _observation_task(
    name: str, observation: str, inputs: Inputs | None = None
) -> Task:
    machine = observe(zoo.machine(name), observation)
    return Task(machine.name, machine, inputs or Default(), "outputs")


def _first_element() -> Task:
    machine = zoo.machine("S5")
    letters, table = machine.letters[:GENERATORS], machine.transitions[:GENERATORS]
    few = replace(
        machine,
        semiautomaton=Semiautomaton(table, letters, machine.states),
        action=machine.action and machine.action[:GENERATORS],
    )
    return Task("S5 (first-chair)", observe(few, "first-chair"), Default(), "outputs")


def _abab(always: bool, number: int) -> Task:
    found = _observation_task("abab", "accept", Abab(always))
    return replace(found, name=f"abab (accept, {number})")


def _clean(name: str, inputs: Inputs) -> Task:
    return Task(name, tracker(2), inputs, asked=READS)


def _generative(name: str, inputs: Inputs) -> Task:
    return Task(name, acceptor(2), inputs, asked=READS, predicts="next")


def _next_bracket() -> Task:
    stacks = zoo.machine("Dyck4,2")
    closers = tuple(stacks.letters[1::2])
    inputs = DyckPrefixes()
    return Task("brackets", stacks, inputs, predicts="next", before=closers)


INDIRECT: dict[str, Callable[[], Task]] = {
    "Dyck4,8 (stack-top)": lambda: _observation_task("Dyck4,8", "stack-top"),
    "Grid9 (boundary)": lambda: _observation_task("Grid9", "boundary"),
    "S5 (first-chair)": _first_element,
    "C4 (zero)": lambda: _observation_task("C4", "zero"),
    "D8 (location)": lambda: _observation_task("D8", "location"),
    "abab (accept, 1)": lambda: _abab(True, 1),
    "abab (accept, 2)": lambda: _abab(False, 2),
}
"""The tasks with observations of Figure 3.18."""

LANGUAGES: dict[str, Callable[[], Task]] = {
    "flip-flop": lambda: _clean("flip-flop", FlipFlop()),
    "flip-flop, mixed": lambda: _clean("flip-flop, mixed", FlipFlop(MIXTURE)),
    "flip-flop, generative": lambda: _generative("flip-flop, generative", FlipFlop()),
    "brackets": _next_bracket,
}
"""The flip-flop language (section 3.5) and brackets to close (section 3.6.3)."""


def names() -> tuple[str, ...]:
    """The names of the thesis's tasks."""
    return (*THESIS, *INDIRECT, *LANGUAGES)


def task(
    source: str | Automaton,
    inputs: Inputs | None = None,
    shows: Shows = "states",
    reveal: float = 1.0,
) -> Task:
    """A task by name, or one for a machine.

    Args:
        source: One of `names`, a machine of the zoo, ``NAME (OBSERVATION)``, which asks
            for outputs, or a machine.
        inputs: The words; None for the named task's words, else the machine's own.
        shows: Whether a machine's states or its outputs are asked for.
        reveal: The probability with which a label enters the loss.

    Raises:
        KrohnError: If nothing has this name, or the machine has no such outputs.
    """
    found = _task_named(source) if isinstance(source, str) else None
    if found is None:
        machine = zoo.machine(source) if isinstance(source, str) else source
        found = Task(machine.name, machine, Default(), shows)
    return replace(found, inputs=inputs or found.inputs, reveal=reveal)


def _task_named(name: str) -> Task | None:
    known = {**INDIRECT, **LANGUAGES}.get(name)
    if known is not None:
        return known()
    match = re.fullmatch(r"(\S+) \(([\w-]+)\)", name)
    return _observation_task(match[1], match[2]) if match else None
