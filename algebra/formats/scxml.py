"""SCXML, the state charts of the W3C: flat ones, whose events are letters.

``docs/formats.md`` says what is read and what is refused.
"""

from collections.abc import Collection, Container, Iterator
from typing import NamedTuple

from krohn.algebra.automaton import Automaton
from krohn.algebra.errors import MachineError
from krohn.algebra.formats.assembly import Transition
from krohn.algebra.formats.files import Complete, check_count, problem, quote
from krohn.algebra.formats.state_charts import NESTED, machine_of_chart, refuse
from krohn.algebra.formats.xml_tree import Element, parse, root_tag

SPACE = "http://www.w3.org/2005/07/scxml"
_INCLUDED = "http://www.w3.org/2001/XInclude"
MAX_WORDS = 20
"""Of an event, between its dots."""
_ATTRIBUTES = {
    "scxml": {"id", "name", "version", "initial", "datamodel", "profile", "binding"},
    "state": {"id", "name"},
    "final": {"id", "name"},
    "transition": {"event", "target", "type", "name"},
}
_DATA = ("datamodel", "donedata", "script")
_HARMLESS = ("assign", "cancel", "log", "script", "if", "elseif", "else", "foreach")
"""Actions that change data and outputs alone, which only guards would see."""
_REFUSED = {
    "parallel": ("<parallel>: several states are active together", "parallel"),
    "history": ("<history>: a state is remembered", "history"),
    "invoke": ("<invoke>: another chart runs beside this one", "invoke"),
    "raise": ("<raise>: the chart sends an event itself", "sends"),
    "send": ("<send>: the chart sends an event itself", "sends"),
    "state": (NESTED, "nested"),
    "final": (NESTED, "nested"),
    "initial": (NESTED, "nested"),
}


def has_sign(text: str) -> bool:
    """Whether a text is XML whose outermost element is ``scxml``."""
    return root_tag(text) == "scxml"


def read(text: str, name: str, complete: Complete = "reject") -> Automaton:
    """The machine of a flat chart: it shows its states, final ones like others.

    Args:
        text: The file.
        name: What to call the file in messages.
        complete: The treatment of events that no transition of a state takes;
            ``"reject"`` leaves the state, as SCXML says, with a remark.

    Raises:
        MachineError: If the file is no SCXML, or the chart has guards, nested or parallel
            states, history, transitions without an event, or sends events itself.
    """
    root = parse(text, name)
    if root.tag != "scxml":
        raise problem(name, root.line, f"not SCXML: it begins with <{root.tag}>")
    if root.space not in ("", SPACE):
        reason = f"not SCXML: its namespace is {quote(root.space)}, not {SPACE}"
        raise problem(name, root.line, reason)
    return _Chart(root, name).machine(complete)


class _Way(NamedTuple):
    """A transition as the file has it: events that it takes, and a target, if any."""

    events: tuple[str, ...]
    target: str | None
    line: int


