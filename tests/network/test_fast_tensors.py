"""The ways in which torch reads words faster come to what the definitions say."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from every_engine import of_torch
from random_networks import random_transformer
from torch import Tensor, nn

import krohn
from krohn.network.cache import Tree
from krohn.network.copies import WORDS, CopyingHeads
from krohn.network.meaning import arrays
from krohn.network.meaning.arrays import Arrays
from krohn.network.meaning.fast_tensors import Copy, FastTensors, whole
from krohn.network.meaning.forward import read_out, through
from krohn.network.meaning.net import Affine
from krohn.network.meaning.tensors import CAREFUL, points, with_bos
from krohn.network.model import Model, describe_change
from krohn.network.modelfile import ModelFile
from krohn.network.precision import FloatArray
from krohn.network.transformer import Transformer
from krohn.open_model import Model as OpenModel
from krohn.program.attention import Linear, Sight

T = 20
MACHINES = (
    ("S5", "scan", "float32"),
    ("S3", "scan", "float64"),
    ("S3", "scan", "bfloat16"),
    ("C2", "counter", "float32"),
    ("Grid4", "gridworld", "float32"),
    ("PermReset4", "cascade", "float32"),
    ("FlipFlop", "memory", "float32"),
    ("regex:(ab|ba)*", "departures", "float32"),
)


def scan(name: str = "S3", dtype: str = "float32") -> ModelFile:
    return krohn.compile(name, T, "scan", dtype=dtype, proof=False).file


def words(model: Model, count: int = 2 * WORDS, length: int = T) -> Tensor:
    made = torch.Generator().manual_seed(0)
    return torch.randint(len(model.letters), (count, length), generator=made)


def network_of(model: Model) -> Transformer:
    assert isinstance(model.network, Transformer)
    return model.network


@pytest.fixture
def gathered(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether heads were copies, as often as a pass asked."""
    asked, holds = list[bool](), Copy.holds

    def watched(self: Copy, *args: Any) -> bool:
        asked.append(holds(self, *args))
        return asked[-1]

    monkeypatch.setattr(Copy, "holds", watched)
    return asked


@pytest.mark.sample(1)
@pytest.mark.parametrize("part", range(4))
def test_words_are_as_the_definition_says(part: int) -> None:
    for seed in range(25 * part, 25 * part + 25):
        given = random_transformer(seed, ahead=seed % 2 == 0)
        right = arrays.whole(given.net, Arrays(), given.words)
        found = whole(given.net.each(torch.from_numpy), torch.from_numpy(given.words))
        np.testing.assert_allclose(found.numpy(), right, rtol=1e-9, atol=1e-9)
        assert found.is_contiguous()


def test_a_bias_is_added_to_a_product_that_is_there() -> None:
    """It would take the digits of partial sums."""
    half = 2.0**-24
    layer = Affine(torch.tensor([[half], [half]]), torch.tensor([1.0]))
    found = FastTensors(1, 1, ()).affine(torch.ones((1, 2)), layer)
    assert found.item() == 1 + 2 * half


def test_words_and_batches_may_be_empty() -> None:
    model = OpenModel(scan())
    for shape in ((0, 5), (3, 0), (0, 0)):
        found = model(torch.zeros(shape, dtype=torch.long))
        assert found.shape == (*shape, len(model.classes))


@pytest.mark.sample(1)
@pytest.mark.parametrize(("name", "construction", "dtype"), MACHINES)
def test_answers_are_those_of_heads_that_weigh(
    name: str, construction: str, dtype: str, gathered: list[bool]
) -> None:
    made = krohn.compile(name, T, construction, dtype=dtype, proof=False)
    model, plain = made.model, Model(made.file)
    for length in (1, 2, 7, T):
        given = words(model, length=length)
        found, wanted = model(given), plain(given)
        torch.testing.assert_close(found, wanted, rtol=1e-3, atol=1e-3)
        assert torch.equal(found.argmax(-1), wanted.argmax(-1))
    # Heads that fetch by position alone are those of a scan.
    assert gathered == [True] * len(gathered)
    assert bool(gathered) == (construction == "scan")
    assert not describe_change(model)


