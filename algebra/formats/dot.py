"""Machines that are drawn in GraphViz DOT, by tools and by people.

Arrows ``a -> b [label="input/output"]`` make a Mealy machine, arrows with only an input
a Moore machine or an acceptor. An arrow without a label marks the start state.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import partial

from krohn.algebra.automaton import NO_START, Automaton, Output
from krohn.algebra.errors import MachineError
from krohn.algebra.formats import Complete, Kind, dot_openfst
from krohn.algebra.formats.acceptors import machine_of, machine_of_acceptor
from krohn.algebra.formats.assembly import (
    ACCEPTANCE,
    Transition,
    acceptance,
    remark_of,
    with_remark,
)
from krohn.algebra.formats.dot_graph import (
    Edge,
    Graph,
    decode_entities,
    dot_label,
    dot_string,
    has_sign as has_sign,  # the table of formats asks for it
    label_text,
    parse,
    plain,
)
from krohn.algebra.formats.dot_labels import (
    MONA,
    Drawing,
    look_stochastic,
    markup_text,
    read_labels,
)
from krohn.algebra.formats.files import check_writable, problem, quote
from krohn.program.user_input import EPSILONS

_START = "__start"
_START_KEYS = ("is_start", "root", "initial", "start")
_START_WORDS = {"", "start", "begin", "init", "initial", "reset", "rst", *EPSILONS}
_FINAL_KEYS = ("is_final", "final", "accepting", "accept")
_IN_BRACKETS = re.compile(r"\[[^\[\]]*+\]")
_INFINITE = re.compile(r"B(?:ü|ue|u)chi|Rabin|Streett|parity|Muller")
_TRUE = ("true", "1", "yes")
_Attributes = Mapping[str, str]
_OTHER_LABELS = ("xlabel", "headlabel", "taillabel")
_PORT = re.compile(r"(?<!\\)<\w*+>\s*+")
_AFTER_STATE = re.compile(
    r"[^\S\n]*+(?:\n(?!\s*+- )|[:,;=]|[(\[](?=.*[)\]]\Z))\s*+([^\n]+?)[)\]]?"
)
_TRIMMED = re.compile(r"(?!\s).*(?<!\s)", re.S)
_LETTER = re.compile(
    rf"(?!(?:{'|'.join(map(re.escape, sorted(EPSILONS)))})\Z)(?![\s/])[^/]*[^\s/]", re.S
)
_STATE = re.compile(rf"(?!{_START})(?!\s).*[^\s]", re.S)


def read(
    text: str, name: str, complete: Complete = "reject", kind: Kind | None = None
) -> Automaton:
    """The Mealy machine, Moore machine or acceptor of a DOT file.

    ``docs/formats.md`` says what labels, circles and marks of the start mean. Where the
    drawing can be read in two ways, the machine's remark says which one was taken. What
    OpenFst draws is read as its text (``dot_openfst.read``).

    Args:
        text: The file.
        name: What to call the file in messages.
        complete: The treatment of missing transitions.
        kind: For a drawing with outputs and accepting states: ``"acceptor"`` to leave
            the outputs out, ``"mealy"`` to leave out which states are accepting.

    Raises:
        MachineError: If the file is not DOT, has no arrows, or arrows without labels; a
            label has a condition that no letter can express; the machine is
            nondeterministic and no acceptor, or stochastic; outputs and accepting states
            are drawn and ``kind`` does not choose, or there is nothing to choose; or
            transitions are missing and ``complete`` does not say what to do.
    """
    graph = parse(text, name)
    _check_finite_words(graph.label, name)
    if dot_openfst.is_of_openfst(graph):
        return dot_openfst.read(graph, name, complete, kind)
    edges, besides = _with_labels(_visible_edges(graph, name))
    markers = _markers(graph, edges)
    arrows = [edge for edge in edges if edge.source not in markers]
    if not arrows:
        raise problem(name, 0, "no arrows between states; is this a machine?")
    ends = {q for edge in edges for q in (edge.source, edge.target)} - markers
    ends |= {q for q, attributes in graph.nodes.items() if _is_start(attributes)}
    nodes = {q: given for q, given in graph.nodes.items() if q in ends}
    shown, notes = _state_outputs(graph, nodes)
    accepts = shown is not None and {*shown.values()} <= {*ACCEPTANCE}
    one_letter = any(marker.startswith(_START) for marker in markers)
    drawing = Drawing(name, graph.title, one_letter, accepts, kind)
    transitions, letters = read_labels(arrows, drawing)
    remarks = [*drawing.remarks, *besides, *_remarks_on_strict(graph, arrows)]
    if not notes:
        remarks += _remarks_on_unread_labels(nodes, shown or {})
    if kind is not None:
        _check_choice(transitions, drawing)
    if kind == "acceptor":
        transitions = [t._replace(output=None) for t in transitions]
    starts = _starts(nodes, edges, markers, remarks)
    if transitions[0].output is None and shown is not None and accepts:
        final = [q for q, seen in shown.items() if seen == "accept"]
        machine = machine_of_acceptor(
            transitions, starts, final, name, complete, states=nodes, letters=letters
        )
        return with_remark(machine, remark_of(name, [*notes, *remarks]))
    _check_one_start(starts, name)
    if transitions[0].output is not None:
        if shown is not None or any(map(_is_active, nodes.values())):
            remarks.append("labels of arrows are read as letter/output")
        shown, notes = None, []
    elif shown is None:
        notes = [*notes, *_remarks_on_shapes(nodes)]
    how = partial(machine_of, states=nodes, letters=letters, shown=shown)
    machine = how(transitions, starts[0], name, complete)
    return with_remark(machine, remark_of(name, [*notes, *remarks]))


def write(machine: Automaton) -> str:
    """The machine as DOT; ``read`` gives back its letters, states and outputs.

    Raises:
        MachineError: If a letter has a ``/`` in it or means none, a state is called like
            a start marker, or a name begins or ends with a space.
    """
    output = machine.output
    form = "DOT divides labels at '/', and ε and such mean no letter"
    check_writable(machine.letters, _LETTER, "letter", form)
    form = "DOT keeps '__start' for the start, and no spaces around names"
    check_writable(machine.states, _STATE, "state", form)
    names = () if output is None else output.names
    check_writable(names, _TRIMMED, "output", "DOT keeps no spaces around names")
    labels = _written_labels(machine)
    if look_stochastic(labels):
        raise MachineError(
            f"the labels of {machine.name} would read as probabilities in DOT; "
            "write .json, which carries every name"
        )
    arrows = [dot_label(label) for label in labels]
    ids = [dot_string(state) for state in machine.states]
    lines = [f"  {line};" for line in _written_nodes(machine, ids)]
    for place, q in enumerate(machine.transitions.T.reshape(-1).tolist()):
        source = ids[place // len(machine.letters)]
        lines.append(f"  {source} -> {ids[q]} [label={arrows[place]}];")
    return "\n".join([f"digraph {dot_string(machine.name)} {{", *lines, "}", ""])


def _check_finite_words(label: str, name: str) -> None:
    """Refuse an automaton whose acceptance, which Spot draws, is of infinite words."""
    for condition in filter(_INFINITE.search, _IN_BRACKETS.findall(label)):
        reason = f"an automaton on infinite words, as {quote(condition)} says"
        raise problem(name, 0, f"{reason}; a machine reads words that end")


def _check_choice(transitions: Sequence[Transition], drawing: Drawing) -> None:
    """Refuse a choice of kind where the drawing leaves none."""
    if transitions[0].output is None:
        reason = "no outputs, so it is no Mealy machine; leave --as out"
        raise problem(drawing.name, 0, reason)
    if drawing.kind == "acceptor" and not drawing.accepts:
        reason = "no accepting states, so it is no acceptor; leave --as out"
        raise problem(drawing.name, 0, reason)


# Which arrows are drawn, and which nodes mark the start.


def _visible_edges(graph: Graph, name: str) -> list[Edge]:
    """The arrows that a drawing shows.

    Raises:
        MachineError: If one is drawn backwards, or enters or leaves a group of states.
    """
    edges = []
    for edge in graph.edges:
        attributes = edge.attributes
        if not attributes.keys().isdisjoint(("dir", "lhead", "ltail")):
            _check_direction(edge, name)
        if "style" not in attributes or "invis" not in plain(attributes["style"]):
            edges.append(edge)
    return edges


def _with_labels(edges: Sequence[Edge]) -> tuple[list[Edge], list[str]]:
    """Arrows whose only label has another name with it as their label; and remarks."""
    labelled, remarks = list[Edge](), dict[str, None]()
    for edge in edges:
        own = edge.attributes
        others = [key for key in _OTHER_LABELS if plain(own.get(key, "")).strip()]
        if len(others) == 1 and not label_text(edge.label).strip():
            edge = edge._replace(attributes=own | {"label": own[others[0]]})
            remarks[f"the {others[0]} of an arrow is read as its label"] = None
        else:
            for key in others:
                remarks[f"the {key} of an arrow is not read beside its label"] = None
        labelled.append(edge)
    return labelled, [*remarks]


def _remarks_on_strict(graph: Graph, arrows: Sequence[Edge]) -> list[str]:
    """A remark on arrows of which Graphviz would draw the last one only."""
    first: dict[tuple[str, str], str] = {}
    for arrow in arrows if graph.strict else ():
        ends = (arrow.source, arrow.target)
        if first.setdefault(ends, arrow.label) != arrow.label:
            between = " -> ".join(map(quote, ends))
            return [
                f"all arrows {between} are read, although the graph is strict, so that "
                "Graphviz draws only the last one"
            ]
    return []


def _check_direction(edge: Edge, name: str) -> None:
    between = f"the arrow {quote(edge.source)} -> {quote(edge.target)}"
    direction = plain(edge.attributes.get("dir", "forward"))
    if direction in ("back", "both"):
        reason = f"is drawn with dir={direction}; write each arrow from where it begins"
        raise problem(name, edge.line, f"{between} {reason}")
    if edge.attributes.keys() & {"lhead", "ltail"}:
        reason = "leads to or from a group of states; flatten states within states"
        raise problem(name, edge.line, f"{between} {reason}")


def _markers(graph: Graph, edges: Sequence[Edge]) -> set[str]:
    """The nodes that only mark the start: they are no states."""
    entered = {edge.target for edge in edges}
    words: dict[str, set[str]] = {}
    for edge in edges:
        if edge.source not in entered:
            word = label_text(edge.label).strip().lower()
            words.setdefault(edge.source, set()).add(word)
    markers = {node for node in graph.nodes if node.startswith(_START)}
    for node, labels in words.items():
        if labels <= {*(_START_WORDS if _is_hidden(graph.nodes[node]) else ("",))}:
            markers.add(node)
    return markers


def _is_hidden(attributes: _Attributes) -> bool:
    """Whether a node is drawn without a shape, or without a text of its own."""
    shape = plain(attributes.get("shape", "")).lower()
    if shape in ("none", "point", "plaintext", "plain"):
        return True
    blank = "label" in attributes and not label_text(attributes["label"]).strip()
    return blank or "invis" in plain(attributes.get("style", ""))


def _starts(
    nodes: Mapping[str, _Attributes],
    edges: Sequence[Edge],
    markers: set[str],
    remarks: list[str],
) -> list[str]:
    """The states that are marked as the start, or one that a remark tells of."""
    marked = [
        e.target for e in edges if e.source in markers and e.target not in markers
    ]
    starts = list(dict.fromkeys(marked)) or [
        q for q, attributes in nodes.items() if _is_set(attributes, _START_KEYS)
    ]
    if starts:
        return starts
    starts = [q for q, attributes in nodes.items() if _is_active(attributes)]
    if starts:
        remarks.append(f"{quote(starts[0])}, drawn as the active state, is the start")
        return starts
    first = next(edge.source for edge in edges if edge.source not in markers)
    remarks.append(
        f"{NO_START}, so it is {quote(first)}, where the first arrow begins, unless "
        "--start says another"
    )
    return [first]


def _is_start(attributes: _Attributes) -> bool:
    """Whether a node says itself that it is the start."""
    return _is_set(attributes, _START_KEYS) or _is_active(attributes)


def _is_set(attributes: _Attributes, keys: Sequence[str]) -> bool:
    """Whether one of some attributes is true."""
    return any(plain(attributes.get(key, "")).lower() in _TRUE for key in keys)


def _is_active(attributes: _Attributes) -> bool:
    """Whether transitions draws the node as the state that its machine is in."""
    return plain(attributes.get("fillcolor", "")) == "darksalmon"


def _check_one_start(starts: Sequence[str], name: str) -> None:
    if len(starts) > 1:
        raise problem(
            name,
            0,
            f"nondeterministic: both {quote(starts[0])} and {quote(starts[1])} are "
            "marked as the start; keep one of the two",
        )


# What nodes show.


def _state_outputs(
    graph: Graph, nodes: Mapping[str, _Attributes]
) -> tuple[dict[str, str] | None, list[str]]:
    """What states show, None if nothing says so; and remarks on how that was read."""
    texts = {q: _node_text(q, attributes) for q, attributes in nodes.items()}
    labels = {q: text for q, text in texts.items() if text not in ("", q)}
    accepting = _accepting(graph, nodes)
    outputs = _divided_labels(labels) if len(labels) == len(nodes) else None
    if outputs is not None:
        remarks = []
        if accepting is not None and not {*outputs.values()} <= {*ACCEPTANCE}:
            attributes = (
                "double circles are left out, for the labels of states show outputs"
            )
            remarks.append(attributes)
        written = {q: plain(attributes["label"]) for q, attributes in nodes.items()}
        coded = [q for q, text in written.items() if decode_entities(text) != text]
        remarks += [f"entities are read as signs: {quote(texts[q])}" for q in coded[:1]]
        return outputs, remarks
    if accepting is not None:
        boxes = graph.title == MONA and any(
            plain(attributes.get("shape", "")) == "box" for attributes in nodes.values()
        )
        remark = "boxes, where MONA does not care, are read as not accepting"
        remarks = [remark] if boxes else []
        if "accept" not in accepting.values() and (final := _final_nodes(graph)):
            remarks.append(
                f"no state accepts, for {quote(next(iter(final)))}, which is drawn so, "
                "has no arrows and is no state"
            )
        return accepting, remarks
    outputs = _outputs_after_states(labels) if len(labels) == len(nodes) else None
    if outputs is not None:
        example = quote(next(iter(labels.values())))
        if len({*outputs.values()}) == len(nodes):
            return None, [f"{example} is read as a name, not as a state and its output"]
        return outputs, [f"{example} is read as a state and its output"]
    if len(labels) == len(nodes) and len(set(labels.values())) < len(nodes):
        return labels, ["labels of states are read as outputs, for states share some"]
    return None, []


def _remarks_on_unread_labels(
    nodes: Mapping[str, _Attributes], shown: Mapping[str, str]
) -> list[str]:
    """A remark on labels of states that are neither their names nor their outputs."""
    texts = {q: _node_text(q, attributes) for q, attributes in nodes.items()}
    for q, text in texts.items():
        if text not in ("", q) and shown.get(q, text + q) not in text:
            return [
                f"labels of states are not read, as {quote(text)} of {quote(q)}; states "
                "are called as their nodes"
            ]
    return []


def _node_text(node: str, attributes: _Attributes) -> str:
    """The text of a node's label; empty if it has none of its own."""
    raw = attributes.get("label", "")
    if raw.startswith("<"):
        return "" if "<table" in raw.lower() else markup_text(raw)
    text = plain(raw)
    if "record" in plain(attributes.get("shape", "")).lower():
        text = _PORT.sub("", text)
    if text == r"\N":
        return ""
    if not text.startswith(node):
        return label_text(raw).strip()
    return (node + decode_entities(text[len(node) :])).strip()


