"""How a machine is read from what names it, holds it or is it: the options, by name."""

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Self, TypedDict

from krohn.algebra.formats import Complete, Kind

Outputs = Mapping[Any, Any] | Callable[..., object]
Accepting = Collection[Any] | Callable[[Any], object]


class ReadingKeywords(TypedDict, total=False):
    """The keywords of `MachineReading` but for the start."""

    complete: Complete
    read_as: Kind | None
    observe: str | None
    letters: Iterable[Any] | None
    accepting: Accepting | None
    outputs: Outputs | None
    limit: int | None
    edge: str | None


class MachineKeywords(ReadingKeywords, total=False):
    """The keywords of functions that take a machine; see `MachineReading`."""

    start: Hashable | None


@dataclass(frozen=True, kw_only=True)
class MachineReading:
    """How a machine is read from what names it, holds it or is it.

    Attributes:
        start: The start state; None for the machine's own, or the first one if nothing
            says which it is.
        complete: What to do with missing transitions: refuse (``"reject"``; acceptors get
            a sink), lead them to a new ``"sink"``, or ``"stay"``.
        read_as: What an Fst or an AT&T file is read as: ``"acceptor"``, ``"mealy"``, or
            None for what its labels say.
        observe: What a state shows instead of the state: a name of
            `krohn.algebra.observation.OBSERVATIONS`, or ``"outputs"`` for the machine's
            own.
        letters: The letters of an object in their order: of a function always, of others
            if theirs is not right.
        accepting: Of a dict, a function, permutations, a graph: the accepting states, or
            a function that says which ones accept.
        outputs: Of the same: what a state shows, as a dict or a function of the state;
            or what a letter shows, as a dict of dicts, or a function of both.
        limit: How many states of a function are explored, at most; 100,000 if nothing
            is said.
        edge: The attribute of a graph's edges that has the letter, or a list of them;
            ``"letter"`` if nothing is said.
    """

    start: Hashable | None = None
    complete: Complete = "reject"
    read_as: Kind | None = None
    observe: str | None = None
    letters: Iterable[Any] | None = None
    accepting: Accepting | None = None
    outputs: Outputs | None = None
    limit: int | None = None
    edge: str | None = None

    @property
    def reading_options(self) -> list[str]:
        """The names of what is said of how to read."""
        options = fields(MachineReading)
        return [o.name for o in options if getattr(self, o.name) != o.default]

    def after_reading(self) -> Self:
        """What else is said, once the machine is read: how to see it remains."""
        own = (o for o in fields(MachineReading) if o.name != "observe")
        unsaid: dict[str, Any] = {o.name: o.default for o in own}
        return replace(self, **unsaid)


AS_IT_IS = MachineReading()
OF_OBJECTS = ("letters", "accepting", "outputs", "limit", "edge")
"""The options about objects that do not say all of a machine themselves."""
