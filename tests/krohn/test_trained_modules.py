"""A verdict about a module of torch is about its tensors, and says so, or it is refused."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from trained_networks import NETWORKS, file_of

import krohn
from krohn.algebra.errors import KrohnError

NAME = "Tomita1-rnn8"
MACHINE, OBSERVATION = NETWORKS[NAME]


class Net(nn.Module):
    """A network that is proved, as somebody writes it."""

    def __init__(self, layer: type[nn.RNN] = nn.RNN) -> None:
        super().__init__()
        self.layer = layer(2, 8, batch_first=True)
        self.drop = nn.Dropout(0.1)
        self.head = nn.Linear(8, 2)
        tensors = {n: torch.tensor(t) for n, t in file_of(NAME).tensors.items()}
        with torch.no_grad():
            for name, parameter in self.layer.named_parameters():
                parameter.copy_(tensors[f"recurrent.{name}"])
            self.head.weight.copy_(tensors["unembed.weight"].T)
            self.head.bias.copy_(tensors["unembed.bias"])
        self.eval()

    def forward(self, letters: Tensor) -> Tensor:
        x = nn.functional.one_hot(letters, 2).float()
        said: Tensor = self.head(self.drop(self.layer(x)[0]))
        return said


class Later(Net):
    """One whose own forward pass does something else, in words that nobody runs."""

    def forward(self, letters: Tensor) -> Tensor:
        said = super().forward(letters)
        return said + (torch.arange(letters.shape[1]) > 1500).float()[:, None]


class Remembering(Net):
    """One that remembers how often it was called, and says something else from then on."""

    calls = 0

    def forward(self, letters: Tensor) -> Tensor:
        type(self).calls += 1
        return super().forward(letters) * (1 if self.calls < 1000 else -1)


class Cell(nn.Module):
    """Parameters by the names of torch's layer, and code of its own."""

    def __init__(self, layer: nn.RNN) -> None:
        super().__init__()
        for name, parameter in layer.named_parameters():
            self.register_parameter(name, parameter)

    def forward(self, x: Tensor) -> tuple[Tensor]:
        h, seen = x.new_zeros(len(x), 8), []
        own = self._parameters
        for letter in x.unbind(1):
            now = letter @ own["weight_ih_l0"].T + h @ own["weight_hh_l0"].T  # type: ignore[union-attr]
            h = (now + own["bias_ih_l0"] + own["bias_hh_l0"]).tanh()  # type: ignore[operator]
            seen.append(h)
        return (torch.stack(seen, dim=1),)


class Handmade(Net):
    """One without a layer of torch's."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = Cell(self.layer)  # type: ignore[assignment]


def with_closure() -> nn.Module:
    more = torch.tensor([1e-9, 0.0])

    class Closed(Net):
        def forward(self, letters: Tensor) -> Tensor:
            return super().forward(letters) + more

    return Closed()


@pytest.mark.slow
@pytest.mark.parametrize("make", [Net, Later, Remembering, Handmade, with_closure])
def test_a_verdict_about_a_module_is_about_its_tensors(
    make: Callable[[], nn.Module], tmp_path: Path
) -> None:
    net = make()
    report = krohn.verify(net, MACHINE, observe=OBSERVATION)
    about = (
        f"the tensors of {type(net).__name__}, run by torch.nn.RNN and a linear layer"
    )
    assert report.verdict == "verified"
    assert report.covers.startswith(about)
    assert about[:30] in repr(report)
    assert about in report._repr_html_()
    assert "krohn.from_torch" in report.to_object()["notes"][-1]
    same = krohn.verify(net.state_dict(), MACHINE, observe=OBSERVATION)
    assert report.covers.endswith(same.covers)
    assert same.covers.startswith("right on all words of every length")


def test_so_is_one_that_refutes_it() -> None:
    report = krohn.verify(Net(), "C2")
    assert report.verdict == "refuted"
    assert report.reason.startswith("the tensors of Net, run by torch.nn.RNN")


@pytest.mark.slow
def test_the_network_that_runs_the_tensors_alone(tmp_path: Path) -> None:
    net = Later()
    model = krohn.from_torch(net, MACHINE, observe=OBSERVATION)
    assert model.proof is not None
    assert model.proof.verdict == "verified"
    words = torch.randint(2, (2, 1600), generator=torch.Generator().manual_seed(0))
    own, right = net(words), Net()(words)
    # How sums are rounded depends on the processor.
    assert torch.allclose(model.network(words), right, atol=1e-5)
    assert not torch.allclose(own, right, atol=0.5)
    path = tmp_path / "net.safetensors"
    model.save(path)
    assert krohn.verify(path).verdict == "verified"
    assert krohn.load(path).run(["1", "1", "0"]) == ["accept", "accept", "reject"]
    written = krohn.export(model, to="huggingface", directory=tmp_path / "exported")
    assert written.to_object()["wrong"] == 0
    with pytest.raises(KrohnError, match="no recurrent network of torch's"):
        krohn.from_torch(3, MACHINE)


@pytest.mark.sample(1)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_it_shares_no_memory_with_the_module(dtype: torch.dtype) -> None:
    net = Net().to(dtype)
    model = krohn.from_torch(net.state_dict(), MACHINE, observe=OBSERVATION)
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.fill_(1)
    assert not model.is_changed
    assert model.network(torch.zeros(1, 2, dtype=torch.long)).isfinite().all()


@pytest.mark.slow
def test_an_embedding_is_named() -> None:
    class Embedded(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.table, self.layer = nn.Embedding(2, 3), nn.GRU(3, 4, batch_first=True)
            self.head = nn.Linear(4, 2)

        def forward(self, letters: Tensor) -> Tensor:
            said: Tensor = self.head(self.layer(self.table(letters))[0])
            return said

    report = krohn.verify(Embedded(), "C2")
    assert "run by an embedding, torch.nn.GRU and a linear layer alone" in report.reason


class Own(nn.RNN):
    """A layer whose forward pass is not that of torch's."""

    def forward(self, x: Tensor, h: Any = None) -> Any:
        return super().forward(x, h)


