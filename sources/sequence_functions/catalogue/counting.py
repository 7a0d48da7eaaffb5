"""Functions that count: letters so far, letters of the whole word, parity, majority."""

from collections.abc import Iterable

from krohn.sources.sequence_functions import Channel, SequenceFunction, program


def length(letters: Iterable[str] = "abc") -> SequenceFunction:
    """How many letters the word has, said at each of them."""
    p = program(letters, "length")
    p.output(p.final(p.position()))
    return p


def count(letters: Iterable[str] = "abc", letter: str = "a") -> SequenceFunction:
    """How often a letter occurs in the word, said at each letter."""
    p = program(letters, "count")
    p.output(p.final(p.prefix_sum(p.token() == letter)))
    return p


def count_so_far(letters: Iterable[str] = "abc", letter: str = "a") -> SequenceFunction:
    """How often a letter has occurred so far."""
    p = program(letters, "count-so-far")
    p.output(p.prefix_sum(p.token() == letter))
    return p


def histogram_so_far(letters: Iterable[str] = "abc") -> SequenceFunction:
    """How often the letter here has occurred so far."""
    p = program(letters, "histogram-so-far")
    p.output(own_count(p))
    return p


def histogram(letters: Iterable[str] = "abc") -> SequenceFunction:
    """How often the letter here occurs in the word."""
    p = program(letters, "histogram")
    x = p.token()
    p.output(p.match_anywhere(own_count(p), x, x))
    return p


def own_count(p: SequenceFunction) -> Channel:
    """How often the letter here has occurred so far."""
    counts = [p.prefix_sum(p.token() == letter) for letter in p.letters]
    return p.select(number(p), *counts)


def number(p: SequenceFunction) -> Channel:
    """The letter as a number: 0 for the first one."""
    return p.map(p.letters.index, p.token(), bos=0)


def fraction_of_previous(
    letters: Iterable[str] = "ab", letter: str = "a"
) -> SequenceFunction:
    """Which part of the letters so far is a given one, as k/t."""
    p = program(letters, "fraction-of-previous")
    so_far = p.prefix_sum(p.token() == letter)
    p.output(so_far, p.position(), show=lambda k, t: f"{k}/{t}")
    return p


def parity(letters: Iterable[str] = "01", letter: str = "1") -> SequenceFunction:
    """Whether a letter has occurred an odd number of times."""
    p = program(letters, "parity")
    p.output(p.map(lambda n: n % 2, p.prefix_sum(p.token() == letter)))
    return p


def majority(
    letters: Iterable[str] = "ab", first: str = "a", second: str = "b"
) -> SequenceFunction:
    """Whether one letter has occurred more often than another."""
    p = program(letters, "majority")
    x = p.token()
    p.output(p.prefix_sum(x == first) > p.prefix_sum(x == second))
    return p
