"""Programs of Transformers as terms of Coq, with an inductive invariant for each."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from krohn.instruments.formal.coq import (
    PROGRAMS,
    Development,
    integers,
    machine_term,
    rows,
)
from krohn.program.errors import Refused, demand
from krohn.program.statement import Statement
from krohn.verify.checker.model_file import Machine, Model
from krohn.verify.checker.transformer import read_program
from krohn.verify.search.exploration import GivenUp
from krohn.verify.search.refinement import Search

PROGRAM = """\
(** The Program of a Transformer computes a machine.

    Written by Krohn. `make` proves it; Krohn's docs/instruments/formal.md says what it
    means. *)
From Coq Require Import List.
From Krohn Require Import {library}.
Import ListNotations.

{machine}
Definition program_of_file : program := [
  {operations}].

Definition decode_of_file : list (list nat * nat) := [{decode}].

{invariant}
Theorem program_correct :
  computes machine_of_file program_of_file {outputs} decode_of_file {length}.
Proof. apply (check_sound _ _ _ invariant). vm_compute. reflexivity. Qed.

Print Assumptions program_correct.
"""
INVARIANT = """\
Definition invariant : part := {{|
  outs := {shown}; len := {length}; exact := {exact};
  anns := [
    {followed}];
  qs := {states};
  depths := {depths};
  follow := {follow};
  cells := [
    {cells}] |}}.
