"""Counting programs by name, from files, and of languages in C-RASP."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np

from krohn.algebra.automaton import Automaton
from krohn.algebra.budget import Budget, steps_of
from krohn.algebra.classification.digraph import components
from krohn.algebra.classification.languages.c_rasp import (
    Distinguished,
    Round,
    told_apart,
)
from krohn.algebra.classification.languages.language import Language, language_of
from krohn.algebra.errors import KrohnError
from krohn.kinds.counting import source as counting
from krohn.kinds.counting.source import (
    Builder,
    CountingProgram,
)
from krohn.kinds.sequence_functions.source import SequenceFunction
from krohn.program.errors import told_as
from krohn.program.user_input import read_text
from krohn.program.writing import atomic_write

# The counting program of a language in C-RASP (docs/proofs/classes.md, Theorem 7).


def counting_witness(machine: Automaton, budget: Budget) -> CountingProgram:
    """The program that the proof of Theorem 7 builds: it accepts what the machine does.

    The minimal machine passes its strongly connected components in order. The program
    knows when, and in which state, a component was entered, and from then on the state by
    sums of counts.

    Raises:
        KrohnError: If the machine accepts no words, or its language is not in C-RASP.
        Refused: If the program would have too many formulas.
        BudgetExceeded: If it takes too long to find the sums.
    """
    language = language_of(machine)
    if language.accepting is None:
        raise KrohnError(
            f"{machine.name} does not state which words it accepts; "
            "use a regular expression, or a machine file with accepting states"
        )
    builder = Builder(machine.letters)
    return _Witness(language, builder, budget).program(machine.name)


@dataclass
class _Component:
    """A strongly connected component, and what the program knows of it.

    Attributes:
        states: The states of the component.
        told: How counts tell its states apart.
        inside: For each state in which it may be entered: that this has happened, before
            this position.
    """

    states: list[int]
    told: Distinguished
    inside: dict[int, int]


@dataclass
class _Witness:
    """A program in the making.

    Attributes:
        language: What it must accept.
        builder: Its formulas.
        budget: What finding the sums may take.
        entered: For each state in which a component may be entered: the formulas, at most
            one of which holds, at the letter that leads there.
        accepted: Formulas of which one holds where a word is accepted.
    """

    language: Language
    builder: Builder
    budget: Budget
    entered: dict[int, list[int]] = field(default_factory=dict)
    accepted: list[int] = field(default_factory=list)

    def program(self, name: str) -> CountingProgram:
        """The program: one component after the other."""
        for states in self._order():
            self._pass(self._component(states))
        return self.builder.program(name, self.builder.some(*self.accepted))

    @cached_property
    def _letters(self) -> list[int]:
        """For each letter of the language: that it, or one that acts alike, is here."""
        place = self.builder.letters.index
        return [self.builder.some(*map(place, names)) for names in self.language.alike]

    def _order(self) -> Iterator[list[int]]:
        """The components, each after those from which it is reached."""
        label = components(self.language.machine)
        moves = self.language.machine.transitions
        above = np.zeros((label.max() + 1,) * 2, bool)
        for row in moves:
            above[label[row], label] = True
        np.fill_diagonal(above, False)
        left = np.ones(len(above), bool)
        while left.any():
            first = int(np.flatnonzero(left & ~(above & left).any(axis=1))[0])
            left[first] = False
            yield np.flatnonzero(label == first).tolist()

    def _component(self, states: list[int]) -> _Component:
        """A component: how it is entered, and its sums."""
        build, inside = self.builder, dict[int, int]()
        for state in states:
            if state == self.language.start:
                inside[state] = build.every()
            elif state in self.entered:
                now = build.some(*self.entered[state])
                inside[state] = build.every(
                    build.sum_between({now: 1}, 1, None), build.no(now)
                )
        alone = Distinguished(np.zeros(1, np.int64), ())
        several = len(states) > 1
        partition = (
            told_apart(self.language.machine, np.array(states), self.budget)
            if several
            else alone
        )
        if partition.block.max() + 1 < len(states):
            names = self.language.machine.states
            blocks = partition.block.tolist()
            same = max(blocks, key=blocks.count)
            alike = [names[q] for q, b in zip(states, blocks, strict=True) if b == same]
            raise KrohnError(
                "the language is not in C-RASP: counts of letters do not tell the states "
                f"{alike[0]} and {alike[1]} of its minimal machine apart, nor do counts of "
                "counts (Theorem 7 of docs/proofs/classes.md)"
            )
        return _Component(states, partition, inside)

    def _pass(self, component: _Component) -> None:
        """Add the gates of a component: its acceptance, and the ways to leave it."""
        build, moves = self.builder, self.language.machine.transitions
        before, accepting = self._states(component), self.language.accepting
        assert accepting is not None
        leaves, stays = list[tuple[int, int]](), list[int]()
        for place, state in enumerate(component.states):
            for letter, target in enumerate(moves[:, state].tolist()):
                here = build.every(before[place], self._letters[letter])
                if target not in component.states:
                    leaves.append((here, target))
                elif accepting[target]:
                    stays.append(here)
        out = build.some(*(here for here, _ in leaves))
        first = build.every(out, build.sum_between({out: 1}, 1, 1))
        gone = build.every(build.sum_between({first: 1}, 1, None), build.no(first))
        self.accepted.append(build.every(build.some(*stays), build.no(gone)))
        for here, target in leaves:
            arrived = build.every(here, first)
            self.entered.setdefault(target, []).append(arrived)
            if accepting[target]:
                self.accepted.append(arrived)

    def _states(self, component: _Component) -> list[int]:
        """For each state of a component: that the run is in it before this letter."""
        before = [self.builder.some(*component.inside.values())]
        block = np.zeros(len(component.states), np.int64)
        for refinement in component.told.rounds:
            before = self._refine_blocks(component, refinement, before, block.tolist())
            block = refinement.block
        return [before[b] for b in block.tolist()]

    def _refine_blocks(
        self, component: _Component, found: Round, before: list[int], block: list[int]
    ) -> list[int]:
        """For each block of a round: that the state before this letter is in it.

        Args:
            component: The component.
            found: The round.
            before: The same for the blocks of the round before.
            block: The block of each state in the round before.
        """
        build, letters = self.builder, self._letters
        labels = {(a, b): i for i, (a, b) in enumerate(found.labels.tolist())}
        at = [build.every(letters[a], before[b]) for a, b in labels]
        sums = [dict(zip(at, weights, strict=True)) for weights in found.weights]
        refined = []
        for state in np.unique(found.block, return_index=True)[1].tolist():
            old, cases = block[state], list[int]()
            for letter, here in enumerate(letters):
                own = labels.get((letter, old))
                for entry, inside in component.inside.items():
                    start = found.sums[component.states.index(entry)]
                    exact = [
                        build.sum_between(s, total, total)
                        for s, total in zip(
                            sums,
                            self._totals(found, state, start, own),
                            strict=True,
                        )
                    ]
                    cases.append(build.every(here, before[old], inside, *exact))
            refined.append(build.some(*cases))
        return refined

    def _totals(
        self, found: Round, state: int, start: list[int], own: int | None
    ) -> list[int]:
        """The sums with this letter, if the state before it is this one."""
        added = [0 if own is None else weights[own] for weights in found.weights]
        ends = zip(found.sums[state], start, added, strict=True)
        return [end - begin + more for end, begin, more in ends]


# Counting programs by name or from files.


PREFIX = "crasp:"
MOST_BYTES = 1_000_000


def counting_program(text: str) -> CountingProgram | None:
    """The counting program of a name, ``crasp:Dyck1``, or of a file; None of others.

    Raises:
        KrohnError: If there is none of that name, or the file cannot be read or is wrong.
    """
    if text.startswith(PREFIX):
        return counting.find_by_name(text.removeprefix(PREFIX))
    path = Path(text)
    if path.suffix != counting.SUFFIX:
        return None
    return counting.parse(read_text(path, MOST_BYTES), path.name)


def function_named(text: str) -> SequenceFunction | None:
    """The sequence function of a counting program by name, or of a file; or None.

    Raises:
        KrohnError: As `counting_program`.
    """
    program = counting_program(text)
    return None if program is None else counting.function(program)


def written(text: str) -> str:
    """The text of the counting program of a name, or of a file, and what it answers."""
    program = counting_program(text)
    if program is None:
        return ""
    return (
        f"{counting.write_program(program).rstrip()}\n"
        "(1 where the last formula holds for the letters so far, else 0)"
    )


def function_of(source: object) -> SequenceFunction | None:
    """The sequence function of a counting program; None of other objects."""
    return counting.function(source) if isinstance(source, CountingProgram) else None


def derive_program(
    machine: Automaton, effort: str | float = "normal"
) -> CountingProgram:
    """The counting program of the language of a machine (`counting_witness`).

    Raises:
        KrohnError: If the language is not in C-RASP, or that takes too long to find out.
    """
    with told_as(about=f"{machine.name}: "):
        return counting_witness(machine, Budget(steps_of(effort)))


CHECKED = 2_000_000_000
"""How many formulas and sums are evaluated to check a derived program, at most."""


def affordable_pairs(program: CountingProgram) -> int:
    """How many pairs of memories the check of a derived program may look at.

    A step from each evaluates everything in the program, for each letter.
    """
    return CHECKED // (len(program.letters) * (len(program.formulas) + 1))


def save(text: str, path: str) -> None:
    """Write the text of a program, whole or not at all.

    Raises:
        KrohnError: If the file system refuses, or the suffix is not ``.crasp``.
    """
    if Path(path).suffix != counting.SUFFIX:
        raise KrohnError(f"{path} must end with {counting.SUFFIX}")
    atomic_write(path, text)
