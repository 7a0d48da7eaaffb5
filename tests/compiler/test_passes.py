"""Every pass keeps the meaning, and its check accepts nothing that does not."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from random_machines import machines

from krohn.algebra import zoo
from krohn.algebra.automaton import Automaton, IntArray
from krohn.compiler import CompileError
from krohn.compiler.constructions.registry import construct
from krohn.compiler.passes import Pass, PassError, check_order
from krohn.compiler.passes.recode import (
    OneHotMatches,
    RoundReads,
    SplitDeepTables,
    WidenOutputs,
)
from krohn.compiler.passes.simplify import DropDead, Fuse, InferDomains, Share
from krohn.compiler.pipeline import Options, optimise, passes
from krohn.network.precision import BFLOAT16, FLOAT32
from krohn.program import (
    Latest,
    LatestMatch,
    Map,
    Operation,
    PrefixSum,
    Program,
    Select,
    Shift,
    Table,
    Token,
    table,
)
from krohn.program.interpreter import interpret, states

Step = Pass[Program, Program]
STEPS: tuple[Step, ...] = (
    InferDomains(),
    Share(),
    Fuse(),
    DropDead(),
    WidenOutputs(8),
    WidenOutputs(1),
    RoundReads(),
    OneHotMatches(),
    SplitDeepTables(),
)
NAMES = [type(s).__name__ for s in STEPS]
MACHINES = [
    ("C3", "counter"),
    ("C5", "counter"),
    ("FlipFlop", "memory"),
    ("Memory3", "memory"),
    ("C2xC3", "product"),
    ("S3", "scan"),
    ("Grid4", "scan"),
    ("Adder", "scan"),
    ("Grid4", "sequential"),
    ("Grid3", "gridworld"),
    ("D6", "sequential"),
]
EACH_STEP = pytest.mark.parametrize("step", STEPS, ids=NAMES)
EACH_MACHINE = pytest.mark.parametrize(("name", "construction"), MACHINES)


def source(name: str, construction: str, length: int = 6) -> Program:
    """A construction's Program with its domains, as the later passes want it."""
    return InferDomains().apply(construct(construction, zoo.machine(name), length))


def words(program: Program, count: int = 40) -> IntArray:
    generator = np.random.default_rng(3)
    return generator.integers(len(program.letters), size=(count, program.length))


def with_operation(program: Program, name: str, operation: Operation) -> Program:
    return replace(program, operations={**program.operations, name: operation})


@pytest.mark.sample(3)
@EACH_STEP
@EACH_MACHINE
def test_passes_keep_states_and_channels_accept_themselves_and_are_idempotent(
    step: Step, name: str, construction: str
) -> None:
    before = source(name, construction)
    after = step.apply(before)
    step.check(before, after)
    check_order(after)
    batch = words(before)
    assert np.array_equal(states(before, batch), states(after, batch))
    old, new = interpret(before, batch), interpret(after, batch)
    for channel in old.keys() & new.keys():
        assert np.array_equal(old[channel], new[channel])
    assert step.apply(before) == after
    if not isinstance(step, (SplitDeepTables, WidenOutputs)):
        assert step.apply(after) == after


@pytest.mark.sample(1)
@pytest.mark.parametrize("construction", ["scan", "sequential"])
@pytest.mark.parametrize("strict", [False, True])
@given(machines(), st.integers(1, 6), st.data())
def test_optimised_programs_run_random_machines_on_random_words(
    construction: str,
    strict: bool,
    machine: Automaton,
    length: int,
    data: st.DataObject,
) -> None:
    letter = st.integers(0, len(machine.letters) - 1)
    word = data.draw(st.lists(letter, min_size=length, max_size=length))
    program = construct(construction, machine, length)
    after = optimise(program, Options(BFLOAT16, strict))
    expected = machine.semiautomaton.trace([word], machine.start)
    assert np.array_equal(states(after, [word]), expected)


