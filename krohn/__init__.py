"""Krohn: finite machines compiled to neural networks, with proofs.

import krohn

model = krohn.compile("S5", length=100)     # derives the weights and proves them
model.save("s5.safetensors")
krohn.verify("s5.safetensors").verdict      # 'verified'
krohn.load("s5.safetensors").run(["21345", "23451"])
"""

import sys
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from krohn import huggingface
    from krohn.algebra.automaton import Automaton
    from krohn.algebra.errors import KrohnError, MachineError
    from krohn.comparison.compare import compare
    from krohn.comparison.result import Comparison
    from krohn.compilation import compile  # noqa: A004  (the command)
    from krohn.compiled_model import CompiledModel
    from krohn.compiler.errors import CompileError
    from krohn.decompiling import decompile
    from krohn.decomposition import decompose
    from krohn.equivalence import equivalent
    from krohn.equivalence.models import twins
    from krohn.examination import examine
    from krohn.explanation import explain
    from krohn.exporting import Export, export
    from krohn.fine_tuning import fine_tuned
    from krohn.generation import compile_generator
    from krohn.hidden_markov_models import gaussian_hmm, grammar, hidden_markov, masked
    from krohn.learning import Learned, learn
    from krohn.machines import automaton, read, zoo
    from krohn.network.errors import ExportError, ModelFileError
    from krohn.network.foreign_arrays import from_alta, from_tracr
    from krohn.open_model import Model, load
    from krohn.pictures import draw
    from krohn.report import Report
    from krohn.source_kinds.kernels import kernel
    from krohn.sources.attention_targets.sampling import attention_target
    from krohn.sources.dynamic_programs import dynamic_program
    from krohn.sources.hidden_markov import HiddenMarkovModel
    from krohn.sources.sequence_functions import program
    from krohn.streams import Stream, stream
    from krohn.verification import verify

__all__ = [
    "Automaton",
    "Comparison",
    "CompileError",
    "CompiledModel",
    "Export",
    "ExportError",
    "HiddenMarkovModel",
    "KrohnError",
    "Learned",
    "MachineError",
    "Model",
    "ModelFileError",
    "Report",
    "Stream",
    "attention_target",
    "automaton",
    "compare",
    "compile",
    "compile_generator",
    "decompile",
    "decompose",
    "draw",
    "dynamic_program",
    "equivalent",
    "examine",
    "explain",
    "export",
    "fine_tuned",
    "from_alta",
    "from_tracr",
    "gaussian_hmm",
    "grammar",
    "hidden_markov",
    "huggingface",
    "kernel",
    "learn",
    "load",
    "masked",
    "program",
    "read",
    "stream",
    "twins",
    "verify",
    "zoo",
]
__version__ = "0.3.0"

_LAZY = {
    name: f"krohn.{module}"
    for module, names in {
        "algebra.automaton": "Automaton",
        "algebra.errors": "KrohnError MachineError",
        "compiler.errors": "CompileError",
        "network.errors": "ExportError ModelFileError",
        "sources.attention_targets.sampling": "attention_target",
        "compilation": "compile",
        "compiled_model": "CompiledModel",
        "generation": "compile_generator",
        "machines": "automaton read zoo",
        "decompiling": "decompile",
        "decomposition": "decompose",
        "pictures": "draw",
        "explanation": "explain",
        "comparison.compare": "compare",
        "comparison.result": "Comparison",
        "verification": "verify",
        "report": "Report",
        "equivalence": "equivalent",
        "equivalence.models": "twins",
        "examination": "examine",
        "exporting": "Export export",
        "fine_tuning": "fine_tuned",
        "network.foreign_arrays": "from_alta from_tracr",
        "streams": "Stream stream",
        "learning": "learn Learned",
        "open_model": "load Model",
        "sources.dynamic_programs": "dynamic_program",
        "sources.sequence_functions": "program",
        "sources.hidden_markov": "HiddenMarkovModel",
        "hidden_markov_models": "hidden_markov gaussian_hmm masked grammar",
        "source_kinds.kernels": "kernel",
    }.items()
    for name in names.split()
}
"""The module of each name."""
_PACKAGES = ("huggingface", "schemas", "workbench")
_INSTEAD = {
    "run": ": a network runs words, krohn.load(path).run(word)",
    "train": ": networks are compiled; krohn.compare trains others beside them",
    "score": ": krohn.workbench.score_edges",
}
"""Advice for names that do not exist here."""


def __getattr__(name: str) -> Any:
    """Import a function when it is first asked for: a command pays for what it uses."""
    from importlib import import_module

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
