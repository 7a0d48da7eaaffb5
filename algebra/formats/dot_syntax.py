"""The nodes and edges of a DOT file, whatever they mean.

Files with one statement to a line, as tools write them, are read line by line: that is
a hundred times faster than pydot and knows the line numbers. Everything else goes
through pydot, which knows the whole language.
"""

import contextlib
import io
import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from krohn.algebra.formats.file_errors import problem, quote

if TYPE_CHECKING:
    import pydot

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
_PORT = re.compile(r'\A("(?:[^"\\]++|\\.)*+"|[^":]++):.*+\Z', re.S)
_PLACE = re.compile(r"\(line:(\d+), col:(\d+)\)")


class Edge(NamedTuple):
    """An arrow.

    Attributes:
        source: The node it leaves.
        target: The node it enters.
        attributes: Its attributes, as they stand in the file (see ``plain``).
        line: Where it stands; 0 if that is unknown.
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
    return _collect(_by_pydot(text, name) if statements is None else statements)


def plain(raw: str) -> str:
    r"""What an id or a label says; undoes its quotes and ``\"``, ``\\``, ``\n``."""
    if not raw.startswith('"'):
        return raw
    return re.sub(r'\\(["\\n])', lambda m: m[1].replace("n", "\n"), raw[1:-1])


def quoted(text: str) -> str:
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


def _by_pydot(text: str, name: str) -> list[_Statement]:
    graphs, said = _pydot_graphs(text, name)
    if not graphs:
        place = _PLACE.search(said)
        column = f" at column {place[2]}" if place else ""
        line = int(place[1]) if place else 0
        raise problem(name, line, f"not DOT: cannot be parsed{column}")
    if len(graphs) != 1:
        raise problem(name, 0, f"{len(graphs)} graphs; give a file with one machine")
    if graphs[0].get_type() != "digraph":
        raise problem(name, 0, "an undirected graph; a machine is a digraph")
    return list(_pydot_statements(graphs[0], name))


def _pydot_graphs(text: str, name: str) -> tuple["Sequence[pydot.Dot] | None", str]:
    import pydot

    # pydot prints what it cannot parse, and newer parsers warn of how it calls them.
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        try:
            graphs = pydot.graph_from_dot_data(text)
        except RecursionError as error:
            raise problem(name, 0, "not a machine: nested too deeply") from error
        except Exception as error:
            # Inside of a library anything may fail on a file that nobody foresaw.
            raise problem(name, 0, f"not DOT: {quote(str(error))}") from error
    return graphs, printed.getvalue()


def _pydot_statements(graph: "pydot.Graph", name: str) -> Iterator[_Statement]:
    import pydot

    items: list[pydot.Node | pydot.Edge | pydot.Subgraph]
    items = [*graph.get_nodes(), *graph.get_edges(), *graph.get_subgraphs()]
    for item in sorted(items, key=lambda item: int(item.get_sequence() or 0)):
        if isinstance(item, pydot.Subgraph):
            yield from _pydot_statements(item, name)
            continue
        ids: tuple[object, ...] = (
            (item.get_source(), item.get_destination())
            if isinstance(item, pydot.Edge)
            else (item.get_name(),)
        )
        if not all(isinstance(raw, str) for raw in ids):
            raise problem(name, 0, "an arrow between groups { … }; write single arrows")
        attributes = {str(k).lower(): str(v) for k, v in item.get_attributes().items()}
        yield _Statement(
            tuple(_PORT.sub(r"\1", str(raw)) for raw in ids), attributes, 0
        )


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
