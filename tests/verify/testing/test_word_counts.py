"""How many words there are, and which runs of all of them are refused."""

import pytest

from krohn.algebra.errors import KrohnError
from krohn.verify.testing.word_counts import (
    MOST_WORDS,
    OF_A_MINUTE,
    affordable,
    check_word_count,
    words_below,
)


@pytest.mark.parametrize("letters", [1, 2, 3, 8])
def test_words_are_counted_as_one_by_one(letters: int) -> None:
    for length in range(5):
        assert words_below(letters, length) == sum(
            letters**n for n in range(1, length + 1)
        )


@pytest.mark.parametrize("letters", [2, 3, 8, 1_000])
def test_a_run_that_would_not_end_is_refused_with_lengths_that_do(letters: int) -> None:
    most = affordable(letters, 10**9, MOST_WORDS)
    check_word_count(letters, most)
    assert words_below(letters, most) <= MOST_WORDS < words_below(letters, most + 1)
    quick = affordable(letters, 10**9, OF_A_MINUTE)
    said = f"exhaustive={quick} has {words_below(letters, quick):,} words"
    for length in (most + 1, 10**9):
        with pytest.raises(KrohnError, match=said):
            check_word_count(letters, length)


def test_one_letter_has_few_words() -> None:
    check_word_count(1, 10**9)
