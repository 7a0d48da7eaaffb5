"""Krohn: finite machines compiled to neural networks, with proofs.

import krohn

model = krohn.compile("S5", length=100)     # derives the weights and proves them
model.save("s5.safetensors")
krohn.verify("s5.safetensors").verdict      # 'verified'
krohn.load("s5.safetensors").run(["21345", "23451"])
"""

import ast
import sys
from importlib import import_module
from inspect import getsource
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # the one table of public names, which is read below
    from krohn import huggingface as huggingface
    from krohn.algebra.automaton import Automaton as Automaton
    from krohn.algebra.errors import (
        KrohnError as KrohnError,
        MachineError as MachineError,
    )
    from krohn.comparison.compare import compare as compare
    from krohn.comparison.result import Comparison as Comparison
    from krohn.compilation import (
        compile as compile,  # noqa: A004  (the command)
        explain as explain,
    )
    from krohn.compiled_model import CompiledModel as CompiledModel
    from krohn.compiler import CompileError as CompileError
    from krohn.decompiling import decompile as decompile
    from krohn.decomposition import decompose as decompose
    from krohn.equivalence import equivalent as equivalent
    from krohn.equivalence.models import twins as twins
    from krohn.examination import examine as examine
    from krohn.exporting import Export as Export, export as export
    from krohn.fine_tuning import fine_tuned as fine_tuned
    from krohn.hidden_markov_models import (
        gaussian_hmm as gaussian_hmm,
        grammar as grammar,
        hidden_markov as hidden_markov,
        masked as masked,
    )
    from krohn.learning import Learned as Learned, learn as learn
    from krohn.machine_compilation import compile_generator as compile_generator
    from krohn.machines import automaton as automaton, read as read, zoo as zoo
    from krohn.network import (
        ExportError as ExportError,
        ModelFileError as ModelFileError,
    )
    from krohn.network.foreign_arrays import (
        from_alta as from_alta,
        from_tracr as from_tracr,
    )
    from krohn.open_model import Model as Model, load as load
    from krohn.pictures import draw as draw
    from krohn.report import Report as Report
    from krohn.source_kinds.kernels import kernel as kernel
    from krohn.sources.attention_targets.sampling import (
        attention_target as attention_target,
    )
    from krohn.sources.dynamic_programs import dynamic_program as dynamic_program
    from krohn.sources.hidden_markov import HiddenMarkovModel as HiddenMarkovModel
    from krohn.sources.sequence_functions import program as program
    from krohn.streams import Stream as Stream, stream as stream
    from krohn.trained_recurrent import from_torch as from_torch
    from krohn.verification import verify as verify

__version__ = "0.3.0"

_LAZY = {
    each.name: found.module
    for found in ast.walk(ast.parse(getsource(sys.modules[__name__])))
    if isinstance(found, ast.ImportFrom) and found.module and "krohn" in found.module
    for each in found.names
    if each.asname
}
"""The module of each name."""
__all__ = sorted(_LAZY)
_PACKAGES = ("huggingface", "schemas", "workbench")
_INSTEAD = {
    "run": ": a network runs words, krohn.load(path).run(word)",
    "train": ": networks are compiled; krohn.compare trains others beside them",
    "score": ": krohn.workbench.score_edges",
}
"""Advice for names that do not exist here."""


def __getattr__(name: str) -> Any:
    """Import a function when it is first asked for: a command pays for what it uses."""
    if name in _PACKAGES:
        return import_module(f"krohn.{name}")
    if name not in _LAZY:
        from krohn.algebra.wording import near

        hint = _INSTEAD.get(name, near(name, __all__))
        raise AttributeError(f"module 'krohn' has no attribute {name!r}{hint}")
    from krohn.notebook import attach
    from krohn.python_values import checked

    attach()
    found = getattr(import_module(_LAZY[name]), name)
    if isinstance(found, FunctionType):
        found = globals()[name] = checked(found)
    return found


def __dir__() -> list[str]:
    """Name also what is not imported yet, for completion."""
    return sorted({*globals(), *__all__})


class _Krohn(ModuleType):
    """The package, whose functions keep their names beside packages called alike.

    `krohn.verify` is a function and a package. Importing a package sets its name here;
    the function stays, and ``from krohn.verify.proof import prove`` works as well.
    """

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in _LAZY and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Krohn
