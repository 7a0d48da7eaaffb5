"""JFLAP's files (``.jff``): finite automata, Mealy machines and Moore machines.

``docs/formats.md`` says what is read and what is refused.
"""

from krohn.algebra.automaton import Automaton
from krohn.algebra.formats.acceptors import EMPTY, machine_of, machine_of_acceptor
from krohn.algebra.formats.assembly import Transition
from krohn.algebra.formats.files import Complete, problem, quote
from krohn.algebra.formats.xml_tree import Element, parse, root_tag
from krohn.program.user_input import EPSILONS

FINITE, MEALY, MOORE = "fa", "mealy", "moore"
_OTHERS = {
    "pda": "a pushdown automaton",
    "turing": "a Turing machine",
    "turingbb": "a Turing machine",
    "turing_2tape": "a Turing machine",
    "grammar": "a grammar",
    "re": "a regular expression; give it as formal:EXPRESSION",
    "lsystem": "an L-system",
    "pumping lemma": "a game",
}
_OF_STATES = ("x", "y", "label", "initial", "final", "output")
_OF_TRANSITIONS = ("from", "to", "read", "transout", "controlx", "controly")
NOTHING = "λ"
"""How JFLAP draws what is empty: what a machine shows where its file says no output."""


def has_sign(text: str) -> bool:
    """Whether a text is XML whose outermost element is ``structure``."""
    return root_tag(text) == "structure"


def read(text: str, name: str, complete: Complete = "reject") -> Automaton:
    """The acceptor, Mealy machine or Moore machine of a file of JFLAP.

    Args:
        text: The file.
        name: What to call it in messages.
        complete: The treatment of missing transitions.

    Raises:
        MachineError: If it holds something else, labels of several signs, or a machine
            with outputs that has choices or empty moves.
    """
    root = parse(text, name)
    kind = _kind(root, name)
    body = next(root.find_children("automaton"), root)
    states = {q.attributes.get("id", ""): q for q in body.find_children("state")}
    parts = {q: _parts(state, _OF_STATES, name) for q, state in states.items()}
    names = _names(body, states, name)
    for child in body.children:
        if child.tag not in ("type", "state", "transition", "note"):
            reason = f"<{child.tag}> is not read, only states and transitions are"
            raise problem(name, child.line, reason)
    ways = [_way(t, kind, names, name) for t in body.find_children("transition")]
    if not ways:
        reason = "no transitions in this file of JFLAP; a machine needs one at least"
        raise problem(name, root.line, reason)
    start = _start(
        [names[q] for q, attributes in parts.items() if "initial" in attributes], name
    )
    if kind == FINITE:
        final = [names[q] for q, attributes in parts.items() if "final" in attributes]
        every = names.values()
        return machine_of_acceptor(ways, [start], final, name, complete, states=every)
    _check_outputs(body, kind, name)
    shown = {
        names[q]: attributes.get("output") or NOTHING for q, attributes in parts.items()
    }
    if kind == MOORE:
        ways = [_of_moore(way, shown, name) for way in ways]
    outputs = shown if kind == MOORE else None
    return machine_of(ways, start, name, complete, states=names.values(), shown=outputs)


def _kind(root: Element, name: str) -> str:
    """What a file says that it holds.

    Raises:
        MachineError: If that is not read.
    """
    kind = next((each.text.strip().lower() for each in root.find_children("type")), "")
    if kind in (FINITE, MEALY, MOORE):
        return kind
    if root.tag != "structure" or not kind:
        reason = (
            "no file of JFLAP 7: that is <structure> with <type>; JFLAP 8 can save in the "
            "older form"
        )
    else:
        what = _OTHERS.get(kind, f"of the type {quote(kind)}")
        reason = f"{what}; finite automata, Mealy and Moore machines are read"
    raise problem(name, root.line, reason)


def _names(body: Element, states: dict[str, Element], name: str) -> dict[str, str]:
    """The names of states by their numbers; the numbers where names do not differ."""
    lines = [state.line for state in body.find_children("state")]
    if not lines:
        raise problem(name, body.line, "no states; is this a finite automaton?")
    if len(lines) > len(states):
        raise problem(name, lines[-1], "two states have one id; give each its own")
    names = {q: state.attributes.get("name", "") for q, state in states.items()}
    differ = all(names.values()) and len({*names.values()}) == len(names)
    return names if differ else {q: q for q in states}


def _parts(element: Element, allowed: tuple[str, ...], name: str) -> dict[str, str]:
    """The texts in a state or a transition, by what they are.

    Raises:
        MachineError: If one is there twice or is not read.
    """
    parts = dict[str, str]()
    for child in element.children:
        if child.tag not in allowed or child.tag in parts:
            twice = "is there twice" if child.tag in parts else "is not read"
            reason = f"<{child.tag}> in a {element.tag} {twice}; leave it out"
            raise problem(name, child.line, reason)
        parts[child.tag] = child.text.strip()
        if child.text and not parts[child.tag] and child.tag in ("read", "transout"):
            reason = f"<{child.tag}> is a blank; leave it empty, or name the blank"
            raise problem(name, child.line, reason)
    return parts


def _way(element: Element, kind: str, names: dict[str, str], name: str) -> Transition:
    """A transition; one without a letter is an empty move."""
    fields = _parts(element, _OF_TRANSITIONS, name)
    for end in ("from", "to"):
        if fields.get(end) not in names:
            reason = (
                f"<{end}> is {quote(fields.get(end, ''))}, which is the id of no state"
            )
            raise problem(name, element.line, reason)
    letter = fields.get("read", EMPTY)
    if letter in EPSILONS:
        reason = f"the letter {quote(letter)}; an empty move has an empty <read/>"
        raise problem(name, element.line, reason)
    if len(letter) > 1:
        reason = (
            f"<read> holds {quote(letter)}, several signs, which JFLAP reads one after the "
            "other; write one sign, and a transition for each letter or state between"
        )
        raise problem(name, element.line, reason)
    if kind != FINITE and letter == EMPTY:
        reason = "a machine with outputs reads a letter at each step: fill <read>"
        raise problem(name, element.line, reason)
    output = None if kind == FINITE else fields.get("transout") or NOTHING
    source, target = names[fields["from"]], names[fields["to"]]
    return Transition(source, letter, target, output, element.line)


def _check_outputs(body: Element, kind: str, name: str) -> None:
    """Refuse an output that is called as empty ones are, beside empty ones."""
    place, tag = ("state", "output") if kind == MOORE else ("transition", "transout")
    outputs = {
        next((child.text.strip() for child in element.find_children(tag)), "")
        for element in body.find_children(place)
    }
    if {"", NOTHING} <= outputs:
        reason = (
            f"the output {NOTHING!r} beside empty ones, which JFLAP draws so, too; empty "
            f"its <{tag}>, or rename it"
        )
        raise problem(name, body.line, reason)


def _of_moore(way: Transition, shown: dict[str, str], name: str) -> Transition:
    """A transition of a Moore machine, which may repeat what its target shows."""
    if way.output not in (NOTHING, shown[way.target]):
        reason = (
            f"a Moore machine, but a transition shows {quote(str(way.output))} and its "
            f"target {quote(way.target)} shows {quote(shown[way.target])}"
        )
        raise problem(name, way.line, reason)
    return way._replace(output=None)


def _start(starts: list[str], name: str) -> str:
    if len(starts) != 1:
        number = f"{len(starts)} states are" if starts else "no state is"
        raise problem(name, 0, f"{number} marked <initial/>; mark one")
    return starts[0]
