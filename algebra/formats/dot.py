"""GraphViz DOT: its nodes and edges, and the machines that they stand for."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from krohn.algebra.automaton import Automaton, Output
from krohn.algebra.errors import MachineError
from krohn.algebra.formats.acceptors import machine_of
from krohn.algebra.formats.assembly import (
    Complete,
    Transition,
    acceptance,
)
from krohn.algebra.formats.files import check_writable, misread, problem, quote
from krohn.program.parsing import Language, Misread, Node

# The nodes and edges of a DOT file, whatever they mean.
#
# Files with one statement to a line, as tools write them, are read line by line: that is
# 15 times faster than the grammar of the whole language, which reads everything else.


# Possessive throughout: a malformed line must fail at once, not after every way of
# dividing it has been tried.
_ID = (
    r'(?:"(?:[^"\\]++|\\.)*+"|[^\W\d]\w*+'
    r"|-?+(?:\.\d++|\d++(?:\.\d*+)?+)(?![\w.]))"
)
_STATEMENT = re.compile(
    rf"\s*+({_ID})\s*+(?:->\s*+({_ID})\s*+)?+"
    rf"(?:\[\s*+((?:{_ID}\s*+=\s*+{_ID}\s*+[,;]?+\s*+)*+)\]\s*+)?+;?+\s*+"
)
_PAIR = re.compile(rf"({_ID})\s*+=\s*+({_ID})")
_SETTING = re.compile(rf"\s*+{_ID}\s*+=\s*+{_ID}\s*+;?+\s*+")
_HEADER = re.compile(rf"\s*+(?:strict\s++)?+digraph\b\s*+(?:{_ID})?+\s*+\{{\s*+", re.I)
_GAP = r"(?:\s++|(?://|#)[^\n]*+|/\*(?:[^*]++|\*(?!/))*+\*/)*+"
_BLANK = re.compile(r"\s*+(?:(?://|#).*+)?+")
_SIGN = re.compile(
    rf"{_GAP}(?:strict\b{_GAP})?+(?:di)?+graph\b{_GAP}"
    rf"(?:{_ID}|<(?:[^<>]++|<[^<>]*+>)*+>)?+{_GAP}\{{",
    re.I | re.S,
)
_OPEN, _CLOSE = "{", "}"
"""In place of a name: a group begins or ends, in which defaults are its own."""
_KEYWORDS = ("node", "edge", "graph", "digraph", "subgraph", "strict")
_DOT = Language(
    Path(__file__).with_name("dot.lark"),
    phrases={
        "'digraph'": ("DIGRAPH", "GRAPH", "_STRICT"),
        "a name": ("ID", "QUOTED", "HTML", "_PORT", "GRAPH", "DEFAULTS", "_SUBGRAPH"),
        "'->'": ("_ARROW", "_PORT"),
    },
    hints={("+", ""): "; write joined strings as one"},
)


class Edge(NamedTuple):
    """An arrow.

    Attributes:
        source: The node it leaves.
        target: The node it enters.
        attributes: Its attributes, as they stand in the file (see ``plain``).
        line: Where it stands.
    """

    source: str
    target: str
    attributes: dict[str, str]
    line: int


@dataclass
class Graph:
    """The nodes, with their attributes, and the edges, both in the file's order."""

    nodes: dict[str, dict[str, str]] = field(default_factory=dict)
    edges: list[Edge] = field(default_factory=list)


class _Statement(NamedTuple):
    """A node (one id), an edge (two ids), defaults of either, or an end of a group."""

    ids: tuple[str, ...]
    attributes: dict[str, str]
    line: int


def has_sign(text: str) -> bool:
    """Whether a text begins as a graph of DOT does."""
    return _SIGN.match(text) is not None


def parse(text: str, name: str) -> Graph:
    """The graph of a DOT file.

    Args:
        text: The file.
        name: What to call the file in messages.

    Raises:
        MachineError: If the file is not DOT, holds another number of graphs than one,
            an undirected graph, or an arrow between groups of nodes.
    """
    statements = _by_lines(text)
    return _collect(_by_grammar(text, name) if statements is None else statements)


def plain(raw: str) -> str:
    r"""The text of an id or a label; undoes its quotes and ``\"``, ``\\``, ``\n``."""
    if not raw.startswith('"'):
        return raw
    return re.sub(r'\\(["\\n])', lambda m: m[1].replace("n", "\n"), raw[1:-1])


