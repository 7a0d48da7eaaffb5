"""Networks in disguise: what is proved of them, and how much they hide.

docs/architectures/disguise.md has the tables of some machines. Those beside the first six
are in no test.
"""

import time
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import torch
from report import Row, Table, each, parser, publish

import krohn
from krohn.algebra.errors import KrohnError
from krohn.architectures.disguise.build import (
    Disguise,
    disguise_network,
)
from krohn.architectures.disguise.build_layout import (
    READERS,
    WRITERS,
)
from krohn.intervention import read_program
from krohn.network.modelfile import ModelFile
from krohn.open_model import Model
from krohn.verify.proof import prove

TURNSTILE = str(Path(__file__).parents[1] / "examples" / "turnstile.dot")
KNOWN = ("FlipFlop", "C2", TURNSTILE, "S4", "Dyck4,2", "Grid9")
NEW = (
    *("C11", "C13", "C3xC3", "D18", "D22"),
    *("Dyck2,4", "Dyck3,4", "Grid7", "Memory7", "regex:(ab|ba)*c"),
)
ZOO = (
    *("C2", "C3", "C4", "C5", "C6", "C7", "C8", "C2xC2", "C2xC2xC2", "D6", "D8", "Q8"),
    *("A4", "S4", "Grid4", "Grid9", "FlipFlop", "abab", "Adder", "FFL2", "FFLTracker2"),
    *("Parity8@2,3,7", "ParityTree2,2", "PermReset4"),
)
"""All machines of the zoo with up to 24 states."""
CELLS = (
    ("float64", "rotate,dense"),
    ("float64", "squeeze"),
    ("float32", "rotate"),
    ("float32", "rotate,dense"),
)
WORDS, PATCHES = 500, 50
PROVED, COMPILED, NOISE, HIDDEN, BESIDE = (
    "disguised networks: margin proved / found",
    "rotate,dense in float32, by the construction that is proved",
    "noise on all weights, T = 32",
    "what a disguise hides, T = 32",
    "rotate,dense,beside: what works beside a machine, T = 32",
)


@cache
def plain(name: str, length: int, dtype: str) -> Any:
    """The strict network of a machine."""
    return krohn.compile(name, length, dtype=dtype, strict=True)


def made(name: str, length: int, dtype: str, kinds: str, noise: float = 0) -> ModelFile:
    """The same in disguise, not proved."""
    file = plain(name, length, dtype).file
    asked = Disguise.of(kinds, 0, noise)
    told = {key: x for key, x in file.header.items() if key != "evidence"}
    return ModelFile(
        *disguise_network(asked, told, file.tensors, file.precision), file.precision
    )


def sampled(file: ModelFile, length: int) -> tuple[torch.Tensor, np.ndarray]:
    """Words by chance, and the classes that are right after each letter."""
    told = file.header["machine"]
    rng, moves = np.random.default_rng(1), np.array(told["transitions"])
    words = rng.integers(len(moves), size=(WORDS, length))
    state = np.full(WORDS, told["states"].index(told["start"]))
    states = np.array([state := moves[a, state] for a in words.T]).T
    if file.header["claim"].get("shows", "states") == "outputs":
        states = np.array(told["output"]["table"])[states]
    return torch.from_numpy(words), states


def found(file: ModelFile, length: int) -> float:
    """The least margin on words by chance; not above 0 if an answer is wrong."""
    words, right = sampled(file, length)
    logits = Model(file)(words).double()
    own = logits.gather(2, torch.from_numpy(right)[..., None])
    rivals = logits.scatter(2, torch.from_numpy(right)[..., None], -torch.inf)
    return float((own[..., 0] - rivals.amax(dim=2)).min())


def cell(name: str, length: int, dtype: str, kinds: str) -> str:
    """The margin that is proved, and the one that is found, with the time of the proof."""
    file, began = made(name, length, dtype, kinds), time.monotonic()
    proof = prove(file, plain(name, length, dtype).machine)
    seconds = time.monotonic() - began
    true = found(file, length)
    if proof.verdict != "verified":
        return f"no ({proof.reason}) / {true:.3f}"
    margin = proof.told["margin"]
    return f"{margin:.3f} / {true:.3f}, {seconds:.1f} s"


def proved(job: tuple[str, int]) -> Row:
    """A line of the first table."""
    name, length = job
    shown: Row = {"machine": Path(name).stem, "T": length}
    for dtype, kinds in CELLS:
        try:
            shown[f"{kinds}, {dtype}"] = cell(name, length, dtype, kinds)
        except KrohnError as error:
            shown[f"{kinds}, {dtype}"] = f"not compiled ({str(error)[:60]})"
    wide = (made(name, length, "float64", k) for k in ("rotate,dense", "squeeze"))
    sizes = [str(file.header["architecture"]["d_model"]) for file in wide]
    own = plain(name, length, "float64").file.header["architecture"]["d_model"]
    return {**shown, "width; dense; squeezed": f"{own}; {'; '.join(sizes)}"}