def hooked(register: str) -> Callable[[Net], object]:
    return lambda net: getattr(net.layer, register)(lambda *_: None)


def _weights_apart(net: Net) -> None:
    net.layer._flat_weights[0] = nn.Parameter(torch.zeros(8, 2))


CHANGES: dict[str, tuple[Callable[[Net], object], str]] = {
    "a forward hook": (hooked("register_forward_hook"), "'layer' has hooks"),
    "a hook before": (hooked("register_forward_pre_hook"), "'layer' has hooks"),
    "a hook behind": (hooked("register_full_backward_hook"), "'layer' has hooks"),
    "a hook of its state": (hooked("register_state_dict_post_hook"), "has hooks"),
    "a hook of its load": (
        hooked("register_load_state_dict_post_hook"),
        "'layer' has hooks",
    ),
    "a parametrization": (
        lambda net: nn.utils.parametrizations.weight_norm(net.layer, "weight_hh_l0"),
        "derived from a layer",
    ),
    "a buffer": (
        lambda net: net.register_buffer("prior", torch.ones(2)),
        "a Net has the buffer 'prior'",
    ),
    "a buffer that is not stored": (
        lambda net: net.head.register_buffer("prior", torch.ones(2), persistent=False),
        "its part 'head' has the buffer 'prior'",
    ),
    "a tensor": (
        lambda net: setattr(net, "prior", torch.tensor([0.9, 0.0])),
        "holds numbers in 'prior'",
    ),
    "an array in a list": (
        lambda net: setattr(net, "priors", [{"a": (np.ones(2),)}]),
        "holds numbers in 'priors'",
    ),
    "another method": (
        lambda net: setattr(net, "forward", lambda x: x),
        "another 'forward'",
    ),
    "another method of a layer": (
        lambda net: setattr(net.head, "forward", lambda x: x),
        "its part 'head' has another 'forward'",
    ),
    "other weights": (_weights_apart, "runs other tensors than its parameters"),
    "training": (lambda net: net.train(), "training mode"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_runs_beside_the_parameters_is_refused(change: str) -> None:
    make, reason = CHANGES[change]
    net = Net()
    make(net)
    with pytest.raises(KrohnError, match=reason) as caught:
        krohn.verify(net, MACHINE, observe=OBSERVATION)
    assert "\n" not in str(caught.value)


def compiled_in_place() -> nn.Module:
    net = Net()
    net.compile()
    return net


WRAPPERS: dict[str, tuple[Callable[[], nn.Module], str]] = {
    "a layer of its own": (lambda: Net(Own), "of the class Own, derived from a layer"),
    "torch.jit": (
        lambda: torch.jit.trace(Net(), torch.zeros(1, 4, dtype=torch.long)),
        "compiled: give the module itself",
    ),
    "torch.compile": (lambda: torch.compile(Net()), "compiled: give the module itself"),
    "compiled in place": (compiled_in_place, "another '_compiled_call_impl'"),
}


@pytest.mark.sample(1)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("wrapper", WRAPPERS)
def test_modules_that_are_wrapped_are_refused(wrapper: str) -> None:
    make, reason = WRAPPERS[wrapper]
    with pytest.raises(KrohnError, match=reason):
        krohn.verify(make(), MACHINE, observe=OBSERVATION)


@contextmanager
def hooks_on_all() -> Iterator[None]:
    handle = nn.modules.module.register_module_forward_hook(lambda *_: None)
    try:
        yield
    finally:
        handle.remove()


def test_hooks_on_all_modules_are_refused() -> None:
    with hooks_on_all(), pytest.raises(KrohnError, match="hooks on all modules"):
        krohn.verify(Net(), MACHINE, observe=OBSERVATION)
