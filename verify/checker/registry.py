"""Which module reads a file: nothing else of the checker is imported for it.

A proof rests on what is imported to check it, so a reader of one proof reads no more
(`krohn verify F --trusted`).
"""

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

from krohn.program.errors import demand

if TYPE_CHECKING:
    from krohn.verify.checker.model_file import Model

FOLDER = "krohn.verify.checker"
READERS = {
    ("transformer", "program"): "transformer",
    ("transformer", "text-in-blocks"): "transformer",
    ("transformer", "chain-of-thought"): "transformer",
    ("transformer", "rewriting"): "transformer",
    ("transformer", "increasing"): "transformer",
    ("transformer", "linear-system"): "linear_system",
    ("transformer", "vectors-in-blocks"): "vectors_in_blocks",
    ("transformer", "hidden-markov"): "hidden_markov",
    ("transformer", "context-learner"): "in_context",
    ("rnn", "linear-system"): "linear_rnn",
    ("rnn", "hidden-markov"): "recurrent_beliefs",
    ("attention-layer", "grid-function"): "grid_function",
    ("attention-layer", "posterior-head"): "posterior_head",
    ("attention-layer", "attention-target"): "attention_target",
    ("attention-layer", "selected-mean"): "selected_mean",
    ("attention-layer", "kernel"): "kernel_attention",
    ("linear-recurrence", "kernel"): "kernels",
}
"""Of claims about other sources than machines, by the kinds of network and of source; an
architecture says itself who reads its claims about machines."""


def reader_of(model: "Model") -> str:
    """The name of the module that reads a file.

    Raises:
        Refused: If there is none for such a network and its source.
    """
    claim, shape = model.claim, model.claim.architecture
    name = "" if shape is None else shape.check
    pruned = getattr(shape, "ranks", None) is not None
    if shape is not None and not claim.of_machine:
        name = "" if pruned else READERS.get((shape.kind, claim.kind), "")
    elif pruned:
        name = "relu_boxes"
    demand(name, "there is no rule for a network of such a source")
    return name


def reader(name: str) -> Callable[..., Any]:
    """The function of a checker's module that reads a file, its evidence and a machine."""
    found: Callable[..., Any] = rule(name).established
    return found


def rule(name: str) -> Any:
    """A module of the checker, which operations, functions and readers name."""
    return import_module(f"{FOLDER}.{name}")
