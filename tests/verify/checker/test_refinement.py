"""The small checker accepts right Programs with right evidence, and nothing else."""

import json
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import replace
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from krohn.algebra import zoo
from krohn.algebra.minimisation import output_classes
from krohn.algebra.observation import observe
from krohn.compiler.constructions.registry import construct
from krohn.compiler.pipeline import Options, arrange, optimise
from krohn.compiler.transformer import describe, lower
from krohn.network.precision import FLOAT32
from krohn.program.errors import Refused
from krohn.program.statement import Statement, parse
from krohn.verify.checker import refinement
from krohn.verify.checker.invariant import Part, ways
from krohn.verify.checker.model_file import Machine
from krohn.verify.checker.refinement import check
from krohn.verify.search import exploration
from krohn.verify.search.refinement import find

Json = Any
Key = tuple[str, str, int]
BAD = (Refused, KeyError, IndexError, TypeError, ValueError, AttributeError)

EACH: list[Key] = [
    ("C5", "counter", 7),
    ("C3", "content", 6),
    ("C2xC3", "product", 6),
    ("S3", "scan", 11),
    ("FlipFlop from 1", "memory", 1),
    ("Adder", "window", 6),
    ("Grid3", "gridworld", 5),
    ("Grid3", "corridor", 7),
    ("Dyck2,1", "dyck", 5),
    ("Dyck2,2 shows balance", "dyck", 5),
    ("ParityTree2,2", "parity-tree", 5),
    ("Parity8@2,3,7", "parity", 6),
    ("Parity8@2,3,7", "parity-selected", 6),
    ("D6", "cascade", 5),
    ("Grid4", "cascade", 5),
    ("Grid3", "chunked", 5),
    ("Adder", "sequential", 5),
]
MORE: list[Key] = [
    ("S3", "scan3", 11),
    ("FlipFlop", "memory", 9),
    ("Grid4", "gridworld", 9),
    ("Grid4", "corridor", 9),
    ("Dyck2,2", "dyck", 7),
    ("ParityTree2,2", "definite", 6),
    ("Parity8@2,3,7", "parity-table", 6),
    ("PermReset2", "cascade", 8),
    ("D6", "semidirect-car", 8),
    ("D6", "wreath", 8),
    ("Grid4", "krohn-rhodes", 8),
    ("PermReset2", "permutation-reset", 8),
    ("C4", "series", 8),
    ("Grid4", "chunked", 9),
    ("C2", "memorising", 5),
]


def cases(*keys: Key, slow: list[Key]) -> pytest.MarkDecorator:
    late = [pytest.param(key, marks=pytest.mark.slow) for key in slow]
    return pytest.mark.parametrize(
        "key", [*keys, *late], ids=lambda key: "-".join(map(str, key))
    )


CASES = cases(*EACH, slow=MORE)
FEW = cases(
    ("C5", "counter", 7),
    ("Dyck2,1", "dyck", 5),
    ("Parity8@2,3,7", "parity", 6),
    ("Grid4", "cascade", 5),
    ("Adder", "sequential", 5),
    slow=[
        ("S3", "scan", 11),
        ("D6", "cascade", 5),
        ("Grid3", "gridworld", 5),
        ("Dyck2,2 shows balance", "dyck", 5),
        ("Grid3", "chunked", 5),
    ],
)


def automaton(name: str) -> Any:
    known, _, output = name.partition(" shows ")
    known, _, start = known.partition(" from ")
    machine = zoo.machine(known)
    machine = machine.with_start(start) if start else machine
    return observe(machine, output) if output else machine


@cache
def case(key: Key) -> tuple[Json, Machine, Json]:
    """The header's Program, the machine, and evidence."""
    machine = automaton(key[0])
    options = Options(FLOAT32)
    program = optimise(construct(key[1], machine, key[2]), options)
    layout, features = arrange(program, options)
    stated = json.loads(json.dumps(describe(layout, lower(layout, features, False))))
    small = Machine(machine.start, machine.transitions, classes(machine))
    found = find(parse(stated, len(machine.letters), key[2]), small)
    return stated, small, json.loads(json.dumps(found))


