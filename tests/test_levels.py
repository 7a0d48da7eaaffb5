"""Every construction, at every level, computes its machine."""

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import torch

import krohn
from krohn.algebra import zoo
from krohn.network.architecture import expected_shapes
from krohn.program import Map
from krohn.program.interpreter import interpret, states

Build = Callable[..., Any]
Levels = Any
"""A machine at every level, as `levels` of conftest.py builds it."""

TABLE = [
    *((n, "counter", 12) for n in ("C2", "C3", "C5", "C6", "C2xC3", "C5 from 3")),
    *((n, "memory", 12) for n in ("FlipFlop", "Memory3", "Memory3 from 3")),
    *((n, "product", 12) for n in ("C2xC2", "C2xC3", "C2xC2xC2", "C6", "subdirect")),
    ("Memory3", "product", 12),
    *((n, "window", 12) for n in ("FFL2", "FFLTracker3", "Adder", "Memory3")),
    *(("FFLTracker2", "window", length) for length in (1, 2, 3, 64)),
    *((f"FFL2 from {q}", "window", 5) for q in ("w", "1r", "0i", "error")),
    *((n, "cascade", 12) for n in ("C6", "C2xC2", "D6", "D8", "Q8", "A4", "S4")),
    *((n, "cascade", 12) for n in ("FlipFlop", "Memory3", "abab", "Adder", "Grid4")),
    *((n, "cascade", 9) for n in ("PermReset3", "Dyck2,2", "one state", "one letter")),
    *((n, "scan", 12) for n in ("C3", "C2xC2", "D6", "Q8", "A4", "S3", "Grid4")),
    *((n, "scan", 12) for n in ("FlipFlop", "abab", "Adder", "PermReset3", "Dyck2,2")),
    *((n, "scan", 12) for n in ("one state", "one letter", "one of each")),
    *((n, "sequential", 12) for n in ("Grid4", "FlipFlop", "abab", "Adder")),
    ("one letter", "sequential", 12),
    *((n, "gridworld", 12) for n in ("Grid2", "Grid3", "Grid4", "Grid9")),
    *(("Grid4", "gridworld", length) for length in (1, 2, 3, 33, 60)),
    *((f"Grid4 from {q}", "gridworld", 7) for q in range(4)),
    *((n, "dyck", 12) for n in ("Dyck1,1", "Dyck2,2", "Dyck3,1", "Dyck2,2 from error")),
    *((f"Dyck2,2 from {q}", "dyck", 6) for q in ("(", "[(")),
    *((n, "product", 9) for n in ("rooms", "rooms from 7", "counter and memory")),
    *((n, "sequential", 4) for n in ("C3", "C2xC2", "D6", "S3", "PermReset3")),
    *(("unreachable", c, 5) for c in ("scan", "sequential", "cascade")),
    *(("S3", "scan", length) for length in (1, 2, 3, 4, 8, 33)),
    *(("S3", f"scan{radix}", 27) for radix in (3, 5)),
    ("FlipFlop", "scan10", 27),
    *(("Grid4", "scan3", length) for length in (1, 2, 3, 4, 9, 10)),
    *(("C3", "counter", length) for length in (1, 2, 3, 20)),
    *(("FlipFlop", "memory", length) for length in (1, 2, 3, 64, 100)),
    *(("C2xC3", "product", length) for length in (1, 2, 7)),
    *(("Grid4", "sequential", length) for length in (1, 2, 3)),
    *(("Grid4", "cascade", length) for length in (1, 2, 3, 4, 7, 8, 15, 16, 33)),
    *((f"Grid4 from {q}", "scan", 7) for q in range(4)),
    *((f"Grid4 from {q}", "cascade", 7) for q in range(4)),
    *((f"Grid4 from {q}", "sequential", 5) for q in range(4)),
    *((f"Memory3 from {q}", "memory", 6) for q in (1, 2, 3)),
]
HALF = [
    ("C3", "counter", 4, "float16"),
    *(("FlipFlop", "memory", 12, d) for d in ("float64", "bfloat16", "float16")),
    ("C2xC3", "product", 3, "float16"),
    *(("FFLTracker2", "window", 12, d) for d in ("float64", "bfloat16", "float16")),
    *(("S3", "scan", 12, d) for d in ("float64", "bfloat16", "float16")),
    *(("Grid4", "sequential", 6, d) for d in ("float64", "bfloat16", "float16")),
    ("Grid4", "gridworld", 12, "float64"),
]
FORMS = pytest.mark.parametrize("strict", [False, True], ids=["usual", "strict"])


