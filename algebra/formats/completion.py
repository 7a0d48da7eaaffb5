"""Drafts with missing transitions, completed to automata."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from krohn.algebra.automaton import Automaton, Output
from krohn.algebra.errors import MachineError
from krohn.algebra.formats.assembly import Draft, index_of_names
from krohn.algebra.formats.file_errors import problem, quote
from krohn.algebra.semiautomaton import IntArray, Semiautomaton

BoolArray = npt.NDArray[np.bool_]

Complete = Literal["reject", "sink", "stay"]
"""The treatment of missing transitions.

``"reject"`` refuses the machine; ``"sink"`` leads them to a new state that is never
left; ``"stay"`` leaves the state as it is.
"""


def complete_draft(draft: Draft, how: Complete) -> Automaton:
    """The automaton of a draft, its holes filled as ``how`` says.

    Raises:
        MachineError: If ``how`` is no such choice, or it is ``"reject"`` and
            transitions are missing.
    """
    if how not in get_args(Complete):
        choices = ", ".join(get_args(Complete))
        raise MachineError(f"{quote(str(how))} completes nothing; choose of {choices}")
    missing = draft.transitions < 0
    if missing.any():
        if how == "reject":
            raise _incomplete(draft, missing)
        draft = _with_sink(draft) if how == "sink" else _staying(draft, missing)
    output = None
    if draft.on is not None and draft.outputs is not None:
        output = Output(draft.on, draft.outputs, draft.names)
    semiautomaton = Semiautomaton(draft.transitions, draft.letters, draft.states)
    return Automaton(
        semiautomaton, draft.start, output, title(draft.name), inputs=draft.inputs
    )


def title(name: str) -> str:
    """The name of a machine from a file: the file's name without its endings."""
    base = name.replace("\\", "/").rsplit("/", 1)[-1].removesuffix(".gz")
    stem, dot, _ = base.rpartition(".")
    return (stem if dot and stem else base) or "machine"


def _incomplete(draft: Draft, missing: BoolArray) -> MachineError:
    state, letter = np.argwhere(missing.T)[0]
    return problem(
        draft.name,
        0,
        f"{missing.sum()} of {missing.size} transitions are missing, the first one "
        f"from state {quote(draft.states[state])} under {quote(draft.letters[letter])}"
        "; choose --complete sink (they lead to a new state that is never left) or "
        "--complete stay (the state does not change)",
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
    states = (*draft.states, _fresh("sink", draft.states))
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


def _fresh(name: str, taken: Iterable[str]) -> str:
    names = set(taken)
    while name in names:
        name += "_"
    return name
