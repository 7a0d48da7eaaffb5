"""Half precision and other devices: the same networks, without a word about them."""

import copy
import pickle
from typing import get_args

import pytest
import torch
from torch import Tensor

import krohn
from krohn.instruments.compare.models import (
    Derived,
    Gpt,
    Lstm,
    Network,
    build,
    wrap_compiled,
)
from krohn.instruments.compare.models.architecture import Positions

pytest.importorskip("transformers")

DEVICES = ["cpu", *["cuda"] * torch.cuda.is_available()]
NAMES = [*get_args(Positions), "lstm", "compiled", "compiled rnn"]

everywhere = pytest.mark.parametrize("device", DEVICES)
each = pytest.mark.parametrize("name", NAMES)


def network(name: str) -> Network:
    if name.startswith("compiled"):
        arch = "rnn" if name.endswith("rnn") else "transformer"
        length = None if arch == "rnn" else 8
        return wrap_compiled(
            krohn.compile("C3", length, arch=arch).file, Derived("", True)
        )
    if name == "lstm":
        return build(Lstm(8, 16), 3, 3, 8, 0)
    return build(Gpt(2, 16, 2, 32, positions=name), 3, 3, 8, 0)  # type: ignore[arg-type]


def words(device: str) -> Tensor:
    rng = torch.Generator().manual_seed(0)
    return torch.randint(3, (4, 8), generator=rng).to(device)


@pytest.mark.sample(2)
@everywhere
@each
def test_bfloat16_gives_nearly_the_same_logits(name: str, device: str) -> None:
    built = network(name).to(device).eval()
    exact = built(words(device))
    with torch.autocast(device, dtype=torch.bfloat16):
        half, shown = built(words(device)), built.inside(words(device))
    scale = exact.abs().max()
    # Some hundred roundings of 2⁻⁹, most of which cancel.
    assert (half - exact).abs().max() < 0.05 * scale
    assert (shown.logits - exact).abs().max() < 0.05 * scale


@pytest.mark.sample(2)
@everywhere
@each
def test_a_step_in_bfloat16_moves_weights_that_stay_float32(
    name: str, device: str
) -> None:
    built = network(name).to(device)
    before = copy.deepcopy(built.state_dict())
    optimiser = torch.optim.AdamW(
        [p for p in built.parameters() if p.requires_grad], lr=0.1
    )
    with torch.autocast(device, dtype=torch.bfloat16):
        logits = built(words(device)).float().flatten(0, 1)
        loss = torch.nn.functional.cross_entropy(logits, words(device).flatten())
    loss.backward()  # type: ignore[no-untyped-call]
    optimiser.step()
    after = built.state_dict()
    assert {t.dtype for t in after.values()} == {torch.float32}
    assert any(not torch.equal(after[key], before[key]) for key in after)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@each
def test_a_gpu_gives_nearly_the_same_inside(name: str) -> None:
    here = network(name).eval()
    there = copy.deepcopy(here).to("cuda")
    shown, found = here.inside(words("cpu")), there.inside(words("cuda"))
    assert torch.allclose(found.logits.cpu(), shown.logits, atol=1e-3)
    for ours, theirs in zip(found.attention, shown.attention, strict=True):
        assert torch.allclose(ours.cpu(), theirs, atol=1e-3)


@pytest.mark.sample(2)
@each
def test_a_copy_is_another_network_of_the_same_weights(name: str) -> None:
    built = network(name).eval()
    exact = built(words("cpu"))
    for other in (copy.deepcopy(built), pickle.loads(pickle.dumps(built))):
        assert torch.equal(other(words("cpu")), exact)
        with torch.no_grad():
            next(other.parameters()).add_(1.0)
        other.inside(words("cpu"))
        assert torch.equal(built(words("cpu")), exact)


@pytest.mark.sample(2)
@each
def test_inference_mode_changes_nothing(name: str) -> None:
    built = network(name).eval()
    exact = built(words("cpu"))
    with torch.inference_mode():
        torch.testing.assert_close(built(words("cpu")), exact)
        built.inside(words("cpu"))
    assert built(words("cpu")).requires_grad
