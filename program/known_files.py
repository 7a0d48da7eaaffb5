"""What a file is that Krohn does not read: known by how it begins.

A message that says so helps more than one about the format that was tried in vain.
"""

import json
import re
from collections.abc import Callable
from typing import NamedTuple

HEAD = 2**16
"""So many bytes are looked at."""
DOT = "save the machine as GraphViz DOT or another format of docs/formats.md"
TABLE = "name it .csv or .tsv if it is a table of transitions (docs/formats.md)"
MADE = "give the machine that it makes, as an object in Python or saved as DOT"
PYTHON = "give the object itself to krohn.automaton in Python"
UNPACK = "unpack it, and give the file that is in it"


class KnownFile(NamedTuple):
    """A kind of files that are no machines, or that nobody here reads.

    Attributes:
        what: What a file of this kind is, for messages.
        sign: What the head of such a file has: a pattern that is searched, or a function.
        instead: What to do with it.
    """

    what: str
    sign: re.Pattern[bytes] | Callable[[bytes], object]
    instead: str = "no machine is read from it"

    def recognises(self, head: bytes) -> bool:
        """Whether the head of a file is that of such a file."""
        search = self.sign.search if isinstance(self.sign, re.Pattern) else self.sign
        return bool(search(head))


def recognise(data: bytes, by_looks: bool = True, texts: bool = True) -> str | None:
    """What a file is, and what to do with it; None if it is of no known kind.

    Args:
        data: The bytes of the file; its first `HEAD` are looked at.
        by_looks: Whether to say also what a text only looks like.
        texts: Whether to tell kinds of texts apart.
    """
    head = data[:HEAD]
    if len(data) > HEAD:  # a line that is cut would be another line
        head = head[: head.rfind(b"\n") + 1] or head
    looks = BY_LOOKS if texts else (BINARY,)
    kinds = BY_BEGINNING if texts else OF_BYTES
    ways = (("is", kinds), ("looks like", looks if by_looks else ()))
    for verb, group in ways:
        for known in group:
            if known.recognises(head):
                return f"this {verb} {known.what}; {known.instead}"
    return None


def _begins(pattern: bytes, flags: int = 0) -> re.Pattern[bytes]:
    return re.compile(rb"\A(?:" + pattern + rb")", flags | re.S)


def _after_blanks(pattern: bytes, flags: int = 0) -> re.Pattern[bytes]:
    return _begins(rb"\s*+(?:" + pattern + rb")", flags)


def _root(*names: bytes) -> re.Pattern[bytes]:
    """The first element of XML, behind what may stand before it."""
    before = (
        rb"\s++|<\?(?:[^?]++|\?(?!>))*+\?>|<!--(?:[^-]++|-(?!->))*+-->"
        rb"|<!DOCTYPE(?:[^\[>]++|\[[^\]]*+\])*+>"
    )
    named = rb"|".join(names) or rb"[A-Za-z_][\w.-]*+"
    return _begins(rb"(?:%b)*+<(?:[\w.-]++:)?+(?:%b)(?![\w.-])" % (before, named))


def _is_json(head: bytes) -> bool:
    """Whether it is JSON, as far as it was looked at."""
    try:
        json.loads(head)
    except (ValueError, RecursionError):
        return False
    return True


def _table(mark: bytes) -> Callable[[bytes], bool]:
    """Whether all lines, and at least two, have the same number of fields, two or more."""

    def is_table(head: bytes) -> bool:
        lines = [line for line in head.splitlines() if line.strip()]
        return (
            len(lines) > 1
            and len({0} | {n.count(mark) for n in lines}) == 2
            and (mark in lines[0])
        )

    return is_table


def _tar(head: bytes) -> bool:
    return head[257:262] == b"ustar"


_ZIP = rb"PK\x03\x04.{26}"
_CODE = (
    rb"^(?:import [\w.]++(?: as \w++)?+$|from [\w.]++ import \b|def \w++\(|class \w++[(:]"
    rb"|#include [<\"]|using namespace |package [\w.]++;?+$|public class |use [\w:]++;$"
    rb"|func \w++\(|fn \w++\(|const \w++ = |export |function \w++\()"
)

