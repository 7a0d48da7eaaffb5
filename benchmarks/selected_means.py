"""Nearest points, centres of gravity, selections: compiled networks beside trained ones.

    python benchmarks/selected_means.py              trains, and prints the table
    python benchmarks/selected_means.py --seconds 0  the same, and trains nothing

The trained ones are attention layers too, wider than the compiled ones, and see the same
inputs; they are trained on fresh inputs only. Results are in results/selected_means.
"""

import time
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import torch
from experiment import cpu_time, rows_of, timed
from report import Row, Table, publish

import krohn
from krohn.architectures.attention_layer.engine import AttentionLayer
from krohn.instruments.compare.training.provenance import content_name
from krohn.kinds.attention_targets.commands_selected_means import SelectedMeans
from krohn.kinds.attention_targets.source_selected_means import (
    SelectedMean,
    find_by_name,
)
from krohn.network.architecture import expected_shapes
from krohn.network.precision import FloatArray
from krohn.source_kinds.real_sequences import run_network

NAMES = ("Nearest6", "Gravity10", "Select8")
KIND = SelectedMeans()
FEATURES, HEAD, UNITS = 32, 16, [64, 64]
STEPS, BATCH, RATE, TESTED = 3000, 64, 3e-3, 1000
SEEDS, UNSEEN = (0, 2, 3), 1
"""Of training, and of the inputs that networks are measured on."""


class Cell(NamedTuple):
    """A network that is trained."""

    target: str
    seed: int

    @property
    def name(self) -> str:
        """Of its row in the table of results."""
        return content_name(self._asdict() | {"steps": STEPS})


CELLS = [Cell(name, seed) for seed in SEEDS for name in NAMES]


def source_of(name: str) -> SelectedMean:
    """The target of a name."""
    found = find_by_name(name)
    assert found is not None
    return found


def fresh(source: SelectedMean, count: int, rng: np.random.Generator) -> FloatArray:
    """Random inputs of full length."""
    return KIND.sample_vectors(source, (count, source.length), rng)


def layer(source: SelectedMean, codes: FloatArray | None, seed: int) -> AttentionLayer:
    """A layer with torch's usual start, and the codes of the compiled one."""
    shape = {
        "length": source.length,
        "inputs": len(source.columns),
        "codes": 0 if codes is None else codes.shape[1],
        "features": FEATURES,
        "features_units": UNITS,
        "d_qk": HEAD,
        "d_v": FEATURES,
        "memory": 0,
        "causal": False,
        "output_units": UNITS,
        "outputs": source.values,
        "kind": "attention-layer",
    }
    generator, tensors = torch.Generator().manual_seed(seed), {}
    for name, size in expected_shapes(shape).items():
        fan = size[0] if len(size) == 2 else expected_shapes(shape)[_weight(name)][0]
        tensors[name] = (2 * torch.rand(size, generator=generator) - 1) * fan**-0.5
    if codes is not None:
        tensors["code"] = torch.from_numpy(codes).float()
    return AttentionLayer(shape, tensors).requires_grad_(True)


def _weight(name: str) -> str:
    return name.replace("bias", "weight")


def trained(cell: Cell) -> Row:
    """The errors of a network after training, on fresh inputs."""
    began, source = time.process_time(), source_of(cell.target)
    codes = krohn.compile(cell.target).file.tensors.get("code")
    network = layer(source, codes, cell.seed)
    rng = np.random.default_rng(cell.seed)
    optimiser = torch.optim.Adam(network.parameters(), lr=RATE)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, RATE, total_steps=STEPS)
    for _ in range(STEPS):
        x = fresh(source, BATCH, rng)
        wanted = torch.from_numpy(source.run(x)).float()
        loss = (network(torch.from_numpy(x).float()) - wanted).square().mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        schedule.step()
    x = tested(source)
    with torch.no_grad():
        outputs = network(torch.from_numpy(x).float()).double().numpy()
    off = outputs - source.run(x)
    return cell._asdict() | {
        "parameters": sum(p.numel() for p in network.parameters()),
        "square": float((off**2).mean()),
        "largest": float(np.abs(off).max()),
        "cpu_seconds": round(time.process_time() - began, 1),
    }


def tested(source: SelectedMean) -> FloatArray:
    """Inputs that nothing was trained on."""
    return fresh(source, TESTED, np.random.default_rng(UNSEEN))


def beside(name: str, own: Iterable[Row]) -> Row:
    """The errors of compiled and trained networks on the same fresh inputs."""
    source, model, rows = source_of(name), krohn.compile(name), list(own)
    x = tested(source)
    right = source.run(x)
    compiled = run_network(model.file, x) - right
    return {
        "target": name,
        "compiled, parameters": sum(t.size for t in model.file.tensors.values()),
        "largest error": f"{np.abs(compiled).max():.1e}",
        "proved": f"{model.file.header['claim']['error']:.1e}",
        "trained, parameters": ", ".join({f"{row['parameters']:,}" for row in rows}),
        "mean square": ", ".join(f"{row['square']:.1e}" for row in rows),
        "of always the mean": f"{right.var():.1e}",
        "largest error, trained": ", ".join(f"{row['largest']:.2f}" for row in rows),
    }


def main() -> None:
    """Train what is missing, and print the table."""
    chosen = timed(__doc__).parse_args()
    torch.set_num_threads(1)
    known = rows_of("selected_means", CELLS, trained, chosen.seconds)
    rows = [
        beside(name, (row for cell, row in known.items() if cell.target == name))
        for name in NAMES
    ]
    note = f"Of each seed. {cpu_time(known, CELLS)}"
    publish([Table("compiled beside trained", rows, note)], chosen)


if __name__ == "__main__":
    main()
