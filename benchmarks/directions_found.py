"""Probes, components and dictionaries on networks with known circuits.

The tables stand in docs/instruments/workbench.md.

python benchmarks/directions_found.py --only parity,parity-disguised
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from report import Row, Table, each, parser, publish

from krohn.architectures.exports import circuit as circuits
from krohn.instruments.workbench.answers import (
    interchanges,
    sample_inputs,
)
from krohn.instruments.workbench.directions import CODES
from krohn.instruments.workbench.making import of_entry
from krohn.instruments.workbench.models import (
    MODELS,
    Entry,
)
from krohn.instruments.workbench.workbench import (
    score_directions,
    score_features,
    score_interchange,
    subspaces,
)
from krohn.open_model import Model
from krohn.program.domains import FloatArray, IntArray

TITLE = "directions found, beside those of the circuit"
NETWORKS = (
    "parity",
    "s3",
    "flip-flop",
    "memory3",
    "corridor4",
    "dyck2-1",
    "contains-abb",
    "third-last",
    "even-process",
    "three-noisy-states",
    "parity-disguised",
    "s3-disguised",
    "flip-flop-disguised",
    "corridor4-disguised",
    "contains-abb-disguised",
    "third-last-disguised",
    "parity-trained",
    "flip-flop-trained",
    "memory3-trained",
    "third-last-trained",
)
WORDS, PAIRS = 200, 400
RIDGE = 1e-3
STEPS, PRICE, BATCH, RATE = 1_000, 0.02, 256, 0.01
Directions = dict[str, FloatArray]


@dataclass(frozen=True)
class Seen:
    """What a network was seen to compute.

    Attributes:
        streams: For each variable the residual stream ``(n, d)`` where it is first there.
        values: For each variable its values ``(n,)``.
        last: The last stream ``(n, d)``.
        ranks: In how many dimensions each variable varies.
        length: How many letters each word has.
    """

    streams: dict[str, FloatArray]
    values: dict[str, IntArray]
    last: FloatArray
    ranks: dict[str, int]
    length: int

    def centred(self, rows: FloatArray) -> FloatArray:
        """Rows without their means at each position."""
        apart = rows.reshape(-1, self.length, rows.shape[1])
        return (apart - apart.mean(axis=0)).reshape(rows.shape)


def seen(model: Model, told: Mapping[str, Any], words: IntArray) -> Seen:
    """Run words, and keep the stream after every letter."""
    _, cache = model.run_with_cache(torch.from_numpy(words))
    places, streams, values = model.places(), {}, {}
    for variable in told["variables"]:
        if variable["code"] in CODES:
            name = variable["variable"]
            streams[name] = _rows(cache[f"stream.{places[name].snapshots[0]}"])
            values[name] = _rows(cache[name][..., None])[:, 0].astype(int)
    last = max(places[name].snapshots[1] for name in places)
    ranks = {name: len(basis) for name, basis in subspaces(told).items()}
    return Seen(streams, values, _rows(cache[f"stream.{last}"]), ranks, words.shape[1])


def _rows(stream: torch.Tensor) -> FloatArray:
    found: FloatArray = stream[:, 1:].flatten(0, 1).double().numpy()
    return found


def probes(data: Seen) -> Directions:
    """Of each variable the weights of a ridge regression on its values."""
    found = {}
    for name, stream in data.streams.items():
        x, y = data.centred(stream), data.centred(_one_hot(data.values[name]))
        square = x.T @ x / len(x)
        ridge = RIDGE * np.trace(square) / len(square) * np.eye(len(square))
        weights = np.linalg.solve(square + ridge, x.T @ y / len(x))
        found[name] = _leading(weights.T, data.ranks.get(name, 1))
    return found


def means(data: Seen) -> Directions:
    """Of each variable the differences of the means of its values."""
    found = {}
    for name, stream in data.streams.items():
        marks = _one_hot(data.values[name])
        middle = marks.T @ data.centred(stream) / marks.sum(axis=0)[:, None]
        found[name] = _leading(middle, data.ranks.get(name, 1))
    return found


def components(data: Seen) -> Directions:
    """Of each variable the principal components that tell most of its values."""
    found = {}
    for name, stream in data.streams.items():
        x, y = data.centred(stream), data.centred(_one_hot(data.values[name]))
        _, sizes, axes = np.linalg.svd(x, full_matrices=False)
        axes = axes[sizes > 1e-6 * sizes[0]]
        along = x @ axes.T
        told = ((along.T @ y) ** 2).sum(axis=1) / (along**2).sum(axis=0)
        found[name] = axes[np.argsort(-told)[: data.ranks.get(name, 1)]]
    return found


def _one_hot(values: IntArray) -> FloatArray:
    return (values[:, None] == np.unique(values)).astype(float)


def _leading(rows: FloatArray, rank: int) -> FloatArray:
    """The directions in which rows are largest."""
    return np.asarray(np.linalg.svd(rows, full_matrices=False)[2][:rank])


def autoencoder(stream: FloatArray, latents: int) -> FloatArray:
    """The decoder ``(latents, d)`` of a sparse autoencoder (Bricken et al. 2023)."""
    torch.manual_seed(0)
    x = torch.from_numpy(stream).float()
    x /= x.square().mean().sqrt()
    decoder = torch.nn.functional.normalize(torch.randn(latents, x.shape[1]), dim=1)
    encoder, bias = decoder.T.clone(), torch.zeros(latents)
    weights = [part.requires_grad_() for part in (decoder, encoder, bias)]
    optimiser = torch.optim.Adam(weights, RATE)
    plan = torch.optim.lr_scheduler.LinearLR(optimiser, 1.0, 0.0, STEPS)
    for _ in range(STEPS):
        batch = x[torch.randint(len(x), (BATCH,))]
        rows = torch.nn.functional.normalize(decoder, dim=1)
        active = torch.relu(batch @ encoder + bias)
        off = (active @ rows - batch).square().sum(1) + PRICE * active.sum(1)
        optimiser.zero_grad()
        torch.autograd.backward(off.mean())
        optimiser.step()
        plan.step()
    return decoder.detach().double().numpy()


METHODS: dict[str, Callable[[Seen], Directions]] = {
    "probe": probes,
    "means": means,
    "PCA": components,
}


def network(entry: Entry) -> Row:
    """How the methods do on one network."""
    torch.set_num_threads(1)
    rng = np.random.default_rng(0)
    file = of_entry(entry, rng).file
    model, told = Model(file), circuits.circuit(file)
    words, _ = sample_inputs(model, PAIRS, rng)
    data = seen(model, told, words[:WORDS])
    pairs = list(interchanges(model, words, rng))
    row: Row = {"network": entry.name}
    for name, method in METHODS.items():
        found = method(data)
        row[f"{name}: overlap"] = score_directions(told, found).overlap
        row[f"{name}: exchange"] = score_interchange(told, model, pairs, found).accuracy
    true = subspaces(told, data.last.shape[1])
    row["circuit: exchange"] = score_interchange(told, model, pairs, true).accuracy
    latents = 2 * score_features(told, data.last[:1]).true
    last = data.centred(data.last)
    dictionaries = {
        "SAE": autoencoder(last, latents),
        "PCA": np.linalg.svd(last, full_matrices=False)[2],
        "chance": rng.normal(size=(latents, data.last.shape[1])),
    }
    for name, features in dictionaries.items():
        row[f"{name}: cosine"] = score_features(told, features).nearest
    return row


def main() -> None:
    """Score the methods on the networks that are asked for, and print the table."""
    asked = parser(__doc__)
    asked.add_argument(
        "--only", metavar="A,B,…", help="Other networks than the twenty."
    )
    asked.add_argument("--jobs", type=int, default=1, help="Processes.")
    given = asked.parse_args()
    only = given.only.split(",") if given.only else NETWORKS
    rows = list(each(network, [e for e in MODELS if e.name in only], given.jobs))
    publish([Table(TITLE, rows, _summary(rows))], given)


def _summary(rows: list[Row]) -> str:
    said = []
    for level in ("plain", "disguised", "trained"):
        of = {e.name for e in MODELS if e.level == level}
        here = [row for row in rows if row["network"] in of]
        if here:
            columns = [c for c in here[0] if c != "network"]
            mean = ", ".join(
                f"{c} {np.mean([row[c] for row in here]):.2f}" for c in columns
            )
            said.append(f"{level} ({len(here)}): {mean}")
    return "Means: " + "; ".join(said) + "."


if __name__ == "__main__":
    main()
