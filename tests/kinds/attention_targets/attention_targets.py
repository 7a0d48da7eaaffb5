"""Targets of attention and their networks, as the tests of them need them."""

from typing import Any

import numpy as np

from krohn.kinds.attention_targets.build import attention_layer
from krohn.kinds.attention_targets.commands import AttentionTargets
from krohn.kinds.attention_targets.source_sampling import attention_target
from krohn.kinds.attention_targets.source_target import AttentionTarget
from krohn.network.modelfile import ModelFile
from krohn.network.precision import PRECISIONS, FloatArray
from krohn.source_kinds.real_sequences import batch_size, run_network
from krohn.verify.checker.established import Established
from krohn.verify.proof import shown_of

KIND = AttentionTargets()


def smooth(length: int = 8, **options: Any) -> AttentionTarget:
    """Two numbers are aggregated, and F is curved."""
    told: dict[str, Any] = {
        "rho": lambda u, v: 3 * np.exp(-((u - v) ** 2)) + u * v,
        "f": lambda x: np.stack([np.cos(3 * x), x**2 - 1], axis=1),
        "F": lambda a: a**2 + a,
        "points": 256,
        "second_derivatives": {"rho": 6, "f": 9, "F": 2},
    }
    told |= options
    if told["F"] is None and told["second_derivatives"]:
        known = {w: b for w, b in told["second_derivatives"].items() if w != "F"}
        told["second_derivatives"] = known
    return attention_target(length=length, **told)


def built(
    target: AttentionTarget, rank: int, knots: int, dtype: str = "float64"
) -> ModelFile:
    """A network, with the error that is shown of it as its claim."""
    precision = PRECISIONS[dtype]
    network = attention_layer(target, precision, rank, knots)
    header = {
        "architecture": network.architecture,
        "source": {"kind": KIND.wire, **target.to_wire()},
        "claim": {
            "kind": "within",
            "dtype": dtype,
            "length": target.length,
            "error": float(np.finfo(float).max),
        },
    }
    tensors = {n: precision.round(t) for n, t in network.tensors.items()}
    file = ModelFile(header, tensors, precision)
    header["claim"]["error"] = shown(file).error
    return file


def shown(file: ModelFile) -> Established:
    """The facts that the checker shows.

    Raises:
        Refused: If it shows nothing.
    """
    return shown_of(file)


def inputs(file: ModelFile, count: int, seed: int = 0) -> FloatArray:
    """Adversarial inputs and as many random ones, some at knots and ends."""
    target, rng = KIND.of_file(file), np.random.default_rng(seed)
    random = rng.uniform(size=(count, target.length, 1))
    grid = rng.integers(target.points + 1, size=(count, target.length, 1))
    bad = KIND.adversarial(target, file, count, rng)
    found = np.concatenate([bad, random, grid / target.points])
    return file.precision.round(found)


def measured(file: ModelFile, x: FloatArray) -> float:
    """The largest difference of the network and its target."""
    target, worst, each = KIND.of_file(file), 0.0, batch_size(file, x.shape[1])
    for at in range(0, len(x), each):
        part = x[at : at + each]
        off = np.abs(run_network(file, part) - target.run(part))
        if not np.isfinite(off).all():
            return float("inf")
        worst = max(worst, float(off.max()))
    return worst
