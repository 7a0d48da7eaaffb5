"""The description in an export: names of its classes, and the part of each channel."""

import csv
import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from krohn.network import ExportError, ModelFileError
from krohn.network.directions import (
    directions,
    head_of,
    own_tensors,
    units_of,
)
from krohn.network.modelfile import ModelFile, alphabets, names
from krohn.network.stated_program import meanings_of, stated_program, stored_inputs
from krohn.program.claim import Shows
from krohn.program.errors import Refused
from krohn.program.letter_tokenizer import outputs_of_states
from krohn.program.operations.map import Map
from krohn.program.operations.position import Position
from krohn.program.operations.token import Token
from krohn.program.statement import Channel, Statement

if TYPE_CHECKING:
    from networkx import DiGraph

# The names of the classes of an export: the outputs of the machine, if it has any.


@dataclass(frozen=True)
class Labels:
    """The names of the letters and of the classes of an export.

    Attributes:
        letters: By their indices.
        classes: What each logit stands for. Several states that show the same output
            are several classes of one name.
        states: The states of the machine, if classes are states; else none.
    """

    letters: tuple[str, ...]
    classes: tuple[str, ...]
    states: tuple[str, ...]

    @property
    def means(self) -> str:
        """What classes are called by: ``"states"`` or ``"answers"``."""
        named = bool(self.states) and self.classes == self.states
        return "states" if named else "answers"

    def to_object(self) -> dict[str, tuple[str, ...]]:
        """Its names for JSON, without states where there are none."""
        label_names = {"letters": self.letters, "classes": self.classes}
        return {**label_names, "states": self.states} if self.states else label_names

    @property
    def indices(self) -> dict[str, int]:
        """Classes by name: of several with one name the first, and each with its state."""
        found = dict[str, int]()
        for i, name in enumerate(self.classes):
            found.setdefault(name, i)
        if len(found) < len(self.classes):
            for i, pair in enumerate(zip(self.classes, self.states, strict=True)):
                found.setdefault("{}, state: {}".format(*pair), i)
        return found


def labels(file: ModelFile, states: bool = False) -> Labels:
    """The names of a file's letters and classes.

    Of a machine with outputs on transitions a network of states has the names of these.

    Args:
        file: A network that says classes, numbers or letters.
        states: Whether classes that are states are called by the names of these, though
            the machine has outputs.

    Raises:
        ExportError: If states are asked for that the network does not say.
        ModelFileError: If the file is damaged.
    """
    letters, its_states, classes = alphabets(file)
    says_outputs = file.claim.shows is Shows.OUTPUTS
    if not file.claim.of_machine or says_outputs:
        if states:
            raise ExportError("this network says no states; leave --states out")
        return Labels(letters, classes, ())
    machine = file.header["machine"]
    output = machine.get("output")
    if output is None and states:
        raise ExportError("its machine shows nothing but states; leave --states out")
    if output is None or states:
        return Labels(letters, its_states, its_states)
    try:
        names(output, "names")
        seen = outputs_of_states(machine)
    except (Refused, LookupError, TypeError) as error:
        raise ExportError(f"the file is damaged: {error}") from None
    return Labels(letters, its_states if seen is None else tuple(seen), its_states)


def possible_labels(file: ModelFile) -> list[Labels]:
    """The names of letters and classes that an export of a file may have."""
    choices = list[Labels]()
    for states in (False, True):
        with suppress(ExportError):
            choices.append(labels(file, states))
    return choices


def statement(file: ModelFile, names: Labels) -> dict[str, Any]:
    """What stands beside the tensors of an export, for JSON: the claim, and its names.

    Args:
        file: The network.
        names: Of its letters and classes there.
    """
    claim = file.claim
    stated = {"length": claim.length, "dtype": claim.dtype, **file.header["claim"]}
    return {"claim": stated, "digest": claim.digest, **names.to_object()}


def demand_said(right: bool) -> None:
    """Refuse an export that says of itself what its file does not say.

    Raises:
        ExportError: If it does.
    """
    if not right:
        raise ExportError(
            "what is written beside the tensors is not what the file says"
        )


# Which part of a network carries which variable: a table that travels with an export.
#
# Circuit discovery is measured against known circuits: nodes are the embedding, heads and
# units of MLPs, edges lead from the writer of a variable to those that read it. Here both
# are read off: variables and what they read from the Program in the file, units from the
# tensors that write to the dimensions of a variable.


FORMAT = "krohn-circuit"
EMBEDDING, ATTENTION, MLP, READ_OUT = "embedding", "attention", "mlp", "read-out"


