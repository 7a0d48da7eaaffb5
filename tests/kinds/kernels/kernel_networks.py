"""Files of networks of kernels, whole and damaged, and how far they are off."""

import numpy as np

from krohn.compiler.compiled_network import CompiledNetwork
from krohn.compiler.pipeline import Options
from krohn.compiler.transformer import Network
from krohn.kinds.kernels.build_attention import kernel_attention
from krohn.kinds.kernels.build_rnn import (
    Realisation,
    exact,
    network,
)
from krohn.kinds.kernels.commands import Kernels
from krohn.kinds.kernels.source import (
    Kernel,
    find_by_name,
)
from krohn.network.modelfile import ModelFile
from krohn.network.precision import PRECISIONS, FloatArray
from krohn.source_kinds.real_sequences import run_network
from krohn.verify.checker.established import Established
from krohn.verify.proof import shown_of

LARGEST = 1e300
"""An error that any network may claim."""


def of(name: str) -> Kernel:
    """The kernel of a name."""
    found = find_by_name(name)
    assert found is not None
    return found


def filed(kernel: Kernel, made: Network, dtype: str = "float64") -> ModelFile:
    """A file that claims hardly anything."""
    built = CompiledNetwork("kernel", made, {}, None)
    claim = {"length": kernel.length, "error": LARGEST}
    return Kernels().file(kernel, built, claim, Options(PRECISIONS[dtype]))


def recurrent(
    kernel: Kernel, dtype: str = "float64", way: Realisation | None = None
) -> ModelFile:
    """A linear RNN of it."""
    made = network(way or exact(kernel), PRECISIONS[dtype])
    return filed(kernel, made, dtype)


def attending(kernel: Kernel, dtype: str = "float64") -> ModelFile:
    """An attention layer of it."""
    return filed(kernel, kernel_attention(kernel, PRECISIONS[dtype]), dtype)


def shown(file: ModelFile) -> Established:
    """The facts that the checker shows."""
    return shown_of(file)


def measured(file: ModelFile, kernel: Kernel, inputs: FloatArray) -> float:
    """The largest error over inputs ``(count, T)``, and over one that is made to be bad."""
    random = np.random.default_rng(0)
    bad = Kernels().adversarial(kernel, file, 4, random)
    inputs = np.concatenate([bad, inputs[:, :, None]])
    inputs = file.precision.round(inputs)
    off = np.abs(run_network(file, inputs)[:, :, 0] - kernel.run(inputs[:, :, 0]))
    return float(off.max()) if np.isfinite(off).all() else np.inf
