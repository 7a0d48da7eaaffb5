"""Hidden Markov models as machines: their finitely many beliefs, a window, few points."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import product

import numpy as np

from krohn.algebra.automaton import Automaton, IntArray, Semiautomaton
from krohn.algebra.windows import ContextPoints, context_points
from krohn.architectures.recurrent.build import speaking
from krohn.compiler import CompileError, Unsuited
from krohn.compiler.compiled_network import CompiledNetwork, compile_program, realise
from krohn.compiler.constructions.scan import compose
from krohn.compiler.cost import Bound, Steps
from krohn.compiler.machine_programs import letter_itself, say_vectors, vectors_of
from krohn.compiler.pipeline import Options
from krohn.compiler.planning import planning
from krohn.kinds.hidden_markov.source import HiddenMarkovModel
from krohn.kinds.hidden_markov.source_beliefs import Beliefs, reachable
from krohn.kinds.hidden_markov.source_contexts import ContextMachine, Contexts
from krohn.program import (
    Map,
    Operation,
    Program,
    Row,
    Shift,
    Table,
    Token,
    Vectors,
    table,
)
from krohn.program.domains import FloatArray, joint

# Finitely many beliefs: the machine of the beliefs, by any of its networks.

NAME, CONTEXTS = "beliefs", "contexts"
MACHINES = {NAME: "machine", CONTEXTS: "contexts"}
"""Under which name a file states a machine of situations."""
MOST_BELIEFS = 1000
MOST_PARAMETERS = 50_000_000


def networks(
    model: HiddenMarkovModel, length: int, options: Options
) -> Iterator[CompiledNetwork]:
    """Networks of a model whose words lead to finitely many beliefs, best first.

    The Program computes the machine whose states are the beliefs; `say_vectors` puts its
    outputs together, and lays the result out as the belief.

    Raises:
        CompileError: If there are too many beliefs, or no construction serves them.
    """
    beliefs = _few(model)
    vectors = vectors_of(beliefs.laws, options.precision)
    points = partial(_points, model.letters, beliefs, vectors)
    others = {CONTEXT_SCAN: points} if (beliefs.following < 0).any() else {}
    machine = machine_of(model, beliefs)
    planner = partial(planning, vectors=vectors, others=others, proved=True)
    known = planner(machine, length, options)
    tried = False
    for plan in known.best_first():
        if plan.cost.parameters > MOST_PARAMETERS:
            raise CompileError(
                f"the {len(beliefs.weights)} beliefs of {model.name} need a network of "
                f"{plan.cost.parameters:,} parameters ({plan.construction})"
            )
        tried, built = True, realise(plan)
        statement = {"start": 0, "transitions": beliefs.following.tolist()}
        yield CompiledNetwork(
            f"{NAME}-{built.construction}",
            built.network,
            {**built.program, "machine": statement},
            built.cost,
        )
    if not tried:
        raise CompileError(known.reasons())


def recurrent(model: HiddenMarkovModel, options: Options, arch: str) -> CompiledNetwork:
    """The recurrent network of the beliefs, for words of every length.

    Raises:
        CompileError: If there are too many beliefs.
    """
    beliefs = _few(model)
    return _recurrent(NAME, model, beliefs.following, beliefs.laws, options, arch)


def context_network(
    model: HiddenMarkovModel, contexts: ContextMachine, options: Options, arch: str
) -> CompiledNetwork:
    """The recurrent network of a machine of contexts, for words of every length."""
    machine = contexts.following, contexts.laws
    return _recurrent(CONTEXTS, model, *machine, options, arch)


def _recurrent(
    name: str,
    model: HiddenMarkovModel,
    following: IntArray,
    laws: FloatArray,
    options: Options,
    arch: str,
) -> CompiledNetwork:
    """The network that says the law of each state; impossible words turn it off.

    Args:
        name: What the states are, as the file says it.
        model: The model.
        following: ``(letters, states)``: where a letter leads from each; -1 for nowhere.
        laws: ``(states, n)``.
        options: The format.
        arch: The architecture.
    """
    count = len(laws)
    states = (*(f"{name}{i}" for i in range(count)), "impossible")
    complete = np.where(following < 0, count, following)
    complete = np.hstack([complete, np.full((len(complete), 1), count)])
    machine = Automaton(Semiautomaton(complete, model.letters, states), name=model.name)
    built = speaking(machine, laws, options.precision, arch)
    program: dict[str, object] = {
        MACHINES[name]: {"start": 0, "transitions": following.tolist()}
    }
    construction = f"{name}-{built.construction}"
    return replace(built, construction=construction, program=program)


def _few(model: HiddenMarkovModel) -> Beliefs:
    beliefs = reachable(model, MOST_BELIEFS)
    if beliefs is None:
        raise Unsuited(
            f"the words of {model.name} lead to more than {MOST_BELIEFS} beliefs, or to "
            "some of too many digits"
        )
    return beliefs


def _points(
    letters: tuple[str, ...], found: Beliefs, vectors: Vectors, length: int
) -> Steps[Program]:
    """A scan of few points, as impossible words allow it."""
    yield Bound()
    program = context_scan(letters, found.following, length)
    return say_vectors(program, vectors)


def machine_of(model: HiddenMarkovModel, found: Beliefs) -> Automaton:
    """The beliefs as the states of a machine, in which impossible letters do nothing."""
    count = len(found.weights)
    states = tuple(f"belief{i}" for i in range(count))
    complete = np.where(found.following < 0, np.arange(count), found.following)
    return Automaton(Semiautomaton(complete, model.letters, states), name=model.name)


# A model that forgets: a window of the last letters, with a unit for each context.

WINDOW = "window"


def least_parameters(model: HiddenMarkovModel, found: Contexts) -> int:
    """Parameters of the window of some contexts, at least: a unit for each but one.

    Each reads the letters that are seen, or that there is none, one-hot, and may write as
    much.
    """
    seen = found.width * (len(model.letters) + 1)
    return 2 * seen * (len(found.laws) - 1)


def window_network(
    model: HiddenMarkovModel, found: Contexts, length: int, options: Options
) -> CompiledNetwork:
    """The network that says the law of the context of each word."""
    laws = vectors_of(found.laws, options.precision)
    program = window(model, found, laws, length)
    return replace(compile_program(program, options), construction=WINDOW)


def window(
    model: HiddenMarkovModel, found: Contexts, laws: Vectors, length: int
) -> Program:
    """The Program: one layer of look-backs, and a table of the letters that they see."""
    letters = len(model.letters)
    codes = np.arange(letters + 1)
    operations: dict[str, Operation] = {
        "token": Token(),
        "letter": letter_itself(letters),
    }
    backs = [f"back{by}" for by in range(1, found.width)]
    operations |= {name: Shift("letter", by) for by, name in enumerate(backs, 1)}
    rows = joint([codes] * found.width)
    values = found.numbers.reshape(-1)
    operations["belief"] = Map(Table(rows, values), ("letter", *backs))
    decode: dict[Row, int] = {(value,): value for value in range(len(found.laws))}
    return Program(
        letters=model.letters,
        states=model.size,
        length=length,
        operations=operations,
        outputs=("belief",),
        decode=decode,
        one_hot=frozenset(["letter", *backs]),
        vectors={"belief": laws},
    )


# A scan of few points, which the last letters make states: less than a scan of states.
#
# The points and the letters are those of `krohn.algebra.windows`. The scan composes maps
# of points; one layer of look-backs beside it fetches the last letters, and a table of
# both says the state. Cyclic-HARD is solved so by 5 points instead of 76 beliefs (Hu et
# al. 2024, 3): an action moves the point at once, a told state resets it, ``*`` does
# nothing; that the action before ``*`` is not yet taken is for the table to undo.

CONTEXT_SCAN = "context-scan"
MOST_ROWS = 2**16
"""Rows of a table of letters."""


def context_scan(
    letters: tuple[str, ...], transitions: IntArray, length: int
) -> Program:
    """The Program of a machine that starts in state 0, for words up to ``length``.

    Args:
        letters: Their names.
        transitions: ``(letters, states)``: where a letter leads; −1 if it cannot come.
        length: T.

    Raises:
        CompileError: If there are no fewer points than states.
    """
    context, states = context_points(transitions, 0), transitions.shape[1]
    if context.points == states:
        raise CompileError(
            "the last letters do not reduce the number of points below that of the "
            "states"
        )
    size, seen = len(letters), max(context.moved + 1, context.read)
    if (size + 1) ** seen > MOST_ROWS:
        raise CompileError(f"tables of the last {seen} of {size} letters are too large")
    operations: dict[str, Operation] = {
        "token": Token(),
        "letter": letter_itself(size),
    }
    backs = ["letter", *(f"letter.back{by}" for by in range(1, seen))]
    operations |= {name: Shift("letter", by) for by, name in enumerate(backs) if by}
    inputs = tuple(backs[: context.moved + 1]) if context.moved else ("token",)
    for p in range(context.points):
        images = table(dict(_images(context, transitions, p)))
        operations[f"map0[{p}]"] = Map(images, inputs)
    scanned, outputs = compose("", length, 2, context.points)
    operations |= scanned
    kind, rows = _read_out(context, size)
    operations["context"] = Map(table(kind), tuple(backs[: context.read]) or ("token",))
    operations["state"] = Map(table(rows), ("context", outputs[context.of[0]]))
    return Program(
        letters=letters,
        states=states,
        length=length,
        operations=operations,
        outputs=("state",),
        decode={(state,): state for state in range(states)},
    )


def _code(word: tuple[int, ...], size: int) -> int:
    """The number of last letters, as `ContextPoints` numbers them."""
    code = 0
    for letter in word:
        code = code * (size + 1) + letter
    return code


def _images(
    found: ContextPoints, transitions: IntArray, point: int
) -> Iterator[tuple[Row, int]]:
    """Where the map of the letter, after letters before, takes a point."""
    size = len(transitions)
    members = np.flatnonzero(found.of == point)
    for row in product(range(size + 1), repeat=found.moved + 1):
        letter, *last = row
        image = point
        if letter < size:
            here = members[found.before[members, _code(tuple(last), size)]]
            led = transitions[letter, here]
            image = int(found.of[led[led >= 0]].max(initial=-1))
        yield row, point if image < 0 else image


def _read_out(found: ContextPoints, size: int) -> tuple[dict[Row, int], dict[Row, int]]:
    """Kinds of last letters, and the state of each kind and point.

    Last letters are of one kind if no point is another state with them.
    """
    states = np.full((found.behind.shape[1], found.points), -1)
    q, context = np.nonzero(found.behind)
    states[context, found.of[q]] = q
    kinds: list[IntArray] = []
    kind: dict[Row, int] = {}
    for row in product(range(size + 1), repeat=max(found.read, 1)):
        here = states[_code(row, size) if found.read else 0]
        fits = (((here < 0) | (k < 0) | (here == k)).all() for k in kinds)
        at = next((i for i, fit in enumerate(fits) if fit), len(kinds))
        if at == len(kinds):
            kinds.append(here)
        kinds[at] = np.maximum(kinds[at], here)
        kind[row] = at
    rows: dict[Row, int] = {
        (i, p): int(max(k[p], 0))
        for i, k in enumerate(kinds)
        for p in range(found.points)
    }
    return kind, rows