def _divided_labels(labels: Mapping[str, str]) -> dict[str, str] | None:
    """The outputs in labels like ``state | output``; None if they are not so divided."""
    for sign in "|/":
        parts = {q: _label_parts(q, label, sign) for q, label in labels.items()}
        # Two outputs may contain the sign as well, but then the parts before it do not
        # tell the states apart.
        if all(parts.values()) and len({p[0] for p in parts.values()}) == len(parts):
            return {q: part[1] for q, part in parts.items()}
    return None


def _outputs_after_states(labels: Mapping[str, str]) -> dict[str, str] | None:
    """The outputs in labels like ``state: output``; None if they are not so."""
    if not all(text.startswith(q) for q, text in labels.items()):
        return None
    matches = {q: _AFTER_STATE.fullmatch(text, len(q)) for q, text in labels.items()}
    outputs = {q: match[1].strip() for q, match in matches.items() if match}
    return outputs if len(outputs) == len(labels) else None


def _label_parts(state: str, label: str, sign: str) -> tuple[str, ...]:
    """The name and the output in a node's label; empty if it is not so divided."""
    after = label[len(state) :].lstrip()
    if label.startswith(state) and after.startswith(sign):
        return state, after[1:].strip()
    inner = label[1:-1] if label.startswith("{") and label.endswith("}") else label
    head, separator, tail = inner.partition(sign)
    return (head.strip(), tail.strip()) if separator else ()


