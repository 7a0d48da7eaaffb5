"""Piecewise testable machines: a few subsequences side by side."""

import numpy as np

from krohn.algebra.automaton import Automaton
from krohn.algebra.classification.digraph import j_trivial
from krohn.algebra.departures.subsequences import Subsequences, subsequences
from krohn.algebra.minimisation import reachable
from krohn.compiler.constructions.departures.channels import PartChannels
from krohn.compiler.constructions.departures.construction import check_departs
from krohn.compiler.constructions.departures.paths import Paths
from krohn.compiler.errors import CompileError
from krohn.compiler.output_programs import one_tuple_each
from krohn.program import Program

NAME = "piecewise"
SUMMARY = "see which subsequences there are, from both sides (J-trivial)"
# Each of at most sixteen tests doubles the states; machines of hundreds have more tests.
MOST_STATES = 500


def piecewise(machine: Automaton, length: int) -> Program:
    """The machine from subsequences of at most k letters, in max(1, ⌈log2 k⌉) layers.

    Raises:
        CompileError: If no run leaves a state for good, if no subsequences of up to four
            letters decide the state, or if there is too much to tell apart.
    """
    check_departs(machine)
    part = reachable(machine)
    if len(part.states) > MOST_STATES:
        raise CompileError(
            f"machines of more than {MOST_STATES} states are not tried with "
            "subsequences"
        )
    if not j_trivial(part.semiautomaton).holds:
        raise CompileError(
            f"{machine.name} is not piecewise testable: subsequences do not decide its "
            "state"
        )
    found = _deciding_tests(part)
    beside = PartChannels(
        (), np.zeros((1, 0), dtype=np.int64), len(part.letters), length
    )
    paths = Paths(beside)
    flags = {
        i: paths.flag(beside.function(f"in{i}", found.sets[i].astype(np.int64)[None]))
        for i in sorted({i for test in found.tests for i in test})
    }
    outputs = tuple(
        paths.has_left(tuple(flags[i] for i in test)).make() for test in found.tests
    )
    names = {name: q for q, name in enumerate(machine.states)}
    program = Program(
        letters=machine.letters,
        states=len(machine.states),
        length=length,
        operations=beside.operations,
        outputs=outputs,
        decode={row: names[part.states[q]] for row, q in found.state.items()},
    )
    return one_tuple_each(program, "state")


def _deciding_tests(part: Automaton) -> Subsequences:
    """Tests of two letters at most if these do, because they take one layer."""
    for longest in (2, 3, 4):
        found = subsequences(part, longest)
        if found is not None:
            return found
    raise CompileError(
        "the subsequences of up to four letters do not decide the state of "
        f"{part.name}, or there are too many of them"
    )
