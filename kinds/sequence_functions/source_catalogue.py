"""Sequence functions that others compile, written here, by name."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from krohn.kinds.sequence_functions.source import (
    Channel,
    SequenceFunction,
    program,
)

# Functions that count: letters so far, letters of the whole word, parity, majority.


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


# Functions of brackets: their balance, Dyck words, shuffled Dyck words, a^n b^n.


PAIRS = ("()", "[]", "{}")


def pair_balance(pair: str = "()") -> SequenceFunction:
    """Opening minus closing brackets so far, beside how many letters there were."""
    p = program(pair, "pair-balance")
    p.output(height(p, pair), p.position(), show=lambda h, t: f"{h}/{t}")
    return p


def height(p: SequenceFunction, pair: str) -> Channel:
    """Opening minus closing brackets of a pair so far."""
    x = p.token()
    return p.prefix_sum(x == pair[0]) - p.prefix_sum(x == pair[1])


def is_balanced(p: SequenceFunction, pairs: Sequence[str]) -> Channel:
    """Whether every pair is balanced by itself in what was read so far."""
    heights = [height(p, pair) for pair in pairs]
    flags = [h < 0 for h in heights]
    below = flags[0]
    for flag in flags[1:]:
        below = below | flag
    holds = p.prefix_sum(below) == 0
    for h in heights:
        holds = holds & (h == 0)
    return holds


def dyck(pair: str = "()") -> SequenceFunction:
    """Whether the brackets so far are a Dyck word."""
    p = program(pair, "dyck")
    p.output(is_balanced(p, [pair]))
    return p


def shuffle_dyck_so_far(pairs: Sequence[str] = PAIRS[:2]) -> SequenceFunction:
    """Whether what was read so far is a shuffle of Dyck words, one of each pair."""
    p = program("".join(pairs), f"shuffle-dyck{len(pairs)}-so-far")
    p.output(is_balanced(p, pairs))
    return p


def shuffle_dyck(pairs: Sequence[str] = PAIRS[:2]) -> SequenceFunction:
    """Whether the word is a shuffle of Dyck words, said at each letter."""
    p = program("".join(pairs), f"shuffle-dyck{len(pairs)}")
    p.output(p.final(is_balanced(p, pairs)))
    return p


def equal_runs() -> SequenceFunction:
    """Whether the letters so far are a^n b^n."""
    p = program("ab", "a^n-b^n")
    x = p.token()
    back = (x == "a") & (p.shift(x) == "b")
    even = p.prefix_sum(x == "a") == p.prefix_sum(x == "b")
    p.output(even & (p.prefix_sum(back) == 0))
    return p


# Functions that look a fixed way back, and the word read backwards.


def shift(letters: Iterable[str] = "abc", by: int = 1) -> SequenceFunction:
    """The letter some letters ago; nothing at the first ones."""
    p = program(letters, "shift")
    p.output(p.shift(p.token(), by))
    return p


def pattern(letters: Iterable[str] = "abc", word: str = "abca") -> SequenceFunction:
    """Whether the letters so far end with a word."""
    p = program(letters, "pattern")
    x = p.token()
    matches = x == word[-1]
    for by, letter in enumerate(reversed(word[:-1]), start=1):
        matches = matches & (p.shift(x, by) == letter)
    p.output(matches)
    return p


def reverse(letters: Iterable[str] = "abc") -> SequenceFunction:
    """The word read backwards."""
    p = program(letters, "reverse")
    t = p.position()
    p.output(p.at_anywhere(p.token(), p.final(t) - t + 1))
    return p


# Functions that sort the letters of a word: by counting, or by rank and one fetch.


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


FUNCTIONS: Mapping[str, Callable[[], SequenceFunction]] = {
    "length": length,
    "count": count,
    "count-so-far": count_so_far,
    "histogram": histogram,
    "histogram-so-far": histogram_so_far,
    "fraction-of-previous": fraction_of_previous,
    "shift": shift,
    "pattern": pattern,
    "reverse": reverse,
    "sort": sort,
    "sort-unique": sort_unique,
    "sort-by-frequency": sort_by_frequency,
    "pair-balance": pair_balance,
    "shuffle-dyck1": lambda: shuffle_dyck(PAIRS[:1]),
    "shuffle-dyck2": shuffle_dyck,
    "shuffle-dyck2-so-far": shuffle_dyck_so_far,
    "dyck": dyck,
    "parity": parity,
    "majority": majority,
    "a^n-b^n": equal_runs,
}
"""The functions of Tracr's library, ALTA and C-RASP, each with usual letters."""
_WRITTEN = {**FUNCTIONS, "shuffle-dyck1": shuffle_dyck}
ABOUT: Mapping[str, str] = {
    name: (text := (function.__doc__ or "").partition(".")[0])[:1].lower() + text[1:]
    for name, function in _WRITTEN.items()
}
"""What each is, in a line."""
