"""Functions that sort the letters of a word: by counting, or by rank and one fetch."""

from collections.abc import Iterable

from sources.sequence_functions import Channel, SequenceFunction, program
from sources.sequence_functions.library.counting import number, own_count


def sort(letters: Iterable[str] = "abc") -> SequenceFunction:
    """The letters of the word in the order of the alphabet.

    Position t holds the first letter that, with all before it in the alphabet, occurs at
    least t times.
    """
    p = program(letters, "sort")
    x, t = p.token(), p.position()
    passed = []
    for last in range(1, len(p.letters)):
        low = p.letters[:last]
        flag = p.map(lambda a, low=low: int(a in low), x)
        passed.append(t > p.final(p.prefix_sum(flag)))
    p.output(p.map(lambda *bits: p.letters[sum(bits)], *passed))
    return p


def sort_unique(letters: Iterable[str] = "abcdefgh") -> SequenceFunction:
    """The letters of a word without repeated ones, in the order of the alphabet.

    Position t fetches the letter than which t − 1 letters of the word are less; where
    letters are repeated there may be none.
    """
    p = program(letters, "sort-unique")
    x = p.token()
    counts = []
    for letter in range(len(p.letters)):
        low = p.letters[:letter]
        flag = p.map(lambda a, low=low: int(a in low), x)
        counts.append(p.final(p.prefix_sum(flag)))
    rank = p.select(number(p), *counts) + 1
    p.output(p.match_anywhere(x, rank, p.position()))
    return p


def sort_by_frequency(letters: Iterable[str] = "abc") -> SequenceFunction:
    """The letters of the word, the more frequent ones first, else in their order.

    A letter's rank is how many letters of the word are more frequent, and how many as
    frequent ones have come so far.
    """
    p = program(letters, "sort-by-frequency")
    x = p.token()
    so_far = [p.prefix_sum(x == letter) for letter in p.letters]
    total = [p.final(each) for each in so_far]
    own = p.match_anywhere(own_count(p), x, x)
    ahead = [
        _gated(p, n > own, n) + _gated(p, n == own, now)
        for n, now in zip(total, so_far, strict=True)
    ]
    p.output(p.match_anywhere(x, p.sum(*ahead), p.position()))
    return p


def _gated(p: SequenceFunction, flag: Channel, number: Channel) -> Channel:
    return p.map(lambda bit, n: bit * n, flag, number)
