"""From the lines of a file to tables: names become numbers, and conflicts are found."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from krohn.algebra.formats.file_errors import check_size, problem, quote
from krohn.algebra.formats.outputs import ACCEPTANCE
from krohn.algebra.input_decision_diagram import Inputs
from krohn.algebra.semiautomaton import IntArray

BoolArray = npt.NDArray[np.bool_]


Kind = Literal["acceptor", "mealy"]
"""The kind as which a file is read that could mean either."""


UNDEFINED = "undefined"
"""The output of a transition or a sink about which the file says nothing."""


class Transition(NamedTuple):
    """One transition as a file gives it.

    Attributes:
        source: The name of the state before the letter.
        letter: The name of the letter.
        target: The name of the state after the letter.
        output: What a Mealy machine shows, None for other machines.
        line: Where the file says so; 0 if that is unknown.
    """

    source: str
    letter: str
    target: str
    output: str | None = None
    line: int = 0


@dataclass(frozen=True)
class Draft:
    """A machine with holes, as a file describes it.

    Attributes:
        name: What to call the file in messages.
        letters: The names of the letters.
        states: The names of the states.
        start: Index of the start state.
        transitions: ``(letters, states)`` state indices; -1 where none is given.
        on: Where the outputs lie; None without outputs.
        outputs: Indices into ``names``, ``(states,)`` or ``(letters, states)``; -1
            where a transition is missing.
        names: The output alphabet.
        undefined: What to show where the file says nothing.
        inputs: Which letter each vector of input bits is; None if letters are no such
            classes.
    """

    name: str
    letters: tuple[str, ...]
    states: tuple[str, ...]
    start: int
    transitions: IntArray
    on: Literal["states", "transitions"] | None = None
    outputs: IntArray | None = None
    names: tuple[str, ...] = ()
    undefined: str = UNDEFINED
    inputs: Inputs | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of letters and of states."""
        return len(self.letters), len(self.states)


def assemble(
    transitions: Sequence[Transition],
    start: str,
    name: str,
    *,
    states: Iterable[str] = (),
    letters: Iterable[str] = (),
    shown: Mapping[str, str] | None = None,
) -> Draft:
    """The tables of a machine that is given transition by transition.

    Letters, states and outputs are numbered in the order in which they are first
    named: first ``states``, then every source, then every target.

    Args:
        transitions: At least one; either all of them have outputs or none has.
        start: The name of the start state.
        name: What to call the file in messages.
        states: States to number first.
        letters: Letters to number first.
        shown: What each state shows; None unless the outputs lie on states.

    Raises:
        MachineError: If there are no transitions, two of them contradict each other,
            or the table would be too large.
    """
    if not transitions:
        raise problem(name, 0, "no transitions; a machine needs at least one letter")
    _check_deterministic(transitions, name)
    sources = [t.source for t in transitions]
    targets = [t.target for t in transitions]
    q = index_of_names([*states, *sources, *targets, start])
    a = index_of_names([*letters, *(t.letter for t in transitions)])
    check_size(len(a), len(q), name)
    cells = (np.array([a[t.letter] for t in transitions]), _look(q, sources))
    table = _table_of_cells((len(a), len(q)), cells, _look(q, targets))
    draft = Draft(name, tuple(a), tuple(q), q[start], table)
    if shown is not None:
        return with_state_outputs(draft, [shown[state] for state in q])
    if transitions[0].output is None:
        return draft
    return _with_transition_outputs(draft, cells, [t.output or "" for t in transitions])


def with_state_outputs(draft: Draft, shown: Sequence[str]) -> Draft:
    """The machine with ``shown[q]`` as the output of the state ``q``."""
    names = ACCEPTANCE if set(shown) <= set(ACCEPTANCE) else tuple(shown)
    index = index_of_names(names)
    return replace(
        draft,
        on="states",
        outputs=_look(index, shown),
        names=tuple(index),
        undefined="reject" if names == ACCEPTANCE else draft.undefined,
    )


def _check_deterministic(transitions: Iterable[Transition], name: str) -> None:
    seen: dict[tuple[str, str], Transition] = {}
    for t in transitions:
        first = seen.setdefault((t.source, t.letter), t)
        if first is not t and (first.target, first.output) != (t.target, t.output):
            raise problem(
                name,
                t.line,
                f"nondeterministic: in state {quote(t.source)} the letter "
                f"{quote(t.letter)} leads {_arrow(first)} and {_arrow(t)}; "
                "keep one of the two",
            )


def _arrow(t: Transition) -> str:
    output = "" if t.output is None else f" with output {quote(t.output)}"
    line = f" (line {t.line})" if t.line else ""
    return f"to {quote(t.target)}{output}{line}"


def index_of_names(names: Iterable[str]) -> dict[str, int]:
    """A number for each different name, in the order of their first places."""
    return {name: i for i, name in enumerate(dict.fromkeys(names))}


def _look(index: Mapping[str, int], names: Sequence[str]) -> IntArray:
    return np.array([index[name] for name in names], dtype=np.int64)


def _table_of_cells(
    shape: tuple[int, int], cells: tuple[IntArray, IntArray], values: IntArray
) -> IntArray:
    table = np.full(shape, -1, dtype=np.int64)
    table[cells] = values
    return table


def _with_transition_outputs(
    draft: Draft, cells: tuple[IntArray, IntArray], outputs: Sequence[str]
) -> Draft:
    index = index_of_names(outputs)
    return replace(
        draft,
        on="transitions",
        outputs=_table_of_cells(draft.shape, cells, _look(index, outputs)),
        names=tuple(index),
    )
