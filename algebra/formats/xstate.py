"""XState's machines: the object that ``createMachine`` takes, as JSON."""

from collections.abc import Mapping
from typing import Any

from krohn.algebra.automaton import Automaton
from krohn.algebra.errors import MachineError
from krohn.algebra.formats.assembly import Transition
from krohn.algebra.formats.files import Complete, check_count, problem, quote
from krohn.algebra.formats.state_charts import NESTED, machine_of_chart, refuse

_REFUSED = {
    "always": ("it leads on without an event (always)", "eventless"),
    "after": ("it leads on after some time (after)", "delayed"),
    "invoke": ("it runs something beside it (invoke)", "invoke"),
    "onDone": (NESTED, "nested"),
    "parallel": ("several states are active together (parallel)", "parallel"),
    "history": ("it remembers a state (history)", "history"),
    "guard": ("a transition has a condition (guard)", "guard"),
    "cond": ("a transition has a condition (cond)", "guard"),
    "in": ("a transition has a condition (in)", "guard"),
    "states": (NESTED, "nested"),
    "sends": ("an action sends an event", "sends"),
}
"""Keys, and types of states, that no machine has."""
_ACTIONS = ("entry", "exit", "actions")
_OMITTED = (*_ACTIONS, "context", "output", "data")
_NOTES = {"id", "key", "version", "description", "meta", "tags", "types", "$schema"}
_HARMLESS = ("xstate.assign", "xstate.log")
"""Actions of XState itself that send no events."""
WILDCARD = "*"
OF_PYTHON = (
    "it has lists of transitions, as python-statemachine's JSON does: load it there "
    "(statemachine.io.load), and give what comes back to krohn.automaton in Python"
)

_MADE = (
    "it is what createMachine gave back; write what was given to createMachine: "
    "JSON.stringify(machine.config)"
)


def is_chart(said: object) -> bool:
    """Whether JSON is such an object; Krohn's own machines have lists of states."""
    return isinstance(said, Mapping) and isinstance(said.get("states"), Mapping)


def from_object(
    said: Mapping[str, Any], name: str, complete: Complete = "reject"
) -> Automaton:
    """The machine of a flat chart: it shows its states, final ones like others.

    Args:
        said: The object, for which `is_chart` holds.
        name: What to call the file in messages.
        complete: The treatment of events that no transition of a state takes;
            ``"reject"`` leaves the state, as XState does, with a remark.

    Raises:
        MachineError: If something in it is no part of a flat chart; the message names it.
    """
    return _Chart(said, name).machine(complete)


