"""How fast one head nears a target as it gets wider: cut couplings, trained networks.

python benchmarks/attention_rates.py          the tables of docs/kinds/attention_targets.md
python benchmarks/attention_rates.py --train    also trains the networks that are missing
python benchmarks/attention_rates.py --figure F draws the errors instead

The targets are sums of sines (Jiang & Li, section 5.1). Results of training are in
results/attention_rates: a network is trained once.
"""

import argparse
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from experiment import RESULTS
from report import Row, Table, each, parser, publish
from torch import Tensor
from truncated_couplings import slopes, truncation

from krohn.architectures.attention_layer.engine import AttentionLayer
from krohn.instruments.compare.measures.attention_spectrum import (
    Bases,
    Head,
    expected_bias,
    of_layer,
    of_logits,
)
from krohn.instruments.compare.training.provenance import content_name
from krohn.instruments.compare.training.run_table import RunTable
from krohn.kinds.attention_targets.source_complexity import Complexity
from krohn.kinds.attention_targets.source_sampling import SineSeries
from krohn.kinds.attention_targets.source_target import (
    decompose,
    gauss_legendre,
)
from krohn.network.precision import FloatArray

LENGTH, RANK = 16, 400
TERMS = (1, 2, 3, 4, 6, 8, 11, 16)
ALPHAS = (1.0, 1.5, 2.0)
SCRAMBLES = {"φ": 0, "scrambled": 7}
INPUTS, SAMPLE = 2048, 1000
FEATURES, UNITS = 32, (128, 128)
STEPS, BATCH, RATE = 1500, 64, 3e-3
SLOPE = 20.0
"""Of the first layer at the start. With 1, which is torch's, the error of every network
stops at that of the slowest sines, whatever its width."""
SHOWN = 6
FOLDER = RESULTS / "attention_rates"
RATES, ERRORS = "exponents of the errors in m", "mean square of H − Ĥ by m"


class Cell(NamedTuple):
    """A network that is trained."""

    alpha: float
    rank: int
    scramble: int
    width: int
    seed: int

    @property
    def target(self) -> SineSeries:
        """The target that it learns."""
        return SineSeries(self.alpha, self.rank, self.scramble)

    @property
    def name(self) -> str:
        """Of its row in the table of results."""
        return content_name(self._asdict())


TARGETS = ((1.5, RANK, 0), (2.0, RANK, 0), (1.5, 6, 0), (1.5, RANK, 7))
CELLS = [
    Cell(*t, m, seed) for seed in (0, 1) for t in TARGETS for m in (1, 2, 4, 8, 16)
]


def drawn(count: int, seed: int = 0) -> FloatArray:
    """``(count, τ)`` inputs."""
    return np.random.default_rng(seed).uniform(size=(count, LENGTH))


def rates(psi: str, alpha: float) -> Row:
    """The exponents of one decay; the tail's is exact, all others are measured."""
    series = SineSeries(alpha, RANK, SCRAMBLES[psi])
    found = slopes(TERMS, truncation(series, drawn(SAMPLE), TERMS))
    tails = [float((series.sigma[m:] ** 2).sum()) for m in TERMS[2:]]
    return {
        "ψ": psi,
        "α": alpha,
        "−(2α−1)": 1 - 2 * alpha,
        "Σσ² of the tail": np.polyfit(np.log(TERMS[2:]), np.log(tails), 1)[0],
        "(ρ − ρ̃)², s ≠ t": found["pairs"],
        "−2(α−1)": 2 - 2 * alpha,
        "(ρ − ρ̃)², s = t": found["diagonal"],
        "(H − Ĥ)²": found["output"],
        "|H − Ĥ|": found["absolute"],
    }


def again(printed: Mapping[str, str]) -> Row:
    """A row of the first table, made anew."""
    return rates(printed["ψ"], float(printed["α"]))


AGAIN = {RATES: again}


def errors(series: SineSeries) -> Row:
    """The errors of cutting, by m."""
    found = truncation(series, drawn(SAMPLE), TERMS).output
    return _named(series) | {f"m = {m}": x for m, x in zip(TERMS, found, strict=True)}


def _named(series: SineSeries) -> Row:
    psi = next(n for n, s in SCRAMBLES.items() if s == series.scramble)
    return {"ψ": psi, "α": series.decay, "rank": series.rank}


