"""The latest value before a position: what it means, and what its heads score."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from krohn.algebra import zoo
from krohn.compiler import CompileError
from krohn.compiler.attention.flagged import sibling_scale
from krohn.compiler.constructions.cascade import cascade
from krohn.compiler.constructions.pointers import latest_before
from krohn.compiler.cost import result_of
from krohn.compiler.pipeline import Options, arrange, optimise, positions
from krohn.compiler.positions import leak_target
from krohn.compiler.transformer import build, patterns
from krohn.network.precision import FLOAT32, PRECISIONS, FloatArray
from krohn.program import Map, Operation, Program, SiblingLatest, Token, table
from krohn.program.interpreter import interpret

BLANK = 3


def program(length: int, found: dict[str, Operation]) -> Program:
    """Letters 0..2 write themselves, letter 3 writes nothing."""
    written = {(a,): 1 if a == BLANK else a + 1 for a in range(BLANK + 1)}
    operations: dict[str, Operation] = {
        "token": Token(),
        "written": Map(table({**written, (BLANK + 1,): 0}), ("token",)),
        "writes": Map(table({(a,): int(a != BLANK) for a in range(5)}), ("token",)),
    }
    return Program(
        letters=("a", "b", "c", "blank"),
        states=4,
        length=length,
        operations=operations | found,
        outputs=(list(found)[-1],),
        decode={(v,): v for v in range(4)},
    )


def naive(word: list[int]) -> list[int]:
    """What was written last before each position from BOS on; 0 for nothing."""
    found = [0]
    for t in range(1, len(word) + 1):
        written = [a + 1 for a in word[: t - 1] if a != BLANK]
        found.append(written[-1] if written else 0)
    return found


@given(st.data(), st.integers(1, 40))
def test_it_is_the_latest_value_before_a_position(
    data: st.DataObject, length: int
) -> None:
    letter = st.integers(0, BLANK)
    word = data.draw(st.lists(letter, min_size=length, max_size=length))
    found = latest_before("earlier", "written", "writes", range(4), length)
    values = interpret(program(length, found), [word])["earlier"][0]
    assert values.tolist() == naive(word)


@given(st.data(), st.integers(1, 20), st.integers(0, 5))
def test_a_sibling_block_is_the_first_of_the_pair(
    data: st.DataObject, length: int, level: int
) -> None:
    letter = st.integers(0, BLANK)
    word = data.draw(st.lists(letter, min_size=length, max_size=length))
    found = {"found": SiblingLatest("written", "writes", level)}
    values = interpret(program(length, dict(found)), [word])["found"][0]
    for t, value in enumerate(values.tolist()):
        block = t >> level
        inside = [j for j in range(1, length + 1) if j >> level == block - 1]
        written = [word[j - 1] + 1 for j in inside if word[j - 1] != BLANK]
        assert value == (written[-1] if block % 2 and written else 0)


@pytest.mark.sample(20)
@pytest.mark.parametrize("t", range(1, 70))
def test_sibling_blocks_partition_what_is_before(t: int) -> None:
    ordered: list[int] = []
    for level in range(t.bit_length()):
        block = t >> level
        if block % 2:
            ordered += reversed(range((block - 1) << level, block << level))
    assert ordered == list(reversed(range(t)))


def scores(length: int, level: int) -> tuple[FloatArray, FloatArray]:
    """``(T + 1, T + 1)`` each: scores of unflagged and of flagged positions."""
    found = latest_before("earlier", "written", "writes", range(4), length)
    layout, _ = arrange(
        optimise(program(length, found), Options(FLOAT32)), Options(FLOAT32)
    )
    features = positions(layout.plan.program, Options(FLOAT32))
    pattern = SiblingLatest("", "writes", level)
    head = build(layout, features, pattern, patterns(layout, 0)[pattern])
    x = np.zeros((length + 1, layout.d_model))
    for name, values in features.table().items():
        x[:, slice(*layout.features[name])] = values
    flagged = x.copy()
    flagged[:, layout.places["writes"].start] = 1.0
    return (x @ head.query) @ (x @ head.key).T, (x @ head.query) @ (
        flagged @ head.key
    ).T


def margin(plain: FloatArray, flagged: FloatArray, t: int, level: int) -> float:
    """By how much the right position leads at t, whatever is flagged."""
    block, before = t >> level, np.arange(t + 1)
    own = (before >> level == block - 1) & (before > 0) & (block % 2 == 1)
    either = np.maximum(plain[t, : t + 1], flagged[t, : t + 1])
    outside = either[1:][~own[1:]]
    inside = flagged[t, : t + 1][own]
    bos = flagged[t, 0]
    rivals = [
        bos - max(outside, default=-np.inf),
        bos - max(plain[t, : t + 1][own], default=-np.inf),
        min(inside, default=np.inf) - bos,
        min(inside, default=np.inf) - max(outside, default=-np.inf),
        float(np.diff(inside).min(initial=np.inf)),
    ]
    return float(min(rivals))


@pytest.mark.sample(2)
@pytest.mark.parametrize("length", [1, 2, 3, 4, 7, 8, 15, 16, 17, 40])
def test_the_right_position_leads_by_the_slope(length: int) -> None:
    slope = sibling_scale(length, FLOAT32)
    for level in range(length.bit_length()):
        plain, flagged = scores(length, level)
        each = [margin(plain, flagged, t, level) for t in range(length + 1)]
        assert min(each) >= slope


@pytest.mark.parametrize("name", ["float64", "float32", "bfloat16", "float16"])
def test_the_scale_keeps_the_leak_below_its_target(name: str) -> None:
    precision = PRECISIONS[name]
    for length in (1, 5, 15):
        slope = sibling_scale(length, precision)
        assert length * np.exp(-slope) <= leak_target(precision)
        assert slope == precision.round(np.array(slope))


@pytest.mark.parametrize(("name", "length"), [("bfloat16", 64), ("float16", 512)])
def test_formats_that_cannot_order_positions_in_blocks_are_refused(
    name: str, length: int
) -> None:
    assert sibling_scale(length - 1, PRECISIONS[name])
    with pytest.raises(CompileError, match="cannot order"):
        sibling_scale(length, PRECISIONS[name])


@pytest.mark.sample(3)
@pytest.mark.parametrize("name", ["S3", "Q8", "S4", "PermReset3", "Grid4", "Dyck2,2"])
def test_components_say_their_states_before_the_letter(name: str) -> None:
    """Every ``before`` is the ``now`` of the position before it."""
    machine = zoo.machine(name)
    source = result_of(cascade(machine, 9))
    rng = np.random.default_rng(3)
    words = rng.integers(0, len(machine.letters), (50, 9))
    values = interpret(source, words)
    found = 0
    for i in range(len(source.operations)):
        for before, now in ((f"before{i}", f"now{i}"), (f"earlier{i}", f"stored{i}")):
            if before in values:
                found += 1
                assert np.array_equal(values[before][:, 1:], values[now][:, :-1])
    assert found
