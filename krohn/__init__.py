"""Krohn: finite machines compiled to neural networks, with proofs.

import krohn

model = krohn.compile("S5", length=100)     # derives the weights and proves them
model.save("s5.safetensors")
krohn.verify("s5.safetensors").verdict      # 'verified'
krohn.load("s5.safetensors").run(["21345", "23451"])
"""

from importlib import import_module
from os.path import dirname, isdir
from types import FunctionType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # for type checkers and editors; a test holds it equal to PUBLIC
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

PUBLIC = {
    "attention_target": "krohn.sources.attention_targets.sampling",
    "Automaton": "krohn.algebra.automaton",
    "automaton": "krohn.machines",
    "compare": "krohn.comparison.compare",
    "Comparison": "krohn.comparison.result",
    "compile": "krohn.compilation",
    "compile_generator": "krohn.machine_compilation",
    "CompiledModel": "krohn.compiled_model",
    "CompileError": "krohn.compiler",
    "decompile": "krohn.decompiling",
    "decompose": "krohn.decomposition",
    "draw": "krohn.pictures",
    "dynamic_program": "krohn.sources.dynamic_programs",
    "equivalent": "krohn.equivalence",
    "examine": "krohn.examination",
    "explain": "krohn.compilation",
    "Export": "krohn.exporting",
    "export": "krohn.exporting",
    "ExportError": "krohn.network",
    "fine_tuned": "krohn.fine_tuning",
    "from_alta": "krohn.network.foreign_arrays",
    "from_torch": "krohn.trained_recurrent",
    "from_tracr": "krohn.network.foreign_arrays",
    "gaussian_hmm": "krohn.hidden_markov_models",
    "grammar": "krohn.hidden_markov_models",
    "hidden_markov": "krohn.hidden_markov_models",
    "HiddenMarkovModel": "krohn.sources.hidden_markov",
    "kernel": "krohn.source_kinds.kernels",
    "KrohnError": "krohn.algebra.errors",
    "learn": "krohn.learning",
    "Learned": "krohn.learning",
    "load": "krohn.open_model",
    "MachineError": "krohn.algebra.errors",
    "masked": "krohn.hidden_markov_models",
    "Model": "krohn.open_model",
    "ModelFileError": "krohn.network",
    "program": "krohn.sources.sequence_functions",
    "read": "krohn.machines",
    "Report": "krohn.report",
    "Stream": "krohn.streams",
    "stream": "krohn.streams",
    "twins": "krohn.equivalence.models",
    "verify": "krohn.verification",
    "zoo": "krohn.machines",
}
"""The module of each public name."""
MODULES = ("huggingface", "schemas", "workbench")
"""Modules that are imported when they are first asked for."""
__all__ = sorted([*PUBLIC, "huggingface"])
_INSTEAD = {
    "run": ": a network runs words, krohn.load(path).run(word)",
    "train": ": networks are compiled; krohn.compare trains others beside them",
    "score": ": krohn.workbench.score_edges",
}
"""Advice for names that do not exist here."""


def __getattr__(name: str) -> Any:
    """Import a function when it is first asked for: a command pays for what it uses."""
    if name in MODULES:
        return import_module(f"krohn.{name}")
    if name not in PUBLIC:
        from krohn.algebra.wording import near

        hint = _INSTEAD.get(name, near(name, __all__))
        raise AttributeError(f"module 'krohn' has no attribute {name!r}{hint}")
    from krohn.notebook import attach
    from krohn.python_values import checked

    attach()
    public = getattr(import_module(PUBLIC[name]), name)
    if isinstance(public, FunctionType):
        public = globals()[name] = checked(public)
        if name in PACKAGES:
            # `import krohn.verify.checker as c` asks this function for `checker`, and
            # then finds the module by the name of whom it asked.
            public.__name__ = f"krohn.{name}"
    return public


def __dir__() -> list[str]:
    """Name also what is not imported yet, for completion."""
    return sorted({*globals(), *__all__})


if not isdir(f"{dirname(__file__)}/algebra"):
    # In a checkout without symbolic links the packages lie beside this folder.
    __path__.append(dirname(dirname(__file__)))

PACKAGES = ("compare", "program", "verify")
"""Packages that are called as functions are.

A package becomes an attribute of `krohn` once, when it is first imported. So they are
imported here, where that costs nothing, and as attributes they stay functions.
"""
for _name in PACKAGES:
    import_module(f"krohn.{_name}")
    del globals()[_name]
