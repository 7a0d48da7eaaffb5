"""Temporal order and mixing: compiled and trained networks beside what is possible at all.

Tables 2 and 3 of Jiang and Li, with seed 0 or those that are named.

Inputs are uniform on [0, 1], T = 32. Trained are a linear RNN of 128 units and a one-layer
Transformer of the paper's form: f̂ and F̂ of 3 hidden layers of 128 ReLUs, one head of 32
dimensions that sees all positions, codes of positions that are learned. Adam, 1,500 steps
of 64 new inputs, the rate falling from 2e-3 (RNN: 1e-2) to 0 by half a cosine: less than a
minute each on one core. Errors are mean squares over 4,096 other inputs and all positions.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import torch
from report import Row, Table, each, parser, publish
from torch import Tensor, nn

import krohn
from krohn.algebra.errors import KrohnError
from krohn.kinds.kernels.source import Kernel
from krohn.kinds.kernels.source_kernel import (
    causal_floor,
    errors,
    invariant_floor,
)
from krohn.source_kinds import find_source_to_compile
from krohn.source_kinds.real_sequences import run_network

CASES = (
    ("Exp32", "original"),
    ("Exp32:swap=10", "ordering"),
    ("Exp32:mix=5@1", "mixing"),
    ("RanKernel32@1", "original"),
    ("RanKernel32@1:swap=10", "ordering"),
)
STEPS, BATCH, TESTED = 1500, 64, 4096


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


def trained(network: nn.Module, kernel: Kernel, seed: int, rate: float) -> float:
    """The error of a network after training."""
    matrix = torch.from_numpy(kernel.matrix()).float()
    random = torch.Generator().manual_seed(seed)
    adam = torch.optim.Adam(network.parameters(), lr=rate)
    falling = torch.optim.lr_scheduler.CosineAnnealingLR(adam, STEPS)
    for _ in range(STEPS):
        x = torch.rand(BATCH, kernel.length, generator=random)
        loss = ((network(x) - x @ matrix.T) ** 2).mean()
        adam.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        adam.step()
        falling.step()
    inputs = tested(kernel)
    with torch.no_grad():
        found = network(torch.from_numpy(inputs).float()).double().numpy()
    return errors(found, kernel, inputs)


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


def row(seeds: Sequence[int], case: tuple[str, str]) -> Row:
    """A kernel, and the networks that are trained and compiled for it."""
    name, change = case
    found = find_source_to_compile(name)
    assert found is not None
    kernel = replace(found[1], inputs=(0.0, 1.0))
    recurrent, attending = list[str](), list[str]()
    for seed in seeds:
        torch.manual_seed(seed)
        recurrent.append(f"{trained(Recurrent(), kernel, seed, 1e-2):.1e}")
        attention = Attention(kernel.length)
        attending.append(f"{trained(attention, kernel, seed, 2e-3):.1e}")
    return {
        "kernel": f"`{name}`",
        "change": change,
        "any causal network, at least": causal_floor(kernel),
        "one kernel, at least": invariant_floor(kernel),
        "RNN, trained": ", ".join(recurrent),
        "Transformer, trained": ", ".join(attending),
        "RNN, compiled": compiled(kernel, "rnn"),
        "Transformer, compiled": compiled(kernel, "transformer"),
    }


def main() -> None:
    """Print the table."""
    options = parser(__doc__)
    options.add_argument("seeds", nargs="*", type=int, default=[0])
    chosen = options.parse_args()
    torch.set_num_threads(1)
    rows = each(partial(row, chosen.seeds), CASES)
    publish([Table("compiled beside trained", rows)], chosen)


if __name__ == "__main__":
    main()
