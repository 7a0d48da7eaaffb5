"""Linear recurrences, banded and dense, step by step."""

import numpy as np
import pytest
import torch

from krohn.architectures.linear_recurrence import meaning as declared
from krohn.architectures.linear_recurrence.engine import LinearRecurrence
from krohn.architectures.linear_recurrence.statement import LinearRecurrence as Declared
from krohn.network import ModelFileError
from krohn.network.architecture import expected_shapes
from krohn.network.meaning.arrays import Arrays

BASE = {"kind": "linear-recurrence", "dtype": "float64", "inputs": 2, "outputs": 3}


@pytest.mark.parametrize("units", [1, 2, 3, 5])
def test_bands_are_a_matrix(units: int) -> None:
    random = np.random.default_rng(units)
    shapes = expected_shapes({**BASE, "form": "banded", "hidden": units})
    tensors = {
        n: torch.from_numpy(random.uniform(-0.4, 0.4, s)) for n, s in shapes.items()
    }
    matrix = torch.zeros(units, units, dtype=torch.float64)
    for i in range(units):
        for band, near in (("own", i), ("before", i - 1), ("after", i + 1)):
            matrix[near % units, i] += tensors[f"hidden.{band}"][i]
    dense = {n: t for n, t in tensors.items() if "hidden" not in n}
    dense["hidden.weight"] = matrix
    x = torch.from_numpy(random.uniform(-1, 1, (4, 9, 2)))
    shape = {**BASE, "hidden": units}
    first = LinearRecurrence({**shape, "form": "banded"}, tensors)(x)
    second = LinearRecurrence({**shape, "form": "dense"}, dense)(x)
    assert first.shape == (4, 9, 3)
    assert torch.allclose(first, second, atol=1e-14)
    hidden = torch.zeros(4, units, dtype=torch.float64)
    for t in range(9):
        hidden = hidden @ matrix + x[:, t] @ dense["input.weight"]
    last = hidden @ dense["unembed.weight"] + x[:, 8] @ dense["skip.weight"]
    assert torch.allclose(second[:, 8], last, atol=1e-14)


@pytest.mark.parametrize("form", ["banded", "dense"])
def test_numpy_computes_what_torch_does(form: str) -> None:
    stated = {**BASE, "form": form, "hidden": 5}
    shape, random = Declared.of(stated), np.random.default_rng(0)
    tensors = {n: random.uniform(-0.4, 0.4, s) for n, s in shape.shapes.items()}
    x = random.uniform(-1, 1, (4, 9, 2))
    net, held = declared.LinearRecurrence.of(shape, tensors), np.zeros((4, 5))
    found = []
    for given in x.swapaxes(0, 1):
        said, held = declared.after(Arrays(), net, given, held)
        found.append(said)
    given = {n: torch.from_numpy(tensor) for n, tensor in tensors.items()}
    right = LinearRecurrence(stated, given)(torch.from_numpy(x)).numpy()
    assert np.abs(np.stack(found, axis=1) - right).max() < 1e-14


def test_a_start_is_where_it_begins() -> None:
    """After an input of 0 the state is that of h_0, as if h_0 = U x_0 for some x_0."""
    stated = {**BASE, "form": "dense", "hidden": 2, "kind": "started-recurrence"}
    random = np.random.default_rng(0)
    tensors = {
        n: torch.from_numpy(random.uniform(-0.4, 0.4, s))
        for n, s in expected_shapes(stated).items()
    }
    x = torch.from_numpy(random.uniform(-1, 1, (4, 9, 2)))
    plain = {n: t for n, t in tensors.items() if n != "hidden.start"}
    first = torch.linalg.solve(plain["input.weight"].T, tensors["hidden.start"])
    later = torch.cat([first.expand(4, 1, 2), x], dim=1)
    without = LinearRecurrence({**stated, "kind": "linear-recurrence"}, plain)(later)
    assert torch.allclose(LinearRecurrence(stated, tensors)(x), without[:, 1:])
    for kind, held in (("linear-recurrence", tensors), ("started-recurrence", plain)):
        with pytest.raises(ModelFileError, match=r"hidden\.start"):
            LinearRecurrence({**stated, "kind": kind}, held)


@pytest.mark.parametrize("said", [{"form": "round"}, {"hidden": 0}, {"inputs": True}])
def test_other_shapes_are_refused(said: dict[str, object]) -> None:
    with pytest.raises(ModelFileError, match="damaged"):
        expected_shapes({**BASE, "form": "banded", "hidden": 3, **said})