class _Chart:
    """A chart: its states, where it starts, and what is left out of it."""

    def __init__(self, root: Element, name: str) -> None:
        self.root, self.name = root, name
        self.omitted = list[str]()
        self.states = dict[str, list[_Way]]()
        starts = root.attributes.get("initial", "").split()
        root.check(name, _ATTRIBUTES["scxml"])
        for child in self._standard_children(root):
            if child.tag in ("state", "final"):
                self._add(child)
            elif child.tag == "initial":
                starts += self._initial(child)
            elif not self._leave_out(child, _DATA):
                raise self._refusal(child)
        if not self.states:
            raise problem(name, root.line, "no states; is this a state chart?")
        self.start = self._start(starts)

    def machine(self, complete: Complete) -> Automaton:
        """The machine of the chart; see `machine_of_chart`."""
        ways = [way for state_ways in self.states.values() for way in state_ways]
        letters = letters_taken(dict.fromkeys(e for way in ways for e in way.events))
        check_count(sum(len(letters[e]) for way in ways for e in way.events), self.name)
        moves = dict[tuple[str, str], Transition]()
        for q, state_ways in self.states.items():
            for way in state_ways:
                target = q if way.target is None else way.target
                for letter in (a for event in way.events for a in letters[event]):
                    taken = Transition(q, letter, target, None, way.line)
                    moves.setdefault((q, letter), taken)  # the first one is taken
        return machine_of_chart(
            [*moves.values()],
            self.start,
            self.name,
            complete,
            states=self.states,
            omitted=self.omitted,
        )

    def _standard_children(self, element: Element) -> Iterator[Element]:
        """What SCXML has in an element, without what editors add."""
        for each in element.children:
            if each.space == _INCLUDED:
                reason = f"<{each.tag}> of XInclude: another file; put its text here"
                raise problem(self.name, each.line, reason)
            if each.space in ("", SPACE):
                yield each

    def _add(self, state: Element) -> None:
        if state.attributes.pop("initial", ""):
            raise refuse(self.name, state.line, NESTED, "nested")
        state.check(self.name, _ATTRIBUTES[state.tag])
        called = state.attributes.get("id", "")
        if not called:
            raise problem(self.name, state.line, "a state without an id; give it one")
        if called in self.states:
            reason = f"two states have the id {quote(called)}; rename one"
            raise problem(self.name, state.line, reason)
        ways = self.states[called] = []
        for child in self._standard_children(state):
            if child.tag == "transition" and state.tag == "state":
                ways.append(self._way(child, called))
            elif child.tag in ("onentry", "onexit"):
                self._check_actions(child)
            elif not self._leave_out(child, _DATA):
                raise self._refusal(child)

    def _way(self, transition: Element, state: str) -> _Way:
        line, attributes = transition.line, transition.attributes
        if "cond" in attributes:
            what = f"the transition from {quote(state)} has a condition (cond)"
            raise refuse(self.name, line, what, "guard")
        transition.check(self.name, _ATTRIBUTES["transition"])
        self._check_actions(transition)
        events = [_descriptor(each) for each in attributes.get("event", "").split()]
        if any(event.count(".") >= MAX_WORDS for event in events):
            reason = f"an event of more than {MAX_WORDS} words between dots; rename it"
            raise problem(self.name, line, reason)
        if not events:
            what = f"a transition from {quote(state)} has no event"
            raise refuse(self.name, line, what, "eventless")
        return _Way((*events,), self._target(transition), line)

    def _target(self, transition: Element) -> str | None:
        targets = transition.attributes.get("target", "").split()
        if len(targets) > 1:
            what = "a transition with several targets"
            raise refuse(self.name, transition.line, what, "parallel")
        return targets[0] if targets else None

    def _initial(self, element: Element) -> list[str]:
        """The target of ``<initial>``, which some write for the attribute."""
        ways = [*element.find_children("transition")]
        target = self._target(ways[0]) if len(ways) == 1 else None
        if target is None:
            reason = "<initial> holds one transition, whose target is a state"
            raise problem(self.name, element.line, reason)
        self._check_actions(ways[0])
        return [target]

    def _start(self, starts: list[str]) -> str:
        line = self.root.line
        if len({*starts}) > 1:
            what = f"starts in {quote(starts[0])} and in {quote(starts[1])}"
            raise refuse(self.name, line, what, "parallel")
        targets: list[tuple[str | None, int]] = [(start, line) for start in starts]
        targets += [(w.target, w.line) for ways in self.states.values() for w in ways]
        for target, line in targets:
            if target is not None and target not in self.states:
                reason = f"{quote(target)} is no state; the targets are ids of states"
                raise problem(self.name, line, reason)
        return starts[0] if starts else next(iter(self.states))

    def _check_actions(self, block: Element) -> None:
        """Refuse actions that send events; the others change no state."""
        for action in self._standard_children(block):
            if not self._leave_out(action, _HARMLESS):
                raise self._refusal(action)
            self._check_actions(action)

    def _leave_out(self, element: Element, harmless: Container[str]) -> bool:
        if element.tag in harmless:
            self.omitted.append(f"<{element.tag}>")
            return True
        return False

    def _refusal(self, element: Element) -> MachineError:
        what, reason = _REFUSED.get(element.tag, ("", ""))
        if what:
            return refuse(self.name, element.line, what, reason)
        text = f"<{element.tag}> is nothing of SCXML here; leave it out"
        return problem(self.name, element.line, text)


def _descriptor(event: str) -> str:
    """The event without the star that means the same: ``error.*`` is ``error``."""
    return event if event == "*" else event.removesuffix("*").removesuffix(".")


def letters_taken(events: Collection[str]) -> dict[str, list[str]]:
    """The letters that each event of a transition takes.

    An event takes all that begin with its words, which dots divide: ``error`` takes
    ``error.network``; ``*`` takes all.
    """
    letters = {event: event.split(".") for event in events if event != "*"}
    taken: dict[str, list[str]] = {event: [] for event in events}
    for size in {len(words) for words in letters.values()}:
        for letter, words in letters.items():
            if len(words) >= size and (head := ".".join(words[:size])) in taken:
                taken[head].append(letter)
    return taken | {"*": [*letters]}
