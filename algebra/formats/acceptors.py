"""Acceptors with choices, made deterministic.

A letter may lead to several states, and a move may read no letter. A word is accepted if
some way of reading it ends in an accepting state. The machine is the smallest deterministic
acceptor of the same words, by the subset construction.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from krohn.algebra.automaton import Automaton
from krohn.algebra.errors import MachineError
from krohn.algebra.formats.assembly import (
    ACCEPTANCE,
    Transition,
    assemble,
    complete_draft,
    fresh,
)
from krohn.algebra.formats.files import Complete, problem, quote

if TYPE_CHECKING:
    from automata.fa.dfa import DFA

EMPTY = ""
"""The letter of a move that reads none."""

MAX_STEPS = 3_000_000
"""The most states in all subsets of the deterministic acceptor, letter by letter."""

MAX_MOVES = 30_000_000
"""The most moves that are followed out of them."""

MAX_STATES = 20_000
"""The most states of the deterministic acceptor before it is minimised."""

MAX_TRANSITIONS = 1_000_000
"""The most transitions of that acceptor."""


class Choices(NamedTuple):
    """An acceptor with choices.

    Attributes:
        letters: The letters, in their order.
        start: The start state.
        moves: For each state and letter, or `EMPTY`, where it may lead.
        accepting: The accepting states.
    """

    letters: Sequence[str]
    start: str
    moves: Mapping[str, Mapping[str, Collection[str]]]
    accepting: Collection[str]


def remark_on_epsilon(letter: str, empty: bool) -> str:
    """What is said of a label that many have for epsilon, but that may be a letter.

    Args:
        letter: The label.
        empty: Whether it is read as a move without a letter.
    """
    how = "letter, not as a move without one"
    if empty:
        how = "move without a letter; rename it if it is a letter"
    return f"{quote(letter)} is read as a {how}"


def machine_of(
    transitions: Sequence[Transition],
    start: str,
    name: str,
    complete: Complete = "reject",
    *,
    states: Iterable[str] = (),
    letters: Iterable[str] = (),
    shown: Mapping[str, str] | None = None,
) -> Automaton:
    """The machine that is given transition by transition.

    An acceptor may have choices: it becomes the smallest deterministic one, and the
    machine's remark says so.

    Args:
        transitions: As `assemble` takes them; the letter `EMPTY` reads none.
        start: The name of the start state.
        name: What to call the file in messages.
        complete: The treatment of missing transitions.
        states: States to number first.
        letters: Letters to number first.
        shown: What each state shows; None unless the outputs lie on states.

    Raises:
        MachineError: If there are no transitions, a machine that is no acceptor has
            choices, transitions are missing and ``complete`` does not say what to do, or
            an acceptor with choices is to ``"stay"`` or becomes too large.
    """
    if (
        shown is None
        or not {*shown.values()} <= {*ACCEPTANCE}
        or _is_deterministic(transitions)
    ):
        draft = assemble(
            transitions, start, name, states=states, letters=letters, shown=shown
        )
        return complete_draft(draft, complete)
    if complete == "stay":
        raise problem(
            name, 0, "nondeterministic, so --complete stay has no meaning; leave it out"
        )
    accepting = {q for q, shows in shown.items() if shows == "accept"}
    return _smallest(transitions, start, name, letters, accepting)


def machine_of_acceptor(
    transitions: Sequence[Transition],
    starts: Sequence[str],
    accepting: Collection[str],
    name: str,
    complete: Complete = "reject",
    *,
    states: Iterable[str] = (),
    letters: Iterable[str] = (),
) -> Automaton:
    """The acceptor that is given transition by transition, with one start or several.

    Args:
        transitions: As `machine_of` takes them.
        starts: The start states, at least one.
        accepting: The accepting states.
        name: What to call the file in messages.
        complete: The treatment of missing transitions.
        states: States to number first.
        letters: Letters to number first.

    Raises:
        MachineError: As `machine_of` raises it.
    """
    ends = (q for t in transitions for q in (t.source, t.target))
    every = dict.fromkeys([*states, *starts, *ends])
    start = starts[0]
    if len({*starts}) > 1:
        start = fresh("start", every)
        every[start] = None
        moves = [Transition(start, EMPTY, q) for q in starts]
        transitions = [*transitions, *moves]
    accepts = {*accepting}
    shown = {q: "accept" if q in accepts else "reject" for q in every}
    return machine_of(
        transitions,
        start,
        name,
        complete,
        states=every,
        letters=letters,
        shown=shown,
    )


def _smallest(
    transitions: Sequence[Transition],
    start: str,
    name: str,
    letters: Iterable[str],
    accepting: set[str],
) -> Automaton:
    """The smallest deterministic acceptor of one with choices, and a remark."""
    moves: dict[str, dict[str, list[str]]] = {}
    for t in transitions:
        moves.setdefault(t.source, {}).setdefault(t.letter, []).append(t.target)
    every = dict.fromkeys([*letters, *(t.letter for t in transitions)])
    choices = Choices([a for a in every if a != EMPTY], start, moves, accepting)
    refuse = "nondeterministic, and its smallest deterministic acceptor {}".format
    machine = acceptor(choices, name, lambda said: problem(name, 0, refuse(said)))
    remark = (
        f"{name}: nondeterministic: read as the smallest deterministic acceptor, with "
        f"{len(machine.states)} states"
    )
    return replace(machine, remark=remark)


def _is_deterministic(transitions: Sequence[Transition]) -> bool:
    """Whether no move reads no letter, and a letter leads to one state each."""
    led = {(t.source, t.letter, t.target) for t in transitions}
    moves = {(source, letter) for source, letter, _ in led}
    return len(led) == len(moves) and all(letter != EMPTY for _, letter in moves)


def acceptor(
    choices: Choices, name: str, refuse: Callable[[str], MachineError]
) -> Automaton:
    """The smallest complete deterministic acceptor of the same words.

    The states are ``"0"``, ``"1"``, … in the order of a breadth-first search.

    Args:
        choices: The acceptor with choices.
        name: What to call the file in messages.
        refuse: The error with a reason.

    Raises:
        MachineError: If it becomes too large, or there are no letters.
    """
    dfa = _subsets(choices, refuse).minify(retain_names=False)
    names = _breadth_first(dfa, choices.letters)
    transitions = [
        Transition(named, letter, names[dfa.transitions[q][letter]])
        for q, named in names.items()
        for letter in choices.letters
    ]
    shown = {
        named: "accept" if q in dfa.final_states else "reject"
        for q, named in names.items()
    }
    draft = assemble(transitions, "0", name, states=names.values(), shown=shown)
    return complete_draft(draft, "reject")


def _subsets(choices: Choices, refuse: Callable[[str], MachineError]) -> "DFA":
    """The subset automaton, which may be exponentially larger, and so is counted."""
    from automata.fa.dfa import DFA  # it takes a while, and most machines need none

    first = _closure(choices, [choices.start])
    number, queue = {first: 0}, [first]
    table: dict[int, dict[str, int]] = {}
    steps = moves = 0
    for subset in queue:
        steps += len(subset) * len(choices.letters)
        if steps > MAX_STEPS:
            raise refuse(f"needs more than {MAX_STEPS} steps")
        row = table[number[subset]] = {}
        for letter in choices.letters:
            led = [r for q in subset for r in choices.moves.get(q, {}).get(letter, ())]
            if (moves := moves + len(led)) > MAX_MOVES:
                raise refuse(f"needs more than {MAX_MOVES} moves")
            closure = _closure(choices, led)
            if closure not in number:
                number[closure] = len(number)
                queue.append(closure)
            row[letter] = number[closure]
        if len(number) > MAX_STATES:
            raise refuse(f"needs more than {MAX_STATES} states")
        if len(number) * len(row) > MAX_TRANSITIONS:
            raise refuse(f"needs more than {MAX_TRANSITIONS} transitions")
    accepting = {*choices.accepting}
    return DFA(
        states=set(table),
        input_symbols=set(choices.letters),
        transitions=table,
        initial_state=0,
        final_states={i for s, i in number.items() if s & accepting},
    )


def _closure(choices: Choices, states: Iterable[str]) -> frozenset[str]:
    reached = set(states)
    waiting = list(reached)
    while waiting:
        for state in choices.moves.get(waiting.pop(), {}).get(EMPTY, ()):
            if state not in reached:
                reached.add(state)
                waiting.append(state)
    return frozenset(reached)


def _breadth_first(dfa: "DFA", letters: Sequence[str]) -> dict[str, str]:
    names: dict[str, str] = {dfa.initial_state: "0"}
    queue = [dfa.initial_state]
    for state in queue:
        for letter in letters:
            target = dfa.transitions[state][letter]
            if target not in names:
                names[target] = str(len(names))
                queue.append(target)
    return names
