"""No bound of a proof is violated by real or allowed arithmetic; wrong bounds are."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch
from random_networks import RandomNetwork, random_transformer

import krohn
from krohn.algebra import zoo
from krohn.architectures.generator.find_words import (
    claimed_law,
    laws_of,
)
from krohn.compiled_model import CompiledModel
from krohn.instruments.attack.campaign import (
    Attack,
    Extent,
    attack,
    check_attackable,
    legal_words,
)
from krohn.instruments.attack.residual_stream import (
    Stored,
    values,
)
from krohn.instruments.attack.rounding import (
    Arithmetic,
    Seen,
    Way,
    make_permuted_run,
    network,
    one_by_one,
    still,
    tensors,
    whole,
    with_equal_widths,
)
from krohn.instruments.attack.transformers import obstacle
from krohn.instruments.attack.worst_seen import (
    EvolutionarySearch,
    Target,
    Worst,
)
from krohn.network.modelfile import ModelFile
from krohn.network.precision import FLOAT64, FloatArray
from krohn.program.errors import Refused
from krohn.program.interpreter import interpret
from krohn.verify.checker.established import Established
from krohn.verify.checker.residual_stream import Stream
from krohn.verify.proof import Proof, prove
from krohn.verify.testing.counterexample import CheckError

SOME, FEW = Extent(positions=60_000), Extent(positions=8_000)

MODELS = [
    ("C3", "counter", 12, "float32"),
    ("C2", "counter", 6, "bfloat16"),
    ("Memory3", "memory", 12, "bfloat16"),
    ("Grid4", "scan", 6, "float16"),
    ("Grid4", "gridworld", 8, "float32"),
    ("Grid4", "corridor", 8, "float64"),
    ("Dyck2,2", "dyck", 8, "float64"),
]


def against(
    built: CompiledModel, name: str, extent: Extent = SOME, **changes: Any
) -> Attack:
    """Attack a network, or a changed file or proof instead of its own."""
    file, proof = changes.get("file", built.file), changes.get("proof", built.proof)
    return attack(file, zoo.machine(name), proof, extent, seed=1)


def bounds_of(built: CompiledModel) -> Established:
    assert built.proof is not None
    assert built.proof.bounds is not None
    return built.proof.bounds


def proof_of(built: CompiledModel, bounds: Established) -> Proof:
    assert built.proof is not None
    return replace(built.proof, bounds=bounds)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "construction", "length", "dtype"), MODELS)
def test_every_bound_of_a_transformer_holds(
    name: str, construction: str, length: int, dtype: str
) -> None:
    built = krohn.compile(name, length, construction, dtype=dtype)
    found = against(built, name, FEW)
    assert found.has_passed, found.violations[0]
    assert found.positions == sum(found.ways.values()) >= FEW.positions
    assert {"eager", "letter by letter", "worst arithmetic"} <= found.ways.keys()
    assert found.tightest["logits"].share <= 1 <= found.tightest["margin"].share + 1


def test_every_bound_of_an_rnn_holds() -> None:
    built = krohn.compile("D6", arch="rnn", dtype="float16")
    found = against(built, "D6")
    assert found.has_passed
    assert found.tightest["RNN: hidden"].observed == 0


@pytest.mark.slow
def test_every_bound_of_a_generator_holds() -> None:
    built = krohn.compile_generator("Dyck3,2", 16, opening=Fraction(1, 3))
    found = against(built, "Dyck3,2")
    assert found.has_passed
    assert 0 < found.tightest["generator: law"].observed


def shrunk(bounds: Established, name: str, factor: float) -> Established:
    """Bounds with a smaller noise of one channel than was established."""

    def less(stream: Stream) -> Stream:
        if name not in stream.noise:
            return stream
        return replace(
            stream, noise={**stream.noise, name: stream.noise[name] * factor}
        )

    return replace(bounds, streams=tuple(map(less, bounds.streams)))


@pytest.mark.slow
def test_a_bound_that_is_too_small_is_found_out() -> None:
    built = krohn.compile("C2", 16, "counter")
    smaller = shrunk(bounds_of(built), "sum", 1 / 8)
    found = against(built, "C2", proof=proof_of(built, smaller))
    assert any(v.operation == "prefix-sum" for v in found.violations)
    worst = found.violations[0]
    assert worst.observed > worst.bound
    assert len(worst.word) == worst.position
    assert any(v.again for v in found.violations)


@pytest.mark.slow
def test_a_leak_that_is_too_small_is_found_out() -> None:
    built = krohn.compile("Memory3", 12, "memory")
    bounds = bounds_of(built)
    looks = {n: replace(k, leak=k.leak / 4) for n, k in bounds.looks.items()}
    smaller = replace(bounds, looks=looks)
    found = against(built, "Memory3", proof=proof_of(built, smaller))
    assert {v.operation for v in found.violations} == {"latest: leak"}


def damaged(file: ModelFile, name: str, change: Callable[[FloatArray], None]) -> Any:
    tensor = file.tensors[name].copy()
    change(tensor)
    tensor = file.precision.round(tensor)
    return replace(file, tensors={**file.tensors, name: tensor})


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    "name",
    [
        "blocks.0.attention.value",
        "blocks.0.attention.out",
        "blocks.0.mlp.1.weight",
        "embed.token",
        "unembed.weight",
    ],
)
def test_a_network_that_is_a_little_different_violates_the_bounds(name: str) -> None:
    built = krohn.compile("C3", 12, "counter")

    def change(tensor: FloatArray) -> None:
        largest = np.unravel_index(np.abs(tensor).argmax(), tensor.shape)
        tensor[largest] *= 1.01

    file = damaged(built.file, name, change)
    assert not against(built, "C3", file=file).has_passed


def test_what_is_not_verified_is_not_attacked() -> None:
    built = krohn.compile("C2", 8, "counter")
    file = damaged(built.file, "unembed.weight", lambda w: w.fill(0.0))
    with pytest.raises(CheckError, match="nothing to attack"):
        against(built, "C2", file=file, proof=prove(file, zoo.machine("C2")))


@pytest.mark.sample(1)
@pytest.mark.parametrize(("name", "construction", "length", "dtype"), MODELS)
def test_the_program_of_a_file_means_what_was_compiled(
    name: str, construction: str, length: int, dtype: str, levels: Any
) -> None:
    level = levels(name, construction, length, dtype)
    words = level.words(32)
    true = values(bounds_of(level.compiled).program, torch.from_numpy(words))
    for channel, right in interpret(level.optimised, words).items():
        assert np.array_equal(true[channel].numpy(), right)


KNOWN = "softmax", "sparse"


def worst(given: RandomNetwork, seed: int = 0) -> Seen:
    """By the worst arithmetic."""
    bad = Arithmetic(FLOAT64, np.random.default_rng(seed))
    return bad.run(tensors(given.net, FLOAT64), torch.from_numpy(given.words))


@pytest.mark.sample(3)
@pytest.mark.parametrize("seed", range(12))
def test_every_way_is_the_same_function(seed: int) -> None:
    """Heads of a block may see more than others, and units have other functions."""
    given, rng = random_transformer(seed, kinds=KNOWN), np.random.default_rng(seed)
    words = torch.from_numpy(given.words)
    even = tensors(with_equal_widths(given.net), FLOAT64)
    seen, logits = whole(tensors(given.net, FLOAT64), words)
    for others, said in (
        make_permuted_run(given.net, FLOAT64, rng)(words, still),
        whole(even, words),
        worst(given, seed),
    ):
        for one, other in zip([*seen, logits], [*others, said], strict=True):
            assert torch.allclose(one, other, rtol=1e-10, atol=1e-10)


@pytest.mark.sample(1)
@pytest.mark.parametrize("seed", range(6))
def test_what_heads_do_not_see_is_absent(seed: int) -> None:
    given = random_transformer(seed, kinds=KNOWN, ahead=False)
    said = worst(given)[1]
    given.tensors["embed.position"][-1] = np.inf
    spoilt = worst(given)[1]
    assert torch.allclose(said[:, :-1], spoilt[:, :-1], rtol=1e-10, atol=1e-10)
    assert not spoilt[:, -1].isfinite().any()


@pytest.mark.parametrize("kind", ["linear", "relu"])
def test_heads_of_which_no_worst_arithmetic_is_known_are_refused(kind: str) -> None:
    given = random_transformer(1, kinds=(kind,))
    proof = krohn.compile("C2", 6, "counter").proof
    assert proof is not None
    with pytest.raises(Refused, match=f"the attack is not about '{kind}'"):
        worst(given)
    with pytest.raises(Refused, match=f"the attack is not about '{kind}'"):
        check_attackable(given.file, proof)


def test_a_way_that_cannot_be_gone_is_told() -> None:
    """Heads that see the whole word do not read letter by letter."""
    built = krohn.compile("program:count", 6)
    way = Way("letter by letter", partial(one_by_one, network(built.file)), 1, 1)
    rng, proof = np.random.default_rng(0), built.proof
    assert proof is not None
    target = Target(built.file, zoo.machine("C2"), proof, rng, False)
    assert "reads a word as a whole" in obstacle(way, target)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "construction"), [("C3", "counter"), ("Grid4", "scan")]
)
@pytest.mark.parametrize("strict", [False, True])
def test_every_bound_of_gelus_holds(name: str, construction: str, strict: bool) -> None:
    built = krohn.compile(name, 8, construction, activation="gelu", strict=strict)
    found = against(built, name, FEW)
    assert found.has_passed, found.violations[0]
    assert "worst arithmetic" in found.ways


@pytest.mark.sample(4)
@pytest.mark.parametrize("activation", ["relu", "gelu"])
@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
def test_the_worst_arithmetic_stays_near_the_real_one(
    dtype: str, activation: str
) -> None:
    options: dict[str, Any] = {"dtype": dtype, "activation": activation}
    built = krohn.compile("C2", 6, "counter", proof=False, **options)
    net = network(built.file).net
    words = torch.randint(2, (64, 6), generator=torch.Generator().manual_seed(0))
    bad = Arithmetic(built.file.precision, np.random.default_rng(0))
    real, worst = whole(net, words)[1], bad.run(net, words)[1]
    far = (real.double() - worst.double()).abs().max()
    units = 2**8 if activation == "relu" else 2**11
    assert far <= units * built.file.precision.unit


@pytest.mark.sample(1)
@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
def test_pushing_stays_within_bounds_and_reaches_them(dtype: str) -> None:
    built = krohn.compile("C2", 6, "counter", dtype=dtype)
    bounds = bounds_of(built)
    stored = Stored.of(bounds, built.file.tensors["embed.position"], dtype)
    words = torch.randint(2, (32, 6), generator=torch.Generator().manual_seed(0))
    right, allowed = stored.expected_codes(values(bounds.program, words))
    seen = whole(network(built.file).net, words)[0]
    narrow, rng = seen[0].dtype, np.random.default_rng(0)
    moved = stored.push((right, allowed), rng, narrow, 1, seen[1])
    known = stored.snapshots[1]
    found, code = moved[..., known.dims], right[..., known.columns]
    off = (found.to(stored.wide) - code).abs()
    assert (off <= allowed[..., known.columns]).all()
    # Of a coarse format the last number within the bound may be well before it.
    outwards = torch.where(found.to(stored.wide) > code, torch.inf, -torch.inf)
    further = torch.nextafter(found, outwards.to(narrow)).to(stored.wide)
    last = (off > 0) & ((further - code).abs() > allowed[..., known.columns])
    reached = (off > 0.9 * allowed[..., known.columns]) | last
    assert reached[..., ~known.exact].any()
    assert moved.dtype == narrow


def test_breeding_keeps_the_words_that_come_closest() -> None:
    machine, rng = zoo.machine("C3"), np.random.default_rng(0)
    breeding = EvolutionarySearch(machine, 12, rng)
    best = 0.0
    for _ in range(20):
        words = breeding.words(64)
        assert words.shape == (64, 12)
        assert 0 <= words.min() <= words.max() < len(machine.letters)
        # How often the last letter occurs, and never off.
        often = (words == len(machine.letters) - 1).double().mean(dim=1)
        breeding.learn(words, torch.stack([often, 0 * often], dim=1))
        best = max(best, float(often.max()))
        assert float(breeding.share[0, 0]) == best
        assert (
            breeding.elite[0, 0] == len(machine.letters) - 1
        ).double().mean() == best
    assert best == 1


@pytest.mark.slow
def test_genes_become_legal_prefixes() -> None:
    machine = zoo.machine("Dyck3,2")
    file = krohn.compile_generator("Dyck3,2", 16).file
    legal = laws_of(claimed_law(file, machine)[0]) > 0
    genes = np.random.default_rng(0).integers(4, size=(64, 16))
    words, states = legal_words(machine, legal, genes)
    assert np.array_equal(
        states[:, 1:], machine.semiautomaton.trace(words, machine.start)
    )
    assert np.take_along_axis(legal[states[:, :-1]], words[..., None], axis=2).all()


def test_no_number_is_within_a_bound() -> None:
    nan = Worst("table", "x", 0, float("nan"), 1.0)
    assert nan.is_violated
    assert Worst("table", "x", 0, 0.0, 0.0).share == 0
    assert Worst("table", "x", 0, 1e-30, 0.0).is_violated
    assert Worst("margin", "", 0, 0.5, 0.25).share == 0.5
    assert Worst("margin", "", 0, 0.25, 0.5).is_violated
