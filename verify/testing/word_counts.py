"""How many words there are, and how many of them are worth beginning with."""

from krohn.algebra.errors import KrohnError

MOST_WORDS = 10**12
"""All words of a run at most: weeks of one core, and days of a cluster."""
OF_A_MINUTE = 10**8
"""About so many words of a small network are run in a minute by one core."""


def words_below(letters: int, generations: int) -> int:
    """How many words go on from one, by 1 to so many letters."""
    if letters == 1 or generations < 1:
        return max(generations, 0)
    every: int = letters ** (generations + 1) - letters
    return every // (letters - 1)


def affordable(letters: int, length: int, words: int) -> int:
    """The greatest length up to a given one, at least 1, of which all words are few."""
    longest = 1
    while longest < length and words_below(letters, longest + 1) <= words:
        longest += 1
    return longest


def check_word_count(letters: int, length: int) -> None:
    """Refuse to run all words where that would never end.

    Raises:
        KrohnError: If there are more than `MOST_WORDS`; it names lengths that can be run.
    """
    # The number of all words may have more digits than there is memory for.
    if letters == 1 or length == (most := affordable(letters, length, MOST_WORDS)):
        return
    quick = affordable(letters, length, OF_A_MINUTE)
    raise KrohnError(
        f"all words of up to {length} letters are more than {MOST_WORDS:,}, too many to "
        f"run: --exhaustive {quick} has {words_below(letters, quick):,} words, about a "
        f"minute; --exhaustive {most} is the most. A proof is about all words, and "
        "--sample N runs some long ones"
    )