def dot_string(text: str) -> str:
    """The text as a quoted id or label, which ``plain`` turns back."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def _by_lines(text: str) -> list[_Statement] | None:
    """The statements of a file with one to a line; None if it is laid out otherwise."""
    lines = [
        (i, s) for i, s in enumerate(text.split("\n"), 1) if not _BLANK.fullmatch(s)
    ]
    if (
        len(lines) < 2
        or not _HEADER.fullmatch(lines[0][1])
        or lines[-1][1].strip() != "}"
    ):
        return None
    statements: list[_Statement] = []
    for number, line in lines[1:-1]:
        match = _STATEMENT.fullmatch(line)
        if match is None:
            if _SETTING.fullmatch(line):
                continue
            return None
        statement = _statement(match, number)
        if statement is None:
            return None
        statements.append(statement)
    return statements


def _statement(match: re.Match[str], line: int) -> _Statement | None:
    source, target, inside = match.groups()
    keywords = _KEYWORDS if target or inside is None else _KEYWORDS[3:]
    if source.lower() in keywords or (target or "").lower() in _KEYWORDS:
        return None
    ids = (source, target) if target else (source,)
    pairs = _PAIR.findall(inside) if inside else []
    return _Statement(ids, {plain(key).lower(): value for key, value in pairs}, line)


def _by_grammar(text: str, name: str) -> list[_Statement]:
    try:
        graphs = _DOT.parse(text).parts
    except Misread as wrong:
        raise misread(name, wrong, "DOT") from None
    if len(graphs) != 1:
        raise problem(name, 0, f"{len(graphs)} graphs; give a file with one machine")
    if graphs[0].parts[0].lower() != "digraph":
        raise problem(name, 0, "an undirected graph; a machine is a digraph")
    return list(_statements(graphs[0], name))


def _statements(group: Node, name: str) -> Iterator[_Statement]:
    """The statements of a graph, and of groups in it."""
    for said in (part for part in group.parts if isinstance(part, Node)):
        if said.kind == "subgraph":
            yield _Statement((_OPEN,), {}, said.line)
            yield from _statements(said, name)
            yield _Statement((_CLOSE,), {}, said.line)
        elif said.kind != "setting":
            yield from _statement_of(said, name)


def _statement_of(said: Node, name: str) -> Iterator[_Statement]:
    """A node, the defaults of some, or each arrow of a chain."""
    ids, attributes = list[str](), dict[str, str]()
    for part in said.parts:
        if not isinstance(part, Node):
            ids.append(part)
        elif part.kind == "subgraph":
            reason = "an arrow between groups { … }; write single arrows"
            raise problem(name, said.line, reason)
        else:
            pairs = [pair.parts for pair in part.parts]
            attributes |= {plain(key).lower(): "".join(value) for key, *value in pairs}
    if said.kind == "defaults":
        ids = [ids[0].lower()]
    for each in pairwise(ids) if len(ids) > 1 else [tuple(ids)]:
        yield _Statement(each, attributes, said.line)


def _collect(statements: Sequence[_Statement]) -> Graph:
    graph, around = Graph(), list[dict[str, dict[str, str]]]()
    defaults: dict[str, dict[str, str]] = {"node": {}, "edge": {}, "graph": {}}
    for ids, attributes, line in statements:
        if ids[0] == _OPEN:
            around.append(dict(defaults))
        elif ids[0] == _CLOSE:
            defaults = around.pop()
        elif ids[0] in defaults and len(ids) == 1:
            defaults[ids[0]] = defaults[ids[0]] | attributes
        else:
            _add(graph, ids, attributes, defaults, line)
    return graph


def _add(
    graph: Graph,
    ids: tuple[str, ...],
    attributes: dict[str, str],
    defaults: dict[str, dict[str, str]],
    line: int,
) -> None:
    """Add a node or an edge, with what nodes or edges have there if it is not said."""
    for raw in ids:
        graph.nodes.setdefault(plain(raw), dict(defaults["node"]))
    if len(ids) == 1:
        graph.nodes[plain(ids[0])].update(attributes)
    else:
        given = defaults["edge"] | attributes
        graph.edges.append(Edge(plain(ids[0]), plain(ids[1]), given, line))


# GraphViz DOT: the machines of the Automata Wiki, LearnLib and AALpy.
#
# Arrows ``a -> b [label="input/output"]`` make a Mealy machine, arrows with only an input
# a Moore machine or an acceptor. ``__start0 -> a`` marks the start state.


_START = "__start"
_PROBABILITY = re.compile(r".*:\s*((?:0|1)?\.\d*|0|1|\d(?:\.\d+)?[eE]-\d+)\s*", re.S)
_BREAK = re.compile(r"<\s*br\s*/?\s*>", re.I)
_TRIMMED = re.compile(r"(?!\s).*(?<!\s)", re.S)
_LETTER = re.compile(r"(?![\s/])[^/]*[^\s/]", re.S)
_STATE = re.compile(rf"(?!{_START})(?!\s).*[^\s]", re.S)
_ENTITIES = {"&lt;": "<", "&gt;": ">", "&quot;": '"', "&amp;": "&"}


def read(text: str, name: str, complete: Complete = "reject") -> Automaton:
    """The Mealy machine, Moore machine or acceptor of a DOT file.

    The label of an arrow is divided at its first ``/`` into input and output. In labels
    like HTML, ``<A | B<br/>out>``, the output follows the line break, and ``|`` between
    spaces separates several inputs of one arrow. Without outputs on the arrows, the
    labels of the nodes tell: ``{ state | output }``, ``state|output`` or
    ``state/output`` show outputs; a doubled circle marks the accepting states of an
    acceptor; labels that several states share are outputs. Otherwise the states are
    shown.

    The machine starts where the arrow from ``__start0`` leads, or one from a node that
    is drawn as nothing or as a point, else where the first arrow begins.

    Args:
        text: The file.
        name: What to call the file in messages.
        complete: The treatment of missing transitions.

    Raises:
        MachineError: If the file is not DOT, has no arrows, or arrows without labels,
            the machine is nondeterministic or stochastic, or transitions are missing
            and ``complete`` does not say what to do.
    """
    graph = parse(text, name)
    markers = _markers(graph)
    arrows = [edge for edge in graph.edges if edge.source not in markers]
    if not arrows:
        raise problem(name, 0, "no arrows between states; is this a machine?")
    transitions = _transitions(arrows, name)
    nodes = {q: found for q, found in graph.nodes.items() if q not in markers}
    shown = _state_outputs(nodes) if transitions[0].output is None else None
    start = _start(graph, markers, name) or arrows[0].source
    return machine_of(transitions, start, name, complete, states=nodes, shown=shown)


def write(machine: Automaton) -> str:
    """The machine as DOT; ``read`` gives back its letters, states and outputs.

    Raises:
        MachineError: If a letter has a ``/`` in it, a state is called like a start
            marker, or a name begins or ends with a space.
    """
    output = machine.output
    check_writable(machine.letters, _LETTER, "letter", "DOT divides labels at '/'")
    form = "DOT keeps '__start' for the start, and no spaces around names"
    check_writable(machine.states, _STATE, "state", form)
    names = () if output is None else output.names
    check_writable(names, _TRIMMED, "output", "DOT keeps no spaces around names")
    arrows = [dot_string(label) for label in _written_labels(machine)]
    if _look_stochastic([plain(label) for label in arrows]):
        raise MachineError(
            f"the labels of {machine.name} would read as probabilities in DOT; "
            "write .json, which carries every name"
        )
    ids = [dot_string(state) for state in machine.states]
    lines = [f"  {line};" for line in _written_nodes(machine, ids)]
    for place, q in enumerate(machine.transitions.T.reshape(-1).tolist()):
        source = ids[place // len(machine.letters)]
        lines.append(f"  {source} -> {ids[q]} [label={arrows[place]}];")
    return "\n".join([f"digraph {dot_string(machine.name)} {{", *lines, "}", ""])


def _markers(graph: Graph) -> set[str]:
    """The nodes that only mark the start: they are no states."""
    leaving = Counter(edge.source for edge in graph.edges)
    busy = {edge.target for edge in graph.edges}
    busy |= {e.source for e in graph.edges if plain(e.attributes.get("label", ""))}
    unseen = {
        node
        for node, attributes in graph.nodes.items()
        if plain(attributes.get("shape", "")) in ("none", "point", "plaintext")
        and leaving[node] == 1
    }
    return (unseen - busy) | {node for node in graph.nodes if node.startswith(_START)}


def _start(graph: Graph, markers: set[str], name: str) -> str | None:
    starts = [e for e in graph.edges if e.source in markers and e.target not in markers]
    targets = list(dict.fromkeys(edge.target for edge in starts))
    if len(targets) > 1:
        raise problem(
            name,
            starts[-1].line,
            f"nondeterministic: both {quote(targets[0])} and {quote(targets[1])} are "
            "marked as the start; keep one of the two",
        )
    return targets[0] if targets else None


def _transitions(arrows: Sequence[Edge], name: str) -> list[Transition]:
    labels = [plain(arrow.attributes.get("label", "")) for arrow in arrows]
    if _look_stochastic(labels):
        raise problem(
            name,
            arrows[0].line,
            f"stochastic: every label ends in a probability, as {quote(labels[0])} "
            "does; only deterministic machines become networks",
        )
    transitions = [t for arrow in arrows for t in _transitions_of_arrow(arrow, name)]
    with_output = [t for t in transitions if t.output is not None]
    if with_output and len(with_output) < len(transitions):
        bare = next(t for t in transitions if t.output is None)
        raise problem(
            name,
            bare.line,
            f"the arrow {_arrow(bare.source, bare.target)} has the label "
            f"{quote(bare.letter)} without an output, but others have input/output",
        )
    return transitions


def _transitions_of_arrow(arrow: Edge, name: str) -> list[Transition]:
    """The transitions of one arrow: one for each of its inputs."""
    raw = arrow.attributes.get("label", "")
    if raw.startswith("<") and raw.endswith(">"):
        inputs, output = _html_label(raw[1:-1])
    else:
        head, slash, tail = plain(raw).partition("/")
        inputs, output = [head.strip()], tail.strip() if slash else None
    if not all(inputs):
        raise problem(
            name,
            arrow.line,
            f"the arrow {_arrow(arrow.source, arrow.target)} has no input in its label",
        )
    return [
        Transition(arrow.source, letter, arrow.target, output, arrow.line)
        for letter in inputs
    ]


def _html_label(markup: str) -> tuple[list[str], str | None]:
    head, *rest = _BREAK.split(markup, maxsplit=1)
    inputs = [_without_tags(part) for part in re.split(r"\s\|\s", head)]
    if rest:
        return inputs, _without_tags(rest[0])
    letter, slash, output = _without_tags(head).partition("/")
    return [letter.strip()], output.strip() if slash else None


def _without_tags(markup: str) -> str:
    text = re.sub(r"<[^<>]*>", " ", markup)
    for entity, character in _ENTITIES.items():
        text = text.replace(entity, character)
    return text.strip()


def _look_stochastic(labels: Sequence[str]) -> bool:
    found = [_PROBABILITY.fullmatch(label) for label in labels]
    return all(found) and any("." in match[1] for match in found if match)


def _state_outputs(nodes: dict[str, dict[str, str]]) -> dict[str, str] | None:
    labels = {
        q: plain(attributes["label"])
        for q, attributes in nodes.items()
        if "label" in attributes
    }
    if len(labels) == len(nodes):
        for sign in "|/":
            parts = {q: _label_parts(q, label, sign) for q, label in labels.items()}
            # Two outputs may contain the sign as well, but then the parts before it
            # do not tell the states apart.
            if all(parts.values()) and len({p[0] for p in parts.values()}) == len(
                parts
            ):
                return {q: part[1] for q, part in parts.items()}
    accepting = {q for q, attributes in nodes.items() if _is_doubled(attributes)}
    if accepting:
        return {q: "accept" if q in accepting else "reject" for q in nodes}
    if len(labels) == len(nodes) and len(set(labels.values())) < len(nodes):
        return labels
    return None


def _label_parts(state: str, label: str, sign: str) -> tuple[str, ...]:
    """The name and the output in a node's label; empty if it is not so divided."""
    after = label[len(state) :].lstrip()
    if label.startswith(state) and after.startswith(sign):
        return state, after[1:].strip()
    inner = re.sub(r"\A\s*\{(.*)\}\s*\Z", r"\1", label, flags=re.S)
    head, found, tail = inner.partition(sign)
    return (head.strip(), tail.strip()) if found else ()