def bounds(alpha: float) -> Iterator[Row]:
    """The repaired and the printed bound beside what is measured, of rank 40."""
    series = SineSeries(alpha, 40)
    pod = decompose(series, gauss_legendre(160))
    measure = Complexity(pod, 1.0, 1.0, 0.0, 2.0, alpha)
    found = truncation(series, drawn(SAMPLE), TERMS)
    for m, absolute, square in zip(TERMS, found.absolute, found.output, strict=True):
        yield {
            "α": alpha,
            "m": m,
            "E Σ|H − Ĥ|": LENGTH * absolute,
            "bound": measure.mean_error(LENGTH, m),
            "as printed": measure.bound_as_printed(LENGTH, m, np.inf),
            "E Σ(H − Ĥ)²": LENGTH * square,
            "bound of it": measure.squared_error(LENGTH, m),
        }


def spectra(length: int, count: int) -> Iterator[Row]:
    """Known singular values beside what is estimated from logits."""
    series, rule = SineSeries(1.5, 6), gauss_legendre(48)
    at, inputs = (
        rule.nodes[:, 0],
        np.random.default_rng(0).uniform(size=(count, length)),
    )
    known = Bases(rule.weights, series.sigma, series.phi(at), series.psi(at))
    head = Head("", series.phi(inputs) * series.sigma, series.psi(inputs))
    found = of_logits(head.logits, 6)
    rows = {
        "true": series.sigma,
        "mean over inputs": found.averaged,
        "predicted mean": series.sigma + expected_bias(known, length),
        "without its bias, from logits alone": found.corrected_values,
        "one matrix of all inputs": head.pool_sequences(6).sigma,
    }
    for name, values in rows.items():
        said = {f"σ{k + 1}": f"{x:.3f}" for k, x in enumerate(values)}
        yield {"τ": length, "inputs": count, "value": name} | said


def layer(width: int, seed: int) -> AttentionLayer:
    """A fresh layer with torch's usual start, but that the first layer bends everywhere.

    F̂ is affine, since F is the identity.
    """
    generator = torch.Generator().manual_seed(seed)

    def uniform(*shape: int, fan: int) -> Tensor:
        return (2 * torch.rand(*shape, generator=generator) - 1) * fan**-0.5

    tensors = {}
    chains = {"features": (1, *UNITS, FEATURES), "output": (FEATURES, 1)}
    for name, widths in chains.items():
        for j, (first, last) in enumerate(pairwise(widths)):
            tensors[f"{name}.{j}.weight"] = uniform(first, last, fan=first)
            tensors[f"{name}.{j}.bias"] = uniform(last, fan=first)
    steep = SLOPE * uniform(1, UNITS[0], fan=1)
    bends = torch.rand(UNITS[0], generator=generator)
    tensors |= {"features.0.weight": steep, "features.0.bias": -steep[0] * bends}
    for part, size in (("query", width), ("key", width), ("value", FEATURES)):
        tensors[f"attention.{part}"] = uniform(FEATURES, size, fan=FEATURES)
    shape = {"length": LENGTH, "inputs": 1, "causal": False, "memory": 0}
    shape |= {"features_units": list(UNITS), "output_units": []}
    return AttentionLayer(shape, tensors).requires_grad_(True)


def trained(cell: Cell) -> Row:
    """The errors of a network after training: on its 2,048 inputs, and on fresh ones."""
    network, series = layer(cell.width, cell.seed), cell.target
    x, fresh = drawn(INPUTS), drawn(SAMPLE, seed=1)
    inputs, wanted = (
        torch.from_numpy(a).float()[..., None] for a in (x, series.outputs(x))
    )
    optimiser = torch.optim.Adam(network.parameters(), lr=RATE)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, RATE, total_steps=STEPS)
    batches = torch.Generator().manual_seed(cell.seed)
    for _ in range(STEPS):
        rows = torch.randint(INPUTS, (BATCH,), generator=batches)
        loss = (network(inputs[rows]) - wanted[rows]).square().mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        schedule.step()
    with torch.no_grad():
        seen = (network(inputs) - wanted).square().mean().item()
        said = network(torch.from_numpy(fresh).float()[..., None])[..., 0].double()
        head = of_layer(
            network, torch.from_numpy(fresh).float()[..., None]
        ).centred_head
    unseen = float(((said.numpy() - series.outputs(fresh)) ** 2).mean())
    held = head.pool_sequences(SHOWN).sigma.tolist()
    return cell._asdict() | {"training": seen, "fresh": unseen, "held": held}