"""


class OnePart(Search):
    """A search for an invariant in one part, by the rules that Coq's checker has.

    No lemmas, no windows, sums lowered one by one, and every position told apart if the
    Program asks which one it is.
    """

    def __init__(self, program: Statement, machine: Machine) -> None:
        super().__init__(program, machine)
        self.windows = {"families": [], "ranks": [], "windows": {}}
        self.followed = {}

    def alone(self) -> dict[str, Any]:
        """The invariant.

        Raises:
            Refused: If none is found.
        """
        try:
            return self.whole()
        except GivenUp as error:
            raise Refused(str(error)) from None

    def _count(self, outputs: list[str]) -> dict[str, int]:
        return {}

    def stated_part(
        self, outputs: list[str], assumed: dict[str, int] | None = None
    ) -> dict[str, Any]:
        """The statement of the part; each rule is of one sum."""
        statement = super().stated_part(outputs, assumed)
        has_position = any(c.op == "position" for c in self.program.channels.values())
        repeats = [self.program.length, 1] if has_position else [0, 1]
        alone = [rule for rule in statement["reduced"] if len(rule[0]) == 1]
        return {**statement, "reduced": alone, "repeats": repeats}


def invariant_of(model: Model) -> Mapping[str, Any]:
    """An inductive invariant of the Program of a file, in one part.

    Raises:
        Refused: If it has operations that Coq's checker has not, or none is found.
    """
    for channel in model.program["channels"]:
        kind = channel.get("function", channel["op"])
        demand(kind in FORMS, f"{kind} is no operation of Coq's checker")
    machine = model.machine
    search = OnePart(read_program(model, len(machine.transitions)), machine)
    part: Mapping[str, Any] = search.alone()["parts"][0]
    return part


def of_program(model: Model) -> Development:
    """The Program of a Transformer computes the machine, to the length of its claim.

    Raises:
        Refused: If it has operations that Coq's checker has not, or no invariant is found.
    """
    return write_development(model, invariant_of(model))


def write_development(model: Model, part: Mapping[str, Any]) -> Development:
    """The theorem, with an invariant in one part (docs/proofs/invariants.md)."""
    terms = ProgramTerms(model, part)
    length = model.length
    text = PROGRAM.format(
        library=" ".join(PROGRAMS),
        machine=machine_term(model.machine),
        operations=terms.operations,
        outputs=terms.outputs,
        decode=terms.decode,
        length=length,
        invariant=terms.invariant,
    )
    says = (
        "the Program of the file says what the machine shows, at every position of "
        f"every word of up to {length} letters"
    )
    return Development(text, PROGRAMS, says)


class ProgramTerms:
    """A Program and its invariant as terms.

    Attributes:
        place: The number of each channel.
        operations: The channels; after those of the file one that is the position, if it
            is asked for.
        outputs: The numbers of the outputs.
        decode: What the outputs mean.
        invariant: The definition of the invariant.
    """

    def __init__(
        self, model: Model, part: Mapping[str, Any], position: bool = False
    ) -> None:
        program = model.program
        listed = Operations(program["channels"], part, len(model.machine.transitions))
        length, terms = model.length or 0, listed.told
        if position:
            term = f"Position {integers(range(length + 1))}"
            terms = [*terms, (term, "(Hidden, false)", ["[]"] * len(part["states"]))]
        states = zip(*(cells for _, _, cells in terms), strict=True)
        exact = any(c["op"] == "position" for c in program["channels"])
        self.place = listed.place
        self.operations = ";\n  ".join(operation for operation, _, _ in terms)
        self.outputs = integers(self.place[name] for name in program["outputs"])
        self.decode = ";".join(f"({integers(v)},{c})" for v, c in program["decode"])
        self.invariant = INVARIANT.format(
            length=length,
            shown=integers(self.place[name] for name in part["outputs"]),
            exact=str(exact).lower(),
            followed=";\n    ".join(followed for _, followed, _ in terms),
            states=integers(part["states"]),
            depths=integers(part["depths"]),
            follow=f"naturals {rows(part['follow'])}%N",
            cells=";\n    ".join("[" + ";".join(of) + "]" for of in states),
        )


class Operations:
    """The channels of a Program as terms, with how the invariant follows each.

    Attributes:
        place: The number of each channel.
        told: Of each channel its operation, how it is followed, and its cells in each
            abstract state.
    """

    def __init__(
        self,
        channels: Sequence[Mapping[str, Any]],
        part: Mapping[str, Any],
        letters: int,
    ) -> None:
        self.place = {c["name"]: i for i, c in enumerate(channels)}
        self.told: list[tuple[str, str, list[str]]] = []
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
        form = FORMS[kind]
        inputs = (
            [channel[x] for x in form.fields]
            if form.fields
            else channel.get("inputs", [])
        )
        places = [self.place[x] for x in inputs]
        before = [self._at_bos[x] for x in inputs]
        self._at_bos[name] = form.at_bos(channel, before, letters)
        cells, followed = self._follow_channel(name, kind, inputs)
        if followed == MAPPED and (kind not in MAPS or self._hidden & set(inputs)):
            followed = "Hidden"
        if followed == "Hidden":
            self._hidden.add(name)
        split = str(name in self._part["split"]).lower()
        self.told.append((form.term(channel, places), f"({followed}, {split})", cells))

    def _follow_channel(
        self, name: str, kind: str, inputs: list[str]
    ) -> tuple[list[str], str]:
        """The cells of a channel in each abstract state, and how it is followed."""
        if name not in self._part["cells"]:
            return ["[]"] * len(self._part["states"]), MAPPED
        sets, of = self._part["cells"][name]
        each = [[integers(sets[k]) for k in row] for row in of]
        followed = "Cells"
        if kind == "latest-match":
            keys = self._channels[inputs[1]]["domain"]
            default = f"[{self._at_bos[inputs[0]]}]"
            each = [[*row, default] for row in each]
            followed = f"Keyed {integers(keys)}"
        elif kind in ("prefix-sum", "marked-sum"):
            step, least = self._lowered.get(name, (0, 0))
            most = max(self._channels[inputs[0]]["domain"])
            followed = f"Lowered {step} {least} {most}"
        elif kind == "earliest":
            each = [self._first_ones(sets[k], inputs[0]) for (k,) in of]
        else:
            demand(kind in ("shift", "latest"), f"its invariant has cells of {kind}")
        return ["[" + ";".join(row) + "]" for row in each], followed

    def _first_ones(self, values: Sequence[int], source: str) -> list[str]:
        """The cells of an earliest: what was found, and the value at BOS if nothing was."""
        unseen = [self._at_bos[source]] if -1 in values else []
        return [integers(v for v in values if v >= 0), integers(unseen)]


class Form(NamedTuple):
    """An operation as a term: its name, the fields of its inputs, and its value at BOS."""

    fields: tuple[str, ...]
    term: Callable[[Mapping[str, Any], list[int]], str]
    at_bos: Callable[[Mapping[str, Any], list[int], int], int]


def _first(channel: Mapping[str, Any], before: list[int], letters: int) -> int:
    return before[0]


def _looked_up(channel: Mapping[str, Any], before: list[int], letters: int) -> int:
    values = {tuple(row[:-1]): row[-1] for row in channel["rows"]}
    return int(values[tuple(before)])


def _table(channel: Mapping[str, Any], at: list[int]) -> str:
    lines = ";".join(f"({integers(row[:-1])},{row[-1]})" for row in channel["rows"])
    return f"Table {integers(at)} [{lines}]"


MAPPED = "Mapped"
MAPS = ("token", "position", "table", "select", "sum")
FORMS = {
    "token": Form((), lambda c, at: "Token", lambda c, b, letters: letters),
    "position": Form(
        (),
        lambda c, at: f"Position {integers(c['values'])}",
        lambda c, b, letters: int(c["values"][0]),
    ),
    "table": Form((), _table, _looked_up),
    "select": Form(
        (),
        lambda c, at: f"Select {at[0]} {integers(at[1:])}",
        lambda c, b, letters: b[1 + b[0]],
    ),
    "sum": Form((), lambda c, at: f"Sum {integers(at)}", lambda c, b, letters: sum(b)),
    "shift": Form(("source",), lambda c, at: f"Shift {at[0]} {c['by']}", _first),
    "latest": Form(
        ("source", "where"), lambda c, at: f"Latest {at[0]} {at[1]}", _first
    ),
    "earliest": Form(
        ("source", "where"), lambda c, at: f"Earliest {at[0]} {at[1]}", _first
    ),
    "latest-match": Form(
        ("source", "key", "query"),
        lambda c, at: f"LatestMatch {at[0]} {at[1]} {at[2]}",
        _first,
    ),
    "sibling-latest": Form(
        ("source", "where"),
        lambda c, at: f"SiblingLatest {at[0]} {at[1]} {c['level']}",
        _first,
    ),
    "prefix-sum": Form(("source",), lambda c, at: f"PrefixSum {at[0]}", _first),
    "marked-sum": Form(
        ("source", "where"), lambda c, at: f"MarkedSum {at[0]} {at[1]}", _first
    ),
}