OF_BYTES = (
    KnownFile("a pickle of Python", _begins(rb"\x80[\x02-\x05]"), PYTHON),
    KnownFile("a pickle of Python", _begins(rb"c\w++\n\w++\n|\((?:dp|lp|i)"), PYTHON),
    KnownFile(
        "a model that torch saved",
        _begins(_ZIP + rb"[^/]{1,99}+/(?:data\.pkl|\.format_version|version)"),
        "name it .pt if it is a network; a machine in it is to be saved as text",
    ),
    KnownFile(
        "an archive of numpy's arrays",
        _begins(_ZIP + rb"[\w/-]{1,99}+\.npy"),
        "name it .npz if a hidden Markov model is in it (docs/kinds/hidden_markov.md)",
    ),
    KnownFile(
        "a document or a table of an office program",
        _begins(_ZIP + rb"(?:\[Content_Types\]|_rels/|mimetype)"),
        "save the table as CSV",
    ),
    KnownFile("a zip archive", _begins(rb"PK(?:\x03\x04|\x05\x06)"), UNPACK),
    KnownFile(
        "a gzip archive",
        _begins(rb"\x1f\x8b"),
        "unpack it, or end its name in .gz",
    ),
    KnownFile("a bzip2 archive", _begins(rb"BZh[1-9]1AY&SY"), UNPACK),
    KnownFile("an xz archive", _begins(rb"\xfd7zXZ\x00"), UNPACK),
    KnownFile("a zstandard archive", _begins(rb"\x28\xb5\x2f\xfd"), UNPACK),
    KnownFile("a 7z archive", _begins(rb"7z\xbc\xaf\x27\x1c"), UNPACK),
    KnownFile("a tar archive", _tar, UNPACK),
    KnownFile("a PDF", _begins(rb"%PDF-")),
    KnownFile("a text in PostScript", _begins(rb"%!PS")),
    KnownFile(
        "a picture",
        _begins(
            rb"\x89PNG|\xff\xd8\xff|GIF8[79]a|BM.{4}\0{4}|RIFF.{4}WEBP|II\*\0|MM\0\*"
        ),
        "give the file that it was drawn from, such as its DOT text",
    ),
    KnownFile(
        "an FST of OpenFst in its binary form",
        _begins(rb"\xd6\xfd\xb2\x7e"),
        "print it as text (fstprint F.fst F.att), or give the Fst to krohn.automaton in "
        "Python",
    ),
    KnownFile(
        "a transducer of HFST in its binary form",
        _begins(rb"HFST\0"),
        "print it as text (hfst-fst2txt F -o F.att)",
    ),
    KnownFile(
        "a network of foma in its binary form",
        _begins(rb"##foma-net"),
        "write it as text (foma: write att > F.att)",
    ),
    KnownFile("an array of numpy", _begins(rb"\x93NUMPY"), "give the array in Python"),
    KnownFile(
        "a file of tensors (safetensors)",
        _begins(rb".{6}\0\0\{"),
        "name it .safetensors if it is a model file",
    ),
    KnownFile("a file of HDF5 or MATLAB", _begins(rb"\x89HDF\r\n|MATLAB 5")),
    KnownFile(
        "a table of Parquet or Arrow", _begins(rb"PAR1|ARROW1"), "save it as CSV"
    ),
    KnownFile("a database of SQLite", _begins(rb"SQLite format 3\0")),
    KnownFile(
        "a program in machine code", _begins(rb"\x7fELF|MZ.{58}|\xca\xfe\xba\xbe")
    ),
    KnownFile(
        "text in UTF-16 or UTF-32",
        _begins(rb"\xff\xfe|\xfe\xff|\0\0\xfe\xff"),
        "save it as UTF-8",
    ),
)
"""Files that are no texts, known for certain by how they begin."""

BINARY = KnownFile("binary data, or text in UTF-16", re.compile(rb"\0"))