def _is_doubled(attributes: dict[str, str]) -> bool:
    doubled = plain(attributes.get("shape", "")) in ("doublecircle", "doubleoctagon")
    return doubled or plain(attributes.get("peripheries", "")) == "2"


def _arrow(source: str, target: str) -> str:
    return f"{quote(source)} -> {quote(target)}"


def _written_labels(machine: Automaton) -> list[str]:
    """The labels of the arrows, state by state and there letter by letter."""
    output = machine.output
    if output is None or output.on == "states":
        return [*machine.letters] * len(machine.states)
    return [
        f"{letter}/{output.names[i]}"
        for column in output.table.T.tolist()
        for letter, i in zip(machine.letters, column, strict=True)
    ]


def _written_nodes(machine: Automaton, ids: Sequence[str]) -> list[str]:
    start = f"{_START}0"
    marker = [f'{start} [label="", shape=none]', f"{start} -> {ids[machine.start]}"]
    output: Output | None = machine.output
    if output is None or output.on == "transitions":
        return [*ids, *marker]
    shapes = {True: ", shape=doublecircle", False: "", None: ""}
    accepting = acceptance(machine)
    nodes = []
    for q, state in enumerate(machine.states):
        label = dot_string(f"{state} | {output.names[output.table[q]]}")
        shape = shapes[accepting[q] if accepting else None]
        nodes.append(f"{ids[q]} [label={label}{shape}]")
    return [*nodes, *marker]
