"""Nearest points, centres of gravity, selections: compiled networks beside trained ones.

python benchmarks/selected_means.py             the table of docs/kinds/attention_targets.md

The trained ones are attention layers too, wider than the compiled ones, and see the same
inputs; they are trained on fresh inputs only. Some minutes.
"""

import numpy as np
import torch
from report import Row, Table, each, parser, publish

import krohn
from krohn.architectures.attention_layer.engine import AttentionLayer
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


def beside(name: str) -> Row:
    """The errors of both networks on the same fresh inputs."""
    source, model = find_by_name(name), krohn.compile(name)
    assert source is not None
    network = layer(source, model.file.tensors.get("code"), seed=0)
    rng = np.random.default_rng(0)
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
    x = fresh(source, TESTED, np.random.default_rng(1))
    right = source.run(x)
    with torch.no_grad():
        trained = network(torch.from_numpy(x).float()).double().numpy() - right
    compiled = run_network(model.file, x) - right
    return {
        "target": name,
        "compiled, parameters": sum(t.size for t in model.file.tensors.values()),
        "largest error": f"{np.abs(compiled).max():.1e}",
        "proved": f"{model.file.header['claim']['error']:.1e}",
        "trained, parameters": sum(p.numel() for p in network.parameters()),
        "mean square": f"{(trained**2).mean():.1e}",
        "of always the mean": f"{right.var():.1e}",
        "largest error, trained": f"{np.abs(trained).max():.2f}",
    }


def main() -> None:
    """Print the table."""
    options = parser(__doc__).parse_args()
    publish([Table("compiled beside trained", each(beside, NAMES))], options)


if __name__ == "__main__":
    main()
