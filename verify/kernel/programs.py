"""Programs of Transformers as evidence for the kernel: why they compute a machine.

Nothing here is trusted: what Coq has proved checks it. A reason is one of four: an
inductive invariant of all outputs, invariants of groups of outputs, a scan, or such a
reason of another Program with the same outputs (docs/proofs/kernel.md).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from krohn.program.errors import Refused, demand
from krohn.program.statement import Statement, parse
from krohn.verify.checker.model_file import Machine, Model
from krohn.verify.checker.transformer import read_program
from krohn.verify.kernel.counterparts import remembering_less
from krohn.verify.search.exploration import GivenUp
from krohn.verify.search.lemmas import windows
from krohn.verify.search.refinement import Search

MOST_PAIRS = 100_000
"""The most pairs of a state and of values that a scan may have."""


class OneInvariant(Search):
    """A search for inductive invariants by the rules that the kernel has.

    No lemmas, no windows, sums lowered one by one, and every position told apart if the
    Program asks which one it is.
    """

    def __init__(self, program: Statement, machine: Machine) -> None:
        super().__init__(program, machine)
        self.windows = {"families": [], "ranks": [], "windows": {}}
        self.followed = {}

    def find_parts(self) -> list[dict[str, Any]]:
        """Invariants of groups of outputs, or one of all.

        Raises:
            Refused: If none is found.
        """
        if len(self._groups()) > 1:
            try:
                parts: list[dict[str, Any]] = self.parts()["parts"]
                return parts
            except (GivenUp, Refused):
                pass
        try:
            parts = self.whole()["parts"]
        except GivenUp as error:
            raise Refused(str(error)) from None
        return parts

    def _count(self, outputs: list[str]) -> dict[str, int]:
        return {}

    def _links(self, outputs: list[str]) -> Iterator[dict[str, Any]]:
        return iter(())

    def stated_part(
        self, outputs: list[str], assumed: dict[str, int] | None = None
    ) -> dict[str, Any]:
        """The statement of the part; each rule is of one sum."""
        statement = super().stated_part(outputs, assumed)
        has_position = any(c.op == "position" for c in self.program.channels.values())
        repeats = [self.program.length, 1] if has_position else [0, 1]
        alone = [
            rule
            for rule in statement["reduced"]
            if len(rule[0]) == 1 and self._has_all_sums(rule[0][0])
        ]
        return {**statement, "reduced": alone, "repeats": repeats}

    def _has_all_sums(self, name: str) -> bool:
        """Whether a sum may be whatever the kernel takes it for where it is lowered."""
        channel = self.program.channels[name]
        source = self.program.channels[channel.inputs[0]]
        most: int = channel.domain.max()
        return most >= self.program.length * int(source.later.max())


class ProgramTerms:
    """A Program as the kernel reads it.

    Attributes:
        place: The number of each channel.
        operations: The channels as lists of a name and arguments.
        known: The Program, with the values that its channels may have.
    """

    def __init__(
        self, said: Mapping[str, Any], known: Statement, machine: Machine
    ) -> None:
        self._channels: list[Mapping[str, Any]] = said["channels"]
        for channel in self._channels:
            kind = channel.get("function", channel["op"])
            demand(kind in FORMS, f"the kernel has no theorem about {kind}")
        self._machine, self.known = machine, known
        self.place = {c["name"]: i for i, c in enumerate(self._channels)}
        self.operations = [self._operation(c) for c in self._channels]

    def _operation(self, channel: Mapping[str, Any]) -> list[Any]:
        form = FORMS[channel.get("function", channel["op"])]
        return form.term(channel, [self.place[x] for x in form.inputs(channel)])

    def find_reason(self) -> tuple[list[str], dict[str, Any]]:
        """Why it computes the machine: the outputs in their order, and a reason.

        Raises:
            Refused: If no reason is found that the kernel can follow.
        """
        parts = OneInvariant(self.known, self._machine).find_parts()
        invariants = [self._invariant(part) for part in parts]
        outputs = [name for part in parts for name in part["outputs"]]
        if len(parts) == 1:
            return outputs, {"invariant": invariants[0]}
        return outputs, {"parts": invariants}

    def _invariant(self, part: Mapping[str, Any]) -> dict[str, Any]:
        channels = FollowedChannels(
            self._channels, part, len(self._machine.transitions)
        ).each
        hidden: Followed = ("Hidden",), False, [[]] * len(part["states"])
        channels += [hidden] * (len(self.operations) - len(channels))
        sets: dict[tuple[int, ...], int] = {}
        cells = [
            [
                [sets.setdefault(tuple(cell), len(sets)) for cell in of[state]]
                for _, _, of in channels
            ]
            for state in range(len(part["states"]))
        ]
        return {
            "outs": [self.place[name] for name in part["outputs"]],
            "len": self.known.length,
            "exact": any(c["op"] == "position" for c in self._channels),
            "anns": [[list(way), split] for way, split, _ in channels],
            "qs": list(part["states"]),
            "depths": list(part["depths"]),
            "follow": [list(row) for row in part["follow"]],
            "sets": [list(values) for values in sets],
            "cells": cells,
        }


class ProgramEvidence(ProgramTerms):
    """The Program of a file, and why it computes the machine, as the kernel reads them.

    After the channels of the file stands one that is the position.
    """

    def __init__(self, model: Model) -> None:
        known = read_program(model, len(model.machine.transitions))
        super().__init__(model.program, known, model.machine)
        self._model = model
        self.operations.append(["Position", list(range(known.length + 1))])

    def to_object(self) -> dict[str, Any]:
        """The fields of evidence about the Program.

        Raises:
            Refused: If no reason is found that the kernel can follow.
        """
        program, scan = self._model.program, self._scan
        outputs, reason = list(program["outputs"]), {"scan": scan}
        if scan is None:
            outputs, reason = self._through() or self.find_reason()
        at = [program["outputs"].index(name) for name in outputs]
        return {
            "program": self.operations,
            "outputs": [self.place[name] for name in outputs],
            "decode": [[[v[i] for i in at], c] for v, c in program["decode"]],
            **reason,
        }

    def _through(self) -> tuple[list[str], dict[str, Any]] | None:
        """A reason of a Program that remembers less; None if there is none."""
        said = remembering_less(self._model.program, self.known)
        if said is None:
            return None
        known = parse(said, self.known.letters, self.known.length)
        other = ProgramTerms(said, known, self._machine)
        outputs, reason = other.find_reason()
        kept = [other.place.get(c["name"]) for c in self._channels]
        kept += [None] * (len(self.operations) - len(kept))
        return outputs, {
            "through": {
                "program": other.operations,
                "kept": kept,
                "outputs": [other.place[name] for name in outputs],
                **reason,
            }
        }

    @cached_property
    def _scan(self) -> dict[str, Any] | None:
        """All outputs as windows of one family that are wide enough; None if they are not.

        A window of the last T letters is what all letters so far do (Scan.v).
        """
        stated = windows(self.known, self._machine)
        outputs, wide = self._model.program["outputs"], stated["windows"]
        length = self._model.length or 0
        families = {wide[o][0] for o in outputs if o in wide and wide[o][1] >= length}
        if len(families) != 1 or not all(o in wide for o in outputs):
            return None
        (chosen,) = families
        if any(wide[o][1] < length for o in outputs):
            return None
        members = stated["families"][chosen]
        rows = self._letter_maps(members)
        if rows is None:
            return None
        of: list[list[int] | None] = [None] * len(self.operations)
        for value, name in enumerate(members):
            of[self.place[name]] = [value, 1]
        for name, (family, width) in wide.items():
            if family == chosen:
                of[self.place[name]] = [int(self.known.channels[name].bos), width]
        first = tuple(int(self.known.channels[o].bos) for o in outputs)
        pairs = self._pairs(first, rows)
        family = [self.place[name] for name in members]
        if pairs is None:
            return None
        return {"family": family, "windows": of, "pairs": pairs}

    def _letter_maps(self, members: Sequence[str]) -> list[dict[int, int]] | None:
        """What each letter does to each value; None if some member is no table of it."""
        named = {c["name"]: c for c in self._channels}
        channels = [named[name] for name in members]
        if any(c.get("function") != "table" or len(c["inputs"]) != 1 for c in channels):
            return None
        return [{row[0]: row[1] for row in c["rows"]} for c in channels]

    def _pairs(
        self, first: tuple[int, ...], rows: Sequence[Mapping[int, int]]
    ) -> list[list[Any]] | None:
        """All states with the values beside them, from the start on."""
        start = (self._machine.start, first)
        seen, todo = {start}, [start]
        moves = self._machine.transitions.tolist()
        for state, values in todo:
            for letter, row in enumerate(moves):
                pair = row[state], tuple(rows[v][letter] for v in values)
                if pair not in seen:
                    seen.add(pair)
                    todo.append(pair)
            if len(todo) > MOST_PAIRS:
                return None
        return [[state, list(values)] for state, values in todo]


Followed = tuple[tuple[Any, ...], bool, list[list[Sequence[int]]]]
"""How a channel is followed, whether each value is looked at by itself, and its cells in
each abstract state."""


class FollowedChannels:
    """How an invariant follows the channels of a Program.

    Attributes:
        each: One for each channel.
    """

    def __init__(
        self,
        channels: Sequence[Mapping[str, Any]],
        part: Mapping[str, Any],
        letters: int,
    ) -> None:
        self.each = list[Followed]()
        self._channels = {c["name"]: c for c in channels}
        self._part = part
        self._hidden = set[str]()
        self._at_bos = dict[str, int]()
        self._lowered = {
            name: (step, least) for (name,), (step,), (least,) in part["reduced"]
        }
        for channel in channels:
            self._add(channel, letters)

    def _add(self, channel: Mapping[str, Any], letters: int) -> None:
        name, kind = channel["name"], channel.get("function", channel["op"])
        inputs = FORMS[kind].inputs(channel)
        before = [self._at_bos[x] for x in inputs]
        self._at_bos[name] = FORMS[kind].at_bos(channel, before, letters)
        way, cells = self._follow(name, kind, inputs)
        if way == ("Mapped",) and (kind not in MAPS or self._hidden & set(inputs)):
            way = ("Hidden",)
        if way == ("Hidden",):
            self._hidden.add(name)
        self.each.append((way, name in self._part["split"], cells))

    def _follow(
        self, name: str, kind: str, inputs: Sequence[str]
    ) -> tuple[tuple[Any, ...], list[list[Sequence[int]]]]:
        """How a channel is followed, and its cells in each abstract state."""
        if name not in self._part["cells"]:
            return ("Mapped",), [[]] * len(self._part["states"])
        sets, of = self._part["cells"][name]
        each = [[sets[k] for k in row] for row in of]
        if kind == "latest-match":
            default = [self._at_bos[inputs[0]]]
            keys = list(self._channels[inputs[1]]["domain"])
            return ("Keyed", keys), [[*row, default] for row in each]
        if kind in ("prefix-sum", "marked-sum"):
            most = max(self._channels[inputs[0]]["domain"])
            return ("Lowered", *self._lowered.get(name, (0, 0)), most), each
        if kind == "earliest":
            return ("Cells",), [self._first_ones(sets[k], inputs[0]) for (k,) in of]
        demand(kind in ("shift", "latest"), f"its invariant has cells of {kind}")
        return ("Cells",), each

    def _first_ones(self, values: Sequence[int], source: str) -> list[Sequence[int]]:
        """The cells of an earliest: what it fetched, and the value at BOS if nothing."""
        unseen = [self._at_bos[source]] if -1 in values else []
        return [[v for v in values if v >= 0], unseen]


class Form(NamedTuple):
    """An operation of the kernel.

    Attributes:
        fields: The fields that name its inputs; none if they stand in ``inputs``.
        term: It as the kernel reads it, from a channel and the numbers of its inputs.
        at_bos: Its value at BOS, from a channel, the values of its inputs there, and the
            number of letters.
    """

    fields: tuple[str, ...]
    term: Callable[[Mapping[str, Any], list[int]], list[Any]]
    at_bos: Callable[[Mapping[str, Any], list[int], int], int]

    def inputs(self, channel: Mapping[str, Any]) -> Sequence[str]:
        """The names of what a channel reads."""
        if self.fields:
            return [channel[x] for x in self.fields]
        names: Sequence[str] = channel.get("inputs", [])
        return names


def _first(channel: Mapping[str, Any], before: list[int], letters: int) -> int:
    return before[0]


def _looked_up(channel: Mapping[str, Any], before: list[int], letters: int) -> int:
    values = {tuple(row[:-1]): row[-1] for row in channel["rows"]}
    return int(values[tuple(before)])


def _table(channel: Mapping[str, Any], at: list[int]) -> list[Any]:
    return ["Table", at, [[list(row[:-1]), row[-1]] for row in channel["rows"]]]


MAPS = ("token", "position", "table", "select", "sum")
FORMS = {
    "token": Form((), lambda c, at: ["Token"], lambda c, b, letters: letters),
    "position": Form(
        (),
        lambda c, at: ["Position", list(c["values"])],
        lambda c, b, letters: int(c["values"][0]),
    ),
    "table": Form((), _table, _looked_up),
    "select": Form(
        (),
        lambda c, at: ["Select", at[0], at[1:]],
        lambda c, b, letters: b[1 + b[0]],
    ),
    "sum": Form((), lambda c, at: ["Sum", at], lambda c, b, letters: sum(b)),
    "shift": Form(("source",), lambda c, at: ["Shift", at[0], c["by"]], _first),
    "latest": Form(("source", "where"), lambda c, at: ["Latest", *at], _first),
    "earliest": Form(("source", "where"), lambda c, at: ["Earliest", *at], _first),
    "latest-match": Form(
        ("source", "key", "query"), lambda c, at: ["LatestMatch", *at], _first
    ),
    "sibling-latest": Form(
        ("source", "where"),
        lambda c, at: ["SiblingLatest", *at, c["level"]],
        _first,
    ),
    "prefix-sum": Form(("source",), lambda c, at: ["PrefixSum", *at], _first),
    "marked-sum": Form(("source", "where"), lambda c, at: ["MarkedSum", *at], _first),
}
"""The operations that Program.v has."""
