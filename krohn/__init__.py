"""Krohn: finite machines compiled to neural networks, with proofs.

import krohn

model = krohn.compile("S5", length=100)     # derives the weights and proves them
model.save("s5.safetensors")
krohn.verify("s5.safetensors").verdict      # 'verified'
krohn.load("s5.safetensors").run(["21345", "23451"])
"""

from importlib import import_module
from os.path import dirname, isdir
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # for type checkers and editors; a test holds it equal to PUBLIC
    from krohn import huggingface as huggingface
    from krohn.algebra.automaton import Automaton as Automaton
    from krohn.algebra.errors import (
        KrohnError as KrohnError,
        MachineError as MachineError,
    )
    from krohn.architectures.disguise.commands import fine_tuned as fine_tuned
    from krohn.architectures.exports.commands import (
        Export as Export,
        export as export,
    )
    from krohn.architectures.gated.commands import from_torch as from_torch
    from krohn.architectures.generator.commands import (
        compile_generator as compile_generator,
    )
    from krohn.compilation import (
        compile as compile,  # noqa: A004  (the command)
        explain as explain,
    )
    from krohn.compiled_model import CompiledModel as CompiledModel
    from krohn.compiler import CompileError as CompileError
    from krohn.decomposition import decompose as decompose
    from krohn.examination import examine as examine
    from krohn.instruments.compare.comparison.compare import compare as compare
    from krohn.instruments.compare.comparison.result import Comparison as Comparison
    from krohn.instruments.equivalence.models import twins as twins
    from krohn.instruments.equivalence.question import equivalent as equivalent
    from krohn.instruments.fuzz.campaign import Fuzz as Fuzz, fuzz as fuzz
    from krohn.instruments.learning.learner import (
        Learned as Learned,
        learn as learn,
    )
    from krohn.kinds.attention_targets.source_sampling import (
        attention_target as attention_target,
    )
    from krohn.kinds.dynamic_programs.source import dynamic_program as dynamic_program
    from krohn.kinds.grammars.commands_facts import grammar as grammar
    from krohn.kinds.hidden_markov.commands_objects import (
        hidden_markov as hidden_markov,
    )
    from krohn.kinds.hidden_markov.source_model import (
        HiddenMarkovModel as HiddenMarkovModel,
    )
    from krohn.kinds.kalman.commands import kalman as kalman
    from krohn.kinds.kernels.commands import kernel as kernel
    from krohn.kinds.posterior_heads.commands_decompile import decompile as decompile
    from krohn.kinds.posterior_heads.commands_objects import (
        gaussian_hmm as gaussian_hmm,
        masked as masked,
    )
    from krohn.kinds.sequence_functions.source import program as program
    from krohn.loading import load as load
    from krohn.machines import automaton as automaton, read as read, zoo as zoo
    from krohn.network import (
        ExportError as ExportError,
        ModelFileError as ModelFileError,
    )
    from krohn.network.foreign_arrays import (
        from_alta as from_alta,
        from_tracr as from_tracr,
    )
    from krohn.open_model import Model as Model
    from krohn.pictures import draw as draw
    from krohn.report import Report as Report
    from krohn.streams import Stream as Stream, stream as stream
    from krohn.verification import verify as verify

__version__ = "0.3.0"

PUBLIC = {
    "Automaton": "krohn.algebra.automaton",
    "automaton": "krohn.machines",
    "compile": "krohn.compilation",
    "CompiledModel": "krohn.compiled_model",
    "CompileError": "krohn.compiler",
    "decompose": "krohn.decomposition",
    "draw": "krohn.pictures",
    "examine": "krohn.examination",
    "explain": "krohn.compilation",
    "ExportError": "krohn.network",
    "from_alta": "krohn.network.foreign_arrays",
    "from_tracr": "krohn.network.foreign_arrays",
    "KrohnError": "krohn.algebra.errors",
    "load": "krohn.loading",
    "MachineError": "krohn.algebra.errors",
    "Model": "krohn.open_model",
    "ModelFileError": "krohn.network",
    "read": "krohn.machines",
    "Report": "krohn.report",
    "Stream": "krohn.streams",
    "stream": "krohn.streams",
    "verify": "krohn.verification",
    "zoo": "krohn.machines",
}
"""The module of each public name of the core; slices bring others."""
MODULES = ("gadgets", "huggingface", "schemas", "workbench")
"""Modules that are imported when they are first asked for."""
_INSTEAD = {
    "run": ": a network runs words, krohn.load(path).run(word)",
    "train": ": networks are compiled; krohn.compare trains others beside them",
    "score": ": krohn.workbench.score_edges",
}
"""Advice for names that do not exist here."""


def public_names() -> dict[str, str]:
    """The module of each public name."""
    from krohn.program.slices import slices

    return {k: x for each in slices().values() for k, x in each.public.items()} | PUBLIC


def __getattr__(name: str) -> Any:
    """Import a function when it is first asked for: a command pays for what it uses."""
    if name == "__all__":
        return sorted([*public_names(), "huggingface"])
    if name in MODULES:
        return _load(f"krohn.{name}", name)
    if name not in (places := public_names()):
        from krohn.algebra.wording import near

        hint = _INSTEAD.get(name, near(name, sorted(places)))
        raise AttributeError(f"module 'krohn' has no attribute {name!r}{hint}")
    from krohn.notebook import attach
    from krohn.python_values import check_arguments

    attach()
    public = getattr(_load(places[name], name), name)
    if isinstance(public, FunctionType):
        public = globals()[name] = check_arguments(public)
        if name in PACKAGES:
            # `import krohn.verify.checker as c` asks this function for `checker`, and
            # then finds the module by the name of whom it asked.
            public.__name__ = f"krohn.{name}"
    return public


def _load(module: str, name: str) -> ModuleType:
    """A module in which a name is; if a package is missing, its extra is said."""
    from krohn.program.extras import name_missing_extra

    with name_missing_extra(f"krohn.{name}"):
        return import_module(module)


def __dir__() -> list[str]:
    """Name also what is not imported yet, for completion."""
    return sorted({*globals(), *public_names(), "huggingface"})


if not isdir(f"{dirname(__file__)}/algebra"):
    # In a checkout without symbolic links the packages lie beside this folder.
    __path__.append(dirname(dirname(__file__)))

PACKAGES = ("program", "verify")
"""Packages that are called as functions are.

A package becomes an attribute of `krohn` once, when it is first imported. So they are
imported here, where that costs nothing, and as attributes they stay functions.
"""
for _name in PACKAGES:
    import_module(f"krohn.{_name}")
    del globals()[_name]
