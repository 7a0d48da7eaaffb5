"""The circuit beside a disguised machine: it works, shares axes, and does not matter."""

from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
import torch

import krohn
from krohn.architectures.disguise.build_growing import (
    circuit,
    memories,
)
from krohn.architectures.disguise.check import Disguise
from krohn.compiled_model import CompiledModel
from krohn.compiler import CompileError
from krohn.network.precision import FloatArray
from krohn.network.transformer import Transformer
from krohn.program.interpreter import interpret
from krohn.verify.checker.residual_stream import Stream

LENGTH, SEED = 16, 3
NETWORKS = [
    ("S4", "rotate,dense,beside", "float64"),
    ("C2", "squeeze,dense,beside", "float64"),
    ("FlipFlop", "rotate,dense,beside", "float64"),
    ("FlipFlop", "rotate,dense,beside", "float32"),
    ("S4", "rotate,beside", "float32"),
]
each = pytest.mark.parametrize("network", NETWORKS, ids=lambda n: " ".join(n))


@cache
def made(name: str, kinds: str, dtype: str) -> CompiledModel:
    """A network that is proved."""
    return krohn.compile(name, LENGTH, disguise=kinds, dtype=dtype, seed=SEED)


class Apart:
    """A disguised network, taken apart by the solution of its file.

    Attributes:
        rows: ``(d + waste, D)``: what each number adds to the stream.
        d: How many of them are of the plain network.
        numbers: For each variable of the circuit its row, and the snapshot it is born at.
        values: For each of them what its Program says, ``(words, positions)``.
    """

    def __init__(self, network: tuple[str, str, str]) -> None:
        file, self.model = made(*network).file, made(*network).model
        plain = file.header["architecture"]["disguise"]
        self.rows, self.d = file.tensors["disguise.directions"], plain["d_model"]
        program = memories({**file.header, "architecture": plain}, SEED)
        channels = circuit(program, file.precision)[0]["program"]["channels"]
        born = [c["snapshots"][0] for c in channels if "dims" in c]
        dims = [c["dims"][0] for c in channels if "dims" in c]
        names = [c["name"] for c in channels if "dims" in c]
        blocks = [b for b, block in enumerate(plain["blocks"]) if block["heads"]]
        at = [s and 2 * blocks[(s - 1) // 2] + 2 - s % 2 for s in born]
        self.numbers = dict(
            zip(names, zip([self.d + i for i in dims], at, strict=True), strict=True)
        )
        letters = len(file.header["machine"]["letters"])
        words = np.random.default_rng(7).integers(letters, size=(60, LENGTH))
        self.values = interpret(program, words)
        self.words = torch.from_numpy(words)

    def streams(self) -> list[FloatArray]:
        """``(words, positions, D)`` at each snapshot."""
        network = self.model.network
        assert isinstance(network, Transformer)
        return [x.double().numpy() for x in network.snapshots(self.words)]

    def parts(self, stream: FloatArray) -> tuple[FloatArray, FloatArray]:
        """What the plain network adds to a stream, and what all else does."""
        found = stream @ np.linalg.pinv(self.rows)
        split = found[..., : self.d], found[..., self.d :]
        return split[0] @ self.rows[: self.d], split[1] @ self.rows[self.d :]


@pytest.mark.slow
@each
def test_the_circuit_computes_its_program(network: tuple[str, str, str]) -> None:
    """Each variable has its values at each snapshot from its birth on."""
    apart = Apart(network)
    read = [stream @ np.linalg.pinv(apart.rows) for stream in apart.streams()]
    for name, (row, born) in apart.numbers.items():
        for found in read[born:]:
            assert np.abs(found[..., row] - apart.values[name]).max() < 0.1


@pytest.mark.sample(1)
@each
def test_its_variables_vary(network: tuple[str, str, str]) -> None:
    """Words differ in each memory; in float64 all of it varies more than the machine.

    In float32 sums of letters, which no memory makes, vary much more.
    """
    apart = Apart(network)
    for name in apart.numbers:
        values = apart.values[name][:, 4:]
        if name.startswith(("stored", "writes", "said")):
            assert values.std(axis=0).max() > 0.2
    plain, other = apart.parts(apart.streams()[-1])
    share = other[:, 1:].var(axis=(0, 1)).sum() / plain[:, 1:].var(axis=(0, 1)).sum()
    assert share > (1.0 if network[2] == "float64" else 0.01)


@pytest.mark.sample(1)
@each
def test_axes_are_shared(network: tuple[str, str, str]) -> None:
    """If an axis is set to its mean, numbers of the machine and of the circuit change."""
    apart = Apart(network)
    stream, read = apart.streams()[-1], np.linalg.pinv(apart.rows)
    rows = [row for row, _ in apart.numbers.values()]
    for axis in range(stream.shape[-1]):
        x = stream[..., axis]
        change = np.abs(x - x.mean()).max() * np.abs(read[axis])
        assert change[: apart.d].max() > 0.02
        assert change[rows].max() > 0.02


@pytest.mark.sample(1)
@each
def test_no_answer_depends_on_it(network: tuple[str, str, str]) -> None:
    """All that is not the machine's is set to its mean over words, at every snapshot."""
    apart = Apart(network)
    means = [apart.parts(x)[1].mean(axis=0) for x in apart.streams()]

    def ablated(snapshot: int) -> Callable[[torch.Tensor], torch.Tensor]:
        def change(x: torch.Tensor) -> torch.Tensor:
            other = apart.parts(x.double().numpy())[1]
            return x - torch.from_numpy(other - means[snapshot]).to(x)

        return change

    hooks = {f"stream.{s}": ablated(s) for s in range(len(means))}
    before = apart.model(apart.words)
    after = apart.model.run_with_hooks(apart.words, hooks)
    assert (before - after).abs().max() < 1e-2
    assert (before.argmax(-1) == after.argmax(-1)).all()


@pytest.mark.slow
def test_a_bound_grows_by_a_factor_at_every_length(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """From b to 2b + 2 in a layer, where a table of sums has the square of the length."""
    bounds, followed = dict[int, float](), Disguise.follow_sublayer

    def seen(
        self: Disguise, stream: Stream, before: Stream | None, snapshot: int
    ) -> Stream:
        found = followed(self, stream, before, snapshot)
        assert found.beside is not None
        heard = sorted(found.beside.waste)[:-1]  # without the index of the position
        bounds[snapshot] = float(heard[-1])
        return found

    monkeypatch.setattr(Disguise, "follow_sublayer", seen)
    for length in (8, 64):
        krohn.compile("D6", length, disguise="beside", seed=SEED)
        assert bounds[0] == pytest.approx(1, abs=1e-3)
        assert bounds[max(bounds)] <= 10.01  # 1, 4, 10: two layers


def test_every_alphabet_has_one_and_no_network_without_heads() -> None:
    assert krohn.compile("regex:a(aa)*", 8, disguise="beside").proof is not None
    header = {
        "machine": {"letters": ["a"]},
        "claim": {"length": 8},
        "architecture": {"blocks": [{"heads": 0}]},
    }
    with pytest.raises(CompileError, match="no circuit works beside a network without"):
        memories(header, 0)