def results(train: bool) -> list[Row]:
    """The results of the networks, after training those that are missing."""
    table = RunTable(FOLDER)
    known = table.read()
    for cell in [c for c in CELLS if c.name not in known] if train else []:
        (known[cell.name],) = each(trained, [cell])
        table.add({cell.name: known[cell.name]})
    return sorted(known.values(), key=lambda row: [row[f] for f in Cell._fields])


def learned(known: list[Row]) -> Iterator[Row]:
    """Trained networks beside the cut coupling of their width, by target and width."""
    groups: dict[tuple[SineSeries, int], list[Row]] = {}
    for row in known:
        cell = Cell(*(row[f] for f in Cell._fields))
        groups.setdefault((cell.target, cell.width), []).append(row)
    for (series, width), rows in groups.items():
        yield _named(series) | {
            "m_h": width,
            "seeds": len(rows),
            "training error, best": min(row["training"] for row in rows),
            "worst": max(row["training"] for row in rows),
            "best on fresh inputs": min(row["fresh"] for row in rows),
            "cut after m_h terms": truncation(series, drawn(SAMPLE), [width]).output[0],
        }


def held(known: list[Row]) -> Iterator[Row]:
    """The singular values that the better of the networks of a target hold."""
    best: dict[tuple[SineSeries, int], Row] = {}
    for row in sorted(known, key=lambda row: -row["training"]):
        cell = Cell(*(row[f] for f in Cell._fields))
        best[cell.target, cell.width] = row
    for series in dict.fromkeys(Cell(*t, 1, 0).target for t in TARGETS):
        widths = sorted(m for other, m in best if other == series)
        rows = {f"m_h = {m}": best[series, m]["held"] for m in widths}
        for name, values in {**rows, "the target": series.sigma[:SHOWN]}.items():
            said = {f"σ{k + 1}": f"{x:.3f}" for k, x in enumerate(values)}
            yield _named(series) | {"value": name} | said


def draw(path: Path, known: list[Row]) -> None:
    """Errors by m: of pairs, the diagonal, outputs, and of trained networks."""
    from matplotlib.figure import Figure

    from krohn.drawing import save

    figure = Figure(figsize=(9, 3.4), layout="constrained")
    terms = np.arange(1, 17)
    for axis, alpha in zip(figure.subplots(1, 3, sharex=True), ALPHAS, strict=True):
        series = SineSeries(alpha, RANK)
        found = truncation(series, drawn(SAMPLE), list(terms))
        lines = {"s ≠ t": found.pairs, "s = t": found.diagonal, "output": found.output}
        for name, values in lines.items():
            axis.loglog(terms, values, label=name)
        start = found.output[0]
        axis.loglog(terms, start * terms ** (1 - 2 * alpha), "k:", label="m^−(2α−1)")
        rows = [r for r in learned(known) if _named(series).items() <= r.items()]
        points = [[r["m_h"], r["training error, best"]] for r in rows]
        axis.loglog(*np.reshape(points, (-1, 2)).T, "o", label="trained")
        axis.set_title(f"α = {alpha:g}")
        axis.set_xlabel("m")
    figure.axes[0].set_ylabel("mean square")
    figure.axes[0].legend(fontsize="small")
    save(figure, path)


def main() -> None:
    """Print the tables, or draw."""
    found = parser(__doc__)
    found.add_argument("--train", action="store_true", help="train what is missing")
    found.add_argument("--figure", type=Path, help="draw the errors to this file")
    options: argparse.Namespace = found.parse_args()
    known = results(options.train)
    if options.figure is not None:
        return draw(options.figure, known)
    kinds = [SineSeries(1.5, rank) for rank in (2, 6, RANK)]
    tables = [
        Table(RATES, [rates(psi, alpha) for psi in SCRAMBLES for alpha in ALPHAS]),
        Table(ERRORS, [errors(series) for series in kinds]),
        Table("bounds", [row for alpha in ALPHAS for row in bounds(alpha)]),
        Table("trained networks", list(learned(known))),
        Table("what trained heads hold", list(held(known))),
        Table("spectra", [r for n in ((16, 1000), (64, 250)) for r in spectra(*n)]),
    ]
    return publish(tables, options)


if __name__ == "__main__":
    torch.set_num_threads(1)
    main()