@dataclass(frozen=True)
class Variable:
    """A variable, and the component that writes it.

    Attributes:
        layer: The block; None of the embedding.
        component: ``"embedding"``, ``"attention"`` or ``"mlp"``.
        index: The head, or the units of the (last) hidden layer that write to its
            dimensions; some of these only erase what was there before.
        variable: Its name.
        operation: What it is, as docs/model-format.md names operations.
        reads: The variables that it is computed from, stored ones and the token.
        dims: Its first dimension, and one past the last; in a disguised network those of
            the rows of ``directions``.
        code: How a value lies there: ``"integer"``, ``"one-hot"``, ``"matrix"`` or
            ``"vector"``.
        domain: Its values; none if they are matrices.
        hook: The first place where it can be read, as TransformerLens names places.
        until: The last place.
        node: Its component, as TransformerLens names activations, without index.
        meaning: How it is computed, in words.
        values: The name of each value of the domain; none if the values are numbers, as
            sums, or matrices.
    """

    layer: int | None
    component: str
    index: tuple[int, ...]
    variable: str
    operation: str
    reads: tuple[str, ...]
    dims: tuple[int, int]
    code: str
    domain: tuple[int, ...]
    hook: str
    until: str
    node: str
    meaning: str = ""
    values: tuple[str, ...] = ()


COLUMNS = [
    column
    for name in Variable.__dataclass_fields__
    for column in (["first_dim", "last_dim"] if name == "dims" else [name])
]
"""Of ``circuit.csv``."""
BETWEEN_NAMES = " | "
"""Between names of values there; in a name, ``|`` and ``\\`` follow a ``\\``."""


def is_written(file: ModelFile) -> bool:
    """Whether a file has channels, so that an export of it has a circuit."""
    return "channels" in file.header.get("program", {})


def write(file: ModelFile, directory: Path) -> None:
    """Write ``circuit.json`` and ``circuit.csv``; nothing for a file without channels.

    Raises:
        ExportError: If its Program is damaged.
    """
    if not is_written(file):
        return
    contents = circuit(file)
    text = json.dumps(contents, ensure_ascii=False, indent=1)
    (directory / "circuit.json").write_text(text + "\n", encoding="utf-8")
    with open(directory / "circuit.csv", "w", encoding="utf-8", newline="") as table:
        rows = csv.DictWriter(table, COLUMNS, lineterminator="\n")
        rows.writeheader()
        rows.writerows(map(_cells, contents["variables"]))


def circuit(file: ModelFile) -> dict[str, Any]:
    """Variables, features of the position, edges and outputs of a file with a Program.

    Raises:
        ExportError: If its Program is damaged.
    """
    shape = file.architecture
    try:
        stated = stated_program(file)
        variables, along = list(_variables(stated, file)), directions(file)
    except ModelFileError as error:
        raise ExportError(str(error)) from None
    except (Refused, LookupError, TypeError, ValueError) as error:
        raise ExportError(f"the file is damaged: of its Program, {error}") from None
    about = file.header.get("machine") or file.header["source"]
    return {
        "format": FORMAT,
        "version": 1,
        "name": about.get("name"),
        "letters": list(names(about, "letters")),
        "length": shape.positions - 1,
        "blocks": [
            {"layer": i, "heads": block.heads, "mlp": list(block.mlp)}
            for i, block in enumerate(shape.blocks)
        ],
        "variables": [asdict(variable) for variable in variables],
        "features": {name: list(dims) for name, dims in stated.features.items()},
        **(
            {} if along is None else {"directions": along.writes((0, along.d)).tolist()}
        ),
        "outputs": list(stated.outputs),
        "edges": _edges(stated, {v.variable: v for v in variables}),
    }


def nodes(circuit: Mapping[str, Any]) -> list[str]:
    """The components of a network, in the order in which they are computed."""
    return [node for stage in stages(circuit) for node in stage]


def possible(circuit: Mapping[str, Any]) -> list[tuple[str, str]]:
    """All edges that a network of this shape could have: from each component to later ones.

    Heads of one block are computed side by side.
    """
    steps = stages(circuit)
    return [
        (source, target)
        for i, earlier in enumerate(steps)
        for source in earlier
        for later in steps[i + 1 :]
        for target in later
    ]


def graph(circuit: Mapping[str, Any]) -> "DiGraph[str]":
    """A circuit as a graph of networkx: components, and edges with their variables.

    Each node has ``writes``, the variables that the component writes; each edge
    ``variables``, those that are read along it.
    """
    from networkx import DiGraph

    digraph: DiGraph[str] = DiGraph(name=circuit["name"])
    for node in nodes(circuit):
        digraph.add_node(node, writes=[])
    for row in circuit["variables"]:
        digraph.nodes[writer(Variable(**row))]["writes"].append(row["variable"])
    for edge in circuit["edges"]:
        ends = edge["from"], edge["to"]
        if ends not in digraph.edges:
            digraph.add_edge(*ends, variables=[])
        digraph.edges[ends]["variables"].append(edge["variable"])
    return digraph


