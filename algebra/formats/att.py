"""AT&T text: the acceptors and transducers that OpenFst compiles and prints.

A transition is a line ``source target input [output] [weight]``, a final state a line
``state [weight]``; the start state is the one that the first line begins with.
`krohn.program.att_text` divides lines.
"""

import re
from collections.abc import Collection, Iterator

from krohn.algebra.automaton import Automaton
from krohn.algebra.errors import MachineError
from krohn.algebra.formats.acceptors import EMPTY, machine_of, remark_on_epsilon
from krohn.algebra.formats.assembly import (
    Transition,
    acceptance,
    remark_of,
    shown_after,
    with_remark,
)
from krohn.algebra.formats.files import Complete, Kind, check_writable, problem, quote
from krohn.program.att_text import (
    MOST_FIELDS,
    NEXT,
    AttText,
    fields_of_lines,
    names_itself,
    read_lines,
)
from krohn.program.parsing import Misread
from krohn.program.user_input import EPSILONS, LIKE_EPSILON, may_be_epsilon

_DECIMAL = re.compile(
    r"[+-]?(?:\d+\.\d*|\.\d+)(?:[eE][+-]?\d+)?|[+-]?\d+[eE][+-]?\d+|Infinity"
)
_WHOLE = re.compile(r"[+-]?\d+")
_LIKE_OTHERS = ("<rho>", "<sigma>", "<phi>", "<other>", "<others>", "<any>", "?")
"""What matchers of OpenFst and foma have for all letters, or for the rest of them."""
_SYMBOL = re.compile(rf"(?!(?:{'|'.join(sorted(EPSILONS))})\Z)\S+")
_NUMBER = re.compile(r"[0-9]++")
_FORM = "AT&T symbols are single words other than epsilon"


def has_sign(text: str) -> bool:
    """Whether all lines are of AT&T text whose states are numbers, and some is final.

    Names of states would make a machine of any table, and numbers alone of a matrix.
    """
    widths = set[int]()
    for _, fields in fields_of_lines(text):
        width = len(fields)
        if fields != NEXT:
            states = fields[: 1 + (width > 2)]
            first_is_arc = bool(widths) or width > 2
            if not first_is_arc or not all(map(_NUMBER.fullmatch, states)):
                return False
            widths.add(width)
    return min(widths, default=3) < 3 and max(widths) <= MOST_FIELDS + 1


def remark_on_numbers(text: str, name: str) -> str:
    """A remark on a text without any names, which has the sign of such a file alone."""
    fields = (field for _, parts in fields_of_lines(text) for field in parts)
    if not all(map(_NUMBER.fullmatch, fields)):
        return ""
    return f"{name}: read as AT&T text, although lists of other numbers look like it"


def read(
    text: str, name: str, complete: Complete = "reject", kind: Kind | None = None
) -> Automaton:
    """The acceptor or the Mealy machine of an AT&T text file.

    Three parts to a line make an acceptor, which shows ``"accept"`` or ``"reject"``;
    four make a transducer, which becomes a Mealy machine. A transducer whose outputs
    all equal their inputs is the acceptor that OpenFst prints so, unless no state is
    final; the machine's remark says how else the file can be read.

    Args:
        text: The file.
        name: What to call the file in messages.
        complete: The treatment of missing transitions.
        kind: ``"acceptor"`` to leave the outputs out, ``"mealy"`` to leave out which
            states are final; None to go by the labels.

    Raises:
        MachineError: If a line is malformed, the machine is weighted or a transducer in
            which only some states are final; if a Mealy machine has epsilons, choices or
            missing transitions without a word in ``complete``, or is asked for and there
            are no outputs.
    """
    try:
        lines = read_lines(text)
    except Misread as wrong:
        raise problem(name, wrong.line, wrong.reason) from None
    return machine_of_lines(lines, name, complete, kind, named=True)