@pytest.mark.sample(2)
@EACH_MACHINE
@pytest.mark.parametrize("strict", [False, True])
def test_after_all_passes_nothing_is_dead_or_repeated(
    name: str, construction: str, strict: bool
) -> None:
    """And no head reads what a head has written."""
    program = optimise(source(name, construction), Options(FLOAT32, strict))
    used = {r for op in program.operations.values() for r in op.reads}
    assert used | set(program.outputs) == set(program.operations)
    kept = [(op, n in program.one_hot) for n, op in program.operations.items()]
    assert len(set(kept)) == len(kept)
    assert program.domains.keys() == program.operations.keys()
    for operation in program.operations.values():
        if operation.is_attention:
            below = [program.operations[n] for n in operation.reads]
            assert not any(o.is_attention for o in below)


# --- translation validation: sabotage is found ----------------------------------------


def tables(program: Program) -> Mapping[str, Map]:
    return {
        n: op
        for n, op in program.operations.items()
        if isinstance(op, Map) and isinstance(op.function, Table)
    }


def altered(operation: Map, row: int) -> Map:
    assert isinstance(operation.function, Table)
    values = operation.function.values.copy()
    values[row] += 1
    return Map(Table(operation.function.rows, values), operation.inputs)


def wrong(operation: Operation) -> list[Operation]:
    """Operations that read the same and mean something else."""
    match operation:
        case Shift(read, by):
            return [Shift(read, by + 1), PrefixSum(read)]
        case Latest(read, where):
            return [Latest(where, read), Shift(read, 1)]
        case LatestMatch(read, key, query):
            return [LatestMatch(read, query, key), LatestMatch(key, read, query)]
        case PrefixSum(read):
            return [Shift(read, 1)]
        case Map(Select(), (index, *rest)):
            return [Map(Select(), (index, *reversed(rest)))]
    return []


def sabotaged(after: Program) -> Iterator[Program]:
    """Programs that compute something else, by one change each."""
    alive = DropDead().apply(after).operations
    for channel, operation in tables(after).items():
        if channel in alive:
            for row in range(len(operation.function.values)):  # type: ignore[union-attr]
                yield with_operation(after, channel, altered(operation, row))
    for channel, operation in alive.items():
        rest = {n: op for n, op in after.operations.items() if n != channel}
        yield after.with_operations(rest)
        for other in wrong(operation):
            yield with_operation(after, channel, other)
    (first, *_) = after.operations
    yield replace(after, outputs=(first, *after.outputs[1:]))
    count = len(set(after.decode.values()))
    turned = {values: (q + 1) % count for values, q in after.decode.items()}
    yield replace(after, decode=turned)
    yield replace(after, operations=dict(reversed(list(after.operations.items()))))


@pytest.mark.sample(2)
@EACH_STEP
@EACH_MACHINE
def test_sabotage_is_rejected(step: Step, name: str, construction: str) -> None:
    before = source(name, construction)
    for spoilt in sabotaged(step.apply(before)):
        with pytest.raises(CompileError):
            step.check(before, spoilt)


@pytest.mark.sample(1)
@EACH_MACHINE
def test_wrong_domains_are_rejected(name: str, construction: str) -> None:
    before = construct(construction, zoo.machine(name), 6)
    after = InferDomains().apply(before)
    for channel, domain in after.domains.items():
        for other in (domain[1:], (*domain, domain[-1] + 1)):
            spoilt = replace(after, domains={**after.domains, channel: other})
            with pytest.raises(CompileError):
                InferDomains().check(before, spoilt)


@EACH_MACHINE
def test_a_missing_rounding_is_rejected(name: str, construction: str) -> None:
    before = DropDead().apply(Fuse().apply(source(name, construction)))
    after = RoundReads().apply(before)
    if after != before:
        with pytest.raises(PassError, match="unrounded"):
            RoundReads().check(before, before)


def test_roundings_are_put_between_heads() -> None:
    chain: dict[str, Operation] = {
        "token": Token(),
        "letter": Map(table({(a,): a for a in range(3)}), ("token",)),
        "one": Shift("letter", 1),
        "two": Shift("one", 1),
    }
    before = InferDomains().apply(
        Program(("a", "b"), 3, 4, chain, ("two",), {(q,): q for q in range(3)})
    )
    after = RoundReads().apply(before)
    assert after.operations["two"] == Shift("one.rounded", 1)
    RoundReads().check(before, after)
    with pytest.raises(PassError, match="unrounded"):
        RoundReads().check(before, before)