def cases() -> Iterator[Any]:
    """The networks; quick is the first of each construction.

    In the strict form, the second of every other one.
    """
    met = Counter[str]()
    for case in TABLE:
        construction = case[1].rstrip("0123456789")
        place = met[construction]
        met[construction] += 1
        for strict in (False, True):
            quick = place == strict and not (strict and len(met) % 2)
            yield pytest.param(*case, strict, marks=[pytest.mark.slow] * (not quick))


EACH = pytest.mark.parametrize(
    ("name", "construction", "length", "strict"), list(cases())
)
FORMATS = pytest.mark.parametrize(("name", "construction", "length", "dtype"), HALF)


@pytest.mark.sample(1)
@EACH
def test_every_level_computes_the_machine_as_predicted(
    levels: Build, name: str, construction: str, length: int, strict: bool
) -> None:
    built = levels(name, construction, length, strict=strict)
    check_program(built)
    check_network(built)
    check_sizes(built)
    check_places(built)
    check_steps(built)


def check_program(built: Levels) -> None:
    """It says the states, as constructed and optimised; its values lie in their domains."""
    words = built.words()
    for program in (built.program, built.optimised):
        assert np.array_equal(states(program, words), built.expected(words))
    for channel, values in interpret(built.optimised, words).items():
        assert set(np.unique(values)) <= set(built.optimised.domains[channel])


def check_network(built: Levels) -> None:
    """The network says the states of random words, and is proved for all."""
    words = built.words()
    logits = built.model(torch.from_numpy(words))
    assert np.array_equal(logits.argmax(-1).numpy(), built.expected(words))
    report = krohn.verify(built.compiled.file, built.machine, proof=True)
    assert (report.verdict, report.length) == ("verified", built.length)


def check_sizes(built: Levels) -> None:
    """The predicted sizes are those emitted, and no weight is larger than predicted."""
    summary, cost = built.compiled.summary(), built.cost
    for key in ("depth", "layers", "d_model", "heads", "mlp_width", "parameters"):
        assert summary[key] == getattr(cost, key), key
    tensors = built.compiled.file.tensors
    assert cost.parameters == sum(t.size for t in tensors.values())
    shapes = expected_shapes(built.compiled.file.header["architecture"])
    assert shapes == {n: t.shape for n, t in tensors.items()}
    fixed = ("embed.token", "embed.position")
    sizes = [np.abs(t).max(initial=0) for n, t in tensors.items() if n not in fixed]
    assert max(sizes) <= cost.largest_weight


def check_places(built: Levels) -> None:
    """Every channel can be read from the stream."""
    words = built.words(8, seed=1)
    values = interpret(built.optimised, words)
    places = built.model.places()
    opened = values.keys() - places.keys() - {"token"}
    assert all(isinstance(built.optimised.operations[n], Map) for n in opened)
    assert places.keys() >= set(built.optimised.outputs)
    for channel in places:
        found = built.model.read(torch.from_numpy(words), channel).numpy()
        assert np.array_equal(found, values[channel]), channel


def check_steps(built: Levels) -> None:
    """Letter by letter it says the same as all at once."""
    words = torch.from_numpy(built.words(6, seed=2))
    whole = built.model(words)
    cache = built.model.network.start(len(words))
    for t in range(built.length):
        logits, cache = built.model.network.step(words[:, t], cache)
        torch.testing.assert_close(logits, whole[:, t], rtol=1e-4, atol=1e-3)
        assert torch.equal(logits.argmax(-1), whole[:, t].argmax(-1))
    assert cache.seen == built.length + 1


