"""The thesis's tasks by name, its languages among them, and a task for any machine."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from krohn.algebra import zoo
from krohn.algebra.automaton import Automaton, IntArray, Semiautomaton
from krohn.algebra.brackets import distribution
from krohn.algebra.errors import KrohnError
from krohn.algebra.minimisation import Shows
from krohn.algebra.observation import observe
from krohn.algebra.zoo.samplers import (
    VALUES,
    Instructions,
    acceptor,
    flip_flop,
    letters,
    tracker,
)
from krohn.instruments.compare.tasks.letters import (
    Abab,
    Default,
    draw_letters,
)
from krohn.instruments.compare.tasks.task import (
    Inputs,
    Task,
)

# Words of languages: nested brackets, the flip-flop, and words nearly accepted.

# Prefixes of words of nested brackets, by the law of the thesis's section 3.6.1.


@dataclass(frozen=True)
class DyckPrefixes:
    """D_{q,k,D,N}: between the bounds of the depth a bracket opens with probability q.

    Attributes:
        opening: q.
        closed: Whether prefixes end with a closing bracket: a prefix that does not is
            drawn again (section 3.6.3 measures on such prefixes).

    Raises:
        KrohnError: If q is not strictly between 0 and 1.
    """

    opening: float = 0.5
    closed: bool = True

    def __post_init__(self) -> None:
        if not 0 < self.opening < 1:
            raise KrohnError(
                f"brackets open with a probability between 0 and 1, not {self.opening}"
            )

    def draw(
        self, machine: Automaton, rng: np.random.Generator, count: int, length: int
    ) -> IntArray:
        """Letter indices ``(count, length)``.

        Raises:
            KrohnError: If the machine is no empty stack of brackets, or the prefixes are
                to end with a closing bracket and have no two letters.
        """
        weights, closes = _laws(machine, Fraction(self.opening))
        words = draw_letters(machine, weights, rng, (count, length))
        if not self.closed or not count:
            return words
        if length < 2:
            raise KrohnError("prefixes that end with a closing bracket have 2 letters")
        open_ended = np.flatnonzero(~closes[words[:, -1]])
        while len(open_ended):
            words[open_ended] = draw_letters(
                machine, weights, rng, (len(open_ended), length)
            )
            open_ended = open_ended[~closes[words[open_ended, -1]]]
        return words

    @property
    def description(self) -> str:
        """A description in a few words."""
        ending = " that end closed" if self.closed else ""
        return f"bracket prefixes{ending}, q = {self.opening:g}"


@lru_cache(maxsize=16)
def _laws(
    machine: Automaton, opening: Fraction
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """``(states, letters)``: the law of the next letter; ``(letters,)``: which close."""
    law = distribution(machine, opening)
    brackets = law.brackets
    rows = [[1] * law.letters if s is None else law.law(s) for s in brackets.stacks]
    closes = np.array([kind is not None for kind in brackets.closes])
    return np.array(rows, dtype=np.float64), closes


# Words of the flip-flop language, of one distribution or of several.


DENSE, TRAINED, SPARSE = 0.1, 0.8, 0.98
"""The thesis trains on FFL(0.8) and tests there and on the others (section 3.5.2)."""

MIXTURE = (0.9, 0.98, 0.1)
"""The probabilities of ignoring in training that removes glitches (section 3.5.3)."""


@dataclass(frozen=True)
class FlipFlop:
    """FFL(p), where p is the probability of ``i``; ``w`` and ``r`` share the rest.

    Attributes:
        ignore: p; of several of them each word has one, all equally likely.

    Raises:
        KrohnError: If there is none, or one that is no probability.
    """

    ignore: tuple[float, ...] = (TRAINED,)

    def __post_init__(self) -> None:
        if not self.ignore or not all(0 <= p <= 1 for p in self.ignore):
            raise KrohnError(
                f"a flip-flop ignores with probabilities in [0, 1], not {self.ignore}"
            )

    def draw(
        self, machine: Automaton, rng: np.random.Generator, count: int, length: int
    ) -> IntArray:
        """Letter indices ``(count, length)``.

        Raises:
            KrohnError: If the letters are not the flip-flop language's.
        """
        if machine.letters != letters(max(0, len(machine.letters) - VALUES)):
            raise KrohnError(
                f"{machine.name} does not read words of the flip-flop language; take "
                "FFLTracker2 or FFL2"
            )
        which = rng.integers(len(self.ignore), size=count)
        words = np.empty((count, length), dtype=np.int64)
        for i, p in enumerate(self.ignore):
            sample = flip_flop(machine, Instructions.ignoring(p))
            words[which == i] = sample(rng, int((which == i).sum()), length)
        return words

    @property
    def description(self) -> str:
        """A description in a few words."""
        return f"FFL({', '.join(f'{p:g}' for p in self.ignore)})"


# Words of an acceptor of which many are nearly accepted, however few those are.


YES = ("1", "accept")
"""The outputs of acceptors where they accept."""
NEVER = 2**40
"""More letters than any word has."""


@dataclass(frozen=True)
class Surviving:
    """Letters after which the word can still be accepted, for a while; then any letters.

    In half of the words letters are alike; each other word has its own bias, uniform
    among all (Dirichlet). Half of the words can still be accepted within the length at
    every position; the others leave that at a uniform position, with uniform letters.
    """

    def draw(
        self, machine: Automaton, rng: np.random.Generator, count: int, length: int
    ) -> IntArray:
        """Letter indices ``(count, length)``.

        Raises:
            KrohnError: If the machine is no acceptor.
        """
        left = _letters_to_acceptance(machine)
        letters = len(machine.letters)
        bias = rng.dirichlet(np.ones(letters), size=count)
        bias[rng.random(count) < 0.5] = 1 / letters
        until = rng.integers(2 * length, size=count)
        words = np.empty((count, length), dtype=np.int64)
        state = np.full(count, machine.start)
        for t in range(length):
            after = machine.transitions[:, state].T
            weights = bias * (left[after] <= length - t - 1)
            free = (t >= until) | ~weights.any(axis=1)
            weights[free] = 1
            bounds = weights.cumsum(axis=1)
            drawn = rng.random((count, 1)) * bounds[:, -1:]
            words[:, t] = (drawn >= bounds[:, :-1]).sum(axis=1)
            state = machine.transitions[words[:, t], state]
        return words

    @property
    def description(self) -> str:
        """A description in a few words."""
        return "letters after which the word can still be accepted, then any"


@lru_cache(maxsize=8)
def _letters_to_acceptance(machine: Automaton) -> IntArray:
    """``(states,)``: how many letters lead to acceptance; `NEVER` if none do."""
    output = machine.output
    names = () if output is None or output.on != "states" else output.names
    yes = [name for name in names if name in YES]
    if output is None or len(yes) != 1:
        raise KrohnError(f"{machine.name} accepts no words")
    distances = np.where(output.table == names.index(yes[0]), 0, NEVER)
    while True:
        after = distances[machine.transitions].min(axis=0)
        new = np.minimum(distances, np.minimum(after + 1, NEVER))
        if np.array_equal(new, distances):
            return distances
        distances = new


# The thesis's tasks by name, and a task for any machine.

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
    observation_task = _observation_task("abab", "accept", Abab(always))
    return replace(observation_task, name=f"abab (accept, {number})")


def _clean(name: str, inputs: Inputs) -> Task:
    return Task(name, tracker(2), inputs, asked=READS)


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
    "flip-flop, generative": lambda: Task(
        "flip-flop, generative", acceptor(2), FlipFlop(), asked=READS, predicts="next"
    ),
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
    base_task = _task_named(source) if isinstance(source, str) else None
    if base_task is None:
        machine = zoo.machine(source) if isinstance(source, str) else source
        base_task = Task(machine.name, machine, Default(), shows)
    return replace(base_task, inputs=inputs or base_task.inputs, reveal=reveal)


def _task_named(name: str) -> Task | None:
    known = {**INDIRECT, **LANGUAGES}.get(name)
    if known is not None:
        return known()
    match = re.fullmatch(r"(\S+) \(([\w-]+)\)", name)
    return _observation_task(match[1], match[2]) if match else None
