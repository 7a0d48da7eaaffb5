"""A comparison that nobody made: all that a page can show, with numbers of our choice."""

from dataclasses import replace

import numpy as np

import krohn
from krohn.algebra.automaton import Automaton
from krohn.algebra.formats import json_format
from krohn.instruments.compare.comparison.result import (
    AttentionMap,
    AttentionMaps,
    Comparison,
    CompiledProof,
    Curve,
    Failure,
    ModelResult,
    Origin,
    ProbeResult,
    Reduction,
    SeedResult,
    Size,
    Strategy,
    Sweep,
    Training,
)
from krohn.instruments.compare.measures.accuracy import (
    Rate,
    spread,
)
from krohn.instruments.compare.probes.exchange import Agreement
from krohn.instruments.compare.probes.interchange import Interchange
from krohn.instruments.compare.probes.probe_map import (
    Cell,
    ProbeMap,
    Row,
    Verdict,
)
from krohn.instruments.compare.probes.scores import Score

SEEDS = (0, 1)
LEVELS = {"compiled": 1.0, "gpt": 0.97, "lstm": 0.999, "ngram": 0.55, "majority": 0.5}
TRAINED = ("gpt", "lstm")
TITLES = {
    "compiled": "compiled",
    "gpt": "Transformer",
    "lstm": "LSTM",
    "ngram": "3-gram",
    "majority": "majority",
}


def share(value: float, asked: int = 10_000) -> Rate:
    right = round(value * asked)
    return Rate(right, asked, max(0.0, value - 0.004), min(1.0, value + 0.004))


def seeds(key: str) -> int:
    return len(SEEDS) if key in TRAINED else 1


def training(rate: float) -> Training:
    steps = tuple(range(0, 2001, 200))
    loss = tuple(0.7 * np.exp(-rate * s / 400) + 1e-4 for s in steps)
    accuracy = tuple(1 - 0.5 * np.exp(-rate * s / 500) for s in steps)
    return Training(
        steps, tuple(map(float, loss)), tuple(map(float, accuracy)), 61.5, "2,000 steps"
    )


def failure(key: str, letters: tuple[str, ...]) -> Failure | None:
    if key in ("ngram", "majority"):
        return None
    if key != "gpt":
        return Failure(
            None, (), (), 128, "16,382 words of up to 13 letters; 512 of 128"
        )
    word = (letters[1],) * 4 + (letters[0],)
    right = ("1", "0", "1", "0", "0")
    said = ("1", "0", "1", "0", "1")
    return Failure(
        word,
        right,
        said,
        32,
        "",
        "Minimal: no shorter word fails",
        "krohn run --expect -- gpt.safetensors 1 1 1 1 0",
    )


def contestant(key: str, letters: tuple[str, ...]) -> ModelResult:
    level = LEVELS[key]
    ones = tuple(
        SeedResult(
            SEEDS[i] if key in TRAINED else None,
            share(level - 0.01 * i * (key == "gpt")),
            share(level**8),
            failure(key, letters),
            training(1 + i) if key in TRAINED else None,
        )
        for i in range(seeds(key))
    )
    over = spread([level, max(0.0, level - 0.01)])
    size = (
        Size(12_345, 2, 4_567_890, 0.0012) if key not in ("ngram", "majority") else None
    )
    several = over if key in TRAINED else None
    return ModelResult(
        key, TITLES[key], "2 layers of width 64", ones, several, several, size
    )


def curve(key: str, at: tuple[float, ...], fall: float) -> Curve:
    rows = []
    for seed in range(seeds(key)):
        lost = [
            fall * i / len(at) * (key == "gpt") * (1 + 0.3 * seed)
            for i in range(len(at))
        ]
        rows.append(tuple(max(0.4, LEVELS[key] - x) for x in lost))
    return Curve(key, tuple(rows))


def sweep(
    title: str,
    axis: str,
    said: str,
    at: tuple[float, ...],
    trained: tuple[float, float] | None,
    proved: float | None = None,
) -> Sweep:
    fall = 0.1 if title == "By position" else 0.5
    return Sweep(
        title,
        axis,
        said,
        at,
        trained,
        proved,
        500,
        tuple(curve(k, at, fall) for k in LEVELS),
        "",
    )


def score(accuracy: float) -> Score:
    return Score(accuracy, 0.01, 0.5, 0.55, None)


