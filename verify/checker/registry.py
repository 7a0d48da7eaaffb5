"""Which module is asked about a file: nothing else of the checker is imported for it.

A proof rests on what is imported to check it, so a reader of one proof reads no more
(`krohn verify F --trusted`).
"""

from collections.abc import Callable
from importlib import import_module
from typing import Any

FOLDER = "krohn.verify.checker"
RECURRENT = {"linear-system": "linear_rnn", "hidden-markov": "recurrent_beliefs"}
"""Of an RNN that says real numbers, by the kind of its source."""
REAL = {
    ("attention-layer", "grid-function"): "grid_function",
    ("attention-layer", "posterior-head"): "posterior_head",
    ("attention-layer", "attention-target"): "attention_target",
    ("attention-layer", "selected-mean"): "selected_mean",
    ("attention-layer", "kernel"): "kernel_attention",
    ("linear-recurrence", "kernel"): "kernels",
}
"""Of a network that reads and says real vectors, by its kind and that of its source."""


def check(module: str) -> Callable[..., Any]:
    """The check that a module of the checker has, by its name, as ``established``."""
    found: Callable[..., Any] = import_module(f"{FOLDER}.{module}").established
    return found