BY_BEGINNING = (
    *OF_BYTES,
    # XML and its kin.
    KnownFile(
        "a page of HTML",
        re.compile(_root(rb"html").pattern + rb"|\A\s*+<!doctype html", re.S | re.I),
        "save the file that the page shows, not the page",
    ),
    KnownFile("SCXML, a state chart in XML", _root(b"scxml"), "name it .scxml"),
    KnownFile("a file of JFLAP", _root(b"structure"), "name it .jff"),
    KnownFile("POMDPX, a POMDP in XML", _root(b"pomdpx"), "write it as .pomdp"),
    KnownFile("a model of UPPAAL", _root(b"nta"), f"{DOT}; clocks are not read"),
    KnownFile("a drawing of draw.io", _root(b"mxfile", b"mxGraphModel"), DOT),
    KnownFile("a picture in SVG", _root(b"svg"), DOT),
    KnownFile("a graph in XML", _root(b"graphml", b"gexf", b"gxl"), DOT),
    KnownFile("a Petri net in XML", _root(b"pnml"), DOT),
    KnownFile("a model of UML in XML", _root(b"XMI", b"uml", b"Model"), DOT),
    KnownFile("XML", _root(), DOT),
    # Machines in texts that are not read.
    KnownFile(
        "a machine in LearnLib's TAF",
        _after_blanks(rb"(?:dfa|nfa|mealy|moore)\s*+\{"),
        "write it as DOT (in Java: GraphDOT.write)",
    ),
    KnownFile(
        "a machine of Aldébaran (AUT)", _after_blanks(rb"des\s*+\("), "name it .aut"
    ),
    KnownFile("an automaton in HOA", _after_blanks(rb"HOA:\s*+v"), "name it .hoa"),
    KnownFile("a drawing of PlantUML", _after_blanks(rb"@startuml"), DOT),
    KnownFile(
        "a drawing of Mermaid",
        _after_blanks(
            rb"(?:stateDiagram(?:-v2)?+|flowchart (?:TB|TD|BT|RL|LR)|graph TD)\b"
        ),
        DOT,
    ),
    KnownFile(
        "a graph in GML", _after_blanks(rb"(?:Creator [^\n]*+\n\s*+)?+graph\s*+\["), DOT
    ),
    KnownFile("an undirected or unknown graph", _after_blanks(rb"graph \d++ \d"), DOT),
    KnownFile(
        "a pointer of Git LFS",
        _begins(rb"version https://git-lfs"),
        "get the file itself: git lfs pull",
    ),
    KnownFile("JSON of something else", _after_blanks(rb'\{\s*+(?:"|\})'), DOT),
    KnownFile("a script", _begins(rb"#!"), MADE),
)
"""Files that are known for certain by how they begin."""

BY_LOOKS = (
    KnownFile(
        "a POMDP",
        re.compile(rb"^(?:discount|observations)[ \t]*+:", re.M),
        "name it .pomdp (docs/kinds/hidden_markov.md)",
    ),
    KnownFile(
        "a model of PRISM, NuSMV or Spin",
        re.compile(
            rb"^(?:dtmc|mdp|ctmc|MODULE main|(?:active )?+proctype \w++|mtype)\b", re.M
        ),
        DOT,
    ),
    KnownFile(
        "a circuit in BLIF, AIGER, Verilog or VHDL",
        re.compile(
            rb"^(?:\.model [^\n]|a[ai]g \d++ \d|module \w++\s*+[#(;]|entity \w++ is\b)",
            re.M,
        ),
        "give its state transition graph as KISS2",
    ),
    KnownFile(
        "a formula for a solver", re.compile(rb"^(?:p cnf \d|\(set-logic )", re.M)
    ),
    KnownFile(
        "a list of packages of Python",
        _begins(
            rb"(?:\s++|#[^\n]*+)*+[\w.-]++(?:\[[\w,.-]*+\])?+ *+(?:[=~<>!]=|[<>]) *+\d"
        ),
    ),
    KnownFile("JSON of something else", _is_json, DOT),
    KnownFile(
        "LaTeX", re.compile(rb"^\\(?:documentclass|begin|usepackage)\b", re.M), DOT
    ),
    KnownFile(
        "a list of changes (diff)", re.compile(rb"^(?:diff --git |@@ -\d)", re.M)
    ),
    KnownFile(
        "a page of Markdown",
        _after_blanks(
            rb"#{1,6} [^\n]++\n[ \t\r]*+\n|[^\n]++\n(?:={3}|-{3})[=-]*+\s*+\n"
        ),
    ),
    KnownFile("source code", re.compile(_CODE, re.M), MADE),
    KnownFile(
        "a file of settings (TOML or INI)",
        re.compile(rb"^\[\[?+[\w. \"'-]++\]\]?+[ \t\r]*+$", re.M),
    ),
    KnownFile(
        "a page of Markdown",
        re.compile(rb"^(?:```|~~~|[-*] \[|\| ?+-{2,}|!?+\[[^\]\n]*+\]\()", re.M),
    ),
    KnownFile(
        "YAML", re.compile(rb"\A---[ \t\r]*+\n|^[\w-]++:[ \t\r]*+\n[ ]++[\w-]", re.M)
    ),
    KnownFile("a table of CSV", _table(b","), TABLE),
    KnownFile("a table with semicolons", _table(b";"), TABLE),
    KnownFile("a table with tabs", _table(b"\t"), TABLE),
    BINARY,
    KnownFile("an empty file", re.compile(rb"\A\s*+\Z"), "give the whole file"),
)
"""Texts that look like something."""
