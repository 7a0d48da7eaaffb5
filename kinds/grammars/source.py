"""Probabilistic context-free grammars, and what is left of them at a depth."""

import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from krohn.kinds.grammars.source_bounded import (
    DEEPEST,
    cut,
    derivations,
)
from krohn.kinds.grammars.source_examples import CATALOGUE
from krohn.kinds.grammars.source_grammar import (
    END,
    MOST_TEXT,
    SUFFIX,
    Grammar,
    Rule,
    parse,
)
from krohn.kinds.grammars.source_words import (
    HIDDEN,
    Words,
    sentences,
)
from krohn.kinds.hidden_markov.source_model import HiddenMarkovModel
from krohn.program.errors import Refused, demand
from krohn.program.user_input import read_text

__all__ = [
    "END",
    "HIDDEN",
    "PREFIX",
    "SUFFIX",
    "Grammar",
    "Rule",
    "Words",
    "cut",
    "derivations",
    "find_by_name",
    "model_named",
    "parse",
    "sentences",
    "shallower",
]
PREFIX = "pcfg:"
_DEPTH = re.compile(r"(?P<grammar>.+?):depth=(?P<depth>.*?)(?P<ways>:derivations)?")


def find_by_name(text: str) -> Grammar | None:
    """The grammar of a name, ``pcfg:Dyck2``, or of a file; None of other names.

    Raises:
        Refused: If there is none of that name, or the file cannot be read or is wrong.
    """
    path = Path(text)
    if text.startswith(PREFIX):
        name, known = text.removeprefix(PREFIX), ", ".join(CATALOGUE)
        demand(name in CATALOGUE, f"there is no grammar {name!r}; there are {known}")
        path = CATALOGUE[name]
    elif path.suffix != SUFFIX:
        return None
    return parse(read_text(path, 4 * MOST_TEXT), text)


def model_named(text: str) -> HiddenMarkovModel | None:
    """A grammar cut at a depth, ``pcfg:Dyck2:depth=3``; None of other names.

    ``pcfg:Dyck2:depth=3:derivations`` counts derivations.

    Raises:
        Refused: If the grammar cannot be read or cut; or the depth is missing or wrong.
    """
    match = _DEPTH.fullmatch(text)
    grammar = find_by_name(text if match is None else match["grammar"])
    if grammar is None:
        return None
    demand(
        match is not None,
        f"{text} is a grammar without a bound on its depth; say one, as in "
        f"{text}:depth=3 (krohn grammar {text} shows how much the bound leaves out)",
    )
    assert match is not None
    demand(
        re.fullmatch(r"\d{1,9}", match["depth"]) is not None,
        f"a depth is from 0 to {DEEPEST}, not {match['depth'][:40]}",
    )
    return (derivations if match["ways"] else cut)(grammar, int(match["depth"]))


def shallower(text: str) -> Iterator[HiddenMarkovModel]:
    """The cuts at smaller depths of a grammar that a name cuts, the deepest first."""
    match = _DEPTH.fullmatch(text)
    depth = match["depth"] if match else ""
    for less in range(int(depth) - 1, -1, -1) if depth.isdecimal() else ():
        assert match is not None
        with suppress(Refused):  # the name of a source need not be one of a grammar
            model = model_named(f"{match['grammar']}:depth={less}{match['ways'] or ''}")
            if model is not None:
                yield model
