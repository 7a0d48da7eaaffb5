"""The nodes and edges of a GraphViz DOT file, whatever they mean.

Files with one statement to a line, as tools write them, are read line by line: that is 15
times faster than the grammar of the whole language, which reads everything else.
"""

import html
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice, pairwise, product, starmap
from pathlib import Path
from typing import NamedTuple

from krohn.algebra.formats.files import misread, problem, quote
from krohn.program.parsing import Language, Misread, Node

# Possessive throughout: a malformed line must fail at once, not after every way of
# dividing it has been tried.
_ID = (
    r'(?:"(?:[^"\\]++|\\.)*+"|[^\x00-@\[-^`{-\x7f](?:\w|[^\x00-\x7f])*+'
    r"|-?+(?:\.\d++|\d++(?:\.\d*+)?+)(?![\w.]))"
)
_STATEMENT = re.compile(
    rf"\s*+({_ID})\s*+(?:->\s*+({_ID})\s*+)?+"
    rf"(?:\[\s*+((?:{_ID}\s*+=\s*+{_ID}\s*+[,;]?+\s*+)*+)\]\s*+)?+;?+\s*+"
)
_PAIR = re.compile(rf"({_ID})\s*+=\s*+({_ID})")
_SETTING = re.compile(rf"\s*+({_ID})\s*+=\s*+({_ID})\s*+;?+\s*+")
_HEADER = re.compile(rf"\s*+(strict\s++)?+digraph\b\s*+({_ID})?+\s*+\{{\s*+", re.I)
_ESCAPE = re.compile(r'\\(["\\n]|\r?\n)')
_FLUSH_ESCAPE = re.compile(r'\\(["\\nlr]|\r?\n)')
_SIGNS = {"n": "\n", "l": "\n", "r": "\n", '"': '"', "\\": "\\"}
_FLUSH = re.compile(r"(?:[^\\]|\\(?![lr]\Z).)*+\\[lr]", re.S)
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|\w{1,40});")
_GAP = r"(?:\s++|(?://|#)[^\n]*+|/\*(?:[^*]++|\*(?!/))*+\*/)*+"
_SIGN = re.compile(
    rf"{_GAP}(?:strict\b{_GAP})?+(?:di)?+graph\b{_GAP}"
    rf"(?:{_ID}|<(?:[^<>]++|<[^<>]*+>)*+>)?+{_GAP}\{{",
    re.I | re.S,
)
_BLANK = re.compile(r"\s*+(?:(?://|#).*+)?+")
_OPEN, _CLOSE = "{", "}"
"""In place of a name: a group begins or ends, in which defaults are its own."""
_KEYWORDS = ("node", "edge", "graph", "digraph", "subgraph", "strict")
_DOT = Language(
    Path(__file__).with_name("dot_graph.lark"),
    phrases={
        "'digraph'": ("DIGRAPH", "GRAPH", "STRICT"),
        "a name": ("ID", "QUOTED", "HTML", "_PORT", "GRAPH", "DEFAULTS", "_SUBGRAPH"),
        "'->'": ("_ARROW", "LINE", "_PORT"),
    },
    hints={
        ("+", ""): "; write joined strings as one",
        (
            "_ARROW",
            "_PORT",
        ): "; write { } around several nodes of an arrow, without ','",
        (
            "COMMA",
            "_ARROW",
        ): "; write { } around several nodes of an arrow, without ','",
    },
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

    @property
    def label(self) -> str:
        """Its label as it stands in the file; empty if it has none."""
        return self.attributes.get("label", "")


@dataclass
class Graph:
    """The nodes, with their attributes, and the edges, both in the file's order.

    Attributes:
        title: What the file calls the graph; empty if it does not.
        label: The text that is drawn beside it.
        strict: Whether it has at most one arrow from one node to another.
        nodes: The attributes of each node.
        edges: The arrows.
    """

    title: str = ""
    label: str = ""
    strict: bool = False
    nodes: dict[str, dict[str, str]] = field(default_factory=dict)
    edges: list[Edge] = field(default_factory=list)


class _Statement(NamedTuple):
    """A node (one id), an edge (two ids), defaults of either, or an end of a group."""

    ids: tuple[str, ...]
    attributes: dict[str, str]
    line: int


_Parts = tuple[str, bool, list[_Statement], set[str]]
_MOST_ARROWS = 1_000_000
"""The most that lists of nodes, which say many in few words, may stand for."""


@dataclass
class _Body:
    """What a file says within its braces.

    Attributes:
        name: What to call the file in messages.
        statements: Its statements.
        ports: The nodes at whose ports arrows end.
        arrows: How many of the statements are arrows of chains with lists of nodes.
    """

    name: str
    statements: list[_Statement] = field(default_factory=list)
    ports: set[str] = field(default_factory=set)
    arrows: int = 0


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
            an undirected graph, an arrow of a group of nodes that has a name, or too
            many arrows in few words.
    """
    title, strict, statements, ports = _by_lines(text) or _by_grammar(text, name)
    graph = _collect(title, statements)
    graph.strict = strict
    # The package graphviz writes ends of arrows at a node :x as an empty name.
    ports |= {""} & graph.nodes.keys()
    for node in graph.nodes if ports else ():
        base, colon, _ = node.partition(":")
        if colon and base in ports:
            reason = (
                f"an arrow ends at {quote(base)}, which may be the node {quote(node)}"
            )
            raise problem(name, 0, f"{reason}; put a name with ':' in quotes")
    return graph


def plain(raw: str) -> str:
    r"""The text of an id; undoes its quotes, joined lines, and ``\"``, ``\\``, ``\n``."""
    if not raw.startswith('"'):
        return raw
    return _ESCAPE.sub(_unescape, raw[1:-1])


def _unescape(escape: re.Match[str]) -> str:
    return _SIGNS.get(escape[1], "")  # a line that ends in \\ is joined to the next


def label_text(raw: str) -> str:
    r"""The text that a label shows, but for labels like HTML, which stay as they are.

    It is that of ``plain``, with entities such as ``&epsilon;``; where the text ends in
    ``\l`` or ``\r``, which end lines that are flush left or right, these end its lines.
    """
    flush = raw.startswith('"') and _FLUSH.fullmatch(raw, 1, len(raw) - 1)
    text = _FLUSH_ESCAPE.sub(_unescape, raw[1:-1]).rstrip("\n") if flush else plain(raw)
    return text if raw.startswith("<") else decode_entities(text)


def decode_entities(text: str) -> str:
    """The text with the signs that entities such as ``&lt;`` stand for."""
    return _ENTITY.sub(lambda entity: html.unescape(entity[0]), text)


def dot_string(text: str) -> str:
    """The text as a quoted id, which ``plain`` turns back."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def dot_label(text: str) -> str:
    """The text as a quoted label, which ``label_text`` turns back."""
    return dot_string(_ENTITY.sub(lambda m: f"&amp;{m[0][1:]}", text))


def _by_lines(text: str) -> _Parts | None:
    """As `_by_grammar`, of a file with one statement to a line and without ports.

    None if the file is laid out otherwise.
    """
    lines = [
        (i, s) for i, s in enumerate(text.split("\n"), 1) if not _BLANK.fullmatch(s)
    ]
    header = _HEADER.fullmatch(lines[0][1]) if len(lines) > 1 else None
    if header is None or lines[-1][1].strip() != "}":
        return None
    statements: list[_Statement] = []
    for number, line in lines[1:-1]:
        statement = _statement(line, number)
        if statement is None:
            return None
        statements.append(statement)
    return plain(header[2] or ""), header[1] is not None, statements, set()


def _statement(text: str, line: int) -> _Statement | None:
    match = _STATEMENT.fullmatch(text)
    if match is None:
        setting = _SETTING.fullmatch(text)
        return None if setting is None else _setting(setting[1], setting[2], line)
    source, target, inside = match.groups()
    keywords = _KEYWORDS if target or inside is None else _KEYWORDS[3:]
    if source.lower() in keywords or (target or "").lower() in _KEYWORDS:
        return None
    ids = (source, target) if target else (source,)
    pairs = _PAIR.findall(inside) if inside else []
    return _Statement(ids, {plain(key).lower(): value for key, value in pairs}, line)


def _setting(key: str, value: str, line: int) -> _Statement:
    return _Statement(("graph",), {plain(key).lower(): value}, line)


def _by_grammar(text: str, name: str) -> _Parts:
    """The name, whether it is strict, statements, and nodes at whose ports arrows end."""
    try:
        graphs = _DOT.parse(text).parts
    except Misread as wrong:
        raise misread(name, wrong, "DOT") from None
    if len(graphs) != 1:
        raise problem(name, 0, f"{len(graphs)} graphs; give a file with one machine")
    words = [part for part in graphs[0].parts if isinstance(part, str)]
    strict = words[0].lower() == "strict"
    kind, *called = words[strict:]
    if kind.lower() != "digraph":
        raise problem(name, 0, "an undirected graph; a machine is a digraph")
    body = _Body(name)
    _add_statements(body, graphs[0])
    return plain("".join(called)), strict, body.statements, body.ports


def _add_statements(body: _Body, group: Node) -> dict[str, str]:
    """Add the statements of a graph, or of a group in it; the ids of its nodes."""
    begin = len(body.statements)
    for statement in (part for part in group.parts if isinstance(part, Node)):
        if statement.kind == "subgraph":
            _add_group(body, statement)
        elif statement.kind == "setting":
            key, value = statement.parts
            body.statements.append(_setting(key, value, statement.line))
        else:
            _add_statement(body, statement)
    others = (_OPEN, _CLOSE, "node", "edge", "graph")
    added = islice(body.statements, begin, None)
    return {
        plain(each): each for s in added if s.ids[0] not in others for each in s.ids
    }


def _add_group(body: _Body, said: Node) -> dict[str, str]:
    body.statements.append(_Statement((_OPEN,), {}, said.line))
    ids = _add_statements(body, said)
    body.statements.append(_Statement((_CLOSE,), {}, said.line))
    return ids


def _add_statement(body: _Body, said: Node) -> None:
    """Add nodes, the defaults of some, or each arrow of a chain."""
    attributes = {
        plain(key).lower(): value
        for part in said.parts
        if isinstance(part, Node) and part.kind == "attributes"
        for key, value in (pair.parts for pair in part.parts)
    }
    each: Iterable[tuple[str, ...]]
    if said.kind == "edge":
        each = _arrows(body, said)
    else:
        ids = [part for part in said.parts if isinstance(part, str)]
        if any(isinstance(p, Node) and p.kind == "port" for p in said.parts):
            reason = f"a ':' after the node {ids[0]}; put a name with ':' in quotes"
            raise problem(body.name, said.line, reason)
        each = zip(ids if said.kind == "node" else [ids[0].lower()], strict=True)
    body.statements += [_Statement(ids, attributes, said.line) for ids in each]


def _arrows(body: _Body, said: Node) -> Iterable[tuple[str, ...]]:
    """The ends of each arrow of a chain; adds what the groups in it say."""
    ends = list[Collection[str]]()
    grouped = any(isinstance(p, Node) and p.kind == "subgraph" for p in said.parts)
    for part in said.parts:
        if part == "--":
            reason = "a line -- has no direction; write -> in a digraph"
            raise problem(body.name, said.line, reason)
        if not isinstance(part, Node):
            ends.append((part,))
            if grouped:  # it is none of what the next group says of its nodes
                body.statements.append(_Statement((part,), {}, said.line))
        elif part.kind == "port":
            body.ports.update(map(plain, ends[-1]))
        elif part.kind == "subgraph":
            if part.parts and isinstance(part.parts[0], str):
                reason = f"an arrow of the group {part.parts[0]}; write {{ … }} alone"
                raise problem(body.name, said.line, reason)
            ends.append(_add_group(body, part).values())
    body.arrows += sum(len(a) * len(b) for a, b in pairwise(ends)) if grouped else 0
    if body.arrows > _MOST_ARROWS:
        reason = f"lists of nodes stand for more than {_MOST_ARROWS} arrows"
        raise problem(body.name, said.line, f"{reason}; give a smaller machine")
    return chain.from_iterable(starmap(product, pairwise(ends)))


def _collect(title: str, statements: Sequence[_Statement]) -> Graph:
    graph, around = Graph(title), list[dict[str, dict[str, str]]]()
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
    graph.label = label_text(defaults["graph"].get("label", ""))
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