def compiled(job: tuple[str, int]) -> Row:
    """A line of the table of what is compiled, disguised and proved in float32."""
    (name, length), began = job, time.monotonic()
    shown: Row = {"machine": Path(name).stem, "T": length}
    try:
        model = krohn.compile(name, length, dtype="float32", disguise="rotate,dense")
    except KrohnError as error:
        reason = " ".join(str(error).split())[:60]
        shown |= {"construction": "none", "proved": f"no ({reason})"}
        return {**shown, "found": None, "s": round(time.monotonic() - began)}
    assert model.proof is not None
    seconds = round(time.monotonic() - began)
    told = {"construction": model.construction, "proved": model.proof.told["margin"]}
    return {**shown, **told, "found": found(model.file, length), "s": seconds}


def most_noise(name: str) -> Row:
    """The most noise, a power of ten, with which a network is proved, and is right."""
    machine, told = plain(name, 32, "float64").machine, {"machine": Path(name).stem}
    ends = dict[str, str]()
    for power in range(-2, -13, -1):
        file = made(name, 32, "float64", "noise", 10.0**power)
        if "right to" not in ends and found(file, 32) > 0:
            ends["right to"] = f"1e{power}"
        if "right to" in ends and prove(file, machine).verdict == "verified":
            ends["proved to"] = f"1e{power}"
            break
    return {**told, "proved to": None, "right to": None, **ends}


# ------------------------------------------------------- what a disguise hides


def weights(file: ModelFile) -> tuple[float, float]:
    """The share of zeros among all weights, and the excess kurtosis of all others."""
    run = [
        tensor.reshape(-1)
        for name, tensor in file.tensors.items()
        if not name.startswith(("plain.", "disguise."))
    ]
    every = np.concatenate(run)
    rest = every - every.mean()
    return float((every == 0).mean()), float(
        (rest**4).mean() / (rest**2).mean() ** 2 - 3
    )


def cut(file: ModelFile) -> float:
    """How much of two groups of axes goes together, at the best cut that is found.

    All that reads or writes the stream is a vector over its axes. 0: no such vector has
    a part in either group. What hardly has any groups is cut at about a half.
    """
    vectors = []
    for name, tensor in file.tensors.items():
        if not name.startswith(("plain.", "disguise.")):
            if name.endswith(READERS):
                vectors.append(
                    np.moveaxis(tensor, -2, -1).reshape(-1, tensor.shape[-2])
                )
            elif name.endswith(WRITERS):
                vectors.append(tensor.reshape(-1, tensor.shape[-1]))
    rows = np.abs(np.concatenate(vectors)).astype(np.float64)
    rows = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-30)
    both = rows.T @ rows
    degree = both.sum(axis=1)
    scaled = both / np.sqrt(degree[:, None] * degree)
    side = np.linalg.eigh(scaled)[1][:, -2] / np.sqrt(degree) > 0
    return float(
        both[side][:, ~side].sum() / min(degree[side].sum(), degree[~side].sum())
    )


def by_axes(model: Model, words: torch.Tensor) -> dict[str, Any]:
    """For each variable the axes that go with it most, and their means at each value."""
    streams, told = model.network.snapshots(words), {}
    for name, place in model.places().items():
        stream = streams[place.snapshots[0]][:, 1:].reshape(-1, streams[0].shape[-1])
        values = model.read(words, name)[:, 1:].reshape(-1)
        x = (stream - stream.mean(dim=0)).double()
        best, axes = [], set[int]()
        for value in values.unique()[:-1].tolist():
            y = (values == value).double()
            y = y - y.mean()
            size = x.norm(dim=0) * y.norm() + 1e-30
            fit = ((y @ x) / size).abs() * (x.norm(dim=0) > 1e-6)
            best.append(float(fit.max()))
            axes.add(int(fit.argmax()))
        if best:
            at = sorted(axes)
            means = {
                v: stream[values == v][:, at].mean(0) for v in values.unique().tolist()
            }
            told[name] = float(np.mean(best)), at, means
    return told


def patched(
    model: Model, words: torch.Tensor, along: dict[str, Any]
) -> tuple[int, ...]:
    """How many patches that change an answer give the predicted ones: by axes, along."""
    rng, program, right = Random(0), read_program(model), [0, 0, 0]
    places = model.places()
    for _ in range(20 * PATCHES):
        if right[2] >= PATCHES:
            break
        name, row = rng.choice(sorted(along)), rng.randrange(len(words))
        _, axes, means = along[name]
        value, t = rng.choice(sorted(means)), rng.randrange(1, words.shape[1] + 1)
        word = [model.letters[a] for a in words[row].tolist()]
        if value not in program.channels[name].later:
            continue
        told = model.patch(word, name, t, value)
        pairs = zip(told.before, told.predicted, strict=True)
        if None in told.predicted or all(a == b for a, b in pairs):
            continue

        def change(stream: torch.Tensor) -> torch.Tensor:
            new = stream.clone()
            new[:, t, axes] = means[value].to(new)  # noqa: B023
            return new

        stream = f"stream.{places[name].snapshots[0]}"
        logits = model.run_with_hooks(words[row][None], {stream: change})
        said = [model.classes[i] for i in logits[0].argmax(-1).tolist()]
        right[0] += said == list(told.predicted)
        right[1] += bool(told.agrees)
        right[2] += 1
    return tuple(right)


