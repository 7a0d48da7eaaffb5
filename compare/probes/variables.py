"""All variables of a task: which intermediate results could a network hold?"""

from dataclasses import dataclass, replace

import numpy as np

from krohn.algebra.automaton import Automaton
from krohn.algebra.semiautomaton import IntArray
from krohn.compare.probes.channels import channels, programs
from krohn.compare.probes.standard import standard
from krohn.compare.probes.variable import Variable, depends_only_on, merge_equal
from krohn.compare.tasks.task import Task

MOST_VARIABLES = 80
"""Probes of so many variables on five layers take about a minute on one core."""


REFERENCES = frozenset({"letter", "position"})
"""The variables of an embedding."""


@dataclass(frozen=True, eq=False)
class Variables:
    """The variables to look for in a network, on given words.

    Attributes:
        words: ``(count, length)`` letter indices.
        found: The variables: the answer, then standard ones, then channels; the letter
            and the position last, where they vary.
        answer: The answer, looked for or not; None if it is no state, or the
            letter or the position alone decides it.
        of_letter: Names of channels that are functions of the letter alone, which every
            network reads from its embedding: they are not probed.
        left_out: The variables that are not looked for, and why, in words.
    """

    words: IntArray
    found: tuple[Variable, ...]
    answer: Variable | None
    of_letter: tuple[str, ...]
    left_out: tuple[str, ...]

    def named(self, name: str) -> Variable:
        """The variable of a name.

        Raises:
            KeyError: If there is none.
        """
        for v in self.found:
            if name in v.names:
                return v
        raise KeyError(name)


def answering_machine(task: Task) -> Automaton:
    """The machine whose Programs answer the task: without outputs if states are asked."""
    if task.shows == "states":
        return replace(task.machine, output=None)
    return task.machine


def variables(task: Task, words: IntArray) -> Variables:
    """Every variable of a task on words ``(count, length)``.

    Channels of all Programs that serve the machine, and standard variables; each once,
    under all its names. Constants and functions of the letter or of the position alone
    are left out, but for the letter and the position themselves, to refer to.
    """
    found, large = programs(answering_machine(task), words.shape[1])
    each = merge_equal([*standard(task, words), *channels(found, words)])
    # Of one letter, or in words of one, there is nothing to refer to.
    known = [v for v in each if not REFERENCES.isdisjoint(v.names)]
    others = [v for v in each if v not in known]
    free = [v for v in others if depends_only_on(v, words)]
    places = np.broadcast_to(np.arange(words.shape[1]), words.shape)
    timed = [v for v in others if depends_only_on(v, places)]
    kept = [v for v in others if v not in free and v not in timed and _usable(v)]
    many = [v for v in others if not _usable(v)]
    reasons = [f"{name}: too many channels" for name in large]
    reasons += [f"{v.name}: too many values" for v in many]
    reasons += [f"{v.name}: too many variables" for v in kept[MOST_VARIABLES:]]
    return Variables(
        words,
        (*kept[:MOST_VARIABLES], *known),
        next((v for v in (*kept, *known, *many) if v.kind == "answer"), None),
        tuple(name for v in (*free, *timed) for name in v.names),
        tuple(reasons),
    )


def _usable(v: Variable) -> bool:
    return v.told_apart or v.numbers is not None