def probed(key: str) -> ProbeResult:
    layers = ("embedding", "layer 1", "layer 2")
    verdicts: tuple[Verdict, ...] = ("used", "partly used", "readable", "free")
    good = Agreement(0.97, 0.01, 0.99, 0.95)
    tested = Interchange(
        construction="counter",
        layer=2,
        dimensions=1,
        subspace="probe",
        carried=0.98,
        cases=1000,
        decisive=400,
        found=good,
        random=replace(good, changed=0.03),
        varying=replace(good, changed=0.05),
        answer=replace(good, changed=0.5),
        whole=replace(good, changed=0.99),
    )
    rows = tuple(
        Row(
            (f"number of ones mod {2 + i}", "counter: mod"),
            "channel",
            2 + i,
            False,
            ("counter", "scan"),
            tuple(
                Cell(
                    score(0.52 + 0.23 * k - 0.08 * i),
                    score(0.56),
                    gain=0.4 * k,
                    readable=i < 2 <= k,
                )
                for k in range(3)
            ),
            (tested,) * (i < 2),
            verdict,
        )
        for i, verdict in enumerate(verdicts)
    )
    said = ("99.0% of its answers on held-out words are right.", "Used: it says.")
    found = ProbeMap(
        "C2", 480, 32, 0, 0.99, layers, rows, (), (), "It uses: ones.", said
    )
    return ProbeResult(key, TITLES[key], found)


def attention(length: int, letters: tuple[str, ...]) -> AttentionMaps:
    rng = np.random.default_rng(0)
    uniform = np.tril(np.ones((length, length)))
    noisy = np.tril(rng.random((length, length)) ** 4)
    patterns = []
    for key, title, found in (
        ("compiled", "compiled, layer 1, head 1: prefix sum", uniform),
        ("gpt", "layer 1, head 1", noisy),
        ("gpt", "layer 2, head 3", noisy[::1, ::1] ** 2),
    ):
        rows = found / found.sum(axis=1, keepdims=True)
        patterns.append(
            AttentionMap(
                key, title, tuple(map(tuple, rows.tolist())), "0.31 from head 1"
            )
        )
    return AttentionMaps(
        (letters * length)[:length],
        tuple(patterns),
        ("On 64 words, heads are 0.31 from the compiled one.",),
    )


def sample(machine: Automaton | None = None) -> Comparison:
    machine = machine or krohn.zoo("C2")
    proved = CompiledProof(
        "verified",
        "right on all 2^128 words of length 128, and all shorter, in float32",
        128,
        "counter",
        "float32",
        0.03,
    )
    lengths = (8.0, 16.0, 32.0, 48.0, 64.0, 96.0, 128.0)
    biases = tuple(round(0.05 * i, 2) for i in range(1, 20))
    sweeps = (
        sweep(
            "By position",
            "position",
            "at position {}",
            tuple(map(float, range(1, 33))),
            None,
        ),
        sweep("By length", "length T", "at {} letters", lengths, (32.0, 32.0)),
        sweep("By bias", "Pr[σ = 1]", "with Pr[σ = 1] = {}", biases, (0.5, 0.5)),
        sweep(
            "By count",
            "number of 1s",
            "with {} letters 1",
            tuple(map(float, range(0, 33, 2))),
            (10.0, 22.0),
        ),
    )
    kinds = tuple(
        Strategy(
            kind,
            64,
            {
                k: tuple(share(LEVELS[k] ** (i + 1)) for _ in range(seeds(k)))
                for k in LEVELS
            },
        )
        for i, kind in enumerate(("uniform", "walls", "periods", "one letter"))
    )
    origin = Origin(
        "krohn compare C2 --preset desk -o c2.html",
        "0123abc",
        {"krohn": "0.1.0", "torch": "2.6"},
        "CPU, 2 cores",
        "2026-01-01 00:00",
        480.0,
        SEEDS,
        ("No remark.",),
    )
    return Comparison(
        json_format.to_object(machine),
        "the state after every letter",
        "letters drawn uniformly",
        len(machine.states),
        32,
        "desk",
        proved,
        tuple(contestant(k, machine.letters) for k in LEVELS),
        sweeps,
        kinds,
        (probed("gpt"), probed("lstm")),
        attention(32, machine.letters),
        (
            Reduction("width", "512", "64"),
            Reduction("length of training words", "40", "32"),
        ),
        origin,
    )
