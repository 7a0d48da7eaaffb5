"""Functions that sort the letters of a word: by counting, or by rank and one fetch."""

from collections.abc import Iterable

from krohn.sources.sequence_functions import SequenceFunction, program
from krohn.sources.sequence_functions.catalogue.counting import own_count


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
    p.output(p.map(lambda n: p.letters[n], p.sum(*passed)))
    return p


def sort_unique(letters: Iterable[str] = "abcdefgh") -> SequenceFunction:
    """The different letters of the word in the order of the alphabet, then blanks.

    A word without repeated letters is sorted. Position t holds the first letter that,
    with those before it in the alphabet, makes t different ones in the word.
    """
    p = program(letters, "sort-unique")
    x, t = p.token(), p.position()
    there = [p.final(p.prefix_sum(x == letter)) > 0 for letter in p.letters]
    passed = [t > p.sum(*there[:last]) for last in range(1, len(there) + 1)]
    names = (*p.letters, "")
    p.output(p.map(lambda n: names[n], p.sum(*passed)))
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
        p.gate(n > own, n) + p.gate(n == own, now)
        for n, now in zip(total, so_far, strict=True)
    ]
    p.output(p.match_anywhere(x, p.sum(*ahead), p.position()))
    return p