def _accepting(graph: Graph, states: Iterable[str]) -> dict[str, str] | None:
    """Whether each state accepts; None if no node is marked, be it a state or not."""
    final = _final_nodes(graph)
    if final is None:
        return None
    accepting = {*final}
    return {q: "accept" if q in accepting else "reject" for q in states}


def _final_nodes(graph: Graph) -> list[str] | None:
    """The nodes that are drawn as accepting; None if nothing says which are."""
    every = graph.nodes
    if any(
        not attributes.keys().isdisjoint(_FINAL_KEYS) for attributes in every.values()
    ):
        return [
            q for q, attributes in every.items() if _is_set(attributes, _FINAL_KEYS)
        ]
    doubled = [q for q, attributes in every.items() if _is_doubled(attributes)]
    return doubled if doubled or graph.title == MONA else None


def _remarks_on_shapes(nodes: Mapping[str, _Attributes]) -> list[str]:
    """A remark on states that are drawn differently where nothing says what they show."""
    if any("xlabel" in attributes for attributes in nodes.values()):
        return ["the xlabel of states is not read, so the states are shown"]
    drawn = {
        (
            plain(attributes.get("shape", "ellipse")),
            plain(attributes.get("peripheries", "1")),
        )
        for attributes in nodes.values()
        if not _is_active(attributes)
    }
    if len(drawn) < 2:
        return []
    return ["shapes other than double circles are not read, so the states are shown"]


def _is_doubled(attributes: _Attributes) -> bool:
    doubled = plain(attributes.get("shape", "")) in ("doublecircle", "doubleoctagon")
    twice = plain(attributes.get("peripheries", "")) == "2"
    return doubled or (twice and not _is_active(attributes))


# How machines are written.


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
        label = dot_label(f"{state} | {output.names[output.table[q]]}")
        shape = shapes[accepting[q] if accepting else None]
        nodes.append(f"{ids[q]} [label={label}{shape}]")
    return [*nodes, *marker]