def machine_of_lines(
    lines: AttText,
    name: str,
    complete: Complete,
    kind: Kind | None,
    named: bool = False,
) -> Automaton:
    """The machine of the arcs and final states that `read` reads, with its arguments.

    Where nothing but its name says what a label means (``named``), ``λ`` and such are
    empty moves of acceptors.
    """
    if not lines.arcs:
        raise problem(name, 0, "no transitions; is this an AT&T text file?")
    transitions = _transitions(lines, name)
    _check_numbers(transitions, name)
    finals = dict.fromkeys(fields[0] for _, fields in lines.finals)
    ends = [state for t in transitions for state in (t.source, t.target)]
    states = list(dict.fromkeys([*(t.source for t in transitions), *ends, *finals]))
    final = len(finals.keys() & {lines.start, *states})
    asked, remark = kind, ""
    if kind is None:
        asked, remark = _kind(transitions, final, len(states), name)
    if asked == "mealy" and transitions[0].output is None:
        raise problem(name, 0, "no outputs, so it is no Mealy machine; leave --as out")
    shown = None
    if asked == "mealy":
        _check_epsilon(transitions, name)
    else:
        empty = EPSILONS | LIKE_EPSILON if named else EPSILONS
        transitions = [_without_output(t, empty) for t in transitions]
        shown = {q: "accept" if q in finals else "reject" for q in states}
        shown.setdefault(lines.start, "reject")
    machine = machine_of(
        transitions, lines.start, name, complete, states=states, shown=shown
    )
    words = _remarks_on_labels(lines, asked) if named else []
    if named and kind is None and asked == "mealy":
        words += _remarks_on_numbers(lines)
    remarks = [*filter(None, (remark, _divided_labels_remark(lines), *words))]
    return with_remark(machine, remark_of(name, remarks))


def _remarks_on_labels(lines: AttText, kind: Kind | None) -> list[str]:
    """Remarks on labels that others have for epsilon, or for all other letters."""
    labels = dict.fromkeys(fields[2] for _, fields in lines.arcs)
    return [
        remark_on_epsilon(label, kind == "acceptor")
        for label in labels
        if label in LIKE_EPSILON
    ] + [
        f"{quote(label)} is read as a letter, not as one for all others"
        for label in labels
        if label in _LIKE_OTHERS
    ]


def _remarks_on_numbers(lines: AttText) -> list[str]:
    """A remark on outputs that are one number everywhere, as weights often are."""
    last = {" ".join(fields[3:]) for _, fields in lines.arcs}
    if len(last) > 1 or not all(map(_WHOLE.fullmatch, last)):
        return []
    return [
        f"{quote(last.pop())} at the end of each arc is read as an output, not as a "
        "weight; --as acceptor leaves it out"
    ]


def _divided_labels_remark(lines: AttText) -> str:
    """A remark on labels with blanks, which another reader would divide."""
    if not lines.blank:
        return ""
    return (
        "some line has a tab, so tabs alone divide its parts, and "
        f"{quote(lines.blank)} is one label"
    )


def write(machine: Automaton) -> str:
    """The machine as AT&T text; the states are numbered, as OpenFst needs it.

    An acceptor is written as such, every other machine as a transducer all of whose
    states are final; none is if every output equals its letter, which would be read as
    an acceptor.

    Raises:
        MachineError: If a letter or an output has a space or means epsilon, or the
            outputs would be taken for weights.
    """
    accepting = acceptance(machine)
    outputs = None if accepting is not None else shown_after(machine)
    symbols = {o for row in outputs or [] for o in row}
    check_writable(machine.letters, _SYMBOL, "letter", _FORM)
    if accepting is not None and (like := LIKE_EPSILON.intersection(machine.letters)):
        raise MachineError(
            f"the letter {quote(min(like))} would be read as epsilon in AT&T text; rename "
            "it, or write JSON, which carries every name"
        )
    check_writable(symbols, _SYMBOL, "output", _FORM)
    labels = [*machine.letters, *symbols]
    if odd := next((label for label in labels if not names_itself(label)), ""):
        raise MachineError(
            f"the label {quote(odd)} cannot be written: in AT&T text it stands for "
            "something else; rename it, or write JSON, which carries every name"
        )
    if may_be_epsilon(labels):
        raise MachineError(
            "AT&T symbols that are all numbers cannot include 0: epsilon"
        )
    if _look_weights(symbols):
        raise MachineError("AT&T outputs that are all decimals would read as weights")
    doubled = outputs is not None and all(
        set(row) == {letter}
        for letter, row in zip(machine.letters, outputs, strict=True)
    )
    finals = [
        q
        for q in range(len(machine.states))
        if (accepting[q] if accepting is not None else not doubled)
    ]
    return "\n".join([*_lines(machine, outputs), *map(str, finals), ""])


