"""A source of each kind that is no machine, how it is compiled, and an input."""

from typing import Any

SOURCES: dict[str, tuple[str, dict[str, Any], str]] = {
    "attention-target": ("Sine2,1:length=3,knots=8", {}, "0.5 0.25 1"),
    "chain-of-thought": ("LCS2,2", {}, "a a | a a"),
    "grid-function": ("Sorted3,2", {}, "0 0.25 0.5"),
    "hidden-markov": ("GoldenMean", {"length": 4}, "0 1 1 0"),
    "context-learner": ("InContext2,1", {}, "12|12|1"),
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
"""Of each kind a source, how it is compiled, and an input."""
BESIDE = ("GoldenMean", {"arch": "rnn"}, "0 1 1 0")
