"""Texts with a transition to a line: Aldébaran's ``.aut``, RABIT's ``.ba``, ``.mata``.

``docs/formats.md`` says what is read of them and what is refused.
"""

import re
from collections.abc import Iterator

from krohn.algebra.automaton import Automaton
from krohn.algebra.formats.acceptors import EMPTY, machine_of_acceptor
from krohn.algebra.formats.assembly import (
    Transition,
    assemble,
    complete_draft,
    with_remark,
)
from krohn.algebra.formats.files import Complete, check_size, problem, quote
from krohn.program.user_input import EPSILONS

HIDDEN = ("i", "tau")
"""The action that nobody sees: of CADP, and of mCRL2."""
_NUMBER = re.compile(r"[0-9]{1,9}")
_HEAD = re.compile(r"des\s*+\(" + ",".join([r"\s*+([0-9]{1,9})\s*+"] * 3) + r"\)")
_AUT_SIGN = re.compile(r"\s*+des\s*+\(")
_BA_SIGN = re.compile(r"\s*+(?:\[[^\s\]]++\]\s++)*+[^\s,]++,\[[^\s\]]++\]->\[")
_MATA_SIGN = re.compile(r"(?:\s++|#.*+)*+@[NA]FA-")
MATA = "@NFA-explicit"
_INITIAL = "%Initial"
_MATA_LISTS = (_INITIAL, "%Final", "%Alphabet-", "%States-")
_WORD = re.compile(r'#.*+|"(?:[^"\\]++|\\.)*+"?+|[^\s"#]++')
_FORMULA = re.compile(r"[()&|!]|\A\\?(?:true|false)\Z")
_EMPTY_OF_MATA = "4294967295"
"""The largest number of a letter, by which MATA calls and prints the empty move."""


def is_aut(text: str) -> bool:
    """Whether a text begins as one of Aldébaran does."""
    return _AUT_SIGN.match(text) is not None


def read_aut(text: str, name: str, complete: Complete = "reject") -> Automaton:
    """The machine of a labelled transition system, as CADP and mCRL2 write them.

    Where each action leads from each state to exactly one, or stays, the states are
    shown. All others are acceptors of the sequences of actions that they can take.

    Args:
        text: The file.
        name: What to call it in messages.
        complete: The treatment of missing transitions.

    Raises:
        MachineError: If a line is malformed, or there are other numbers of transitions
            and states than the first line says.
    """
    lines = _lines(text)
    number, line = next(lines, (1, ""))
    head = _HEAD.fullmatch(line)
    if head is None:
        reason = "the first line is not: des (start, transitions, states)"
        raise problem(name, number, reason)
    start, count, size = map(int, head.groups())
    moves = [_aut_move(line, number, size, name) for number, line in lines]
    if len(moves) != count or start >= size:
        reason = (
            f"{count} transitions from state {start} on are said, {len(moves)} follow"
        )
        raise problem(name, 1, reason)
    hidden = [t for t in moves if t.letter == EMPTY]
    cells = {(t.source, t.letter) for t in moves}
    letters = {t.letter for t in moves}
    full = len(cells) == size * len(letters)
    decided = len(moves) == len(cells) and not hidden
    if decided and (full or complete == "stay"):
        check_size(len(letters), size, name)
        draft = assemble(moves, str(start), name, states=map(str, range(size)))
        return complete_draft(draft, complete)
    states = dict.fromkeys(
        [str(start), *(q for t in moves for q in (t.source, t.target))]
    )
    machine = machine_of_acceptor(moves, [str(start)], states, name, complete)
    hides = f"; {' and '.join(map(quote, HIDDEN))} are hidden moves" if hidden else ""
    remark = f"{name}: read as the acceptor of the actions that can follow one another"
    return with_remark(machine, f"{remark}{hides}")


def _aut_move(line: str, number: int, size: int, name: str) -> Transition:
    """A transition ``(0, "push !1", 2)``; the label may have commas, and no quotes."""
    source, comma, rest = line.removeprefix("(").partition(",")
    label, last, target = rest.removesuffix(")").rpartition(",")
    ends, label = (source.strip(), target.strip()), label.strip()
    if not (line.startswith("(") and line.endswith(")") and comma and last and label):
        reason = f"{quote(line)} is no transition (state, label, state)"
        raise problem(name, number, reason)
    for end in ends:
        if not _NUMBER.fullmatch(end) or int(end) >= size:
            reason = f"{quote(end)} is no state, which are 0 to {size - 1}"
            raise problem(name, number, reason)
    if label.startswith('"') and label.endswith('"') and len(label) > 1:
        label = label[1:-1]
    letter = EMPTY if label in HIDDEN else label
    return Transition(str(int(ends[0])), letter, str(int(ends[1])), None, number)