def classes(machine: Any) -> Any:
    return output_classes(machine, "states" if machine.output is None else "outputs").of


def parsed(key: Key, stated: Json | None = None) -> Statement:
    told, machine, _ = case(key)
    return parse(stated or told, len(machine.transitions), key[2])


def run(program: Statement, word: tuple[int, ...]) -> list[tuple[int, ...]]:
    """The outputs at positions 1, 2, … after docs/proofs/programs.md."""
    tokens = [program.letters, *word]
    values: dict[str, list[int]] = {}
    for channel in program.channels.values():
        read = [values[n] for n in channel.inputs]
        table = dict(channel.table.items()) if channel.op == "table" else {}
        values[channel.name] = [
            tokens[t] if channel.op == "token" else at(channel, table, read, t)
            for t in range(len(tokens))
        ]
    columns = [values[n] for n in program.outputs]
    return list(zip(*columns, strict=True))[1:]


def at(channel: Any, table: Any, read: list[list[int]], t: int) -> int:
    """One value of a channel."""
    now = tuple(column[t] for column in read)
    marked = [j for j in range(t + 1) if len(read) > 1 and read[1][j] == 1]
    if channel.op == "latest-match":
        keys = [j for j in range(1, t + 1) if read[1][j] == now[2]]
        return read[0][max(keys, default=0)]
    if channel.op == "earliest":
        return read[0][next((j for j in marked if j), 0)]
    if channel.op == "at":
        x = sum(digit << b for b, digit in enumerate(now[1:]))
        return read[0][x if x <= t else 0]
    if channel.op == "sibling-latest":
        level = channel.operation.level
        block = t >> level
        low, high = (block - 1) << level, block << level
        inside = [j for j in marked if low <= j < high and block % 2]
        return read[0][max(inside, default=0)]
    found: dict[str, Callable[[], int]] = {
        "position": lambda: int(channel.values_by_position[t]),
        "table": lambda: table[now],
        "select": lambda: now[1 + now[0]],
        "sum": lambda: sum(now),
        "shift": lambda: read[0][max(t - channel.operation.by, 0)],
        "latest": lambda: read[0][marked[-1]],
        "prefix-sum": lambda: sum(read[0][: t + 1]),
        "marked-sum": lambda: sum(read[0][j] for j in marked),
    }
    return found[channel.op]()


def readings(program: Statement, machine: Machine, length: int) -> dict[Any, set[int]]:
    """What the outputs are after all words of a length, and the classes beside it."""
    found: dict[Any, set[int]] = {}
    for word in product(range(program.letters), repeat=length):
        state = machine.start
        for letter, values in zip(word, run(program, word), strict=True):
            state = machine.transitions[letter, state]
            found.setdefault(values, set()).add(int(machine.shows[state]))
    return found


@cache
def right_readings(key: Key) -> dict[Any, set[int]]:
    return readings(parsed(key), case(key)[1], short(key))


def short(key: Key) -> int:
    letters = len(case(key)[1].transitions)
    return max(n for n in range(1, key[2] + 1) if n == 1 or letters**n <= 130)


def harmless(seen: dict[Any, set[int]], accepted: dict[Any, int]) -> bool:
    """Whether what was accepted is true of all short words."""
    return all({accepted.get(values)} == right for values, right in seen.items())


