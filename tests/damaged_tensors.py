"""Model files with one tensor damaged, in one entry, some units or as a whole."""

from dataclasses import replace

import numpy as np

from krohn.network.architecture import is_index
from krohn.network.modelfile import ModelFile
from krohn.network.precision import FloatArray

WHOLE = ("scale", "swap rows", "swap columns", "negate all")
SINGLE = ("zero", "negate", "nudge", "more", "not a number", "infinite", "copy")


def mutant(file: ModelFile, seed: int) -> ModelFile:
    """The file with one tensor damaged, in one entry, some units or as a whole."""
    random = np.random.default_rng(seed)
    name = str(random.choice([n for n in sorted(file.tensors) if not is_index(n)]))
    tensor = file.tensors[name].copy()
    kind = str(random.choice(WHOLE + SINGLE if tensor.any() else SINGLE))
    if kind in WHOLE:
        tensor = _whole(tensor, kind, random)
    else:
        _single(tensor, kind, random)
    rounded = file.precision.round(tensor)
    return replace(file, tensors={**file.tensors, name: rounded})


def _whole(tensor: FloatArray, kind: str, random: np.random.Generator) -> FloatArray:
    if kind == "negate all":
        return -tensor
    if kind == "swap rows" and len(tensor) > 1:
        a, b = random.choice(len(tensor), 2, replace=False)
        tensor[[a, b]] = tensor[[b, a]]
        return tensor
    if kind == "swap columns" and tensor.shape[-1] > 1:
        a, b = random.choice(tensor.shape[-1], 2, replace=False)
        tensor[..., [a, b]] = tensor[..., [b, a]]
        return tensor
    return tensor * (1 + random.choice([-1, 1]) * 2.0 ** -random.integers(1, 40))


def _single(tensor: FloatArray, kind: str, random: np.random.Generator) -> None:
    flat = tensor.reshape(-1)
    held, free = np.flatnonzero(flat), np.flatnonzero(flat == 0)
    few = len(free) and (not len(held) or random.random() < 0.3)
    at, other = random.choice(free if few else held), random.choice(len(flat))
    flat[at] = {
        "zero": 0.0,
        "negate": -flat[at],
        "nudge": flat[at] * (1 + 2.0 ** -random.integers(2, 50)),
        "more": flat[at] + 2.0 ** -random.integers(0, 40),
        "not a number": np.nan,
        "infinite": np.inf,
        "copy": flat[other],
    }[kind]