def test_scores_are_looked_at_where_it_pays() -> None:
    heads = CopyingHeads(scan())
    few, many = (torch.zeros((n, T), dtype=torch.long) for n in (WORDS - 1, 1))
    assert heads.of_words(few) == ()
    copies = heads.of_words(many)
    assert copies
    for j, copy in enumerate(copies):
        assert copy is not None
        assert copy.rows.tolist() == [max(t - 2**j, 0) for t in range(T)]
    assert heads.of_words(many) is copies
    longer = torch.zeros((1, T + 2), dtype=torch.long)
    for _ in range(2 * WORDS):
        assert heads.of_words(longer) == ()


def changed(file: ModelFile, **factors: float) -> ModelFile:
    """A file with other queries of its first block."""
    tensors = dict(file.tensors)
    for name, factor in factors.items():
        at = f"blocks.0.attention.{name}"
        tensors[at] = tensors[at] * factor
    return ModelFile(file.header, tensors, file.precision)


def test_heads_that_weigh_others_too_do_not_copy() -> None:
    given = torch.zeros((2 * WORDS, T), dtype=torch.long)
    first, second, *_ = CopyingHeads(changed(scan(), query=1 / 4)).of_words(given)
    assert first is None
    assert second is not None


Damage = Callable[[dict[str, FloatArray]], None]


def bos_holds(number: float) -> Damage:
    """BOS holds a number where the first heads read a value."""

    def damage(tensors: dict[str, FloatArray]) -> None:
        read = tensors["blocks.0.attention.value"].any(axis=(0, 2)).nonzero()[0]
        tensors["embed.token"][-1, read[0]] = number

    return damage


def scores_grow(factor: float) -> Damage:
    """Queries of the first heads are larger, and so are codes of positions."""

    def damage(tensors: dict[str, FloatArray]) -> None:
        query = tensors["blocks.0.attention.query"]
        tensors["embed.position"][:, query.any(axis=(0, 2))] *= 2
        query *= factor

    return damage


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("dtype", "damage"),
    [
        ("float32", bos_holds(1e30)),
        ("float64", bos_holds(1e30)),
        ("bfloat16", bos_holds(1e38)),
        ("float16", scores_grow(6000.0)),
        ("float32", scores_grow(2.0**120)),
    ],
)
def test_a_damaged_network_runs_as_the_definition_says(
    dtype: str, damage: Damage
) -> None:
    """Where a value is so large that a small weight counts, or a score overflows."""
    file = scan("C2", dtype)
    tensors = {name: array.copy() for name, array in file.tensors.items()}
    damage(tensors)
    rounded = {name: file.precision.round(array) for name, array in tensors.items()}
    model = OpenModel(ModelFile(file.header, rounded, file.precision))
    given = words(model)
    found, net = model(given), network_of(model).net
    stream, _ = through(net, CAREFUL, points(with_bos(net, given)))
    right = read_out(net, CAREFUL, stream)
    torch.testing.assert_close(found, right[:, 1:], equal_nan=True)


def test_heads_do_not_copy_unless_the_program_says_that_they_fetch() -> None:
    file = scan()
    program = dict(file.header["program"])
    given = torch.zeros((2 * WORDS, T), dtype=torch.long)
    for said in (
        {"channels": [c | {"op": "prefix-sum"} for c in program["channels"]]},
        {"channels": [{"head": 0}]},
        {"features": {}},
        {"features": None},
        {"channels": 3},
    ):
        header = {**file.header, "program": program | said}
        copies = CopyingHeads(ModelFile(header, file.tensors, file.precision))
        assert not any(copies.of_words(given))


Change = Callable[[Transformer], object]


def code(net: Transformer) -> int:
    """A dimension of the features that the first heads read."""
    return int((net.attention[0].query != 0).any(0).any(1).nonzero()[-1])


