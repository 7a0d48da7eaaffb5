"""How fast one head nears a target as it gets wider: cut couplings, trained networks.

    python benchmarks/attention_rates.py              trains, and prints the tables
    python benchmarks/attention_rates.py --seconds 0  the same, and trains nothing
    python benchmarks/attention_rates.py --figure F   draws the errors instead

The targets are sums of sines (Jiang & Li, section 5.1). Two families of networks are
trained: f̂ is *given*, the first 64 sines, and W_Q and W_K alone are trained; or all is
*learned*, in the paper's shape at desk scale. Results of training are in
results/attention_rates: a network is trained once.
"""

import argparse
import time
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
import torch
from experiment import cpu_time, rows_of, timed
from given_features import attend, bases, spectrum, train_head
from learned_features import answers, head_of, train_layer
from report import Row, Table, publish
from truncated_couplings import slopes, truncation

from krohn.instruments.compare.measures.attention_spectrum import (
    Bases,
    Head,
    expected_bias,
    of_logits,
)
from krohn.instruments.compare.training.provenance import content_name
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
Family = tuple[Literal["given", "learned"], int]
"""Whether f̂ is given or learned, and the steps of training."""
RUNAWAY = 2.0
"""A head ran away if its first singular value is above; that of all targets is 1."""
SHOWN = 6
RATES, ERRORS = "exponents of the errors in m", "mean square of H − Ĥ by m"


class Cell(NamedTuple):
    """A network that is trained."""

    features: Literal["given", "learned"]
    steps: int
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


