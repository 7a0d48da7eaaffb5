"""Networks of kernels: how far they are off, beside what is proved of them."""

import numpy as np
from report import Row, Table, each, parser, publish

import krohn
from krohn.kinds.kernels.commands import Kernels
from krohn.kinds.kernels.source import Kernel
from krohn.network.architecture import kind_of
from krohn.source_kinds import find_source_to_compile
from krohn.source_kinds.real_sequences import run_network

CASES: tuple[tuple[str, str, str, float | None], ...] = (
    ("Exp32", "rnn", "float64", None),
    ("Exp32", "rnn", "float32", None),
    ("Exp256,64", "rnn", "float64", None),
    ("Mean32,5", "rnn", "float64", None),
    ("RanKernel32@1", "rnn", "float64", None),
    ("RanKernel32@1", "rnn", "float64", 0.1),
    ("Exp32:mix=5@1", "rnn", "float64", None),
    ("Power64,1", "rnn", "float64", None),
    ("Power64,1", "rnn", "float64", 1e-2),
    ("Power64,1", "rnn", "float64", 1e-4),
    ("Power512,1", "rnn", "float64", 1e-4),
    ("Power512,1", "rnn", "float32", 1e-2),
    ("Exp32", "transformer", "float64", None),
    ("Exp32", "transformer", "float32", None),
    ("Exp32:mix=5@1", "transformer", "float64", None),
    ("Exp32:swap=10", "transformer", "float64", None),
    ("RanKernel32@1", "transformer", "float64", None),
    ("RanKernel32@1:swap=10", "transformer", "float64", None),
    ("Power64,1", "transformer", "float64", None),
)
INPUTS = 3000


def kernel_of(name: str) -> Kernel:
    """The kernel of a name."""
    found = find_source_to_compile(name)
    assert found is not None
    kernel = found[1]
    assert isinstance(kernel, Kernel)
    return kernel


def row(case: tuple[str, str, str, float | None]) -> Row:
    """A network beside its kernel."""
    name, arch, dtype, within = case
    kernel = kernel_of(name)
    model = krohn.compile(name, arch=arch, dtype=dtype, within=within)
    file, error = model.file, model.file.header["claim"]["error"]
    random = np.random.default_rng(0)
    bad = Kernels().adversarial(kernel, file, INPUTS // 2, random)
    inputs = np.concatenate(
        [bad, kernel.sample_inputs(INPUTS // 2, random)[:, :, None]]
    )
    inputs = file.precision.round(inputs)
    off = float(
        np.abs(run_network(file, inputs)[:, :, 0] - kernel.run(inputs[:, :, 0])).max()
    )
    shape = file.header["architecture"]
    return {
        "kernel": f"`{name}`",
        "network": arch,
        "format": dtype,
        "asked": within,
        "width": kind_of(shape).width(shape),
        "measured": off,
        "proved": error,
        "×": error / off if off else None,
    }


def main() -> None:
    """Print the table."""
    options = parser(__doc__).parse_args()
    publish([Table("measured and proved errors", each(row, CASES))], options)


if __name__ == "__main__":
    main()
