"""From the lines of a file to a machine: names become numbers, gaps are filled."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt

from krohn.algebra.automaton import Automaton, Inputs, IntArray, Output, Semiautomaton
from krohn.algebra.errors import MachineError
from krohn.algebra.formats.files import Complete, check_size, problem, quote

_QUOTED = re.compile(r"'[^']*+'|\"[^\"]*+\"")

# The outputs of a machine, as files state them: acceptance, and outputs after letters.


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


# From the lines of a file to tables: names become numbers, and conflicts are found.


BoolArray = npt.NDArray[np.bool_]


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


# Drafts with missing transitions, completed to automata.


def complete_draft(draft: Draft, how: Complete) -> Automaton:
    """The automaton of a draft, its holes filled as ``how`` says.

    Raises:
        MachineError: If ``how`` is no such choice, or it is ``"reject"`` and
            transitions are missing.
    """
    if how not in get_args(Complete):
        choices = ", ".join(get_args(Complete))
        raise MachineError(f"{quote(str(how))} completes nothing; choose of {choices}")
    missing, remark = draft.transitions < 0, ""
    if missing.any():
        if how == "reject":
            if not (draft.on == "states" and {*draft.names} <= {"accept", "reject"}):
                raise _incomplete(draft, missing)
            how, remark = "sink", _missing_rejections(missing)
        draft = _with_sink(draft) if how == "sink" else _staying(draft, missing)
    output = None
    if draft.on is not None and draft.outputs is not None:
        output = Output(draft.on, draft.outputs, draft.names)
    semiautomaton = Semiautomaton(draft.transitions, draft.letters, draft.states)
    name, inputs = title(draft.name), draft.inputs
    return Automaton(
        semiautomaton, draft.start, output, name, inputs=inputs, remark=remark
    )


def remark_of(name: str, said: Iterable[str]) -> str:
    """One remark of several: the first two that differ only in what they quote."""
    kinds: dict[str, list[str]] = {}
    for each in said:
        kinds.setdefault(_QUOTED.sub("", each), []).append(each)
    words = list[str]()
    for alike in kinds.values():
        words += alike[:2]
        if len(alike) > 2:
            words[-1] += f" (and {len(alike) - 2} more like it)"
    return f"{name}: {'; '.join(words)}" if words else ""


def with_remark(machine: Automaton, remark: str) -> Automaton:
    """The machine with a remark before those that it has; its file is named once."""
    file, colon, _ = remark.partition(": ")
    remarks = filter(None, (remark, machine.remark.removeprefix(f"{file}{colon}")))
    return replace(machine, remark="; ".join(remarks))


def _missing_rejections(missing: BoolArray) -> str:
    return (
        f"{missing.sum()} of {missing.size} transitions are missing: words that need one "
        "are not accepted (--complete sink); --complete stay keeps the state instead"
    )


def title(name: str) -> str:
    """The name of a machine from a file: the file's name without its endings."""
    base = name.replace("\\", "/").rsplit("/", 1)[-1].removesuffix(".gz")
    stem, dot, _ = base.rpartition(".")
    return (stem if dot and stem else base) or "machine"


def _incomplete(draft: Draft, missing: BoolArray) -> MachineError:
    state, letter = np.argwhere(missing.T)[0]
    said = {
        "states": f"; the new state shows `{draft.undefined}`",
        "transitions": f"; either way their output is `{draft.undefined}`",
    }
    outputs = said.get(draft.on or "", "")
    return problem(
        draft.name,
        0,
        f"{missing.sum()} of {missing.size} transitions are missing, the first one "
        f"from state {quote(draft.states[state])} under {quote(draft.letters[letter])}"
        "; choose --complete sink (they lead to a new state that is never left) or "
        f"--complete stay (the state does not change){outputs}",
    )


def _with_sink(draft: Draft) -> Draft:
    sink = len(draft.states)
    column = np.full((len(draft.letters), 1), sink, dtype=np.int64)
    table = np.hstack([draft.transitions, column])
    table[table < 0] = sink
    outputs, names = draft.outputs, draft.names
    if outputs is not None:
        gap = [-1] if outputs.ndim == 1 else np.full_like(column, -1)
        outputs, names = _fill_undefined_outputs(
            np.concatenate([outputs, gap], axis=-1), draft
        )
    states = (*draft.states, fresh("sink", draft.states))
    return replace(
        draft, states=states, transitions=table, outputs=outputs, names=names
    )


def _staying(draft: Draft, missing: BoolArray) -> Draft:
    table = np.where(missing, np.arange(len(draft.states)), draft.transitions)
    outputs, names = draft.outputs, draft.names
    if outputs is not None:
        outputs, names = _fill_undefined_outputs(outputs, draft)
    return replace(draft, transitions=table, outputs=outputs, names=names)


def _fill_undefined_outputs(
    outputs: IntArray, draft: Draft
) -> tuple[IntArray, tuple[str, ...]]:
    if not (outputs < 0).any():
        return outputs, draft.names
    index = index_of_names([*draft.names, draft.undefined])
    return np.where(outputs < 0, index[draft.undefined], outputs), tuple(index)


def fresh(name: str, taken: Iterable[str]) -> str:
    """The name, made longer until nothing else has it."""
    names = set(taken)
    while name in names:
        name += "_"
    return name