def _lines(machine: Automaton, outputs: list[list[str]] | None) -> Iterator[str]:
    others = [q for q in range(len(machine.states)) if q != machine.start]
    table = machine.transitions.tolist()
    for q in [machine.start, *others]:
        for a, letter in enumerate(machine.letters):
            shown = "" if outputs is None else f"\t{outputs[a][q]}"
            yield f"{q}\t{table[a][q]}\t{letter}{shown}"


def _transitions(lines: AttText, name: str) -> list[Transition]:
    width = _symbols(lines, name)
    for line, fields in [*lines.arcs, *lines.finals]:
        _check_weight(name, fields[width if len(fields) > 2 else 1 :], line)
    return [
        Transition(q, letter, target, rest[0] if width == 4 else None, line)
        for line, (q, target, letter, *rest) in lines.arcs
    ]


def _symbols(lines: AttText, name: str) -> int:
    # Without a flag of the file, four parts are either an output or a weight: an
    # acceptor also has lines of three parts, or its fourth parts are all decimals.
    widths = {len(fields) for _, fields in lines.arcs}
    decimals = _look_weights([fields[-1] for _, fields in lines.arcs])
    if widths >= {3, 5}:
        line = next(n for n, fields in lines.arcs if len(fields) == 5)
        raise problem(
            name, line, "this line has five parts, but others have only three"
        )
    return 3 if 3 in widths or (widths == {4} and decimals) else 4


def _look_weights(labels: Collection[str]) -> bool:
    """Whether labels are weights rather than outputs: numbers, and not all whole."""
    decimals = [_DECIMAL.fullmatch(label) is not None for label in labels]
    whole = map(_WHOLE.fullmatch, labels)
    return any(decimals) and all(a or b for a, b in zip(decimals, whole, strict=True))


def _without_output(t: Transition, empty: Collection[str]) -> Transition:
    letter = EMPTY if t.letter in empty else t.letter
    return t._replace(output=None, letter=letter)


def _check_weight(name: str, weights: list[str], line: int) -> None:
    for weight in weights:
        try:
            zero = float(weight) == 0
        except ValueError as error:
            raise problem(
                name, line, f"the weight {quote(weight)} is no number"
            ) from error
        if not zero:
            file = (
                name if name.endswith((".att", ".fst.txt")) else "saved as F.att, F.att"
            )
            raise problem(
                name,
                line,
                f"weighted: the weight {quote(weight)} is not 0, and networks compiled "
                f"from machines carry no weights; {file}:weights=real, or =log, "
                "compiles them (docs/kinds/hidden_markov.md)",
            )


def _check_numbers(transitions: list[Transition], name: str) -> None:
    """Refuse the label 0 among numbers: epsilon, or a letter that somebody calls so."""
    labels = [label for t in transitions for label in (t.letter, t.output or t.letter)]
    if not may_be_epsilon(labels):
        return
    for t in transitions:
        if "0" in (t.letter, t.output):
            raise problem(
                name,
                t.line,
                "the label '0' is epsilon where all labels are numbers; write <eps> for "
                "it, or call the letter otherwise",
            )


def _check_epsilon(transitions: list[Transition], name: str) -> None:
    for t in transitions:
        for label in (t.letter, t.output or t.letter):
            if label in EPSILONS:
                raise problem(
                    name,
                    t.line,
                    f"the label {quote(label)} is epsilon, but every step of a machine "
                    "with outputs reads one letter and shows one; remove epsilons first",
                )


def _kind(
    transitions: list[Transition], final: int, states: int, name: str
) -> tuple[Kind, str]:
    """The kind of a file by its labels, and a remark on how else it can be read."""
    if transitions[0].output is None:
        return "acceptor", ""
    doubled = all(t.letter == t.output for t in transitions)
    if doubled and final:
        which = "every state" if final == states else "some states"
        return "acceptor", (
            f"read as an acceptor, for every output equals its letter and {which} can "
            "end a word; --as mealy keeps the outputs"
        )
    if doubled:
        return "mealy", (
            "read as a Mealy machine that repeats its letters, for no state is final; "
            "--as acceptor leaves the outputs out"
        )
    if 0 < final < states:
        raise problem(
            name,
            0,
            "a transducer in which only some states are final: a Mealy machine shows "
            "an output after every letter and would lose which words are taken; say --as "
            "mealy to leave out which states are final, or --as acceptor to leave out "
            "the outputs",
        )
    return "mealy", ""
