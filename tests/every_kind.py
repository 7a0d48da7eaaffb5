"""A source of each kind, and networks of machines: how they are compiled, and an input."""

from functools import cache
from pathlib import Path
from typing import Any

import pytest
from slices_here import DELETED, here

import krohn
from krohn.compiled_model import CompiledModel
from krohn.program.slices import slice_sources

Told = tuple[str, dict[str, Any], str]
_SOURCES: dict[str, Told] = {
    "attention-target": ("Sine2,1:length=3,knots=8,points=16", {}, "0.5 0.25 1"),
    "chain-of-thought": ("LCS2,2", {}, "a a | a a"),
    "grid-function": ("Sorted3,2", {}, "0 0.25 0.5"),
    "hidden-markov": ("GoldenMean", {"length": 4}, "0 1 1 0"),
    "context-learner": ("InContext2,1", {}, "12|12|1"),
    "kalman-predictor": ("RanLDS2@1", {"length": 4}, "1,0 0.5,-2 3,1 0,0"),
    "kernel": ("Exp4", {"arch": "rnn"}, "0.5 0.5 0.5 0.5"),
    "increasing": ("ShortLIS3", {}, "0 1 1"),
    "linear-system": ("MatMul2,2@3", {"length": 4}, "1 2 1 2"),
    "posterior-head": ("GaussianHMM2,2@7", {}, "1,2 1,0"),
    "rewriting": ("Arithmetic3,11", {}, "1+1"),
    "selected-mean": ("Gravity3", {}, "0.5,1,0 0.5,1,0 0.5,1,0"),
    "program": ("program:reverse", {"length": 4}, "abab"),
    "text-in-blocks": ("C2", {"length": 4, "block": 2}, "1 1 1 1"),
    "vectors-in-blocks": ("MatMul2,2@3", {"length": 4, "block": 2}, "1 2 1 2"),
}
SOURCES = {kind: told for kind, told in _SOURCES.items() if kind in slice_sources()}
"""Of each kind a source, how it is compiled, and an input."""
OTHERS = {
    "attention-target": "Sine3,1:length=3,knots=8,points=16",
    "chain-of-thought": "LCS2,3",
    "grid-function": "RanGrid3,2@1",
    "hidden-markov": "EvenProcess",
    "context-learner": "InContext2,2",
    "kalman-predictor": "RanLDS2@2",
    "kernel": "Delay4,2",
    "increasing": "ShortLIS4",
    "linear-system": "MatMul2,2@4",
    "posterior-head": "GaussianHMM2,2@8:R=0.5",
    "rewriting": "Arithmetic3,7",
    "selected-mean": "Gravity4",
    "program": "program:sort",
    "text-in-blocks": "C3",
    "vectors-in-blocks": "MatMul2,2@4",
}
"""Of each kind another source."""
BESIDE = ("GoldenMean", {"arch": "rnn"}, "0 1 1 0")
TURNSTILE = Path(__file__).parents[1] / "examples" / "turnstile.dot"
_MACHINES: dict[str, Told] = {
    "states": ("C3", {"length": 8}, "1 2 2"),
    "states that show outputs": (str(TURNSTILE), {"length": 8}, "coin push"),
    "outputs": ("regex:(ab)*", {"length": 8, "observe": "accept"}, "a b"),
    "strict": ("Grid4", {"length": 6, "strict": True}, "L R"),
    "rnn": ("C3", {"arch": "rnn"}, "1 1"),
    "lstm": ("C2", {"arch": "lstm"}, "1 1"),
    "gru": ("C2", {"arch": "gru"}, "1 1"),
    "ssm": ("FlipFlop", {"arch": "ssm"}, "1 2"),
    "pruned": ("C2", {"arch": "rnn", "construction": "pruned:units=96"}, "1 1"),
}
_SLICES = {
    "rnn": "architectures.recurrent",
    "lstm": "architectures.recurrent",
    "gru": "architectures.recurrent",
    "ssm": "architectures.state_space",
    "pruned": "architectures.pruned",
}
"""The slices that some networks need."""
MACHINES = {
    name: told
    for name, told in _MACHINES.items()
    if name not in _SLICES or here(_SLICES[name])
}
"""Networks of machines of every architecture, and of each of their claims."""
NETWORKS: dict[str, Told] = {
    **SOURCES,
    **({"hidden-markov rnn": BESIDE} if "hidden-markov" in SOURCES else {}),
    **MACHINES,
}


@cache
def compiled(kind: str) -> CompiledModel:
    """The network of each kind, compiled and proved once for all tests."""
    if kind == "generator" and here("architectures.generator"):
        return krohn.compile_generator("Dyck2,2", 8)
    if DELETED and kind not in NETWORKS:
        pytest.skip(f"there is no {kind}")
    name, how, _ = NETWORKS[kind]
    return krohn.compile(name, **how)