def leaves(value: Json, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where the numbers of a JSON value are."""
    inner = value.items() if isinstance(value, dict) else enumerate(value)
    for key, one in inner:
        if isinstance(one, dict | list):
            yield from leaves(one, (*path, key))
        elif isinstance(one, int):
            yield (*path, key)


def changed(value: Json, path: tuple[Any, ...], to: Any) -> Json:
    copy = deepcopy(value)
    inner = copy
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = to(inner[path[-1]])
    return copy


@pytest.mark.sample(3)
@CASES
def test_right_evidence_is_accepted_and_says_all_that_occurs(key: Key) -> None:
    _, machine, evidence = case(key)
    accepted = check(parsed(key), evidence, machine)
    assert harmless(right_readings(key), accepted)
    assert set(accepted.values()) <= set(machine.shows.tolist())


@pytest.mark.sample(3)
@CASES
def test_every_part_shows_what_occurs(key: Key) -> None:
    _, machine, evidence = case(key)
    program, parts = parsed(key), list[Part]()
    followed, random = ways(program, evidence, machine), np.random.default_rng(2)
    for said in evidence["parts"]:
        parts.append(refinement.part(program, machine, followed, parts, said))
        parts[-1].prove()
    for word in random.integers(program.letters, size=(4, key[2])).tolist():
        for part in parts:
            states = [part.machine.start]
            for letter in word:
                states.append(int(part.machine.transitions[letter, states[-1]]))
            values = run(replace(program, outputs=tuple(part.outputs)), tuple(word))
            found = [(*v, q) for v, q in zip(values, states[1:], strict=True)]
            assert part.shown >= set(found[: part.length])


@pytest.mark.sample(1)
@FEW
def test_a_table_without_a_row_or_with_one_twice_is_refused(key: Key) -> None:
    stated, _, _ = case(key)
    for i, entry in enumerate(stated["channels"]):
        row = list(entry.get("inputs", []))
        channel = parsed(key).channels[entry["name"]]
        if channel.op != "table" or not row:
            continue
        rows, results = channel.table.rows, channel.table.values
        first = [*rows[0].tolist(), int(results[0])]
        at = ("channels", i, "rows")
        for spoil in (
            lambda rows, first=first: [r for r in rows if r != first],
            lambda rows, first=first: [*rows, first],
        ):
            with pytest.raises(Refused, match=r"has no row|has a row twice"):
                parsed(key, changed(stated, at, spoil))


@pytest.mark.sample(2)
@CASES
def test_a_damaged_number_is_refused_or_does_no_harm(key: Key) -> None:
    _, machine, evidence = case(key)
    program, places = parsed(key), list(leaves(evidence))
    random = np.random.default_rng(5)
    for place in random.permutation(len(places))[:8]:
        step = int(random.choice([-1, 1]))
        damaged = changed(evidence, places[place], lambda v, by=step: v + by)
        try:
            accepted = check(program, damaged, machine)
        except BAD:
            continue
        assert harmless(right_readings(key), accepted), places[place]


@pytest.mark.sample(2)
@FEW
def test_another_machine_is_refused(key: Key) -> None:
    _, machine, evidence = case(key)
    followed = sorted({tuple(p) for p in _moves(evidence, machine)})
    for letter, state in followed[:: max(1, len(followed) // 6)]:
        table = machine.transitions.copy()
        table[letter, state] = (table[letter, state] + 1) % len(machine.shows)
        with pytest.raises(BAD):
            check(parsed(key), evidence, Machine(machine.start, table, machine.shows))


def _moves(evidence: Json, machine: Machine) -> Iterator[tuple[int, int]]:
    """Letters and states that some part follows, in words shorter than it."""
    for j in evidence["final"]:
        part = evidence["parts"][j]
        for state, depth in zip(part["states"], part["depths"], strict=True):
            if depth < part["length"]:
                yield from ((a, state) for a in range(len(machine.transitions)))


@pytest.mark.sample(1)
@FEW
def test_states_steps_and_cells_are_all_needed(key: Key) -> None:
    stated, machine, evidence = case(key)
    for j in evidence["final"]:
        for damaged in _spoilt(evidence, j, len(machine.shows)):
            with pytest.raises(BAD):
                check(parsed(key), damaged, machine)
    program = deepcopy(stated)
    program["decode"][0][1] += 1
    with pytest.raises(Refused, match="decoded wrongly"):
        check(parsed(key, program), evidence, machine)


def _spoilt(evidence: Json, j: int, states: int) -> Iterator[Json]:
    part = evidence["parts"][j]
    at = ("parts", j)
    yield changed(evidence, ("final",), lambda v: v[:-1])
    yield changed(evidence, (*at, "length"), lambda v: v - 1)
    yield changed(evidence, (*at, "states", 0), lambda v: (v + 1) % states)
    yield changed(evidence, (*at, "states", -1), lambda v: (v + 1) % states)
    yield changed(evidence, (*at, "depths", 0), lambda v: v + 1)
    yield changed(evidence, (*at, "depths", -1), lambda _: part["length"] + 1)
    yield changed(evidence, (*at, "follow"), lambda v: v[:-1])
    yield changed(evidence, (*at, "follow", 0, 0), lambda v: len(part["states"]))
    for name, (sets, _) in part["cells"].items():
        here = (*at, "cells", name)
        yield changed(evidence, (*at, "cells"), lambda v, n=name: without(v, n))
        if sets:
            yield changed(evidence, (*here, 1), lambda v: [row[:-1] for row in v])
            yield changed(evidence, (*here, 0), lambda v: [[] for _ in v])
    for r, (_, by, _) in enumerate(part["reduced"]):
        for i in range(len(by)):
            here = (*at, "reduced", r)
            yield changed(evidence, (*here, 1, i), lambda v: v + 1)
            yield changed(evidence, (*here, 1, i), lambda _: 0)


def without(value: Json, key: Any) -> Json:
    return {k: v for k, v in value.items() if k != key}


def test_windows_are_put_together_from_windows() -> None:
    key: Key = ("S3", "scan", 11)
    _, machine, evidence = case(key)
    for name in evidence["windows"]:
        for by in (-1, 1):
            damaged = changed(evidence, ("windows", name, 1), lambda v, by=by: v + by)
            with pytest.raises(BAD):
                check(parsed(key), damaged, machine)
    family = evidence["families"][0]
    for members in (family[::-1], family[:-1], [family[0]] * len(family)):
        with pytest.raises(BAD):
            check(parsed(key), {**evidence, "families": [members]}, machine)


def test_a_window_is_put_together_from_windows_of_one_width() -> None:
    key: Key = ("S3", "scan", 11)
    stated, machine, evidence = case(key)
    output = parsed(key).outputs[0]
    place = [c["name"] for c in stated["channels"]].index(output)
    family = evidence["families"][0]
    for point, member in enumerate(family):
        at = ("channels", place, "inputs", 1 + point)
        narrow = changed(stated, at, lambda _, member=member: member)
        with pytest.raises(Refused):
            check(parsed(key, narrow), evidence, machine)


def test_a_window_of_fewer_letters_than_words_have_is_no_cell() -> None:
    key: Key = ("S3", "scan", 11)
    stated, machine, evidence = case(key)
    assert {width for _, width in evidence["windows"].values()} == {2, 4, 8, 16}
    outputs = [n.replace("map4", "map3") for n in stated["outputs"]]
    told = json.loads(json.dumps(evidence["parts"]).replace("map4", "map3"))
    program = parsed(key, {**stated, "outputs": outputs})
    with pytest.raises(Refused, match=r"no rule covers|says nothing"):
        check(program, {**evidence, "parts": told}, machine)


def test_a_lemma_holds_only_as_far_as_it_was_shown() -> None:
    key: Key = ("Adder", "sequential", 5)
    _, machine, evidence = case(key)
    assert len(evidence["parts"]) == key[2]
    for j, part in enumerate(evidence["parts"][1:], start=1):
        (shift,) = part["assumed"]
        for to in [j, *range(j - 1)]:
            at = ("parts", j, "assumed", shift)
            with pytest.raises(BAD):
                check(parsed(key), changed(evidence, at, lambda _, to=to: to), machine)
        longer = changed(evidence, ("parts", j, "length"), lambda v: v + 1)
        with pytest.raises(Refused):
            check(parsed(key), longer, machine)


def test_a_lemma_is_about_the_channel_that_was_shown() -> None:
    key: Key = ("Adder", "sequential", 5)
    _, machine, evidence = case(key)
    parts = evidence["parts"]
    other = {
        **parts[-1],
        "assumed": dict.fromkeys(parts[-1]["assumed"], len(parts) - 1),
    }
    told = {**evidence, "parts": [*parts, other], "final": [len(parts)]}
    with pytest.raises(Refused, match="is not known so far"):
        check(parsed(key), told, machine)


def test_the_latest_before_needs_blocks_of_every_level() -> None:
    key: Key = ("Grid4", "cascade", 5)
    stated, machine, _ = case(key)
    short, long = (parse(stated, len(machine.transitions), n) for n in (7, 8))
    evidence = find(short, machine)
    check(short, evidence, machine)
    longer = [{**part, "length": 8} for part in evidence["parts"]]
    with pytest.raises(Refused, match=r"no rule covers|says nothing"):
        check(long, {**evidence, "parts": longer}, machine)
    with pytest.raises(Refused):
        find(long, machine)


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    "key", [("Dyck2,1", "dyck", 5), ("Grid4", "cascade", 5), ("Grid3", "gridworld", 5)]
)
def test_sets_of_memories_lead_to_all_that_each_memory_leads_to(key: Key) -> None:
    _, machine, evidence = case(key)
    program, random = parsed(key), np.random.default_rng(3)
    said = {**evidence["parts"][0], "split": [], "reduced": []}
    followed = ways(program, evidence, machine)
    part = refinement.part(program, machine, followed, [], said)
    rows = 200
    q, a = random.integers(len(machine.shows), size=rows), random.integers(2, size=rows)
    one: dict[str, Any] = {}
    some: dict[str, Any] = {}
    for name, (sets, of) in part.cells.items():
        later = np.isin(program.channels[name].domain, program.channels[name].later)
        chosen = random.choice(np.flatnonzero(later), (rows, of.shape[1]))
        one[name] = chosen[:, :, None] == np.arange(sets.shape[1])
        some[name] = one[name] | (random.random(one[name].shape) < 0.3)
    t = np.ones(rows, np.int64)
    _, exact, after_one = part.move(one, q, a, t)
    _, known, after = part.move(some, q, a, t)
    real = np.all([v.any(axis=1) for v in exact.values()], axis=0)
    assert real.sum() > 20
    assert all((exact[n] <= known[n])[real].all() for n in exact)
    assert all((after_one[n] <= after[n])[real].all() for n in after)
    assert any(known[n].sum() > exact[n].sum() for n in program.outputs)


ODD: list[Any] = [
    True,
    0.5,
    1.0,
    -1,
    2**31,
    2**70,
    float("nan"),
    None,
    "0",
    [],
    {},
    [[0]],
]


@pytest.mark.sample(6)
@pytest.mark.parametrize("odd", ODD, ids=repr)
@pytest.mark.parametrize("field", ["states", "depths", "follow", "length", "reduced"])
def test_what_is_no_number_is_refused_or_does_no_harm(field: str, odd: Any) -> None:
    key: Key = ("C5", "counter", 7)
    _, machine, evidence = case(key)
    places = [p for p in leaves(evidence) if field in p]
    for place in [places[0], places[-1]]:
        try:
            accepted = check(
                parsed(key), changed(evidence, place, lambda _: odd), machine
            )
        except BAD:
            continue
        assert harmless(right_readings(key), accepted)


@pytest.mark.sample(1)
@FEW
@settings(max_examples=4)
@given(random=st.randoms(use_true_random=False))
def test_no_evidence_makes_a_wrong_program_right(key: Key, random: Any) -> None:
    stated, machine, evidence = case(key)
    wrong = _wrong(stated, random)
    for _ in range(random.randrange(3)):
        place = random.choice(list(leaves(evidence)))
        evidence = changed(evidence, place, lambda v: v + random.choice([-1, 1]))
    try:
        program = parsed(key, wrong)
    except BAD:
        return
    seen = readings(program, machine, short(key))
    tries: list[Callable[[], Json]] = [
        lambda: evidence,
        lambda: searched(program, machine),
    ]
    for told in tries:
        try:
            accepted = check(program, told(), machine)
        except BAD:
            continue
        assert harmless(seen, accepted)


def searched(program: Statement, machine: Machine) -> Json:
    """What is found with little effort."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exploration, "MOST_STATES", 500)
        return find(program, machine)


def _wrong(stated: Json, random: Any) -> Json:
    """The Program with another result in a row of a table."""
    tables = [i for i, c in enumerate(stated["channels"]) if "rows" in c]
    entry = random.choice(tables)
    row = random.randrange(len(stated["channels"][entry]["rows"]))
    value = random.choice(stated["channels"][entry]["domain"])
    return changed(stated, ("channels", entry, "rows", row, -1), lambda _: value)
