"""Modules of torch whose tensors are proved: what is seen of what they do with them.

Python code cannot be proved. A verdict is about the tensors, and says so; a module that
is seen to do something else with them is refused.
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.modules import module as of_torch

from krohn.algebra.errors import KrohnError
from krohn.algebra.wording import cut
from krohn.network.forward_pass import evaluation_mode
from krohn.network.model import Model
from krohn.network.modelfile import ModelFile
from krohn.network.reading import choose_classes
from krohn.network.recurrent import MODULES
from krohn.network.running_file import APART, CALLED, beside_parameters
from krohn.program.quoting import kind_of_value
from krohn.report import Report
from krohn.verify.verdict import OfTensors

SHORT, LONG = 12, 1000
"""How many letters words have on which a module is held against its own tensors: before a
proof, and where there is one, which is about all lengths."""
LAYERS = (nn.RNNBase, nn.Linear, nn.Embedding)
DROPOUTS = (nn.Dropout, nn.AlphaDropout, nn.FeatureAlphaDropout)
ALIKE = 1e-3
"""How far logits of a module may be from those of its tensors, of the largest one."""


def check_plain(model: nn.Module) -> None:
    """Refuse a module that is seen to run something else than its parameters.

    What its own code does is not seen: a verdict is about its tensors, and says so.

    Raises:
        KrohnError: If it, or torch, has hooks, a part of it is of a class derived from a
            layer of torch's, was replaced or compiled, or it holds tensors that are no
            parameters.
    """
    if any(getattr(of_torch, name) for name in CALLED):
        raise KrohnError(
            "torch has hooks on all modules: take them away, and ask again"
        )
    for name, module in model.named_modules(remove_duplicate=False):
        problem = _beside_parameters(module)
        if problem:
            where = f"its part {name!r}" if name else f"{kind_of_value(model)}"
            raise KrohnError(
                f"the module runs something else than its parameters: {where} {problem}; "
                "the state dict of a network that does without can be proved"
            )


def _beside_parameters(module: nn.Module) -> str:
    """What makes a module run something else than its parameters, if that is seen."""
    own = type(module)
    if isinstance(module, torch.jit.ScriptModule) or own.__name__ == "OptimizedModule":
        return "was compiled: give the module itself"
    if isinstance(module, LAYERS) and not own.__module__.startswith("torch.nn.modules"):
        return f"is of the class {own.__name__}, derived from a layer of torch's"
    return _setting(module) or beside_parameters(module) or _attribute(module)


def _setting(module: nn.Module) -> str:
    """A setting of a layer of torch's by which it says something else."""
    if isinstance(module, nn.RNN) and module.nonlinearity != "tanh":
        return "has ReLUs: torch.nn.RNN is proved with tanh"
    if isinstance(module, nn.Embedding) and module.max_norm is not None:
        return "has max_norm, by which embeddings change while they run"
    if isinstance(module, DROPOUTS) and module.training and module.p:
        return "drops numbers, as it is in training mode: say .eval()"
    return ""


def _attribute(module: nn.Module) -> str:
    """An attribute by which a module says something else than its class."""
    if module._buffers:
        return f"has the buffer {next(iter(module._buffers))!r}"
    for name, value in vars(module).items():
        if callable(getattr(type(module), name, None)) or name == "_compiled_call_impl":
            return f"has another {name!r} than its class"
        if name not in APART and _holds_numbers(value):
            return f"holds numbers in {name!r}, which is no parameter"
    return ""


def _holds_numbers(value: object) -> bool:
    """Whether something is, or holds, tensors or arrays."""
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list | tuple | set):
        return any(map(_holds_numbers, value))
    return isinstance(value, Tensor | np.ndarray)


def about_tensors(model: object, file: ModelFile, report: Report) -> Report:
    """The report, which of a module says that it is about its tensors alone."""
    if not isinstance(model, nn.Module):
        return report
    shape, name = file.architecture, cut(type(model).__name__, 40)
    layers = "an embedding, " * bool(getattr(shape, "embedding", None)) + (
        f"torch.nn.{MODULES[shape.kind].__name__} and a linear layer alone"
    )
    about = f"the tensors of {name}, run by {layers}: "
    note = (
        f"the Python code of {name} is not proved: krohn.from_torch(module, machine) makes "
        "the network that runs these tensors and nothing else"
    )
    return replace(
        report,
        ground=report.ground and OfTensors(about, report.ground),
        reason=report.reason and about + report.reason,
        notes=(*report.notes, note),
    )


def check_forward(
    model: object, file: ModelFile, length: int, proved: bool = False
) -> None:
    """Hold a module against its own tensors on some words: it may do more with them.

    That it says the same shows no more than that it is not plainly another network. Some
    words are asked again, as it may remember something from one call to the next. What is
    no module is no more than its tensors. Where these are proved, answers are the same,
    however little the right logit is ahead.

    Raises:
        KrohnError: If it says something else.
    """
    if not isinstance(model, nn.Module):
        return
    rng = np.random.default_rng(0)
    count = file.architecture.vocabulary
    letters = torch.from_numpy(rng.integers(count, size=(16, length)))
    right = Model(file)(letters)
    for words in (16, 16, 1):
        logits = _run_module(model, letters[:words], wanted := right[:words])
        most = ALIKE * (1 + wanted.double().abs().max())
        alike = bool((logits.double() - wanted.double()).abs().max() <= most)
        if not alike or (proved and _answers(logits) != _answers(wanted)):
            raise KrohnError(
                "the module does something else with its tensors than one recurrent layer "
                "that starts at zero and a linear read-out"
            )


def _run_module(model: nn.Module, letters: Tensor, right: Tensor) -> Tensor:
    """The logits of a module, of the shape and format of those of its tensors."""
    with evaluation_mode(model), torch.no_grad():
        try:
            output = model(letters)
        except MemoryError:
            raise
        except Exception as error:
            reason = cut(" ".join(str(error).split()), 200)
            raise KrohnError(
                "the module must take letter indices (batch, T) and give logits "
                f"(batch, T, classes); it said: {reason}"
            ) from None
    logits = output[0] if isinstance(output, tuple) else output
    if not isinstance(logits, Tensor) or logits.shape != right.shape:
        raise KrohnError(
            "the module must give logits (batch, T, classes) for letter indices (batch, T)"
        )
    if logits.dtype != right.dtype:
        raise KrohnError(
            f"the module gives logits in {logits.dtype}, and its tensors are in "
            f"{right.dtype}: a proof is about one format"
        )
    return logits


def _answers(logits: Tensor) -> list[int]:
    """The class of the largest logit at each position; −1 where there is none."""
    best, sure = choose_classes(logits.double().flatten(0, -2).cpu().numpy())
    return np.where(sure, best, -1).tolist()  # type: ignore[no-any-return]