def stages(circuit: Mapping[str, Any]) -> list[list[str]]:
    """The components of a network, by the steps in which they are computed."""
    stages = [[EMBEDDING]]
    for block in circuit["blocks"]:
        at = f"blocks.{block['layer']}"
        heads = [f"{at}.attn.{head}" for head in range(block["heads"])]
        mlp = [f"{at}.mlp"] if block["mlp"] else []
        stages += [part for part in (heads, mlp) if part]
    return [*stages, [READ_OUT]]


def _variables(stated: Statement, file: ModelFile) -> Iterator[Variable]:
    meanings = meanings_of(file, stated)
    for channel in stated.channels.values():
        place = channel.stored
        if place is None:
            continue
        layer, component, node = _written_at(place.born, place.head)
        meaning, domain = meanings[channel.name], channel.domain.tolist()
        yield Variable(
            layer,
            component,
            _index(file, layer, component, channel),
            channel.name,
            channel.op,
            stored_inputs(stated, channel.name),
            (place.start, place.stop),
            place.code,
            tuple(domain),
            hook(place.born),
            hook(place.dies),
            node,
            meaning.says,
            tuple(meaning.values[v] for v in domain) if meaning.values else (),
        )


def _written_at(snapshot: int, head: int | None) -> tuple[int | None, str, str]:
    if snapshot == 0:
        return None, EMBEDDING, "hook_embed"
    layer = (snapshot - 1) // 2
    if head is not None:
        return layer, ATTENTION, f"blocks.{layer}.attn.hook_z"
    return layer, MLP, f"blocks.{layer}.mlp.hook_post"


def hook(snapshot: int) -> str:
    """The name of the residual stream after the embedding, after heads, or an MLP."""
    if snapshot == 0:
        return "blocks.0.hook_resid_pre"
    layer, after = divmod(snapshot - 1, 2)
    return f"blocks.{layer}.hook_resid_{'post' if after else 'mid'}"


def _index(
    file: ModelFile, layer: int | None, component: str, channel: Channel
) -> tuple[int, ...]:
    if layer is None or component == EMBEDDING:
        return ()
    if component == ATTENTION:
        assert channel.head is not None
        return (head_of(file, layer, channel.head),)
    tensors = own_tensors(file)
    at = f"blocks.{layer}.mlp."
    last = max(n for n in tensors if n.startswith(at) and n.endswith(".weight"))
    writes = (tensors[last][:, channel.span.start : channel.span.stop] != 0).any(axis=1)
    return units_of(file, layer, np.flatnonzero(writes).tolist())


def _edges(
    stated: Statement, variables: Mapping[str, Variable]
) -> list[dict[str, Any]]:
    """From the component that writes a variable to each that reads it.

    Variables that are the same on all words of one length carry nothing along an edge;
    and of two that one MLP writes, none is read there: both are computed from its input.
    """
    telling = {name for name in variables if _differs(stated, name)}
    edges = [
        {"from": writer(variables[read]), "to": writer(variable), "variable": read}
        for variable in variables.values()
        for read in variable.reads
        if read in telling and writer(variables[read]) != writer(variable)
    ]
    ends = dict.fromkeys(
        read
        for name in stated.outputs
        for read in ([name] if name in variables else stored_inputs(stated, name))
        if read in telling
    )
    edges += [
        {"from": writer(variables[read]), "to": READ_OUT, "variable": read}
        for read in ends
    ]
    return [dict(e) for e in dict.fromkeys(tuple(edge.items()) for edge in edges)]


def _differs(stated: Statement, name: str) -> bool:
    """Whether a variable can differ between words of one length."""
    channel, letters = stated.channels[name], np.arange(stated.letters)
    if len(channel.later) == 1 or isinstance(channel.operation, Position):
        return False
    if isinstance(channel.operation, Token):
        return True
    of_letter = [isinstance(c.operation, Token) for c in stated.reads(name)] == [True]
    if of_letter and isinstance(channel.operation, Map):
        return len(np.unique(channel.operation.function([letters]))) > 1
    return any(_differs(stated, read.name) for read in stated.reads(name))


def writer(variable: Variable) -> str:
    """The component that writes a variable: the embedding, a head, or an MLP."""
    if variable.layer is None:
        return EMBEDDING
    if variable.component == ATTENTION:
        return f"blocks.{variable.layer}.attn.{variable.index[0]}"
    return f"blocks.{variable.layer}.mlp"


def _cells(row: Mapping[str, Any]) -> dict[str, Any]:
    """A variable as a line of ``circuit.csv``: dimensions inclusive, names set apart."""
    start, stop = row["dims"]
    ends = {"first_dim": start, "last_dim": stop - 1}
    names = BETWEEN_NAMES.join(map(_escaped, row["values"]))
    cells = {k: _cell(v) for k, v in row.items()} | ends | {"values": names}
    return {column: cells[column] for column in COLUMNS}


def _escaped(name: str) -> str:
    return name.replace("\\", "\\\\").replace("|", "\\|")


def _cell(value: Any) -> Any:
    if value is None:
        return ""
    return " ".join(map(str, value)) if isinstance(value, list | tuple) else value
