"""Which channels of two Programs are equal (Theorem 5i), and what it costs to find out."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from work import calls_at_most

from krohn.program import Map, Operation, Program, Shift, Token, table
from krohn.program.errors import Refused
from krohn.program.interpreter import interpret
from krohn.program.program import statement_of
from krohn.verify.checker import same_program
from krohn.verify.checker.same_program import FILE, SOURCE, Classes
from krohn.verify.search.same_program import find

ONCE, TWICE = (2, 0, 1), (1, 2, 0)
"""Two steps of the second are one of the first."""


def of(images: tuple[int, ...], read: str) -> Map:
    """A table of one channel with values 0 to 2."""
    return Map(table({(x,): y for x, y in enumerate(images)}), (read,))


def pairs(count: int, last: tuple[int, ...] = ONCE) -> tuple[Program, Program]:
    """A source with pairs of channels that are equal, and a file that shows it.

    In the source ``left`` is one table and ``right`` two; in the file ``right`` is the
    table of ``left``. What stands above them is equal because they are.

    Args:
        count: How many pairs.
        last: The table of the file in the last pair.
    """
    source: dict[str, Operation] = {"token": Token()}
    file: dict[str, Operation] = {"token": Token()}
    for i in range(count):
        shared: dict[str, Operation] = {f"old{i}": Shift("token", i + 1)}
        file |= shared | {f"right{i}": of(last if i == count - 1 else ONCE, f"old{i}")}
        source |= shared | {f"left{i}": of(ONCE, f"old{i}")}
        source |= {f"half{i}": of(TWICE, f"old{i}"), f"right{i}": of(TWICE, f"half{i}")}
        for side in ("left", "right"):
            source[f"{side}{i} before"] = Shift(f"{side}{i}", 1)
        file[f"right{i} before"] = Shift(f"right{i}", 1)
    outputs, decode = (f"right{count - 1} before",), {(x,): x for x in range(3)}
    source_program, file_program = (
        Program(("a", "b"), 3, count + 1, operations, outputs, decode)
        for operations in (source, file)
    )
    return source_program, file_program


def compared(source: Program, file: Program) -> Classes:
    both = statement_of(file), statement_of(source)
    return Classes(*both, find(*both))


def test_what_is_equal_makes_equal_what_reads_it() -> None:
    source, file = pairs(5)
    classes = compared(source, file)
    for i in range(5):
        for above in ("", " before"):
            left, right = (
                classes.of[SOURCE][f"{s}{i}{above}"] for s in ("left", "right")
            )
            assert left == right == classes.of[FILE][f"right{i}{above}"]
    assert len(set(classes.of[SOURCE].values())) == 1 + 4 * 5


def test_channels_of_one_class_are_equal_on_words() -> None:
    source, file = pairs(6)
    classes = compared(source, file)
    words = np.random.default_rng(0).integers(2, size=(50, 7))
    said: dict[object, np.ndarray] = {}
    of_file, of_source = classes.of
    for program, of_program in ((source, of_source), (file, of_file)):
        held = interpret(program, words)
        for name, one in of_program.items():
            assert np.array_equal(held[name], said.setdefault(one, held[name])), name


def test_another_table_is_not_equal() -> None:
    source, file = pairs(3, last=(2, 1, 0))
    classes = compared(source, file)
    assert classes.of[FILE]["right2"] not in classes.of[SOURCE].values()
    with pytest.raises(Refused, match="'right2 before' is not shown"):
        same_program.readings(statement_of(file), statement_of(source), classes)


@given(st.integers(0, 2**32), st.booleans())
def test_whatever_evidence_says_channels_of_one_class_are_equal(
    seed: int, right: bool
) -> None:
    """Channels moved to other classes, and listed in another order."""
    rng = np.random.default_rng(seed)
    source, file = pairs(3, last=ONCE if right else (2, 1, 0))
    both = statement_of(file), statement_of(source)
    told = find(*both)
    for _ in range(rng.integers(1, 4)):
        i, j = rng.integers(len(told), size=2)
        told[i] = (*told[i][:2], told[j][2])
    if rng.random() < 0.3:
        told = [told[i] for i in rng.permutation(len(told))]
    try:
        of_file, of_source = Classes(*both, told).of
    except (Refused, KeyError):
        return
    words, said = np.random.default_rng(0).integers(2, size=(50, 4)), {}
    for program, of_program in ((source, of_source), (file, of_file)):
        held = interpret(program, words)
        for name, one in of_program.items():
            assert np.array_equal(held[name], said.setdefault(one, held[name])), name


@pytest.mark.parametrize("own", ["1", True, 1.0, None])
def test_a_class_is_a_whole_number(own: object) -> None:
    """1 and "1" would be one class where an operation reads them."""
    source, file = pairs(1)
    both = statement_of(file), statement_of(source)
    (side, name, _), *others = find(*both)
    with pytest.raises(Refused, match="in no class"):
        Classes(*both, [(side, name, own), *others])


@pytest.mark.slow
def test_work_grows_with_the_program_and_no_faster() -> None:
    few, many = (
        tuple(map(statement_of, reversed(pairs(count)))) for count in (50, 400)
    )
    with calls_at_most(10**7) as counted:
        Classes(*few, find(*few))
    with calls_at_most(10 * counted[0]):
        Classes(*many, find(*many))


def test_too_much_work_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    source, file = map(statement_of, pairs(100))
    told = file, source, find(file, source)
    monkeypatch.setattr(same_program, "MOST", 50 * same_program.CALL)
    with pytest.raises(Refused, match="takes too long to compare"):
        Classes(*told[:2], told[2])