Target = tuple[float, int, int]
SLOW_DECAY, SCRAMBLED = (1.5, RANK, 0), (1.5, RANK, 7)
FAST_DECAY, FEW = (2.0, RANK, 0), (1.5, 6, 0)
TARGETS = (SLOW_DECAY, SCRAMBLED, FAST_DECAY)
WIDTHS = (1, 2, 4, 8, 16)
PLANS: dict[Family, tuple[range, tuple[Target, ...]]] = {
    ("given", 2500): (range(5), TARGETS),
    ("learned", 6000): (range(3), TARGETS),
    ("learned", 1500): (range(2), (SLOW_DECAY, FAST_DECAY, FEW, SCRAMBLED)),
}
"""The seeds and targets of each family, those first that tell most for their time."""
CELLS = [
    Cell(features, steps, *target, width, seed)
    for (features, steps), (seeds, targets) in PLANS.items()
    for seed in seeds
    for target in targets
    for width in WIDTHS
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


def _trained_as(family: Family) -> Row:
    return {"f̂": family[0], "steps": family[1]}


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


@cache
def examples(series: SineSeries) -> tuple[tuple[FloatArray, FloatArray], ...]:
    """Inputs and outputs: those of training, and fresh ones."""
    both = drawn(INPUTS), drawn(SAMPLE, seed=1)
    return tuple((inputs, series.outputs(inputs)) for inputs in both)


def trained(cell: Cell) -> Row:
    """The errors of a network after training: on its 2,048 inputs, and on fresh ones."""
    began, series = time.process_time(), cell.target
    (inputs, wanted), (fresh, right) = examples(series)
    if cell.features == "given":
        head = train_head(inputs, wanted, cell.width, cell.seed, cell.steps)
        said = [
            attend(head, bases(x), x.astype(np.float32))[0] for x in (inputs, fresh)
        ]
        held = spectrum(head, SHOWN)
    else:
        network = train_layer(inputs, wanted, cell.width, cell.seed, cell.steps)
        said = [answers(network, x) for x in (inputs, fresh)]
        held = head_of(network, fresh).pool_sequences(SHOWN).sigma.tolist()
    return cell._asdict() | {
        "training": float(((said[0] - wanted) ** 2).mean()),
        "fresh": float(((said[1] - right) ** 2).mean()),
        "held": held,
        "cpu_seconds": round(time.process_time() - began, 1),
    }


Found = dict[Cell, Row]


def groups(known: Found) -> dict[tuple[Family, SineSeries], dict[int, list[Row]]]:
    """The results of each family and target, by width."""
    found: dict[tuple[Family, SineSeries], dict[int, list[Row]]] = {}
    for cell, row in known.items():
        widths = found.setdefault((cell[:2], cell.target), {})
        widths.setdefault(cell.width, []).append(row)
    return found


def learned(known: Found) -> Iterator[Row]:
    """Trained networks beside the cut coupling of their width, by target and width."""
    for (family, series), widths in groups(known).items():
        for width, rows in sorted(widths.items()):
            errors = [row["training"] for row in rows]
            away = [str(row["seed"]) for row in rows if row["held"][0] > RUNAWAY]
            yield (
                _trained_as(family)
                | _named(series)
                | {
                    "m_h": width,
                    "seeds": len(rows),
                    "ran away (seeds)": ", ".join(away) or "none",
                    "training error, best": min(errors),
                    "median": float(np.median(errors)),
                    "worst": max(errors),
                    "best on fresh inputs": min(row["fresh"] for row in rows),
                    "cut after m_h terms": truncation(
                        series, drawn(SAMPLE), [width]
                    ).output[0],
                }
            )


def slope(widths: list[int], values: list[float]) -> float:
    """The exponent of a power of the width."""
    return float(np.polyfit(np.log(widths), np.log(values), 1)[0])


def exponents(known: Found) -> Iterator[Row]:
    """How the best errors fall with the width, beside cut couplings of the same widths."""
    for (family, series), found in groups(known).items():
        if series.rank <= max(found):
            continue  # nothing is left to be cut
        widths = sorted(found)
        best = [min(row["training"] for row in found[m]) for m in widths]
        cut = list(truncation(series, drawn(SAMPLE), widths).output)
        rows = [row for m in widths for row in found[m]]
        away = sum(row["held"][0] > RUNAWAY for row in rows)
        yield (
            _trained_as(family)
            | _named(series)
            | {
                "−(2α−1)": 1 - 2 * series.decay,
                "cut, m = 1 … 16": slope(widths, cut),
                "cut, m = 2 … 16": slope(widths[1:], cut[1:]),
                "trained, m = 1 … 16": slope(widths, best),
                "trained, m = 2 … 16": slope(widths[1:], best[1:]),
                "ran away": f"{away} of {len(rows)}",
            }
        )


def cost(known: Found) -> str:
    """What was trained, and how long that took."""
    return (
        f"{cpu_time(known, CELLS)} "
        f"Best, median and worst of the seeds. Ran away: the first singular value of the "
        f"head ended above {RUNAWAY:g}, where the target's is 1."
    )


def held(known: Found) -> Iterator[Row]:
    """The singular values that the best of the networks of a target hold."""
    for (family, series), widths in groups(known).items():
        best = {
            f"m_h = {m}": min(rows, key=lambda row: row["training"])["held"]
            for m, rows in sorted(widths.items())
        }
        for name, values in {**best, "the target": series.sigma[:SHOWN]}.items():
            said = {f"σ{k + 1}": f"{x:.3f}" for k, x in enumerate(values)}
            yield _trained_as(family) | _named(series) | {"value": name} | said


def draw(path: Path, known: Found) -> None:
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
        for family, mark in zip(PLANS, "ox.", strict=True):
            asked = _trained_as(family) | _named(series)
            rows = [r for r in learned(known) if asked.items() <= r.items()]
            points = [[r["m_h"], r["training error, best"]] for r in rows]
            axis.loglog(
                *np.reshape(points, (-1, 2)).T,
                mark,
                label=f"f̂ {family[0]}, {family[1]:,} steps",
            )
        axis.set_title(f"α = {alpha:g}")
        axis.set_xlabel("m")
    figure.axes[0].set_ylabel("mean square")
    figure.legend(
        *figure.axes[1].get_legend_handles_labels(),
        loc="outside lower center",
        ncols=4,
        fontsize="small",
    )
    save(figure, path)


def main() -> None:
    """Print the tables, or draw."""
    found = timed(__doc__)
    found.add_argument("--figure", type=Path, help="draw the errors to this file")
    options: argparse.Namespace = found.parse_args()
    known = rows_of("attention_rates", CELLS, trained, options.seconds)
    if options.figure is not None:
        return draw(options.figure, known)
    kinds = [SineSeries(1.5, rank) for rank in (2, 6, RANK)]
    tables = [
        Table(RATES, [rates(psi, alpha) for psi in SCRAMBLES for alpha in ALPHAS]),
        Table(ERRORS, [errors(series) for series in kinds]),
        Table("bounds", [row for alpha in ALPHAS for row in bounds(alpha)]),
        Table("trained networks", list(learned(known)), cost(known)),
        Table("exponents of trained networks", list(exponents(known))),
        Table("what trained heads hold", list(held(known))),
        Table("spectra", [r for n in ((16, 1000), (64, 250)) for r in spectra(*n)]),
    ]
    return publish(tables, options)


if __name__ == "__main__":
    torch.set_num_threads(1)
    main()
