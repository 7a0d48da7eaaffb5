"""Several heads over real inputs, with a start: by torch, numpy and the formula."""

from typing import Any

import mpmath
import numpy as np
import pytest
import torch
from many_digits import DIGITS, ManyDigits, exact, near

from krohn.architectures.multihead_attention import meaning as declared
from krohn.architectures.multihead_attention.engine import MultiheadAttention
from krohn.architectures.multihead_attention.statement import (
    MultiheadAttention as Declared,
)
from krohn.network import ModelFileError
from krohn.network.meaning.arrays import Arrays, points
from krohn.network.meaning.engine import Engine
from krohn.program.domains import FloatArray

STATED = {"kind": "multihead-attention", "length": 7, "inputs": 2, "codes": 3}
STATED |= {"dtype": "float64", "heads": 3, "d_qk": 4, "d_v": 2, "outputs": 3}
SHAPE = Declared.of(STATED)
RANDOM = np.random.default_rng(0)
TENSORS: dict[str, FloatArray] = {
    name: RANDOM.standard_normal(size) for name, size in SHAPE.shapes.items()
}
X = RANDOM.standard_normal((4, 6, 2))


def by_hand(x: FloatArray) -> FloatArray:
    """The formula, position by position and head by head."""
    t, said = TENSORS, np.zeros((len(x), 3))
    features = np.vstack([t["start"], np.hstack([x, t["code"][: len(x)]])])
    for i in range(len(x)):
        for h in range(3):
            seen = features[: i + 2]
            key, value = (seen @ t[f"attention.{name}"][h] for name in ("key", "value"))
            score = key @ (features[i + 1] @ t["attention.query"][h])
            weight = np.exp(score - score.max())
            said[i] += weight @ value / weight.sum() @ t["attention.output"][h]
    return said


RIGHT = np.stack([by_hand(x) for x in X])


def by_engine(o: Engine, tensors: Any, x: Any) -> Any:
    return declared.through(
        o, declared.MultiheadAttention.of(SHAPE, tensors), x, points(x)
    )


def module(dtype: torch.dtype = torch.float64) -> MultiheadAttention:
    tensors = {name: torch.from_numpy(t).to(dtype) for name, t in TENSORS.items()}
    return MultiheadAttention(STATED, tensors)


@pytest.mark.parametrize(
    ("dtype", "most"), [(torch.float64, 1e-12), (torch.float32, 1e-4)]
)
def test_torch_computes_the_formula(dtype: torch.dtype, most: float) -> None:
    found = module(dtype)(torch.from_numpy(X).to(dtype)).double().numpy()
    assert np.abs(found - RIGHT).max() < most


def test_all_engines_compute_it() -> None:
    assert np.abs(by_engine(Arrays(), TENSORS, X) - RIGHT).max() < 1e-12
    with mpmath.workdps(DIGITS):
        tensors = {name: exact(tensor) for name, tensor in TENSORS.items()}
        assert np.abs(
            near(by_engine(ManyDigits(), tensors, exact(X))) - RIGHT
        ).max() < (1e-12)


@pytest.mark.parametrize("size", [(1, 8, 2), (1, 0, 2), (1, 3, 5)])
def test_other_inputs_are_refused(size: tuple[int, ...]) -> None:
    with pytest.raises(ModelFileError, match="up to 7 vectors"):
        module()(torch.zeros(size, dtype=torch.float64))
