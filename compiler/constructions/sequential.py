"""The sequential baseline: one layer for every letter (spec section 9)."""

from krohn.algebra.automaton import Automaton
from krohn.algebra.minimisation import reachable
from krohn.compiler.cost import Steps, looking_back
from krohn.compiler.errors import CompileError
from krohn.program import Map, Operation, Program, Row, Shift, Token, table

NAME = "sequential"
MOST_ROWS = 400_000
SUMMARY = "one step of the machine in each layer (the depth-T baseline)"


def sequential_steps(machine: Automaton, length: int) -> Steps[Program]:
    """The sequential baseline, after a bound."""
    yield looking_back(machine, length, length - 1)
    return sequential(machine, length)


def sequential(machine: Automaton, length: int) -> Program:
    """One look-back by 1 and one transition table per layer, T layers.

    After layer l the channel ``state{l}`` is right at positions up to l; BOS holds the
    start state throughout.

    Raises:
        CompileError: If all its tables together would be too large.
    """
    letters, states = machine.transitions.shape
    if letters * states * length > MOST_ROWS:
        raise CompileError(
            f"its {length} layers would need tables of {letters * states:,} rows each"
        )
    alive = [machine.states.index(name) for name in reachable(machine).states]
    start: dict[Row, int] = {(a,): machine.start for a in range(letters + 1)}
    operations: dict[str, Operation] = {
        "token": Token(),
        "letter": Map(table({(a,): a for a in range(letters + 1)}), ("token",)),
        "state0": Map(table(start), ("token",)),
    }
    step: dict[Row, int] = {
        (q, a): int(machine.transitions[a, q]) for q in alive for a in range(letters)
    }
    step[machine.start, letters] = machine.start
    transition = table(step)
    for t in range(1, length + 1):
        operations[f"before{t}"] = Shift(f"state{t - 1}", 1)
        operations[f"state{t}"] = Map(transition, (f"before{t}", "letter"))
    return Program(
        letters=machine.letters,
        states=states,
        length=length,
        operations=operations,
        outputs=(f"state{length}",),
        decode={(q,): q for q in alive},
    )