class _Chart:
    """A chart, and what is left out of it."""

    def __init__(self, said: Mapping[str, Any], name: str) -> None:
        self.name, self.said, self.omitted = name, said, dict[str, None]()
        self.states: Mapping[str, Any] = said["states"]
        self.targets: dict[str, str] = {q: q for q in self.states}
        for q, state in self.states.items():
            self.targets |= {f".{q}": q, f"#{said.get('id', '')}.{q}": q}
            if isinstance(state, Mapping) and isinstance(state.get("id"), str):
                self.targets[f"#{state['id']}"] = q

    def machine(self, complete: Complete) -> Automaton:
        """The machine of the chart; see `machine_of_chart`."""
        if "order" in self.said or isinstance(self.said.get("initial"), Mapping):
            raise self.wrong("", _MADE)
        if any(
            isinstance(q, Mapping) and "transitions" in q for q in self.states.values()
        ):
            raise self.wrong("", OF_PYTHON)
        start = str(self.said.get("initial"))
        if start not in self.states:
            raise self.wrong("", "its key 'initial' names no state")
        parts = {k: v for k, v in self.said.items() if k not in ("initial", "states")}
        above = self.row("", parts)
        rows = {q: self.row(q, state) for q, state in self.states.items()}
        letters = dict.fromkeys(e for row in [*rows.values(), above] for e in row)
        letters.pop(WILDCARD, None)
        check_count(len(letters) * len(rows), self.name)
        moves = list[Transition]()
        for q, row in rows.items():
            # A chart that has ended takes nothing more.
            around = {} if self.states[q].get("type") == "final" else above
            for letter in letters:
                target = _target(letter, row, around)
                moves += [] if target is None else [Transition(q, letter, target or q)]
        return machine_of_chart(
            moves,
            start,
            self.name,
            complete,
            states=self.states,
            omitted=self.omitted,
        )

    def row(self, state: str, said: Any) -> dict[str, str]:
        """Where events lead from a state, or from all of them (""); "" if they stay."""
        if not isinstance(said, Mapping):
            raise self.wrong(state, "it is no object")
        kind, events = said.get("type"), said.get("on") or {}
        if kind in _REFUSED:
            raise self.wrong(state, str(kind), refused=True)
        if kind not in ((None, "atomic", "final") if state else (None, "compound")):
            raise self.wrong(state, f"its type is {quote(str(kind))}, and is not read")
        if said.get("states"):
            raise self.wrong(state, "states", refused=True)
        self.check(state, said, ("on", "type", "states"))
        if not isinstance(events, Mapping) or (events and kind == "final"):
            raise self.wrong(
                state, "'on' is an object of events; no final state has any"
            )
        return {event: self.target(state, event, way) for event, way in events.items()}

    def target(self, state: str, event: str, said: Any) -> str:
        """Where an event leads; "" if it stays."""
        ways = said if isinstance(said, list) else [said]
        ways = [{"target": way} if isinstance(way, str) else way for way in ways]
        if not ways or not all(isinstance(way, Mapping) for way in ways):
            reason = f"the event {quote(event)} leads to no state, and to no object"
            raise self.wrong(state, reason)
        for way in ways:
            self.check(state, way, ("target", "internal", "reenter"))
        if not event:
            raise self.wrong(state, "always", refused=True)
        if event != WILDCARD and WILDCARD in event:
            reason = f"the event {quote(event)} stands for others; write each of them"
            raise self.wrong(state, reason)
        return self.resolve_target(state, ways[0].get("target"))

    def resolve_target(self, state: str, target: Any) -> str:
        """The state that a target names."""
        if isinstance(target, list) and len(target) == 1:
            target = target[0]
        if target is None:
            return ""
        if state and str(target).startswith("."):
            raise self.wrong(state, "states", refused=True)
        if not isinstance(target, str) or target not in self.targets:
            reason = f"the target {quote(str(target))} is no state of the chart"
            raise self.wrong(state, reason)
        return self.targets[target]

    def check(self, state: str, said: Mapping[str, Any], read: tuple[str, ...]) -> None:
        """Refuse what no machine has, and what nobody reads; note what is left out."""
        for key, value in said.items():
            if key in read or key in _NOTES or value in (None, False, [], {}):
                continue
            if key in _REFUSED:
                raise self.wrong(state, key, refused=True)
            if key not in _OMITTED:
                raise self.wrong(
                    state, f"the key {quote(key)} is not read; leave it out"
                )
            self.omitted[key] = None
            for action in value if isinstance(value, list) else [value]:
                kind = action.get("type") if isinstance(action, Mapping) else action
                own = str(kind).startswith("xstate.")
                if key in _ACTIONS and own and kind not in _HARMLESS:
                    raise self.wrong(state, "sends", refused=True)

    def wrong(self, state: str, what: str, refused: bool = False) -> MachineError:
        """The error about a state, or about the chart ("")."""
        place = f"the state {quote(state)}: " if state else "the chart: "
        if refused:
            subject, reason = _REFUSED[what]
            return refuse(self.name, 0, f"{place}{subject}", reason)
        return problem(self.name, 0, f"{place}{what}")


def _target(
    letter: str, row: Mapping[str, str], around: Mapping[str, str]
) -> str | None:
    """Where a letter leads; None if no transition takes it."""
    taken = (
        transitions[a]
        for transitions in (row, around)
        for a in (letter, WILDCARD)
        if a in transitions
    )
    return next(taken, None)
