"""Model files as terms of Coq, with what shows the theorem about them.

Nothing here is trusted: Coq checks the proof, and `krohn.verify.formal.reading` compares
the terms with the file.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from krohn.program.architecture import held
from krohn.program.architectures.rnn import Rnn
from krohn.program.domains import FloatArray
from krohn.program.errors import Refused, demand
from krohn.program.statement import Statement
from krohn.verify.checker.model_file import Machine, Model, read
from krohn.verify.checker.transformer import stated
from krohn.verify.search.exploration import GivenUp
from krohn.verify.search.refinement import Search

ARITHMETIC = {
    "float64": "float64",
    "float32": "float32",
    "bfloat16": "float_bf16",
    "float16": "float16",
}
MOST_VECTORS, MOST_ENTRIES = 20_000, 2**22
RECURRENT = """\
(** A recurrent network computes a machine, for words of every length.

    Written by Krohn. `make` proves it; Krohn's docs/formal.md says what it means. *)
From Coq Require Import ZArith List.
From Krohn Require Import {library}.
Import ListNotations.
Open Scope Z_scope.

{machine}
Definition network_of_file : network := {{|
  {fields} |}}.

Definition nodes : list node := [
  {nodes}].

Theorem network_correct : correct {arithmetic} network_of_file machine_of_file.
Proof. apply (check_sound _ _ _ nodes). vm_compute. reflexivity. Qed.

Print Assumptions network_correct.
"""


PROGRAM = """\
(** The Program of a Transformer computes a machine.

    Written by Krohn. `make` proves it; Krohn's docs/formal.md says what it means. *)
From Coq Require Import List.
From Krohn Require Import {library}.
Import ListNotations.

{machine}
Definition program_of_file : program := [
  {operations}].

Definition decode_of_file : list (list nat * nat) := [{decode}].

Definition invariant : part := {{|
  outs := {shown}; len := {length}; exact := {exact};
  anns := [
    {followed}];
  qs := {states};
  depths := {depths};
  follow := {follow};
  cells := [
    {cells}] |}}.

Theorem program_correct :
  computes machine_of_file program_of_file {outputs} decode_of_file {length}.
Proof. apply (check_sound _ _ _ invariant). vm_compute. reflexivity. Qed.

Print Assumptions program_correct.
"""


@dataclass(frozen=True)
class Development:
    """A theorem for Coq.

    Attributes:
        text: The file.
        modules: The modules of the library that it needs, in the order of their imports.
        says: The theorem in words.
    """

    text: str
    modules: tuple[str, ...]
    says: str


def integers(numbers: Iterable[int]) -> str:
    """A list of Coq."""
    return "[" + ";".join(map(str, numbers)) + "]"


def rows(table: Iterable[Iterable[int]]) -> str:
    """A list of lists, one to a line."""
    return "[" + ";\n  ".join(map(integers, table)) + "]"


def machine_term(machine: Machine) -> str:
    """The machine of a file; a letter is a row of `transitions`."""
    moves, shows = rows(machine.transitions.tolist()), integers(machine.shows.tolist())
    return (
        f"Definition machine_of_file : machine := {{|\n  start := {machine.start};\n"
        f"  moves := {moves};\n  shows := {shows} |}}%nat.\n"
    )


def finest(numbers: FloatArray) -> int:
    """The least g ≥ 0 such that all numbers are multiples of 2^-g."""
    below = (x.as_integer_ratio()[1] for x in np.unique(numbers).tolist())
    return max((d.bit_length() - 1 for d in below), default=0)


def spread(row: FloatArray, unit: int) -> str:
    """A row in units of 2^-unit: each entry that is not 0 after the zeros before it."""
    (at,) = row.nonzero()
    gaps = np.diff(at, prepend=-1) - 1
    pairs = zip(gaps.tolist(), row[at].tolist(), strict=True)
    return "[" + ";".join(f"({gap},{int(x * 2**unit)})" for gap, x in pairs) + "]"


def tensor_term(numbers: FloatArray, unit: int) -> str:
    """A tensor in units of 2^-unit."""
    entries = ";\n  ".join(spread(row, unit) for row in numbers)
    return f"{{| unit := {-unit}; rows := map spread [{entries}] |}}"


def development(data: bytes) -> Development:
    """The theorem about a model file.

    Of a Transformer it says that its Program computes the machine; what the tensors
    compute is not part of it.

    Raises:
        Refused: If its kind is not written for Coq, it is too large, or no invariant that
            Coq's checker can follow is found.
    """
    model = read(data)
    kind = model.header["architecture"]["kind"]
    demand("source" not in model.header, "a file about a source is not written for Coq")
    if kind == "transformer":
        machine = model.machine
        program = stated(model, len(machine.transitions))
        return of_program(model, OnePart(program, machine).alone())
    demand(
        kind == "rnn", "of recurrent networks only RNNs with ReLUs are written for Coq"
    )
    return recurrent(model, model.machine)


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
        said = super().stated_part(outputs, assumed)
        told = any(c.op == "position" for c in self.program.channels.values())
        repeats = [self.program.length, 1] if told else [0, 1]
        alone = [rule for rule in said["reduced"] if len(rule[0]) == 1]
        return {**said, "reduced": alone, "repeats": repeats}


def recurrent(model: Model, machine: Machine) -> Development:
    """An RNN with ReLUs shows what the machine shows, after every word.

    Raises:
        Refused: If the network is another one, too large, or remembers too much.
    """
    shape = held(Rnn, model.header, model.tensors)
    demand(shape.entries is None, "RNNs with sparse matrices are not written for Coq")
    demand(
        len(machine.transitions) == shape.vocabulary, "the machine has other letters"
    )
    t = {name: np.atleast_2d(x) for name, x in model.tensors.items()}
    vectors, states, follow = remembered(t, machine)
    units = _units(t, vectors)
    sizes = {
        "units": shape.hidden,
        "letters": shape.vocabulary,
        "classes": shape.outputs,
    }
    fields = [f"{name} := {size}%nat" for name, size in sizes.items()]
    fields += [
        f"{name.replace('.', '_')} := {tensor_term(t[name], unit)}"
        for name, unit in units.items()
    ]
    modules = ("Machine", "Arithmetic", "Recurrent", "RecurrentSound")
    nodes = _nodes(vectors, states, follow, units["hidden.start"])
    text = RECURRENT.format(
        library=" ".join(modules),
        machine=machine_term(machine),
        fields=";\n  ".join(fields),
        nodes=";\n  ".join(nodes),
        arithmetic=ARITHMETIC[model.format.name],
    )
    says = (
        "after every word, of any length, the logit of what the machine shows is above "
        f"all others, in {model.format.name}, in whatever order sums are made"
    )
    return Development(text, modules, says)


def of_program(model: Model, evidence: Mapping[str, Any]) -> Development:
    """The Program of a Transformer computes the machine, to the length of its claim.

    Args:
        model: The model file.
        evidence: The inductive invariant (docs/recheck.md, section 2).

    Raises:
        Refused: If it has operations, or the invariant has rules, that Coq's checker has
            not.
    """
    said, machine = model.header["program"], model.machine
    alone = len(evidence["parts"]) == 1 and not evidence["parts"][0]["assumed"]
    demand(alone and not evidence["windows"], "its invariant has lemmas or windows")
    part = evidence["parts"][0]
    operations = Operations(said["channels"], part, len(machine.transitions))
    modules = ("Machine", "Program", "Invariant", "InvariantSound")
    decode = (f"({integers(values)},{c})" for values, c in said["decode"])
    states = zip(*(cells for _, _, cells in operations.told), strict=True)
    exact = any(c["op"] == "position" for c in said["channels"])
    text = PROGRAM.format(
        library=" ".join(modules),
        machine=machine_term(machine),
        operations=";\n  ".join(operation for operation, _, _ in operations.told),
        outputs=integers(operations.place[name] for name in said["outputs"]),
        decode=";".join(decode),
        length=model.header["claim"]["length"],
        shown=integers(operations.place[name] for name in part["outputs"]),
        exact=str(exact).lower(),
        followed=";\n    ".join(followed for _, followed, _ in operations.told),
        states=integers(part["states"]),
        depths=integers(part["depths"]),
        follow=rows(part["follow"]),
        cells=";\n    ".join("[" + ";".join(of) + "]" for of in states),
    )
    says = (
        f"the Program of the file says what the machine shows, at every position of "
        f"every word of up to {model.header['claim']['length']} letters"
    )
    return Development(text, modules, says)


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
            names[0]: (steps[0], leasts[0])
            for names, steps, leasts in part["reduced"]
            if len(names) == 1
        }
        alone = len(self._lowered) == len(part["reduced"])
        demand(alone, "its invariant lowers several sums together")
        for channel in channels:
            self._add(channel, letters)

    def _add(self, channel: Mapping[str, Any], letters: int) -> None:
        name, kind = channel["name"], channel.get("function", channel["op"])
        form = FORMS.get(kind)
        demand(form is not None, f"{kind} is no operation of Coq's checker")
        assert form is not None
        inputs = (
            [channel[x] for x in form.fields]
            if form.fields
            else channel.get("inputs", [])
        )
        places = [self.place[x] for x in inputs]
        before = [self._at_bos[x] for x in inputs]
        self._at_bos[name] = form.at_bos(channel, before, letters)
        cells, followed = self._followed(name, kind, inputs)
        if followed == MAPPED and (kind not in MAPS or self._hidden & set(inputs)):
            followed = "Hidden"
        if followed == "Hidden":
            self._hidden.add(name)
        split = str(name in self._part["split"]).lower()
        self.told.append((form.term(channel, places), f"({followed}, {split})", cells))

    def _followed(
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
            each = [row + [f"[{self._at_bos[inputs[0]]}]"] for row in each]
            followed = f"Keyed {integers(keys)}"
        elif kind in ("prefix-sum", "marked-sum"):
            step, least = self._lowered.get(name, (0, 0))
            most = max(self._channels[inputs[0]]["domain"])
            followed = f"Lowered {step} {least} {most}"
        else:
            demand(kind in ("shift", "latest"), f"its invariant has cells of {kind}")
        return ["[" + ";".join(row) + "]" for row in each], followed


class Form(NamedTuple):
    """An operation as a term: its name, the fields of its inputs, and its value at BOS."""

    fields: tuple[str, ...]
    term: Callable[[Mapping[str, Any], list[int]], str]
    at_bos: Callable[[Mapping[str, Any], list[int], int], int]


def _first(channel: Mapping[str, Any], before: list[int], letters: int) -> int:
    return before[0]


def _looked_up(channel: Mapping[str, Any], before: list[int], letters: int) -> int:
    found = {tuple(row[:-1]): row[-1] for row in channel["rows"]}
    return int(found[tuple(before)])


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


def _units(t: dict[str, FloatArray], vectors: FloatArray) -> dict[str, int]:
    """For each tensor a g such that its numbers are multiples of 2^-g.

    Those of what is added to a product are those of the product.
    """
    state, added = (
        finest(vectors),
        max(map(finest, (t["hidden.bias"], t["input.weight"]))),
    )
    weight = max(finest(t["hidden.weight"]), added - state)
    read = max(finest(t["unembed.weight"]), finest(t["unembed.bias"]) - state)
    return {
        "hidden.start": state,
        "hidden.weight": weight,
        "hidden.bias": state + weight,
        "input.weight": state + weight,
        "unembed.weight": read,
        "unembed.bias": state + read,
    }


def _nodes(
    vectors: FloatArray, states: list[int], follow: list[list[int]], unit: int
) -> list[str]:
    return [
        f"{{| vector := spread {spread(v, unit)}; state := {q}%nat; "
        f"next := {integers(to)}%nat |}}"
        for v, q, to in zip(vectors, states, follow, strict=True)
    ]


def remembered(
    t: dict[str, FloatArray], machine: Machine
) -> tuple[FloatArray, list[int], list[list[int]]]:
    """All hidden states, each with a state of the machine and those that follow.

    Raises:
        Refused: If there are too many.
    """
    vectors, states = [t["hidden.start"]], [machine.start]
    number = {(vectors[0].tobytes(), machine.start): 0}
    follow = list[list[int]]()
    while len(follow) < len(states):
        v, q = vectors[len(follow)], states[len(follow)]
        driven = v @ t["hidden.weight"] + t["hidden.bias"] + t["input.weight"]
        after, row = np.maximum(driven, 0) + 0.0, list[int]()
        for h, to in zip(after, machine.transitions[:, q].tolist(), strict=True):
            row.append(number.setdefault((h.tobytes(), to), len(states)))
            if row[-1] == len(states):
                vectors.append(h[None])
                states.append(to)
        few = len(states) <= MOST_VECTORS and len(states) * v.size <= MOST_ENTRIES
        demand(few, "the network remembers too much to be written for Coq")
        follow.append(row)
    return np.concatenate(vectors), states, follow