def test_keys_are_recoded_and_what_is_fetched_is_not() -> None:
    before = source("Grid3", "gridworld")
    after = OneHotMatches().apply(before)
    assert after.one_hot == {"level.one-hot", "target1.one-hot", "target2.one-hot"}
    found = after.operations["met1"]
    assert found == LatestMatch("lap", "level.one-hot", "target1.one-hot")
    assert after.operations["level.one-hot"] == before.operations["level"]
    with pytest.raises(PassError, match="not one-hot"):
        OneHotMatches().check(before, before)


def test_a_key_that_a_head_fetched_is_rounded_first() -> None:
    chain: dict[str, Operation] = {
        "token": Token(),
        "letter": Map(table({(a,): a for a in range(3)}), ("token",)),
        "back": Shift("letter", 1),
        "found": LatestMatch("back", "back", "letter"),
    }
    before = InferDomains().apply(
        Program(("a", "b"), 3, 4, chain, ("found",), {(q,): q for q in range(3)})
    )
    rounded = RoundReads().apply(before)
    after = OneHotMatches().apply(rounded)
    OneHotMatches().check(rounded, after)
    assert after.operations["found"] == LatestMatch(
        "back.rounded", "back.rounded.one-hot", "letter.one-hot"
    )


def test_a_deep_table_is_rejected_in_the_strict_form() -> None:
    before = source("S3", "scan")
    with pytest.raises(PassError, match="two hidden layers"):
        SplitDeepTables().check(before, before)


def test_domains_hold_what_can_occur_and_nothing_else() -> None:
    found = source("Grid4", "sequential", 6).domains
    # From cell 0 a walker is at most t cells away after t letters.
    assert [found[f"state{t}"] for t in range(5)] == [
        (0,),
        (0, 1),
        (0, 1, 2),
        (0, 1, 2, 3),
        (0, 1, 2, 3),
    ]


@pytest.mark.parametrize("length", [1, 5, 12])
def test_sums_are_bounded_by_the_length(length: int) -> None:
    assert source("C5", "counter", length).domains["sum"] == tuple(
        range(4 * length + 1)
    )


def test_sums_that_are_not_0_at_bos_are_refused() -> None:
    chain: dict[str, Operation] = {
        "token": Token(),
        "one": Map(table({(0,): 1, (1,): 1}), ("token",)),
        "sum": PrefixSum("one"),
    }
    program = Program(("a",), 3, 2, chain, ("sum",), {})
    with pytest.raises(CompileError, match="0 at BOS"):
        InferDomains().apply(program)


def test_enormous_tables_are_refused() -> None:
    letters = tuple(map(str, range(170)))
    chain: dict[str, Operation] = {
        "token": Token(),
        "letter": Map(table({(a,): a for a in range(171)}), ("token",)),
        **{f"back{k}": Shift("letter", k) for k in (1, 2, 3)},
        "joint": Map(table({(0, 0, 0): 0}), ("back1", "back2", "back3")),
    }
    program = Program(letters, 3, 2, chain, ("joint",), {})
    with pytest.raises(CompileError, match="more than 4000000 rows"):
        InferDomains().apply(program)


def test_wide_outputs_become_one_hot_where_squares_would_not_fit() -> None:
    narrow, wide = source("C6", "counter"), source("C8", "counter", 4)
    limit = WidenOutputs(6)  # 2·5² = 50 < 64 ≤ 2·7² = 98
    assert limit.apply(narrow) == narrow
    assert limit.apply(wide).outputs == ("count.one-hot",)


def test_fusing_never_makes_a_table_larger() -> None:
    for name, construction in MACHINES:
        before = source(name, construction)
        after = Fuse().apply(before)
        for channel, operation in tables(after).items():
            was = before.operations[channel]
            assert isinstance(was, Map)
            assert isinstance(was.function, Table)
            assert isinstance(operation.function, Table)
            embedded = operation.inputs == ("token",)
            assert embedded or len(operation.function.rows) <= len(was.function.rows)


@pytest.mark.parametrize("strict", [False, True])
def test_the_list_of_passes_is_the_pipeline(strict: bool) -> None:
    seen: list[str] = []
    options = Options(FLOAT32, strict)
    observe: Callable[[str, Any], None] = lambda name, _: seen.append(name)  # noqa: E731
    optimise(source("S3", "scan"), options, observe)
    assert seen == [step.name for step in passes(options)]
    assert ("split deep tables" in seen) == strict
