"""Functions that look a fixed way back, and the word read backwards."""

from collections.abc import Iterable

from krohn.sources.sequence_functions import SequenceFunction, program


def shift(letters: Iterable[str] = "abc", by: int = 1) -> SequenceFunction:
    """The letter some letters ago; nothing at the first ones."""
    p = program(letters, "shift")
    p.output(p.shift(p.token(), by))
    return p


def pattern(letters: Iterable[str] = "abc", word: str = "abca") -> SequenceFunction:
    """Whether the letters so far end with a word."""
    p = program(letters, "pattern")
    x = p.token()
    found = x == word[-1]
    for by, letter in enumerate(reversed(word[:-1]), start=1):
        found = found & (p.shift(x, by) == letter)
    p.output(found)
    return p


def reverse(letters: Iterable[str] = "abc") -> SequenceFunction:
    """The word read backwards."""
    p = program(letters, "reverse")
    t = p.position()
    p.output(p.at_anywhere(p.token(), p.final(t) - t + 1))
    return p