CHANGES: dict[str, Change] = {
    "query": lambda net: net.attention[0].query.data.mul_(1 / 64),
    "key": lambda net: net.attention[0].key.data.mul_(1 / 64),
    "key as numpy": lambda net: np.negative(
        net.attention[0].key.numpy(), out=net.attention[0].key.numpy()
    ),
    "position": lambda net: net.position.data[3].mul_(1 / 64),
    "token": lambda net: net.token.data[0].add_(1),
    "mask": lambda net: net.mlp[0].mask.data.mul_(1 / 64),
    "bias": lambda net: net.mlp[0].biases[-1].data[code(net)].add_(3),
    "what heads write": lambda net: net.attention[0].out.data[:, :, code(net)].add_(1),
    "another key": lambda net: setattr(
        net.attention[0], "key", nn.Parameter(-net.attention[0].key, False)
    ),
    "sights": lambda net: setattr(net.attention[0], "sights", (Sight.WHOLE,)),
    "kind": lambda net: setattr(net.attention[0], "kind", Linear()),
}


@pytest.mark.sample(1)
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_changed_network_runs_as_it_is_now(
    change: Change, gathered: list[bool]
) -> None:
    """However it was changed, and after it has been run."""
    file = scan("S5")
    model, plain = OpenModel(file), Model(file)
    given = words(model)
    model(given)
    before = len(gathered)
    assert all(gathered)
    with torch.no_grad():
        change(network_of(model))
        change(network_of(plain))
    torch.testing.assert_close(model(given), plain(given), rtol=1e-3, atol=1e-3)
    assert False in gathered[before:]


def test_another_format_runs_without_copies(gathered: list[bool]) -> None:
    model = OpenModel(scan())
    given = words(model)
    model(given)
    before = len(gathered)
    wide = model.double()
    torch.testing.assert_close(wide(given), Model(scan()).double()(given))
    assert not any(gathered[before:])


def test_gradients_are_those_of_heads_that_weigh(gathered: list[bool]) -> None:
    file = scan()
    model, plain = OpenModel(file), Model(file)
    given = words(model)
    model(given)
    before = len(gathered)
    for each in (model, plain):
        each.requires_grad_()
        each(given).square().sum().backward()
    assert len(gathered) == before
    for one, other in zip(model.parameters(), plain.parameters(), strict=True):
        assert one.grad is not None
        assert other.grad is not None
        assert torch.equal(one.grad, other.grad)


def test_what_hooks_see_is_what_heads_weigh(gathered: list[bool]) -> None:
    model = OpenModel(scan())
    given = words(model)
    model(given)
    before = len(gathered)
    _, seen = model.run_with_cache(given)
    assert seen["blocks.0.attention.pattern"].shape == (len(given), 1, T + 1, T + 1)
    assert len(gathered) == before


def test_masks_may_be_given_later() -> None:
    """As a parameter, or as a tensor."""
    given = random_transformer(3, ahead=False)
    tensors = {n: torch.from_numpy(x) for n, x in given.tensors.items()}
    plain = {n: x for n, x in tensors.items() if not n.endswith("residual")}
    letters = torch.from_numpy(given.words)
    for wrap in (lambda x: x, lambda x: nn.Parameter(x, False)):
        net, other = (Transformer(given.architecture, plain) for _ in range(2))
        before = net(letters)
        for each in (net, other):
            each.mlp[0].mask = wrap(torch.full_like(net.token[0], 0.5))
        assert not torch.allclose(net(letters), before)
        assert torch.equal(net(letters), other(letters))


@pytest.mark.parametrize("kind", ["softmax", "linear", "relu", "sparse"])
def test_what_is_stored_in_place_is_no_tensor_of_the_network(kind: str) -> None:
    given = random_transformer(3, ahead=False, kinds=[kind])
    net = of_torch(given)
    before = [tensor.clone() for tensor in net.parameters()]
    letters = torch.from_numpy(given.words)
    net(letters)
    cache = net.start(len(letters))
    for letter in letters.T[:3]:
        _, cache = net.step(letter, cache)
    branches = given.architecture["vocabulary"] - 1
    net.branch(torch.arange(branches), cache, Tree(branches, 2))
    assert all(map(torch.equal, before, net.parameters()))
