"""Steps in the place of units that pass noise on."""

import numpy as np
import pytest

import krohn
from krohn.architectures.disguise.build_layout import (
    Tensors,
    apart,
    list_stored_channels,
    replace_units_by_steps,
)

LENGTH = 6


def read(tensors: Tensors, block: int, x: np.ndarray) -> np.ndarray:
    """What an MLP adds."""
    at = f"blocks.{block}.mlp"
    units = np.maximum(x @ tensors[f"{at}.0.weight"] + tensors[f"{at}.0.bias"], 0)
    return np.asarray(units @ tensors[f"{at}.1.weight"] + tensors[f"{at}.1.bias"])


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", ["S4", "D6", "FFL2", "C2xC2", "regex:(ab|ba)*c"])
def test_new_variables_are_the_same_and_take_no_noise(name: str) -> None:
    """Noise of 1/64 in all that is read by tables of one-hot variables is not written."""
    file = krohn.compile(
        name, LENGTH, strict=True, construction="sequential", proof=False
    ).file
    header, plain = apart(file.header, file.tensors)
    told, steps = replace_units_by_steps(header, plain)
    rng, program = np.random.default_rng(0), header["program"]
    for b, block in enumerate(told["architecture"]["blocks"]):
        assert block["mlp"] == [len(steps[f"blocks.{b}.mlp.0.bias"])]
        x = np.zeros((500, header["architecture"]["d_model"]))
        noisy = np.zeros_like(x)
        for c in list_stored_channels(program, 2 * b + 1):
            at, values = slice(*c["dims"]), rng.choice(c["domain"], len(x))
            wide = at.stop - at.start
            one_hot = c["code"] == "one-hot"
            x[:, at] = np.eye(wide)[values] if one_hot else values[:, None]
            noisy[:, at] = rng.uniform(-1, 1, (len(x), wide)) / 64
        right = read(plain, b, x)
        assert np.allclose(read(steps, b, x), right, atol=1e-6)
        born = [
            d
            for c in program["channels"]
            if "dims" in c and c["snapshots"][0] == 2 * b + 2
            for d in range(*c["dims"])
        ]
        assert np.allclose(read(steps, b, x + noisy)[:, born], right[:, born])
        gone = np.setdiff1d(np.arange(x.shape[1]), born)
        same = read(plain, b, x + noisy)[:, gone], read(steps, b, x + noisy)[:, gone]
        assert np.allclose(*same, atol=1e-6)  # what is erased is taken as it is