@pytest.mark.sample(1)
@FORMATS
def test_network_computes_the_machine_in_every_format(
    levels: Build, name: str, construction: str, length: int, dtype: str
) -> None:
    built = levels(name, construction, length, dtype)
    words = built.words()
    logits = built.model(torch.from_numpy(words))
    assert str(logits.dtype) == f"torch.{dtype}"
    assert np.array_equal(logits.argmax(-1).numpy(), built.expected(words))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["D6", "Q8", "A4"])
@pytest.mark.parametrize("construction", ["scan", "sequential"])
def test_every_start_state_is_served(
    machine: Build, own: Build, name: str, construction: str
) -> None:
    for state in machine(name).states:
        started = machine(name).with_start(state)
        model = krohn.compile(started, 3, construction)
        report = krohn.verify(model.file, started, exhaustive=3, proof=True)
        assert report.verdict == "verified"


@pytest.mark.sample(1)
@pytest.mark.parametrize("dtype", ["float64", "float32", "bfloat16", "float16"])
@pytest.mark.parametrize("name", ["C3", "FlipFlop", "S3", "Grid4", "one of each"])
def test_rnn_is_proved_for_all_lengths(machine: Build, name: str, dtype: str) -> None:
    model = krohn.compile(machine(name), arch="rnn", dtype=dtype)
    report = krohn.verify(model.file, exhaustive=3, proof=True)
    assert (report.verdict, report.length) == ("verified", None)


@pytest.mark.sample(1)
@pytest.mark.parametrize(("name", "length"), [("Grid4", 6), ("C5", 5)])
def test_sequential_programs_are_proved_layer_by_layer(
    levels: Build, name: str, length: int
) -> None:
    built = levels(name, "sequential", length)
    evidence = built.compiled.proof.evidence[0]
    assert evidence["program"]["parts"] == length


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", ["one state", "one of each"])
@FORMS
def test_one_state_needs_no_units(levels: Build, name: str, strict: bool) -> None:
    assert levels(name, "sequential", 5, strict=strict).compiled.proof


@pytest.mark.parametrize("dtype", ["float64"])
def test_counters_are_proved_in_the_reference_format(levels: Build, dtype: str) -> None:
    assert levels("C3", "counter", 12, dtype).compiled.proof


@pytest.mark.slow
@pytest.mark.sample(1)
@pytest.mark.parametrize("name", ["Grid4", "Grid9"])
@pytest.mark.parametrize("length", [100, 1024])
def test_long_gridworlds_are_proved_in_two_layers(
    levels: Build, name: str, length: int
) -> None:
    built = levels(name, "gridworld", length)
    assert built.cost.depth == 2
    words = built.words(4)
    found = built.model(torch.from_numpy(words)).argmax(-1).numpy()
    assert np.array_equal(found, built.expected(words))


@pytest.mark.slow
@pytest.mark.sample(1)
@pytest.mark.parametrize("length", [100, 1024])
def test_long_stacks_are_proved_in_three_layers(levels: Build, length: int) -> None:
    built = levels("Dyck4,2", "dyck", length)
    assert built.cost.depth == 3
    legal = zoo.sampler("Dyck4,2")(np.random.default_rng(0), 4, length)
    for words in (legal, built.words(4)):
        found = built.model(torch.from_numpy(words)).argmax(-1).numpy()
        assert np.array_equal(found, built.expected(words))


@pytest.mark.sample(1)
@pytest.mark.parametrize("length", [64, 100])
def test_long_counters_are_proved_in_the_usual_form(levels: Build, length: int) -> None:
    built = levels("C3", "counter", length)
    words = built.words()
    found = built.model(torch.from_numpy(words)).argmax(-1).numpy()
    assert np.array_equal(found, built.expected(words))


@pytest.mark.slow
@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("name", "construction", "length"),
    [("Grid4", "gridworld", 10), ("rooms", "product", 4), ("Dyck2,2", "dyck", 5)],
)
def test_every_word_is_answered_from_every_start(
    machine: Build, name: str, construction: str, length: int
) -> None:
    for state in machine(name).states:
        started = machine(name).with_start(state)
        model = krohn.compile(started, length, construction)
        report = krohn.verify(model.file, started, exhaustive=length)
        assert (report.verdict, report.length) == ("verified", length)
