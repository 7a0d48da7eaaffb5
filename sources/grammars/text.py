"""The text form of grammars: ``S -> NP VP [0.7] | VP [0.3]``."""

import re
from collections.abc import Iterator
from fractions import Fraction

from krohn.program.errors import Refused, demand
from krohn.sources.grammars.grammar import Grammar, Rule

SUFFIX = ".pcfg"
MOST_TEXT = 1_000_000
_WORD = re.compile(r"'([^'\s]+)'|\"([^\"\s]+)\"|(\S+)")
_BRACKETED = re.compile(r"\[[^\s\]]*\]")
_WEIGHT = re.compile(r"\[(\d{1,18}/\d{1,18}|\d{1,18}(?:\.\d{1,18})?|\.\d{1,18})\]")
EMPTY = ("ε", "eps")
Symbol = tuple[str, bool]
"""A word of a line, and whether it was quoted."""


def parse(text: str, name: str) -> Grammar:
    """The grammar of a text: a line for each symbol, or more than one.

    A symbol becomes one of several bodies between ``|``, each with its probability in
    square brackets after it; if none has one, all are as likely. What has no rule is a
    letter; if it begins like a symbol, with a capital letter, or looks like a probability,
    ``[x]``, it is written in quotes.

    Raises:
        Refused: If the text is none; the message names the line.
    """
    demand(len(text) <= MOST_TEXT, f"{name} has more than {MOST_TEXT:,} characters")
    found = list[tuple[int, str, list[Symbol], Fraction | None]]()
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip() and not line.lstrip().startswith("#"):
            try:
                found += ((number, *part) for part in _alternatives(line))
            except Refused as reason:
                raise Refused(f"{name}, line {number}: {reason}") from None
    heads = {head for _, head, _, _ in found}
    for number, _, body, _ in found:
        for word, quoted in body:
            clear = word in heads if not quoted else word not in heads
            letter = not word[0].isupper() and not quoted
            demand(
                clear or letter or (quoted and word not in heads),
                f"{name}, line {number}: {word} "
                + (
                    "is a symbol, not a letter"
                    if quoted
                    else f"has no rule; if it is a letter, write '{word}'"
                ),
            )
    return Grammar(name, tuple(_weighted(found, name)))


def _alternatives(line: str) -> Iterator[tuple[str, list[Symbol], Fraction | None]]:
    words = [(m[1] or m[2] or m[3], m[3] is None) for m in _WORD.finditer(line)]
    shaped = len(words) >= 2 and words[1] == ("->", False) and not words[0][1]
    demand(shaped, "a rule is written S -> A B [0.7] | c [0.3]")
    head, rest = words[0][0], [*words[2:], ("|", False)]
    while rest:
        end = rest.index(("|", False))
        body, rest = rest[:end], rest[end + 1 :]
        weight = None
        if body and _is_weight(body[-1]):
            weight, body = _fraction(body[-1][0]), body[:-1]
        if early := next((word for word, _ in filter(_is_weight, body)), None):
            raise Refused(
                f"{early} stands before the end of a body; a | ends it, and a letter is "
                f"written '{early}'"
            )
        if len(body) == 1 and body[0] in [(e, False) for e in EMPTY]:
            body = []
        yield head, body, weight


def _is_weight(symbol: Symbol) -> bool:
    """Whether a word is meant as a probability, right or wrong."""
    word, quoted = symbol
    return not quoted and _BRACKETED.fullmatch(word) is not None


def _fraction(word: str) -> Fraction:
    said = _WEIGHT.fullmatch(word)
    try:
        found = None if said is None else Fraction(said[1])
    except ZeroDivisionError:
        raise Refused(f"{word} divides by 0") from None
    if found is None or found > 1:
        raise Refused(
            f"{word} is no probability between 0 and 1, as [1/4] or [0.25] with up to 18 "
            f"digits; if it is a letter, write '{word}'"
        )
    return found


def _weighted(
    found: list[tuple[int, str, list[Symbol], Fraction | None]], name: str
) -> Iterator[Rule]:
    """Rules with their probabilities; equal ones where no probability is said."""
    given = dict[str, list[bool]]()
    for _, head, _, weight in found:
        given.setdefault(head, []).append(weight is not None)
    for number, head, body, weight in found:
        told = given[head]
        demand(
            all(told) or not any(told),
            f"{name}, line {number}: some rules of {head} have a probability, and some "
            "have none",
        )
        equal = Fraction(1, len(told)) if weight is None else weight
        yield Rule(head, tuple(word for word, _ in body), equal)
