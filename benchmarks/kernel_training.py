"""Temporal order and mixing: compiled and trained networks beside what is possible at all.

    python benchmarks/kernel_training.py              the table of docs/kinds/kernels.md
    python benchmarks/kernel_training.py --seconds 0  the same, and trains nothing

Tables 2 and 3 of Jiang and Li, three seeds. Results are in results/kernel_training, a row
for each network.

Inputs are uniform on [0, 1], T = 32. Trained are a linear RNN of 128 units and a one-layer
Transformer of the paper's form: f̂ and F̂ of 3 hidden layers of 128 ReLUs, one head of 32
dimensions that sees all positions, codes of positions that are learned. Adam on batches of
64 new inputs, the rate falling to 0 by half a cosine: from 1e-2 for an RNN, over 1,500
steps; from 2e-3 for a Transformer, over 6,000, which stands still for thousands of steps
and then falls. Errors are mean squares over 4,096 other inputs and all positions.
"""

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Literal, NamedTuple

import numpy as np
import torch
from experiment import cpu_time, rows_of, timed
from report import Row, Table, publish
from torch import Tensor, nn

import krohn
from krohn.algebra.errors import KrohnError
from krohn.instruments.compare.training.provenance import content_name
from krohn.kinds.kernels.source import Kernel
from krohn.kinds.kernels.source_kernel import (
    causal_floor,
    errors,
    invariant_floor,
)
from krohn.source_kinds import find_source_to_compile
from krohn.source_kinds.real_sequences import run_network

CASES = {
    "Exp32": "original",
    "Exp32:swap=10": "ordering",
    "Exp32:mix=5@1": "mixing",
    "RanKernel32@1": "original",
    "RanKernel32@1:swap=10": "ordering",
}
PRINTED = {
    "Exp32": ("1.0e-07", "2.2e-05"),
    "Exp32:swap=10": ("3.6e-02", "2.5e-05"),
    "Exp32:mix=5@1": ("1.6e-07", "2.4e-04"),
    "RanKernel32@1": ("5.6", "5.4e-04"),
    "RanKernel32@1:swap=10": ("5.2", "5.4e-04"),
}
"""What the paper has for an RNN and a Transformer, of other random numbers than here."""
Kind = Literal["RNN", "Transformer"]
PLANS: dict[tuple[Kind, int], range] = {
    ("Transformer", 6000): range(3),
    ("RNN", 1500): range(3),
    ("Transformer", 1500): range(1),
}
"""Kinds of networks and steps of training, with their seeds."""
RATES: dict[Kind, float] = {"RNN": 1e-2, "Transformer": 2e-3}
BATCH, TESTED, ENOUGH = 64, 4096, 1e-3


class Cell(NamedTuple):
    """A network that is trained."""

    kernel: str
    kind: Kind
    steps: int
    seed: int

    @property
    def name(self) -> str:
        """Of its row in the table of results."""
        return content_name(self._asdict())


CELLS = [
    Cell(name, *plan, seed)
    for plan, seeds in PLANS.items()
    for seed in seeds
    for name in CASES
]


class Recurrent(nn.Module):
    """h_t = W h_{t−1} + U x_t + b, ŷ_t = C h_t + d, as the kernel that it is.

    C W^s U is made once for all inputs: the same function and the same gradients as step by
    step, with far less work.
    """

    def __init__(self, units: int = 128) -> None:
        super().__init__()
        self.matrix = nn.Parameter(nn.init.orthogonal_(torch.empty(units, units)) * 0.9)
        self.enter = nn.Parameter(torch.randn(units, 2) / units**0.5)
        self.leave = nn.Parameter(torch.randn(units) / units**0.5)
        self.shift = nn.Parameter(torch.zeros(1))

    def forward(self, x: Tensor) -> Tensor:
        """``(batch, T)`` to ``(batch, T)``."""
        size, hidden, said = x.shape[1], self.enter, []
        for _ in range(size):
            said.append(self.leave @ hidden)
            hidden = self.matrix @ hidden
        kernel, offsets = torch.stack(said, dim=1)
        back = torch.arange(size)[:, None] - torch.arange(size)
        rows = torch.where(back >= 0, kernel[back.clamp(min=0)], 0.0)
        return x @ rows.T + offsets.cumsum(0) + self.shift


