"""Texts of dynamic programs, and those of the public generator of Feng et al. (2023)."""

from functools import cache
from itertools import pairwise, product

import numpy as np
import pytest

from krohn.algebra.errors import KrohnError
from krohn.instruments.compare.tasks.public_texts import (
    EditDistances,
    Increasing,
    subsequences,
)
from krohn.instruments.compare.tasks.texts import EOS, PAD, SEP, Steps, TextTask

RNG = np.random.default_rng


def words(texts: EditDistances | Increasing, count: int) -> list[list[str]]:
    """Drawn texts by name, without padding."""
    drawn = texts.draw(RNG(0), count)
    assert drawn.shape == (count, texts.longest)
    return [[texts.tokens[i] for i in row if i] for row in drawn]


@pytest.mark.sample(1)
@pytest.mark.parametrize(("size", "length"), [(6, 72), (12, 210), (16, 342), (20, 506)])
def test_texts_of_edit_distance_are_as_long_as_printed(size: int, length: int) -> None:
    """Yang et al. (2024), section 5: lengths without the end of the text."""
    texts = EditDistances(size)
    assert texts.longest - 1 == length
    assert len(texts.tokens) == 91
    lengths = {len(text) for text in words(texts, 60)}
    assert max(lengths) == length + 1
    assert len(lengths) > 1


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("size", "length"), [(40, 83), (110, 223), (175, 353), (250, 503)]
)
def test_texts_of_subsequences_are_as_long_as_printed(size: int, length: int) -> None:
    texts = Increasing(size)
    assert texts.longest - 1 == length
    assert len(texts.tokens) == 3 + size + 150
    assert {len(text) for text in words(texts, 5)} == {length + 1}


def test_tokens_stand_where_the_public_vocabulary_has_them() -> None:
    tokens = EditDistances(6).tokens
    assert tokens[:5] == (PAD, SEP, EOS, "|", ",")
    assert (tokens[5], tokens[30], tokens[31], tokens[90]) == ("a", "z", "0", "59")


def edits(first: str, second: str, edge: int) -> int:
    """The distance by recursion, with a cost of letters in the first row and column."""

    @cache
    def d(j: int, k: int) -> int:
        if not j or not k:
            return edge * (j + k)
        replaced = d(j - 1, k - 1) + 3 * (first[j - 1] != second[k - 1])
        return min(d(j - 1, k) + 2, d(j, k - 1) + 2, replaced)

    return d(len(first), len(second))


@pytest.mark.sample(1)
@pytest.mark.parametrize("boundary", [1, 2])
def test_a_text_has_every_row_of_its_table(boundary: int) -> None:
    for text in words(EditDistances(7, boundary), 40):
        prompt, table, (answer, end) = _split(text)
        first, second = "".join(prompt).split("|")
        assert end == EOS
        rows = " ".join(table).split(" ,")
        assert [row.split() for row in rows] == [
            [
                str(edits(first[:j], second[:k], boundary))
                for k in range(1, len(second) + 1)
            ]
            for j in range(1, len(first) + 1)
        ] + [[]]
        assert answer == str(edits(first, second, boundary))


def _split(text: list[str]) -> tuple[list[str], list[str], list[str]]:
    one = text.index(SEP)
    two = text.index(SEP, one + 1)
    return text[:one], text[one + 1 : two], text[two + 1 :]


def test_the_public_boundary_is_not_the_true_distance() -> None:
    assert (edits("aa", "b", 2), edits("aa", "b", 1)) == (5, 4)
    assert (edits("abc", "c", 2), edits("abc", "c", 1)) == (4, 2)


def test_pairs_are_as_the_generator_draws_them() -> None:
    """Of n and n − 3 to n + 2 letters, the shorter first, of at most 10, never equal."""
    n, rng = 12, RNG(1)
    pairs = [EditDistances(n).pair(rng) for _ in range(400)]
    for short, long in pairs:
        assert short != long
        assert n in (len(short), len(long))
        assert n - 3 <= len(short) <= len(long) <= n + 2
        assert len({*short, *long}) <= 10
    # Independent words of few letters differ in most places; edited ones in few.
    far = [edits("".join(map(chr, a)), "".join(map(chr, b)), 2) for a, b in pairs[:80]]
    assert min(far) <= 3
    assert max(far) >= 20


def test_lengths_of_subsequences() -> None:
    """Against all subsequences of all short sequences."""
    for row in product(range(4), repeat=4):
        found = subsequences(np.array([row]))[0]
        for i, last in enumerate(row):
            best = 1
            for mask in product((0, 1), repeat=i):
                part = [x for x, kept in zip(row, mask, strict=False) if kept]
                rising = all(a < b for a, b in pairwise([*part, last]))
                best = max(best, len(part) + 1) if rising else best
            assert found[i] == best


def test_numbers_of_a_sequence_are_none_of_its_lengths() -> None:
    for text in words(Increasing(40), 20):
        prompt, ends, (answer, _) = _split(text)
        assert min(map(int, prompt)) > 40 >= max(map(int, ends))
        assert int(answer) == max(map(int, ends))
        assert max(map(int, prompt)) < 40 + 150


def test_padding_and_prompts_are_not_taught() -> None:
    task = TextTask(EditDistances(5))
    batch = task.batch(RNG(0), 20, task.length)
    tokens = np.array(task.letters)
    for read, label, taught in zip(
        batch.letters, batch.labels, batch.trained, strict=True
    ):
        told = tokens[label[taught]].tolist()
        assert told[-1] == EOS
        assert PAD not in told
        assert tokens[read[np.flatnonzero(taught)[0]]] == SEP


def test_what_makes_no_sense() -> None:
    with pytest.raises(KrohnError, match="no texts of 'Nothing3'"):
        Steps("Nothing3")
    with pytest.raises(KrohnError, match="4 to 20"):
        EditDistances(40)
    with pytest.raises(KrohnError, match="3 to 298"):
        Increasing(2)