def is_ba(text: str) -> bool:
    """Whether a text begins with a transition of RABIT's format, or a state and one."""
    return _BA_SIGN.match(text) is not None


def read_ba(text: str, name: str, complete: Complete = "reject") -> Automaton:
    """The acceptor of finite words of a file of RABIT and Reduce.

    Args:
        text: The file.
        name: What to call it in messages.
        complete: The treatment of missing transitions.

    Raises:
        MachineError: If a line is malformed, or there are no transitions.
    """
    moves, starts, accepting = list[Transition](), list[str](), list[str]()
    for number, line in _lines(text):
        letter, comma, rest = line.partition(",")
        source, arrow, target = rest.partition("->")
        words = [word.strip() for word in (letter, source, target)]
        if comma and arrow and all(words):
            ends = [_without_brackets(word) for word in words[1:]]
            moves.append(Transition(ends[0], _letter(words[0]), ends[1], None, number))
        elif comma or "->" in line or len(line.split()) > 1:
            reason = f"{quote(line)} is no transition: letter,[state]->[state]"
            raise problem(name, number, reason)
        else:
            (accepting if moves else starts).append(_without_brackets(line))
    if not moves:
        raise problem(name, 0, "no transitions: letter,[state]->[state]")
    every = dict.fromkeys(q for t in moves for q in (t.source, t.target))
    machine = machine_of_acceptor(
        moves, starts or [moves[0].source], accepting or every, name, complete
    )
    remark = f"{name}: Büchi automata are written so, too; read as one of finite words"
    return with_remark(machine, remark)


def _without_brackets(state: str) -> str:
    return state[1:-1] if state.startswith("[") and state.endswith("]") else state


def _letter(word: str) -> str:
    return EMPTY if word in EPSILONS else word


def is_mata(text: str) -> bool:
    """Whether a text begins with a kind of automata, as MATA's files do."""
    return _MATA_SIGN.match(text) is not None


def read_mata(text: str, name: str, complete: Complete = "reject") -> Automaton:
    """The acceptor of a file of MATA, whose transitions are given one by one.

    Args:
        text: The file.
        name: What to call it in messages.
        complete: The treatment of missing transitions.

    Raises:
        MachineError: If it is of another kind than ``@NFA-explicit``, or malformed.
    """
    lists: dict[str, list[str]] = {}
    moves, kind = list[Transition](), ""
    for number, line in _lines(text):
        words = [word for word in _WORD.findall(line) if not word.startswith("#")]
        if any(word.count('"') == 1 for word in words):
            raise problem(name, number, "a quote stays open on this line")
        match words:
            case []:
                pass
            case [first] if first.startswith("@") and not kind:
                kind = first
                if kind != MATA:
                    reason = f"{kind} is not read, only {MATA}: its letters one by one"
                    raise problem(name, number, reason)
            case [first, *rest] if kind and first.startswith(_MATA_LISTS):
                lists.setdefault(first, []).extend(_states(rest, number, name))
            case [source, letter, target] if kind and source[0] != "%":
                ends = _states([source, target], number, name)
                called = _letter(_without_quotes(letter))
                called = EMPTY if called == _EMPTY_OF_MATA else called
                move = Transition(ends[0], called, ends[1])
                moves.append(move._replace(line=number))
            case _:
                reason = (
                    f"{quote(line)} is no line of an automaton of the kind {MATA}: a line "
                    "is a state, a letter and a state, or %Initial or %Final and states"
                )
                raise problem(name, number, reason)
    if not lists.get(_INITIAL):
        raise problem(name, 0, f"no state is named behind {_INITIAL}")
    letters = lists.get("%Alphabet-enum", [])
    return machine_of_acceptor(
        moves, lists[_INITIAL], lists.get("%Final", []), name, complete, letters=letters
    )


def _states(words: list[str], line: int, name: str) -> list[str]:
    """The names in a list, without quotes; bars between them are or, as is a blank."""
    words = [word for word in words if word != "|"]
    for word in words:
        if not word.startswith('"') and _FORMULA.search(word):
            reason = f"{quote(word)}: states are listed, formulas of them are not read"
            raise problem(name, line, reason)
    return [*map(_without_quotes, words)]


def _without_quotes(word: str) -> str:
    r"""A name; in quotes, a backslash stands before a sign that it would end at."""
    return re.sub(r"\\(.)", r"\1", word[1:-1]) if word.startswith('"') else word


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """The lines that hold something, with their numbers."""
    numbered = enumerate(text.split("\n"), 1)
    return ((number, line.strip()) for number, line in numbered if line.strip())
