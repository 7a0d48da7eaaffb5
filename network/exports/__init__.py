"""Where networks can go: a module for each place writes a model file there and reads it.

`destination` imports a module only when it is asked for: each needs a library of its own.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from krohn.network import ExportError
from krohn.network.modelfile import ModelFile
from krohn.program.user_input import install

if TYPE_CHECKING:
    from torch import Tensor

    Logits = Callable[[Tensor], Tensor]
    """Letter indices ``(batch, time)`` without BOS to logits ``(batch, time, classes)``."""


@dataclass(frozen=True)
class Destination:
    """A place that networks can go to.

    Attributes:
        name: As `krohn export --to` takes it.
        title: The place, as people call it.
        write: Writes a model file into an empty directory; raises `ExportError` if that
            place cannot hold such a network. With True, classes that are states have the
            names of these, though the machine has outputs.
        open: Reads what was written, by the place's own library and from the directory
            alone; what comes back computes there.
        arithmetic: What is computed there, beside what the model file computes.
        proved: Looks at what was written, with the model file beside it, and says what
            holds of it for all words; raises `ExportError` if it does not.
    """

    name: str
    title: str
    write: Callable[[ModelFile, Path, bool], None]
    open: Callable[[Path], "Logits"]
    arithmetic: str
    proved: Callable[[ModelFile, Path], str]


@dataclass(frozen=True)
class _Home:
    """Where the code for a place is, what it imports, and which extra installs that."""

    module: str
    imports: tuple[str, ...]
    extra: str


HOMES: Mapping[str, _Home] = {
    "transformer-lens": _Home(
        "krohn.network.exports.transformer_lens",
        ("transformer_lens",),
        "transformer-lens",
    ),
    "huggingface": _Home(
        "krohn.network.exports.huggingface", ("transformers",), "huggingface"
    ),
    # What is on disk is proved, which needs all of Krohn.
    "gpt2": _Home("krohn.gpt2", ("transformers",), "huggingface"),
    "onnx": _Home("krohn.network.exports.onnx", ("onnx", "onnxruntime"), "onnx"),
}
"""By the names that `krohn export --to` takes."""


def destination(name: str) -> Destination:
    """A place by its name.

    Raises:
        ExportError: If there is none of this name, or what it needs is not installed.
    """
    if name not in HOMES:
        raise ExportError(f"--to takes {', '.join(HOMES)}, not {name!r}")
    home = HOMES[name]
    try:
        for library in home.imports:
            import_module(library)
    except ImportError as error:
        raise ExportError(
            f"--to {name} needs {' and '.join(home.imports)} ({error}); "
            f"{install(home.extra)}"
        ) from None
    found = import_module(home.module).DESTINATION
    assert isinstance(found, Destination)
    return found
