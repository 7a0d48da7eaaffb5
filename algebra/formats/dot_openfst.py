"""What OpenFst draws (``fstdraw``, pynini), turned into the text that OpenFst prints."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from krohn.algebra.automaton import Automaton
from krohn.algebra.formats import Complete, Kind, att
from krohn.algebra.formats.assembly import with_remark
from krohn.algebra.formats.dot_graph import Edge, Graph, plain
from krohn.algebra.formats.files import problem, quote
from krohn.program.user_input import EPSILON, EPSILONS

_SYMBOL = re.compile(r"[^\t\r\n]++")
_WEIGHT = re.compile(r"[-+]?\d++(?:\.\d*+)?(?:[eE][-+]?\d++)?|Infinity")


def is_of_openfst(graph: Graph) -> bool:
    """Whether each node is a circle, and the start alone is bold."""
    styles = Counter(
        plain(attributes.get("style", "")) for attributes in graph.nodes.values()
    )
    shapes = {plain(attributes.get("shape", "")) for attributes in graph.nodes.values()}
    one_start = styles["bold"] == 1 and styles.keys() <= {"bold", "solid"}
    return one_start and shapes <= {"circle", "doublecircle"} and len(graph.edges) > 0


def read(graph: Graph, name: str, complete: Complete, kind: Kind | None) -> Automaton:
    """The machine of such a drawing, as ``att.read`` reads its text.

    Each arrow stands in the line of the text where the drawing has it, so that messages
    name it. Labels with one ``:`` each are input and output.

    Args:
        graph: The drawing.
        name: What to call the file in messages.
        complete: The treatment of missing transitions.
        kind: The kind that is asked for; None to go by the labels.

    Raises:
        MachineError: As ``att.read`` does; or if there are weights other than 0, a label
            can be divided in several ways, or no arrow leaves the start.
    """
    finals = [q for q, a in graph.nodes.items() if plain(a["shape"]) == "doublecircle"]
    columns = _columns(graph, finals, name)
    text = _text(graph, finals, columns, name)
    machine = att.read(text, name, complete, kind)
    signs = sorted({symbols[0] for symbols in columns.values()} & EPSILONS - {EPSILON})
    remarks = [f"{quote(sign)} is read as a move without a letter" for sign in signs]
    pair = next(
        (raw for raw, s in columns.items() if len(s) > 1 and s[0] != s[1]), None
    )
    if pair is not None:
        remarks.append(f"{quote(plain(pair))} is read as input and output")
    return with_remark(machine, f"{name}: {'; '.join(remarks)}") if remarks else machine


def _text(
    graph: Graph, finals: Sequence[str], columns: Mapping[str, list[str]], name: str
) -> str:
    start = next(q for q, a in graph.nodes.items() if plain(a["style"]) == "bold")
    edges = sorted(graph.edges, key=lambda edge: edge.source != start)
    if edges[0].source != start:
        raise problem(name, 0, f"no arrow leaves the start {quote(start)}")
    lines = [""] * (edges[0].line - 1)
    for edge in edges:
        lines += [""] * (edge.line - 1 - len(lines))
        lines.append("\t".join((edge.source, edge.target, *columns[edge.label])))
    return "\n".join([*lines, *finals, ""])


def _columns(graph: Graph, finals: Sequence[str], name: str) -> dict[str, list[str]]:
    """The symbols of each label: one, or input and output."""
    first = {edge.label: edge for edge in reversed(graph.edges)}
    texts = _without_weights(graph, finals, first, name)
    transducer = all(":" in text for text in texts.values())
    columns = {}
    for raw, text in texts.items():
        columns[raw] = text.split(":") if transducer else [text]
        if len(columns[raw]) > 2 or not all(map(_SYMBOL.fullmatch, columns[raw])):
            raise problem(
                name,
                first[raw].line,
                f"the label {quote(text)} is no symbol, and no two with one ':' between; "
                "print the machine as text with fstprint",
            )
    return columns


def _without_weights(
    graph: Graph, finals: Sequence[str], first: Mapping[str, Edge], name: str
) -> dict[str, str]:
    """The text of each label; weights of 0, if OpenFst drew them, are left out."""
    texts = {raw: plain(raw) for raw in first}
    ends = {q: plain(graph.nodes[q].get("label", "")) for q in finals}
    parts = {text: text.rpartition("/") for text in [*texts.values(), *ends.values()]}
    weights = [
        _WEIGHT.fullmatch(tail) is not None and head != ""
        for head, _, tail in parts.values()
    ]
    if all(weights) and all(float(tail) == 0 for *_, tail in parts.values()):
        return {raw: parts[text][0] for raw, text in texts.items()}
    if any(weights):
        text = next(text for text, is_one in zip(parts, weights, strict=True) if is_one)
        line = next((first[raw].line for raw in texts if texts[raw] == text), 0)
        raise problem(
            name,
            line,
            f"weighted: {quote(text)} ends in a weight, and machines carry none; print "
            f"it as text with fstprint, and compile that with :weights=real, or =log",
        )
    return texts