class Attention(nn.Module):
    """F̂(Σ softmax[W_Q f̂ · W_K f̂] W_V f̂) of an input with the code of its position."""

    def __init__(self, size: int, width: int = 32) -> None:
        super().__init__()
        self.enter = nn.Linear(1, width)
        self.code = nn.Parameter(torch.randn(size, width))
        self.features, self.output = _mlp(width, width), _mlp(width, 1)
        self.query, self.key, self.value = (
            nn.Linear(width, width, bias=False) for _ in range(3)
        )

    def forward(self, x: Tensor) -> Tensor:
        """``(batch, T)`` to ``(batch, T)``."""
        held = self.features(self.enter(x[:, :, None]) + self.code)
        scores = self.query(held) @ self.key(held).transpose(1, 2)
        mean = torch.softmax(scores, dim=2) @ self.value(held)
        found: Tensor = self.output(mean)[:, :, 0]
        return found


def _mlp(first: int, last: int, width: int = 128) -> nn.Sequential:
    return nn.Sequential(
        nn.Linear(first, width),
        nn.ReLU(),
        nn.Linear(width, width),
        nn.ReLU(),
        nn.Linear(width, width),
        nn.ReLU(),
        nn.Linear(width, last),
    )


NETWORKS: dict[Kind, Callable[[int], nn.Module]] = {
    "RNN": lambda _: Recurrent(),
    "Transformer": Attention,
}


def kernel_of(name: str) -> Kernel:
    """A kernel with inputs on [0, 1]."""
    found = find_source_to_compile(name)
    assert found is not None
    kernel: Kernel = replace(found[1], inputs=(0.0, 1.0))
    return kernel


def trained(cell: Cell) -> Row:
    """The error of a network after training."""
    began, kernel = time.process_time(), kernel_of(cell.kernel)
    torch.manual_seed(cell.seed)
    network = NETWORKS[cell.kind](kernel.length)
    matrix = torch.from_numpy(kernel.matrix()).float()
    random = torch.Generator().manual_seed(cell.seed)
    adam = torch.optim.Adam(network.parameters(), lr=RATES[cell.kind])
    falling = torch.optim.lr_scheduler.CosineAnnealingLR(adam, cell.steps)
    for _ in range(cell.steps):
        x = torch.rand(BATCH, kernel.length, generator=random)
        loss = ((network(x) - x @ matrix.T) ** 2).mean()
        adam.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        adam.step()
        falling.step()
    inputs = tested(kernel)
    with torch.no_grad():
        outputs = network(torch.from_numpy(inputs).float()).double().numpy()
    seconds = round(time.process_time() - began, 1)
    error = errors(outputs, kernel, inputs)
    return cell._asdict() | {"error": error, "cpu_seconds": seconds}


def tested(kernel: Kernel) -> np.ndarray:
    """``(count, T)``: inputs that nothing was trained on."""
    return np.random.default_rng(99).uniform(0, 1, (TESTED, kernel.length))


def compiled(kernel: Kernel, arch: str) -> float | None:
    """The error of a compiled network; None if there is none."""
    try:
        model = krohn.compile(kernel, arch=arch)
    except KrohnError:
        return None
    inputs = tested(kernel)
    outputs = run_network(model.file, inputs[:, :, None])[:, :, 0]
    return errors(outputs, kernel, inputs)


def row(name: str, known: dict[Cell, Row]) -> Row:
    """A kernel, and the networks that are trained and compiled for it."""
    kernel = kernel_of(name)
    found: Row = {
        "kernel": f"`{name}`",
        "change": CASES[name],
        "any causal network, at least": causal_floor(kernel),
        "one kernel, at least": invariant_floor(kernel),
    }
    said = ("RNN, in the paper", "Transformer, in the paper")
    found |= zip(said, PRINTED[name], strict=True)
    for kind, steps in sorted(PLANS):
        own = [row for cell, row in known.items() if cell[:3] == (name, kind, steps)]
        errors_of = ", ".join(f"{row['error']:.1e}" for row in own)
        found[f"{kind}, {steps:,} steps"] = errors_of or None
    found["RNN, compiled"] = compiled(kernel, "rnn")
    found["Transformer, compiled"] = compiled(kernel, "transformer")
    return found


def note(known: dict[Cell, Row]) -> str:
    """What was trained, how long that took, and which Transformers are far off."""
    far = [
        f"{c.kernel}, seed {c.seed} ({row['error']:.1e} after {c.steps:,} steps)"
        for c, row in known.items()
        if c.kind == "Transformer" and row["error"] > ENOUGH
    ]
    return (
        f"Mean squares of each seed. {cpu_time(known, CELLS)} "
        f"Transformers above {ENOUGH:g}: {'; '.join(far) or 'none'}."
    )


def main() -> None:
    """Train what is missing, and print the table."""
    chosen = timed(__doc__).parse_args()
    torch.set_num_threads(1)
    known = rows_of("kernel_training", CELLS, trained, chosen.seconds)
    rows = [row(name, known) for name in CASES]
    publish([Table("compiled beside trained", rows, note(known))], chosen)


if __name__ == "__main__":
    main()
