"""The nodes and edges of a DOT file, whatever they mean.

Files with one statement to a line, as tools write them, are read line by line: that is
15 times faster than the grammar of the whole language, which reads everything else.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from krohn.algebra.formats.file_errors import misread, problem
from krohn.program.parsing import Language, Misread, Node

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
_BLANK = re.compile(r"\s*+(?:(?://|#).*+)?+")
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
    """A node (one id), an edge (two ids) or the defaults of either, as written."""

    ids: tuple[str, ...]
    attributes: dict[str, str]
    line: int


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
            yield from _statements(said, name)
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
    graph = Graph()
    defaults: dict[str, dict[str, str]] = {"node": {}, "edge": {}, "graph": {}}
    for ids, attributes, line in statements:
        if ids[0] in defaults and len(ids) == 1:
            defaults[ids[0]] = defaults[ids[0]] | attributes
            continue
        for raw in ids:
            graph.nodes.setdefault(plain(raw), dict(defaults["node"]))
        if len(ids) == 1:
            graph.nodes[plain(ids[0])].update(attributes)
        else:
            given = defaults["edge"] | attributes
            graph.edges.append(Edge(plain(ids[0]), plain(ids[1]), given, line))
    return graph