def idle(model: Model, words: torch.Tensor) -> float:
    """The share of axes whose mean may stand in their place at every snapshot."""
    streams, told = model.network.snapshots(words), model(words).argmax(-1)
    means, quiet = [x.mean(dim=(0, 1)) for x in streams], 0
    for axis in range(streams[0].shape[-1]):
        hooks = {}
        for snapshot, mean in enumerate(means):

            def change(x: torch.Tensor, m: torch.Tensor = mean) -> torch.Tensor:
                new = x.clone()
                new[..., axis] = m[axis]  # noqa: B023
                return new

            hooks[f"stream.{snapshot}"] = change
        quiet += bool((model.run_with_hooks(words, hooks).argmax(-1) == told).all())
    return quiet / streams[0].shape[-1]


def hidden(job: tuple[str, str, str]) -> Row:
    """A line of the table of what is hidden."""
    name, kinds, dtype = job
    file = made(name, 32, dtype, kinds) if kinds else plain(name, 32, dtype).file
    model, words = Model(file), sampled(file, 32)[0]
    zeros, kurtosis = weights(file)
    along = by_axes(model, words)
    axes, directions, count = patched(model, words, along)
    return {
        "machine": Path(name).stem,
        "disguise": f"{kinds or 'none'}, {dtype}",
        "zeros": zeros,
        "kurtosis": kurtosis,
        "best single axis": float(np.mean([best for best, _, _ in along.values()])),
        "idle axes": idle(model, words[:20]),
        "cut": cut(file),
        "patches right by axes": f"{axes} of {count}",
        "by directions": f"{directions} of {count}",
    }


# ------------------------------------------------- what works beside a machine


def beside(job: tuple[str, str]) -> Row:
    """A line of the table of circuits that work beside machines."""
    name, dtype = job
    compiled = krohn.compile(
        name, 32, dtype=dtype, disguise="rotate,dense,beside", seed=3
    )
    assert compiled.proof is not None
    file, model = compiled.file, compiled.model
    rows = file.tensors["disguise.directions"].astype(np.float64)
    d = file.header["architecture"]["disguise"]["d_model"]
    read = torch.from_numpy(np.linalg.pinv(rows))
    both = read[:, :d] @ torch.from_numpy(rows[:d])
    rest = read[:, d:] @ torch.from_numpy(rows[d:])
    words = sampled(file, 32)[0]
    streams = [x.double() for x in model.network.snapshots(words)]
    own, other = (
        (streams[-1] @ x)[:, 1:].flatten(0, 1).var(dim=0) for x in (both, rest)
    )
    hooks = {}
    means = [x.mean(dim=0) for x in streams]
    for snapshot, stands in enumerate(means):

        def change(x: torch.Tensor, mean: torch.Tensor = stands) -> torch.Tensor:
            return (x.double() - (x.double() - mean) @ rest).to(x)

        hooks[f"stream.{snapshot}"] = change
    said = [model.run_with_hooks(words, h).argmax(-1) for h in ({}, hooks)]
    return {
        "machine": Path(name).stem,
        "format": dtype,
        "margin proved / found": f"{compiled.proof.told['margin']:.3f} / "
        f"{found(file, 32):.3f}",
        "width": f"{d}; {len(rows[0])}",
        "variance beside": f"{float(other.sum() / own.sum()):.2g}",
        "in the least axis": f"{float((other / own).min()):.2g}",
        "of the machine in its least": f"{float((own / other).min()):.2g}",
        "words changed without it": int((said[0] != said[1]).any(dim=1).sum()),
    }


def main() -> None:
    """Make the networks, and print the tables that are asked for."""
    told = parser(__doc__)
    told.add_argument("names", nargs="*", help="machines; some if none are named")
    told.add_argument("--lengths", type=int, nargs="*", default=[32, 64])
    told.add_argument("--jobs", type=int, default=1)
    told.add_argument(
        "--table",
        choices=("proofs", "compiled", "noise", "hidden", "beside"),
        default="proofs",
    )
    options = told.parse_args()
    every = [*ZOO, *NEW] if options.table == "compiled" else [*KNOWN, *NEW]
    names = options.names or every
    jobs = [(name, length) for length in options.lengths for name in names]
    if options.table == "proofs":
        table = Table(PROVED, each(proved, jobs, options.jobs))
    elif options.table == "compiled":
        table = Table(COMPILED, each(compiled, jobs, options.jobs))
    elif options.table == "noise":
        table = Table(NOISE, each(most_noise, names, options.jobs))
    elif options.table == "beside":
        pairs = [(name, dtype) for name in names for dtype in ("float64", "float32")]
        table = Table(BESIDE, each(beside, pairs, options.jobs))
    else:
        kinds = [
            *(("", "float64"), ("rotate", "float64"), ("rotate,dense", "float64")),
            ("rotate,dense", "float32"),
        ]
        both = [(name, *kind) for name in names for kind in kinds]
        table = Table(HIDDEN, each(hidden, both, options.jobs))
    publish([table], options)


if __name__ == "__main__":
    main()
